//! Exports of the context manager and of the text functions.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, text, thrown};
use super::handles::{self, Handles};
use super::memory;
use crate::api;
use contextweaver_context::ContextManager;

thread_local! {
    static MANAGERS: std::cell::RefCell<Handles<ContextManager>> = Handles::of("manager");
}

/// Makes a manager from options.
#[wasm_bindgen]
pub fn manager_new(options: &str) -> Answer<u32> {
    handles::add(&MANAGERS, api::new_manager(options))
}

/// Makes a manager from the JSON of a snapshot, as bytes.
#[wasm_bindgen]
pub fn manager_restore(snapshot: &[u8], options: &str) -> Answer<u32> {
    handles::add(&MANAGERS, text(snapshot).and_then(|snapshot| api::restore_manager(snapshot, options)))
}

/// Returns a manager as the bytes that `manager_restore` takes.
#[wasm_bindgen]
pub fn manager_snapshot(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| api::manager_snapshot(manager))
}

/// Makes a manager of parts of a journal, a line each, and of the blobs that are there; returns a record with its handle.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "a list of JavaScript values has no borrowed form in wasm-bindgen")]
pub fn manager_restore_journal(parts: &[u8], options: &str, hashes: &str, blobs: Vec<Uint8Array>) -> Answer<String> {
    let blobs: Vec<Vec<u8>> = blobs.iter().map(Uint8Array::to_vec).collect();
    let restored = text(parts).and_then(|parts| api::journal::restore(parts, options, hashes, &blobs));
    let (manager, report) = restored.map_err(|error| thrown(&error))?;
    let handle = handles::add(&MANAGERS, Ok(manager))?;
    Ok(format!("{{\"handle\":{handle},\"report\":{report}}}"))
}

/// Returns what changed of a manager since a cursor, as lines.
#[wasm_bindgen]
pub fn manager_journal(handle: u32, arguments: &str) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::journal::export(manager, arguments))
}

/// Returns the bytes with a hash.
#[wasm_bindgen]
pub fn manager_blob(handle: u32, hash: &str) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| api::journal::blob(manager, hash))
}

/// Puts bytes back that are not in memory.
#[wasm_bindgen]
pub fn manager_reload_artifact(handle: u32, arguments: &str, bytes: &[u8]) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::journal::reload_artifact(manager, arguments, bytes))
}

/// Frees a manager; freeing twice does nothing.
#[wasm_bindgen]
pub fn manager_free(handle: u32) {
    handles::free(&MANAGERS, handle);
}

/// Runs an operation of a manager.
#[wasm_bindgen]
pub fn manager_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::call(manager, operation, arguments))
}

/// Takes the raw result of a tool.
#[wasm_bindgen]
pub fn manager_ingest_tool_result(handle: u32, arguments: &str, raw: &[u8]) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::ingest_tool_result(manager, arguments, raw))
}

/// Bytes that a byte of messages becomes on its way into the log, at least: 30 to 60 were seen.
const ROOM: usize = 30;

/// Appends messages of a provider.
#[wasm_bindgen]
pub fn manager_ingest_messages(handle: u32, arguments: &str) -> Answer<String> {
    memory::make_room(arguments.len() * ROOM);
    handles::with(&MANAGERS, handle, |manager| api::ingest_messages(manager, arguments))
}

/// Brings the log in line with a whole conversation.
#[wasm_bindgen]
pub fn manager_sync_messages(handle: u32, arguments: &str) -> Answer<String> {
    memory::make_room(arguments.len() * ROOM);
    handles::with(&MANAGERS, handle, |manager| api::sync_messages(manager, arguments))
}

/// Reads what was said before a query in a conversation that the log is not in line with.
#[wasm_bindgen]
pub fn manager_turns_before(handle: u32, arguments: &str) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::turns_before(manager, arguments))
}

/// Takes the result of an MCP tool, with the bytes that were taken out of its JSON: each is copied once, to where it stays.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "a list of JavaScript values has no borrowed form in wasm-bindgen")]
pub fn manager_ingest_mcp_result(handle: u32, call: &str, result: &str, attached: Vec<Uint8Array>) -> Answer<String> {
    let attached = attached.iter().map(Uint8Array::to_vec).collect();
    handles::with(&MANAGERS, handle, |manager| api::ingest_mcp_result(manager, call, result, attached))
}

/// Stores bytes under a handle of the caller's choosing.
#[wasm_bindgen]
pub fn manager_put_artifact(handle: u32, arguments: &str, bytes: &[u8]) -> Answer<String> {
    handles::with(&MANAGERS, handle, |manager| api::put_artifact(manager, arguments, bytes))
}

/// Returns the bytes of an artifact.
#[wasm_bindgen]
pub fn artifact_bytes(handle: u32, artifact: &str) -> Answer<Vec<u8>> {
    handles::with(&MANAGERS, handle, |manager| api::artifact_bytes(manager, artifact))
}

/// Runs a function on text.
#[wasm_bindgen]
pub fn text_call(operation: &str, arguments: &str) -> Answer<String> {
    api::text_call(operation, arguments).map_err(|error| thrown(&error))
}
