//! Summaries that take their time: which results want one, and a summary for one of them.

use serde::Serialize;

use crate::callbacks::Outcome;
use crate::firewall::readable;
use crate::ingest::tool_result::Ingested;
use crate::manager::ContextManager;
use crate::options::provider;
use crate::reduce::within;
use crate::{digest_note, sensitivity};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::keep_media;
use contextweaver_model::json::{JsonMap, Record};
use contextweaver_model::{ContextItem, ItemKind, Status, Strategy};
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;

/// A result whose digest a better summary may replace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SummaryRequest {
    /// Id of the item in the log.
    pub item_id: String,
    /// The tool that returned it.
    pub tool_name: String,
    /// MIME type of the text.
    pub media_type: String,
    /// The whole text, secrets masked.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// Tokens up to which a summary stays uncut.
    pub max_tokens: u64,
}

/// A summary and where it comes from.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root)]
pub struct SuppliedSummary {
    /// Id of the item in the log.
    pub item_id: String,
    /// What stands in place of the digest; cut when it is above the gate of the firewall.
    pub summary: String,
    /// Facts, where the summarizer found some.
    pub facts: Option<Vec<String>>,
    /// Whether a model wrote it.
    #[record(default = true)]
    pub is_llm: bool,
    /// What the model says of itself.
    #[record(name = "provider_metadata", with = provider)]
    pub provider: JsonMap,
}

impl ContextManager {
    /// Returns the results that stand in the log as digests of our own, oldest first, at most `limit` of them: all but
    /// those at or above the sensitivity floor, whose text is for nobody's model.
    ///
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions, SuppliedSummary, ToolResult};
    /// use contextweaver_model::JsonMap;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let raw = "The meeting went on about many things. ".repeat(1000);
    /// manager.ingest_tool_result(&ToolResult::new("c1", "transcript"), raw.as_bytes())?;
    /// let requests = manager.summary_requests(10).done().unwrap();
    /// assert_eq!(requests[0].text, raw);
    ///
    /// let supplied = SuppliedSummary {
    ///     item_id: requests[0].item_id.clone(),
    ///     summary: "Many things were discussed.".to_owned(),
    ///     facts: None,
    ///     is_llm: true,
    ///     provider: JsonMap::new(),
    /// };
    /// assert_eq!(manager.supply_summary(supplied)?.item.text, "Many things were discussed.");
    /// assert!(manager.summary_requests(10).done().unwrap().is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn summary_requests(&mut self, limit: usize) -> Outcome<Vec<SummaryRequest>> {
        self.answers.reset();
        let wants = |item: &&ContextItem| {
            let stats = self.envelopes.get(&item.id).and_then(|envelope| envelope.firewall_stats.as_ref());
            let digested = stats.is_some_and(|stats| stats.triggered && stats.strategy == Strategy::Summary);
            digested && item.kind == ItemKind::ToolResult && {
                sensitivity::classified(item, &self.options, &self.answers) < self.options.policy.sensitivity_floor
            }
        };
        let wanted: Vec<&ContextItem> = self.events.items().iter().filter(wants).take(limit).collect();
        if self.answers.is_waiting() {
            return Outcome::Need(self.answers.take_needs());
        }
        let requests = wanted.into_iter().filter_map(|item| self.summary_request(item)).collect();
        self.answers.settle(self.events.len());
        Outcome::Done(requests)
    }

    fn summary_request(&self, item: &ContextItem) -> Option<SummaryRequest> {
        let bytes = self.artifacts.peek(&item.artifact_ref.as_ref()?.handle)?;
        let media_type = item.metadata_str("media_type").unwrap_or("text/plain");
        let raw = readable(bytes, media_type)?;
        let text = self.options.readable(&raw).into_owned();
        Some(SummaryRequest {
            item_id: item.id.clone(),
            tool_name: self.options.mask_secrets(item.metadata_str("tool_name").unwrap_or("")).into_owned(),
            media_type: media_type.to_owned(),
            tokens: self.options.estimator.tokens(&text),
            max_tokens: self.options.firewall.threshold_tokens,
            text,
        })
    }

    /// Puts a summary in place of a digest, see [`ContextManager::summary_requests`]. It is refused when it saves nothing,
    /// cut above the gate, and its secrets are masked; the stored bytes stay as they are. Prompts built after that show it.
    ///
    /// # Errors
    /// `NOT_FOUND` at `/item_id` for an item that is no result with an envelope; `INVALID_INPUT` at `/item_id` for one that is
    /// shown as it is, at `/summary` for a summary that is empty or no shorter than the text; `TOO_LARGE` at `/facts`;
    /// `DETERMINISM` at `/summary` for a model's summary where the firewall is to be deterministic.
    pub fn supply_summary(&mut self, supplied: SuppliedSummary) -> Result<Ingested> {
        if self.options.firewall.deterministic && supplied.is_llm {
            return Err(Error::new(
                ErrorCode::Determinism,
                "a summary by a model, and the firewall is to be deterministic",
            )
            .at("/summary"));
        }
        if supplied.facts.as_ref().is_some_and(|facts| facts.len() > limits::MAX_FACTS) {
            let message = format!("more than {} facts", limits::MAX_FACTS);
            return Err(Error::new(ErrorCode::TooLarge, message).at("/facts"));
        }
        let at = self.events.position(&supplied.item_id).ok_or_else(|| unknown(&supplied.item_id))?;
        let Some(envelope) = self.envelopes.get(&supplied.item_id) else { return Err(unknown(&supplied.item_id)) };
        let mut envelope = envelope.clone();
        let Some(stats) = envelope.firewall_stats.as_mut().filter(|stats| stats.triggered) else {
            return Err(
                Error::new(ErrorCode::InvalidInput, "the item is shown as it is, it has no digest").at("/item_id")
            );
        };
        let mut item = self.events.items()[at].clone();
        let text = self.options.mask_secrets(&supplied.summary);
        let text = within(&text, self.options.firewall.threshold_tokens, &self.options.estimator);
        let total = digest_note::tokens(&item).unwrap_or(stats.original_tokens);
        if text.is_empty() || self.options.estimator.tokens(&text) >= total {
            return Err(
                Error::new(ErrorCode::InvalidInput, "the summary is empty or no shorter than the text").at("/summary")
            );
        }
        stats.strategy = if supplied.is_llm { Strategy::LlmSummary } else { Strategy::Summary };
        stats.summarized_by_llm = supplied.is_llm;
        stats.llm_provider = (supplied.is_llm && !supplied.provider.is_empty()).then_some(supplied.provider);
        (stats.summary_chars, stats.summary_tokens) = (text.chars().count() as u64, Estimator::V2.tokens(&text));
        let strategy = stats.strategy;
        if let Some(facts) = supplied.facts {
            envelope.facts = facts.iter().map(|fact| self.options.mask_secrets(fact).into_owned()).collect();
        }
        envelope.status = Status::Ok;
        envelope.summary.clone_from(&text);
        item.token_estimate = Estimator::V2.tokens(&text);
        let before = std::mem::replace(&mut item.text, text);
        keep_media(&mut item, &before);
        let view = digest_note::view(&item);
        digest_note::attach(&mut item, strategy, total, view);
        self.events.replace(at, item.clone());
        self.index.show(at, &item, &self.options);
        self.envelopes.insert(item.id.clone(), envelope.clone());
        Ok(self.outward(Ingested { item, envelope }))
    }
}

fn unknown(id: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no summarised result with id {}", quote(id))).at("/item_id")
}
