//! A request for a part of an artifact, and the part.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_model::JsonMap;
use contextweaver_model::json::Record;

/// A request for a part of an artifact.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root)]
pub struct DrilldownRequest {
    /// Handle of the artifact.
    pub handle: String,
    /// The part, as the caller wrote it.
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Slice {
    /// Handle of the artifact.
    pub handle: String,
    /// The selector, as given.
    pub selector: Value,
    /// The text, secrets masked.
    pub text: String,
    /// Tokens of `text`, by the estimator of the manager.
    pub tokens: u64,
    /// What `total`, `start` and `end` count: `chars`, `lines`, `rows`, `items`, `keys`, `hits`.
    pub unit: &'static str,
    /// Units that the whole artifact has; of rows with conditions, those that fulfil them.
    pub total: u64,
    /// The first one shown, from 0.
    pub start: u64,
    /// The one after the last shown.
    pub end: u64,
    /// Whether `max_tokens` cut the text.
    pub truncated: bool,
    /// The selector that goes on where this one stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub next: Option<JsonMap>,
    /// The item that was added to the log, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub item_id: Option<String>,
}
