//! Results of MCP tools, taken apart.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver::mcp::{Converted, ResultOptions, mcp_result_to_envelope};
use serde_json::{Map, Value, json};

use crate::context::text;

/// Reads a result as the reference does.
pub fn run(input: &Value) -> Result<Value, String> {
    let options = ResultOptions { compat: true, ..ResultOptions::default() };
    let converted = mcp_result_to_envelope(&input["result"], text(input, "tool_name"), &options);
    converted.map(|converted| described(&converted)).map_err(|error| error.to_string())
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
