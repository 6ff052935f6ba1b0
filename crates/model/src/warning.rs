//! What was passed over in data of others.

use serde::Serialize;

/// One thing in data of others that could not be used; it does not make the whole an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Warning {
    /// A stable name of what is wrong.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// JSON pointer of the place in the input.
    pub path: String,
}

impl Warning {
    /// Makes a warning.
    pub fn new(code: &'static str, message: impl Into<String>, path: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: path.into() }
    }
}
