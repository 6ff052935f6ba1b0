//! Entries of listings as the protocol has them. Clients of the official SDK refuse a whole list, with what all other
//! servers have in it, for one field of one entry that is something else.

use serde_json::{Value, json};

use contextweaver_convert::mcp::HINTS;
use contextweaver_convert::tools::{MendOptions, SchemaMend, mended_schema};
use contextweaver_model::json::{JsonMap, pointer};

use super::report::MendedEntry;
use crate::front::safe_line;

/// The list that an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Tool,
    Resource,
    ResourceTemplate,
    Prompt,
}

/// Changes of one entry that are told; the last one says that there are more.
const MAX_MENDS: usize = 16;

/// An entry that is being mended.
struct EntryMender<'m> {
    entry: JsonMap,
    kind: EntryKind,
    index: usize,
    mends: &'m mut Vec<MendedEntry>,
    told: usize,
}

/// Returns an entry of which no client refuses a field: each is what the protocol says or left out. What is changed is
/// added to `mends`; unknown fields stay.
pub(crate) fn mended_entry(kind: EntryKind, index: usize, entry: &Value, mends: &mut Vec<MendedEntry>) -> JsonMap {
    let entry = entry.as_object().cloned().unwrap_or_default();
    let mut mender = EntryMender { entry, kind, index, mends, told: 0 };
    for key in ["title", "description"] {
        mender.field(key, "not a text", Value::is_string);
    }
    mender.field("_meta", "not an object", Value::is_object);
    mender.icons();
    match kind {
        EntryKind::Tool => {
            mender.schemas();
            mender.within("annotations", &|key, value| match key {
                "title" => value.is_string(),
                key => !HINTS.contains(&key) || value.is_boolean(),
            });
            let support = |value: &Value| matches!(value.as_str(), Some("required" | "optional" | "forbidden"));
            mender.within("execution", &|key, value| key != "taskSupport" || support(value));
        }
        EntryKind::Prompt => mender.arguments(),
        EntryKind::Resource | EntryKind::ResourceTemplate => {
            mender.field("mimeType", "not a text", Value::is_string);
            mender.field("size", "not a number", Value::is_number);
            mender.within("annotations", &is_annotation);
            mender.name();
        }
    }
    mender.entry
}

impl EntryMender<'_> {
    fn tell(&mut self, path: &str, note: &str) {
        self.told += 1;
        if self.told > MAX_MENDS {
            return;
        }
        let (path, note) = if self.told == MAX_MENDS { ("", "there is more") } else { (path, note) };
        let list = match self.kind {
            EntryKind::Tool => "tools",
            EntryKind::Resource => "resources",
            EntryKind::ResourceTemplate => "resource_templates",
            EntryKind::Prompt => "prompts",
        };
        let named = ["name", "uri", "uriTemplate"].into_iter().find_map(|key| self.entry.get(key)?.as_str());
        let name = named.map(safe_line).unwrap_or_default();
        self.mends.push(MendedEntry { list, index: self.index, name, path: safe_line(path), note: note.to_owned() });
    }

    /// Leaves out a field that is something else.
    fn field(&mut self, key: &str, wrong: &str, is_right: impl Fn(&Value) -> bool) {
        if self.entry.get(key).is_some_and(|value| !is_right(value)) {
            self.entry.shift_remove(key);
            self.tell(&pointer("", key), &format!("{wrong}; left out"));
        }
    }

    /// Leaves out an object that is none, and its fields that are not right.
    fn within(&mut self, key: &str, is_right: &dyn Fn(&str, &Value) -> bool) {
        self.field(key, "not an object", Value::is_object);
        let Some(Value::Object(mut map)) = self.entry.get_mut(key).map(Value::take) else { return };
        map.retain(|field, value| {
            let is_kept = is_right(field, value);
            if !is_kept {
                self.tell(&pointer(&pointer("", key), field), "not a value that it has; left out");
            }
            is_kept
        });
        self.entry.insert(key.to_owned(), Value::Object(map));
    }

    /// Keeps the objects of a list that `read` makes something of.
    fn each(&mut self, key: &str, read: &dyn Fn(JsonMap) -> Option<(JsonMap, bool)>) {
        self.field(key, "not a list", Value::is_array);
        let Some(Value::Array(list)) = self.entry.get_mut(key).map(Value::take) else { return };
        let mut kept = Vec::new();
        for (at, one) in list.into_iter().enumerate() {
            let read = if let Value::Object(map) = one { read(map) } else { None };
            match &read {
                None => self.tell(&format!("/{key}/{at}"), "not as the protocol has it; left out"),
                Some((_, true)) => self.tell(&format!("/{key}/{at}"), "a field is not a value that it has; left out"),
                Some(_) => {}
            }
            kept.extend(read.map(|(map, _)| Value::Object(map)));
        }
        self.entry.insert(key.to_owned(), Value::Array(kept));
    }

    fn icons(&mut self) {
        self.each("icons", &|mut icon| {
            icon.get("src").filter(|source| source.is_string())?;
            if let Some(Value::String(sizes)) = icon.get("sizes") {
                // One size, as the first drafts had it.
                let sizes = json!([sizes]);
                icon.insert("sizes".to_owned(), sizes);
            }
            Some(checked(icon, &|key, value| match key {
                "mimeType" => value.is_string(),
                "sizes" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
                "theme" => matches!(value.as_str(), Some("light" | "dark")),
                _ => true,
            }))
        });
    }

    fn arguments(&mut self) {
        self.each("arguments", &|argument| {
            argument.get("name").filter(|name| name.is_string())?;
            Some(checked(argument, &|key, value| match key {
                "title" | "description" => value.is_string(),
                "required" => value.is_boolean(),
                _ => true,
            }))
        });
    }

    /// Gives what has no name the one by which it is read.
    fn name(&mut self) {
        if self.entry.get("name").is_some_and(Value::is_string) {
            return;
        }
        let key = if self.kind == EntryKind::Resource { "uri" } else { "uriTemplate" };
        let name = ["title", key].into_iter().find_map(|key| self.entry.get(key)?.as_str()).unwrap_or_default();
        let name = Value::from(name);
        self.entry.insert("name".to_owned(), name);
        self.tell("/name", "not a text; its title or address stands there");
    }

    fn schemas(&mut self) {
        let given = self.entry.get("inputSchema");
        if given.is_some_and(|schema| !schema.is_object()) {
            self.tell("/inputSchema", "not an object; any arguments fit");
        }
        let given = self.entry.get("inputSchema").filter(|schema| schema.is_object()).cloned();
        let schema = self.schema("/inputSchema", &given.unwrap_or_else(|| json!({})));
        let schema = self.object_schema(schema);
        self.entry.insert("inputSchema".to_owned(), Value::Object(schema));
        self.field("outputSchema", "not an object", Value::is_object);
        if let Some(given) = self.entry.get("outputSchema").cloned() {
            let schema = self.schema("/outputSchema", &given);
            self.entry.insert("outputSchema".to_owned(), Value::Object(schema));
        }
    }

    fn schema(&mut self, path: &str, given: &Value) -> JsonMap {
        let mut mends: Vec<SchemaMend> = Vec::new();
        let schema = mended_schema(given, MendOptions::default(), &mut mends);
        for mend in &mends {
            let at = format!("{path}{}", mend.path);
            let at = if mend.keyword.is_empty() { at } else { pointer(&at, &mend.keyword) };
            self.tell(&at, mend.note);
        }
        schema
    }

    /// The arguments of a tool are an object, and say so.
    fn object_schema(&mut self, mut schema: JsonMap) -> JsonMap {
        let is_object = match schema.get("type") {
            None => None,
            Some(Value::Array(names)) => Some(names.iter().any(|name| name == "object")),
            Some(name) if name == "object" => return schema,
            Some(_) => Some(false),
        };
        schema.shift_remove("type");
        if let Some(is_object) = is_object {
            self.tell("/inputSchema/type", "arguments are an object");
            if !is_object {
                schema = JsonMap::new();
            }
        }
        let mut typed = JsonMap::from_iter([("type".to_owned(), "object".into())]);
        typed.extend(schema);
        typed
    }
}

/// Keeps the fields that are right; tells whether one was left out.
fn checked(mut map: JsonMap, is_right: &dyn Fn(&str, &Value) -> bool) -> (JsonMap, bool) {
    let before = map.len();
    map.retain(|key, value| is_right(key, value));
    let is_less = map.len() < before;
    (map, is_less)
}

/// Annotations of a resource.
pub(crate) fn is_annotation(key: &str, value: &Value) -> bool {
    let is_role = |value: &Value| matches!(value.as_str(), Some("user" | "assistant"));
    match key {
        "audience" => value.as_array().is_some_and(|list| list.iter().all(is_role)),
        "priority" => value.as_f64().is_some_and(|priority| (0.0..=1.0).contains(&priority)),
        "lastModified" => value.as_str().is_some_and(is_date_time),
        _ => true,
    }
}

/// Tells whether a text is a date with a time and an offset, as RFC 3339 has it.
fn is_date_time(text: &str) -> bool {
    let number = |text: Option<&str>, digits: usize| -> Option<u32> {
        text.filter(|text| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
    };
    let read = || -> Option<bool> {
        let (date, rest) = text.split_once('T')?;
        let mut parts = date.split('-');
        let (year, month, day) = (number(parts.next(), 4)?, number(parts.next(), 2)?, number(parts.next(), 2)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u32::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (time, offset) = match rest.strip_suffix('Z') {
            Some(time) => (time, None),
            None => rest.split_at_checked(rest.len().checked_sub(6)?).map(|(time, offset)| (time, Some(offset)))?,
        };
        let (time, fraction) = time.split_once('.').map_or((time, None), |(time, fraction)| (time, Some(fraction)));
        let mut clock = time.split(':');
        let (hour, minute, second) = (number(clock.next(), 2)?, number(clock.next(), 2)?, number(clock.next(), 2)?);
        let offset_fits = offset.is_none_or(|offset| {
            let mut clock = offset.strip_prefix(['+', '-']).unwrap_or_default().split(':');
            let (hour, minute) = (number(clock.next(), 2), number(clock.next(), 2));
            hour.is_some_and(|hour| hour < 24) && minute.is_some_and(|at| at < 60)
        });
        let fraction_fits =
            fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
        let is_day = (1..=12).contains(&month) && (1..=days).contains(&day) && parts.next().is_none();
        let is_time = hour < 24 && minute < 60 && second < 60 && clock.next().is_none();
        Some(is_day && is_time && offset_fits && fraction_fits)
    };
    read().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(kind: EntryKind, entry: &Value) -> (Value, Vec<String>) {
        let mut mends = Vec::new();
        let out = mended_entry(kind, 0, entry, &mut mends);
        (Value::Object(out), mends.into_iter().map(|mend| mend.path).collect())
    }

    #[test]
    fn every_field_is_what_the_protocol_says_or_left_out() {
        for (kind, entry, wanted, told) in [
            (
                EntryKind::Tool,
                json!({ "name": "a", "title": 5, "icons": [null, { "src": "x", "sizes": "1x1", "theme": 1 }], "_meta": [],
                    "annotations": { "title": 1, "readOnlyHint": "true", "own": 1 }, "execution": { "taskSupport": "now" },
                    "outputSchema": 7, "own": null }),
                json!({ "name": "a", "icons": [{ "src": "x", "sizes": ["1x1"] }], "annotations": { "own": 1 },
                    "execution": {}, "own": null, "inputSchema": { "type": "object" } }),
                vec![
                    "/title",
                    "/_meta",
                    "/icons/0",
                    "/icons/1",
                    "/outputSchema",
                    "/annotations/title",
                    "/annotations/readOnlyHint",
                    "/execution/taskSupport",
                ],
            ),
            (
                EntryKind::Tool,
                json!({ "name": "a", "inputSchema": { "type": ["object", "null"], "required": null } }),
                json!({ "name": "a", "inputSchema": { "type": "object" } }),
                vec!["/inputSchema/required", "/inputSchema/type"],
            ),
            (
                EntryKind::Resource,
                json!({ "uri": "file:///a", "name": null, "size": "5", "mimeType": {}, "annotations": { "priority": 2,
                    "audience": ["user", "model"], "lastModified": "yesterday" } }),
                json!({ "uri": "file:///a", "name": "file:///a", "annotations": {} }),
                vec![
                    "/mimeType",
                    "/size",
                    "/annotations/priority",
                    "/annotations/audience",
                    "/annotations/lastModified",
                    "/name",
                ],
            ),
            (
                EntryKind::ResourceTemplate,
                json!({ "uriTemplate": "file:///{a}", "title": "T", "annotations": "x" }),
                json!({ "uriTemplate": "file:///{a}", "title": "T", "name": "T" }),
                vec!["/annotations", "/name"],
            ),
            (
                EntryKind::Prompt,
                json!({ "name": "p", "arguments": [{ "name": "a", "required": "yes" }, { "name": 5 }, "b"] }),
                json!({ "name": "p", "arguments": [{ "name": "a" }] }),
                vec!["/arguments/0", "/arguments/1", "/arguments/2"],
            ),
            (EntryKind::Prompt, json!({ "name": "p", "arguments": {} }), json!({ "name": "p" }), vec!["/arguments"]),
        ] {
            let (out, mends) = mended(kind, &entry);
            assert_eq!((out, mends), (wanted, told.into_iter().map(str::to_owned).collect()), "{entry}");
        }
        let many: Vec<Value> = vec![json!(1); 100];
        assert_eq!(mended(EntryKind::Prompt, &json!({ "name": "p", "arguments": many })).1.len(), MAX_MENDS);
    }

    #[test]
    fn dates_are_those_of_the_protocol() {
        for (text, is_right) in [
            ("2024-02-29T23:59:59Z", true),
            ("2025-01-12T15:00:58.123+01:30", true),
            ("2023-02-29T00:00:00Z", false),
            ("2024-13-01T00:00:00Z", false),
            ("2024-01-01T24:00:00Z", false),
            ("2024-01-01T00:00:00", false),
            ("2024-01-01T00:00:00.Z", false),
            ("2024-01-01 00:00:00Z", false),
            ("2024-01-01T00:00:00+25:00", false),
            ("2024-01-01T00:00:00é1:00", false),
            ("", false),
        ] {
            assert_eq!(is_date_time(text), is_right, "{text}");
        }
    }
}
