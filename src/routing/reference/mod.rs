//! Scorers, clusters and the tree of the Python reference, for compatibility.

pub mod bm25;
pub mod clustering;
pub mod fuzzy;
pub mod labeler;
pub mod scorer;
pub mod tfidf;
pub mod tree;

pub use scorer::{Method, PreparedQuery, Scorer};
