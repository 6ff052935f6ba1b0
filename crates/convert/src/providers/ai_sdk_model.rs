//! `ModelMessage` of the AI SDK.

use serde_json::{Value, json};

use super::entries::{Style, entries};
use super::media::{Media, label_of, media, text_at, unknown};
use super::part::{Answer, Body, Call, Message, Part, Role, Slot, Turn, at, below};
use super::{hollow, open, optional, required, speaker};
use contextweaver_base::Result;
use contextweaver_model::json::{JsonMap, wrong_type};

/// Who speaks.
const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

/// Reads messages.
pub fn read(list: Vec<Value>) -> Result<Vec<Message>> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, message) in list.into_iter().enumerate() {
        let path = at("/messages", index);
        let mut entry = open(message, &path)?;
        let (role_name, role) = speaker(&entry, &path, ROLES, "")?;
        let content_path = below(&path, "content");
        let parts = match hollow(&mut entry, "content") {
            Value::Null => Vec::new(),
            text @ Value::String(_) => {
                let slot = Slot::any("", &text);
                vec![Part::new(Body::Text, "content", text, vec![slot])]
            }
            Value::Array(list) => {
                let read = |(index, part)| block(part, role, &at(&content_path, index));
                list.into_iter().enumerate().map(read).collect::<Result<_>>()?
            }
            other => return Err(wrong_type(&content_path, "a string or an array", &other)),
        };
        let shell = Value::Object(entry);
        messages.push(Message { role, role_name, shell, parts, group: index, index: Some(index) });
    }
    Ok(messages)
}

const FIELD: &str = "content[]";

fn block(value: Value, role: Role, path: &str) -> Result<Part> {
    let Value::Object(part) = &value else { return Ok(unknown(FIELD, value)) };
    // What the provider ran itself is between it and the model.
    let is_ours = part.get("providerExecuted") != Some(&Value::Bool(true));
    let (body, slots) = match (optional(part, "type"), role) {
        ("text", _) if part.get("text").is_some_and(Value::is_string) => {
            (Body::Text, vec![Slot::text("/text", optional(part, "text"))])
        }
        ("reasoning" | "reasoning-file", Role::Assistant) => (Body::Reasoning, Vec::new()),
        ("tool-call", Role::Assistant) if is_ours => {
            let id = required(part, "toolCallId", path)?.to_owned();
            let name = required(part, "toolName", path)?.to_owned();
            (Body::Call { id, name }, part.get("input").map(|input| Slot::json("/input", input)).into_iter().collect())
        }
        ("tool-result", Role::Tool) => return result(value, path),
        ("tool-approval-response", _) => {
            let is_approved = part.get("approved") == Some(&Value::Bool(true));
            let label = if is_approved { "[tool call approved]" } else { "[tool call denied]" };
            return Ok(Part::opaque(FIELD, value, label, None));
        }
        // It only says that the call beside it waits.
        ("tool-approval-request", _) => return Ok(Part::opaque(FIELD, value, "", None)),
        ("image" | "file", _) => {
            let label = file(part).label();
            return Ok(media(FIELD, value, &label));
        }
        _ => {
            let label = tool_label(part).unwrap_or_else(|| label_of(&value));
            return Ok(Part::opaque(FIELD, value, &label, None));
        }
    };
    Ok(Part::new(body, FIELD, value, slots))
}

/// Returns the label of a part of a tool that the provider ran.
fn tool_label(part: &JsonMap) -> Option<String> {
    let name = optional(part, "toolName");
    let named = json!({ "type": optional(part, "type"), "name": name });
    (!name.is_empty()).then(|| label_of(&named))
}

/// Describes an image or a file: `image` or `data`, with a URL, base64, or bytes as JSON shows them.
fn file(part: &JsonMap) -> Media<'_> {
    let kind = optional(part, "type");
    let first = |keys: &[&'static str]| keys.iter().map(|key| optional(part, key)).find(|text| !text.is_empty());
    let data = first(&["data", "image", "url"]).unwrap_or_else(|| text_at(part, &["data", "data"]));
    Media {
        what: if kind == "image" { "image" } else { "file" },
        media_type: first(&["mediaType", "mimeType"]).unwrap_or(""),
        name: optional(part, "filename"),
        data,
    }
}

fn result(value: Value, path: &str) -> Result<Part> {
    let Value::Object(part) = &value else { return Ok(unknown(FIELD, value)) };
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
                    slots.push(Slot::text(format!("/output/value/{index}/text"), text));
                    continue;
                }
                tokens += Media::tokens();
                slots.push(Slot::label(part.as_object().map_or_else(|| label_of(part), |part| file(part).label())));
            }
        }
        Some(given) => slots.push(match kind.as_str() {
            "text" | "error-text" => Slot::any("/output/value", given),
            // A string among JSON stays with its quotes: what it is has to be told from its text.
            _ => Slot::json("/output/value", given),
        }),
        // What was denied has a reason at most; before `output` there was `result`.
        None => match (part.get("result"), text_at(part, &["output", "reason"])) {
            (Some(result), _) => slots.push(Slot::any("/result", result)),
            (None, "") => slots.push(Slot::label(if kind == "execution-denied" { "[denied]" } else { "" })),
            (None, reason) => slots.push(Slot::text("/output/reason", reason)),
        },
    }
    slots.retain(|slot| slot.place.is_some() || !slot.text.is_empty());
    let is_error = kind.starts_with("error-") || part.get("isError") == Some(&Value::Bool(true));
    let body = Body::Result { id, name, is_error };
    Ok(Part { tokens: Some(tokens), ..Part::new(body, FIELD, value, slots) })
}

/// Writes messages.
pub fn write(turns: Vec<Turn>) -> Vec<Value> {
    let style = Style { list: "content", plain: true, text, call, result: answer };
    let written = entries(turns, None).into_iter().filter_map(|entry| {
        let role = match entry.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        entry.build(role, &style)
    });
    written.collect()
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn call(call: &Call) -> Value {
    json!({ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.object() })
}

fn answer(answer: &Answer) -> Value {
    json!({ "type": "tool-result", "toolCallId": answer.id, "toolName": answer.name, "output": output(answer) })
}

fn output(answer: &Answer) -> Value {
    let value = answer.value();
    let kind = match (answer.is_error, value.is_string()) {
        (false, true) => "text",
        (false, false) => "json",
        (true, true) => "error-text",
        (true, false) => "error-json",
    };
    json!({ "type": kind, "value": value })
}
