//! A manager as one JSON value, and back. A restored manager builds the same bytes.

use serde_json::{Value, json};

use super::append::Manifest;
use super::manager::ContextManager;
use super::options::ManagerOptions;
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Fields, pointer};
use crate::model::{Phase, ResultEnvelope};
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};

/// Version of the snapshot format.
pub const SNAPSHOT_VERSION: u64 = 1;

impl ContextManager {
    /// Returns the snapshot. The four stores have the shapes of the Python library's `to_dict`.
    pub fn to_json(&self) -> Value {
        let envelopes: serde_json::Map<String, Value> = self
            .events
            .items()
            .iter()
            .filter_map(|item| self.envelopes.get(&item.id).map(|envelope| (item.id.clone(), json!(envelope))))
            .collect();
        let append: serde_json::Map<String, Value> = Phase::ALL
            .iter()
            .filter_map(|phase| Some((phase.as_str().to_owned(), self.manifests[*phase as usize].as_ref()?.to_json())))
            .collect();
        json!({
            "schema_version": SNAPSHOT_VERSION,
            "event_log": self.events.to_json(),
            "artifact_store": self.artifacts.to_json(),
            "episodic_store": self.episodes.to_json(),
            "fact_store": self.facts.to_json(),
            "fact_sequence": self.fact_sequence,
            "envelopes": envelopes,
            "append": append,
        })
    }

    /// Restores a manager. Options are not part of a snapshot: they hold functions.
    pub fn from_json(snapshot: Value, options: ManagerOptions) -> Result<Self> {
        let mut fields = Fields::open(snapshot, "")?;
        let version = fields.uint_or("schema_version", SNAPSHOT_VERSION, u64::MAX)?;
        if version != SNAPSHOT_VERSION {
            return Err(Error::new(ErrorCode::SnapshotVersion, format!("snapshot version {version} is not known"))
                .at("/schema_version")
                .hint(format!("this release reads version {SNAPSHOT_VERSION}")));
        }
        let mut manager = Self::new(options);
        if let Some(value) = fields.take("artifact_store") {
            manager.artifacts = ArtifactStore::from_value(value, "/artifact_store")?;
            manager.artifacts.set_limits(manager.options.limits.artifact_bytes, manager.options.limits.store_bytes);
        }
        if let Some(value) = fields.take("episodic_store") {
            manager.episodes = EpisodicStore::from_value(value, "/episodic_store")?;
        }
        if let Some(value) = fields.take("fact_store") {
            manager.facts = FactStore::from_value(value, "/fact_store")?;
        }
        manager.fact_sequence = fields.opt_uint("fact_sequence", u64::MAX - 1)?;
        if let Some(value) = fields.take("event_log") {
            let log = EventLog::from_value(value, "/event_log")?;
            manager.ingest_all(log.into_items())?;
        }
        for (id, envelope) in fields.object("envelopes")? {
            let at = pointer("/envelopes", &id);
            manager.envelopes.insert(id, ResultEnvelope::from_value(envelope, &at)?);
        }
        for (phase, manifest) in fields.object("append")? {
            let at = pointer("/append", &phase);
            let phase = Phase::parse(&phase).map_err(|error| error.at(&at))?;
            manager.manifests[phase as usize] = Some(Manifest::from_value(manifest, &at, manager.events.len())?);
        }
        Ok(manager)
    }
}
