//! How a store behaves.

use super::guardrails::OnRuleError;

/// Options of a store; each part reads its own.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// Categories besides the five that every store knows.
    pub categories: Vec<String>,
    /// What becomes of a guardrail that cannot be evaluated.
    pub on_rule_error: OnRuleError,
    /// Whether guardrails of the record phase refuse a decision before it is stored.
    pub enforce_record_guardrails: bool,
}
