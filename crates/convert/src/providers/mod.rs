//! Messages of the providers, and the items they are in the log.
//!
//! Every format is read into the parts of [`part`] and written from the turns of [`part`]; `decode` makes items of
//! parts, `turns` makes turns of items and keeps the rules of calls and results.
//!
//! An item holds each text once, in its `text`. What else a message has is kept below `metadata._contextweaver.message`
//! ([`record`]): the same format gets it back exactly, unless the text was changed since; then the text is written in
//! its place. From another format only what all formats have is written: texts, calls with arguments, results.

pub mod ai_sdk_model;
pub mod ai_sdk_ui;
pub mod anthropic;
pub mod cost;
mod decode;
mod drafts;
pub mod entries;
pub mod escapes;
pub mod gemini;
pub mod media;
pub mod names;
pub mod openai_chat;
pub mod openai_responses;
pub mod part;
mod pieces;
pub mod record;
mod said;
mod spoken;
mod turns;

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::ContextItem;
use contextweaver_model::json::{Fields, JsonMap, missing_field, wrong_type};
use contextweaver_text::unicode::quote;

use self::part::Role;

pub use decode::ReadOptions;
pub use turns::WriteOptions;

/// A format of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `messages` of `OpenAI`'s chat completions, and of the many servers that speak them.
    OpenAiChat,
    /// `input` of `OpenAI`'s Responses.
    OpenAiResponses,
    /// `messages` of Anthropic.
    Anthropic,
    /// `contents` of Gemini.
    Gemini,
    /// `UIMessage` of the AI SDK.
    AiSdkUi,
    /// `ModelMessage` of the AI SDK.
    AiSdkModel,
}

impl Format {
    /// Lists every format.
    pub const ALL: &'static [Self] =
        &[Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::AiSdkUi, Self::AiSdkModel];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::AiSdkUi => "ai-sdk-ui",
            Self::AiSdkModel => "ai-sdk-model",
        }
    }

    /// Finds a format by its name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name).ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, format!("unknown format {}", quote(name)))
                .hint("one of: openai-chat openai-responses anthropic gemini ai-sdk-ui ai-sdk-model")
        })
    }
}

/// Something that was repaired or could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageWarning {
    /// What kind of thing, in upper case.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
    /// JSON pointer into the input.
    pub path: String,
}

/// Warnings in the order they came up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings(pub Vec<MessageWarning>);

impl Warnings {
    /// Adds one.
    pub fn add(&mut self, code: &'static str, message: impl Into<String>, path: impl Into<String>) {
        self.0.push(MessageWarning { code, message: message.into(), path: path.into() });
    }
}

/// What messages became.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ReadMessages {
    /// The items, in the order of the messages.
    pub items: Vec<ContextItem>,
    /// What does not fit together.
    pub warnings: Vec<MessageWarning>,
}

/// What items became.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WrittenMessages {
    /// The messages.
    pub messages: Vec<Value>,
    /// What the provider wants beside the messages: of Anthropic `system`, of Gemini `systemInstruction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub system: Option<Value>,
    /// What was repaired or left out.
    pub warnings: Vec<MessageWarning>,
}

/// Reads a list of messages. Nothing is refused for being unknown; the form of what is known is checked, and an error
/// names the place, such as `/messages/3/content/0/id`.
pub fn messages_to_items(messages: Value, format: Format, options: &ReadOptions) -> Result<ReadMessages> {
    let list = match messages {
        Value::Array(list) if list.len() > limits::MAX_ITEMS => {
            let message = format!("{} messages, the limit is {}", list.len(), limits::MAX_ITEMS);
            return Err(Error::new(ErrorCode::TooLarge, message).at("/messages"));
        }
        Value::Array(list) => list,
        other => return Err(wrong_type("/messages", "an array", &other)),
    };
    if options.system.is_some() && !matches!(format, Format::Anthropic | Format::Gemini) {
        let message = format!("{} has its instructions among the messages", format.as_str());
        return Err(Error::new(ErrorCode::Unsupported, message).at("/system"));
    }
    decode::check_depth(&list, options.system.as_ref())?;
    let mut warnings = Warnings::default();
    let read = match format {
        Format::OpenAiChat => openai_chat::read(list, options.start)?,
        Format::OpenAiResponses => openai_responses::read(list)?,
        Format::Anthropic => anthropic::read(list, options.system.clone())?,
        Format::Gemini => gemini::read(list, options.system.clone(), options.start)?,
        Format::AiSdkUi => ai_sdk_ui::read(list)?,
        Format::AiSdkModel => ai_sdk_model::read(list)?,
    };
    let items = decode::items(read, format, options, &mut warnings)?;
    Ok(ReadMessages { items, warnings: warnings.0 })
}

/// Writes items as messages that the provider accepts: every result has its call and follows it, every call has a
/// result unless it is the last thing said, ids are unique and legal, nothing is empty.
pub fn items_to_messages(items: &[ContextItem], format: Format, options: &WriteOptions) -> Result<WrittenMessages> {
    let mut warnings = Warnings::default();
    let turns = turns::turns(items, format, options, &mut warnings);
    let (messages, system) = match format {
        Format::OpenAiChat => (openai_chat::write(turns), None),
        Format::OpenAiResponses => (openai_responses::write(turns), None),
        Format::Anthropic => anthropic::write(turns, &mut warnings),
        Format::Gemini => gemini::write(turns, &mut warnings),
        Format::AiSdkUi => (ai_sdk_ui::write(turns), None),
        Format::AiSdkModel => (ai_sdk_model::write(turns), None),
    };
    Ok(WrittenMessages { messages, system, warnings: warnings.0 })
}

/// Takes a message or part apart; anything but an object is an error.
pub fn open(value: Value, path: &str) -> Result<JsonMap> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong_type(path, "an object", &other)),
    }
}

/// Takes the parts out of a field of an entry and leaves `""`, `[]` or null there; absent is null and stays absent.
pub fn hollow(entry: &mut JsonMap, field: &str) -> Value {
    let Some(slot) = entry.get_mut(field) else { return Value::Null };
    let empty = match slot {
        Value::String(_) => Value::from(""),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    };
    std::mem::replace(slot, empty)
}

/// Returns a field that must be a string; `id` fields may not be empty.
pub fn required<'a>(map: &'a JsonMap, key: &str, path: &str) -> Result<&'a str> {
    match map.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null) => Err(missing_field(path, key)),
        Some(Value::String(_)) => {
            Err(Error::new(ErrorCode::InvalidInput, format!("{} is empty", quote(key))).at(part::below(path, key)))
        }
        Some(other) => Err(wrong_type(&part::below(path, key), "a string", other)),
    }
}

/// Returns a string field, or empty text.
pub fn optional<'a>(map: &'a JsonMap, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Reads who speaks in a message, one of the roles of its format; `hint` is added to their names when it is none of them.
pub fn speaker(map: &JsonMap, path: &str, roles: &[(&str, Role)], hint: &str) -> Result<(String, Role)> {
    let name = required(map, "role", path)?;
    if let Some((_, role)) = roles.iter().find(|(known, _)| *known == name) {
        return Ok((name.to_owned(), *role));
    }
    let names: Vec<&str> = roles.iter().map(|(known, _)| *known).collect();
    Err(Error::new(ErrorCode::InvalidInput, format!("unknown role {}", quote(name)))
        .at(part::below(path, "role"))
        .hint(format!("one of: {}{hint}", names.join(" "))))
}

/// Reads options from a record, without the fields the caller took out.
pub fn read_options(fields: &mut Fields) -> Result<ReadOptions> {
    let mut known_calls = Vec::new();
    for (id, item) in fields.object("known_calls")? {
        let at = part::below(&fields.at("known_calls"), &id);
        known_calls.push((id, contextweaver_model::json::as_string(item, &at)?));
    }
    Ok(ReadOptions {
        start: fields.uint_or("start", 0, limits::MAX_SEQUENCE)? as usize,
        id_prefix: fields.string_or("id_prefix", "message:")?,
        known_calls,
        system: fields.take("system"),
    })
}
