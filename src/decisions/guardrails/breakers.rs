//! Circuit breakers: what failed too often is closed for a while.

/// The breakers of a store.
#[derive(Debug, Default)]
pub struct Breakers {}
