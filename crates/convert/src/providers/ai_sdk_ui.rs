//! `UIMessage` of the AI SDK: a call and its result are one part, and a response of several steps is one message.

use serde_json::{Value, json};

use super::media::MediaInfo;
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, kind_of, parts_in};
use super::names::{ANY_ID, UniqueIds, plain_name};
use super::outgoing::{OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, ToolResultPart, by_message, put};
use super::provider::{MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules, Sign};
use super::{Format, into_object, optional, required, role_of, take_field};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};

const FIELD: &str = "parts[]";
/// Field of the rest of a part, which is written into the part before.
const REST: &str = "parts[+]";
/// Fields of a result within the part of its call.
const RESULT_FIELDS: &[&str] = &["output", "errorText", "resultProviderMetadata"];

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] = &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

/// Messages of a user interface.
pub const AI_SDK_UI: Provider = Provider {
    read: |list, _| read(list),
    write: |messages, _, before, _| (write(messages, before.count(), &mut before.messages), None),
    list: None,
    systems: &[],
    sign,
    is_likely: has_types,
    name_calls: |namer, message, path| {
        namer.parts(message, path, "parts", |namer, part, path| {
            if namer.call(part, path, "toolCallId") {
                // A part is call and result in one.
                namer.close();
            }
            namer.name(part, path, "toolName");
        });
    },
    ids: ANY_ID,
    legal_name: any_name,
    has_argument_text: false,
    parts: (FIELD, Some("text")),
    rules: Rules { joins_steps: true, ..NO_RULES },
    media: |place, media| match place {
        // The output of a tool is any JSON.
        MediaPlace::Message(Role::System) | MediaPlace::Result | MediaPlace::FailedResult => None,
        MediaPlace::Message(_) => {
            let part = json!({ "type": "file", "mediaType": media.full_type(), "url": media.url()? });
            Some(with_name(part, media.name))
        }
    },
    media_of_results: MediaOfResults::Inside,
    images: None,
    overhead: Overhead {
        // Messages have ids, such as `message-12`.
        text: 30,
        calls: 26,
        call: 10,
        results: None,
        result: 17,
        is_result_alone: false,
        has_call_ids: true,
        has_result_ids: false,
        has_result_names: false,
    },
    shares_message: |before, role| {
        let is_models = |role| matches!(role, Role::Assistant | Role::Tool);
        (is_models(before) && is_models(role)).then_some(true)
    },
};

/// Tells whether parts of a message have types.
pub fn has_types(message: &Value) -> bool {
    parts_in(message, "parts").iter().any(|part| part.get("type").is_some_and(Value::is_string))
}

/// Returns a name as it is, as the SDK sends it to any provider; a plain one where it is empty.
pub fn any_name(name: &str) -> String {
    if name.is_empty() { plain_name(name) } else { name.to_owned() }
}

/// Names the file that a part is.
pub fn with_name(mut part: Value, name: &str) -> Value {
    if !name.is_empty() {
        part["filename"] = name.into();
    }
    part
}

fn sign(message: &Value) -> Option<Sign> {
    let is_call = |part: &Value| {
        let kind = kind_of(part);
        (kind.starts_with("tool-") || kind == "dynamic-tool") && part.get("toolCallId").is_some()
    };
    let mut parts = parts_in(message, "parts").iter().enumerate();
    let (index, part) = parts.find(|(_, part)| is_call(part))?;
    Some(Sign::new(kind_of(part), format!("/parts/{index}/type")))
}

/// Reads messages.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut message = into_object(message, &path)?;
        let (role_name, role) = role_of(&message, &path, ROLES, "")?;
        let parts = match take_field(&mut message, "parts") {
            Value::Array(list) => parts(list, &below(&path, "parts"))?,
            // Messages of the fourth version may have only text.
            Value::Null => match take_field(&mut message, "content") {
                text @ Value::String(_) => {
                    let slot = TextSlot::any("", &text);
                    vec![MessagePart::new(PartKind::Text, "content", text, vec![slot])]
                }
                _ => return Err(Error::new(ErrorCode::MissingField, "missing field `parts`").at(below(&path, "parts"))),
            },
            other => return Err(wrong_type(&below(&path, "parts"), "an array", &other)),
        };
        let fields = Value::Object(message);
        messages.push(Message { role, role_name, fields, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

fn parts(list: Vec<Value>, path: &str) -> Result<Vec<MessagePart>> {
    let mut parts = Vec::with_capacity(list.len());
    let mut step = 0;
    for (index, value) in list.into_iter().enumerate() {
        let start = parts.len();
        part(value, &at(path, index), &mut parts)?;
        step += usize::from(matches!(parts[start].kind, PartKind::Marker));
        for part in &mut parts[start..] {
            part.step = step;
        }
    }
    Ok(parts)
}

fn part(value: Value, path: &str, parts: &mut Vec<MessagePart>) -> Result<()> {
    let map = into_object(value, path)?;
    let kind = required(&map, "type", path)?.to_owned();
    let is_ours = map.get("providerExecuted") != Some(&Value::Bool(true));
    let name = match kind.strip_prefix("tool-") {
        Some(name) => Some(name.to_owned()),
        None if kind == "dynamic-tool" => Some(required(&map, "toolName", path)?.to_owned()),
        None => None,
    };
    if let Some(name) = name {
        let start = parts.len();
        tool(map, name, path, parts)?;
        if !is_ours {
            parts[start..].iter_mut().for_each(of_provider);
        }
        return Ok(());
    }
    let part_kind = match kind.as_str() {
        "text" if map.get("text").is_some_and(Value::is_string) => PartKind::Text,
        "reasoning" | "reasoning-file" => PartKind::Reasoning,
        "step-start" => PartKind::Marker,
        // The user spoke while the model was at work.
        "steering-message" => {
            let texts: Vec<&str> = map
                .get("parts")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|part| part.get("text").and_then(Value::as_str).unwrap_or("[file]"))
                .collect();
            let label = format!("[the user, meanwhile]\n{}", texts.join("\n"));
            parts.push(MessagePart::opaque(FIELD, Value::Object(map), &label, None));
            return Ok(());
        }
        "file" => {
            let info = MediaInfo::of(&map).unwrap_or_default();
            let kind = if info.media_type.starts_with("image/") { "image" } else { "file" };
            let label = MediaInfo { kind, ..info }.label();
            parts.push(MessagePart::media(FIELD, Value::Object(map), &label));
            return Ok(());
        }
        _ => PartKind::Opaque,
    };
    let slots =
        if part_kind == PartKind::Text { vec![TextSlot::text("/text", optional(&map, "text"))] } else { Vec::new() };
    // Sources and data are for the user interface, not for the model: they show nothing.
    parts.push(MessagePart::new(part_kind, FIELD, Value::Object(map), slots));
    Ok(())
}

/// Makes a call, or the rest of its part with the result, that of a tool which the provider ran itself.
fn of_provider(part: &mut MessagePart) {
    part.kind = match std::mem::replace(&mut part.kind, PartKind::Marker) {
        PartKind::ToolCall { id, name } => PartKind::ServerCall { id, name },
        PartKind::ToolResult { id, name, is_error } => {
            REST.clone_into(&mut part.field);
            PartKind::ServerResult { id, name, is_error }
        }
        other => other,
    };
}

fn tool(mut map: JsonMap, name: String, path: &str, parts: &mut Vec<MessagePart>) -> Result<()> {
    let id = required(&map, "toolCallId", path)?.to_owned();
    let state = optional(&map, "state").to_owned();
    let mut result = JsonMap::new();
    for field in RESULT_FIELDS {
        if let Some(value) = map.get_mut(*field) {
            result.insert((*field).to_owned(), value.take());
        }
    }
    let input = ["input", "rawInput"].into_iter().find(|key| map.get(*key).is_some_and(|value| !value.is_null()));
    let slots = input.map(|key| TextSlot::any(format!("/{key}"), &map[key])).into_iter().collect();
    let (is_error, slots_of_result) = match state.as_str() {
        "output-error" => (true, result.get("errorText").map(|text| TextSlot::any("/errorText", text))),
        "output-denied" => {
            let reason = map.get("approval").and_then(|approval| approval.get("reason")).and_then(Value::as_str);
            (true, Some(TextSlot::label(reason.unwrap_or("The call was denied."))))
        }
        "output-available" => (false, result.get("output").map(|output| TextSlot::any("/output", output))),
        _ => (false, None),
    };
    let has_result = state.starts_with("output-");
    if !has_result {
        for (field, value) in std::mem::take(&mut result) {
            map.insert(field, value);
        }
    }
    result.insert("state".to_owned(), state.into());
    parts.push(MessagePart::new(
        PartKind::ToolCall { id: id.clone(), name: name.clone() },
        FIELD,
        Value::Object(map),
        slots,
    ));
    if has_result {
        let slots = slots_of_result.into_iter().collect();
        parts.push(MessagePart::new(PartKind::ToolResult { id, name, is_error }, FIELD, Value::Object(result), slots));
    }
    Ok(())
}

/// A message being written.
struct UiMessage {
    role: Role,
    /// Index of the message it was read from.
    index: Option<usize>,
    value: Value,
}

/// Writes messages. Those of the model in a row are one message of several steps, unless they were several.
pub fn write(messages: Vec<OutgoingMessage>, first: usize, ids: &mut UniqueIds) -> Vec<Value> {
    let mut written: Vec<UiMessage> = Vec::new();
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        if message.role == Role::Tool {
            continue;
        }
        let results = match messages.peek_mut() {
            Some(next) if next.role == Role::Tool => std::mem::take(&mut next.parts),
            _ => Vec::new(),
        };
        let mut results = by_call(results);
        for parts in by_message(message.parts) {
            add_parts(&mut written, message.role, parts, &mut results);
        }
    }
    let values = written.into_iter().enumerate().map(|(index, mut message)| {
        let id = message.value.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let wanted = id.map_or_else(|| format!("message-{}", first + index), str::to_owned);
        let unique = ids.unique(&wanted, Format::AiSdkUi);
        if id != Some(unique.as_str()) {
            put(&mut message.value, "id", unique.into());
        }
        message.value
    });
    values.collect()
}

fn by_call(results: Vec<OutgoingPart>) -> SortedMap<String, OutgoingPart> {
    let mut map = SortedMap::new();
    for part in results {
        if let PartContent::ToolResult(result) = &part.content {
            map.insert(result.call_id.clone(), part);
        }
    }
    map
}

fn add_parts(
    written: &mut Vec<UiMessage>,
    role: Role,
    mut parts: Vec<OutgoingPart>,
    results: &mut SortedMap<String, OutgoingPart>,
) {
    // A call that was made up for a result is where the result was.
    let beside = parts.first().and_then(|part| match &part.content {
        PartContent::ToolCall(call) => results.get_mut(&call.id),
        _ => None,
    });
    let (mut index, mut fields) = beside.map_or((None, None), |part| (part.message(), part.message_fields.take()));
    index = parts.first().and_then(OutgoingPart::message).or(index);
    fields = parts.iter_mut().find_map(|part| part.message_fields.take()).or(fields);
    let continues = written
        .last()
        .is_some_and(|last| last.role == role && last.index == index && (index.is_some() || role == Role::Assistant));
    if continues {
        let starts_step = parts.iter().any(|part| {
            part.original
                .as_ref()
                .is_some_and(|original| original.value.get("type").is_some_and(|kind| kind == "step-start"))
        });
        if let Some(last) = written.last_mut().filter(|_| role == Role::Assistant && !starts_step) {
            put(&mut last.value, FIELD, json!({ "type": "step-start" }));
        }
    } else {
        let name = match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant | Role::Tool => "assistant",
        };
        let mut value = fields.unwrap_or_else(|| json!({ "id": "", "role": name }));
        if value.get("parts").is_none() && value.get("content").is_none() {
            put(&mut value, "parts", json!([]));
        }
        written.push(UiMessage { role, index, value });
    }
    let Some(last) = written.last_mut() else { return };
    for part in parts {
        write_part(&mut last.value, part, results);
    }
}

fn write_part(message: &mut Value, part: OutgoingPart, results: &mut SortedMap<String, OutgoingPart>) {
    let (field, value) = match (part.original, part.content) {
        (original, PartContent::ToolCall(call)) => {
            let part = original.map_or_else(|| new_call(&call), |original| original.value);
            (FIELD.to_owned(), with_result(part, results.remove(&call.id)))
        }
        (Some(original), _) => (original.field, original.value),
        (None, PartContent::Text(text)) => (FIELD.to_owned(), json!({ "type": "text", "text": text })),
        (None, _) => return,
    };
    put(message, &field, value);
}

fn new_call(call: &ToolCallPart) -> Value {
    let kind = format!("tool-{}", call.name);
    json!({ "type": kind, "toolCallId": call.id, "state": "input-available", "input": call.object() })
}

/// Puts the result into the part of its call.
fn with_result(mut call: Value, result: Option<OutgoingPart>) -> Value {
    let Value::Object(map) = &mut call else { return call };
    match result.map(|part| (part.original, part.content)) {
        Some((Some(original), _)) => {
            for (field, value) in original.value.as_object().into_iter().flatten() {
                map.insert(field.clone(), value.clone());
            }
        }
        Some((None, PartContent::ToolResult(result))) => new_result(map, &result),
        _ if optional(map, "state").starts_with("output-") => {
            for field in RESULT_FIELDS {
                map.shift_remove(*field);
            }
            map.insert("state".into(), "input-available".into());
        }
        _ => {}
    }
    call
}

fn new_result(map: &mut JsonMap, result: &ToolResultPart) {
    for field in RESULT_FIELDS {
        map.shift_remove(*field);
    }
    let (state, field, value) = if result.is_error {
        ("output-error", "errorText", Value::from(result.text.as_str()))
    } else {
        ("output-available", "output", result.value())
    };
    map.insert("state".into(), state.into());
    map.insert(field.into(), value);
    // An error may come without the input; a result may not.
    if !map.contains_key("input") && !result.is_error {
        map.insert("input".into(), json!({}));
    }
}
