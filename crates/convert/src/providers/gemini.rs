//! Contents of Gemini, in camel case or with underscores.

use serde_json::{Value, json};

use super::media::{Media, media, unknown};
use super::part::{Body, Message, Part, Piece, Role, Slot, Turn, What, at, below};
use super::said::{BEGINNING, Block, Kind, Said, in_turns};
use super::{Warnings, hollow, open, optional, required, speaker};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};
use contextweaver_text::unicode::trim;

/// The two spellings of a field.
type Names = [&'static str; 2];

const CALL: Names = ["functionCall", "function_call"];
const RESPONSE: Names = ["functionResponse", "function_response"];
const SIGNATURE: Names = ["thoughtSignature", "thought_signature"];

/// Who speaks.
const ROLES: &[(&str, Role)] = &[("user", Role::User), ("model", Role::Assistant), ("function", Role::User)];

/// Reads contents, and the system instruction that stands beside them.
pub fn read(list: Vec<Value>, system: Option<Value>, start: usize) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len() + 1);
    if let Some(system) = system.filter(|system| !system.is_null()) {
        messages.push(read_system(system)?);
    }
    let mut calls = Calls::default();
    for (index, content) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut entry = open(content, &path)?;
        let (role_name, role) = match entry.get("role") {
            // Who speaks is the user unless something else is said.
            None | Some(Value::Null) => ("user".to_owned(), Role::User),
            Some(_) => speaker(&entry, &path, ROLES, "; the system instruction stands beside the contents")?,
        };
        // What the model says in several contents is one answer.
        let before = messages.last().filter(|before| role == Role::Assistant && before.role == role);
        let group = before.map_or(index, |before| before.group);
        if role == Role::Assistant && group == index {
            calls = Calls::default();
        }
        let path = below(&path, "parts");
        let parts = match hollow(&mut entry, "parts") {
            Value::Null => Vec::new(),
            Value::Array(list) => read_parts(list, role, &mut calls, start + index, &path)?,
            other => return Err(wrong_type(&path, "an array", &other)),
        };
        messages.push(Message { role, role_name, shell: Value::Object(entry), parts, group, index: Some(index) });
    }
    Ok(messages)
}

fn read_system(system: Value) -> Result<Message> {
    let (shell, parts) = match system {
        Value::String(_) => {
            let slot = Slot::any("", &system);
            (Value::from(""), vec![Part::new(Body::Text, "", system, vec![slot])])
        }
        other => {
            let mut entry = open(other, "/system")?;
            let parts = match hollow(&mut entry, "parts") {
                Value::Null => Vec::new(),
                Value::Array(list) => read_parts(list, Role::System, &mut Calls::default(), 0, "/system/parts")?,
                other => return Err(wrong_type("/system/parts", "an array", &other)),
            };
            (Value::Object(entry), parts)
        }
    };
    // It is not said together with the first content.
    let parts = parts.into_iter().map(|part| Part { step: 1, ..part }).collect();
    Ok(Message { role: Role::System, role_name: "system".to_owned(), shell, parts, group: 0, index: None })
}

/// The calls of what the model said last, by name: responses without an id answer them in their order.
#[derive(Default)]
struct Calls(SortedMap<String, Queue>);

/// The ids of the calls of one name, and how many of them have an answer.
#[derive(Default)]
struct Queue {
    ids: Vec<String>,
    answered: usize,
}

impl Calls {
    fn add(&mut self, name: &str, id: &str) {
        self.0.get_or_insert(&name.to_owned(), Queue::default()).ids.push(id.to_owned());
    }

    /// Takes the oldest call of a name without an answer.
    fn answer(&mut self, name: &str) -> Option<String> {
        let queue = self.0.get_mut(name)?;
        let id = queue.ids.get(queue.answered)?;
        queue.answered += 1;
        Some(id.clone())
    }
}

/// Returns the field of a part and its name as it is spelled.
fn field(part: &JsonMap, names: Names) -> Option<(&'static str, &Value)> {
    names.into_iter().find_map(|name| part.get(name).filter(|value| !value.is_null()).map(|value| (name, value)))
}

fn read_parts(list: Vec<Value>, role: Role, calls: &mut Calls, message: usize, path: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::with_capacity(list.len());
    for (index, value) in list.into_iter().enumerate() {
        let path = at(path, index);
        let map = open(value, &path)?;
        let id = format!("call_{message}_{index}");
        if let Some((key, call)) = field(&map, CALL) {
            must_be(role == Role::Assistant, "the model", &below(&path, key))?;
            let (body, slots) = read_call(call, key, &id, calls, &below(&path, key))?;
            parts.extend(with_signature(map, body, slots));
        } else if let Some((key, response)) = field(&map, RESPONSE) {
            must_be(role == Role::User, "the user", &below(&path, key))?;
            let (body, slots) = read_response(response, key, &id, calls, &below(&path, key))?;
            parts.push(Part::new(body, "parts[]", Value::Object(map), slots));
        } else {
            parts.push(read_said(map));
        }
    }
    Ok(parts)
}

fn must_be(fits: bool, side: &str, path: &str) -> Result<()> {
    let error = || Error::new(ErrorCode::InvalidInput, format!("this part belongs into a content of {side}"));
    if fits { Ok(()) } else { Err(error().at(path)) }
}

/// Reads a part that is neither call nor response.
fn read_said(map: JsonMap) -> Part {
    let text = map.get("text").and_then(Value::as_str);
    let is_thought = map.get("thought") == Some(&Value::Bool(true));
    // A signature may ride on a text that says nothing.
    let carries = field(&map, SIGNATURE).is_some() && text.is_none_or(|text| trim(text).is_empty());
    if is_thought || carries && (text.is_some() || map.len() == 1) {
        return Part::new(Body::Reasoning, "parts[]", Value::Object(map), Vec::new());
    }
    let slot = |place: &str, text: &str| vec![Slot::text(place, text)];
    if let Some(text) = text {
        let slots = slot("/text", text);
        return Part::new(Body::Text, "parts[]", Value::Object(map), slots);
    }
    match label(&map) {
        Some((label, true)) => media("parts[]", Value::Object(map), &label),
        Some((label, false)) => Part::opaque("parts[]", Value::Object(map), &label, None),
        None => unknown("parts[]", Value::Object(map)),
    }
}

/// Returns what stands in the text for a part without text, and whether it is media.
fn label(map: &JsonMap) -> Option<(String, bool)> {
    let object = |names| field(map, names).and_then(|(_, value)| value.as_object());
    let text =
        |map: &JsonMap, names: Names| field(map, names).and_then(|(_, value)| value.as_str()).unwrap_or("").to_owned();
    let (blob, data) = match (object(["inlineData", "inline_data"]), object(["fileData", "file_data"])) {
        (Some(blob), _) => (blob, optional(blob, "data").to_owned()),
        (None, Some(file)) => (file, text(file, ["fileUri", "file_uri"])),
        _ => {
            let name = ["executableCode", "executable_code", "codeExecutionResult", "code_execution_result"]
                .into_iter()
                .find(|name| map.get(*name).is_some_and(Value::is_object))?;
            let inner = map.get(name)?.as_object()?;
            let shown = if name.starts_with("exec") { optional(inner, "code") } else { optional(inner, "output") };
            let what = if name.starts_with("exec") { "code" } else { "output of code" };
            return Some((format!("[{what}]\n{shown}"), false));
        }
    };
    let media_type = text(blob, ["mimeType", "mime_type"]);
    let kind = media_type.split('/').next().unwrap_or("");
    let what = if matches!(kind, "image" | "audio" | "video") { kind } else { "file" };
    let name = text(blob, ["displayName", "display_name"]);
    Some((Media { what, media_type: &media_type, name: &name, data: &data }.label(), true))
}

fn read_call(call: &Value, key: &str, id: &str, calls: &mut Calls, path: &str) -> Result<(Body, Vec<Slot>)> {
    let map = call.as_object().ok_or_else(|| wrong_type(path, "an object", call))?;
    let name = required(map, "name", path)?.to_owned();
    let id = Some(optional(map, "id")).filter(|id| !id.is_empty()).unwrap_or(id).to_owned();
    calls.add(&name, &id);
    let arguments = map.get("args").filter(|arguments| !arguments.is_null());
    let slots = arguments.map(|arguments| Slot::json(format!("/{key}/args"), arguments)).into_iter().collect();
    Ok((Body::Call { id, name }, slots))
}

fn read_response(response: &Value, key: &str, id: &str, calls: &mut Calls, path: &str) -> Result<(Body, Vec<Slot>)> {
    let map = response.as_object().ok_or_else(|| wrong_type(path, "an object", response))?;
    let name = required(map, "name", path)?.to_owned();
    let given = Some(optional(map, "id")).filter(|id| !id.is_empty()).map(str::to_owned);
    let id = given.or_else(|| calls.answer(&name)).unwrap_or_else(|| id.to_owned());
    let place = format!("/{key}/response");
    let (mut slots, mut is_error) = (Vec::new(), false);
    match map.get("response") {
        None | Some(Value::Null) => {}
        Some(value) => {
            let only = value.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
            let only = only.map(|(name, value)| (name.as_str(), value));
            is_error = only.is_some_and(|(name, _)| name == "error");
            slots.push(match only {
                Some((name @ ("output" | "result" | "error" | "content"), Value::String(text))) => {
                    Slot::text(below(&place, name), text)
                }
                // What is no object is wrapped when it is written.
                Some((name @ "error", value) | (name @ "output", value @ Value::Array(_))) => {
                    Slot::json(below(&place, name), value)
                }
                _ => Slot::json(place, value),
            });
        }
    }
    Ok((Body::Result { id, name, is_error }, slots))
}

/// Takes the signature out of the part of a call: it is reasoning, without which the call may not be repeated. Null
/// stands where it was.
fn with_signature(mut map: JsonMap, body: Body, slots: Vec<Slot>) -> Vec<Part> {
    let signature = SIGNATURE.into_iter().find_map(|name| match map.get_mut(name) {
        Some(value) if !value.is_null() => Some((name, value.take())),
        _ => None,
    });
    let signature = signature.map(|(name, value)| Part::new(Body::Reasoning, name, value, Vec::new()));
    let call = Part::new(body, "parts[]", Value::Object(map), slots);
    signature.into_iter().chain([call]).collect()
}

/// Writes contents, and the system instruction that stands beside them.
pub fn write(turns: Vec<Turn>, warnings: &mut Warnings) -> (Vec<Value>, Option<Value>) {
    let (mut system, mut list) = (Vec::new(), Vec::new());
    let mut system_shell = None;
    for mut turn in turns {
        let is_system = turn.role == Role::System;
        if is_system && system_shell.is_none() {
            system_shell = turn.pieces.iter_mut().find_map(|piece| piece.shell.take());
        }
        let mut signature = None;
        let said = Said::new(turn, |piece| write_part(piece, &mut signature, warnings));
        if is_system { system.extend(said.blocks) } else { list.push(said) }
    }
    let result = |call: &Block, text: &str| {
        let name = call_of(&call.value, CALL).and_then(|call| call.get("name")).cloned();
        json!({ "functionResponse": { "name": name, "response": { "error": text } } })
    };
    let mut list = in_turns(list, false, result, json!({ "text": BEGINNING }), warnings);
    for index in 1..list.len() {
        let (before, rest) = list.split_at_mut(index);
        match_responses(&mut before[index - 1].blocks, &mut rest[0].blocks);
    }
    let messages = list.into_iter().map(write_content).collect();
    (messages, write_system(system, system_shell))
}

fn write_content(said: Said) -> Value {
    let mut entry = said.shell;
    let is_response = said.blocks.iter().all(|block| block.kind == Kind::Result);
    let role = if said.is_user { "user" } else { "model" };
    let was_read = entry.contains_key("parts");
    match entry.get_mut("role") {
        // Who gives responses and says something besides is the user.
        Some(given) if given == "function" && !is_response => *given = role.into(),
        Some(_) => {}
        // Without a role it is the user who speaks.
        None if said.is_user && was_read => {}
        None => {
            entry = std::iter::once(("role".to_owned(), Value::from(role))).chain(entry).collect();
        }
    }
    entry.insert("parts".to_owned(), said.blocks.into_iter().map(|block| block.value).collect());
    Value::Object(entry)
}

fn write_system(blocks: Vec<Block>, shell: Option<Value>) -> Option<Value> {
    if let ([block], Some(Value::String(_))) = (&blocks[..], &shell) {
        return block.value.get("text").cloned();
    }
    if blocks.is_empty() {
        return None;
    }
    let mut entry = shell.and_then(|shell| shell.as_object().cloned()).unwrap_or_default();
    entry.insert("parts".to_owned(), blocks.into_iter().map(|block| block.value).collect());
    Some(Value::Object(entry))
}

/// Makes the part of a piece. What is empty is refused by the provider and left out. A signature waits for its call.
fn write_part(mut piece: Piece, signature: &mut Option<(String, Value)>, warnings: &mut Warnings) -> Option<Block> {
    let exact = piece.exact.as_mut().map(|exact| (exact.field.clone(), exact.value.take()));
    let mut value = match exact {
        Some((field, value)) if piece.what == What::Reasoning && SIGNATURE.contains(&field.as_str()) => {
            *signature = Some((field, value));
            return None;
        }
        Some((_, Value::String(text))) => json!({ "text": text }),
        // A content without parts.
        Some((field, _)) if field.is_empty() => json!({ "text": "" }),
        Some((_, part)) => legal_part(&piece.what, part),
        None => new_part(&piece.what)?,
    };
    if matches!(piece.what, What::Call(_))
        && let (Some((name, signature)), Some(part)) = (signature.take(), value.as_object_mut())
    {
        part.insert(name, signature);
    }
    let is_alone = value.as_object().is_some_and(|part| part.len() == 1);
    let is_blank = |text: &Value| match text {
        Value::String(text) => trim(text).is_empty(),
        // Null is nothing beside something else.
        Value::Null => is_alone,
        _ => true,
    };
    if piece.what != What::Reasoning && value.get("text").is_some_and(is_blank) {
        if piece.exact.is_some() {
            let message = "a content or part that says nothing is left out";
            warnings.add("EMPTY_LEFT_OUT", message, at("/items", piece.item));
        }
        return None;
    }
    Some(Block::new(&piece, value))
}

/// Makes objects of arguments and responses that are none, which the provider would refuse.
fn legal_part(what: &What, mut part: Value) -> Value {
    match what {
        What::Call(call) => {
            let is_legal = |arguments: &Value| arguments.is_object() || arguments.is_null();
            if let Some(fields) = call_of_mut(&mut part, CALL).filter(|fields| !fields.get("args").is_none_or(is_legal))
            {
                fields.insert("args".to_owned(), Value::Object(call.object()));
            }
        }
        What::Result(_) => {
            if let Some(fields) = call_of_mut(&mut part, RESPONSE) {
                let response = match fields.get_mut("response").map(Value::take) {
                    Some(response @ Value::Object(_)) => response,
                    None | Some(Value::Null) => json!({}),
                    Some(other) => json!({ "output": other }),
                };
                fields.insert("response".to_owned(), response);
            }
        }
        What::Text(_) | What::Reasoning | What::Carried => {}
    }
    part
}

fn new_part(what: &What) -> Option<Value> {
    match what {
        What::Text(text) => Some(json!({ "text": text })),
        What::Call(call) => Some(json!({ "functionCall": { "name": call.name, "args": call.object() } })),
        What::Result(answer) => {
            let response = match answer.value() {
                value @ Value::Object(_) if !answer.is_error => value,
                value => json!({ (if answer.is_error { "error" } else { "output" }): value }),
            };
            Some(json!({ "functionResponse": { "name": answer.name, "response": response } }))
        }
        What::Reasoning | What::Carried => None,
    }
}

fn call_of(part: &Value, names: Names) -> Option<&JsonMap> {
    part.as_object().and_then(|part| field(part, names)).and_then(|(_, call)| call.as_object())
}

fn call_of_mut(part: &mut Value, names: Names) -> Option<&mut JsonMap> {
    let name = names.into_iter().find(|name| part.get(*name).is_some_and(Value::is_object))?;
    part.get_mut(name)?.as_object_mut()
}

/// Puts responses into the order of their calls, unless ids tell which is which, and gives a rewritten call or response
/// the id that the other one has.
fn match_responses(calls: &mut [Block], responses: &mut [Block]) {
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for (place, call) in calls.iter().enumerate().filter(|(_, call)| call.kind == Kind::Call) {
        places.insert(call.id.clone(), place);
    }
    let mut count = 0;
    for response in responses.iter_mut().filter(|response| response.kind == Kind::Result) {
        count += 1;
        let Some(call) = places.get(&response.id).and_then(|place| calls.get_mut(*place)) else { continue };
        if call.is_exact && response.is_exact {
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
    let has_id = |block: &Block| call_of(&block.value, RESPONSE).is_some_and(|response| response.contains_key("id"));
    let results = &mut responses[..count];
    if !results.iter().all(has_id) {
        sort_by(results, |a, b| places.get(&a.id).cmp(&places.get(&b.id)));
    }
}
