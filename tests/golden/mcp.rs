//! Cases of MCP and of the messages of providers.

use serde_json::Value;

use crate::{mcp_gateway, mcp_messages, mcp_results, mcp_tools};

/// Runs one case of a file.
pub fn run(file: &str, input: &Value) -> Result<Value, String> {
    let runners = [mcp_tools::run, mcp_results::run, mcp_messages::run, mcp_gateway::run];
    runners.iter().find_map(|run| run(file, input)).unwrap_or_else(|| Err(format!("no runner for file {file:?}")))
}
