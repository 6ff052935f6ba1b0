//! The ledger: a line in a prompt that something left, with identifiers of it that may be asked for and where they stand.
//!
//! It stands below the instructions that the log begins with, so that these keep their place in a provider's prompt cache, and
//! is no system text, as what it names others have written.

use std::cell::OnceCell;
use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use crate::compile::append::PromptManifest;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{EntryContent, PromptEntry, StructuredPrompt};
use crate::compile::select::units::UnitSelection;
use crate::compile::state::BuildState;
use crate::digest_note::safe_handle;
use crate::index::LogIndex;
use crate::recall::sources::handle_of_item;
use contextweaver_base::limits;
use contextweaver_base::{Result, order};
use contextweaver_model::json::{Fields, as_uint};
use contextweaver_model::{ContextItem, ItemKind, LedgerStats, RenderedAs, Stage};
use contextweaver_text::terms::{for_each_spelling, for_each_term};
use contextweaver_text::unicode::floor_char_boundary;

/// What of the budget it may take: a fiftieth.
const SHARE: u64 = 50;
/// Tokens below which there is no room for one that helps.
const LEAST_TOKENS: u64 = 40;
/// Passages that hold an identifier, above which it is no name of one thing.
const MOST_PASSAGES: usize = 16;
/// Identifiers that are weighed against what the prompt shows.
const MOST_CANDIDATES: usize = 1024;
/// Mentions after which further ones do not count.
const MANY_MENTIONS: u32 = 2;
/// Bytes that are read to learn how identifiers are spelled, and of one item.
const MOST_READ: usize = 128 << 10;
const MOST_READ_OF_ONE: usize = 32 << 10;
/// Times that a ledger is made shorter where the prompt's estimator finds it too long.
const ROUNDS: usize = 4;

/// What stands above its line.
const TITLE: &str = "[LEFT OUT]";
const OPENING: &str = "recall finds: ";

/// A ledger as it stands in a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Its text, title included.
    pub text: String,
    /// Entries of the prompt above it.
    pub after: usize,
    /// Count of the identifiers.
    pub identifiers: u64,
    /// Positions of the items that it names, ascending.
    pub homes: Vec<usize>,
}

impl Ledger {
    /// Weighs it with what the renderer puts around it, in quarter tokens.
    pub fn quarters(&self, state: &BuildState) -> u64 {
        text_quarters(state, &self.text)
    }

    /// Tells whether it may stand in the next prompt of append mode as it is: within its share, and of items that are not withheld.
    pub fn may_stay(&self, state: &BuildState, frame: &PromptFrame) -> bool {
        let fits = self.quarters(state) <= share(frame.budget);
        let fates = Fates::of(state);
        state.sources.options.has_ledger(frame.budget) && fits && self.homes.iter().all(|at| fates.is_open(*at))
    }

    /// Reads the snapshot form.
    pub fn from_value(value: Value, path: &str, entries: usize, items: usize) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let last = items.saturating_sub(1) as u64;
        Ok(Self {
            text: fields.string("text")?,
            after: fields.uint_or("after", 0, entries as u64)? as usize,
            identifiers: fields.uint_or("identifiers", 0, u64::MAX)?,
            homes: fields.records("homes", |value, at| Ok(as_uint(&value, at, last)? as usize))?,
        })
    }

    /// Counts it.
    pub fn stats(&self, state: &BuildState) -> LedgerStats {
        LedgerStats { tokens: self.quarters(state).div_ceil(4), identifiers: self.identifiers }
    }
}

/// What a build knows of its ledger: the one of the prompt before, as long as append mode goes on with that, or a plan.
pub struct LedgerWriter<'a> {
    before: Option<&'a Ledger>,
    /// Whether that one may stay, if there is one.
    keeps: bool,
    /// What a new one would say: found when it is needed.
    plan: OnceCell<Option<LedgerPlan>>,
    room: u64,
    quarters: u64,
}

impl<'a> LedgerWriter<'a> {
    /// Sets aside what it takes out of the room that items have.
    pub fn new(state: &BuildState, frame: &PromptFrame, previous: Option<&'a PromptManifest>, room: u64) -> Self {
        let before = previous.and_then(PromptManifest::ledger);
        let keeps = before.is_none_or(|ledger| ledger.may_stay(state, frame));
        let kept = before.filter(|_| keeps).map(|ledger| ledger.quarters(state).max(share(frame.budget)));
        let plan = if kept.is_some() { OnceCell::new() } else { LedgerPlan::of(state, frame, room).into() };
        let planned = plan.get().and_then(|plan| plan.as_ref()).map(|plan| plan.quarters);
        Self { before, keeps, plan, room, quarters: kept.or(planned).unwrap_or(0).min(room) }
    }

    /// Returns what is set aside, in quarter tokens.
    pub fn quarters(&self) -> u64 {
        self.quarters
    }

    /// Tells whether a prompt of append mode may go on with the ledger it has, or without one.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    /// Goes without one, where nothing else fits beside it. Tells whether there was anything to give up.
    pub fn give_up(&mut self) -> bool {
        self.plan = None.into();
        self.keeps &= self.before.is_none();
        std::mem::take(&mut self.quarters) > 0
    }

    /// Returns the ledger of a prompt whose entries are chosen.
    pub fn of(
        &self,
        state: &BuildState,
        frame: &PromptFrame,
        selection: &UnitSelection,
        prompt: &StructuredPrompt,
    ) -> Option<Ledger> {
        // Only a prompt that goes on repeats sections.
        if selection.parts().any(|part| part.earlier.is_some()) {
            return self.before.cloned();
        }
        let plan = self.plan.get_or_init(|| LedgerPlan::of(state, frame, self.room));
        plan.as_ref()?.write(state, frame, &prompt.entries)
    }
}

/// What a build sets aside for a ledger before it selects.
struct LedgerPlan {
    /// Quarter tokens for it, with what is put around it.
    quarters: u64,
    candidates: Vec<Candidate>,
    fates: Fates,
}

/// An identifier that may be named.
struct Candidate {
    term: u32,
    /// The item to look in.
    home: usize,
    /// The newest that holds it.
    newest: usize,
    /// Items by a person or the model that do.
    mentions: u32,
}

/// What may be said of each item of the log.
struct Fates(Vec<Fate>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Not a candidate of the build: of another phase, or replaced.
    Absent,
    /// It may be named.
    Open,
    /// Its text is redacted, or left for its label.
    Withheld,
}

impl Fates {
    fn of(state: &BuildState) -> Self {
        let mut fates = vec![Fate::Absent; state.sources.events.len()];
        for row in &state.rows {
            fates[row.at] = if row.redacted.is_some() || row.stub { Fate::Withheld } else { Fate::Open };
        }
        for item in state.excluded.iter().filter(|item| item.stage == Stage::Sensitivity) {
            fates[item.at] = Fate::Withheld;
        }
        Self(fates)
    }

    fn is_open(&self, at: usize) -> bool {
        self.0.get(at) == Some(&Fate::Open)
    }
}

/// Returns the quarter tokens that it may have.
fn share(budget: u64) -> u64 {
    (4 * budget / SHARE).min(4 * limits::LEDGER_TOKENS)
}

fn text_quarters(state: &BuildState, text: &str) -> u64 {
    state.renderer.frame_quarters(state.sources, "", text)
}

impl LedgerPlan {
    /// Sets room aside where not everything fits, and where there are identifiers.
    fn of(state: &BuildState, frame: &PromptFrame, room: u64) -> Option<Self> {
        let most = share(frame.budget);
        let wanted: u64 = state.units.iter().map(|unit| unit.quarters).sum();
        if !state.sources.options.has_ledger(frame.budget)
            || wanted <= room
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

    /// Writes the ledger of a prompt: identifiers that stand nowhere in it, as many as there is room for.
    fn write(&self, state: &BuildState, frame: &PromptFrame, entries: &[PromptEntry]) -> Option<Ledger> {
        let shown = Shown::of(state, frame, entries);
        let named = self.spelled(state, &shown);
        let after = entries.iter().take_while(|entry| entry.kind() == ItemKind::Policy).count();
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

    /// Returns what may be named as the items spell it, the likeliest to be asked for first.
    fn spelled(&self, state: &BuildState, shown: &Shown) -> Vec<(usize, String)> {
        let index = state.sources.index;
        let left = self.candidates.iter().filter(|candidate| !shown.has(candidate.term, index));
        // Some are not spelled out or masked: twice as many as there is room for.
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
            for_each_spelling(text, |spelling, term| {
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

/// Estimates what all of them need, if that is less than the most that they may have.
fn needed(state: &BuildState, candidates: &[Candidate], most: u64) -> u64 {
    let (mut named, mut homes) = (0, HashSet::new());
    for candidate in candidates {
        // In upper case, as they may stand in the items, they cost more.
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

/// Returns the identifiers of the log that may be named: those that a person or the model said themselves first, repeatedly
/// before once, then the newest.
fn candidates(state: &BuildState, fates: &Fates) -> Vec<Candidate> {
    let (index, items) = (state.sources.index, state.items());
    let names = index.names().iter().filter(|term| index.postings(**term).len() <= MOST_PASSAGES);
    let mut found: Vec<Candidate> = names.filter_map(|term| candidate(index, items, fates, *term)).collect();
    // Of a long log most are not needed: what stands behind so many others is left out before they are put in order.
    let rank = |candidate: &Candidate| {
        let class = (MANY_MENTIONS - candidate.mentions.min(MANY_MENTIONS)) as usize;
        (class + 1) * items.len() - 1 - candidate.newest
    };
    let mut counts = vec![0; (MANY_MENTIONS as usize + 1) * items.len()];
    for candidate in &found {
        counts[rank(candidate)] += 1;
    }
    let mut before = 0;
    let last = counts.iter().position(|count| {
        before += count;
        before >= MOST_CANDIDATES
    });
    found.retain(|candidate| last.is_none_or(|last| rank(candidate) <= last));
    // Ids of terms depend on the order in which a log came: equals go by their texts.
    order::sort_by(&mut found, |a, b| rank(a).cmp(&rank(b)).then_with(|| index.word(a.term).cmp(index.word(b.term))));
    found
}

fn candidate(index: &LogIndex, items: &[ContextItem], fates: &Fates, term: u32) -> Option<Candidate> {
    let (mut newest, mut result, mut mentions) = (None, None, 0);
    for posting in index.postings(term) {
        let at = index.passages()[posting.passage as usize].at as usize;
        match fates.0[at] {
            Fate::Withheld => return None,
            Fate::Open if newest != Some(at) => {}
            _ => continue,
        }
        newest = Some(at);
        match items[at].kind {
            ItemKind::ToolResult => result = newest,
            ItemKind::UserTurn | ItemKind::AgentMsg | ItemKind::ToolCall => mentions += 1,
            _ => {}
        }
    }
    // A result says most about it.
    Some(Candidate { term, home: result.or(newest)?, newest: newest?, mentions })
}

/// The terms that stand in a prompt.
struct Shown {
    /// Items that stand there with all their terms.
    whole: Vec<bool>,
    terms: HashSet<u32>,
}

impl Shown {
    fn of(state: &BuildState, frame: &PromptFrame, entries: &[PromptEntry]) -> Self {
        let index = state.sources.index;
        let mut shown = Self { whole: vec![false; state.sources.events.len()], terms: HashSet::new() };
        let mut read = |text: &str| {
            for_each_term(text, |term| shown.terms.extend(index.term(term)));
        };
        read(&frame.header);
        read(&frame.footer);
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

/// Writes as many as the room holds, those of one item together. Each is weighed by itself, which the caller checks.
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
    let said = groups.iter().map(|(at, said)| format!("{} ({})", said.join(", "), place(state.items(), *at)));
    let text = format!("{TITLE}\n{OPENING}{}", said.collect::<Vec<_>>().join("; "));
    if groups.is_empty() || state.sources.options.mask_secrets(&text) != text.as_str() {
        return None;
    }
    let mut homes: Vec<usize> = groups.into_iter().map(|(at, _)| at).collect();
    order::sort_distinct(&mut homes);
    Some(Ledger { text, after, identifiers, homes })
}

/// Weighs a name with what stands behind it, in quarter tokens.
fn name_quarters(state: &BuildState, name: &str) -> u64 {
    let estimator = &state.sources.options.estimator;
    estimator.quarters(name) + estimator.quarters(", ")
}

/// Weighs where an item is looked for, with what stands around it, in quarter tokens.
fn place_quarters(state: &BuildState, at: usize) -> u64 {
    let estimator = &state.sources.options.estimator;
    estimator.quarters(&place(state.items(), at)) + estimator.quarters(" (); ")
}

/// Returns where an item is looked for: the handle of a result, the id of another.
fn place(items: &[ContextItem], at: usize) -> String {
    let handle = handle_of_item(&items[at]);
    safe_handle(handle.as_deref().unwrap_or(&items[at].id))
}
