//! Exports of the context manager and of the text functions.

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

use super::thrown;
use crate::api;
use crate::context::ContextManager;
use crate::error::{Error, ErrorCode, Result};

/// Managers by handle; handles are never reused, so a stale one cannot reach somebody else's log.
#[derive(Default)]
struct Slab {
    managers: crate::order::SortedMap<u32, ContextManager>,
    next: u32,
}

thread_local! {
    static SLAB: RefCell<Slab> = RefCell::default();
}

fn add(manager: ContextManager) -> u32 {
    SLAB.with_borrow_mut(|slab| {
        slab.next += 1;
        slab.managers.insert(slab.next, manager);
        slab.next
    })
}

fn with<T>(handle: u32, operation: impl FnOnce(&mut ContextManager) -> Result<T>) -> std::result::Result<T, String> {
    SLAB.with_borrow_mut(|slab| match slab.managers.get_mut(&handle) {
        Some(manager) => operation(manager),
        None => Err(Error::new(ErrorCode::Disposed, "the manager was freed")),
    })
    .map_err(|error| thrown(&error))
}

/// Makes a manager from options.
#[wasm_bindgen]
pub fn manager_new(options: &str) -> std::result::Result<u32, String> {
    api::new_manager(options).map(add).map_err(|error| thrown(&error))
}

/// Makes a manager from a snapshot.
#[wasm_bindgen]
pub fn manager_restore(snapshot: &str, options: &str) -> std::result::Result<u32, String> {
    api::restore_manager(snapshot, options).map(add).map_err(|error| thrown(&error))
}

/// Frees a manager; freeing twice does nothing.
#[wasm_bindgen]
pub fn manager_free(handle: u32) {
    SLAB.with_borrow_mut(|slab| slab.managers.remove(&handle));
}

/// Runs an operation of a manager.
#[wasm_bindgen]
pub fn manager_call(handle: u32, operation: &str, arguments: &str) -> std::result::Result<String, String> {
    with(handle, |manager| api::call(manager, operation, arguments))
}

/// Takes the raw result of a tool.
#[wasm_bindgen]
pub fn manager_ingest_tool_result(handle: u32, arguments: &str, raw: &[u8]) -> std::result::Result<String, String> {
    with(handle, |manager| api::ingest_tool_result(manager, arguments, raw))
}

/// Stores bytes under a handle of the caller's choosing.
#[wasm_bindgen]
pub fn manager_put_artifact(handle: u32, arguments: &str, bytes: &[u8]) -> std::result::Result<String, String> {
    with(handle, |manager| api::put_artifact(manager, arguments, bytes))
}

/// Returns the bytes of an artifact.
#[wasm_bindgen]
pub fn artifact_bytes(handle: u32, artifact: &str) -> std::result::Result<Vec<u8>, String> {
    with(handle, |manager| api::artifact_bytes(manager, artifact))
}

/// Runs a function on text.
#[wasm_bindgen]
pub fn text_call(operation: &str, arguments: &str) -> std::result::Result<String, String> {
    api::text_call(operation, arguments).map_err(|error| thrown(&error))
}
