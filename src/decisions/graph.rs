//! Decisions and how they relate.

/// The edges between decisions.
#[derive(Debug, Default)]
pub struct Graph {}
