//! What stands for `agent.rs` in a module without the converters: the same operations, which say where they are.

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::ContextManager;
use serde_json::Value;

/// Fails with `UNSUPPORTED`.
pub fn ingest_messages(_: &mut ContextManager, _: &str) -> Result<String> {
    Err(unsupported("messages of providers"))
}

/// Fails with `UNSUPPORTED`.
pub fn sync_messages(_: &mut ContextManager, _: &str) -> Result<String> {
    Err(unsupported("messages of providers"))
}

/// Fails with `UNSUPPORTED`.
pub fn turns_before(_: &mut ContextManager, _: &str) -> Result<String> {
    Err(unsupported("messages of providers"))
}

/// Fails with `UNSUPPORTED`.
pub(super) fn build_messages(_: &mut ContextManager, _: Value) -> Result<String> {
    Err(unsupported("messages of providers"))
}

/// Fails with `UNSUPPORTED`.
pub fn ingest_mcp_result(_: &mut ContextManager, _: &str, _: &str, _: Vec<Vec<u8>>) -> Result<String> {
    Err(unsupported("results of MCP"))
}

fn unsupported(what: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("this entry has no converters for {what}"))
        .hint("import ContextManager from \"contextweaver\"")
}
