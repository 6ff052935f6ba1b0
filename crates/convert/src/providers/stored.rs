//! What is stored in the metadata of an item of the message it was read from, besides the text.
//!
//! `metadata._contextweaver.message` is
//! `{format, message, group: [first message, step], digest, shell?, reasoning?, tokens?, joined?, torn?,
//! parts: [{message?, at, kind,
//! field, original, slots: [[pointer, encoding, bytes, media?]]}]}`. `original` has null where a text was: the texts are those of
//! the item, cut at the lengths in `slots` and joined by line feeds, or with `joined` by nothing, as long as `digest` fits the item's text. An empty
//! `digest` says that a secret was taken out of what is stored, and nothing of it may be used.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::Format;
use super::media::{MediaInfo, label_of};
use super::message::{MessagePart, PartKind, TextEncoding, TextSlot};
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ContextItem, RESERVED_KEY};
use contextweaver_text::hash::of_text;

/// Key below [`RESERVED_KEY`] of the stored message.
pub const MESSAGE_KEY: &str = "message";

/// The digest of a message whose text is shown alone: that of no text.
pub const NO_TEXT: &str = "-";

/// Key of the text that media belong to: in a stored message, and in the list of stored media.
pub const TEXT_OF_MEDIA: &str = "of";

/// What a stored part is: [`PartKind`] without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredPartKind {
    /// [`PartKind::Text`].
    Text,
    /// [`PartKind::ToolCall`].
    ToolCall,
    /// [`PartKind::ToolResult`].
    ToolResult,
    /// [`PartKind::ServerCall`].
    ServerCall,
    /// [`PartKind::ServerResult`].
    ServerResult,
    /// [`PartKind::Reasoning`].
    Reasoning,
    /// [`PartKind::Opaque`].
    Opaque,
    /// [`PartKind::Marker`].
    Marker,
}

impl StoredPartKind {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Text, "text"),
        (Self::ToolCall, "call"),
        (Self::ToolResult, "result"),
        (Self::ServerCall, "server_call"),
        (Self::ServerResult, "server_result"),
        (Self::Reasoning, "reasoning"),
        (Self::Opaque, "opaque"),
        (Self::Marker, "mark"),
    ];

    fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    const fn of(kind: &PartKind) -> Self {
        match kind {
            PartKind::Text => Self::Text,
            PartKind::ToolCall { .. } => Self::ToolCall,
            PartKind::ToolResult { .. } => Self::ToolResult,
            PartKind::ServerCall { .. } => Self::ServerCall,
            PartKind::ServerResult { .. } => Self::ServerResult,
            PartKind::Reasoning => Self::Reasoning,
            PartKind::Opaque => Self::Opaque,
            PartKind::Marker => Self::Marker,
        }
    }
}

/// Returns what is stored in an item of the message that it was read from, as JSON.
pub fn record_of(item: &ContextItem) -> Option<&JsonMap> {
    item.metadata.get(RESERVED_KEY)?.get(MESSAGE_KEY)?.as_object()
}

/// Returns the stored parts of such a record.
pub fn parts_of(record: &JsonMap) -> impl Iterator<Item = &JsonMap> {
    record.get("parts").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// Tells whether stored parts of a kind, by its name, are written whatever the text of their item is.
pub fn is_kept(kind: &str) -> bool {
    [StoredPartKind::Reasoning, StoredPartKind::Marker].iter().any(|kept| kept.as_str() == kind)
}

/// Tells whether a stored part is reasoning.
pub fn is_reasoning(part: &JsonMap) -> bool {
    part.get("kind").is_some_and(|kind| kind == StoredPartKind::Reasoning.as_str())
}

/// Tells whether stored parts of a kind, by its name, are understood by their provider alone.
pub fn is_opaque(kind: &str) -> bool {
    kind == StoredPartKind::Opaque.as_str()
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredPart {
    /// Index of its message.
    pub message: Option<usize>,
    /// Index of the part in the message.
    pub at: usize,
    pub kind: StoredPartKind,
    /// Where it goes in the message.
    pub field: String,
    /// The part, with null where its texts were.
    pub original: Value,
    /// Its texts.
    pub slots: Vec<StoredSlot>,
}

/// Where a text of a stored part stood.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSlot {
    /// JSON pointer of the text; none for a label.
    pub pointer: Option<String>,
    /// How it was written.
    pub encoding: TextEncoding,
    /// Its length in bytes.
    pub length: usize,
    /// JSON pointer of the media, or of what nobody here knows, that the label stands for.
    pub media: Option<String>,
}

/// What is stored of the message that an item was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    pub format: Format,
    /// Index of the message; none for what stands beside the messages.
    pub index: Option<usize>,
    /// Response of the model that the item is of: its first message, and the step.
    pub group: (usize, usize),
    /// Hash of the text; empty where nothing of this may be written any more.
    pub digest: String,
    /// The fields of the message besides its parts.
    pub fields: Option<Value>,
    /// Count of reasoning parts stored with the calls of the group; of a result, with those of the group of its call.
    pub reasoning: usize,
    /// Tokens of the parts without text.
    pub tokens: u64,
    pub parts: Vec<StoredPart>,
    /// Whether the texts are one without a line feed between them, as of an answer that was cut at its citations.
    pub is_joined: bool,
    /// Whether reasoning may have led to it that stands in another response, see [`super::torn`].
    pub is_torn: bool,
    /// The text besides the one that was read that the media belong to, see [`super::keep_media`].
    pub of: Option<Value>,
}

/// Returns the hash of a text.
pub fn digest(text: &str) -> String {
    format!("{:016x}", of_text(text))
}

/// Marks a text so that one that begins with it is known.
pub fn mark_of(text: &str) -> Value {
    json!([text.len(), digest(text)])
}

/// Tells whether a text begins with the one that was marked.
pub fn begins_as_marked(text: &str, mark: &Value) -> bool {
    let length = mark.get(0).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    let beginning = length.and_then(|length| text.get(..length));
    beginning.is_some_and(|text| mark.get(1).is_some_and(|marked| *marked == digest(text).as_str()))
}

impl StoredPart {
    /// Stores a part and returns its texts, which go into the text of the item.
    pub fn new(part: MessagePart, message: Option<usize>, at: usize) -> (Self, Vec<String>) {
        let MessagePart { kind, field, mut original, slots, .. } = part;
        let mut texts = Vec::with_capacity(slots.len());
        let mut lengths = Vec::with_capacity(slots.len());
        for TextSlot { pointer, encoding, text, media } in slots {
            if let Some(slot) = pointer.as_deref().and_then(|pointer| original.pointer_mut(pointer)) {
                *slot = Value::Null;
            }
            lengths.push(StoredSlot { pointer, encoding, length: text.len(), media });
            texts.push(text);
        }
        (Self { message, at, kind: StoredPartKind::of(&kind), field, original, slots: lengths }, texts)
    }

    /// Returns the part with its texts, which are taken from `rest`, and the texts themselves.
    fn restore(&self, rest: &mut Option<&str>, is_joined: bool) -> Option<(Value, String)> {
        let mut value = self.original.clone();
        let mut texts = Vec::with_capacity(self.slots.len());
        for StoredSlot { pointer, encoding, length, .. } in &self.slots {
            let text = rest.as_ref()?.get(..*length)?;
            let after = &rest.as_ref()?[*length..];
            *rest = match after {
                after if is_joined => Some(after),
                "" => None,
                after => Some(after.strip_prefix('\n')?),
            };
            texts.push(text);
            if let Some(pointer) = pointer {
                *value.pointer_mut(pointer)? = match encoding {
                    TextEncoding::Text => Value::from(text),
                    TextEncoding::Json => serde_json::from_str(text).ok()?,
                    TextEncoding::Ascii => Value::from(super::escapes::escape(text)),
                };
            }
        }
        Some((value, texts.join("\n")))
    }

    /// Returns the part with another text in the place of those it had; none where it has no place for text.
    pub fn with_text(&self, text: &str) -> Option<Value> {
        let mut value = self.original.clone();
        let mut text = Some(text);
        for slot in &self.slots {
            if let Some(pointer) = slot.pointer.as_deref().filter(|_| slot.encoding == TextEncoding::Text) {
                *value.pointer_mut(pointer)? = text.take().unwrap_or("").into();
            } else if slot.pointer.is_some() || slot.media.is_some() {
                return None;
            }
        }
        text.is_none().then_some(value)
    }

    /// Returns what the label of a slot stands for.
    pub fn media_of(&self, slot: &StoredSlot) -> Option<&Value> {
        self.original.pointer(slot.media.as_deref()?)
    }

    fn to_value(&self, of_message: Option<usize>) -> Value {
        let slot = |slot: &StoredSlot| {
            let mut list = vec![json!(slot.pointer), slot.encoding.as_str().into(), slot.length.into()];
            list.extend(slot.media.as_deref().map(Value::from));
            Value::Array(list)
        };
        let slots: Vec<Value> = self.slots.iter().map(slot).collect();
        let mut map = JsonMap::new();
        if self.message != of_message {
            map.insert("message".into(), self.message.into());
        }
        map.insert("at".into(), self.at.into());
        map.insert("kind".into(), self.kind.as_str().into());
        map.insert("field".into(), self.field.as_str().into());
        map.insert("original".into(), self.original.clone());
        map.insert("slots".into(), slots.into());
        Value::Object(map)
    }

    fn read(value: &Value, of_message: Option<usize>) -> Option<Self> {
        let slot = |value: &Value| {
            Some(StoredSlot {
                pointer: value.get(0)?.as_str().map(str::to_owned),
                encoding: TextEncoding::parse(value.get(1)?.as_str()?)?,
                length: index(value.get(2)?)?,
                media: value.get(3).and_then(Value::as_str).map(str::to_owned),
            })
        };
        let kind = value.get("kind")?.as_str()?;
        Some(Self {
            message: value.get("message").map_or(of_message, index),
            at: index(value.get("at")?)?,
            kind: StoredPartKind::ALL.iter().find(|(_, name)| *name == kind)?.0,
            field: value.get("field")?.as_str()?.to_owned(),
            original: value.get("original")?.clone(),
            slots: value.get("slots")?.as_array()?.iter().map(slot).collect::<Option<_>>()?,
        })
    }
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

impl StoredMessage {
    /// Reads what is stored in an item; what is malformed counts as none.
    pub fn of(item: &ContextItem) -> Option<Self> {
        let value = item.metadata.get(RESERVED_KEY)?.get(MESSAGE_KEY)?;
        let message = value.get("message").and_then(index);
        let group = value.get("group")?;
        Some(Self {
            format: Format::parse(value.get("format")?.as_str()?).ok()?,
            index: message,
            group: (index(group.get(0)?)?, index(group.get(1)?)?),
            digest: value.get("digest")?.as_str()?.to_owned(),
            fields: value.get("shell").cloned(),
            reasoning: value.get("reasoning").and_then(index).unwrap_or(0),
            tokens: value.get("tokens").and_then(Value::as_u64).unwrap_or(0),
            parts: value
                .get("parts")?
                .as_array()?
                .iter()
                .map(|part| StoredPart::read(part, message))
                .collect::<Option<_>>()?,
            is_joined: value.get("joined") == Some(&Value::Bool(true)),
            is_torn: value.get("torn") == Some(&Value::Bool(true)),
            of: value.get(TEXT_OF_MEDIA).cloned(),
        })
    }

    /// Stores the message in the metadata of an item.
    pub fn attach(&self, metadata: &mut JsonMap) {
        let mut map = JsonMap::new();
        map.insert("format".into(), self.format.as_str().into());
        map.insert("message".into(), self.index.into());
        map.insert("group".into(), json!([self.group.0, self.group.1]));
        map.insert("digest".into(), self.digest.as_str().into());
        if let Some(fields) = &self.fields {
            map.insert("shell".into(), fields.clone());
        }
        for (key, number) in [("reasoning", self.reasoning as u64), ("tokens", self.tokens)] {
            if number > 0 {
                map.insert(key.into(), number.into());
            }
        }
        for (key, is) in [("joined", self.is_joined), ("torn", self.is_torn)] {
            if is {
                map.insert(key.into(), true.into());
            }
        }
        map.insert("parts".into(), self.parts.iter().map(|part| part.to_value(self.index)).collect());
        let own = metadata.entry(RESERVED_KEY).or_insert_with(|| json!({}));
        if !own.is_object() {
            *own = json!({});
        }
        own[MESSAGE_KEY] = Value::Object(map);
    }

    /// Tells whether the parts may be written: not where the item is redacted or a secret was taken out of them.
    pub fn is_usable(&self, item: &ContextItem) -> bool {
        !self.has_lost_secret() && !item.metadata_flag("redacted")
    }

    /// Tells whether this is all there, but for a secret that was taken out of the parts.
    pub fn is_masked(&self, item: &ContextItem) -> bool {
        self.has_lost_secret() && !self.parts.is_empty() && !item.metadata_flag("redacted")
    }

    /// Tells whether a secret was taken out of the parts.
    pub const fn has_lost_secret(&self) -> bool {
        self.digest.is_empty()
    }

    /// Returns the text of the item in order, apart at the labels of media: each piece, and what its label stands for. Where
    /// the text is not what it was, it is one piece, without labels at its end, and all media come after it with their labels.
    pub fn pieces<'a>(&'a self, text: &'a str) -> Vec<(Cow<'a, str>, Option<&'a Value>)> {
        let slots = self.parts.iter().flat_map(|part| part.slots.iter().map(move |slot| (part, slot)));
        if self.is_of(text) {
            let mut at = 0;
            let cut = |(part, slot): (&'a StoredPart, &'a StoredSlot)| {
                let piece = text.get(at..at + slot.length)?;
                at += slot.length + usize::from(!self.is_joined);
                Some((Cow::Borrowed(piece), part.media_of(slot)))
            };
            if let Some(pieces) = slots.map(cut).collect() {
                return pieces;
            }
            return vec![(Cow::Borrowed(text), None)];
        }
        let label = |media: &Value| media.as_object().and_then(MediaInfo::of).map(|info| info.label());
        let media = slots.filter_map(|(part, slot)| part.media_of(slot));
        let media = media.map(|media| (Cow::Owned(label(media).unwrap_or_else(|| label_of(media))), Some(media)));
        let media: Vec<(Cow<str>, Option<&Value>)> = media.collect();
        // Labels that still stand at the end are those of the media behind it.
        let own = media.iter().rev().try_fold(text, |text, (label, _)| text.strip_suffix(&**label)?.strip_suffix('\n'));
        std::iter::once((Cow::Borrowed(own.unwrap_or(text)), None)).chain(media).collect()
    }

    /// Returns the part of a text that stands before the labels of media at its end; all of it where nothing else stands there.
    pub fn before_media<'a>(&self, text: &'a str) -> &'a str {
        let slots: Vec<&StoredSlot> = self.parts.iter().flat_map(|part| &part.slots).collect();
        let labels = slots.iter().rev().take_while(|slot| slot.media.is_some());
        let length: usize = labels.map(|slot| slot.length + 1).sum();
        let own = text.len().checked_sub(length).and_then(|end| text.get(..end));
        own.filter(|own| !own.is_empty() && self.is_of(text)).unwrap_or(text)
    }

    /// Tells whether the media belong to a text: to the one that was read, and to one of which that was said.
    pub fn has_media_of(&self, text: &str) -> bool {
        self.is_of(text) || self.of.as_ref().is_some_and(|mark| begins_as_marked(text, mark))
    }

    /// Tells whether there are media, or parts that nobody here knows.
    pub fn has_media(&self) -> bool {
        self.parts.iter().any(|part| part.slots.iter().any(|slot| slot.media.is_some()))
    }

    /// Tells whether a text is the one that was read.
    pub fn is_of(&self, text: &str) -> bool {
        self.digest == digest(text)
    }

    /// Returns every part as it was read, with its text, if the text of the item is what it was.
    pub fn restore(&self, text: &str) -> Option<Vec<(Value, String)>> {
        if !self.is_of(text) {
            return None;
        }
        let mut rest = Some(text);
        let restore = |part: &StoredPart| part.restore(&mut rest, self.is_joined);
        let restored = self.parts.iter().map(restore).collect::<Option<Vec<_>>>()?;
        rest.is_none_or(str::is_empty).then_some(restored)
    }
}
