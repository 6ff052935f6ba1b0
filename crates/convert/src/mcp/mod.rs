//! Records of the Model Context Protocol: tools, resources and prompts as items, results as envelopes, and tools back.
//!
//! Annotations of a server are hints that nobody has checked. They are kept and shown, and permit nothing.

mod base64;
mod capability;
mod content;
mod facts;
mod hints;
mod namespace;
mod primitive;
mod primitive_result;
mod result;
mod result_reader;
mod revision;
mod session;
mod stored_tool;
mod tool;
mod tool_back;
mod tool_id;

pub use capability::mcp_tool_to_capability;
pub use hints::{HINTS, McpHints};
pub use namespace::{infer_namespace, name_part};
pub use primitive::{mcp_prompt_to_selectable, mcp_resource_to_selectable};
pub use primitive_result::{mcp_prompt_to_envelope, mcp_resource_to_envelope};
pub use result::{
    ConvertedResult, McpResultOptions, NO_CONTENT, mcp_result_to_envelope, mcp_result_with_bytes, note_warnings,
};
pub use result_reader::ResultBinary;
pub use revision::{MetaKeyProblem, Revision, RevisionRules, check_meta_key};
pub use session::{McpSession, SessionProblem, load_mcp_session_jsonl};
pub use tool::{ConvertedTool, IdForm, ToolOptions, describe, mcp_tool_to_selectable, schema_digest, tool_list};
pub use tool_back::{McpTool, RevisionChange, selectable_to_mcp_tool};
pub use tool_id::{
    MAX_TOOL_ID_CHARS, ToolId, canonical_tool_id, parse_primitive_id, prompt_hash, prompt_id, resolve_collisions,
    resource_hash, resource_id, shape_hash,
};
