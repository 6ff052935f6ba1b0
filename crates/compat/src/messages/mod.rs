//! Message adapters that decide as 0.18 for Python does: what it refuses they refuse, what it loses they lose.
//!
//! Only its crashes differ: where it fails with an error of its language, the same input is `INVALID_INPUT`
//! here. The default adapters keep everything instead.

mod anthropic;
mod gemini;
mod grouped;
mod openai;

use serde_json::Value;

pub use anthropic::{from_anthropic, to_anthropic};
pub use gemini::{from_gemini, to_gemini};
pub use openai::{from_openai, to_openai};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::python::{hash_key, is_truthy, text};
use contextweaver_model::json::{JsonMap, pointer, to_sorted_ascii, wrong_type};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;

fn invalid(message: impl Into<String>, path: String) -> Error {
    Error::new(ErrorCode::InvalidInput, message).at(path)
}

fn missing(field: &str, path: &str) -> Error {
    Error::new(ErrorCode::MissingField, format!("missing field {}", quote(field))).at(pointer(path, field))
}

fn as_list<'a>(value: &'a Value, path: &str) -> Result<&'a Vec<Value>> {
    value.as_array().ok_or_else(|| wrong_type(path, "an array", value))
}

fn as_object<'a>(value: &'a Value, path: &str) -> Result<&'a JsonMap> {
    value.as_object().ok_or_else(|| wrong_type(path, "an object", value))
}

/// Returns a text field, which must be one of a few.
fn one_of<'a>(fields: &'a JsonMap, key: &str, known: &[&str], path: &str) -> Result<&'a str> {
    let found = fields.get(key).ok_or_else(|| missing(key, path))?;
    let word = found.as_str().filter(|word| known.contains(word));
    let unknown = || {
        let message = format!("unknown {key} {}", quote(&text(found)));
        invalid(message, pointer(path, key)).hint(format!("one of: {}", known.join(" ")))
    };
    word.ok_or_else(unknown)
}

/// Returns a field if it is there and counts as true.
fn present<'a>(fields: &'a JsonMap, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| is_truthy(value))
}

/// Returns a field, or what stands for it where it is absent; null stays null.
fn or_default(fields: &JsonMap, key: &str, default: Value) -> Value {
    fields.get(key).cloned().unwrap_or(default)
}

/// Makes the metadata of an item, in order.
fn metadata<const N: usize>(entries: [(&str, Value); N]) -> JsonMap {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn item(id: String, kind: ItemKind, text: String, metadata: JsonMap) -> ContextItem {
    ContextItem { metadata, ..ContextItem::new(id, kind, text) }
}

/// Joins the parts of a content list: text parts as text, all others as JSON.
fn text_of_parts(parts: &[Value]) -> String {
    let text_of = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") => part.get("text").map_or_else(String::new, text),
        _ => to_sorted_ascii(part, None),
    };
    parts.iter().map(text_of).collect::<Vec<_>>().join("\n")
}

/// The ids of the calls seen so far, as keys.
#[derive(Default)]
struct KnownCalls(SortedMap<String, usize>);

impl KnownCalls {
    /// Adds the id of a call; returns it.
    fn add<'a>(&mut self, call: &'a JsonMap, path: &str) -> Result<&'a Value> {
        let (id, key) = id_and_key(call, "id", path)?;
        self.0.insert(key, 0);
        Ok(id)
    }

    /// Returns the id a result names, which must be that of an earlier call.
    fn answered<'a>(&self, result: &'a JsonMap, field: &str, path: &str) -> Result<&'a Value> {
        let (id, key) = id_and_key(result, field, path)?;
        if self.0.contains_key(&key) {
            return Ok(id);
        }
        let message = format!("no earlier call has the id {}", quote(&text(id)));
        Err(Error::new(ErrorCode::NotFound, message).at(pointer(path, field)))
    }
}

fn id_and_key<'a>(fields: &'a JsonMap, field: &str, path: &str) -> Result<(&'a Value, String)> {
    let id = present(fields, field).ok_or_else(|| missing(field, path))?;
    let key = hash_key(id).ok_or_else(|| wrong_type(&pointer(path, field), "text or a number", id))?;
    Ok((id, key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_the_place() {
        let call = json!({ "type": "tool_use", "id": "t", "name": "f", "input": {} });
        let answer = |id: Value| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id }] });
        let anthropic = [
            (json!([{ "role": "user", "content": 5 }]), "/messages/0/content"),
            (json!([{ "role": "user", "content": [call] }]), "/messages/0/content/0/type"),
            (
                json!([{ "role": "assistant", "content": [call] }, answer(json!("u"))]),
                "/messages/1/content/0/tool_use_id",
            ),
            // A list is no key in Python and crashes 0.18.
            (
                json!([{ "role": "assistant", "content": [call] }, answer(json!([1]))]),
                "/messages/1/content/0/tool_use_id",
            ),
            (json!([{ "role": "user", "content": [{ "type": "thinking" }] }]), "/messages/0/content/0/type"),
        ];
        for (messages, path) in anthropic {
            assert_eq!(from_anthropic(&messages, "/messages").unwrap_err().path(), path, "{messages}");
        }
        let openai = [
            (json!({}), "/messages"),
            (json!([7]), "/messages/0"),
            (json!([{ "role": "developer" }]), "/messages/0/role"),
            (json!([{ "role": "assistant", "tool_calls": [{ "id": 0 }] }]), "/messages/0/tool_calls/0/id"),
            (json!([{ "role": "tool", "tool_call_id": "x" }]), "/messages/0/tool_call_id"),
        ];
        for (messages, path) in openai {
            assert_eq!(from_openai(&messages, "/messages").unwrap_err().path(), path, "{messages}");
        }
        let gemini = [
            (json!([{ "role": "user" }]), "/messages/0/parts"),
            (json!([{ "role": "model", "parts": [{ "inlineData": {} }] }]), "/messages/0/parts/0"),
            (json!([{ "role": "user", "parts": [{ "functionCall": {} }] }]), "/messages/0/parts/0/functionCall"),
            (json!([{ "role": "model", "parts": [{ "functionCall": {} }] }]), "/messages/0/parts/0/functionCall/name"),
        ];
        for (contents, path) in gemini {
            assert_eq!(from_gemini(&contents, "/messages").unwrap_err().path(), path, "{contents}");
        }
    }

    #[test]
    fn metadata_that_is_no_use_is_refused() {
        let item = |metadata: Value| {
            let metadata = metadata.as_object().cloned().unwrap_or_default();
            [ContextItem { metadata, ..ContextItem::new("x", ItemKind::UserTurn, "t") }]
        };
        let path_of = |metadata: Value| to_anthropic(&item(metadata), "/items").unwrap_err().path().to_owned();
        assert_eq!(path_of(json!({ "role": "user" })), "/items/0/metadata/msg_index");
        assert_eq!(path_of(json!({ "role": "user", "msg_index": "x" })), "/items/0/metadata/msg_index");
        assert_eq!(path_of(json!({ "role": "system", "msg_index": 0 })), "/items/0/metadata/role");
        let call = json!({ "role": "user", "msg_index": 0, "block_type": "tool_use" });
        assert_eq!(path_of(call), "/items/0/metadata/tool_use_id");
        // The block it was made of counts only if its type is told.
        let original = json!({ "type": "text", "text": "s", "k": 1 });
        let metadata = json!({ "role": "user", "msg_index": 0, "original_block": original });
        let messages = to_anthropic(&item(metadata), "/items").unwrap();
        assert_eq!(messages, [json!({ "role": "user", "content": [{ "type": "text", "text": "t" }] })]);
    }
}
