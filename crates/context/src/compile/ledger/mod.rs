//! The ledger: a line in a prompt that something left, with identifiers of it that may be asked for and where they stand.
//!
//! It stands below the instructions that the log begins with, so that these keep their place in a provider's prompt cache, and
//! is no system text, as what it names others have written.

mod candidates;
mod plan;

use std::cell::OnceCell;

use self::plan::{LedgerPlan, share};
use crate::compile::append::PromptManifest;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{Ledger, StructuredPrompt};
use crate::compile::select::units::UnitSelection;
use crate::compile::state::BuildState;

/// What a build knows of its ledger: the one of the prompt before, as long as append mode goes on with that, or a plan.
pub struct LedgerWriter<'a> {
    before: Option<&'a Ledger>,
    /// Whether that one may stay, if there is one.
    keeps: bool,
    /// What a new one would say: found when it is needed.
    plan: OnceCell<Option<LedgerPlan>>,
    room: u64,
    quarters: u64,
}

impl<'a> LedgerWriter<'a> {
    /// Sets aside what it takes out of the room that items have.
    pub fn new(state: &BuildState, frame: &PromptFrame, previous: Option<&'a PromptManifest>, room: u64) -> Self {
        let before = previous.and_then(PromptManifest::ledger);
        let keeps = before.is_none_or(|ledger| ledger.may_stay(state, frame));
        let kept = before.filter(|_| keeps).map(|ledger| ledger.quarters(state).max(share(frame.budget)));
        let plan = if kept.is_some() { OnceCell::new() } else { LedgerPlan::of(state, frame, room).into() };
        let planned = plan.get().and_then(|plan| plan.as_ref()).map(|plan| plan.quarters);
        Self { before, keeps, plan, room, quarters: kept.or(planned).unwrap_or(0).min(room) }
    }

    /// Returns what is set aside, in quarter tokens.
    pub fn quarters(&self) -> u64 {
        self.quarters
    }

    /// Tells whether a prompt of append mode may go on with the ledger it has, or without one.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    /// Goes without one, where nothing else fits beside it. Tells whether there was anything to give up.
    pub fn give_up(&mut self) -> bool {
        self.plan = None.into();
        self.keeps &= self.before.is_none();
        std::mem::take(&mut self.quarters) > 0
    }

    /// Returns the ledger of a prompt whose entries are chosen.
    pub fn of(
        &self,
        state: &BuildState,
        frame: &PromptFrame,
        selection: &UnitSelection,
        prompt: &StructuredPrompt,
    ) -> Option<Ledger> {
        // Only a prompt that goes on repeats sections.
        if selection.parts().any(|part| part.earlier.is_some()) {
            return self.before.cloned();
        }
        let plan = self.plan.get_or_init(|| LedgerPlan::of(state, frame, self.room));
        plan.as_ref()?.write(state, frame, &prompt.entries)
    }
}
