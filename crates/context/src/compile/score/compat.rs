//! The weighted sum of 0.18: position, shared words or tags, kind, size.

use contextweaver_base::order::WordSet;
use contextweaver_model::{CompatWeights, ContextItem, ItemKind};
use contextweaver_text::similarity::jaccard;
use contextweaver_text::tokenize::token_set;

/// What is looked for.
pub struct CompatQuery {
    tags: WordSet,
    words: WordSet,
}

impl CompatQuery {
    /// Prepares a query; any tag replaces the words.
    pub fn new(query: &str, tags: &[String]) -> Self {
        Self { tags: WordSet::new(tags.to_vec()), words: token_set(query) }
    }
}

/// Scores one item at a position of a list.
pub fn score_item(
    item: &ContextItem,
    wanted: &CompatQuery,
    position: usize,
    total: usize,
    weights: &CompatWeights,
) -> f64 {
    let recency = (position as f64 + 1.0) / total.max(1) as f64;
    let matching = if wanted.tags.is_empty() {
        jaccard(&token_set(&item.text), &wanted.words)
    } else {
        jaccard(&tags_of(item), &wanted.tags)
    };
    let priority = weights
        .kind_priority
        .as_ref()
        .and_then(|table| table.iter().find(|(kind, _)| *kind == item.kind))
        .map_or_else(|| kind_priority(item.kind), |(_, priority)| *priority);
    let cost = 1.0 / (1.0 + item.token_estimate as f64 / 500.0);
    weights.recency_weight * recency
        + weights.tag_match_weight * matching
        + weights.kind_priority_weight * priority
        + weights.token_cost_penalty * cost
}

fn tags_of(item: &ContextItem) -> WordSet {
    WordSet::new(item.tags().map(str::to_owned).collect())
}

/// Returns what tags alone add to an item's score.
pub fn tag_part(item: &ContextItem, wanted: &CompatQuery, weights: &CompatWeights) -> f64 {
    weights.tag_match_weight * jaccard(&tags_of(item), &wanted.tags)
}

/// The table of priorities of 0.18.
pub const fn kind_priority(kind: ItemKind) -> f64 {
    match kind {
        ItemKind::Policy => 1.0,
        ItemKind::PlanState => 0.9,
        ItemKind::UserTurn => 0.85,
        ItemKind::AgentMsg => 0.7,
        ItemKind::ToolCall => 0.6,
        ItemKind::ToolResult => 0.55,
        ItemKind::MemoryFact => 0.5,
        ItemKind::RetrievedDoc => 0.45,
        ItemKind::DocSnippet => 0.4,
    }
}
