//! Cases of the tools.

use serde_json::Value;

/// Runs one case of a file that belongs here.
#[allow(clippy::missing_const_for_fn, reason = "it stands among others")]
pub fn run(_file: &str, _input: &Value) -> Option<Result<Value, String>> {
    None
}
