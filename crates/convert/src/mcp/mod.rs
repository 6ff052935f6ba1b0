//! Records of the Model Context Protocol, and what becomes of them here. Nothing in this room scores, selects or stores.
//!
//! What a server says of its tools is a hint that nobody has checked. It is kept and shown, and permits nothing.

pub mod base64;
mod capability;
mod content;
mod facts;
mod hints;
mod kept;
mod list;
mod namespace;
mod primitive;
mod primitive_result;
mod reader;
mod result;
pub mod revision;
mod session;
mod tool;
mod tool_back;
mod tool_id;

pub use capability::mcp_tool_to_capability;
pub use hints::{HINTS, Hints};
pub use list::tool_list;
pub use namespace::{infer_namespace, name_part};
pub use primitive::{mcp_prompt_to_selectable, mcp_resource_to_selectable};
pub use primitive_result::{mcp_prompt_to_envelope, mcp_resource_to_envelope};
pub use result::{
    Binary, Converted, NO_CONTENT, ResultOptions, mcp_result_to_envelope, mcp_result_with_bytes, note_warnings,
    put_back,
};
pub use revision::{MetaKeyProblem, Revision, check_meta_key};
pub use session::{Session, SessionProblem, load_mcp_session_jsonl};
pub use tool::{ConvertedTool, IdForm, ToolOptions, describe, mcp_tool_to_selectable, schema_digest};
pub use tool_back::{McpTool, RevisionChange, selectable_to_mcp_tool};
pub use tool_id::{
    MAX_TOOL_ID_CHARS, ToolId, canonical_tool_id, parse_primitive_id, prompt_hash, prompt_id, resolve_collisions,
    resource_hash, resource_id, shape_hash,
};
