//! Why every candidate was kept or dropped.

use serde::Serialize;

use super::{ItemKind, JsonMap, Phase, RenderedAs, Sensitivity, Stage};
use crate::json::Record;

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
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CandidateExplanation {
    /// Id of the item.
    pub item_id: String,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Sensitivity after classification.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
    /// Its score, 4 decimals; none when it left before scoring.
    pub score: Option<f64>,
    /// Whether it is in the prompt.
    #[record(default)]
    pub included: bool,
    /// Drop reason; empty when included.
    #[record(default)]
    pub drop_reason: String,
    /// Whether it came in because another item needs it.
    #[record(default)]
    pub dependency_closure: bool,
    /// What only the default mode knows.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(skip))]
    #[record(skip)]
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

crate::string_enum! {
    /// How a block of items came into a prompt.
    TakenBy, "way in" {
        /// Everything had room.
        All = "all",
        /// It had to be there.
        Pinned = "pinned",
        /// It is among the newest, to which a share of the budget goes.
        Newest = "newest",
        /// It is the first request, a short turn of the user, or one that states what holds, to which a share of the budget goes.
        Stated = "stated",
        /// Its priority.
        Priority = "priority",
        /// Another block answers to it.
        Parent = "parent",
    }
}

/// The record of one build. It holds no text of any item.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Explanation {
    /// Version of this record.
    #[record(default = 1, max = 1)]
    pub version: u32,
    /// The phase the prompt was made for.
    #[record(default)]
    pub phase: Phase,
    /// The query, secrets redacted.
    #[record(default)]
    pub query: String,
    /// Count of items that were considered.
    #[record(default)]
    pub total_candidates: u64,
    /// Count of items in the prompt.
    #[record(default)]
    pub included_count: u64,
    /// Count of items that were considered and left out.
    #[record(default)]
    pub dropped_count: u64,
    /// Count of dropped items by reason.
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, u64>"))]
    pub dropped_reasons: JsonMap,
    /// Items brought in because another one needs them.
    #[record(default)]
    pub dependency_closures: u64,
    /// Count of items dropped for their sensitivity.
    #[record(default)]
    pub sensitivity_drops: u64,
    /// Count of items dropped as repeats of another.
    #[record(default)]
    pub dedup_removed: u64,
    /// Tokens left for items after header and footer.
    #[record(default)]
    pub budget_tokens: u64,
    /// The scoring method and its weights.
    pub resolved_weights: JsonMap,
    /// Included first, then by score descending, then by id.
    pub candidates: Vec<CandidateExplanation>,
}
