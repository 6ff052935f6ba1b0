//! Exports of the context manager and of the text functions.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, text, thrown};
use super::handles::{self, Handles};
use super::memory;
use crate::api::{self, manager};
use contextweaver_context::ContextManager;

thread_local! {
    static MANAGERS: std::cell::RefCell<Handles<ContextManager>> = Handles::of("manager");
}

/// Makes a manager from options.
#[wasm_bindgen]
pub fn manager_new(options: &str) -> Answer<u32> {
    handles::add(&MANAGERS, manager::new_manager(options))
}

/// Makes a manager from the JSON of a snapshot, as bytes.
#[wasm_bindgen]
pub fn manager_restore(snapshot: &[u8], options: &str) -> Answer<u32> {
    handles::add(&MANAGERS, text(snapshot).and_then(|snapshot| manager::restore_manager(snapshot, options)))
}

/// Returns a manager as the bytes that `manager_restore` takes.
#[wasm_bindgen]
pub fn manager_snapshot(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| manager::manager_snapshot(manager))
}

/// Makes a manager of parts of a journal, a line each, and of the blobs that are there; returns a record with its handle.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "a list of JavaScript values has no borrowed form in wasm-bindgen")]
pub fn manager_restore_journal(parts: &[u8], options: &str, hashes: &str, blobs: Vec<Uint8Array>) -> Answer<String> {
    let blobs: Vec<Vec<u8>> = blobs.iter().map(Uint8Array::to_vec).collect();
    let restored = text(parts).and_then(|parts| manager::journal::restore(parts, options, hashes, &blobs));
    let (manager, report) = restored.map_err(|error| thrown(&error))?;
    let handle = handles::add(&MANAGERS, Ok(manager))?;
    Ok(format!("{{\"handle\":{handle},\"report\":{report}}}"))
}

/// Returns what changed of a manager since a cursor, as lines.
#[wasm_bindgen]
pub fn manager_journal(handle: u32, arguments: &str) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| manager::journal::export(manager, arguments))
}

/// Returns the bytes with a hash.
#[wasm_bindgen]
pub fn manager_blob(handle: u32, hash: &str) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| manager::journal::blob(manager, hash))
}

/// Frees a manager; freeing twice does nothing.
#[wasm_bindgen]
pub fn manager_free(handle: u32) {
    handles::free(&MANAGERS, handle);
}

/// Bytes that a byte of messages becomes on its way into the log, at least: 30 to 60 were seen.
const ROOM: usize = 30;

/// Runs an operation of a manager.
#[wasm_bindgen]
pub fn manager_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| {
        let operation = manager::operation(operation)?;
        if operation.converts {
            memory::make_room(arguments.len() * ROOM);
        }
        operation.run(manager, arguments, manager::Beside::default())
    })
}

/// Runs an operation whose argument comes with the JSON of a result, or with bytes: each is copied once, to where it stays.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "a list of JavaScript values has no borrowed form in wasm-bindgen")]
pub fn manager_call_with(
    handle: u32,
    operation: &str,
    arguments: &str,
    text: &str,
    bytes: Vec<Uint8Array>,
) -> Answer<String> {
    let beside = manager::Beside { text, bytes: bytes.iter().map(Uint8Array::to_vec).collect() };
    handles::with(&MANAGERS, handle, |manager| manager::operation(operation)?.run(manager, arguments, beside))
}

/// Returns the bytes of an artifact.
#[wasm_bindgen]
pub fn artifact_bytes(handle: u32, artifact: &str) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| manager::artifact_bytes(manager, artifact))
}

/// Runs a function on text.
#[wasm_bindgen]
pub fn text_call(operation: &str, arguments: &str) -> Answer<String> {
    api::text_call(operation, arguments).map_err(|error| thrown(&error))
}
