//! Messages of model providers, and the items that they are in the log.
//!
//! An item holds each text once, in its `text`. The rest of its message is stored below `metadata._contextweaver.message`:
//! the same format gets it back exactly, unless the text was changed since; then the text is written in its place. Another
//! format gets what all formats have: texts, calls with arguments, results.

// A format is read into the `Message`s of `message`, of which `to_items` makes items, and written from the
// `OutgoingMessage`s of `outgoing`, which `to_messages` makes of items by the rules of calls and results. `stored` is what
// an item keeps of its message.

mod ai_sdk_model;
mod ai_sdk_ui;
mod alternating;
mod anthropic;
mod approval_parts;
mod approvals;
mod blanks;
mod call_text;
pub mod cost;
mod escapes;
mod formats;
mod gemini;
mod grouping;
mod image_size;
mod images;
mod item_parts;
mod masked;
mod media;
mod media_list;
mod message;
mod message_groups;
mod nameless_calls;
mod names;
mod openai_chat;
mod openai_responses;
mod outgoing;
mod pieces;
mod provider;
mod recognition;
mod repeated;
mod server_tools;
mod signatures;
mod sources;
mod stored;
mod to_items;
mod to_messages;
mod torn;
mod written;

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::ContextItem;
use contextweaver_model::json::{Fields, JsonMap, missing_field, wrong_type};
use contextweaver_text::quote::quote;

use self::alternating::{begin_with_user, fill_empty};
use self::blanks::leave_out_blanks;
use self::images::count_images;
use self::message::Role;
use self::outgoing::drop_last_reasoning;
use self::provider::Provider;
use self::repeated::free_parts;

pub use approvals::{approval_requests, is_approval};
pub use image_size::ImageSize;
pub use masked::restore_sealed_data;
pub use media_list::{
    MediaBytes, MediaRecord, has_more_than_text, is_as_read, keep_media, note_media, restore_media_data,
    show_text_alone, text_before_media,
};
pub use message_groups::last_part;
pub use names::{call_id, called_tool, tool_name};
pub use recognition::{FoundMessages, find_messages};
pub use server_tools::{is_compaction, is_provider_run};
pub use to_items::{KnownIds, ReadOptions};
pub use torn::LastResponse;
pub use written::{WriteOptions, WrittenBefore};

contextweaver_model::string_enum! {
    /// A message format.
    Format, "format" {
        /// `messages` of `OpenAI`'s chat completions, and of the many servers that speak them.
        OpenAiChat = "openai-chat",
        /// `input` of `OpenAI`'s Responses.
        OpenAiResponses = "openai-responses",
        /// `messages` of Anthropic.
        Anthropic = "anthropic",
        /// `contents` of Gemini.
        Gemini = "gemini",
        /// `UIMessage` of the AI SDK.
        AiSdkUi = "ai-sdk-ui",
        /// `ModelMessage` of the AI SDK.
        AiSdkModel = "ai-sdk-model",
    }
}

/// A repair, or content that could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageWarning {
    /// The kind of the warning, such as `RESULT_MISSING`.
    pub code: &'static str,
    /// One sentence for people.
    pub message: String,
    /// JSON pointer into the input.
    pub path: String,
}

/// Collects warnings in the order they come up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Warnings(Vec<MessageWarning>);

impl Warnings {
    /// Adds a warning at a JSON pointer.
    pub fn add(&mut self, code: &'static str, message: impl Into<String>, path: impl Into<String>) {
        self.0.push(MessageWarning { code, message: message.into(), path: path.into() });
    }
}

/// The items that messages were read into.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ReadMessages {
    /// The items, in the order of the messages.
    pub items: Vec<ContextItem>,
    /// What was repaired, such as a call with the id of another.
    pub warnings: Vec<MessageWarning>,
}

/// The messages that items were written as.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WrittenMessages {
    /// The messages, as JSON of the format.
    pub messages: Vec<Value>,
    /// The instructions beside the messages: of Anthropic `system`, of Gemini `systemInstruction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub system: Option<Value>,
    /// What was repaired or left out.
    pub warnings: Vec<MessageWarning>,
}

/// Reads messages into items. Unknown fields and part types are kept; known ones are checked.
///
/// # Errors
/// `INVALID_INPUT` and `MISSING_FIELD` for what is known of the format and malformed, with the place as in
/// `/messages/3/content/0/id`, and for calls and results of another format, with its name; `TOO_LARGE` and `TOO_DEEP` beyond the limits; `UNSUPPORTED` for `system` in a format that has
/// its instructions among the messages.
///
/// ```
/// use contextweaver_convert::providers::{Format, ReadOptions, messages_to_items};
/// use contextweaver_model::ItemKind;
/// use serde_json::json;
///
/// let messages = json!([
///     { "role": "user", "content": "Is it raining in Oslo?" },
///     { "role": "assistant", "content": null, "tool_calls": [{
///         "id": "call_1", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"Oslo\"}" },
///     }] },
///     { "role": "tool", "tool_call_id": "call_1", "content": "Light rain" },
/// ]);
/// let options = ReadOptions { id_prefix: "message:".to_owned(), ..ReadOptions::default() };
/// let read = messages_to_items(messages, Format::OpenAiChat, &options)?;
/// assert!(read.warnings.is_empty());
/// let kinds: Vec<ItemKind> = read.items.iter().map(|item| item.kind).collect();
/// assert_eq!(kinds, [ItemKind::UserTurn, ItemKind::ToolCall, ItemKind::ToolResult]);
/// assert_eq!(read.items[2].parent_id.as_deref(), Some("call_1"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn messages_to_items(messages: Value, format: Format, options: &ReadOptions) -> Result<ReadMessages> {
    messages_to_items_after(messages, format, options, &())
}

/// Reads messages into items, as [`messages_to_items`] does, that go on with those of a log, whose ids are looked up: a long
/// log costs no more than a short one.
///
/// # Errors
/// Those of [`messages_to_items`].
///
/// ```
/// use contextweaver_convert::providers::{Format, KnownIds, ReadOptions, messages_to_items_after};
/// use serde_json::json;
///
/// struct OneCall;
/// impl KnownIds for OneCall {
///     fn item(&self, id: &str) -> Option<&str> {
///         (id == "call_1").then_some("first")
///     }
///     fn is_item(&self, id: &str) -> bool {
///         id == "first"
///     }
/// }
///
/// let result = json!([{ "role": "tool", "tool_call_id": "call_1", "content": "Light rain" }]);
/// let read = messages_to_items_after(result, Format::OpenAiChat, &ReadOptions::default(), &OneCall)?;
/// assert_eq!(read.items[0].parent_id.as_deref(), Some("first"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn messages_to_items_after(
    messages: Value,
    format: Format,
    options: &ReadOptions,
    known: &dyn KnownIds,
) -> Result<ReadMessages> {
    let mut list = match messages {
        Value::Array(list) if list.len() > limits::MAX_ITEMS => {
            let message = format!("{} messages, the limit is {}", list.len(), limits::MAX_ITEMS);
            return Err(Error::new(ErrorCode::TooLarge, message).at("/messages"));
        }
        Value::Array(list) => list,
        other => return Err(wrong_type("/messages", "an array", &other)),
    };
    if options.system.is_some() && format.provider().systems.is_empty() {
        let message = format!("{} has its instructions among the messages", format.as_str());
        return Err(Error::new(ErrorCode::Unsupported, message).at("/system"));
    }
    to_items::check_depth(&list, options.system.as_ref())?;
    recognition::refuse_other_formats(&list, format)?;
    let mut warnings = Warnings::default();
    nameless_calls::name_calls(&mut list, format, options, &mut warnings);
    let read = (format.provider().read)(list, options)?;
    let items = to_items::items(read, format, options, known, &mut warnings)?;
    Ok(ReadMessages { items, warnings: warnings.0 })
}

/// Writes items as messages that the provider accepts: every result follows its call, every call but those of the last
/// message has a result, ids are unique and legal, no message is empty.
///
/// # Errors
/// None at present: what a format cannot say is repaired or left out, with a warning.
///
/// ```
/// use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages};
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let items = [
///     ContextItem::new("rules", ItemKind::Policy, "Answer briefly."),
///     ContextItem::new("question", ItemKind::UserTurn, "Is it raining in Oslo?"),
/// ];
/// let written = items_to_messages(&items, Format::Anthropic, &WriteOptions::default())?;
/// assert_eq!(written.system, Some("Answer briefly.".into()));
/// assert_eq!(written.messages[0]["content"], "Is it raining in Oslo?");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn items_to_messages(items: &[ContextItem], format: Format, options: &WriteOptions) -> Result<WrittenMessages> {
    items_to_messages_with(items, format, options, &|_| None)
}

/// Writes items as messages, as [`items_to_messages`] does, with the images and the like of MCP results, whose bytes are
/// stored elsewhere ([`note_media`]); `bytes` finds them by their handle.
///
/// # Errors
/// None at present, as [`items_to_messages`].
///
/// ```
/// use contextweaver_convert::providers::{
///     Format, MediaRecord, WriteOptions, items_to_messages_with, note_media,
/// };
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let mut item = ContextItem::new("result:c1", ItemKind::ToolResult, "One chart.");
/// item.metadata.insert("tool_name".into(), "plot".into());
/// let png: &[u8] = b"\x89PNG\r\n\x1a\n";
/// note_media(&mut item, &[MediaRecord::new("mcp:plot:c1:image:1", "image/png", "", png)]);
/// let bytes = |handle: &str| (handle == "mcp:plot:c1:image:1").then_some(png);
/// let written = items_to_messages_with(&[item], Format::Anthropic, &WriteOptions::default(), &bytes)?;
/// let blocks = &written.messages[2]["content"][0]["content"];
/// assert_eq!(blocks[0]["text"], "One chart.");
/// assert_eq!(blocks[1]["source"]["data"], "iVBORw0KGgo=");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn items_to_messages_with(
    items: &[ContextItem],
    format: Format,
    options: &WriteOptions,
    bytes: MediaBytes,
) -> Result<WrittenMessages> {
    continue_messages(items, format, options, bytes, &mut WrittenBefore::default())
}

/// Writes items as messages that go on with others, as [`items_to_messages_with`] does; `before` is what stands there, and then
/// what stands there with these.
///
/// Parted where [`last_part`] says, with `is_steady`, the messages are those that all items make at once.
///
/// # Errors
/// None at present, as [`items_to_messages`].
///
/// ```
/// use contextweaver_convert::providers::{Format, WriteOptions, WrittenBefore, continue_messages};
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let turns = [ContextItem::new("u1", ItemKind::UserTurn, "Hi"), ContextItem::new("a1", ItemKind::AgentMsg, "Hello")];
/// let (format, options, mut before) = (Format::Anthropic, WriteOptions::default(), WrittenBefore::default());
/// let mut messages = Vec::new();
/// for turn in turns.chunks(1) {
///     messages.extend(continue_messages(turn, format, &options, &|_| None, &mut before)?.messages);
/// }
/// assert_eq!(messages.len(), 2, "nothing is put before the model, which does not speak first");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn continue_messages(
    items: &[ContextItem],
    format: Format,
    options: &WriteOptions,
    bytes: MediaBytes,
    before: &mut WrittenBefore,
) -> Result<WrittenMessages> {
    let mut warnings = Warnings::default();
    let mut outgoing = to_messages::outgoing_messages(items, format, options, bytes, before, &mut warnings);
    let Provider { rules, write, .. } = format.provider();
    if let Some(parts_of) = rules.blanks {
        leave_out_blanks(&mut outgoing, parts_of, &mut warnings);
    }
    if rules.refuses_last_reasoning {
        drop_last_reasoning(&mut outgoing, &mut warnings);
    }
    if rules.names_items {
        free_parts(&mut outgoing, &mut before.items, &mut warnings);
    }
    if rules.needs_turn && !before.has_turns {
        fill_empty(&mut outgoing, items, &mut warnings);
    }
    if rules.begins_with_user && !before.has_turns {
        begin_with_user(&mut outgoing, &mut warnings);
    }
    before.has_turns |= outgoing.iter().any(|message| message.role != Role::System && !message.parts.is_empty());
    let (messages, system) = write(outgoing, options, before, &mut warnings);
    count_images(&messages, format, &mut before.images, &mut warnings);
    before.count += messages.len();
    Ok(WrittenMessages { messages, system, warnings: warnings.0 })
}

/// Returns the fields of a message or part, which must be an object.
fn into_object(value: Value, path: &str) -> Result<JsonMap> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong_type(path, "an object", &other)),
    }
}

/// Takes the value of a field out of a message and leaves `""`, `[]` or null there; an absent field gives null and stays
/// absent.
fn take_field(message: &mut JsonMap, field: &str) -> Value {
    let Some(slot) = message.get_mut(field) else { return Value::Null };
    let empty = match slot {
        Value::String(_) => Value::from(""),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    };
    std::mem::replace(slot, empty)
}

/// Returns a field that must be a string and not empty.
fn required<'a>(map: &'a JsonMap, key: &str, path: &str) -> Result<&'a str> {
    match map.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null) => Err(missing_field(path, key)),
        Some(Value::String(_)) => {
            Err(Error::new(ErrorCode::InvalidInput, format!("{} is empty", quote(key))).at(message::below(path, key)))
        }
        Some(other) => Err(wrong_type(&message::below(path, key), "a string", other)),
    }
}

/// Returns a string field, or empty text.
fn optional<'a>(map: &'a JsonMap, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Reads the role of a message, one of the roles of its format; `hint` is added to their names when it is none of them.
fn role_of(map: &JsonMap, path: &str, roles: &[(&str, Role)], hint: &str) -> Result<(String, Role)> {
    let name = required(map, "role", path)?;
    if let Some((_, role)) = roles.iter().find(|(known, _)| *known == name) {
        return Ok((name.to_owned(), *role));
    }
    let names: Vec<&str> = roles.iter().map(|(known, _)| *known).collect();
    Err(Error::new(ErrorCode::InvalidInput, format!("unknown role {}", quote(name)))
        .at(message::below(path, "role"))
        .hint(format!("one of: {}{hint}", names.join(" "))))
}

/// Reads `close_calls` and `thought_signatures` from the fields of an object; `close_calls` is what is done without the field.
///
/// # Errors
/// `INVALID_INPUT` for a field of another type, `UNSUPPORTED` for signatures in a format that has none.
pub fn write_options(fields: &mut Fields, format: Format, close_calls: bool) -> Result<WriteOptions> {
    let close_calls = fields.bool_or("close_calls", close_calls)?;
    let signatures = fields.opt_bool("thought_signatures")?;
    if signatures.is_some() && !format.provider().rules.signs_calls {
        let message = format!("calls of {} have no `thoughtSignature`", format.as_str());
        return Err(Error::new(ErrorCode::Unsupported, message).at(fields.at("thought_signatures")));
    }
    Ok(WriteOptions { close_calls, thought_signatures: signatures.unwrap_or(false), ..WriteOptions::default() })
}

/// Reads `start`, `id_prefix`, `known_calls` and `system` from the fields of an object.
///
/// # Errors
/// `INVALID_INPUT` and `OUT_OF_RANGE` for a field of another type or beyond its limit.
pub fn read_options(fields: &mut Fields) -> Result<ReadOptions> {
    let mut known_calls = Vec::new();
    for (id, item) in fields.object("known_calls")? {
        let at = message::below(&fields.at("known_calls"), &id);
        known_calls.push((id, contextweaver_model::json::as_string(item, &at)?));
    }
    Ok(ReadOptions {
        start: fields.uint_or("start", 0, limits::MAX_SEQUENCE)? as usize,
        id_prefix: fields.string_or("id_prefix", "message:")?,
        known_calls,
        open_calls: Vec::new(),
        last_response: LastResponse::Unknown,
        system: fields.take("system"),
    })
}
