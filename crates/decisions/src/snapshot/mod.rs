//! The whole store as one JSON value, and back.

mod import;

pub use import::{ImportConflict, ImportMode, ImportOptions, ImportReport, RejectedRecord};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};

use crate::record::Decision;
use crate::store::{ChangeNumbers, DecisionStore};
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::JsonMap;

/// Value of `format` in a snapshot.
const FORMAT: &str = "cstp-snapshot";
/// The form of snapshots; another one cannot be read.
const VERSION: u64 = 1;

/// A store, or what is new in it, as it is written.
#[contextweaver_model::sparse]
#[derive(Debug, Serialize)]
pub struct StoreSnapshot<'a> {
    format: &'static str,
    version: u64,
    revision: u64,
    since: Option<u64>,
    changed: ChangeNumbers,
    decisions: Vec<&'a Decision>,
    edges: Vec<Value>,
    guardrails: Vec<Value>,
    embeddings: Option<SnapshotVectors<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    breakers: Vec<Value>,
    tracker: Option<Value>,
    #[serde(flatten)]
    unknown: &'a JsonMap,
}

/// The host's vectors: 32-bit floats in little-endian order, in base64.
#[derive(Debug, Serialize)]
struct SnapshotVectors<'a> {
    model: &'a str,
    dim: usize,
    /// How many were made in this store so far.
    made: u64,
    vectors: SortedMap<String, String>,
}

impl DecisionStore {
    /// Returns the whole store; importing it makes an equal one.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// store.put(Decision { id: "d1".to_owned(), decision: "Use Postgres".to_owned(), ..Decision::default() });
    /// let snapshot = store.export().to_value();
    /// assert_eq!(snapshot["format"], "cstp-snapshot");
    /// assert_eq!(snapshot["decisions"][0]["id"], "d1");
    /// ```
    pub fn export(&self) -> StoreSnapshot<'_> {
        self.snapshot(None, Some(0))
    }

    /// Returns the decisions and edges that changed after a revision, in the form of a snapshot that can be merged; the whole
    /// store, without `since`, where an import has replaced it in between. `vectors` adds those of the host's model that
    /// were made after so many, for a copy that searches with the same one.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, ImportOptions};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// store.import(json!([{ "id": "d1", "decision": "Use Postgres" }]), ImportOptions::default())?;
    /// let seen = store.revision();
    /// store.import(json!([{ "id": "d2", "decision": "Use Redis" }]), ImportOptions::default())?;
    /// let news = store.export_since(seen, None).to_value();
    /// assert_eq!(news["decisions"].as_array().map(Vec::len), Some(1));
    /// assert_eq!(news["decisions"][0]["id"], "d2");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn export_since(&self, revision: u64, vectors: Option<u64>) -> StoreSnapshot<'_> {
        self.snapshot(Some(revision).filter(|revision| self.changes.knows_since(*revision)), vectors)
    }

    fn snapshot(&self, since: Option<u64>, vectors: Option<u64>) -> StoreSnapshot<'_> {
        let is_new = |id: &str| since.is_none_or(|revision| self.changes.is_newer(id, revision));
        let has_new = |id: &str| since.is_none_or(|revision| self.changes.has_newer_edge(id, revision));
        let edges = self.graph.edges().filter(|edge| has_new(&edge.source));
        StoreSnapshot {
            format: FORMAT,
            version: VERSION,
            revision: self.changes.revision(),
            since,
            changed: self.changes.numbers_since(since.unwrap_or_default()),
            decisions: self.records.iter().filter(|decision| is_new(&decision.id)).collect(),
            edges: edges.map(crate::graph::DecisionEdge::to_record).collect(),
            guardrails: self.rules.sources(),
            embeddings: vectors.and_then(|seen| self.embeddings(seen)),
            breakers: self.breakers.snapshot(),
            tracker: (!self.tracker.is_empty()).then(|| self.tracker.to_value()),
            unknown: &self.unknown,
        }
    }

    /// Returns the host's vectors that were made after the first `seen`; those made here are made again faster than read.
    fn embeddings(&self, seen: u64) -> Option<SnapshotVectors<'_>> {
        let model = self.options.search.embedding_model.as_deref()?;
        let (made, dim) = self.index.vectors_made();
        let mut vectors = SortedMap::new();
        for (id, vector) in self.index.vectors_since(seen) {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            vectors.insert(id.to_owned(), STANDARD.encode(bytes));
        }
        (made > 0).then_some(SnapshotVectors { model, dim, made, vectors })
    }
}

/// Reads a vector of 32-bit floats in little-endian order out of base64; none where a number is not finite.
fn vector(text: &str) -> Option<Vec<f32>> {
    let bytes = STANDARD.decode(text).ok()?;
    let number = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).unwrap_or_default();
    let numbers: Vec<f32> = bytes.chunks_exact(4).map(number).collect();
    (bytes.len() % 4 == 0 && !numbers.is_empty() && numbers.iter().all(|it| it.is_finite())).then_some(numbers)
}

impl StoreSnapshot<'_> {
    /// Returns the snapshot as a value.
    pub fn to_value(&self) -> Value {
        json!(self)
    }
}

#[cfg(test)]
mod tests;
