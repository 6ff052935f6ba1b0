//! What is told of the steps of a running prompt.

use serde::Serialize;

use super::CutReason;
use crate::json::Record;

/// A step of a running prompt: what it repeats of the one before, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunningStep {
    /// Number of the step in its phase, from 1.
    pub step: u64,
    /// Why the prompt does not go on with the one before: `first` (there is none), `full` (the next one would not fit),
    /// `pays` (a shorter one pays itself back), `cold` (the provider's cache is lost: too much time, another model, other
    /// tools), `uncached` (there is no cache), `instructions`, `budget`, `edited` (something in it was edited, withheld or
    /// forgotten), `pinned` (something must be in it that left), `format` (it was in another format) or `restored` (what
    /// stood in it is not stored any more). Absent where it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub cut: Option<CutReason>,
    /// Tokens of the call: the prompt, and what stands beside it.
    pub tokens: u64,
    /// Tokens of these that repeat the call before, from its beginning on.
    pub repeated_tokens: u64,
    /// Tokens that the whole conversation has, with what stands beside it: what would be sent without contextweaver.
    pub tokens_without: u64,
    /// Price of the call, in prices of a token that is neither read from a cache nor written to one.
    pub cost: f64,
    /// What the same call would have cost with the whole conversation.
    pub cost_without: f64,
    /// Whether something of the conversation is not shown, or in part.
    pub hides: bool,
}

/// Sums over the steps of a running prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct RunningCosts {
    /// Count of the steps.
    pub steps: u64,
    /// Count of those that did not go on with the one before.
    pub cuts: u64,
    /// Tokens of all calls.
    pub tokens: u64,
    /// Tokens of these that repeat the call before.
    pub repeated_tokens: u64,
    /// Tokens that the calls would have had with the whole conversation.
    pub tokens_without: u64,
    /// Price of all calls, in prices of a token that is neither read from a cache nor written to one.
    #[record(range = 0.0..=f64::MAX)]
    pub cost: f64,
    /// What the calls would have cost with the whole conversation.
    #[record(range = 0.0..=f64::MAX)]
    pub cost_without: f64,
}

impl RunningCosts {
    /// Adds those of another phase.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.cuts += other.cuts;
        self.tokens += other.tokens;
        self.repeated_tokens += other.repeated_tokens;
        self.tokens_without += other.tokens_without;
        self.cost += other.cost;
        self.cost_without += other.cost_without;
    }
}
