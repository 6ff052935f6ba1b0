//! What a word counts for a tool: how often it is there, in which field of which length, and how rare it is (BM25F).

use super::fields::{FIELD_TABLE, FIELDS};
use super::postings::TermPosting;

/// How slowly more of a word levels off.
const K1: f64 = 1.6;
/// What having all that is looked for adds.
const COVERAGE: f64 = 0.3;

/// What one more term in each field counts: its weight, and a part of the length beside a constant to divide it by.
pub struct LengthNorms([(f64, f64, f64); FIELDS]);

impl LengthNorms {
    pub fn new(totals: &[(u64, u32); FIELDS]) -> Self {
        Self(std::array::from_fn(|field| {
            let ((_, weight, share), (sum, count)) = (FIELD_TABLE[field], totals[field]);
            // Where a field has no words in any tool, nothing is looked up.
            (weight, 1.0 - share, if sum == 0 { 0.0 } else { share * f64::from(count) / sum as f64 })
        }))
    }

    /// Returns what an entry adds to the weighted count of its term.
    pub fn count(&self, entry: TermPosting, lengths: &[u32; FIELDS]) -> f64 {
        let field = entry.field();
        let (weight, constant, slope) = self.0[field];
        weight * f64::from(entry.count()) / (constant + slope * f64::from(lengths[field]))
    }
}

/// How much a weighted count says, with more and more of it saying less and less.
pub fn saturate(count: f64) -> f64 {
    (K1 + 1.0) * count / (K1 + count)
}

/// How much a term says that `frequency` of `tools` tools have.
pub fn rarity(tools: usize, frequency: u32) -> f64 {
    let (tools, frequency) = (tools as f64, f64::from(frequency));
    libm::log(1.0 + (tools - frequency + 0.5) / (frequency + 0.5))
}

/// What covering a part of the query multiplies a score by.
pub fn coverage_factor(covered: f64, all: f64) -> f64 {
    1.0 + COVERAGE * covered / all
}
