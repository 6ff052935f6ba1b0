//! Remembered facts.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Fields;
use crate::limits;
use crate::model::Fact;
use crate::text::unicode::quote;

/// Facts by id; as JSON, `{"facts": [...]}` sorted by id.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FactStore {
    #[serde(serialize_with = "as_list")]
    facts: BTreeMap<String, Fact>,
}

impl FactStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a fact under its id, replacing the one before.
    pub fn put(&mut self, fact: Fact) -> Result<()> {
        if self.facts.len() >= limits::MAX_MEMORY_ENTRIES && !self.facts.contains_key(&fact.fact_id) {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the store has {} facts, its limit", limits::MAX_MEMORY_ENTRIES),
            ));
        }
        self.facts.insert(fact.fact_id.clone(), fact);
        Ok(())
    }

    /// Returns the fact with this id.
    pub fn get(&self, id: &str) -> Result<&Fact> {
        self.facts.get(id).ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no fact with id {}", quote(id))))
    }

    /// Tells whether the id is taken.
    pub fn contains(&self, id: &str) -> bool {
        self.facts.contains_key(id)
    }

    /// Returns all facts, sorted by id.
    pub fn all(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values()
    }

    /// Returns the number of facts.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Tells whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Returns one more than the largest number at the end of an id, 0 when there is none: where a sequence goes on.
    pub fn next_sequence(&self) -> u64 {
        self.facts
            .keys()
            .filter_map(|id| id.rsplit(':').next().and_then(|tail| tail.parse::<u64>().ok()))
            .max()
            .map_or(0, |highest| highest.saturating_add(1))
    }

    /// Reads a snapshot; of repeated ids the last one stays.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut store = Self::new();
        for fact in fields.records("facts", Fact::from_value)? {
            store.put(fact)?;
        }
        Ok(store)
    }
}

fn as_list<S: Serializer>(facts: &BTreeMap<String, Fact>, s: S) -> std::result::Result<S::Ok, S::Error> {
    s.collect_seq(facts.values())
}
