//! Stage 4: large results stay out of the prompt, their bytes stay in the artifact store.

use std::borrow::Cow;

use super::callbacks::Answers;
use super::options::{ManagerOptions, Summarizer};
use super::sensitivity::secret_rules;
use crate::content::reference::facts;
use crate::error::Result;
use crate::limits;
use crate::model::{ContextItem, FirewallStats, ItemKind, ResultEnvelope, Status, Strategy};
use crate::store::ArtifactStore;
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

/// The reference's summary: the first paragraph, at most 500 characters.
pub fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or("");
    unicode::truncate(unicode::trim(paragraph), limits::SUMMARY_CHARS)
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
/// Secrets are masked before the cut in the default mode, after it in compat mode.
pub fn compact(mut item: ContextItem, options: &ManagerOptions, answers: &Answers) -> Compaction {
    let raw = std::mem::take(&mut item.text);
    let source = if options.compat { Cow::Borrowed(raw.as_str()) } else { clean(&raw, options) };
    let by_caller = options.summarizer.as_ref();
    let mut summary = match by_caller {
        Some(_) => answers.summary(&item, &source).unwrap_or_default(),
        None if options.compat => first_paragraph(&source),
        None => head_and_tail(&source),
    };
    // A summary by the caller may quote what the source no longer holds, so it is cleaned in either mode.
    summary = clean(&summary, options).into_owned();
    let facts = facts(&source).iter().map(|fact| clean(fact, options).into_owned()).collect();
    let stats = stats_of(&raw, &summary, by_caller);
    item.text.clone_from(&summary);
    item.token_estimate = Estimator::V2.tokens(&summary);
    let envelope = ResultEnvelope {
        status: Status::Ok,
        summary,
        facts,
        artifacts: Vec::new(),
        views: Vec::new(),
        provenance: ResultEnvelope::provenance_of(&item.id),
        firewall_stats: Some(stats),
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
    let is_large = item.kind == ItemKind::ToolResult && options.estimator.tokens(&clean) > options.threshold_tokens;
    item.text = if is_large { head_and_tail(&clean) } else { clean.into_owned() };
    item
}

/// Runs the stage as the reference does: every result not yet processed is summarised whatever its size, and its text
/// is stored.
pub fn compact_all(
    items: Vec<ContextItem>,
    options: &ManagerOptions,
    answers: &Answers,
    artifacts: &mut ArtifactStore,
) -> Result<(Vec<ContextItem>, Vec<ResultEnvelope>)> {
    let mut envelopes = Vec::new();
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        if item.kind != ItemKind::ToolResult || is_processed(&item) {
            out.push(item);
            continue;
        }
        let media_type = item.metadata_str("media_type").unwrap_or("text/plain").to_owned();
        let raw = item.text.clone();
        let mut done = compact(item, options, answers);
        // The reference forgets the label here; a later stage has no use for it, explanations show it.
        done.item.sensitivity = crate::model::Sensitivity::Public;
        let stored = artifacts.put(&handle_of(&done.item.id), raw.as_bytes(), &media_type, &label_of(&done.item.id))?;
        attach(&mut done, stored);
        out.push(done.item);
        envelopes.push(done.envelope);
    }
    Ok((out, envelopes))
}

/// Connects a compaction with its stored bytes.
pub fn attach(done: &mut Compaction, stored: crate::model::ArtifactRef) {
    if let Some(stats) = &mut done.envelope.firewall_stats {
        stats.artifact_ref = Some(stored.handle.clone());
    }
    done.envelope.artifacts.push(stored.clone());
    done.item.artifact_ref = Some(stored);
}
