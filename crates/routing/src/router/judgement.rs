//! Whether anything fits a query at all.

use super::filter::ActiveTools;
use crate::index::Ranking;
use contextweaver_model::json::numbers::round;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::redact::redact_id;

/// Confidence below which nothing fits. One word in a description of common length does not reach it: requests for other
/// things often have that. Of the queries below it in the sets of [`CONFIDENCE`], 16 of 607 had a right tool among the first
/// five.
pub const MIN_CONFIDENCE: f64 = 0.2;

/// How often one of the first five tools was right, by the evidence of [`QueryFit`](crate::index::QueryFit): measured on
/// seven public sets of queries, each counting the same; in three of them no tool serves half of the queries or more.
const CONFIDENCE: &[(f64, f64)] = &[
    (0.0, 0.0),
    (0.3, 0.01),
    (0.5, 0.04),
    (0.6, 0.2),
    (0.85, 0.3),
    (1.05, 0.5),
    (1.2, 0.68),
    (1.5, 0.76),
    (2.0, 0.82),
    (3.0, 0.87),
    (4.5, 0.94),
];

/// Words and tools that a reason names.
const NAMED: usize = 3;

/// What is said of a ranking as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Judgement {
    /// How often one of the first five is right with such evidence; nothing where only vectors speak for the tools.
    pub confidence: Option<f64>,
    /// Whether nothing is to be returned.
    pub no_match: bool,
    /// Why nothing is returned.
    pub cause: String,
    /// Ids of the tools that came nearest, when nothing is returned.
    pub nearest: Vec<String>,
}

impl Judgement {
    /// Judges the ranking of a query.
    pub fn new(ranking: &Ranking, is_hybrid: bool, least: f64, query: &str) -> Self {
        let confidence = if ranking.is_exact { 1.0 } else { confidence(ranking.fit.evidence) };
        let is_weak = confidence < least;
        let mut found = Self {
            confidence: (!(is_weak && is_hybrid)).then(|| round(confidence, 4)),
            no_match: ranking.entries.is_empty() || is_weak && !is_hybrid,
            ..Self::default()
        };
        if found.no_match {
            found.cause = cause(ranking, query);
            // Without a word to go by, tools are near by chance.
            if ranking.fit.is_about {
                found.nearest = ranking.entries.iter().take(NAMED).map(|entry| entry.id.clone()).collect();
            }
        }
        found
    }

    /// Says in a sentence why nothing is returned, and names the tools that came nearest.
    pub fn reason(&self, active: &ActiveTools<'_>) -> String {
        let items = self.nearest.iter().filter_map(|id| active.get(id));
        let names: Vec<String> = items.map(|item| redact_id(&item.name).into_owned()).collect();
        if names.is_empty() {
            return self.cause.clone();
        }
        format!("{}; nearest: {}", self.cause, listed(names.iter().map(String::as_str)))
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

/// Says why nothing fits. Words of secrets in the query are not named.
fn cause(ranking: &Ranking, query: &str) -> String {
    if ranking.is_empty {
        return "the query has no words".to_owned();
    }
    if !ranking.fit.is_about {
        return "no word of the query says what a tool should do".to_owned();
    }
    let shown = mask_secrets(query).to_lowercase();
    let unknown = listed(ranking.fit.unknown().filter(|word| shown.contains(word)));
    if unknown.is_empty() {
        return "no tool has enough words of the query".to_owned();
    }
    format!("no tool has {unknown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_certain() {
        let all: Vec<f64> = (0..=600).map(|percent| confidence(f64::from(percent) / 100.0)).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert_eq!((all[0], round(all[60], 9), round(all[95], 9), all[600]), (0.0, 0.2, 0.4, 0.94));
    }
}
