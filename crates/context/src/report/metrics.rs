//! Counters over many builds and routes, in constant memory.

use serde::Serialize;

use contextweaver_base::order::SortedMap;
use contextweaver_model::BuildStats;
use contextweaver_model::json::numbers::{average, round};

/// Adds up what builds and routes report.
///
/// The methods mirror the events of a build. Items excluded are counted by their own event and not from the stats, so
/// that a listener for exclusions and the summary agree.
///
/// ```
/// use contextweaver_context::report::Metrics;
///
/// let mut metrics = Metrics::new();
/// metrics.on_route_completed(3, &[0.9, 0.4, 0.1]);
/// metrics.on_items_excluded(2);
/// let summary = metrics.summary();
/// assert_eq!((summary.total_routes, summary.avg_confidence_gap, summary.items_excluded), (1, 0.5, 2));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    builds: u64,
    prompt_tokens: u64,
    dropped: u64,
    dedup_removed: u64,
    drop_reasons: SortedMap<String, u64>,
    firewall_interceptions: u64,
    items_excluded: u64,
    budget_exceeded: u64,
    routes: u64,
    candidates: Running,
    top_score: Running,
    confidence_gap: Running,
}

/// A sum and the largest value so far, at least 0.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    sum: f64,
    max: f64,
}

impl Running {
    fn add(&mut self, value: f64) {
        // One infinite score must not spoil every average from then on.
        if value.is_finite() {
            self.sum += value;
            self.max = self.max.max(value);
        }
    }
}

/// The counters at one moment, averages and scores with 4 decimals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MetricsSummary {
    /// Candidates per route on average.
    pub avg_candidates_per_route: f64,
    /// Difference of the first two scores on average.
    pub avg_confidence_gap: f64,
    /// Prompt tokens per build on average.
    pub avg_prompt_tokens: f64,
    /// Score of the first candidate of a route, on average.
    pub avg_top_score: f64,
    /// Builds in which something did not fit.
    pub budget_exceeded: u64,
    /// Items dropped, by drop reason.
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, u64>"))]
    pub drop_reasons: SortedMap<String, u64>,
    /// Results the firewall took out.
    pub firewall_interceptions: u64,
    /// Items that hooks were told are excluded.
    pub items_excluded: u64,
    /// Most candidates of one route.
    pub max_candidates_per_route: u64,
    /// Largest difference of the first two scores.
    pub max_confidence_gap: f64,
    /// Largest score of a first candidate.
    pub max_top_score: f64,
    /// Builds that were finished.
    pub total_builds: u64,
    /// Items dropped as repeats.
    pub total_dedup_removed: u64,
    /// Items dropped for any reason.
    pub total_dropped: u64,
    /// Prompt tokens of all builds.
    pub total_prompt_tokens: u64,
    /// Routes that were counted.
    pub total_routes: u64,
}

impl Metrics {
    /// Makes a collector with every counter at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a finished build.
    pub fn on_context_built(&mut self, stats: &BuildStats) {
        self.builds += 1;
        self.prompt_tokens = self.prompt_tokens.saturating_add(stats.prompt_tokens());
        self.dropped = self.dropped.saturating_add(stats.dropped_count);
        self.dedup_removed = self.dedup_removed.saturating_add(stats.dedup_removed);
        for (reason, count) in &stats.dropped_reasons {
            let sum = self.drop_reasons.get_or_insert(reason, 0);
            *sum = sum.saturating_add(*count);
        }
    }

    /// Counts a result that the firewall took out.
    pub fn on_firewall_triggered(&mut self) {
        self.firewall_interceptions += 1;
    }

    /// Counts items announced as excluded for one reason; reasons are counted with the build.
    pub fn on_items_excluded(&mut self, count: u64) {
        self.items_excluded = self.items_excluded.saturating_add(count);
    }

    /// Counts a build in which something did not fit.
    pub fn on_budget_exceeded(&mut self) {
        self.budget_exceeded += 1;
    }

    /// Counts a route by its candidates and scores, best first.
    pub fn on_route_completed(&mut self, candidates: u64, scores: &[f64]) {
        self.routes += 1;
        self.candidates.add(candidates as f64);
        self.top_score.add(scores.first().copied().unwrap_or(0.0));
        self.confidence_gap.add(match scores {
            [first, second, ..] => first - second,
            _ => 0.0,
        });
    }

    /// Returns the counters as they are now.
    pub fn summary(&self) -> MetricsSummary {
        let per_route = |running: Running| round(average(running.sum, self.routes), 4);
        MetricsSummary {
            avg_candidates_per_route: per_route(self.candidates),
            avg_confidence_gap: per_route(self.confidence_gap),
            avg_prompt_tokens: round(average(self.prompt_tokens as f64, self.builds), 4),
            avg_top_score: per_route(self.top_score),
            budget_exceeded: self.budget_exceeded,
            drop_reasons: self.drop_reasons.clone(),
            firewall_interceptions: self.firewall_interceptions,
            items_excluded: self.items_excluded,
            max_candidates_per_route: self.candidates.max as u64,
            max_confidence_gap: round(self.confidence_gap.max, 4),
            max_top_score: round(self.top_score.max, 4),
            total_builds: self.builds,
            total_dedup_removed: self.dedup_removed,
            total_dropped: self.dropped,
            total_prompt_tokens: self.prompt_tokens,
            total_routes: self.routes,
        }
    }

    /// Sets every counter to 0.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stats(tokens: u64, reasons: &serde_json::Value) -> BuildStats {
        let value = json!({
            "tokens_per_section": {"user_turn": tokens},
            "dropped_count": 2,
            "dedup_removed": 1,
            "dropped_reasons": reasons,
        });
        BuildStats::from_value(value, "").unwrap()
    }

    #[test]
    fn builds_add_up_and_keys_are_sorted() {
        let mut metrics = Metrics::new();
        metrics.on_context_built(&stats(10, &json!({"zeta": 1, "budget": 1})));
        metrics.on_context_built(&stats(11, &json!({"budget": 2})));
        metrics.on_context_built(&stats(11, &json!({})));
        metrics.on_items_excluded(3);
        metrics.on_budget_exceeded();
        metrics.on_firewall_triggered();
        let summary = serde_json::to_value(metrics.summary()).unwrap();
        assert_eq!(summary["avg_prompt_tokens"], 10.6667);
        assert_eq!(serde_json::to_string(&summary["drop_reasons"]).unwrap(), r#"{"budget":3,"zeta":1}"#);
        assert_eq!((&summary["items_excluded"], &summary["total_dropped"]), (&json!(3), &json!(6)));
        assert!(summary.as_object().unwrap().keys().is_sorted());
        metrics.reset();
        assert_eq!(metrics.summary(), Metrics::new().summary());
    }

    #[test]
    fn routes_give_averages_and_maxima() {
        let mut metrics = Metrics::new();
        metrics.on_route_completed(3, &[0.9, 0.4, 0.1]);
        metrics.on_route_completed(1, &[0.5]);
        metrics.on_route_completed(0, &[]);
        metrics.on_route_completed(2, &[f64::INFINITY, 0.0]);
        let summary = metrics.summary();
        assert_eq!((summary.total_routes, summary.max_candidates_per_route), (4, 3));
        assert_eq!(
            json!([summary.avg_candidates_per_route, summary.avg_top_score, summary.avg_confidence_gap]),
            json!([1.5, 0.35, 0.125])
        );
        assert_eq!(json!([summary.max_top_score, summary.max_confidence_gap]), json!([0.9, 0.5]));
    }
}
