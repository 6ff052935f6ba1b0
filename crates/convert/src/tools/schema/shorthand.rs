//! Schemas written as `{field: {type, optional, …}}`.

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer};

/// Words at the root that say that a schema is JSON Schema.
const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "patternProperties",
    "definitions",
];

/// Tells whether a schema lists its fields without a word of JSON Schema around them.
pub(super) fn is_shorthand(map: &JsonMap) -> bool {
    let is_keyword = |key: &str| key.starts_with('$') || KEYWORDS.contains(&key);
    !map.is_empty() && map.iter().all(|(key, value)| value.is_object() && !is_keyword(key))
}

/// Writes listed fields as JSON Schema.
pub(super) fn expanded(fields: &JsonMap, path: &str) -> Result<Value> {
    let mut properties = JsonMap::new();
    let mut required: Vec<Value> = Vec::new();
    for (name, field) in fields {
        let Value::Object(field) = field else {
            let message = "a field of a schema in short form is an object";
            let error = Error::new(ErrorCode::InvalidInput, message).detail("reason", "invalid_schema");
            return Err(error.at(pointer(path, name)));
        };
        let mut field = field.clone();
        if field.shift_remove("optional") != Some(Value::Bool(true)) {
            required.push(name.as_str().into());
        }
        if let Some(Value::String(of)) = field.get("items") {
            let of = json!({ "type": of });
            field.insert("items".to_owned(), of);
        }
        properties.insert(name.clone(), Value::Object(typed(field)));
    }
    let mut schema = JsonMap::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Ok(Value::Object(schema))
}

/// Gives a field the type of strings unless something else tells its type.
fn typed(field: JsonMap) -> JsonMap {
    let telling = ["type", "const", "$ref", "anyOf", "oneOf", "allOf"];
    let listed = field.get("enum").and_then(Value::as_array);
    if telling.iter().any(|key| field.contains_key(*key)) || listed.is_some_and(|all| !all.iter().all(Value::is_string))
    {
        return field;
    }
    let mut typed = JsonMap::new();
    typed.insert("type".to_owned(), "string".into());
    typed.extend(field);
    typed
}
