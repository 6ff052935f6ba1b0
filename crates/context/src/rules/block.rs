//! The block of a prompt that repeats standing instructions: those in force that no entry of the prompt shows.

use std::collections::{HashMap, HashSet};

use super::ours::{ADDED, CORRECTED, EARLIER, TITLE};
use super::record::{Held, record};
use super::stated::NOWHERE;
use crate::compile::frame::PromptFrame;
use crate::compile::ledger::candidates::Fates;
use crate::compile::prompt::{EntryContent, PromptEntry, RulesBlock};
use crate::compile::select::units::{Holds, ROOMY_BUDGET, cap};
use crate::compile::state::BuildState;
use crate::digest_note::safe_handle;
use contextweaver_base::order::{sort_by, sort_distinct};
use contextweaver_model::RenderedAs;

/// The block may take the budget divided by `SHARE`, and at a cut at most what the cut leaves divided by `CUT_SHARE`.
const SHARE: u64 = 12;
const CUT_SHARE: u64 = 4;
/// The most tokens that the block may take.
const MOST_TOKENS: u64 = 360;
/// The room for unsure statements, as a multiple of what the sure ones weigh. A user who lays down some rules for sure
/// has probably stated others, too.
const UNSURE_TIMES: u64 = 1;
/// More room for unsure statements: the part of the budget above [`ROOMY_BUDGET`], divided by this.
const UNSURE_SHARE: u64 = 50;
/// A statement of at least this weight is sure, and goes before newer ones that are not.
const FIRM: f32 = 3.0;
/// A text that is weighed for what stands around the words and the place of a statement.
const AROUND_LINE: &str = "- ()\n";

/// The standing instructions of a log, and those that a prompt may have to repeat.
pub struct RulesPlan<'a> {
    held: Vec<Held<'a>>,
    /// Indices of the statements that the block may repeat, in the order of the log.
    chosen: Vec<usize>,
    /// Quarter tokens for these statements and what the renderer puts around them.
    pub quarters: u64,
}

impl<'a> RulesPlan<'a> {
    /// Chooses the statements that the block may repeat, and sets room aside for them.
    pub fn of(state: &BuildState<'a>, frame: &PromptFrame, room: u64) -> Option<Self> {
        if !state.sources.options.standing_rules {
            return None;
        }
        let fates = Fates::of(state);
        let is_open = |at: usize| fates.is_open(at) || state.ours.contains(&at);
        let held = record(state.sources.stated(is_open));
        let budget = state.budget.unwrap_or(frame.budget);
        let most = (4 * budget / SHARE).min(4 * MOST_TOKENS).min(4 * frame.budget / CUT_SHARE).min(room / 2);
        let mut plan = Self { held, chosen: Vec::new(), quarters: 0 };
        plan.choose(state, budget, state.request.budget_tokens.unwrap_or(frame.budget), most);
        (!plan.held.is_empty()).then_some(plan)
    }

    /// Chooses statements while they fit: first those that the caller added or changed, then sure ones, and newer
    /// before older. A statement is only chosen together with the later ones on the same subject.
    fn choose(&mut self, state: &BuildState, budget: u64, whole: u64, most: u64) {
        let stands = standing_whole(state, whole);
        let is_shown = |held: &Held| !held.said.is_callers && stands.contains(&held.at);
        let is_told = |held: &Held| held.ended.is_none() && !held.said.statement.is_once && !is_shown(held);
        let mut order: Vec<usize> = (0..self.held.len()).filter(|at| is_told(&self.held[*at])).collect();
        let is_firm = |at: &usize| is_firm(&self.held[*at]);
        let rank = |at: &usize| (self.held[*at].record.is_some(), is_firm(at), *at);
        sort_by(&mut order, |a, b| rank(b).cmp(&rank(a)));
        let mut is_chosen = vec![false; self.held.len()];
        let mut used = state.renderer.frame_quarters(state.sources, "", TITLE);
        let mut unsure = self.room_for_unsure(state, budget);
        for at in order {
            let newer = self.held[at].newer.iter().copied().filter(|newer| is_told(&self.held[*newer]));
            let mut wanted: Vec<usize> = newer.chain([at]).filter(|at| !is_chosen[*at]).collect();
            sort_distinct(&mut wanted);
            let cost: u64 = wanted.iter().map(|at| self.weight(state, *at)).sum();
            let has_room = is_firm(&at) || cost <= unsure;
            if has_room && used + cost <= most {
                unsure -= if is_firm(&at) { 0 } else { cost };
                used += cost;
                for at in wanted {
                    is_chosen[at] = true;
                }
            }
        }
        self.chosen = (0..self.held.len()).filter(|at| is_chosen[*at]).collect();
        self.quarters = if self.chosen.is_empty() { 0 } else { used };
    }

    /// Returns the room for statements that are not sure, in quarter tokens. If the user has laid down no sure rule, an
    /// unsure one is probably only a wish or a remark.
    fn room_for_unsure(&self, state: &BuildState, budget: u64) -> u64 {
        let firm = (0..self.held.len()).filter(|at| is_firm(&self.held[*at]));
        let firm: u64 = firm.map(|at| self.weight(state, at)).sum();
        UNSURE_TIMES * firm + 4 * budget.saturating_sub(ROOMY_BUDGET) / UNSURE_SHARE
    }

    /// Returns the positions of the items that state something in force, each with how sure that is.
    pub fn homes(&self) -> impl Iterator<Item = (usize, Holds)> {
        let holds = |held: &&Held| held.ended.is_none() && !held.said.statement.is_once;
        let sure = |held: &Held| if is_firm(held) { Holds::Sure } else { Holds::Likely };
        self.held.iter().filter(holds).map(move |held| (held.at, sure(held)))
    }

    /// Weighs a statement on a line of its own, in quarter tokens.
    fn weight(&self, state: &BuildState, at: usize) -> u64 {
        let quarters = |text: &str| state.sources.quarters(text);
        let held = &self.held[at];
        quarters(&held.said.text) + quarters(AROUND_LINE) + quarters(&place(state, held))
    }

    /// Returns the quarter tokens that are set aside for statements which the entries of a prompt show anyway.
    pub fn spare(&self, state: &BuildState, entries: &[PromptEntry]) -> u64 {
        let said = self.said(entries, 0).0;
        let shown = self.chosen.iter().filter(|at| !said.contains(at));
        let spare: u64 = shown.map(|at| self.weight(state, *at)).sum();
        if said.is_empty() { self.quarters } else { spare }
    }

    /// Writes the block of a prompt with these entries, or returns `None` if it has nothing to repeat.
    pub fn write(&self, state: &BuildState, entries: &[PromptEntry], after: usize) -> Option<RulesBlock> {
        let mut lines: Vec<(&Held, String)> = Vec::new();
        let (said, after) = self.said(entries, after);
        let mut block = RulesBlock { text: TITLE.to_owned(), after, count: 0, homes: Vec::new() };
        for held in said.into_iter().map(|at| &self.held[at]) {
            block.count += 1;
            match lines.last_mut() {
                Some((before, line)) if is_of_one(before, held) => {
                    line.push(' ');
                    line.push_str(&held.said.text);
                }
                _ => lines.push((held, held.said.text.to_string())),
            }
            block.homes.extend((held.at != NOWHERE).then_some(held.at));
        }
        for (held, line) in &lines {
            block.text.extend(["\n- ", line, " (", &place(state, held), ")"]);
        }
        sort_distinct(&mut block.homes);
        (!lines.is_empty()).then_some(block)
    }
}

impl RulesPlan<'_> {
    /// Returns which statements the block repeats, and how many entries stand above it.
    ///
    /// The block repeats the chosen statements that no entry shows. It stands below every entry with an older statement
    /// on the same subject. If an entry above the block shows a newer statement on the subject of one that is repeated,
    /// the block repeats the newer one, too. Otherwise the older one would read as the last word.
    fn said(&self, entries: &[PromptEntry], after: usize) -> (Vec<usize>, usize) {
        let places: HashMap<usize, usize> =
            entries.iter().enumerate().map(|(place, entry)| (entry.at, place)).collect();
        let place = |at: usize| places.get(&self.held[at].at).copied();
        let shown = |at: usize| {
            let said = &self.held[at].said;
            place(at).filter(|place| !said.is_callers && shows(&entries[*place], &said.text))
        };
        let mut said: Vec<usize> = self.chosen.iter().copied().filter(|at| shown(*at).is_none()).collect();
        let older = said.iter().flat_map(|at| &self.held[*at].older);
        let after = older.filter_map(|old| place(*old)).map(|place| place + 1).fold(after, usize::max);
        let is_early = |at: &usize| shown(*at).is_some_and(|place| place < after);
        let again = self.chosen.iter().copied().filter(is_early);
        let again: Vec<usize> = again.filter(|at| self.held[*at].older.iter().any(|old| said.contains(old))).collect();
        said.extend(again);
        sort_distinct(&mut said);
        (said, after)
    }
}

/// Tells whether a sentence is sure to be a statement.
fn is_firm(held: &Held) -> bool {
    held.said.statement.weight >= FIRM
}

/// Returns the words for where a statement was said.
fn place(state: &BuildState, held: &Held) -> String {
    let Some(item) = state.items().get(held.at) else { return ADDED.to_owned() };
    let place = if held.said.is_carried { EARLIER.to_owned() } else { safe_handle(&item.id) };
    if held.record.is_some_and(|record| record.text.is_some()) { format!("{place}, {CORRECTED}") } else { place }
}

/// Tells whether two statements share a line: both are the user's own words in one turn.
fn is_of_one(before: &Held, held: &Held) -> bool {
    let is_plain = |held: &Held| !held.said.is_carried && !held.said.is_callers;
    before.at == held.at && is_plain(before) && is_plain(held)
}

/// Tells whether an entry shows `text`, the words of a statement in its item.
fn shows(entry: &PromptEntry, text: &str) -> bool {
    match (&entry.rendering.content, entry.rendering.form) {
        (EntryContent::Own, RenderedAs::Whole) => true,
        (EntryContent::Quote { text: shown, .. }, _) => {
            shown.contains(text) || shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(text)
        }
        _ => false,
    }
}

/// Returns the positions of the items that the prompt is sure to show whole.
fn standing_whole(state: &BuildState, budget: u64) -> HashSet<usize> {
    let cap = 4 * cap(budget);
    let is_whole = |row: &&crate::compile::select::row::CandidateRow| {
        let stands = row.stands.as_ref().is_some_and(|entry| entry.form == RenderedAs::Whole);
        stands || (state.units[row.unit].pinned.is_some() && row.quarters < cap)
    };
    state.rows.iter().filter(is_whole).map(|row| row.at).collect()
}
