//! The firewall as the reference runs it: every result not yet processed is summarised, whatever its size.

use std::collections::{HashMap, HashSet};

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

/// Finds `key: value` lines, numbered and bulleted lines, in that order; exact duplicates once.
pub fn extract_facts(text: &str) -> Vec<String> {
    let mut pairs: Vec<(String, &str)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut numbered, mut bullets) = (Vec::new(), Vec::new());
    for line in text.split('\n') {
        if let Some((key, value)) = key_value(line) {
            if let Some(place) = places.get(&key) {
                pairs[*place].1 = value;
            } else {
                places.insert(key.clone(), pairs.len());
                pairs.push((key, value));
            }
        }
        numbered.extend(numbered_entry(line));
        bullets.extend(bullet_entry(line));
    }
    let mut facts: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let pairs = pairs.into_iter().map(|(key, value)| format!("{key}: {value}"));
    for fact in pairs.chain(numbered.into_iter().map(str::to_owned)).chain(bullets.into_iter().map(str::to_owned)) {
        if seen.insert(fact.clone()) {
            facts.push(fact);
        }
    }
    facts
}

/// Reads `key: value` or `key = value`: a key of ASCII letters, digits, `_` and spaces that starts with no digit.
fn key_value(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start_matches(unicode::is_space);
    let end = line.find([':', '='])?;
    let key = line[..end].trim_end_matches(unicode::is_space);
    let starts = key.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_');
    let plain = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || unicode::is_space(ch);
    if !starts || !key.chars().all(plain) {
        return None;
    }
    let key = key.to_lowercase().replace(' ', "_");
    Some((key, unicode::trim(&line[end + 1..])))
}

fn numbered_entry(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(unicode::is_space);
    let rest = line.trim_start_matches(char::is_numeric);
    let rest = (rest.len() < line.len()).then_some(rest)?.strip_prefix(['.', ')'])?;
    rest.starts_with(unicode::is_space).then(|| unicode::trim(rest))
}

fn bullet_entry(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(unicode::is_space).strip_prefix(['-', '*', '•'])?;
    rest.starts_with(unicode::is_space).then(|| unicode::trim(rest))
}

/// Replaces a result's text by a summary; secrets are masked after the cut.
pub fn compact(mut item: ContextItem, options: &ManagerOptions, answers: &Answers) -> Compaction {
    let raw = std::mem::take(&mut item.text);
    let summary = match &options.summarizer {
        Some(_) => answers.summary(&item, &raw).and_then(Result::ok).unwrap_or_default(),
        None => first_paragraph(&raw),
    };
    let summary = clean(&summary, options).into_owned();
    let facts = extract_facts(&raw).iter().map(|fact| clean(fact, options).into_owned()).collect();
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
