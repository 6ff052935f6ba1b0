//! From candidates to units: what enters and leaves together, what answers to what, and what must stay.

use super::units::{Holds, INSTRUCTIONS, SelectionUnit, TurnStep};
use crate::compile::state::BuildState;
use contextweaver_base::order::sort_distinct;
use contextweaver_convert::providers::{is_approval, is_compaction};
use contextweaver_model::{ContextItem, ItemKind};

/// Units behind the last user message from which on a turn counts as running: fewer are a question with its answer.
const MIN_STEPS: usize = 4;

/// Makes the units of a build. What is pinned by the caller, by its metadata or by the active turn says so.
pub fn group(state: &mut BuildState, pins: &[usize]) {
    let items = state.items();
    let count = state.rows.iter().map(|row| row.unit + 1).max().unwrap_or(0);
    let mut number = vec![usize::MAX; count];
    for (index, row) in state.rows.iter_mut().enumerate() {
        if number[row.unit] == usize::MAX {
            number[row.unit] = state.units.len();
            let (rows, parents) = (Vec::new(), Vec::new());
            let score = f64::MIN;
            state.units.push(SelectionUnit {
                rows,
                quarters: 0,
                score,
                pinned: None,
                parents,
                step: None,
                holds: Holds::Nothing,
            });
        }
        row.unit = number[row.unit];
        let unit = &mut state.units[row.unit];
        unit.rows.push(index);
        unit.quarters += row.quarters;
        unit.score = unit.score.max(state.scores[index]);
        if items[row.at].metadata_flag("pinned") {
            unit.pinned = Some("metadata");
        }
    }
    link_parents(state);
    pin_instructions(state);
    pin_active_turn(state);
    mark_steps(state);
    for row in &state.rows {
        if pins.contains(&row.at) {
            state.units[row.unit].pinned = Some("request");
        }
    }
}

fn link_parents(state: &mut BuildState) {
    let events = state.sources.events;
    let mut unit_at = vec![usize::MAX; events.len()];
    for row in &state.rows {
        unit_at[row.at] = row.unit;
    }
    for row in &state.rows {
        let parent = events.parent_position(row.at).map_or(usize::MAX, |at| unit_at[at]);
        let parents = &mut state.units[row.unit].parents;
        if parent != usize::MAX && parent != row.unit && !parents.contains(&parent) {
            parents.push(parent);
        }
    }
}

/// Pins the instructions at the start of the log, and a provider's own summaries of a conversation.
///
/// The instructions tell the agent its task: to lose a turn is better than to forget that.
fn pin_instructions(state: &mut BuildState) {
    let first = state.instructions().len();
    for index in 0..state.rows.len() {
        let row = &state.rows[index];
        // What a provider keeps of a conversation stands for all that it left out.
        if index < first || is_compaction(&state.items()[row.at]) {
            state.units[row.unit].pinned.get_or_insert(INSTRUCTIONS);
        }
    }
}

/// Returns from which row on the running turn is: its user message, or the last item where there is none.
fn active_turn(state: &BuildState) -> usize {
    let items = state.items();
    let is_turn = |item: &ContextItem| item.kind == ItemKind::UserTurn && !is_approval(item);
    let last_turn = state.rows.iter().rposition(|row| is_turn(&items[row.at]) && !row.stub);
    last_turn.unwrap_or(state.rows.len().saturating_sub(1))
}

/// Says of each unit behind the last user message that it is a step of a turn that runs, where there are several.
fn mark_steps(state: &mut BuildState) {
    let items = state.items();
    let first = active_turn(state) + 1;
    let steps = state.rows.get(first..).unwrap_or_default();
    let mut units: Vec<usize> = steps.iter().map(|row| row.unit).collect();
    sort_distinct(&mut units);
    if units.len() < MIN_STEPS {
        return;
    }
    for unit in units {
        let rows = &state.units[unit].rows;
        let newest = rows.last().copied().unwrap_or_default();
        let is_thought = rows.iter().all(|row| items[state.rows[*row].at].kind == ItemKind::AgentMsg);
        state.units[unit].step = Some(TurnStep { age: state.rows.len() - 1 - newest, is_thought });
    }
}

/// The last user turn and the last item stay: that is what the model is working on. What is between stays, too, for
/// callers who want no step lost.
fn pin_active_turn(state: &mut BuildState) {
    let turn = &state.rows[active_turn(state).min(state.rows.len())..];
    for (index, row) in turn.iter().enumerate() {
        let is_end = index == 0 || index + 1 == turn.len();
        if is_end || !state.sources.options.trim_active_turn {
            state.units[row.unit].pinned.get_or_insert("active_turn");
        }
    }
}
