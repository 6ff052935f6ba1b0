//! How well the first tools of a ranking fit a query, on a scale that all catalogs share.
//!
//! Scores put the tools of one catalog into order. They cannot say whether any tool fits: a word that ten tools of a shop
//! have weighs little among them, although it shows that the query is about the shop. Here a word of the query counts by
//! where the first tools have it, whatever other tools there are: 1 stands for one word in the name of a tool.

use super::ToolIndex;
use super::fields::{FIELD_TABLE, FIELDS};
use super::query::{ParsedQuery, TermSource};
use super::weights::LengthNorms;

/// Number of tools that are looked at: as many as a model is usually shown.
pub const FIRST_TOOLS: usize = 5;
/// What the weight of a related word is multiplied by. In a ranking it must stay behind tools that have the word itself;
/// here it only has to say that the tool is about the same thing.
const RELATED: f64 = 1.5;
/// What a generic word counts: in the name of a tool less than another word does in a description.
const GENERIC: f64 = 0.4;
/// What words count that the best tool lacks and another of the first has.
const BREADTH: f64 = 0.3;
/// What a word counts that, or a relative of which, only tools behind the first have: the catalog is about such things.
const ELSEWHERE: f64 = 0.1;
/// Worth of evidence that is one word in a tool, the only one of its namespace among the first: its neighbours lack the rest
/// of the request, too.
const STRAY: f64 = 0.6;
/// Words of a request from which on that counts: a command of a few words may name what it wants with one.
const REQUEST_WORDS: usize = 7;
/// Tools of a namespace from which on others of it could have come near.
const NEIGHBOURS: u32 = 3;
/// Weighted count of a word at which it has half of its effect. Scores level off sooner.
const HALF_EFFECT: f64 = 2.5;
/// Tools with fields of common lengths that are added to those of every catalog before lengths are compared: in a
/// catalog of one tool, the mean length of a description is the length of that description.
const COMMON_TOOLS: u32 = 10;
/// Terms in each field of such a tool: rounded means of published catalogs.
const COMMON_LENGTHS: [u64; FIELDS] = [3, 1, 2, 12, 4, 20, 10];

/// How well the first tools of a ranking fit a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryFit {
    /// Words of the query that the first tools have: 1 for one in a name, less elsewhere and for generic words.
    pub evidence: f64,
    /// Whether any word of the query says what it is about.
    pub is_about: bool,
    words: Vec<String>,
    unknown: Vec<u32>,
}

impl QueryFit {
    /// Returns the words that say what the query is about and that no tool has, as they are in the query.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().map(|at| self.words[*at as usize].as_str())
    }
}

/// One number for each of the first tools.
type FirstTools = [f64; FIRST_TOOLS];
const NOTHING: FirstTools = [0.0; FIRST_TOOLS];

/// By number of a term: how much of it each of the first tools has, 1 for one in its name.
struct FirstStrengths(Vec<(u32, FirstTools)>);

impl FirstStrengths {
    fn of(&self, term: u32) -> Option<&FirstTools> {
        self.0.iter().find(|(number, _)| *number == term).map(|(_, found)| found)
    }

    /// Raises what is known to a share of what the tools have of a term.
    fn raise(&self, known: &mut FirstTools, share: f64, term: u32) {
        for (known, other) in known.iter_mut().zip(self.of(term).into_iter().flatten()) {
            *known = known.max(share.min(1.0) * other);
        }
    }
}

/// What the words of a query add up to.
#[derive(Default)]
struct FitSums {
    by_tool: FirstTools,
    /// With each word counted for the tool that has most of it.
    together: f64,
}

impl FitSums {
    fn add(&mut self, weight: f64, found: FirstTools) {
        for (sum, found) in self.by_tool.iter_mut().zip(found) {
            *sum += weight * found;
        }
        self.together += weight * found.into_iter().fold(0.0, f64::max);
    }

    fn evidence(&self) -> f64 {
        let best = self.by_tool.into_iter().fold(0.0, f64::max);
        best + BREADTH * (self.together - best)
    }
}

/// Returns the effect of a weighted count, as a part of that of one word in a name.
fn strength(count: f64) -> f64 {
    let effect = |count: f64| count / (HALF_EFFECT + count);
    (effect(count) / effect(FIELD_TABLE[0].1)).min(1.0)
}

impl ToolIndex {
    /// Tells how well tools, given by their places, best first, fit a query.
    pub(super) fn fit(&self, mut query: ParsedQuery, first: &[u32]) -> QueryFit {
        let strengths = self.first_strengths(&query, first);
        let (mut sums, mut unknown, mut is_about, mut own_words) = (FitSums::default(), Vec::new(), false, 0);
        let lexicon = &self.options.lexicon;
        let terms = &query.text.terms;
        for (at, (term, number)) in terms.iter().zip(&query.numbers).enumerate() {
            let entry = query.entries[at];
            // A number is data, and one that a tool happens to have says nothing; nor does small talk.
            let is_empty = term.chars().all(char::is_numeric) || entry.is_some_and(|entry| lexicon.is_talk(entry));
            if is_empty || terms[..at].contains(term) {
                continue;
            }
            let mut found = number.and_then(|number| strengths.of(number)).copied().unwrap_or(NOTHING);
            if number.is_none() {
                for similar in query.terms.iter().filter(|known| known.source == TermSource::Fuzzy(at as u32)) {
                    strengths.raise(&mut found, similar.weight, similar.term);
                }
            }
            let mut is_elsewhere = number.is_some();
            if let Some(entry) = entry {
                lexicon.for_each_neighbour(entry, &mut |neighbour, share| {
                    if let Some(number) = self.resolved(neighbour) {
                        is_elsewhere |= self.frequency(number) > 0;
                        strengths.raise(&mut found, RELATED * share, number);
                    }
                });
            }
            if entry.is_some_and(|entry| lexicon.is_generic(entry)) {
                sums.add(GENERIC, found);
                continue;
            }
            own_words += u32::from(number.and_then(|number| strengths.of(number)).is_some_and(|found| found[0] > 0.0));
            if found == NOTHING && is_elsewhere {
                found = [ELSEWHERE; FIRST_TOOLS];
            }
            sums.add(1.0, found);
            let origin = query.text.origins.get(at);
            if query.text.is_all_small && origin.is_some() {
                continue;
            }
            is_about = true;
            // Words of scripts without spaces have several terms.
            if let Some(origin) = origin.filter(|origin| number.is_none() && unknown.last() != Some(*origin)) {
                unknown.push(*origin);
            }
        }
        // A turn of phrase is one word, whatever it stands for.
        let mut phrases: Vec<(u32, FirstTools)> = Vec::new();
        for known in &query.terms {
            if let TermSource::Phrase(phrase) = known.source {
                if phrases.last().is_none_or(|(last, _)| *last != phrase) {
                    phrases.push((phrase, NOTHING));
                }
                if let Some((_, found)) = phrases.last_mut() {
                    strengths.raise(found, known.weight, known.term);
                }
            }
        }
        for (_, found) in phrases {
            sums.add(1.0, found);
        }
        let is_lone = own_words < 2 && query.text.words.len() >= REQUEST_WORDS;
        let worth = if is_lone && self.is_stray(first) { STRAY } else { 1.0 };
        QueryFit { evidence: worth * sums.evidence(), is_about, unknown, words: std::mem::take(&mut query.text.words) }
    }

    /// Tells whether the first of the first tools is the only one of its namespace, although that has others.
    fn is_stray(&self, first: &[u32]) -> bool {
        let family = |place: &u32| self.items[*place as usize].family;
        let Some((best, rest)) = first.split_first() else { return false };
        let members = self.families.get(family(best) as usize).copied().unwrap_or(0);
        members >= NEIGHBOURS && rest.iter().all(|other| family(other) != family(best))
    }

    fn first_strengths(&self, query: &ParsedQuery, first: &[u32]) -> FirstStrengths {
        let totals = std::array::from_fn(|field| {
            let (sum, count) = self.totals[field];
            (sum + u64::from(COMMON_TOOLS) * COMMON_LENGTHS[field], count + COMMON_TOOLS)
        });
        let norms = LengthNorms::new(&totals);
        // One look tells most of the tools in long lists that they are not among the first.
        let bit = |place: u32| 1_u64 << (place % 64);
        let mask = first.iter().fold(0, |mask, place| mask | bit(*place));
        let mut terms = Vec::with_capacity(query.terms.len());
        for term in query.terms.iter().filter(|term| term.source != TermSource::Pair) {
            let mut counts = NOTHING;
            for entry in self.postings.entries(term.term).filter(|entry| mask & bit(entry.item) != 0) {
                if let Some(at) = first.iter().position(|place| *place == entry.item) {
                    counts[at] += norms.count(entry, &self.lengths[entry.item as usize]);
                }
            }
            if counts != NOTHING {
                terms.push((term.term, counts.map(strength)));
            }
        }
        FirstStrengths(terms)
    }
}
