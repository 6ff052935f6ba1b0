//! Scorers, clusters and the tree of the Python reference, for compatibility.

pub mod bm25;
pub mod clustering;
pub mod embeddings;
pub mod fuzzy;
pub mod index_cache;
pub mod labeler;
pub mod scorer;
pub mod tfidf;
pub mod tree;
pub mod vector_index;

pub use scorer::{Method, PreparedQuery, Scorer};
