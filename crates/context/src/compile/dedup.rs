//! Stage 6: repeats.

use crate::compile::repeats::exact_repeats;
use crate::compile::select::row::CandidateRow;
use crate::compile::state::{BuildState, ExcludedItem};
use contextweaver_model::{DropReason, Stage};

/// Stage 6. Redacted items look alike on purpose; they are no repeats. Turns are events, and an answer needs its question. Items
/// at the given positions stay.
pub fn dedup(state: &mut BuildState, stays: impl Iterator<Item = usize>) {
    let (items, index) = (state.items(), state.sources.index);
    let mut is_kept = vec![false; items.len()];
    for at in stays {
        is_kept[at] = true;
    }
    let visible: Vec<usize> = state
        .rows
        .iter()
        .filter(|row| row.redacted.is_none() && !row.stub && !items[row.at].metadata_flag("pinned"))
        .map(|row| row.at)
        .filter(|at| !is_kept[*at] && !items[*at].kind.is_turn())
        .collect();
    let repeats = exact_repeats(items, visible.into_iter(), |at| index.entry(at).fingerprint);
    if repeats.is_empty() {
        return;
    }
    let is_repeat = |row: &CandidateRow| repeats.binary_search_by_key(&row.at, |(at, _)| *at).is_ok();
    let (gone, rows): (Vec<CandidateRow>, Vec<CandidateRow>) =
        std::mem::take(&mut state.rows).into_iter().partition(is_repeat);
    state.rows = rows;
    state.excluded.extend(gone.into_iter().map(|row| ExcludedItem {
        at: row.at,
        unit: row.unit as u32,
        level: row.level,
        stage: Stage::Dedup,
        reason: DropReason::Dedup,
    }));
}
