//! Stage 6: repeats.
//!
//! Only exact repeats are dropped. Version 0.18 for Python drops an item that shares most of its words with a better one,
//! which loses "not", single digits and everything that is not English.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::build_state::{BuildState, ExcludedItem};
use super::select::plan::CandidateRow;
use contextweaver_base::limits;
use contextweaver_model::{ContextItem, ItemKind, Stage};

/// Stage 6. Redacted items look alike on purpose; they are no repeats.
pub fn dedup(state: &mut BuildState, pins: &[usize]) {
    let (items, index) = (state.items(), state.sources.index);
    let visible: Vec<usize> = state
        .rows
        .iter()
        .filter(|row| row.redacted.is_none() && !row.stub && !items[row.at].metadata_flag("pinned"))
        .map(|row| row.at)
        .filter(|at| !pins.contains(at))
        .collect();
    let repeats = exact_repeats(items, &visible, |at| index.entry(at).fingerprint);
    if repeats.is_empty() {
        return;
    }
    let is_repeat = |row: &CandidateRow| repeats.binary_search(&row.at).is_ok();
    let (gone, rows): (Vec<CandidateRow>, Vec<CandidateRow>) =
        std::mem::take(&mut state.rows).into_iter().partition(is_repeat);
    state.rows = rows;
    state.excluded.extend(gone.into_iter().map(|row| ExcludedItem {
        at: row.at,
        unit: row.unit as u32,
        level: row.level,
        stage: Stage::Dedup,
        reason: "dedup",
    }));
}

/// Returns the exact repeats among visible positions, both ascending: same kind, parent, label and text. The newest one
/// stays. `fingerprints` are those of [`fingerprint`], by position.
pub fn exact_repeats(items: &[ContextItem], visible: &[usize], fingerprints: impl Fn(usize) -> u64) -> Vec<usize> {
    // Positions of kept items by fingerprint; items whose fingerprints meet by chance are compared.
    let mut newest: HashMap<u64, usize> = HashMap::new();
    let mut repeats = Vec::new();
    for &at in visible.iter().rev() {
        let print = fingerprints(at);
        if print == 0 {
            continue;
        }
        let kept = *newest.entry(print).or_insert(at);
        if kept != at && same(&items[kept], &items[at]) {
            repeats.push(at);
        }
    }
    repeats.reverse();
    repeats
}

/// Returns a number that repeats of an item share, 0 for an item that never counts as one.
///
/// Calls and results never count: two calls are two events even when they look the same. Neither do short turns.
pub fn fingerprint(item: &ContextItem) -> u64 {
    if !can_repeat(item) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (item.kind, item.sensitivity, item.parent_id.as_deref(), item.text.trim()).hash(&mut hasher);
    hasher.finish().max(1)
}

fn can_repeat(item: &ContextItem) -> bool {
    match item.kind {
        ItemKind::ToolCall | ItemKind::ToolResult => false,
        ItemKind::UserTurn | ItemKind::AgentMsg => {
            item.text.trim().chars().nth(limits::DEDUP_MIN_TURN_CHARS - 1).is_some()
        }
        _ => !item.text.trim().is_empty(),
    }
}

fn same(a: &ContextItem, b: &ContextItem) -> bool {
    a.kind == b.kind && a.parent_id == b.parent_id && a.sensitivity == b.sensitivity && a.text.trim() == b.text.trim()
}
