//! Exports of gateways.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::Answer;
use super::handles::{self, Handles};
use super::memory;
use crate::api::gateway as api;
use contextweaver_gateway::Gateway;

thread_local! {
    static GATEWAYS: std::cell::RefCell<Handles<Gateway>> = Handles::of("gateway");
}

/// Bytes that a byte of a listing becomes, with the index of its tools.
const ROOM: usize = 8;
/// What is made room for at most: memory that a module once has it keeps.
const MOST_ROOM: usize = 64 * 1024 * 1024;

/// Makes a gateway from options.
#[wasm_bindgen]
pub fn gateway_new(options: &str) -> Answer<u32> {
    handles::add(&GATEWAYS, api::new_gateway(options))
}

/// Frees a gateway; freeing twice does nothing.
#[wasm_bindgen]
pub fn gateway_free(handle: u32) {
    handles::free(&GATEWAYS, handle);
}

/// Runs an operation of a gateway.
#[wasm_bindgen]
pub fn gateway_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    handles::with(&GATEWAYS, handle, |gateway| api::call(gateway, operation, arguments))
}

/// Takes what a server lists, as bytes: hundreds of tools are megabytes, which a string would copy again.
#[wasm_bindgen]
pub fn gateway_set_listing(handle: u32, arguments: &str, listing: &[u8]) -> Answer<String> {
    if listing.len() <= contextweaver_base::limits::MAX_LISTING_BYTES {
        memory::make_room((listing.len() * ROOM).min(MOST_ROOM));
    }
    handles::with(&GATEWAYS, handle, |gateway| api::set_listing(gateway, arguments, listing))
}
