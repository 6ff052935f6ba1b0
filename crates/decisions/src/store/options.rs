//! How a store behaves.

use crate::guardrails::OnRuleError;
use crate::record::DecisionLimits;
use crate::search::SearchOptions;
use crate::service::ServiceOptions;

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
