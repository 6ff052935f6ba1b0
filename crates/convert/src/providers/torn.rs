//! Items of Responses that may be torn from the reasoning that led to them, as where a message stands between them or older items
//! are missing. An item that has an id is refused without that reasoning; one that has none is taken.

use serde_json::Value;

use super::message::at;
use super::outgoing::{OutgoingMessage, OutgoingPart, PartContent};
use super::server_tools::is_provider_run;
use super::sources::SourceItem;
use super::stored::{is_reasoning, parts_of, record_of};
use super::{Warnings, message::Role};
use contextweaver_base::order::SortedMap;
use contextweaver_model::{ContextItem, ItemKind};

/// Types of calls that have no form without an id.
const NAMED_CALLS: &[&str] = &["local_shell_call", "computer_call"];
/// Type of an image that the model made, which has none either.
const MADE_IMAGE: &str = "image_generation_call";

/// The last response of the model before a list of messages, as far as it is known. The first message may belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LastResponse {
    /// Nothing.
    #[default]
    Unknown,
    /// Nothing stands before: where the model speaks first, what it answered is missing, and so may be the beginning of its answer.
    Missing,
    /// The next one is another one.
    Finished,
    /// Calls wait for their results; the ids of their items.
    Waiting(Vec<String>),
    /// It ends in reasoning, or what stands behind it are results of other calls.
    Unfinished,
}

impl LastResponse {
    /// Looks at the items that follow.
    ///
    /// ```
    /// use contextweaver_convert::providers::LastResponse;
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let turn = ContextItem::new("u1", ItemKind::UserTurn, "Where is order 12446?");
    /// let call = ContextItem::new("call_1", ItemKind::ToolCall, "{}");
    /// let mut result = ContextItem::new("result:call_1", ItemKind::ToolResult, "Shipped");
    /// result.parent_id = Some("call_1".to_owned());
    /// let waits = LastResponse::Missing.after([&turn, &call].into_iter());
    /// assert_eq!(waits, LastResponse::Waiting(vec!["call_1".to_owned()]));
    /// assert_eq!(waits.after([&result].into_iter()), LastResponse::Finished);
    /// ```
    #[must_use]
    pub fn after<'a>(&self, items: impl DoubleEndedIterator<Item = &'a ContextItem>) -> Self {
        let mut answered: SortedMap<&str, ()> = SortedMap::new();
        let (mut response, mut calls, mut has_turn) = (None, Vec::new(), false);
        for item in items.rev().filter(|item| !item.is_superseded()) {
            let is_own = !is_provider_run(item);
            match item.kind {
                ItemKind::AgentMsg | ItemKind::ToolCall => {}
                ItemKind::ToolResult if !is_own => {}
                // What stands before the response.
                _ if response.is_some() => break,
                ItemKind::ToolResult => {
                    answered.insert(item.parent_id.as_deref().unwrap_or(""), ());
                    continue;
                }
                kind => {
                    has_turn |= kind == ItemKind::UserTurn;
                    continue;
                }
            }
            let record = record_of(item);
            let group = record.and_then(|record| record.get("group"));
            match response {
                None if record.and_then(|record| parts_of(record).last()).is_some_and(is_reasoning) => {
                    return Self::Unfinished;
                }
                Some(before) if before != group => break,
                _ => response = Some(group),
            }
            if item.kind == ItemKind::ToolCall && is_own {
                calls.push(item.id.clone());
            }
        }
        match self {
            _ if response.is_some() => {}
            Self::Waiting(waiting) => calls.clone_from(waiting),
            Self::Finished => {}
            Self::Missing if has_turn => return Self::Finished,
            other => return other.clone(),
        }
        let count = calls.len();
        calls.retain(|call| !answered.contains_key(call.as_str()));
        match calls.len() {
            open if count - open < answered.len() => Self::Unfinished,
            0 => Self::Finished,
            _ => Self::Waiting(calls),
        }
    }

    /// Tells whether what the model says next may be the rest of something.
    pub const fn may_go_on(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Finished)
    }
}

/// Takes the ids off items that may be torn from their reasoning, or whose reasoning is lost; calls that have no form without one
/// become calls of functions.
pub fn free_torn(messages: &mut [OutgoingMessage], sources: &[SourceItem], warnings: &mut Warnings) {
    for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        let is_torn = |part: &&mut OutgoingPart| message.lost_reasoning || sources[part.item].is_torn();
        for part in message.parts.iter_mut().filter(is_torn) {
            if let Some(Value::Object(fields)) = &mut part.message_fields {
                fields.shift_remove("id");
            }
            let Some(original) = part.original.as_mut().filter(|original| original.field.is_empty()) else { continue };
            let Value::Object(item) = &mut original.value else { continue };
            let kind = item.get("type").and_then(Value::as_str).unwrap_or("");
            match part.content {
                PartContent::ToolCall(_) if NAMED_CALLS.contains(&kind) => part.original = None,
                PartContent::ToolCall(_) => {
                    item.shift_remove("id");
                }
                PartContent::Opaque if kind == MADE_IMAGE => {
                    let text = sources[part.item].item.text.clone();
                    let message = format!(
                        "an image that goes with reasoning which is not there is left out; {text} stands for it"
                    );
                    warnings.add("MEDIA_LEFT_OUT", message, at("/items", part.item));
                    (part.original, part.content) = (None, PartContent::Text(text));
                }
                _ => {}
            }
        }
    }
}
