//! How a store behaves.

use crate::guardrails::OnRuleError;
use crate::search::SearchOptions;
use crate::service::ServiceOptions;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Options of a [`DecisionStore`](super::DecisionStore).
#[derive(Debug, Clone, Default)]
pub struct DecisionStoreOptions {
    /// Categories besides the five that every store knows.
    pub categories: Vec<String>,
    /// How the store shows itself to clients.
    pub service: ServiceOptions,
    /// What becomes of a guardrail that cannot be evaluated.
    pub on_rule_error: OnRuleError,
    /// Whether guardrails of the record phase refuse a decision before it is stored.
    pub enforce_record_guardrails: bool,
    /// How decisions are found and linked.
    pub search: SearchOptions,
    /// Bounds of the store.
    pub limits: DecisionLimits,
}

/// Bounds of a store; what exceeds them is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionLimits {
    /// Most decisions.
    pub decisions: usize,
    /// Most bytes of one text.
    pub text_bytes: usize,
    /// Most tags of one decision, and most entries of other short lists.
    pub tags: usize,
    /// Most reasons of one decision.
    pub reasons: usize,
    /// Most steps, and most inputs, of one deliberation.
    pub steps: usize,
}

impl Default for DecisionLimits {
    fn default() -> Self {
        Self { decisions: 50_000, text_bytes: 16 * 1024, tags: 64, reasons: 64, steps: 1000 }
    }
}

impl DecisionLimits {
    /// Reads limits, each as usual where it is not said.
    ///
    /// # Errors
    ///
    /// `OUT_OF_RANGE` or `UNKNOWN_FIELD`, with the path of the field.
    pub fn from_fields(mut fields: Fields) -> Result<Self> {
        let usual = Self::default();
        let mut take = |key: &'static str, usual: usize, most: u64| -> Result<usize> {
            Ok(fields.uint_or(key, usual as u64, most)? as usize)
        };
        let limits = Self {
            decisions: take("decisions", usual.decisions, 1_000_000)?,
            text_bytes: take("text_bytes", usual.text_bytes, 1 << 20)?,
            tags: take("tags", usual.tags, 1000)?,
            reasons: take("reasons", usual.reasons, 1000)?,
            steps: take("steps", usual.steps, 10_000)?,
        };
        fields.finish()?;
        Ok(limits)
    }
}
