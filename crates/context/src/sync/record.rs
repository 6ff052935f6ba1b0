//! Which messages were read into the log, and which items they are.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::align::Fingerprint;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::Format;
use contextweaver_model::json::{Fields, pointer, wrong_type};
use contextweaver_text::hash::Hash;

/// A message that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownMessage {
    pub print: Fingerprint,
    /// Whether it holds instructions, which stay in front where a client leaves out older messages.
    pub is_system: bool,
    /// Whether the client left it out at the front; its items stay.
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
}

/// The messages that stand for the log, in the order of their conversation, for each format that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownMessages {
    formats: Vec<(Format, Vec<KnownMessage>)>,
}

impl KnownMessages {
    /// Returns the messages of a format.
    pub fn of(&self, format: Format) -> &[KnownMessage] {
        self.formats.iter().find(|(known, _)| *known == format).map_or(&[], |(_, messages)| messages)
    }

    /// Puts messages of a format in the place of those from an index on.
    pub fn set_from(&mut self, format: Format, from: usize, messages: impl IntoIterator<Item = KnownMessage>) {
        let at = self.formats.iter().position(|(known, _)| *known == format).unwrap_or_else(|| {
            self.formats.push((format, Vec::new()));
            self.formats.len() - 1
        });
        let (_, known) = &mut self.formats[at];
        known.truncate(from);
        known.extend(messages);
    }

    /// Reads the snapshot form.
    pub fn from_fields(fields: &mut Fields) -> Result<Self> {
        let mut read = Self::default();
        let at = fields.at("messages");
        for (name, messages) in fields.object("messages")? {
            let at = pointer(&at, &name);
            let format = Format::parse(&name).map_err(|error| error.at(&at))?;
            let Value::Array(messages) = messages else { return Err(wrong_type(&at, "a list", &messages)) };
            let messages = messages.into_iter().enumerate().map(|(index, message)| {
                let at = format!("{at}/{index}");
                let mut fields = Fields::open(message, &at)?;
                let print = fields.string("hash")?;
                Ok(KnownMessage {
                    print: print_of(&print).map_err(|error| error.at(fields.at("hash")))?,
                    is_system: fields.bool_or("system", false)?,
                    is_trimmed: fields.bool_or("trimmed", false)?,
                    items: fields.strings("items")?,
                })
            });
            let messages = messages.collect::<Result<Vec<_>>>()?;
            read.set_from(format, 0, messages);
        }
        Ok(read)
    }
}

impl Serialize for KnownMessages {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.formats.len()))?;
        for (format, messages) in &self.formats {
            let shown = |message: &KnownMessage| {
                let [a, b] = message.print;
                let mut shown = json!({ "hash": format!("{a:016x}{b:016x}"), "items": message.items });
                for (name, is) in [("system", message.is_system), ("trimmed", message.is_trimmed)] {
                    if is {
                        shown[name] = true.into();
                    }
                }
                shown
            };
            map.serialize_entry(format.as_str(), &messages.iter().map(shown).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

fn print_of(text: &str) -> Result<Fingerprint> {
    let part = |range| text.get(range).and_then(|part: &str| u64::from_str_radix(part, 16).ok());
    match (text.len(), part(0..16), part(16..32)) {
        (32, Some(a), Some(b)) => Ok([a, b]),
        _ => Err(Error::new(ErrorCode::InvalidInput, "expected 32 hexadecimal digits")),
    }
}

/// Returns what a message is known by, whatever the order of its keys.
pub fn fingerprint(message: &Value) -> Fingerprint {
    let mut hash = Hash::default();
    match message {
        Value::Null => hash.number(0),
        Value::Bool(is) => hash.number(1 + u64::from(*is)),
        Value::Number(number) => {
            hash.number(3);
            hash.bytes(number.to_string().as_bytes());
        }
        Value::String(text) => {
            hash.number(4);
            hash.bytes(text.as_bytes());
        }
        Value::Array(list) => {
            hash.number(5);
            hash.number(list.len() as u64);
            for value in list {
                let [a, b] = fingerprint(value);
                hash.number(a);
                hash.number(b);
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
        let different = [
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
