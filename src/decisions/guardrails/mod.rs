//! Rules that decisions must keep.

pub mod breakers;

/// The rules of a store.
#[derive(Debug, Default)]
pub struct Rules {}
