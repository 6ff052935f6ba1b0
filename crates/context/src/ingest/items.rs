//! Items on their way into the log, given as such or read from messages of a provider: the result of a tool among them is
//! the result of a tool, and meets the same firewall.

use super::live_handles;
use super::tool_result::ToolResult;
use crate::callbacks::Outcome;
use crate::digest_note;
use crate::event::Event;
use crate::firewall::{self, Compaction};
use crate::manager::ContextManager;
use crate::reduce;
use crate::store::Eviction;
use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{keep_media, text_before_media, tool_name};
use contextweaver_model::{ContextItem, ItemKind, RESERVED_KEY, Status};
use contextweaver_text::data::has_data;
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;

/// What was appended.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestedItems {
    /// Ids of the items, in the order of the log.
    pub ids: Vec<String>,
    /// What the hooks should hear.
    pub events: Vec<Event>,
}

/// Metadata fields of items whose text was made of another one, or withheld.
const DIGESTED: [&str; 5] =
    [digest_note::FIELD, digest_note::HANDLE_FIELD, digest_note::RECALLED_FIELD, "ingest", "redacted"];

/// An item that goes into the log.
enum PreparedItem {
    /// As it was given.
    AsGiven(Box<ContextItem>),
    /// The result of a tool, with all of its text.
    Result { done: Box<Compaction>, raw: String },
}

impl ContextManager {
    /// Appends items, all or none. A result of a tool above the firewall's threshold is stored under a handle and stands in
    /// the log as a digest, as by [`ContextManager::ingest_tool_result`]; what is below it stays as it is. So does what was
    /// digested elsewhere: a result with an artifact, an envelope or a slice.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/<index>/id` when the log has an item with this id, or its artifact exists; `QUOTA_EXCEEDED` when
    /// the log or the store has no room; `DETERMINISM` as [`ContextManager::ingest_tool_result`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let log: String = (0..2000).map(|n| format!("INFO job {n} done\n")).collect();
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest_items(vec![ContextItem::new("r1", ItemKind::ToolResult, log.clone())])?;
    /// assert!(manager.events().get("r1")?.text.len() < log.len() / 10);
    /// assert_eq!(manager.artifacts().get("artifact:r1")?, log.as_bytes());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn ingest_items(&mut self, items: Vec<ContextItem>) -> Result<Outcome<IngestedItems>> {
        let is_result: Vec<bool> = items.iter().map(|item| self.is_large(item)).collect();
        self.ingest_with_results(items, &is_result)
    }

    /// Appends items that were read from messages of a provider, all or none, as [`ContextManager::ingest_items`] does; the
    /// text of every result is stored, small ones too. What is below the threshold is written as the message that it was. So
    /// are the answers of `drilldown` and `recall` whatever their size: they are parts of what is stored, which a model asked
    /// for.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_items`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_convert::providers::{Format, ReadOptions, messages_to_items};
    /// use serde_json::json;
    ///
    /// let rows: Vec<_> = (0..400).map(|n| json!({ "order": n, "state": "paid" })).collect();
    /// let messages = json!([
    ///     { "role": "user", "content": "Which orders are paid?" },
    ///     { "role": "assistant", "tool_calls": [
    ///         { "id": "c1", "type": "function", "function": { "name": "list_orders", "arguments": "{}" } },
    ///     ] },
    ///     { "role": "tool", "tool_call_id": "c1", "content": json!(rows).to_string() },
    /// ]);
    /// let read = messages_to_items(messages, Format::parse("openai-chat")?, &ReadOptions::default())?;
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let ingested = manager.ingest_messages(read.items)?.done().unwrap();
    /// assert_eq!(ingested.ids, ["0", "c1", "result:c1"]);
    /// let item = manager.events().get("result:c1")?;
    /// assert!(item.text.len() < 4_000, "a digest, or the same in fewer tokens");
    /// assert_eq!(manager.artifacts().get("artifact:result:c1")?, json!(rows).to_string().as_bytes());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn ingest_messages(&mut self, mut items: Vec<ContextItem>) -> Result<Outcome<IngestedItems>> {
        items.iter().try_for_each(check_depth)?;
        self.mark_parts(&mut items);
        let is_text = |item: &ContextItem| is_raw(item) && !item.text.is_empty();
        let is_result: Vec<bool> = items.iter().map(is_text).collect();
        self.ingest_with_results(items, &is_result)
    }

    /// Appends items, of which some are results to be stored.
    fn ingest_with_results(&mut self, items: Vec<ContextItem>, is_result: &[bool]) -> Result<Outcome<IngestedItems>> {
        let ids = items.iter().map(|item| item.id.clone()).collect();
        if !is_result.contains(&true) {
            self.append(items, false)?;
            return Ok(Outcome::Done(IngestedItems { ids, events: Vec::new() }));
        }
        self.answers.reset();
        reduce::check_deterministic(&self.options)?;
        self.events.check(&items)?;
        self.check_results(&items, is_result)?;
        let names = self.names_of_calls(&items);
        let mut prepared = Vec::with_capacity(items.len());
        for (item, is_result) in items.into_iter().zip(is_result) {
            prepared.push(if *is_result {
                self.digest_item(item, &names)
            } else {
                PreparedItem::AsGiven(Box::new(item))
            });
        }
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        self.store_results(&mut prepared)?;
        let events = self.append_prepared(prepared)?;
        Ok(Outcome::Done(IngestedItems { ids, events }))
    }

    /// Tells whether an item is a result that is too large to stand in the log, by its text with secrets masked, as for every
    /// other way in, or one with data that nobody reads.
    fn is_large(&self, item: &ContextItem) -> bool {
        let threshold = self.options.firewall.threshold_tokens;
        // Masking, which is dear, never makes a text much longer.
        let may_be = || !self.options.estimator.fits(&item.text, threshold / 4);
        is_raw(item)
            && (has_data(&item.text)
                || may_be() && !self.options.estimator.fits(&self.options.mask_secrets(&item.text), threshold))
    }

    /// Checks that the texts of all results can be stored: beside each other, or one after the other where the store evicts.
    fn check_results(&self, items: &[ContextItem], is_result: &[bool]) -> Result<()> {
        let evicts = self.artifacts.options().eviction == Eviction::Lru;
        let mut before = (0, 0);
        for (index, item) in items.iter().enumerate().filter(|(index, _)| is_result[*index]) {
            let handle = firewall::handle_of(&item.id);
            if self.artifacts.exists(&handle) {
                let message = format!("an artifact {} exists", quote(&handle));
                return Err(Error::new(ErrorCode::DuplicateId, message).at(format!("/{index}/id")));
            }
            self.artifacts.check_beside(&handle, item.text.len(), before)?;
            if !evicts {
                before = (before.0 + 1, before.1 + item.text.len());
            }
        }
        Ok(())
    }

    /// Returns the names of the tools by the ids of the items of their calls, for the results among the items.
    fn names_of_calls(&self, items: &[ContextItem]) -> SortedMap<String, String> {
        let mut names = SortedMap::new();
        let name = |call: &ContextItem| tool_name(call).map(str::to_owned);
        for item in items {
            if item.kind == ItemKind::ToolCall
                && let Some(name) = name(item)
            {
                names.insert(item.id.clone(), name);
            }
        }
        let results = items.iter().filter(|item| item.kind == ItemKind::ToolResult);
        for parent in results.filter_map(|item| item.parent_id.as_ref()) {
            if names.get(parent.as_str()).is_none()
                && let Some(name) = self.events.find(parent).and_then(name)
            {
                names.insert(parent.clone(), name);
            }
        }
        names
    }

    fn digest_item(&self, mut item: ContextItem, names: &SortedMap<String, String>) -> PreparedItem {
        // What images and the like beside the text cost stays.
        let media = item.token_estimate.saturating_sub(Estimator::V3.tokens(&item.text));
        let words = text_before_media(&item).len();
        let call = call_of(&mut item, names);
        let ContextItem { id, mut text, parent_id, .. } = item;
        let (own, labels) = text.split_at(words);
        let mut done = self.digest_text(&call, own);
        let is_reduced = done.item.text != own;
        if !is_reduced {
            done.item.text.push_str(labels);
        }
        done.item.id = id;
        done.item.parent_id = parent_id;
        keep_media(&mut done.item, &text);
        if media > 0 && done.item.metadata.contains_key(RESERVED_KEY) {
            done.item.token_estimate += media;
        }
        if done.item.metadata_flag("is_error") {
            done.envelope.status = Status::Error;
        }
        if is_reduced {
            // The labels would make lines of one document.
            text.truncate(words);
        }
        PreparedItem::Result { done: Box::new(done), raw: text }
    }

    fn store_results(&mut self, prepared: &mut [PreparedItem]) -> Result<()> {
        let handles: Vec<String> = prepared.iter().filter_map(handle_of).collect();
        let newest = handles.iter().rev().map(String::as_str);
        let live: Vec<&str> = newest.chain(live_handles(&self.events)).take(limits::LIVE_HANDLES).collect();
        for item in prepared {
            if let PreparedItem::Result { done, raw } = item {
                let bytes = std::mem::take(raw).into_bytes().into();
                let media_type = done.item.metadata_str("media_type").unwrap_or("text/plain").to_owned();
                firewall::store(done, &mut self.artifacts, bytes, &media_type, (&live, &[]))?;
            }
        }
        Ok(())
    }

    fn append_prepared(&mut self, prepared: Vec<PreparedItem>) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        for item in prepared {
            match item {
                PreparedItem::AsGiven(item) => self.append(vec![*item], false)?,
                PreparedItem::Result { done, .. } => {
                    let ingested = self.append_result(*done)?;
                    events.extend(ingested.events());
                    self.keep_envelope(ingested.item.id, &ingested.envelope);
                }
            }
        }
        self.answers.settle(self.events.len());
        self.observe(&events);
        Ok(events)
    }
}

/// Checks that an item could have been given as one: it must be readable out of a snapshot.
fn check_depth(item: &ContextItem) -> Result<()> {
    // The list and the item are two levels, so that many are left for the metadata.
    let mut open: Vec<(&Value, usize)> = item.metadata.values().map(|value| (value, 4)).collect();
    let mut longest = item.text.len();
    while let Some((value, depth)) = open.pop() {
        if depth > limits::MAX_DEPTH + 2 {
            let message = format!("nested deeper than {} levels", limits::MAX_DEPTH);
            return Err(Error::new(ErrorCode::TooDeep, message));
        }
        match value {
            Value::String(text) => longest = longest.max(text.len()),
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    if longest > limits::MAX_STRING_BYTES {
        let message = format!("a text has {longest} bytes, the limit is {}", limits::MAX_STRING_BYTES);
        return Err(Error::new(ErrorCode::TooLarge, message).hint("use several calls, or store it as an artifact"));
    }
    Ok(())
}

/// Tells whether an item is the result of a tool as it came from there.
fn is_raw(item: &ContextItem) -> bool {
    item.kind == ItemKind::ToolResult
        && item.artifact_ref.is_none()
        && !DIGESTED.iter().any(|field| item.metadata.contains_key(*field))
}

fn handle_of(item: &PreparedItem) -> Option<String> {
    match item {
        PreparedItem::AsGiven(_) => None,
        PreparedItem::Result { done, .. } => Some(firewall::handle_of(&done.item.id)),
    }
}

/// Makes the record of a result out of its item, whose metadata may hold images.
fn call_of(item: &mut ContextItem, names: &SortedMap<String, String>) -> ToolResult {
    let own = tool_name(item).map(str::to_owned);
    let name = own.or_else(|| names.get(item.parent_id.as_deref()?).cloned()).unwrap_or_default();
    let call = item.id.strip_prefix("result:").unwrap_or(&item.id);
    let media_type = item.metadata_str("media_type").unwrap_or("text/plain").to_owned();
    let (sensitivity, metadata) = (item.sensitivity, std::mem::take(&mut item.metadata));
    ToolResult { media_type, sensitivity, metadata, ..ToolResult::new(call, &name) }
}
