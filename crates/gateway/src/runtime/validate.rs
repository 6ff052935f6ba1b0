//! Arguments against the schema of a tool.

use serde_json::{Value, json};

use contextweaver_convert::tools::validate_args;
use contextweaver_model::json::JsonMap;

use crate::failure::Checked;
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::{safe_line, without_defaults};

/// Checks arguments against the schema of a tool. What is wrong is told by place and what is expected, never by the value.
/// Models write `null` for what they leave out: `null` for a property that is not required counts as absent, and is passed on.
/// A property with a `default` is not required: generators of schemas list such properties under `required`, and servers fill
/// them in.
pub(crate) fn validate(schema: &JsonMap, arguments: &JsonMap) -> Checked<()> {
    if schema.is_empty() {
        return Ok(());
    }
    let check = |schema: &JsonMap, arguments: &JsonMap| {
        let (schema, arguments) = (Value::Object(schema.clone()), Value::Object(arguments.clone()));
        validate_args(&schema, "", &arguments, false).map_err(|error| {
            let reason = error.details().get("reason").cloned().unwrap_or_else(|| "invalid_schema".into());
            let message = "the tool's own schema of its arguments cannot be used";
            GatewayError::new(GatewayErrorCode::SchemaInvalid, message).detail("reason", reason)
        })
    };
    let mut checked = check(schema, arguments)?;
    if !checked.valid {
        let lenient = with_defaults_optional(schema);
        checked = check(&lenient, &given(&lenient, arguments))?;
    }
    if checked.valid {
        return Ok(());
    }
    let errors: Vec<Value> = checked
        .errors
        .iter()
        .map(|error| {
            json!({ "path": safe_line(&error.path), "keyword": error.keyword, "expected": safe_line(&error.expected) })
        })
        .collect();
    let first = checked.errors.first();
    let message = first.map_or_else(
        || "the arguments do not fit the schema of the tool".to_owned(),
        |error| {
            let place = if error.path.is_empty() { "the arguments".to_owned() } else { safe_line(&error.path) };
            format!("{place}: expected {}", safe_line(&error.expected))
        },
    );
    Err(GatewayError::new(GatewayErrorCode::ArgsInvalid, message).detail("errors", errors))
}

/// A schema that requires nothing that has a default, at any depth.
pub(crate) fn with_defaults_optional(schema: &JsonMap) -> JsonMap {
    let relaxed = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("required", Value::Array(list)) => without_defaults(schema, list),
            // These hold data, not schemas.
            ("default" | "const" | "enum" | "examples" | "required", value) => value.clone(),
            (_, value) => relaxed(value),
        };
        (key.clone(), value)
    };
    schema.iter().map(relaxed).collect()
}

fn relaxed(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(with_defaults_optional(map)),
        Value::Array(list) => list.iter().map(relaxed).collect(),
        other => other.clone(),
    }
}

/// The arguments without those properties that are `null` and not required.
fn given(schema: &JsonMap, arguments: &JsonMap) -> JsonMap {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_left_out = |name: &str| {
        properties.is_some_and(|all| all.contains_key(name))
            && !required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    let kept = arguments.iter().filter(|(name, value)| !(value.is_null() && is_left_out(name)));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
