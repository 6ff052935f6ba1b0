//! Stage 7: what goes in under the budget, and in which order.

pub mod group;
mod lines;
pub mod plan;
pub mod selector;
pub mod units;

use std::cell::Cell;

use self::plan::{PlannedPart, Planner};
use self::units::UnitSelection;
use crate::compile::append::{self, PromptLayout, PromptManifest};
use crate::compile::excerpt::ExcerptQuery;
use crate::compile::extension;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{EntryRendering, PromptEntry, StructuredPrompt};
use crate::compile::score::bm25n::TermWeights;
use crate::compile::state::BuildState;
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;

pub use group::group;

/// What a selection depends on besides the candidates.
pub struct SelectionScope<'a> {
    /// The weighted terms of the query.
    pub terms: &'a TermWeights,
    /// What stands around the items.
    pub frame: &'a PromptFrame,
    /// The previous prompt of append mode.
    pub previous: Option<&'a PromptManifest>,
    /// Whether the ledger of that prompt may stand in the next one.
    pub keeps_ledger: bool,
    /// What items may cost together, in quarter tokens.
    pub limit: u64,
}

/// Stage 7. Chooses units of the build; in append mode on top of the previous prompt, with the order that follows from it.
pub fn select(state: &BuildState, scope: &SelectionScope) -> Result<(UnitSelection, Option<PromptLayout>)> {
    let limit = scope.limit;
    let planner = Planner {
        sources: state.sources,
        renderer: state.renderer,
        wanted: ExcerptQuery::new(state.sources.index, scope.terms, state.rows.len()),
        cap: Cell::new(selector::cap(limit / 4)),
        last: state.rows.last().map(|row| row.at),
        work: Cell::new(0),
    };
    match scope.previous {
        _ if !state.sources.options.append => Ok((state.selector(&planner, limit).choose()?, None)),
        None => Ok((append::cut(state, &planner, limit)?, None)),
        Some(manifest) if scope.keeps_ledger => extension::extend(state, &planner, manifest, scope.frame, limit),
        Some(_) => {
            let selection = append::cut(state, &planner, limit)?;
            let layout = PromptLayout::of_log(state, &selection, "changed");
            Ok((selection, Some(layout)))
        }
    }
}

/// Puts the selected parts in order: that of the log, or as an append-only layout says.
pub fn arrange<'a>(
    state: &BuildState<'a>,
    selection: &'a UnitSelection,
    layout: Option<&PromptLayout>,
    frame: &'a PromptFrame,
) -> StructuredPrompt<'a> {
    let sources = state.sources;
    let mut parts: Vec<&'a PlannedPart> = selection.parts().collect();
    sort_by(&mut parts, |a, b| a.at.cmp(&b.at));
    if let Some(layout) = layout {
        let mut place = vec![usize::MAX; sources.events.len()];
        for (index, at) in layout.order.iter().enumerate() {
            place[*at] = index;
        }
        sort_by(&mut parts, |a, b| place[a.at].cmp(&place[b.at]));
    }
    let entry = |part: &'a PlannedPart| PromptEntry {
        at: part.at,
        item: &sources.events.items()[part.at],
        indexed: sources.index.entry(part.at),
        rendering: EntryRendering { form: part.form, content: &part.content, earlier: part.earlier.as_deref() },
        tokens: part.quarters / 4,
        omitted_chars: part.omitted_chars,
        recalled: layout.is_some_and(|layout| layout.recalled[part.at]),
    };
    let entries = parts.into_iter().map(entry).collect();
    StructuredPrompt { header: &frame.sections, entries, ledger: None, footer: &frame.footer }
}
