//! Reducing a result outside of any conversation.

use serde::Serialize;
use serde_json::Value;

use crate::callbacks::Outcome;
use crate::firewall::{handle_of, label_of};
use crate::manager::ContextManager;
use crate::options::{FirewallOptions, ManagerOptions};
use crate::reduce::{ReducedText, Reduction, check_deterministic};
use crate::store::content_hash;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::{KeepPath, SniffedText, views_sniffed};
use contextweaver_model::json::{Fields, Record, parse_sent};
use contextweaver_model::{ContextItem, FirewallStats, ItemKind, Status, Strategy, ViewSpec};
use contextweaver_text::data::has_data;
use contextweaver_text::tokens::Estimator;

/// A result to be reduced.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root, check)]
pub struct CompactRequest {
    /// MIME type of `data`, by which its shape is recognised.
    #[record(with = media_type)]
    pub media_type: String,
    /// Text, or any JSON.
    #[record(with = data, required)]
    pub data: Value,
    /// What is done above the budget.
    #[record(default = CompactStrategy::Auto)]
    pub strategy: CompactStrategy,
    /// Paths of JSON that may stay.
    pub keep: Vec<KeepPath>,
    /// Tokens up to which the result stays as it is, and most tokens of what it is reduced to.
    #[record(max = limits::MAX_BUDGET_TOKENS)]
    pub budget_tokens: Option<u64>,
}

contextweaver_model::string_enum! {
    /// What is done to a result above the budget.
    CompactStrategy, "strategy" {
        /// The kept paths where `keep` names some, else a summary, the same in fewer tokens, or a digest.
        Auto = "auto",
        /// The kept paths alone.
        Structured = "structured",
        /// As `Auto`, as if `keep` were empty.
        Text = "text",
        /// The data stays as it is, whatever its size.
        Passthrough = "passthrough",
    }
}

impl CompactRequest {
    /// Refuses a projection without paths.
    fn check(&self) -> Result<()> {
        if self.strategy == CompactStrategy::Structured && self.keep.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "a projection needs paths to keep").at("/keep"));
        }
        Ok(())
    }

    /// Makes a request that leaves everything to the manager: text is plain text, anything else JSON.
    pub fn new(data: Value) -> Self {
        let media_type = if data.is_string() { "text/plain" } else { "application/json" }.to_owned();
        Self { data, media_type, strategy: CompactStrategy::Auto, keep: Vec::new(), budget_tokens: None }
    }
}

/// Takes the type of the data that stand beside it.
fn media_type(fields: &mut Fields, key: &'static str) -> Result<String> {
    let is_text = fields.peek("data").is_some_and(Value::is_string);
    fields.string_or(key, if is_text { "text/plain" } else { "application/json" })
}

/// Takes data, which may be null.
fn data(fields: &mut Fields, key: &'static str) -> Result<Value> {
    if fields.has(key) { Ok(fields.take(key).unwrap_or_default()) } else { Err(fields.missing(key)) }
}

/// What became of a result that is in no conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CompactResult {
    /// Whether it was reduced.
    pub firewalled: bool,
    /// `partial`: a function of yours threw, or what `keep` left did not fit; `error`: nothing to `keep` was found.
    pub status: Status,
    /// What to show: the data itself, its kept paths, or a text. Secrets are masked.
    pub payload: Value,
    /// Facts found in it, within the budget.
    pub facts: Vec<String>,
    /// Handle of the whole, if it was reduced.
    pub artifact_ref: Option<String>,
    /// Ways to look into the whole, if it was reduced.
    pub views: Vec<ViewSpec>,
    /// What was done, in numbers.
    pub stats: FirewallStats,
}

impl ContextManager {
    /// Reduces a result to at most `budget_tokens`; the whole of it is stored under a handle made of its hash.
    ///
    /// What is returned has never more tokens than what came in, nor than the budget. The log stays as it is.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` at `/data` when the store has no room for the whole; `DETERMINISM` when a function backed by a
    /// model would run although the firewall is to be deterministic.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{CompactRequest, ContextManager, ManagerOptions};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let rows: Vec<_> = (0..500).map(|id| json!({ "id": id, "state": "ok" })).collect();
    /// let request = CompactRequest { budget_tokens: Some(100), ..CompactRequest::new(rows.into()) };
    /// let compacted = manager.compact(&request)?.done().unwrap();
    /// assert!(compacted.firewalled && compacted.stats.summary_tokens <= 100);
    /// assert!(manager.artifacts().exists(&compacted.artifact_ref.unwrap()));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn compact(&mut self, request: &CompactRequest) -> Result<Outcome<CompactResult>> {
        self.answers.reset();
        check_deterministic(&self.options)?;
        let raw = match &request.data {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let budget = request.budget_tokens.unwrap_or(self.options.firewall.threshold_tokens);
        let clean = self.options.readable(&raw);
        let is_small = !has_data(&raw) && self.options.estimator.fits(&clean, budget);
        if request.strategy == CompactStrategy::Passthrough || is_small {
            return Ok(Outcome::Done(self.passed(request, &raw)));
        }
        let handle = handle_of(&format!("compact:{}", &content_hash(raw.as_bytes())[..16]));
        let known = self.artifacts.used(&handle).is_some_and(|bytes| bytes == raw.as_bytes());
        if !known {
            self.artifacts.check(&handle, raw.len()).map_err(|error| error.at("/data"))?;
        }
        let item = ContextItem::new(handle.trim_start_matches("artifact:"), ItemKind::ToolResult, "");
        let firewall = FirewallOptions {
            threshold_tokens: budget,
            summary_tokens: self.options.firewall.summary_tokens.min(budget),
            ..self.options.firewall.clone()
        };
        let options = ManagerOptions { firewall, ..self.options.clone() };
        let keep: &[KeepPath] = if request.strategy == CompactStrategy::Text { &[] } else { &request.keep };
        let source = SniffedText::new(&request.media_type, &clean);
        let reduction = Reduction { item: &item, source: &source, keep, options: &options, answers: &self.answers };
        let reduced = reduction.run();
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        if !known {
            self.artifacts.put(&handle, raw.as_bytes(), &request.media_type, &label_of(&item.id))?;
        }
        let views = views_sniffed(self.artifacts.artifact_ref(&handle)?, &source);
        self.answers.settle(self.events.len());
        let mut stats = self.numbers(&raw, &reduced.text, reduced.strategy);
        stats.triggered = true;
        stats.artifact_ref = Some(handle.clone());
        let ReducedText { text, strategy, status, facts, .. } = reduced;
        let is_json = strategy == Strategy::Structured;
        let projection = is_json.then(|| parse_sent(&text)).flatten();
        let payload = projection.unwrap_or(Value::String(text));
        let artifact_ref = Some(handle);
        Ok(Outcome::Done(CompactResult { firewalled: true, status, payload, facts, artifact_ref, views, stats }))
    }

    fn passed(&self, request: &CompactRequest, raw: &str) -> CompactResult {
        let payload = match &request.data {
            Value::String(text) => self.options.mask_secrets(text).into_owned().into(),
            data => self.options.mask_names(data),
        };
        CompactResult {
            firewalled: false,
            status: Status::Ok,
            payload,
            facts: Vec::new(),
            artifact_ref: None,
            views: Vec::new(),
            stats: self.numbers(raw, raw, Strategy::Passthrough),
        }
    }

    fn numbers(&self, raw: &str, shown: &str, strategy: Strategy) -> FirewallStats {
        let is_llm = strategy == Strategy::LlmSummary;
        let provider = self.options.summarizer.as_ref().map(|plugin| plugin.provider.clone());
        FirewallStats {
            strategy,
            original_chars: raw.chars().count() as u64,
            original_tokens: Estimator::V2.tokens(raw),
            summary_chars: shown.chars().count() as u64,
            summary_tokens: Estimator::V2.tokens(shown),
            summarized_by_llm: is_llm,
            llm_provider: provider.filter(|provider| is_llm && !provider.is_empty()),
            ..FirewallStats::noop()
        }
    }
}
