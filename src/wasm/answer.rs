//! What every export takes and gives.

use crate::api::error_record;
use contextweaver_base::Error;

/// What an export gives: its answer, or the JSON of an error record to be thrown.
pub type Answer<T> = std::result::Result<T, String>;

/// Turns an error into what is thrown.
pub fn thrown(error: &Error) -> String {
    error_record(error).to_string()
}

/// Reads JSON that crosses as bytes: megabytes of it would be copied once more on their way through a string.
#[cfg(any(feature = "context-exports", feature = "routing-exports", feature = "decisions-exports"))]
pub fn text(json: &[u8]) -> contextweaver_base::Result<&str> {
    use contextweaver_base::ErrorCode::DecodeFailed;
    std::str::from_utf8(json).map_err(|_| Error::new(DecodeFailed, "the JSON is not UTF-8"))
}
