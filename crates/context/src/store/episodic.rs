//! Past conversations.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::removed::Removed;
use super::unknown::{EPISODE, RecordWithRest, write_list};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Episode;
use contextweaver_model::json::{Fields, JsonMap, there_are};
use contextweaver_text::quote::quote;

/// Episodes in the order they came; as JSON, `{"episodes": [...]}`.
///
/// ```
/// use contextweaver_context::store::EpisodicStore;
/// use contextweaver_model::Episode;
/// use serde_json::json;
///
/// let mut store = EpisodicStore::new();
/// store.add(Episode::from_value(json!({ "episode_id": "e1", "summary": "Moved the database to Lisbon" }), "")?)?;
/// assert_eq!(store.search("where is the database?", 3)[0].episode_id, "e1");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EpisodicStore {
    episodes: Vec<Episode>,
    /// Unknown fields of the snapshot, and of its episodes by place, as ids may repeat; no list when there are none.
    unknown: JsonMap,
    unknown_by_place: Vec<JsonMap>,
    changes: u64,
    /// By place: the change that added the episode, which is what a journal calls it, as ids may repeat.
    added: Vec<u64>,
    removed: Removed,
}

impl EpisodicStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an episode; ids may repeat.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the store has as many as its limit.
    pub fn add(&mut self, episode: Episode) -> Result<()> {
        if self.episodes.len() >= limits::MAX_MEMORY_ENTRIES {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the store has {} episodes, its limit", limits::MAX_MEMORY_ENTRIES),
            ));
        }
        self.episodes.push(episode);
        self.changes += 1;
        self.added.push(self.changes);
        Ok(())
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.episodes.iter().position(|episode| episode.episode_id == id)
    }

    /// Returns the oldest episode with this id.
    pub fn get(&self, id: &str) -> Option<&Episode> {
        self.place(id).map(|place| &self.episodes[place])
    }

    /// Removes the oldest episode with this id.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn delete(&mut self, id: &str) -> Result<()> {
        let place = self.place(id).ok_or_else(|| {
            let ids = self.episodes.iter().map(|episode| episode.episode_id.as_str());
            let error = Error::new(ErrorCode::NotFound, format!("no episode with id {}", quote(id)));
            error.hint(there_are(id, "episode", ids))
        })?;
        self.take_out(place);
        Ok(())
    }

    fn take_out(&mut self, place: usize) {
        self.episodes.remove(place);
        let added = self.added.remove(place);
        self.changes += 1;
        self.removed.add(self.changes, &added.to_string());
        if place < self.unknown_by_place.len() {
            self.unknown_by_place.remove(place);
        }
    }

    /// Returns how often an episode was added or removed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes.
    pub(crate) fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.removed.begin(changes);
    }

    /// Returns what was removed, by the changes that had added it.
    pub(crate) fn removed(&self) -> &Removed {
        &self.removed
    }

    /// Returns the JSON of the episodes that were added after a change, each with its change; of all after none.
    pub(crate) fn records_since(&self, change: Option<u64>) -> impl Iterator<Item = (u64, impl Serialize)> {
        let unknown = |place: usize| self.unknown_by_place.get(place).filter(|fields| !fields.is_empty());
        let added = self
            .added
            .iter()
            .copied()
            .enumerate()
            .filter(move |(_, added)| change.is_none_or(|change| *added > change));
        added.map(move |(place, added)| (added, RecordWithRest(&self.episodes[place], unknown(place))))
    }

    /// Takes an episode as [`EpisodicStore::records_since`] wrote it.
    pub(crate) fn add_record(&mut self, added: u64, mut record: Value, at: &str) -> Result<()> {
        let unknown = EPISODE.split(&mut record);
        self.add(Episode::from_value(record, at)?)?;
        if let Some(last) = self.added.last_mut() {
            *last = added;
        }
        self.keep_unknown(unknown);
        Ok(())
    }

    /// Removes the episode that a change had added, if it is there.
    pub(crate) fn remove_added(&mut self, added: u64) {
        if let Some(place) = self.added.iter().position(|known| *known == added) {
            self.take_out(place);
        }
    }

    /// Keeps unknown fields of the newest episode.
    fn keep_unknown(&mut self, unknown: JsonMap) {
        if !unknown.is_empty() {
            self.unknown_by_place.resize(self.episodes.len() - 1, JsonMap::new());
            self.unknown_by_place.push(unknown);
        }
    }

    /// Returns all episodes, oldest first.
    pub fn all(&self) -> &[Episode] {
        &self.episodes
    }

    /// Returns the newest episodes, newest first.
    pub fn latest(&self, count: usize) -> impl Iterator<Item = &Episode> {
        self.episodes.iter().rev().take(count)
    }

    /// Reads a snapshot; unknown fields are kept.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `QUOTA_EXCEEDED` and the like, at paths below `path`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut store = Self::new();
        for (episode, unknown) in EPISODE.take(&mut fields, "episodes", Episode::from_value)? {
            store.add(episode)?;
            store.keep_unknown(unknown);
        }
        store.unknown = fields.rest();
        Ok(store)
    }
}

impl Serialize for EpisodicStore {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let unknown = |place: usize| self.unknown_by_place.get(place).filter(|fields| !fields.is_empty());
        let records = self.episodes.iter().enumerate().map(|(place, episode)| RecordWithRest(episode, unknown(place)));
        write_list(s, "episodes", &records.collect::<Vec<_>>(), &self.unknown)
    }
}
