//! What digests quote and slices cut out, held against what was planted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod digest;
mod digest_decode;
mod digest_score;
mod slices;
