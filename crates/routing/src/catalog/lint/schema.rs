//! Schemas that say nothing or contradict themselves.

use serde_json::Value;

use super::super::finding::CatalogFinding;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, pointer};

/// Keywords that say what a value is.
const TELLING: &[&str] = &["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "$dynamicRef"];
/// Keywords by which names may be described elsewhere.
const ELSEWHERE: &[&str] = &["$ref", "anyOf", "oneOf", "allOf", "patternProperties", "if", "$dynamicRef"];

/// Looks at the schemas of one tool.
pub(super) fn check(item: &SelectableItem, found: &mut Vec<CatalogFinding>) {
    let args = &item.args_schema;
    if args.get("type").is_some_and(|kind| kind != "object") {
        found.push(CatalogFinding::new("schema-not-object", &item.id, "/args_schema/type"));
    }
    if !args.is_empty() {
        schema(args, "/args_schema", &item.id, found);
    }
    if let Some(output) = &item.output_schema {
        schema(output, "/output_schema", &item.id, found);
    }
}

/// Looks at one schema and those below it. The depth of tools is bounded where they are read.
fn schema(map: &JsonMap, path: &str, id: &str, found: &mut Vec<CatalogFinding>) {
    if !map.is_empty() && !TELLING.iter().any(|key| map.contains_key(*key)) {
        found.push(CatalogFinding::new("schema-no-type", id, path));
    }
    let mut malformed = |key: &str| found.push(CatalogFinding::new("schema-malformed", id, pointer(path, key)));
    let known = match map.get("properties") {
        Some(Value::Object(known)) => Some(known),
        other => {
            if other.is_some() {
                malformed("properties");
            }
            None
        }
    };
    let required: &[Value] = match map.get("required") {
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => list,
        other => {
            // An old draft has true and false here.
            if other.is_some_and(|value| !value.is_boolean()) {
                malformed("required");
            }
            &[]
        }
    };
    let elsewhere = ELSEWHERE.iter().any(|key| map.contains_key(*key));
    for name in required.iter().filter_map(Value::as_str) {
        if !elsewhere && !known.is_some_and(|known| known.contains_key(name)) {
            let finding = CatalogFinding::new("schema-required-unknown", id, pointer(path, "required"));
            found.push(finding.evidence(name));
        }
    }
    let properties = pointer(path, "properties");
    for (name, value) in known.into_iter().flatten() {
        below(value, &pointer(&properties, name), id, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(value) = map.get(key).filter(|value| !value.is_array()) {
            below(value, &pointer(path, key), id, found);
        }
    }
}

fn below(value: &Value, path: &str, id: &str, found: &mut Vec<CatalogFinding>) {
    match value {
        Value::Object(map) => schema(map, path, id, found),
        Value::Bool(_) => {}
        _ => found.push(CatalogFinding::new("schema-malformed", id, path)),
    }
}
