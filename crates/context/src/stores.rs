//! What a caller may do to the stores of a manager beside the log.

use crate::index::LogIndex;
use crate::manager::ContextManager;
use crate::store::{ArtifactStore, sequence_of};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ArtifactRef, Episode, Fact};
use contextweaver_text::quote::quote;

impl ContextManager {
    /// Returns the artifacts, to be deleted, pinned, or told the time.
    ///
    /// ```
    /// use contextweaver_context::store::{Eviction, StoreOptions};
    /// use contextweaver_context::{ContextManager, ManagerLimits, ManagerOptions};
    ///
    /// let store = StoreOptions { ttl_seconds: Some(60.0), ..StoreOptions::default() };
    /// let limits = ManagerLimits { store, ..ManagerLimits::default() };
    /// let mut manager = ContextManager::new(ManagerOptions { limits, ..ManagerOptions::default() });
    /// manager.put_artifact("report", b"text", "text/plain", "")?;
    /// manager.artifacts_mut().set_now(61.0);
    /// let error = manager.artifacts().get("report").unwrap_err();
    /// assert_eq!(error.code().as_str(), "ARTIFACT_EXPIRED");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn artifacts_mut(&mut self) -> &mut ArtifactStore {
        &mut self.artifacts
    }

    /// Stores bytes under a handle of the caller's choosing, replacing what was there.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the store has no room for them; it is unchanged then. `INVALID_INPUT` for a handle that names no
    /// file, in stores with `strict_handles`.
    pub fn put_artifact(&mut self, handle: &str, bytes: &[u8], media_type: &str, label: &str) -> Result<ArtifactRef> {
        let artifact_ref = self.artifacts.put(handle, bytes, media_type, label)?;
        let refers = |artifact: &ArtifactRef| artifact.handle == handle;
        if self.events.items().iter().filter_map(|item| item.artifact_ref.as_ref()).any(refers) {
            self.indexed_changes = None;
        }
        Ok(artifact_ref)
    }

    /// Puts bytes back that are not here any more, or not yet.
    ///
    /// # Errors
    /// Those of [`ArtifactStore::reload`].
    pub fn reload_artifact(&mut self, handle: &str, bytes: &[u8]) -> Result<()> {
        self.artifacts.reload(handle, bytes)?;
        self.indexed_changes = None;
        Ok(())
    }

    /// Makes the index agree with the stored bytes, as after a restore: what was deleted, replaced or evicted since must
    /// not be quoted, and what an item referred to before it was stored may.
    pub(super) fn refresh_index(&mut self) {
        let changes = Some(self.artifacts.changes());
        if self.indexed_changes == changes {
            return;
        }
        // Most results are small, and the index has nothing of their bytes that is not in their text.
        if self.indexed_changes.is_none() || self.quotes_what_is_gone() {
            self.index = LogIndex::new();
            self.index.extend(&self.events, &self.options, &self.artifacts, false);
        }
        self.indexed_changes = changes;
    }

    fn quotes_what_is_gone(&self) -> bool {
        let mut items = self.events.items().iter().enumerate();
        items.any(|(at, item)| {
            let artifact = item.artifact_ref.as_ref().filter(|_| self.index.entry(at).is_summarised());
            artifact.is_some_and(|artifact| !self.artifacts.exists(&artifact.handle))
        })
    }

    /// Adds an episode; ids may repeat.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the store has as many episodes as its limit.
    pub fn add_episode(&mut self, episode: Episode) -> Result<()> {
        self.episodes.add(episode)
    }

    /// Removes the oldest episode with this id.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn delete_episode(&mut self, id: &str) -> Result<()> {
        self.episodes.delete(id)
    }

    /// Returns the episodes that a query is about, best first.
    ///
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::Episode;
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// for (id, summary) in [("e1", "Refunded order 12446"), ("e2", "Changed the address")] {
    ///     manager.add_episode(Episode::from_value(json!({ "episode_id": id, "summary": summary }), "")?)?;
    /// }
    /// let found = manager.search_episodes("which order was refunded?", 5);
    /// assert_eq!(found.iter().map(|episode| episode.episode_id.as_str()).collect::<Vec<_>>(), ["e1"]);
    /// manager.delete_episode("e1")?;
    /// assert!(manager.search_episodes("order", 5).is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn search_episodes(&self, query: &str, top_k: u32) -> Vec<&Episode> {
        self.episodes.search(query, top_k as usize)
    }

    fn next_fact(&self) -> u64 {
        self.fact_sequence.unwrap_or_else(|| self.facts.next_sequence())
    }

    /// Adds a fact. Without an id it gets `fact:<key>:<n>`, `n` counting up over all keys. Returns the id.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/fact_id` when the id is taken; `QUOTA_EXCEEDED` when the store has as many facts as its limit.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_model::{Fact, Phase};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let fact = Fact::from_value(json!({ "fact_id": "", "key": "city", "value": "Lisbon" }), "")?;
    /// assert_eq!(manager.add_fact(None, fact)?, "fact:city:0");
    /// let pack = manager.build(&BuildRequest::new(Phase::Answer, "where?"))?.done().unwrap().pack;
    /// assert!(pack.prompt.contains("[FACTS]\n- city: Lisbon"));
    /// manager.delete_fact("fact:city:0")?;
    /// assert!(manager.facts().is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn add_fact(&mut self, id: Option<String>, mut fact: Fact) -> Result<String> {
        let next = self.next_fact();
        let made = id.is_none();
        fact.fact_id = id.unwrap_or_else(|| format!("fact:{}:{next}", fact.key));
        if self.facts.contains(&fact.fact_id) {
            return Err(Error::new(ErrorCode::DuplicateId, format!("a fact with id {} exists", quote(&fact.fact_id)))
                .at("/fact_id"));
        }
        let id = fact.fact_id.clone();
        self.put_fact(fact)?;
        if made {
            self.fact_sequence = Some(next + 1);
        }
        Ok(id)
    }

    /// Stores a fact under its id, replacing the one before.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the store has as many facts as its limit.
    pub fn put_fact(&mut self, fact: Fact) -> Result<()> {
        let number = sequence_of(&fact.fact_id);
        self.facts.put(fact)?;
        // The counter must not run into an id of the caller's.
        if let (Some(next), Some(number)) = (self.fact_sequence, number) {
            self.fact_sequence = Some(next.max(number + 1));
        }
        Ok(())
    }

    /// Removes the fact with this id; its number is not used again.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn delete_fact(&mut self, id: &str) -> Result<()> {
        let next = self.next_fact();
        self.facts.delete(id)?;
        self.fact_sequence = Some(next);
        Ok(())
    }
}
