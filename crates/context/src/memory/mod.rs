//! What outlives a conversation: choosing among remembered entries, and turning episodes into facts.

mod consolidate;
mod source;
mod words;

pub use consolidate::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
pub use source::{MemoryQuery, is_expired, preferred_scopes, rank_memory, select_memory, to_context_items};
