//! Exports of the converters, which keep nothing between calls.

use wasm_bindgen::prelude::wasm_bindgen;

use super::handles::{self, Answer};
use crate::api::convert as api;

/// Runs a converter.
#[wasm_bindgen]
pub fn convert_call(operation: &str, arguments: &str) -> Answer<String> {
    api::convert_call(operation, arguments).map_err(|error| handles::thrown(&error))
}
