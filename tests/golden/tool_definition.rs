//! Definitions of tools and their results, as the seed's tables say. Only what a case names is compared.

use contextweaver_convert::tools::{ToolDefinitionToMcpOptions, ToolResultToMcpOptions, to_mcp_result, to_mcp_tool};
use serde_json::{Map, Value, json};

/// The expectations come along: a case says which keys it speaks of.
pub fn run(file: &str, case: &Value) -> Result<Value, String> {
    let (input, expected) = (&case["input"], &case["expected"]);
    let text = |error: contextweaver_base::Error| error.to_string();
    match file {
        "annotations" | "core_fields" => {
            let converted =
                to_mcp_tool(&input["definition"], "", &ToolDefinitionToMcpOptions::default()).map_err(text)?;
            Ok(answers(expected, &converted.tool, converted.handler.timeout))
        }
        "results" => {
            let converted = to_mcp_result(&input["result"], "", &ToolResultToMcpOptions::default()).map_err(text)?;
            Ok(answers(expected, &converted.result, 0))
        }
        other => Err(format!("no runner for tool-definition/{other}")),
    }
}

/// Answers what is asked of a record.
fn answers(expected: &Value, record: &Value, timeout: u64) -> Value {
    let asked = expected.as_object().cloned().unwrap_or_default();
    let answer = |key: &str, wanted: &Value| match key {
        "absent_keys" => {
            let keys = wanted.as_array().into_iter().flatten();
            Value::Array(keys.filter(|key| record.get(key.as_str().unwrap_or_default()).is_none()).cloned().collect())
        }
        // Left open or said twice; spec'd elsewhere and tested there.
        "undetermined" => wanted.clone(),
        "handler_timeout_ms" => timeout.into(),
        "isError_absent_or_false" => (record.get("isError").is_none_or(|flag| flag == false)).into(),
        "structuredContent_absent" => record.get("structuredContent").is_none().into(),
        "content_types" => {
            let parts = record["content"].as_array().into_iter().flatten();
            Value::Array(parts.map(|part| part["type"].clone()).collect())
        }
        "annotations" => {
            let keys = wanted.as_object().into_iter().flat_map(Map::keys);
            json!(keys.map(|key| (key.clone(), record["annotations"][key].clone())).collect::<Map<_, _>>())
        }
        other => record.get(other).cloned().unwrap_or_default(),
    };
    Value::Object(asked.iter().map(|(key, wanted)| (key.clone(), answer(key, wanted))).collect())
}
