//! Exports of the converters, which keep nothing between calls.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, thrown};
use super::memory;
use crate::api::convert as api;

/// Bytes that a byte of messages becomes while it is converted, at least: 30 to 60 were seen.
const ROOM: usize = 30;

/// Runs a converter.
#[wasm_bindgen]
pub fn convert_call(operation: &str, arguments: &str) -> Answer<String> {
    memory::make_room(arguments.len() * ROOM);
    api::convert_call(operation, arguments).map_err(|error| thrown(&error))
}

/// An answer with bytes; JavaScript takes both out of it and frees it.
#[wasm_bindgen]
pub struct Converted {
    json: String,
    bytes: Vec<u8>,
}

#[wasm_bindgen]
impl Converted {
    /// Takes the answer as JSON text.
    pub fn json(&mut self) -> String {
        std::mem::take(&mut self.json)
    }

    /// Takes the bytes.
    pub fn bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Takes the result of an MCP tool apart.
#[wasm_bindgen]
pub fn convert_result(arguments: &str) -> Answer<Converted> {
    let api::WithBytes { json, bytes } = api::convert_result(arguments).map_err(|error| thrown(&error))?;
    Ok(Converted { json, bytes })
}
