//! Projection of JSON onto an allow-list of paths.

use serde_json::Value;

use super::reference::StructuredExtractor;
use contextweaver_base::order;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, to_sorted_ascii};
use contextweaver_text::unicode;

/// One step of a path. Keys sort after the list step, so that both kinds of step are found by their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// Every element of a list.
    Elements,
    /// A member of an object.
    Key(String),
}

impl Segment {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepPath {
    parts: Vec<String>,
}

impl KeepPath {
    /// Reads a path; one of nothing but white space is refused.
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

    /// Reads a list of paths; the error names the place in the list.
    pub fn parse_all(texts: &[String], path: &str) -> Result<Vec<Self>> {
        let read = |(index, text): (usize, &String)| Self::parse(text).map_err(|e| e.at(format!("{path}/{index}")));
        texts.iter().enumerate().map(read).collect()
    }

    /// Returns the steps. The reference takes one `[]` off a part and leaves the others in the key.
    pub fn segments(&self, compat: bool) -> Vec<Segment> {
        let mut segments = Vec::new();
        for part in &self.parts {
            let mut key = part.as_str();
            let mut lists = 0;
            while let Some(shorter) = key.strip_suffix("[]").filter(|_| lists == 0 || !compat) {
                key = shorter;
                lists += 1;
            }
            match key {
                "" => {}
                // The reference marks lists by this very text, so here a key of that name is a list after all.
                "[]" => lists += 1,
                key => segments.push(Segment::Key(key.to_owned())),
            }
            segments.extend(std::iter::repeat_n(Segment::Elements, lists));
        }
        segments
    }
}

/// Keeps what the paths name, at its place; nothing else of the value is in the answer.
///
/// `{}` stands for what is not kept: for an element of a list whose other elements are, and for a value no path
/// leads into. A null in the answer is a null of the value. With `compat`, elements that are not kept become null and
/// may erase what an earlier path kept, as in the reference.
pub fn project(value: &Value, keep: &[KeepPath], compat: bool) -> Value {
    let mut paths: Vec<Vec<Segment>> = keep.iter().map(|path| path.segments(compat)).collect();
    let nothing = || Value::Object(JsonMap::new());
    if compat {
        let found = paths.iter().filter_map(|path| extract(value, path));
        return found.reduce(merge).unwrap_or_else(nothing);
    }
    order::sort_distinct(&mut paths);
    pick(value, &paths, 0).unwrap_or_else(nothing)
}

/// Keeps what the paths name from their step `depth` on; they are sorted, and agree in all steps before it.
fn pick(value: &Value, paths: &[Vec<Segment>], depth: usize) -> Option<Value> {
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
fn paths_through<'a>(paths: &'a [Vec<Segment>], depth: usize, key: Option<&str>) -> &'a [Vec<Segment>] {
    let start = paths.partition_point(|path| path[depth].key() < key);
    let end = start + paths[start..].partition_point(|path| path[depth].key() == key);
    &paths[start..end]
}

/// Keeps what one path names, as the reference does.
fn extract(value: &Value, path: &[Segment]) -> Option<Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value.clone()) };
    match (step, value) {
        (Segment::Elements, Value::Array(list)) => {
            Some(Value::Array(list.iter().map(|entry| extract(entry, rest).unwrap_or(Value::Null)).collect()))
        }
        (Segment::Key(key), Value::Object(map)) => {
            let kept = extract(map.get(key)?, rest)?;
            Some(Value::Object(JsonMap::from_iter([(key.clone(), kept)])))
        }
        _ => None,
    }
}

/// Joins two projections of one value, as the reference does: where they cannot be joined, the later one stays.
fn merge(earlier: Value, later: Value) -> Value {
    match (earlier, later) {
        (Value::Object(mut map), Value::Object(more)) => {
            for (key, value) in more {
                match map.get_mut(&key) {
                    Some(known) => *known = merge(known.take(), value),
                    None => drop(map.insert(key, value)),
                }
            }
            Value::Object(map)
        }
        (Value::Array(list), Value::Array(mut more)) => {
            let mut joined = Vec::with_capacity(list.len().max(more.len()));
            let tail = more.split_off(list.len().min(more.len()));
            let mut later = more.into_iter();
            joined.extend(list.into_iter().map(|known| match later.next() {
                Some(value) => merge(known, value),
                None => known,
            }));
            joined.extend(tail);
            Value::Array(joined)
        }
        (_, later) => later,
    }
}

/// Reduces JSON to an allow-list and describes what is left.
#[derive(Debug, Clone)]
pub struct StructuredFirewall {
    keep: Vec<KeepPath>,
    extractor: StructuredExtractor,
}

impl StructuredFirewall {
    /// Makes one; the allow-list must name something.
    pub fn new(keep: &[String], max_fact_chars: usize, compat: bool) -> Result<Self> {
        if keep.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "keep must name at least one path").at("/keep"));
        }
        let keep = KeepPath::parse_all(keep, "/keep")?;
        Ok(Self { keep, extractor: StructuredExtractor { max_chars: max_fact_chars, compat } })
    }

    /// Returns the projection of a value, and facts about it.
    ///
    /// With `compat` this fails where [`StructuredExtractor::extract`] does.
    pub fn compact(&self, value: &Value) -> Result<(Value, Vec<String>)> {
        let projected = project(value, &self.keep, self.extractor.compat);
        let facts = self.extractor.extract(&to_sorted_ascii(&projected, None))?;
        Ok((projected, facts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(texts: &[&str]) -> Vec<KeepPath> {
        texts.iter().map(|text| KeepPath::parse(text).unwrap()).collect()
    }

    #[test]
    fn paths_are_read_in_two_ways() {
        let show = |text: &str, compat| {
            let segments = KeepPath::parse(text).unwrap().segments(compat);
            segments.iter().map(|segment| segment.key().unwrap_or("[]").to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (text, ours, theirs) in [
            (" a..b[]. ", "a b []", "a b []"),
            ("a[][].b", "a [] [] b", "a[] [] b"),
            ("[][]", "[] []", "[] []"),
            ("[].a", "[] a", "[] a"),
            ("a[]b.c[0]", "a[]b c[0]", "a[]b c[0]"),
            ("...", "", ""),
        ] {
            assert_eq!((show(text, false).as_str(), show(text, true).as_str()), (ours, theirs), "{text}");
        }
        assert_eq!(KeepPath::parse("\u{a0} ").unwrap_err().code(), ErrorCode::InvalidInput);
    }

    #[test]
    fn what_is_not_kept_is_an_empty_object_and_erases_nothing() {
        let table = [
            (json!([{"a": 1}, {"b": 2}]), vec!["[].a", "[].b"], json!([{"a": 1}, {"b": 2}]), json!([null, {"b": 2}])),
            (
                json!([{"n": 1, "amt": null}, {"n": 2}]),
                vec!["[].amt"],
                json!([{"amt": null}, {}]),
                json!([{"amt": null}, null]),
            ),
            (json!({"a": [[{"b": 1, "c": 2}], 7]}), vec!["a[][].b"], json!({"a": [[{"b": 1}], {}]}), json!({})),
            (
                json!({"a": {"b": 1, "c": 2}}),
                vec!["a", "a.b"],
                json!({"a": {"b": 1, "c": 2}}),
                json!({"a": {"b": 1, "c": 2}}),
            ),
            (json!({"a": {"b": {}}}), vec!["a.b.c", "x"], json!({}), json!({})),
            (json!(5), vec!["..."], json!(5), json!(5)),
            (json!([1]), vec![], json!({}), json!({})),
        ];
        for (value, keep, ours, theirs) in table {
            assert_eq!(project(&value, &paths(&keep), false), ours, "{value} {keep:?}");
            assert_eq!(project(&value, &paths(&keep), true), theirs, "{value} {keep:?}");
        }
    }

    #[test]
    fn an_allow_list_never_falls_back_to_everything() {
        let value = json!([{"id": 1, "secret": "s"}, {"secret": "s"}]);
        let keep = ["[].id".to_owned()];
        let (kept, facts) = StructuredFirewall::new(&keep, 500, false).unwrap().compact(&value).unwrap();
        assert_eq!(kept, json!([{"id": 1}, {}]));
        assert_eq!(facts, ["type: array (2 items)", "columns: id", "  row: id=1", "  row: id="]);
        // The reference dies of the null here; its caller then shows the beginning of the raw text.
        assert!(StructuredFirewall::new(&keep, 500, true).unwrap().compact(&value).is_err());
        assert_eq!(StructuredFirewall::new(&[], 500, false).unwrap_err().path(), "/keep");
        assert_eq!(StructuredFirewall::new(&["a".into(), " ".into()], 500, false).unwrap_err().path(), "/keep/1");
    }
}
