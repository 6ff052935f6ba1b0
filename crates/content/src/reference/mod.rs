//! How the Python reference looks into texts: facts, summaries, media types, views, slices.
//!
//! Compat mode uses all of it. Where the reference is wrong, the function says what it does instead outside that mode.

mod detect;
mod entities;
mod extract;
mod rules;
mod selectors;
mod structured;
mod views;

pub use detect::detect;
pub use extract::{bullets, facts, key_values, numbered};
pub use rules::{RuleBasedSummarizer, RuleEngine, SummarizationRule};
pub use selectors::select;
pub use structured::StructuredExtractor;
pub use views::{Generator, Registry, drilldown_tool, views};
