//! Converters: what other protocols and libraries say, in our records and back. None keeps anything.

mod call_context;

use super::{done, unknown};
use crate::error::Result;
use crate::json::{self, Fields};

/// Runs a converter.
pub fn convert_call(operation: &str, arguments: &str) -> Result<String> {
    // Results of tools come with their images, so the limits are those of a snapshot.
    let mut fields = Fields::open(json::parse_snapshot(arguments)?, "")?;
    let result = call_context::call(operation, &mut fields).unwrap_or_else(|| Err(unknown(operation)))?;
    fields.finish()?;
    done(&result)
}
