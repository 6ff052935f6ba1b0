//! How 0.18 looks into texts: media types, projections, summaries, views, slices.

mod detect;
mod projection;
mod rule_engine;
mod selectors;
mod views;

pub use detect::detect;
pub use projection::{StructuredFirewall, project, segments};
pub use rule_engine::{RuleEngine, SummarizationRule};
pub use selectors::select;
pub use views::{ViewGenerator, ViewRegistry, drilldown_tool, views};

use contextweaver_content::extract::{Notation, RuleBasedSummarizer, StructuredExtractor};

/// Returns the rule-based summarizer of 0.18: types are named as Python does, and a small cap is broken.
pub fn summarizer(max_chars: usize) -> RuleBasedSummarizer {
    RuleBasedSummarizer { max_chars, notation: Notation::Python, is_cap_hard: false }
}

/// Returns the structured extractor of 0.18: values are shown as Python does, and fails at a row that is no object.
pub fn extractor(max_chars: usize) -> StructuredExtractor {
    StructuredExtractor { max_chars, notation: Notation::Python, skips_other_rows: false }
}
