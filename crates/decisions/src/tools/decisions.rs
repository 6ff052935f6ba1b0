//! The tools that read and write one decision: `log_decision`, `get_decision`, `update_decision`, `review_outcome` and
//! `record_thought`.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::log::{guardrail_warnings, virtual_path};
use crate::record::decode::{respell, to_map};
use crate::record::validate::{check_size, decision_from_arguments};
use crate::record::{Decision, DeliberationStep, PastReview};
use crate::store::{ChangeKind, DecisionStore};
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap};
use contextweaver_text::unicode::trim;

/// Records a decision with what was collected for it.
pub fn log_decision(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let scope = arguments.get("decision_id").and_then(Value::as_str);
    let decision = decision_from_arguments(arguments, call.agent, call.now)?;
    let logged = store.log(call, decision, scope)?;
    let mut out = json!({
        "success": true,
        "id": logged.id,
        "path": virtual_path(&logged.timestamp, &logged.id),
        "indexed": true,
        "timestamp": logged.timestamp,
        "quality": logged.quality,
    });
    if logged.collected > 0 {
        out["deliberation_auto"] = true.into();
        out["deliberation_inputs_count"] = logged.collected.into();
    }
    let warnings = guardrail_warnings(&logged.verdict, |_| true);
    if !warnings.is_empty() {
        out["guardrail_warnings"] = Value::Array(warnings);
    }
    if let Some(method) = logged.bridge_method {
        out["bridge_auto"] = true.into();
        out["bridge_method"] = method.into();
    }
    if logged.related > 0 {
        out["related_count"] = logged.related.into();
    }
    if logged.edges > 0 {
        out["graph_edges_created"] = logged.edges.into();
    }
    Ok(out)
}

/// Characters of an id from which on its beginning is enough.
const MIN_ID_PREFIX: usize = 4;
/// Decisions named when a beginning fits several.
const MAX_CANDIDATES: usize = 10;

/// Returns the decision with an id, or with the only id that begins so.
pub fn get_decision(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
    let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    // Imported decisions may have an underscore in their ids.
    if !is_plain && store.records.get(id).is_none() {
        return Err(Error::new(ErrorCode::InvalidInput, "id: letters, digits and hyphens only").at("/id"));
    }
    let candidates = candidate_ids(store, id);
    let decision = match candidates.as_slice() {
        [only] => store.records.get(only),
        _ => None,
    };
    if let Some(decision) = decision {
        let content = json!({ "found": true, "decision": to_map(decision) });
        store.tracker.track_lookup(call, &decision.id, &decision.summary);
        return Ok(content);
    }
    if candidates.is_empty() {
        return Ok(json!({ "found": false, "error": format!("Decision not found: {id}") }));
    }
    let error = format!("Several decisions begin with {id}");
    Ok(json!({ "found": false, "error": error, "candidates": candidates }))
}

fn candidate_ids(store: &DecisionStore, id: &str) -> Vec<String> {
    if store.records.get(id).is_some() {
        return vec![id.to_owned()];
    }
    if id.len() < MIN_ID_PREFIX {
        return Vec::new();
    }
    store.records.ids_starting(id).take(MAX_CANDIDATES).map(str::to_owned).collect()
}

/// Returns the only id that begins so, as [`get_decision`] takes it and queues show it; what was given where there is none.
fn only_id(store: &DecisionStore, id: String) -> String {
    match candidate_ids(store, &id).as_slice() {
        [only] => only.clone(),
        _ => id,
    }
}

/// Changes the fields that are given; how sure the agent was cannot be changed once the outcome is known.
pub fn update_decision(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let mut fields = Fields::open(respell(Value::Object(arguments.clone())), "")?;
    let id = fields.string("id")?;
    // Who wrote it stays.
    for known in ["agent_id", "trace_id"] {
        fields.take(known);
    }
    let given = |key: &str| arguments.get(key).is_some_and(|value| !value.is_null());
    if !["decision", "confidence", "context", "tags", "pattern", "reasons", "bridge"].into_iter().any(given) {
        return Ok(json!({ "error": "No fields to update" }));
    }
    let id = only_id(store, id);
    let Some(mut decision) = store.records.get(&id).cloned() else {
        return Ok(json!({ "success": false, "error": format!("Decision {id} not found") }));
    };
    let updated = apply_update(&mut decision, &mut fields)?;
    if !updated.is_empty() {
        check_size(&decision, store.options.limits, "")?;
        decision.updated_at = Some(timestamps::iso(call.now));
        store.save(ChangeKind::Updated, decision);
    }
    Ok(json!({ "success": true, "id": id, "updated_fields": updated, "indexed": true }))
}

fn apply_update(decision: &mut Decision, fields: &mut Fields) -> Result<Vec<&'static str>> {
    let mut updated = Vec::new();
    if let Some(text) = fields.opt_string("decision")?.filter(|text| !trim(text).is_empty()) {
        decision.summary.clone_from(&text);
        decision.decision = text;
        updated.push("decision");
    }
    if let Some(confidence) = fields.opt_number("confidence", 0.0, 1.0)? {
        if decision.status == "reviewed" {
            let message = "confidence: cannot be changed after the review, which is measured by it";
            return Err(Error::new(ErrorCode::InvalidInput, message).at("/confidence"));
        }
        decision.confidence = Some(confidence);
        updated.push("confidence");
    }
    // The rest is read as details of a record are.
    let mut given = Decision::default();
    let has = |key: &str| fields.peek(key).is_some_and(|value| !value.is_null());
    let [context, tags, pattern, reasons, bridge] = ["context", "tags", "pattern", "reasons", "bridge"].map(has);
    given.read_details(fields)?;
    let mut swap = |is_given: bool, name: &'static str| {
        if is_given {
            updated.push(name);
        }
        is_given
    };
    if swap(context, "context") {
        decision.context = given.context;
    }
    if swap(tags, "tags") {
        decision.tags = given.tags;
    }
    if swap(pattern, "pattern") {
        decision.pattern = given.pattern;
    }
    if swap(reasons, "reasons") {
        decision.reasons = given.reasons;
    }
    if swap(bridge, "bridge") {
        decision.bridge = given.bridge;
    }
    Ok(updated)
}

/// Records a review; the one before, if there is one, goes into the history.
pub fn review_outcome(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let say = |key: &str| arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let (id, outcome) = (say("id").unwrap_or_default(), say("outcome").unwrap_or_default());
    let (id, now) = (only_id(store, id), timestamps::iso(call.now));
    let Some(mut decision) = store.records.get(&id).cloned() else {
        let error = format!("Decision not found: {id}");
        let status = "not_found";
        return Ok(json!({
            "success": false, "id": id, "path": "", "status": status, "reviewedAt": now, "reindexed": false,
            "error": error,
        }));
    };
    keep_review(&mut decision);
    "reviewed".clone_into(&mut decision.status);
    decision.outcome = Some(outcome.clone());
    decision.reviewed_at = Some(now.clone());
    decision.actual_result = say("actual_result");
    decision.lessons = say("lessons");
    decision.review_notes = say("notes");
    decision.reviewed_by = Some(call.agent.to_owned());
    decision.updated_at = Some(now.clone());
    if let Some(kpis) = arguments.get("affected_kpis").and_then(Value::as_object) {
        decision.affected_kpis.clone_from(kpis);
    }
    check_size(&decision, store.options.limits, "")?;
    let path = virtual_path(&decision.date, &id);
    store.breakers.note_review(&decision, &outcome, call.now);
    store.save(ChangeKind::Reviewed, decision);
    Ok(json!({
        "success": true, "id": id, "path": path, "status": "reviewed", "reviewedAt": now, "reindexed": true,
    }))
}

/// Moves the review a decision has into its history.
fn keep_review(decision: &mut Decision) {
    let Some(outcome) = decision.outcome.take() else { return };
    decision.review_history.push(PastReview {
        outcome,
        reviewed_at: decision.reviewed_at.take(),
        actual_result: decision.actual_result.take(),
        lessons: decision.lessons.take(),
        review_notes: decision.review_notes.take(),
        reviewed_by: decision.reviewed_by.take(),
        unknown: JsonMap::new(),
    });
}

/// Adds a thought to a decision, or keeps it for one to come.
pub fn record_thought(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let say = |key: &str| arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let text = say("text").unwrap_or_default();
    if text.len() > store.options.limits.text_bytes {
        let message = format!("text: has {} bytes, the limit is {}", text.len(), store.options.limits.text_bytes);
        return Err(Error::new(ErrorCode::TooLarge, message).at("/text"));
    }
    let id = say("decision_id");
    let Some(mut decision) = id.and_then(|id| store.records.get(id)).cloned() else {
        let key = store.tracker.track_thought(call, id, text);
        return Ok(json!({ "success": true, "mode": "pre-decision", "tracker_key": key }));
    };
    let now = timestamps::iso(call.now);
    let deliberation = decision.deliberation.get_or_insert_default();
    let number = deliberation.steps.iter().map(|step| step.step).max().unwrap_or_default().saturating_add(1);
    deliberation.steps.push(DeliberationStep {
        step: number,
        thought: text.to_owned(),
        timestamp: Some(now.clone()),
        kind: Some("reasoning".to_owned()),
        conclusion: Some(false),
        ..DeliberationStep::default()
    });
    check_size(&decision, store.options.limits, "")?;
    decision.updated_at = Some(now);
    let id = decision.id.clone();
    store.save(ChangeKind::Thought, decision);
    Ok(json!({ "success": true, "mode": "post-decision", "decision_id": id, "step_number": number }))
}
