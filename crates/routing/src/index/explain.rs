//! Why a tool has its score.

use serde::Serialize;

use super::fields::FIELD_TABLE;
use super::query::TermSource;
use super::weights::{LengthNorms, coverage_factor, rarity, saturate};
use super::{ToolIndex, not_found};
use contextweaver_base::Result;

/// How a term became part of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum TermOrigin {
    /// It is a word of the query.
    Word,
    /// Two words of the query stand side by side.
    Pair,
    /// It is similar to a word of the query that no tool has.
    Fuzzy,
    /// A turn of phrase in the query stands for it.
    Phrase,
    /// The lexicon relates it to a term of the query.
    Neighbour,
}

/// A field that holds a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MatchedField {
    /// Name of the field.
    pub field: &'static str,
    /// Occurrences of the term in the field.
    pub count: u32,
}

/// One term of the query that a tool has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MatchedTerm {
    /// The term, stemmed; pairs have `_` between their words.
    pub term: String,
    /// How it came into the query.
    pub origin: TermOrigin,
    /// The term or word it was derived from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub from: Option<String>,
    /// Weight in the query, lower for generic words and for terms that were not in it.
    pub weight: f64,
    /// How much it says: the fewer tools have it, the more.
    pub idf: f64,
    /// Summand of the tool's score.
    pub contribution: f64,
    /// Fields of the tool that hold the term.
    pub fields: Vec<MatchedField>,
}

/// How the words of a query and of a tool make its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RouteMatch {
    /// The score of the words alone: the sum of the contributions.
    pub score: f64,
    /// Part of what is looked for that the tool has, 0 to 1.
    pub coverage: f64,
    /// What matched, in the order of the query.
    pub terms: Vec<MatchedTerm>,
}

impl ToolIndex {
    /// Explains the score of one tool.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn explain(&mut self, text: &str, id: &str) -> Result<RouteMatch> {
        self.settle();
        let Some(place) = self.place(id) else { return Err(not_found(id)) };
        let query = self.read(text);
        let norms = LengthNorms::new(&self.totals);
        let (mut terms, mut all, mut covered, mut score) = (Vec::new(), 0.0, 0.0, 0.0);
        for term in &query.terms {
            let (cover, weight) = self.term_weights(term);
            all += cover;
            let (mut fields, mut count) = (Vec::new(), 0.0);
            for entry in self.postings.entries(term.term).filter(|entry| entry.item == place) {
                count += norms.count(entry, &self.lengths[place as usize]);
                fields.push(MatchedField { field: FIELD_TABLE[entry.field()].0, count: entry.count() });
            }
            if fields.is_empty() {
                continue;
            }
            let contribution = weight * saturate(count);
            covered += cover;
            score += contribution;
            let (origin, from) = match term.source {
                TermSource::Word => (TermOrigin::Word, None),
                TermSource::Pair => (TermOrigin::Pair, None),
                TermSource::Phrase(_) => (TermOrigin::Phrase, None),
                TermSource::Fuzzy(at) => (TermOrigin::Fuzzy, query.text.terms.get(at as usize).cloned()),
                TermSource::Neighbour(of) => (TermOrigin::Neighbour, Some(self.options.lexicon.terms().text(of))),
            };
            let (weight, idf) = (term.weight, rarity(self.len(), term.frequency));
            terms.push(MatchedTerm {
                term: self.terms.text(term.term),
                origin,
                from,
                weight,
                idf,
                contribution,
                fields,
            });
        }
        if all > 0.0 {
            let factor = coverage_factor(covered, all);
            score *= factor;
            for term in &mut terms {
                term.contribution *= factor;
            }
        }
        let coverage = if all > 0.0 { covered / all } else { 0.0 };
        Ok(RouteMatch { score, coverage, terms })
    }
}
