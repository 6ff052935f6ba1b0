//! Scorers of the beam navigator.

mod bm25;
pub mod embeddings;
mod fuzzy;
mod scorer;
pub mod tfidf;

pub use scorer::{PreparedQuery, Scorer, ScorerKind};
