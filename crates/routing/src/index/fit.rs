//! How well the best tools fit a query, on a scale that all catalogs have in common.
//!
//! Scores are made to put tools into order: their rarities depend on the catalog, and a word that ten tools of a shop have
//! says little about which of them is meant, but much about whether the shop is meant at all. Here every word that says
//! something counts the same, by where the tools have it: 1 is one word of the query in the name of a tool.

use super::ToolIndex;
use super::fields::{FIELD_TABLE, FIELDS};
use super::query::{ParsedQuery, TermSource};
use super::rank::{LengthNorms, saturate};
use contextweaver_text::numbered::Term;

/// Tools that are looked at: as many as a model is usually shown.
pub const FIRST_TOOLS: usize = 5;
/// How much more a related word counts than in a ranking, where it must stay behind tools that have the word itself.
const RELATED: f64 = 1.5;
/// What a generic word counts: less than a word that says something does in a description, even in the name of a tool.
const GENERIC: f64 = 0.4;
/// What words count that the best tool lacks and another of the first has: they show that the catalog is of this matter.
const BREADTH: f64 = 0.3;
/// Tools of common lengths that every catalog is thought to have beside its own: the mean length of one description is no
/// measure for that description.
const COMMON_TOOLS: u32 = 10;
/// Terms in each field of such a tool, rounded means of published catalogs.
const COMMON_LENGTHS: [u64; FIELDS] = [3, 1, 2, 12, 4, 20, 10];

/// How well the best tools fit a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryFit {
    /// Words of the query that the first tools have, 1 for one in a name, less elsewhere and for generic words.
    pub evidence: f64,
    /// Words that say something and that no tool has, as they are in the query, at most eight.
    pub unknown: Vec<String>,
    /// Whether any word of the query says something.
    pub is_about: bool,
}

/// Most words that are named.
const NAMED: usize = 8;

/// One number for each of the first tools.
type FirstTools = [f64; FIRST_TOOLS];
const NOTHING: FirstTools = [0.0; FIRST_TOOLS];

/// By number of a term: how much the first tools have of it, as a part of what one with it in its name has.
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

impl ToolIndex {
    /// Tells how well tools, given by their places, best first, fit a query.
    pub(super) fn fit(&self, query: &ParsedQuery, first: &[u32]) -> QueryFit {
        let strengths = self.first_strengths(query, first);
        let (mut sums, mut fit) = (FitSums::default(), QueryFit::default());
        let lexicon = &self.options.lexicon;
        let terms = &query.text.terms;
        for (at, (term, number)) in terms.iter().zip(&query.numbers).enumerate() {
            let entry = lexicon.terms().get(Term::Word(term));
            // A number is data, and one that a tool happens to have says nothing; nor does small talk.
            let is_empty = term.chars().all(char::is_numeric) || entry.is_some_and(|entry| lexicon.is_talk(entry));
            if is_empty || terms[..at].contains(term) {
                continue;
            }
            let is_generic = entry.is_some_and(|entry| lexicon.is_generic(entry));
            let mut found = number.and_then(|number| strengths.of(number)).copied().unwrap_or(NOTHING);
            if number.is_none() {
                for similar in query.terms.iter().filter(|known| known.source == TermSource::Fuzzy(at as u32)) {
                    strengths.raise(&mut found, similar.weight, similar.term);
                }
            }
            if let Some(entry) = entry {
                lexicon.for_each_neighbour(entry, &mut |neighbour, share| {
                    if let Some(number) = self.resolved(neighbour) {
                        strengths.raise(&mut found, RELATED * share, number);
                    }
                });
            }
            sums.add(if is_generic { GENERIC } else { 1.0 }, found);
            fit.is_about |= !is_generic;
            if number.is_none() && !is_generic && fit.unknown.len() < NAMED {
                fit.unknown.push(query.text.words[query.text.origins[at] as usize].clone());
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
        QueryFit { evidence: sums.evidence(), ..fit }
    }

    fn first_strengths(&self, query: &ParsedQuery, first: &[u32]) -> FirstStrengths {
        let totals = std::array::from_fn(|field| {
            let (sum, count) = self.totals[field];
            (sum + u64::from(COMMON_TOOLS) * COMMON_LENGTHS[field], count + COMMON_TOOLS)
        });
        let norms = LengthNorms::new(&totals);
        let full = saturate(FIELD_TABLE[0].1);
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
                let strength = |count| if count > 0.0 { (saturate(count) / full).min(1.0) } else { 0.0 };
                terms.push((term.term, counts.map(strength)));
            }
        }
        FirstStrengths(terms)
    }
}
