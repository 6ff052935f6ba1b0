//! Text primitives: counting, splitting, comparing, cleaning. Everything here is linear in its input.

pub mod classify;
pub mod data;
pub mod hash;
pub mod lines;
pub mod markdown;
pub mod numbered;
pub mod openings;
pub mod pattern;
pub mod python;
pub mod redact;
pub mod similarity;
pub mod terms;
pub mod time;
pub mod tokenize;
pub mod tokens;
pub mod unicode;
