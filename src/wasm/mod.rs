//! The boundary: functions over handles, JSON text in and out, errors as the JSON of an error record.
//!
//! No decision is made here and no function of the caller is called from here. The TypeScript facade owns guards,
//! callbacks and recovery.
//!
//! Each module of the package is compiled with the features of its exports (`xtask/src/modules.rs`) and has its own
//! memory; what is below this line is in all.

#[cfg(any(
    feature = "context-exports",
    feature = "routing-exports",
    feature = "convert-exports",
    feature = "decisions-exports",
    feature = "gateway-exports"
))]
mod answer;
#[cfg(feature = "convert-exports")]
mod convert;
#[cfg(feature = "decisions-exports")]
mod decisions;
#[cfg(feature = "gateway-exports")]
mod gateway;
#[cfg(any(
    feature = "context-exports",
    feature = "routing-exports",
    feature = "decisions-exports",
    feature = "gateway-exports"
))]
mod handles;
#[cfg(any(feature = "context-exports", feature = "decisions-exports"))]
mod journal;
#[cfg(feature = "context-exports")]
mod manager;
#[cfg(any(
    feature = "context-exports",
    feature = "routing-exports",
    feature = "convert-exports",
    feature = "decisions-exports",
    feature = "gateway-exports"
))]
mod memory;
#[cfg(feature = "routing-exports")]
mod routing;

#[cfg(feature = "convert-exports")]
pub use convert::{Converted, convert_call, convert_result};
#[cfg(feature = "decisions-exports")]
pub use decisions::{
    decisions_call, decisions_free, decisions_new, decisions_restore, decisions_size, decisions_snapshot,
    decisions_vectors,
};
#[cfg(feature = "gateway-exports")]
pub use gateway::{gateway_call, gateway_free, gateway_new, gateway_set_listing};
#[cfg(any(feature = "context-exports", feature = "decisions-exports"))]
pub use journal::{journal_read, journal_write};
#[cfg(feature = "context-exports")]
pub use manager::{
    artifact_bytes, manager_blob, manager_call, manager_call_with, manager_free, manager_journal, manager_new,
    manager_restore, manager_restore_journal, manager_snapshot, text_call,
};
#[cfg(feature = "routing-exports")]
pub use routing::{
    catalog_call, catalog_free, catalog_new, catalog_restore, catalog_size, catalog_snapshot, router_call, router_free,
    router_index, router_new, router_of_items, router_restore, router_size, router_snapshot, router_with_index,
    routing_call,
};

use std::sync::Mutex;

use wasm_bindgen::prelude::wasm_bindgen;

/// Where the last panic was. After a panic nothing else of the instance can be trusted.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut message) = LAST_PANIC.lock() {
            // Only where: what a panic says may quote a caller's text.
            *message = info.location().map(ToString::to_string).unwrap_or_default();
        }
        #[cfg(feature = "console-panics")]
        console_error_panic_hook::hook(info);
    }));
}

/// Returns the version of the engine.
#[wasm_bindgen]
pub fn engine_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Masks the credentials in what the facade says of a caller's argument: a message, or a path.
#[wasm_bindgen]
pub fn mask_text(text: &str) -> String {
    contextweaver_text::redact::redact_id(text).into_owned()
}

/// Returns the place of the name that a misspelt one was meant to be, among names that are parted by NUL.
#[wasm_bindgen]
pub fn nearest_name(name: &str, known: &str) -> Option<u32> {
    let known = || known.split('\0');
    let meant = contextweaver_model::json::nearest(name, known())?;
    known().position(|one| one == meant).map(|place| place as u32)
}

/// Returns where the last panic was, empty when there was none.
#[wasm_bindgen]
pub fn last_panic() -> String {
    LAST_PANIC.lock().map(|message| message.clone()).unwrap_or_default()
}
