//! The firewall as 0.18 runs it: every result not yet processed is reduced, whatever its size.

use serde_json::Value;

use super::SECRETS;
use super::content::{StructuredFirewall, extractor, summarizer, views};
use crate::callbacks::CallbackAnswers;
use crate::firewall::{handle_of, label_of};
use crate::options::{ManagerOptions, Plugin};
use crate::store::{ArtifactStore, content_hash};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::extract::facts;
use contextweaver_model::json::{number_text, parse, to_sorted_ascii};
use contextweaver_model::{
    ArtifactRef, ContextItem, FirewallStats, ItemKind, ResultEnvelope, Sensitivity, Status, Strategy,
};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_secrets};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode;

/// Stands for the summary of a function that failed.
const NO_SUMMARY: &str = "(summary unavailable)";

/// How results are reduced.
#[derive(Debug, Clone, Copy)]
pub struct FirewallRules<'a> {
    /// Who summarises; without one the summary is the first paragraph.
    pub summarizer: Option<&'a Plugin>,
    /// Who finds facts; without one they are lines of certain forms.
    pub extractor: Option<&'a Plugin>,
    /// Whether functions backed by a model are refused.
    pub deterministic: bool,
    /// Paths of what stays of JSON; without any there is a summary instead.
    pub keep: &'a [String],
    /// The caller's gate in characters, for the record.
    pub threshold_chars: u64,
    /// Whether secrets are masked.
    pub redact_secrets: bool,
}

/// What stands for a result.
#[derive(Debug, Clone)]
pub(super) struct ResultSummary {
    /// Its new text.
    pub summary: String,
    /// Facts found in it.
    pub facts: Vec<String>,
    /// How well that went.
    pub status: Status,
}

impl<'a> FirewallRules<'a> {
    /// Returns the rules of a manager.
    pub fn of(options: &'a ManagerOptions) -> Self {
        Self {
            summarizer: options.summarizer.as_ref(),
            extractor: options.extractor.as_ref(),
            deterministic: options.firewall.deterministic,
            keep: &[],
            threshold_chars: 0,
            redact_secrets: options.redact_secrets,
        }
    }

    /// Masks secrets where the rules ask for it.
    fn clean(&self, text: String) -> String {
        if self.redact_secrets { redact_secrets(&text, SECRETS, SECRET_MASK).into_owned() } else { text }
    }

    /// Refuses a plugin that a model backs where only deterministic ones may run.
    fn permit(&self, plugin: Option<&Plugin>) -> Result<()> {
        let Some(plugin) = plugin.filter(|plugin| plugin.is_llm && self.deterministic) else { return Ok(()) };
        let message = format!("{} is backed by a model, and only deterministic work may be done", quote(&plugin.name));
        Err(Error::new(ErrorCode::Determinism, message))
    }

    /// Returns the facts of a text. A function that fails finds none.
    pub(super) fn facts(
        &self,
        item: &ContextItem,
        text: &str,
        answers: &CallbackAnswers,
    ) -> Result<(Vec<String>, Status)> {
        self.permit(self.extractor)?;
        let found = match self.extractor {
            None => Ok(facts(text)),
            Some(plugin) if plugin.built_in => extractor(limits::SUMMARY_CHARS).extract(text),
            // Without an answer yet, what comes of this is thrown away.
            Some(_) => answers.facts(item, text).unwrap_or_else(|| Ok(Vec::new())),
        };
        Ok(found.map_or((Vec::new(), Status::Partial), |found| (found, Status::Ok)))
    }

    fn summarise(&self, item: &ContextItem, text: &str, answers: &CallbackAnswers) -> Result<ResultSummary> {
        self.permit(self.summarizer)?;
        self.permit(self.extractor)?;
        let written = match self.summarizer {
            None => Ok(first_paragraph(text)),
            Some(plugin) if plugin.built_in => Ok(summarizer(limits::SUMMARY_CHARS).summarize(text)),
            Some(_) => answers.summary(item, text).unwrap_or_else(|| Ok(String::new())),
        };
        let (facts, status) = self.facts(item, text, answers)?;
        Ok(match written {
            Ok(summary) => ResultSummary { summary, facts, status },
            Err(_) => ResultSummary { summary: NO_SUMMARY.to_owned(), facts, status: Status::Error },
        })
    }

    /// Keeps what the paths name. Text that is no JSON and paths that are none give nothing.
    fn project(&self, text: &str) -> Option<(Value, Vec<String>)> {
        StructuredFirewall::new(self.keep, limits::SUMMARY_CHARS).ok()?.compact(&parse(text).ok()?).ok()
    }
}

/// The summary of 0.18: the first paragraph, at most 500 characters.
pub fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or("");
    unicode::truncate(unicode::trim(paragraph), limits::SUMMARY_CHARS)
}

/// Tells whether a text starts as a JSON object or list does.
pub fn looks_like_json(text: &str) -> bool {
    text.trim_start_matches(unicode::is_space).starts_with(['{', '['])
}

/// A result with its new text; its bytes are not stored yet.
#[derive(Debug, Clone)]
pub(super) struct CompatReduced {
    /// The item.
    pub item: ContextItem,
    /// What the caller gets.
    pub envelope: ResultEnvelope,
    /// What the keep paths left of it.
    pub projection: Option<Value>,
}

impl CompatReduced {
    /// Makes an item and its envelope of a digest.
    pub fn of(
        mut item: ContextItem,
        raw: &str,
        digest: ResultSummary,
        mut stats: FirewallStats,
        rules: &FirewallRules,
    ) -> Self {
        let summary = rules.clean(digest.summary);
        let sizes = |text: &str| (text.chars().count() as u64, Estimator::V2.tokens(text));
        stats.threshold_chars = rules.threshold_chars;
        (stats.original_chars, stats.original_tokens) = sizes(raw);
        (stats.summary_chars, stats.summary_tokens) = sizes(&summary);
        item.token_estimate = stats.summary_tokens;
        item.text.clone_from(&summary);
        let envelope = ResultEnvelope {
            status: digest.status,
            summary,
            facts: digest.facts.into_iter().map(|fact| rules.clean(fact)).collect(),
            artifacts: Vec::new(),
            views: Vec::new(),
            provenance: ResultEnvelope::provenance_of(&item.id),
            firewall_stats: Some(stats),
        };
        Self { item, envelope, projection: None }
    }

    /// Stores the bytes the item stands for, and says in the records where they are.
    pub fn store(mut self, raw: &[u8], media_type: &str, artifacts: &mut ArtifactStore) -> Result<Self> {
        let (handle, label) = (handle_of(&self.item.id), label_of(&self.item.id));
        // 0.18 overwrites, be it raw output by the placeholder that hides it. Here only its record is taken
        // over: what is stored stays.
        let stored = if artifacts.get(&handle).is_ok_and(|stored| stored != raw) {
            let (media_type, size_bytes) = (media_type.to_owned(), raw.len() as u64);
            ArtifactRef { handle, media_type, size_bytes, label, content_hash: content_hash(raw) }
        } else {
            artifacts.put(&handle, raw, media_type, &label)?
        };
        if let Some(stats) = &mut self.envelope.firewall_stats {
            stats.artifact_ref = Some(stored.handle.clone());
        }
        self.envelope.views = views(&stored, raw);
        self.envelope.artifacts.push(stored.clone());
        self.item.artifact_ref = Some(stored);
        Ok(self)
    }
}

/// Reduces a result to what its paths keep, or to a summary. Nothing is stored.
pub(super) fn reduce(
    item: ContextItem,
    raw: &str,
    rules: &FirewallRules,
    answers: &CallbackAnswers,
) -> Result<CompatReduced> {
    let mut stats = FirewallStats { triggered: true, strategy: Strategy::Summary, ..FirewallStats::noop() };
    if rules.keep.is_empty() || !looks_like_json(raw) {
        let digest = rules.summarise(&item, raw, answers)?;
        if let Some(plugin) = rules.summarizer.filter(|plugin| plugin.is_llm) {
            stats.strategy = Strategy::LlmSummary;
            stats.summarized_by_llm = true;
            stats.llm_provider = Some(plugin.provider.clone()).filter(|provider| !provider.is_empty());
        }
        return Ok(CompatReduced::of(item, raw, digest, stats, rules));
    }
    let Some((projection, facts)) = rules.project(raw) else {
        let digest = ResultSummary { summary: first_paragraph(raw), facts: Vec::new(), status: Status::Partial };
        return Ok(CompatReduced::of(item, raw, digest, stats, rules));
    };
    stats.strategy = Strategy::Structured;
    let digest = ResultSummary { summary: to_sorted_ascii(&projection, None), facts, status: Status::Ok };
    let reduced = CompatReduced::of(item, raw, digest, stats, rules);
    Ok(CompatReduced { projection: Some(projection), ..reduced })
}

/// Reduces one item if it is a result not yet processed, and stores its text. Others stay as they are.
///
/// # Errors
/// `DETERMINISM` when a function backed by a model would run although only deterministic ones may; `QUOTA_EXCEEDED` when
/// the store has no room.
pub fn apply(
    mut item: ContextItem,
    rules: &FirewallRules,
    answers: &CallbackAnswers,
    artifacts: &mut ArtifactStore,
) -> Result<(ContextItem, Option<ResultEnvelope>)> {
    if item.kind != ItemKind::ToolResult || is_processed(&item) {
        return Ok((item, None));
    }
    let raw = std::mem::take(&mut item.text);
    let media_type = media_type(&item);
    // 0.18 forgets the label here; a later stage has no use for it, explanations show it.
    item.sensitivity = Sensitivity::Public;
    let reduced = reduce(item, &raw, rules, answers)?.store(raw.as_bytes(), &media_type, artifacts)?;
    Ok((reduced.item, Some(reduced.envelope)))
}

/// Tells whether a result was processed before: upstream, or here.
fn is_processed(item: &ContextItem) -> bool {
    item.metadata_str("ingest") == Some("envelope")
        || item.artifact_ref.as_ref().is_some_and(|artifact| !artifact.content_hash.is_empty())
}

/// Returns the media type an item declares, which may be anything in 0.18.
fn media_type(item: &ContextItem) -> String {
    match item.metadata.get("media_type") {
        None => "text/plain".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => "None".to_owned(),
        Some(Value::Bool(flag)) => if *flag { "True" } else { "False" }.to_owned(),
        Some(Value::Number(number)) => number_text(number),
        Some(other) => to_sorted_ascii(other, None),
    }
}

/// Runs the stage over all items of a build. The store is a copy of which only new handles are taken over.
///
/// # Errors
/// Those of [`apply`].
pub fn compact_all(
    items: Vec<ContextItem>,
    rules: &FirewallRules,
    answers: &CallbackAnswers,
    artifacts: &mut ArtifactStore,
) -> Result<(Vec<ContextItem>, Vec<ResultEnvelope>)> {
    let mut envelopes = Vec::new();
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let (item, envelope) = apply(item, rules, answers, artifacts)?;
        out.push(item);
        envelopes.extend(envelope);
    }
    Ok((out, envelopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(keep: &[String]) -> FirewallRules<'_> {
        FirewallRules {
            summarizer: None,
            extractor: None,
            deterministic: true,
            keep,
            threshold_chars: 7,
            redact_secrets: true,
        }
    }

    #[test]
    fn a_model_is_refused_before_anything_is_stored() {
        let model = Plugin::from_value(serde_json::json!({ "custom": "m", "is_llm": true }), "", "").unwrap();
        let item = || ContextItem::new("r", ItemKind::ToolResult, "{\"a\": 1}");
        let (answers, mut artifacts) = (CallbackAnswers::default(), ArtifactStore::new());
        for (summarizer, extractor) in [(Some(&model), None), (None, Some(&model))] {
            let refusing = FirewallRules { summarizer, extractor, ..rules(&[]) };
            let error = apply(item(), &refusing, &answers, &mut artifacts).unwrap_err();
            assert_eq!(error.code().as_str(), "DETERMINISM");
            assert_eq!(artifacts.list().count(), 0);
            // A projection asks nobody.
            let keep = ["a".to_owned()];
            let projecting = FirewallRules { keep: &keep, ..refusing };
            let (done, _) = apply(item(), &projecting, &answers, &mut ArtifactStore::new()).unwrap();
            assert_eq!(done.text, "{\"a\": 1}");
        }
        assert!(!answers.is_waiting());
    }

    #[test]
    fn what_is_stored_under_a_handle_stays() {
        let (answers, mut artifacts) = (CallbackAnswers::default(), ArtifactStore::new());
        for text in ["raw output", "[REDACTED: confidential]"] {
            let item = ContextItem::new("r", ItemKind::ToolResult, text);
            let (item, envelope) = apply(item, &rules(&[]), &answers, &mut artifacts).unwrap();
            assert_eq!((item.text.as_str(), envelope.unwrap().artifacts[0].handle.as_str()), (text, "artifact:r"));
            assert_eq!(artifacts.get("artifact:r").unwrap(), b"raw output");
        }
    }

    #[test]
    fn questions_are_asked_and_may_fail() {
        let plugin = Plugin::from_value(serde_json::json!({ "custom": "f" }), "", "").unwrap();
        let asking = FirewallRules { summarizer: Some(&plugin), extractor: Some(&plugin), ..rules(&[]) };
        let cases = [
            (
                ["S password=hunter22".into(), serde_json::json!(["f token: hunter2222"])],
                Status::Ok,
                "S password=[REDACTED-SECRET]",
            ),
            (["S".into(), serde_json::json!({ "failed": "why" })], Status::Partial, "S"),
            ([serde_json::json!({ "failed": "why" }), serde_json::json!([])], Status::Error, NO_SUMMARY),
        ];
        for (given, status, summary) in cases {
            let mut answers = CallbackAnswers::default();
            let item = ContextItem::new("r", ItemKind::ToolResult, "");
            reduce(item.clone(), "raw", &asking, &answers).unwrap();
            assert_eq!(answers.take_needs().len(), 2);
            answers.supply(given.to_vec()).unwrap();
            let done = reduce(item, "raw", &asking, &answers).unwrap();
            assert!(!answers.is_waiting());
            assert_eq!((done.envelope.status, done.item.text.as_str()), (status, summary));
        }
    }
}
