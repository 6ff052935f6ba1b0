//! A request for a part of an artifact, and the part.

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::limits;
use contextweaver_content::MatchingRows;
use contextweaver_model::JsonMap;
use contextweaver_model::json::Record;

/// A request for a part of an artifact.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root)]
pub struct DrilldownRequest {
    /// Handle of the artifact.
    pub handle: String,
    /// The part, as the caller wrote it; the lines from the first one on where nothing says which.
    #[record(default = json!({ "type": "lines" }))]
    pub selector: Value,
    /// Whether to add the part to the log.
    #[record(default)]
    pub inject: bool,
    /// Parent of the added item.
    pub parent_id: Option<String>,
    /// Most tokens of the text.
    #[record(max = limits::MAX_BUDGET_TOKENS)]
    pub max_tokens: Option<u64>,
}

impl DrilldownRequest {
    /// Makes a request for a part of any size, which is not added to the log.
    pub fn new(handle: &str, selector: Value) -> Self {
        Self { handle: handle.to_owned(), selector, inject: false, parent_id: None, max_tokens: None }
    }
}

/// A part of an artifact.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Slice {
    /// Handle of the artifact.
    pub handle: String,
    /// As it was given.
    #[cfg_attr(feature = "ts", ts(type = "Selector"))]
    pub selector: Value,
    /// The part, secrets masked.
    pub text: String,
    /// Tokens of `text`, at most `max_tokens`.
    pub tokens: u64,
    /// What `total`, `start` and `end` count.
    #[cfg_attr(
        feature = "ts",
        ts(
            type = "\"chars\" | \"lines\" | \"rows\" | \"keys\" | \"items\" | \"values\" | \"hits\" | \"columns\" | \"entries\""
        )
    )]
    pub unit: &'static str,
    /// Units there are; of rows with conditions, those that fulfil them.
    pub total: u64,
    /// The first one shown; of rows with conditions, the first one looked at.
    pub start: u64,
    /// The one after the last that is shown whole; of rows with conditions, after the last one looked at.
    pub end: u64,
    /// Of rows with conditions: which of those that fulfil them are shown, counted from 0 among those, and how many rows
    /// there are, matching or not.
    #[cfg_attr(feature = "ts", ts(type = "{ readonly start: number; readonly end: number; readonly rows: number }"))]
    pub matches: Option<MatchingRows>,
    /// Whether `max_tokens`, or `max_hits` of a search, left less than was asked for.
    pub truncated: bool,
    /// The selector of the rest; absent when there is none, and when `max_tokens` has no room for one character.
    #[cfg_attr(feature = "ts", ts(type = "Selector"))]
    pub next: Option<JsonMap>,
    /// The item of the log that holds the text, when it was injected.
    pub item_id: Option<String>,
}
