//! Measures of calibration beyond those of contextweaver 0.18.

use serde_json::{Value, json};

use super::{CalibrationSample, reviewed};
use crate::calibration::statistics::{mean, round, wilson};

/// Number of bins of equal width.
const BINS: usize = 10;

/// Returns the expected and the largest calibration error, what the Brier score is made of, and how certain the accuracy
/// is.
///
/// With partial successes the uncertainty is the variance of the outcomes, so that reliability less resolution plus
/// uncertainty is still the Brier score of confidences rounded to their bin's mean.
pub fn extended(samples: &[CalibrationSample]) -> Option<Value> {
    let (accuracy, count) = mean(reviewed(samples).map(|(_, value)| value));
    if count == 0 {
        return None;
    }
    let (mut ece, mut mce, mut reliability, mut resolution) = (0.0, 0.0_f64, 0.0, 0.0);
    let mut bins = Vec::new();
    for bin in 0..BINS {
        let inside = reviewed(samples).filter(|(confidence, _)| bin_of(*confidence) == bin);
        let (rate, size) = mean(inside.clone().map(|(_, value)| value));
        if size == 0 {
            continue;
        }
        let (confidence, _) = mean(inside.map(|(confidence, _)| confidence));
        let (part, off) = (size as f64 / count as f64, (rate - confidence).abs());
        ece += part * off;
        mce = mce.max(off);
        reliability += part * off * off;
        resolution += part * (rate - accuracy) * (rate - accuracy);
        bins.push(json!({
            "from": round(bin as f64 / 10.0, 1),
            "to": round((bin + 1) as f64 / 10.0, 1),
            "decisions": size,
            "meanConfidence": round(confidence, 3),
            "successRate": round(rate, 3),
        }));
    }
    let (uncertainty, _) = mean(reviewed(samples).map(|(_, value)| (value - accuracy) * (value - accuracy)));
    let (low, high) = wilson(accuracy, count);
    Some(json!({
        "ece": round(ece, 4),
        "mce": round(mce, 4),
        "reliability": round(reliability, 4),
        "resolution": round(resolution, 4),
        "uncertainty": round(uncertainty, 4),
        "accuracyInterval": { "low": round(low, 3), "high": round(high, 3), "level": 0.95 },
        "bins": bins,
    }))
}

/// The tenths that confidences in text are: 0.3 belongs to the bin that begins there, whatever ten times 0.3 is.
fn bin_of(confidence: f64) -> usize {
    (((confidence * 10.0 + 1e-9).floor()).max(0.0) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_up_the_whole() {
        let sample = |confidence, value| CalibrationSample { confidence: Some(confidence), value: Some(value) };
        // Two confidences, so that nothing is lost to the bins.
        let samples: Vec<CalibrationSample> =
            [(0.9, 1.0), (0.9, 1.0), (0.9, 0.5), (0.9, 0.0), (0.3, 0.0), (0.3, 1.0), (0.3, 0.0)]
                .into_iter()
                .map(|(confidence, value)| sample(confidence, value))
                .collect();
        let extended = extended(&samples).unwrap();
        let number = |key: &str| extended[key].as_f64().unwrap();
        let (brier, _) = mean(reviewed(&samples).map(|(c, o)| (c - o) * (c - o)));
        assert!((number("reliability") - number("resolution") + number("uncertainty") - brier).abs() < 3e-4);
        assert!((number("ece") - (4.0 * 0.275 + 3.0 * (1.0 / 3.0 - 0.3)) / 7.0).abs() < 1e-4);
        assert!((number("mce") - 0.275).abs() < 1e-4);
        assert_eq!(extended["bins"][0]["from"], 0.3);
        assert_eq!(extended["accuracyInterval"]["level"], 0.95);
        assert!(super::extended(&[CalibrationSample { confidence: None, value: None }]).is_none());
        for (confidence, bin) in [(0.0, 0), (0.3, 3), (0.299, 2), (0.7, 7), (1.0, 9)] {
            assert_eq!(bin_of(confidence), bin, "{confidence}");
        }
    }
}
