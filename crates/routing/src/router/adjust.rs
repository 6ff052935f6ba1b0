//! What was called before, and how that went, changes scores.

use super::NavigatorResult;
use super::beam::by_score;
use super::feedback::adjust_by_feedback;
use super::filter::ActiveTools;
use super::history::CalledTools;
use super::options::{Navigator, RouteOptions, RouterOptions};
use super::shortlist::RankedCandidate;
use crate::cards::ToolNames;
use crate::index::{RankScope, ToolIndex};
use contextweaver_base::Result;
use contextweaver_base::order::{SortedMap, sort_by};

/// Scores of tools by id.
type ToolScores = SortedMap<String, f64>;

/// Returns how like a text tools are, the most like it 1.
pub(super) fn likeness(index: &mut ToolIndex, text: &str, tools: &[RankedCandidate]) -> Result<ToolScores> {
    let mut ids = ToolScores::new();
    ids.extend(tools.iter().map(|tool| (tool.id.clone(), 0.0)));
    let allowed = |id: &str| ids.contains_key(id);
    let ranking = index.rank(text, RankScope { allowed: Some(&allowed), embedding: None, limit: usize::MAX })?;
    let best = ranking.entries.iter().map(|entry| entry.score).fold(0.0, f64::max);
    let mut scores = ToolScores::new();
    scores.extend(ranking.entries.into_iter().map(|entry| (entry.id, entry.score / best)));
    Ok(scores)
}

/// Returns a score that can be written as a number.
fn finite(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score.clamp(f64::MIN, f64::MAX) }
}

/// Applies history, then feedback. The exact navigator's scores have no fixed scale, so theirs is the best score.
///
/// With the names that tools have for providers, called tools are known by their names, too.
pub(super) fn adjust(
    found: &mut NavigatorResult,
    active: &ActiveTools<'_>,
    names: Option<&ToolNames>,
    router: &RouterOptions,
    options: &RouteOptions,
    likeness: &mut dyn FnMut(&str, &[RankedCandidate]) -> Result<ToolScores>,
) -> Result<()> {
    if options.history.is_none() && options.feedback.is_none() || found.ranked.is_empty() {
        return Ok(());
    }
    let scale = match router.navigator {
        Navigator::Exact => found.ranked[0].score,
        Navigator::Beam => 1.0,
    };
    let mut scored: Vec<(String, f64)> =
        found.ranked.iter().map(|candidate| (candidate.id.clone(), candidate.score / scale)).collect();
    if let Some(history) = &options.history {
        let mut history = history.clone();
        let tool = |id: &str| active.catalog.find(id);
        if let Some(names) = names {
            history.resolve(&CalledTools::new(active.catalog, names));
        }
        let alike = match history.last_result_summary.as_deref() {
            Some(summary) if !summary.is_empty() => likeness(summary, &found.ranked)?,
            _ => ToolScores::new(),
        };
        let (adjusted, deltas) = history.adjust(scored, &tool, &|id| alike.get(id).copied());
        scored = adjusted;
        found.history = deltas;
    }
    if let Some(feedback) = &options.feedback {
        scored = adjust_by_feedback(scored, &feedback.tools, &feedback.weights);
    }
    let mut changed = ToolScores::new();
    changed.extend(scored.into_iter().map(|(id, score)| (id, finite(score * scale))));
    for candidate in &mut found.ranked {
        candidate.score = changed.get(&candidate.id).copied().unwrap_or(candidate.score);
    }
    match router.navigator {
        Navigator::Beam => by_score(&mut found.ranked),
        // Near-duplicates with the score of their place stay behind it: equal scores keep their order.
        Navigator::Exact => sort_by(&mut found.ranked, |a, b| b.score.total_cmp(&a.score)),
    }
    Ok(())
}
