//! The default selection: pins, a share for the newest, then units by score until the budget is used.

use super::lines::PromptLines;
use super::plan::{MIN_GROWTH, Planner, SqueezeLevel};
use super::row::{CandidateRow, PlannedPart};
use super::units::{Holds, INSTRUCTIONS, MIN_CAP_TOKENS, ROOMY_BUDGET, SelectionUnit, UnitSelection};
use crate::compile::prompt::EntryContent;
use crate::compile::state::BuildState;
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{has_more_than_text, is_approval};
use contextweaver_model::{ContextPolicy, DropReason, ItemKind, RenderedAs, TakenBy};

/// Share of the budget that goes to the newest units where the query says nothing; it falls with the square of what the
/// query leaves open.
const RECENCY_SHARE: f64 = 0.2;
/// Share of the budget for turns in which the user states what is in force; it falls as that of the newest.
const HOLDING_SHARE: f64 = 0.8;
/// Tokens below which trying further is not worth it.
const REST_TOKENS: u64 = 10;
/// Share of the budget up to which the instructions at the head of a log stay whole; beyond it they compete like other items.
const INSTRUCTIONS_SHARE: f64 = 0.5;
/// The last answer of the agent is aside where the query leaves less than this open, and where its text has less than that share
/// of the best text score.
const ASIDE_THINNESS: f64 = 0.5;
const ASIDE_SHARE: f64 = 0.8;
/// Share of the budget up to which pinned units show more of what was cut, before others are chosen.
const PINNED_SHARE: f64 = 0.5;
/// Most parts of a prompt that are tried in a larger form: each attempt reads a whole text.
const MAX_GROWN: usize = 64;
/// Units are ranked by score over size to this power: size hardly counts.
const SIZE_EXPONENT: f64 = 0.2;
const MIN_SIZE_TOKENS: f64 = 24.0;
/// A message longer than this loses score by its length, and more of it with every doubling of the budget.
///
/// In a small budget the best scores win. In a large one the best scores per token win, which finds the most answers.
/// Results have a cap instead.
const LONG_MESSAGE_TOKENS: f64 = 60.0;
const DENSITY_TOKENS: f64 = 2000.0;
const DENSITY_GAIN: f64 = 0.2;
/// A power of one in all: score by token.
const MAX_DENSITY: f64 = 1.0 - SIZE_EXPONENT;
/// Score that a step of the running turn gains for being new, and the number of items after which half of it is left:
/// twenty steps of a thought, a call and a result. The next step mostly needs what stands in the steps just before it.
const STEP_WEIGHT: f64 = 0.3;
const STEP_HALF_LIFE: f64 = 60.0;
/// Factor on the score of the agent's words between the steps of its running turn: they mostly repeat the results.
const THOUGHT_SHARE: f64 = 0.2;
/// Share of what pinned units leave that one unit may take without being cut, in a running turn: the message that opened
/// it may leave little.
const STEP_CAP_SHARE: f64 = 0.25;
/// Tokens that a call and its result may take each as a line.
const LINE_TOKENS: u64 = 48;
/// Share of what pinned units leave that is set aside for such lines.
const LINES_SHARE: f64 = 0.25;
/// Tokens of a turn of the user that is short, and share of the budget above that which short ones have before others.
const TURN_TOKENS: u64 = 100;
const TURNS_SHARE: f64 = 0.02;
/// Share of the same that the first request may have.
const FIRST_SHARE: f64 = 0.05;

/// Chooses units: pinned ones, the newest, then by score.
pub struct UnitSelector<'a> {
    /// The rows of all units.
    pub rows: &'a [CandidateRow],
    /// The units, in log order of their first member.
    pub units: &'a [SelectionUnit],
    pub planner: &'a Planner<'a>,
    /// Quarter tokens that may be used.
    pub limit: u64,
    pub policy: &'a ContextPolicy,
    /// How little the query says of itself, 0 to 1.
    pub thinness: f64,
    /// Whether pinned units give up text where they do not fit.
    pub may_squeeze: bool,
}

impl<'a> UnitSelector<'a> {
    /// Makes one over all units of a build, with a limit in quarter tokens.
    pub fn of(state: &'a BuildState, planner: &'a Planner, limit: u64) -> Self {
        let policy = &state.sources.options.policy;
        let (rows, units, thinness, may_squeeze) = (&state.rows, &state.units, state.thinness, state.may_squeeze);
        Self { rows, units, planner, limit, policy, thinness, may_squeeze }
    }
}

impl UnitSelector<'_> {
    /// Chooses. Fails with `BUDGET_EXCEEDED` when the pinned units do not fit even in their smallest form.
    pub fn choose(&self) -> Result<UnitSelection> {
        let mut state = SelectionState {
            selection: UnitSelection::of(self.units.len()),
            counts: [0; ItemKind::ALL.len()],
            lines: PromptLines::default(),
            calls: vec![None; self.units.len()],
            set_aside: 0,
            aside: self.aside(),
        };
        let total: u64 = self.units.iter().map(|unit| unit.quarters).sum();
        let capped = !self.policy.max_items_per_kind.is_empty();
        let more = self.rows.iter().any(|row| self.planner.has_more(row));
        if total <= self.limit && !capped && !more {
            for (index, unit) in self.units.iter().enumerate() {
                let parts = unit.rows.iter().map(|row| self.rows[*row].whole(*row)).collect();
                self.take(&mut state, index, parts, TakenBy::All);
            }
        } else {
            self.take_pins(&mut state)?;
            if self.planner.is_cut {
                self.set_lines_aside(&mut state);
            }
            self.lower_cap(&state);
            if self.planner.sources.options.standing_rules {
                self.take_first(&mut state);
                self.take_turns(&mut state);
            }
            self.take_newest(&mut state);
            self.take_holding(&mut state);
            self.take_by_score(&mut state);
            if self.planner.is_cut {
                self.take_lines(&mut state);
            }
        }
        self.grow(&mut state, self.limit);
        state.selection.work += self.planner.work.get() + self.units.len() as u64;
        Ok(state.selection)
    }

    fn plan(&self, unit: usize, squeeze: SqueezeLevel) -> (Vec<PlannedPart>, u64) {
        let rows = &self.units[unit].rows;
        let parts = if squeeze == SqueezeLevel::None && self.is_kept_whole(unit) {
            rows.iter().map(|row| self.rows[*row].whole(*row)).collect()
        } else {
            self.planner.unit(self.rows, rows, squeeze)
        };
        let quarters = parts.iter().map(|part| part.quarters).sum();
        (parts, quarters)
    }

    /// Tells whether the caller pinned what a person or the model said: such as a brief, of which no part will do.
    fn is_kept_whole(&self, unit: usize) -> bool {
        matches!(self.units[unit].pinned, Some("request" | "metadata")) && self.is_said(unit)
    }

    fn take(&self, state: &mut SelectionState, unit: usize, parts: Vec<PlannedPart>, by: TakenBy) {
        state.selection.records[unit].taken_by = Some(by);
        state.set_aside -= state.calls[unit].take().map_or(0, |line| line.set_aside);
        for part in &parts {
            state.selection.used += part.quarters;
            state.counts[self.planner.item(part.at).kind.index()] += 1;
        }
        if by != TakenBy::All {
            self.texts(&parts).for_each(|text| state.lines.add(text));
        }
        state.selection.taken[unit] = Some(parts);
    }

    /// Pinned units stay whatever happens; when room is short the oldest give up text first, never their place.
    fn take_pins(&self, state: &mut SelectionState) -> Result<()> {
        let instructions = |unit: &usize| self.units[*unit].pinned == Some(INSTRUCTIONS);
        let mut pinned: Vec<usize> =
            (0..self.units.len()).filter(|index| self.units[*index].pinned.is_some()).collect();
        let whole: u64 = pinned.iter().filter(|unit| instructions(unit)).map(|unit| self.units[*unit].quarters).sum();
        let least = || -> u64 {
            let others = pinned.iter().filter(|unit| !instructions(unit));
            others.map(|unit| self.plan(*unit, SqueezeLevel::Stub).1).sum()
        };
        let share = (self.limit as f64 * INSTRUCTIONS_SHARE) as u64;
        if whole > 0 && (whole > share || whole + least() > self.limit) {
            pinned.retain(|unit| !instructions(unit));
        }
        let mut plans: Vec<(Vec<PlannedPart>, u64)> =
            pinned.iter().map(|unit| self.plan(*unit, state.first_level(*unit))).collect();
        let mut total: u64 = plans.iter().map(|(_, quarters)| quarters).sum();
        let levels = if self.may_squeeze { &[SqueezeLevel::Small, SqueezeLevel::Stub][..] } else { &[] };
        for squeeze in levels {
            for (slot, unit) in pinned.iter().enumerate().filter(|(_, unit)| !instructions(unit)) {
                if total <= self.limit {
                    break;
                }
                let (parts, quarters) = self.plan(*unit, *squeeze);
                if quarters < plans[slot].1 {
                    total = total - plans[slot].1 + quarters;
                    plans[slot] = (parts, quarters);
                }
            }
        }
        if total > self.limit {
            let over = (total - self.limit).div_ceil(4);
            let hint = if self.planner.sources.options.trim_active_turn {
                "raise the budget or pin less"
            } else {
                "raise the budget, pin less, or let steps of the active turn go with active_turn: \"trim\""
            };
            return Err(Error::new(
                ErrorCode::BudgetExceeded,
                format!("what must stay, pinned items and the active turn, exceeds the budget by {over} tokens"),
            )
            .hint(hint)
            .detail("over_by", over)
            .detail("limit", self.limit / 4)
            .detail("required", total.div_ceil(4)));
        }
        for (unit, (parts, _)) in pinned.into_iter().zip(plans) {
            self.take(state, unit, parts, TakenBy::Pinned);
        }
        self.grow(state, (self.limit as f64 * PINNED_SHARE) as u64);
        Ok(())
    }

    /// Returns the unit of the last answer of the agent, which nothing follows, where the query says what it is about: something
    /// else. A part of such an answer is enough.
    fn aside(&self) -> Option<usize> {
        if self.planner.keeps_last || self.planner.is_cut || self.thinness >= ASIDE_THINNESS {
            return None;
        }
        let last = self.rows.iter().rfind(|row| Some(row.at) == self.planner.last)?;
        let best = self.rows.iter().map(|row| row.text_score).fold(0.0, f64::max);
        (last.text_score < ASIDE_SHARE * best).then_some(last.unit)
    }

    /// Shows more of what was cut, up to so many quarter tokens for all units: first of the last item, which is what the
    /// model is working on, then by score.
    fn grow(&self, state: &mut SelectionState, limit: u64) {
        let (selection, aside) = (&mut state.selection, state.aside);
        let mut cut: Vec<(f64, usize, usize)> = Vec::new();
        for (unit, parts) in selection.taken.iter().enumerate() {
            for (slot, part) in parts.iter().flatten().enumerate() {
                if self.planner.may_grow(&self.rows[part.row], part) {
                    let is_last = Some(part.at) == self.planner.last && aside != Some(unit);
                    cut.push((if is_last { f64::MAX } else { self.units[unit].score }, unit, slot));
                }
            }
        }
        sort_by(&mut cut, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2)));
        for (_, unit, slot) in cut.into_iter().take(MAX_GROWN) {
            let more = limit.saturating_sub(selection.used);
            if more < MIN_GROWTH {
                break;
            }
            let Some(part) = selection.taken[unit].as_mut().map(|parts| &mut parts[slot]) else { continue };
            if let Some(grown) = self.planner.grown(&self.rows[part.row], part, more) {
                selection.used = selection.used + grown.quarters - part.quarters;
                *part = grown;
            }
        }
    }

    /// In a running turn the cap is a share of what is left.
    fn lower_cap(&self, state: &SelectionState) {
        if self.units.iter().any(|unit| unit.step.is_some()) {
            let rest = (self.limit - state.selection.used) / 4;
            let cap = ((rest as f64 * STEP_CAP_SHARE) as u64).max(MIN_CAP_TOKENS);
            self.planner.cap.set(self.planner.cap.get().min(cap));
        }
    }

    /// Returns the quarter tokens above those of a small budget.
    const fn roomy(&self) -> u64 {
        self.limit.saturating_sub(4 * ROOMY_BUDGET)
    }

    /// Gives the first request of the user its place, as a line where it is long: all that follows is about it.
    fn take_first(&self, state: &mut SelectionState) {
        let share = (FIRST_SHARE * self.roomy() as f64) as u64;
        if share < 4 * REST_TOKENS {
            return;
        }
        let is_first = |row: &&CandidateRow| {
            let item = self.planner.item(row.at);
            item.kind == ItemKind::UserTurn && !row.stub && !is_approval(item) && !self.planner.says_ours(row.at)
        };
        let Some(row) = self.rows.iter().find(is_first) else { return };
        let [index] = self.units[row.unit].rows[..] else { return };
        let part = if row.quarters <= share {
            row.whole(index)
        } else {
            self.planner.line(index, row, share.min(4 * LINE_TOKENS))
        };
        let has_room = part.quarters <= self.room(state, row.unit) && self.within_caps(state, row.unit);
        if has_room && !state.selection.has(row.unit) && part.says_something() {
            self.take(state, row.unit, vec![part], TakenBy::Stated);
        }
    }

    /// Gives short turns of the user their place, the newest first: what
    /// the user says is worth more than its words. Turns that the standing instructions repeat need none.
    fn take_turns(&self, state: &mut SelectionState) {
        let most = 4 * TURN_TOKENS;
        let mut room = (TURNS_SHARE * self.roomy() as f64) as u64;
        for unit in (0..self.units.len()).rev() {
            if room < 4 * REST_TOKENS {
                break;
            }
            let [row] = self.units[unit].rows[..] else { continue };
            let row = &self.rows[row];
            let item = self.planner.item(row.at);
            let is_turn = item.kind == ItemKind::UserTurn && row.quarters <= most && !row.stub;
            // A question is repeated by its answer; a remark is not.
            let asks = item.text.trim_end().ends_with(['?', '？']);
            if is_turn && !asks && !self.planner.is_stated(row.at) {
                self.give(state, unit, &mut room);
            }
        }
    }

    /// Gives short turns in which the user states what is in force their place, the newest first. Those that only look like it
    /// have one where the query says nothing.
    fn take_holding(&self, state: &mut SelectionState) {
        let is_silent = self.thinness >= 1.0;
        let mut room = self.left_open(HOLDING_SHARE);
        for holds in [Holds::Sure, Holds::Likely].into_iter().filter(|holds| *holds == Holds::Sure || is_silent) {
            let is_short = |unit: &SelectionUnit| unit.holds == holds && unit.quarters <= 4 * TURN_TOKENS;
            for unit in (0..self.units.len()).rev().filter(|unit| is_short(&self.units[*unit])) {
                self.give(state, unit, &mut room);
            }
        }
    }

    /// Takes a unit whole, if it fits into `room`, which is a part of what is left, in quarter tokens.
    fn give(&self, state: &mut SelectionState, unit: usize, room: &mut u64) {
        let quarters = self.units[unit].quarters;
        let fits = quarters <= (*room).min(self.room(state, unit)) && self.within_caps(state, unit);
        if fits && !state.selection.has(unit) {
            *room -= quarters;
            let (parts, _) = self.plan(unit, SqueezeLevel::None);
            self.take(state, unit, parts, TakenBy::Stated);
        }
    }

    /// Returns a share of the room, in quarter tokens: the whole share where the query says nothing, less the more it says.
    fn left_open(&self, share: f64) -> u64 {
        (self.limit as f64 * share * self.thinness * self.thinness) as u64
    }

    fn take_newest(&self, state: &mut SelectionState) {
        let share = self.left_open(RECENCY_SHARE);
        for row in self.rows.iter().rev() {
            if state.selection.has(row.unit) {
                continue;
            }
            if state.selection.used >= share {
                break;
            }
            let (parts, quarters) = self.plan(row.unit, SqueezeLevel::None);
            if state.selection.used + quarters > share || !self.within_caps(state, row.unit) {
                break;
            }
            self.take(state, row.unit, parts, TakenBy::Newest);
        }
    }

    fn take_by_score(&self, state: &mut SelectionState) {
        let doublings = libm::log2((self.limit as f64 / 4.0 / DENSITY_TOKENS).max(1.0));
        let density = (DENSITY_GAIN * doublings).min(MAX_DENSITY);
        let mut order: Vec<(f64, usize)> = (0..self.units.len())
            .filter(|unit| !state.selection.has(*unit))
            .map(|unit| (self.ranking(unit, density), unit))
            .collect();
        let rank = |unit: usize| (self.units[unit].holds, unit);
        sort_by(&mut order, |a, b| b.0.total_cmp(&a.0).then(rank(b.1).cmp(&rank(a.1))));
        let mut repeats = Vec::new();
        for (priority, unit) in order {
            state.selection.records[unit].priority = Some(priority);
            match self.consider(state, unit, true) {
                Some(DropReason::NearRepeat) => repeats.push(unit),
                Some(reason) => state.selection.dropped.push((unit, reason)),
                None => {}
            }
        }
        for unit in repeats {
            if let Some(reason) = self.consider(state, unit, false) {
                let reason = if reason == DropReason::Budget { DropReason::NearRepeat } else { reason };
                state.selection.dropped.push((unit, reason));
            }
        }
        // An earlier drop may have come in as somebody's parent.
        let UnitSelection { taken, dropped, .. } = &mut state.selection;
        dropped.retain(|(unit, _)| taken[*unit].is_none());
    }

    /// Makes a line of each call, and sets room aside for as many as have some, the newest first: what was done is said before
    /// results are shown at length.
    fn set_lines_aside(&self, state: &mut SelectionState) {
        let most = (LINES_SHARE * (self.limit - state.selection.used) as f64) as u64;
        for unit in (0..self.units.len()).rev() {
            state.calls[unit] = self.line(state, unit).map(|mut line| {
                if state.set_aside + line.quarters <= most {
                    line.set_aside = line.quarters;
                    state.set_aside += line.quarters;
                }
                line
            });
        }
    }

    /// Gives calls that have no other place their line, the newest first.
    fn take_lines(&self, state: &mut SelectionState) {
        for unit in (0..self.units.len()).rev() {
            let room = self.room(state, unit);
            let fits = state.calls[unit].as_ref().is_some_and(|line| line.quarters <= room);
            if fits && self.within_caps(state, unit) {
                let parts = state.calls[unit].as_mut().map(|line| std::mem::take(&mut line.parts));
                self.take(state, unit, parts.unwrap_or_default(), TakenBy::Priority);
            }
        }
        let UnitSelection { taken, dropped, .. } = &mut state.selection;
        dropped.retain(|(unit, _)| taken[*unit].is_none());
    }

    /// Returns a unit that is not in yet as a line for each of its parts, where it has a call and is as short as that.
    fn line(&self, state: &SelectionState, unit: usize) -> Option<CallLine> {
        let is_call = |row: &usize| self.planner.item(self.rows[*row].at).kind == ItemKind::ToolCall;
        if state.selection.has(unit) || !self.units[unit].rows.iter().any(is_call) {
            return None;
        }
        let (parts, quarters) = self.plan(unit, SqueezeLevel::Stub);
        (quarters <= 4 * LINE_TOKENS * parts.len() as u64).then_some(CallLine { parts, quarters, set_aside: 0 })
    }

    /// Returns the quarter tokens that are left for a unit: what is set aside for others is not.
    fn room(&self, state: &SelectionState, unit: usize) -> u64 {
        let own = state.calls[unit].as_ref().map_or(0, |line| line.set_aside);
        self.limit.saturating_sub(state.selection.used + state.set_aside - own)
    }

    /// Takes a unit, or says why not.
    fn consider(&self, state: &mut SelectionState, unit: usize, repeats_wait: bool) -> Option<DropReason> {
        if state.selection.has(unit) {
            return None;
        }
        if !self.within_caps(state, unit) {
            return Some(DropReason::KindLimit);
        }
        let Some(parts) = self.fitting(state, unit) else { return Some(DropReason::Budget) };
        let is_text = || !parts.iter().any(|part| has_more_than_text(self.planner.item(part.at)));
        let is_said = self.is_said(unit);
        if repeats_wait && state.lines.have_all(self.texts(&parts), is_said) && is_text() {
            return Some(DropReason::NearRepeat);
        }
        self.take(state, unit, parts, TakenBy::Priority);
        self.take_parents(state, unit);
        None
    }

    /// Returns the texts of parts that a repeat would say again: those that are neither calls nor in the place of something.
    fn texts<'p>(&'p self, parts: &'p [PlannedPart]) -> impl Iterator<Item = &'p str> {
        parts.iter().filter_map(|part| {
            let item = self.planner.item(part.at);
            match &part.content {
                _ if item.kind == ItemKind::ToolCall || part.form == RenderedAs::Stub => None,
                EntryContent::Own => Some(item.text.as_str()),
                EntryContent::Quote { text, .. } => Some(text.as_str()),
                EntryContent::Redacted(_) => None,
            }
        })
    }

    /// Ranks a unit; of what is said at length, `density` is the power of its size that counts beside that of all.
    fn ranking(&self, unit: usize, density: f64) -> f64 {
        let quarters: u64 =
            self.units[unit].rows.iter().map(|row| self.planner.planned_quarters(&self.rows[*row])).sum();
        let tokens = (quarters / 4).min(self.planner.cap.get()) as f64;
        let mut score = self.units[unit].score;
        if let Some(step) = self.units[unit].step {
            score += STEP_WEIGHT * libm::exp2(-(step.age as f64) / STEP_HALF_LIFE);
            if step.is_thought {
                score *= THOUGHT_SHARE;
            }
        }
        if self.is_said(unit) {
            score /= libm::pow((tokens / LONG_MESSAGE_TOKENS).max(1.0), density);
        }
        score / libm::pow(tokens.max(MIN_SIZE_TOKENS), SIZE_EXPONENT)
    }

    /// Tells whether a unit is only what a person or the model said.
    fn is_said(&self, unit: usize) -> bool {
        let kind = |row: &usize| self.planner.item(self.rows[*row].at).kind;
        self.units[unit].rows.iter().map(kind).all(ItemKind::is_turn)
    }

    /// Returns the parts of a unit, if there is room for them.
    fn fitting(&self, state: &mut SelectionState, unit: usize) -> Option<Vec<PlannedPart>> {
        let room = self.room(state, unit);
        state.selection.records[unit].weighed = Some((room, self.units[unit].quarters));
        // A unit never gets smaller than its uncuttable minimum, so hopeless ones are not planned at all.
        if room < 4 * REST_TOKENS {
            return None;
        }
        if self.units[unit].quarters > room && self.units[unit].quarters / 4 <= self.planner.cap.get() {
            return None;
        }
        let (parts, quarters) = self.plan(unit, SqueezeLevel::None);
        state.selection.work += parts.len() as u64;
        state.selection.records[unit].weighed = Some((room, quarters));
        (quarters <= room).then_some(parts)
    }

    /// Takes along what a unit answers to, all the way up, where that fits in one unit's share; else nothing of it.
    fn take_parents(&self, state: &mut SelectionState, unit: usize) {
        let room = self.room(state, unit).min(4 * self.planner.cap.get());
        let (mut chain, mut cost, mut next) = (Vec::new(), 0, self.units[unit].parents.clone());
        while let Some(parent) = next.pop() {
            if state.selection.has(parent) || chain.contains(&parent) {
                continue;
            }
            cost += self.units[parent].quarters;
            if cost > room || !self.within_caps(state, parent) {
                return;
            }
            chain.push(parent);
            next.extend(&self.units[parent].parents);
        }
        for parent in chain {
            let parts = self.units[parent].rows.iter().map(|row| self.rows[*row].whole(*row)).collect();
            self.take(state, parent, parts, TakenBy::Parent);
            state.selection.closures += 1;
        }
    }

    fn within_caps(&self, state: &SelectionState, unit: usize) -> bool {
        if self.policy.max_items_per_kind.is_empty() {
            return true;
        }
        let mut counts = state.counts;
        self.units[unit].rows.iter().all(|row| {
            let kind = self.planner.item(self.rows[*row].at).kind;
            counts[kind.index()] += 1;
            self.policy.cap_of(kind).is_none_or(|cap| counts[kind.index()] <= cap)
        })
    }
}

struct SelectionState {
    selection: UnitSelection,
    counts: [u64; ItemKind::ALL.len()],
    /// Of what was taken.
    lines: PromptLines,
    /// By unit: the line of a call that is not in yet.
    calls: Vec<Option<CallLine>>,
    /// Quarter tokens that are kept for these lines.
    set_aside: u64,
    /// The unit of an answer of which a part is enough.
    aside: Option<usize>,
}

impl SelectionState {
    /// Returns how hard a pinned unit is squeezed from the first: not at all, unless a part of it is enough.
    fn first_level(&self, unit: usize) -> SqueezeLevel {
        if self.aside == Some(unit) { SqueezeLevel::Small } else { SqueezeLevel::None }
    }
}

/// A unit with a call, as short as it gets.
#[derive(Clone)]
struct CallLine {
    parts: Vec<PlannedPart>,
    quarters: u64,
    /// Quarter tokens that are kept for it.
    set_aside: u64,
}
