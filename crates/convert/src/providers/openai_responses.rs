//! `input` of `OpenAI`'s Responses, whose items are messages, calls, results and reasoning.

use serde_json::{Value, json};

use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource, PDF, label_of};
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, kind_of, parts_in};
use super::nameless_calls::CallNamer;
use super::names::{IdRule, plain_name};
use super::openai_chat::{IMAGES, legal_arguments, read_part, result_part};
use super::outgoing::{
    OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, by_message, merge, put, take_message_fields,
};
use super::provider::{MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules, Sign};
use super::server_tools::readable;
use super::{into_object, optional, required, role_of, take_field};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};

/// Types of the calls whose results the caller gives, with the field of their arguments.
const CALLS: &[(&str, &str)] = &[
    ("function_call", "arguments"),
    ("custom_tool_call", "input"),
    ("computer_call", "action"),
    ("local_shell_call", "action"),
    ("shell_call", "action"),
    ("apply_patch_call", "operation"),
];

/// Types of the tools that the provider runs itself: the field of the arguments, and those of the result.
const HOSTED: &[(&str, &str, &[&str])] = &[
    ("web_search_call", "action", &["results"]),
    ("file_search_call", "queries", &["results"]),
    ("code_interpreter_call", "code", &["outputs"]),
    ("mcp_call", "arguments", &["output", "error"]),
];
/// Field of the rest of an item, which is written into the item before.
const REST: &str = "+";

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("developer", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

/// Types of items that are items nowhere else.
const ITEM_TYPES: &[&str] = &["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"];
/// Types of other items, and of the parts of messages, that are likely of this format.
const LIKELY_ITEM_TYPES: &[&str] = &["message", "reasoning", "item_reference", "compaction"];
const PART_TYPES: &[&str] = &["input_text", "output_text", "input_image", "input_file"];

/// Types of files that are read beside PDF.
const TEXTS: &[&str] = &["text/plain", "text/markdown", "text/csv", "text/html", "application/json"];

/// Responses.
pub const OPENAI_RESPONSES: Provider = Provider {
    read: |list, _| read(list),
    write: |messages, _, _, _| (write(messages), None),
    list: Some("input"),
    systems: &[],
    sign: |item| ITEM_TYPES.contains(&kind_of(item)).then(|| Sign::new(kind_of(item), "/type")),
    is_likely,
    name_calls,
    // A longer one is refused.
    ids: IdRule { longest: 64, is_plain: false },
    legal_name: plain_name,
    has_argument_text: true,
    parts: ("content[]", Some("input_text")),
    rules: Rules {
        blanks: Some(|value| value.get_mut("output").filter(|output| output.is_array())),
        refuses_last_reasoning: true,
        tools_need_reasoning: true,
        has_items: true,
        replaces_results: true,
        is_known_by_id: |_| true,
        ..NO_RULES
    },
    media: |place, media| match place {
        // The model's own messages take none.
        MediaPlace::Message(Role::System | Role::Assistant) => None,
        _ => media_part(media),
    },
    media_of_results: MediaOfResults::Inside,
    images: Some(IMAGES),
    overhead: Overhead {
        text: 16,
        calls: 0,
        call: 14,
        results: Some(0),
        result: 22,
        is_result_alone: true,
        has_call_ids: true,
        has_result_ids: true,
        has_result_names: false,
    },
    shares_message: |_, _| Some(false),
};

fn is_likely(item: &Value) -> bool {
    let kind = kind_of(item);
    LIKELY_ITEM_TYPES.contains(&kind) && (item.get("role").is_some() || kind != "message")
        || parts_in(item, "content").iter().any(|part| PART_TYPES.contains(&kind_of(part)))
}

fn name_calls(namer: &mut CallNamer, item: &mut Value, path: &str) {
    match kind_of(item) {
        "function_call" | "custom_tool_call" => {
            namer.call(item, path, "call_id");
            namer.name(item, path, "name");
        }
        kind if kind.ends_with("_call_output") => namer.result(item, path, "call_id"),
        _ => {}
    }
}

fn media_part(media: &Attachment) -> Option<Value> {
    let url = media.url()?;
    if media.is_common_image() {
        return Some(json!({ "type": "input_image", "image_url": url, "detail": "auto" }));
    }
    let is_file = media.media_type == PDF || TEXTS.contains(&&*media.media_type);
    is_file.then(|| match media.source {
        MediaSource::Address(_) => json!({ "type": "input_file", "file_url": url }),
        _ => json!({ "type": "input_file", "filename": media.file_name(), "file_data": url }),
    })
}

/// Reads input items. Those of the model in a row are one response.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len());
    for (index, value) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let item = into_object(value, &path)?;
        let kind = optional(&item, "type").to_owned();
        let mut message = if kind == "message" || (kind.is_empty() && item.contains_key("role")) {
            read_message(item, &path)?
        } else {
            let parts = match HOSTED.iter().find(|(hosted, ..)| *hosted == kind) {
                Some((_, input, outputs)) => hosted(item, &kind, index, input, outputs),
                None => vec![read_item(item, &kind, &path)?],
            };
            let is_result = matches!(parts[0].kind, PartKind::ToolResult { .. });
            let role = if is_result { Role::Tool } else { Role::Assistant };
            Message { role, role_name: String::new(), fields: Value::Null, parts, group: 0, index: None }
        };
        message.index = Some(index);
        let before = messages.last().filter(|before| before.role == Role::Assistant && message.role == Role::Assistant);
        message.group = before.map_or(index, |before| before.group);
        messages.push(message);
    }
    Ok(messages)
}

fn read_message(mut message: JsonMap, path: &str) -> Result<Message> {
    let (role_name, role) = role_of(&message, path, ROLES, "")?;
    let parts = match take_field(&mut message, "content") {
        Value::Null => Vec::new(),
        text @ Value::String(_) => {
            let slot = TextSlot::any("", &text);
            vec![MessagePart::new(PartKind::Text, "content", text, vec![slot])]
        }
        Value::Array(list) => list.into_iter().map(|part| read_part("content[]", part)).collect(),
        other => return Err(wrong_type(&below(path, "content"), "a string or an array", &other)),
    };
    Ok(Message { role, role_name, fields: Value::Object(message), parts, group: 0, index: None })
}

/// Reads an item of a tool that the provider ran itself: a call, and what it returned.
fn hosted(mut item: JsonMap, kind: &str, index: usize, input: &str, outputs: &[&str]) -> Vec<MessagePart> {
    let id = Some(optional(&item, "id"))
        .filter(|id| !id.is_empty())
        .map_or_else(|| format!("{kind}_{index}"), str::to_owned);
    let name = Some(optional(&item, "name")).filter(|name| !name.is_empty()).unwrap_or(kind).to_owned();
    let is_error = item.get("error").is_some_and(|error| !error.is_null());
    let rest: JsonMap = outputs
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), item.get(*key).filter(|value| !value.is_null())?.clone())))
        .collect();
    let rest = Value::Object(rest);
    let slots = readable(&rest, "");
    let result = (!slots.is_empty()).then(|| {
        for key in outputs {
            if let Some(value) = item.get_mut(*key) {
                *value = Value::Null;
            }
        }
        MessagePart::new(PartKind::ServerResult { id: id.clone(), name: name.clone(), is_error }, REST, rest, slots)
    });
    let pointer = format!("/{input}");
    let slots = match item.get(input) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) if input == "arguments" => vec![TextSlot::json_text(pointer, text)],
        Some(other) => vec![TextSlot::any(pointer, other)],
    };
    let call = MessagePart::new(PartKind::ServerCall { id, name }, "", Value::Object(item), slots);
    std::iter::once(call).chain(result).collect()
}

/// Reads an input item that is no message.
fn read_item(item: JsonMap, kind: &str, path: &str) -> Result<MessagePart> {
    if kind.is_empty() {
        return Err(Error::new(ErrorCode::MissingField, "missing field `type`").at(below(path, "type")));
    }
    if kind == "reasoning" {
        return Ok(MessagePart::new(PartKind::Reasoning, "", Value::Object(item), Vec::new()));
    }
    if let Some((_, input)) = CALLS.iter().find(|(call, _)| *call == kind) {
        let id = required(&item, "call_id", path)?.to_owned();
        let is_named = matches!(kind, "function_call" | "custom_tool_call");
        let name = if is_named { required(&item, "name", path)?.to_owned() } else { kind.to_owned() };
        // A model may do several things at once on a computer.
        let has_many = *input == "action" && item.get("actions").is_some_and(Value::is_array);
        let input = if has_many { "actions" } else { *input };
        let pointer = format!("/{input}");
        let slots = match item.get(input) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) if kind == "function_call" => vec![TextSlot::json_text(pointer, text)],
            Some(other) => vec![TextSlot::any(pointer, other)],
        };
        return Ok(MessagePart::new(PartKind::ToolCall { id, name }, "", Value::Object(item), slots));
    }
    if let Some(call) = kind.strip_suffix("_output").filter(|kind| CALLS.iter().any(|(call, _)| call == kind)) {
        // The output of a local shell has the id of the call as its own.
        let key = if item.contains_key("call_id") || call != "local_shell_call" { "call_id" } else { "id" };
        let id = required(&item, key, path)?.to_owned();
        return Ok(result(item, id));
    }
    let item = Value::Object(item);
    Ok(match item.as_object().and_then(MediaInfo::of) {
        Some(media) => {
            let label = media.label();
            MessagePart::media("", item, &label)
        }
        None => MessagePart::unknown("", item),
    })
}

fn result(mut item: JsonMap, id: String) -> MessagePart {
    let part_kind = PartKind::ToolResult { id, name: String::new(), is_error: false };
    let output = item.get_mut("output").map(Value::take).unwrap_or_default();
    let is_shot = output.get("type").is_some_and(|kind| kind == "computer_screenshot");
    let mut part = if is_shot {
        let slots = vec![TextSlot::media(label_of(&output), "")];
        MessagePart { tokens: Some(MEDIA_TOKENS), ..MessagePart::new(part_kind, "", output, slots) }
    } else if output.is_object() {
        let slots = vec![TextSlot::json("", &output)];
        MessagePart::new(part_kind, "", output, slots)
    } else {
        result_part("", output, part_kind)
    };
    for slot in &mut part.slots {
        for pointer in [&mut slot.pointer, &mut slot.media].into_iter().flatten() {
            pointer.insert_str(0, "/output");
        }
    }
    let output = std::mem::take(&mut part.original);
    if let Some(slot) = item.get_mut("output") {
        *slot = output;
    }
    part.original = Value::Object(item);
    part
}

/// Writes input items.
pub fn write(messages: Vec<OutgoingMessage>) -> Vec<Value> {
    let mut written = Vec::new();
    // Results of calls of a kind whose results cannot be made up.
    let made_up = made_up(&messages);
    let mut kinds = SortedMap::new();
    for message in messages {
        let role = message.role;
        for parts in by_message(message.parts) {
            write_parts(parts, role, &made_up, &mut kinds, &mut written);
        }
    }
    written
}

fn made_up(messages: &[OutgoingMessage]) -> Vec<String> {
    let results = messages.iter().filter(|message| message.role == Role::Tool).flat_map(|message| &message.parts);
    let made_up = results.filter(|part| part.original.is_none()).filter_map(|part| match &part.content {
        PartContent::ToolResult(result) => Some(result.call_id.clone()),
        _ => None,
    });
    let mut ids: Vec<String> = made_up.collect();
    contextweaver_base::order::sort(&mut ids);
    ids
}

fn write_parts(
    mut parts: Vec<OutgoingPart>,
    role: Role,
    made_up: &[String],
    kinds: &mut SortedMap<String, String>,
    written: &mut Vec<Value>,
) {
    let role_name = match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant | Role::Tool => "assistant",
    };
    let message_fields = take_message_fields(&mut parts, Value::Null);
    let mut message = Value::Null;
    for part in parts {
        let is_part =
            part.original.as_ref().is_some_and(|original| !original.field.is_empty() && original.field != REST);
        if !is_part && !message.is_null() {
            written.push(message.take());
        }
        match (part.original, part.content) {
            (Some(mut original), PartContent::ToolCall(call)) if keeps_kind(&original.value, &call.id, made_up) => {
                if kind_of(&original.value) == "function_call" {
                    legal_arguments(&mut original.value, &call);
                }
                kinds.insert(call.id, kind_of(&original.value).to_owned());
                written.push(original.value);
            }
            (_, PartContent::ToolCall(call)) => written.push(write_call(&call)),
            (Some(original), PartContent::ToolResult(result))
                if kind_of(&original.value).strip_suffix("_output") == Some(kind_written(kinds, &result.call_id)) =>
            {
                written.push(original.value);
            }
            (_, PartContent::ToolResult(result)) => {
                // Calls of other types have been rewritten as function calls.
                let is_custom = kind_written(kinds, &result.call_id) == "custom_tool_call";
                let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
                written.push(
                    json!({ "type": kind, "call_id": result.call_id, "output": output(result.text, result.media) }),
                );
            }
            (Some(original), _) if original.field == REST => {
                if let Some(before) = written.last_mut() {
                    merge(before, original.value);
                }
            }
            (Some(original), _) if original.field.is_empty() => written.push(original.value),
            (Some(original), _) => {
                if message.is_null() {
                    message = message_fields.clone();
                }
                put(&mut message, &original.field, original.value);
            }
            (None, PartContent::Text(text)) => {
                let role = message_fields.get("role").and_then(Value::as_str).unwrap_or(role_name);
                written.push(json!({ "type": "message", "role": role, "content": text }));
            }
            (None, PartContent::Reasoning | PartContent::Opaque) => {}
        }
    }
    if !message.is_null() {
        written.push(message);
    }
}

/// Returns the output of a result: its text, with media in a list.
fn output(text: String, media: Vec<Value>) -> Value {
    if media.is_empty() {
        return text.into();
    }
    let text = (!text.is_empty()).then(|| json!({ "type": "input_text", "text": text }));
    text.into_iter().chain(media).collect()
}

/// Returns the kind of a call that was written.
fn kind_written<'a>(kinds: &'a SortedMap<String, String>, id: &str) -> &'a str {
    kinds.get(id).map_or("function_call", String::as_str)
}

/// Tells whether a call can be written as it was: its result has to be of its kind, which cannot always be made up.
fn keeps_kind(call: &Value, id: &String, made_up: &[String]) -> bool {
    matches!(kind_of(call), "function_call" | "custom_tool_call") || made_up.binary_search(id).is_err()
}

fn write_call(call: &ToolCallPart) -> Value {
    json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.json_text() })
}
