//! The identifiers of a log that a ledger may name.

use crate::compile::state::BuildState;
use crate::index::LogIndex;
use contextweaver_base::order;
use contextweaver_model::{ContextItem, ItemKind, Stage};

/// Passages that hold an identifier, above which it is no name of one thing.
const MOST_PASSAGES: usize = 16;
/// Identifiers that are weighed against what the prompt shows.
const MOST_CANDIDATES: usize = 1024;
/// Mentions after which further ones do not count.
const MANY_MENTIONS: u32 = 2;

/// An identifier that may be named.
#[derive(Clone, Copy, Default)]
pub struct Candidate {
    pub term: u32,
    /// The item to look in.
    pub home: usize,
    /// The newest that holds it.
    newest: usize,
    /// Items by a person or the model that do.
    mentions: u32,
}

/// What may be said of each item of the log.
pub struct Fates(Vec<Fate>);

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
    pub fn of(state: &BuildState) -> Self {
        let mut fates = vec![Fate::Absent; state.sources.events.len()];
        for row in &state.rows {
            fates[row.at] = if row.redacted.is_some() || row.stub { Fate::Withheld } else { Fate::Open };
        }
        for item in state.excluded.iter().filter(|item| item.stage == Stage::Sensitivity) {
            fates[item.at] = Fate::Withheld;
        }
        Self(fates)
    }

    pub fn is_open(&self, at: usize) -> bool {
        self.0.get(at) == Some(&Fate::Open)
    }
}

/// Returns the identifiers of the log that may be named: those that a person or the model said themselves first, repeatedly
/// before once, then the newest.
pub fn candidates(state: &BuildState, fates: &Fates) -> Vec<Candidate> {
    let (index, items) = (state.sources.index, state.items());
    let names = index.names().iter().filter(|term| index.postings(**term).len() <= MOST_PASSAGES);
    let found: Vec<Candidate> = names.filter_map(|term| candidate(index, items, fates, *term)).collect();
    // A rank is a position of the log in a class, so that they are counted into their places: of a long log, as many as are
    // needed at most.
    let rank = |candidate: &Candidate| {
        let class = (MANY_MENTIONS - candidate.mentions.min(MANY_MENTIONS)) as usize;
        (class + 1) * items.len() - 1 - candidate.newest
    };
    let mut counts = vec![0; (MANY_MENTIONS as usize + 1) * items.len()];
    for candidate in &found {
        counts[rank(candidate)] += 1;
    }
    let mut needed = 0;
    let mut places: Vec<usize> = Vec::with_capacity(counts.len());
    for count in counts {
        if needed >= MOST_CANDIDATES {
            break;
        }
        places.push(needed);
        needed += count;
    }
    let mut ranked = vec![Candidate::default(); needed];
    for candidate in found {
        if let Some(place) = places.get_mut(rank(&candidate)) {
            ranked[*place] = candidate;
            *place += 1;
        }
    }
    // Ids of terms depend on the order in which a log came: equals go by their texts.
    for equals in ranked.chunk_by_mut(|a, b| rank(a) == rank(b)) {
        order::sort_by(equals, |a, b| index.word(a.term).cmp(index.word(b.term)));
    }
    ranked
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
