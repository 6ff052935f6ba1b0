//! `UIMessage` of the AI SDK: a call and its result are one part, and an answer of several steps is one message.

use serde_json::{Value, json};

use super::entries::by_message;
use super::media::{Media, label_of, media};
use super::names::Ids;
use super::part::{Answer, Body, Call, Message, Part, Piece, Role, Slot, Turn, What, at, below, put};
use super::{Format, hollow, open, optional, required, speaker};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};

const FIELD: &str = "parts[]";
/// What a result says within the part of its call.
const RESULT_FIELDS: &[&str] = &["output", "errorText", "resultProviderMetadata"];

/// Who speaks.
const ROLES: &[(&str, Role)] = &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

/// Reads messages.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut entry = open(message, &path)?;
        let (role_name, role) = speaker(&entry, &path, ROLES, "")?;
        let parts = match hollow(&mut entry, "parts") {
            Value::Array(list) => parts(list, &below(&path, "parts"))?,
            // Messages of the fourth version may have only text.
            Value::Null => match hollow(&mut entry, "content") {
                text @ Value::String(_) => {
                    let slot = Slot::any("", &text);
                    vec![Part::new(Body::Text, "content", text, vec![slot])]
                }
                _ => return Err(Error::new(ErrorCode::MissingField, "missing field `parts`").at(below(&path, "parts"))),
            },
            other => return Err(wrong_type(&below(&path, "parts"), "an array", &other)),
        };
        let shell = Value::Object(entry);
        messages.push(Message { role, role_name, shell, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

fn parts(list: Vec<Value>, path: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::with_capacity(list.len());
    let mut step = 0;
    for (index, value) in list.into_iter().enumerate() {
        let start = parts.len();
        part(value, &at(path, index), &mut parts)?;
        step += usize::from(matches!(parts[start].body, Body::Mark));
        for part in &mut parts[start..] {
            part.step = step;
        }
    }
    Ok(parts)
}

fn part(value: Value, path: &str, parts: &mut Vec<Part>) -> Result<()> {
    let map = open(value, path)?;
    let kind = required(&map, "type", path)?.to_owned();
    let is_ours = map.get("providerExecuted") != Some(&Value::Bool(true));
    let name = match kind.strip_prefix("tool-") {
        Some(name) => Some(name.to_owned()),
        None if kind == "dynamic-tool" => Some(required(&map, "toolName", path)?.to_owned()),
        None => None,
    };
    if let Some(name) = name {
        if is_ours {
            return tool(map, name, path, parts);
        }
        // What the provider ran itself is between it and the model.
        let label = label_of(&json!({ "type": "tool", "name": name }));
        parts.push(Part::opaque(FIELD, Value::Object(map), &label, None));
        return Ok(());
    }
    let body = match kind.as_str() {
        "text" if map.get("text").is_some_and(Value::is_string) => Body::Text,
        "reasoning" | "reasoning-file" => Body::Reasoning,
        "step-start" => Body::Mark,
        "file" => {
            let (name, media_type, data) =
                (optional(&map, "filename"), optional(&map, "mediaType"), optional(&map, "url"));
            let what = if media_type.starts_with("image/") { "image" } else { "file" };
            let label = Media { what, media_type, name, data }.label();
            parts.push(media(FIELD, Value::Object(map), &label));
            return Ok(());
        }
        _ => Body::Opaque,
    };
    let slots = if body == Body::Text { vec![Slot::text("/text", optional(&map, "text"))] } else { Vec::new() };
    // Sources and data are for the page, not for the model: they show nothing.
    parts.push(Part::new(body, FIELD, Value::Object(map), slots));
    Ok(())
}

fn tool(mut map: JsonMap, name: String, path: &str, parts: &mut Vec<Part>) -> Result<()> {
    let id = required(&map, "toolCallId", path)?.to_owned();
    let state = optional(&map, "state").to_owned();
    let mut result = JsonMap::new();
    for field in RESULT_FIELDS {
        if let Some(value) = map.get_mut(*field) {
            result.insert((*field).to_owned(), value.take());
        }
    }
    let input = ["input", "rawInput"].into_iter().find(|key| map.get(*key).is_some_and(|value| !value.is_null()));
    let slots = input.map(|key| Slot::any(format!("/{key}"), &map[key])).into_iter().collect();
    let (is_error, slots_of_result) = match state.as_str() {
        "output-error" => (true, result.get("errorText").map(|text| Slot::any("/errorText", text))),
        "output-denied" => {
            let reason = map.get("approval").and_then(|approval| approval.get("reason")).and_then(Value::as_str);
            (true, Some(Slot::label(reason.unwrap_or("The call was denied."))))
        }
        "output-available" => (false, result.get("output").map(|output| Slot::any("/output", output))),
        _ => (false, None),
    };
    let has_result = state.starts_with("output-");
    if !has_result {
        for (field, value) in std::mem::take(&mut result) {
            map.insert(field, value);
        }
    }
    result.insert("state".to_owned(), state.into());
    parts.push(Part::new(Body::Call { id: id.clone(), name: name.clone() }, FIELD, Value::Object(map), slots));
    if has_result {
        let slots = slots_of_result.into_iter().collect();
        parts.push(Part::new(Body::Result { id, name, is_error }, FIELD, Value::Object(result), slots));
    }
    Ok(())
}

/// A message being written.
struct Draft {
    role: Role,
    message: Option<usize>,
    entry: Value,
}

/// Writes messages. What the model says in a row is one message of several steps, unless it was several.
pub fn write(turns: Vec<Turn>) -> Vec<Value> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut turns = turns.into_iter().peekable();
    while let Some(turn) = turns.next() {
        if turn.role == Role::Tool {
            continue;
        }
        let answers = match turns.peek_mut() {
            Some(next) if next.role == Role::Tool => std::mem::take(&mut next.pieces),
            _ => Vec::new(),
        };
        let mut answers = by_call(answers);
        for pieces in by_message(turn.pieces) {
            say(&mut drafts, turn.role, pieces, &mut answers);
        }
    }
    let mut ids = Ids::default();
    let written = drafts.into_iter().enumerate().map(|(index, mut draft)| {
        let id = draft.entry.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let wanted = id.map_or_else(|| format!("message-{index}"), str::to_owned);
        let unique = ids.unique(&wanted, Format::AiSdkUi);
        if id != Some(unique.as_str()) {
            put(&mut draft.entry, "id", unique.into());
        }
        draft.entry
    });
    written.collect()
}

fn by_call(answers: Vec<Piece>) -> SortedMap<String, Piece> {
    let mut map = SortedMap::new();
    for piece in answers {
        if let What::Result(answer) = &piece.what {
            map.insert(answer.id.clone(), piece);
        }
    }
    map
}

fn say(drafts: &mut Vec<Draft>, role: Role, mut pieces: Vec<Piece>, answers: &mut SortedMap<String, Piece>) {
    // A call that was made up for a result is where the result was.
    let beside = pieces.first().and_then(|piece| match &piece.what {
        What::Call(call) => answers.get_mut(&call.id),
        _ => None,
    });
    let (mut message, mut shell) = beside.map_or((None, None), |piece| (piece.message(), piece.shell.take()));
    message = pieces.first().and_then(Piece::message).or(message);
    shell = pieces.iter_mut().find_map(|piece| piece.shell.take()).or(shell);
    let goes_on = drafts.last().is_some_and(|last| {
        last.role == role && last.message == message && (message.is_some() || role == Role::Assistant)
    });
    if goes_on {
        let starts_step = pieces.iter().any(|piece| {
            piece.exact.as_ref().is_some_and(|exact| exact.value.get("type").is_some_and(|kind| kind == "step-start"))
        });
        if let Some(last) = drafts.last_mut().filter(|_| role == Role::Assistant && !starts_step) {
            put(&mut last.entry, FIELD, json!({ "type": "step-start" }));
        }
    } else {
        let name = match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant | Role::Tool => "assistant",
        };
        let mut entry = shell.unwrap_or_else(|| json!({ "id": "", "role": name }));
        if entry.get("parts").is_none() && entry.get("content").is_none() {
            put(&mut entry, "parts", json!([]));
        }
        drafts.push(Draft { role, message, entry });
    }
    let Some(last) = drafts.last_mut() else { return };
    for piece in pieces {
        write_piece(&mut last.entry, piece, answers);
    }
}

fn write_piece(entry: &mut Value, piece: Piece, answers: &mut SortedMap<String, Piece>) {
    let (field, value) = match (piece.exact, piece.what) {
        (exact, What::Call(call)) => {
            let part = exact.map_or_else(|| new_call(&call), |exact| exact.value);
            (FIELD.to_owned(), with_answer(part, answers.remove(&call.id)))
        }
        (Some(exact), _) => (exact.field, exact.value),
        (None, What::Text(text)) => (FIELD.to_owned(), json!({ "type": "text", "text": text })),
        (None, _) => return,
    };
    put(entry, &field, value);
}

fn new_call(call: &Call) -> Value {
    let kind = format!("tool-{}", call.name);
    json!({ "type": kind, "toolCallId": call.id, "state": "input-available", "input": call.object() })
}

/// Puts the result into the part of its call.
fn with_answer(mut part: Value, piece: Option<Piece>) -> Value {
    let Value::Object(map) = &mut part else { return part };
    match piece.map(|piece| (piece.exact, piece.what)) {
        Some((Some(exact), _)) => {
            for (field, value) in exact.value.as_object().into_iter().flatten() {
                map.insert(field.clone(), value.clone());
            }
        }
        Some((None, What::Result(answer))) => new_answer(map, &answer),
        _ if optional(map, "state").starts_with("output-") => {
            for field in RESULT_FIELDS {
                map.shift_remove(*field);
            }
            map.insert("state".into(), "input-available".into());
        }
        _ => {}
    }
    part
}

fn new_answer(map: &mut JsonMap, answer: &Answer) {
    for field in RESULT_FIELDS {
        map.shift_remove(*field);
    }
    let (state, field, value) = if answer.is_error {
        ("output-error", "errorText", Value::from(answer.text.as_str()))
    } else {
        ("output-available", "output", answer.value())
    };
    map.insert("state".into(), state.into());
    map.insert(field.into(), value);
    // An error may come without the input; a result may not.
    if !map.contains_key("input") && !answer.is_error {
        map.insert("input".into(), json!({}));
    }
}
