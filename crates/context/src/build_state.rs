//! A build in the making: what it reads, who is still in, and who left where. The stages change it one after the other.

use std::collections::HashMap;

use super::callbacks::CallbackAnswers;
use super::closure::DependencyClosure;
use super::index::LogIndex;
use super::options::ManagerOptions;
use super::render::Renderer;
use super::request::BuildRequest;
use super::select::plan::CandidateRow;
use super::select::units::SelectionUnit;
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};
use contextweaver_model::{ContextItem, ScoreParts, Sensitivity, Stage};

/// Everything a build reads.
pub struct BuildInputs<'a> {
    pub events: &'a EventLog,
    pub index: &'a LogIndex,
    pub artifacts: &'a ArtifactStore,
    pub episodes: &'a EpisodicStore,
    pub facts: &'a FactStore,
    /// Digests by item id.
    pub envelopes: &'a HashMap<String, contextweaver_model::ResultEnvelope>,
    pub options: &'a ManagerOptions,
    /// Answers of the caller's functions.
    pub answers: &'a CallbackAnswers,
}

impl BuildInputs<'_> {
    /// Weighs a text in quarter tokens with the estimator of the options.
    pub fn quarters(&self, text: &str) -> u64 {
        self.answers.quarters(&self.options.estimator, text)
    }
}

/// Reason given to the firewall hook.
pub const FIREWALL_REASON: &str = "tool_result intercepted";

/// Something that happened, for the caller's hooks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "hook", rename_all = "snake_case")]
pub enum Event {
    /// A result was replaced by its summary.
    FirewallTriggered {
        /// Id of its item.
        item_id: String,
        /// Always the same words, as 0.18 says them.
        reason: &'static str,
    },
    /// Items were dropped for one reason.
    ItemsExcluded {
        /// Their ids, in the order they were dropped.
        item_ids: Vec<String>,
        /// The drop reason: `sensitivity`, `dedup`, `kind_limit`, `budget`, …
        reason: String,
    },
    /// More was wanted than the budget allows.
    BudgetExceeded {
        /// Tokens that the prompt would have had.
        requested: u64,
        /// Tokens that the budget allows.
        limit: u64,
    },
    /// A build is finished.
    ContextBuilt {
        /// Phase the prompt is for.
        #[cfg_attr(feature = "ts", ts(as = "contextweaver_model::Phase"))]
        phase: String,
    },
}

/// An item that left before selection.
#[derive(Debug, Clone)]
pub struct ExcludedItem {
    pub at: usize,
    pub unit: u32,
    /// Its label after classification.
    pub level: Sensitivity,
    /// The stage that dropped it.
    pub stage: Stage,
    /// Why.
    pub reason: &'static str,
}

/// The state between the stages.
pub struct BuildState<'a> {
    pub sources: &'a BuildInputs<'a>,
    pub request: &'a BuildRequest,
    /// What writes the prompt, and so knows what an entry costs.
    pub renderer: &'a dyn Renderer,
    /// Candidates that are still in, in log order.
    pub rows: Vec<CandidateRow>,
    /// Candidates that a stage dropped.
    pub excluded: Vec<ExcludedItem>,
    pub units: Vec<SelectionUnit>,
    pub parts: Vec<ScoreParts>,
    pub scores: Vec<f64>,
    /// Items added by closure, ascending.
    pub closures: Vec<usize>,
    /// Postings, items, units and pieces touched so far.
    pub work: u64,
}

impl<'a> BuildState<'a> {
    /// Starts with what the closure brought together; nobody has been judged yet.
    pub fn new(
        sources: &'a BuildInputs<'a>,
        request: &'a BuildRequest,
        renderer: &'a dyn Renderer,
        closure: &DependencyClosure,
    ) -> Self {
        Self {
            sources,
            request,
            renderer,
            rows: Vec::with_capacity(closure.candidates.len()),
            excluded: Vec::new(),
            units: Vec::new(),
            parts: Vec::new(),
            scores: Vec::new(),
            closures: closure.added.clone(),
            work: sources.events.len() as u64,
        }
    }

    /// Returns the items of the log.
    pub fn items(&self) -> &'a [ContextItem] {
        self.sources.events.items()
    }
}
