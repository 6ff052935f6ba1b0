//! What decision memory finds, and how records come in and out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod finding;
mod records;
