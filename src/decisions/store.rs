//! The store: one part for each concern.

use super::finder::Finder;
use super::graph::Graph;
use super::guardrails::Rules;
use super::guardrails::breakers::Breakers;
use super::options::StoreOptions;
use super::record::Decision;
use super::records::Records;
use super::tracker::Tracker;

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
}
