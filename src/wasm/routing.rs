//! Exports of catalogs.

use wasm_bindgen::prelude::wasm_bindgen;

use super::handles::{self, Answer, Handles};
use crate::api::routing as api;
use crate::routing::Catalog;

thread_local! {
    static CATALOGS: std::cell::RefCell<Handles<Catalog>> = Handles::of("catalog");
}

/// Makes a catalog from the JSON of its tools.
#[wasm_bindgen]
pub fn catalog_new(text: &str) -> Answer<u32> {
    handles::add(&CATALOGS, api::new_catalog(text))
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
