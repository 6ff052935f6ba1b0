//! What a route returns.

use serde::Serialize;

use super::completion::QueryCompletion;
use contextweaver_model::{JsonMap, SelectableItem};

/// The short list for a query, and how it came about.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RouteResult {
    /// The tools, best first, pinned ones before all others.
    pub candidate_ids: Vec<String>,
    /// For each tool the node ids from below the root to it.
    pub paths: Vec<Vec<String>>,
    /// The score of each tool; scores of different queries do not compare.
    pub scores: Vec<f64>,
    /// Whether the best two are too close to call.
    pub is_ambiguous: bool,
    /// A question that tells the best ones apart.
    #[nullable]
    pub clarifying_question: Option<String>,
    /// Number of tools excluded by id or tag.
    pub excluded_count: u64,
    /// Tools outside the allowed namespaces or tags.
    pub gated_count: u64,
    /// Hints that became part of the query.
    pub context_hints: Vec<String>,
    /// Whether any hint became part of the query.
    pub context_boost_applied: bool,
    /// What history added to or took from a score, by tool.
    #[cfg_attr(feature = "ts", ts(type = "Record<string, number>"))]
    pub history_adjustments: JsonMap,
    /// How often one of the first five tools is right where the words of a query are found so well, 0 to 1. Absent from the
    /// beam navigator, and where only vectors speak for the tools.
    pub confidence: Option<f64>,
    /// Whether nothing fits: the confidence is too low, or no tool shares a word with the query. Only the exact navigator
    /// knows.
    pub no_match: Option<bool>,
    /// Why nothing fits, with the names of the tools that came nearest, in a sentence.
    pub no_match_reason: Option<String>,
    /// The same without these names, for who shows tools under others.
    #[serde(skip)]
    #[cfg_attr(feature = "ts", ts(skip))]
    #[nullable]
    pub no_match_cause: Option<String>,
    /// Ids of the tools that came nearest, best first, at most three, when nothing fits.
    pub nearest_ids: Option<Vec<String>>,
    /// How the query was completed from what was said before, where it does not stand on its own. What is said of the query
    /// elsewhere in the result is of the completed one, but for the query itself in the trace.
    pub completion: Option<QueryCompletion>,
    /// The steps and numbers behind the result.
    pub trace: RouteTrace,
    /// The tools themselves, if asked for.
    pub candidate_items: Option<Vec<SelectableItem>>,
}

/// The steps and numbers behind a route.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RouteTrace {
    /// Version of this record's form: 1.
    pub trace_version: u64,
    /// The query as given.
    pub query: String,
    /// The beam navigator's measure of ambiguity: a distance of scores.
    pub confidence_gap: f64,
    /// Score of the best tool, 0 if there is none.
    pub top_score: f64,
    /// Score of the second best tool, none if there is none.
    pub runner_up_score: Option<f64>,
    /// Whether the best two are too close to call.
    pub is_ambiguous: bool,
    /// Number of tools excluded by id or tag.
    pub excluded_count: u64,
    /// Tools outside the allowed namespaces or tags.
    pub gated_count: u64,
    /// What scored: `bm25f`, `tfidf`, `bm25`, `fuzzy`, or `embedding+bm25f` with vectors of the caller's.
    pub retriever_engine: String,
    /// The beam navigator's steps, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub steps: Option<Vec<RouteStep>>,
    /// A question that tells the best ones apart.
    pub clarifying_question: Option<String>,
    /// Hints, pins, quotas, adjustments; for the exact navigator also `ambiguity`, `folded`, and `matches` if asked for.
    pub extra: JsonMap,
}

/// A node that the beam navigator opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RouteStep {
    /// Levels below the root; 0 for the root.
    pub depth: u64,
    /// Id of the node.
    pub node: String,
    /// Its children, best first, scores rounded to four decimals.
    pub scored_children: Vec<ScoredChild>,
    /// Ids of the children that were followed.
    pub kept: Vec<String>,
}

/// A child of an opened node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ScoredChild {
    /// Id of the node or tool.
    pub id: String,
    /// Score for the query, rounded to four decimals.
    pub score: f64,
}
