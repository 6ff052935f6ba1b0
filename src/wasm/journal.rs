//! Exports for journals of records that only the host knows.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, text, thrown};
use super::memory;
use crate::api::records;

/// Bytes that a byte of a journal takes while it is read.
const ROOM: usize = 6;

/// Writes records as parts of a journal, a line each, after a line that says where it ends.
#[wasm_bindgen]
pub fn journal_write(arguments: &str) -> Answer<String> {
    memory::make_room(arguments.len() * ROOM);
    records::write(arguments).map_err(|error| thrown(&error))
}

/// Reads the parts of a journal.
#[wasm_bindgen]
pub fn journal_read(kind: &str, parts: &[u8]) -> Answer<String> {
    memory::make_room(parts.len() * ROOM);
    text(parts).and_then(|parts| records::read(kind, parts)).map_err(|error| thrown(&error))
}
