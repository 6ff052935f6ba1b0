//! Exports of catalogs and routers.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Answer, text, thrown};
use super::handles::{self, Handles};
use super::memory;
use crate::api::routing as api;
use contextweaver_routing::catalog::LoadedCatalog;
use contextweaver_routing::router::Router;

thread_local! {
    static CATALOGS: std::cell::RefCell<Handles<LoadedCatalog>> = Handles::of("catalog");
    static ROUTERS: std::cell::RefCell<Handles<Router>> = Handles::of("router");
}

/// Bytes that a byte of tools becomes, with their index: 6 to 12 were seen.
const ROOM: usize = 8;

/// Makes a catalog from the JSON of its tools, as bytes: thousands of tools are megabytes, which a string would copy again.
#[wasm_bindgen]
pub fn catalog_new(json: &[u8]) -> Answer<u32> {
    memory::make_room(json.len() * ROOM);
    handles::add(&CATALOGS, text(json).and_then(api::new_catalog))
}

/// Makes a catalog from the bytes that `catalog_snapshot` returned.
#[wasm_bindgen]
pub fn catalog_restore(snapshot: &[u8]) -> Answer<u32> {
    memory::make_room(snapshot.len() * ROOM);
    handles::add(&CATALOGS, text(snapshot).and_then(api::restore_catalog))
}

/// Returns a catalog as bytes, with what was found when it was made.
#[wasm_bindgen]
pub fn catalog_snapshot(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&CATALOGS, handle, |catalog| api::catalog_snapshot(catalog))
}

/// Returns the number of tools of a catalog.
#[wasm_bindgen]
pub fn catalog_size(handle: u32) -> Answer<u32> {
    handles::with(&CATALOGS, handle, |catalog| Ok(catalog.catalog.len() as u32))
}

/// Frees a catalog; freeing twice does nothing.
#[wasm_bindgen]
pub fn catalog_free(handle: u32) {
    handles::free(&CATALOGS, handle);
}

/// Runs an operation of a catalog.
#[wasm_bindgen]
pub fn catalog_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    handles::with(&CATALOGS, handle, |catalog| api::catalog_call(catalog, operation, arguments))
}

/// Makes a router of a catalog, which it copies.
#[wasm_bindgen]
pub fn router_new(catalog: u32, options: &str) -> Answer<u32> {
    let router = handles::with(&CATALOGS, catalog, |catalog| api::new_router(catalog, options))?;
    handles::add(&ROUTERS, Ok(router))
}

/// Makes a router of a catalog and the bytes of its index.
#[wasm_bindgen]
pub fn router_with_index(catalog: u32, options: &str, index: &[u8]) -> Answer<u32> {
    let router = handles::with(&CATALOGS, catalog, |catalog| api::router_with_index(catalog, options, index))?;
    handles::add(&ROUTERS, Ok(router))
}

/// Makes a router from the bytes that `router_snapshot` returned. The snapshot says what graph it had, not the options.
#[wasm_bindgen]
pub fn router_restore(snapshot: &[u8], options: &str) -> Answer<u32> {
    memory::make_room(snapshot.len() * ROOM);
    handles::add(&ROUTERS, text(snapshot).and_then(|snapshot| api::restore_router(snapshot, options)))
}

/// Returns a router as bytes: its tools, their vectors, and its graph where it was given one.
#[wasm_bindgen]
pub fn router_snapshot(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&ROUTERS, handle, |router| api::router_snapshot(router))
}

/// Returns the number of tools of a router.
#[wasm_bindgen]
pub fn router_size(handle: u32) -> Answer<u32> {
    handles::with(&ROUTERS, handle, |router| Ok(router.catalog().len() as u32))
}

/// Makes a router of the JSON of its tools, as bytes, and of its index, if there is one.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "an optional list of bytes has no borrowed form in wasm-bindgen")]
pub fn router_of_items(json: &[u8], options: &str, index: Option<Vec<u8>>) -> Answer<u32> {
    memory::make_room(json.len() * ROOM);
    handles::add(&ROUTERS, text(json).and_then(|items| api::router_of_items(items, options, index.as_deref())))
}

/// Frees a router; freeing twice does nothing.
#[wasm_bindgen]
pub fn router_free(handle: u32) {
    handles::free(&ROUTERS, handle);
}

/// Runs an operation of a router.
#[wasm_bindgen]
pub fn router_call(handle: u32, operation: &str, arguments: &str) -> Answer<String> {
    handles::with(&ROUTERS, handle, |router| api::router_call(router, operation, arguments))
}

/// Returns the index of a router as bytes.
#[wasm_bindgen]
pub fn router_index(handle: u32) -> Answer<Vec<u8>> {
    handles::with(&ROUTERS, handle, |router| Ok(router.index_bytes()))
}

/// Runs a function that needs neither a catalog nor a router.
#[wasm_bindgen]
pub fn routing_call(operation: &str, arguments: &str) -> Answer<String> {
    api::routing_call(operation, arguments).map_err(|error| thrown(&error))
}
