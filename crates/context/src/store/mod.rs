//! State: the event log, artifacts, episodes and facts. All in memory, all bounded, failures leave no trace.

mod artifacts;
mod episodic;
mod event_log;
mod facts;
mod recall;
mod removed;
mod unknown;

pub use artifacts::{ArtifactStore, Eviction, NewArtifact, StoreOptions, content_hash};
pub(crate) use artifacts::{EditedArtifact, ReadArtifact};
pub use episodic::EpisodicStore;
pub use event_log::EventLog;
pub use facts::{FactStore, sequence_of};
pub use unknown::Unknown;

use contextweaver_base::Result;
use contextweaver_model::json::Fields;
use serde::Serialize;

/// Four stores, each of which may be absent. An empty object is a store that is present and empty.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StoreBundle {
    /// The stored bytes, by handle.
    pub artifact_store: Option<ArtifactStore>,
    /// The items of the log.
    pub event_log: Option<EventLog>,
    /// Past conversations, by what happened in them.
    pub episodic_store: Option<EpisodicStore>,
    /// What is remembered, by key.
    pub fact_store: Option<FactStore>,
}

impl StoreBundle {
    /// Takes the stores from the fields of a snapshot; null counts as absent. With `verify`, sizes and hashes of
    /// artifacts are computed anew.
    ///
    /// # Errors
    /// Those of the `from_value` of each store, at its field.
    pub fn take(fields: &mut Fields, verify: bool) -> Result<Self> {
        let mut store = |key: &'static str| fields.take(key).map(|value| (value, fields.at(key)));
        let (artifacts, events) = (store("artifact_store"), store("event_log"));
        let (episodes, facts) = (store("episodic_store"), store("fact_store"));
        Ok(Self {
            artifact_store: artifacts.map(|(value, at)| ArtifactStore::read(value, &at, verify)).transpose()?,
            event_log: events.map(|(value, at)| EventLog::from_value(value, &at)).transpose()?,
            episodic_store: episodes.map(|(value, at)| EpisodicStore::from_value(value, &at)).transpose()?,
            fact_store: facts.map(|(value, at)| FactStore::from_value(value, &at)).transpose()?,
        })
    }
}
