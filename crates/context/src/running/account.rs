//! What the steps of a running prompt cost, and what they would have cost without it.

use serde_json::{Value, json};

use super::prices::PriceModel;
use contextweaver_model::RunningCosts;
use contextweaver_model::json::Record;
use contextweaver_model::json::numbers::round;

/// The account of a running prompt. Without us, the whole conversation is sent in each step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Record)]
pub struct Account {
    #[record(default)]
    pub costs: RunningCosts,
    /// Tokens of the whole conversation when the last step was sent, without what stood beside it.
    #[record(default)]
    pub whole: u64,
    /// Tokens of the prompt that was sent last.
    #[record(default)]
    pub sent: u64,
    /// When it was, in milliseconds since 1970, where that was said.
    #[record(range = 0.0..=f64::MAX)]
    pub sent_at: Option<f64>,
    /// Steps since the user's last turn began.
    #[record(default)]
    pub turn_steps: u64,
    /// Turns of the user.
    #[record(default)]
    pub turns: u64,
}

/// A step to be entered.
#[derive(Debug, Clone, Copy)]
pub struct AccountStep {
    /// Tokens of the prompt, what stands beside it included.
    pub tokens: u64,
    /// Tokens of it that repeat the one before.
    pub repeated: u64,
    /// Tokens of the whole conversation.
    pub whole: u64,
    /// Tokens that stand beside it without us.
    pub beside: u64,
    /// Whether the provider has nothing of the call before, whatever is sent.
    pub is_cold: bool,
    pub is_cut: bool,
    /// Whether the user said something new.
    pub is_turn: bool,
    pub now: Option<f64>,
}

impl Account {
    /// Returns what a step costs with a prompt of which so many tokens repeat the one before.
    pub fn price(prices: &PriceModel, tokens: u64, repeated: u64) -> f64 {
        prices.cost(tokens, prices.hit(repeated))
    }

    /// Returns what the next step costs without us, with so many tokens beside the conversation.
    pub fn without(&self, prices: &PriceModel, whole: u64, beside: u64, is_cold: bool) -> f64 {
        let is_first = self.costs.steps == 0;
        let repeated = if is_cold || is_first { 0 } else { self.whole.min(whole) + beside };
        Self::price(prices, whole + beside, repeated)
    }

    /// Enters a step; returns what it costs, and would have cost.
    pub fn enter(&mut self, prices: &PriceModel, step: &AccountStep) -> (f64, f64) {
        let cost = Self::price(prices, step.tokens, step.repeated);
        let without = self.without(prices, step.whole, step.beside, step.is_cold);
        let costs = &mut self.costs;
        costs.steps += 1;
        costs.cuts += u64::from(step.is_cut);
        costs.tokens += step.tokens;
        costs.repeated_tokens += step.repeated;
        costs.tokens_without += step.whole + step.beside;
        costs.cost = round(costs.cost + cost, 4);
        costs.cost_without = round(costs.cost_without + without, 4);
        if step.is_turn {
            self.turns += 1;
            self.turn_steps = 0;
        }
        self.turn_steps += 1;
        (self.whole, self.sent) = (step.whole, step.tokens);
        self.sent_at = step.now.or(self.sent_at);
        (cost, without)
    }

    /// Returns the snapshot form.
    pub fn told(&self) -> Value {
        let mut told = json!({ "costs": self.costs, "whole": self.whole, "sent": self.sent, "turn_steps": self.turn_steps, "turns": self.turns });
        if let Some(at) = self.sent_at {
            told["sent_at"] = at.into();
        }
        told
    }
}
