//! Decisions that speak of the same and cannot both be right.

use serde_json::{Value, json};

use crate::host::HostAnswers;
use crate::record::Decision;
use crate::search::{SearchIndex, distance};
use crate::store::DecisionStore;
use crate::terms::case_folded;
use contextweaver_base::order::{SortedMap, sort_by, sort_distinct};
use contextweaver_model::json::numbers::round;

/// Most contradictions that are returned.
const MOST: usize = 10;
/// Decisions this near speak of the same.
const NEAR: f64 = 0.8;
/// Decisions of one group, one pattern for example, that are compared: the newest.
const GROUP: usize = 32;
/// Pairs that are compared; stores with no more are compared whole.
const PAIRS: usize = 10_000;
/// Failures in larger stores whose like are looked for: the newest.
const FAILURES: usize = 256;
/// Successes that share the most rare words with each of them.
const KIN: usize = 32;

/// Two decisions that contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// Id of the decision that comes first in order of ids.
    pub a: String,
    /// Id of the other decision.
    pub b: String,
    /// `opposite_outcomes` or `opposite_rules`.
    pub kind: &'static str,
    /// Cosine similarity of their embeddings, at most 1.
    pub similarity: f64,
    /// One sentence for people.
    pub detail: String,
}

impl Contradiction {
    /// Returns the contradiction as tools show it.
    pub fn to_value(&self) -> Value {
        json!({
            "aId": self.a,
            "bId": self.b,
            "kind": self.kind,
            "similarity": self.similarity,
            "detail": self.detail,
        })
    }
}

impl DecisionStore {
    /// Returns the ten contradictions between the decisions that are nearest to each other, nearest first.
    ///
    /// Superseded decisions are out of it. Two decisions speak of the same when they are near or follow the same pattern;
    /// they contradict each other when one was a success and one a failure, or when they serve the same function and one
    /// demands what the other prevents. Large stores are searched by words, so that the work stays bounded.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions, HostAnswers};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// for (id, outcome) in [("d1", "success"), ("d2", "failure")] {
    ///     store.put(Decision {
    ///         id: id.to_owned(),
    ///         decision: "Retry failed payments with backoff".to_owned(),
    ///         status: "reviewed".to_owned(),
    ///         outcome: Some(outcome.to_owned()),
    ///         ..Decision::default()
    ///     });
    /// }
    /// let found = store.contradictions(&HostAnswers::default(), &|_| true);
    /// assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("d1", "d2"));
    /// assert_eq!(found[0].kind, "opposite_outcomes");
    /// ```
    pub fn contradictions(&mut self, answers: &HostAnswers, among: &dyn Fn(&Decision) -> bool) -> Vec<Contradiction> {
        let host = self.options.search.embedding_model.is_some().then_some(answers);
        self.index.prepare(&self.records, host);
        let live = |decision: &&Decision| among(decision) && !self.graph.is_superseded(&decision.id);
        let live: Vec<ActiveDecision> =
            self.records.iter().filter(live).filter_map(|decision| ActiveDecision::of(decision, &self.index)).collect();
        let search = ContradictionSearch { live: &live, index: &self.index };
        let mut found = search.opposite_outcomes();
        found.extend(search.opposite_rules());
        sort_by(&mut found, |a, b| {
            let names = || (&a.a, &a.b, a.kind).cmp(&(&b.a, &b.b, b.kind));
            b.similarity.total_cmp(&a.similarity).then_with(names)
        });
        found.truncate(MOST);
        found
    }
}

/// A decision that no other supersedes.
struct ActiveDecision<'a> {
    decision: &'a Decision,
    slot: u32,
    pattern: String,
}

impl<'a> ActiveDecision<'a> {
    fn of(decision: &'a Decision, index: &SearchIndex) -> Option<Self> {
        let pattern = case_folded(decision.pattern.as_deref().unwrap_or_default());
        Some(Self { decision, slot: index.slot(&decision.id)?, pattern })
    }

    fn ended_in(&self, outcome: &str) -> bool {
        self.decision.status == "reviewed" && self.decision.outcome.as_deref() == Some(outcome)
    }
}

struct ContradictionSearch<'a> {
    /// The newest first.
    live: &'a [ActiveDecision<'a>],
    index: &'a SearchIndex,
}

impl ContradictionSearch<'_> {
    /// Returns what two decisions speaking of the same say against each other; nothing when they do not.
    fn pair(&self, one: usize, other: usize, kind: &'static str, detail: &str) -> Option<Contradiction> {
        let (one, other) = (&self.live[one], &self.live[other]);
        let vectors = self.index.vector(one.slot).zip(self.index.vector(other.slot));
        let similarity = vectors.map_or(0.0, |(a, b)| round(1.0 - distance(&a, &b), 4));
        let same_pattern = !one.pattern.is_empty() && one.pattern == other.pattern;
        if similarity < NEAR && !same_pattern {
            return None;
        }
        let (mut a, mut b) = (one.decision.id.clone(), other.decision.id.clone());
        let about = if same_pattern { "they follow the same pattern" } else { "they say nearly the same" };
        let detail = format!("{a} {detail} {b}; {about}");
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        Some(Contradiction { a, b, kind, similarity, detail })
    }

    fn opposite_outcomes(&self) -> Vec<Contradiction> {
        let ended = |outcome: &str| -> Vec<usize> {
            (0..self.live.len()).filter(|place| self.live[*place].ended_in(outcome)).collect()
        };
        let (successes, failures) = (ended("success"), ended("failure"));
        let mut pairs = Vec::new();
        if successes.len() * failures.len() <= PAIRS {
            pairs.extend(failures.iter().flat_map(|failure| successes.iter().map(|success| (*success, *failure))));
        } else {
            pairs.extend(self.of_one_pattern(&successes, &failures));
            pairs.extend(self.by_words(&successes, &failures));
        }
        self.judge(pairs, "opposite_outcomes", "was a success, but not")
    }

    fn of_one_pattern(&self, successes: &[usize], failures: &[usize]) -> Vec<(usize, usize)> {
        let mut groups = DecisionGroups::default();
        for (side, places) in [successes, failures].into_iter().enumerate() {
            for place in places {
                groups.add(&self.live[*place].pattern, side, *place);
            }
        }
        groups.pairs()
    }

    fn by_words(&self, successes: &[usize], failures: &[usize]) -> Vec<(usize, usize)> {
        let mut by_slot: SortedMap<u32, usize> = SortedMap::new();
        by_slot.extend(successes.iter().map(|place| (self.live[*place].slot, *place)));
        let mut pairs = Vec::new();
        for failure in failures.iter().take(FAILURES) {
            let kin = self.index.kin(self.live[*failure].slot, KIN, &|slot| by_slot.contains_key(&slot));
            pairs.extend(kin.iter().filter_map(|slot| Some((*by_slot.get(slot)?, *failure))));
        }
        pairs
    }

    fn opposite_rules(&self) -> Vec<Contradiction> {
        let mut groups = DecisionGroups::default();
        for (place, live) in self.live.iter().enumerate() {
            let Some(bridge) = &live.decision.bridge else { continue };
            let function = case_folded(&bridge.function);
            for (side, rules) in [&bridge.enforcement, &bridge.prevention].into_iter().enumerate() {
                for rule in rules {
                    groups.add(&[&function, "\n", &case_folded(rule)].concat(), side, place);
                }
            }
        }
        let mut pairs = groups.pairs();
        pairs.retain(|(demands, prevents)| demands != prevents);
        self.judge(pairs, "opposite_rules", "demands what is prevented by")
    }

    /// Compares so many pairs at most, the newest first.
    fn judge(&self, mut pairs: Vec<(usize, usize)>, kind: &'static str, detail: &str) -> Vec<Contradiction> {
        sort_distinct(&mut pairs);
        pairs.truncate(PAIRS);
        pairs.into_iter().filter_map(|(one, other)| self.pair(one, other, kind, detail)).collect()
    }
}

/// Decisions of two opposite kinds, by what they have in common.
#[derive(Default)]
struct DecisionGroups(SortedMap<String, [Vec<usize>; 2]>);

impl DecisionGroups {
    /// Adds to a group until it is full; having nothing in common makes no group.
    fn add(&mut self, common: &str, side: usize, place: usize) {
        if common.is_empty() || common.ends_with('\n') {
            return;
        }
        let group = &mut self.0.get_or_insert(&common.to_owned(), Default::default())[side];
        if group.len() < GROUP {
            group.push(place);
        }
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        let of = |[ones, others]: &[Vec<usize>; 2]| -> Vec<(usize, usize)> {
            others.iter().flat_map(|other| ones.iter().map(|one| (*one, *other))).collect()
        };
        self.0.values().flat_map(of).collect()
    }
}
