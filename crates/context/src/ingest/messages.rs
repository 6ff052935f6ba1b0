//! Messages of providers on their way into the log, read as items: the result of a tool in a message is the result of a
//! tool, and meets the same firewall.

use super::live_handles;
use super::tool_result::ToolResult;
use crate::callbacks::Outcome;
use crate::event::Event;
use crate::firewall::{self, Compaction};
use crate::manager::ContextManager;
use crate::reduce;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ItemKind, Status};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::quote;

/// What was appended of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestedMessages {
    /// Ids of the items, in the order of the log.
    pub ids: Vec<String>,
    /// What the hooks should hear.
    pub events: Vec<Event>,
}

/// An item that goes into the log.
enum PreparedItem {
    /// As it was read.
    AsRead(Box<ContextItem>),
    /// The result of a tool, with all of its text.
    Result { done: Box<Compaction>, raw: String },
}

impl ContextManager {
    /// Appends items that were read from messages of a provider. Results of tools among them are stored under a handle and,
    /// above the firewall's threshold, stand in the log as a digest, as by [`ContextManager::ingest_tool_result`]; what is
    /// below it is written as the message that it was. All items are appended, or none.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/<index>/id` when the log has an item with this id, or its artifact exists; `QUOTA_EXCEEDED` when
    /// the log or the store has no room; `DETERMINISM` as [`ContextManager::ingest_tool_result`].
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
    pub fn ingest_messages(&mut self, items: Vec<ContextItem>) -> Result<Outcome<IngestedMessages>> {
        let ids = items.iter().map(|item| item.id.clone()).collect();
        if self.strategy.is_some() {
            // 0.18 knows no messages.
            self.ingest_all(items)?;
            return Ok(Outcome::Done(IngestedMessages { ids, events: Vec::new() }));
        }
        self.answers.reset();
        reduce::check_deterministic(&self.options)?;
        self.events.check(&items)?;
        self.check_message_results(&items)?;
        let names = self.names_of_calls(&items);
        let mut prepared = Vec::with_capacity(items.len());
        for mut item in items {
            prepared.push(match take_call(&mut item, &names) {
                Some(call) => self.digest_message_result(&call, item),
                None => PreparedItem::AsRead(Box::new(item)),
            });
        }
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        // Masked bytes have another size than was checked.
        let before = self.artifacts.options().redact_secrets.map(|_| self.artifacts.clone());
        let stored = self.store_message_results(&mut prepared);
        if let (Err(_), Some(before)) = (&stored, before) {
            self.artifacts = before;
        }
        stored?;
        let events = self.append_prepared(prepared)?;
        Ok(Outcome::Done(IngestedMessages { ids, events }))
    }

    /// Checks that the texts of all results can be stored beside each other.
    fn check_message_results(&self, items: &[ContextItem]) -> Result<()> {
        let live = live_handles(&self.events);
        let mut before = (0, 0);
        for (index, item) in items.iter().enumerate().filter(|(_, item)| is_stored(item)) {
            let handle = firewall::handle_of(&item.id);
            if self.artifacts.exists(&handle) {
                let message = format!("an artifact {} exists", quote(&handle));
                return Err(Error::new(ErrorCode::DuplicateId, message).at(format!("/{index}/id")));
            }
            self.artifacts.check_beside(&handle, item.text.len(), &live, before)?;
            before = (before.0 + 1, before.1 + item.text.len());
        }
        Ok(())
    }

    /// Returns the names of the tools by the ids of the items of their calls, for the results among the items.
    fn names_of_calls(&self, items: &[ContextItem]) -> SortedMap<String, String> {
        let mut names = SortedMap::new();
        let name = |call: &ContextItem| {
            call.metadata_str("function_name").or_else(|| call.metadata_str("tool_name")).map(str::to_owned)
        };
        for item in items {
            if item.kind == ItemKind::ToolCall
                && let Some(name) = name(item)
            {
                names.insert(item.id.clone(), name);
            }
        }
        for parent in items.iter().filter(|item| is_stored(item)).filter_map(|item| item.parent_id.as_ref()) {
            if names.get(parent.as_str()).is_none()
                && let Some(name) = self.events.get(parent).ok().and_then(name)
            {
                names.insert(parent.clone(), name);
            }
        }
        names
    }

    fn digest_message_result(&self, call: &ToolResult, item: ContextItem) -> PreparedItem {
        // What images and the like beside the text cost stays.
        let media = item.token_estimate.saturating_sub(Estimator::V3.tokens(&item.text));
        let ContextItem { id, text, parent_id, .. } = item;
        let mut done = self.digest_text(call, &text);
        done.item.id = id;
        done.item.parent_id = parent_id;
        if media > 0 {
            done.item.token_estimate += media;
        }
        if done.item.metadata_flag("is_error") {
            done.envelope.status = Status::Error;
        }
        PreparedItem::Result { done: Box::new(done), raw: text }
    }

    fn store_message_results(&mut self, prepared: &mut [PreparedItem]) -> Result<()> {
        let handles: Vec<String> = prepared.iter().filter_map(handle_of).collect();
        let mut live: Vec<&str> = live_handles(&self.events);
        live.extend(handles.iter().map(String::as_str));
        for item in prepared {
            if let PreparedItem::Result { done, raw } = item {
                let bytes = std::mem::take(raw).into_bytes().into();
                firewall::store(done, &mut self.artifacts, bytes, "text/plain", &live)?;
            }
        }
        Ok(())
    }

    fn append_prepared(&mut self, prepared: Vec<PreparedItem>) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        for item in prepared {
            match item {
                PreparedItem::AsRead(item) => self.append(vec![*item], false)?,
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

/// Whether the text of an item is stored as that of a result; one that is nothing but images has none.
fn is_stored(item: &ContextItem) -> bool {
    item.kind == ItemKind::ToolResult && !item.text.is_empty()
}

fn handle_of(item: &PreparedItem) -> Option<String> {
    match item {
        PreparedItem::AsRead(_) => None,
        PreparedItem::Result { done, .. } => Some(firewall::handle_of(&done.item.id)),
    }
}

/// Makes the record of a result that came in a message, out of the item's metadata, which may hold images.
fn take_call(item: &mut ContextItem, names: &SortedMap<String, String>) -> Option<ToolResult> {
    if !is_stored(item) {
        return None;
    }
    let name = item.metadata_str("function_name").map(str::to_owned);
    let name = name.or_else(|| names.get(item.parent_id.as_deref()?).cloned()).unwrap_or_default();
    let call = item.id.strip_prefix("result:").unwrap_or(&item.id);
    Some(ToolResult { metadata: std::mem::take(&mut item.metadata), ..ToolResult::new(call, &name) })
}
