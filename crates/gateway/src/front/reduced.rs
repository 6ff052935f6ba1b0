//! Shortens the schema of a tool's arguments to a number of tokens, and keeps what a model needs to write a call.

use serde_json::{Value, json};

use contextweaver_model::json::JsonMap;
use contextweaver_text::tokens::Estimator;

/// Keywords that stay in a shortened schema: they say which values are allowed.
const TELLING: [&str; 4] = ["type", "enum", "const", "required"];
/// Longest `enum` that is shown. A longer one is left out; a model that needs it asks for the whole schema.
const MAX_ENUM: usize = 12;
/// Most levels of nested schemas that are shown below the arguments.
const DEEPEST: usize = 2;

/// A schema, whole or shortened to fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReducedSchema {
    pub schema: Value,
    /// Whether something of the original is missing.
    pub is_reduced: bool,
    /// Count of optional arguments that were left out.
    pub left_out: usize,
}

/// Returns the fullest form of a schema that fits `tokens`. The forms, from full to short:
///
/// 1. the whole schema;
/// 2. names, types and which arguments are required, with 2, 1 or 0 levels of nested schemas;
/// 3. the required arguments, with as many of the optional ones as fit.
///
/// Required arguments always stay, so the last form may be larger than `tokens`. An argument with a default counts as
/// optional, except in the whole schema.
pub(crate) fn reduced(schema: &JsonMap, tokens: u64) -> ReducedSchema {
    let fits = |schema: &Value| Estimator::V3.fits(&schema.to_string(), tokens);
    let whole = Value::Object(schema.clone());
    if fits(&whole) {
        return ReducedSchema { schema: whole, is_reduced: false, left_out: 0 };
    }
    for depth in (0..=DEEPEST).rev() {
        let schema = stripped(&whole, depth);
        if fits(&schema) {
            return ReducedSchema { schema, is_reduced: true, left_out: 0 };
        }
    }
    let mut schema = stripped(&whole, 0);
    let left_out = leave_out(&mut schema, tokens);
    ReducedSchema { schema, is_reduced: true, left_out }
}

/// Removes optional arguments from the end until the schema fits, and returns how many. Counts in quarter tokens.
fn leave_out(schema: &mut Value, tokens: u64) -> usize {
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return 0 };
    let (must, may): (Vec<_>, Vec<_>) =
        std::mem::take(properties).into_iter().partition(|(name, _)| required.contains(name));
    let all = may.len();
    properties.extend(must);
    let mut room = tokens.saturating_mul(4).saturating_sub(Estimator::V3.quarters(&schema.to_string()));
    let mut kept = Vec::new();
    for (name, value) in may {
        let cost = Estimator::V3.quarters(&format!("{}:{value},", json!(name)));
        if cost > room {
            break;
        }
        room -= cost;
        kept.push((name, value));
    }
    let left_out = all - kept.len();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(kept);
    }
    left_out
}

/// Returns a schema with only names, types and what is required, down to `depth` levels below it.
///
/// Arguments with a default no longer count as required.
fn stripped(schema: &Value, depth: usize) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut out = JsonMap::new();
    for (key, value) in map {
        let kept = match (key.as_str(), value) {
            ("enum", Value::Array(list)) if list.len() > MAX_ENUM => continue,
            ("required", Value::Array(list)) => without_defaults(map, list),
            (key, value) if TELLING.contains(&key) => value.clone(),
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, value)| (name.clone(), below(value, depth))).collect()
            }
            ("items", value) => below(value, depth),
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => list.iter().map(|one| below(one, depth)).collect(),
            _ => continue,
        };
        out.insert(key.clone(), kept);
    }
    if is_array(&out) && !out.contains_key("items") {
        out.insert("items".to_owned(), json!({}));
    }
    Value::Object(out)
}

/// Returns the required properties that have no default. A model may omit the others: servers fill in the default.
pub fn without_defaults(schema: &JsonMap, required: &[Value]) -> Value {
    let property = |name: &Value| schema.get("properties")?.get(name.as_str()?);
    let has_default = |name: &&Value| property(name).is_some_and(|property| property.get("default").is_some());
    required.iter().filter(|name| !has_default(name)).cloned().collect()
}

/// Shortens a nested schema. With no level left, only its type and a short `enum` stay.
fn below(schema: &Value, depth: usize) -> Value {
    if let Some(depth) = depth.checked_sub(1) {
        return stripped(schema, depth);
    }
    let kept = ["type", "enum"].into_iter().filter_map(|key| {
        let value = schema.get(key)?;
        let is_short = value.as_array().is_none_or(|list| list.len() <= MAX_ENUM);
        is_short.then(|| (key.to_owned(), value.clone()))
    });
    let mut kept: JsonMap = kept.collect();
    if is_array(&kept) {
        // Providers refuse the schema of an array without `items`.
        let items = schema.get("items").filter(|items| items.is_object());
        kept.insert("items".to_owned(), items.map_or_else(|| json!({}), |items| below(items, 0)));
    }
    Value::Object(kept)
}

fn is_array(schema: &JsonMap) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        name => name.is_some_and(|name| name == "array"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_and_has_no_default_stays() {
        let schema = json!({ "$schema": "x", "type": "object", "properties": {
            "repo": { "type": "string", "description": "The repository, as owner and name, of which the issue is." },
            "filter": { "type": "object", "properties": { "state": { "enum": ["open", "closed"], "description": "d" } } },
            "labels": { "type": "array", "items": { "type": "string", "minLength": 1 } },
            "last": { "type": "integer", "default": 5 } }, "required": ["repo", "last"] });
        let schema = schema.as_object().unwrap().clone();
        assert_eq!(reduced(&schema, 1000).schema, json!(schema));
        let typed = reduced(&schema, 85);
        assert_eq!(
            typed.schema,
            json!({ "type": "object", "properties": { "repo": { "type": "string" }, "filter": { "type": "object",
                "properties": { "state": { "enum": ["open", "closed"] } } }, "labels": { "type": "array",
                "items": { "type": "string" } }, "last": { "type": "integer" } }, "required": ["repo"] })
        );
        assert!(typed.is_reduced && typed.left_out == 0);
        let least = reduced(&schema, 1);
        assert_eq!(
            least.schema,
            json!({ "type": "object", "properties": { "repo": { "type": "string" } }, "required": ["repo"] })
        );
        assert_eq!(least.left_out, 3);
        let some = reduced(&schema, 55);
        assert_eq!((some.left_out, some.schema["properties"].as_object().unwrap().len()), (1, 3));
    }
}
