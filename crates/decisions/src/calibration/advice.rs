//! What the figures suggest.

use serde::Serialize;

use super::{Calibration, ConfidenceBucket, ConfidenceSpread};
use contextweaver_model::json::numbers::percent;

/// A recommendation to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CalibrationAdvice {
    /// Name of the finding, such as `confidence_adjustment`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The recommendation in a sentence or two.
    pub message: String,
    /// `info` or `warning`.
    pub severity: &'static str,
}

impl CalibrationAdvice {
    /// Makes a recommendation of severity `info`.
    pub fn info(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), severity: "info" }
    }

    /// Makes a recommendation of severity `warning`.
    pub fn warning(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), severity: "warning" }
    }
}

/// Returns what the figures suggest.
pub fn advice(
    overall: Option<&Calibration>,
    buckets: &[ConfidenceBucket],
    spread: Option<&ConfidenceSpread>,
) -> Vec<CalibrationAdvice> {
    let mut out = match overall {
        None => {
            vec![CalibrationAdvice::info(
                "insufficient_data",
                "Too few decisions have an outcome. Review more of them.",
            )]
        }
        Some(overall) => on_outcomes(overall, buckets),
    };
    if let Some(spread) = spread.filter(|spread| spread.count >= 10) {
        on_habits(&mut out, spread);
    }
    out
}

fn on_outcomes(overall: &Calibration, buckets: &[ConfidenceBucket]) -> Vec<CalibrationAdvice> {
    let mut out = Vec::new();
    let gap = percent(overall.calibration_gap.abs(), 0);
    let kind = "confidence_adjustment";
    match overall.interpretation {
        "overconfident" => {
            out.push(CalibrationAdvice::warning(kind, format!("Outcomes are {gap} below confidence. Lower it.")));
        }
        "slightly_overconfident" => {
            out.push(CalibrationAdvice::info(kind, format!("Outcomes are {gap} below confidence. Lower it a little.")));
        }
        "underconfident" => {
            out.push(CalibrationAdvice::info(kind, format!("Outcomes are {gap} above confidence. Trust it more.")));
        }
        "well_calibrated" => out.push(CalibrationAdvice::info("strength", "Confidence and outcomes agree.")),
        _ => {}
    }
    let brier = overall.brier_score;
    if brier < 0.10 {
        out.push(CalibrationAdvice::info("brier_score", format!("A Brier score of {brier} is very good.")));
    } else if brier > 0.25 {
        let message = format!("A Brier score of {brier} is worse than always saying 0.5.");
        out.push(CalibrationAdvice::warning("brier_score", message));
    }
    for bucket in buckets.iter().filter(|bucket| bucket.interpretation == "overconfident" && bucket.gap < -0.15) {
        let (rate, expected) = (percent(bucket.success_rate, 0), percent(bucket.expected_rate, 0));
        let message =
            format!("Of decisions with confidence {}, {rate} succeed; expected are {expected}.", bucket.bucket);
        out.push(CalibrationAdvice::warning("bucket_warning", message));
    }
    let well: Vec<&str> = buckets
        .iter()
        .filter(|bucket| bucket.interpretation == "well_calibrated")
        .map(|bucket| bucket.bucket)
        .collect();
    if !well.is_empty() && well.len() < buckets.len() {
        out.push(CalibrationAdvice::info("strength", format!("Confidence is right in {}.", well.join(", "))));
    }
    out
}

fn on_habits(out: &mut Vec<CalibrationAdvice>, spread: &ConfidenceSpread) {
    if spread.deviation < 0.05 && spread.fullest() > 0.7 {
        let message = "Confidence hardly ever varies. Say how sure you are of each decision.";
        out.push(CalibrationAdvice::info("low_variance", message));
    }
    if spread.mean > 0.85 && spread.least > 0.75 {
        let message = "Confidence is always high. Ask what could go wrong.";
        out.push(CalibrationAdvice::warning("overconfident_habit", message));
    }
    if spread.mean < 0.65 && spread.most < 0.75 {
        out.push(CalibrationAdvice::info(
            "underconfident_habit",
            "Confidence is never high. Say so when you are sure.",
        ));
    }
}
