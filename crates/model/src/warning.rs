//! Warnings about data of others that could not be used.

use serde::Serialize;

/// Something in data of others that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Warning {
    /// Stable, such as `field-ignored` or `hint-ignored`.
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
