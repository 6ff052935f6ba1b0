//! Schemas that a server lists, looked at before anybody uses them: too large, or malformed.

use serde::Serialize;
use serde_json::Value;

use contextweaver_convert::tools::check_well_formed;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, number_text};
use contextweaver_text::unicode::truncate;

/// Bytes of a schema as compact JSON of ASCII.
pub const MAX_HEALTHY_BYTES: usize = 65_536;
/// Levels of a schema, its own being 0.
pub const MAX_HEALTHY_DEPTH: usize = 32;
/// Properties of a schema and all below it.
pub const MAX_HEALTHY_PROPERTIES: usize = 512;

/// Something about a schema that makes trouble: it costs tokens, or it cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SchemaFinding {
    /// The tool.
    pub tool_id: String,
    /// What it is.
    #[cfg_attr(
        feature = "ts",
        ts(type = "\"size_exceeded\" | \"depth_exceeded\" | \"properties_exceeded\" | \"not_well_formed\"")
    )]
    pub kind: &'static str,
    /// How much, or where.
    pub detail: String,
}

/// Looks at the schemas of a tool.
pub fn item_findings(item: &SelectableItem) -> Vec<SchemaFinding> {
    let mut findings = schema_findings(&item.id, &Value::Object(item.args_schema.clone()));
    if let Some(output) = &item.output_schema {
        let of_output = schema_findings(&item.id, &Value::Object(output.clone()));
        findings.extend(
            of_output
                .into_iter()
                .map(|found| SchemaFinding { detail: format!("output schema: {}", found.detail), ..found }),
        );
    }
    findings
}

/// Looks at a schema: its size, its depth, its properties, and whether it is one. Takes time in proportion to it, and no
/// stack, however deep it is.
pub fn schema_findings(tool_id: &str, schema: &Value) -> Vec<SchemaFinding> {
    let measures = SchemaMeasures::of(schema);
    let exceeded = |kind, detail| SchemaFinding { tool_id: tool_id.to_owned(), kind, detail };
    let mut findings = Vec::new();
    if measures.bytes > MAX_HEALTHY_BYTES {
        findings.push(exceeded("size_exceeded", format!("{} bytes > {MAX_HEALTHY_BYTES}", measures.bytes)));
    }
    if measures.depth > MAX_HEALTHY_DEPTH {
        findings.push(exceeded("depth_exceeded", format!("depth {} > {MAX_HEALTHY_DEPTH}", measures.depth)));
    }
    if measures.properties > MAX_HEALTHY_PROPERTIES {
        let detail = format!("{} properties > {MAX_HEALTHY_PROPERTIES}", measures.properties);
        findings.push(exceeded("properties_exceeded", detail));
    }
    // The path of what is malformed is written by walking up, which a schema of a sound depth allows.
    if measures.depth <= contextweaver_base::limits::MAX_DEPTH
        && let Err(error) = check_well_formed(schema, "")
    {
        let place = if error.path().is_empty() { "/" } else { error.path() };
        findings.push(exceeded("not_well_formed", format!("{} at {}", error.message(), truncate(place, 256))));
    }
    findings
}

/// How large a schema is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SchemaMeasures {
    /// As compact JSON of ASCII; in which order the keys are does not matter.
    bytes: usize,
    depth: usize,
    properties: usize,
}

impl SchemaMeasures {
    fn of(schema: &Value) -> Self {
        let mut measures = Self::default();
        let mut waiting = vec![(schema, 0)];
        while let Some((value, depth)) = waiting.pop() {
            measures.depth = measures.depth.max(depth);
            measures.bytes += match value {
                Value::Null | Value::Bool(true) => 4,
                Value::Bool(false) => 5,
                Value::Number(number) => number_text(number).len(),
                Value::String(text) => string_bytes(text),
                Value::Array(list) => {
                    waiting.extend(list.iter().map(|one| (one, depth + 1)));
                    2 + list.len().saturating_sub(1)
                }
                Value::Object(map) => {
                    measures.properties += map.get("properties").and_then(Value::as_object).map_or(0, JsonMap::len);
                    waiting.extend(map.values().map(|one| (one, depth + 1)));
                    2 + map.len().saturating_sub(1) + map.keys().map(|key| string_bytes(key) + 1).sum::<usize>()
                }
            };
        }
        measures
    }
}

/// Returns the bytes of a string with its quotes, what is not ASCII written as `\uXXXX`.
fn string_bytes(text: &str) -> usize {
    let of = |ch: char| match ch {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        other => 6 * other.len_utf16(),
    };
    2 + text.chars().map(of).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use contextweaver_model::json::to_sorted_compact;
    use contextweaver_test_support::property;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn kinds(schema: &Value) -> Vec<&'static str> {
        schema_findings("t", schema).iter().map(|found| found.kind).collect()
    }

    fn nested(levels: usize, key: &str) -> Value {
        // `json!` would walk what is inside at every level.
        let around = |inner| Value::Object([(key.to_owned(), inner)].into_iter().collect());
        (0..levels).fold(json!({}), |inner, _| around(inner))
    }

    #[test]
    fn limits_are_inclusive() {
        let properties = |count: usize| {
            let map: serde_json::Map<String, Value> = (0..count).map(|at| (format!("p{at}"), json!({}))).collect();
            json!({ "properties": map })
        };
        // Six bytes of quotes and braces, `x`, and a colon.
        let sized = |bytes: usize| json!({ "x": "y".repeat(bytes - 8) });
        for (schema, wanted) in [
            (json!({}), vec![]),
            (nested(32, "x"), vec![]),
            (nested(33, "x"), vec!["depth_exceeded"]),
            (properties(512), vec![]),
            (properties(513), vec!["properties_exceeded"]),
            (sized(65_536), vec![]),
            (sized(65_537), vec!["size_exceeded"]),
            (json!({ "type": "objekt" }), vec!["not_well_formed"]),
            (json!({ "type": "objekt", "x": nested(32, "y") }), vec!["depth_exceeded", "not_well_formed"]),
        ] {
            assert_eq!(kinds(&schema), wanted);
        }
    }

    #[test]
    fn depth_takes_no_stack() {
        let mut deep = nested(100_000, "not");
        let kinds = kinds(&deep);
        // A value that deep cannot be dropped as it is.
        while let Some(inner) = deep.get_mut("not").map(Value::take) {
            deep = inner;
        }
        assert_eq!(kinds, ["size_exceeded", "depth_exceeded"]);
    }

    #[test]
    fn a_schema_of_results_is_looked_at_too() {
        let output = json!({ "type": 5 }).as_object().cloned();
        let found = item_findings(&SelectableItem { output_schema: output, ..SelectableItem::default() });
        assert_eq!((found.len(), found[0].kind), (1, "not_well_formed"));
        assert!(found[0].detail.starts_with("output schema: expected a type") && found[0].detail.ends_with("/type"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
            "[ -~é😀\n\t\u{7f}\"\\\\]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let keys = prop_oneof![Just("properties".to_owned()), "[a-cü\"]{0,3}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((keys, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(property(2_000))]

        #[test]
        fn bytes_are_those_that_would_be_written(schema in any_json()) {
            prop_assert_eq!(SchemaMeasures::of(&schema).bytes, to_sorted_compact(&schema).len());
        }
    }
}
