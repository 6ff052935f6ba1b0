//! Exports of the decision memory.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, text};
use super::handles::{self, Handles};
use super::memory;
use crate::api::decisions as api;

thread_local! {
    static STORES: std::cell::RefCell<Handles<api::DecisionSession>> = Handles::of("decision store");
}

/// Bytes that a byte of records becomes on its way into a store, with its index: 10 were seen.
const ROOM: usize = 10;

/// Makes a store from options.
#[wasm_bindgen]
pub fn decisions_new(options: &str) -> Answer<u32> {
    handles::add(&STORES, api::new_store(options))
}

/// Makes a store from options and from the bytes that `decisions_snapshot` returned.
#[wasm_bindgen]
pub fn decisions_restore(snapshot: &[u8], options: &str) -> Answer<u32> {
    memory::make_room(snapshot.len() * ROOM);
    handles::add(&STORES, text(snapshot).and_then(|snapshot| api::restore_store(snapshot, options)))
}

/// Returns a store as bytes.
#[wasm_bindgen]
pub fn decisions_snapshot(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&STORES, handle, |store| api::snapshot(store))
}

/// Returns the number of decisions in a store.
#[wasm_bindgen]
pub fn decisions_size(handle: u32) -> Answer<u32> {
    handles::with(&STORES, handle, |store| Ok(api::size(store) as u32))
}

/// Frees a store; freeing twice does nothing.
#[wasm_bindgen]
pub fn decisions_free(handle: u32) {
    handles::free(&STORES, handle);
}

/// Runs an operation of a store.
#[wasm_bindgen]
pub fn decisions_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    // Tens of thousands of decisions are imported at once.
    memory::make_room(arguments.len() * ROOM);
    handles::with(&STORES, handle, |store| api::call(store, operation, arguments))
}

/// Takes vectors of texts that the store asked for, as the bytes of their numbers.
#[wasm_bindgen]
pub fn decisions_vectors(handle: u32, texts: &str, bytes: &[u8]) -> Answer<()> {
    handles::with(&STORES, handle, |store| api::take_vectors(store, texts, bytes))
}
