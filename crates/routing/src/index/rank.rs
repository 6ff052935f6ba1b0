//! Scores, and the best of them: BM25F, then one place for each group of near-duplicates.

use std::cmp::Ordering;
use std::iter::Peekable;

use super::files::{named_files, without_paths};
use super::fit::{FIRST_TOOLS, QueryFit};
use super::postings::{TermPosting, TermPostings};
use super::query::{ParsedQuery, QueryTerm};
use super::weights::{LengthNorms, coverage_factor, rarity, saturate};
use super::{NONE, ToolIndex};
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_text::hash::of_text;
use contextweaver_text::numbered::Term;

/// What two words side by side count beside one word.
const PAIR_WEIGHT: f64 = 0.2;

/// What the best of its parts counts in a request for several things; the rest is the whole. With much more, a sentence that
/// only gives a reason costs the right tool its place; with much less, the tools of one wish push out those of another.
const PART_SHARE: f64 = 0.25;

/// Up to so many tools are picked out of a long list without sorting it.
const FEW: usize = 256;

/// The tools that are ranked, and how many are returned.
#[derive(Clone, Copy)]
pub struct RankScope<'a> {
    /// Says by id which tools may be ranked; all without it.
    pub allowed: Option<&'a dyn Fn(&str) -> bool>,
    /// The caller's vector of the query, to be compared with those of [`ToolIndex::set_embedding`]; nothing where no tool
    /// has one.
    pub embedding: Option<&'a [f32]>,
    /// Most tools that are returned.
    pub limit: usize,
}

/// A tool in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedTool {
    /// Id of the tool.
    pub id: String,
    /// Its score; that of the best near-duplicate for the one that stands for all.
    pub score: f64,
    /// Near-duplicates it stands for, which come after all that stand for themselves.
    pub folded: u32,
    /// Whether another tool stands for this one.
    pub is_variant: bool,
}

/// Tools, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The tools: those that stand for themselves by score, then their near-duplicates by score; equals by id.
    pub entries: Vec<RankedTool>,
    /// Tools that could have been returned had the limit been higher.
    pub candidates: usize,
    /// Whether the query is the id or the only name of the first tool.
    pub is_exact: bool,
    /// Whether the query has no words.
    pub is_empty: bool,
    /// How well the first tools fit the words of the query.
    pub fit: QueryFit,
    /// Score of the first tool behind the first five, beside the best: 1 where the words tell no tools apart, 0 where
    /// there is none.
    pub crowding: f64,
}

/// Room for sums, kept between queries so that none has to clear it all.
#[derive(Debug, Clone, Default)]
pub(super) struct RankScratch {
    /// Sum of scores and of covered weight by place; zero between queries.
    sums: Vec<[f64; 2]>,
    /// One higher than the number among the candidates' groups, by group; zero between queries.
    heads: Vec<u32>,
    /// Occurrences by term, for reading; zero between readings.
    pub counts: Vec<u32>,
    /// Terms that occur, for reading; empty between readings.
    pub touched: Vec<u32>,
}

/// Place of a tool in the index, with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredPlace {
    pub place: u32,
    pub score: f64,
}

/// The candidates of one group of near-duplicates, of which one stands for all.
#[derive(Debug, Clone, Copy)]
struct VariantGroup {
    /// Place of the tool that stands for the group.
    place: u32,
    /// Best score in the group.
    score: f64,
    folded: u32,
}

/// Returns the hash of an id or a name, whatever the case of its letters.
pub(super) fn call_hash(text: &str) -> u32 {
    of_text(&text.to_lowercase()) as u32
}

pub(super) fn best_score(candidates: &[ScoredPlace]) -> f64 {
    candidates.iter().map(|candidate| candidate.score).fold(0.0, f64::max)
}

impl ToolIndex {
    /// Returns how much a term of a query says, and what each tool's saturated count is multiplied by.
    pub(super) fn term_weights(&self, term: &QueryTerm) -> (f64, f64) {
        let rarity = rarity(self.len(), term.frequency);
        let is_pair = matches!(self.terms.term(term.term), Term::Pair(..));
        (term.weight * rarity, term.weight * rarity * if is_pair { PAIR_WEIGHT } else { 1.0 })
    }

    /// Ranks the tools for a query.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` when the query's vector is of another length than the tools' or not finite.
    pub fn rank(&mut self, text: &str, scope: RankScope) -> Result<Ranking> {
        self.rank_as(text, text, scope)
    }

    /// Ranks the tools for a text; `called` is the part of it that may be the id or the name of a tool.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::rank`] does.
    pub fn rank_as(&mut self, text: &str, called: &str, scope: RankScope) -> Result<Ranking> {
        let vector = match scope.embedding {
            Some(vector) if self.dimensions > 0 => Some(self.unit_vector(vector)?),
            _ => None,
        };
        self.settle();
        let files = named_files(text, &self.stop);
        let plain = without_paths(text, &files);
        let query = self.read_plain(&plain);
        let exact = self.exact(called, scope);
        let mut candidates = self.score(&query, scope);
        let wishes = self.wishes(&plain);
        if wishes.len() > 1 {
            self.spread(&mut candidates, &wishes, scope);
        }
        if let Some(vector) = vector {
            // The vector of several requests says less of each.
            let weight = self.options.embedding_weight / wishes.len().max(1) as f64;
            self.fuse(&mut candidates, &vector, weight, scope);
        }
        self.serve_files(&mut candidates, &files, scope);
        if let Some(place) = exact {
            let best = best_score(&candidates);
            // It comes first whatever its words say; a score of its own keeps the order of the scores.
            let first = if best > 0.0 { best } else { 1.0 };
            candidates.retain(|candidate| candidate.place != place);
            candidates.push(ScoredPlace { place, score: first });
        }
        let total = candidates.len();
        let mut entries = self.collapse(candidates, &query, exact, scope.limit.max(FIRST_TOOLS + 1));
        let crowding = match (entries.first(), entries.get(FIRST_TOOLS)) {
            (Some(best), Some(next)) if !next.is_variant && best.score > 0.0 => next.score / best.score,
            _ => 0.0,
        };
        entries.truncate(scope.limit);
        let first: Vec<u32> = entries.iter().take(FIRST_TOOLS).filter_map(|entry| self.place(&entry.id)).collect();
        let is_empty = query.text.words.is_empty();
        let fit = self.fit(query, &first);
        Ok(Ranking { fit, crowding, entries, candidates: total, is_exact: exact.is_some(), is_empty })
    }

    fn is_allowed(&self, place: u32, scope: RankScope) -> bool {
        self.is_there(place) && scope.allowed.is_none_or(|allowed| allowed(self.id(place)))
    }

    /// Returns the weighted count of a term in a tool, whose other entries follow.
    fn count(&self, norms: &LengthNorms, first: TermPosting, rest: &mut Peekable<TermPostings>) -> f64 {
        let lengths = &self.lengths[first.item as usize];
        let mut count = norms.count(first, lengths);
        while let Some(entry) = rest.next_if(|entry| entry.item == first.item) {
            count += norms.count(entry, lengths);
        }
        count
    }

    /// Scores every allowed tool that has a term of the query.
    pub(super) fn score(&mut self, query: &ParsedQuery, scope: RankScope) -> Vec<ScoredPlace> {
        let norms = LengthNorms::new(&self.totals);
        let mut sums = std::mem::take(&mut self.scratch.sums);
        sums.resize(self.items.len(), [0.0; 2]);
        let (mut touched, mut all, mut work) = (Vec::new(), 0.0, 0);
        for term in &query.terms {
            let (cover, weight) = self.term_weights(term);
            all += cover;
            let mut entries = self.postings.entries(term.term).peekable();
            while let Some(entry) = entries.next() {
                work += 1;
                let count = self.count(&norms, entry, &mut entries);
                let sum = &mut sums[entry.item as usize];
                if sum[1] == 0.0 {
                    touched.push(entry.item);
                }
                sum[0] += weight * saturate(count);
                sum[1] += cover;
            }
        }
        let mut candidates = Vec::with_capacity(touched.len());
        for place in touched {
            let [sum, covered] = std::mem::take(&mut sums[place as usize]);
            if self.is_allowed(place, scope) {
                candidates.push(ScoredPlace { place, score: sum * coverage_factor(covered, all) });
            }
        }
        self.scratch.sums = sums;
        self.work += work;
        candidates
    }

    /// Scores the tools for each part of a request as well. The best tool of each part counts the same, so that every
    /// part is served before one has a second tool.
    fn spread(&mut self, candidates: &mut [ScoredPlace], wishes: &[&str], scope: RankScope) {
        let mut parts = vec![0.0_f64; self.items.len()];
        for wish in wishes {
            let query = self.read(wish);
            let scored = self.score(&query, scope);
            let best = best_score(&scored);
            for candidate in scored {
                let part = &mut parts[candidate.place as usize];
                *part = part.max(candidate.score / best);
            }
        }
        let best = best_score(candidates);
        for candidate in candidates {
            let part = best * parts[candidate.place as usize];
            candidate.score = PART_SHARE * part + (1.0 - PART_SHARE) * candidate.score;
        }
        self.work += self.items.len() as u64;
    }

    /// Adds the similarity of the vectors to the scores, of which the best becomes 1.
    fn fuse(&mut self, candidates: &mut Vec<ScoredPlace>, vector: &[f32], weight: f64, scope: RankScope) {
        let best = best_score(candidates);
        let mut scores = vec![0.0; self.items.len()];
        for candidate in candidates.drain(..) {
            scores[candidate.place as usize] = candidate.score / best;
        }
        for (place, (lexical, item)) in scores.into_iter().zip(&self.items).enumerate() {
            let place = place as u32;
            let products = item.vector.iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b));
            let sum = lexical + weight * products.sum::<f64>().max(0.0);
            if sum > 0.0 && self.is_allowed(place, scope) {
                candidates.push(ScoredPlace { place, score: sum });
            }
        }
        self.work += self.items.len() as u64;
    }

    /// Returns the only tool whose id or, failing that, name is the query, whatever the case of its letters.
    fn exact(&self, text: &str, scope: RankScope) -> Option<u32> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if let Some(place) = self.place(text).filter(|place| self.is_allowed(*place, scope)) {
            return Some(place);
        }
        let (hash, lower) = (call_hash(text), text.to_lowercase());
        let (mut ids, mut names) = ([0, NONE], [0, NONE]);
        for (place, hashes) in self.calls.iter().enumerate().filter(|(_, hashes)| hashes.contains(&hash)) {
            let name = &*self.items[place].name;
            let place = place as u32;
            for (at, text, found) in [(0, self.id(place), &mut ids), (1, name, &mut names)] {
                if hashes[at] == hash && text.to_lowercase() == lower && self.is_allowed(place, scope) {
                    *found = [found[0] + 1, place];
                }
            }
        }
        [ids, names].into_iter().find(|[count, _]| *count == 1).map(|[_, place]| place)
    }

    /// Gives each group of near-duplicates one place, and the others of the group places behind all groups.
    fn collapse(
        &mut self,
        candidates: Vec<ScoredPlace>,
        query: &ParsedQuery,
        exact: Option<u32>,
        limit: usize,
    ) -> Vec<RankedTool> {
        let versions = query.versions();
        let mut heads = std::mem::take(&mut self.scratch.heads);
        heads.resize(self.signatures.len(), 0);
        let mut families: Vec<VariantGroup> = Vec::new();
        for candidate in &candidates {
            let head = &mut heads[self.groups[candidate.place as usize] as usize];
            if *head == 0 {
                families.push(VariantGroup { place: candidate.place, score: candidate.score, folded: 0 });
                *head = families.len() as u32;
                continue;
            }
            let family = &mut families[*head as usize - 1];
            family.folded += 1;
            family.score = family.score.max(candidate.score);
            if self.stands_before(candidate.place, family.place, &versions, exact) {
                family.place = candidate.place;
            }
        }
        let mut variants = Vec::new();
        if families.len() < limit.min(candidates.len()) {
            for ScoredPlace { place, score } in candidates {
                let head = heads[self.groups[place as usize] as usize];
                if families[head as usize - 1].place != place {
                    variants.push(VariantGroup { place, score, folded: 0 });
                }
            }
        }
        for family in &families {
            heads[self.groups[family.place as usize] as usize] = 0;
        }
        self.scratch.heads = heads;
        let mut ranked = self.best(families, limit, exact);
        let own = ranked.len();
        ranked.extend(self.best(variants, limit - own, exact));
        let ranked = ranked.into_iter().enumerate();
        ranked
            .map(|(at, VariantGroup { place, score, folded })| RankedTool {
                id: self.id(place).to_owned(),
                score,
                folded,
                is_variant: at >= own,
            })
            .collect()
    }

    /// Tells which of two near-duplicates stands for both.
    fn stands_before(&self, one: u32, other: u32, versions: &[&str], exact: Option<u32>) -> bool {
        let key = |place: u32| {
            let item = &self.items[place as usize];
            let is_wanted = Some(place) == exact || item.kinship.is_named(versions);
            let chars = item.name.chars().count();
            (Some(place) != exact, !is_wanted, item.kinship.versions, chars, self.id(place))
        };
        key(one) < key(other)
    }

    /// Returns the best of a list, in order.
    fn best(&self, mut list: Vec<VariantGroup>, limit: usize, exact: Option<u32>) -> Vec<VariantGroup> {
        let compare = |a: &VariantGroup, b: &VariantGroup| {
            let by_score = b.score.total_cmp(&a.score);
            let by_exact = || (Some(b.place) == exact).cmp(&(Some(a.place) == exact));
            by_score.then_with(by_exact).then_with(|| self.id(a.place).cmp(self.id(b.place)))
        };
        if limit > FEW || list.len() <= limit {
            sort_by(&mut list, compare);
            list.truncate(limit);
            return list;
        }
        // Most of a long list is not among the few best, and one look says so.
        let mut kept: Vec<VariantGroup> = Vec::with_capacity(limit + 1);
        for family in list {
            let is_before = |other: &VariantGroup| compare(other, &family) == Ordering::Less;
            if kept.len() < limit || !kept.last().is_some_and(is_before) {
                kept.insert(kept.partition_point(is_before), family);
                kept.truncate(limit);
            }
        }
        kept
    }
}
