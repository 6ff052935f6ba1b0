//! Messages of `OpenAI`'s chat completions.

use serde_json::{Value, json};

use super::images::Squares;
use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource, PDF, label_of};
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, kind_of, parts_in, role_name_of};
use super::nameless_calls::CallNamer;
use super::names::{IdRule, UniqueIds, plain_name};
use super::outgoing::{
    OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, by_message, put, take_message_fields, warn_of_reasoning,
};
use super::provider::{Images, MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules, Sign};
use super::server_tools::readable;
use super::{Format, Warnings, into_object, required, role_of, take_field};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, parse_sent, wrong_type};
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::trim;

/// Fields of an assistant message in which servers return reasoning.
const REASONING_FIELDS: &[&str] = &["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] = &[
    ("system", Role::System),
    ("developer", Role::System),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
    ("function", Role::Tool),
];

/// Squares of 32 pixels, at most 2,500 at high detail, 1.2 tokens each.
const SQUARES: Squares = Squares { pixels: 32, most: 2_500, tenths: 12 };

/// Images as `OpenAI` documents them.
pub const IMAGES: Images = Images { tokens: |size| SQUARES.tokens(size), most: 500 };

/// Types of parts that are likely of this format.
const TYPES: &[&str] = &["image_url", "input_audio", "refusal"];

/// Chat completions.
pub const OPENAI_CHAT: Provider = Provider {
    read: |list, options| read(list, options.start),
    write: |messages, _, _, warnings| (write(messages, warnings), None),
    list: Some("messages"),
    systems: &[],
    sign,
    is_likely: |message| parts_in(message, "content").iter().any(|part| TYPES.contains(&kind_of(part))),
    name_calls,
    // A longer one is refused.
    ids: IdRule { longest: 40, is_plain: false },
    legal_name: plain_name,
    has_argument_text: true,
    parts: ("content[]", Some("text")),
    rules: Rules { blanks: Some(|value| Some(value).filter(|value| value.is_array())), ..NO_RULES },
    media: |place, media| match place {
        // The model's own messages take none.
        MediaPlace::Message(Role::System | Role::Assistant) => None,
        _ => media_part(media),
    },
    media_of_results: MediaOfResults::Behind,
    images: Some(IMAGES),
    overhead: Overhead {
        text: 9,
        calls: 9,
        call: 8,
        results: Some(4),
        result: 0,
        is_result_alone: true,
        has_call_ids: true,
        has_result_ids: true,
        has_result_names: false,
    },
    shares_message: |_, _| None,
};

fn sign(message: &Value) -> Option<Sign> {
    let is_there = |key: &&str| message.get(*key).is_some_and(|value| value.is_string() || value.is_array());
    let is_answer = matches!(role_name_of(message), "assistant" | "tool");
    let key = ["tool_calls", "tool_call_id"].into_iter().find(is_there).filter(|_| is_answer)?;
    Some(Sign::new(key, below("", key)))
}

fn name_calls(namer: &mut CallNamer, message: &mut Value, path: &str) {
    namer.parts(message, path, "tool_calls", |namer, call, path| {
        namer.call(call, path, "id");
        for key in ["function", "custom"] {
            if let Some(inner) = call.get_mut(key) {
                namer.name(inner, &below(path, key), "name");
            }
        }
    });
    if role_name_of(message) == "tool" {
        namer.result(message, path, "tool_call_id");
    }
}

fn media_part(media: &Attachment) -> Option<Value> {
    let url = media.url()?;
    if media.is_common_image() {
        return Some(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    let MediaSource::Bytes(data) = media.source else { return None };
    let audio = |format| json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } });
    match &*media.media_type {
        "audio/wav" | "audio/x-wav" => Some(audio("wav")),
        "audio/mpeg" | "audio/mp3" => Some(audio("mp3")),
        PDF => Some(json!({ "type": "file", "file": { "filename": media.file_name(), "file_data": url } })),
        _ => None,
    }
}

/// Reads messages.
pub fn read(list: Vec<Value>, start: usize) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    // Calls of the old form have no id; the latest of a name is the one that is answered.
    let mut functions: Vec<(String, String)> = Vec::new();
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut message = into_object(message, &path)?;
        let (role_name, role) = role_of(&message, &path, ROLES, "")?;
        let parts = match role_name.as_str() {
            "assistant" => assistant(&mut message, &path, &format!("call_{}", start + index), &mut functions)?,
            "tool" => {
                let id = required(&message, "tool_call_id", &path)?.to_owned();
                vec![result(&mut message, &path, id, String::new())?]
            }
            "function" => {
                let name = required(&message, "name", &path)?.to_owned();
                let known = functions.iter().rposition(|(function, _)| *function == name);
                let id = known.map_or_else(|| format!("call_{}", start + index), |known| functions.remove(known).1);
                vec![result(&mut message, &path, id, name)?]
            }
            _ => content(&mut message, &path)?,
        };
        let fields = Value::Object(message);
        messages.push(Message { role, role_name, fields, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

fn assistant(
    message: &mut JsonMap,
    path: &str,
    id: &str,
    functions: &mut Vec<(String, String)>,
) -> Result<Vec<MessagePart>> {
    let mut parts = Vec::new();
    for field in REASONING_FIELDS {
        if message.get(*field).is_some_and(|value| !value.is_null()) {
            parts.push(MessagePart::new(PartKind::Reasoning, field, take_field(message, field), Vec::new()));
        }
    }
    parts.extend(content(message, path)?);
    if message.get("refusal").is_some_and(Value::is_string) {
        let refusal = take_field(message, "refusal");
        let slot = TextSlot::any("", &refusal);
        parts.push(MessagePart::new(PartKind::Text, "refusal", refusal, vec![slot]));
    }
    if message.get("audio").is_some_and(Value::is_object) {
        let audio = take_field(message, "audio");
        let transcript = audio.get("transcript").and_then(Value::as_str).unwrap_or("");
        let label = if transcript.is_empty() { "[audio]".to_owned() } else { format!("[audio] {transcript}") };
        parts.push(MessagePart::media("audio", audio, &label));
    }
    if message.get("function_call").is_some_and(|call| !call.is_null()) {
        let at = below(path, "function_call");
        let call = into_object(take_field(message, "function_call"), &at)?;
        let name = required(&call, "name", &at)?.to_owned();
        functions.push((name.clone(), id.to_owned()));
        let slots = arguments(call.get("arguments"), "/arguments");
        parts.push(MessagePart::new(
            PartKind::ToolCall { id: id.to_owned(), name },
            "function_call",
            Value::Object(call),
            slots,
        ));
    }
    let calls_at = below(path, "tool_calls");
    match take_field(message, "tool_calls") {
        Value::Array(calls) => {
            for (index, value) in calls.into_iter().enumerate() {
                parts.push(call(value, &at(&calls_at, index))?);
            }
        }
        Value::Null => {}
        other => return Err(wrong_type(&calls_at, "an array", &other)),
    }
    Ok(parts)
}

fn call(value: Value, path: &str) -> Result<MessagePart> {
    let call = into_object(value, path)?;
    let id = required(&call, "id", path)?.to_owned();
    let kind = call.get("type").and_then(Value::as_str).unwrap_or("function");
    let (key, input) = if kind == "custom" { ("custom", "input") } else { ("function", "arguments") };
    let (name, slots) = match call.get(key) {
        Some(Value::Object(inner)) => {
            let name = required(inner, "name", &below(path, key))?.to_owned();
            let pointer = format!("/{key}/{input}");
            let given = inner.get(input);
            // What a custom tool gets is text, not JSON.
            let custom = given.and_then(Value::as_str).filter(|_| kind == "custom");
            (name, custom.map_or_else(|| arguments(given, &pointer), |text| vec![TextSlot::text(&pointer, text)]))
        }
        Some(other) => return Err(wrong_type(&below(path, key), "an object", other)),
        None if matches!(kind, "function" | "custom") => {
            let message = format!("missing field {}", quote(key));
            return Err(Error::new(ErrorCode::MissingField, message).at(below(path, key)));
        }
        None => (kind.to_owned(), Vec::new()),
    };
    Ok(MessagePart::new(PartKind::ToolCall { id, name }, "tool_calls[]", Value::Object(call), slots))
}

/// Returns the slot of arguments, which are JSON text or, from some servers, an object.
fn arguments(value: Option<&Value>, pointer: &str) -> Vec<TextSlot> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![TextSlot::json_text(pointer, text)],
        Some(other) => vec![TextSlot::json(pointer, other)],
    }
}

fn content(message: &mut JsonMap, path: &str) -> Result<Vec<MessagePart>> {
    match take_field(message, "content") {
        Value::Null => Ok(Vec::new()),
        text @ Value::String(_) => {
            let slot = TextSlot::any("", &text);
            Ok(vec![MessagePart::new(PartKind::Text, "content", text, vec![slot])])
        }
        Value::Array(list) => Ok(list.into_iter().map(|part| read_part("content[]", part)).collect()),
        other => Err(wrong_type(&below(path, "content"), "a string or an array", &other)),
    }
}

/// Reads a part of a content list, of this format or of Responses.
pub fn read_part(field: &str, value: Value) -> MessagePart {
    if let Some(slot) = text_slot(&value, "") {
        return MessagePart::new(PartKind::Text, field, value, vec![slot]);
    }
    match media_label(&value) {
        Some(label) => MessagePart::media(field, value, &label),
        None => MessagePart::unknown(field, value),
    }
}

/// Returns the text of a part, which is at `base`.
fn text_slot(value: &Value, base: &str) -> Option<TextSlot> {
    let key = match kind_of(value) {
        "" if value.is_string() => return Some(TextSlot::any(base, value)),
        "refusal" => "refusal",
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "" => "text",
        _ => return None,
    };
    Some(TextSlot::text(format!("{base}/{key}"), value.get(key)?.as_str()?))
}

/// Returns the label of a part that is media.
fn media_label(value: &Value) -> Option<String> {
    Some(MediaInfo::of(value.as_object()?)?.label())
}

fn result(message: &mut JsonMap, path: &str, id: String, name: String) -> Result<MessagePart> {
    let content = take_field(message, "content");
    if !matches!(content, Value::Null | Value::String(_) | Value::Array(_)) {
        return Err(wrong_type(&below(path, "content"), "a string or an array", &content));
    }
    Ok(result_part("content", content, PartKind::ToolResult { id, name, is_error: false }))
}

/// Makes the part of a result whose value is a string or a list of parts.
pub fn result_part(field: &str, content: Value, kind: PartKind) -> MessagePart {
    let (mut slots, mut tokens) = (Vec::new(), 0);
    match &content {
        Value::Null => {}
        Value::Array(list) => {
            for (index, part) in list.iter().enumerate() {
                let pointer = format!("/{index}");
                if let Some(slot) = text_slot(part, &pointer) {
                    slots.push(slot);
                } else if let Some(label) = media_label(part) {
                    tokens += MEDIA_TOKENS;
                    slots.push(TextSlot::media(label, pointer));
                } else {
                    let texts = readable(part, &pointer);
                    let is_unknown = texts.is_empty();
                    slots.extend(texts);
                    if is_unknown {
                        tokens += Estimator::V3.tokens(&part.to_string());
                        slots.push(TextSlot::media(label_of(part), pointer));
                    }
                }
            }
        }
        other => slots.push(TextSlot::any("", other)),
    }
    MessagePart { tokens: Some(tokens), ..MessagePart::new(kind, field, content, slots) }
}

/// Writes messages.
pub fn write(messages: Vec<OutgoingMessage>, warnings: &mut Warnings) -> Vec<Value> {
    let mut written = Vec::new();
    // Calls written in the old form, which their results then have, too.
    let mut functions = UniqueIds::default();
    for message in messages {
        match message.role {
            Role::Assistant => written.extend(write_assistant(message.parts, &mut functions, warnings)),
            Role::Tool => written.extend(message.parts.into_iter().map(|part| write_result(part, &functions))),
            role => {
                let role = if role == Role::System { "system" } else { "user" };
                for parts in by_message(message.parts) {
                    written.push(write_text(parts, role));
                }
            }
        }
    }
    written
}

fn write_text(mut parts: Vec<OutgoingPart>, role: &str) -> Value {
    let mut message = take_message_fields(&mut parts, json!({ "role": role }));
    for part in parts {
        match (part.original, part.content) {
            (Some(original), _) => put(&mut message, &original.field, original.value),
            (None, PartContent::Text(text)) => put_text(&mut message, &text),
            _ => {}
        }
    }
    message
}

/// Adds text to the content of a message, whichever form it has.
fn put_text(message: &mut Value, text: &str) {
    match message.get("content") {
        Some(Value::Array(_)) => put(message, "content[]", json!({ "type": "text", "text": text })),
        Some(Value::String(before)) if !before.is_empty() => {
            let text = format!("{before}\n{text}");
            put(message, "content", text.into());
        }
        _ => put(message, "content", text.into()),
    }
}

fn write_assistant(mut parts: Vec<OutgoingPart>, functions: &mut UniqueIds, warnings: &mut Warnings) -> Option<Value> {
    let mut message = take_message_fields(&mut parts, json!({ "role": "assistant", "content": null }));
    let mut has_text = false;
    let is_changed = parts.iter().any(|part| part.original.is_none());
    let reasoning = parts.iter().find(|part| part.content == PartContent::Reasoning).map(|part| part.item);
    for part in parts {
        match (part.original, part.content) {
            (Some(mut original), content) => {
                if let (PartContent::ToolCall(call), "function_call") = (&content, original.field.as_str()) {
                    functions.unique(&call.id, Format::OpenAiChat);
                }
                if let PartContent::ToolCall(call) = &content {
                    legal_arguments(&mut original.value, call);
                }
                has_text = has_text || original.field.starts_with("content") || original.field.is_empty();
                put(&mut message, &original.field, original.value);
            }
            (None, PartContent::Text(text)) => {
                has_text = true;
                put_text(&mut message, &text);
            }
            (None, PartContent::ToolCall(call)) => {
                let function = json!({ "name": call.name, "arguments": call.json_text() });
                put(&mut message, "tool_calls[]", json!({ "id": call.id, "type": "function", "function": function }));
            }
            _ => {}
        }
    }
    let has = |key: &str| match message.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::String(text)) => !trim(text).is_empty(),
        Some(_) => true,
    };
    let calls = has("tool_calls") || has("function_call");
    let is_empty = message.get("tool_calls").is_some_and(Value::is_array) && !has("tool_calls");
    if !calls && !has("content") && !has("refusal") && !has("audio") {
        if let Some(item) = reasoning {
            warn_of_reasoning(item, warnings);
        }
        return None;
    }
    // A list without calls is refused.
    if is_empty && let Value::Object(map) = &mut message {
        map.shift_remove("tool_calls");
    }
    // Some servers want the field even where there is nothing in it.
    if !has_text && message.get("content").map_or(is_changed, |content| !content.is_null()) {
        put(&mut message, "content", Value::Null);
    }
    Some(message)
}

/// Makes JSON of arguments that a model broke off, which servers read again.
pub fn legal_arguments(original: &mut Value, call: &ToolCallPart) {
    for pointer in ["/function/arguments", "/arguments"] {
        let given =
            original.pointer_mut(pointer).filter(|given| given.as_str().is_some_and(|text| !trim(text).is_empty()));
        let is_object = matches!(parse_sent(&call.arguments), Some(Value::Object(_)));
        if let Some(given) = given.filter(|_| !is_object) {
            *given = call.json_text().into();
        }
    }
}

fn write_result(mut part: OutgoingPart, functions: &UniqueIds) -> Value {
    let PartContent::ToolResult(result) = part.content else { return Value::Null };
    let is_old = functions.has(&result.call_id);
    let fields = part.message_fields.take().filter(|fields| (fields.get("role") == Some(&json!("function"))) == is_old);
    let new = || {
        if is_old {
            return json!({ "role": "function", "name": result.name });
        }
        json!({ "role": "tool", "tool_call_id": result.call_id })
    };
    let mut message = fields.unwrap_or_else(new);
    put(&mut message, "content", part.original.map_or_else(|| result.text.into(), |original| original.value));
    message
}
