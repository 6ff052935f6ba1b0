//! Records what came of a decision.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::log::virtual_path;
use crate::record::validate::check_size;
use crate::record::{Decision, PastReview};
use crate::store::ChangeKind;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::Result;
use contextweaver_model::json::JsonMap;

/// Records a review; the one before, if there is one, goes into the history.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let say = |key: &str| arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let (id, outcome) = (say("id").unwrap_or_default(), say("outcome").unwrap_or_default());
    let now = timestamps::iso(call.now);
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
