//! From candidates to units: what enters and leaves together, what answers to what, and what must stay.

use super::units::SelectionUnit;
use crate::draft::BuildState;
use contextweaver_model::ItemKind;

/// Makes the units of a draft. What is pinned by the caller, by its metadata or by the active turn says so.
pub fn group(draft: &mut BuildState, pins: &[usize]) {
    let items = draft.items();
    let count = draft.rows.iter().map(|row| row.unit + 1).max().unwrap_or(0);
    let mut number = vec![usize::MAX; count];
    for (index, row) in draft.rows.iter_mut().enumerate() {
        if number[row.unit] == usize::MAX {
            number[row.unit] = draft.units.len();
            let (rows, parents) = (Vec::new(), Vec::new());
            draft.units.push(SelectionUnit { rows, quarters: 0, score: f64::MIN, pinned: None, parents });
        }
        row.unit = number[row.unit];
        let unit = &mut draft.units[row.unit];
        unit.rows.push(index);
        unit.quarters += row.quarters;
        unit.score = unit.score.max(draft.scores[index]);
        if items[row.at].metadata_flag("pinned") {
            unit.pinned = Some("metadata");
        }
    }
    link_parents(draft);
    pin_active_turn(draft);
    for row in &draft.rows {
        if pins.contains(&row.at) {
            draft.units[row.unit].pinned = Some("request");
        }
    }
}

fn link_parents(draft: &mut BuildState) {
    let events = draft.sources.events;
    let mut unit_at = vec![usize::MAX; events.len()];
    for row in &draft.rows {
        unit_at[row.at] = row.unit;
    }
    for row in &draft.rows {
        let parent = events.items()[row.at].parent_id.as_deref().and_then(|id| events.position(id));
        let parent = parent.map_or(usize::MAX, |at| unit_at[at]);
        let parents = &mut draft.units[row.unit].parents;
        if parent != usize::MAX && parent != row.unit && !parents.contains(&parent) {
            parents.push(parent);
        }
    }
}

/// The last user turn and the last item stay: that is what the model is working on. What is between stays, too, for
/// callers who want no step lost.
fn pin_active_turn(draft: &mut BuildState) {
    let items = draft.items();
    let last_turn = draft.rows.iter().rposition(|row| items[row.at].kind == ItemKind::UserTurn && !row.stub);
    let from = last_turn.unwrap_or(draft.rows.len().saturating_sub(1));
    let turn = &draft.rows[from.min(draft.rows.len())..];
    for (index, row) in turn.iter().enumerate() {
        let is_end = index == 0 || index + 1 == turn.len();
        if is_end || !draft.sources.options.trim_active_turn {
            draft.units[row.unit].pinned.get_or_insert("active_turn");
        }
    }
}
