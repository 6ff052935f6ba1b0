//! What messages are read into and written from: one form for all formats.

use serde_json::Value;

use contextweaver_model::json::{JsonMap, pointer};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who sets the rules.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool that answers.
    Tool,
}

/// One entry of a list of messages as it was read. Most formats have messages with parts; where calls and results stand
/// beside messages, each is an entry with one part.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The role as the format writes it.
    pub role_name: String,
    /// The entry with its parts taken out: `""`, `[]` or null stands where they were, so that the form is kept.
    pub shell: Value,
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// Index of the first entry of the same answer of the model; its own index, unless an answer is several entries.
    pub group: usize,
    /// Its own index; none for what the format has beside the messages.
    pub index: Option<usize>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is.
    pub body: Body,
    /// Where it goes in the entry: `content` (it is the value of that field), `content[]` (it is an element of that
    /// list), or empty (it is the whole entry).
    pub field: String,
    /// The step of a message that holds several steps; calls of one step were made together.
    pub step: usize,
    /// The part as the format writes it.
    pub original: Value,
    /// Its texts, in order; together they are the text of the item.
    pub slots: Vec<Slot>,
    /// What it costs besides its texts; unknown is the estimate of the JSON of what has no text, and nothing of others.
    pub tokens: Option<u64>,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Text.
    Text,
    /// A call; its slot is the arguments.
    Call {
        /// The provider's id of the call.
        id: String,
        /// The tool.
        name: String,
    },
    /// A result; its slots are what the tool said.
    Result {
        /// The id of the call.
        id: String,
        /// The tool, where the format names it.
        name: String,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// What the model thought, which nobody may edit: it is written byte for byte, or left out with the calls it led to.
    Reasoning,
    /// What has no text of its own: images, files, calls that the provider ran itself, blocks that nobody here knows.
    /// It is left out when the text of its item was changed.
    Opaque,
    /// What only structures the message and says nothing.
    Mark,
}

/// A text inside a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// JSON pointer in the part; none for a label that stands for something without text.
    pub place: Option<String>,
    /// How the text is written there.
    pub form: Form,
    /// The text.
    pub text: String,
}

/// How a text is written in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Text,
    /// As the JSON value that the text is.
    Json,
    /// With every code point outside ASCII as `\uXXXX`.
    Ascii,
}

impl Form {
    /// Returns the name in the record of an item.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Ascii => "ascii",
        }
    }

    /// Finds a form by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Text, Self::Json, Self::Ascii].into_iter().find(|form| form.as_str() == name)
    }
}

impl Slot {
    /// Makes the slot of a text that stands at `place` as it is.
    pub fn text(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: Some(place.into()), form: Form::Text, text: text.into() }
    }

    /// Makes the slot of a JSON value at `place`, shown as JSON in one line.
    pub fn json(place: impl Into<String>, value: &Value) -> Self {
        Self { place: Some(place.into()), form: Form::Json, text: value.to_string() }
    }

    /// Makes the slot of a JSON text at `place`, shown with its letters instead of escapes where that can be undone.
    pub fn json_text(place: impl Into<String>, text: &str) -> Self {
        match super::escapes::unescape(text) {
            Some(readable) => Self { place: Some(place.into()), form: Form::Ascii, text: readable },
            None => Self::text(place, text),
        }
    }

    /// Makes the slot of what is a string or any other JSON value.
    pub fn any(place: impl Into<String>, value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(place, text),
            other => Self::json(place, other),
        }
    }

    /// Makes a label.
    pub fn label(text: impl Into<String>) -> Self {
        Self { place: None, form: Form::Text, text: text.into() }
    }
}

impl Part {
    /// Makes a part of the first step.
    pub fn new(body: Body, field: &str, original: Value, slots: Vec<Slot>) -> Self {
        Self { body, field: field.to_owned(), step: 0, original, slots, tokens: None }
    }

    /// Makes an opaque part under a label; an empty label shows nothing.
    pub fn opaque(field: &str, original: Value, label: &str, tokens: Option<u64>) -> Self {
        let slots = if label.is_empty() { Vec::new() } else { vec![Slot::label(label)] };
        Self { tokens, ..Self::new(Body::Opaque, field, original, slots) }
    }

    /// Returns the text as an item shows it.
    pub fn text(&self) -> String {
        self.slots.iter().map(|slot| slot.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// What items are written from: everything that one speaker says in one go.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order. Of [`Role::Tool`] only results, all those of the turn before.
    pub pieces: Vec<Piece>,
    /// Whether calls were left out because their reasoning was.
    pub lost_reasoning: bool,
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What it is.
    pub what: What,
    /// The part as this very format wrote it, if nothing was changed since.
    pub exact: Option<Exact>,
    /// Index of the message it was in and its place there, if it comes from this format.
    pub place: Option<(usize, usize)>,
    /// The message it was in, without its parts; one piece of a message has it, or several the same.
    pub shell: Option<Value>,
    /// Index of the item.
    pub item: usize,
}

/// A part to be written as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    /// Where it goes, as in [`Part::field`].
    pub field: String,
    /// The part.
    pub value: Value,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Text.
    Text(String),
    /// A call.
    Call(Call),
    /// A result.
    Result(Answer),
    /// Reasoning; always exact.
    Reasoning,
    /// Anything else that only this format understands; always exact.
    Carried,
}

/// A call to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id, unique and legal in the format.
    pub id: String,
    /// The tool, legal in the format.
    pub name: String,
    /// The arguments: JSON text of an object, or any other text.
    pub text: String,
}

/// A result to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The id of the call.
    pub id: String,
    /// The tool, legal in the format.
    pub name: String,
    /// What it said.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl Call {
    /// Returns the arguments as an object: what is no JSON object is its field `input`.
    pub fn object(&self) -> JsonMap {
        let text = self.text.trim();
        if text.is_empty() {
            return JsonMap::new();
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            _ => [("input".to_owned(), Value::from(self.text.as_str()))].into_iter().collect(),
        }
    }

    /// Returns the arguments as the JSON text of an object, unchanged if they are one.
    pub fn json_text(&self) -> String {
        match serde_json::from_str(&self.text) {
            Ok(Value::Object(_)) => self.text.clone(),
            _ => Value::Object(self.object()).to_string(),
        }
    }
}

impl Answer {
    /// Returns the result as a JSON value: text that is an object or a list as that, other text as a string.
    pub fn value(&self) -> Value {
        match serde_json::from_str(&self.text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            _ => Value::from(self.text.as_str()),
        }
    }
}

impl Piece {
    /// Returns the text, of whatever kind.
    pub fn text(&self) -> &str {
        match &self.what {
            What::Text(text) => text,
            What::Call(call) => &call.text,
            What::Result(answer) => &answer.text,
            What::Reasoning | What::Carried => "",
        }
    }

    /// Returns the index of the message it was in, if it comes from this format.
    pub fn message(&self) -> Option<usize> {
        self.place.map(|place| place.0)
    }
}

/// Puts a part into the entry it belongs to.
pub fn put(entry: &mut Value, field: &str, value: Value) {
    if field.is_empty() {
        *entry = value;
        return;
    }
    let Value::Object(map) = entry else { return };
    match field.strip_suffix("[]") {
        None => {
            map.insert(field.to_owned(), value);
        }
        Some(list) => {
            let slot = map.entry(list).or_insert(Value::Null);
            match slot {
                Value::Array(list) => list.push(value),
                other => *other = Value::Array(vec![value]),
            }
        }
    }
}

/// Returns the pointer of the n-th entry of a list below another pointer.
pub fn at(base: &str, index: usize) -> String {
    format!("{base}/{index}")
}

/// Returns the pointer of a field below another pointer.
pub fn below(base: &str, key: &str) -> String {
    pointer(base, key)
}
