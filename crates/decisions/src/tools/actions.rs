//! The tools called before something is done: `pre_action` and `check_action`.

use serde_json::{Map, Value, json};

use crate::calibration::{Calibration, CalibrationSample, calibration};
use crate::guardrails::{ActionToCheck, GuardrailFinding, GuardrailVerdict};
use crate::host::CallerContext;
use crate::log::{RecordOutcome, guardrail_warnings};
use crate::record::validate::{decision_from_arguments, validate};
use crate::record::{CompactionLevel, RelatedDecision};
use crate::search::{BridgeSide, DecisionFilters, DecisionHit, DecisionQuery, LONG_TITLE, SearchResults, summary};
use crate::store::DecisionStore;
use contextweaver_base::Result;
use contextweaver_model::Warning;
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Fields, JsonMap};

/// Similar decisions unless a call says otherwise, and most of them.
const LIMIT: usize = 5;
const MAX_LIMIT: u64 = 20;
/// The category and the confidence of a record whose action has none.
const CATEGORY: &str = "process";
const CONFIDENCE: f64 = 0.5;
/// Most ids that are named for a pattern.
const EXAMPLES: usize = 3;

/// What is to be done, and how it is looked at.
struct PlannedAction {
    description: String,
    category: Option<String>,
    stakes: String,
    confidence: Option<f64>,
    context: JsonMap,
    reasons: Vec<Value>,
    tags: Vec<String>,
    pattern: Option<String>,
    limit: usize,
    records: bool,
    shows_patterns: bool,
    filters: DecisionFilters,
}

impl PlannedAction {
    fn read(arguments: &Map<String, Value>) -> Result<Self> {
        let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
        let mut action = Fields::open(fields.require("action")?, "/action")?;
        let mut options = fields.nested("options")?.map_or_else(|| Fields::open(json!({}), ""), Ok)?;
        let category = action.opt_string("category")?.filter(|category| !category.is_empty());
        Ok(Self {
            description: action.string("description")?,
            stakes: action.string_or("stakes", "medium")?,
            confidence: action.opt_number("confidence", 0.0, 1.0)?,
            context: action.object("context")?,
            reasons: fields.list("reasons")?,
            tags: fields.strings("tags")?,
            pattern: fields.opt_string("pattern")?,
            limit: options.opt_uint("query_limit", MAX_LIMIT)?.map_or(LIMIT, |limit| limit as usize),
            records: options.bool_or("auto_record", true)?,
            shows_patterns: options.bool_or("include_patterns", true)?,
            filters: DecisionFilters { category: category.clone(), ..DecisionFilters::default() },
            category,
        })
    }

    fn query<'a>(&'a self, store: &DecisionStore) -> DecisionQuery<'a> {
        let mode = store.options.search.context_retrieval_mode;
        DecisionQuery {
            text: &self.description,
            limit: self.limit,
            mode,
            side: BridgeSide::Both,
            filters: &self.filters,
        }
    }

    fn subject(&self) -> ActionToCheck<'_> {
        ActionToCheck {
            description: &self.description,
            // A recorded action is checked under the category of its record.
            category: if self.records { Some(self.recorded_category()) } else { self.category.as_deref() },
            stakes: &self.stakes,
            confidence: self.confidence,
            context: Some(&self.context),
            tags: &self.tags,
            pattern: self.pattern.as_deref(),
            reasons: Some(self.reasons.len()),
        }
    }

    fn recorded_category(&self) -> &str {
        let said = self.context.get("category").and_then(Value::as_str).filter(|category| !category.is_empty());
        self.category.as_deref().or(said).unwrap_or(CATEGORY)
    }

    /// Returns the arguments of the record.
    fn record(&self) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        put("decision", self.description.as_str().into());
        put("confidence", self.confidence.unwrap_or(CONFIDENCE).into());
        put("category", self.recorded_category().into());
        put("stakes", self.stakes.as_str().into());
        if !self.reasons.is_empty() {
            put("reasons", self.reasons.clone().into());
        }
        if !self.tags.is_empty() {
            put("tags", json!(self.tags));
        }
        if let Some(pattern) = &self.pattern {
            put("pattern", pattern.as_str().into());
        }
        out
    }
}

/// Returns the texts whose vectors the host must make before the tool runs.
pub fn pre_action_texts(
    store: &DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>> {
    let action = PlannedAction::read(arguments)?;
    Ok(store.texts_to_embed(call.answers, &action.query(store)))
}

/// Tells whether the tool may record a decision.
pub fn pre_action_logs(arguments: &Map<String, Value>) -> bool {
    arguments.get("options").and_then(|options| options.get("auto_record")) != Some(&Value::Bool(false))
}

/// Finds similar decisions, checks guardrails and, unless told not to, logs the decision.
pub fn pre_action(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let action = PlannedAction::read(arguments)?;
    // What could not be recorded is refused before anything is done.
    let decision =
        action.records.then(|| decision_from_arguments(&action.record(), call.agent, call.now)).transpose()?;
    decision.iter().try_for_each(|decision| validate(decision, &store.options))?;
    // A search that fails must not keep an action from being checked.
    let mut found = store.query(call.answers, &action.query(store)).unwrap_or_else(|error| SearchResults {
        warnings: vec![Warning::new("search_failed", error.message().to_owned(), "/action/description")],
        ..SearchResults::default()
    });
    let relevant: Vec<JsonMap> = shown(store, call, &found);
    track(store, call, &action, &found, &relevant);
    let checked = store.check_action(call, &action.subject());
    let verdict = &checked.verdict;
    store.tracker.track_check(call, &action.description, verdict.allowed, verdict.violations.len());
    let calibration = in_category(store, action.category.as_deref());
    let patterns = if action.shows_patterns { patterns(&relevant) } else { Vec::new() };
    let mut out = answer(verdict, &relevant, &calibration, &patterns);
    if let Some(decision) = decision.filter(|_| verdict.allowed) {
        match store.record(call, decision, None, Some(&action.context)) {
            Ok(RecordOutcome::Logged(logged)) => {
                out["decisionId"] = logged.id.into();
                checked.note_start(store, call.now);
                // The answer lists a rule once, even if the action and its record both break it.
                let known = |finding: &GuardrailFinding| verdict.findings().any(|known| known.id == finding.id);
                let warnings = guardrail_warnings(&logged.verdict, |finding| !known(finding));
                if !warnings.is_empty() {
                    out["guardrail_warnings"] = Value::Array(warnings);
                }
            }
            // Guardrails of the record speak of the action, too.
            Ok(RecordOutcome::Refused(findings)) => {
                out["allowed"] = false.into();
                out["guardrailResults"] =
                    findings.iter().chain(verdict.findings()).map(GuardrailFinding::to_json).collect();
                out["blockReasons"] = findings.iter().map(|finding| finding.message.as_str()).collect();
            }
            Err(error) => {
                found.warnings.push(Warning::new("record_failed", error.message().to_owned(), "/action"));
            }
        }
    }
    out["trace_id"] = store.tracker.trace_id(call).into();
    if !found.warnings.is_empty() {
        out["warnings"] = json!(found.warnings);
    }
    Ok(out)
}

fn shown(store: &DecisionStore, call: &CallerContext<'_>, found: &SearchResults) -> Vec<JsonMap> {
    let one = |hit: &DecisionHit| {
        let decision = store.records.get(&hit.id)?;
        let mut summary = summary(decision, hit, LONG_TITLE);
        summary.insert("compactionLevel".to_owned(), CompactionLevel::of(decision, call.now).as_str().into());
        Some(summary)
    };
    found.hits.iter().filter_map(one).collect()
}

/// Notes the search for the deliberation of the decision.
fn track(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    action: &PlannedAction,
    found: &SearchResults,
    relevant: &[JsonMap],
) {
    let text = |summary: &JsonMap, key: &str| summary.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let related = relevant.iter().zip(&found.hits).map(|(summary, hit)| RelatedDecision {
        id: text(summary, "id"),
        summary: text(summary, "title"),
        distance: round(hit.distance, 3),
        ..RelatedDecision::default()
    });
    let related = related.collect();
    store.tracker.track_query(call, &action.description, relevant.len(), found.mode.as_str(), related);
}

/// Returns how well confidence foretold outcomes in a category, or in all.
fn in_category(store: &DecisionStore, category: Option<&str>) -> Value {
    let is_in = |name: &str| category.is_none_or(|category| category == name);
    let samples: Vec<CalibrationSample> =
        store.records.iter().filter(|decision| is_in(&decision.category)).map(CalibrationSample::of).collect();
    let reviewed = samples.iter().filter(|sample| sample.value.is_some()).count();
    let mut out = json!({ "reviewedDecisions": reviewed });
    if let Some(Calibration { brier_score, accuracy, calibration_gap, interpretation, .. }) = calibration(&samples, 5) {
        out["brierScore"] = brier_score.into();
        out["accuracy"] = accuracy.into();
        out["calibrationGap"] = calibration_gap.into();
        out["interpretation"] = interpretation.into();
    }
    out
}

/// Groups what was found by pattern, in the order in which it was found.
fn patterns(relevant: &[JsonMap]) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&Value>)> = Vec::new();
    for summary in relevant {
        let Some(pattern) = summary.get("pattern").and_then(Value::as_str) else { continue };
        let id = &summary["id"];
        match groups.iter_mut().find(|(known, _)| *known == pattern) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((pattern, vec![id])),
        }
    }
    let group = |(pattern, ids): (&str, Vec<&Value>)| json!({ "pattern": pattern, "count": ids.len(), "exampleIds": ids.iter().take(EXAMPLES).collect::<Vec<_>>() });
    groups.into_iter().map(group).collect()
}

fn answer(verdict: &GuardrailVerdict, relevant: &[JsonMap], calibration: &Value, patterns: &[Value]) -> Value {
    let mut out = json!({
        "allowed": verdict.allowed,
        "decisionId": null,
        "relevantDecisions": relevant,
        "guardrailResults": verdict.findings().map(GuardrailFinding::to_json).collect::<Vec<_>>(),
        "calibrationContext": calibration,
        "patternsSummary": patterns,
        "queryTimeMs": 0,
    });
    if !verdict.allowed {
        out["blockReasons"] = verdict.violations.iter().map(|finding| finding.message.as_str()).collect();
    }
    out
}

/// Checks an action against guardrails and breakers.
pub fn check_action(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let (description, category) = (fields.string("description")?, fields.opt_string("category")?);
    let (stakes, context) = (fields.string_or("stakes", "medium")?, fields.opt_object("context")?);
    let subject = ActionToCheck {
        description: &description,
        category: category.as_deref(),
        stakes: &stakes,
        confidence: fields.opt_number("confidence", 0.0, 1.0)?,
        context: context.as_ref(),
        tags: &[],
        pattern: None,
        reasons: None,
    };
    let verdict = store.check_action(call, &subject).verdict;
    store.tracker.track_check(call, &description, verdict.allowed, verdict.violations.len());
    Ok(json!({
        "allowed": verdict.allowed,
        "violations": verdict.violations.iter().map(both_spellings).collect::<Vec<_>>(),
        "warnings": verdict.warnings.iter().map(both_spellings).collect::<Vec<_>>(),
        "evaluated": verdict.evaluated,
    }))
}

/// Writes a finding with the id in the spelling of contextweaver 0.18 as well.
fn both_spellings(finding: &GuardrailFinding) -> Value {
    let mut out = Map::new();
    out.insert("guardrail_id".to_owned(), finding.id.as_str().into());
    if let Value::Object(rest) = finding.to_json() {
        out.extend(rest);
    }
    Value::Object(out)
}
