//! Results of tools, shortened to a number of tokens for readers outside of a prompt.

use serde::Serialize;

use crate::callbacks::CallbackAnswers;
use crate::digest_note;
use crate::firewall::handle_of;
use crate::labels;
use crate::manager::ContextManager;
use crate::sensitivity;
use contextweaver_base::{Error, ErrorCode, Result, limits};
use contextweaver_content::{Abridgment, SniffedText, abridge};
use contextweaver_model::json::Record;
use contextweaver_model::{ContextItem, ItemKind};

/// A text stays whole if it exceeds the limit by at most one part in this many: a cut would save less than the call to read
/// on costs.
const SPARE_PARTS: u64 = 8;

/// A request for as much of a result as fits.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
#[record(closed, root)]
pub struct AbridgeRequest {
    /// Id of the item that holds the result.
    pub item_id: String,
    /// Most tokens of the text. A whole text may take an eighth more.
    #[record(default = limits::FIREWALL_THRESHOLD_TOKENS, max = limits::MAX_BUDGET_TOKENS)]
    pub max_tokens: u64,
    /// What the caller of the tool asked for, such as the arguments of the call. Parts with names from it are kept first.
    #[record(default)]
    pub asked: String,
    /// Name of the tool that reads the rest. Lines of the result that could pass for ours by naming it are escaped.
    #[record(default = "drilldown".to_owned())]
    pub drilldown: String,
}

impl Default for AbridgeRequest {
    fn default() -> Self {
        Self {
            item_id: String::new(),
            max_tokens: limits::FIREWALL_THRESHOLD_TOKENS,
            asked: String::new(),
            drilldown: "drilldown".to_owned(),
        }
    }
}

/// As much of a result as fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Abridged {
    /// The text, with secrets masked and lines escaped that could pass for ours.
    pub text: String,
    /// Tokens of `text`.
    pub tokens: u64,
    /// Tokens of the whole text, masked and escaped in the same way.
    pub total: u64,
    /// Whether parts are left out.
    pub is_cut: bool,
}

impl ContextManager {
    /// Returns a result whole where it has few enough tokens, else shortened by [`abridge`]. Returns none where the text of
    /// the item must not be replaced: the item is redacted or at or above the sensitivity floor, its digest was made by the
    /// strategy `structured`, or any summarizer is configured.
    ///
    /// # Errors
    /// `NOT_FOUND` at `/item_id` where there is no such result. At `/handle`: `ARTIFACT_NOT_FOUND` or `ARTIFACT_EXPIRED`
    /// where its bytes are not in memory, `UNSUPPORTED` where they are no text.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{AbridgeRequest, ContextManager, ManagerOptions, ToolResult};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let list: String = (0..900).map(|n| format!("order {n} was sent\n")).collect();
    /// manager.ingest_tool_result(&ToolResult::new("c1", "list"), list.as_bytes())?;
    /// let request = AbridgeRequest { item_id: "result:c1".into(), max_tokens: 300, ..AbridgeRequest::default() };
    /// let shown = manager.abridged(&request)?.unwrap();
    /// assert!(shown.is_cut && shown.tokens <= 300 && shown.text.contains("order 899"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn abridged(&self, request: &AbridgeRequest) -> Result<Option<Abridged>> {
        let item = self.events.find(&request.item_id).filter(|item| item.kind == ItemKind::ToolResult);
        let item = item.ok_or_else(|| Error::new(ErrorCode::NotFound, "no such result").at("/item_id"))?;
        if self.options.summarizer.is_some() || !self.may_abridge(item) {
            return Ok(None);
        }
        let (raw, media_type) = self.stored_text(&handle_of(&item.id))?;
        let clean = labels::outside(&self.options.readable(&raw), &request.drilldown);
        let estimator = &self.options.estimator;
        let total = estimator.tokens(&clean);
        if total <= request.max_tokens + request.max_tokens / SPARE_PARTS {
            return Ok(Some(Abridged { text: clean, tokens: total, total, is_cut: false }));
        }
        let source = SniffedText::new(&media_type, &clean);
        let Abridgment { text, is_whole } = abridge(&source, request.max_tokens, &request.asked, estimator);
        Ok(Some(Abridged { tokens: estimator.tokens(&text), text, total, is_cut: !is_whole }))
    }

    fn may_abridge(&self, item: &ContextItem) -> bool {
        let level = sensitivity::classified(item, &self.options, &CallbackAnswers::default());
        let is_open = level < self.options.policy.sensitivity_floor && !item.metadata_flag("redacted");
        is_open && (digest_note::is_reshaped(item) || digest_note::allows_excerpts(item))
    }
}
