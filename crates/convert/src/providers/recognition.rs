//! Whose messages they are: told for certain by calls and results, which every format writes its own way, and otherwise by what is
//! likely. Certain signs refuse messages that were given under the name of another format.

use serde::Serialize;
use serde_json::Value;

use super::Format;
use super::message::at;
use super::provider::Sign;
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

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
    let systems = || Format::ALL.iter().flat_map(|format| format.provider().systems).copied();
    let system = systems().find(|key| field(key).is_some());
    let found = |format: Format, list| {
        // A field of that name says nothing where instructions are among the messages.
        let system = system.filter(|_| has_system(format, system));
        FoundMessages { format: format.as_str(), list, system }
    };
    if let Some(messages) = document.as_array() {
        return messages.iter().any(is_message).then(|| found(likely(messages).unwrap_or(Format::OpenAiChat), None));
    }
    // The formats whose requests have such a list, the ones with these instructions first.
    let has_list = |format: &&Format| format.provider().list.is_some_and(|key| field(key).is_some_and(Value::is_array));
    let mut formats: Vec<Format> = Format::ALL.iter().filter(has_list).copied().collect();
    sort_by(&mut formats, |a, b| has_system(*b, system).cmp(&has_system(*a, system)));
    let list = formats.first()?.provider().list?;
    if formats.iter().any(|format| format.provider().list != Some(list)) {
        return None;
    }
    let messages = document.get(list)?.as_array()?;
    Some(found(likely(messages).unwrap_or(formats[0]), Some(list)))
}

fn has_system(format: Format, system: Option<&str>) -> bool {
    system.is_some_and(|system| format.provider().systems.contains(&system))
}

/// Tells whether a value is a message rather than an item of a log, or anything else.
fn is_message(value: &Value) -> bool {
    let named = ["role", "content", "parts"].into_iter().filter(|key| value.get(*key).is_some()).count();
    let is_item = || value.get("type").is_some() && likely_format(value).is_some();
    value.get("kind").is_none() && (named > 1 || sign(value).is_some() || is_item())
}

/// The format of messages as far as one of them tells, the certain signs first.
fn likely(messages: &[Value]) -> Option<Format> {
    let certain = messages.iter().find_map(sign).map(|(format, _)| format);
    certain.or_else(|| messages.iter().find_map(likely_format))
}

fn likely_format(message: &Value) -> Option<Format> {
    Format::ALL.iter().copied().find(|format| (format.provider().is_likely)(message))
}

/// Refuses messages with calls or results of another format: read on, they would become a line such as `[tool_result]`.
pub fn refuse_other_formats(list: &[Value], format: Format) -> Result<()> {
    for (index, message) in list.iter().enumerate() {
        let Some((other, Sign { what, path })) = sign(message).filter(|(other, _)| *other != format) else { continue };
        let (given, likely) = (format.as_str(), other.as_str());
        let message = format!("{} belongs to messages of {likely}, not of {given}", quote(&what));
        return Err(Error::new(ErrorCode::InvalidInput, message)
            .at(format!("{}{path}", at("/messages", index)))
            .hint(format!("these look like messages of `{likely}`; give that as the format")));
    }
    Ok(())
}

/// Returns the only format that a message can be of, and what tells it.
fn sign(message: &Value) -> Option<(Format, Sign)> {
    Format::ALL.iter().find_map(|format| Some((*format, (format.provider().sign)(message)?)))
}
