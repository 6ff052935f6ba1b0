//! Items that are about to be written: which results answer which calls.

use super::Format;
use super::names::{answered_id, call_id};
use super::server_tools::is_provider_run;
use super::stored::{StoredMessage, StoredPartKind};
use contextweaver_base::order::SortedMap;
use contextweaver_model::{ContextItem, ItemKind};

/// An item with its stored message, its call and its results.
pub struct SourceItem<'a> {
    pub item: &'a ContextItem,
    pub stored: Option<StoredMessage>,
    /// Whether it was read from the format that is written.
    pub is_same_format: bool,
    /// Of a result its call.
    pub call: Option<usize>,
    /// Of a call its results, in order.
    pub results: Vec<usize>,
    /// Whether it stands before these already, and is not written again.
    pub is_repeated: bool,
}

impl SourceItem<'_> {
    /// Tells whether the caller runs the tool of this call.
    pub fn is_own_call(&self) -> bool {
        self.item.kind == ItemKind::ToolCall && !is_provider_run(self.item)
    }

    /// Tells whether reasoning may have led to it that stands in another response.
    pub fn is_torn(&self) -> bool {
        self.is_same_format && self.stored.as_ref().is_some_and(|stored| stored.is_torn)
    }

    /// Returns how many parts of reasoning the calls of its response need.
    pub fn wanted_reasoning(&self) -> usize {
        let is_needed = |stored: &&StoredMessage| stored.format.provider().rules.calls_need_reasoning;
        let stored = self.stored.as_ref().filter(|_| self.is_same_format).filter(is_needed);
        stored.map_or(0, |stored| stored.reasoning)
    }

    /// Tells whether its provider knows it by an id that it may be without.
    pub fn is_known_by_id(&self) -> bool {
        let stored = self.stored.as_ref().filter(|_| self.is_same_format);
        stored.is_some_and(|stored| (stored.format.provider().rules.is_known_by_id)(stored))
    }

    /// Tells whether this is a call that the caller has given no result of.
    pub fn waits(&self) -> bool {
        self.is_own_call() && self.results.is_empty()
    }
}

/// Finds the calls of results.
pub fn sources(items: &[ContextItem], format: Format) -> Vec<SourceItem<'_>> {
    let mut sources: Vec<SourceItem> = items
        .iter()
        .map(|item| {
            let stored = StoredMessage::of(item);
            let is_same_format = stored.as_ref().is_some_and(|stored| stored.format == format);
            SourceItem { item, stored, is_same_format, call: None, results: Vec::new(), is_repeated: false }
        })
        .collect();
    let mut by_item: SortedMap<&str, usize> = SortedMap::new();
    let mut by_call: SortedMap<&str, Vec<usize>> = SortedMap::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.kind == ItemKind::ToolCall) {
        by_item.insert(&item.id, index);
        let id = call_id(item);
        match by_call.get_mut(id) {
            Some(list) => list.push(index),
            None => {
                by_call.insert(id, vec![index]);
            }
        }
    }
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.kind == ItemKind::ToolResult) {
        let parent = item.parent_id.as_deref();
        let call = parent.and_then(|id| by_item.get(id)).copied().or_else(|| {
            if is_provider_run(item) {
                return None;
            }
            let calls = parent.and_then(|id| by_call.get(id)).or_else(|| by_call.get(answered_id(item)))?;
            // The latest before the result.
            let after = calls.partition_point(|call| *call < index);
            calls.get(after.saturating_sub(1)).copied()
        });
        if let Some(call) = call {
            sources[index].call = Some(call);
            sources[call].results.push(index);
        }
    }
    sources
}

/// Tells whether the calls of a message are left out, as they are refused without the reasoning that led to them: those of `OpenAI`
/// are taken where they have no ids.
pub fn leaves_out_calls(sources: &[SourceItem], items: &[usize]) -> bool {
    let mut calls = items.iter().map(|index| &sources[*index]).filter(|source| source.is_own_call());
    lost_reasoning(sources, items) && !calls.all(SourceItem::is_known_by_id)
}

/// Tells whether reasoning that led to the calls of a message is missing.
pub fn lost_reasoning(sources: &[SourceItem], items: &[usize]) -> bool {
    let (mut wanted, mut there) = (0, 0);
    for source in items.iter().map(|index| &sources[*index]) {
        let Some(stored) = source.stored.as_ref().filter(|_| source.is_same_format) else { continue };
        wanted = wanted.max(source.wanted_reasoning());
        if source.item.kind == ItemKind::ToolCall && stored.is_usable(source.item) {
            there += stored.parts.iter().filter(|part| part.kind == StoredPartKind::Reasoning).count();
        }
    }
    there < wanted
}

/// Tells whether reasoning that led to the calls of a message is missing as a secret was taken out of it, and nothing else is.
pub fn has_masked_reasoning(sources: &[SourceItem], items: &[usize]) -> bool {
    let own = items.iter().map(|index| &sources[*index]).filter(|source| source.is_same_format);
    own.filter_map(|source| Some((source.item, source.stored.as_ref()?))).any(|(item, stored)| stored.is_masked(item))
}
