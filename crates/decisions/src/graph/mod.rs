//! Decisions and how they relate: directed edges of three kinds, at most one of a kind from one decision to another.

mod walk;

pub use walk::{EdgeDirection, Neighbour, Subgraph};

use serde_json::{Map, Value, json};

use crate::record::RelatedDecision;
use crate::terms::truncate_masked;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Fields, JsonMap};
use contextweaver_text::unicode::prefix;

/// Who made the edges of decisions that were found beforehand.
pub const AUTO_LINK: &str = "auto-link";
/// Least weight of an edge made by auto-linking: one of 0 would be refused.
const MIN_WEIGHT: f64 = 0.01;
/// Characters of the summary of a node.
const NODE_SUMMARY: usize = 120;

contextweaver_model::string_enum! {
    /// How the source of an edge relates to its target.
    EdgeType, "edge_type" {
        /// Both are about the same subject.
        RelatesTo = "relates_to",
        /// The source takes the place of the target.
        Supersedes = "supersedes",
        /// The source holds only while the target does.
        DependsOn = "depends_on",
    }
}

/// A directed link between two decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionEdge {
    /// Id of the decision it starts at.
    pub source: String,
    /// Id of the decision it ends at; never the source.
    pub target: String,
    /// How the source relates to the target.
    pub kind: EdgeType,
    /// Strength, above 0 and at most 1.
    pub weight: f64,
    /// Timestamp of the last time it was made or replaced.
    pub created_at: String,
    /// The agent, or [`AUTO_LINK`].
    pub created_by: String,
    /// The caller's reason for the link.
    pub context: Option<String>,
}

impl DecisionEdge {
    /// Returns the edge as tools show it.
    pub fn to_value(&self) -> Value {
        self.named(["sourceId", "targetId", "edgeType", "createdAt", "createdBy"])
    }

    /// Returns the edge as snapshots hold it, one line of the edge file of contextweaver 0.18.
    pub fn to_record(&self) -> Value {
        self.named(["source_id", "target_id", "edge_type", "created_at", "created_by"])
    }

    fn named(&self, [source, target, kind, created_at, created_by]: [&str; 5]) -> Value {
        let mut out = Map::new();
        out.insert(source.to_owned(), json!(self.source));
        out.insert(target.to_owned(), json!(self.target));
        out.insert(kind.to_owned(), json!(self.kind.as_str()));
        out.insert("weight".to_owned(), json!(self.weight));
        out.insert(created_at.to_owned(), json!(self.created_at));
        out.insert(created_by.to_owned(), json!(self.created_by));
        if let Some(context) = &self.context {
            out.insert("context".to_owned(), json!(context));
        }
        Value::Object(out)
    }

    /// Reads an edge of a snapshot; `path` names it in complaints. Fields beyond those of an edge are left out.
    ///
    /// # Errors
    ///
    /// `MISSING_FIELD`, `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    pub fn from_record(record: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(record, path)?;
        let edge = Self {
            source: fields.string("source_id")?,
            target: fields.string("target_id")?,
            kind: fields.parsed("edge_type", EdgeType::parse)?,
            weight: fields.number_or("weight", 1.0, 0.0, 1.0)?,
            created_at: fields.string_or("created_at", "")?,
            created_by: fields.string_or("created_by", "")?,
            context: fields.opt_string("context")?,
        };
        edge.check().map_err(|error| error.at(path))?;
        Ok(edge)
    }

    fn check(&self) -> Result<()> {
        let problem = if self.source.is_empty() || self.target.is_empty() {
            "an edge needs two ids"
        } else if self.source == self.target {
            "a decision cannot be linked with itself"
        } else if !(self.weight > 0.0 && self.weight <= 1.0) {
            "the weight of an edge is above 0 and at most 1"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorCode::InvalidInput, problem))
    }
}

/// The edges between decisions.
///
/// INVARIANT: every number in `ends` names an edge that is there, and every edge is listed at both of its ends.
#[derive(Debug, Default)]
pub struct DecisionGraph {
    /// In the order they were made; nothing where one was removed.
    edges: Vec<Option<DecisionEdge>>,
    free: Vec<u32>,
    /// Numbers of the edges at each decision, in the order they were made.
    ends: SortedMap<String, Vec<u32>>,
    /// Of each edge, its place in the order they were made.
    order: Vec<u64>,
    made: u64,
}

impl DecisionGraph {
    /// Returns the number of edges.
    pub fn len(&self) -> usize {
        self.edges.len() - self.free.len()
    }

    /// Tells whether no decisions are linked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the edges in the order they were made.
    pub fn edges(&self) -> impl Iterator<Item = &DecisionEdge> {
        let mut numbers: Vec<u32> = (0..self.edges.len() as u32).collect();
        contextweaver_base::order::sort_by(&mut numbers, |a, b| self.order[*a as usize].cmp(&self.order[*b as usize]));
        numbers.into_iter().filter_map(|number| self.edges[number as usize].as_ref())
    }

    /// Puts an edge in; one of the same type between the same ends is replaced and keeps its place. Tells whether it is
    /// a new one.
    ///
    /// The caller sees to it that both ends are decisions of the store, or that others are wanted.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for an edge without two different ids, or with a weight outside of 0 to 1.
    pub fn link(&mut self, edge: DecisionEdge) -> Result<bool> {
        edge.check()?;
        if let Some(number) = self.find(&edge.source, &edge.target, edge.kind) {
            self.edges[number as usize] = Some(edge);
            return Ok(false);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.edges.push(None);
            self.order.push(0);
            self.edges.len() as u32 - 1
        });
        self.made += 1;
        self.order[number as usize] = self.made;
        for end in [&edge.source, &edge.target] {
            self.ends.get_or_insert(end, Vec::new()).push(number);
        }
        self.edges[number as usize] = Some(edge);
        Ok(true)
    }

    /// Links a decision with those found before it was made, as far as `is_known` knows them; returns how many edges
    /// are new.
    pub fn link_related(
        &mut self,
        id: &str,
        related: &[RelatedDecision],
        now: &str,
        is_known: &dyn Fn(&str) -> bool,
    ) -> usize {
        let others = related.iter().filter(|other| other.id != id && is_known(&other.id));
        let edges = others.map(|other| DecisionEdge {
            source: id.to_owned(),
            target: other.id.clone(),
            kind: EdgeType::RelatesTo,
            weight: round((1.0 - other.distance).clamp(MIN_WEIGHT, 1.0), 3),
            created_at: now.to_owned(),
            created_by: AUTO_LINK.to_owned(),
            context: None,
        });
        edges.filter(|edge| self.link(edge.clone()).unwrap_or_default()).count()
    }

    fn find(&self, source: &str, target: &str, kind: EdgeType) -> Option<u32> {
        let (at_source, at_target) = (self.numbers(source), self.numbers(target));
        // Of a hub that thousands link to, the other end has few.
        let fewer = if at_source.len() < at_target.len() { at_source } else { at_target };
        let is_it = |edge: &DecisionEdge| edge.kind == kind && edge.source == source && edge.target == target;
        fewer.iter().copied().find(|number| self.edge(*number).is_some_and(is_it))
    }

    fn numbers(&self, id: &str) -> &[u32] {
        self.ends.get(id).map_or(&[], Vec::as_slice)
    }

    fn edge(&self, number: u32) -> Option<&DecisionEdge> {
        self.edges.get(number as usize)?.as_ref()
    }

    fn at(&self, id: &str) -> impl Iterator<Item = &DecisionEdge> {
        self.numbers(id).iter().filter_map(|number| self.edge(*number))
    }

    /// Removes a decision with its edges.
    pub fn remove(&mut self, id: &str) {
        for number in self.ends.remove(id).unwrap_or_default() {
            let Some(edge) = self.edges[number as usize].take() else { continue };
            let other = if edge.source == id { edge.target } else { edge.source };
            if let Some(list) = self.ends.get_mut(other.as_str()) {
                list.retain(|kept| *kept != number);
                if list.is_empty() {
                    self.ends.remove(other.as_str());
                }
            }
            self.free.push(number);
        }
    }

    /// Tells whether an edge starts or ends at an id.
    pub fn knows(&self, id: &str) -> bool {
        self.ends.contains_key(id)
    }

    /// Returns the decisions that supersede one.
    pub fn superseded_by<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        let above = self.at(id).filter(move |edge| edge.kind == EdgeType::Supersedes && edge.target == id);
        above.map(|edge| edge.source.as_str())
    }

    /// Tells whether another decision supersedes one.
    pub fn is_superseded(&self, id: &str) -> bool {
        self.superseded_by(id).next().is_some()
    }

    /// Returns the number of edges that end at a decision and of those that start there.
    pub fn degrees(&self, id: &str) -> (usize, usize) {
        let outgoing = self.at(id).filter(|edge| edge.source == id).count();
        (self.numbers(id).len() - outgoing, outgoing)
    }
}

/// Returns a node as tools show it; `decision` is nothing for an id the store does not have.
pub fn node(graph: &DecisionGraph, id: &str, decision: Option<&crate::Decision>) -> JsonMap {
    let mut out = Map::new();
    let (incoming, outgoing) = graph.degrees(id);
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    let text = |value: Option<&str>| json!(value.unwrap_or_default());
    put("id", json!(id));
    put("category", text(decision.map(|decision| decision.category.as_str())));
    put("stakes", text(decision.and_then(|decision| decision.stakes.as_deref())));
    put("date", text(decision.map(|decision| prefix(&decision.date, 10))));
    put("inDegree", json!(incoming));
    put("outDegree", json!(outgoing));
    let Some(decision) = decision else {
        put("isStub", json!(true));
        return out;
    };
    if !decision.title().is_empty() {
        put("summary", json!(truncate_masked(decision.title(), NODE_SUMMARY)));
    }
    if let Some(confidence) = decision.confidence {
        put("confidence", json!(confidence));
    }
    if let Some(outcome) = decision.outcome.as_deref().filter(|outcome| !outcome.is_empty()) {
        put("outcome", json!(outcome));
    }
    if !decision.tags.is_empty() {
        put("tags", json!(decision.tags));
    }
    if let Some(pattern) = decision.pattern.as_deref().filter(|pattern| !pattern.is_empty()) {
        put("pattern", json!(pattern));
    }
    if graph.is_superseded(id) {
        put("superseded", json!(true));
    }
    out
}
