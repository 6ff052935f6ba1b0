//! Messages of Anthropic.

use serde_json::{Value, json};

use super::alternating::{AlternatingMessage, AlternatingPart, AlternatingPartKind, MISSING_START, alternate_roles};
use super::images::Squares;
use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource, PDF, label_of};
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, kind_of, parts_in};
use super::names::{IdRule, plain_name};
use super::outgoing::{
    OutgoingMessage, OutgoingPart, PartContent, ToolResultPart, by_message, warn_of_moved, warn_of_trimmed,
};
use super::provider::{Images, MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules, Sign};
use super::server_tools::readable;
use super::{Warnings, into_object, optional, required, role_of, take_field};
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] = &[("user", Role::User), ("assistant", Role::Assistant), ("system", Role::System)];

/// Squares of 28 pixels; larger images are scaled down to 4,784 of them.
const SQUARES: Squares = Squares { pixels: 28, most: 4_784, tenths: 10 };

/// Types of blocks that are likely of this format; of images and documents those with a source.
const TYPES: &[&str] = &["thinking", "redacted_thinking", "server_tool_use"];

/// Messages.
pub const ANTHROPIC: Provider = Provider {
    read: |list, options| read(list, options.system.clone()),
    write: |messages, options, before, warnings| write(messages, before.count() > 0, options.is_steady, warnings),
    list: Some("messages"),
    systems: &["system"],
    sign,
    is_likely: |message| {
        let is_source = |block: &Value| matches!(kind_of(block), "image" | "document") && block.get("source").is_some();
        parts_in(message, "content").iter().any(|block| TYPES.contains(&kind_of(block)) || is_source(block))
    },
    name_calls: |namer, message, path| {
        namer.content(message, path, ["tool_use", "id", "name"], ["tool_result", "tool_use_id"]);
    },
    // Others are refused.
    ids: IdRule { longest: 64, is_plain: true },
    legal_name: plain_name,
    has_argument_text: false,
    parts: ("content[]", Some("text")),
    rules: Rules { needs_turn: true, replaces_results: true, ..NO_RULES },
    media: |place, media| match place {
        // The model's own messages take none, and a failed result is text.
        MediaPlace::Message(Role::System | Role::Assistant) | MediaPlace::FailedResult => None,
        _ => media_part(media),
    },
    media_of_results: MediaOfResults::Inside,
    images: Some(Images { tokens: |size| SQUARES.tokens(size), most: 100 }),
    overhead: Overhead {
        text: 13,
        calls: 9,
        call: 9,
        results: Some(4),
        result: 12,
        is_result_alone: false,
        has_call_ids: true,
        has_result_ids: true,
        has_result_names: false,
    },
    shares_message: |before, role| Some(before == role || (before, role) == (Role::Tool, Role::User)),
};

fn sign(message: &Value) -> Option<Sign> {
    let is_sign = |block: &&Value| matches!(kind_of(block), "tool_use" | "tool_result");
    sign_in_content(message, is_sign)
}

/// Finds the first part of a message that is a sign.
pub fn sign_in_content(message: &Value, is_sign: impl Fn(&&Value) -> bool) -> Option<Sign> {
    let mut parts = parts_in(message, "content").iter().enumerate();
    let (index, part) = parts.find(|(_, part)| is_sign(part))?;
    Some(Sign::new(kind_of(part), format!("/content/{index}/type")))
}

fn media_part(media: &Attachment) -> Option<Value> {
    let is_image = media.is_common_image();
    if !is_image && media.media_type != PDF {
        return None;
    }
    let source = match media.source {
        MediaSource::Bytes(data) => json!({ "type": "base64", "media_type": media.media_type, "data": data }),
        MediaSource::Address(url) => json!({ "type": "url", "url": url }),
        MediaSource::None => return None,
    };
    let mut part = json!({ "type": if is_image { "image" } else { "document" }, "source": source });
    if !is_image && !media.name.is_empty() {
        part["title"] = media.name.into();
    }
    Some(part)
}

/// Reads messages, and `system` that stands beside them.
pub fn read(list: Vec<Value>, system: Option<Value>) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len() + 1);
    if let Some(system) = system.filter(|system| !system.is_null()) {
        messages.push(read_system(system)?);
    }
    let mut has_calls = false;
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut message = into_object(message, &path)?;
        let (role_name, role) = role_of(&message, &path, ROLES, "")?;
        let parts = content(take_field(&mut message, "content"), "content", role, &below(&path, "content"))?;
        // Messages of the model in a row are one response, until it thinks again behind a call, whose result is missing.
        let before = messages.last().filter(|before| role == Role::Assistant && before.role == role);
        let thinks = parts.iter().any(|part| part.kind == PartKind::Reasoning);
        let group = before.filter(|_| !(has_calls && thinks)).map_or(index, |before| before.group);
        has_calls =
            group != index && has_calls || parts.iter().any(|part| matches!(part.kind, PartKind::ToolCall { .. }));
        messages.push(Message { role, role_name, fields: Value::Object(message), parts, group, index: Some(index) });
    }
    Ok(messages)
}

fn read_system(system: Value) -> Result<Message> {
    let mut message: JsonMap = [("system".to_owned(), system)].into_iter().collect();
    let mut parts = content(take_field(&mut message, "system"), "system", Role::System, "/system")?;
    for part in &mut parts {
        // It is no part of the first message.
        part.step = 1;
    }
    let (role, role_name, fields) = (Role::System, "system".to_owned(), Value::Object(message));
    Ok(Message { role, role_name, fields, parts, group: 0, index: None })
}

fn content(content: Value, field: &str, role: Role, path: &str) -> Result<Vec<MessagePart>> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(_) => {
            let slot = TextSlot::any("", &content);
            Ok(vec![MessagePart::new(PartKind::Text, field, content, vec![slot])])
        }
        Value::Array(list) => {
            let field = format!("{field}[]");
            list.into_iter().enumerate().map(|(index, value)| block(value, &field, role, &at(path, index))).collect()
        }
        other => Err(wrong_type(path, "a string or an array", &other)),
    }
}

fn block(value: Value, field: &str, role: Role, path: &str) -> Result<MessagePart> {
    let map = value.as_object().ok_or_else(|| wrong_type(path, "an object", &value))?;
    let kind = optional(map, "type");
    let must_be_from = |from: Role, name: &str| {
        let message = format!("{} belongs into a message of the {name}", quote(kind));
        let error = || Error::new(ErrorCode::InvalidInput, message).at(below(path, "type"));
        if role == from { Ok(()) } else { Err(error()) }
    };
    match kind {
        "tool_use" => {
            must_be_from(Role::Assistant, "assistant")?;
            let (id, name) = (required(map, "id", path)?.to_owned(), required(map, "name", path)?.to_owned());
            let input = map.get("input").filter(|input| !input.is_null());
            let slots = input.map(|input| TextSlot::json("/input", input)).into_iter().collect();
            Ok(MessagePart::new(PartKind::ToolCall { id, name }, field, value, slots))
        }
        "tool_result" => {
            must_be_from(Role::User, "user")?;
            let id = required(map, "tool_use_id", path)?.to_owned();
            let is_error = map.get("is_error") == Some(&Value::Bool(true));
            let (slots, tokens) = result_texts(map.get("content"));
            let part =
                MessagePart::new(PartKind::ToolResult { id, name: String::new(), is_error }, field, value, slots);
            Ok(MessagePart { tokens: Some(tokens), ..part })
        }
        "server_tool_use" | "mcp_tool_use" if role == Role::Assistant && map.contains_key("id") => {
            let (id, name) = (required(map, "id", path)?.to_owned(), optional(map, "name").to_owned());
            let input = map.get("input").filter(|input| !input.is_null());
            let slots = input.map(|input| TextSlot::json("/input", input)).into_iter().collect();
            Ok(MessagePart::new(PartKind::ServerCall { id, name }, field, value, slots))
        }
        _ if role == Role::Assistant && kind.ends_with("_tool_result") && map.contains_key("tool_use_id") => {
            let id = required(map, "tool_use_id", path)?.to_owned();
            let content = map.get("content").unwrap_or(&Value::Null);
            let is_failure = content.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_error"));
            let is_error = is_failure || map.get("is_error") == Some(&Value::Bool(true));
            let mut slots = readable(content, "/content");
            if slots.is_empty() {
                slots.push(TextSlot::label(label_of(&value)));
            }
            Ok(MessagePart::new(PartKind::ServerResult { id, name: String::new(), is_error }, field, value, slots))
        }
        "thinking" | "redacted_thinking" if role == Role::Assistant => {
            Ok(MessagePart::new(PartKind::Reasoning, field, value, Vec::new()))
        }
        _ => Ok(match (texts(map, ""), media_label(map)) {
            (Some(slots), _) => MessagePart::new(PartKind::Text, field, value, slots),
            (None, Some(label)) => MessagePart::media(field, value, &label),
            (None, None) => MessagePart::unknown(field, value),
        }),
    }
}

/// Returns the texts of a result, and the tokens of its media.
fn result_texts(content: Option<&Value>) -> (Vec<TextSlot>, u64) {
    let (mut slots, mut tokens) = (Vec::new(), 0);
    match content {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) => {
            for (index, part) in list.iter().enumerate() {
                let (map, pointer) = (part.as_object(), at("/content", index));
                if let Some(texts) = map.and_then(|map| texts(map, &pointer)) {
                    slots.extend(texts);
                    continue;
                }
                tokens += MEDIA_TOKENS;
                slots.push(match map.and_then(media_label) {
                    Some(label) => TextSlot::media(label, pointer),
                    None => TextSlot::media(label_of(part), pointer),
                });
            }
        }
        Some(other) => slots.push(TextSlot::any("/content", other)),
    }
    (slots, tokens)
}

/// Returns the texts of a block that is at `base`, if it is made of texts: text, search results, documents in text.
fn texts(block: &JsonMap, base: &str) -> Option<Vec<TextSlot>> {
    match optional(block, "type") {
        "text" => Some(vec![TextSlot::text(format!("{base}/text"), block.get("text")?.as_str()?)]),
        "compaction" => Some(vec![TextSlot::text(format!("{base}/content"), block.get("content")?.as_str()?)]),
        "search_result" => {
            let about = MediaInfo {
                kind: "search result",
                name: optional(block, "title"),
                data: optional(block, "source"),
                ..MediaInfo::default()
            };
            under_label(about.label(), block.get("content")?, &format!("{base}/content"))
        }
        "document" => {
            let label = media_label(block)?;
            let source = block.get("source")?.as_object()?;
            let key = match optional(source, "type") {
                "text" => "data",
                "content" => "content",
                _ => return None,
            };
            under_label(label, source.get(key)?, &format!("{base}/source/{key}"))
        }
        _ => None,
    }
}

/// Returns a label and the texts below it, which are one string or a list of blocks.
fn under_label(label: String, content: &Value, base: &str) -> Option<Vec<TextSlot>> {
    let mut slots = vec![TextSlot::label(label)];
    if let Value::String(text) = content {
        slots.push(TextSlot::text(base, text));
        return Some(slots);
    }
    for (index, part) in content.as_array()?.iter().enumerate() {
        let part = part.as_object().filter(|part| optional(part, "type") == "text")?;
        slots.push(TextSlot::text(format!("{}/text", at(base, index)), part.get("text")?.as_str()?));
    }
    Some(slots)
}

/// Returns the label of an image, a document or a file.
fn media_label(block: &JsonMap) -> Option<String> {
    Some(MediaInfo::of(block)?.label())
}

/// Writes messages, and `system` that stands beside them.
///
/// Instructions that stood among the messages stay there: behind a message of the user, the one place where the provider takes them.
/// Others go beside the messages, as older models refuse them elsewhere.
pub fn write(
    messages: Vec<OutgoingMessage>,
    follows: bool,
    is_steady: bool,
    warnings: &mut Warnings,
) -> (Vec<Value>, Option<Value>) {
    let (mut system, mut list): (Vec<AlternatingPart>, Vec<AlternatingMessage>) = (Vec::new(), Vec::new());
    // Instructions that wait for a message of the user to stand behind.
    let mut waiting: Vec<AlternatingMessage> = Vec::new();
    for message in messages.into_iter().flat_map(split_instructions) {
        let (is_system, is_inside, is_first) = (message.role == Role::System, stands_inside(&message), list.is_empty());
        let item = message.parts.first().map_or(0, |part| part.item);
        let mut message = AlternatingMessage::new(message, |part| write_block(part, warnings));
        match list.last_mut() {
            _ if message.parts.is_empty() => {}
            Some(before) if is_system && is_inside && before.is_user => before.instruct(message),
            Some(_) if is_system && is_inside => waiting.push(message),
            _ if is_system => {
                if follows || !is_first {
                    warn_of_moved(item, warnings);
                }
                system.extend(message.parts);
            }
            _ => {
                if message.is_user {
                    waiting.drain(..).for_each(|instructions| message.instruct(instructions));
                }
                list.push(message);
            }
        }
    }
    for instructions in waiting {
        warn_of_moved(instructions.parts[0].item, warnings);
        system.extend(instructions.parts);
    }
    pair_server_tools(&mut list, warnings);
    let result = |call: &AlternatingPart, text: &str| json!({ "type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": true });
    let start = (!follows).then(|| json!({ "type": "text", "text": MISSING_START }));
    let mut list = alternate_roles(list, true, result, start, warnings);
    list.iter_mut().filter(|message| !message.is_user).for_each(AlternatingMessage::put_calls_last);
    let first = if is_steady { 0 } else { list.len().saturating_sub(1) };
    list[first..].iter_mut().for_each(|message| trim_end(message, warnings));
    let with_instructions = |mut message: AlternatingMessage| {
        let instructions = message.instructions.take();
        std::iter::once(message).chain(instructions.map(|instructions| *instructions))
    };
    let messages = list.into_iter().flat_map(with_instructions).map(write_message).collect();
    (messages, write_system(system))
}

/// Parts instructions by the messages that they were read from: some stood beside the conversation, some in it.
fn split_instructions(message: OutgoingMessage) -> Vec<OutgoingMessage> {
    if message.role != Role::System {
        return vec![message];
    }
    let OutgoingMessage { role, parts, lost_reasoning } = message;
    by_message(parts).into_iter().map(|parts| OutgoingMessage { role, parts, lost_reasoning }).collect()
}

/// Tells whether instructions stood among the messages of this format.
fn stands_inside(message: &OutgoingMessage) -> bool {
    let fields = message.parts.iter().find_map(|part| part.message_fields.as_ref());
    fields.and_then(|fields| fields.get("role")).is_some_and(|role| role == "system")
}

/// Takes white space off the end of a message of the model; a last one is refused with it.
fn trim_end(message: &mut AlternatingMessage, warnings: &mut Warnings) {
    let Some(block) = message.parts.last_mut().filter(|_| !message.is_user) else { return };
    let Some(text) = block.value.get("text").and_then(Value::as_str) else { return };
    let trimmed = text.trim_end().to_owned();
    if trimmed.len() == text.len() {
        return;
    }
    // What is nothing but white space was left out before.
    block.value["text"] = trimmed.into();
    warn_of_trimmed(block.item, warnings);
}

fn write_message(alternating: AlternatingMessage) -> Value {
    let mut message = alternating.fields;
    // Where it has to be added it comes first.
    if !message.contains_key("role") {
        let role = if alternating.is_user { "user" } else { "assistant" };
        message = std::iter::once(("role".to_owned(), Value::from(role))).chain(message).collect();
    }
    let was_list = message.get("content").is_some_and(Value::is_array);
    let content = match &alternating.parts[..] {
        [block] if block.is_plain_text && !was_list => block.value["text"].clone(),
        _ => alternating.parts.into_iter().map(|block| block.value).collect(),
    };
    message.insert("content".to_owned(), content);
    Value::Object(message)
}

fn write_system(blocks: Vec<AlternatingPart>) -> Option<Value> {
    if blocks.is_empty() {
        return None;
    }
    if !blocks.iter().all(|block| block.is_plain_text) {
        return Some(blocks.into_iter().map(|block| block.value).collect());
    }
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.value["text"].as_str()).collect();
    Some(texts.join("\n\n").into())
}

/// Makes the block of a part. An empty one is refused by the provider and left out.
fn write_block(mut part: OutgoingPart, warnings: &mut Warnings) -> Option<AlternatingPart> {
    let is_original = part.original.is_some();
    let (value, is_plain_text) = match (part.original.as_mut().map(|original| original.value.take()), &part.content) {
        (Some(Value::String(text)), _) => (json!({ "type": "text", "text": text }), true),
        (Some(mut block), PartContent::ToolCall(call)) => {
            if !block.get("input").is_some_and(Value::is_object) {
                block["input"] = Value::Object(call.object());
            }
            (block, false)
        }
        (Some(block), _) => (block, false),
        (None, PartContent::Text(text)) => (json!({ "type": "text", "text": text }), true),
        (None, PartContent::ToolCall(call)) => {
            (json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() }), false)
        }
        (None, PartContent::ToolResult(result)) => {
            let mut block =
                json!({ "type": "tool_result", "tool_use_id": result.call_id, "content": content_of(result) });
            if result.is_error {
                block["is_error"] = true.into();
            }
            (block, false)
        }
        (None, _) => return None,
    };
    let is_text = value.get("type").is_none_or(|kind| kind == "text");
    let is_message = part.original.as_ref().is_some_and(|original| original.field.is_empty());
    if is_message || is_text && value.get("text").and_then(Value::as_str).is_none_or(|text| trim(text).is_empty()) {
        if is_original {
            warnings.add("EMPTY_LEFT_OUT", "a message or block that says nothing is left out", at("/items", part.item));
        }
        return None;
    }
    Some(AlternatingPart { is_plain_text, ..AlternatingPart::new(&part, value) })
}

/// Returns the content of a result: its text, with media in a list.
fn content_of(result: &ToolResultPart) -> Value {
    if result.media.is_empty() {
        return result.text.as_str().into();
    }
    let text = (!trim(&result.text).is_empty()).then(|| json!({ "type": "text", "text": result.text }));
    text.into_iter().chain(result.media.iter().cloned()).collect()
}

/// Leaves out calls of tools that the provider runs itself without their results, and results without their calls. Calls
/// in the last message of the model may wait, and so may code that called a tool of the caller's.
fn pair_server_tools(list: &mut [AlternatingMessage], warnings: &mut Warnings) {
    let newest = list.iter().rposition(|message| !message.is_user && !message.parts.is_empty());
    let mut callers = Vec::new();
    // Calls without a result so far, by id, and the parts that have no other half: message and part.
    let mut open: SortedMap<String, Option<(usize, usize)>> = SortedMap::new();
    let mut torn: Vec<(usize, usize)> = Vec::new();
    for (index, message) in list.iter().enumerate() {
        for (place, block) in message.parts.iter().enumerate() {
            let caller = block.value.get("caller").and_then(|caller| caller.get("tool_id")).and_then(Value::as_str);
            callers.extend(caller.map(str::to_owned));
            match server_tool(block) {
                Some((id, true)) => torn.extend(open.insert(id.to_owned(), Some((index, place))).flatten()),
                Some((id, false)) if open.get_mut(id).and_then(Option::take).is_none() => torn.push((index, place)),
                _ => {}
            }
        }
    }
    let callers = WordSet::new(callers);
    for (id, call) in open.iter() {
        torn.extend(call.filter(|(index, _)| Some(*index) != newest && !callers.contains(id)));
    }
    contextweaver_base::order::sort(&mut torn);
    for (index, place) in torn.into_iter().rev() {
        let block = list[index].parts.remove(place);
        let message = "half of a call that the provider ran itself is left out";
        warnings.add("OPAQUE_LEFT_OUT", message, at("/items", block.item));
    }
    forget_callers(list);
}

/// Takes the name of the code that called a tool off a call where that code is not there.
fn forget_callers(list: &mut [AlternatingMessage]) {
    let blocks = list.iter().flat_map(|message| &message.parts);
    let calls = blocks.filter_map(server_tool).filter(|(_, is_call)| *is_call).map(|(id, _)| id.to_owned());
    let calls = WordSet::new(calls.collect());
    for block in list.iter_mut().flat_map(|message| &mut message.parts) {
        let Some(map) = block.value.as_object_mut() else { continue };
        let caller = map.get("caller").and_then(|caller| caller.get("tool_id")).and_then(Value::as_str);
        if caller.is_some_and(|id| !calls.contains(id)) {
            map.shift_remove("caller");
        }
    }
}

/// Returns the id of a call that the provider runs itself, or of its result; `true` for the call.
fn server_tool(block: &AlternatingPart) -> Option<(&str, bool)> {
    let map = block.value.as_object().filter(|_| block.kind == AlternatingPartKind::Other)?;
    match optional(map, "type") {
        "server_tool_use" | "mcp_tool_use" => Some((optional(map, "id"), true)),
        kind if kind.ends_with("_tool_result") => Some((optional(map, "tool_use_id"), false)),
        _ => None,
    }
}
