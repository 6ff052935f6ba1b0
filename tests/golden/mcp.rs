//! MCP and the messages of providers, by file.

use serde_json::Value;

use crate::mcp_messages;

/// Runs one case; a failure of ours becomes the reference's class.
pub fn run(file: &str, input: &Value) -> Result<Value, String> {
    match file {
        "openai" | "anthropic" | "gemini" => mcp_messages::run(file, input),
        other => Err(format!("no runner for file {other:?}")),
    }
}
