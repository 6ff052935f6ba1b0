//! Messages that were given under the name of another format: told by calls and results, which every format writes its own
//! way.

use serde_json::Value;

use super::Format;
use super::message::{at, below};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// Types of parts in `content` by the format that has them.
const CONTENT_TYPES: &[(&str, Format)] = &[
    ("tool_use", Format::Anthropic),
    ("tool_result", Format::Anthropic),
    ("tool-call", Format::AiSdkModel),
    ("tool-result", Format::AiSdkModel),
];

/// Types of messages that are no messages elsewhere.
const ITEM_TYPES: &[&str] = &["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"];

/// Refuses messages with calls or results of another format: read on, they would become a line such as `[tool_result]`.
pub fn refuse_other_formats(list: &[Value], format: Format) -> Result<()> {
    for (index, message) in list.iter().enumerate() {
        let Some((other, what, path)) = sign(message).filter(|(other, ..)| *other != format) else { continue };
        let (given, likely) = (format.as_str(), other.as_str());
        let message = format!("{} belongs to messages of {likely}, not of {given}", quote(&what));
        return Err(Error::new(ErrorCode::InvalidInput, message)
            .at(format!("{}{path}", at("/messages", index)))
            .hint(format!("these look like messages of `{likely}`; give that as the format")));
    }
    Ok(())
}

/// Returns the only format that a message can be of, what tells it, and where that is.
fn sign(message: &Value) -> Option<(Format, String, String)> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let found = |format, what: &str, path: String| Some((format, what.to_owned(), path));
    let kind = text(message, "type");
    if ITEM_TYPES.contains(&kind.as_str()) {
        return found(Format::OpenAiResponses, &kind, "/type".to_owned());
    }
    for key in ["tool_calls", "tool_call_id"] {
        let is_there = message.get(key).is_some_and(|value| value.is_string() || value.is_array());
        if is_there && ["assistant", "tool"].contains(&text(message, "role").as_str()) {
            return found(Format::OpenAiChat, key, below("", key));
        }
    }
    for (index, part) in message.get("content").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let kind = text(part, "type");
        if let Some((_, format)) = CONTENT_TYPES.iter().find(|(known, _)| *known == kind) {
            return found(*format, &kind, format!("/content/{index}/type"));
        }
    }
    for (index, part) in message.get("parts").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let gemini = ["functionCall", "function_call", "functionResponse", "function_response"];
        let call = gemini.into_iter().find(|key| part.get(*key).is_some_and(Value::is_object));
        if let Some(key) = call.filter(|_| part.get("type").is_none()) {
            return found(Format::Gemini, key, format!("/parts/{index}/{key}"));
        }
        let kind = text(part, "type");
        if (kind.starts_with("tool-") || kind == "dynamic-tool") && part.get("toolCallId").is_some() {
            return found(Format::AiSdkUi, &kind, format!("/parts/{index}/type"));
        }
    }
    None
}
