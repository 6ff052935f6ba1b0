//! The firewall as the reference runs it: every result not yet processed is summarised, whatever its size.

use crate::content::reference::facts;
use crate::context::callbacks::Answers;
use crate::context::firewall::{Compaction, attach, clean, compacted, handle_of, is_processed, label_of};
use crate::context::options::ManagerOptions;
use crate::error::Result;
use crate::limits;
use crate::model::{ContextItem, ItemKind, ResultEnvelope, Sensitivity};
use crate::store::ArtifactStore;
use crate::text::unicode;

/// The reference's summary: the first paragraph, at most 500 characters.
pub fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or("");
    unicode::truncate(unicode::trim(paragraph), limits::SUMMARY_CHARS)
}

/// Replaces a result's text by a summary; secrets are masked after the cut.
pub fn compact(mut item: ContextItem, options: &ManagerOptions, answers: &Answers) -> Compaction {
    let raw = std::mem::take(&mut item.text);
    let summary = match &options.summarizer {
        Some(_) => answers.summary(&item, &raw).and_then(Result::ok).unwrap_or_default(),
        None => first_paragraph(&raw),
    };
    let summary = clean(&summary, options).into_owned();
    let facts = facts(&raw).iter().map(|fact| clean(fact, options).into_owned()).collect();
    compacted(item, &raw, summary, facts, options.summarizer.as_ref())
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
        done.item.sensitivity = Sensitivity::Public;
        let stored = artifacts.put(&handle_of(&done.item.id), raw.as_bytes(), &media_type, &label_of(&done.item.id))?;
        attach(&mut done, stored);
        out.push(done.item);
        envelopes.push(done.envelope);
    }
    Ok((out, envelopes))
}
