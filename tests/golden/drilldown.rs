//! Slices of stored texts.

use contextweaver_base::ErrorCode;
use contextweaver_context::compat::drilldown::select;
use serde_json::{Value, json};

use crate::drilldown_policy;
use crate::views::content;

/// Runs one case; a failure of ours becomes the reference's class.
pub fn run(file: &str, input: &Value) -> Result<Value, String> {
    match file {
        "manager_policy" => Ok(drilldown_policy::run(input)),
        "selectors" => Ok(selectors(input)),
        other => Err(format!("no runner for file {other:?}")),
    }
}

fn selectors(input: &Value) -> Value {
    let bytes = content(input);
    let selector = input["selector"].as_object().cloned().unwrap_or_default();
    match select(&selector, &String::from_utf8_lossy(&bytes)) {
        Ok(slice) => json!({ "result": slice }),
        Err(error) if error.code() == ErrorCode::Unsupported => {
            json!({ "error": "ContextWeaverError", "code": "CW_ERROR" })
        }
        Err(_) => json!({ "error": "TypeError" }),
    }
}
