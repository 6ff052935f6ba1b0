//! Lists of tools as a server sends them.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::wrong_type;

/// Takes the tools out of a `tools/list` capture: a list of tools, `{"tools": […]}`, or the JSON-RPC response around it.
pub fn tool_list(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Object(mut map) => match (map.shift_remove("tools"), map.shift_remove("result")) {
            (Some(Value::Array(list)), _) => Ok(list),
            (Some(other), _) => Err(wrong_type("/tools", "an array", &other)),
            (None, Some(Value::Object(mut result))) => match result.shift_remove("tools") {
                Some(Value::Array(list)) => Ok(list),
                other => Err(wrong_type("/result/tools", "an array", &other.unwrap_or_default())),
            },
            _ => Err(Error::new(ErrorCode::MissingField, "missing field `tools`").at("/tools")),
        },
        other => Err(wrong_type("", "a list of tools", &other)),
    }
}
