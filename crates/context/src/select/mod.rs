//! Stage 7: what goes in under the budget.

mod group;
pub mod plan;
pub mod units;

use std::cell::Cell;

use self::plan::Planner;
use self::units::{UnitSelection, UnitSelector};
use super::append::{self, PromptLayout, PromptManifest};
use super::draft::BuildState;
use super::excerpt::ExcerptQuery;
use super::heading::PromptFrame;
use super::score::bm25n::TermWeights;
use contextweaver_base::Result;

pub use group::group;

/// What a selection depends on besides the candidates.
pub struct SelectionScope<'a> {
    /// The weighted terms of the query.
    pub terms: &'a TermWeights,
    /// What stands around the items.
    pub heading: &'a PromptFrame,
    /// The previous prompt of append mode.
    pub previous: Option<&'a PromptManifest>,
    /// Quarter tokens for items.
    pub limit: u64,
}

/// Stage 7. Chooses units of the draft; in append mode on top of the previous prompt, with the order that follows from it.
pub fn select(draft: &BuildState, scope: &SelectionScope) -> Result<(UnitSelection, Option<PromptLayout>)> {
    let limit = scope.limit;
    let planner = Planner {
        sources: draft.sources,
        renderer: draft.renderer,
        wanted: ExcerptQuery { index: draft.sources.index, terms: scope.terms, visible: draft.rows.len() },
        cap: units::cap(limit / 4),
        last: draft.rows.last().map(|row| row.at),
        work: Cell::new(0),
    };
    match scope.previous {
        _ if !draft.sources.options.append => Ok((selector(draft, &planner, limit).choose()?, None)),
        None => Ok((append::cut(draft, &planner, limit)?, None)),
        Some(manifest) => append::extend(draft, &planner, manifest, scope.heading, limit),
    }
}

/// Returns a selector over all units with a limit in quarter tokens.
pub fn selector<'a>(draft: &'a BuildState, planner: &'a Planner, limit: u64) -> UnitSelector<'a> {
    UnitSelector { rows: &draft.rows, units: &draft.units, planner, limit, policy: &draft.sources.options.policy }
}
