//! The default scoring: BM25 over the visible log, the words of the current turn as context, and neighbours.
//!
//! Constants and steps are those that won on four labelled sets of agent logs and meetings; `benches/README.md` has the
//! table. Okapi BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, 2009). Logarithms and powers come from one
//! library on every platform, so that scores have the same bits everywhere.

use std::collections::HashMap;

use crate::index::{LogIndex, Passage};
use contextweaver_base::order::WordSet;
use contextweaver_model::{Bm25nWeights, ContextItem, ItemKind, ScoreParts};
use contextweaver_text::terms::for_each_term;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Items before the end whose words count as context, and how much less each older one counts.
const CONTEXT_ITEMS: usize = 5;
const CONTEXT_DECAY: f64 = 0.8;
/// Context words that look like identifiers carry over; ordinary ones hardly.
const CONTEXT_IDENTIFIER: f64 = 1.0;
const CONTEXT_WORD: f64 = 0.2;
/// An ordinary context word that stands in more than this share of the visible items, and in more than so many, tells none
/// of them from another.
const CONTEXT_FREQUENCY: f64 = 0.1;
const CONTEXT_FREQUENT_ITEMS: f64 = 3.0;
/// What a context word counts in an excerpt, beside one of the query.
const EXCERPT_CONTEXT: f64 = 0.2;
/// Weight of another form of a query word, relative to the word itself: "camped" for "camping".
const KIN_WEIGHT: f64 = 0.5;
/// From this many query words found in the log on, the context fades: a full question speaks for itself.
const THIN_QUERY_TERMS: f64 = 2.0;
/// What the first, second and third neighbour add.
const NEIGHBOUR_WEIGHTS: [f64; 3] = [0.5, 0.35, 0.2];
/// Steps of a running turn are what led from one to the next, and speak of each other less than question and answer do.
const RUNNING_NEIGHBOURS: f64 = 0.5;
/// Items longer than this many tokens gain less from their neighbours.
const NEIGHBOUR_TOKENS: f64 = 300.0;
/// What sharing all tags with the query adds.
const TAG_WEIGHT: f64 = 0.5;
/// Tokens after which the caller's recency weight has fallen to 37 %.
const RECENCY_TOKENS: f64 = 2000.0;
/// Tokens one item counts at most for that distance.
const RECENCY_ITEM_TOKENS: f64 = 400.0;

/// What a build knows about the log when it scores.
pub struct ScoreScope<'a> {
    pub items: &'a [ContextItem],
    pub index: &'a LogIndex,
    /// Positions of items with visible text, ascending.
    pub visible: &'a [usize],
    /// Cost of each visible item, in tokens.
    pub costs: &'a [f64],
    /// Which of the visible items opened the running turn, counted from 0.
    pub turn: usize,
}

/// What relevance is measured against.
pub struct ScoreQuery<'a> {
    /// The caller's query.
    pub text: &'a str,
    /// The caller's tags.
    pub tags: &'a [String],
    /// The caller's scores by item id, 0 to 1.
    pub item_scores: &'a HashMap<String, f64>,
    /// The caller's weights.
    pub weights: Bm25nWeights,
}

/// Scores of the visible items, and the weights of the words they come from.
pub struct ItemScores {
    /// One score for each visible item.
    pub total: Vec<f64>,
    /// What each is made of.
    pub parts: Vec<ScoreParts>,
    /// Weights of query and context terms by term id.
    pub terms: TermWeights,
    /// How little the query says of itself, 0 to 1: 1 without words that the log knows.
    pub thinness: f64,
    pub work: u64,
}

/// Weighted terms in the order they were found.
#[derive(Default)]
pub struct TermWeights {
    order: Vec<u32>,
    /// By term id; a weight of 0 is none.
    by_id: Vec<TermWeight>,
}

#[derive(Clone, Copy, Default)]
struct TermWeight {
    weight: f64,
    is_query: bool,
    /// Visible items the term occurs in.
    frequency: u32,
}

impl TermWeights {
    /// Returns the weight of a term for excerpts: query terms, and context terms that are rare, for less. One that stands in a
    /// single item comes from it, and says nothing about where to look there.
    pub fn of(&self, term: u32, visible: usize) -> f64 {
        let rare = (visible as f64 / 10.0).max(3.0);
        match self.by_id.get(term as usize) {
            Some(found) if found.is_query => found.weight,
            Some(found) if found.frequency > 1 && f64::from(found.frequency) <= rare => EXCERPT_CONTEXT * found.weight,
            _ => 0.0,
        }
    }

    /// Returns the terms that have a weight.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.order.iter().copied()
    }

    fn add(&mut self, term: u32, weight: f64, is_query: bool, frequency: u32) {
        self.order.push(term);
        self.by_id[term as usize] = TermWeight { weight, is_query, frequency };
    }
}

/// Scores every visible item. Linear in the postings of the weighted terms and in the visible items.
pub fn score(scope: &ScoreScope, query: &ScoreQuery) -> ItemScores {
    let mut ranks = vec![u32::MAX; scope.items.len()];
    for (rank, at) in scope.visible.iter().enumerate() {
        ranks[*at] = rank as u32;
    }
    let mut work = scope.items.len() as u64;
    let (terms, thinness) = weigh_terms(scope, query, &ranks, &mut work);
    let mut base = bm25(scope, &terms, &ranks, &mut work);
    let best = base.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        for value in &mut base {
            *value /= best;
        }
    }
    let mut parts: Vec<ScoreParts> =
        base.iter().map(|text| ScoreParts { text: *text, ..ScoreParts::default() }).collect();
    for (rank, at) in scope.visible.iter().enumerate() {
        let item = &scope.items[*at];
        let given = query.item_scores.get(&item.id).copied().unwrap_or(0.0);
        let added = given + TAG_WEIGHT * tag_overlap(item, query.tags);
        base[rank] += added;
        parts[rank].caller = added;
    }
    add_neighbours(&base, scope, &mut parts);
    add_weights(scope, &query.weights, &mut parts);
    let total = parts.iter().map(|part| part.text + part.neighbours + part.caller).collect();
    work += scope.visible.len() as u64 * 6;
    ItemScores { total, parts, terms, thinness, work }
}

/// Query terms weigh 1, other forms of their words less; so do terms of the last items, unless the query is thin.
fn weigh_terms(scope: &ScoreScope, query: &ScoreQuery, ranks: &[u32], work: &mut u64) -> (TermWeights, f64) {
    let mut weights = TermWeights { order: Vec::new(), by_id: vec![TermWeight::default(); scope.index.terms()] };
    let mut occurring = 0;
    for_each_term(query.text, |term| {
        if let Some(id) = scope.index.term(term)
            && weights.by_id[id as usize].weight == 0.0
        {
            let found = frequency(scope.index, id, ranks, work);
            occurring += usize::from(found > 0);
            weights.add(id, 1.0, true, found);
        }
    });
    for_each_term(query.text, |term| {
        let is_known = scope.index.term(term).is_some();
        for id in scope.index.kin(term) {
            if weights.by_id[id as usize].weight == 0.0 {
                let found = frequency(scope.index, id, ranks, work);
                occurring += usize::from(found > 0 && !is_known);
                weights.add(id, KIN_WEIGHT, true, found);
            }
        }
    });
    let thin = (THIN_QUERY_TERMS / occurring.max(1) as f64).min(1.0);
    let rare = (CONTEXT_FREQUENCY * scope.visible.len() as f64).max(CONTEXT_FREQUENT_ITEMS);
    for (id, weight) in context_terms(scope, thin, &weights) {
        let found = frequency(scope.index, id, ranks, work);
        if f64::from(found) <= rare || scope.index.is_identifier(id) {
            weights.add(id, weight, false, found);
        }
    }
    (weights, thin)
}

/// Returns the terms of the last visible items that the query does not hold, with the largest weight each reaches.
fn context_terms(scope: &ScoreScope, thin: f64, query: &TermWeights) -> Vec<(u32, f64)> {
    let mut context: Vec<(u32, f64)> = Vec::new();
    let mut slots = vec![usize::MAX; scope.index.terms()];
    let mut decay = thin;
    for at in scope.visible.iter().rev().take(CONTEXT_ITEMS) {
        for id in &scope.index.entry(*at).terms {
            if query.by_id[*id as usize].is_query {
                continue;
            }
            let weight = decay * if scope.index.is_identifier(*id) { CONTEXT_IDENTIFIER } else { CONTEXT_WORD };
            let slot = slots[*id as usize];
            if let Some((_, known)) = context.get_mut(slot) {
                *known = known.max(weight);
            } else {
                slots[*id as usize] = context.len();
                context.push((*id, weight));
            }
        }
        decay *= CONTEXT_DECAY;
    }
    context
}

/// Counts the visible items that a term occurs in.
fn frequency(index: &LogIndex, term: u32, ranks: &[u32], work: &mut u64) -> u32 {
    let postings = index.postings(term);
    *work += postings.len() as u64;
    let mut found = 0;
    let mut last = u32::MAX;
    for posting in postings {
        let at = index.passages()[posting.passage as usize].at;
        found += u32::from(at != last && ranks[at as usize] != u32::MAX);
        last = at;
    }
    found
}

/// Scores items by their best passage. Average length is that of visible passages, frequencies are those of items. Context
/// words do not count in the items they come from: these would match themselves, and take the room of what they speak of.
fn bm25(scope: &ScoreScope, terms: &TermWeights, ranks: &[u32], work: &mut u64) -> Vec<f64> {
    let passages = scope.index.passages();
    let is_visible = |passage: &&Passage| ranks[passage.at as usize] != u32::MAX;
    let (shown, length) = passages
        .iter()
        .filter(is_visible)
        .fold((0_u64, 0_u64), |(shown, length), passage| (shown + 1, length + u64::from(passage.length)));
    let average = (length as f64 / shown.max(1) as f64).max(1.0);
    let count = scope.visible.len() as f64;
    let mut scores = vec![0.0; passages.len()];
    let context_from = scope.visible.len().saturating_sub(CONTEXT_ITEMS);
    let first_of_context = scope.visible.get(context_from).map_or(u32::MAX, |at| *at as u32);
    for id in &terms.order {
        let TermWeight { weight, frequency, is_query } = terms.by_id[*id as usize];
        let found = f64::from(frequency);
        let idf = libm::log(1.0 + (count - found + 0.5) / (found + 0.5));
        for posting in scope.index.postings(*id) {
            // Postings are in log order.
            if !is_query && passages[posting.passage as usize].at >= first_of_context {
                break;
            }
            let occurrences = f64::from(posting.count);
            let relative = f64::from(passages[posting.passage as usize].length) / average;
            let saturated = occurrences * (K1 + 1.0) / (occurrences + K1 * ((1.0 - B) + B * relative));
            scores[posting.passage as usize] += weight * idf * saturated;
        }
        *work += scope.index.postings(*id).len() as u64;
    }
    let mut best: Vec<f64> = vec![0.0; scope.visible.len()];
    for (passage, score) in passages.iter().zip(scores) {
        if let Some(item) = best.get_mut(ranks[passage.at as usize] as usize) {
            *item = item.max(score);
        }
    }
    *work += passages.len() as u64;
    best
}

fn tag_overlap(item: &ContextItem, wanted: &[String]) -> f64 {
    if wanted.is_empty() {
        return 0.0;
    }
    let tags = WordSet::new(item.tags().map(str::to_owned).collect());
    contextweaver_text::similarity::jaccard(&tags, &WordSet::new(wanted.to_vec()))
}

fn add_neighbours(base: &[f64], scope: &ScoreScope, parts: &mut [ScoreParts]) {
    for (rank, part) in parts.iter_mut().enumerate() {
        let damping = (NEIGHBOUR_TOKENS / scope.costs[rank].max(1.0)).min(1.0);
        let damping = if rank > scope.turn { RUNNING_NEIGHBOURS * damping } else { damping };
        for (offset, weight) in NEIGHBOUR_WEIGHTS.iter().enumerate() {
            let distance = offset + 1;
            let before = rank.checked_sub(distance).map_or(0.0, |other| base[other]);
            let after = base.get(rank + distance).copied().unwrap_or(0.0);
            part.neighbours += weight * before.max(after) * damping;
        }
    }
}

fn add_weights(scope: &ScoreScope, weights: &Bm25nWeights, parts: &mut [ScoreParts]) {
    if weights.kind_weight == 0.0 && weights.recency_weight == 0.0 {
        return;
    }
    let mut distance = 0.0;
    for (rank, at) in scope.visible.iter().enumerate().rev() {
        let recency = libm::exp(-distance / RECENCY_TOKENS);
        parts[rank].caller +=
            weights.kind_weight * kind_priority(scope.items[*at].kind) + weights.recency_weight * recency;
        distance += scope.costs[rank].min(RECENCY_ITEM_TOKENS);
    }
}

/// Priorities of kinds, for who gives them a weight.
const fn kind_priority(kind: ItemKind) -> f64 {
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
