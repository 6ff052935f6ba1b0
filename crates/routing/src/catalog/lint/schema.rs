//! Schemas that say nothing or contradict themselves.

use serde_json::Value;

use super::super::finding::CatalogFinding;
use super::place::{Place, ToolFindings};
use contextweaver_convert::tools::{MendKind, MendOptions, PropertyNames, mended_schema};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::unicode::truncate;

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
        let mended = malformed(args, "/args_schema", &item.id, found);
        names(&mended, &item.id, found);
        schema(args, &Place::of("args_schema"), &item.id, found);
    }
    if let Some(output) = &item.output_schema {
        malformed(output, "/output_schema", &item.id, found);
        schema(output, &Place::of("output_schema"), &item.id, found);
    }
}

/// Finds what has to be mended before anybody takes the schema, and returns it mended.
fn malformed(map: &JsonMap, path: &str, id: &str, found: &mut ToolFindings) -> Value {
    let mut mends = Vec::new();
    let mended = mended_schema(&Value::Object(map.clone()), MendOptions { plain_patterns: true }, &mut mends);
    for mend in mends {
        let code = match mend.kind {
            MendKind::Malformed => "schema-malformed",
            MendKind::EarlierDraft => "schema-earlier-draft",
            MendKind::Unportable => "schema-unportable",
        };
        let at = format!("{path}{}", mend.path);
        let at = if mend.keyword.is_empty() { at } else { pointer(&at, &mend.keyword) };
        found.add(|| CatalogFinding::new(code, id, at).evidence(mend.note));
    }
    Value::Object(mended)
}

/// Finds arguments whose names a provider does not take.
fn names(schema: &Value, id: &str, found: &mut ToolFindings) {
    for (_, own) in PropertyNames::of(schema).iter() {
        let note = "Anthropic takes names of 1 to 64 letters, digits, _ . and -";
        let at = pointer("/args_schema/properties", &truncate(own, 80));
        found.add(|| CatalogFinding::new("schema-unportable", id, at).evidence(note));
    }
}

/// Looks at one schema and those below it. The depth of tools is bounded where they are read.
fn schema(map: &JsonMap, place: &Place, id: &str, found: &mut ToolFindings) {
    if !map.is_empty() && !TELLING.iter().any(|key| map.contains_key(*key)) {
        found.add(|| CatalogFinding::new("schema-no-type", id, place.path()));
    }
    let known = map.get("properties").and_then(Value::as_object);
    let required = map.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
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
        if let Some(value) = map.get(key) {
            below(value, &place.below(key), id, found);
        }
    }
}

fn below(value: &Value, place: &Place, id: &str, found: &mut ToolFindings) {
    if let Value::Object(map) = value {
        schema(map, place, id, found);
    }
}
