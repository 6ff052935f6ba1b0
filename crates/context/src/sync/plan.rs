//! Where further messages of a conversation begin in a log, and the ids that they may speak of.

use std::collections::HashMap;

use serde_json::Value;

use crate::source_message::source_message;
use crate::store::EventLog;
use contextweaver_convert::providers::{Format, approval_requests, call_id};
use contextweaver_model::{ContextItem, ItemKind};

/// Follows a log, so that a conversation that goes on costs its new items alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessagePlan {
    format: Option<Format>,
    /// Items that were read, and how often the log had changed by then.
    items: usize,
    changes: u64,
    /// Index of the next message of the format.
    next: usize,
    /// Ids that messages may speak of, with those of their items.
    ids: Vec<(String, String)>,
    /// Places in `ids` by what messages speak of.
    places: HashMap<String, Vec<usize>>,
}

impl MessagePlan {
    /// Reads what is new of a log; all of it where something before has changed.
    pub fn follow(&mut self, events: &EventLog, format: Format) {
        let is_same = self.format == Some(format)
            && events.rearranged() <= self.changes
            && events.changed_since(self.changes).next().is_none_or(|at| at >= self.items);
        if !is_same || events.len() < self.items {
            *self = Self { format: Some(format), ..Self::default() };
        }
        for item in &events.items()[self.items..] {
            self.read(item, format);
        }
        (self.items, self.changes) = (events.len(), events.changes());
    }

    /// Returns the index of the next message.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Returns the ids of the items that an id in messages may speak of, the latest first.
    pub fn items_of(&self, id: &str) -> impl Iterator<Item = &str> {
        self.places.get(id).into_iter().flatten().rev().map(|place| self.ids[*place].1.as_str())
    }

    fn read(&mut self, item: &ContextItem, format: Format) {
        let message = source_message(&item.metadata);
        if let Some(message) = message
            && message.get("format").and_then(Value::as_str) == Some(format.as_str())
            && let Some(at) = message.get("message").and_then(Value::as_u64)
        {
            self.next = self.next.max(at as usize + 1);
        }
        for id in spoken_of(item, format) {
            self.places.entry(id.to_owned()).or_default().push(self.ids.len());
            self.ids.push((id.to_owned(), item.id.clone()));
        }
    }
}

/// Returns the ids by which messages may speak of an item: of a call, of requests for approval, and of a message that may be
/// handed over twice.
pub(super) fn spoken_of(item: &ContextItem, format: Format) -> Vec<&str> {
    if item.is_superseded() {
        return Vec::new();
    }
    let call = (item.kind == ItemKind::ToolCall).then(|| call_id(item));
    let message = || source_message(&item.metadata)?.get("shell")?.get("id")?.as_str();
    let message = if format.has_items() { message() } else { None };
    call.into_iter().chain(approval_requests(item)).chain(message).collect()
}

/// Returns the index of the next message of a format, and the calls in a log: the provider's ids and the items'.
///
/// A conversation that goes on is read from that index on, and results find their calls by those ids.
///
/// ```
/// use contextweaver_context::message_plan;
/// use contextweaver_convert::providers::Format;
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let call = ContextItem::new("c1", ItemKind::ToolCall, "{}");
/// let plan = message_plan(&[call], Format::OpenAiChat);
/// assert_eq!(plan, (0, vec![("c1".to_owned(), "c1".to_owned())]));
/// ```
pub fn message_plan(items: &[ContextItem], format: Format) -> (usize, Vec<(String, String)>) {
    let mut plan = MessagePlan::default();
    for item in items {
        plan.read(item, format);
    }
    (plan.next, plan.ids)
}
