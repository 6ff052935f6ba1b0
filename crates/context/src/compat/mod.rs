//! The pipeline of contextweaver 0.18 for Python, stage by stage.

pub mod compact;
pub mod content;
pub mod drilldown;
pub mod firewall;
pub mod ingest;
pub mod stages;

use std::collections::HashSet;

use crate::callbacks::Outcome;
use crate::compile::explain;
use crate::compile::inputs::BuildInputs;
use crate::compile::output;
use crate::drilldown::request::{DrilldownRequest, Slice};
use crate::event::{Event, FIREWALL_REASON};
use crate::ingest::mcp_result::McpResult;
use crate::ingest::tool_result::{Ingested, ToolResult};
use crate::labels;
use crate::manager::{BuildOutput, ContextManager};
use crate::memory::MemoryWords;
use crate::options::{ManagerOptions, ManagerRules, ProfilePolicy, TextForm};
use crate::request::BuildRequest;
use crate::store::ArtifactStore;
use crate::strategy::ManagerStrategy;
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_model::json::Fields;
use contextweaver_model::{
    ArtifactRef, BuildStats, CandidateExplanation, CompatWeights, ContextItem, ContextPack, ContextPolicy, DroppedItem,
    Explanation, ItemKind, ResultEnvelope, ScoringConfig, Sensitivity, ViewSpec,
};
use contextweaver_text::redact::SecretRules;
use contextweaver_text::tokens::Estimator;
use serde_json::Value;

/// The items after each stage, for comparison with recordings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// After the kind filter.
    pub candidates: Vec<String>,
    /// After dependency closure.
    pub closure: Vec<String>,
    /// After the sensitivity stage.
    pub sensitivity: Vec<String>,
    /// Ids and scores, best first.
    pub scored: Vec<(String, f64)>,
    /// After the repeats are gone.
    pub dedup_kept: Vec<String>,
    /// In the prompt.
    pub selected: Vec<String>,
}

/// A build that is finished, or fails only because of its overflow policy.
struct CompatBuild {
    /// The pack, or the overflow policy's error.
    pack: Result<ContextPack>,
    /// Items dropped, whatever the overflow policy makes of it.
    excluded: u64,
    /// For the hooks; they are told even when the overflow policy raises.
    events: Vec<Event>,
    trace: Trace,
}

/// What 0.18 takes for a secret.
const SECRETS: SecretRules = SecretRules::Compat;

/// The strategy of contextweaver 0.18 for Python.
#[derive(Debug, Clone, Copy)]
pub struct Compat;

/// Makes a manager that works as 0.18 does.
///
/// # Errors
/// None at present.
pub fn manager(options: ManagerOptions) -> Result<ContextManager> {
    Ok(ContextManager::with_strategy(options, &Compat))
}

/// Returns the settings of 0.18.
pub fn options() -> ManagerOptions {
    ManagerOptions {
        rules: ManagerRules {
            secrets: SECRETS,
            memory_words: MemoryWords::Ascii,
            text_form: TextForm::Verbatim,
            profile_policy: ProfilePolicy::Replaced,
        },
        policy: ContextPolicy::compat(),
        scoring: ScoringConfig::Compat(CompatWeights::default()),
        trim_active_turn: false,
        redact_secrets: false,
        estimator: Estimator::V2,
        ..ManagerOptions::default()
    }
}

impl ManagerStrategy for Compat {
    fn version(&self) -> &'static str {
        "0.18"
    }

    fn build(&self, manager: &mut ContextManager, request: &BuildRequest) -> Result<Outcome<BuildOutput>> {
        manager.answers.reset();
        Ok(match build_traced(manager, request)?.0 {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done((pack, events)) => Outcome::Done(BuildOutput { pack: pack?, events }),
        })
    }

    fn ingest_tool_result(
        &self,
        manager: &mut ContextManager,
        result: &ToolResult,
        raw: &[u8],
    ) -> Result<Outcome<Ingested>> {
        ingest::tool_result(manager, result, raw, &ingest::Gate::of(result))
    }

    fn ingest_mcp_result(&self, manager: &mut ContextManager, mut result: McpResult) -> Result<Outcome<Ingested>> {
        let parts = std::mem::take(&mut result.binaries);
        ingest::mcp_result(manager, &result, parts)
    }

    fn ingest_envelope(
        &self,
        manager: &mut ContextManager,
        tool_call_id: &str,
        tool_name: &str,
        envelope: &ResultEnvelope,
        sensitivity: Sensitivity,
    ) -> Result<Outcome<ContextItem>> {
        ingest::envelope(manager, tool_call_id, tool_name, envelope, sensitivity)
    }

    fn part(&self, manager: &ContextManager, request: &DrilldownRequest) -> Result<Slice> {
        drilldown::part(manager, request)
    }

    fn views(&self, artifact_ref: &ArtifactRef, raw: &[u8]) -> Vec<ViewSpec> {
        content::views(artifact_ref, raw)
    }

    fn shorten(&self, manager: &mut ContextManager, items: Vec<ContextItem>) -> Result<Outcome<Vec<ContextItem>>> {
        let mut artifacts = manager.artifacts.clone();
        let rules = firewall::FirewallRules::of(&manager.options);
        let (shown, _) = firewall::compact_all(items, &rules, &manager.answers, &mut artifacts)?;
        if manager.answers.is_waiting() {
            return Ok(Outcome::Need(manager.answers.take_needs()));
        }
        manager.artifacts.adopt_new(artifacts);
        Ok(Outcome::Done(shown))
    }

    fn compact(&self, manager: &mut ContextManager, arguments: Value) -> Result<Outcome<Value>> {
        let mut fields = Fields::open(arguments, "")?;
        let data = fields.take("data").unwrap_or_default();
        let options = compact::CompactOptions::from_value(Value::Object(fields.rest()), "")?;
        manager.answers.reset();
        Ok(match compact::compact_tool_result(&data, &options, &manager.answers, &mut manager.artifacts)? {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done(compacted) => {
                manager.answers.settle(manager.events.len());
                Outcome::Done(compacted.to_json())
            }
        })
    }
}

/// What a build gives: the pack, or the overflow policy's error, with what the hooks should hear of either.
pub type CompatPack = (Result<ContextPack>, Vec<Event>);

/// Compiles a prompt and tells what every stage left.
///
/// The firewall stores the text of results it has not seen before; bytes already stored under the same handle are never
/// changed.
///
/// # Errors
/// Those of [`ContextManager::build`], but for what the overflow policy raises: that is in the pack's place.
pub fn build_traced(manager: &mut ContextManager, request: &BuildRequest) -> Result<(Outcome<CompatPack>, Trace)> {
    let mut artifacts = manager.artifacts.clone();
    let built = build(&manager.sources(), request, &mut artifacts);
    if manager.answers.is_waiting() {
        return Ok((Outcome::Need(manager.answers.take_needs()), Trace::default()));
    }
    let built = built?;
    manager.artifacts.adopt_new(artifacts);
    manager.answers.settle(manager.events.len());
    manager.count_build(&built.events, built.excluded, built.pack.as_ref().ok().map(|pack| &pack.stats));
    Ok((Outcome::Done((built.pack, built.events)), built.trace))
}

fn ids(items: &[ContextItem]) -> Vec<String> {
    items.iter().map(|item| item.id.clone()).collect()
}

fn record_drops(stats: &mut BuildStats, items: &[ContextItem], reason: &'static str) {
    for item in items {
        let drop = DroppedItem { item_id: item.id.clone(), reason: reason.into(), stage: None, tokens: None };
        stats.add_drop(drop);
    }
}

/// Compiles a prompt. Artifacts of summarised results are stored in `artifacts`.
fn build(sources: &BuildInputs, request: &BuildRequest, artifacts: &mut ArtifactStore) -> Result<CompatBuild> {
    let BuildInputs { events, options, answers, .. } = *sources;
    let weights = match &options.scoring {
        ScoringConfig::Compat(weights) => weights.for_phase(request.phase),
        ScoringConfig::Bm25n(_) => CompatWeights::default(),
    };
    let mut trace = Trace::default();
    let chosen = stages::candidates(events.items(), request.phase, &options.policy);
    trace.candidates = chosen.iter().map(|at| events.items()[*at].id.clone()).collect();
    let (closed, added) = stages::ancestors(events, &chosen);
    let closed: Vec<ContextItem> = closed.into_iter().map(|at| events.items()[at].clone()).collect();
    trace.closure = ids(&closed);
    let total = closed.len() as u64;
    let (visible, withheld) = stages::filter(closed, options, answers)?;
    trace.sensitivity = ids(&visible);
    let (visible, envelopes) =
        firewall::compact_all(visible, &firewall::FirewallRules::of(options), answers, artifacts)?;
    let wanted = stages::CompatQuery::new(&request.query, &request.tags);
    let scored = stages::score_all(&visible, &wanted, &weights);
    trace.scored = scored.iter().map(|(score, item)| (item.id.clone(), *score)).collect();
    let texts: Vec<&str> = scored.iter().map(|(_, item)| item.text.as_str()).collect();
    let repeated = stages::near_duplicates(&texts, weights.dedup_threshold);
    let split = |wanted: bool| -> Vec<ContextItem> {
        scored.iter().zip(&repeated).filter(|(_, is)| **is == wanted).map(|((_, item), _)| (*item).clone()).collect()
    };
    let (kept, repeats) = (split(false), split(true));
    trace.dedup_kept = ids(&kept);
    let memory = options.policy.allows(request.phase, ItemKind::MemoryFact);
    let header = stages::header(&request.header, memory, sources.episodes, sources.facts, options, answers)?;
    let budget = request.budget_tokens.unwrap_or_else(|| options.budget.of(request.phase));
    let tokens = |text: &str| answers.tokens(&options.estimator, text);
    let frame_tokens = tokens(&header) + tokens(&request.footer);
    let limit = budget.saturating_sub(frame_tokens);
    let chosen = stages::select(kept, limit, &options.policy, tokens);
    trace.selected = ids(&chosen.selected);

    let mut stats = BuildStats::empty(options.estimator.name());
    stats.tokens_per_section =
        chosen.tokens_per_section.iter().map(|(kind, sum)| (kind.as_str().to_owned(), *sum)).collect();
    stats.total_candidates = total;
    stats.included_count = chosen.selected.len() as u64;
    record_drops(&mut stats, &withheld, "sensitivity");
    record_drops(&mut stats, &repeats, "dedup");
    for (item, reason) in &chosen.dropped {
        record_drops(&mut stats, std::slice::from_ref(item), reason);
    }
    stats.dedup_removed = repeats.len() as u64;
    stats.dependency_closures = added.len() as u64;
    stats.header_footer_tokens = frame_tokens;
    stats.firewall_events = envelopes.iter().filter_map(|envelope| envelope.firewall_stats.clone()).collect();
    let mut hook_events = hook_events(&stats, &envelopes, &chosen.overruns, frame_tokens, budget);
    let over = chosen.dropped.iter().filter(|(_, reason)| *reason == "budget");
    let mut kinds: Vec<ItemKind> = over.map(|(item, _)| item.kind).collect();
    sort_by(&mut kinds, |a, b| a.as_str().cmp(b.as_str()));
    kinds.dedup();
    let mut warnings = Vec::new();
    if let Err(error) = output::check_overflow(&options.policy, &kinds, &stats, &mut warnings) {
        return Ok(CompatBuild { excluded: stats.dropped_count, pack: Err(error), events: hook_events, trace });
    }
    hook_events.push(Event::ContextBuilt { phase: request.phase.as_str().to_owned() });
    let explanation = request.explain.then(|| {
        let added: HashSet<&str> = added.iter().map(|at| events.items()[*at].id.as_str()).collect();
        let all = [&visible[..], &withheld[..]].concat();
        explained(&all, &trace, &stats, &added, sources, request, limit)
    });
    let excluded = stats.dropped_count;
    request.shorten(&mut stats);
    let prompt = stages::compat_prompt(&chosen.selected, labels::SEPARATOR, &header, &request.footer);
    let pack = ContextPack {
        prompt,
        stats,
        phase: request.phase,
        envelopes,
        items: None,
        warnings,
        explanation,
        running: None,
    };
    Ok(CompatBuild { excluded, pack: Ok(pack), events: hook_events, trace })
}

fn hook_events(
    stats: &BuildStats,
    envelopes: &[contextweaver_model::ResultEnvelope],
    overruns: &[(u64, u64)],
    frame_tokens: u64,
    budget: u64,
) -> Vec<Event> {
    let mut events: Vec<Event> = envelopes
        .iter()
        .filter_map(|envelope| envelope.provenance.get("source_item_id").and_then(serde_json::Value::as_str))
        .map(|id| Event::FirewallTriggered { item_id: id.to_owned(), reason: FIREWALL_REASON })
        .collect();
    for reason in ["sensitivity", "dedup", "kind_limit", "budget"] {
        let item_ids: Vec<String> =
            stats.dropped_items.iter().filter(|drop| drop.reason == reason).map(|drop| drop.item_id.clone()).collect();
        if !item_ids.is_empty() {
            events.push(Event::ItemsExcluded { item_ids, reason: reason.to_owned() });
        }
    }
    if frame_tokens > budget {
        events.push(Event::BudgetExceeded { requested: frame_tokens, limit: budget });
    } else if let Some((requested, limit)) = overruns.iter().max() {
        events.push(Event::BudgetExceeded { requested: *requested, limit: *limit });
    }
    events
}

fn explained(
    items: &[ContextItem],
    trace: &Trace,
    stats: &BuildStats,
    added: &HashSet<&str>,
    sources: &BuildInputs,
    request: &BuildRequest,
    limit: u64,
) -> Explanation {
    let scores: std::collections::HashMap<&str, f64> =
        trace.scored.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    let reasons: std::collections::HashMap<&str, &str> =
        stats.dropped_items.iter().map(|drop| (drop.item_id.as_str(), &*drop.reason)).collect();
    let explain_item = |item: &ContextItem| {
        let candidate = CandidateExplanation {
            item_id: item.id.clone(),
            kind: item.kind,
            sensitivity: item.sensitivity,
            score: scores.get(item.id.as_str()).map(|score| explain::round4(*score)),
            included: !reasons.contains_key(item.id.as_str()),
            drop_reason: reasons.get(item.id.as_str()).copied().unwrap_or("").to_owned(),
            dependency_closure: added.contains(item.id.as_str()),
            detail: None,
        };
        (scores.get(item.id.as_str()).copied(), candidate)
    };
    let mut candidates: Vec<(Option<f64>, CandidateExplanation)> = items.iter().map(explain_item).collect();
    sort_by(&mut candidates, |(a_score, a), (b_score, b)| explain::order((*a_score, a), (*b_score, b)));
    let candidates = candidates.into_iter().map(|(_, candidate)| candidate).collect();
    Explanation {
        version: 1,
        phase: request.phase,
        query: request.query.clone(),
        total_candidates: stats.total_candidates,
        included_count: stats.included_count,
        dropped_count: stats.dropped_count,
        dropped_reasons: explain::reasons(stats),
        dependency_closures: stats.dependency_closures,
        sensitivity_drops: stats.dropped_items.iter().filter(|drop| drop.reason == "sensitivity").count() as u64,
        dedup_removed: stats.dedup_removed,
        budget_tokens: limit,
        resolved_weights: explain::weights(&sources.options.scoring, request.phase),
        candidates,
    }
}
