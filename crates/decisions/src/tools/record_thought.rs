//! Notes a thought.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::record::DeliberationStep;
use crate::record::validate::check_size;
use crate::store::ChangeKind;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};

/// Adds a thought to a decision, or keeps it for one to come.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
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
