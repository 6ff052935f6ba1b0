//! What a build reads, and never changes.

use std::collections::HashMap;

use crate::callbacks::CallbackAnswers;
use crate::index::LogIndex;
use crate::options::ManagerOptions;
use crate::rules::book::RuleBook;
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};
use contextweaver_model::ResultEnvelope;

/// Everything a build reads.
pub struct BuildInputs<'a> {
    pub events: &'a EventLog,
    pub index: &'a LogIndex,
    pub artifacts: &'a ArtifactStore,
    pub episodes: &'a EpisodicStore,
    pub facts: &'a FactStore,
    /// Digests by item id.
    pub envelopes: &'a HashMap<String, ResultEnvelope>,
    pub options: &'a ManagerOptions,
    /// Answers of the caller's functions.
    pub answers: &'a CallbackAnswers,
    /// What the caller says of standing instructions.
    pub book: &'a RuleBook,
}

impl BuildInputs<'_> {
    /// Weighs a text in quarter tokens with the estimator of the options.
    pub fn quarters(&self, text: &str) -> u64 {
        self.answers.quarters(&self.options.estimator, text)
    }
}
