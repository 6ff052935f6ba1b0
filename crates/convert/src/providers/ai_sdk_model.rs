//! `ModelMessage` of the AI SDK.

use serde_json::{Value, json};

use super::ai_sdk_ui::{any_name, with_name};
use super::anthropic::sign_in_content;
use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource, label_of, text_at};
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, kind_of, parts_in, role_name_of};
use super::names::ANY_ID;
use super::outgoing::{
    OriginalPart, OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, ToolResultPart, by_message, put,
    take_message_fields, warn_of_trimmed,
};
use super::provider::{MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules};
use super::repeated::item_id;
use super::{Warnings, into_object, optional, required, role_of, take_field};
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_model::json::wrong_type;

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

/// Types of parts that are likely of this format.
const TYPES: &[&str] = &["reasoning", "tool-approval-request", "tool-approval-response"];

/// Messages for models.
pub const AI_SDK_MODEL: Provider = Provider {
    read: |list, _| read(list),
    write: |messages, _, _, warnings| (write(messages, warnings), None),
    list: None,
    systems: &[],
    sign: |message| sign_in_content(message, |part| matches!(kind_of(part), "tool-call" | "tool-result")),
    is_likely,
    name_calls: |namer, message, path| {
        namer.content(message, path, ["tool-call", "toolCallId", "toolName"], ["tool-result", "toolCallId"]);
    },
    ids: ANY_ID,
    legal_name: any_name,
    has_argument_text: false,
    parts: (FIELD, Some("text")),
    rules: Rules {
        blanks: Some(|value| value.get_mut("output").filter(|output| kind_of(output) == "content")),
        refuses_last_reasoning: true,
        needs_turn: true,
        begins_with_user: true,
        tools_need_reasoning: true,
        names_items: true,
        is_known_by_id: |stored| stored.parts.iter().any(|part| item_id(&part.original).is_some()),
        ..NO_RULES
    },
    media: |place, media| match place {
        // Content does not say that it is of a failed result.
        MediaPlace::Message(Role::System) | MediaPlace::FailedResult => None,
        MediaPlace::Message(_) => file_part(media),
        MediaPlace::Result => output_part(media),
    },
    media_of_results: MediaOfResults::Inside,
    images: None,
    overhead: Overhead {
        text: 13,
        calls: 9,
        call: 10,
        results: Some(4),
        result: 24,
        is_result_alone: false,
        has_call_ids: true,
        has_result_ids: true,
        has_result_names: true,
    },
    shares_message: |before, role| ((before, role) == (Role::Tool, Role::Tool)).then_some(true),
};

fn is_likely(message: &Value) -> bool {
    // A picture of the AI SDK has no source.
    let is_own =
        |part: &Value| part.get("mediaType").is_some() || part.get("image").is_some() || TYPES.contains(&kind_of(part));
    let is_result = role_name_of(message) == "tool" && message.get("content").is_some_and(Value::is_array);
    is_result || parts_in(message, "content").iter().any(is_own)
}

fn file_part(media: &Attachment) -> Option<Value> {
    let data = match media.source {
        MediaSource::Bytes(text) | MediaSource::Address(text) => text,
        MediaSource::None => return None,
    };
    Some(with_name(json!({ "type": "file", "mediaType": media.full_type(), "data": data }), media.name))
}

/// Images have types of their own, which the sixth version of the SDK needs.
fn output_part(media: &Attachment) -> Option<Value> {
    let part = match (media.source, media.is_image()) {
        (MediaSource::Bytes(data), true) => {
            json!({ "type": "image-data", "data": data, "mediaType": media.full_type() })
        }
        (MediaSource::Bytes(data), false) => {
            let part = json!({ "type": "file-data", "data": data, "mediaType": media.full_type() });
            with_name(part, media.name)
        }
        (MediaSource::Address(url), true) => json!({ "type": "image-url", "url": url }),
        (MediaSource::Address(url), false) => {
            json!({ "type": "file-url", "url": url, "mediaType": media.full_type() })
        }
        (MediaSource::None, _) => return None,
    };
    Some(part)
}

/// Reads messages.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut message = into_object(message, &path)?;
        let (role_name, role) = role_of(&message, &path, ROLES, "")?;
        let content_path = below(&path, "content");
        let parts = match take_field(&mut message, "content") {
            Value::Null => Vec::new(),
            text @ Value::String(_) => {
                let slot = TextSlot::any("", &text);
                vec![MessagePart::new(PartKind::Text, "content", text, vec![slot])]
            }
            Value::Array(list) => {
                let read = |(index, part)| read_part(part, role, &at(&content_path, index));
                list.into_iter().enumerate().map(read).collect::<Result<_>>()?
            }
            other => return Err(wrong_type(&content_path, "a string or an array", &other)),
        };
        let fields = Value::Object(message);
        messages.push(Message { role, role_name, fields, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

const FIELD: &str = "content[]";

fn read_part(mut value: Value, role: Role, path: &str) -> Result<MessagePart> {
    untag_url(&mut value);
    let Value::Object(part) = &value else { return Ok(MessagePart::unknown(FIELD, value)) };
    let is_ours = part.get("providerExecuted") != Some(&Value::Bool(true));
    let (part_kind, slots) = match (optional(part, "type"), role) {
        ("text", _) if part.get("text").is_some_and(Value::is_string) => {
            (PartKind::Text, vec![TextSlot::text("/text", optional(part, "text"))])
        }
        ("reasoning" | "reasoning-file", Role::Assistant) => (PartKind::Reasoning, Vec::new()),
        ("tool-call", Role::Assistant) => {
            let id = required(part, "toolCallId", path)?.to_owned();
            let name = required(part, "toolName", path)?.to_owned();
            let slots = part.get("input").map(|input| TextSlot::json("/input", input)).into_iter().collect();
            (if is_ours { PartKind::ToolCall { id, name } } else { PartKind::ServerCall { id, name } }, slots)
        }
        ("tool-result", Role::Tool) => return result(value, path),
        // In a message of the model it is of a tool that the provider ran.
        ("tool-result", Role::Assistant) if part.contains_key("toolCallId") => {
            let mut part = result(value, path)?;
            if let PartKind::ToolResult { id, name, is_error } = part.kind {
                part.kind = PartKind::ServerResult { id, name, is_error };
            }
            return Ok(part);
        }
        ("tool-approval-response", _) => {
            let is_approved = part.get("approved") == Some(&Value::Bool(true));
            let label = if is_approved { "[tool call approved]" } else { "[tool call denied]" };
            return Ok(MessagePart::opaque(FIELD, value, label, None));
        }
        // It only says that the call beside it waits.
        ("tool-approval-request", _) => return Ok(MessagePart::opaque(FIELD, value, "", None)),
        // Text as a file is shown.
        ("file", _) if text_at(part, &["data", "type"]) == "text" => {
            let label = MediaInfo { kind: "file", name: optional(part, "filename"), ..MediaInfo::default() }.label();
            let text = TextSlot::text("/data/text", text_at(part, &["data", "text"]));
            return Ok(MessagePart::new(PartKind::Text, FIELD, value, vec![TextSlot::label(label), text]));
        }
        ("image" | "file", _) => {
            let label = MediaInfo::of(part).map_or_else(|| label_of(&value), |media| media.label());
            return Ok(MessagePart::media(FIELD, value, &label));
        }
        _ => {
            let label = label_of(&value);
            return Ok(MessagePart::opaque(FIELD, value, &label, None));
        }
    };
    Ok(MessagePart::new(part_kind, FIELD, value, slots))
}

/// Takes the tag off the address of a file, `{type: "url", url}`: with it the SDK wants a `URL` object, which JSON has not;
/// without it a string will do. Tells whether there was one.
fn untag_url(part: &mut Value) -> bool {
    let Some(data) = part.get_mut("data").filter(|data| data.get("type").is_some_and(|kind| kind == "url")) else {
        return false;
    };
    match data.get_mut("url").filter(|url| url.is_string()).map(Value::take) {
        Some(url) => *data = url,
        None => return false,
    }
    true
}

/// Does the same for a file in the content of a result, which must have a tag: there is another type for addresses.
fn untag_url_in_result(part: &mut Value) {
    if part.get("type").is_some_and(|kind| kind == "file")
        && untag_url(part)
        && let Value::Object(map) = part
        && let Some(url) = map.shift_remove("data")
    {
        map.insert("type".to_owned(), "file-url".into());
        map.insert("url".to_owned(), url);
    }
}

fn result(mut value: Value, path: &str) -> Result<MessagePart> {
    let content = value.pointer_mut("/output/value").and_then(Value::as_array_mut);
    content.into_iter().flatten().for_each(untag_url_in_result);
    let Value::Object(part) = &value else { return Ok(MessagePart::unknown(FIELD, value)) };
    let id = required(part, "toolCallId", path)?.to_owned();
    let name = optional(part, "toolName").to_owned();
    let kind = text_at(part, &["output", "type"]).to_owned();
    let (mut slots, mut tokens) = (Vec::new(), 0);
    match part.get("output").and_then(|output| output.get("value")) {
        Some(Value::Array(list)) if kind == "content" => {
            for (index, part) in list.iter().enumerate() {
                if let (Some("text"), Some(text)) =
                    (part.get("type").and_then(Value::as_str), part.get("text").and_then(Value::as_str))
                {
                    slots.push(TextSlot::text(format!("/output/value/{index}/text"), text));
                    continue;
                }
                tokens += MEDIA_TOKENS;
                slots.push(match part.as_object().and_then(MediaInfo::of) {
                    Some(media) => TextSlot::media(media.label(), format!("/output/value/{index}")),
                    None => TextSlot::media(label_of(part), format!("/output/value/{index}")),
                });
            }
        }
        Some(given) => slots.push(match kind.as_str() {
            "text" | "error-text" => TextSlot::any("/output/value", given),
            // A string of JSON keeps its quotes, by which it is told from text.
            _ => TextSlot::json("/output/value", given),
        }),
        // What was denied has a reason at most; before `output` there was `result`.
        None => match (part.get("result"), text_at(part, &["output", "reason"])) {
            (Some(result), _) => slots.push(TextSlot::any("/result", result)),
            (None, "") => slots.push(TextSlot::label(if kind == "execution-denied" { "[denied]" } else { "" })),
            (None, reason) => slots.push(TextSlot::text("/output/reason", reason)),
        },
    }
    slots.retain(|slot| slot.pointer.is_some() || !slot.text.is_empty());
    let is_error = kind.starts_with("error-") || part.get("isError") == Some(&Value::Bool(true));
    let part_kind = PartKind::ToolResult { id, name, is_error };
    Ok(MessagePart { tokens: Some(tokens), ..MessagePart::new(part_kind, FIELD, value, slots) })
}

/// Writes messages. Two of the model that did not follow each other are one: there are providers that refuse a call behind what the
/// model said itself.
pub fn write(messages: Vec<OutgoingMessage>, warnings: &mut Warnings) -> Vec<Value> {
    let mut written: Vec<(Role, Vec<OutgoingPart>)> = Vec::new();
    let mut last_index: Option<usize> = None;
    for message in messages {
        for parts in by_message(message.parts) {
            let index = parts.first().and_then(OutgoingPart::message);
            let is_next = index.is_some() && index == last_index.map(|last| last + 1);
            match written.last_mut() {
                Some((_, last)) if index.is_some() && index == last_index => {
                    last.extend(parts);
                    sort_by(last, |a, b| a.position.cmp(&b.position));
                }
                Some((Role::Assistant, last)) if message.role == Role::Assistant && !is_next => last.extend(parts),
                _ => written.push((message.role, parts)),
            }
            last_index = index;
        }
    }
    let written = written.into_iter().map(|(role, mut parts)| {
        if role == Role::Assistant {
            trim_before_asides(&mut parts, warnings);
        }
        (role, parts)
    });
    written.filter_map(|(role, parts)| write_message(role, parts)).collect()
}

/// Types of parts that not every provider is sent in a message of the model.
const ASIDES: &[&str] = &["custom", "file", "image", "reasoning-file"];

/// Takes white space off the end of a text behind which a message of the model has nothing but parts that not every provider is
/// sent: for the others the text is the end of the message, and the SDK trims only what stands last.
fn trim_before_asides(parts: &mut [OutgoingPart], warnings: &mut Warnings) {
    let is_aside = |part: &OutgoingPart| {
        let kind = part.original.as_ref().and_then(|original| original.value.get("type")?.as_str());
        part.content == PartContent::Opaque && kind.is_some_and(|kind| ASIDES.contains(&kind))
    };
    let asides = parts.iter().rev().take_while(|part| is_aside(part)).count();
    let last = parts.len() - asides;
    let Some(part) = parts[..last].last_mut().filter(|_| asides > 0) else { return };
    let PartContent::Text(text) = &mut part.content else { return };
    let length = text.trim_end().len();
    if length == text.len() {
        return;
    }
    text.truncate(length);
    if let Some(slot) = part.original.as_mut().and_then(|original| original.value.get_mut("text")) {
        *slot = text.as_str().into();
    }
    warn_of_trimmed(part.item, warnings);
}

/// Writes a message; none without parts.
fn write_message(role: Role, mut parts: Vec<OutgoingPart>) -> Option<Value> {
    if parts.is_empty() {
        return None;
    }
    let mut message = take_message_fields(&mut parts, json!({ "role": role.as_str() }));
    let has_list = message.get("content").is_some_and(Value::is_array);
    // A message of one text may have the text there instead of the list.
    let is_plain = !has_list && matches!(&parts[..], [OutgoingPart { content: PartContent::Text(_), .. }]);
    if !is_plain && !has_list {
        put(&mut message, "content", json!([]));
    }
    for part in parts {
        let (field, value) = match (part.original, part.content) {
            (Some(OriginalPart { field, value }), _) if is_plain || field != "content" => {
                put(&mut message, &field, value);
                continue;
            }
            (_, PartContent::Text(text)) if is_plain => ("content", text.into()),
            (_, PartContent::Text(text)) => (FIELD, json!({ "type": "text", "text": text })),
            (_, PartContent::ToolCall(call)) => (FIELD, tool_call(&call)),
            (_, PartContent::ToolResult(result)) => (FIELD, tool_result(&result)),
            (_, PartContent::Reasoning | PartContent::Opaque) => continue,
        };
        put(&mut message, field, value);
    }
    Some(message)
}

fn tool_call(call: &ToolCallPart) -> Value {
    json!({ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.object() })
}

fn tool_result(result: &ToolResultPart) -> Value {
    json!({ "type": "tool-result", "toolCallId": result.call_id, "toolName": result.name, "output": output(result) })
}

fn output(result: &ToolResultPart) -> Value {
    if !result.media.is_empty() {
        let text = (!result.text.is_empty()).then(|| json!({ "type": "text", "text": result.text }));
        let value: Value = text.into_iter().chain(result.media.iter().cloned()).collect();
        return json!({ "type": "content", "value": value });
    }
    let value = result.value();
    let kind = match (result.is_error, value.is_string()) {
        (false, true) => "text",
        (false, false) => "json",
        (true, true) => "error-text",
        (true, false) => "error-json",
    };
    json!({ "type": kind, "value": value })
}
