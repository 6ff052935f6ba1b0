//! When a running prompt is cut, and how deep: by the price model, and what is known of the session.
//!
//! It is a ski rental: going on costs the price of a cached token for each one that stands there, in each step; a cut costs what
//! is left of the prompt once. A cut that nothing forces is made where the steps to come are expected to pay it back; one that
//! the budget forces is as deep as keeps the account below [`MOST_COST`] times what the session costs without us, if it ended
//! with this step, and never deeper than [`LEAST_DEPTH`].

use super::account::Account;
use super::prices::PriceModel;

/// What of the budget a cut leaves, with a thrift of 0 and of 1.
const DEPTHS: [f64; 2] = [0.6, 0.15];
/// Least of the budget that a cut leaves, whatever it costs.
const LEAST_DEPTH: f64 = 0.12;
/// What a session may cost at most behind a cut that is forced, in costs without us.
const MOST_COST: f64 = 1.05;
/// And behind one that is not.
const MOST_COST_FREELY: f64 = 1.03;

/// Steps that are expected, of those that turns had on average where one begins, and of those that the running one has.
const PAYING_STEPS: [f64; 2] = [1.0, 0.5];
/// Tokens of a prompt below which no cut is made that nothing forces, where a turn begins and within one.
const PAYING_TOKENS: [f64; 2] = [16_000.0, 20_000.0];
/// Shares of the budget below which none is, with a thrift of 0; with 1 the tokens alone count.
const PAYING_SHARES: [f64; 2] = [0.2, 1.2];
/// How many times what it costs a cut must save.
const PAYING_MARGIN: f64 = 1.5;
/// How many times the share that a forced cut leaves one leaves that nothing forces: there is room for more.
const PAYING_DEPTH: f64 = 5.0 / 3.0;

/// Tokens that a cut leaves beside its share: instructions, the ledger and the first request do not shrink with the budget.
const OVERHEAD_TOKENS: f64 = 300.0;

/// How many times the least prefix that a provider keeps a cut leaves at least: what is chosen never fills its room to the last
/// token.
const LEAST_PREFIX: f64 = 1.1;
/// Share of the budget above which it leaves no room to go on.
const MOST_PREFIX: f64 = 0.5;

/// How many times what must stay a cut leaves at least, so that there is room for what else matters.
const BESIDE_KEPT: f64 = 1.25;

/// How much a cut leaves.
#[derive(Debug, Clone, Copy)]
pub struct CutDepth {
    /// Share of the room.
    share: f64,
    /// Tokens from which on the provider keeps a prompt: one that is shorter costs its full price in each step.
    least: f64,
    /// Tokens that it may leave.
    most: f64,
}

impl CutDepth {
    /// All that there is room for.
    pub const ALL: Self = Self { share: 1.0, least: 0.0, most: f64::MAX };

    /// Returns the tokens that a cut leaves of so much room; `kept` of these must stay.
    pub fn of(self, room: u64, kept: u64) -> u64 {
        let (room, kept) = (room as f64, kept as f64);
        let left = (self.share * room + OVERHEAD_TOKENS).max(BESIDE_KEPT * kept).min(self.most);
        left.max(self.least).max(kept).min(room) as u64
    }
}

/// What a cut depends on.
pub struct CutScale<'a> {
    pub prices: &'a PriceModel,
    pub account: &'a Account,
    /// From 0, which keeps what it can, to 1, which saves what it can.
    pub thrift: f64,
    /// Tokens that prompts may have, without what stands beside them.
    pub budget: u64,
    /// Tokens that stand beside them.
    pub beside: u64,
    /// Tokens of the next prompt if it goes on.
    pub next: u64,
    /// Tokens of the whole conversation.
    pub whole: u64,
    /// Whether the user said something new.
    pub is_turn: bool,
}

impl CutScale<'_> {
    /// Returns what share of its room a cut leaves.
    fn depth(&self) -> f64 {
        DEPTHS[0] * libm::pow(DEPTHS[1] / DEPTHS[0], self.thrift)
    }

    /// Returns the share alone, whatever the account says.
    pub fn share(&self) -> CutDepth {
        CutDepth { share: self.depth(), least: self.least(), most: f64::MAX }
    }

    /// Returns the tokens below which nothing of a prompt is kept by the provider.
    fn least(&self) -> f64 {
        let least = (LEAST_PREFIX * self.prices.least_tokens as f64 - self.beside as f64).max(0.0);
        // Where it fills the budget it would be written again and again, and a short prompt is the cheaper one.
        if least > MOST_PREFIX * self.budget as f64 { 0.0 } else { least }
    }

    /// Returns how deep a cut is which the budget forces, or which is free.
    pub fn forced(&self) -> CutDepth {
        CutDepth { most: self.payable(MOST_COST).max(LEAST_DEPTH * self.budget as f64), ..self.share() }
    }

    /// Returns the tokens that a cut may leave so that the session, if it ended with this step, cost no more than so many times
    /// what it costs without us.
    fn payable(&self, most_cost: f64) -> f64 {
        let Self { prices, account, .. } = self;
        let without = account.costs.cost_without + account.without(prices, self.whole, self.beside, false);
        (most_cost * without - account.costs.cost) / prices.written.max(0.01) - self.beside as f64
    }

    /// Returns the tokens that a cut leaves which nothing forces, where one pays.
    pub fn pays(&self) -> Option<CutDepth> {
        let Self { prices, account, .. } = self;
        if self.thrift <= 0.0 || !prices.has_cache() {
            return None;
        }
        // The steps that are expected: as many as turns have on average at the beginning of one.
        let steps = account.costs.steps as f64 / (account.turns.max(1)) as f64;
        let expected = if self.is_turn { steps * PAYING_STEPS[0] } else { account.turn_steps as f64 * PAYING_STEPS[1] };
        let free = 1.0 - self.thrift;
        let least = if self.is_turn {
            PAYING_TOKENS[0].max(PAYING_SHARES[0] * free * self.budget as f64)
        } else {
            PAYING_TOKENS[1].max(PAYING_SHARES[1] * free * self.budget as f64)
        };
        let next = self.next as f64;
        if next < least {
            return None;
        }
        let keep = (PAYING_DEPTH * self.depth() * next).min(self.payable(MOST_COST_FREELY));
        if keep < LEAST_DEPTH * next {
            return None;
        }
        let cost = keep * prices.written - next * prices.cached;
        let saved = expected * prices.cached * (next - keep);
        (saved > PAYING_MARGIN * cost.max(0.0)).then_some(CutDepth {
            share: keep / self.budget as f64,
            least: self.least(),
            most: keep,
        })
    }
}
