//! Who may read a slice of a stored result, and what reading leaves in the log.

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{ContextManager, DrilldownRequest, ManagerOptions};
use serde_json::{Value, json};

use crate::context::{items, reference_error, text};

/// Runs one case; a failure of ours becomes the reference's class and code.
pub fn run(input: &Value) -> Value {
    run_calls(input).unwrap_or_else(|error| reference_error(&error))
}

fn run_calls(input: &Value) -> Result<Value> {
    let options = ManagerOptions::from_value(json!({ "policy": input.get("policy") }))?;
    let mut manager = ContextManager::new(options);
    manager.ingest_all(items(&input["items"])?)?;
    for artifact in input["artifacts"].as_array().into_iter().flatten() {
        let bytes = text(&artifact["content"], "utf8").as_bytes();
        manager.put_artifact(text(artifact, "handle"), bytes, text(artifact, "media_type"), text(artifact, "label"))?;
    }
    let calls = input["calls"].as_array().into_iter().flatten();
    let results: Vec<Value> =
        calls.map(|call| drilldown(&mut manager, call).unwrap_or_else(|error| reference_error(&error))).collect();
    let mut log = json!(manager.events().items());
    for item in log.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        item.remove("artifact_ref");
    }
    Ok(json!({ "results": results, "log": log }))
}

fn drilldown(manager: &mut ContextManager, call: &Value) -> Result<Value> {
    match manager.drilldown(&DrilldownRequest::from_value(call.clone())?)? {
        Outcome::Done(slice) => Ok(json!({ "result": slice.text })),
        Outcome::Need(_) => Err(Error::new(ErrorCode::Internal, "no custom functions here")),
    }
}
