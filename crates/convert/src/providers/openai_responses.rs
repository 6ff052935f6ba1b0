//! `input` of `OpenAI`'s Responses: messages, calls, results and reasoning beside each other.

use serde_json::{Value, json};

use super::entries::{by_message, shell_of};
use super::media::{label_of, unknown};
use super::openai_chat::{answer, block};
use super::part::{Body, Message, Part, Piece, Role, Slot, Turn, What, at, below, put};
use super::{hollow, open, optional, required, speaker};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};

/// Calls that the caller answers, with the field of their arguments.
const CALLS: &[(&str, &str)] = &[
    ("function_call", "arguments"),
    ("custom_tool_call", "input"),
    ("computer_call", "action"),
    ("local_shell_call", "action"),
    ("shell_call", "action"),
    ("apply_patch_call", "operation"),
];

/// Who speaks.
const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("developer", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

/// Reads items. What the model says in a row is one answer.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len());
    for (index, value) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let entry = open(value, &path)?;
        let kind = optional(&entry, "type").to_owned();
        let mut message = if kind == "message" || (kind.is_empty() && entry.contains_key("role")) {
            said(entry, &path)?
        } else {
            let part = whole(entry, &kind, &path)?;
            let role = if matches!(part.body, Body::Result { .. }) { Role::Tool } else { Role::Assistant };
            Message { role, role_name: String::new(), shell: Value::Null, parts: vec![part], group: 0, index: None }
        };
        message.index = Some(index);
        let before = messages.last().filter(|before| before.role == Role::Assistant && message.role == Role::Assistant);
        message.group = before.map_or(index, |before| before.group);
        messages.push(message);
    }
    Ok(messages)
}

fn said(mut entry: JsonMap, path: &str) -> Result<Message> {
    let (role_name, role) = speaker(&entry, path, ROLES, "")?;
    let parts = match hollow(&mut entry, "content") {
        Value::Null => Vec::new(),
        text @ Value::String(_) => {
            let slot = Slot::any("", &text);
            vec![Part::new(Body::Text, "content", text, vec![slot])]
        }
        Value::Array(list) => list.into_iter().map(|part| block("content[]", part)).collect(),
        other => return Err(wrong_type(&below(path, "content"), "a string or an array", &other)),
    };
    Ok(Message { role, role_name, shell: Value::Object(entry), parts, group: 0, index: None })
}

/// Reads what is no message.
fn whole(entry: JsonMap, kind: &str, path: &str) -> Result<Part> {
    if kind.is_empty() {
        return Err(Error::new(ErrorCode::MissingField, "missing field `type`").at(below(path, "type")));
    }
    if kind == "reasoning" {
        return Ok(Part::new(Body::Reasoning, "", Value::Object(entry), Vec::new()));
    }
    if let Some((_, input)) = CALLS.iter().find(|(call, _)| *call == kind) {
        let id = required(&entry, "call_id", path)?.to_owned();
        let is_named = matches!(kind, "function_call" | "custom_tool_call");
        let name = if is_named { required(&entry, "name", path)?.to_owned() } else { kind.to_owned() };
        let place = format!("/{input}");
        let slots = match entry.get(*input) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) if kind == "function_call" => vec![Slot::json_text(place, text)],
            Some(other) => vec![Slot::any(place, other)],
        };
        return Ok(Part::new(Body::Call { id, name }, "", Value::Object(entry), slots));
    }
    if let Some(call) = kind.strip_suffix("_output").filter(|kind| CALLS.iter().any(|(call, _)| call == kind)) {
        // The output of a local shell has the id of the call as its own.
        let key = if entry.contains_key("call_id") || call != "local_shell_call" { "call_id" } else { "id" };
        let id = required(&entry, key, path)?.to_owned();
        return Ok(result(entry, id));
    }
    Ok(unknown("", Value::Object(entry)))
}

fn result(mut entry: JsonMap, id: String) -> Part {
    let body = Body::Result { id, name: String::new(), is_error: false };
    let output = entry.get_mut("output").map(Value::take).unwrap_or_default();
    let is_shot = output.get("type").is_some_and(|kind| kind == "computer_screenshot");
    let mut part = if is_shot {
        let slots = vec![Slot::label(label_of(&output))];
        Part { tokens: Some(super::media::Media::tokens()), ..Part::new(body, "", output, slots) }
    } else if output.is_object() {
        let slots = vec![Slot::json("", &output)];
        Part::new(body, "", output, slots)
    } else {
        answer("", output, body)
    };
    for slot in &mut part.slots {
        slot.place = slot.place.take().map(|place| format!("/output{place}"));
    }
    let output = std::mem::take(&mut part.original);
    if let Some(slot) = entry.get_mut("output") {
        *slot = output;
    }
    part.original = Value::Object(entry);
    part
}

/// Writes items.
pub fn write(turns: Vec<Turn>) -> Vec<Value> {
    let mut written = Vec::new();
    // Results of calls of a kind whose results cannot be made up.
    let made_up = made_up(&turns);
    let mut kinds = SortedMap::new();
    for turn in turns {
        let role = turn.role;
        for pieces in by_message(turn.pieces) {
            write_pieces(pieces, role, turn.lost_reasoning, &made_up, &mut kinds, &mut written);
        }
    }
    written
}

fn made_up(turns: &[Turn]) -> Vec<String> {
    let results = turns.iter().filter(|turn| turn.role == Role::Tool).flat_map(|turn| &turn.pieces);
    let made_up = results.filter(|piece| piece.exact.is_none()).filter_map(|piece| match &piece.what {
        What::Result(answer) => Some(answer.id.clone()),
        _ => None,
    });
    let mut ids: Vec<String> = made_up.collect();
    contextweaver_base::order::sort(&mut ids);
    ids
}

fn write_pieces(
    mut pieces: Vec<Piece>,
    role: Role,
    lost_reasoning: bool,
    made_up: &[String],
    kinds: &mut SortedMap<String, String>,
    written: &mut Vec<Value>,
) {
    let role_name = match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant | Role::Tool => "assistant",
    };
    let shell = shell_of(&mut pieces, Value::Null);
    let mut message = Value::Null;
    for piece in pieces {
        let is_part = piece.exact.as_ref().is_some_and(|exact| !exact.field.is_empty());
        if !is_part && !message.is_null() {
            written.push(message.take());
        }
        match (piece.exact, piece.what) {
            (Some(exact), What::Call(call)) if keeps_kind(&exact.value, &call.id, made_up) => {
                kinds.insert(call.id, optional_kind(&exact.value).to_owned());
                written.push(exact.value);
            }
            (_, What::Call(call)) => written.push(write_call(&call)),
            (Some(exact), What::Result(answer))
                if optional_kind(&exact.value).strip_suffix("_output") == Some(kind_of(kinds, &answer.id)) =>
            {
                written.push(exact.value);
            }
            (_, What::Result(answer)) => {
                // Of the other kinds none is left here.
                let is_custom = kind_of(kinds, &answer.id) == "custom_tool_call";
                let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
                written.push(json!({ "type": kind, "call_id": answer.id, "output": answer.text }));
            }
            (Some(exact), _) if exact.field.is_empty() => written.push(exact.value),
            (Some(exact), _) => {
                if message.is_null() {
                    message = shell.clone();
                    if lost_reasoning && let Value::Object(map) = &mut message {
                        // With its id a message is refused without the reasoning that led to it.
                        map.shift_remove("id");
                    }
                }
                put(&mut message, &exact.field, exact.value);
            }
            (None, What::Text(text)) => {
                let role = shell.get("role").and_then(Value::as_str).unwrap_or(role_name);
                written.push(json!({ "type": "message", "role": role, "content": text }));
            }
            (None, What::Reasoning | What::Carried) => {}
        }
    }
    if !message.is_null() {
        written.push(message);
    }
}

fn optional_kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or("")
}

/// Returns the kind of a call that was written.
fn kind_of<'a>(kinds: &'a SortedMap<String, String>, id: &str) -> &'a str {
    kinds.get(id).map_or("function_call", String::as_str)
}

/// Tells whether a call can be written as it was: its result has to be of its kind, which cannot always be made up.
fn keeps_kind(call: &Value, id: &String, made_up: &[String]) -> bool {
    matches!(optional_kind(call), "function_call" | "custom_tool_call") || made_up.binary_search(id).is_err()
}

fn write_call(call: &super::part::Call) -> Value {
    json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.json_text() })
}
