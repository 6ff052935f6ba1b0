//! Stage 7: chooses what goes into the prompt within the budget, and puts it in order.

pub mod group;
mod lines;
pub mod plan;
pub mod row;
pub mod selector;
pub mod units;

use self::plan::Planner;
use self::row::PlannedPart;
use self::selector::UnitSelector;
use self::units::UnitSelection;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{EntryRendering, PromptEntry, StructuredPrompt};
use crate::compile::score::bm25n::TermWeights;
use crate::compile::state::BuildState;
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;

pub use group::group;

/// Chooses the units of a build that go into the prompt, within `limit` quarter tokens.
pub fn select(state: &BuildState, terms: &TermWeights, limit: u64) -> Result<UnitSelection> {
    let planner = Planner::new(state, terms, limit);
    UnitSelector::of(state, &planner, limit).choose()
}

/// Puts the selected parts in the order of the log.
pub fn arrange<'a>(
    state: &BuildState<'a>,
    selection: &'a UnitSelection,
    frame: &'a PromptFrame,
) -> StructuredPrompt<'a> {
    let sources = state.sources;
    let mut parts: Vec<&'a PlannedPart> = selection.parts().collect();
    sort_by(&mut parts, |a, b| a.at.cmp(&b.at));
    let entry = |part: &'a PlannedPart| PromptEntry {
        at: part.at,
        item: &sources.events.items()[part.at],
        indexed: sources.index.entry(part.at),
        rendering: EntryRendering { form: part.form, content: &part.content },
        tokens: part.quarters / 4,
        omitted_chars: part.omitted_chars,
        recalled: false,
    };
    let entries = parts.into_iter().map(entry).collect();
    StructuredPrompt { header: &frame.sections, entries, ledger: None, footer: &frame.footer }
}
