//! Stage 4: large results stay out of the prompt, their bytes stay in the artifact store.

use std::borrow::Cow;

use super::callbacks::Answers;
use super::options::{ManagerOptions, Summarizer};
use super::sensitivity::secret_rules;
use crate::content::reference::facts;
use crate::limits;
use crate::model::{ContextItem, FirewallStats, ItemKind, ResultEnvelope, Status, Strategy};
use crate::text::redact::{SECRET_MASK, redact_secrets};
use crate::text::tokens::Estimator;
use crate::text::unicode;

/// Returns the handle under which a result's bytes are kept.
pub fn handle_of(item_id: &str) -> String {
    format!("artifact:{item_id}")
}

/// Returns the label of a kept result.
pub fn label_of(item_id: &str) -> String {
    format!("raw tool result for {item_id}")
}

/// Tells whether a result was processed before: upstream, or here.
pub fn is_processed(item: &ContextItem) -> bool {
    item.metadata_str("ingest") == Some("envelope")
        || item.artifact_ref.as_ref().is_some_and(|artifact| !artifact.content_hash.is_empty())
}

/// The default summary: the first lines and the last, with what lies between them counted.
pub fn head_and_tail(text: &str) -> String {
    let total = text.chars().count();
    if total <= limits::SUMMARY_CHARS {
        return text.to_owned();
    }
    let (head_chars, tail_chars) = (limits::SUMMARY_CHARS * 7 / 10, limits::SUMMARY_CHARS * 3 / 10);
    let head = unicode::prefix(text, head_chars);
    let tail_start = text.char_indices().nth(total - tail_chars).map_or(text.len(), |(at, _)| at);
    format!("{head} … [{} of {total} characters omitted] … {}", total - head_chars - tail_chars, &text[tail_start..])
}

/// Masks secrets where the options ask for it.
pub fn clean<'a>(text: &'a str, options: &ManagerOptions) -> Cow<'a, str> {
    if options.redact_secrets {
        redact_secrets(text, secret_rules(options.compat), SECRET_MASK)
    } else {
        Cow::Borrowed(text)
    }
}

/// A result about to enter the log: nothing is stored yet.
pub struct Compaction {
    /// The item with its new text.
    pub item: ContextItem,
    /// What the caller gets.
    pub envelope: ResultEnvelope,
}

/// Replaces a result's text by a summary. The artifact reference is attached by whoever stores the bytes.
///
/// Secrets are masked before the cut, as a cut may leave half of one.
pub fn compact(mut item: ContextItem, options: &ManagerOptions, answers: &Answers) -> Compaction {
    let raw = std::mem::take(&mut item.text);
    let source = clean(&raw, options);
    let summary = match &options.summarizer {
        // A summary by the caller may quote what the source no longer holds.
        Some(_) => {
            clean(&answers.summary(&item, &source).and_then(Result::ok).unwrap_or_default(), options).into_owned()
        }
        None => clean(&head_and_tail(&source), options).into_owned(),
    };
    let facts = facts(&source).iter().map(|fact| clean(fact, options).into_owned()).collect();
    compacted(item, &raw, summary, facts, options.summarizer.as_ref())
}

/// Makes an item and its envelope from what a text was reduced to.
pub fn compacted(
    mut item: ContextItem,
    raw: &str,
    summary: String,
    facts: Vec<String>,
    by_caller: Option<&Summarizer>,
) -> Compaction {
    item.text.clone_from(&summary);
    item.token_estimate = Estimator::V2.tokens(&summary);
    let envelope = ResultEnvelope {
        status: Status::Ok,
        facts,
        artifacts: Vec::new(),
        views: Vec::new(),
        provenance: ResultEnvelope::provenance_of(&item.id),
        firewall_stats: Some(stats_of(raw, &summary, by_caller)),
        summary,
    };
    Compaction { item, envelope }
}

/// Sizes before and after; tokens are always counted with `heuristic/v2`, as the reference's records are.
fn stats_of(raw: &str, summary: &str, by_caller: Option<&Summarizer>) -> FirewallStats {
    let is_llm = by_caller.is_some_and(|summarizer| summarizer.is_llm);
    FirewallStats {
        triggered: true,
        strategy: if is_llm { Strategy::LlmSummary } else { Strategy::Summary },
        original_chars: raw.chars().count() as u64,
        original_tokens: Estimator::V2.tokens(raw),
        summary_chars: summary.chars().count() as u64,
        summary_tokens: Estimator::V2.tokens(summary),
        summarized_by_llm: is_llm,
        ..FirewallStats::noop()
    }
}

/// Masks secrets of an item and cuts a large result that has not been processed, for texts outside a prompt.
pub fn shortened(mut item: ContextItem, options: &ManagerOptions) -> ContextItem {
    let clean = clean(&item.text, options);
    let is_large =
        item.kind == ItemKind::ToolResult && options.estimator.tokens(&clean) > options.firewall.threshold_tokens;
    item.text = if is_large { head_and_tail(&clean) } else { clean.into_owned() };
    item
}

/// Connects a compaction with its stored bytes.
pub fn attach(done: &mut Compaction, stored: crate::model::ArtifactRef) {
    if let Some(stats) = &mut done.envelope.firewall_stats {
        stats.artifact_ref = Some(stored.handle.clone());
    }
    done.envelope.artifacts.push(stored.clone());
    done.item.artifact_ref = Some(stored);
}
