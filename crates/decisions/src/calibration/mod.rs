//! How well confidence foretells outcomes.

mod advice;
mod distribution;
mod drift;
mod extended;
pub mod statistics;

pub use self::advice::{CalibrationAdvice, advice};
pub use self::distribution::{ConfidenceSpread, spread};
pub use self::drift::{DriftAlert, DriftPeriods, drift, halves};
pub use self::extended::extended;

use serde::Serialize;

use crate::calibration::statistics::{mean, round};
use crate::record::Decision;
use crate::timestamps::{DAY_MS, date, day};

/// The confidence of decisions that say none.
pub const NO_CONFIDENCE: f64 = 0.5;
/// Decisions of a bucket, or a category, from which on it says something.
pub const MIN_REVIEWED: u64 = 3;
/// Deviations of the rate from the confidence up to which there is none to speak of, and from which on it is large.
const SMALL_GAP: f64 = 0.05;
const LARGE_GAP: f64 = 0.10;

/// Confidence and outcome of one decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationSample {
    /// The agent's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Value of the outcome, from 0 to 1; none before the review.
    pub value: Option<f64>,
}

impl CalibrationSample {
    /// Takes confidence and outcome of a decision.
    pub fn of(decision: &Decision) -> Self {
        Self { confidence: decision.confidence, value: decision.reviewed_value() }
    }

    fn reviewed(self) -> Option<(f64, f64)> {
        Some((self.confidence.unwrap_or(NO_CONFIDENCE), self.value?))
    }
}

/// Returns confidence and value of what was reviewed.
fn reviewed(samples: &[CalibrationSample]) -> impl Iterator<Item = (f64, f64)> + Clone {
    samples.iter().filter_map(|sample| sample.reviewed())
}

/// How well confidence predicted outcomes.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calibration {
    /// Mean squared difference of confidence and outcome; 0 is perfect.
    pub brier_score: f64,
    /// Mean value of the outcomes.
    pub accuracy: f64,
    /// Number of decisions, reviewed or not.
    pub total_decisions: usize,
    /// Number of decisions with an outcome.
    pub reviewed_decisions: u64,
    /// Accuracy less mean confidence.
    pub calibration_gap: f64,
    /// The gap in words, as [`tendency`] returns it.
    pub interpretation: &'static str,
    /// Name of the window, such as `30d`.
    pub window: Option<String>,
    /// First day of the window.
    pub period_start: Option<String>,
    /// Last day of the window.
    pub period_end: Option<String>,
}

/// Returns the calibration, from so many reviewed decisions on but never from fewer than three.
///
/// # Examples
///
/// ```
/// use contextweaver_decisions::calibration::{CalibrationSample, calibration};
///
/// let sample = |value| CalibrationSample { confidence: Some(0.5), value: Some(value) };
/// let samples = [1.0, 1.0, 0.0, 0.0].map(sample);
/// assert_eq!(calibration(&samples, 3).map(|measured| measured.interpretation), Some("well_calibrated"));
/// assert_eq!(calibration(&samples[..2], 1), None);
/// ```
pub fn calibration(samples: &[CalibrationSample], min_reviewed: u64) -> Option<Calibration> {
    let (accuracy, count) = mean(reviewed(samples).map(|(_, value)| value));
    if count < min_reviewed.max(MIN_REVIEWED) {
        return None;
    }
    let (confidence, _) = mean(reviewed(samples).map(|(confidence, _)| confidence));
    let (brier, _) = mean(reviewed(samples).map(|(confidence, value)| (confidence - value) * (confidence - value)));
    let gap = accuracy - confidence;
    Some(Calibration {
        brier_score: round(brier, 3),
        accuracy: round(accuracy, 3),
        total_decisions: samples.len(),
        reviewed_decisions: count,
        calibration_gap: round(gap, 3),
        interpretation: tendency(gap),
        window: None,
        period_start: None,
        period_end: None,
    })
}

/// Says what a gap between accuracy and confidence means.
pub fn tendency(gap: f64) -> &'static str {
    if gap.abs() < SMALL_GAP {
        "well_calibrated"
    } else if gap < -LARGE_GAP {
        "overconfident"
    } else if gap < 0.0 {
        "slightly_overconfident"
    } else if gap > LARGE_GAP {
        "underconfident"
    } else {
        "slightly_underconfident"
    }
}

/// Reviewed decisions of about the same confidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfidenceBucket {
    /// Range of confidence, such as `0.7-0.9`.
    pub bucket: &'static str,
    /// Number of reviewed decisions in it.
    pub decisions: u64,
    /// Mean value of their outcomes.
    pub success_rate: f64,
    /// The rate that the range stands for.
    pub expected_rate: f64,
    /// Success rate less expected rate.
    pub gap: f64,
    /// `well_calibrated`, `overconfident` or `underconfident`.
    pub interpretation: &'static str,
}

/// The buckets: name, lowest confidence, expected rate. Each ends where the one before begins.
const BUCKETS: &[(&str, f64, f64)] =
    &[("0.9-1.0", 0.9, 0.95), ("0.7-0.9", 0.7, 0.80), ("0.5-0.7", 0.5, 0.60), ("0.0-0.5", 0.0, 0.25)];

/// Returns the buckets that say something, the highest confidence first.
pub fn buckets(samples: &[CalibrationSample]) -> Vec<ConfidenceBucket> {
    let mut out = Vec::new();
    let mut below = f64::INFINITY;
    for (name, from, expected_rate) in BUCKETS {
        let inside = *from..std::mem::replace(&mut below, *from);
        let inside = reviewed(samples).filter(|(confidence, _)| inside.contains(confidence));
        let (rate, count) = mean(inside.map(|(_, value)| value));
        if count < MIN_REVIEWED {
            continue;
        }
        let gap = rate - expected_rate;
        let interpretation = match gap {
            gap if gap.abs() < LARGE_GAP => "well_calibrated",
            gap if gap < 0.0 => "overconfident",
            _ => "underconfident",
        };
        out.push(ConfidenceBucket {
            bucket: name,
            decisions: count,
            success_rate: round(rate, 2),
            expected_rate: *expected_rate,
            gap: round(gap, 2),
            interpretation,
        });
    }
    out
}

/// The days of a window, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationWindow {
    /// The name it was made from.
    pub name: String,
    /// The first and the last day, where it has bounds.
    pub days: Option<(i64, i64)>,
}

impl CalibrationWindow {
    /// Makes the window that ends now; names that are not known have no bounds.
    pub fn named(name: &str, now: i64) -> Self {
        let days = match name {
            "30d" => Some(30),
            "60d" => Some(60),
            "90d" => Some(90),
            _ => None,
        };
        Self { name: name.to_owned(), days: days.map(|days| (day(now) - days, day(now))) }
    }

    /// Tells whether a decision was made in the window; one without a time never was in one with bounds.
    pub fn holds(&self, decision: &Decision) -> bool {
        match self.days {
            None => true,
            Some((first, last)) => decision.created_ms().map(day).is_some_and(|day| (first..=last).contains(&day)),
        }
    }

    /// Writes the first and the last day.
    pub fn dates(&self) -> Option<(String, String)> {
        let (first, last) = self.days?;
        Some((date(first.saturating_mul(DAY_MS)), date(last.saturating_mul(DAY_MS))))
    }
}

#[cfg(test)]
mod tests;
