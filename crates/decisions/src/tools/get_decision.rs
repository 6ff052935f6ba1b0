//! Returns one decision.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::record::decode::to_map;
use crate::store::DecisionStore;
use contextweaver_base::{Error, ErrorCode, Result};

/// Characters of an id from which on its beginning is enough.
const PREFIX: usize = 4;
/// Decisions named when a beginning fits several.
const CANDIDATES: usize = 10;

/// Returns the decision with an id, or with the only id that begins so.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
    let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    // Imported decisions may have an underscore in their ids.
    if !is_plain && store.records.get(id).is_none() {
        return Err(Error::new(ErrorCode::InvalidInput, "id: letters, digits and hyphens only").at("/id"));
    }
    let candidates = candidates(store, id);
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

fn candidates(store: &DecisionStore, id: &str) -> Vec<String> {
    if store.records.get(id).is_some() {
        return vec![id.to_owned()];
    }
    if id.len() < PREFIX {
        return Vec::new();
    }
    store.records.ids_starting(id).take(CANDIDATES).map(str::to_owned).collect()
}
