//! The context manager: state, and the operations on it. Every operation checks first and writes last.

use std::collections::HashMap;

use serde::Serialize;

use super::append::Manifest;
use super::call_prompt::{self, SchemaOverrides};
use super::callbacks::{Answers, Outcome};
use super::draft::{Event, Sources};
use super::handoff::{HandoffOptions, HandoffPack, build_handoff};
use super::index::LogIndex;
use super::memory::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
use super::options::ManagerOptions;
use super::pipeline;
use super::report::{Metrics, MetricsSummary};
use super::request::BuildRequest;
use super::{compat, firewall, sensitivity};
use crate::error::{Error, ErrorCode, Result};
use crate::limits;
use crate::model::{ContextItem, ContextPack, ItemKind, JsonMap, Phase, ResultEnvelope, SelectableItem, Sensitivity};
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore, Selector};
use crate::text::unicode::quote;

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
    pub(super) manifests: [Option<Manifest>; Phase::ALL.len()],
    pub(super) fact_sequence: Option<u64>,
    /// Changes of the artifact store that the index has seen; none when it has missed something else.
    pub(super) indexed_changes: Option<u64>,
    /// Fields of a snapshot that are not known.
    pub(super) unknown: JsonMap,
    pub(super) answers: Answers,
    metrics: Metrics,
    last_work: u64,
}

/// A finished build with what the hooks should hear.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(all(test, not(target_arch = "wasm32")), derive(ts_rs::TS))]
pub struct BuildOutput {
    /// The pack.
    pub pack: ContextPack,
    /// For the hooks, in order.
    pub events: Vec<Event>,
}

/// Sizes and running totals of a manager.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(all(test, not(target_arch = "wasm32")), derive(ts_rs::TS))]
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

/// A part of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(all(test, not(target_arch = "wasm32")), derive(ts_rs::TS))]
pub struct Slice {
    /// The artifact.
    pub handle: String,
    /// The selector, as given.
    pub selector: serde_json::Value,
    /// The text, secrets masked.
    pub text: String,
    /// Its characters.
    pub chars: u64,
    /// Characters of the whole artifact.
    pub total_chars: u64,
    /// Whether `max_tokens` cut the text.
    pub truncated: bool,
    /// The item that was added to the log, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(all(test, not(target_arch = "wasm32")), ts(optional))]
    pub item_id: Option<String>,
}

/// A request for a part of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct DrilldownRequest {
    /// The artifact.
    pub handle: String,
    /// The part.
    pub selector: Selector,
    /// The selector as the caller wrote it, for the record.
    pub selector_json: serde_json::Value,
    /// Whether to add the part to the log.
    pub inject: bool,
    /// Parent of the added item.
    pub parent_id: Option<String>,
    /// Most tokens of the text.
    pub max_tokens: Option<u64>,
}

impl DrilldownRequest {
    /// Reads a closed request.
    pub fn from_value(value: serde_json::Value) -> Result<Self> {
        let mut fields = crate::json::Fields::open(value, "")?;
        let selector_json = fields.require("selector")?;
        let request = Self {
            handle: fields.string("handle")?,
            selector: Selector::from_value(selector_json.clone(), "/selector")?,
            selector_json,
            inject: fields.bool_or("inject", false)?,
            parent_id: fields.opt_string("parent_id")?,
            max_tokens: fields.opt_uint("max_tokens", limits::MAX_BUDGET_TOKENS)?,
        };
        fields.finish()?;
        Ok(request)
    }
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
            answers: Answers::default(),
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
        let from = self.events.len();
        self.events.append_all(items)?;
        if !self.options.compat {
            for item in &self.events.items()[from..] {
                self.index.push(item, &self.options, &self.artifacts);
            }
        }
        Ok(())
    }

    /// Appends one item.
    pub fn ingest(&mut self, item: ContextItem) -> Result<()> {
        self.ingest_all(vec![item])
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
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
        self.answers.reset();
        if self.options.compat {
            let (outcome, _) = self.build_traced(request)?;
            return Ok(match outcome {
                Outcome::Need(needs) => Outcome::Need(needs),
                Outcome::Done((pack, events)) => Outcome::Done(BuildOutput { pack: pack?, events }),
            });
        }
        self.refresh_index();
        let built = pipeline::build(&self.sources(), request, self.manifests[request.phase as usize].as_ref());
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let built = built?;
        if built.manifest.is_some() {
            self.manifests[request.phase as usize] = built.manifest;
        }
        self.last_work = built.work;
        self.answers.settle(self.events.len());
        self.observe(&built.events);
        self.metrics.on_items_excluded(built.pack.stats.dropped_count);
        self.metrics.on_context_built(&built.pack.stats);
        Ok(Outcome::Done(BuildOutput { pack: built.pack, events: built.events }))
    }

    /// Compiles a prompt as the reference does and tells what every stage left.
    ///
    /// The reference's firewall stores the text of results it has not seen before; bytes already stored under the same
    /// handle are never changed.
    #[expect(clippy::type_complexity, reason = "one caller, which takes it apart at once")]
    pub fn build_traced(
        &mut self,
        request: &BuildRequest,
    ) -> Result<(Outcome<(Result<ContextPack>, Vec<Event>)>, compat::Trace)> {
        let mut artifacts = self.artifacts.clone();
        let built = compat::build(&self.sources(), request, &mut artifacts);
        if self.answers.is_waiting() {
            return Ok((Outcome::Need(self.answers.take_needs()), compat::Trace::default()));
        }
        let built = built?;
        self.artifacts.adopt_new(artifacts);
        self.answers.settle(self.events.len());
        self.observe(&built.events);
        self.metrics.on_items_excluded(built.excluded);
        if let Ok(pack) = &built.pack {
            self.metrics.on_context_built(&pack.stats);
        }
        Ok((Outcome::Done((built.pack, built.events)), built.trace))
    }

    /// Compiles the prompt that asks for a tool's arguments: the tool's schema stands above everything.
    pub fn build_call(
        &mut self,
        tool: &SelectableItem,
        overrides: &SchemaOverrides,
        request: &BuildRequest,
    ) -> Result<Outcome<BuildOutput>> {
        let schema = call_prompt::schema_header(tool, overrides, self.options.compat);
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
        let reference = self.options.compat;
        let options = HandoffOptions { budget_tokens, reference };
        let shown = if reference {
            let mut artifacts = self.artifacts.clone();
            let (shown, _) = firewall::compact_all(kept, &self.options, &self.answers, &mut artifacts)?;
            if self.answers.is_waiting() {
                return Ok(Outcome::Need(self.answers.take_needs()));
            }
            self.artifacts.adopt_new(artifacts);
            shown
        } else {
            kept.into_iter().map(|item| firewall::shortened(item, &self.options)).collect()
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
        let options = ConsolidationOptions { as_of, reference: self.options.compat };
        let mut report = consolidate(self.episodes.all(), &self.facts, policy, &options)?;
        if apply {
            report.apply(&mut self.facts, policy)?;
        }
        Ok(report)
    }

    /// Reads a part of an artifact. Refused when any item that refers to it is at or above the floor, or redacted.
    pub fn drilldown(&mut self, request: &DrilldownRequest) -> Result<Outcome<Slice>> {
        self.answers.reset();
        let sensitivity = self.owner_sensitivity(&request.handle)?;
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let raw = self.artifacts.drilldown(&request.handle, &request.selector)?;
        let text = super::firewall::clean(&raw, &self.options);
        let (text, truncated) = self.cut(&text, request.max_tokens);
        let total_chars = String::from_utf8_lossy(self.artifacts.get(&request.handle)?).chars().count() as u64;
        let item_id = if request.inject { Some(self.inject(request, &text, sensitivity)?) } else { None };
        Ok(Outcome::Done(Slice {
            handle: request.handle.clone(),
            selector: request.selector_json.clone(),
            chars: text.chars().count() as u64,
            total_chars,
            truncated,
            text,
            item_id,
        }))
    }

    /// Returns the highest label of the items that refer to an artifact, or the policy's refusal.
    fn owner_sensitivity(&self, handle: &str) -> Result<Sensitivity> {
        let policy = &self.options.policy;
        let mut highest = Sensitivity::Public;
        let owners = self
            .events
            .items()
            .iter()
            .filter(|item| item.artifact_ref.as_ref().is_some_and(|artifact| artifact.handle == handle));
        for owner in owners {
            let level = sensitivity::classified(owner, &self.options, &self.answers);
            let forbidden = level >= policy.sensitivity_floor || owner.metadata_flag("redacted");
            if forbidden && !policy.allow_redacted_drilldown {
                let message = format!("artifact {} belongs to an item that is withheld", quote(handle));
                return Err(Error::new(ErrorCode::PolicyViolation, message)
                    .at("/handle")
                    .hint("policy.allow_redacted_drilldown permits it"));
            }
            highest = highest.max(level);
            if self.options.compat {
                break;
            }
        }
        Ok(highest)
    }

    fn cut(&self, text: &str, max_tokens: Option<u64>) -> (String, bool) {
        let estimator = &self.options.estimator;
        let Some(limit) = max_tokens.filter(|limit| estimator.tokens(text) > *limit) else {
            return (text.to_owned(), false);
        };
        let mut used = 0;
        let end = text.char_indices().find(|(at, ch)| {
            used += estimator.quarters(&text[*at..*at + ch.len_utf8()]);
            used / 4 > limit
        });
        (text[..end.map_or(text.len(), |(at, _)| at)].to_owned(), true)
    }

    fn inject(&mut self, request: &DrilldownRequest, text: &str, sensitivity: Sensitivity) -> Result<String> {
        let kind = request.selector_json.get("type").and_then(serde_json::Value::as_str).unwrap_or("");
        let id = format!("drilldown:{}:{kind}:{}", request.handle, self.events.len());
        let mut item = ContextItem::new(id.clone(), ItemKind::ToolResult, text);
        item.sensitivity = sensitivity;
        item.token_estimate = self.options.estimator.tokens(text);
        item.parent_id.clone_from(&request.parent_id);
        item.metadata.insert("drilldown_handle".into(), request.handle.clone().into());
        item.metadata.insert("selector".into(), request.selector_json.clone());
        self.ingest(item)?;
        Ok(id)
    }
}
