//! Tools as an application defines them: mapping them and their results to MCP and back, and checking their arguments.

pub mod schema;
pub mod validate;
