//! Stage 7: what goes in under the budget.

mod group;
pub mod plan;
pub mod units;

use std::cell::Cell;

use self::plan::Planner;
use self::units::{UnitSelection, UnitSelector};
use super::append::{self, PromptLayout, PromptManifest};
use super::build_state::BuildState;
use super::excerpt::ExcerptQuery;
use super::frame::PromptFrame;
use super::score::bm25n::TermWeights;
use contextweaver_base::Result;

pub use group::group;

/// What a selection depends on besides the candidates.
pub struct SelectionScope<'a> {
    /// The weighted terms of the query.
    pub terms: &'a TermWeights,
    /// What stands around the items.
    pub frame: &'a PromptFrame,
    /// The previous prompt of append mode.
    pub previous: Option<&'a PromptManifest>,
    /// What items may cost together, in quarter tokens.
    pub limit: u64,
}

/// Stage 7. Chooses units of the build; in append mode on top of the previous prompt, with the order that follows from it.
pub fn select(state: &BuildState, scope: &SelectionScope) -> Result<(UnitSelection, Option<PromptLayout>)> {
    let limit = scope.limit;
    let planner = Planner {
        sources: state.sources,
        renderer: state.renderer,
        wanted: ExcerptQuery { index: state.sources.index, terms: scope.terms, visible: state.rows.len() },
        cap: units::cap(limit / 4),
        last: state.rows.last().map(|row| row.at),
        work: Cell::new(0),
    };
    match scope.previous {
        _ if !state.sources.options.append => Ok((selector(state, &planner, limit).choose()?, None)),
        None => Ok((append::cut(state, &planner, limit)?, None)),
        Some(manifest) => append::extend(state, &planner, manifest, scope.frame, limit),
    }
}

/// Returns a selector over all units with a limit in quarter tokens.
pub fn selector<'a>(state: &'a BuildState, planner: &'a Planner, limit: u64) -> UnitSelector<'a> {
    UnitSelector { rows: &state.rows, units: &state.units, planner, limit, policy: &state.sources.options.policy }
}
