//! Summarizers and extractors of 0.18, and the rules that choose one by media type and tags.

use contextweaver_base::order::sort_by;
use contextweaver_content::extract::{Notation, RuleBasedSummarizer, StructuredExtractor};

/// Returns the rule-based summarizer of 0.18: types are named as Python does, and a small cap is broken.
pub fn summarizer(max_chars: usize) -> RuleBasedSummarizer {
    RuleBasedSummarizer { max_chars, notation: Notation::Python, is_cap_hard: false }
}

/// Returns the structured extractor of 0.18: values are shown as Python does, and fails at a row that is no object.
pub fn extractor(max_chars: usize) -> StructuredExtractor {
    StructuredExtractor { max_chars, notation: Notation::Python, skips_other_rows: false }
}

/// A rule that names a summarizer for some texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizationRule {
    /// How the media type starts.
    pub media_type_prefix: String,
    /// Tags the text must have, all of them.
    pub required_tags: Vec<String>,
    /// The summarizer.
    pub summarizer_name: String,
    /// Higher priorities are asked first.
    pub priority: i64,
}

impl SummarizationRule {
    fn matches(&self, media_type: &str, tags: &[String]) -> bool {
        media_type.starts_with(&self.media_type_prefix) && self.required_tags.iter().all(|tag| tags.contains(tag))
    }
}

/// Rules by falling priority, those of one priority in the order they came.
#[derive(Debug, Clone, Default)]
pub struct RuleEngine {
    rules: Vec<SummarizationRule>,
}

impl RuleEngine {
    /// Makes an engine of rules in any order.
    pub fn new(rules: Vec<SummarizationRule>) -> Self {
        let mut engine = Self { rules };
        engine.sort();
        engine
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: SummarizationRule) {
        self.rules.push(rule);
        self.sort();
    }

    fn sort(&mut self) {
        sort_by(&mut self.rules, |a, b| b.priority.cmp(&a.priority));
    }

    /// Returns the rules in the order they are asked.
    pub fn rules(&self) -> &[SummarizationRule] {
        &self.rules
    }

    /// Returns the summarizer of the first rule that matches, or `default`.
    pub fn resolve(&self, media_type: &str, tags: &[String]) -> &str {
        let found = self.rules.iter().find(|rule| rule.matches(media_type, tags));
        found.map_or("default", |rule| &rule.summarizer_name)
    }
}
