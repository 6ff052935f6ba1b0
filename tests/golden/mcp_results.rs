//! Results of MCP tools, taken apart.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver_convert::mcp::{
    ConvertedResult, McpResultOptions, mcp_prompt_to_envelope, mcp_resource_to_envelope, mcp_result_to_envelope,
};
use serde_json::{Map, Value, json};

use crate::context::text;

/// Runs one case of a file that belongs here: those with a result.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    let options = McpResultOptions::default();
    let result = |key: &str| input.get(key).or_else(|| input.get("result"));
    let converted = if input.get("resource_id").is_some() {
        mcp_resource_to_envelope(result("resource_read")?, text(input, "resource_id"), options.max_bytes)
    } else if input.get("prompt_id").is_some() {
        mcp_prompt_to_envelope(result("prompt_get")?, text(input, "prompt_id"), options.max_bytes)
    } else if input.get("tool_name").is_some() {
        mcp_result_to_envelope(result("result")?, text(input, "tool_name"), &options)
    } else {
        return None;
    };
    let described = |converted: ConvertedResult| match described(&converted) {
        // What the recording has instead of the bytes.
        Value::Object(mut record) if file == "spec-examples" && input.get("tool_name").is_none() => {
            let handles: Vec<&str> = converted.binaries.iter().map(|binary| binary.handle.as_str()).collect();
            record.remove("binaries");
            // How long the result may be cached is kept here, as the tests of the module assert.
            record["envelope"]["provenance"].as_object_mut().map(|provenance| provenance.remove("extra"));
            record.insert("handles".into(), json!(handles));
            Value::Object(record)
        }
        record => record,
    };
    Some(converted.map(described).map_err(|error| error.to_string()))
}

fn described(converted: &ConvertedResult) -> Value {
    let binaries: Map<String, Value> = converted
        .binaries
        .iter()
        .map(|binary| {
            let data = STANDARD.encode(&binary.bytes);
            let record = json!({ "data_base64": data, "media_type": binary.media_type, "label": binary.label });
            (binary.handle.clone(), record)
        })
        .collect();
    json!({ "envelope": converted.envelope, "binaries": binaries, "full_text": converted.full_text })
}
