//! Promises of the gateway over random input, and defects that were found.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test stops at the first thing that is wrong, and takes literals"
)]

mod calls;
mod costs;
mod info;
mod names;
mod overrides;
mod poisoned;
mod policies;
mod primitives;
mod properties;
mod result_size;
mod support;
mod views;
