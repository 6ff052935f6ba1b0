//! Checks an action against the guardrails.

use serde_json::{Map, Value, json};

use crate::guardrails::{ActionToCheck, GuardrailFinding, check};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let (description, category) = (fields.string("description")?, fields.opt_string("category")?);
    let (stakes, context) = (fields.string_or("stakes", "medium")?, fields.opt_object("context")?);
    let subject = ActionToCheck {
        description: &description,
        category: category.as_deref(),
        stakes: &stakes,
        confidence: fields.opt_number("confidence", 0.0, 1.0)?,
        context: context.as_ref(),
        tags: &[],
        pattern: None,
        reasons: None,
    };
    let verdict = check(store, call, &subject).verdict;
    store.tracker.track_check(call, &description, verdict.allowed, verdict.violations.len());
    Ok(json!({
        "allowed": verdict.allowed,
        "violations": verdict.violations.iter().map(both_spellings).collect::<Vec<_>>(),
        "warnings": verdict.warnings.iter().map(both_spellings).collect::<Vec<_>>(),
        "evaluated": verdict.evaluated,
    }))
}

/// Writes a finding with the id in the reference's spelling as well.
fn both_spellings(finding: &GuardrailFinding) -> Value {
    let mut out = Map::new();
    out.insert("guardrail_id".to_owned(), finding.id.as_str().into());
    if let Value::Object(rest) = finding.to_json() {
        out.extend(rest);
    }
    Value::Object(out)
}
