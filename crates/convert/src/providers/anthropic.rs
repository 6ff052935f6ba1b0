//! Messages of Anthropic.

use serde_json::{Value, json};

use super::media::{Media, label_of, media, text_at, unknown};
use super::part::{Body, Message, Part, Piece, Role, Slot, Turn, What, at, below};
use super::said::{BEGINNING, Block, Kind, Said, in_turns};
use super::{Warnings, hollow, open, optional, required, speaker};
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, wrong_type};
use contextweaver_text::unicode::{quote, trim};

/// Who speaks.
const ROLES: &[(&str, Role)] = &[("user", Role::User), ("assistant", Role::Assistant)];

/// Reads messages, and `system` that stands beside them.
pub fn read(list: Vec<Value>, system: Option<Value>) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::with_capacity(list.len() + 1);
    if let Some(system) = system.filter(|system| !system.is_null()) {
        messages.push(read_system(system)?);
    }
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut entry = open(message, &path)?;
        let (role_name, role) = speaker(&entry, &path, ROLES, "; the system prompt stands beside the messages")?;
        let parts = content(hollow(&mut entry, "content"), "content", role, &below(&path, "content"))?;
        // What the model says in several messages is one answer.
        let before = messages.last().filter(|before| role == Role::Assistant && before.role == role);
        let group = before.map_or(index, |before| before.group);
        messages.push(Message { role, role_name, shell: Value::Object(entry), parts, group, index: Some(index) });
    }
    Ok(messages)
}

fn read_system(system: Value) -> Result<Message> {
    let mut entry: JsonMap = [("system".to_owned(), system)].into_iter().collect();
    let mut parts = content(hollow(&mut entry, "system"), "system", Role::System, "/system")?;
    for part in &mut parts {
        // It is not said together with the first message.
        part.step = 1;
    }
    let (role, role_name, shell) = (Role::System, "system".to_owned(), Value::Object(entry));
    Ok(Message { role, role_name, shell, parts, group: 0, index: None })
}

fn content(content: Value, field: &str, role: Role, path: &str) -> Result<Vec<Part>> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(_) => {
            let slot = Slot::any("", &content);
            Ok(vec![Part::new(Body::Text, field, content, vec![slot])])
        }
        Value::Array(list) => {
            let field = format!("{field}[]");
            list.into_iter().enumerate().map(|(index, value)| block(value, &field, role, &at(path, index))).collect()
        }
        other => Err(wrong_type(path, "a string or an array", &other)),
    }
}

fn block(value: Value, field: &str, role: Role, path: &str) -> Result<Part> {
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
            let slots = input.map(|input| Slot::json("/input", input)).into_iter().collect();
            Ok(Part::new(Body::Call { id, name }, field, value, slots))
        }
        "tool_result" => {
            must_be_from(Role::User, "user")?;
            let id = required(map, "tool_use_id", path)?.to_owned();
            let is_error = map.get("is_error") == Some(&Value::Bool(true));
            let (slots, tokens) = shown_result(map.get("content"));
            let part = Part::new(Body::Result { id, name: String::new(), is_error }, field, value, slots);
            Ok(Part { tokens: Some(tokens), ..part })
        }
        "thinking" | "redacted_thinking" if role == Role::Assistant => {
            Ok(Part::new(Body::Reasoning, field, value, Vec::new()))
        }
        _ => Ok(match (shown(map, ""), media_label(map)) {
            (Some(slots), _) => Part::new(Body::Text, field, value, slots),
            (None, Some(label)) => media(field, value, &label),
            (None, None) => unknown(field, value),
        }),
    }
}

/// Returns the texts of a result, and the tokens of what is in it that is no text.
fn shown_result(content: Option<&Value>) -> (Vec<Slot>, u64) {
    let (mut slots, mut tokens) = (Vec::new(), 0);
    match content {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) => {
            for (index, part) in list.iter().enumerate() {
                let map = part.as_object();
                if let Some(shown) = map.and_then(|map| shown(map, &at("/content", index))) {
                    slots.extend(shown);
                } else {
                    tokens += Media::tokens();
                    slots.push(Slot::label(map.and_then(media_label).unwrap_or_else(|| label_of(part))));
                }
            }
        }
        Some(other) => slots.push(Slot::any("/content", other)),
    }
    (slots, tokens)
}

/// Returns the texts of a block that is at `base`, if it is made of texts: text, search results, documents in text.
fn shown(block: &JsonMap, base: &str) -> Option<Vec<Slot>> {
    match optional(block, "type") {
        "text" => Some(vec![Slot::text(format!("{base}/text"), block.get("text")?.as_str()?)]),
        "search_result" => {
            let about = Media {
                what: "search result",
                name: optional(block, "title"),
                data: optional(block, "source"),
                ..Media::default()
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
fn under_label(label: String, content: &Value, base: &str) -> Option<Vec<Slot>> {
    let mut slots = vec![Slot::label(label)];
    if let Value::String(text) = content {
        slots.push(Slot::text(base, text));
        return Some(slots);
    }
    for (index, part) in content.as_array()?.iter().enumerate() {
        let part = part.as_object().filter(|part| optional(part, "type") == "text")?;
        slots.push(Slot::text(format!("{}/text", at(base, index)), part.get("text")?.as_str()?));
    }
    Some(slots)
}

/// Returns the label of an image, a document or a file.
fn media_label(block: &JsonMap) -> Option<String> {
    let what = match optional(block, "type") {
        "image" => "image",
        "document" => "document",
        "container_upload" => "file",
        _ => return None,
    };
    let source = |key: &str| text_at(block, &["source", key]);
    // The bytes; of texts the caller sees them.
    let data = match source("type") {
        "base64" => source("data"),
        "url" => source("url"),
        _ => "",
    };
    let file = if what == "file" { optional(block, "file_id") } else { source("file_id") };
    let name = Some(optional(block, "title")).filter(|title| !title.is_empty()).unwrap_or(file);
    Some(Media { what, media_type: source("media_type"), name, data }.label())
}

/// Writes messages, and `system` that stands beside them.
pub fn write(turns: Vec<Turn>, warnings: &mut Warnings) -> (Vec<Value>, Option<Value>) {
    let (mut system, mut list) = (Vec::new(), Vec::new());
    for turn in turns {
        let is_system = turn.role == Role::System;
        let said = Said::new(turn, |piece| write_block(piece, warnings));
        if is_system { system.extend(said.blocks) } else { list.push(said) }
    }
    pair_server_tools(&mut list, warnings);
    let result = |call: &Block, text: &str| json!({ "type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": true });
    let start = json!({ "type": "text", "text": BEGINNING });
    let list = in_turns(list, true, result, start, warnings);
    let messages = list.into_iter().map(write_message).collect();
    (messages, write_system(system))
}

fn write_message(said: Said) -> Value {
    let mut entry = said.shell;
    // Where it has to be added it comes first.
    if !entry.contains_key("role") {
        let role = if said.is_user { "user" } else { "assistant" };
        entry = std::iter::once(("role".to_owned(), Value::from(role))).chain(entry).collect();
    }
    let was_list = entry.get("content").is_some_and(Value::is_array);
    let content = match &said.blocks[..] {
        [block] if block.is_whole && !was_list => block.value["text"].clone(),
        _ => said.blocks.into_iter().map(|block| block.value).collect(),
    };
    entry.insert("content".to_owned(), content);
    Value::Object(entry)
}

fn write_system(blocks: Vec<Block>) -> Option<Value> {
    if blocks.is_empty() {
        return None;
    }
    if !blocks.iter().all(|block| block.is_whole) {
        return Some(blocks.into_iter().map(|block| block.value).collect());
    }
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.value["text"].as_str()).collect();
    Some(texts.join("\n\n").into())
}

/// Makes the block of a piece. What is empty is refused by the provider and left out.
fn write_block(mut piece: Piece, warnings: &mut Warnings) -> Option<Block> {
    let is_given = piece.exact.is_some();
    let (value, is_whole) = match (piece.exact.as_mut().map(|exact| exact.value.take()), &piece.what) {
        (Some(Value::String(text)), _) => (json!({ "type": "text", "text": text }), true),
        (Some(mut block), What::Call(call)) => {
            if !block.get("input").is_some_and(Value::is_object) {
                block["input"] = Value::Object(call.object());
            }
            (block, false)
        }
        (Some(block), _) => (block, false),
        (None, What::Text(text)) => (json!({ "type": "text", "text": text }), true),
        (None, What::Call(call)) => {
            (json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() }), false)
        }
        (None, What::Result(answer)) => {
            let mut block = json!({ "type": "tool_result", "tool_use_id": answer.id, "content": answer.text });
            if answer.is_error {
                block["is_error"] = true.into();
            }
            (block, false)
        }
        (None, _) => return None,
    };
    let is_text = value.get("type").is_none_or(|kind| kind == "text");
    let is_message = piece.exact.as_ref().is_some_and(|exact| exact.field.is_empty());
    if is_message || is_text && value.get("text").and_then(Value::as_str).is_none_or(|text| trim(text).is_empty()) {
        if is_given {
            warnings.add(
                "EMPTY_LEFT_OUT",
                "a message or block that says nothing is left out",
                at("/items", piece.item),
            );
        }
        return None;
    }
    Some(Block { is_whole, ..Block::new(&piece, value) })
}

/// Leaves out calls of tools that the provider runs itself without their results, and results without their calls. What
/// the model said last may wait.
fn pair_server_tools(list: &mut [Said], warnings: &mut Warnings) {
    let (mut calls, mut paired) = (Vec::new(), Vec::new());
    for block in list.iter().flat_map(|said| &said.blocks) {
        match server_tool(block) {
            Some((id, true)) => calls.push(id.to_owned()),
            Some((id, false)) => paired.push(id.to_owned()),
            None => {}
        }
    }
    if calls.is_empty() && paired.is_empty() {
        return;
    }
    let (calls, answered) = (WordSet::new(calls), WordSet::new(paired));
    let newest = list.iter().rposition(|said| !said.is_user && !said.blocks.is_empty());
    for (index, said) in list.iter_mut().enumerate() {
        said.blocks.retain(|block| {
            let may_stay = |id: &str, is_call| {
                if is_call { answered.contains(id) || Some(index) == newest } else { calls.contains(id) }
            };
            let keep = server_tool(block).is_none_or(|(id, is_call)| may_stay(id, is_call));
            if !keep {
                let message = "half of a call that the provider ran itself is left out";
                warnings.add("OPAQUE_LEFT_OUT", message, at("/items", block.item));
            }
            keep
        });
    }
}

/// Returns the id of a call that the provider runs itself, or of its result; `true` for the call.
fn server_tool(block: &Block) -> Option<(&str, bool)> {
    let map = block.value.as_object().filter(|_| block.kind == Kind::Other)?;
    match optional(map, "type") {
        "server_tool_use" | "mcp_tool_use" => Some((optional(map, "id"), true)),
        kind if kind.ends_with("_tool_result") => Some((optional(map, "tool_use_id"), false)),
        _ => None,
    }
}
