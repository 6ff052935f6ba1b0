//! Finding decisions by words and by meaning.
//!
//! Words are indexed with every change. Vectors are made when a search first needs them: here, or by the host, which is
//! asked for those of the changed decisions and of the query before the search runs.

mod filters;
mod fusion;
pub mod hash_embedding;
mod keywords;
mod options;
mod query;
mod side_vectors;
mod texts;
mod vectors;

pub use filters::DecisionFilters;
pub use fusion::{FusedScore, ScoreFusion, fuse, normalised};
pub use keywords::{Bm25Weighting, KeywordIndex};
pub use options::{RetrievalMode, SearchOptions};
pub use query::{DecisionHit, DecisionQuery, SearchResults};
pub use query::{LONG_TITLE, SHORT_TITLE, summary};
pub use texts::{BridgeSide, embedding_text, keyword_text};
pub use vectors::cosine_distance;
pub(super) use vectors::distance;

use self::filters::FilterKeys;
use self::side_vectors::SideVectors;
use crate::host::HostAnswers;
use crate::record::{Decision, DecisionTable};
use contextweaver_base::order::SortedMap;
use contextweaver_text::numbered::Terms;

/// Keywords, vectors and filter keys of all decisions of a store, by slot.
#[derive(Debug, Default)]
pub struct SearchIndex {
    slots: SortedMap<String, u32>,
    /// Ids by slot, empty for a free one.
    ids: Vec<String>,
    free: Vec<u32>,
    keywords: KeywordIndex,
    facts: Vec<FilterKeys>,
    names: Terms,
    /// In the order of [`BridgeSide::ALL`].
    side_vectors: [SideVectors; 3],
    /// Texts of queries with the vectors the host made of them, the oldest first.
    queries: Vec<(String, Vec<f32>)>,
}

impl SearchIndex {
    /// Puts a decision in, in place of the one with its id.
    pub fn put(&mut self, decision: &Decision) {
        let slot = self.slots.get(decision.id.as_str()).copied();
        let slot = slot.unwrap_or_else(|| self.new_slot(&decision.id));
        self.keywords.set(slot, &keyword_text(decision));
        self.facts[slot as usize] = FilterKeys::of(decision, &mut self.names);
        for side_vectors in &mut self.side_vectors {
            side_vectors.touch(slot);
        }
    }

    fn new_slot(&mut self, id: &str) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ids.push(String::new());
            self.facts.push(FilterKeys::default());
            self.ids.len() as u32 - 1
        });
        id.clone_into(&mut self.ids[slot as usize]);
        self.slots.insert(id.to_owned(), slot);
        slot
    }

    /// Removes a decision; its slot is used again.
    pub fn remove(&mut self, id: &str) {
        let Some(slot) = self.slots.remove(id) else { return };
        self.keywords.remove(slot);
        for side_vectors in &mut self.side_vectors {
            side_vectors.remove(slot);
        }
        self.facts[slot as usize] = FilterKeys::default();
        self.ids[slot as usize].clear();
        self.free.push(slot);
    }

    /// Returns the number of decisions.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Tells whether no decision is indexed.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Makes the vectors of whole decisions up to date, as far as the answers hold those that the host makes.
    pub(super) fn prepare(&mut self, records: &DecisionTable, host: Option<&HostAnswers>) {
        self.update_vectors(BridgeSide::Both, records, host);
    }

    /// Returns the slot of a decision.
    pub(super) fn slot(&self, id: &str) -> Option<u32> {
        self.slots.get(id).copied()
    }

    /// Returns the vector of a slot, if it is made.
    pub(super) fn vector(&self, slot: u32) -> Option<Vec<f32>> {
        self.side_vectors[0].made(slot)
    }

    /// Returns the slots of wanted decisions that share the most rare words with that of a slot.
    pub(super) fn kin(&self, slot: u32, most: usize, wanted: &dyn Fn(u32) -> bool) -> Vec<u32> {
        self.keywords.kin(slot, most, wanted)
    }

    /// Returns the vectors that stand for whole decisions and were made after the first `seen`, by id; each has length one.
    pub fn vectors_since(&self, seen: u64) -> impl Iterator<Item = (&str, Vec<f32>)> {
        let sides = &self.side_vectors[0];
        let made = move |slot| if sides.number(slot) > seen { sides.made(slot) } else { None };
        self.slots.iter().filter_map(move |(id, slot)| Some((id.as_str(), made(*slot)?)))
    }

    /// Returns how many vectors of whole decisions were made, and how many numbers each has.
    pub fn vectors_made(&self) -> (u64, usize) {
        (self.side_vectors[0].made_count(), self.side_vectors[0].vectors().dimensions())
    }

    /// Takes the vector of a decision that the store has from a snapshot of the same model; tells whether its length
    /// is that of the others.
    pub fn take_vector(&mut self, decision: &Decision, vector: &[f32]) -> bool {
        let Some(slot) = self.slots.get(decision.id.as_str()) else { return false };
        self.side_vectors[0].set(*slot, &embedding_text(decision, BridgeSide::Both), vector)
    }
}
