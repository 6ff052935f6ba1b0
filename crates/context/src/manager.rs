//! The context manager: state, and the operations on it. Every operation checks first and writes last.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::calibration::{Calibrations, ObservedUsage};
use crate::call_prompt::{self, SchemaOverrides};
use crate::callbacks::{CallbackAnswers, Outcome};
use crate::compile::inputs::BuildInputs;
use crate::compile::pipeline::{self, BuiltPrompt};
use crate::compile::render::renderer::Renderer;
use crate::compile::render::text::TextRenderer;
use crate::drilldown::reading::ArtifactReading;
use crate::event::Event;
use crate::handoff::{HandoffOptions, HandoffPack, HandoffRules, build_handoff};
use crate::index::LogIndex;
use crate::journal::counts::JournalState;
use crate::memory::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
use crate::options::ManagerOptions;
use crate::report::{Metrics, MetricsSummary};
use crate::request::BuildRequest;
use crate::rules::book::RuleBook;
use crate::running::RunningPrompts;
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};
use crate::sync::plan::MessagePlan;
use crate::sync::record::KnownMessages;
use crate::{firewall, sensitivity};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{
    BuildStats, ContextItem, ContextPack, ItemKind, JsonMap, Phase, ResultEnvelope, SelectableItem, Sensitivity,
    TokenCalibration,
};

/// The log of a conversation with everything that belongs to it: artifacts, episodes, facts, envelopes of results.
///
/// ```
/// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
/// use contextweaver_model::{ContextItem, ItemKind, Phase};
///
/// let mut manager = ContextManager::new(ManagerOptions::default());
/// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Please refund order 12446."))?;
/// let output = manager.build(&BuildRequest::new(Phase::Answer, "refund"))?.done().unwrap();
/// assert!(output.pack.prompt.contains("Please refund order 12446."));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug)]
pub struct ContextManager {
    pub(super) options: ManagerOptions,
    pub(super) events: EventLog,
    pub(super) artifacts: ArtifactStore,
    pub(super) episodes: EpisodicStore,
    pub(super) facts: FactStore,
    pub(super) index: LogIndex,
    pub(super) envelopes: HashMap<String, ResultEnvelope>,
    pub(super) running: RunningPrompts,
    pub(super) fact_sequence: Option<u64>,
    /// The change count of the artifact store that the index is up to date with; `None` if the index must be rebuilt.
    pub(super) indexed_changes: Option<u64>,
    /// The messages that were read into the log.
    pub(super) known_messages: KnownMessages,
    pub(super) message_plan: MessagePlan,
    pub(super) calibrations: Calibrations,
    /// The standing instructions that the caller added, corrected or forgot.
    pub(super) rule_book: RuleBook,
    pub(super) journal: JournalState,
    /// Unknown fields of the snapshot that was restored, to be written back.
    pub(super) unknown: JsonMap,
    pub(super) answers: CallbackAnswers,
    metrics: Metrics,
    pub(super) last_work: u64,
    /// The artifact that was read last, when more of it is likely to be read.
    pub(super) reading: Option<Box<ArtifactReading>>,
}

/// A finished build.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BuildOutput {
    /// The prompt with its record: what it holds, what was dropped and why.
    pub pack: ContextPack,
    /// Events for the caller's hooks, in the order to report them.
    pub events: Vec<Event>,
}

/// Sizes and running totals of a manager.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ManagerStats {
    /// Items in the log.
    pub items: usize,
    /// Artifacts in the store.
    pub artifacts: usize,
    /// Bytes of the artifacts as they count against the store's limit. Equal contents count each time.
    pub artifact_bytes: usize,
    /// Facts in the store.
    pub facts: usize,
    /// Episodes in the store.
    pub episodes: usize,
    /// Totals of the builds since the manager was made.
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
            running: RunningPrompts::default(),
            fact_sequence: None,
            indexed_changes: Some(0),
            known_messages: KnownMessages::default(),
            message_plan: MessagePlan::default(),
            calibrations: Calibrations::default(),
            rule_book: RuleBook::default(),
            journal: JournalState::default(),
            unknown: JsonMap::new(),
            answers: CallbackAnswers::default(),
            metrics: Metrics::new(),
            last_work: 0,
            reading: None,
        }
    }

    /// Returns the settings the manager was made with.
    pub fn options(&self) -> &ManagerOptions {
        &self.options
    }

    /// Returns the log, oldest item first.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// Returns the artifacts.
    ///
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.put_artifact("report", b"a,b\n1,2\n", "text/csv", "the report of May")?;
    /// assert_eq!(manager.artifacts().get("report")?, b"a,b\n1,2\n");
    /// assert_eq!(manager.artifacts().artifact_ref("report")?.size_bytes, 8);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn artifacts(&self) -> &ArtifactStore {
        &self.artifacts
    }

    /// Returns the stored facts. They go into the header of a prompt if its phase allows memory.
    pub fn facts(&self) -> &FactStore {
        &self.facts
    }

    /// Returns the stored episodes. The newest go into the header of a prompt if its phase allows memory.
    pub fn episodes(&self) -> &EpisodicStore {
        &self.episodes
    }

    /// Returns how many postings, items, units and pieces the last build touched. This count can prove that the work
    /// grows nearly linearly with the log; a clock cannot.
    pub fn last_work(&self) -> u64 {
        self.last_work
    }

    /// Takes the answers to the questions of the last operation, in the same order. Then call the operation again.
    ///
    /// # Errors
    /// `CALLBACK_FAILED` when the number of answers is not the number of questions, or, at `/answers/<index>`, when an
    /// answer has the wrong form. The operation then asks again.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, Classifier, ContextManager, ManagerOptions, Need, Outcome};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let classifier = Classifier::Custom("ours".to_owned());
    /// let mut manager = ContextManager::new(ManagerOptions { classifier, ..ManagerOptions::default() });
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "My salary is 5,000."))?;
    /// let request = BuildRequest::new(Phase::Answer, "");
    /// let Outcome::Need(questions) = manager.build(&request)? else { panic!("the function is asked first") };
    /// assert!(matches!(questions[..], [Need::Classify { .. }]));
    /// manager.supply(vec!["restricted".into()])?;
    /// let output = manager.build(&request)?.done().unwrap();
    /// assert!(!output.pack.prompt.contains("salary"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn supply(&mut self, answers: Vec<serde_json::Value>) -> Result<()> {
        self.answers.supply(answers)
    }

    /// Appends all items or none, as [`ContextManager::ingest_items`] does, if no function of the caller must be asked.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_items`]; `CALLBACK_FAILED` when one of the caller's functions must be asked.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let turn = |id| ContextItem::new(id, ItemKind::UserTurn, "hello");
    /// let error = manager.ingest_all(vec![turn("u1"), turn("u1")]).unwrap_err();
    /// assert_eq!((error.code().as_str(), error.path()), ("DUPLICATE_ID", "/1/id"));
    /// assert!(manager.events().is_empty(), "none of them was appended");
    /// ```
    pub fn ingest_all(&mut self, items: Vec<ContextItem>) -> Result<()> {
        match self.ingest_items(items)? {
            Outcome::Done(_) => Ok(()),
            Outcome::Need(_) => Err(Error::new(ErrorCode::CallbackFailed, "a function of the caller must be asked")
                .hint("append by ingest_items, and answer by supply")),
        }
    }

    /// Appends items. `is_clean` tells whether the stored bytes behind them are known to hold no secrets.
    pub(super) fn append(&mut self, items: Vec<ContextItem>, is_clean: bool) -> Result<()> {
        self.events.append_all(items)?;
        self.index.extend(&self.events, &self.options, &self.artifacts, is_clean);
        Ok(())
    }

    /// Appends one item.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_all`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let mut result = ContextItem::new("r1", ItemKind::ToolResult, "42 rows");
    /// result.parent_id = Some("c1".to_owned());
    /// manager.ingest(result)?;
    /// assert_eq!(manager.events().get("r1")?.text, "42 rows");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
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
            book: &self.rule_book,
        }
    }

    /// Compiles a prompt under the token budget of its phase. A build never changes the log or stored bytes.
    ///
    /// With [`BuildRequest::explain`] the pack says of every candidate why it was kept or dropped.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED` when header, footer and pinned items do not fit even in their smallest form, or the overflow policy
    /// asks for an error; `NOT_FOUND` at `/pin/<index>` for an unknown item, `POLICY_VIOLATION` for one that is withheld;
    /// `INVALID_INPUT` for an unknown redaction hook.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "lorem ipsum ".repeat(500)))?;
    /// manager.ingest(ContextItem::new("u2", ItemKind::UserTurn, "Where is order 12446?"))?;
    /// let request = BuildRequest { budget_tokens: Some(50), explain: true, ..BuildRequest::new(Phase::Answer, "order") };
    /// let pack = manager.build(&request)?.done().unwrap().pack;
    /// assert!(pack.stats.prompt_tokens.is_some_and(|tokens| tokens <= 50));
    /// let candidates = pack.explanation.unwrap().candidates;
    /// let old = candidates.iter().find(|candidate| candidate.item_id == "u1").unwrap();
    /// assert_eq!((old.included, old.drop_reason.as_str()), (false, "budget"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn build(&mut self, request: &BuildRequest) -> Result<Outcome<BuildOutput>> {
        if request.running == Some(true) {
            return self.run_text(request);
        }
        Ok(match self.compile(request, &TextRenderer)? {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done(built) => Outcome::Done(self.settle(built)),
        })
    }

    /// Compiles a prompt without recording the build. `settle` records it before the prompt is handed out.
    pub(super) fn compile(&mut self, request: &BuildRequest, renderer: &dyn Renderer) -> Result<Outcome<BuiltPrompt>> {
        self.answers.reset();
        self.refresh_index();
        let built = match self.calibrated(request) {
            None => pipeline::build(&self.sources(), request, renderer),
            Some((model, scaled)) => pipeline::build(&self.sources(), &scaled, renderer)
                .map(|mut built| {
                    built.pack.stats.calibration = self.calibrations.of(model);
                    built
                })
                .map_err(|error| self.in_tokens_of(model, error)),
        };
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        built.map(Outcome::Done)
    }

    /// Converts the budget of a request from tokens of its model to tokens of the estimator; also returns the model.
    /// Returns `None` if the request names no model, no call of that model was observed, or `calibrate` is off.
    pub(super) fn calibrated<'a>(&self, request: &'a BuildRequest) -> Option<(&'a str, BuildRequest)> {
        let model =
            request.model.as_deref().filter(|model| self.options.calibrate && self.calibrations.of(model).is_some())?;
        let asked = request.budget_tokens.unwrap_or_else(|| self.options.budget.of(request.phase));
        let budget_tokens = Some(self.calibrations.estimated(model, asked));
        Some((model, BuildRequest { budget_tokens, ..request.clone() }))
    }

    /// Converts the details `over_by` and `limit` of an error from tokens of the estimator to tokens of the model.
    pub(super) fn in_tokens_of(&self, model: &str, error: Error) -> Error {
        ["over_by", "limit", "required"].into_iter().fold(error, |error, name| {
            match error.details().get(name).and_then(Value::as_u64) {
                Some(tokens) => error.detail(name, self.calibrations.expected(model, tokens)),
                None => error,
            }
        })
    }

    /// Records the estimated and the actual tokens of a call of a model. From the next build on, requests that name the
    /// model have their budget converted by the ratio seen in its last calls. With `calibrate: false` the call is
    /// recorded, but the ratio is not used.
    ///
    /// # Errors
    /// `OUT_OF_RANGE` for an empty model name, or a count of 0 tokens.
    pub fn observe_usage(&mut self, observed: &ObservedUsage) -> Result<TokenCalibration> {
        observed.check()?;
        self.calibrations.observe(observed);
        self.journal.calibrations += 1;
        self.calibrations
            .of(&observed.model)
            .ok_or_else(|| Error::new(ErrorCode::Internal, "what was noted is not there"))
    }

    /// Records a build whose prompt is about to be handed out.
    pub(super) fn settle(&mut self, built: BuiltPrompt) -> BuildOutput {
        self.last_work = built.work;
        self.answers.settle(self.events.len());
        self.count_build(&built.events, built.pack.stats.dropped_count, Some(&built.pack.stats));
        BuildOutput { pack: built.pack, events: built.events }
    }

    /// Adds a build and its events to the metrics.
    pub(super) fn count_build(&mut self, events: &[Event], excluded: u64, stats: Option<&BuildStats>) {
        self.observe(events);
        self.metrics.on_items_excluded(excluded);
        if let Some(stats) = stats {
            self.metrics.on_context_built(stats);
        }
    }

    /// Compiles the prompt that asks for a tool's arguments. The tool's schema comes first.
    ///
    /// # Errors
    /// Those of [`ContextManager::build`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, SchemaOverrides};
    /// use contextweaver_model::{Phase, SelectableItem};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let tool = SelectableItem { id: "refund".into(), name: "refund".into(), ..SelectableItem::default() };
    /// let request = BuildRequest::new(Phase::Call, "refund order 12446");
    /// let output = manager.build_call(&tool, &SchemaOverrides::default(), &request)?.done().unwrap();
    /// assert!(output.pack.prompt.starts_with("[TOOL SCHEMA]\nTool: refund"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn build_call(
        &mut self,
        tool: &SelectableItem,
        overrides: &SchemaOverrides,
        request: &BuildRequest,
    ) -> Result<Outcome<BuildOutput>> {
        let schema = call_prompt::schema_header(tool, overrides);
        let header = crate::labels::join_sections(&[&schema, &request.header], crate::labels::SEPARATOR);
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
    ///
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    ///
    /// let manager = ContextManager::new(ManagerOptions::default());
    /// assert_eq!((manager.stats().items, manager.stats().builds.total_builds), (0, 0));
    /// ```
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

    /// Sums up the session for the next one: entries from the whole log, after sensitivity and firewall, by category
    /// and within a token budget. Standing instructions in force come first, each with where it was said, and take at
    /// most half of the budget.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an unknown redaction hook.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, HandoffCategory, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let mut item = ContextItem::new("d1", ItemKind::AgentMsg, "We deploy from main.");
    /// item.metadata.insert("handoff_category".into(), "decision".into());
    /// manager.ingest(item)?;
    /// let pack = manager.handoff(1000)?.done().unwrap();
    /// assert_eq!(pack.entries(HandoffCategory::Decision).count(), 1);
    /// assert!(pack.to_markdown().contains("We deploy from main."));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn handoff(&mut self, budget_tokens: u64) -> Result<Outcome<HandoffPack>> {
        let rules = match self.rules() {
            _ if !self.options.standing_rules => HandoffRules::default(),
            Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
            Outcome::Done(rules) => HandoffRules::of(rules, budget_tokens, &self.options.estimator),
        };
        self.answers.reset();
        let all = self.events.items().iter().filter(|item| !item.is_superseded()).cloned().collect();
        let filtered = sensitivity::filter(all, &self.options, &self.answers);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let (kept, withheld) = filtered?;
        let budget_tokens = budget_tokens - rules.tokens();
        let options = HandoffOptions { budget_tokens, redact_secrets: self.options.redact_secrets };
        let shown: Vec<ContextItem> = kept.into_iter().map(|item| firewall::shortened(item, &self.options)).collect();
        let dropped = withheld.len() as u64;
        let pack = build_handoff(&shown, &self.artifacts, dropped, &self.options.estimator, options);
        Ok(Outcome::Done(rules.at_head_of(pack)))
    }

    /// Finds episodes that say the same, and promotes what enough of them support to facts. Without `apply`, it only
    /// reports the facts and stores none. The report masks credentials and withholds texts at or above the sensitivity
    /// floor; the stored facts keep the original text.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `/as_of` when it is not an ISO 8601 timestamp; `QUOTA_EXCEEDED` when the facts do not fit.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::memory::ConsolidationPolicy;
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{Episode, JsonMap, Sensitivity};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// for session in ["a", "b", "c"] {
    ///     let metadata = JsonMap::from_iter([("session_id".to_owned(), session.into())]);
    ///     let summary = "The user prefers dark mode".to_owned();
    ///     let (episode_id, sensitivity) = (format!("e-{session}"), Sensitivity::Public);
    ///     manager.add_episode(Episode { episode_id, summary, tags: Vec::new(), metadata, sensitivity })?;
    /// }
    /// let report = manager.consolidate(&ConsolidationPolicy::default(), None, true)?;
    /// assert_eq!(report.promoted[0].text, "The user prefers dark mode");
    /// assert_eq!(manager.facts().len(), 1);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn consolidate(
        &mut self,
        policy: &ConsolidationPolicy,
        as_of: Option<&str>,
        apply: bool,
    ) -> Result<ConsolidationReport> {
        let options = ConsolidationOptions { as_of };
        let mut report = consolidate(self.episodes.all(), &self.facts, policy, &options)?;
        if apply {
            report.apply(&mut self.facts, policy)?;
        }
        self.mask_report(&mut report);
        Ok(report)
    }

    /// Masks or withholds the texts of a report that may not be shown. Stored facts do not change.
    fn mask_report(&self, report: &mut ConsolidationReport) {
        let levels: HashMap<&str, Sensitivity> =
            self.episodes.all().iter().map(|episode| (episode.episode_id.as_str(), episode.sensitivity)).collect();
        let show = |text: &mut String, ids: &[String]| {
            let mut item = ContextItem::new(String::new(), ItemKind::MemoryFact, std::mem::take(text));
            let known = ids.iter().filter_map(|id| levels.get(id.as_str()).copied());
            item.sensitivity = known.max().unwrap_or(item.sensitivity);
            self.outward_item(&mut item);
            *text = item.text;
        };
        report.clusters.iter_mut().for_each(|cluster| show(&mut cluster.canonical_text, &cluster.episode_ids));
        report.promoted.iter_mut().for_each(|fact| show(&mut fact.text, &fact.source_episode_ids));
    }
}
