//! One face for the scorers, so that a navigator need not know which it has.

use super::bm25::Bm25;
use super::embeddings::{EMBEDDING_WEIGHT, HashingEmbedding, HybridScorer, SparseVector};
use super::fuzzy::{self, FuzzyWords};
use super::tfidf::{TfIdf, WeightedTerms};
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// How the beam navigator scores a text for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorerKind {
    /// Distinct terms, weighted by their inverse document frequency.
    TfIdf,
    /// BM25: with repeats and lengths of texts.
    Bm25,
    /// Similarity of characters, for queries with typing errors.
    Fuzzy,
    /// Embeddings and words, as [`HybridScorer`] does without options.
    Hybrid,
}

impl ScorerKind {
    /// Returns the name that traces give it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TfIdf => "tfidf",
            Self::Bm25 => "bm25",
            Self::Fuzzy => "fuzzy",
            Self::Hybrid => "embedding+tfidf",
        }
    }

    /// Finds a method by the name that contextweaver 0.18 gives it.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "tfidf" => Ok(Self::TfIdf),
            "bm25" => Ok(Self::Bm25),
            "fuzzy" => Ok(Self::Fuzzy),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(Error::new(ErrorCode::InvalidInput, format!("no scorer is called {}", quote(other)))
                .hint("one of: tfidf bm25 fuzzy hybrid")),
        }
    }
}

/// A corpus that can be scored for a query.
#[derive(Debug, Clone)]
pub enum Scorer {
    /// A corpus for TF-IDF.
    TfIdf(TfIdf),
    /// A corpus for BM25.
    Bm25(Bm25),
    /// By the characters they have in common with the query.
    Fuzzy(Vec<FuzzyWords>),
    /// A corpus for TF-IDF and feature hashing together.
    Hybrid(HybridScorer),
}

/// A query, analysed once for a whole corpus.
#[derive(Debug, Clone)]
pub enum PreparedQuery {
    /// Weighted terms that the corpus knows.
    Terms(WeightedTerms),
    /// All distinct words.
    Words(FuzzyWords),
    /// Weighted terms and the feature vector.
    Hybrid((WeightedTerms, SparseVector)),
}

impl Scorer {
    /// Analyses a corpus; the scores are by place in it.
    pub fn fit<T: AsRef<str>>(method: ScorerKind, corpus: &[T]) -> Self {
        let hybrid = || HybridScorer::fit(corpus, HashingEmbedding::default(), EMBEDDING_WEIGHT).ok().map(Self::Hybrid);
        match method {
            ScorerKind::Hybrid => hybrid().unwrap_or_else(|| Self::TfIdf(TfIdf::fit(corpus))),
            ScorerKind::TfIdf => Self::TfIdf(TfIdf::fit(corpus)),
            ScorerKind::Bm25 => Self::Bm25(Bm25::fit(corpus)),
            ScorerKind::Fuzzy => Self::Fuzzy(corpus.iter().map(|text| FuzzyWords::of(text.as_ref())).collect()),
        }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        match self {
            Self::TfIdf(fitted) => fitted.len(),
            Self::Bm25(fitted) => fitted.len(),
            Self::Fuzzy(documents) => documents.len(),
            Self::Hybrid(fitted) => fitted.len(),
        }
    }

    /// Tells whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a query once, for many documents.
    pub fn prepare(&self, query: &str) -> PreparedQuery {
        match self {
            Self::TfIdf(fitted) => PreparedQuery::Terms(fitted.prepare(query)),
            Self::Bm25(fitted) => PreparedQuery::Terms(fitted.prepare(query)),
            Self::Fuzzy(_) => PreparedQuery::Words(FuzzyWords::of(query)),
            Self::Hybrid(fitted) => PreparedQuery::Hybrid(fitted.prepare(query)),
        }
    }

    /// Scores a document for a query that this scorer prepared; `None` when there is none at this index.
    pub fn score(&self, query: &PreparedQuery, index: usize) -> Option<f64> {
        match (self, query) {
            (Self::TfIdf(fitted), PreparedQuery::Terms(terms)) => fitted.score(terms, index),
            (Self::Bm25(fitted), PreparedQuery::Terms(terms)) => fitted.score(terms, index),
            (Self::Fuzzy(documents), PreparedQuery::Words(words)) => {
                documents.get(index).map(|document| fuzzy::token_set_ratio(words, document))
            }
            (Self::Hybrid(fitted), PreparedQuery::Hybrid(query)) => fitted.score(query, index),
            _ => None,
        }
    }

    /// Scores one document; zero when there is none at this index.
    pub fn score_one(&self, query: &str, index: usize) -> f64 {
        self.score(&self.prepare(query), index).unwrap_or(0.0)
    }

    /// Returns the best documents with their scores, equal ones in their order.
    pub fn search(&self, query: &str, top_k: usize) -> Vec<(usize, f64)> {
        let query = self.prepare(query);
        let mut found: Vec<(usize, f64)> =
            (0..self.len()).map(|index| (index, self.score(&query, index).unwrap_or(0.0))).collect();
        sort_by(&mut found, |a, b| b.1.total_cmp(&a.1));
        found.truncate(top_k);
        found
    }
}
