//! The store: one part for each concern.

mod change_log;
mod options;
mod table;

pub use change_log::{ChangeEvent, ChangeKind, ChangeLog};
pub use options::{DecisionLimits, DecisionStoreOptions};
pub use table::DecisionTable;

use crate::graph::DecisionGraph;
use crate::guardrails::GuardrailSet;
use crate::guardrails::breakers::CircuitBreakers;
use crate::record::Decision;
use crate::search::SearchIndex;
use crate::tracker::DeliberationTracker;
use contextweaver_model::json::JsonMap;

/// Decisions with everything that is known around them.
#[derive(Debug, Default)]
pub struct DecisionStore {
    pub(crate) records: DecisionTable,
    pub(crate) tracker: DeliberationTracker,
    pub(crate) rules: GuardrailSet,
    pub(crate) breakers: CircuitBreakers,
    pub(crate) index: SearchIndex,
    pub(crate) graph: DecisionGraph,
    pub(crate) options: DecisionStoreOptions,
    pub(crate) changes: ChangeLog,
    /// Fields of an imported snapshot that this release does not know.
    pub(crate) unknown: JsonMap,
}

impl DecisionStore {
    /// Makes an empty store.
    pub fn new(options: DecisionStoreOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Puts a decision in, in place of the one with its id.
    pub fn put(&mut self, decision: Decision) {
        self.index.put(&decision);
        self.records.put(decision);
    }

    /// Puts a decision in and notes the change.
    pub(crate) fn save(&mut self, kind: ChangeKind, decision: Decision) {
        self.changes.note(kind, &decision.id);
        self.put(decision);
    }

    /// Hands out what changed since the last time, for hosts that keep a copy.
    pub fn take_events(&mut self) -> Vec<ChangeEvent> {
        self.changes.take_events()
    }

    /// Returns the number of the last change.
    pub const fn revision(&self) -> u64 {
        self.changes.revision()
    }
}
