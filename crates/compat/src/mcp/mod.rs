//! Records of MCP as 0.18 reads them: by Python's idea of truth.

mod result;
mod session;

pub use result::mcp_result_to_envelope;
pub use session::load_mcp_session_jsonl;
