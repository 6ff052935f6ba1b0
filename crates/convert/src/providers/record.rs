//! What an item keeps of the message it came from, besides the text.
//!
//! `metadata._contextweaver.message` is
//! `{format, message, group: [first message, step], digest, shell?, reasoning?, tokens?, parts: [{message?, at, kind,
//! field, original, slots: [[place, form, bytes]]}]}`. `original` has null where a text was: the texts are those of the
//! item, cut at the lengths in `slots` and joined by line feeds, as long as `digest` fits the item's text. An empty
//! `digest` says that the record was written into, to take a secret out, and nothing of it may be used.

use serde_json::{Value, json};

use super::Format;
use super::part::{Body, Form, Part, Role, Slot};
use contextweaver_model::ContextItem;
use contextweaver_model::json::JsonMap;
use contextweaver_text::hash::of_text;

/// Metadata key with what belongs to this library.
pub const OWN: &str = "_contextweaver";
/// Key below it.
pub const KEY: &str = "message";

/// What kind of part was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A call.
    Call,
    /// A result.
    Result,
    /// Reasoning.
    Reasoning,
    /// Anything opaque.
    Opaque,
    /// Structure only.
    Mark,
}

impl Kind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Text, "text"),
        (Self::Call, "call"),
        (Self::Result, "result"),
        (Self::Reasoning, "reasoning"),
        (Self::Opaque, "opaque"),
        (Self::Mark, "mark"),
    ];

    fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    const fn of(body: &Body) -> Self {
        match body {
            Body::Text => Self::Text,
            Body::Call { .. } => Self::Call,
            Body::Result { .. } => Self::Result,
            Body::Reasoning => Self::Reasoning,
            Body::Opaque => Self::Opaque,
            Body::Mark => Self::Mark,
        }
    }
}

/// A part as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Index of its message.
    pub message: Option<usize>,
    /// Place in the message.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// Where it goes in the message.
    pub field: String,
    /// The part with null where texts were.
    pub original: Value,
    /// Where each text was, how it was written, and its length in bytes.
    pub slots: Vec<(Option<String>, Form, usize)>,
}

/// The record of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The format of the message.
    pub format: Format,
    /// Index of the message; none for what stands beside the messages.
    pub message: Option<usize>,
    /// What was said in one go: the first message of it, and the step.
    pub group: (usize, usize),
    /// Hash of the text; empty where nothing that was kept may be written any more.
    pub digest: String,
    /// The message without its parts.
    pub shell: Option<Value>,
    /// How many parts of reasoning ride on the calls of the group; of a result, on those of its call's.
    pub reasoning: usize,
    /// Tokens of what has no text.
    pub tokens: u64,
    /// The parts.
    pub parts: Vec<Kept>,
}

/// Returns the hash of a text.
pub fn digest(text: &str) -> String {
    format!("{:016x}", of_text(text))
}

impl Kept {
    /// Keeps a part; its texts go into the text of the item.
    pub fn new(part: Part, message: Option<usize>, at: usize) -> (Self, Vec<String>) {
        let Part { body, field, mut original, slots, .. } = part;
        let mut texts = Vec::with_capacity(slots.len());
        let mut lengths = Vec::with_capacity(slots.len());
        for Slot { place, form, text } in slots {
            if let Some(slot) = place.as_deref().and_then(|place| original.pointer_mut(place)) {
                *slot = Value::Null;
            }
            lengths.push((place, form, text.len()));
            texts.push(text);
        }
        (Self { message, at, kind: Kind::of(&body), field, original, slots: lengths }, texts)
    }

    /// Returns the part with its texts, which are taken from `rest`, and the texts themselves.
    fn fill(&self, rest: &mut Option<&str>) -> Option<(Value, String)> {
        let mut value = self.original.clone();
        let mut shown = Vec::with_capacity(self.slots.len());
        for (place, form, length) in &self.slots {
            let text = rest.as_ref()?.get(..*length)?;
            let after = &rest.as_ref()?[*length..];
            *rest = if after.is_empty() { None } else { Some(after.strip_prefix('\n')?) };
            shown.push(text);
            if let Some(place) = place {
                *value.pointer_mut(place)? = match form {
                    Form::Text => Value::from(text),
                    Form::Json => serde_json::from_str(text).ok()?,
                    Form::Ascii => Value::from(super::escapes::escape(text)),
                };
            }
        }
        Some((value, shown.join("\n")))
    }

    fn to_value(&self, home: Option<usize>) -> Value {
        let slots: Vec<Value> =
            self.slots.iter().map(|(place, form, length)| json!([place, form.as_str(), length])).collect();
        let mut map = JsonMap::new();
        if self.message != home {
            map.insert("message".into(), self.message.into());
        }
        map.insert("at".into(), self.at.into());
        map.insert("kind".into(), self.kind.as_str().into());
        map.insert("field".into(), self.field.as_str().into());
        map.insert("original".into(), self.original.clone());
        map.insert("slots".into(), slots.into());
        Value::Object(map)
    }

    fn read(value: &Value, home: Option<usize>) -> Option<Self> {
        let slot = |value: &Value| {
            let place = value.get(0)?.as_str().map(str::to_owned);
            Some((place, Form::named(value.get(1)?.as_str()?)?, index(value.get(2)?)?))
        };
        let kind = value.get("kind")?.as_str()?;
        Some(Self {
            message: value.get("message").map_or(home, index),
            at: index(value.get("at")?)?,
            kind: Kind::ALL.iter().find(|(_, name)| *name == kind)?.0,
            field: value.get("field")?.as_str()?.to_owned(),
            original: value.get("original")?.clone(),
            slots: value.get("slots")?.as_array()?.iter().map(slot).collect::<Option<_>>()?,
        })
    }
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

impl Record {
    /// Reads the record of an item; one that is not in order counts as none.
    pub fn of(item: &ContextItem) -> Option<Self> {
        let value = item.metadata.get(OWN)?.get(KEY)?;
        let message = value.get("message").and_then(index);
        let group = value.get("group")?;
        Some(Self {
            format: Format::parse(value.get("format")?.as_str()?).ok()?,
            message,
            group: (index(group.get(0)?)?, index(group.get(1)?)?),
            digest: value.get("digest")?.as_str()?.to_owned(),
            shell: value.get("shell").cloned(),
            reasoning: value.get("reasoning").and_then(index).unwrap_or(0),
            tokens: value.get("tokens").and_then(Value::as_u64).unwrap_or(0),
            parts: value
                .get("parts")?
                .as_array()?
                .iter()
                .map(|part| Kept::read(part, message))
                .collect::<Option<_>>()?,
        })
    }

    /// Writes the record into the metadata of an item.
    pub fn attach(&self, metadata: &mut JsonMap) {
        let mut map = JsonMap::new();
        map.insert("format".into(), self.format.as_str().into());
        map.insert("message".into(), self.message.into());
        map.insert("group".into(), json!([self.group.0, self.group.1]));
        map.insert("digest".into(), self.digest.as_str().into());
        if let Some(shell) = &self.shell {
            map.insert("shell".into(), shell.clone());
        }
        for (key, number) in [("reasoning", self.reasoning as u64), ("tokens", self.tokens)] {
            if number > 0 {
                map.insert(key.into(), number.into());
            }
        }
        map.insert("parts".into(), self.parts.iter().map(|part| part.to_value(self.message)).collect());
        let own = metadata.entry(OWN).or_insert_with(|| json!({}));
        if !own.is_object() {
            *own = json!({});
        }
        own[KEY] = Value::Object(map);
    }

    /// Tells whether the parts may be written at all: not where the item is redacted or somebody wrote into the record.
    pub fn is_whole(&self, item: &ContextItem) -> bool {
        !self.digest.is_empty() && !item.metadata_flag("redacted")
    }

    /// Returns every part as it was read, with its text, if the text of the item is what it was.
    pub fn fill(&self, text: &str) -> Option<Vec<(Value, String)>> {
        if self.digest != digest(text) {
            return None;
        }
        let mut rest = Some(text);
        let filled = self.parts.iter().map(|part| part.fill(&mut rest)).collect::<Option<Vec<_>>>()?;
        rest.is_none_or(str::is_empty).then_some(filled)
    }
}

/// Returns the name of a role as metadata has it, for messages whose format does not say it.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
