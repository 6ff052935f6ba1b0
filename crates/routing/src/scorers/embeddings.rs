//! Hashing embeddings: words and pieces of words, each hashed to a place and a sign.

use blake2::Blake2bVarCore;
use blake2::digest::Output;
use blake2::digest::core_api::{Buffer, UpdateCore, VariableOutputCore};

use super::tfidf::{TfIdf, WeightedTerms};
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::tokenize::token_set;

/// Bytes of a feature's hash: eight for the place, one for the sign.
const HASH_BYTES: usize = 9;
/// Weight of the embedding against TF-IDF.
pub const EMBEDDING_WEIGHT: f64 = 0.7;

/// The places of a text's vector that are not zero, in order.
pub type SparseVector = Vec<(u32, f64)>;

/// Turns texts into vectors without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingEmbedding {
    places: u32,
    shortest: usize,
    longest: usize,
    seed: u64,
}

impl Default for HashingEmbedding {
    fn default() -> Self {
        Self { places: 1024, shortest: 3, longest: 5, seed: 0 }
    }
}

impl HashingEmbedding {
    /// Makes a hashing of so many places, over pieces of `shortest` to `longest` characters; a shortest of zero means
    /// no pieces.
    ///
    /// # Errors
    ///
    /// Fails with `OUT_OF_RANGE`.
    pub fn new(places: u32, shortest: usize, longest: usize, seed: u64) -> Result<Self> {
        if places == 0 {
            return Err(Error::new(ErrorCode::OutOfRange, "a vector needs at least one place").at("/n_features"));
        }
        if shortest > longest {
            let message = "the shortest piece is longer than the longest";
            return Err(Error::new(ErrorCode::OutOfRange, message).at("/ngram_range"));
        }
        Ok(Self { places, shortest, longest, seed })
    }

    /// Returns the place and the sign of a feature.
    pub fn hash(&self, feature: &str) -> (u32, f64) {
        let mut core = Blake2bVarCore::new_with_params(&self.seed.to_le_bytes(), &[], 0, HASH_BYTES);
        let mut buffer = Buffer::<Blake2bVarCore>::default();
        buffer.digest_blocks(feature.as_bytes(), |blocks| core.update_blocks(blocks));
        let mut digest = Output::<Blake2bVarCore>::default();
        core.finalize_variable_core(&mut buffer, &mut digest);
        let number = digest[..8].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let sign = if digest[8] & 1 == 0 { 1.0 } else { -1.0 };
        ((number % u64::from(self.places)) as u32, sign)
    }

    /// Turns a text into a vector of length one, or an empty one.
    pub fn embed(&self, text: &str) -> SparseVector {
        let words = token_set(text);
        let mut features: SparseVector = words.words().iter().map(|word| self.hash(word)).collect();
        let lower = text.to_lowercase();
        let mut ends: Vec<usize> = lower.char_indices().map(|(at, _)| at).collect();
        ends.push(lower.len());
        if self.shortest > 0 {
            for size in self.shortest..=self.longest.min(ends.len()) {
                features.extend(ends.windows(size + 1).map(|ends| self.hash(&lower[ends[0]..ends[size]])));
            }
        }
        sort_by(&mut features, |a, b| a.0.cmp(&b.0));
        let mut vector = SparseVector::new();
        for (place, sign) in features {
            match vector.last_mut() {
                Some((last, sum)) if *last == place => *sum += sign,
                _ => vector.push((place, sign)),
            }
        }
        vector.retain(|(_, value)| *value != 0.0);
        let length = vector.iter().fold(0.0, |sum, (_, value)| sum + value * value).sqrt();
        for (_, value) in &mut vector {
            *value /= length;
        }
        vector
    }
}

/// Returns the dot product of two vectors.
pub fn similarity(a: &SparseVector, b: &SparseVector) -> f64 {
    let (mut left, mut right, mut sum) = (0, 0, 0.0);
    while left < a.len() && right < b.len() {
        let (one, other) = (a[left], b[right]);
        if one.0 == other.0 {
            sum += one.1 * other.1;
        }
        left += usize::from(one.0 <= other.0);
        right += usize::from(other.0 <= one.0);
    }
    sum
}

/// Documents scored by embedding and by TF-IDF together.
#[derive(Debug, Clone)]
pub struct HybridScorer {
    hashing: HashingEmbedding,
    weight: f64,
    vectors: Vec<SparseVector>,
    words: TfIdf,
}

impl HybridScorer {
    /// Reads a corpus.
    ///
    /// # Errors
    ///
    /// Fails with `OUT_OF_RANGE` when the weight of the embedding is not from 0 to 1.
    pub fn fit<T: AsRef<str>>(corpus: &[T], hashing: HashingEmbedding, weight: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&weight) {
            return Err(Error::new(ErrorCode::OutOfRange, "the weight must be from 0 to 1").at("/embedding_weight"));
        }
        let vectors = corpus.iter().map(|text| hashing.embed(text.as_ref())).collect();
        Ok(Self { hashing, weight, vectors, words: TfIdf::fit(corpus) })
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Tells whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Reads a query once, for many documents.
    pub fn prepare(&self, query: &str) -> (WeightedTerms, SparseVector) {
        (self.words.prepare(query), self.hashing.embed(query))
    }

    /// Scores a document; `None` when there is none at this index.
    pub fn score(&self, query: &(WeightedTerms, SparseVector), index: usize) -> Option<f64> {
        let words = self.words.score(&query.0, index)?;
        Some(self.weight * similarity(&query.1, &self.vectors[index]) + (1.0 - self.weight) * words)
    }
}
