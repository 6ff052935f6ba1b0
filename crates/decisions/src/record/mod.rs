//! The record of a decision, as it is stored, exported and imported.

pub mod compaction;
pub mod decode;
mod limits;
pub mod quality;
mod table;
pub mod validate;

pub use compaction::CompactionLevel;
pub use limits::DecisionLimits;
pub use quality::{RecordQuality, record_quality};
pub use table::DecisionTable;

use serde::Serialize;

use contextweaver_model::json::JsonMap;

/// One decision. What a record says beyond the known fields is kept.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decision {
    /// 1 to 64 letters, digits, underscores and hyphens.
    pub id: String,
    /// Equal to the decision, as contextweaver 0.18 writes both; an imported one may differ.
    pub summary: String,
    /// The decision as a sentence.
    pub decision: String,
    /// One of the store's categories; imported records may have any.
    pub category: String,
    /// The agent's confidence, from 0 to 1.
    #[nullable]
    pub confidence: Option<f64>,
    /// `low`, `medium`, `high` or `critical`.
    #[nullable]
    pub stakes: Option<String>,
    /// `pending` or `reviewed`.
    pub status: String,
    /// Timestamp of the decision.
    pub date: String,
    /// The circumstances it was made in.
    pub context: Option<String>,
    /// Arguments for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DecisionReason>,
    /// Reasoning steps the caller gave with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// Inputs and thoughts before it, given or collected.
    pub deliberation: Option<Deliberation>,
    /// Structure and function, for retrieval by one of them.
    pub bridge: Option<Bridge>,
    /// Decisions that were found before it was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_to: Vec<RelatedDecision>,
    /// Names of the figures it should move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kpi_indicators: Vec<String>,
    /// `deliberate`, `reactive`, `exploratory`, `habitual` or `pressured`.
    pub mental_state: Option<String>,
    /// Day by which to review it, `2026-03-22`.
    pub review_by: Option<String>,
    /// Free words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Name of the pattern it follows.
    pub pattern: Option<String>,
    /// Which preparations were made.
    pub pre_decision: Option<PreDecision>,
    /// The agent that recorded it.
    pub recorded_by: Option<String>,
    /// The project, `owner/repo`.
    pub project: Option<String>,
    /// The feature it is about.
    pub feature: Option<String>,
    /// The number of the pull request.
    pub pr: Option<u64>,
    /// Path of the file it is about.
    pub file: Option<String>,
    /// Line in that file.
    pub line: Option<u64>,
    /// Hash of the commit it led to.
    pub commit: Option<String>,
    /// What came of it: `success`, `partial`, `failure` or `abandoned`; imported records may say anything.
    pub outcome: Option<String>,
    /// Timestamp of the last review.
    pub reviewed_at: Option<String>,
    /// What happened in fact.
    pub actual_result: Option<String>,
    /// What to do differently.
    pub lessons: Option<String>,
    /// Notes of the reviewer.
    pub review_notes: Option<String>,
    /// Figures it moved, with their values.
    #[serde(skip_serializing_if = "JsonMap::is_empty")]
    pub affected_kpis: JsonMap,
    /// The agent that reviewed it.
    pub reviewed_by: Option<String>,
    /// Reviews before the last one, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub review_history: Vec<PastReview>,
    /// When the store got it; its date unless a record says otherwise. Empty until it is stored.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub created_at: String,
    /// Timestamp of the last change.
    pub updated_at: Option<String>,
    /// Whether it is always shown in full, however old it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preserve: bool,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// An argument for a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionReason {
    /// Type such as `analysis` or `empirical`; empty when the record has none.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The argument as a sentence.
    pub text: String,
    /// From 0 to 1; 0.8 unless given.
    pub strength: f64,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A step of reasoning given by the caller.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TraceStep {
    /// Number from 1.
    pub step: u64,
    /// The reasoning of the step.
    pub thought: String,
    /// The conclusion of the step.
    pub output: Option<String>,
    /// Confidence in it, from 0 to 1.
    pub confidence: Option<f64>,
    /// Free words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// Inputs and thoughts that led to a decision.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Deliberation {
    /// Queries, checks, lookups and other material.
    pub inputs: Vec<DeliberationInput>,
    /// Thoughts, each with the inputs it rests on.
    pub steps: Vec<DeliberationStep>,
    /// Milliseconds from the first to the last input.
    pub total_duration_ms: Option<u64>,
    /// Number of the step at which the decision was clear.
    pub convergence_point: Option<u64>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// Material an agent looked at.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeliberationInput {
    /// Unique in its deliberation.
    pub id: String,
    /// The material, or a sentence about it.
    pub text: String,
    /// Tool or document it came from.
    pub source: Option<String>,
    /// Timestamp at which it was looked at.
    pub timestamp: Option<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A thought of a deliberation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeliberationStep {
    /// Number from 1.
    pub step: u64,
    /// The thought as text.
    pub thought: String,
    /// Ids of the inputs it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs_used: Vec<String>,
    /// Timestamp at which it was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Milliseconds it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Type such as `analysis`, `constraint` or `reasoning`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether it concludes the deliberation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<bool>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A decision as a solution and as a purpose, so that it is found by either.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bridge {
    /// What the solution looks like.
    pub structure: String,
    /// The purpose it serves.
    pub function: String,
    /// What may vary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerance: Vec<String>,
    /// What must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enforcement: Vec<String>,
    /// What must not happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prevention: Vec<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A decision that was found before another was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RelatedDecision {
    /// Id of the decision that was found.
    pub id: String,
    /// Its title at that time.
    pub summary: String,
    /// Cosine distance from the query, rounded to three decimals.
    pub distance: f64,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// Which preparations preceded a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "the record has them")]
pub struct PreDecision {
    /// Whether similar decisions were looked for.
    pub query_run: bool,
    /// Number of similar decisions.
    pub similar_found: u64,
    /// Whether guardrails were checked.
    pub guardrails_checked: bool,
    /// Whether nothing blocked the action.
    pub guardrails_passed: bool,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A review that a later one replaced.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PastReview {
    /// `success`, `partial`, `failure` or `abandoned`.
    pub outcome: String,
    /// Timestamp of the review.
    pub reviewed_at: Option<String>,
    /// What happened in fact.
    pub actual_result: Option<String>,
    /// What to do differently.
    pub lessons: Option<String>,
    /// Notes of the reviewer.
    pub review_notes: Option<String>,
    /// The agent that reviewed it.
    pub reviewed_by: Option<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

impl Decision {
    /// Returns the value of its outcome, from 0 to 1; none unless it was reviewed.
    pub fn reviewed_value(&self) -> Option<f64> {
        let outcome = self.outcome.as_deref().filter(|outcome| !outcome.is_empty())?;
        (self.status == "reviewed").then(|| outcome_value(outcome))
    }

    /// Returns its creation in milliseconds since 1970; none where neither time can be read.
    pub fn created_ms(&self) -> Option<i64> {
        crate::timestamps::parse(&self.created_at).or_else(|| crate::timestamps::parse(&self.date))
    }
}

/// Returns the value of an outcome: 1 for `success`, 0.5 for `partial`, 0 for anything else.
pub fn outcome_value(outcome: &str) -> f64 {
    match outcome {
        "success" => 1.0,
        "partial" => 0.5,
        _ => 0.0,
    }
}

/// Strength of a reason that has none.
pub const fn default_strength() -> f64 {
    0.8
}
