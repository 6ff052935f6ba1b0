//! A manager as one JSON value, and back. A restored manager builds the same bytes.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::calibration::Calibrations;
use crate::journal::counts::JournalCounts;
use crate::manager::ContextManager;
use crate::options::ManagerOptions;
use crate::rules::book::RuleBook;
use crate::running::RunningPrompt;
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore, StoreBundle};
use crate::sync::record::KnownMessages;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, missing_field, pointer};
use contextweaver_model::{JsonMap, Phase, ResultEnvelope};

/// Version of the snapshot format.
pub const SNAPSHOT_VERSION: u64 = 1;

/// What is said of something else that is restored.
const SHAPE: &str = "a snapshot is what toJSON returned, {schema_version, event_log: {items}, artifact_store, \
                     episodic_store, fact_store, ...}; schema_version and event_log.items must be there";

/// The state of a manager. The four stores have the shapes of the Python library's `to_dict`.
#[derive(Debug, Serialize)]
pub struct Snapshot<'a> {
    schema_version: u64,
    event_log: &'a EventLog,
    artifact_store: &'a ArtifactStore,
    episodic_store: &'a EpisodicStore,
    fact_store: &'a FactStore,
    fact_sequence: Option<u64>,
    #[serde(serialize_with = "pairs")]
    envelopes: Vec<(&'a str, &'a ResultEnvelope)>,
    #[serde(serialize_with = "pairs")]
    running: Vec<(Phase, &'a RunningPrompt)>,
    messages: &'a KnownMessages,
    calibration: &'a Calibrations,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'a RuleBook>,
    #[serde(flatten)]
    journal: Option<JournalField>,
    #[serde(flatten)]
    unknown: &'a JsonMap,
}

/// How far the journal of the manager is, where one is kept.
#[derive(Debug, Serialize)]
struct JournalField {
    journal: JournalCounts,
}

fn pairs<K: Serialize, V: Serialize, S: Serializer>(pairs: &[(K, V)], s: S) -> std::result::Result<S::Ok, S::Error> {
    s.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

impl ContextManager {
    /// Returns the state of the manager for storage; its JSON is what [`ContextManager::from_json`] reads. Options are not
    /// part of it.
    ///
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "hello"))?;
    /// let stored = serde_json::to_value(manager.snapshot()).unwrap();
    /// let mut restored = ContextManager::from_json(stored, ManagerOptions::default())?;
    /// let request = BuildRequest::new(Phase::Answer, "");
    /// assert_eq!(restored.build(&request)?.done(), manager.build(&request)?.done());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot<'_> {
        let items = self.events.items().iter();
        Snapshot {
            schema_version: SNAPSHOT_VERSION,
            event_log: &self.events,
            artifact_store: &self.artifacts,
            episodic_store: &self.episodes,
            fact_store: &self.facts,
            fact_sequence: self.fact_sequence,
            envelopes: items.filter_map(|item| Some((item.id.as_str(), self.envelopes.get(&item.id)?))).collect(),
            running: self.running.all().collect(),
            messages: &self.known_messages,
            calibration: &self.calibrations,
            rules: Some(&self.rule_book).filter(|book| !book.records().is_empty()),
            journal: self.journal.is_kept.then(|| JournalField { journal: self.journal_counts() }),
            unknown: &self.unknown,
        }
    }

    /// Restores a manager from its snapshot. Options are not part of a snapshot: they hold functions. Fields that this
    /// release does not know are kept, and written back by [`ContextManager::snapshot`].
    ///
    /// # Errors
    /// `SNAPSHOT_VERSION` at `/schema_version` for a version that is not known; `MISSING_FIELD` for what is no snapshot;
    /// `INVALID_INPUT`, `DUPLICATE_ID`, `QUOTA_EXCEEDED` and the like for records that cannot be read, at their paths.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use serde_json::json;
    ///
    /// let error = ContextManager::from_json(json!({ "schema_version": 99 }), ManagerOptions::default()).unwrap_err();
    /// assert_eq!(error.code().as_str(), "SNAPSHOT_VERSION");
    /// ```
    pub fn from_json(snapshot: Value, options: ManagerOptions) -> Result<Self> {
        Self::new(options).restored(snapshot)
    }

    /// Fills an empty manager with what a snapshot holds, as [`ContextManager::from_json`] does.
    ///
    /// # Errors
    /// Those of [`ContextManager::from_json`]; `INVALID_INPUT` where the manager holds something.
    pub fn restored(mut self, snapshot: Value) -> Result<Self> {
        if !(self.events.is_empty() && self.artifacts.is_empty()) {
            return Err(Error::new(ErrorCode::InvalidInput, "a snapshot is restored into an empty manager"));
        }
        let mut fields = Fields::open(snapshot, "")?;
        let version = fields.opt_uint("schema_version", u64::MAX)?;
        if let Some(version) = version.filter(|version| *version != SNAPSHOT_VERSION) {
            return Err(Error::new(ErrorCode::SnapshotVersion, format!("snapshot version {version} is not known"))
                .at("/schema_version")
                .hint(format!("this release reads version {SNAPSHOT_VERSION}")));
        }
        check_shape(&fields, version.is_some()).map_err(|error| error.hint(SHAPE))?;
        let stores = StoreBundle::take(&mut fields, true)?;
        if let Some(artifacts) = stores.artifact_store {
            self.artifacts = artifacts;
            self.artifacts.set_options(self.options.limits.store);
        }
        self.episodes = stores.episodic_store.unwrap_or_default();
        self.facts = stores.fact_store.unwrap_or_default();
        self.fact_sequence = fields.opt_uint("fact_sequence", limits::MAX_SEQUENCE)?;
        self.indexed_changes = Some(self.artifacts.changes());
        if let Some(log) = stores.event_log {
            let (items, unknown) = log.into_parts();
            self.append(items, false)?;
            self.events.keep_unknown(unknown);
        }
        for (id, envelope) in fields.object("envelopes")? {
            let at = pointer("/envelopes", &id);
            self.envelopes.insert(id, ResultEnvelope::from_value(envelope, &at)?);
        }
        for (phase, running) in fields.object("running")? {
            let at = pointer("/running", &phase);
            let phase = Phase::parse(&phase).map_err(|error| error.at(&at))?;
            self.running.set(phase, Some(RunningPrompt::from_value(running, &at, self.events.len())?));
        }
        self.known_messages = KnownMessages::from_fields(&mut fields)?;
        self.calibrations = Calibrations::from_fields(&mut fields)?;
        self.rule_book = RuleBook::from_fields(&mut fields)?;
        if fields.has("journal") {
            let counts = JournalCounts::from_list(&fields.list("journal")?);
            self.begin_journal(counts);
            self.journal.is_kept = true;
        }
        self.unknown = fields.rest();
        Ok(self)
    }
}

/// Refuses what is no snapshot: restored as an empty manager, it would be saved over the session that it stands for. The
/// Python library writes no version, but always its four stores, each of which may be null or empty.
fn check_shape(fields: &Fields, has_version: bool) -> Result<()> {
    if !has_version {
        let stores = ["artifact_store", "event_log", "episodic_store", "fact_store"];
        let is_python = stores.iter().all(|store| fields.has(store));
        return if is_python { Ok(()) } else { Err(missing_field(fields.path(), "schema_version")) };
    }
    let log = fields.required("event_log")?;
    // What is no object at all is told where it is read.
    if log.as_object().is_some_and(|log| log.get("items").is_none_or(Value::is_null)) {
        return Err(missing_field(&fields.at("event_log"), "items"));
    }
    Ok(())
}
