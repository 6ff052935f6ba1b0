//! Records a decision.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::log::{guardrail_warnings, log_decision, virtual_path};
use crate::record::validate::decision_from_arguments;
use crate::store::DecisionStore;
use contextweaver_base::Result;

/// Records a decision with what was collected for it.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let scope = arguments.get("decision_id").and_then(Value::as_str);
    let decision = decision_from_arguments(arguments, call.agent, call.now)?;
    let logged = log_decision(store, call, decision, scope)?;
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
    let warnings = guardrail_warnings(&logged.verdict);
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
