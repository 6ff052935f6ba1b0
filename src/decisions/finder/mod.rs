//! Finding decisions by words and by meaning.

/// The index of a store.
#[derive(Debug, Default)]
pub struct Finder {}
