//! The boundary of the npm package: operations by name with JSON text in and out, and the WebAssembly exports over them.

#![expect(clippy::missing_errors_doc, reason = "operations fail with what the functions below them say")]

pub mod api;

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "wasm-bindgen generates both")]
pub mod wasm;
