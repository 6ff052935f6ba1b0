//! Tools as an application defines them: mapping them and their results to MCP and back, checking their arguments, and
//! the rules of the context they are called with besides their input.

mod annotations;
pub mod call_context;
mod carried;
mod definition;
mod dependencies;
pub mod meta;
pub mod meta_name;
mod names;
mod render;
mod results;
mod reverse;
pub mod schema;
mod selectable;
mod trace;
pub mod validate;

pub use carried::{DEFAULT_PREFIX, Prefix};
pub use definition::{ForwardOptions, ForwardTool, ForwardTools, Handler, to_mcp_tool, to_mcp_tools};
pub use render::Render;
pub use results::{
    FetchedAt, ForwardResult, Outcome, ResultOptions, ReverseResultOptions, from_mcp_result, to_mcp_result,
};
pub use reverse::{ReverseOptions, ReverseTool, ReverseTools, from_mcp_tool, from_mcp_tools};
pub use selectable::tool_definition_to_selectable;
