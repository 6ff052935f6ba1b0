//! The store: one part for each concern.

use super::changes::{Change, ChangeKind, Changes};
use super::finder::Finder;
use super::graph::Graph;
use super::guardrails::Rules;
use super::guardrails::breakers::Breakers;
use super::options::StoreOptions;
use super::record::Decision;
use super::records::Records;
use super::tracker::Tracker;
use contextweaver_model::json::JsonMap;

/// Decisions with everything that is known around them.
#[derive(Debug, Default)]
pub struct DecisionStore {
    pub(crate) records: Records,
    pub(crate) tracker: Tracker,
    pub(crate) rules: Rules,
    pub(crate) breakers: Breakers,
    pub(crate) finder: Finder,
    pub(crate) graph: Graph,
    pub(crate) options: StoreOptions,
    pub(crate) changes: Changes,
    /// Fields of an imported snapshot that this release does not know.
    pub(crate) unknown: JsonMap,
}

impl DecisionStore {
    /// Makes an empty store.
    pub fn new(options: StoreOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Puts a decision in, in place of the one with its id.
    pub fn put(&mut self, decision: Decision) {
        self.finder.put(&decision);
        self.records.put(decision);
    }

    /// Puts a decision in and notes the change.
    pub(crate) fn save(&mut self, kind: ChangeKind, decision: Decision) {
        self.changes.note(kind, &decision.id);
        self.put(decision);
    }

    /// Hands out what changed since the last time, for hosts that keep a copy.
    pub fn take_events(&mut self) -> Vec<Change> {
        self.changes.take_events()
    }

    /// Returns the number of the last change.
    pub const fn revision(&self) -> u64 {
        self.changes.revision()
    }
}
