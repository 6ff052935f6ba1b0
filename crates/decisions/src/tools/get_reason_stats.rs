//! Says which kinds of reasons hold.

use serde_json::{Map, Value};

use super::selection::DecisionSelector;
use crate::host::CallerContext;
use crate::reason_stats::reason_stats;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Reviewed decisions that a kind of reasons needs, unless a call says otherwise.
const MIN_REVIEWED: u64 = 3;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let mut selection = DecisionSelector::take(&mut fields, call)?;
    if let Some(mut filters) = fields.nested("filters")? {
        selection = DecisionSelector::take(&mut filters, call)?.with_agent_of(selection);
    }
    let min = fields.uint_or("min_reviewed", MIN_REVIEWED, 50)?;
    let stats = reason_stats(store.records.iter().filter(|decision| selection.holds(decision)), min);
    let diversity = (stats.decisions > 0).then_some(stats.diversity);
    store.tracker.track_stats(call, stats.decisions as usize, stats.types, diversity);
    let mut out = stats.json;
    out["queryTime"] = timestamps::iso(call.now).into();
    Ok(out)
}
