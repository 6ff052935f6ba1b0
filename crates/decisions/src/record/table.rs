//! The records by id and by time.

use std::cmp::Ordering;

use super::Decision;
use contextweaver_base::order::SortedMap;

/// Decisions by id, and in the order of their creation.
#[derive(Debug, Default)]
pub struct DecisionTable {
    by_time: SortedMap<RecencyKey, Box<Decision>>,
    /// When each was created, to find its place.
    created: SortedMap<String, String>,
}

/// Sorts by creation, the latest first, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecencyKey {
    created: String,
    id: String,
}

impl Ord for RecencyKey {
    fn cmp(&self, other: &Self) -> Ordering {
        other.created.cmp(&self.created).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for RecencyKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl DecisionTable {
    /// Returns the number of decisions.
    pub fn len(&self) -> usize {
        self.by_time.len()
    }

    /// Tells whether no decision is stored.
    pub fn is_empty(&self) -> bool {
        self.by_time.is_empty()
    }

    fn place(&self, id: &str) -> Option<RecencyKey> {
        self.created.get(id).map(|created| RecencyKey { created: created.clone(), id: id.to_owned() })
    }

    /// Returns the decision with an id.
    pub fn get(&self, id: &str) -> Option<&Decision> {
        self.by_time.get(&self.place(id)?).map(AsRef::as_ref)
    }

    /// Puts a decision in, in place of the one with its id.
    pub fn put(&mut self, decision: Decision) {
        self.remove(&decision.id);
        let place = RecencyKey { created: decision.created_at.clone(), id: decision.id.clone() };
        self.created.insert(place.id.clone(), place.created.clone());
        self.by_time.insert(place, Box::new(decision));
    }

    /// Removes the decision with an id and returns it.
    pub fn remove(&mut self, id: &str) -> Option<Decision> {
        let place = self.place(id)?;
        self.created.remove(id);
        self.by_time.remove(&place).map(|decision| *decision)
    }

    /// Returns the decisions, the latest first, then by id.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> + Clone {
        self.by_time.values().map(AsRef::as_ref)
    }

    /// Returns the ids that start so, in order.
    pub fn ids_starting<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.created.keys().map(String::as_str).filter(move |id| id.starts_with(prefix))
    }
}
