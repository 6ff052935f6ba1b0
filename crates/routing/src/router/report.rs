//! What is said of a route: whether it is clear, what to ask if not, and how it came about.

use serde_json::{Value, json};

use super::completion::QueryCompletion;
use super::filter::ActiveTools;
use super::options::{Navigator, RouteOptions, RouterOptions};
use super::question::clarifying_question;
use super::record::{RouteResult, RouteTrace};
use super::shortlist::RankedCandidate;
use super::{LOOKED_AT, NavigatorResult};
use contextweaver_base::order::WordSet;
use contextweaver_model::JsonMap;
use contextweaver_model::json::numbers::round;
use contextweaver_text::redact::{mask_secrets, redact_id};

/// How often the first tool was the labelled one, by the ratio of the second score to the first: measured on four public
/// sets of queries (2,153 in all, each set counting the same), made monotone.
const CONFIDENCE: &[(f64, f64)] = &[
    (0.0, 0.97),
    (0.35, 0.96),
    (0.45, 0.90),
    (0.55, 0.75),
    (0.65, 0.69),
    (0.75, 0.64),
    (0.85, 0.54),
    (0.95, 0.42),
    (1.0, 0.40),
];

/// Returns how likely the first tool is the right one, going by a ratio of scores.
fn confidence(ratio: f64) -> f64 {
    let after = CONFIDENCE.iter().position(|(known, _)| *known > ratio).unwrap_or(CONFIDENCE.len() - 1).max(1);
    let ((low, from), (high, to)) = (CONFIDENCE[after - 1], CONFIDENCE[after]);
    from + (to - from) * (ratio - low) / (high - low)
}

/// Everything a [`RouteResult`] is made of.
pub(super) struct ResultBuilder<'a> {
    pub router: &'a RouterOptions,
    pub options: &'a RouteOptions,
    pub query: &'a str,
    pub hints: Vec<String>,
    pub active: &'a ActiveTools<'a>,
    pub found: &'a NavigatorResult,
}

impl ResultBuilder<'_> {
    /// Returns the result with its short list.
    pub fn result(&self, short: Vec<RankedCandidate>) -> RouteResult {
        let Self { router, options, active, found, .. } = *self;
        let is_exact = router.navigator == Navigator::Exact;
        let judgement = found.judgement.as_ref();
        let refused = judgement.filter(|_| found.ranked.is_empty());
        let is_ambiguous = self.is_ambiguous();
        let clarifying_question = is_ambiguous.then(|| self.question()).flatten();
        let candidate_items = options
            .include_items
            .then(|| short.iter().filter_map(|candidate| active.get(&candidate.id)).cloned().collect());
        let score = |at: usize| found.ranked.get(at).map(|candidate| candidate.score);
        let trace = RouteTrace {
            trace_version: 1,
            query: mask_secrets(self.query).into_owned(),
            confidence_gap: router.config.confidence_gap,
            top_score: score(0).unwrap_or(0.0),
            runner_up_score: score(1),
            is_ambiguous,
            excluded_count: active.excluded,
            gated_count: active.gated,
            retriever_engine: self.engine().to_owned(),
            steps: (options.debug && !is_exact).then(|| found.steps.clone()),
            clarifying_question: clarifying_question.clone(),
            extra: self.extra(&short),
        };
        let (mut candidate_ids, mut paths, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for RankedCandidate { id, score, path } in short {
            candidate_ids.push(id);
            scores.push(score);
            paths.push(path);
        }
        RouteResult {
            candidate_ids,
            paths,
            scores,
            is_ambiguous,
            clarifying_question,
            excluded_count: active.excluded,
            gated_count: active.gated,
            context_boost_applied: !self.hints.is_empty(),
            context_hints: self.shown_hints(),
            history_adjustments: found.history.clone(),
            confidence: judgement.and_then(|judgement| judgement.confidence),
            no_match: is_exact.then_some(found.ranked.is_empty()),
            no_match_reason: refused.map(|judgement| judgement.reason(active)),
            no_match_cause: refused.map(|judgement| judgement.cause.clone()),
            nearest_ids: refused.map(|judgement| judgement.nearest.clone()),
            completion: found
                .completion
                .as_ref()
                .map(|known| QueryCompletion { query: mask_secrets(&known.query).into_owned(), ..known.clone() }),
            trace,
            candidate_items,
        }
    }

    /// Tells whether the best two are too close to call: by the ratio of their scores, which does not depend on the
    /// query, or for the beam by their distance.
    fn is_ambiguous(&self) -> bool {
        match (self.router.navigator, self.rivals()) {
            (_, None) => false,
            (Navigator::Exact, _) => !self.found.is_exact && self.ratio() >= self.router.ambiguity_ratio,
            (Navigator::Beam, Some((best, second))) => best - second < self.router.config.confidence_gap,
        }
    }

    /// Returns the best two scores. Near-duplicates are not each other's rivals.
    fn rivals(&self) -> Option<(f64, f64)> {
        let is_rival = |candidate: &&RankedCandidate| !self.found.variants.contains(&candidate.id);
        let mut rivals = self.found.ranked.iter().filter(is_rival);
        Some((rivals.next()?.score, rivals.next()?.score))
    }

    /// Returns how close the second score is to the first, 0 to 1. Adjusted scores may be below zero, where the better
    /// one is nearer to it.
    fn ratio(&self) -> f64 {
        match self.rivals() {
            Some((best, second)) if best <= second => 1.0,
            Some((best, second)) if second > 0.0 => second / best,
            Some((best, second)) if best < 0.0 => best / second,
            _ => 0.0,
        }
    }

    fn question(&self) -> Option<String> {
        let best = self.found.ranked.iter().take(LOOKED_AT);
        let items: Vec<_> = best.filter_map(|candidate| self.active.get(&candidate.id)).collect();
        // Each by itself: in the sentence a name would read like what is assigned to the word before it.
        let shown: Vec<_> = items.iter().map(|item| (redact_id(&item.name), redact_id(&item.namespace))).collect();
        let named: Vec<(&str, &str)> = shown.iter().map(|(name, namespace)| (&**name, &**namespace)).collect();
        clarifying_question(&mask_secrets(self.query), &named)
    }

    /// The hints as they are told; those that were searched with are as they came.
    fn shown_hints(&self) -> Vec<String> {
        self.hints.iter().map(|hint| mask_secrets(hint).into_owned()).collect()
    }

    fn engine(&self) -> &'static str {
        match self.router.navigator {
            Navigator::Exact if self.found.is_hybrid => "embedding+bm25f",
            Navigator::Exact => "bm25f",
            Navigator::Beam => self.router.scorer.name(),
        }
    }

    fn extra(&self, short: &[RankedCandidate]) -> JsonMap {
        let mut extra = JsonMap::new();
        let mut put = |key: &str, value: Value| extra.insert(key.to_owned(), value);
        put("context_hints", json!(self.shown_hints()));
        put("context_boost_applied", json!(!self.hints.is_empty()));
        if self.options.feedback.is_some() {
            put("score_provider", json!("FeedbackAwareScoreProvider"));
        }
        if !self.found.history.is_empty() {
            put("history_adjustments", Value::Object(self.found.history.clone()));
        }
        let shown = WordSet::new(short.iter().map(|candidate| candidate.id.clone()).collect());
        let pins = self.options.pin_ids.words().iter();
        let pinned: Vec<&String> = pins.filter(|id| shown.contains(id)).collect();
        if !pinned.is_empty() {
            put("pinned", json!(pinned));
        }
        if let Some(quota) = self.options.namespace_quota {
            put("namespace_quota", json!(quota));
        }
        if self.router.navigator == Navigator::Exact {
            if !self.found.ranked.is_empty() {
                let ratio = self.ratio();
                let confidence = if self.found.is_exact { 1.0 } else { confidence(ratio) };
                put(
                    "ambiguity",
                    json!({ "ratio": ratio, "threshold": self.router.ambiguity_ratio, "confidence": round(confidence, 4) }),
                );
            }
            if !self.found.matches.is_empty() {
                put("matches", json!(self.found.matches));
            }
            if !self.found.folded.is_empty() {
                put("folded", Value::Object(self.found.folded.clone()));
            }
        }
        extra
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closer_the_second_the_less_is_certain() {
        let all: Vec<f64> = (0..=100).map(|percent| confidence(f64::from(percent) / 100.0)).collect();
        assert!(all.windows(2).all(|pair| pair[0] >= pair[1]), "{all:?}");
        assert_eq!((all[0], round(all[45], 9), round(all[50], 9), round(all[100], 9)), (0.97, 0.9, 0.825, 0.4));
    }
}
