//! How 0.18 looks into texts: media types, projections, summaries, views.

mod detect;
mod projection;
mod summarizers;
mod views;

pub use detect::detect;
pub use projection::{StructuredFirewall, project, segments};
pub use summarizers::{RuleEngine, SummarizationRule, extractor, summarizer};
pub use views::{ViewGenerator, ViewRegistry, drilldown_tool, views};
