//! Adds tool results to the log: raw bytes, MCP results, and results among other items.

pub mod items;
pub(crate) mod mcp;
pub mod mcp_result;
mod parts;
pub mod tool_result;

use std::borrow::Cow;

use serde_json::Value;

use self::tool_result::{Ingested, ToolResult};
use crate::callbacks::{CallbackAnswers, Outcome};
use crate::firewall::{self, Compaction};
use crate::manager::ContextManager;
use crate::masking::{mask_artifact, mask_envelope};
use crate::options::{Classifier, ManagerOptions};
use crate::reduce::{self, Reduction};
use crate::store::EventLog;
use crate::{digest_note, sensitivity};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::SniffedText;
use contextweaver_content::extract::facts;
use contextweaver_model::{
    ArtifactRef, ContextItem, FirewallStats, ItemKind, ResultEnvelope, Sensitivity, Status, Strategy,
};
use contextweaver_text::data::has_data;
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;

/// The provenance keys whose values do not come from the tool's server. A withheld result keeps only these.
#[rustfmt::skip]
const OWN_PROVENANCE: [&str; 8] = [
    "source_item_id", "tool_name", "protocol", "truncated", "withheld_parts", "decode_error", "unknown_blocks", "warnings",
];

impl ContextManager {
    /// Ingests the raw result of a tool call: stores its bytes as an artifact and appends an item to the log. The item
    /// holds the text, or a digest if the text exceeds the firewall's threshold.
    ///
    /// Bytes that are not UTF-8 are decoded lossily for a `text/*` media type; otherwise the item only describes them.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/tool_call_id` when the call already has a result or an artifact; `QUOTA_EXCEEDED` at
    /// `/raw_output` when the store has no room for the bytes, or without a path when the log is full; `DETERMINISM`
    /// when the firewall must be deterministic, but the summarizer or the extractor is backed by a model.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions, ToolResult};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let log: String = (0..2000).map(|n| format!("12:00:00 INFO job {n} done\n")).collect();
    /// let raw = log + "12:00:01 ERROR job 2000 failed: disk full\n";
    /// let result = ToolResult::new("c1", "read_log");
    /// let ingested = manager.ingest_tool_result(&result, raw.as_bytes())?.done().unwrap();
    /// assert!(ingested.item.text.contains("disk full"), "the digest has what stands out");
    /// assert!(ingested.item.text.len() < raw.len() / 10);
    /// let handle = &ingested.envelope.artifacts[0].handle;
    /// assert_eq!(manager.artifacts().get(handle)?, raw.as_bytes());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn ingest_tool_result(&mut self, result: &ToolResult, raw: &[u8]) -> Result<Outcome<Ingested>> {
        self.answers.reset();
        reduce::check_deterministic(&self.options)?;
        let id = self.check_result(result, raw)?;
        let done = if let Some(text) = firewall::readable(raw, &result.media_type) {
            self.digest_text(result, &text)
        } else {
            let mut done = describe_bytes(result, raw.len());
            digest_note::attach(&mut done.item, Strategy::Summary, 0, None);
            done
        };
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let ingested = self.store_result(done, raw, &result.media_type, &[])?;
        self.keep_envelope(id, &ingested.envelope);
        Ok(Outcome::Done(self.outward(ingested)))
    }

    /// Returns a stored result as the caller may see it and pass it on to a model: credentials in the envelope are
    /// masked. At or above the sensitivity floor, the text and what the server said about it are removed, too.
    pub(super) fn outward(&self, mut ingested: Ingested) -> Ingested {
        let Ingested { item, envelope } = &mut ingested;
        let is_withheld = self.withhold(item);
        mask_envelope(envelope, &self.options);
        if let Some(artifact) = &mut item.artifact_ref {
            self.outward_artifact(artifact);
        }
        if !is_withheld {
            return ingested;
        }
        envelope.summary.clone_from(&item.text);
        envelope.facts.clear();
        // The selectors of views name keys and columns of the text.
        envelope.views.clear();
        envelope.provenance.retain(|key, _| OWN_PROVENANCE.contains(&key.as_str()));
        if let Some(Value::Array(warnings)) = envelope.provenance.get_mut("warnings") {
            // A path may contain names that the server chose.
            warnings.iter_mut().filter_map(Value::as_object_mut).for_each(|warning| drop(warning.shift_remove("path")));
        }
        let text = firewall::handle_of(&item.id);
        envelope.artifacts.iter_mut().filter(|part| part.handle != text).for_each(|part| part.label.clear());
        ingested
    }

    /// Replaces the text of an item at or above the sensitivity floor by a placeholder, and tells whether it did. The
    /// item must be a copy, because the log keeps the text.
    fn withhold(&self, item: &mut ContextItem) -> bool {
        let level = sensitivity::classified(item, &self.options, &CallbackAnswers::default());
        if level < self.options.policy.sensitivity_floor {
            return false;
        }
        item.sensitivity = level;
        let artifact_ref = item.artifact_ref.take();
        sensitivity::mask(item, |text| self.options.estimator.tokens(text));
        item.artifact_ref = artifact_ref;
        item.metadata.shift_remove(digest_note::FIELD);
        true
    }

    /// Keeps the envelope of a result, but not its views. They are computed again on demand, and would take more memory
    /// than the results.
    pub(super) fn keep_envelope(&mut self, id: String, envelope: &ResultEnvelope) {
        self.envelopes.insert(id, ResultEnvelope { views: Vec::new(), ..envelope.clone() });
    }

    /// Checks that a result is new and its bytes can be stored; returns the id of its item.
    pub(super) fn check_result(&self, result: &ToolResult, raw: &[u8]) -> Result<String> {
        let id = format!("result:{}", result.tool_call_id);
        let message = if self.events.position(&id).is_some() {
            format!("call {} has a result", quote(&result.tool_call_id))
        } else if self.artifacts.exists(&firewall::handle_of(&id)) {
            format!("an artifact {} exists", quote(&firewall::handle_of(&id)))
        } else {
            self.artifacts.check(&firewall::handle_of(&id), raw.len()).map_err(|error| error.at("/raw_output"))?;
            return Ok(id);
        };
        Err(Error::new(ErrorCode::DuplicateId, message).at("/tool_call_id"))
    }

    /// Stores the bytes of a checked result and appends its item. Artifacts named in `beside` are not evicted for it.
    pub(super) fn store_result(
        &mut self,
        mut done: Compaction,
        raw: &[u8],
        media_type: &str,
        beside: &[&str],
    ) -> Result<Ingested> {
        self.events.check(std::slice::from_ref(&done.item))?;
        let live = live_handles(&self.events);
        firewall::store(&mut done, &mut self.artifacts, raw.into(), media_type, (&live, beside))?;
        let ingested = self.append_result(done)?;
        self.answers.settle(self.events.len());
        self.observe(&ingested.events());
        Ok(ingested)
    }

    /// Appends the item of a result whose bytes are stored.
    pub(super) fn append_result(&mut self, done: Compaction) -> Result<Ingested> {
        self.append(vec![done.item.clone()], done.is_clean)?;
        Ok(Ingested { item: done.item, envelope: done.envelope })
    }

    pub(super) fn digest_text(&self, result: &ToolResult, text: &str) -> Compaction {
        self.digest_masked(result, text, &self.options.readable(text))
    }

    /// Makes the item and the envelope of a result. `clean` is its text as a model may read it: secrets are masked, and
    /// long runs of base64 are replaced by a name.
    pub(super) fn digest_masked(&self, result: &ToolResult, text: &str, clean: &str) -> Compaction {
        let mut item = result.item("");
        self.label_by_whole_text(&mut item, clean);
        if !has_data(text) && self.options.estimator.fits(clean, self.options.firewall.threshold_tokens) {
            text.clone_into(&mut item.text);
            return pass_through(item, result, &self.options);
        }
        let reduction = Reduction {
            item: &item,
            source: &SniffedText::new(&result.media_type, clean),
            keep: &result.keep,
            options: &self.options,
            answers: &self.answers,
        };
        let is_clean = clean == text;
        Compaction { is_clean, ..firewall::compact(text, &result.media_type, &reduction) }
    }

    /// Raises the sensitivity of a result if its whole text calls for it. Sensitive text that the digest leaves out
    /// could still reach a prompt in an excerpt.
    fn label_by_whole_text(&self, item: &mut ContextItem, text: &str) {
        if self.options.classifier == Classifier::None {
            return;
        }
        let whole = ContextItem { text: text.to_owned(), ..item.clone() };
        let level = sensitivity::classified(&whole, &self.options, &self.answers);
        if level > item.sensitivity {
            item.sensitivity = level;
            let by = sensitivity::classifier_name(&self.options.classifier);
            item.metadata.insert("sensitivity_raised_by".into(), by.into());
        }
    }

    /// Ingests a digest made elsewhere: appends an item with its summary and a reference to its first artifact.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/tool_call_id` when the call has a result; `QUOTA_EXCEEDED` when the log is full.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ResultEnvelope, Sensitivity};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let envelope = ResultEnvelope::from_value(json!({ "status": "ok", "summary": "3 rows, 1 error" }), "")?;
    /// let item = manager.ingest_envelope("c1", "query", envelope, Sensitivity::Public)?.done().unwrap();
    /// assert_eq!((item.id.as_str(), item.text.as_str()), ("result:c1", "3 rows, 1 error"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn ingest_envelope(
        &mut self,
        tool_call_id: &str,
        tool_name: &str,
        envelope: ResultEnvelope,
        sensitivity: Sensitivity,
    ) -> Result<Outcome<ContextItem>> {
        let mut item = envelope_item(tool_call_id, tool_name, &envelope, sensitivity);
        if let Some(stats) = envelope.firewall_stats.as_ref().filter(|stats| stats.triggered) {
            let view = envelope.views.first().map(|view| view.selector.clone());
            digest_note::attach(&mut item, stats.strategy, stats.original_tokens, view);
        }
        self.append(vec![item.clone()], false).map_err(|error| match error.code() {
            ErrorCode::DuplicateId => error.at("/tool_call_id"),
            _ => error,
        })?;
        self.envelopes.insert(item.id.clone(), envelope);
        self.outward_item(&mut item);
        Ok(Outcome::Done(item))
    }

    /// Turns a copy of a stored item into what the caller may see: credentials are masked, and the text is removed if
    /// the item is at or above the sensitivity floor.
    #[doc(hidden)]
    pub fn outward_item(&self, item: &mut ContextItem) {
        let is_withheld = self.withhold(item);
        if let Cow::Owned(text) = self.options.mask_secrets(&item.text) {
            item.text = text;
        }
        match &mut item.artifact_ref {
            Some(artifact) if is_withheld => artifact.label.clear(),
            Some(artifact) => self.outward_artifact(artifact),
            None => {}
        }
    }

    /// Masks credentials in the label and the media type of an artifact.
    #[doc(hidden)]
    pub fn outward_artifact(&self, artifact: &mut ArtifactRef) {
        mask_artifact(artifact, |text| self.options.mask_secrets(text));
    }
}

/// Makes the item for a digest that was made elsewhere.
pub fn envelope_item(
    tool_call_id: &str,
    tool_name: &str,
    envelope: &ResultEnvelope,
    sensitivity: Sensitivity,
) -> ContextItem {
    let mut item = ContextItem::new(format!("result:{tool_call_id}"), ItemKind::ToolResult, envelope.summary.clone());
    item.parent_id = Some(tool_call_id.to_owned());
    item.sensitivity = sensitivity;
    item.metadata.insert("tool_name".into(), tool_name.into());
    item.metadata.insert("ingest".into(), "envelope".into());
    item.artifact_ref = envelope.artifacts.first().cloned();
    item.token_estimate = Estimator::V2.tokens(&item.text);
    item
}

/// Makes the item and the envelope of a text that is short enough to stay. Secrets are masked; nothing else changes.
pub fn pass_through(mut item: ContextItem, result: &ToolResult, options: &ManagerOptions) -> Compaction {
    let original = item.text.clone();
    item.text = options.mask_secrets(&original).into_owned();
    // Facts come from the masked text: masking would not recognise half a credential in a fact.
    let facts = facts(&item.text);
    item.token_estimate = Estimator::V2.tokens(&item.text);
    let mut provenance = ResultEnvelope::provenance_of(&item.id);
    provenance.insert("tool_name".into(), result.tool_name.clone().into());
    let sizes = |text: &str| (text.chars().count() as u64, Estimator::V2.tokens(text));
    let ((original_chars, original_tokens), (summary_chars, summary_tokens)) = (sizes(&original), sizes(&item.text));
    let stats = FirewallStats {
        strategy: Strategy::Passthrough,
        original_chars,
        original_tokens,
        summary_chars,
        summary_tokens,
        ..FirewallStats::noop()
    };
    let envelope = ResultEnvelope {
        status: Status::Ok,
        summary: item.text.clone(),
        facts,
        artifacts: Vec::new(),
        views: Vec::new(),
        provenance,
        firewall_stats: Some(stats),
    };
    Compaction { item, envelope, is_clean: false }
}

/// Makes the item and the envelope of bytes that are not text. They give the media type and the size.
pub fn describe_bytes(result: &ToolResult, size: usize) -> Compaction {
    let text = format!("(binary, {}, {size} bytes)", crate::labels::flatten(&result.media_type));
    let mut item = result.item(&text);
    item.token_estimate = Estimator::V2.tokens(&text);
    let envelope = ResultEnvelope {
        status: Status::Ok,
        summary: text,
        facts: Vec::new(),
        artifacts: Vec::new(),
        views: Vec::new(),
        provenance: ResultEnvelope::provenance_of(&item.id),
        firewall_stats: None,
    };
    Compaction { item, envelope, is_clean: false }
}

/// Returns the artifact handles of the newest items since the last user turn, newest first, at most
/// [`limits::LIVE_HANDLES`]. The model is working on these, so an evicting store gives them up last.
pub(super) fn live_handles(events: &EventLog) -> Vec<&str> {
    let turn = events.items().iter().rev().take_while(|item| item.kind != ItemKind::UserTurn);
    let handles = turn.filter_map(|item| item.artifact_ref.as_ref()).map(|artifact| artifact.handle.as_str());
    handles.take(limits::LIVE_HANDLES).collect()
}
