//! A context engine for tool-using agents.

pub mod api;
pub mod content;
pub mod context;
pub mod decisions;
pub mod error;
pub mod json;
pub mod limits;
pub mod mcp;
pub mod model;
pub mod order;
pub mod providers;
pub mod routing;
pub mod store;
pub mod text;
pub mod tools;

// Two attributes, because Clippy takes a module for tests only when one says exactly `cfg(test)`.
#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod bindings_test;

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "wasm-bindgen generates both")]
pub mod wasm;
