//! Searching the store.

use super::super::call::Answers;
use super::super::record::Related;
use super::super::records::Records;
use super::super::store::DecisionStore;
use super::super::words::cut;
use super::Finder;
use super::embedding::embed;
use super::filters::{Check, Filters};
use super::fusion::fuse;
use super::meanings::Ids;
use super::options::Mode;
use super::summary::LONG_TITLE;
use super::texts::Side;
use super::vectors::{distance, is_zero};
use contextweaver_base::Result;
use contextweaver_base::order::{sort_by, sort_distinct};
use contextweaver_model::Warning;
use contextweaver_model::json::numbers::round;

/// What the rank of a decision that another one supersedes is multiplied by.
const SUPERSEDED: f64 = 0.5;
/// Hits of each list that are merged, for each hit wanted.
const CANDIDATES: usize = 2;
/// Queries whose vectors of the host are remembered.
const REMEMBERED_QUERIES: usize = 64;
/// How far a nearness in few bits may be from the rounded one.
const SLACK: f64 = 2e-4;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The text.
    pub text: &'a str,
    /// How many hits at most.
    pub limit: usize,
    /// By words, by meaning or by both.
    pub mode: Mode,
    /// Which side of the decisions is compared by meaning.
    pub side: Side,
    /// What the hits must be like.
    pub filters: &'a Filters,
}

/// A decision that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its id.
    pub id: String,
    /// How far it is from the query: 0 for the same, four decimals.
    pub distance: f64,
    /// What meaning gave it.
    pub semantic: f64,
    /// What words gave it.
    pub keyword: f64,
    /// Both together.
    pub combined: f64,
    /// Decisions that supersede it; it is ranked as if it had got half.
    pub superseded_by: Vec<String>,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Found {
    /// The best hits, best first.
    pub hits: Vec<Hit>,
    /// How was searched: by words where vectors were wanted and could not be had.
    pub mode: Mode,
    /// What the search had to do without.
    pub warnings: Vec<Warning>,
}

impl Found {
    /// Returns the hits as a decision remembers what was found before it.
    pub fn related(&self, records: &Records) -> Vec<Related> {
        let related = |hit: &Hit| {
            let decision = records.get(&hit.id)?;
            let summary = cut(decision.title(), LONG_TITLE).into_owned();
            Some(Related { id: hit.id.clone(), summary, distance: round(hit.distance, 3), ..Related::default() })
        };
        self.hits.iter().filter_map(related).collect()
    }
}

/// Returns the texts whose vectors the host must make before a search runs; none where the store makes its own.
///
/// What the answers hold is not asked for again, nor anything once the embedder failed.
pub fn texts_needed(store: &DecisionStore, answers: &Answers, query: &Query) -> Vec<String> {
    let finder = &store.finder;
    let is_ours = store.options.finder.embedding_model.is_none();
    if is_ours || query.mode == Mode::Keyword || finder.is_empty() || answers.embedder_failure().is_some() {
        return Vec::new();
    }
    let mut texts = Vec::new();
    let text = query.side.query(query.text);
    if !finder.queries.iter().any(|(known, _)| *known == text) {
        texts.push(text);
    }
    finder.meanings[query.side as usize].lacking(query.side, &finder.ids(), &store.records, &mut |text| {
        texts.push(text);
    });
    texts.retain(|text| answers.vector(text).is_none());
    sort_distinct(&mut texts);
    texts
}

/// Searches the store. A store without vectors for the query is searched by words, with a warning.
pub fn search(store: &mut DecisionStore, answers: &Answers, query: &Query) -> Result<Found> {
    let check = query.filters.ready(&store.finder.names)?;
    let mut found = Found { mode: query.mode, ..Found::default() };
    if store.finder.is_empty() || query.limit == 0 {
        return Ok(found);
    }
    let vector = if query.mode == Mode::Keyword { None } else { prepare(store, answers, query, &mut found.warnings) };
    if vector.is_none() {
        found.mode = Mode::Keyword;
    }
    let search = Search { store, check, query };
    let ranked = match (&vector, found.mode) {
        (Some(vector), Mode::Semantic) => {
            search.by_meaning(vector, query.limit).into_iter().map(Ranked::semantic).collect()
        }
        (Some(vector), Mode::Hybrid) => search.by_both(vector),
        _ => search.by_words(query.limit).into_iter().map(Ranked::keyword).collect(),
    };
    found.hits = ranked.into_iter().map(|ranked| search.hit(&ranked)).collect();
    Ok(found)
}

/// Makes the vectors of a side up to date and returns that of the query; nothing where there can be none.
fn prepare(
    store: &mut DecisionStore,
    answers: &Answers,
    query: &Query,
    warnings: &mut Vec<Warning>,
) -> Option<Vec<f32>> {
    let DecisionStore { records, finder, options, .. } = store;
    let has_host = options.finder.embedding_model.is_some();
    let (lacking, unlike) = finder.settle(query.side, records, has_host.then_some(answers));
    let vector = finder.query_vector(query, has_host.then_some(answers));
    let length = finder.meanings[query.side as usize].vectors().dimensions();
    let is_other = vector.as_ref().is_some_and(|vector| vector.len() != length && length > 0);
    if is_other {
        // The host has another model now: the next search asks for everything anew.
        finder.forget_vectors();
    }
    let mut warn = |code, message: String| warnings.push(Warning::new(code, message, ""));
    if unlike > 0 || is_other {
        warn("embedding_mismatch", format!("expected vectors of {length} numbers, got others"));
    }
    if let Some(message) = answers.embedder_failure().filter(|_| has_host) {
        warn("embedding_failed", format!("the embedder failed: {message}"));
    }
    if lacking > 0 {
        warn("embedding_missing", format!("{lacking} decisions have no vector and are found by their words only"));
    }
    vector.filter(|vector| vector.len() == length)
}

impl Finder {
    /// Returns ids and slots.
    pub(super) fn ids(&self) -> Ids<'_> {
        Ids { by_id: &self.slots, by_slot: &self.ids }
    }

    /// Makes the vectors of a side up to date; see [`super::meanings::Meanings::settle`].
    pub(super) fn settle(&mut self, side: Side, records: &Records, host: Option<&Answers>) -> (usize, usize) {
        let ids = Ids { by_id: &self.slots, by_slot: &self.ids };
        self.meanings[side as usize].settle(side, &ids, records, host)
    }

    fn forget_vectors(&mut self) {
        self.meanings = Default::default();
        self.queries.clear();
    }

    fn query_vector(&mut self, query: &Query, host: Option<&Answers>) -> Option<Vec<f32>> {
        let text = query.side.query(query.text);
        let Some(answers) = host else { return Some(embed(&text)) };
        if let Some((_, vector)) = self.queries.iter().find(|(known, _)| *known == text) {
            return Some(vector.clone());
        }
        let vector = answers.vector(&text)?.to_vec();
        if self.queries.len() == REMEMBERED_QUERIES {
            self.queries.remove(0);
        }
        self.queries.push((text, vector.clone()));
        Some(vector)
    }
}

/// A slot with its score, and with what it is ranked by.
#[derive(Debug, Clone, Copy)]
struct Scored {
    slot: u32,
    score: f64,
    rank: f64,
}

/// A slot with what it got from each list.
struct Ranked {
    slot: u32,
    semantic: f64,
    keyword: f64,
    combined: f64,
    distance: Option<f64>,
}

impl Ranked {
    fn semantic(found: Scored) -> Self {
        let score = round(found.score, 4);
        let distance = Some(round(1.0 - found.score, 4));
        Self { slot: found.slot, semantic: score, keyword: 0.0, combined: score, distance }
    }

    fn keyword(found: Scored) -> Self {
        let score = round(found.score, 4);
        let distance = Some(round(1.0 - found.score / (found.score + 1.0), 4));
        Self { slot: found.slot, semantic: 0.0, keyword: score, combined: score, distance }
    }
}

struct Search<'a> {
    store: &'a DecisionStore,
    check: Check,
    query: &'a Query<'a>,
}

impl Search<'_> {
    fn id(&self, slot: u32) -> &str {
        &self.store.finder.ids[slot as usize]
    }

    /// Returns what the rank of a slot is multiplied by; nothing for one that is not to be found.
    fn admits(&self, slot: u32) -> Option<f64> {
        let passes = self.check.passes(&self.store.finder.facts[slot as usize]);
        passes.then(|| if self.store.graph.is_superseded(self.id(slot)) { SUPERSEDED } else { 1.0 })
    }

    /// Sorts by rank, then by id, and cuts.
    fn cut(&self, list: &mut Vec<Scored>, count: usize) {
        sort_by(list, |a, b| b.rank.total_cmp(&a.rank).then_with(|| self.id(a.slot).cmp(self.id(b.slot))));
        list.truncate(count);
    }

    fn by_words(&self, count: usize) -> Vec<Scored> {
        let scores = self.store.finder.keywords.scores(self.query.text, self.store.options.finder.bm25);
        let mut list = best(&scores, count, 0.0, &|slot| self.admits(slot));
        self.cut(&mut list, count);
        list
    }

    fn by_meaning(&self, vector: &[f32], count: usize) -> Vec<Scored> {
        // Of a query without words everything is equally far.
        if is_zero(vector) {
            return Vec::new();
        }
        let vectors = self.store.finder.meanings[self.query.side as usize].vectors();
        let mut list = best(&vectors.nearness(vector), count, SLACK, &|slot| self.admits(slot));
        for found in &mut list {
            let exact = vectors.get(found.slot).map_or(1.0, |own| distance(vector, &own));
            let factor = if found.score > 0.0 { found.rank / found.score } else { 1.0 };
            found.score = 1.0 - round(exact, 4);
            found.rank = ranked(found.score, factor);
        }
        self.cut(&mut list, count);
        list
    }

    fn by_both(&self, vector: &[f32]) -> Vec<Ranked> {
        let count = self.query.limit * CANDIDATES;
        let options = &self.store.options.finder;
        let pairs =
            |list: &[Scored]| -> Vec<(u32, f64)> { list.iter().map(|found| (found.slot, found.score)).collect() };
        let (near, worded) = (self.by_meaning(vector, count), self.by_words(count));
        let fused = fuse(&pairs(&near), &pairs(&worded), options.hybrid_weight, options.fusion);
        let mut order: Vec<Scored> = Vec::new();
        for hit in &fused {
            let factor = self.admits(hit.slot).unwrap_or(1.0);
            order.push(Scored { slot: hit.slot, score: hit.combined, rank: ranked(hit.combined, factor) });
        }
        self.cut(&mut order, self.query.limit);
        let vectors = self.store.finder.meanings[self.query.side as usize].vectors();
        let whole = |found: &Scored| {
            let hit = fused.iter().find(|hit| hit.slot == found.slot)?;
            let far = vectors.get(found.slot).map_or(1.0, |own| distance(vector, &own));
            let distance = Some(round(far, 4));
            Some(Ranked {
                slot: hit.slot,
                semantic: hit.semantic,
                keyword: hit.keyword,
                combined: hit.combined,
                distance,
            })
        };
        order.iter().filter_map(whole).collect()
    }

    fn hit(&self, ranked: &Ranked) -> Hit {
        let id = self.id(ranked.slot);
        Hit {
            id: id.to_owned(),
            distance: ranked.distance.unwrap_or(1.0),
            semantic: ranked.semantic,
            keyword: ranked.keyword,
            combined: ranked.combined,
            superseded_by: self.store.graph.superseded_by(id).map(str::to_owned).collect(),
        }
    }
}

fn ranked(score: f64, factor: f64) -> f64 {
    if score > 0.0 { score * factor } else { score }
}

/// Returns the best of a list and all that are as good but for `slack`. Only what could be among them is asked about,
/// since most is not.
fn best(list: &[(u32, f64)], count: usize, slack: f64, admits: &dyn Fn(u32) -> Option<f64>) -> Vec<Scored> {
    let mut top: Vec<f64> = Vec::new();
    let mut kept: Vec<Scored> = Vec::new();
    for (slot, score) in list {
        let bar = if top.len() < count { f64::NEG_INFINITY } else { top[count - 1] } - slack;
        if *score < bar {
            continue;
        }
        let Some(factor) = admits(*slot) else { continue };
        let rank = ranked(*score, factor);
        if rank < bar {
            continue;
        }
        let place = top.partition_point(|better| *better >= rank);
        top.insert(place, rank);
        top.truncate(count);
        kept.push(Scored { slot: *slot, score: *score, rank });
    }
    let bar = if top.len() < count { f64::NEG_INFINITY } else { top[count - 1] } - slack;
    kept.retain(|found| found.rank >= bar);
    kept
}
