//! Past conversations.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::unknown::{EPISODE, RecordWithRest, write_list};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Episode;
use contextweaver_model::json::{Fields, JsonMap};
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
        let place = self
            .place(id)
            .ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no episode with id {}", quote(id))))?;
        self.episodes.remove(place);
        if place < self.unknown_by_place.len() {
            self.unknown_by_place.remove(place);
        }
        Ok(())
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
            if !unknown.is_empty() {
                store.unknown_by_place.resize(store.episodes.len(), JsonMap::new());
                store.unknown_by_place.push(unknown);
            }
            store.add(episode)?;
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
