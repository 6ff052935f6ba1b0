//! Taking a snapshot or records in. Every record comes in whole or not at all; what is wrong with one is reported.

use serde::Serialize;
use serde_json::Value;

use super::{FORMAT, VERSION, vector};
use crate::graph::DecisionEdge;
use crate::guardrails::GuardrailSet;
use crate::guardrails::breakers::CircuitBreakers;
use crate::record::Decision;
use crate::record::validate::check_size;
use crate::store::{ChangeNumbers, DecisionStore};
use crate::tracker::DeliberationTracker;
use crate::{timestamps, yaml};
use contextweaver_base::limits::MAX_SEQUENCE;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{Fields, JsonMap, as_string, parse, pointer, wrong_type};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// What becomes of the decisions that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImportMode {
    /// They stay beside those that are imported.
    #[default]
    Merge,
    /// They are removed.
    Replace,
}

/// What becomes of a record whose id is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImportConflict {
    /// The one that was updated last stays.
    #[default]
    Newer,
    /// The one in the store stays.
    Keep,
    /// The one in the store stays, and the other is reported.
    Error,
}

/// Options of [`DecisionStore::import`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// What becomes of the decisions that are there.
    pub mode: ImportMode,
    /// What becomes of a record whose id is taken.
    pub on_conflict: ImportConflict,
}

impl ImportOptions {
    /// Takes the options out of a call's: `mode` and `on_conflict`.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that is none of the two fields'.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let unknown = |wanted: &str, name: &str| {
            Error::new(ErrorCode::InvalidInput, format!("expected {wanted}, got {}", quote(name)))
        };
        let mode = fields.opt_string("mode")?;
        let mode = match mode.as_deref() {
            None | Some("merge") => ImportMode::Merge,
            Some("replace") => ImportMode::Replace,
            Some(other) => return Err(unknown("replace or merge", other).at(fields.at("mode"))),
        };
        let on_conflict = fields.opt_string("on_conflict")?;
        let on_conflict = match on_conflict.as_deref() {
            None | Some("newer") => ImportConflict::Newer,
            Some("keep") => ImportConflict::Keep,
            Some("error") => ImportConflict::Error,
            Some(other) => return Err(unknown("newer, keep or error", other).at(fields.at("on_conflict"))),
        };
        Ok(Self { mode, on_conflict })
    }
}

/// Outcome of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Number of records that were stored.
    pub imported: usize,
    /// Number of records that lost to the one in the store with their id.
    pub skipped: usize,
    /// Records and edges that were rejected.
    pub errors: Vec<RejectedRecord>,
    /// Parts of the snapshot that were not used, such as vectors of another model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A record or an edge that was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedRecord {
    /// JSON pointer into the input.
    pub path: String,
    /// The id of the record, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Code of the error.
    pub code: &'static str,
    /// Message of the error.
    pub message: String,
}

/// An import between its first and its last record.
pub(super) struct ImportRun<'a> {
    pub(super) store: &'a mut DecisionStore,
    pub(super) on_conflict: ImportConflict,
    report: ImportReport,
    /// Ids of the records stored so far, whose vectors may be taken too.
    taken: Vec<String>,
    /// By which changes records became what they are, where the store is new and goes on with these numbers.
    changed: Option<ChangeNumbers>,
}

/// Records or edges with their places; what cannot even be read is reported in its place.
pub(super) type ImportEntries = Vec<(String, Result<Value>)>;

/// What is said of an object that is neither a snapshot nor a record, for which a store must not be emptied.
const SHAPE: &str =
    "a snapshot is what export returned, {format, version, decisions, ...}; a record has at least an id and a decision";

/// A snapshot taken apart. A part that a bare list of records does not have is none, and leaves that of the store as it
/// is.
struct SnapshotParts {
    records: ImportEntries,
    edges: ImportEntries,
    guardrails: Option<Value>,
    breakers: Option<Vec<Value>>,
    tracker: Option<Value>,
    embeddings: Option<Value>,
    revision: u64,
    changed: Option<ChangeNumbers>,
    unknown: JsonMap,
}

/// Guardrails, breakers and tracker of a snapshot: read before anything changes, so that a bad one changes nothing.
struct StoreSettings {
    rules: Option<GuardrailSet>,
    breakers: Option<CircuitBreakers>,
    tracker: Option<DeliberationTracker>,
}

impl DecisionStore {
    /// Imports a snapshot, a list of records, one record, or the files of contextweaver 0.18 as
    /// `{files: {name: text}, edges}`. On failure nothing has changed. A record or an edge of a list that cannot be used
    /// is no failure, but reported; one object that is neither a snapshot nor a record is refused.
    ///
    /// A store in which nothing was changed goes on with the numbers of changes that a snapshot has, so that who followed
    /// the store that was exported can follow this one. Any other store gives new numbers.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for what is no snapshot, `SNAPSHOT_VERSION` for one of another version, and the errors of its
    /// guardrails, breakers and tracker.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, ImportOptions};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let records = json!([{ "id": "d1", "decision": "Use Postgres" }, { "id": "d 2", "decision": "Use Redis" }]);
    /// let report = store.import(records, ImportOptions::default())?;
    /// assert_eq!(report.imported, 1);
    /// assert_eq!(report.errors[0].path, "/1/id");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn import(&mut self, value: Value, options: ImportOptions) -> Result<ImportReport> {
        let parts = parts(value)?;
        let settings = self.read_settings(&parts, options.mode)?;
        let is_new = self.changes.revision() == 0;
        if is_new {
            self.changes.continue_from(parts.revision);
        }
        if options.mode == ImportMode::Replace {
            self.empty();
            self.unknown = parts.unknown;
        } else {
            for (key, value) in parts.unknown {
                self.unknown.entry(key).or_insert(value);
            }
        }
        settings.apply(self);
        let report = ImportReport::default();
        let changed = parts.changed.filter(|_| is_new);
        let mut import =
            ImportRun { store: self, on_conflict: options.on_conflict, report, taken: Vec::new(), changed };
        for (path, record) in parts.records {
            match record {
                Ok(record) => import.take_record(record, &path),
                Err(error) => import.refuse(None, &error, &path),
            }
        }
        import.take_edges(parts.edges);
        if let Some(embeddings) = parts.embeddings {
            import.take_embeddings(embeddings);
        }
        let (report, is_same) = (import.report, import.changed.is_some());
        self.changes.note_import(is_same);
        Ok(report)
    }

    /// Forgets decisions and edges; the numbers of changes go on.
    fn empty(&mut self) {
        let options = std::mem::take(&mut self.options);
        let old = std::mem::replace(self, Self::new(options));
        self.changes.continue_from(old.changes.revision());
        if !old.records.is_empty() {
            self.changes.note_replaced();
        }
        (self.rules, self.breakers, self.tracker) = (old.rules, old.breakers, old.tracker);
    }

    /// Reads what is around the decisions, together with what is there unless that goes.
    fn read_settings(&self, parts: &SnapshotParts, mode: ImportMode) -> Result<StoreSettings> {
        let merges = mode == ImportMode::Merge;
        let rules = parts.guardrails.as_ref().map(|list| {
            let mut rules = GuardrailSet::default();
            if merges {
                rules.add_all(&Value::Array(self.rules.sources()), "")?;
            }
            rules.add_all(list, "/guardrails").map(|()| rules)
        });
        let breakers = parts.breakers.as_ref().map(|list| {
            let (mut breakers, mut imported) = (CircuitBreakers::default(), CircuitBreakers::default());
            for own in self.breakers.snapshot().into_iter().filter(|_| merges) {
                breakers.add(own, "")?;
            }
            for (index, other) in list.iter().enumerate() {
                imported.add(other.clone(), &format!("/breakers/{index}"))?;
            }
            let nothing_happened = self.changes.revision() == 0;
            breakers.join(imported, nothing_happened, "/breakers").map(|()| breakers)
        });
        let tracker = parts.tracker.as_ref().map(|value| match value {
            Value::Null => Ok(DeliberationTracker::default()),
            value => DeliberationTracker::from_value(value.clone(), "/tracker"),
        });
        // What is being collected here is not mixed with what was collected elsewhere.
        let tracker = tracker.transpose()?.filter(|_| !merges || self.tracker.is_empty());
        Ok(StoreSettings { rules: rules.transpose()?, breakers: breakers.transpose()?, tracker })
    }

    /// Makes an empty store what it was when it was exported. Its changes are numbered on from there.
    ///
    /// # Errors
    ///
    /// Those of [`Self::import`].
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let decision = Decision { id: "d1".to_owned(), decision: "Use Postgres".to_owned(), ..Decision::default() };
    /// store.put(decision);
    /// let mut restored = DecisionStore::new(DecisionStoreOptions::default());
    /// restored.restore(store.export().to_value())?;
    /// assert_eq!(restored.get("d1").map(|decision| decision.decision.as_str()), Some("Use Postgres"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn restore(&mut self, snapshot: Value) -> Result<ImportReport> {
        let options = ImportOptions { mode: ImportMode::Replace, ..ImportOptions::default() };
        let imported = self.import(snapshot, options)?;
        self.take_events();
        Ok(imported)
    }
}

impl StoreSettings {
    fn apply(self, store: &mut DecisionStore) {
        if let Some(rules) = self.rules {
            store.rules = rules;
        }
        if let Some(breakers) = self.breakers {
            store.breakers = breakers;
        }
        if let Some(tracker) = self.tracker {
            store.tracker = tracker;
        }
    }
}

fn parts(value: Value) -> Result<SnapshotParts> {
    let mut parts = SnapshotParts {
        records: Vec::new(),
        edges: Vec::new(),
        guardrails: None,
        breakers: None,
        tracker: None,
        embeddings: None,
        revision: 0,
        changed: None,
        unknown: JsonMap::new(),
    };
    let mut fields = match value {
        Value::Array(records) => return Ok(SnapshotParts { records: numbered(records, ""), ..parts }),
        Value::Object(map) => Fields::open(Value::Object(map), "")?,
        other => return Err(wrong_type("", "a snapshot, a list of records or a record", &other)),
    };
    let is_snapshot = fields.has("format");
    if !is_snapshot && !fields.has("decisions") && !fields.has("files") {
        let record = Value::Object(fields.rest());
        Decision::from_value(record.clone(), "").map_err(|error| error.hint(SHAPE))?;
        return Ok(SnapshotParts { records: vec![(String::new(), Ok(record))], ..parts });
    }
    if is_snapshot {
        check_header(&mut fields)?;
        parts.revision = fields.uint_or("revision", 0, MAX_SEQUENCE)?;
        let path = fields.at("changed");
        parts.changed = fields.take("changed").map(|value| ChangeNumbers::from_value(value, &path)).transpose()?;
        fields.required("decisions").map_err(|error| error.hint(SHAPE))?;
    }
    parts.records = numbered(fields.list("decisions")?, "/decisions");
    parts.records.extend(fields.object("files")?.into_iter().map(|(name, text)| {
        let path = pointer("/files", &name);
        let record = file(&name, text, &path);
        (path, record)
    }));
    parts.edges = edge_entries(fields.take("edges").unwrap_or_default())?;
    parts.guardrails = fields.take("guardrails").or(is_snapshot.then(|| Value::Array(Vec::new())));
    let says_breakers = is_snapshot || fields.has("breakers");
    let breakers = fields.list("breakers")?;
    parts.breakers = says_breakers.then_some(breakers);
    parts.tracker = fields.take("tracker").or(is_snapshot.then_some(Value::Null));
    parts.embeddings = fields.take("embeddings");
    if is_snapshot {
        parts.unknown = fields.rest();
    }
    Ok(parts)
}

fn numbered(list: Vec<Value>, path: &str) -> ImportEntries {
    list.into_iter().enumerate().map(|(index, value)| (format!("{path}/{index}"), Ok(value))).collect()
}

/// Reads a file of contextweaver 0.18; the end of its name is the id of a record that has none.
fn file(name: &str, text: Value, path: &str) -> Result<Value> {
    let mut record = yaml::parse(&as_string(text, path)?)?;
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.strip_suffix(".yaml").or_else(|| stem.strip_suffix(".yml")).unwrap_or(stem);
    if let (Value::Object(record), Some((_, id))) = (&mut record, stem.rsplit_once("-decision-")) {
        record.entry("id").or_insert_with(|| id.into());
    }
    Ok(record)
}

fn check_header(fields: &mut Fields) -> Result<()> {
    let format = fields.string("format")?;
    if format != FORMAT {
        let message = format!("expected the format {FORMAT}, got {}", quote(&format));
        return Err(Error::new(ErrorCode::InvalidInput, message).at("/format"));
    }
    let version = fields.uint_or("version", VERSION, u64::MAX)?;
    if version != VERSION {
        let message = format!("the snapshot has version {version}, this release reads version {VERSION}");
        return Err(Error::new(ErrorCode::SnapshotVersion, message).at("/version"));
    }
    fields.take("since");
    Ok(())
}

impl ImportRun<'_> {
    pub(super) fn refuse(&mut self, id: Option<String>, error: &Error, path: &str) {
        let path = if error.path().is_empty() { path } else { error.path() }.to_owned();
        let refused = RejectedRecord { path, id, code: error.code().as_str(), message: error.message().to_owned() };
        self.report.errors.push(refused);
    }

    fn take_record(&mut self, record: Value, path: &str) {
        let id = record.get("id").and_then(Value::as_str).map(str::to_owned);
        match self.read(record, path) {
            Err(error) => self.refuse(id, &error, path),
            Ok(None) => self.report.skipped += 1,
            Ok(Some(decision)) => {
                self.report.imported += 1;
                self.taken.push(decision.id.clone());
                self.store.changes.touch_as(&decision.id, self.changed.as_ref());
                self.store.put(decision);
            }
        }
    }

    /// Reads a record; nothing when the one that is there stays.
    fn read(&self, record: Value, path: &str) -> Result<Option<Decision>> {
        let decision = Decision::from_value(record, path)?;
        let limits = self.store.options.limits;
        check_size(&decision, limits, path)?;
        let Some(known) = self.store.records.get(&decision.id) else {
            if self.store.records.len() >= limits.decisions {
                let message = format!("the store is full, its limit is {} decisions", limits.decisions);
                return Err(Error::new(ErrorCode::TooLarge, message).at(path));
            }
            return Ok(Some(decision));
        };
        match self.on_conflict {
            ImportConflict::Newer if changed(&decision) > changed(known) => Ok(Some(decision)),
            ImportConflict::Newer | ImportConflict::Keep => Ok(None),
            ImportConflict::Error => {
                let message = format!("the id {} is taken", quote(&decision.id));
                Err(Error::new(ErrorCode::DuplicateId, message).at(path))
            }
        }
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>, path: impl Into<String>) {
        self.report.warnings.push(Warning::new(code, message, path));
    }

    /// Takes the vectors of the records that came in, if they are of the model that the store uses.
    fn take_embeddings(&mut self, value: Value) {
        let Value::Object(map) = value else {
            return self.warn("embedding_mismatch", "the vectors are no object", "/embeddings");
        };
        if map.get("model").and_then(Value::as_str) != self.store.options.search.embedding_model.as_deref() {
            let message = "the vectors are of another model and are made again";
            return self.warn("embedding_mismatch", message, "/embeddings/model");
        }
        let mut wrong = 0;
        for id in &self.taken {
            let Some(text) = map.get("vectors").and_then(|vectors| vectors.get(id)).and_then(Value::as_str) else {
                continue;
            };
            let (Some(vector), Some(decision)) = (vector(text), self.store.records.get(id)) else {
                wrong += 1;
                continue;
            };
            wrong += usize::from(!self.store.index.take_vector(decision, &vector));
        }
        if wrong > 0 {
            let message = format!("{wrong} vectors cannot be used and are made again");
            self.warn("embedding_mismatch", message, "/embeddings/vectors");
        }
    }
}

/// Returns when a record changed last, in the form in which times compare.
fn changed(decision: &Decision) -> &str {
    decision.updated_at.as_deref().unwrap_or(&decision.created_at)
}

/// Returns the edges with their paths; a line that is no JSON is an error of its own.
fn edge_entries(value: Value) -> Result<ImportEntries> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            Ok(list.into_iter().enumerate().map(|(index, edge)| (format!("/edges/{index}"), Ok(edge))).collect())
        }
        Value::String(text) => {
            let lines = text.split('\n').enumerate().filter(|(_, line)| !trim(line).is_empty());
            Ok(lines.map(|(index, line)| (format!("/edges/{index}"), parse(line))).collect())
        }
        other => Err(wrong_type("/edges", "an array, or lines of JSON", &other)),
    }
}

impl ImportRun<'_> {
    /// Puts edges in whose ends are decisions of the store.
    pub(super) fn take_edges(&mut self, entries: ImportEntries) {
        let known = self.store.graph.edges().map(|edge| (edge_key(edge), edge.created_at.clone()));
        let mut times = SortedMap::new();
        times.extend(known);
        for (path, entry) in entries {
            if let Err(error) = entry.and_then(|entry| self.take_edge(entry, &path, &times)) {
                self.refuse(None, &error, &path);
            }
        }
    }

    fn take_edge(&mut self, entry: Value, path: &str, times: &SortedMap<String, String>) -> Result<()> {
        let mut edge = DecisionEdge::from_record(entry, path)?;
        edge.created_at = timestamps::normal(&edge.created_at);
        for (field, id) in [("source_id", &edge.source), ("target_id", &edge.target)] {
            if !self.store.options.search.allow_stubs && self.store.records.get(id).is_none() {
                let message = format!("no decision has the id {}", quote(id));
                return Err(Error::new(ErrorCode::NotFound, message).at(format!("{path}/{field}")));
            }
        }
        if let Some(before) = times.get(edge_key(&edge).as_str()) {
            match self.on_conflict {
                ImportConflict::Newer if edge.created_at > *before => {}
                ImportConflict::Newer | ImportConflict::Keep => return Ok(()),
                ImportConflict::Error => {
                    return Err(Error::new(ErrorCode::DuplicateId, "the edge is there already").at(path));
                }
            }
        }
        let source = edge.source.clone();
        self.store.graph.link(edge)?;
        self.store.changes.touch_edge_as(&source, self.changed.as_ref());
        Ok(())
    }
}

fn edge_key(edge: &DecisionEdge) -> String {
    [edge.source.as_str(), &edge.target, edge.kind.as_str()].join("\n")
}
