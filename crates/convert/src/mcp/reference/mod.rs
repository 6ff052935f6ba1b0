//! Records of MCP read as the Python reference does: by its idea of truth, and with its ids.

pub(super) mod result;
mod session;
mod tool;

pub use session::load_mcp_session_jsonl;
pub use tool::mcp_tool_to_selectable;
