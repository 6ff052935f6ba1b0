//! A message to be written: its role and its parts, each as it was read or made of the text of an item.

use serde_json::{Value, json};

use super::Warnings;
use super::approvals::requested;
use super::message::{Role, at};
use super::names::call_id;
use super::stored::{StoredMessage, StoredPart, StoredPartKind};
use contextweaver_model::ContextItem;
use contextweaver_model::json::{JsonMap, inexact_number, parse_sent, whole_escapes};
use contextweaver_text::unicode::trim;

/// What one role says until another does. A format writes it as one message or as several.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingMessage {
    pub role: Role,
    /// The parts, in order. Of [`Role::Tool`] only results, all those of the calls in the message before.
    pub parts: Vec<OutgoingPart>,
    /// Whether calls were left out because their reasoning was.
    pub lost_reasoning: bool,
}

/// A part of a message to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingPart {
    pub content: PartContent,
    /// The part as this very format wrote it, if nothing was changed since.
    pub original: Option<OriginalPart>,
    /// Index of the message it was read from and of the part in it, if it comes from this format.
    pub position: Option<(usize, usize)>,
    /// The fields of the message it was read from; the first part of a message has them, or several have the same.
    pub message_fields: Option<Value>,
    /// Index of the item.
    pub item: usize,
}

/// A part to be written as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct OriginalPart {
    /// Where it goes, as in [`super::message::MessagePart::field`].
    pub field: String,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartContent {
    Text(String),
    ToolCall(ToolCallPart),
    ToolResult(ToolResultPart),
    /// Reasoning; always has the original.
    Reasoning,
    /// Anything else that only this format understands; always has the original.
    Opaque,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallPart {
    /// Its id, unique and legal in the format.
    pub id: String,
    /// The tool, legal in the format.
    pub name: String,
    /// The arguments: JSON text of an object, or any other text.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResultPart {
    /// The id of its call.
    pub call_id: String,
    /// The tool, legal in the format.
    pub name: String,
    /// What the tool returned.
    pub text: String,
    /// Images and the like that it returned, as parts of the format.
    pub media: Vec<Value>,
    pub is_error: bool,
}

impl ToolCallPart {
    /// Returns the arguments as an object: what is no JSON object is its field `input`.
    pub fn object(&self) -> JsonMap {
        let text = self.arguments.trim();
        if text.is_empty() {
            return JsonMap::new();
        }
        match parse_sent(text) {
            Some(Value::Object(map)) => map,
            _ => [("input".to_owned(), Value::from(self.arguments.as_str()))].into_iter().collect(),
        }
    }

    /// Returns the arguments as the JSON text of an object, unchanged if they are one.
    pub fn json_text(&self) -> String {
        match parse_sent(&self.arguments) {
            Some(Value::Object(_)) => whole_escapes(&self.arguments).into_owned(),
            _ => Value::Object(self.object()).to_string(),
        }
    }
}

impl ToolResultPart {
    /// Returns the result as a JSON value: text that is an object or a list as that, other text as a string, and so what has a number
    /// that would be another one as a value of JavaScript.
    pub fn value(&self) -> Value {
        match parse_sent(&self.text) {
            Some(value @ (Value::Object(_) | Value::Array(_))) if inexact_number(&self.text).is_none() => value,
            _ => Value::from(self.text.as_str()),
        }
    }
}

impl OutgoingPart {
    /// Makes a part that was not read from this format.
    pub const fn new(content: PartContent, item: usize) -> Self {
        Self { content, original: None, position: None, message_fields: None, item }
    }

    /// Makes the part of an item of which nothing is stored for the format: its text, unless that is empty, which most
    /// providers refuse.
    pub fn of_text(item: usize, content: &PartContent, position: Option<(usize, usize)>) -> Option<Self> {
        let is_nothing = matches!(content, PartContent::Text(text) if trim(text).is_empty());
        (!is_nothing).then(|| Self { position, ..Self::new(content.clone(), item) })
    }

    /// Makes a part of which only this format knows what it is.
    pub fn opaque(field: &str, value: Value, item: usize) -> Self {
        let original = Some(OriginalPart { field: field.to_owned(), value });
        Self { original, ..Self::new(PartContent::Opaque, item) }
    }

    /// Makes a part that is written as it was read.
    pub fn as_read(stored: &StoredPart, content: PartContent, value: Value, item: usize) -> Self {
        let original = Some(OriginalPart { field: stored.field.clone(), value });
        Self { content, original, position: position(stored), message_fields: None, item }
    }

    /// Returns the index of the message it was read from, if it comes from this format.
    pub fn message(&self) -> Option<usize> {
        self.position.map(|(message, _)| message)
    }
}

/// Returns the parts of an item that was read from this format as they were, but for the id of its call, if its text is
/// unchanged.
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
    // On a part of the item's own message, not on reasoning that stood in another.
    if let Some(part) = parts.iter_mut().find(|part| part.message() == stored.index) {
        part.message_fields.clone_from(&stored.fields);
        if let (Some((before, id)), Some(fields)) = (renamed, &mut part.message_fields) {
            rename(fields, before, id);
        }
    }
    Some(parts)
}

/// Returns the part of a result as it was read, with the text that the item has now in the place of what it said; none where it
/// has no place for text, as the provider wants it back byte for byte.
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

/// Returns the parts of an item that was read from this format and is not what it was: what is said now, and of the stored
/// parts those that carry no text of the item; with `has_media` images and the like, too.
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
    // Without its request nobody knows what an answer approves.
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

/// Tells whether a part is nothing but media.
fn is_media(part: &StoredPart) -> bool {
    matches!(&part.slots[..], [slot] if slot.media.as_deref() == Some(""))
}

fn position(part: &StoredPart) -> Option<(usize, usize)> {
    part.message.map(|message| (message, part.at))
}

/// Returns the id of the call in the stored parts of an item and the one to be written, where they differ.
fn renamed<'a>(item: &'a ContextItem, content: &'a PartContent) -> Option<(&'a str, &'a str)> {
    let (before, id) = match content {
        PartContent::ToolCall(call) => (call_id(item), &call.id),
        PartContent::ToolResult(result) => (item.metadata_str("tool_call_id")?, &result.call_id),
        _ => return None,
    };
    (before != id).then_some((before, id))
}

/// Fields that hold the id of a call, in any format.
const CALL_IDS: &[&str] = &["call_id", "tool_call_id", "tool_use_id", "toolCallId", "id"];

/// Gives a call or a result, in the form of its format, another id.
fn rename(value: &mut Value, before: &str, id: &str) {
    let Some(map) = value.as_object_mut() else { return };
    for (key, value) in map.iter_mut() {
        match value {
            Value::String(text) if text == before && CALL_IDS.contains(&key.as_str()) => id.clone_into(text),
            // Gemini has it in a field of the part.
            Value::Object(_) if key.starts_with("function") => rename(value, before, id),
            _ => {}
        }
    }
}

/// Gives a result that names another tool the name of the one that was called: some providers pair them by it, too.
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

/// Returns the fields that tell who speaks; the others of a message may repeat what its text no longer says.
fn identifying_fields(fields: &Value) -> Value {
    let keys = ["id", "type", "role", "name", "tool_call_id"];
    let fields = fields.as_object().into_iter().flatten();
    let kept = fields.filter(|(key, value)| keys.contains(&key.as_str()) && value.is_string());
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Warns of instructions that stand in a conversation, where the format has them beside its messages.
pub fn warn_of_moved(messages: &[OutgoingMessage], follows: bool, warnings: &mut Warnings) {
    let first = if follows { Some(0) } else { messages.iter().position(|message| message.role != Role::System) };
    let behind = messages.get(first.unwrap_or(messages.len())..).unwrap_or_default();
    for message in behind.iter().filter(|message| message.role == Role::System) {
        let item = message.parts.first().map_or(0, |part| part.item);
        let message = "instructions that stand in the conversation are written beside the messages";
        warnings.add("SYSTEM_MOVED", message, at("/items", item));
    }
}

/// Warns of white space at the end of a message, with which a provider refuses it.
pub fn warn_of_trimmed(item: usize, warnings: &mut Warnings) {
    let message = "white space at the end of a message of the model is left out";
    warnings.add("TEXT_TRIMMED", message, at("/items", item));
}

/// Warns of reasoning that is left out, as nothing of the model follows it.
pub fn warn_of_reasoning(item: usize, warnings: &mut Warnings) {
    let message = "reasoning that nothing follows is left out";
    warnings.add("REASONING_INCOMPLETE", message, at("/items", item));
}

/// Leaves out reasoning that nothing of the model follows, as of an answer that was broken off: it is refused.
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

/// Splits parts by the messages they were read from; those of no message go with the ones before.
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

/// Takes the fields of the message out of its parts; `new` where they have none.
pub fn take_message_fields(parts: &mut [OutgoingPart], new: Value) -> Value {
    parts.iter_mut().find_map(|part| part.message_fields.take()).unwrap_or(new)
}

/// Adds the fields of a part to those of the part before, of which it is the rest.
pub fn merge(part: &mut Value, rest: Value) {
    if let (Value::Object(part), Value::Object(rest)) = (part, rest) {
        part.extend(rest);
    }
}

/// Puts a part into the field of a message that it belongs to; with `[+]` behind it, into the last part of that list.
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
