//! How a store behaves.

use super::service::options::ServiceOptions;
use super::guardrails::OnRuleError;

/// Options of a store; each part reads its own.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// Categories besides the five that every store knows.
    pub categories: Vec<String>,
    /// How the store shows itself to clients.
    pub service: ServiceOptions,
    /// How decisions are found and linked.
    pub finder: super::finder::FinderOptions,
    /// What becomes of a guardrail that cannot be evaluated.
    pub on_rule_error: OnRuleError,
    /// Whether guardrails of the record phase refuse a decision before it is stored.
    pub enforce_record_guardrails: bool,
}
