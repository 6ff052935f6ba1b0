//! Contents of Gemini, in camel case or with underscores.

use serde_json::{Value, json};

use super::ai_sdk_ui::has_types;
use super::alternating::{AlternatingMessage, AlternatingPart, AlternatingPartKind, MISSING_START, alternate_roles};
use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource, label_of};
use super::message::{Message, MessagePart, PartKind, Role, TextSlot, at, below, parts_in};
use super::names::{ANY_ID, NAME_CHARS, legal, marked};
use super::outgoing::{OutgoingMessage, OutgoingPart, PartContent, warn_of_moved};
use super::provider::{Images, MediaOfResults, MediaPlace, NO_RULES, Overhead, Provider, Rules, Sign};
use super::signatures::{SIGNATURE, Signatures, Spellings};
use super::{Warnings, into_object, optional, required, role_of, take_field};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};
use contextweaver_text::unicode::trim;

const CALL: Spellings = ["functionCall", "function_call"];
const RESPONSE: Spellings = ["functionResponse", "function_response"];
/// Tools that Google runs: the field of the call and of its result, the arguments in the one, the output in the other.
const RUN_BY_GOOGLE: [RunByGoogle; 2] = [
    RunByGoogle {
        call: ["executableCode", "executable_code"],
        result: ["codeExecutionResult", "code_execution_result"],
        texts: ["code", "output"],
    },
    RunByGoogle {
        call: ["toolCall", "tool_call"],
        result: ["toolResponse", "tool_response"],
        texts: ["args", "response"],
    },
];
/// Outcomes of code that are failures.
const FAILED: &[&str] = &["OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"];

struct RunByGoogle {
    call: Spellings,
    result: Spellings,
    texts: [&'static str; 2],
}

/// The names of the roles in this format.
const ROLES: &[(&str, Role)] = &[("user", Role::User), ("model", Role::Assistant), ("function", Role::User)];

/// An image at high resolution, whatever its size.
const IMAGE_TOKENS: u64 = 1_120;

/// Types of media that are read, those of each side as a whole and single ones.
const MEDIA_TYPES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "audio/",
    "video/",
    "application/pdf",
    "text/",
];

/// Contents.
pub const GEMINI: Provider = Provider {
    read: |list, options| read(list, options.system.clone(), options.start, &options.open_calls),
    write: |messages, options, before, warnings| {
        let follows = before.count() > 0;
        write(messages, follows, options.thought_signatures, &mut before.signatures, warnings)
    },
    list: Some("contents"),
    systems: &["systemInstruction", "system_instruction"],
    sign,
    is_likely: |message| message.get("parts").is_some_and(Value::is_array) && !has_types(message),
    name_calls: |namer, message, path| {
        // Ids are optional there.
        namer.parts(message, path, "parts", |namer, part, path| {
            if let Some(call) = part.get_mut("functionCall") {
                namer.name(call, &below(path, "functionCall"), "name");
            }
        });
    },
    ids: ANY_ID,
    legal_name,
    has_argument_text: false,
    parts: ("parts[]", None),
    // It takes calls without thoughts, and has a sign for those that lost their signature.
    rules: Rules { needs_turn: true, calls_need_reasoning: false, signs_calls: true, ..NO_RULES },
    media: |place, media| match place {
        MediaPlace::Message(Role::System) => None,
        _ => media_part(media),
    },
    media_of_results: MediaOfResults::Beside,
    images: Some(Images { tokens: |_| IMAGE_TOKENS, most: 3_600 }),
    overhead: Overhead {
        text: 6,
        calls: 5,
        call: 0,
        results: Some(4),
        // A response is an object, `{"output": …}` where the tool gave none.
        result: 22,
        is_result_alone: false,
        has_call_ids: false,
        has_result_ids: false,
        has_result_names: true,
    },
    shares_message: |before, role| Some(before == role || (before, role) == (Role::Tool, Role::User)),
};

fn sign(message: &Value) -> Option<Sign> {
    let key_of = |part: &Value| {
        let keys = [CALL, RESPONSE].into_iter().flatten().filter(|_| part.get("type").is_none());
        keys.into_iter().find(|key| part.get(*key).is_some_and(Value::is_object))
    };
    let mut parts = parts_in(message, "parts").iter().enumerate();
    let (index, key) = parts.find_map(|(index, part)| Some((index, key_of(part)?)))?;
    Some(Sign::new(key, format!("/parts/{index}/{key}")))
}

/// Dots and colons are allowed besides, but a letter or `_` has to be first.
fn legal_name(name: &str) -> String {
    if name.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_') {
        return legal(name, NAME_CHARS, true, ".:");
    }
    legal(&format!("_{}", marked(name, NAME_CHARS - 1, true, ".:")), NAME_CHARS, true, ".:")
}

fn media_part(media: &Attachment) -> Option<Value> {
    let fits = |known: &&str| {
        if known.ends_with('/') { media.media_type.starts_with(*known) } else { media.media_type == *known }
    };
    if !MEDIA_TYPES.iter().any(fits) {
        return None;
    }
    match media.source {
        MediaSource::Bytes(data) => Some(json!({ "inlineData": { "mimeType": media.media_type, "data": data } })),
        MediaSource::Address(url) => Some(json!({ "fileData": { "mimeType": media.media_type, "fileUri": url } })),
        MediaSource::None => None,
    }
}

/// Reads contents, and the system instruction that stands beside them.
pub fn read(
    list: Vec<Value>,
    system: Option<Value>,
    start: usize,
    open_calls: &[(String, String)],
) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len() + 1);
    if let Some(system) = system.filter(|system| !system.is_null()) {
        messages.push(read_system(system)?);
    }
    let mut calls = PendingCalls::default();
    for (name, id) in open_calls {
        calls.add(name, id);
    }
    for (index, content) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut content = into_object(content, &path)?;
        let (role_name, role) = match content.get("role") {
            // Without a role a content is the user's.
            None | Some(Value::Null) => ("user".to_owned(), Role::User),
            Some(_) => role_of(&content, &path, ROLES, "; the system instruction stands beside the contents")?,
        };
        // Contents of the model in a row are one response.
        let before = messages.last().filter(|before| role == Role::Assistant && before.role == role);
        let group = before.map_or(index, |before| before.group);
        if role == Role::Assistant && group == index {
            calls = PendingCalls::default();
        }
        let path = below(&path, "parts");
        let parts = match take_field(&mut content, "parts") {
            Value::Null => Vec::new(),
            Value::Array(list) => read_parts(list, role, &mut calls, start + index, &path)?,
            other => return Err(wrong_type(&path, "an array", &other)),
        };
        messages.push(Message { role, role_name, fields: Value::Object(content), parts, group, index: Some(index) });
    }
    Ok(messages)
}

fn read_system(system: Value) -> Result<Message> {
    let (fields, parts) = match system {
        Value::String(_) => {
            let slot = TextSlot::any("", &system);
            (Value::from(""), vec![MessagePart::new(PartKind::Text, "", system, vec![slot])])
        }
        other => {
            let mut content = into_object(other, "/system")?;
            let parts = match take_field(&mut content, "parts") {
                Value::Null => Vec::new(),
                Value::Array(list) => read_parts(list, Role::System, &mut PendingCalls::default(), 0, "/system/parts")?,
                other => return Err(wrong_type("/system/parts", "an array", &other)),
            };
            (Value::Object(content), parts)
        }
    };
    // It is no part of the first content.
    let parts = parts.into_iter().map(|part| MessagePart { step: 1, ..part }).collect();
    Ok(Message { role: Role::System, role_name: "system".to_owned(), fields, parts, group: 0, index: None })
}

/// The calls of the last response of the model, by name: results without an id answer them in their order.
#[derive(Default)]
struct PendingCalls(SortedMap<String, PendingIds>);

/// The ids of the calls of one name, and how many of them have a result.
#[derive(Default)]
struct PendingIds {
    ids: Vec<String>,
    answered: usize,
}

impl PendingCalls {
    fn add(&mut self, name: &str, id: &str) {
        self.0.get_or_insert(&name.to_owned(), PendingIds::default()).ids.push(id.to_owned());
    }

    /// Takes the oldest call of a name without a result.
    fn take(&mut self, name: &str) -> Option<String> {
        let queue = self.0.get_mut(name)?;
        let id = queue.ids.get(queue.answered)?;
        queue.answered += 1;
        Some(id.clone())
    }
}

/// Returns the first spelling of a field that a part has, and its value.
fn field(part: &JsonMap, names: Spellings) -> Option<(&'static str, &Value)> {
    names.into_iter().find_map(|name| part.get(name).filter(|value| !value.is_null()).map(|value| (name, value)))
}

fn read_parts(
    list: Vec<Value>,
    role: Role,
    calls: &mut PendingCalls,
    message: usize,
    path: &str,
) -> Result<Vec<MessagePart>> {
    let mut parts = Vec::with_capacity(list.len());
    // Code has no id of its own: its output follows it.
    let mut last_run = None;
    for (index, value) in list.into_iter().enumerate() {
        let path = at(path, index);
        let map = into_object(value, &path)?;
        let id = format!("call_{message}_{index}");
        if let Some((key, call)) = field(&map, CALL) {
            must_be(role == Role::Assistant, "the model", &below(&path, key))?;
            let (kind, slots) = read_call(call, key, &id, calls, &below(&path, key))?;
            parts.extend(with_signature(map, kind, slots));
        } else if let Some((key, response)) = field(&map, RESPONSE) {
            must_be(role == Role::User, "the user", &below(&path, key))?;
            let (kind, slots) = read_response(response, key, &id, calls, &below(&path, key))?;
            let media = slots.iter().filter(|slot| slot.pointer.is_none()).count() as u64;
            let part = MessagePart::new(kind, "parts[]", Value::Object(map), slots);
            parts.push(MessagePart { tokens: Some(media * MEDIA_TOKENS), ..part });
        } else if let Some((kind, slots)) = run_by_google(&map, &id, &mut last_run).filter(|_| role == Role::Assistant)
        {
            parts.push(MessagePart::new(kind, "parts[]", Value::Object(map), slots));
        } else {
            parts.push(read_content_part(map));
        }
    }
    Ok(parts)
}

fn must_be(fits: bool, side: &str, path: &str) -> Result<()> {
    let error = || Error::new(ErrorCode::InvalidInput, format!("this part belongs into a content of {side}"));
    if fits { Ok(()) } else { Err(error().at(path)) }
}

/// Reads a part that is a call of a tool of Google's, or what that returned: its kind, and its text. Code and its output are text,
/// arguments and responses JSON. `last` is the call before it.
fn run_by_google(part: &JsonMap, id: &str, last: &mut Option<(String, String)>) -> Option<(PartKind, Vec<TextSlot>)> {
    RUN_BY_GOOGLE.iter().find_map(|run| {
        let own = |map: &JsonMap| Some(optional(map, "id")).filter(|id| !id.is_empty()).map(str::to_owned);
        let slots = |key: &str, map: &JsonMap, text: &str| {
            let value = map.get(text).filter(|value| !value.is_null());
            value.map(|value| TextSlot::any(format!("/{key}/{text}"), value)).into_iter().collect()
        };
        let [arguments, output] = run.texts;
        if let Some((key, Value::Object(call))) = field(part, run.call) {
            let kind = optional(call, "toolType");
            let name = if kind.is_empty() { "code_execution".to_owned() } else { kind.to_lowercase() };
            let id = own(call).unwrap_or_else(|| id.to_owned());
            *last = Some((id.clone(), name.clone()));
            return Some((PartKind::ServerCall { id, name }, slots(key, call, arguments)));
        }
        let (key, Value::Object(result)) = field(part, run.result)? else { return None };
        let (before, name) = last.clone()?;
        let is_error = FAILED.contains(&optional(result, "outcome"));
        let kind = PartKind::ServerResult { id: own(result).unwrap_or(before), name, is_error };
        Some((kind, slots(key, result, output)))
    })
}

/// Reads a part that is neither call nor result.
fn read_content_part(map: JsonMap) -> MessagePart {
    let text = map.get("text").and_then(Value::as_str);
    let is_thought = map.get("thought") == Some(&Value::Bool(true));
    // A signature may be in a part with empty text.
    let carries = field(&map, SIGNATURE).is_some() && text.is_none_or(|text| trim(text).is_empty());
    if is_thought || carries && (text.is_some() || map.len() == 1) {
        return MessagePart::new(PartKind::Reasoning, "parts[]", Value::Object(map), Vec::new());
    }
    if let Some(text) = text {
        let slots = vec![TextSlot::text("/text", text)];
        return MessagePart::new(PartKind::Text, "parts[]", Value::Object(map), slots);
    }
    match MediaInfo::of(&map).map(|media| media.label()) {
        Some(label) => MessagePart::media("parts[]", Value::Object(map), &label),
        None => MessagePart::unknown("parts[]", Value::Object(map)),
    }
}

fn read_call(
    call: &Value,
    key: &str,
    id: &str,
    calls: &mut PendingCalls,
    path: &str,
) -> Result<(PartKind, Vec<TextSlot>)> {
    let map = call.as_object().ok_or_else(|| wrong_type(path, "an object", call))?;
    let name = required(map, "name", path)?.to_owned();
    let id = Some(optional(map, "id")).filter(|id| !id.is_empty()).unwrap_or(id).to_owned();
    calls.add(&name, &id);
    let arguments = map.get("args").filter(|arguments| !arguments.is_null());
    let slots = arguments.map(|arguments| TextSlot::json(format!("/{key}/args"), arguments)).into_iter().collect();
    Ok((PartKind::ToolCall { id, name }, slots))
}

fn read_response(
    response: &Value,
    key: &str,
    id: &str,
    calls: &mut PendingCalls,
    path: &str,
) -> Result<(PartKind, Vec<TextSlot>)> {
    let map = response.as_object().ok_or_else(|| wrong_type(path, "an object", response))?;
    let name = required(map, "name", path)?.to_owned();
    let given = Some(optional(map, "id")).filter(|id| !id.is_empty()).map(str::to_owned);
    let id = given.or_else(|| calls.take(&name)).unwrap_or_else(|| id.to_owned());
    let pointer = format!("/{key}/response");
    let (mut slots, mut is_error) = (Vec::new(), false);
    match map.get("response") {
        None | Some(Value::Null) => {}
        Some(value) => {
            let only = value.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
            let only = only.map(|(name, value)| (name.as_str(), value));
            is_error = only.is_some_and(|(name, _)| name == "error");
            slots.push(match only {
                Some((name @ ("output" | "result" | "error" | "content"), Value::String(text))) => {
                    TextSlot::text(below(&pointer, name), text)
                }
                // What is no object is wrapped when it is written.
                Some((name @ "error", value) | (name @ "output", value @ Value::Array(_))) => {
                    TextSlot::json(below(&pointer, name), value)
                }
                _ => TextSlot::json(pointer, value),
            });
        }
    }
    // Images and the like that the function gave.
    for (index, part) in map.get("parts").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let media = part.as_object().and_then(MediaInfo::of).map(|media| media.label());
        let pointer = format!("/{key}/parts/{index}");
        slots.push(TextSlot::media(media.unwrap_or_else(|| label_of(part)), pointer));
    }
    Ok((PartKind::ToolResult { id, name, is_error }, slots))
}

/// Takes the signature out of the part of a call: it is reasoning, without which the call may not be repeated. Null
/// stands where it was.
fn with_signature(mut map: JsonMap, kind: PartKind, slots: Vec<TextSlot>) -> Vec<MessagePart> {
    let signature = SIGNATURE.into_iter().find_map(|name| match map.get_mut(name) {
        Some(value) if !value.is_null() => Some((name, value.take())),
        _ => None,
    });
    let signature = signature.map(|(name, value)| MessagePart::new(PartKind::Reasoning, name, value, Vec::new()));
    let call = MessagePart::new(kind, "parts[]", Value::Object(map), slots);
    signature.into_iter().chain([call]).collect()
}

/// Writes contents, and the system instruction that stands beside them.
///
/// `signatures` says what is known of the calls before these, and afterwards of these, too. `are_required` is known of the model.
pub fn write(
    messages: Vec<OutgoingMessage>,
    follows: bool,
    are_required: bool,
    signatures: &mut Signatures,
    warnings: &mut Warnings,
) -> (Vec<Value>, Option<Value>) {
    let (mut system, mut list) = (Vec::new(), Vec::new());
    let mut system_fields = None;
    for mut message in messages {
        let is_system = message.role == Role::System;
        if is_system && (follows || !list.is_empty()) {
            warn_of_moved(message.parts.first().map_or(0, |part| part.item), warnings);
        }
        if is_system && system_fields.is_none() {
            system_fields = message.parts.iter_mut().find_map(|part| part.message_fields.take());
        }
        let mut signature = None;
        let message = AlternatingMessage::new(message, |part| write_part(part, &mut signature, warnings));
        if is_system { system.extend(message.parts) } else { list.push(message) }
    }
    let result = |call: &AlternatingPart, text: &str| {
        let name = call_of(&call.value, CALL).and_then(|call| call.get("name")).cloned();
        json!({ "functionResponse": { "name": name, "response": { "error": text } } })
    };
    let mut list = alternate_roles(list, false, result, (!follows).then(|| json!({ "text": MISSING_START })), warnings);
    for index in 1..list.len() {
        let (before, rest) = list.split_at_mut(index);
        match_responses(&mut before[index - 1].parts, &mut rest[0].parts);
    }
    signatures.sign(&mut list, are_required);
    let messages = list.into_iter().map(write_content).collect();
    (messages, write_system(system, system_fields))
}

fn write_content(message: AlternatingMessage) -> Value {
    let mut content = message.fields;
    let is_response = message.parts.iter().all(|part| part.kind == AlternatingPartKind::ToolResult);
    let role = if message.is_user { "user" } else { "model" };
    let was_read = content.contains_key("parts");
    match content.get_mut("role") {
        // A content with other parts than results is the user's.
        Some(given) if given == "function" && !is_response => *given = role.into(),
        Some(_) => {}
        // The user's may be without a role.
        None if message.is_user && was_read => {}
        None => {
            content = std::iter::once(("role".to_owned(), Value::from(role))).chain(content).collect();
        }
    }
    content.insert("parts".to_owned(), message.parts.into_iter().map(|part| part.value).collect());
    Value::Object(content)
}

fn write_system(parts: Vec<AlternatingPart>, fields: Option<Value>) -> Option<Value> {
    if let ([part], Some(Value::String(_))) = (&parts[..], &fields) {
        return part.value.get("text").cloned();
    }
    if parts.is_empty() {
        return None;
    }
    let mut content = fields.and_then(|fields| fields.as_object().cloned()).unwrap_or_default();
    content.insert("parts".to_owned(), parts.into_iter().map(|part| part.value).collect());
    Some(Value::Object(content))
}

/// Makes the part as the provider is sent it. An empty one is refused and left out. A signature waits for its call.
fn write_part(
    mut part: OutgoingPart,
    signature: &mut Option<(String, Value)>,
    warnings: &mut Warnings,
) -> Option<AlternatingPart> {
    let original = part.original.as_mut().map(|original| (original.field.clone(), original.value.take()));
    let mut value = match original {
        Some((field, value)) if part.content == PartContent::Reasoning && SIGNATURE.contains(&field.as_str()) => {
            *signature = Some((field, value));
            return None;
        }
        Some((_, Value::String(text))) => json!({ "text": text }),
        // A content without parts.
        Some((field, _)) if field.is_empty() => json!({ "text": "" }),
        Some((_, value)) => legal_part(&part.content, value),
        None => new_part(&part.content)?,
    };
    if matches!(part.content, PartContent::ToolCall(_))
        && let (Some((name, signature)), Some(part)) = (signature.take(), value.as_object_mut())
    {
        part.insert(name, signature);
    }
    let is_alone = value.as_object().is_some_and(|part| part.len() == 1);
    let is_blank = |text: &Value| match text {
        Value::String(text) => trim(text).is_empty(),
        // Beside other fields null counts as absent.
        Value::Null => is_alone,
        _ => true,
    };
    if part.content != PartContent::Reasoning && value.get("text").is_some_and(is_blank) {
        if part.original.is_some() {
            let message = "a content or part that says nothing is left out";
            warnings.add("EMPTY_LEFT_OUT", message, at("/items", part.item));
        }
        return None;
    }
    Some(AlternatingPart::new(&part, value))
}

/// Makes objects of arguments and responses that are none, which the provider would refuse.
fn legal_part(content: &PartContent, mut part: Value) -> Value {
    match content {
        PartContent::ToolCall(call) => {
            let is_legal = |arguments: &Value| arguments.is_object() || arguments.is_null();
            if let Some(fields) = call_of_mut(&mut part, CALL).filter(|fields| !fields.get("args").is_none_or(is_legal))
            {
                fields.insert("args".to_owned(), Value::Object(call.object()));
            }
        }
        PartContent::ToolResult(_) => {
            if let Some(fields) = call_of_mut(&mut part, RESPONSE) {
                let response = match fields.get_mut("response").map(Value::take) {
                    Some(response @ Value::Object(_)) => response,
                    None | Some(Value::Null) => json!({}),
                    Some(other) => json!({ "output": other }),
                };
                fields.insert("response".to_owned(), response);
            }
        }
        PartContent::Text(_) | PartContent::Reasoning | PartContent::Opaque => {}
    }
    part
}

fn new_part(content: &PartContent) -> Option<Value> {
    match content {
        PartContent::Text(text) => Some(json!({ "text": text })),
        PartContent::ToolCall(call) => Some(json!({ "functionCall": { "name": call.name, "args": call.object() } })),
        PartContent::ToolResult(result) => {
            let response = match result.value() {
                value @ Value::Object(_) if !result.is_error => value,
                value => json!({ (if result.is_error { "error" } else { "output" }): value }),
            };
            Some(json!({ "functionResponse": { "name": result.name, "response": response } }))
        }
        PartContent::Reasoning | PartContent::Opaque => None,
    }
}

fn call_of(part: &Value, names: Spellings) -> Option<&JsonMap> {
    part.as_object().and_then(|part| field(part, names)).and_then(|(_, call)| call.as_object())
}

fn call_of_mut(part: &mut Value, names: Spellings) -> Option<&mut JsonMap> {
    let name = names.into_iter().find(|name| part.get(*name).is_some_and(Value::is_object))?;
    part.get_mut(name)?.as_object_mut()
}

/// Puts responses into the order of their calls, unless ids tell which is which, and gives a rewritten call or response
/// the id that the other one has.
fn match_responses(calls: &mut [AlternatingPart], responses: &mut [AlternatingPart]) {
    let mut positions: SortedMap<String, usize> = SortedMap::new();
    for (position, call) in calls.iter().enumerate().filter(|(_, call)| call.kind == AlternatingPartKind::ToolCall) {
        positions.insert(call.id.clone(), position);
    }
    let mut count = 0;
    for response in responses.iter_mut().filter(|response| response.kind == AlternatingPartKind::ToolResult) {
        count += 1;
        let Some(call) = positions.get(&response.id).and_then(|position| calls.get_mut(*position)) else { continue };
        if call.is_original && response.is_original {
            continue;
        }
        let (Some(call), Some(response)) =
            (call_of_mut(&mut call.value, CALL), call_of_mut(&mut response.value, RESPONSE))
        else {
            continue;
        };
        match (call.get("id").cloned(), response.get("id").cloned()) {
            (Some(id), None) => drop(response.insert("id".to_owned(), id)),
            (None, Some(id)) => drop(call.insert("id".to_owned(), id)),
            _ => {}
        }
    }
    let has_id =
        |part: &AlternatingPart| call_of(&part.value, RESPONSE).is_some_and(|response| response.contains_key("id"));
    let results = &mut responses[..count];
    if !results.iter().all(has_id) {
        sort_by(results, |a, b| positions.get(&a.id).cmp(&positions.get(&b.id)));
    }
}
