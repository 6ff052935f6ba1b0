//! Converters: what other protocols and libraries say, in our records and back. None keeps anything.

mod call_context;
mod definition;
mod mcp;
mod mcp_result;
mod messages;

pub use mcp_result::{WithBytes, convert_result, withholds_links};

use super::{done, unknown};
use contextweaver_base::Result;
use contextweaver_model::json::{self, Fields};

pub(super) use mcp::tool_options;

/// What runs the operations of an area; the fields are those of the arguments.
type Area = fn(operation: &str, fields: Fields) -> Result<String>;

/// The operations of each area.
const AREAS: &[(&[&str], Area)] = &[
    (call_context::OPERATIONS, call_context::call),
    (definition::OPERATIONS, definition::call),
    (mcp::OPERATIONS, mcp::call),
    (messages::OPERATIONS, messages::call),
];

/// Runs a converter.
pub fn convert_call(operation: &str, arguments: &str) -> Result<String> {
    let area = AREAS.iter().find(|(operations, _)| operations.contains(&operation));
    let (_, run) = area.ok_or_else(|| unknown(operation))?;
    // Results of tools come with their images, so the limits are those of a snapshot.
    run(operation, Fields::open(json::parse_snapshot(arguments)?, "")?)
}
