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

/// Crowding up to which evidence is worth what it is on the average, and a bit more; what it is worth more there; and how
/// fast that goes down beyond. Where the sixth tool scores nearly as the first, the right one is often behind it.
const CROWDED: f64 = 0.3;
const CLEAR: f64 = 1.2;
const CROWDING: f64 = 1.1;
/// Most that words can tell.
const MAX_CONFIDENCE: f64 = 0.98;

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
        let confidence = if ranking.is_exact { 1.0 } else { confidence(ranking.fit.evidence, ranking.crowding) };
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

/// Returns how likely one of the first tools is right, going by the evidence and by how far it tells tools apart. Whether
/// anything fits is decided by the evidence alone.
fn confidence(evidence: f64, crowding: f64) -> f64 {
    let found = by_evidence(evidence);
    if found <= MIN_CONFIDENCE || crowding == 0.0 {
        return found;
    }
    let worth = CLEAR - CROWDING * (crowding - CROWDED).max(0.0);
    (MIN_CONFIDENCE + (found - MIN_CONFIDENCE) * worth).min(MAX_CONFIDENCE)
}

fn by_evidence(evidence: f64) -> f64 {
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
    fn more_evidence_is_more_certain_and_a_crowd_is_less() {
        for crowding in [0.0, 0.2, 0.5, 1.0] {
            let all: Vec<f64> = (0..=600).map(|percent| confidence(f64::from(percent) / 100.0, crowding)).collect();
            assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
            assert!(all.iter().all(|found| (0.0..1.0).contains(found)), "{all:?}");
            assert_eq!((all[0], round(all[60], 9)), (0.0, 0.2));
        }
        let of = |crowding| round(confidence(2.0, crowding), 9);
        assert_eq!((of(0.0), of(0.3), of(0.5), of(1.0)), (0.82, 0.944, 0.8076, 0.4666));
    }
}
