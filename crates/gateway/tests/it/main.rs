//! Promises of the gateway over random input, and defects that were found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod listings;
