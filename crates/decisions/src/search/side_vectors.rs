//! Vectors of one side of the decisions, and what they lack.

use super::hash_embedding::embed;
use super::texts::{BridgeSide, embedding_text};
use super::vectors::VectorTable;
use crate::host::HostAnswers;
use crate::record::DecisionTable;
use contextweaver_base::order::SortedMap;
use contextweaver_text::hash::of_text;

/// What is known of the vector of a slot.
#[derive(Debug, Clone, Copy, Default)]
struct VectorState {
    /// Hash of the text it was made of, to tell whether it must be made again.
    text: u64,
    is_made: bool,
    /// Whether the decision changed since.
    is_stale: bool,
    /// How many were made when it was.
    number: u64,
}

/// Vectors of one side of all decisions. Until a search asks for the side none is made.
#[derive(Debug, Clone, Default)]
pub(super) struct SideVectors {
    /// Returns the vectors that are made.
    vectors: VectorTable,
    states: Vec<VectorState>,
    stale: Vec<u32>,
    is_wanted: bool,
    /// How many were made so far, those in place of others too.
    made: u64,
}

impl SideVectors {
    /// Notes that the decision of a slot changed.
    pub fn touch(&mut self, slot: u32) {
        if self.is_wanted {
            self.note(slot);
        }
    }

    fn note(&mut self, slot: u32) {
        let state = self.state(slot);
        if !std::mem::replace(&mut state.is_stale, true) {
            self.stale.push(slot);
        }
    }

    fn state(&mut self, slot: u32) -> &mut VectorState {
        let slot = slot as usize;
        if self.states.len() <= slot {
            self.states.resize(slot + 1, VectorState::default());
        }
        &mut self.states[slot]
    }

    /// Forgets the vector of a slot.
    pub fn remove(&mut self, slot: u32) {
        self.vectors.remove(slot);
        if let Some(state) = self.states.get_mut(slot as usize) {
            // It may still be listed as stale, and be taken by another decision before the list is worked off.
            *state = VectorState { is_stale: state.is_stale, ..VectorState::default() };
        }
    }

    /// Takes the vector of a text; one of another length than the others is refused.
    pub fn set(&mut self, slot: u32, text: &str, vector: &[f32]) -> bool {
        if !self.vectors.fits(vector) {
            return false;
        }
        self.vectors.set(slot, vector);
        self.made += 1;
        let number = self.made;
        let state = self.state(slot);
        *state = VectorState { text: of_text(text), is_made: true, is_stale: state.is_stale, number };
        true
    }

    /// Returns the vector of a slot if it is the one of the decision as it is now, or as it was when it was last needed.
    pub fn made(&self, slot: u32) -> Option<Vec<f32>> {
        let state = self.states.get(slot as usize)?;
        if state.is_made && !state.is_stale { self.vectors.get(slot) } else { None }
    }

    /// Returns how many vectors there were when that of a slot was made, 0 where there is none.
    pub fn number(&self, slot: u32) -> u64 {
        self.states.get(slot as usize).map_or(0, |state| state.number)
    }

    /// Returns how many vectors were made.
    pub const fn made_count(&self) -> u64 {
        self.made
    }

    /// Returns the vectors.
    pub fn vectors(&self) -> &VectorTable {
        &self.vectors
    }

    /// Calls `each` for the text of every decision whose vector is to be made.
    pub fn lacking(&self, side: BridgeSide, ids: &SlotIds, records: &DecisionTable, each: &mut dyn FnMut(String)) {
        let mut ask = |slot: u32| {
            let Some(decision) = records.get(&ids.by_slot[slot as usize]) else { return };
            let text = embedding_text(decision, side);
            if !self.is_of(slot, &text) {
                each(text);
            }
        };
        if self.is_wanted {
            self.stale.iter().for_each(|slot| ask(*slot));
        } else {
            ids.by_id.values().for_each(|slot| ask(*slot));
        }
    }

    fn is_of(&self, slot: u32, text: &str) -> bool {
        self.states.get(slot as usize).is_some_and(|state| state.is_made && state.text == of_text(text))
    }

    /// Makes the vectors that are lacking, or takes them from the answers where the host makes them; returns how many
    /// are still lacking and how many of the host's had another length than the others.
    pub fn update_vectors(
        &mut self,
        side: BridgeSide,
        ids: &SlotIds,
        records: &DecisionTable,
        host: Option<&HostAnswers>,
    ) -> (usize, usize) {
        if !self.is_wanted {
            self.is_wanted = true;
            ids.by_id.values().for_each(|slot| self.note(*slot));
        }
        let mut mismatched = 0;
        for slot in std::mem::take(&mut self.stale) {
            self.state(slot).is_stale = false;
            let Some(decision) = records.get(&ids.by_slot[slot as usize]) else { continue };
            let text = embedding_text(decision, side);
            if self.is_of(slot, &text) {
                continue;
            }
            let made = match host {
                None => self.set(slot, &text, &embed(&text)),
                Some(answers) => answers.vector(&text).is_some_and(|vector| {
                    let fits = self.set(slot, &text, vector);
                    mismatched += usize::from(!fits);
                    fits
                }),
            };
            if !made {
                self.remove(slot);
                self.note(slot);
            }
        }
        (self.stale.len(), mismatched)
    }
}

/// The two directions between ids of decisions and slots of the index.
pub(super) struct SlotIds<'a> {
    /// Slots by id.
    pub by_id: &'a SortedMap<String, u32>,
    /// Ids by slot, empty for a free one.
    pub by_slot: &'a [String],
}
