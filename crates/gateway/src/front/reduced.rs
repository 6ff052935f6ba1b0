//! Schemas in fewer tokens: what a model needs to write arguments.

use serde_json::{Value, json};

use contextweaver_model::json::JsonMap;
use contextweaver_text::tokens::Estimator;

/// Keywords that say what may stand where.
const TELLING: [&str; 4] = ["type", "enum", "const", "required"];
/// Values of an `enum` that are shown; a model that wants another one asks for the whole schema.
const MAX_ENUM: usize = 12;
/// Levels of objects that are shown below the arguments.
const DEEPEST: usize = 2;

/// A schema, or what there was room for of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReducedSchema {
    /// The schema.
    pub schema: Value,
    /// Whether something is missing.
    pub is_reduced: bool,
    /// Arguments that are not required and left out.
    pub left_out: usize,
}

/// Returns a schema within so many tokens: the whole; or names, types and what is required; or only what is required,
/// with as many of the others as there is room for. What is required is always there.
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

/// Leaves out arguments that are not required, the last ones first, until the schema fits.
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

/// Keeps names, types and what is required, `depth` levels below the arguments. What has a default need not be written.
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

/// Returns which of the properties that a schema requires have no default: servers fill the others in.
pub fn without_defaults(schema: &JsonMap, required: &[Value]) -> Value {
    let property = |name: &Value| schema.get("properties")?.get(name.as_str()?);
    let has_default = |name: &&Value| property(name).is_some_and(|property| property.get("default").is_some());
    required.iter().filter(|name| !has_default(name)).cloned().collect()
}

/// A schema below another one: with nothing but its type where there is no level left.
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
        // Providers refuse an array that does not say what its items are.
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
