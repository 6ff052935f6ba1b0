//! Tools as an application defines them: mapping them and their results to MCP and back, checking their arguments, and
//! the rules of the context they are called with besides their input.

mod annotations;
pub mod call_context;
mod definition;
mod dependencies;
mod from_mcp;
mod meta_prefix;
mod names;
mod render;
mod results;
mod schema;
mod to_mcp;
mod validate;

pub use from_mcp::{
    McpToToolDefinition, McpToToolDefinitionOptions, McpToToolDefinitions, from_mcp_tool, from_mcp_tools,
};
pub use meta_prefix::{DEFAULT_PREFIX, MetaPrefix};
pub use render::DataFormat;
pub use results::{
    CallOutcome, FetchedAt, McpToToolResultOptions, ToolResultToMcp, ToolResultToMcpOptions, from_mcp_result,
    to_mcp_result,
};
#[doc(hidden)]
pub use schema::append_description;
pub use schema::{
    MendKind, MendOptions, PropertyNames, RenamedProperty, SchemaFormat, SchemaMend, ToolSchemaOptions,
    check_well_formed, mended_schema,
};
pub use to_mcp::{
    ToolDefinitionToMcp, ToolDefinitionToMcpOptions, ToolDefinitionsToMcp, ToolHandler, to_mcp_tool, to_mcp_tools,
    tool_definition_to_selectable,
};
pub use validate::{SchemaMismatch, Validation, validate_args};
