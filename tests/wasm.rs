//! Boundary tests; the same file runs in Node and, with the feature `browser-tests`, in a browser.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::wasm_bindgen_test;

#[cfg(feature = "browser-tests")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn the_version_is_the_crate_version() {
    assert_eq!(contextweaver::wasm::engine_version(), env!("CARGO_PKG_VERSION"));
}
