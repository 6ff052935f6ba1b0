//! The record of a decision, as it is stored, exported and imported.

pub mod compaction;
pub mod decode;
pub mod quality;
pub mod validate;

pub use compaction::CompactionLevel;
pub use quality::{RecordQuality, record_quality};

use serde::Serialize;

use contextweaver_model::json::JsonMap;

/// One decision. What a record says beyond the known fields is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The id.
    pub id: String,
    /// Equal to the decision, as the reference writes both.
    pub summary: String,
    /// What was decided.
    pub decision: String,
    /// One of the store's categories; imported records may have any.
    pub category: String,
    /// How sure the agent was, from 0 to 1.
    pub confidence: Option<f64>,
    /// How much depends on it: `low`, `medium`, `high` or `critical`.
    pub stakes: Option<String>,
    /// `pending` or `reviewed`.
    pub status: String,
    /// When it was decided.
    pub date: String,
    /// The circumstances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DecisionReason>,
    /// Steps of reasoning given by the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// What was looked at and thought before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliberation: Option<Deliberation>,
    /// What it looks like and what it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge: Option<Bridge>,
    /// Decisions found beforehand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_to: Vec<RelatedDecision>,
    /// Figures it is meant to move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kpi_indicators: Vec<String>,
    /// In which state of mind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mental_state: Option<String>,
    /// The date by which it is to be reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_by: Option<String>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The rule it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What was done before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_decision: Option<PreDecision>,
    /// The agent that recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_by: Option<String>,
    /// The project, `owner/repo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The number of the pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<u64>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What came of it: `success`, `partial`, `failure` or `abandoned`; imported records may say anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// When it was reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_at: Option<String>,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_result: Option<String>,
    /// What was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lessons: Option<String>,
    /// Notes of the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_notes: Option<String>,
    /// Figures it moved, with their numbers.
    #[serde(skip_serializing_if = "JsonMap::is_empty")]
    pub affected_kpis: JsonMap,
    /// Who reviewed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_by: Option<String>,
    /// Reviews before the last one, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub review_history: Vec<PastReview>,
    /// When the store got it; its date unless a record says otherwise. Empty until it is stored.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub created_at: String,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Whether it is never to be shortened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preserve: bool,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// Why something was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionReason {
    /// Which kind of reason, empty when the record does not say.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The reason.
    pub text: String,
    /// How strong it is, from 0 to 1.
    pub strength: f64,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A step of reasoning given by the caller.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TraceStep {
    /// Its number, from 1.
    pub step: u64,
    /// The thought.
    pub thought: String,
    /// What came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How sure, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// What was looked at and thought before a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Deliberation {
    /// What was looked at.
    pub inputs: Vec<DeliberationInput>,
    /// What was made of it.
    pub steps: Vec<DeliberationStep>,
    /// From the first to the last input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_duration_ms: Option<u64>,
    /// The step at which the decision stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence_point: Option<u64>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// Something looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeliberationInput {
    /// Its id within the deliberation.
    pub id: String,
    /// What it is.
    pub text: String,
    /// Where it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A step of a deliberation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeliberationStep {
    /// Its number, from 1.
    pub step: u64,
    /// The thought.
    pub thought: String,
    /// Ids of the inputs it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs_used: Vec<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Which kind of thought.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether it concludes the deliberation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<bool>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// The two sides of a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bridge {
    /// What it looks like.
    pub structure: String,
    /// What it is for.
    pub function: String,
    /// What may vary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerance: Vec<String>,
    /// What must be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enforcement: Vec<String>,
    /// What must not be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prevention: Vec<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A decision found before another was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RelatedDecision {
    /// Its id.
    pub id: String,
    /// Its summary.
    pub summary: String,
    /// How far it was from the query.
    pub distance: f64,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// What was done before a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "the record has them")]
pub struct PreDecision {
    /// Whether similar decisions were looked for.
    pub query_run: bool,
    /// How many were found.
    pub similar_found: u64,
    /// Whether guardrails were checked.
    pub guardrails_checked: bool,
    /// Whether they let it pass.
    pub guardrails_passed: bool,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

/// A review that a later one replaced.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PastReview {
    /// What came of it.
    pub outcome: String,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_at: Option<String>,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_result: Option<String>,
    /// What was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lessons: Option<String>,
    /// Notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_notes: Option<String>,
    /// By whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_by: Option<String>,
    /// Fields this release does not know.
    #[serde(flatten)]
    pub unknown: JsonMap,
}

impl Decision {
    /// Returns what the outcome is worth, from 0 to 1, of a decision that was reviewed.
    pub fn reviewed_value(&self) -> Option<f64> {
        let outcome = self.outcome.as_deref().filter(|outcome| !outcome.is_empty())?;
        (self.status == "reviewed").then(|| outcome_value(outcome))
    }

    /// Returns when it was created, in milliseconds; nothing where the record has no readable time.
    pub fn created_ms(&self) -> Option<i64> {
        crate::timestamps::parse(&self.created_at).or_else(|| crate::timestamps::parse(&self.date))
    }
}

/// Returns what an outcome is worth, from 0 to 1.
pub fn outcome_value(outcome: &str) -> f64 {
    match outcome {
        "success" => 1.0,
        "partial" => 0.5,
        _ => 0.0,
    }
}

/// How strong a reason is that does not say.
pub const fn default_strength() -> f64 {
    0.8
}
