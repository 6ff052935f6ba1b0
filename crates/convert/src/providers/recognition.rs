//! Whose messages they are: told for certain by calls and results, which every format writes its own way, and otherwise by what is
//! likely. Certain signs refuse messages that were given under the name of another format.

use serde::Serialize;
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

/// Types of items of `OpenAI`'s Responses beside those.
const LIKELY_ITEM_TYPES: &[&str] = &["message", "reasoning", "item_reference", "compaction"];

/// Types of parts in `content` by the format that is most likely to have them.
const LIKELY_TYPES: &[(&str, Format)] = &[
    ("thinking", Format::Anthropic),
    ("redacted_thinking", Format::Anthropic),
    ("server_tool_use", Format::Anthropic),
    ("image", Format::Anthropic),
    ("document", Format::Anthropic),
    ("input_text", Format::OpenAiResponses),
    ("output_text", Format::OpenAiResponses),
    ("input_image", Format::OpenAiResponses),
    ("input_file", Format::OpenAiResponses),
    ("image_url", Format::OpenAiChat),
    ("input_audio", Format::OpenAiChat),
    ("refusal", Format::OpenAiChat),
    ("reasoning", Format::AiSdkModel),
    ("tool-approval-request", Format::AiSdkModel),
    ("tool-approval-response", Format::AiSdkModel),
];

/// Fields of requests that have the messages, with the format of those whose messages do not tell.
const LISTS: &[(&str, Format)] =
    &[("messages", Format::OpenAiChat), ("contents", Format::Gemini), ("input", Format::OpenAiResponses)];

/// Fields of requests that have the instructions.
const SYSTEMS: &[&str] = &["system", "systemInstruction", "system_instruction"];

/// Where a document has messages of a provider, and whose they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FoundMessages {
    /// Name of the format.
    pub format: &'static str,
    /// The field that has the messages, where the document is a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "\"messages\" | \"contents\" | \"input\""))]
    pub list: Option<&'static str>,
    /// The field that has the instructions, where they stand beside the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "\"system\" | \"systemInstruction\" | \"system_instruction\""))]
    pub system: Option<&'static str>,
}

/// Recognises messages of a provider: a list of them, or a request that has one. None where there is no list of messages, or more
/// than one.
///
/// ```
/// use contextweaver_convert::providers::find_messages;
/// use serde_json::json;
///
/// let request = json!({ "system": "Be brief.", "messages": [{ "role": "user", "content": "hi" }] });
/// let found = find_messages(&request).unwrap();
/// assert_eq!((found.format, found.list, found.system), ("anthropic", Some("messages"), Some("system")));
/// assert_eq!(find_messages(&json!([{ "id": "u1", "kind": "user_turn", "text": "hi" }])), None);
/// ```
pub fn find_messages(document: &Value) -> Option<FoundMessages> {
    let field = |key: &str| document.get(key).filter(|value| !value.is_null());
    let lists = || LISTS.iter().filter_map(|(key, format)| Some((*key, *format, field(key)?.as_array()?)));
    let system = SYSTEMS.iter().copied().find(|key| field(key).is_some());
    let found = |format: Format, list| FoundMessages { format: format.as_str(), list, system };
    if let Some(messages) = document.as_array() {
        return messages.iter().any(is_message).then(|| found(likely(messages).unwrap_or(Format::OpenAiChat), None));
    }
    let (key, format, messages) = lists().next().filter(|_| lists().count() == 1)?;
    let format = match (likely(messages), key, system) {
        (Some(format), ..) => format,
        (None, "messages", Some("system")) => Format::Anthropic,
        (None, ..) => format,
    };
    Some(found(format, Some(key)))
}

/// Tells whether a value is a message rather than an item of a log, or anything else.
fn is_message(value: &Value) -> bool {
    let named = ["role", "content", "parts"].into_iter().filter(|key| value.get(*key).is_some()).count();
    value.get("kind").is_none() && (named > 1 || sign(value).is_some() || sign_of_type(value).is_some())
}

/// The format of messages as far as one of them tells, the certain signs first.
fn likely(messages: &[Value]) -> Option<Format> {
    let certain = messages.iter().find_map(sign).map(|(format, ..)| format);
    certain.or_else(|| messages.iter().find_map(likely_sign))
}

fn sign_of_type(message: &Value) -> Option<Format> {
    let kind = message.get("type")?.as_str()?;
    let is_item = LIKELY_ITEM_TYPES.contains(&kind) && (message.get("role").is_some() || kind != "message");
    is_item.then_some(Format::OpenAiResponses)
}

fn likely_sign(message: &Value) -> Option<Format> {
    let list = |key: &str| message.get(key).and_then(Value::as_array);
    let kind = |part: &Value| part.get("type").and_then(Value::as_str).map(str::to_owned);
    if let Some(format) = sign_of_type(message) {
        return Some(format);
    }
    if let Some(parts) = list("parts") {
        return Some(if parts.iter().any(|part| kind(part).is_some()) { Format::AiSdkUi } else { Format::Gemini });
    }
    let content = list("content")?;
    let of_type = |kind: String| LIKELY_TYPES.iter().find(|(known, _)| *known == kind).map(|(_, format)| *format);
    let is_tool = message.get("role").is_some_and(|role| role == "tool");
    // A picture of the AI SDK has no source.
    let is_of_sdk = content.iter().any(|part| part.get("mediaType").is_some() || part.get("image").is_some());
    if is_tool || is_of_sdk {
        return Some(Format::AiSdkModel);
    }
    content.iter().filter_map(kind).find_map(of_type)
}

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
