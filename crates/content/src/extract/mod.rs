//! Facts and summaries that rules without a model make of a text.

mod entities;
mod lines;
mod rule_based;
mod structured;

pub use lines::{bullets, facts, key_values, numbered};
pub use rule_based::RuleBasedSummarizer;
pub use structured::{StructuredExtractor, parse_container};
