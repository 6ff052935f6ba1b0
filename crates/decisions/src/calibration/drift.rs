//! Whether calibration got worse of late.

use serde::Serialize;

use super::{Calibration, CalibrationSample, calibration};
use crate::calibration::statistics::round;
use crate::record::Decision;
use crate::timestamps::day;

/// Days that are recent, and days before today up to which others are compared with.
const RECENT_DAYS: i64 = 30;
const PAST_DAYS: i64 = 120;
/// Reviewed decisions that each half needs.
const MIN_REVIEWED: u64 = 5;
/// Values in the past below which there is nothing to compare with.
const MIN_PAST: f64 = 0.001;

/// A figure that got worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DriftAlert {
    /// `brier_degradation` or `accuracy_drop`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The category, or none for all decisions.
    pub category: Option<String>,
    /// Value in the recent period.
    pub recent_value: f64,
    /// Value in the past period.
    pub historical_value: f64,
    /// Change in percent of the past value.
    pub change_pct: f64,
    /// `warning` or `error`.
    pub severity: &'static str,
}

/// Brier score and accuracy in two periods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftPeriods {
    /// Brier score and accuracy of the last thirty days.
    pub recent: (f64, f64),
    /// Brier score and accuracy of the three months before.
    pub past: (f64, f64),
}

/// Splits decisions into the last thirty days and the three months before; no day is in both.
pub fn halves<'a>(decisions: &(impl Iterator<Item = &'a Decision> + Clone), now: i64) -> Option<DriftPeriods> {
    let today = day(now);
    let between = |from: i64, to: i64| {
        let inside = decisions
            .clone()
            .filter(|decision| decision.created_ms().map(day).is_some_and(|day| (from..to).contains(&day)));
        let samples: Vec<CalibrationSample> = inside.map(CalibrationSample::of).collect();
        calibration(&samples, MIN_REVIEWED)
    };
    let figures = |calibration: Calibration| (calibration.brier_score, calibration.accuracy);
    let recent = between(today - RECENT_DAYS, today + 1)?;
    let past = between(today - PAST_DAYS, today - RECENT_DAYS)?;
    Some(DriftPeriods { recent: figures(recent), past: figures(past) })
}

/// Says in which ways the recent figures are worse, given how much worse is too much.
pub fn drift(halves: &DriftPeriods, category: Option<&str>, brier: f64, accuracy: f64) -> Vec<DriftAlert> {
    let mut out = Vec::new();
    let alert = |kind, recent, past, ratio: f64, limit: f64| DriftAlert {
        kind,
        category: category.map(str::to_owned),
        recent_value: recent,
        historical_value: past,
        change_pct: round(ratio * 100.0, 1),
        severity: if ratio.abs() > limit { "error" } else { "warning" },
    };
    let (recent, past) = (halves.recent.0, halves.past.0);
    let rise = recent - past;
    if past > MIN_PAST && rise >= 0.03 && rise / past > brier {
        out.push(alert("brier_degradation", recent, past, rise / past, 0.5));
    }
    let (recent, past) = (halves.recent.1, halves.past.1);
    let fall = past - recent;
    if past > MIN_PAST && fall >= 0.05 && fall / past > accuracy {
        out.push(alert("accuracy_drop", recent, past, -fall / past, 0.25));
    }
    out
}
