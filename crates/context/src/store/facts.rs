//! Remembered facts.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::removed::Removed;
use super::unknown::{FACT, RecordWithRest, Unknown, write_list};
use contextweaver_base::limits;
use contextweaver_base::order::{SortedMap, sort_distinct};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Fact;
use contextweaver_model::json::{Fields, there_are};
use contextweaver_text::quote::quote;

/// Facts by id; as JSON, `{"facts": [...]}` sorted by id.
///
/// ```
/// use contextweaver_context::store::FactStore;
/// use contextweaver_model::Fact;
/// use serde_json::json;
///
/// let mut store = FactStore::new();
/// store.put(Fact::from_value(json!({ "fact_id": "fact:city:4", "key": "city", "value": "Lisbon" }), "")?)?;
/// assert_eq!(store.get_by_key("city").next().unwrap().value, "Lisbon");
/// assert_eq!(store.next_sequence(), 5);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FactStore {
    facts: SortedMap<String, Fact>,
    unknown: Unknown,
    changes: u64,
    /// By id: the change that stored the fact; none for those that were there when counting began.
    changed: SortedMap<String, u64>,
    removed: Removed,
}

/// Returns the whole number after the last colon of an id; one that JavaScript could not count on from is none.
pub fn sequence_of(id: &str) -> Option<u64> {
    id.rsplit(':').next().and_then(|tail| tail.parse::<u64>().ok()).filter(|number| *number < limits::MAX_SEQUENCE)
}

impl FactStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a fact under its id, replacing the one before.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the store has as many as its limit.
    pub fn put(&mut self, fact: Fact) -> Result<()> {
        if self.facts.len() >= limits::MAX_MEMORY_ENTRIES && !self.facts.contains_key(&fact.fact_id) {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the store has {} facts, its limit", limits::MAX_MEMORY_ENTRIES),
            ));
        }
        self.unknown.forget(&fact.fact_id);
        self.changes += 1;
        self.changed.insert(fact.fact_id.clone(), self.changes);
        self.facts.insert(fact.fact_id.clone(), fact);
        Ok(())
    }

    /// Returns the fact with this id.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn get(&self, id: &str) -> Result<&Fact> {
        self.facts.get(id).ok_or_else(|| self.missing(id))
    }

    /// Removes the fact with this id.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn delete(&mut self, id: &str) -> Result<()> {
        if self.facts.remove(id).is_none() {
            return Err(self.missing(id));
        }
        self.unknown.forget(id);
        self.changes += 1;
        self.changed.remove(id);
        self.removed.add(self.changes, id);
        Ok(())
    }

    /// Returns how often a fact was stored or removed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub(crate) fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.changed.clear();
        self.removed.begin(changes);
    }

    /// Returns what was removed.
    pub(crate) fn removed(&self) -> &Removed {
        &self.removed
    }

    /// Returns the JSON of the facts that were stored after a change; of all after none.
    pub(crate) fn records_since(&self, change: Option<u64>) -> impl Iterator<Item = impl Serialize> {
        let is_new = move |fact: &&Fact| {
            change.is_none_or(|change| self.changed.get(&fact.fact_id).is_some_and(|changed| *changed > change))
        };
        self.all().filter(is_new).map(|fact| RecordWithRest(fact, self.unknown.of(&fact.fact_id)))
    }

    /// Takes a fact as [`FactStore::records_since`] wrote it.
    pub(crate) fn put_record(&mut self, mut record: Value, at: &str) -> Result<()> {
        let unknown = FACT.split(&mut record);
        let fact = Fact::from_value(record, at)?;
        let id = fact.fact_id.clone();
        self.put(fact)?;
        self.unknown.keep(&id, unknown);
        Ok(())
    }

    /// Tells whether the id is taken.
    pub fn contains(&self, id: &str) -> bool {
        self.facts.contains_key(id)
    }

    /// Returns all facts, sorted by id.
    pub fn all(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values()
    }

    /// Returns the facts about a key, sorted by id.
    pub fn get_by_key(&self, key: &str) -> impl Iterator<Item = &Fact> {
        self.all().filter(move |fact| fact.key == key)
    }

    /// Returns the keys that start with a prefix, each once, sorted.
    pub fn list_keys(&self, prefix: &str) -> Vec<&str> {
        let keys = self.all().map(|fact| fact.key.as_str());
        let mut keys: Vec<&str> = keys.filter(|key| key.starts_with(prefix)).collect();
        sort_distinct(&mut keys);
        keys
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
        self.facts.keys().filter_map(|id| sequence_of(id)).max().map_or(0, |highest| highest + 1)
    }

    /// Reads a snapshot; of repeated ids the last one stays, unknown fields are kept.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `QUOTA_EXCEEDED` and the like, at paths below `path`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut store = Self::new();
        for (fact, unknown) in FACT.take(&mut fields, "facts", Fact::from_value)? {
            let id = fact.fact_id.clone();
            store.put(fact)?;
            store.unknown.keep(&id, unknown);
        }
        store.unknown.top = fields.rest();
        Ok(store)
    }
}

impl FactStore {
    fn missing(&self, id: &str) -> Error {
        let ids = self.facts.keys().map(String::as_str);
        Error::new(ErrorCode::NotFound, format!("no fact with id {}", quote(id))).hint(there_are(id, "fact", ids))
    }
}

impl Serialize for FactStore {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let records = self.all().map(|fact| RecordWithRest(fact, self.unknown.of(&fact.fact_id)));
        write_list(s, "facts", &records.collect::<Vec<_>>(), &self.unknown.top)
    }
}
