//! A message of any format as it was read: its role, its parts, and the fields besides.

use serde_json::Value;

use contextweaver_model::json::pointer;

use super::media::{MEDIA_TOKENS, label_of};

/// The role of a message, whatever the format calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions: `system`, `developer`.
    System,
    User,
    Assistant,
    /// Results of tools.
    Tool,
}

impl Role {
    /// Returns the name that most formats use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message as it was read. Where a format has tool calls and results beside the messages, each is a message of one
/// part.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    /// The role as the format writes it; empty where the format writes none.
    pub role_name: String,
    /// The message without its parts: `""`, `[]` or null stands where they were, which keeps the form of the field.
    pub fields: Value,
    pub parts: Vec<MessagePart>,
    /// Index of the first message of the same response of the model; its own index, unless a response is several
    /// messages.
    pub group: usize,
    /// Its index in the list; none for instructions that stand beside the messages.
    pub index: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MessagePart {
    pub kind: PartKind,
    /// Where it goes in the message: `content` (it is the value of that field), `content[]` (it is an element of that
    /// list), or empty (it is the whole message).
    pub field: String,
    /// The step of a message that holds several steps; tool calls of one step were made together.
    pub step: usize,
    /// The part as the format writes it.
    pub original: Value,
    /// Its texts, in order; together they are the text of the item.
    pub slots: Vec<TextSlot>,
    /// Tokens besides those of its texts. With none, the JSON of an opaque part or of reasoning is counted, and nothing
    /// for other parts.
    pub tokens: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartKind {
    Text,
    /// A tool call; its slot is the arguments.
    ToolCall {
        /// The provider's id of the call.
        id: String,
        name: String,
    },
    /// A tool result; its slots are what the tool returned.
    ToolResult {
        /// The provider's id of the call.
        id: String,
        /// The tool; empty where the format does not name it.
        name: String,
        is_error: bool,
    },
    /// A call of a tool that the provider runs itself; its slot is the arguments.
    ServerCall {
        /// The provider's id of the call.
        id: String,
        name: String,
    },
    /// What such a tool returned. It stands with the model's words, and nobody may make it up.
    ServerResult {
        /// The provider's id of the call.
        id: String,
        name: String,
        is_error: bool,
    },
    /// Reasoning of the model, which is often signed: it is written byte for byte, or left out with the calls it led to.
    Reasoning,
    /// A part without text of its own: an image, a file, an unknown type. It is left out when the text of its item was
    /// changed.
    Opaque,
    /// A part that only structures the message, such as `step-start`.
    Marker,
}

/// A text within a part.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSlot {
    /// JSON pointer in the part; none for a label that stands for content without text.
    pub pointer: Option<String>,
    /// How the text is written there.
    pub encoding: TextEncoding,
    pub text: String,
    /// JSON pointer in the part of the media, or of what nobody here knows, that a label stands for.
    pub media: Option<String>,
}

/// How a text is written in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    Text,
    /// As the JSON value that the text is.
    Json,
    /// As a string with every code point outside ASCII as `\uXXXX`.
    Ascii,
}

impl TextEncoding {
    /// Returns the name in the metadata of an item.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Ascii => "ascii",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Text, Self::Json, Self::Ascii].into_iter().find(|encoding| encoding.as_str() == name)
    }
}

impl TextSlot {
    /// Makes the slot of a string at `pointer`.
    pub fn text(pointer: impl Into<String>, text: impl Into<String>) -> Self {
        Self { pointer: Some(pointer.into()), encoding: TextEncoding::Text, text: text.into(), media: None }
    }

    /// Makes the slot of a JSON value at `pointer`; its text is the value as JSON in one line.
    pub fn json(pointer: impl Into<String>, value: &Value) -> Self {
        Self { encoding: TextEncoding::Json, ..Self::text(pointer, value.to_string()) }
    }

    /// Makes the slot of a string of JSON at `pointer`, with characters instead of their escapes where escaping them again
    /// gives the same string.
    pub fn json_text(pointer: impl Into<String>, text: &str) -> Self {
        match super::escapes::unescape(text) {
            Some(readable) => Self { encoding: TextEncoding::Ascii, ..Self::text(pointer, readable) },
            None => Self::text(pointer, text),
        }
    }

    /// Makes the slot of a string or of any other JSON value.
    pub fn any(pointer: impl Into<String>, value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(pointer, text),
            other => Self::json(pointer, other),
        }
    }

    /// Makes the slot of a label, which is shown for content without text and is not written back.
    pub fn label(text: impl Into<String>) -> Self {
        Self { pointer: None, ..Self::text("", text) }
    }

    /// Makes the slot of the label of media at `pointer`.
    pub fn media(label: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { media: Some(pointer.into()), ..Self::label(label) }
    }
}

impl MessagePart {
    /// Makes a part of the first step.
    pub fn new(kind: PartKind, field: &str, original: Value, slots: Vec<TextSlot>) -> Self {
        Self { kind, field: field.to_owned(), step: 0, original, slots, tokens: None }
    }

    /// Makes an opaque part with a label; an empty label shows nothing.
    pub fn opaque(field: &str, original: Value, label: &str, tokens: Option<u64>) -> Self {
        let slots = if label.is_empty() { Vec::new() } else { vec![TextSlot::label(label)] };
        Self { tokens, ..Self::new(PartKind::Opaque, field, original, slots) }
    }

    /// Makes an opaque part that is media.
    pub fn media(field: &str, original: Value, label: &str) -> Self {
        Self {
            tokens: Some(MEDIA_TOKENS),
            ..Self::new(PartKind::Opaque, field, original, vec![TextSlot::media(label, "")])
        }
    }

    /// Makes an opaque part of a type that is not known; its label is its type.
    pub fn unknown(field: &str, original: Value) -> Self {
        let label = label_of(&original);
        Self::new(PartKind::Opaque, field, original, vec![TextSlot::label(label)])
    }
}

/// Returns the pointer of an element of the list at `base`.
pub fn at(base: &str, index: usize) -> String {
    format!("{base}/{index}")
}

/// Returns the pointer of a field of the object at `base`.
pub fn below(base: &str, key: &str) -> String {
    pointer(base, key)
}

/// Returns the type of a message or a part; empty where it has none.
pub fn kind_of(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or("")
}

/// Returns the name of the role of a message; empty where it has none.
pub fn role_name_of(value: &Value) -> &str {
    value.get("role").and_then(Value::as_str).unwrap_or("")
}

/// Returns the parts in a field of a message.
pub fn parts_in<'a>(message: &'a Value, field: &str) -> &'a [Value] {
    message.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
