//! What is to be found again, and what was found.

use serde::Serialize;

use crate::rules::rule::StandingRule;
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

/// A place that a recall found.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RecalledExcerpt {
    /// The item of the log. Absent for an artifact that no item refers to.
    pub item_id: Option<String>,
    /// Kind of that item.
    pub kind: Option<ItemKind>,
    /// The handle by which `ContextManager.drilldown` reads on. Absent for items that are no results, and for artifacts that
    /// are not in memory.
    pub handle: Option<String>,
    /// Secrets masked, and lines escaped that could pass for a label.
    pub text: String,
    /// First character shown, from 0, as the selector `head` counts: secrets masked, nothing escaped.
    pub start: u64,
    /// Character after the last one shown.
    pub end: u64,
    /// Characters there are.
    pub total: u64,
    /// The share of the query, rare words counting more, that stands in the best place of the excerpt: 1 is all of it.
    pub score: f64,
}

/// What a recall found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RecallAnswer {
    /// Lines of the standing instructions that the query speaks of, and the excerpts for a model, the best first, each below
    /// a line that says where it stands. Empty when nothing was found.
    pub text: String,
    /// Tokens of `text`.
    pub tokens: u64,
    /// The excerpts, the best first.
    pub excerpts: Vec<RecalledExcerpt>,
    /// Standing instructions that the query speaks of, at most four and what took their place, with whether they hold.
    pub rules: Vec<StandingRule>,
    /// Artifacts that were not searched, at most 16: their bytes are not in memory, or the search had read 8 MiB before.
    pub unread: Vec<String>,
}
