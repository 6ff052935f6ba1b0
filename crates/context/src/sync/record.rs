//! Which messages were read into the log, and which items they are.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::align::Fingerprint;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::Format;
use contextweaver_model::json::{Fields, Record, as_uint, pointer, wrong_type};
use contextweaver_text::hash::Hash;

/// A message that was read.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct KnownMessage {
    #[record(name = "hash", with = print)]
    pub print: Fingerprint,
    /// Whether it holds instructions, which stay in front where a client leaves out older messages.
    #[record(name = "system", default)]
    pub is_system: bool,
    /// Whether the client left it out at the front; its items stay.
    #[record(name = "trimmed", default)]
    pub is_trimmed: bool,
    /// Ids of its items in the log.
    pub items: Vec<String>,
}

impl KnownMessage {
    /// Notes instructions that stand beside the messages.
    pub fn of_system(system: &Value) -> Self {
        Self { print: fingerprint(system), is_system: true, is_trimmed: false, items: Vec::new() }
    }

    /// Notes a message of which no item is known yet.
    pub fn of(message: &Value) -> Self {
        let role = message.get("role").and_then(Value::as_str);
        let is_system = matches!(role, Some("system" | "developer"));
        Self { print: fingerprint(message), is_system, is_trimmed: false, items: Vec::new() }
    }

    fn shown(&self) -> Value {
        let [a, b] = self.print;
        let mut shown = json!({ "hash": format!("{a:016x}{b:016x}"), "items": self.items });
        for (name, is) in [("system", self.is_system), ("trimmed", self.is_trimmed)] {
            if is {
                shown[name] = true.into();
            }
        }
        shown
    }
}

/// The messages that stand for the log, in the order of their conversation, for each format that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownMessages {
    formats: Vec<KnownConversation>,
    changes: u64,
}

/// The messages of one format.
#[derive(Debug, Clone, PartialEq)]
struct KnownConversation {
    format: Format,
    messages: Vec<KnownMessage>,
    /// By place: the change that made the message what it is.
    changed: Vec<u64>,
    /// The last change, which may have removed messages alone.
    last: u64,
}

impl KnownMessages {
    /// Returns the messages of a format.
    pub fn of(&self, format: Format) -> &[KnownMessage] {
        self.formats.iter().find(|known| known.format == format).map_or(&[], |known| &known.messages)
    }

    /// Puts messages of a format in the place of those from an index on.
    pub fn set_from(&mut self, format: Format, from: usize, messages: impl IntoIterator<Item = KnownMessage>) {
        let at = self.formats.iter().position(|known| known.format == format).unwrap_or_else(|| {
            self.formats.push(KnownConversation { format, messages: Vec::new(), changed: Vec::new(), last: 0 });
            self.formats.len() - 1
        });
        self.changes += 1;
        let known = &mut self.formats[at];
        known.last = self.changes;
        let before = known.messages.split_off(from.min(known.messages.len()));
        let mut places = before.iter().zip(known.changed.split_off(known.messages.len()));
        for message in messages {
            let changed = places.next().filter(|(before, _)| **before == message).map(|(_, changed)| changed);
            known.changed.push(changed.unwrap_or(self.changes));
            known.messages.push(message);
        }
    }

    /// Returns how often messages were read.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        for known in &mut self.formats {
            known.last = changes;
            known.changed.fill(changes);
        }
    }

    /// Returns, for each format that changed after a change, how many messages there are, and those that are others than
    /// before, with their places; all after none.
    pub fn changed_since(&self, change: Option<u64>) -> Vec<Value> {
        let is_new = |changed: u64| change.is_none_or(|change| changed > change);
        let formats = self.formats.iter().filter(|known| is_new(known.last));
        let told = formats.map(|known| {
            let places = known.messages.iter().zip(&known.changed).enumerate();
            let set: Vec<Value> = places
                .filter(|(_, (_, changed))| is_new(**changed))
                .map(|(place, (message, _))| json!([place, message.shown()]))
                .collect();
            json!({ "format": known.format.as_str(), "length": known.messages.len(), "set": set })
        });
        told.collect()
    }

    /// Takes what [`KnownMessages::changed_since`] told. Messages behind one that is not there are left out, so that they
    /// are read again.
    pub fn apply(&mut self, told: Value, at: &str) -> Result<()> {
        let mut fields = Fields::open(told, at)?;
        let format = fields.parsed("format", Format::parse)?;
        let length = fields.uint_or("length", 0, u64::MAX)? as usize;
        let set_at = fields.at("set");
        let mut messages = self.of(format).to_vec();
        for (index, pair) in fields.list("set")?.into_iter().enumerate() {
            let at = format!("{set_at}/{index}");
            let Value::Array(pair) = pair else { return Err(wrong_type(&at, "a place and a message", &pair)) };
            let Ok([place, message]) = <[Value; 2]>::try_from(pair) else {
                return Err(Error::new(ErrorCode::InvalidInput, "expected a place and a message").at(at));
            };
            let place = as_uint(&place, &format!("{at}/0"), u64::MAX)? as usize;
            let message = KnownMessage::from_value(message, &format!("{at}/1"))?;
            if place < messages.len() {
                messages[place] = message;
            } else if place == messages.len() {
                messages.push(message);
            }
        }
        messages.truncate(length);
        self.set_from(format, 0, messages);
        Ok(())
    }

    /// Reads the snapshot form.
    pub fn from_fields(fields: &mut Fields) -> Result<Self> {
        let mut read = Self::default();
        let at = fields.at("messages");
        for (name, messages) in fields.object("messages")? {
            let at = pointer(&at, &name);
            let format = Format::parse(&name).map_err(|error| error.at(&at))?;
            let Value::Array(messages) = messages else { return Err(wrong_type(&at, "a list", &messages)) };
            let messages = messages
                .into_iter()
                .enumerate()
                .map(|(index, message)| KnownMessage::from_value(message, &format!("{at}/{index}")));
            let messages = messages.collect::<Result<Vec<_>>>()?;
            read.set_from(format, 0, messages);
        }
        Ok(read)
    }
}

impl Serialize for KnownMessages {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.formats.len()))?;
        for known in &self.formats {
            let shown: Vec<Value> = known.messages.iter().map(KnownMessage::shown).collect();
            map.serialize_entry(known.format.as_str(), &shown)?;
        }
        map.end()
    }
}

fn print(fields: &mut Fields, key: &'static str) -> Result<Fingerprint> {
    fields.parsed(key, print_of)
}

fn print_of(text: &str) -> Result<Fingerprint> {
    let part = |range| text.get(range).and_then(|part: &str| u64::from_str_radix(part, 16).ok());
    match (text.len(), part(0..16), part(16..32)) {
        (32, Some(a), Some(b)) => Ok([a, b]),
        _ => Err(Error::new(ErrorCode::InvalidInput, "expected 32 hexadecimal digits")),
    }
}

/// Returns the blocks of a message.
pub fn blocks_of(message: &mut Value) -> Option<&mut Vec<Value>> {
    let name = if message.get("parts").is_some() { "parts" } else { "content" };
    message.get_mut(name)?.as_array_mut()
}

/// Returns the text of a list with one block of text and nothing else: clients turn the one into the other to mark it for a cache.
fn lone_text(list: &[Value]) -> Option<&str> {
    let [Value::Object(block)] = list else { return None };
    let is_text = block.len() == 2 && block.get("type").is_some_and(|kind| kind == "text");
    if is_text { block.get("text")?.as_str() } else { None }
}

fn hash_text(hash: &mut Hash, text: &str) {
    hash.number(4);
    hash.bytes(text.as_bytes());
}

/// Returns what a message is known by, whatever the order of its keys, and whether a lone text is a string or a block.
pub fn fingerprint(message: &Value) -> Fingerprint {
    let mut hash = Hash::default();
    match message {
        Value::Null => hash.number(0),
        Value::Bool(is) => hash.number(1 + u64::from(*is)),
        Value::Number(number) => {
            hash.number(3);
            hash.bytes(number.to_string().as_bytes());
        }
        Value::String(text) => hash_text(&mut hash, text),
        Value::Array(list) => {
            if let Some(text) = lone_text(list) {
                hash_text(&mut hash, text);
            } else {
                hash.number(5);
                hash.number(list.len() as u64);
                for value in list {
                    let [a, b] = fingerprint(value);
                    hash.number(a);
                    hash.number(b);
                }
            }
        }
        Value::Object(map) => {
            hash.number(6);
            hash.number(map.len() as u64);
            // A sum knows no order.
            let (mut left, mut right) = (0_u64, 0_u64);
            for (key, value) in map {
                let mut field = Hash::default();
                field.bytes(key.as_bytes());
                let [a, b] = fingerprint(value);
                field.number(a);
                field.number(b);
                let [a, b] = field.value();
                left = left.wrapping_add(a);
                right = right.wrapping_add(b);
            }
            hash.number(left);
            hash.number(right);
        }
    }
    hash.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_by_what_it_says() {
        let print = |value: Value| fingerprint(&value);
        assert_eq!(print(json!({ "a": 1, "b": [2, "x"] })), print(json!({ "b": [2, "x"], "a": 1 })));
        let block = json!({ "type": "text", "text": "x" });
        assert_eq!(print(json!({ "content": "x" })), print(json!({ "content": [block] })));
        let different = [
            json!({ "a": "x" }),
            json!({ "a": [block, block] }),
            json!({ "a": [{ "type": "text", "text": "x", "citations": null }] }),
            json!({ "a": [{ "type": "image", "text": "x" }] }),
            json!({ "a": 1 }),
            json!({ "a": "1" }),
            json!({ "a": 1.5 }),
            json!({ "a": [1] }),
            json!({ "a": null }),
            json!({ "a": {} }),
            json!({ "a": [] }),
            json!({ "a": true }),
            json!({ "a": [[1], 2] }),
            json!({ "a": [1, [2]] }),
            json!({ "b": 1 }),
            json!({ "a": 1, "b": 1 }),
        ];
        for (index, value) in different.iter().enumerate() {
            for other in &different[..index] {
                assert_ne!(fingerprint(value), fingerprint(other), "{value} {other}");
            }
        }
    }

    #[test]
    fn what_was_read_survives_a_snapshot() {
        let mut read = KnownMessages::default();
        let mut message = KnownMessage::of(&json!({ "role": "system", "content": "x" }));
        message.items = vec!["0".to_owned()];
        read.set_from(Format::Gemini, 0, [message]);
        let mut fields = Fields::open(json!({ "messages": read }), "").unwrap();
        assert_eq!(KnownMessages::from_fields(&mut fields).unwrap(), read);
        let mut fields =
            Fields::open(json!({ "messages": { "gemini": [{ "hash": "xyz", "items": [] }] } }), "").unwrap();
        assert_eq!(KnownMessages::from_fields(&mut fields).unwrap_err().path(), "/messages/gemini/0/hash");
    }
}
