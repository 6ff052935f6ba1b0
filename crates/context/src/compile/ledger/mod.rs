//! The ledger: a line in a prompt that something left, with identifiers of it that may be asked for and where they stand.
//!
//! It stands below the instructions that the log begins with, so that these keep their place in a provider's prompt cache, and
//! is no system text, as what it names others have written.

mod candidates;
mod plan;

use self::plan::LedgerPlan;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{Ledger, StructuredPrompt};
use crate::compile::state::BuildState;

/// What a build sets aside for its ledger, and then writes.
pub struct LedgerWriter {
    plan: Option<LedgerPlan>,
    quarters: u64,
}

impl LedgerWriter {
    /// Sets aside what it takes out of the room that items have.
    pub fn new(state: &BuildState, frame: &PromptFrame, room: u64) -> Self {
        let plan = LedgerPlan::of(state, frame, room);
        let quarters = plan.as_ref().map_or(0, |plan| plan.quarters).min(room);
        Self { plan, quarters }
    }

    /// Returns what is set aside, in quarter tokens.
    pub fn quarters(&self) -> u64 {
        self.quarters
    }

    /// Goes without one, where nothing else fits beside it. Tells whether there was anything to give up.
    pub fn give_up(&mut self) -> bool {
        self.plan = None;
        std::mem::take(&mut self.quarters) > 0
    }

    /// Returns the ledger of a prompt whose entries are chosen.
    pub fn of(&self, state: &BuildState, frame: &PromptFrame, prompt: &StructuredPrompt) -> Option<Ledger> {
        self.plan.as_ref()?.write(state, frame, &prompt.entries)
    }
}
