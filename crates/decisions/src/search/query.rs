//! Searching the store.

use serde_json::{Map, Value, json};

use super::SearchIndex;
use super::filters::{CompiledFilters, DecisionFilters};
use super::fusion::fuse;
use super::hash_embedding::embed;
use super::options::RetrievalMode;
use super::side_vectors::SlotIds;
use super::texts::BridgeSide;
use super::vectors::{distance, is_zero};
use crate::host::HostAnswers;
use crate::record::{Decision, DecisionTable, RelatedDecision};
use crate::store::DecisionStore;
use crate::terms::truncate_masked;
use contextweaver_base::Result;
use contextweaver_base::order::{sort_by, sort_distinct};
use contextweaver_model::Warning;
use contextweaver_model::json::JsonMap;
use contextweaver_model::json::numbers::round;
use contextweaver_text::unicode::prefix;

/// What the rank of a decision that another one supersedes is multiplied by.
const SUPERSEDED: f64 = 0.5;
/// Hits of each list that are merged, for each hit wanted.
const CANDIDATES: usize = 2;
/// Queries whose vectors of the host are remembered.
const REMEMBERED_QUERIES: usize = 64;
/// How far a nearness in few bits may be from the rounded one.
const SLACK: f64 = 2e-4;

/// A search among the decisions of a store.
#[derive(Debug, Clone, Copy)]
pub struct DecisionQuery<'a> {
    /// The text to search for.
    pub text: &'a str,
    /// Most hits that are returned.
    pub limit: usize,
    /// Ranking by keywords, by embeddings or by both.
    pub mode: RetrievalMode,
    /// The part of the decisions that embeddings are compared with.
    pub side: BridgeSide,
    /// Conditions that every hit fulfils.
    pub filters: &'a DecisionFilters,
}

/// A decision that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionHit {
    /// Id of the decision.
    pub id: String,
    /// Cosine distance from the query: 0 for the same text, rounded to four decimals.
    pub distance: f64,
    /// Score by embedding, rounded to four decimals; 0 where only keywords were searched.
    pub semantic: f64,
    /// Score by keywords, rounded to four decimals; 0 where only embeddings were searched.
    pub keyword: f64,
    /// The score it is ranked by, before the penalty of superseded decisions.
    pub combined: f64,
    /// Decisions that supersede it; it is ranked as if it had got half.
    pub superseded_by: Vec<String>,
}

/// Hits of a query.
#[derive(Debug, Default)]
pub struct SearchResults {
    /// At most as many as asked for, best first.
    pub hits: Vec<DecisionHit>,
    /// The mode that was used: keywords where embeddings were wanted and could not be had.
    pub mode: RetrievalMode,
    /// What the search had to do without, such as vectors that are missing.
    pub warnings: Vec<Warning>,
}

impl SearchResults {
    /// Returns the hits as a decision remembers what was found before it.
    pub fn related(&self, records: &DecisionTable) -> Vec<RelatedDecision> {
        let related = |hit: &DecisionHit| {
            let decision = records.get(&hit.id)?;
            let summary = truncate_masked(decision.title(), LONG_TITLE).into_owned();
            Some(RelatedDecision {
                id: hit.id.clone(),
                summary,
                distance: round(hit.distance, 3),
                ..RelatedDecision::default()
            })
        };
        self.hits.iter().filter_map(related).collect()
    }
}

impl DecisionStore {
    /// Returns the texts whose vectors the host must make before [`Self::query`] finds by embedding; none where the store
    /// makes its own.
    ///
    /// What the answers hold is not asked for again, nor anything once the embedder failed.
    pub fn texts_to_embed(&self, answers: &HostAnswers, query: &DecisionQuery) -> Vec<String> {
        let index = &self.index;
        let is_ours = self.options.search.embedding_model.is_none();
        if is_ours || query.mode == RetrievalMode::Keyword || index.is_empty() || answers.embedder_failure().is_some() {
            return Vec::new();
        }
        let mut texts = Vec::new();
        let text = query.side.query(query.text);
        if !index.queries.iter().any(|(known, _)| *known == text) {
            texts.push(text);
        }
        index.side_vectors[query.side as usize].lacking(query.side, &index.ids(), &self.records, &mut |text| {
            texts.push(text);
        });
        texts.retain(|text| answers.vector(text).is_none());
        sort_distinct(&mut texts);
        texts
    }

    /// Finds decisions like a text. Without vectors for the query they are found by keywords, with a warning.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` where a date of the filters cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{BridgeSide, Decision, DecisionFilters, DecisionQuery, DecisionStore};
    /// use contextweaver_decisions::{DecisionStoreOptions, HostAnswers, RetrievalMode};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// for (id, text) in [("d1", "Use Postgres for billing"), ("d2", "Cache sessions in Redis")] {
    ///     store.put(Decision { id: id.to_owned(), decision: text.to_owned(), ..Decision::default() });
    /// }
    /// let filters = DecisionFilters::default();
    /// let query = DecisionQuery {
    ///     text: "which database for billing?",
    ///     limit: 1,
    ///     mode: RetrievalMode::Keyword,
    ///     side: BridgeSide::Both,
    ///     filters: &filters,
    /// };
    /// let results = store.query(&HostAnswers::default(), &query)?;
    /// assert_eq!(results.hits[0].id, "d1");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn query(&mut self, answers: &HostAnswers, query: &DecisionQuery) -> Result<SearchResults> {
        let check = query.filters.ready(&self.index.names)?;
        let mut found = SearchResults { mode: query.mode, ..SearchResults::default() };
        if self.index.is_empty() || query.limit == 0 {
            return Ok(found);
        }
        let by_keyword = query.mode == RetrievalMode::Keyword;
        let vector = if by_keyword { None } else { prepare(self, answers, query, &mut found.warnings) };
        if vector.is_none() {
            found.mode = RetrievalMode::Keyword;
        }
        let search = SearchRun { store: self, check, query };
        let ranked = match (&vector, found.mode) {
            (Some(vector), RetrievalMode::Semantic) => {
                search.by_meaning(vector, query.limit).into_iter().map(RankedSlot::semantic).collect()
            }
            (Some(vector), RetrievalMode::Hybrid) => search.by_both(vector),
            _ => search.by_words(query.limit).into_iter().map(RankedSlot::keyword).collect(),
        };
        found.hits = ranked.into_iter().map(|ranked| search.hit(&ranked)).collect();
        Ok(found)
    }
}

/// Makes the vectors of a side up to date and returns that of the query; nothing where there can be none.
fn prepare(
    store: &mut DecisionStore,
    answers: &HostAnswers,
    query: &DecisionQuery,
    warnings: &mut Vec<Warning>,
) -> Option<Vec<f32>> {
    let DecisionStore { records, index, options, .. } = store;
    let has_host = options.search.embedding_model.is_some();
    let (lacking, mismatched) = index.update_vectors(query.side, records, has_host.then_some(answers));
    let vector = index.query_vector(query, has_host.then_some(answers));
    let length = index.side_vectors[query.side as usize].vectors().dimensions();
    let is_other = vector.as_ref().is_some_and(|vector| vector.len() != length && length > 0);
    if is_other {
        // The host has another model now: the next search asks for everything anew.
        index.forget_vectors();
    }
    let mut warn = |code, message: String| warnings.push(Warning::new(code, message, ""));
    if mismatched > 0 || is_other {
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

impl SearchIndex {
    /// Returns ids and slots.
    pub(super) fn ids(&self) -> SlotIds<'_> {
        SlotIds { by_id: &self.slots, by_slot: &self.ids }
    }

    /// Makes the vectors of a side up to date; see [`super::side_vectors::SideVectors::settle`].
    pub(super) fn update_vectors(
        &mut self,
        side: BridgeSide,
        records: &DecisionTable,
        host: Option<&HostAnswers>,
    ) -> (usize, usize) {
        let ids = SlotIds { by_id: &self.slots, by_slot: &self.ids };
        self.side_vectors[side as usize].update_vectors(side, &ids, records, host)
    }

    fn forget_vectors(&mut self) {
        self.side_vectors = Default::default();
        self.queries.clear();
    }

    fn query_vector(&mut self, query: &DecisionQuery, host: Option<&HostAnswers>) -> Option<Vec<f32>> {
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
struct ScoredSlot {
    slot: u32,
    score: f64,
    rank: f64,
}

/// A slot with what it got from each list.
struct RankedSlot {
    slot: u32,
    semantic: f64,
    keyword: f64,
    combined: f64,
    distance: Option<f64>,
}

impl RankedSlot {
    fn semantic(found: ScoredSlot) -> Self {
        let score = round(found.score, 4);
        let distance = Some(round(1.0 - found.score, 4));
        Self { slot: found.slot, semantic: score, keyword: 0.0, combined: score, distance }
    }

    fn keyword(found: ScoredSlot) -> Self {
        let score = round(found.score, 4);
        let distance = Some(round(1.0 - found.score / (found.score + 1.0), 4));
        Self { slot: found.slot, semantic: 0.0, keyword: score, combined: score, distance }
    }
}

struct SearchRun<'a> {
    store: &'a DecisionStore,
    check: CompiledFilters,
    query: &'a DecisionQuery<'a>,
}

impl SearchRun<'_> {
    fn id(&self, slot: u32) -> &str {
        &self.store.index.ids[slot as usize]
    }

    /// Returns what the rank of a slot is multiplied by; nothing for one that is not to be found.
    fn admits(&self, slot: u32) -> Option<f64> {
        let passes = self.check.passes(&self.store.index.facts[slot as usize]);
        passes.then(|| if self.store.graph.is_superseded(self.id(slot)) { SUPERSEDED } else { 1.0 })
    }

    /// Sorts by rank, then by id, and cuts.
    fn keep_best(&self, list: &mut Vec<ScoredSlot>, count: usize) {
        sort_by(list, |a, b| b.rank.total_cmp(&a.rank).then_with(|| self.id(a.slot).cmp(self.id(b.slot))));
        list.truncate(count);
    }

    fn by_words(&self, count: usize) -> Vec<ScoredSlot> {
        let scores = self.store.index.keywords.scores(self.query.text, self.store.options.search.bm25);
        let mut list = best(&scores, count, 0.0, &|slot| self.admits(slot));
        self.keep_best(&mut list, count);
        list
    }

    fn by_meaning(&self, vector: &[f32], count: usize) -> Vec<ScoredSlot> {
        // Of a query without words everything is equally far.
        if is_zero(vector) {
            return Vec::new();
        }
        let vectors = self.store.index.side_vectors[self.query.side as usize].vectors();
        let mut list = best(&vectors.nearness(vector), count, SLACK, &|slot| self.admits(slot));
        for found in &mut list {
            let exact = vectors.get(found.slot).map_or(1.0, |own| distance(vector, &own));
            let factor = if found.score > 0.0 { found.rank / found.score } else { 1.0 };
            found.score = 1.0 - round(exact, 4);
            found.rank = ranked(found.score, factor);
        }
        self.keep_best(&mut list, count);
        list
    }

    fn by_both(&self, vector: &[f32]) -> Vec<RankedSlot> {
        let count = self.query.limit * CANDIDATES;
        let options = &self.store.options.search;
        let pairs =
            |list: &[ScoredSlot]| -> Vec<(u32, f64)> { list.iter().map(|found| (found.slot, found.score)).collect() };
        let (near, worded) = (self.by_meaning(vector, count), self.by_words(count));
        let fused = fuse(&pairs(&near), &pairs(&worded), options.hybrid_weight, options.fusion);
        let mut order: Vec<ScoredSlot> = Vec::new();
        for hit in &fused {
            let factor = self.admits(hit.slot).unwrap_or(1.0);
            order.push(ScoredSlot { slot: hit.slot, score: hit.combined, rank: ranked(hit.combined, factor) });
        }
        self.keep_best(&mut order, self.query.limit);
        let vectors = self.store.index.side_vectors[self.query.side as usize].vectors();
        let whole = |found: &ScoredSlot| {
            let hit = fused.iter().find(|hit| hit.slot == found.slot)?;
            let far = vectors.get(found.slot).map_or(1.0, |own| distance(vector, &own));
            let distance = Some(round(far, 4));
            Some(RankedSlot {
                slot: hit.slot,
                semantic: hit.semantic,
                keyword: hit.keyword,
                combined: hit.combined,
                distance,
            })
        };
        order.iter().filter_map(whole).collect()
    }

    fn hit(&self, ranked: &RankedSlot) -> DecisionHit {
        let id = self.id(ranked.slot);
        DecisionHit {
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
fn best(list: &[(u32, f64)], count: usize, slack: f64, admits: &dyn Fn(u32) -> Option<f64>) -> Vec<ScoredSlot> {
    let mut top: Vec<f64> = Vec::new();
    let mut kept: Vec<ScoredSlot> = Vec::new();
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
        kept.push(ScoredSlot { slot: *slot, score: *score, rank });
    }
    let bar = if top.len() < count { f64::NEG_INFINITY } else { top[count - 1] } - slack;
    kept.retain(|found| found.rank >= bar);
    kept
}

/// Characters of a title in a list of hits.
pub const SHORT_TITLE: usize = 50;
/// Characters of a title where there is room.
pub const LONG_TITLE: usize = 500;

/// Returns the summary of a decision that was found; who knows the time adds `compactionLevel`.
pub fn summary(decision: &Decision, hit: &DecisionHit, title: usize) -> JsonMap {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("id", json!(decision.id));
    put("title", json!(truncate_masked(decision.title(), title)));
    put("category", json!(decision.category));
    put("confidence", json!(decision.confidence));
    put("stakes", json!(decision.stakes));
    put("status", json!(decision.status));
    put("date", json!(prefix(&decision.date, 10)));
    put("distance", json!(hit.distance));
    let present = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    if let Some(outcome) = present(&decision.outcome) {
        put("outcome", json!(outcome));
    }
    if !decision.reasons.is_empty() {
        let reason = |reason: &crate::record::DecisionReason| json!({ "type": reason.kind, "text": reason.text });
        put("reasons", decision.reasons.iter().map(reason).collect());
    }
    if !decision.tags.is_empty() {
        put("tags", json!(decision.tags));
    }
    for (key, value) in
        [("pattern", &decision.pattern), ("lessons", &decision.lessons), ("actualResult", &decision.actual_result)]
    {
        if let Some(text) = present(value) {
            put(key, json!(text));
        }
    }
    if let Some(bridge) = &decision.bridge {
        put("bridge", json!({ "structure": bridge.structure, "function": bridge.function }));
    }
    if !hit.superseded_by.is_empty() {
        put("superseded", json!(true));
        put("supersededBy", json!(hit.superseded_by));
    }
    out
}
