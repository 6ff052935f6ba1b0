//! The ledger: a line in a prompt that something left, with identifiers of it that may be asked for and where they stand.
//!
//! It stands below the instructions that the log begins with, so that these keep their place in a provider's prompt cache, and
//! is no system text, as what it names others have written.

pub(crate) mod candidates;
mod plan;

use self::plan::LedgerPlan;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{Ledger, StructuredPrompt};
use crate::compile::select::units::Holds;
use crate::compile::state::BuildState;
use crate::rules::block::RulesPlan;

/// What a build sets aside for its ledger, and then writes.
pub struct LedgerWriter<'a> {
    plan: Option<LedgerPlan>,
    rules: Option<RulesPlan<'a>>,
    quarters: u64,
}

impl<'a> LedgerWriter<'a> {
    /// Sets aside what it takes out of the room that items have.
    pub fn new(state: &BuildState<'a>, frame: &PromptFrame, room: u64) -> Self {
        let rules = RulesPlan::of(state, frame, room);
        let beside = rules.as_ref().map_or(0, |plan| plan.quarters);
        let plan = LedgerPlan::of(state, frame, room.saturating_sub(beside));
        let quarters = beside + plan.as_ref().map_or(0, |plan| plan.quarters);
        Self { plan, rules, quarters: quarters.min(room) }
    }

    /// Returns the positions of the items in which the user states what is in force.
    pub fn homes(&self) -> impl Iterator<Item = (usize, Holds)> {
        self.rules.iter().flat_map(RulesPlan::homes)
    }

    /// Returns what is set aside, in quarter tokens.
    pub fn quarters(&self) -> u64 {
        self.quarters
    }

    /// Goes without one, where nothing else fits beside it. Tells whether there was anything to give up.
    pub fn give_up(&mut self) -> bool {
        let rules = self.rules.as_ref().map_or(0, |rules| rules.quarters);
        if self.plan.take().is_none() {
            self.rules = None;
            return std::mem::take(&mut self.quarters) > 0;
        }
        self.quarters = rules;
        true
    }

    /// Returns what was set aside for standing instructions that the prompt shows anyway, in quarter tokens.
    pub fn spare(&self, state: &BuildState, prompt: &StructuredPrompt) -> u64 {
        self.rules.as_ref().map_or(0, |rules| rules.spare(state, &prompt.entries))
    }

    /// Returns the ledger of a prompt whose entries are chosen.
    pub fn of(&self, state: &BuildState, frame: &PromptFrame, prompt: &StructuredPrompt) -> Option<Ledger> {
        let after = plan::place(state, &prompt.entries);
        let rules = self.rules.as_ref().and_then(|rules| rules.write(state, &prompt.entries, after));
        let said = rules.as_ref().map_or("", |rules| &rules.text);
        let names = self.plan.as_ref().and_then(|plan| plan.write(state, frame, &prompt.entries, said));
        match (rules, names) {
            (None, names) => names,
            (Some(rules), names) => Some(Ledger::with_rules(rules, names)),
        }
    }
}
