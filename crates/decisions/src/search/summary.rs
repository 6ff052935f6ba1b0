//! What an agent is shown of a decision that was found.

use serde_json::{Map, Value, json};

use super::query::DecisionHit;
use crate::record::Decision;
use crate::terms::truncate_masked;
use contextweaver_model::json::JsonMap;
use contextweaver_text::unicode::prefix;

/// Characters of a title in a list of hits.
pub const SHORT_TITLE: usize = 50;
/// Characters of a title where there is room.
pub const LONG_TITLE: usize = 500;

/// Returns the summary of a decision that was found; who knows the time adds `compactionLevel`.
pub fn summary(decision: &Decision, hit: &DecisionHit, title: usize) -> JsonMap {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("id", json!(decision.id));
    put("title", json!(truncate_masked(decision.title(), title)));
    put("category", json!(decision.category));
    put("confidence", json!(decision.confidence));
    put("stakes", json!(decision.stakes));
    put("status", json!(decision.status));
    put("date", json!(prefix(&decision.date, 10)));
    put("distance", json!(hit.distance));
    let present = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    if let Some(outcome) = present(&decision.outcome) {
        put("outcome", json!(outcome));
    }
    if !decision.reasons.is_empty() {
        let reason = |reason: &crate::record::DecisionReason| json!({ "type": reason.kind, "text": reason.text });
        put("reasons", decision.reasons.iter().map(reason).collect());
    }
    if !decision.tags.is_empty() {
        put("tags", json!(decision.tags));
    }
    for (key, value) in
        [("pattern", &decision.pattern), ("lessons", &decision.lessons), ("actualResult", &decision.actual_result)]
    {
        if let Some(text) = present(value) {
            put(key, json!(text));
        }
    }
    if let Some(bridge) = &decision.bridge {
        put("bridge", json!({ "structure": bridge.structure, "function": bridge.function }));
    }
    if !hit.superseded_by.is_empty() {
        put("superseded", json!(true));
        put("supersededBy", json!(hit.superseded_by));
    }
    out
}
