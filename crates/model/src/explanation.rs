//! Why every candidate was kept or dropped.

use serde::Serialize;
use serde_json::Value;

use super::{ItemKind, JsonMap, Phase, RenderedAs, Sensitivity, Stage};
use crate::json::Fields;
use contextweaver_base::Result;

/// The parts a score is made of, before the sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ScoreParts {
    /// Words of the query and of the current turn found in the item, relative to the best item.
    pub text: f64,
    /// Share of the score of neighbours in the log.
    pub neighbours: f64,
    /// What the caller's weights and scores add.
    pub caller: f64,
}

/// One candidate: its score, and the stage that decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CandidateExplanation {
    /// Id of the item.
    pub item_id: String,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Sensitivity after classification.
    pub sensitivity: Sensitivity,
    /// Its score, 4 decimals; none when it left before scoring.
    pub score: Option<f64>,
    /// Whether it is in the prompt.
    pub included: bool,
    /// Drop reason; empty when included.
    pub drop_reason: String,
    /// Whether it came in because another item needs it.
    pub dependency_closure: bool,
    /// What only the default mode knows.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub detail: Option<CandidateDetail>,
}

/// What the default mode adds to a candidate's record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CandidateDetail {
    /// The stage that decided.
    pub stage: Stage,
    /// Tokens it costs in the prompt, or would cost whole.
    pub tokens: u64,
    /// The items that enter and leave with it share this number.
    pub unit: u32,
    /// The form in which the item is shown.
    pub rendered_as: Option<RenderedAs>,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Whether it had to be in the prompt, and why.
    pub pinned: Option<&'static str>,
    /// Tokens of its block in full: of all items that enter and leave with it. Its own where it left before blocks were made.
    pub block_tokens: u64,
    /// What its block was ordered by: the highest score in it over the fifth root of its size. Null for a block that was not
    /// compared with others.
    pub priority: Option<f64>,
    /// Tokens that were free when the turn of its block came; null where the selection did not weigh it by its priority.
    pub room_tokens: Option<u64>,
    /// Tokens that its block needed then, in the smallest form that was tried. More than `room_tokens`, or more than is
    /// worth trying, for a block that was left out.
    pub needed_tokens: Option<u64>,
    /// How its block came in.
    pub taken_by: Option<TakenBy>,
}

impl CandidateDetail {
    /// Says where the record of an item was decided that no selection compared with others: it is its own block.
    pub fn unscored(stage: Stage, tokens: u64, unit: u32, rendered_as: Option<RenderedAs>) -> Self {
        Self {
            stage,
            tokens,
            unit,
            rendered_as,
            parts: ScoreParts::default(),
            pinned: None,
            block_tokens: tokens,
            priority: None,
            room_tokens: None,
            needed_tokens: None,
            taken_by: None,
        }
    }
}

/// How a block came into a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TakenBy {
    /// Everything had room.
    All,
    /// It had to be there.
    Pinned,
    /// It is among the newest, to which a share of the budget goes.
    Newest,
    /// Its priority.
    Priority,
    /// Another block answers to it.
    Parent,
}

/// The record of one build. It holds no text of any item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Explanation {
    /// Version of this record.
    pub version: u32,
    /// The phase the prompt was made for.
    pub phase: Phase,
    /// The query as given, secrets redacted.
    pub query: String,
    /// Count of items that were considered.
    pub total_candidates: u64,
    /// Count of items in the prompt.
    pub included_count: u64,
    /// Count of items that were considered and left out.
    pub dropped_count: u64,
    /// Count of dropped items by reason.
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, u64>"))]
    pub dropped_reasons: JsonMap,
    /// Items brought in because another one needs them.
    pub dependency_closures: u64,
    /// Count of items dropped for their sensitivity.
    pub sensitivity_drops: u64,
    /// Count of items dropped as repeats of another.
    pub dedup_removed: u64,
    /// Tokens left for items after header and footer.
    pub budget_tokens: u64,
    /// The scoring method and its weights.
    pub resolved_weights: JsonMap,
    /// Included first, then by score descending, then by id.
    pub candidates: Vec<CandidateExplanation>,
}

impl CandidateExplanation {
    /// Reads a candidate's record; what only the default mode knows is left aside.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            item_id: fields.string("item_id")?,
            kind: fields.parsed("kind", ItemKind::parse)?,
            sensitivity: fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse)?,
            score: fields.opt_number("score", f64::MIN, f64::MAX)?,
            included: fields.bool_or("included", false)?,
            drop_reason: fields.string_or("drop_reason", "")?,
            dependency_closure: fields.bool_or("dependency_closure", false)?,
            detail: None,
        })
    }
}

impl Explanation {
    /// Reads the record of a build; unknown fields are ignored.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let count = |fields: &mut Fields, key: &'static str| fields.uint_or(key, 0, u64::MAX);
        Ok(Self {
            version: fields.uint_or("version", 1, 1)? as u32,
            phase: fields.parsed_or("phase", Phase::Answer, Phase::parse)?,
            query: fields.string_or("query", "")?,
            total_candidates: count(&mut fields, "total_candidates")?,
            included_count: count(&mut fields, "included_count")?,
            dropped_count: count(&mut fields, "dropped_count")?,
            dropped_reasons: fields.object("dropped_reasons")?,
            dependency_closures: count(&mut fields, "dependency_closures")?,
            sensitivity_drops: count(&mut fields, "sensitivity_drops")?,
            dedup_removed: count(&mut fields, "dedup_removed")?,
            budget_tokens: count(&mut fields, "budget_tokens")?,
            resolved_weights: fields.object("resolved_weights")?,
            candidates: fields.records("candidates", CandidateExplanation::from_value)?,
        })
    }
}
