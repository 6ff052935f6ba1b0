//! Past conversations.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Fields;
use crate::limits;
use crate::model::Episode;

/// Episodes in the order they came; as JSON, `{"episodes": [...]}`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EpisodicStore {
    episodes: Vec<Episode>,
}

impl EpisodicStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an episode; ids may repeat.
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

    /// Returns all episodes, oldest first.
    pub fn all(&self) -> &[Episode] {
        &self.episodes
    }

    /// Returns the newest episodes, newest first.
    pub fn latest(&self, count: usize) -> impl Iterator<Item = &Episode> {
        self.episodes.iter().rev().take(count)
    }

    /// Reads a snapshot.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut store = Self::new();
        for episode in fields.records("episodes", Episode::from_value)? {
            store.add(episode)?;
        }
        Ok(store)
    }
}
