//! Arguments against the schema of a tool.

use serde_json::{Value, json};

use contextweaver_convert::tools::validate_args;
use contextweaver_model::json::JsonMap;

use super::call::Checked;
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::safe_line;

/// Checks arguments against the schema of a tool. What is wrong is told by place and what is expected, never by the value.
/// With `keys` the place of the first is told as a list of keys, as contextweaver 0.18 has it.
pub(crate) fn validate(schema: &JsonMap, arguments: &JsonMap, keys: bool) -> Checked<()> {
    if schema.is_empty() {
        return Ok(());
    }
    let (schema, arguments) = (Value::Object(schema.clone()), Value::Object(arguments.clone()));
    let checked = validate_args(&schema, "", &arguments, false).map_err(|error| {
        let reason = error.details().get("reason").cloned().unwrap_or_else(|| "invalid_schema".into());
        let message = "the tool's own schema of its arguments cannot be used";
        GatewayError::new(GatewayErrorCode::SchemaInvalid, message).detail("reason", reason)
    })?;
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
    let refusal = GatewayError::new(GatewayErrorCode::ArgsInvalid, message);
    Err(match first.filter(|_| keys) {
        Some(first) => refusal.detail("path", steps(&first.path)).detail("errors", errors),
        None => refusal.detail("errors", errors),
    })
}

/// The steps of a JSON pointer, numbers as such.
fn steps(pointer: &str) -> Vec<Value> {
    let steps = pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    steps.map(|step| step.parse::<u64>().map_or_else(|_| safe_line(&step).into(), Value::from)).collect()
}
