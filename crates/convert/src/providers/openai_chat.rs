//! Messages of `OpenAI`'s chat completions.

use serde_json::{Value, json};

use super::entries::{by_message, shell_of};
use super::media::{Media, label_of, media, text_at, unknown};
use super::names::Ids;
use super::part::{Body, Message, Part, Piece, Role, Slot, Turn, What, at, below, put};
use super::{Format, hollow, open, required, speaker};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};
use contextweaver_text::unicode::quote;

/// Fields of an assistant message in which servers give what the model thought.
const REASONING_FIELDS: &[&str] = &["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// Who speaks.
const ROLES: &[(&str, Role)] = &[
    ("system", Role::System),
    ("developer", Role::System),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
    ("function", Role::Tool),
];

/// Reads messages.
pub fn read(list: Vec<Value>, start: usize) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    // Calls of the old form have no id; the latest of a name is the one that is answered.
    let mut functions: Vec<(String, String)> = Vec::new();
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut entry = open(message, &path)?;
        let (role_name, role) = speaker(&entry, &path, ROLES, "")?;
        let parts = match role_name.as_str() {
            "assistant" => assistant(&mut entry, &path, &format!("call_{}", start + index), &mut functions)?,
            "tool" => {
                let id = required(&entry, "tool_call_id", &path)?.to_owned();
                vec![result(&mut entry, &path, id, String::new())?]
            }
            "function" => {
                let name = required(&entry, "name", &path)?.to_owned();
                let place = functions.iter().rposition(|(known, _)| *known == name);
                let id = place.map_or_else(|| format!("call_{}", start + index), |place| functions.remove(place).1);
                vec![result(&mut entry, &path, id, name)?]
            }
            _ => content(&mut entry, &path)?,
        };
        let shell = Value::Object(entry);
        messages.push(Message { role, role_name, shell, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

fn assistant(entry: &mut JsonMap, path: &str, id: &str, functions: &mut Vec<(String, String)>) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for field in REASONING_FIELDS {
        if entry.get(*field).is_some_and(|value| !value.is_null()) {
            parts.push(Part::new(Body::Reasoning, field, hollow(entry, field), Vec::new()));
        }
    }
    parts.extend(content(entry, path)?);
    if entry.get("refusal").is_some_and(Value::is_string) {
        let refusal = hollow(entry, "refusal");
        let slot = Slot::any("", &refusal);
        parts.push(Part::new(Body::Text, "refusal", refusal, vec![slot]));
    }
    if entry.get("audio").is_some_and(Value::is_object) {
        let audio = hollow(entry, "audio");
        let said = audio.get("transcript").and_then(Value::as_str).unwrap_or("");
        let label = if said.is_empty() { "[audio]".to_owned() } else { format!("[audio] {said}") };
        parts.push(media("audio", audio, &label));
    }
    if entry.get("function_call").is_some_and(|call| !call.is_null()) {
        let at = below(path, "function_call");
        let call = open(hollow(entry, "function_call"), &at)?;
        let name = required(&call, "name", &at)?.to_owned();
        functions.push((name.clone(), id.to_owned()));
        let slots = arguments(call.get("arguments"), "/arguments");
        parts.push(Part::new(Body::Call { id: id.to_owned(), name }, "function_call", Value::Object(call), slots));
    }
    let calls_at = below(path, "tool_calls");
    match hollow(entry, "tool_calls") {
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

fn call(value: Value, path: &str) -> Result<Part> {
    let call = open(value, path)?;
    let id = required(&call, "id", path)?.to_owned();
    let kind = call.get("type").and_then(Value::as_str).unwrap_or("function");
    let (key, input) = if kind == "custom" { ("custom", "input") } else { ("function", "arguments") };
    let (name, slots) = match call.get(key) {
        Some(Value::Object(inner)) => {
            let name = required(inner, "name", &below(path, key))?.to_owned();
            let place = format!("/{key}/{input}");
            let given = inner.get(input);
            // What a custom tool gets is text, not JSON.
            let custom = given.and_then(Value::as_str).filter(|_| kind == "custom");
            (name, custom.map_or_else(|| arguments(given, &place), |text| vec![Slot::text(&place, text)]))
        }
        Some(other) => return Err(wrong_type(&below(path, key), "an object", other)),
        None if matches!(kind, "function" | "custom") => {
            let message = format!("missing field {}", quote(key));
            return Err(Error::new(ErrorCode::MissingField, message).at(below(path, key)));
        }
        None => (kind.to_owned(), Vec::new()),
    };
    Ok(Part::new(Body::Call { id, name }, "tool_calls[]", Value::Object(call), slots))
}

/// Returns the slot of arguments, which are JSON text or, from some servers, an object.
fn arguments(value: Option<&Value>, place: &str) -> Vec<Slot> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![Slot::json_text(place, text)],
        Some(other) => vec![Slot::json(place, other)],
    }
}

fn content(entry: &mut JsonMap, path: &str) -> Result<Vec<Part>> {
    match hollow(entry, "content") {
        Value::Null => Ok(Vec::new()),
        text @ Value::String(_) => {
            let slot = Slot::any("", &text);
            Ok(vec![Part::new(Body::Text, "content", text, vec![slot])])
        }
        Value::Array(list) => Ok(list.into_iter().map(|part| block("content[]", part)).collect()),
        other => Err(wrong_type(&below(path, "content"), "a string or an array", &other)),
    }
}

/// Reads a part of a content list, of this format or of Responses.
pub fn block(field: &str, value: Value) -> Part {
    if let Some(slot) = text_slot(&value, "") {
        return Part::new(Body::Text, field, value, vec![slot]);
    }
    match media_label(&value) {
        Some(label) => media(field, value, &label),
        None => unknown(field, value),
    }
}

/// Returns the text of a part, which is at `base`.
fn text_slot(value: &Value, base: &str) -> Option<Slot> {
    let key = match value.get("type").and_then(Value::as_str).unwrap_or("") {
        "" if value.is_string() => return Some(Slot::any(base, value)),
        "refusal" => "refusal",
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "" => "text",
        _ => return None,
    };
    Some(Slot::text(format!("{base}/{key}"), value.get(key)?.as_str()?))
}

/// Returns the label of a part that is no text, if it is known.
fn media_label(value: &Value) -> Option<String> {
    let part = value.as_object()?;
    let url = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_else(|| text_at(part, &[key, "url"]));
    let media = match part.get("type")?.as_str()? {
        "image_url" | "input_image" => Media { what: "image", data: url("image_url"), ..Media::default() },
        "input_audio" => Media {
            what: "audio",
            media_type: text_at(part, &["input_audio", "format"]),
            data: text_at(part, &["input_audio", "data"]),
            ..Media::default()
        },
        "file" => Media {
            what: "file",
            name: text_at(part, &["file", "filename"]),
            data: text_at(part, &["file", "file_data"]),
            ..Media::default()
        },
        "input_file" => {
            let data = if part.contains_key("file_url") { "file_url" } else { "file_data" };
            Media { what: "file", name: text_at(part, &["filename"]), data: text_at(part, &[data]), ..Media::default() }
        }
        _ => return None,
    };
    Some(media.label())
}

fn result(entry: &mut JsonMap, path: &str, id: String, name: String) -> Result<Part> {
    let content = hollow(entry, "content");
    if !matches!(content, Value::Null | Value::String(_) | Value::Array(_)) {
        return Err(wrong_type(&below(path, "content"), "a string or an array", &content));
    }
    Ok(answer("content", content, Body::Result { id, name, is_error: false }))
}

/// Makes the part of a result whose value is a string or a list of parts.
pub fn answer(field: &str, content: Value, body: Body) -> Part {
    let (mut slots, mut tokens) = (Vec::new(), 0);
    match &content {
        Value::Null => {}
        Value::Array(list) => {
            for (index, part) in list.iter().enumerate() {
                slots.push(text_slot(part, &format!("/{index}")).unwrap_or_else(|| {
                    tokens += Media::tokens();
                    Slot::label(media_label(part).unwrap_or_else(|| label_of(part)))
                }));
            }
        }
        other => slots.push(Slot::any("", other)),
    }
    Part { tokens: Some(tokens), ..Part::new(body, field, content, slots) }
}

/// Writes messages.
pub fn write(turns: Vec<Turn>) -> Vec<Value> {
    let mut messages = Vec::new();
    // Calls written in the old form, which their results then have, too.
    let mut functions = Ids::default();
    for turn in turns {
        match turn.role {
            Role::Assistant => messages.extend(write_assistant(turn.pieces, &mut functions)),
            Role::Tool => messages.extend(turn.pieces.into_iter().map(|piece| write_result(piece, &functions))),
            role => {
                let role = if role == Role::System { "system" } else { "user" };
                for pieces in by_message(turn.pieces) {
                    messages.push(write_text(pieces, role));
                }
            }
        }
    }
    messages
}

fn write_text(mut pieces: Vec<Piece>, role: &str) -> Value {
    let mut entry = shell_of(&mut pieces, json!({ "role": role }));
    for piece in pieces {
        match (piece.exact, piece.what) {
            (Some(exact), _) => put(&mut entry, &exact.field, exact.value),
            (None, What::Text(text)) => put_text(&mut entry, &text),
            _ => {}
        }
    }
    entry
}

/// Adds text to the content of a message, whichever form it has.
fn put_text(entry: &mut Value, text: &str) {
    match entry.get("content") {
        Some(Value::Array(_)) => put(entry, "content[]", json!({ "type": "text", "text": text })),
        Some(Value::String(before)) if !before.is_empty() => {
            let text = format!("{before}\n{text}");
            put(entry, "content", text.into());
        }
        _ => put(entry, "content", text.into()),
    }
}

fn write_assistant(mut pieces: Vec<Piece>, functions: &mut Ids) -> Option<Value> {
    let mut entry = shell_of(&mut pieces, json!({ "role": "assistant", "content": null }));
    let mut has_text = false;
    let is_changed = pieces.iter().any(|piece| piece.exact.is_none());
    for piece in pieces {
        match (piece.exact, piece.what) {
            (Some(exact), what) => {
                if let (What::Call(call), "function_call") = (&what, exact.field.as_str()) {
                    functions.unique(&call.id, Format::OpenAiChat);
                }
                has_text = has_text || exact.field.starts_with("content") || exact.field.is_empty();
                put(&mut entry, &exact.field, exact.value);
            }
            (None, What::Text(text)) => {
                has_text = true;
                put_text(&mut entry, &text);
            }
            (None, What::Call(call)) => {
                let function = json!({ "name": call.name, "arguments": call.json_text() });
                put(&mut entry, "tool_calls[]", json!({ "id": call.id, "type": "function", "function": function }));
            }
            _ => {}
        }
    }
    let has = |key: &str| {
        entry.get(key).is_some_and(|value| value.as_array().map_or(!value.is_null(), |list| !list.is_empty()))
    };
    let calls = has("tool_calls") || has("function_call");
    let is_empty = entry.get("tool_calls").is_some_and(Value::is_array) && !has("tool_calls");
    if !calls && !has("content") && !has("refusal") && !has("audio") {
        return None;
    }
    // A list without calls is refused.
    if is_empty && let Value::Object(map) = &mut entry {
        map.shift_remove("tool_calls");
    }
    // Some servers want the field even where there is nothing in it.
    if !has_text && entry.get("content").map_or(is_changed, |content| !content.is_null()) {
        put(&mut entry, "content", Value::Null);
    }
    Some(entry)
}

fn write_result(mut piece: Piece, functions: &Ids) -> Value {
    let What::Result(answer) = piece.what else { return Value::Null };
    let is_old = functions.has(&answer.id);
    let shell = piece.shell.take().filter(|shell| (shell.get("role") == Some(&json!("function"))) == is_old);
    let new = || {
        if is_old {
            return json!({ "role": "function", "name": answer.name });
        }
        json!({ "role": "tool", "tool_call_id": answer.id })
    };
    let mut entry = shell.unwrap_or_else(new);
    put(&mut entry, "content", piece.exact.map_or_else(|| answer.text.into(), |exact| exact.value));
    entry
}
