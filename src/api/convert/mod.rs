//! Converters: what other protocols and libraries say, in our records and back. None keeps anything.

use super::unknown;
use crate::error::Result;
use crate::json;

/// Runs a converter.
pub fn convert_call(operation: &str, arguments: &str) -> Result<String> {
    // Results of tools come with their images, so the limits are those of a snapshot.
    json::parse_snapshot(arguments)?;
    Err(unknown(operation))
}
