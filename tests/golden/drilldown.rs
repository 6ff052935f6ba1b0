//! Slices of stored texts.

use contextweaver_base::ErrorCode;
use contextweaver_content::{Selector, slice};
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

use crate::context::text;
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
    let stored = String::from_utf8_lossy(&bytes);
    let part = Selector::from_value(input["selector"].clone(), "")
        .and_then(|selector| slice(&stored, text(input, "media_type"), &selector, None, &Estimator::V3));
    match part {
        Ok(part) => json!({ "result": part.text }),
        Err(error) if error.code() == ErrorCode::Unsupported => {
            json!({ "error": "ContextWeaverError", "code": "CW_ERROR" })
        }
        Err(_) => json!({ "error": "TypeError" }),
    }
}
