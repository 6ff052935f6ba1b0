//! Whether anything fits a query at all.

use super::filter::ActiveTools;
use crate::index::{QueryFit, Ranking};
use contextweaver_model::json::numbers::round;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::redact_id;

/// Confidence below which nothing fits. It is that of a word found in a description; generic words and related ones alone
/// do not reach it. Below, one query in ten has its tool among the first five.
pub const MIN_CONFIDENCE: f64 = 0.2;

/// How often one of the first five tools was right, by the evidence of [`QueryFit`]: measured on seven public sets of
/// queries, three of them with as many that no tool serves as that one does, each set counting the same.
const CONFIDENCE: &[(f64, f64)] = &[
    (0.0, 0.0),
    (0.3, 0.01),
    (0.5, 0.06),
    (0.65, 0.2),
    (0.9, 0.35),
    (1.15, 0.6),
    (1.5, 0.76),
    (2.0, 0.82),
    (3.0, 0.88),
    (4.5, 0.95),
];

/// Words and tools that a reason names.
const NAMED: usize = 3;

/// What is said of a ranking as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Judgement {
    /// How often one of the first five is right at such evidence; nothing where vectors speak for the tools and words do not.
    pub confidence: Option<f64>,
    /// Whether nothing is to be returned.
    pub no_match: bool,
    /// Why nothing is, and what came nearest.
    pub reason: String,
}

impl Judgement {
    /// Judges a ranking.
    pub fn new(ranking: &Ranking, is_hybrid: bool, least: f64, nearest: &[&str], active: &ActiveTools<'_>) -> Self {
        let confidence = if ranking.is_exact { 1.0 } else { confidence(ranking.fit.evidence) };
        let is_weak = confidence < least;
        let no_match = ranking.entries.is_empty() || is_weak && !is_hybrid;
        let reason = if no_match { reason(ranking, nearest, active) } else { String::new() };
        Self { confidence: (!(is_weak && is_hybrid)).then(|| round(confidence, 4)), no_match, reason }
    }
}

/// Returns how likely one of the first tools is right, going by the evidence.
fn confidence(evidence: f64) -> f64 {
    let after = CONFIDENCE.iter().position(|(known, _)| *known > evidence).unwrap_or(CONFIDENCE.len() - 1).max(1);
    let ((low, from), (high, to)) = (CONFIDENCE[after - 1], CONFIDENCE[after]);
    (from + (to - from) * (evidence - low) / (high - low)).min(to)
}

fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.take(NAMED).map(quote).collect::<Vec<_>>().join(", ")
}

/// Says in a sentence why nothing fits.
fn reason(ranking: &Ranking, nearest: &[&str], active: &ActiveTools<'_>) -> String {
    let QueryFit { unknown, is_about, .. } = &ranking.fit;
    let why = if ranking.is_empty {
        "the query has no words".to_owned()
    } else if !is_about {
        "no word of the query says what a tool should do".to_owned()
    } else if unknown.is_empty() {
        "tools have words of the query only in passing".to_owned()
    } else {
        format!("no tool has {}", listed(unknown.iter().map(String::as_str)))
    };
    if !is_about {
        return why;
    }
    let names: Vec<String> =
        nearest.iter().filter_map(|id| active.get(id)).map(|item| redact_id(&item.name).into_owned()).collect();
    if names.is_empty() {
        return why;
    }
    format!("{why}; nearest: {}", listed(names.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_certain() {
        let all: Vec<f64> = (0..=600).map(|percent| confidence(f64::from(percent) / 100.0)).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert_eq!((all[0], round(all[65], 9), round(all[100], 9), all[600]), (0.0, 0.2, 0.45, 0.95));
    }
}
