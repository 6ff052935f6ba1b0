//! Changes a decision.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::record::Decision;
use crate::record::decode::respell;
use crate::record::validate::check_size;
use crate::store::ChangeKind;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::unicode::trim;

/// Changes the fields that are given; how sure the agent was cannot be changed once the outcome is known.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
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
    let Some(mut decision) = store.records.get(&id).cloned() else {
        return Ok(json!({ "success": false, "error": format!("Decision {id} not found") }));
    };
    let updated = change(&mut decision, &mut fields)?;
    if !updated.is_empty() {
        check_size(&decision, store.options.limits, "")?;
        decision.updated_at = Some(timestamps::iso(call.now));
        store.save(ChangeKind::Updated, decision);
    }
    Ok(json!({ "success": true, "id": id, "updated_fields": updated, "indexed": true }))
}

fn change(decision: &mut Decision, fields: &mut Fields) -> Result<Vec<&'static str>> {
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
