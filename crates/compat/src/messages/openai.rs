//! Chat completion messages as 0.18 converts them.

use serde_json::{Value, json};

use super::{
    KnownCalls, as_list, as_object, invalid, item, metadata, missing, one_of, or_default, present, text_of_parts,
};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::python::{is_equal, is_truthy, text};
use contextweaver_model::json::{JsonMap, pointer, to_ascii, type_name};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;

const CALL_PREFIX: &str = "openai:tool_call:";
const RESULT_PREFIX: &str = "openai:tool_result:";

/// Converts a list of chat messages to items.
///
/// # Errors
/// `INVALID_INPUT`, `MISSING_FIELD`, and `NOT_FOUND` for a result without an earlier call.
///
/// ```
/// use contextweaver_compat::messages::{from_openai, to_openai};
/// use serde_json::{Value, json};
///
/// let messages = json!([{ "role": "user", "content": "Is it raining?" }]);
/// let items = from_openai(&messages, "/messages")?;
/// assert_eq!(items[0].text, "Is it raining?");
/// assert_eq!(Value::from(to_openai(&items, "/items")?), messages);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_openai(messages: &Value, path: &str) -> Result<Vec<ContextItem>> {
    let mut items = Vec::new();
    let mut announced = KnownCalls::default();
    for (index, message) in as_list(messages, path)?.iter().enumerate() {
        let path = format!("{path}/{index}");
        let message = as_object(message, &path)?;
        let role = one_of(message, "role", &["system", "user", "assistant", "tool"], &path)?;
        match role {
            "assistant" => decode_assistant(&mut items, &mut announced, message, index, &path)?,
            "tool" => {
                let call = announced.answered(message, "tool_call_id", &path)?;
                let data = metadata([("role", role.into()), ("tool_call_id", call.clone())]);
                let id = text(call);
                let text = content_text(message, &path)?;
                let mut result = item(format!("{RESULT_PREFIX}{id}"), ItemKind::ToolResult, text, data);
                result.parent_id = Some(format!("{CALL_PREFIX}{id}"));
                items.push(result);
            }
            _ => {
                let kind = if role == "user" { ItemKind::UserTurn } else { ItemKind::Policy };
                let text = content_text(message, &path)?;
                items.push(item(format!("openai:{role}:{index}"), kind, text, metadata([("role", role.into())])));
            }
        }
    }
    Ok(items)
}

fn content_text(message: &JsonMap, path: &str) -> Result<String> {
    match message.get("content") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(text_of_parts(parts)),
        Some(other) => {
            let wanted = format!("expected text, an array or null, got {}", type_name(other));
            Err(invalid(wanted, pointer(path, "content")))
        }
    }
}

fn decode_assistant(
    items: &mut Vec<ContextItem>,
    announced: &mut KnownCalls,
    message: &JsonMap,
    index: usize,
    path: &str,
) -> Result<()> {
    let content = or_default(message, "content", Value::Null);
    let data = metadata([
        ("role", "assistant".into()),
        ("content_is_null", content.is_null().into()),
        ("original_content", content),
        ("assistant_idx", index.into()),
    ]);
    let text = content_text(message, path)?;
    items.push(item(format!("openai:assistant:{index}"), ItemKind::AgentMsg, text, data));
    let Some(calls) = present(message, "tool_calls") else { return Ok(()) };
    let path = pointer(path, "tool_calls");
    for (place, call) in as_list(calls, &path)?.iter().enumerate() {
        let path = format!("{path}/{place}");
        items.push(decode_call(announced, as_object(call, &path)?, index, &path)?);
    }
    Ok(())
}

fn decode_call(announced: &mut KnownCalls, call: &JsonMap, index: usize, path: &str) -> Result<ContextItem> {
    let id = announced.add(call, path)?;
    let empty = JsonMap::new();
    let function = match present(call, "function") {
        None => &empty,
        Some(function) => as_object(function, &pointer(path, "function"))?,
    };
    let arguments = match function.get("arguments") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => to_ascii(other),
    };
    let data = metadata([
        ("tool_call_id", id.clone()),
        ("tool_call_type", or_default(call, "type", "function".into())),
        ("function_name", or_default(function, "name", "".into())),
        ("arguments", arguments.clone().into()),
        ("assistant_idx", index.into()),
    ]);
    Ok(item(format!("{CALL_PREFIX}{}", text(id)), ItemKind::ToolCall, arguments, data))
}

/// Converts items to chat messages; `path` is where the items are.
///
/// # Errors
/// `UNSUPPORTED` for kinds that chat messages do not have, `MISSING_FIELD` for calls and results whose id is unknown.
pub fn to_openai(items: &[ContextItem], path: &str) -> Result<Vec<Value>> {
    let mut messages = Vec::new();
    let mut rest = items.iter().enumerate().peekable();
    while let Some((index, item)) = rest.next() {
        let path = format!("{path}/{index}");
        messages.push(match item.kind {
            ItemKind::Policy => json!({ "role": "system", "content": item.text }),
            ItemKind::UserTurn => json!({ "role": "user", "content": item.text }),
            ItemKind::ToolResult => {
                let id = call_id(item, RESULT_PREFIX, &path)?;
                json!({ "role": "tool", "tool_call_id": id, "content": item.text })
            }
            ItemKind::ToolCall => {
                json!({ "role": "assistant", "content": null, "tool_calls": [encode_call(item, &path)?] })
            }
            ItemKind::AgentMsg => {
                let mut message = json!({ "role": "assistant", "content": assistant_content(item) });
                let mut calls = Vec::new();
                let belongs = |next: &ContextItem| next.kind == ItemKind::ToolCall && is_same_message(item, next);
                while let Some((_, call)) = rest.next_if(|(_, next)| belongs(next)) {
                    calls.push(encode_call(call, &path)?);
                }
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                message
            }
            kind => {
                let message = format!("chat messages have no place for an item of kind {}", quote(kind.as_str()));
                return Err(Error::new(ErrorCode::Unsupported, message).at(pointer(&path, "kind")));
            }
        });
    }
    Ok(messages)
}

/// Tells whether a call comes from the same message; two unknown messages are the same one.
fn is_same_message(message: &ContextItem, call: &ContextItem) -> bool {
    let index = |item: &ContextItem| or_default(&item.metadata, "assistant_idx", Value::Null);
    is_equal(&index(message), &index(call))
}

fn assistant_content(item: &ContextItem) -> Value {
    if item.metadata.get("content_is_null").is_some_and(is_truthy) {
        return Value::Null;
    }
    let original = item.metadata.get("original_content").filter(|content| content.is_array());
    original.cloned().unwrap_or_else(|| item.text.clone().into())
}

fn call_id(item: &ContextItem, prefix: &str, path: &str) -> Result<Value> {
    let told = present(&item.metadata, "tool_call_id").cloned();
    let of_id = || item.id.strip_prefix(prefix).filter(|id| !id.is_empty()).map(Value::from);
    told.or_else(of_id).ok_or_else(|| missing("tool_call_id", &pointer(path, "metadata")))
}

fn encode_call(item: &ContextItem, path: &str) -> Result<Value> {
    let arguments = item.metadata.get("arguments").filter(|arguments| !arguments.is_null()).cloned();
    Ok(json!({
        "id": call_id(item, CALL_PREFIX, path)?,
        "type": or_default(&item.metadata, "tool_call_type", "function".into()),
        "function": {
            "name": or_default(&item.metadata, "function_name", "".into()),
            "arguments": arguments.unwrap_or_else(|| item.text.clone().into()),
        },
    }))
}
