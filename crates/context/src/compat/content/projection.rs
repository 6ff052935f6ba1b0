//! Projection of JSON onto an allow-list of paths, with the losses of 0.18.

use serde_json::Value;

use super::extractor;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::{KeepPath, PathSegment};
use contextweaver_model::json::{JsonMap, to_sorted_ascii};

/// Returns the steps of a path: one `[]` is taken off a part, the others stay in the key.
pub fn segments(path: &KeepPath) -> Vec<PathSegment> {
    let mut segments = Vec::new();
    for part in path.parts() {
        let (key, mut lists) = part.strip_suffix("[]").map_or((part, 0), |key| (key, 1));
        match key {
            "" => {}
            // 0.18 marks lists by this very text, so here a key of that name is a list after all.
            "[]" => lists += 1,
            key => segments.push(PathSegment::Key(key.to_owned())),
        }
        segments.extend(std::iter::repeat_n(PathSegment::Elements, lists));
    }
    segments
}

/// Keeps what the paths name, at its place. Elements that are not kept become null and may erase what an earlier path
/// kept; where nothing is kept, the answer is `{}`.
pub fn project(value: &Value, keep: &[KeepPath]) -> Value {
    let found = keep.iter().filter_map(|path| extract(value, &segments(path)));
    found.reduce(merge).unwrap_or_else(|| Value::Object(JsonMap::new()))
}

/// Keeps what one path names.
fn extract(value: &Value, path: &[PathSegment]) -> Option<Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value.clone()) };
    match (step, value) {
        (PathSegment::Elements, Value::Array(list)) => {
            Some(Value::Array(list.iter().map(|entry| extract(entry, rest).unwrap_or(Value::Null)).collect()))
        }
        (PathSegment::Key(key), Value::Object(map)) => {
            let kept = extract(map.get(key)?, rest)?;
            Some(Value::Object(JsonMap::from_iter([(key.clone(), kept)])))
        }
        _ => None,
    }
}

/// Joins two projections of one value: where they cannot be joined, the later one stays.
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
    max_fact_chars: usize,
}

impl StructuredFirewall {
    /// Makes one; the allow-list must name something.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `/keep` for an empty list, at `/keep/<index>` for an empty path.
    pub fn new(keep: &[String], max_fact_chars: usize) -> Result<Self> {
        if keep.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "keep must name at least one path").at("/keep"));
        }
        let keep = KeepPath::parse_all(keep, "/keep")?;
        Ok(Self { keep, max_fact_chars })
    }

    /// Returns the projection of a value, and facts about it.
    ///
    /// # Errors
    /// Those of the structured extractor.
    pub fn compact(&self, value: &Value) -> Result<(Value, Vec<String>)> {
        let projected = project(value, &self.keep);
        let facts = extractor(self.max_fact_chars).extract(&to_sorted_ascii(&projected, None))?;
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
    fn one_list_step_is_taken_off_a_part() {
        let show = |text: &str| {
            let steps = segments(&KeepPath::parse(text).unwrap());
            let names = steps.iter().map(|step| match step {
                PathSegment::Elements => "[]",
                PathSegment::Key(key) => key,
            });
            names.collect::<Vec<_>>().join(" ")
        };
        for (text, steps) in [
            (" a..b[]. ", "a b []"),
            ("a[][].b", "a[] [] b"),
            ("[][]", "[] []"),
            ("[].a", "[] a"),
            ("a[]b.c[0]", "a[]b c[0]"),
            ("...", ""),
        ] {
            assert_eq!(show(text), steps, "{text}");
        }
    }

    #[test]
    fn what_is_not_kept_is_null_and_may_erase() {
        let table = [
            (json!([{"a": 1}, {"b": 2}]), vec!["[].a", "[].b"], json!([null, {"b": 2}])),
            (json!([{"n": 1, "amt": null}, {"n": 2}]), vec!["[].amt"], json!([{"amt": null}, null])),
            (json!({"a": [[{"b": 1, "c": 2}], 7]}), vec!["a[][].b"], json!({})),
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
    fn a_list_with_holes_cannot_be_described() {
        let value = json!([{"id": 1, "secret": "s"}, {"secret": "s"}]);
        let keep = ["[].id".to_owned()];
        // 0.18 dies of the null; its caller then shows the beginning of the raw text.
        assert!(StructuredFirewall::new(&keep, 500).unwrap().compact(&value).is_err());
        assert_eq!(StructuredFirewall::new(&[], 500).unwrap_err().path(), "/keep");
        assert_eq!(StructuredFirewall::new(&["a".into(), " ".into()], 500).unwrap_err().path(), "/keep/1");
    }
}
