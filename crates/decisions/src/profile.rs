//! What past decisions say about an agent, and the rules it keeps following.

use serde::Serialize;

use crate::calibration::statistics::{mean, round};
use crate::calibration::{Calibration, CalibrationSample, MIN_REVIEWED, NO_CONFIDENCE, calibration, tendency};
use crate::record::Decision;
use crate::terms::case_folded;
use contextweaver_base::order::{SortedMap, WordSet, sort_by};
use contextweaver_text::unicode::prefix;

/// Ids that are named of the decisions with one pattern.
const EXAMPLES: usize = 5;

/// What past decisions say about an agent.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProfile {
    /// Number of decisions, reviewed or not.
    pub total_decisions: usize,
    /// Number of decisions with an outcome.
    pub reviewed: u64,
    /// Mean value of the outcomes, from 0 to 1.
    pub overall_accuracy: Option<f64>,
    /// Mean squared difference of confidence and outcome; 0 is perfect.
    pub brier_score: Option<f64>,
    /// Whether confidence is too high or too low.
    pub tendency: Option<&'static str>,
    /// The category with most successes.
    pub strongest_category: Option<String>,
    /// The category with fewest, where there is more than one.
    pub weakest_category: Option<String>,
    /// Day of the first decision, `2026-03-15`.
    pub active_since: Option<String>,
}

/// Reviewed decisions by category, in the order in which categories appear.
pub struct SamplesByCategory<'d>(Vec<(&'d str, Vec<CalibrationSample>)>);

impl<'d> SamplesByCategory<'d> {
    /// Groups decisions; what was not reviewed does not count.
    pub fn of(decisions: impl Iterator<Item = &'d Decision>) -> Self {
        let mut places: SortedMap<&str, usize> = SortedMap::new();
        let mut groups: Vec<(&str, Vec<CalibrationSample>)> = Vec::new();
        for decision in decisions.filter(|decision| decision.reviewed_value().is_some()) {
            let place = *places.get_or_insert(&decision.category.as_str(), groups.len());
            if place == groups.len() {
                groups.push((&decision.category, Vec::new()));
            }
            groups[place].1.push(CalibrationSample::of(decision));
        }
        Self(groups)
    }

    /// Returns the calibration of the categories that have enough reviewed decisions.
    pub fn calibrations(&self) -> Vec<(&'d str, Calibration)> {
        let groups = self.0.iter();
        groups.filter_map(|(category, samples)| Some((*category, calibration(samples, MIN_REVIEWED)?))).collect()
    }

    /// Returns the categories with the most and the fewest full successes; the one seen first wins ties.
    fn extremes(&self) -> (Option<&'d str>, Option<&'d str>) {
        let rate = |samples: &[CalibrationSample]| {
            mean(samples.iter().map(|sample| f64::from(u8::from(sample.value.is_some_and(|value| value > 0.75))))).0
        };
        let known: Vec<(&str, f64)> = self
            .0
            .iter()
            .filter(|(_, samples)| samples.len() as u64 >= MIN_REVIEWED)
            .map(|(category, samples)| (*category, rate(samples)))
            .collect();
        let best = known.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
        let worst = known.iter().copied().reduce(|worst, next| if next.1 < worst.1 { next } else { worst });
        (best.map(|(category, _)| category), worst.filter(|_| known.len() > 1).map(|(category, _)| category))
    }
}

/// Returns the profile that decisions make up.
pub fn profile<'d>(
    decisions: impl Iterator<Item = &'d Decision> + Clone,
    categories: &SamplesByCategory<'_>,
) -> AgentProfile {
    let total = decisions.clone().count();
    let dates = decisions.clone().map(|decision| prefix(&decision.date, 10)).filter(|date| !date.is_empty());
    let reviewed = decisions
        .filter_map(|decision| Some((decision.confidence.unwrap_or(NO_CONFIDENCE), decision.reviewed_value()?)));
    let (accuracy, count) = mean(reviewed.clone().map(|(_, value)| value));
    let mut profile = AgentProfile {
        total_decisions: total,
        reviewed: count,
        active_since: dates.min().map(str::to_owned),
        ..AgentProfile::default()
    };
    if count > 0 {
        let (confidence, _) = mean(reviewed.clone().map(|(confidence, _)| confidence));
        let (brier, _) = mean(reviewed.map(|(confidence, value)| (confidence - value) * (confidence - value)));
        let (strongest, weakest) = categories.extremes();
        profile.overall_accuracy = Some(round(accuracy, 3));
        profile.brier_score = Some(round(brier, 3));
        profile.tendency = Some(tendency(round(accuracy, 3) - confidence));
        profile.strongest_category = strongest.map(str::to_owned);
        profile.weakest_category = weakest.map(str::to_owned);
    }
    profile
}

/// A rule that several decisions follow.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FollowedPattern {
    /// The rule, as the latest of them spells it.
    pub pattern: String,
    /// Number of decisions that follow it.
    pub count: usize,
    /// Categories of those decisions, sorted.
    pub categories: Vec<String>,
    /// Some of their ids, the latest first.
    pub example_ids: Vec<String>,
    /// The mean worth of their outcomes, where some were reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
}

/// Returns the patterns of two and more decisions, the most frequent first. Case and white space make no difference.
pub fn patterns<'d>(decisions: impl Iterator<Item = &'d Decision>) -> Vec<FollowedPattern> {
    let mut places: SortedMap<String, usize> = SortedMap::new();
    let mut groups: Vec<Vec<&Decision>> = Vec::new();
    for decision in decisions {
        let key = case_folded(decision.pattern.as_deref().unwrap_or_default());
        if key.is_empty() {
            continue;
        }
        let place = *places.get_or_insert(&key, groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(decision);
    }
    let mut out: Vec<FollowedPattern> =
        groups.iter().filter(|group| group.len() > 1).map(|group| of_group(group)).collect();
    sort_by(&mut out, |a, b| b.count.cmp(&a.count));
    out
}

fn of_group(group: &[&Decision]) -> FollowedPattern {
    let (rate, reviewed) = mean(group.iter().filter_map(|decision| decision.reviewed_value()));
    let categories = group.iter().map(|decision| decision.category.clone()).filter(|category| !category.is_empty());
    FollowedPattern {
        pattern: group[0].pattern.clone().unwrap_or_default(),
        count: group.len(),
        categories: WordSet::new(categories.collect()).words().to_vec(),
        example_ids: group.iter().take(EXAMPLES).map(|decision| decision.id.clone()).collect(),
        success_rate: (reviewed > 0).then(|| round(rate, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(id: &str, category: &str, outcome: &str, pattern: &str) -> Decision {
        Decision {
            id: id.to_owned(),
            category: category.to_owned(),
            confidence: Some(0.8),
            status: if outcome.is_empty() { "pending" } else { "reviewed" }.to_owned(),
            outcome: Some(outcome.to_owned()).filter(|outcome| !outcome.is_empty()),
            pattern: Some(pattern.to_owned()),
            date: "2026-01-02T03:04:05+00:00".to_owned(),
            ..Decision::default()
        }
    }

    #[test]
    fn patterns_are_the_same_in_any_spelling() {
        let decisions = [
            decision("a", "tooling", "success", "Cache late"),
            decision("b", "process", "failure", " cache\n LATE"),
            decision("c", "process", "", "cache late"),
            decision("d", "process", "", "once"),
            decision("e", "process", "", "  "),
        ];
        let found = patterns(decisions.iter());
        assert_eq!(found.len(), 1);
        let pattern = &found[0];
        assert_eq!((pattern.pattern.as_str(), pattern.count, pattern.success_rate), ("Cache late", 3, Some(0.5)));
        assert_eq!(
            (pattern.categories.join(" "), pattern.example_ids.join(" ")),
            ("process tooling".into(), "a b c".into())
        );
    }

    #[test]
    fn only_one_of_several_is_the_weakest() {
        let of = |outcomes: &[(&str, &str)]| {
            let decisions: Vec<Decision> =
                outcomes.iter().map(|(category, outcome)| decision("x", category, outcome, "")).collect();
            profile(decisions.iter(), &SamplesByCategory::of(decisions.iter()))
        };
        let one = of(&[("a", "success"), ("a", "partial"), ("a", "failure"), ("b", "success")]);
        assert_eq!((one.strongest_category.as_deref(), one.weakest_category), (Some("a"), None));
        assert_eq!((one.reviewed, one.overall_accuracy, one.tendency), (4, Some(0.625), Some("overconfident")));
        let two = [("a", "success"); 3].into_iter().chain([("b", "partial"); 3]).collect::<Vec<_>>();
        let two = of(&two);
        assert_eq!((two.strongest_category.as_deref(), two.weakest_category.as_deref()), (Some("a"), Some("b")));
        let none = of(&[("a", "")]);
        assert_eq!((none.overall_accuracy, none.active_since.as_deref()), (None, Some("2026-01-02")));
    }
}
