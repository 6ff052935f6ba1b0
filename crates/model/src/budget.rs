//! Token budgets per phase.

use serde::Serialize;
use serde_json::Value;

use super::Phase;
use crate::json::Fields;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};

/// Tokens a prompt may have, per phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextBudget {
    /// Tokens for choosing a tool.
    pub route: u64,
    /// Tokens for filling in arguments.
    pub call: u64,
    /// Tokens for understanding a result.
    pub interpret: u64,
    /// Tokens for the answer.
    pub answer: u64,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self { route: 2000, call: 3000, interpret: 4000, answer: 6000 }
    }
}

impl ContextBudget {
    /// Reads a budget; numeric strings count, as 0.18 coerces them. Closed options pass `strict`.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str, strict: bool) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut budget = Self::default();
        for phase in Phase::ALL {
            if let Some(tokens) = take_tokens(&mut fields, phase.as_str())? {
                budget = budget.with_phase(*phase, tokens);
            }
        }
        if strict {
            fields.finish()?;
        }
        Ok(budget)
    }

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

fn take_tokens(fields: &mut Fields, key: &'static str) -> Result<Option<u64>> {
    let at = fields.at(key);
    match fields.take(key) {
        None => Ok(None),
        Some(Value::String(text)) => match text.trim().parse::<u64>() {
            Ok(tokens) if tokens <= limits::MAX_BUDGET_TOKENS => Ok(Some(tokens)),
            _ => Err(Error::new(ErrorCode::InvalidInput, "expected a whole number of tokens").at(at)),
        },
        Some(value) => crate::json::as_uint(&value, &at, limits::MAX_BUDGET_TOKENS).map(Some),
    }
}
