//! Messages on their way to a provider's format, before they become JSON.
//!
//! A message has a role and parts. A part is written as it was read if its item came from this format and is unchanged.
//! Otherwise it is made from the text of the item.

use serde_json::{Value, json};

use super::Warnings;
use super::approval_parts::requested;
use super::message::{Role, at};
use super::names::call_id;
use super::stored::{StoredMessage, StoredPart, StoredPartKind};
use contextweaver_model::ContextItem;
use contextweaver_model::json::{JsonMap, inexact_number, parse_sent, whole_escapes};
use contextweaver_text::unicode::trim;

/// The result that is written for a call without one.
pub const NO_RESULT: &str = "No result was recorded for this call.";

/// Consecutive parts of one role. The next message has another role.
///
/// A format may write it as one message or as several.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingMessage {
    pub role: Role,
    /// The parts, in order. A message of [`Role::Tool`] holds only results: all results of the calls in the message
    /// before it.
    pub parts: Vec<OutgoingPart>,
    /// Whether the reasoning that led to the calls of this message is missing.
    pub lost_reasoning: bool,
}

/// A part of a message to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingPart {
    pub content: PartContent,
    /// The JSON to write for this part, where this format already has it. Without it, the format makes the JSON from
    /// `content`.
    pub original: Option<OriginalPart>,
    /// Where the part was read: the index of the message, and of the part in that message. `None` if it does not come
    /// from this format.
    pub position: Option<(usize, usize)>,
    /// The fields of its message other than the parts, such as id and role, as they were read. The first part of a
    /// message carries them, or several parts carry the same.
    pub message_fields: Option<Value>,
    /// Index of the item that the part belongs to.
    pub item: usize,
}

/// The JSON of a part, ready to be put into a message.
#[derive(Debug, Clone, PartialEq)]
pub struct OriginalPart {
    /// The field of the message that takes it, in the notation of [`super::message::MessagePart::field`]; see [`put`].
    pub field: String,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartContent {
    Text(String),
    ToolCall(ToolCallPart),
    ToolResult(ToolResultPart),
    /// Reasoning of the model. Always has [`OutgoingPart::original`].
    Reasoning,
    /// Anything else that only this format understands. Always has [`OutgoingPart::original`].
    Opaque,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallPart {
    /// The id of the call, unique among the calls and legal in the format.
    pub id: String,
    /// The name of the tool, legal in the format.
    pub name: String,
    /// The arguments as the model wrote them: usually the JSON text of an object, but any text is possible.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResultPart {
    /// The id of the call that it answers.
    pub call_id: String,
    /// The name of the tool, legal in the format.
    pub name: String,
    /// The text that the tool returned.
    pub text: String,
    /// Images and other media that the tool returned, as JSON parts of the format.
    pub media: Vec<Value>,
    pub is_error: bool,
}

impl ToolCallPart {
    /// Returns the arguments as an object: also one that is a text of JSON. Blank text and null are `{}`, and other text becomes
    /// `{"input": text}`.
    pub fn object(&self) -> JsonMap {
        let text = self.arguments.trim();
        if text.is_empty() {
            return JsonMap::new();
        }
        let given = match parse_sent(text) {
            Some(Value::String(inner)) => parse_sent(&inner).filter(Value::is_object),
            given => given,
        };
        match given {
            Some(Value::Object(map)) => map,
            Some(Value::Null) => JsonMap::new(),
            _ => [("input".to_owned(), Value::from(self.arguments.as_str()))].into_iter().collect(),
        }
    }

    /// Returns the arguments as the JSON text of an object.
    ///
    /// Text that is one already stays as it is, but for escapes of half a surrogate pair: they become U+FFFD.
    pub fn json_text(&self) -> String {
        match parse_sent(&self.arguments) {
            Some(Value::Object(_)) => whole_escapes(&self.arguments).into_owned(),
            _ => Value::Object(self.object()).to_string(),
        }
    }
}

impl ToolResultPart {
    /// Returns the result as a JSON value: the object or list that the text holds, and any other text as a string.
    ///
    /// Text with a number that JavaScript cannot hold exactly stays a string, too.
    pub fn value(&self) -> Value {
        match parse_sent(&self.text) {
            Some(value @ (Value::Object(_) | Value::Array(_))) if inexact_number(&self.text).is_none() => value,
            _ => Value::from(self.text.as_str()),
        }
    }
}

impl OutgoingPart {
    /// Makes a part without JSON of its own; the format writes it from `content`.
    pub const fn new(content: PartContent, item: usize) -> Self {
        Self { content, original: None, position: None, message_fields: None, item }
    }

    /// Makes a part from content alone, without stored JSON.
    ///
    /// Returns `None` for blank text, because most providers refuse it.
    pub fn of_text(item: usize, content: &PartContent, position: Option<(usize, usize)>) -> Option<Self> {
        let is_nothing = matches!(content, PartContent::Text(text) if trim(text).is_empty());
        (!is_nothing).then(|| Self { position, ..Self::new(content.clone(), item) })
    }

    /// Makes a part from JSON that only this format understands.
    pub fn opaque(field: &str, value: Value, item: usize) -> Self {
        let original = Some(OriginalPart { field: field.to_owned(), value });
        Self { original, ..Self::new(PartContent::Opaque, item) }
    }

    /// Makes a part from a stored one, at its old position, with `value` as its JSON.
    pub fn as_read(stored: &StoredPart, content: PartContent, value: Value, item: usize) -> Self {
        let original = Some(OriginalPart { field: stored.field.clone(), value });
        Self { content, original, position: position(stored), message_fields: None, item }
    }

    /// Returns the index of the message that the part was read from, if it comes from this format.
    pub fn message(&self) -> Option<usize> {
        self.position.map(|(message, _)| message)
    }
}

/// Returns the stored parts of an item as this format wrote them.
///
/// Only the call id, and the tool's name in a result, may differ: they have to match the call that is written. Returns
/// `None` where the text of the item has changed, or where nothing of the stored parts may be written any more.
pub fn unchanged_parts(
    item: &ContextItem,
    stored: &StoredMessage,
    content: &PartContent,
    index: usize,
) -> Option<Vec<OutgoingPart>> {
    if !stored.is_usable(item) {
        return None;
    }
    let renamed = renamed(item, content);
    let restored = stored.restore(&item.text).filter(|restored| !restored.is_empty())?;
    let mut parts = Vec::with_capacity(restored.len());
    for (part, (mut value, text)) in stored.parts.iter().zip(restored) {
        if let Some((before, id)) = renamed {
            rename(&mut value, before, id);
        }
        if let PartContent::ToolResult(result) = content {
            name_after(&mut value, &result.name);
        }
        let content = match part.kind {
            StoredPartKind::Text => PartContent::Text(text),
            StoredPartKind::ToolCall | StoredPartKind::ToolResult => content.clone(),
            StoredPartKind::Reasoning => PartContent::Reasoning,
            StoredPartKind::ServerCall
            | StoredPartKind::ServerResult
            | StoredPartKind::Opaque
            | StoredPartKind::Marker => PartContent::Opaque,
        };
        parts.push(OutgoingPart::as_read(part, content, value, index));
    }
    // Reasoning may come from another message, so the fields go on the first part of the item's own message.
    if let Some(part) = parts.iter_mut().find(|part| part.message() == stored.index) {
        part.message_fields.clone_from(&stored.fields);
        if let (Some((before, id)), Some(fields)) = (renamed, &mut part.message_fields) {
            rename(fields, before, id);
        }
    }
    Some(parts)
}

/// Returns the stored part of a tool result with the present text of the item in place of the old one.
///
/// Returns `None` where the part has no place for plain text, or where it may not be written any more.
pub fn replaced_part(
    source: &ContextItem,
    message: &StoredMessage,
    content: &PartContent,
    item: usize,
) -> Option<OutgoingPart> {
    let is_result = |part: &&StoredPart| matches!(part.kind, StoredPartKind::ServerResult | StoredPartKind::ToolResult);
    let stored = message.parts.iter().find(is_result).filter(|_| message.is_usable(source))?;
    let mut value = stored.with_text(&source.text)?;
    if let Some((before, id)) = renamed(source, content) {
        rename(&mut value, before, id);
    }
    Some(OutgoingPart::as_read(stored, content.clone(), value, item))
}

/// Returns the parts of an item that came from this format but cannot be written as it was read.
///
/// These are a new part with the present content, and the stored parts that hold no text of the item: reasoning,
/// markers and approval requests. With `has_media`, stored images and other media are kept, too.
///
/// Where a secret was taken out of the stored parts, only the approval requests stay. Where the item is redacted, no
/// stored part stays.
pub fn changed_parts(
    source: &ContextItem,
    message: &StoredMessage,
    has_media: bool,
    content: &PartContent,
    item: usize,
) -> Vec<OutgoingPart> {
    let is_usable = message.is_usable(source);
    let is_shown = !source.metadata_flag("redacted");
    let (mut parts, mut media) = (Vec::new(), Vec::new());
    // An approval request stays even where a secret was taken out: without it, nobody knows what the answer approves.
    for stored in message.parts.iter().filter(|part| is_usable || is_shown && requested(&part.original).is_some()) {
        let content = match stored.kind {
            _ if requested(&stored.original).is_some() => PartContent::Opaque,
            StoredPartKind::Reasoning => PartContent::Reasoning,
            StoredPartKind::Marker => PartContent::Opaque,
            StoredPartKind::Opaque if has_media && is_media(stored) => {
                media.push(OutgoingPart::as_read(stored, PartContent::Opaque, stored.original.clone(), item));
                continue;
            }
            _ => continue,
        };
        parts.push(OutgoingPart::as_read(stored, content, stored.original.clone(), item));
    }
    let main =
        message.parts.iter().find(|part| !matches!(part.kind, StoredPartKind::Reasoning | StoredPartKind::Marker));
    let position = main.and_then(position).or(message.index.map(|message| (message, 0)));
    let mut message_fields = message.fields.as_ref().filter(|_| is_usable).map(identifying_fields);
    if let (Some((before, id)), Some(fields)) = (renamed(source, content), &mut message_fields) {
        rename(fields, before, id);
    }
    let mut own: Vec<OutgoingPart> = OutgoingPart::of_text(item, content, position).into_iter().chain(media).collect();
    if let Some(first) = own.first_mut() {
        first.message_fields = message_fields;
    }
    parts.append(&mut own);
    parts
}

/// Tells whether a part consists of one image, sound or file and nothing else.
fn is_media(part: &StoredPart) -> bool {
    matches!(&part.slots[..], [slot] if slot.media.as_deref() == Some(""))
}

fn position(part: &StoredPart) -> Option<(usize, usize)> {
    part.message.map(|message| (message, part.at))
}

/// Returns the call id that an item was read with and the one to write instead; `None` where they are the same.
fn renamed<'a>(item: &'a ContextItem, content: &'a PartContent) -> Option<(&'a str, &'a str)> {
    let (before, id) = match content {
        PartContent::ToolCall(call) => (call_id(item), &call.id),
        PartContent::ToolResult(result) => (item.metadata_str("tool_call_id")?, &result.call_id),
        _ => return None,
    };
    (before != id).then_some((before, id))
}

/// The fields that hold a call id, over all formats.
const CALL_IDS: &[&str] = &["call_id", "tool_call_id", "tool_use_id", "toolCallId", "id"];

/// Replaces the call id `before` by `id` in the JSON of a call or a result, in whichever field its format has it.
fn rename(value: &mut Value, before: &str, id: &str) {
    let Some(map) = value.as_object_mut() else { return };
    for (key, value) in map.iter_mut() {
        match value {
            Value::String(text) if text == before && CALL_IDS.contains(&key.as_str()) => id.clone_into(text),
            // Gemini nests the call or the result in a field of the part, such as `functionCall`.
            Value::Object(_) if key.starts_with("function") => rename(value, before, id),
            _ => {}
        }
    }
}

/// Sets the tool name in the JSON of a result to that of the called tool: some providers also match the two by name.
fn name_after(value: &mut Value, name: &str) {
    let inner = ["functionResponse", "function_response"].into_iter().find(|key| value.get(key).is_some());
    let (slot, key) = match inner {
        Some(inner) => (value.get_mut(inner), "name"),
        None => (Some(value), "toolName"),
    };
    let given =
        slot.and_then(|slot| slot.get_mut(key)).filter(|given| given.as_str().is_some_and(|given| given != name));
    if let Some(given) = given {
        *given = name.into();
    }
}

/// Keeps the fields that identify a message and its speaker.
///
/// The others are dropped, because they may repeat text that the item no longer has.
fn identifying_fields(fields: &Value) -> Value {
    let keys = ["id", "type", "role", "name", "tool_call_id"];
    let fields = fields.as_object().into_iter().flatten();
    let kept = fields.filter(|(key, value)| keys.contains(&key.as_str()) && value.is_string());
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Warns that instructions inside the conversation, which this item has, were written beside its messages.
pub fn warn_of_moved(item: usize, warnings: &mut Warnings) {
    let message = "instructions that stand in the conversation are written beside the messages";
    warnings.add("SYSTEM_MOVED", message, at("/items", item));
}

/// Warns that white space at the end of a message was removed, because a provider refuses the message with it.
pub fn warn_of_trimmed(item: usize, warnings: &mut Warnings) {
    let message = "white space at the end of a message of the model is left out";
    warnings.add("TEXT_TRIMMED", message, at("/items", item));
}

/// Warns that reasoning was left out, because no text or call of the model follows it.
pub fn warn_of_reasoning(item: usize, warnings: &mut Warnings) {
    let message = "reasoning that nothing follows is left out";
    warnings.add("REASONING_INCOMPLETE", message, at("/items", item));
}

/// Removes reasoning at the end of the model's turn, with a warning.
///
/// An answer that was cut off ends that way, and providers refuse reasoning with no text or call behind it.
pub fn drop_last_reasoning(messages: &mut [OutgoingMessage], warnings: &mut Warnings) {
    let mut is_followed = false;
    for message in messages.iter_mut().rev() {
        let is_model = message.role == Role::Assistant;
        while is_model
            && !is_followed
            && let Some(part) = message.parts.pop_if(|part| part.content == PartContent::Reasoning)
        {
            warn_of_reasoning(part.item, warnings);
        }
        is_followed = is_model && (is_followed || !message.parts.is_empty());
    }
}

/// Splits parts by the message they were read from. Parts that were not read from one join the part before them.
pub fn by_message(parts: Vec<OutgoingPart>) -> Vec<Vec<OutgoingPart>> {
    let mut messages: Vec<Vec<OutgoingPart>> = Vec::new();
    for part in parts {
        match messages.last_mut() {
            Some(message) if message[0].message() == part.message() || part.message().is_none() => message.push(part),
            _ => messages.push(vec![part]),
        }
    }
    messages
}

/// Takes the message's fields from the first part that carries them; returns `new` where none does.
pub fn take_message_fields(parts: &mut [OutgoingPart], new: Value) -> Value {
    parts.iter_mut().find_map(|part| part.message_fields.take()).unwrap_or(new)
}

/// Adds the fields of `rest` to `part`: the two are halves of one part.
pub fn merge(part: &mut Value, rest: Value) {
    if let (Value::Object(part), Value::Object(rest)) = (part, rest) {
        part.extend(rest);
    }
}

/// Puts the JSON of a part into a message.
///
/// `field` is empty to replace the whole message, `name` to set a field, `name[]` to append to a list, and `name[+]` to
/// add the part's fields to the last element of that list.
pub fn put(message: &mut Value, field: &str, value: Value) {
    if field.is_empty() {
        *message = value;
        return;
    }
    let Value::Object(map) = message else { return };
    if let Some(list) = field.strip_suffix("[+]") {
        if let Some(last) = map.get_mut(list).and_then(Value::as_array_mut).and_then(|list| list.last_mut()) {
            merge(last, value);
        }
        return;
    }
    match field.strip_suffix("[]") {
        None => {
            map.insert(field.to_owned(), value);
        }
        Some(list) => {
            let slot = map.entry(list).or_insert(Value::Null);
            match slot {
                Value::Array(list) => list.push(value),
                Value::String(text) if !text.is_empty() => {
                    *slot = json!([{ "type": "text", "text": text }, value]);
                }
                other => *other = Value::Array(vec![value]),
            }
        }
    }
}
