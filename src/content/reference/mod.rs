//! How the Python reference looks into texts: facts, summaries, media types, views, slices.
//!
//! Compat mode uses all of it. Where the reference is wrong, the function says what it does instead outside that mode.

mod extract;

pub use extract::{bullets, facts, key_values, numbered};
