//! The context manager: state, and the operations on it. Every operation checks first and writes last.

use std::collections::HashMap;

use serde::Serialize;

use super::append::PromptManifest;
use super::build_state::{BuildInputs, Event};
use super::call_prompt::{self, SchemaOverrides};
use super::callbacks::{CallbackAnswers, Outcome};
use super::handoff::{HandoffOptions, HandoffPack, build_handoff};
use super::index::LogIndex;
use super::memory::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
use super::options::ManagerOptions;
use super::pipeline::{self, BuiltPrompt};
use super::render::Renderer;
use super::render::text::TextRenderer;
use super::report::{Metrics, MetricsSummary};
use super::request::BuildRequest;
use super::{firewall, sensitivity};
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};
use contextweaver_base::Result;
use contextweaver_model::{BuildStats, ContextItem, ContextPack, JsonMap, Phase, ResultEnvelope, SelectableItem};

/// A log with everything that belongs to it.
#[derive(Debug)]
pub struct ContextManager {
    pub(super) options: ManagerOptions,
    pub(super) events: EventLog,
    pub(super) artifacts: ArtifactStore,
    pub(super) episodes: EpisodicStore,
    pub(super) facts: FactStore,
    pub(super) index: LogIndex,
    pub(super) envelopes: HashMap<String, ResultEnvelope>,
    pub(super) manifests: [Option<PromptManifest>; Phase::ALL.len()],
    pub(super) fact_sequence: Option<u64>,
    /// Changes of the artifact store that the index has seen; none when it has missed something else.
    pub(super) indexed_changes: Option<u64>,
    /// Fields of a snapshot that are not known.
    pub(super) unknown: JsonMap,
    pub(super) answers: CallbackAnswers,
    metrics: Metrics,
    last_work: u64,
}

/// A finished build with what the hooks should hear.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BuildOutput {
    /// The pack.
    pub pack: ContextPack,
    /// For the hooks, in order.
    pub events: Vec<Event>,
}

/// Sizes and running totals of a manager.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ManagerStats {
    /// Items of the log.
    pub items: usize,
    /// Artifacts kept.
    pub artifacts: usize,
    /// Their bytes.
    pub artifact_bytes: usize,
    /// Facts kept.
    pub facts: usize,
    /// Episodes kept.
    pub episodes: usize,
    /// What the builds did since the manager was made.
    #[serde(flatten)]
    pub builds: MetricsSummary,
}

impl ContextManager {
    /// Makes a manager with an empty log.
    pub fn new(options: ManagerOptions) -> Self {
        Self {
            artifacts: ArtifactStore::with_options(options.limits.store),
            events: EventLog::with_limit(options.limits.items),
            options,
            episodes: EpisodicStore::new(),
            facts: FactStore::new(),
            index: LogIndex::new(),
            envelopes: HashMap::new(),
            manifests: [const { None }; Phase::ALL.len()],
            fact_sequence: None,
            indexed_changes: Some(0),
            unknown: JsonMap::new(),
            answers: CallbackAnswers::default(),
            metrics: Metrics::new(),
            last_work: 0,
        }
    }

    /// Returns the settings.
    pub fn options(&self) -> &ManagerOptions {
        &self.options
    }

    /// Returns the log.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// Returns the stored bytes.
    pub fn artifacts(&self) -> &ArtifactStore {
        &self.artifacts
    }

    /// Returns the facts.
    pub fn facts(&self) -> &FactStore {
        &self.facts
    }

    /// Returns the episodes.
    pub fn episodes(&self) -> &EpisodicStore {
        &self.episodes
    }

    /// Returns the operations of the last build: postings, items, units and pieces touched. Grows near-linearly with
    /// the log; a clock would not prove that.
    pub fn last_work(&self) -> u64 {
        self.last_work
    }

    /// Takes the answers to the questions of the last operation, in their order.
    pub fn supply(&mut self, answers: Vec<serde_json::Value>) -> Result<()> {
        self.answers.supply(answers)
    }

    /// Appends items, all or none.
    pub fn ingest_all(&mut self, items: Vec<ContextItem>) -> Result<()> {
        self.append(items, false)
    }

    /// Appends items; `is_clean` tells that the stored bytes behind them are known to hold no secrets.
    pub(super) fn append(&mut self, items: Vec<ContextItem>, is_clean: bool) -> Result<()> {
        let from = self.events.len();
        self.events.append_all(items)?;
        if !self.options.is_compat() {
            for item in &self.events.items()[from..] {
                self.index.push(item, &self.options, &self.artifacts, is_clean);
            }
        }
        Ok(())
    }

    /// Appends one item.
    pub fn ingest(&mut self, item: ContextItem) -> Result<()> {
        self.ingest_all(vec![item])
    }

    pub(super) fn sources(&self) -> BuildInputs<'_> {
        BuildInputs {
            events: &self.events,
            index: &self.index,
            artifacts: &self.artifacts,
            episodes: &self.episodes,
            facts: &self.facts,
            envelopes: &self.envelopes,
            options: &self.options,
            answers: &self.answers,
        }
    }

    /// Compiles a prompt. A build never changes the log or stored bytes.
    pub fn build(&mut self, request: &BuildRequest) -> Result<Outcome<BuildOutput>> {
        if let Some(strategy) = self.options.strategy {
            return strategy.build(self, request);
        }
        Ok(match self.compile(request, &TextRenderer)? {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done(built) => Outcome::Done(self.settle(request, built)),
        })
    }

    /// Compiles a prompt that nobody has seen yet.
    pub(super) fn compile(&mut self, request: &BuildRequest, renderer: &dyn Renderer) -> Result<Outcome<BuiltPrompt>> {
        self.answers.reset();
        self.refresh_index();
        let previous = self.manifests[request.phase as usize].as_ref();
        let built = pipeline::build(&self.sources(), request, previous, renderer);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        built.map(Outcome::Done)
    }

    /// Remembers a prompt that is going to be seen.
    pub(super) fn settle(&mut self, request: &BuildRequest, built: BuiltPrompt) -> BuildOutput {
        if built.manifest.is_some() {
            self.manifests[request.phase as usize] = built.manifest;
        }
        self.last_work = built.work;
        self.answers.settle(self.events.len());
        self.count_build(&built.events, built.pack.stats.dropped_count, Some(&built.pack.stats));
        BuildOutput { pack: built.pack, events: built.events }
    }

    /// Counts a build with what its hooks are told.
    pub(super) fn count_build(&mut self, events: &[Event], excluded: u64, stats: Option<&BuildStats>) {
        self.observe(events);
        self.metrics.on_items_excluded(excluded);
        if let Some(stats) = stats {
            self.metrics.on_context_built(stats);
        }
    }

    /// Compiles the prompt that asks for a tool's arguments: the tool's schema stands above everything.
    pub fn build_call(
        &mut self,
        tool: &SelectableItem,
        overrides: &SchemaOverrides,
        request: &BuildRequest,
    ) -> Result<Outcome<BuildOutput>> {
        let schema = call_prompt::schema_header(tool, overrides, self.options.rules.text_form);
        let header = super::render::join_sections(&[&schema, &request.header], super::render::SEPARATOR);
        self.build(&BuildRequest { phase: Phase::Call, header, ..request.clone() })
    }

    pub(super) fn observe(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::FirewallTriggered { .. } => self.metrics.on_firewall_triggered(),
                Event::BudgetExceeded { .. } => self.metrics.on_budget_exceeded(),
                Event::ItemsExcluded { .. } | Event::ContextBuilt { .. } => {}
            }
        }
    }

    /// Returns sizes and running totals.
    pub fn stats(&self) -> ManagerStats {
        ManagerStats {
            items: self.events.len(),
            artifacts: self.artifacts.len(),
            artifact_bytes: self.artifacts.total_bytes(),
            facts: self.facts.len(),
            episodes: self.episodes.all().len(),
            builds: self.metrics.summary(),
        }
    }

    /// Sums up the session for the next one: the whole log after sensitivity and firewall, by category, under a budget.
    pub fn handoff(&mut self, budget_tokens: u64) -> Result<Outcome<HandoffPack>> {
        self.answers.reset();
        let all = self.events.items().to_vec();
        let filtered = sensitivity::filter(all, &self.options, &self.answers);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let (kept, withheld) = filtered?;
        let options = HandoffOptions { budget_tokens, form: self.options.rules.text_form };
        let shown = match self.options.strategy {
            None => kept.into_iter().map(|item| firewall::shortened(item, &self.options)).collect(),
            Some(strategy) => match strategy.shorten(self, kept)? {
                Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
                Outcome::Done(shown) => shown,
            },
        };
        let dropped = withheld.len() as u64;
        Ok(Outcome::Done(build_handoff(&shown, &self.artifacts, dropped, &self.options.estimator, options)))
    }

    /// Finds episodes that say the same and promotes what enough of them support to facts; only reports unless `apply`.
    pub fn consolidate(
        &mut self,
        policy: &ConsolidationPolicy,
        as_of: Option<&str>,
        apply: bool,
    ) -> Result<ConsolidationReport> {
        let options = ConsolidationOptions { as_of, words: self.options.rules.memory_words };
        let mut report = consolidate(self.episodes.all(), &self.facts, policy, &options)?;
        if apply {
            report.apply(&mut self.facts, policy)?;
        }
        Ok(report)
    }
}
