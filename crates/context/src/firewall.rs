//! Large results stay out of the log and the prompts, their bytes stay in the artifact store.

use std::borrow::Cow;

use crate::digest_note;
use crate::options::{ManagerOptions, Summarizer};
use crate::reduce::{ReducedText, Reduction};
use crate::store::{ArtifactStore, NewArtifact};
use contextweaver_base::Result;
use contextweaver_content::{digest, essence, views_sniffed};
use contextweaver_model::{
    ArtifactRef, ContextItem, FirewallStats, ItemKind, JsonMap, ResultEnvelope, Status, Strategy,
};
use contextweaver_text::lines::lines;
use contextweaver_text::tokens::Estimator;
use serde_json::Value;

/// Least characters of a line that a digest is searched for, and lines of a view that are looked at.
const COMPARED_CHARS: usize = 6;
const MAX_COMPARED: usize = 64;
/// Characters at the beginning of a page by which it is found in a digest.
const BEGIN_CHARS: usize = 40;

/// Returns the handle under which a result's bytes are kept.
pub fn handle_of(item_id: &str) -> String {
    format!("artifact:{item_id}")
}

/// Returns the handle under which the text of a result can be read; none for other items.
pub fn handle_of_item(item: &ContextItem) -> Option<String> {
    let artifact = item.artifact_ref.as_ref().map(|artifact| artifact.handle.clone());
    (item.kind == ItemKind::ToolResult).then(|| artifact.unwrap_or_else(|| handle_of(&item.id)))
}

/// Returns the label of a kept result.
pub fn label_of(item_id: &str) -> String {
    format!("raw tool result for {item_id}")
}

/// Makes the record of a text that is not stored yet, or not stored apart from the log.
pub fn artifact_ref_of(handle: &str, media_type: &str, size: usize) -> ArtifactRef {
    ArtifactRef {
        handle: handle.to_owned(),
        media_type: media_type.to_owned(),
        size_bytes: size as u64,
        label: String::new(),
        content_hash: String::new(),
    }
}

/// Returns bytes as text: UTF-8 always, other bytes only where they are said to be text.
pub fn readable<'a>(bytes: &'a [u8], media_type: &str) -> Option<Cow<'a, str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) if essence(media_type).starts_with("text/") => Some(String::from_utf8_lossy(bytes)),
        Err(_) => None,
    }
}

/// A result about to enter the log: nothing is stored yet.
pub struct Compaction {
    /// The item with its new text.
    pub item: ContextItem,
    pub envelope: ResultEnvelope,
    /// Whether nothing in the raw text had to be masked.
    pub is_clean: bool,
}

/// Replaces the text of a large result. The artifact is attached by whoever stores the bytes.
pub fn compact(raw: &str, media_type: &str, reduction: &Reduction) -> Compaction {
    let Reduction { item, source, options, .. } = *reduction;
    let ReducedText { text, strategy, status, view, facts } = reduction.run();
    let by_caller = options.summarizer.as_ref().filter(|_| strategy == Strategy::LlmSummary);
    let mut done = compacted(item.clone(), raw, text, facts, by_caller);
    done.envelope.status = status;
    if let Some(stats) = &mut done.envelope.firewall_stats {
        stats.strategy = strategy;
    }
    let artifact_ref = artifact_ref_of(&handle_of(&item.id), media_type, raw.len());
    done.envelope.views = views_sniffed(&artifact_ref, source);
    let view = if strategy == Strategy::Structured {
        // A view may name keys that are not among those to keep.
        view
    } else {
        let views = done.envelope.views.iter().map(|view| view.selector.clone());
        view.into_iter().chain(views).find(|view| is_news(view, source.text, &done.item.text))
    };
    digest_note::attach(&mut done.item, strategy, options.estimator.tokens(source.text), view);
    done
}

/// Tells whether a selector leads to what a digest does not say: to lines of which it has less than half, or to an outline.
/// Names and counts of columns a digest has already.
fn is_news(selector: &JsonMap, text: &str, digest: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let number = |key: &str| selector.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    match selector.get("type").and_then(Value::as_str) {
        Some("columns" | "stats") => false,
        Some("rows") if is_json => true,
        // Most records of a table are a line each.
        Some("lines" | "rows") => {
            let (start, end) = (number("start").unwrap_or(0), number("end").unwrap_or(usize::MAX));
            let asked = lines(text).skip(start).take(end.saturating_sub(start)).map(str::trim);
            let asked: Vec<&str> = asked.filter(|line| line.len() >= COMPARED_CHARS).take(MAX_COMPARED).collect();
            let said = asked.iter().filter(|line| digest.contains(**line)).count();
            2 * said <= asked.len()
        }
        Some("head") => {
            let begin: String = text.chars().skip(number("start").unwrap_or(0)).take(BEGIN_CHARS).collect();
            !digest.contains(begin.trim())
        }
        // A line or two consist of nothing that an outline would name; those of JSON do.
        Some("outline") => lines(text).nth(2).is_some() || is_json,
        _ => true,
    }
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
    Compaction { item, envelope, is_clean: false }
}

/// Sizes before and after; tokens are always counted with `heuristic/v2`, as in the records of 0.18.
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
        llm_provider: by_caller
            .map(|summarizer| summarizer.provider.clone())
            .filter(|provider| is_llm && !provider.is_empty()),
        ..FirewallStats::noop()
    }
}

/// Masks secrets of an item and cuts a large result that has not been processed, for texts outside a prompt.
pub fn shortened(mut item: ContextItem, options: &ManagerOptions) -> ContextItem {
    let clean = options.mask_secrets(&item.text);
    let is_large =
        item.kind == ItemKind::ToolResult && !options.estimator.fits(&clean, options.firewall.threshold_tokens);
    let media_type = item.metadata_str("media_type").unwrap_or("text/plain").to_owned();
    let budget = options.firewall.summary_tokens;
    item.text =
        if is_large { digest(&clean, &media_type, budget, &options.estimator).text } else { clean.into_owned() };
    item
}

/// Stores the raw bytes of a compaction under the handle of its item, and connects the two. `live` are evicted for it last,
/// `beside` must not be.
pub fn store(
    done: &mut Compaction,
    artifacts: &mut ArtifactStore,
    bytes: Cow<[u8]>,
    media_type: &str,
    (live, beside): (&[&str], &[&str]),
) -> Result<()> {
    let (handle, label) = (handle_of(&done.item.id), label_of(&done.item.id));
    let stored = artifacts.put_new(NewArtifact { handle: &handle, bytes, media_type, label: &label, live, beside })?;
    if let Some(stats) = &mut done.envelope.firewall_stats {
        stats.artifact_ref = Some(stored.handle.clone());
    }
    for view in &mut done.envelope.views {
        view.artifact_ref = Some(stored.clone());
    }
    done.envelope.artifacts.push(stored.clone());
    done.item.artifact_ref = Some(stored);
    Ok(())
}
