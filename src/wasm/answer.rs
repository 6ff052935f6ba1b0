//! What every export gives.

use contextweaver_base::Error;

/// What an export gives: its answer, or the JSON of an error record to be thrown.
pub type Answer<T> = std::result::Result<T, String>;

/// Turns an error into what is thrown.
pub fn thrown(error: &Error) -> String {
    error.to_json().to_string()
}
