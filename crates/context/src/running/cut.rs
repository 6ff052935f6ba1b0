//! Decides when to cut a running prompt, and how deep, from the provider's prices and the session so far.
//!
//! The choice is the ski-rental problem. Without a cut, each step pays the cached price for every token of the prompt.
//! A cut pays once, to write what it leaves to the cache.
//!
//! - A cut that nothing forces is made where the steps to come are expected to pay it back.
//! - A cut that the budget forces leaves so little that the session, if it ended with this step, costs at most
//!   [`MOST_COST`] times what it costs without us (the whole conversation in each step). It never leaves less than
//!   [`LEAST_DEPTH`], nor less than [`BESIDE_KEPT`] times what must stay: an agent with 20,000 tokens of tools has
//!   nothing to pay with, and a digest of each earlier step costs little beside them.

use super::account::Account;
use super::prices::PriceModel;

/// Share of its room that a cut leaves, at a thrift of 0 and of 1.
const DEPTHS: [f64; 2] = [0.6, 0.15];
/// Least share that a cut leaves, whatever it costs: of the budget where it is forced, else of the prompt.
const LEAST_DEPTH: f64 = 0.12;
/// Most that a session may cost after a forced cut, as a multiple of its cost without us.
const MOST_COST: f64 = 1.05;
/// The same after a cut that nothing forces.
const MOST_COST_FREELY: f64 = 1.03;

/// Factors for the steps to expect: at the start of a turn, of the average steps of a turn; within a turn, of the steps
/// it already has.
const PAYING_STEPS: [f64; 2] = [1.0, 0.5];
/// Least tokens of a prompt for an unforced cut: at the start of a turn, and within one.
const PAYING_TOKENS: [f64; 2] = [16_000.0, 20_000.0];
/// The same as shares of the budget, at a thrift of 0. They fall to nothing at 1. The larger bound counts.
const PAYING_SHARES: [f64; 2] = [0.2, 1.2];
/// An unforced cut must save at least this many times what it costs.
const PAYING_MARGIN: f64 = 1.5;
/// An unforced cut leaves this many times the share that a forced one leaves, because there is room for more.
const PAYING_DEPTH: f64 = 5.0 / 3.0;

/// Tokens that a cut leaves beside its share: instructions, the ledger and the first request do not shrink with the budget.
const OVERHEAD_TOKENS: f64 = 300.0;

/// A cut leaves at least this many times the shortest prompt that the provider caches. The factor is above 1 because a
/// selection never fills its room to the last token.
const LEAST_PREFIX: f64 = 1.1;
/// That minimum is ignored where it is above this share of the budget: it would leave no room to go on.
const MOST_PREFIX: f64 = 0.5;

/// A cut leaves at least this many times the tokens that must stay, so that other items that matter have room.
pub const BESIDE_KEPT: f64 = 1.25;

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
        let left = (self.share * room + OVERHEAD_TOKENS).min(self.most);
        left.max(BESIDE_KEPT * kept).max(self.least).min(room) as u64
    }
}

/// The inputs to the decision about a cut.
pub struct CutScale<'a> {
    pub prices: &'a PriceModel,
    pub account: &'a Account,
    /// From 0, which keeps what it can, to 1, which saves what it can.
    pub thrift: f64,
    /// Tokens that prompts may have, without what stands beside them.
    pub budget: u64,
    /// Tokens that stand beside them, and how many of these stay in the provider's cache at a cut.
    pub beside: u64,
    pub stays: u64,
    /// Tokens of the next prompt if it goes on.
    pub next: u64,
    /// Tokens of the whole conversation.
    pub whole: u64,
    /// Whether the user said something new.
    pub is_turn: bool,
    /// Whether the conversation is new to the provider without us, too.
    pub is_cold: bool,
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
        let without = account.costs.cost_without + account.without(prices, self.whole, self.beside, self.is_cold);
        let beside = Account::price(prices, self.beside, self.stays);
        (most_cost * without - account.costs.cost - beside) / prices.written.max(0.01)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_stay_does_not_stand_alone_whatever_a_cut_costs() {
        let cut = CutDepth { share: 0.3, least: 0.0, most: 1_500.0 };
        assert_eq!(cut.of(12_800, 4_900), 6_125);
        assert_eq!(cut.of(12_800, 1_000), 1_500);
        assert_eq!(cut.of(5_000, 4_900), 5_000);
        assert_eq!(CutDepth::ALL.of(12_800, 100), 12_800);
    }
}
