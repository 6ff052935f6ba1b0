//! How confidence is spread.

use serde_json::{Value, json};

use super::CalibrationSample;
use crate::calibration::statistics::{mean, round};
use contextweaver_model::json::JsonMap;

/// The classes of contextweaver 0.18, by the confidence they end at; the first begins at nothing.
const CLASSES: &[(&str, f64)] =
    &[("0.5-0.6", 0.6), ("0.6-0.7", 0.7), ("0.7-0.8", 0.8), ("0.8-0.9", 0.9), ("0.9-1.0", f64::INFINITY)];

/// Distribution of confidence over decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfidenceSpread {
    /// Mean, in thousandths.
    pub mean: f64,
    /// Standard deviation, in thousandths.
    pub deviation: f64,
    /// Lowest confidence, in hundredths.
    pub least: f64,
    /// Highest confidence, in hundredths.
    pub most: f64,
    /// Number of decisions that have a confidence.
    pub count: u64,
    /// How many of them are in each class.
    classes: Vec<u64>,
    /// How many of the first class are below 0.5.
    low: u64,
    variance: f64,
}

/// Returns how confidence is spread over decisions, reviewed or not.
pub fn spread(samples: &[CalibrationSample]) -> Option<ConfidenceSpread> {
    let all = samples.iter().filter_map(|sample| sample.confidence);
    let (average, count) = mean(all.clone());
    if count == 0 {
        return None;
    }
    let (variance, _) = mean(all.clone().map(|confidence| (confidence - average) * (confidence - average)));
    let mut classes = vec![0; CLASSES.len()];
    for confidence in all.clone() {
        let class = CLASSES.iter().position(|(_, end)| confidence < *end).unwrap_or(CLASSES.len() - 1);
        classes[class] += 1;
    }
    Some(ConfidenceSpread {
        mean: round(average, 3),
        deviation: round(variance.sqrt(), 3),
        least: round(all.clone().fold(f64::INFINITY, f64::min), 2),
        most: round(all.clone().fold(f64::NEG_INFINITY, f64::max), 2),
        count,
        classes,
        low: all.filter(|confidence| *confidence < 0.5).count() as u64,
        variance: round(variance, 4),
    })
}

impl ConfidenceSpread {
    /// Returns the part of the decisions that the fullest class has.
    pub fn fullest(&self) -> f64 {
        self.classes.iter().copied().max().unwrap_or(0) as f64 / self.count as f64
    }

    /// Writes it with the classes of contextweaver 0.18, and beside them ours, in which low confidence has its own.
    pub fn to_json(&self) -> Value {
        let pairs = CLASSES.iter().zip(&self.classes);
        let counts: JsonMap = pairs.map(|((name, _), count)| ((*name).to_owned(), (*count).into())).collect();
        let mut distribution = JsonMap::new();
        distribution.insert("0.0-0.5".to_owned(), self.low.into());
        distribution.extend(counts.clone());
        distribution.insert("0.5-0.6".to_owned(), (self.classes[0] - self.low).into());
        json!({
            "mean": self.mean,
            "stdDev": self.deviation,
            "min": self.least,
            "max": self.most,
            "count": self.count,
            "bucketCounts": counts,
            "variance": self.variance,
            "distribution": distribution,
        })
    }
}
