//! What is to be found again, and what was found.

use serde::Serialize;

use crate::rules::list::StandingRule;
use contextweaver_base::{Error, ErrorCode, Result, limits};
use contextweaver_model::ItemKind;
use contextweaver_model::json::Record;

/// A search of everything that the log and its artifacts hold.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
#[record(closed, root, check)]
pub struct RecallRequest {
    /// Words that stood near what is wanted.
    pub query: String,
    /// Most tokens of the answer's text.
    #[record(default = limits::RECALL_TOKENS, max = limits::MAX_BUDGET_TOKENS)]
    pub max_tokens: u64,
    /// Only these artifacts are searched; all that there is, where nothing is said.
    pub handles: Option<Vec<String>>,
    /// Whether items that stand whole in the last prompt are left out: who asks sees them already.
    #[record(default)]
    pub hidden_only: bool,
}

impl RecallRequest {
    fn check(&self) -> Result<()> {
        if self.query.trim().is_empty() {
            let error = Error::new(ErrorCode::InvalidInput, "expected words to look for").at("/query");
            return Err(error.hint("words that stood near what is wanted, or what is known of it"));
        }
        Ok(())
    }

    /// Makes a search of everything, with the default limit of the answer.
    pub fn new(query: &str) -> Self {
        Self { query: query.to_owned(), max_tokens: limits::RECALL_TOKENS, handles: None, hidden_only: false }
    }
}

/// Where an excerpt comes from, and what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RecalledExcerpt {
    /// The item of the log; absent for an artifact that no item refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub item_id: Option<String>,
    /// Kind of that item.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub kind: Option<ItemKind>,
    /// The handle under which a drilldown reads on; absent for what is no result and no artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub handle: Option<String>,
    /// The text: secrets masked, and lines escaped that could pass for a label.
    pub text: String,
    /// First character shown, from 0, as the selector `head` counts: secrets masked, nothing escaped.
    pub start: u64,
    /// Character after the last one shown.
    pub end: u64,
    /// Characters that there are.
    pub total: u64,
    /// The share of the query, rare words counting more, that stands in the best place of the excerpt: 1 is all of it. Four
    /// decimals.
    pub score: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RecallAnswer {
    /// What is said of standing instructions, and the excerpts for a model, the best first, each below a line that says where it stands. Empty when nothing was found.
    pub text: String,
    /// Tokens of `text`, by the estimator of the manager.
    pub tokens: u64,
    /// The excerpts, the best first.
    pub excerpts: Vec<RecalledExcerpt>,
    /// Standing instructions that the query speaks of, with whether they hold; their lines are at the head of `text`.
    pub rules: Vec<StandingRule>,
    /// Artifacts that were not searched, at most 16 of them: their bytes are not in memory, or the search took too many steps
    /// before.
    pub unread: Vec<String>,
}
