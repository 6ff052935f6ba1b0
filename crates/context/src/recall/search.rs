//! Where the words of a query stand together.

use std::collections::{HashMap, HashSet};

use crate::compile::excerpt::TermStarts;
use crate::index::LogIndex;
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;
use contextweaver_text::terms::for_each_term;

/// Terms of a query that count, the rarest: a bit of a [`TermSet`] each.
const MAX_TERMS: usize = 64;
/// Weight of a term that stands only in a neighbour of a piece, relative to one in the piece itself.
const BESIDE: f64 = 0.5;
/// Occurrences of a term in a passage, after which further ones hardly count, and how much long passages are held back: the
/// customary values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;

/// Terms of the query, a bit each.
type TermSet = u64;

/// The terms of a query, and what each is worth.
pub(super) struct Wanted {
    terms: HashMap<String, usize>,
    weights: Vec<f64>,
    /// Their ids in the index, where it has them.
    ids: Vec<Option<u32>>,
    starts: TermStarts,
}

impl Wanted {
    pub(super) fn of(query: &str, index: &LogIndex) -> Self {
        let passages = index.passages().len() as f64;
        let mut found: Vec<(String, f64, Option<u32>)> = Vec::new();
        let mut known = HashSet::new();
        for_each_term(query, |term| {
            if found.len() == limits::MAX_QUERY_WORDS || !known.insert(term.to_owned()) {
                return;
            }
            let id = index.term(term);
            let frequency = id.map_or(0.0, |id| index.postings(id).len() as f64);
            let rarity = libm::log(1.0 + (passages - frequency + 0.5) / (frequency + 0.5));
            found.push((term.to_owned(), rarity, id));
        });
        sort_by(&mut found, |a, b| b.1.total_cmp(&a.1));
        found.truncate(MAX_TERMS);
        let mut wanted =
            Self { terms: HashMap::new(), weights: Vec::new(), ids: Vec::new(), starts: TermStarts::default() };
        for (place, (term, weight, id)) in found.into_iter().enumerate() {
            wanted.starts.add(&term);
            wanted.terms.insert(term, place);
            wanted.weights.push(weight);
            wanted.ids.push(id);
        }
        wanted
    }

    /// Scores the passages of the index, by BM25.
    pub(super) fn passage_scores(&self, index: &LogIndex) -> Vec<f64> {
        let passages = index.passages();
        let length: u64 = passages.iter().map(|passage| u64::from(passage.length)).sum();
        let average = (length as f64 / passages.len().max(1) as f64).max(1.0);
        let mut scores = vec![0.0; passages.len()];
        for (id, weight) in self.ids.iter().zip(&self.weights) {
            for posting in id.map_or(&[][..], |id| index.postings(id)) {
                let at = posting.passage as usize;
                let (count, long) = (f64::from(posting.count), f64::from(passages[at].length) / average);
                scores[at] += weight * count / (count + SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * long));
            }
        }
        scores
    }

    /// Returns the terms that stand in a piece of text.
    fn within(&self, piece: &str) -> TermSet {
        let mut found = 0;
        if self.starts.may_stand_in(piece) {
            for_each_term(piece, |term| {
                if let Some(place) = self.terms.get(term) {
                    found |= 1 << place;
                }
            });
        }
        found
    }

    /// Returns the share of the query, rare words counting more, that stands in a text.
    pub(super) fn share(&self, text: &str) -> f64 {
        self.worth(self.within(text)) / self.weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    fn worth(&self, terms: TermSet) -> f64 {
        let of = |(place, weight): (usize, &f64)| if terms >> place & 1 == 1 { *weight } else { 0.0 };
        self.weights.iter().enumerate().map(of).sum()
    }

    /// Scores the pieces of a text that hold a term: what they hold, and half of what only those beside them do. `each` is
    /// told the place of the piece, its share of the query, and whether the one before it and the one after it add a term.
    pub(super) fn places(&self, pieces: &[&str], mut each: impl FnMut(usize, f64, [bool; 2])) {
        let all = self.weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut sets = [0, 0, pieces.first().map_or(0, |piece| self.within(piece))];
        for at in 0..pieces.len() {
            sets = [sets[1], sets[2], pieces.get(at + 1).map_or(0, |piece| self.within(piece))];
            let [before, own, after] = sets;
            if own != 0 {
                let score = self.worth(own) + BESIDE * self.worth((before | after) & !own);
                each(at, score / all, [before & !own != 0, after & !own != 0]);
            }
        }
    }
}
