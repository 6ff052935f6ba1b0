//! Says how well confidence foretells outcomes.

use serde_json::{Map, Value, json};

use super::selection::DecisionSelector;
use crate::calibration::{CalibrationSample, CalibrationWindow, advice, buckets, calibration, extended, spread};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Reviewed decisions that overall figures need, unless a call says otherwise.
const MIN_DECISIONS: u64 = 5;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let selection = DecisionSelector::take(&mut fields, call)?;
    let window = fields.opt_string("window")?.map(|name| CalibrationWindow::named(&name, call.now));
    let min = fields.uint_or("min_decisions", MIN_DECISIONS, u64::from(u32::MAX))?;
    let chosen = store
        .records
        .iter()
        .filter(|decision| selection.holds(decision) && window.as_ref().is_none_or(|window| window.holds(decision)));
    let samples: Vec<CalibrationSample> = chosen.map(CalibrationSample::of).collect();
    let mut overall = calibration(&samples, min);
    if let (Some(overall), Some(window)) = (&mut overall, window) {
        (overall.period_start, overall.period_end) = window.dates().unzip();
        overall.window = Some(window.name);
    }
    let (buckets, spread) = (buckets(&samples), spread(&samples));
    let mut out = json!({
        "overall": overall,
        "byConfidenceBucket": buckets,
        "recommendations": advice(overall.as_ref(), &buckets, spread.as_ref()),
        "queryTime": timestamps::iso(call.now),
    });
    if let Some(spread) = spread {
        out["confidenceStats"] = spread.to_json();
    }
    if let Some(extended) = extended(&samples).filter(|_| overall.is_some()) {
        out["extended"] = extended;
    }
    Ok(out)
}
