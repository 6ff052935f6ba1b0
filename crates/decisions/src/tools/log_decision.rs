//! Records a decision.

use serde_json::{Map, Value, json};

use crate::call::CallerContext;
use crate::draft::draft;
use crate::recording::{record, virtual_path, warnings};
use crate::store::DecisionStore;
use contextweaver_base::Result;

/// Records a decision with what was collected for it.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let scope = arguments.get("decision_id").and_then(Value::as_str);
    let decision = draft(arguments, call.agent, call.now)?;
    let recorded = record(store, call, decision, scope)?;
    let mut out = json!({
        "success": true,
        "id": recorded.id,
        "path": virtual_path(&recorded.timestamp, &recorded.id),
        "indexed": true,
        "timestamp": recorded.timestamp,
        "quality": recorded.quality,
    });
    if recorded.collected > 0 {
        out["deliberation_auto"] = true.into();
        out["deliberation_inputs_count"] = recorded.collected.into();
    }
    let warnings = warnings(&recorded.verdict);
    if !warnings.is_empty() {
        out["guardrail_warnings"] = Value::Array(warnings);
    }
    if let Some(method) = recorded.bridge_method {
        out["bridge_auto"] = true.into();
        out["bridge_method"] = method.into();
    }
    if recorded.related > 0 {
        out["related_count"] = recorded.related.into();
    }
    if recorded.edges > 0 {
        out["graph_edges_created"] = recorded.edges.into();
    }
    Ok(out)
}
