//! Scorers of the beam navigator.

pub mod bm25;
pub mod embeddings;
pub mod fuzzy;
mod scorer;
pub mod tfidf;

pub use scorer::{PreparedQuery, Scorer, ScorerKind};
