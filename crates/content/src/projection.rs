//! Projection of JSON onto an allow-list of paths.

use serde_json::Value;

use contextweaver_base::order;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_model::json::{Field, as_word};
use contextweaver_text::unicode;

/// One step of a path. Keys sort after the list step, so that both kinds of step are found by their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSegment {
    /// Every element of a list.
    Elements,
    /// A member of an object.
    Key(String),
}

impl PathSegment {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Elements => None,
            Self::Key(key) => Some(key),
        }
    }
}

/// A path of an allow-list, such as `result.invoices[].amount`; empty parts between dots count for nothing.
///
/// A key with a dot in it, or one that ends with `[]`, cannot be named.
///
/// ```
/// use contextweaver_content::{KeepPath, PathSegment};
///
/// let path = KeepPath::parse("invoices[].amount")?;
/// let key = |name: &str| PathSegment::Key(name.to_owned());
/// assert_eq!(path.segments(), [key("invoices"), PathSegment::Elements, key("amount")]);
/// assert!(KeepPath::parse(" ").is_err());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepPath {
    parts: Vec<String>,
}

impl Field for KeepPath {
    fn read(value: Value, path: &str) -> Result<Self> {
        as_word(value, path, Self::parse)
    }
}

impl KeepPath {
    /// Reads a path.
    ///
    /// # Errors
    /// `INVALID_INPUT` for one of nothing but white space.
    pub fn parse(text: &str) -> Result<Self> {
        let text = unicode::trim(text);
        if text.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "a keep path must not be empty"));
        }
        Ok(Self { parts: text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect() })
    }

    /// Returns the path as text.
    pub fn text(&self) -> String {
        if self.parts.is_empty() { ".".to_owned() } else { self.parts.join(".") }
    }

    /// Reads a list of paths.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `<path>/<index>` for one of nothing but white space.
    pub fn parse_all(texts: &[String], path: &str) -> Result<Vec<Self>> {
        let read = |(index, text): (usize, &String)| Self::parse(text).map_err(|e| e.at(format!("{path}/{index}")));
        texts.iter().enumerate().map(read).collect()
    }

    /// Returns the parts between the dots.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }

    /// Returns the steps from the outside in: `a[].b` is a key, every element, a key.
    pub fn segments(&self) -> Vec<PathSegment> {
        let mut segments = Vec::new();
        for part in &self.parts {
            let mut key = part.as_str();
            let mut lists = 0;
            while let Some(shorter) = key.strip_suffix("[]") {
                key = shorter;
                lists += 1;
            }
            if !key.is_empty() {
                segments.push(PathSegment::Key(key.to_owned()));
            }
            segments.extend(std::iter::repeat_n(PathSegment::Elements, lists));
        }
        segments
    }
}

/// Keeps what the paths name, at its place; nothing else of the value is in the answer.
///
/// `{}` stands for what is not kept: for an element of a list whose other elements are, and for a value no path
/// leads into. A null in the answer is a null of the value.
///
/// ```
/// use contextweaver_content::{KeepPath, project};
/// use serde_json::json;
///
/// let value = json!({ "orders": [{ "id": 1, "card": "4111" }, { "id": 2, "card": "5500" }], "next": null });
/// let keep = [KeepPath::parse("orders[].id")?];
/// assert_eq!(project(&value, &keep), json!({ "orders": [{ "id": 1 }, { "id": 2 }] }));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn project(value: &Value, keep: &[KeepPath]) -> Value {
    let mut paths: Vec<Vec<PathSegment>> = keep.iter().map(KeepPath::segments).collect();
    order::sort_distinct(&mut paths);
    pick(value, &paths, 0).unwrap_or_else(|| Value::Object(JsonMap::new()))
}

/// Keeps what the paths name from their step `depth` on; they are sorted, and agree in all steps before it.
fn pick(value: &Value, paths: &[Vec<PathSegment>], depth: usize) -> Option<Value> {
    // A path that ends here sorts before those that go on.
    if paths.first()?.len() == depth {
        return Some(value.clone());
    }
    match value {
        Value::Array(list) => {
            let below = paths_through(paths, depth, None);
            if below.is_empty() {
                return None;
            }
            let kept = |entry| pick(entry, below, depth + 1).unwrap_or_else(|| Value::Object(JsonMap::new()));
            Some(Value::Array(list.iter().map(kept).collect()))
        }
        Value::Object(map) => {
            let mut kept = JsonMap::new();
            for (key, entry) in map {
                let below = paths_through(paths, depth, Some(key));
                if let Some(entry) = pick(entry, below, depth + 1) {
                    kept.insert(key.clone(), entry);
                }
            }
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        _ => None,
    }
}

/// Finds the paths whose step `depth` is this key, or the elements of a list.
fn paths_through<'a>(paths: &'a [Vec<PathSegment>], depth: usize, key: Option<&str>) -> &'a [Vec<PathSegment>] {
    let start = paths.partition_point(|path| path[depth].key() < key);
    let end = start + paths[start..].partition_point(|path| path[depth].key() == key);
    &paths[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::StructuredExtractor;
    use contextweaver_model::json::to_sorted_ascii;
    use serde_json::json;

    fn paths(texts: &[&str]) -> Vec<KeepPath> {
        texts.iter().map(|text| KeepPath::parse(text).unwrap()).collect()
    }

    #[test]
    fn paths_are_read() {
        let show = |text: &str| {
            let segments = KeepPath::parse(text).unwrap().segments();
            segments.iter().map(|segment| segment.key().unwrap_or("[]").to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (text, steps) in [
            (" a..b[]. ", "a b []"),
            ("a[][].b", "a [] [] b"),
            ("[][]", "[] []"),
            ("[].a", "[] a"),
            ("a[]b.c[0]", "a[]b c[0]"),
            ("...", ""),
        ] {
            assert_eq!(show(text), steps, "{text}");
        }
        assert_eq!(KeepPath::parse("\u{a0} ").unwrap_err().code(), ErrorCode::InvalidInput);
    }

    #[test]
    fn what_is_not_kept_is_an_empty_object_and_erases_nothing() {
        let table = [
            (json!([{"a": 1}, {"b": 2}]), vec!["[].a", "[].b"], json!([{"a": 1}, {"b": 2}])),
            (json!([{"n": 1, "amt": null}, {"n": 2}]), vec!["[].amt"], json!([{"amt": null}, {}])),
            (json!({"a": [[{"b": 1, "c": 2}], 7]}), vec!["a[][].b"], json!({"a": [[{"b": 1}], {}]})),
            (json!({"a": {"b": 1, "c": 2}}), vec!["a", "a.b"], json!({"a": {"b": 1, "c": 2}})),
            (json!({"a": {"b": {}}}), vec!["a.b.c", "x"], json!({})),
            (json!(5), vec!["..."], json!(5)),
            (json!([1]), vec![], json!({})),
        ];
        for (value, keep, kept) in table {
            assert_eq!(project(&value, &paths(&keep)), kept, "{value} {keep:?}");
        }
    }

    #[test]
    fn an_allow_list_never_falls_back_to_everything() {
        let value = json!([{"id": 1, "secret": "s"}, {"secret": "s"}]);
        let kept = project(&value, &paths(&["[].id"]));
        assert_eq!(kept, json!([{"id": 1}, {}]));
        let facts = StructuredExtractor::default().extract(&to_sorted_ascii(&kept, None));
        assert_eq!(facts, ["type: array (2 items)", "columns: id", "  row: id=1", "  row: id="]);
    }
}
