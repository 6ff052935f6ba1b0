//! Schemas that say nothing or contradict themselves.

use serde_json::Value;

use super::super::finding::CatalogFinding;
use super::place::{Place, ToolFindings};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;

/// Keywords that say what a value is.
const TELLING: &[&str] = &["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "$dynamicRef"];
/// Keywords by which names may be described elsewhere.
const ELSEWHERE: &[&str] = &["$ref", "anyOf", "oneOf", "allOf", "patternProperties", "if", "$dynamicRef"];

/// Looks at the schemas of one tool.
pub(super) fn check(item: &SelectableItem, found: &mut ToolFindings) {
    let args = &item.args_schema;
    if args.get("type").is_some_and(|kind| kind != "object") {
        found.push(CatalogFinding::new("schema-not-object", &item.id, "/args_schema/type"));
    }
    if !args.is_empty() {
        schema(args, &Place::of("args_schema"), &item.id, found);
    }
    if let Some(output) = &item.output_schema {
        schema(output, &Place::of("output_schema"), &item.id, found);
    }
}

/// Looks at one schema and those below it. The depth of tools is bounded where they are read.
fn schema(map: &JsonMap, place: &Place, id: &str, found: &mut ToolFindings) {
    if !map.is_empty() && !TELLING.iter().any(|key| map.contains_key(*key)) {
        found.add(|| CatalogFinding::new("schema-no-type", id, place.path()));
    }
    let mut malformed = |key: &str| found.add(|| CatalogFinding::new("schema-malformed", id, place.below(key).path()));
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
            let path = || place.below("required").path();
            found.add(|| CatalogFinding::new("schema-required-unknown", id, path()).evidence(name));
        }
    }
    let properties = place.below("properties");
    for (name, value) in known.into_iter().flatten() {
        below(value, &properties.below(name), id, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(value) = map.get(key).filter(|value| !value.is_array()) {
            below(value, &place.below(key), id, found);
        }
    }
}

fn below(value: &Value, place: &Place, id: &str, found: &mut ToolFindings) {
    match value {
        Value::Object(map) => schema(map, place, id, found),
        Value::Bool(_) => {}
        _ => found.add(|| CatalogFinding::new("schema-malformed", id, place.path())),
    }
}
