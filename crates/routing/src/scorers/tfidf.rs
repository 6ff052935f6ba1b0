//! TF-IDF, in which a word counts once per document.

use crate::graph::words::Vocabulary;
use contextweaver_base::order::sort;
use contextweaver_text::tokenize::token_set;

/// Documents with the weights of their words.
#[derive(Debug, Clone, Default)]
pub struct TfIdf {
    vocabulary: Vocabulary,
    weights: Vec<f64>,
    /// The numbers of the words of each document, sorted.
    documents: Vec<Vec<u32>>,
}

/// The known words of a query with their weights, in the order of the words.
pub type WeightedTerms = Vec<(u32, f64)>;

impl TfIdf {
    /// Weighs the words of a corpus.
    pub fn fit<T: AsRef<str>>(corpus: &[T]) -> Self {
        let mut fitted = Self::default();
        let mut counts = Vec::new();
        for text in corpus {
            let words = token_set(text.as_ref());
            let mut numbers: Vec<u32> = words.words().iter().map(|word| fitted.vocabulary.number(word)).collect();
            counts.resize(fitted.vocabulary.len(), 0_usize);
            for number in &numbers {
                counts[*number as usize] += 1;
            }
            sort(&mut numbers);
            fitted.documents.push(numbers);
        }
        let total = (1 + corpus.len()) as f64;
        fitted.weights = counts.iter().map(|count| libm::log(total / (1 + count) as f64) + 1.0).collect();
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

    /// Looks the words of a query up.
    pub fn prepare(&self, query: &str) -> WeightedTerms {
        let words = token_set(query);
        let known = words.words().iter().filter_map(|word| self.vocabulary.find(word));
        known.map(|number| (number, self.weights[number as usize])).collect()
    }

    /// Scores a document; `None` when there is none at this index.
    pub fn score(&self, query: &WeightedTerms, index: usize) -> Option<f64> {
        let words = self.documents.get(index)?;
        let frequency = 1.0 / words.len() as f64;
        let found = query.iter().filter(|(number, _)| words.binary_search(number).is_ok());
        // A sum of nothing is minus zero in the standard library.
        Some(found.fold(0.0, |sum, (_, weight)| sum + frequency * weight))
    }

    /// Returns the words with their weights, sorted.
    pub fn weights(&self) -> Vec<(&str, f64)> {
        let words = self.vocabulary.sorted();
        words.into_iter().map(|(word, number)| (word, self.weights[number as usize])).collect()
    }
}
