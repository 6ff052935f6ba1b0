//! What is due.

use serde_json::{Map, Value, json};

use super::selection::DecisionSelector;
use crate::host::CallerContext;
use crate::ready::{DueFilter, KINDS, queue, shorten_ids};
use crate::store::DecisionStore;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::unicode::quote;

/// Actions unless a call says otherwise, and most of them.
const LIMIT: u64 = 20;
const MAX_LIMIT: u64 = 50;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let selection = DecisionSelector::take(&mut fields, call)?;
    let kinds = fields.strings("action_types")?;
    if let Some(at) = kinds.iter().position(|kind| !KINDS.contains(&kind.as_str())) {
        let message = format!("expected one of {}, got {}", KINDS.join(", "), quote(&kinds[at]));
        return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("/action_types/{at}")));
    }
    let min_priority = fields.string_or("min_priority", "low")?;
    let limit = fields.uint_or("limit", LIMIT, MAX_LIMIT)? as usize;
    let wanted = DueFilter { min_priority: &min_priority, kinds: &kinds, limit, category: None };
    let chosen = store.records.iter().filter(|decision| selection.holds(decision));
    let mut due = queue(chosen, call.now, &wanted);
    shorten_ids(&mut due.actions, |short| store.records.ids_starting(short).nth(1).is_none());
    Ok(json!(due))
}
