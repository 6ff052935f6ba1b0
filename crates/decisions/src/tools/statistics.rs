//! The tools that sum up decisions: `get_stats`, `get_reason_stats` and `ready`.

use serde_json::{Map, Value, json};

use crate::calibration::{CalibrationSample, CalibrationWindow, advice, buckets, calibration, extended, spread};
use crate::host::CallerContext;
use crate::ready::{DueFilter, KINDS, queue, shorten_ids};
use crate::reason_stats::reason_stats;
use crate::record::Decision;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;

/// What decisions must be like; all that is given holds.
#[derive(Debug, Clone, Default)]
pub(super) struct DecisionSelector {
    category: Option<String>,
    stakes: Option<String>,
    project: Option<String>,
    feature: Option<String>,
    agent: Option<String>,
}

impl DecisionSelector {
    /// Takes what is given of `category`, `stakes`, `project`, `feature`, and `scope: "agent"`.
    pub(super) fn take(fields: &mut Fields, call: &CallerContext<'_>) -> Result<Self> {
        let is_own = fields.opt_string("scope")?.as_deref() == Some("agent");
        Ok(Self {
            category: fields.opt_string("category")?,
            stakes: fields.opt_string("stakes")?,
            project: fields.opt_string("project")?,
            feature: fields.opt_string("feature")?,
            agent: is_own.then(|| call.agent.to_owned()),
        })
    }

    /// Leaves the choice of the agent's own decisions.
    pub(super) fn with_agent_of(mut self, other: Self) -> Self {
        self.agent = other.agent;
        self
    }

    /// Returns the agent, if only its decisions are meant.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Tells whether a decision is one of those.
    pub(super) fn holds(&self, decision: &Decision) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        is(&self.category, Some(&decision.category))
            && is(&self.stakes, decision.stakes.as_deref())
            && is(&self.project, decision.project.as_deref())
            && is(&self.feature, decision.feature.as_deref())
            && is(&self.agent, decision.recorded_by.as_deref())
    }
}

/// Reviewed decisions that overall figures need, unless a call says otherwise.
const MIN_DECISIONS: u64 = 5;

/// Returns calibration, buckets of confidence and advice.
pub fn get_stats(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
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

/// Reviewed decisions that a kind of reasons needs, unless a call says otherwise.
const MIN_REVIEWED: u64 = 3;

/// Returns how decisions turned out by the types of their reasons.
pub fn get_reason_stats(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
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

/// Actions unless a call says otherwise, and most of them.
const DUE: u64 = 20;
const MAX_DUE: u64 = 50;

/// Returns the actions that are due.
pub fn ready(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let selection = DecisionSelector::take(&mut fields, call)?;
    let kinds = fields.strings("action_types")?;
    if let Some(at) = kinds.iter().position(|kind| !KINDS.contains(&kind.as_str())) {
        let message = format!("expected one of {}, got {}", KINDS.join(", "), quote(&kinds[at]));
        return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("/action_types/{at}")));
    }
    let min_priority = fields.string_or("min_priority", "low")?;
    let limit = fields.uint_or("limit", DUE, MAX_DUE)? as usize;
    let wanted = DueFilter { min_priority: &min_priority, kinds: &kinds, limit, category: None };
    let chosen = store.records.iter().filter(|decision| selection.holds(decision));
    let mut due = queue(chosen, call.now, &wanted);
    shorten_ids(&mut due.actions, |short| store.records.ids_starting(short).nth(1).is_none());
    Ok(json!(due))
}
