//! Token budgets per phase.

use serde::Serialize;
use serde_json::Value;

use super::Phase;
use crate::json::{Fields, Record};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};

/// Tokens a prompt may have, per phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct ContextBudget {
    /// Tokens for choosing a tool.
    #[record(with = tokens)]
    pub route: u64,
    /// Tokens for filling in arguments.
    #[record(with = tokens)]
    pub call: u64,
    /// Tokens for understanding a result.
    #[record(with = tokens)]
    pub interpret: u64,
    /// Tokens for the answer.
    #[record(with = tokens)]
    pub answer: u64,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self { route: 2000, call: 3000, interpret: 4000, answer: 6000 }
    }
}

impl ContextBudget {
    /// Returns the tokens of one phase.
    pub const fn of(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Route => self.route,
            Phase::Call => self.call,
            Phase::Interpret => self.interpret,
            Phase::Answer => self.answer,
        }
    }

    /// Returns a copy with one value replaced.
    ///
    /// ```
    /// use contextweaver_model::{ContextBudget, Phase};
    ///
    /// let budget = ContextBudget::default().with_phase(Phase::Answer, 8000);
    /// assert_eq!((budget.of(Phase::Answer), budget.of(Phase::Call)), (8000, 3000));
    /// ```
    #[must_use]
    pub const fn with_phase(mut self, phase: Phase, tokens: u64) -> Self {
        match phase {
            Phase::Route => self.route = tokens,
            Phase::Call => self.call = tokens,
            Phase::Interpret => self.interpret = tokens,
            Phase::Answer => self.answer = tokens,
        }
        self
    }
}

/// Takes tokens; a number in text counts, as 0.18 coerces it.
fn tokens(fields: &mut Fields, key: &'static str, base: u64) -> Result<u64> {
    match fields.take(key) {
        None => Ok(base),
        Some(Value::String(text)) => match text.trim().parse::<u64>() {
            Ok(tokens) if tokens <= limits::MAX_BUDGET_TOKENS => Ok(tokens),
            _ => Err(Error::new(ErrorCode::InvalidInput, "expected a whole number of tokens").at(fields.at(key))),
        },
        Some(value) => crate::json::as_uint(&value, &fields.at(key), limits::MAX_BUDGET_TOKENS),
    }
}
