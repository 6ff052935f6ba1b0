//! BM25: Okapi with a floor for words that most documents have.

use super::tfidf::WeightedTerms;
use crate::graph::words::Vocabulary;
use contextweaver_base::order::sort;
use contextweaver_text::tokenize::tokenize;

/// How fast repeats of a word stop to count.
const SATURATION: f64 = 1.5;
/// How much the length of a document counts.
const LENGTH: f64 = 0.75;
/// Part of the average weight that a word of negative weight gets.
const FLOOR: f64 = 0.25;

/// Documents with the weights of their words.
#[derive(Debug, Clone, Default)]
pub struct Bm25 {
    vocabulary: Vocabulary,
    weights: Vec<f64>,
    documents: Vec<Bm25Document>,
    average_length: f64,
}

/// The words of a document by number, with their counts, and how many there are with repeats.
#[derive(Debug, Clone)]
struct Bm25Document {
    words: Vec<(u32, u32)>,
    length: usize,
}

impl Bm25 {
    /// Weighs the words of a corpus. Documents without words score zero, also when there are no others.
    pub fn fit<T: AsRef<str>>(corpus: &[T]) -> Self {
        let mut fitted = Self::default();
        let (mut counts, mut total) = (Vec::new(), 0);
        for text in corpus {
            let mut numbers: Vec<u32> =
                tokenize(text.as_ref()).iter().map(|word| fitted.vocabulary.number(word)).collect();
            total += numbers.len();
            let length = numbers.len();
            sort(&mut numbers);
            let words: Vec<(u32, u32)> =
                numbers.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
            counts.resize(fitted.vocabulary.len(), 0_usize);
            for (number, _) in &words {
                counts[*number as usize] += 1;
            }
            fitted.documents.push(Bm25Document { words, length });
        }
        fitted.average_length = total as f64 / corpus.len().max(1) as f64;
        fitted.weights = weights(&counts, corpus.len());
        fitted
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Tells whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Looks the words of a query up; a repeated one counts again.
    pub fn prepare(&self, query: &str) -> WeightedTerms {
        let known = tokenize(query);
        let known = known.iter().filter_map(|word| self.vocabulary.find(word));
        known.map(|number| (number, self.weights[number as usize])).collect()
    }

    /// Scores a document; `None` when there is none at this index.
    pub fn score(&self, query: &WeightedTerms, index: usize) -> Option<f64> {
        let document = self.documents.get(index)?;
        let length = SATURATION * (1.0 - LENGTH + LENGTH * document.length as f64 / self.average_length);
        let score = |(number, weight): &(u32, f64)| {
            let at = document.words.binary_search_by(|(known, _)| known.cmp(number)).ok()?;
            let count = f64::from(document.words[at].1);
            Some(weight * (count * (SATURATION + 1.0) / (count + length)))
        };
        Some(query.iter().filter_map(score).fold(0.0, |sum, part| sum + part))
    }
}

fn weights(counts: &[usize], documents: usize) -> Vec<f64> {
    let weight = |count: &usize| libm::log((documents - count) as f64 + 0.5) - libm::log(*count as f64 + 0.5);
    let mut weights: Vec<f64> = counts.iter().map(weight).collect();
    let floor = FLOOR * (weights.iter().fold(0.0, |sum, weight| sum + weight) / weights.len().max(1) as f64);
    for weight in weights.iter_mut().filter(|weight| **weight < 0.0) {
        *weight = floor;
    }
    weights
}
