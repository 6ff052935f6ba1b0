//! What became of earlier calls, and what that means for the scores of tools.

use serde::Serialize;
use serde_json::json;

use super::history::sort_scored;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Fields, JsonMap, Record};
use contextweaver_text::quote::quote;
use contextweaver_text::time::{normal_iso, parse_iso};

/// What became of one call, or of all calls of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolFeedback {
    /// The tool.
    pub item_id: String,
    /// Whether it did what it was to do.
    #[record(default = true)]
    pub success: bool,
    /// Milliseconds it took.
    pub latency_ms: Option<f64>,
    /// Tokens it cost.
    #[cfg_attr(feature = "ts", ts(type = "number | null"))]
    #[record(with = token_cost)]
    pub token_cost: Option<i64>,
    /// How good the answer was, 0 to 1.
    pub quality_score: Option<f64>,
    /// When, in ISO 8601 with its offset.
    #[record(with = timestamp)]
    pub timestamp: Option<String>,
    /// Anything the caller wants kept.
    pub metadata: JsonMap,
}

/// Takes a time in ISO 8601; one without a zone is UTC.
fn timestamp(fields: &mut Fields, key: &'static str) -> Result<Option<String>> {
    let Some(text) = fields.opt_string(key)? else { return Ok(None) };
    normal_iso(&text).map(Some).ok_or_else(|| {
        Error::new(ErrorCode::InvalidInput, format!("{} is no time in ISO 8601", quote(&text))).at(fields.at(key))
    })
}

/// Takes a cost, rounded half to even.
fn token_cost(fields: &mut Fields, key: &'static str) -> Result<Option<i64>> {
    Ok(fields.opt_number(key, -9e15, 9e15)?.map(|cost| round(cost, 0) as i64))
}

/// How much each part of feedback weighs.
#[derive(Debug, Clone, Copy, PartialEq, Record)]
#[record(default, closed)]
pub struct FeedbackWeights {
    /// Added for success.
    #[record(range = 0.0..=f64::MAX)]
    pub success_weight: f64,
    /// Taken off for failure.
    #[record(range = 0.0..=f64::MAX)]
    pub failure_penalty: f64,
    /// Added for a quality of 1, taken off for one of 0.
    #[record(range = 0.0..=f64::MAX)]
    pub quality_weight: f64,
    /// Taken off for a latency of [`FeedbackWeights::latency_ref_ms`] or more.
    #[record(range = 0.0..=f64::MAX)]
    pub latency_weight: f64,
    /// Taken off for a cost of [`FeedbackWeights::token_cost_ref`] or more.
    #[record(range = 0.0..=f64::MAX)]
    pub cost_weight: f64,
    /// A long time.
    #[record(range = f64::MIN_POSITIVE..=f64::MAX)]
    pub latency_ref_ms: f64,
    /// A high cost.
    #[record(range = f64::MIN_POSITIVE..=f64::MAX)]
    pub token_cost_ref: f64,
}

impl Default for FeedbackWeights {
    fn default() -> Self {
        Self {
            success_weight: 0.1,
            failure_penalty: 0.2,
            quality_weight: 0.1,
            latency_weight: 0.0,
            cost_weight: 0.0,
            latency_ref_ms: 1000.0,
            token_cost_ref: 1000.0,
        }
    }
}

impl FeedbackWeights {
    /// Returns what feedback adds to a score.
    pub fn delta(&self, feedback: &ToolFeedback) -> f64 {
        let mut delta = if feedback.success { self.success_weight } else { -self.failure_penalty };
        if let Some(quality) = feedback.quality_score {
            delta += self.quality_weight * (2.0 * quality.clamp(0.0, 1.0) - 1.0);
        }
        if let Some(latency) = feedback.latency_ms {
            delta -= self.latency_weight * (latency / self.latency_ref_ms).clamp(0.0, 1.0);
        }
        if let Some(cost) = feedback.token_cost {
            delta -= self.cost_weight * (cost as f64 / self.token_cost_ref).clamp(0.0, 1.0);
        }
        delta
    }
}

/// Sums up feedback by tool: means of what is known, success where half of the calls or more succeeded.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{ToolFeedback, aggregate_feedback};
/// use serde_json::json;
///
/// let read = |success| ToolFeedback::from_value(json!({ "item_id": "mail.send", "success": success }), "");
/// let sums = aggregate_feedback(&[read(true)?, read(false)?]);
/// assert_eq!(sums.len(), 1);
/// assert!(sums.contains_key("mail.send"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn aggregate_feedback(entries: &[ToolFeedback]) -> SortedMap<String, ToolFeedback> {
    let mut groups: SortedMap<String, Vec<&ToolFeedback>> = SortedMap::new();
    for entry in entries {
        groups.get_or_insert(&entry.item_id, Vec::new()).push(entry);
    }
    let mut out = SortedMap::new();
    for (item_id, group) in groups.into_entries() {
        let mean = |value: &dyn Fn(&ToolFeedback) -> Option<f64>| {
            let known: Vec<f64> = group.iter().filter_map(|entry| value(entry)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let rate = mean(&|entry| Some(f64::from(u8::from(entry.success)))).unwrap_or(0.0);
        let stamps = group.iter().filter_map(|entry| entry.timestamp.as_ref());
        // Of equal moments the first is kept.
        let newest = stamps.fold(None, |newest: Option<(&String, i64)>, text| {
            let moment = parse_iso(text).unwrap_or(i64::MIN);
            newest.filter(|(_, so_far)| *so_far >= moment).or(Some((text, moment)))
        });
        let mut metadata = JsonMap::new();
        metadata.insert("sample_count".to_owned(), json!(group.len()));
        metadata.insert("success_rate".to_owned(), json!(rate));
        let summed_up = ToolFeedback {
            item_id: item_id.clone(),
            success: rate >= 0.5,
            latency_ms: mean(&|entry| entry.latency_ms),
            token_cost: mean(&|entry| entry.token_cost.map(|cost| cost as f64)).map(|cost| round(cost, 0) as i64),
            quality_score: mean(&|entry| entry.quality_score),
            timestamp: newest.map(|(text, _)| text.clone()),
            metadata,
        };
        out.insert(item_id, summed_up);
    }
    out
}

/// Adds what feedback says to scores and sorts them by falling score, then id.
pub fn adjust_by_feedback(
    mut scored: Vec<(String, f64)>,
    feedback: &SortedMap<String, ToolFeedback>,
    weights: &FeedbackWeights,
) -> Vec<(String, f64)> {
    for (id, score) in &mut scored {
        if let Some(known) = feedback.get(id) {
            *score += weights.delta(known);
        }
    }
    sort_scored(&mut scored);
    scored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_costs_are_made_uniform() {
        let read = |value| ToolFeedback::from_value(value, "");
        let entry = |timestamp: &str, cost: f64| {
            read(json!({"item_id": "a", "timestamp": timestamp, "token_cost": cost})).unwrap()
        };
        let entries = [entry("2026-01-01T05:00:00+02:00", 2.5), entry("2026-01-01T03:00:00Z", 3.5)];
        let all = aggregate_feedback(&entries);
        let summed_up = all.get("a").unwrap();
        assert_eq!((entries[0].token_cost, entries[1].token_cost, summed_up.token_cost), (Some(2), Some(4), Some(3)));
        assert_eq!(summed_up.timestamp.as_deref(), Some("2026-01-01T05:00:00+02:00"));
        let error = read(json!({"item_id": "a", "timestamp": "soon"})).unwrap_err();
        assert_eq!(error.path(), "/timestamp");
    }
}
