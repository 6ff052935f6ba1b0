//! Results of MCP tools, taken apart.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver::mcp::{Converted, ResultOptions, mcp_result_to_envelope};
use serde_json::{Map, Value, json};

use crate::context::text;

/// Runs one case of a file that belongs here: those with a result.
pub fn run(_file: &str, input: &Value) -> Option<Result<Value, String>> {
    let options = ResultOptions { compat: true, ..ResultOptions::default() };
    let converted = mcp_result_to_envelope(input.get("result")?, text(input, "tool_name"), &options);
    Some(converted.map(|converted| described(&converted)).map_err(|error| error.to_string()))
}

fn described(converted: &Converted) -> Value {
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
