//! Decides how many tokens a ledger may take, and which identifiers it names.
//!
//! A ledger is a short note in a prompt that leaves something out. It lists identifiers from the text that was left
//! out, each with the handle or the id of the item to look in.

use std::collections::{HashMap, HashSet};

use super::candidates::{Candidate, Fates, candidates};
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{EntryContent, Ledger, PromptEntry};
use crate::compile::state::BuildState;
use crate::digest_note::safe_handle;
use crate::firewall::handle_of_item;
use crate::index::LogIndex;
use crate::rules::ours::{LEDGER_OPENING as OPENING, LEDGER_TITLE as TITLE};
use contextweaver_base::{limits, order};
use contextweaver_model::{ContextItem, ItemKind, RenderedAs};
use contextweaver_text::terms::{for_each_identifier, for_each_term};
use contextweaver_text::unicode::floor_char_boundary;

/// The ledger may take the budget divided by `SHARE`. At a cut of a running prompt it may take the budget divided by
/// `CUT_SHARE`, because later steps see nothing else of what was cut.
const SHARE: u64 = 50;
const CUT_SHARE: u64 = 25;
/// A ledger with a smaller share than this many tokens would not help, so there is none.
const LEAST_TOKENS: u64 = 40;
/// The most bytes that are read to find how identifiers are spelled: from all items, and from one item.
const MOST_READ: usize = 128 << 10;
const MOST_READ_OF_ONE: usize = 32 << 10;
/// How many times a ledger is written, each time shorter, until it fits by the prompt's estimator.
const ROUNDS: usize = 4;

/// The most identifiers of one item that a ledger names at a cut.
const MOST_OF_ONE: usize = 6;

impl Ledger {
    /// Weighs the ledger and what the renderer puts around it, in quarter tokens.
    pub fn quarters(&self, state: &BuildState) -> u64 {
        text_quarters(state, &self.text)
    }
}

/// The room and the identifiers that a build sets aside for a ledger before it selects items.
pub struct LedgerPlan {
    /// Quarter tokens for the ledger and what the renderer puts around it.
    pub quarters: u64,
    candidates: Vec<Candidate>,
    fates: Fates,
}

/// Returns the most quarter tokens that a ledger may take.
fn share(budget: u64, is_cut: bool) -> u64 {
    (4 * budget / if is_cut { CUT_SHARE } else { SHARE }).min(4 * limits::LEDGER_TOKENS)
}

fn text_quarters(state: &BuildState, text: &str) -> u64 {
    state.renderer.frame_quarters(state.sources, "", text)
}

impl LedgerPlan {
    /// Sets room aside for a ledger if not everything fits and there are identifiers to name. `room` is the room of all
    /// items, in quarter tokens.
    pub fn of(state: &BuildState, frame: &PromptFrame, room: u64) -> Option<Self> {
        let most = share(state.budget.unwrap_or(frame.budget), state.is_cut());
        let wanted: u64 = state.units.iter().map(|unit| unit.quarters).sum();
        if !state.sources.options.has_ledger(frame.budget, state.is_cut())
            // At a cut, digests leave something out even if everything fits.
            || (wanted <= room && !state.is_cut())
            || most < 4 * LEAST_TOKENS
            || 2 * most > room
        {
            return None;
        }
        let fates = Fates::of(state);
        let candidates = candidates(state, &fates);
        let quarters = needed(state, &candidates, most);
        (!candidates.is_empty()).then_some(Self { quarters, candidates, fates })
    }

    /// Writes the ledger of a prompt. It names as many identifiers as fit, of those that occur neither in the prompt
    /// nor in `rules`, the text of the standing instructions.
    pub fn write(
        &self,
        state: &BuildState,
        frame: &PromptFrame,
        entries: &[PromptEntry],
        rules: &str,
    ) -> Option<Ledger> {
        let shown = Shown::of(state, frame, entries, rules);
        let named = self.spelled(state, &shown);
        let after = place(state, entries);
        let mut room = self.quarters;
        for _ in 0..ROUNDS {
            let ledger = compose(state, &named, after, room)?;
            let weight = ledger.quarters(state);
            if weight <= self.quarters {
                return Some(ledger);
            }
            room = room.saturating_sub((weight - self.quarters).max(8));
        }
        None
    }

    /// Returns the identifiers to name, as the items spell them, each with the position of its item. Those that are
    /// most likely to be asked for come first.
    fn spelled(&self, state: &BuildState, shown: &Shown) -> Vec<(usize, String)> {
        let index = state.sources.index;
        let left = self.candidates.iter().filter(|candidate| !shown.has(candidate.term, index));
        // At a cut, one item with many identifiers must not crowd out the others.
        let mut named: HashMap<usize, usize> = HashMap::new();
        let left = left.filter(|candidate| {
            let count = named.entry(candidate.home).or_default();
            *count += 1;
            !state.is_cut() || *count <= MOST_OF_ONE
        });
        // Twice as many as fit are tried, because some have no known spelling or would be masked.
        let mut wanted = 0;
        let left = left.take_while(|candidate| {
            let has_room = wanted < 2 * self.quarters;
            wanted += name_quarters(state, index.word(candidate.term));
            has_room
        });
        let left: Vec<&Candidate> = left.take(2 * limits::LEDGER_IDENTIFIERS).collect();
        let mut spellings: Vec<Option<String>> = vec![None; left.len()];
        let mut homes: Vec<usize> = left.iter().map(|candidate| candidate.home).collect();
        order::sort_distinct(&mut homes);
        let mut budget = MOST_READ;
        for candidate in &left {
            // The likeliest items are read first.
            let Ok(place) = homes.binary_search(&candidate.home) else { continue };
            let home = homes.remove(place);
            let item = &state.items()[home];
            let text = index.entry(home).source(item, state.sources.artifacts);
            let end = floor_char_boundary(text, budget.min(MOST_READ_OF_ONE));
            let text = &text[..end];
            budget -= end;
            let wanted: Vec<usize> = (0..left.len()).filter(|at| left[*at].home == home).collect();
            for_each_identifier(text, |spelling, term| {
                let Some(id) = index.term(term) else { return };
                let place = wanted.iter().find(|at| left[**at].term == id && spellings[**at].is_none());
                if let Some(at) = place {
                    spellings[*at] = Some(spelling.to_owned());
                }
            });
        }
        let options = state.sources.options;
        let said = left.iter().zip(spellings).filter_map(|(candidate, text)| Some((candidate.home, text?)));
        said.filter(|(home, text)| self.fates.is_open(*home) && options.mask_secrets(text) == text.as_str()).collect()
    }
}

/// Returns how many entries stand above the ledger: the instructions and, at a cut, the user's first request.
pub fn place(state: &BuildState, entries: &[PromptEntry]) -> usize {
    let after = entries.iter().take_while(|entry| entry.kind() == ItemKind::Policy).count();
    // The first request stays where it is from cut to cut, as the instructions do.
    let is_first = state.is_cut() && entries.get(after).is_some_and(|entry| entry.kind() == ItemKind::UserTurn);
    after + usize::from(is_first)
}

/// Estimates the quarter tokens of a ledger that names all candidates, up to `most`.
fn needed(state: &BuildState, candidates: &[Candidate], most: u64) -> u64 {
    let (mut named, mut homes) = (0, HashSet::new());
    for candidate in candidates {
        // Items may spell identifiers in upper case, which costs more.
        named += name_quarters(state, &state.sources.index.word(candidate.term).to_uppercase());
        if homes.insert(candidate.home) {
            named += place_quarters(state, candidate.home);
        }
        if named >= most {
            return most;
        }
    }
    (named + text_quarters(state, &format!("{TITLE}\n{OPENING}"))).min(most)
}

/// The terms that a prompt shows.
struct Shown {
    /// For each item of the log, whether the prompt shows all of its terms.
    whole: Vec<bool>,
    terms: HashSet<u32>,
}

impl Shown {
    fn of(state: &BuildState, frame: &PromptFrame, entries: &[PromptEntry], rules: &str) -> Self {
        let index = state.sources.index;
        let mut shown = Self { whole: vec![false; state.sources.events.len()], terms: HashSet::new() };
        let mut read = |text: &str| {
            for_each_term(text, |term| shown.terms.extend(index.term(term)));
        };
        read(&frame.header);
        read(&frame.footer);
        read(rules);
        for entry in entries {
            let is_whole = entry.rendering.form == RenderedAs::Whole && *entry.rendering.content == EntryContent::Own;
            if is_whole && !entry.indexed.is_summarised() {
                shown.whole[entry.at] = true;
            } else {
                read(&entry.rendering.content.body(entry.item, entry.indexed));
            }
        }
        shown
    }

    fn has(&self, term: u32, index: &LogIndex) -> bool {
        let stands = |passage: u32| self.whole[index.passages()[passage as usize].at as usize];
        self.terms.contains(&term) || index.postings(term).iter().any(|posting| stands(posting.passage))
    }
}

/// Writes a ledger with as many identifiers as fit into `room`, in quarter tokens. Those of one item stand together.
/// The pieces are weighed one by one, so the caller must weigh the whole.
fn compose(state: &BuildState, named: &[(usize, String)], after: usize, room: u64) -> Option<Ledger> {
    let estimator = &state.sources.options.estimator;
    let mut groups: Vec<(usize, Vec<&str>)> = Vec::new();
    let (mut used, mut identifiers) = (estimator.quarters(TITLE) + estimator.quarters(OPENING), 0);
    for (home, spelling) in named {
        let group = groups.iter().position(|(at, _)| at == home);
        let name = name_quarters(state, spelling);
        let more = if group.is_some() { name } else { name + place_quarters(state, *home) };
        if used + more > room {
            continue;
        }
        used += more;
        match group {
            Some(group) => groups[group].1.push(spelling),
            None => groups.push((*home, vec![spelling])),
        }
        identifiers += 1;
        if identifiers as usize == limits::LEDGER_IDENTIFIERS {
            break;
        }
    }
    let said = groups.iter().map(|(at, said)| format!("{} ({})", said.join(", "), place_of(state.items(), *at)));
    let text = format!("{TITLE}\n{OPENING}{}", said.collect::<Vec<_>>().join("; "));
    if groups.is_empty() || state.sources.options.mask_secrets(&text) != text.as_str() {
        return None;
    }
    let mut homes: Vec<usize> = groups.into_iter().map(|(at, _)| at).collect();
    order::sort_distinct(&mut homes);
    Some(Ledger { text, after, identifiers, homes, rules: 0 })
}

/// Weighs a name and the separator behind it, in quarter tokens.
fn name_quarters(state: &BuildState, name: &str) -> u64 {
    let estimator = &state.sources.options.estimator;
    estimator.quarters(name) + estimator.quarters(", ")
}

/// Weighs the handle or the id of an item and the characters around it, in quarter tokens.
fn place_quarters(state: &BuildState, at: usize) -> u64 {
    let estimator = &state.sources.options.estimator;
    estimator.quarters(&place_of(state.items(), at)) + estimator.quarters(" (); ")
}

/// Returns where to look for an item: the handle of a result, the id of any other item.
fn place_of(items: &[ContextItem], at: usize) -> String {
    let handle = handle_of_item(&items[at]);
    safe_handle(handle.as_deref().unwrap_or(&items[at].id))
}
