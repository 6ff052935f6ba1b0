//! Stage 5: relevance.

pub mod bm25n;
pub mod reference;
