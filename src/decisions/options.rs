//! How a store behaves.

/// Options of a store; each part reads its own.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// Categories besides the five that every store knows.
    pub categories: Vec<String>,
    /// How decisions are found and linked.
    pub finder: super::finder::FinderOptions,
}
