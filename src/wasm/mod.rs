//! The boundary: functions over handles, JSON text in and out, errors as the JSON of an error record.
//!
//! No decision is made here and no function of the caller is called from here. The TypeScript facade owns guards,
//! callbacks and recovery.

mod manager;
#[cfg(feature = "trap-exports")]
mod trap;

pub use manager::{
    artifact_bytes, manager_call, manager_free, manager_ingest_tool_result, manager_new, manager_put_artifact,
    manager_restore, text_call,
};

use std::sync::Mutex;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Error;

/// Where the last panic was. After a panic nothing else of the instance can be trusted.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut message) = LAST_PANIC.lock() {
            // Only where: what a panic says may quote a caller's text.
            *message = info.location().map(ToString::to_string).unwrap_or_default();
        }
    }));
}

/// Returns the version of the engine.
#[wasm_bindgen]
pub fn engine_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns where the last panic was, empty when there was none.
#[wasm_bindgen]
pub fn last_panic() -> String {
    LAST_PANIC.lock().map(|message| message.clone()).unwrap_or_default()
}

/// Turns an error into what is thrown.
fn thrown(error: &Error) -> String {
    error.to_json().to_string()
}
