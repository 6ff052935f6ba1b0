//! What outlives a conversation: choosing among remembered entries, and turning episodes into facts.

mod cluster;
mod consolidate;
mod rewrite;
mod source;
mod time;
mod words;

pub use consolidate::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
pub use rewrite::{accept_rewrite, rewrite_prompt};
pub use source::{MemoryQuery, is_expired, preferred_scopes, rank_memory, select_memory, to_context_items};
