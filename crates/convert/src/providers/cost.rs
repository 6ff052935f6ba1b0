//! Token costs of messages: every text the provider is sent, and what it adds around messages and calls.
//!
//! Counted are all strings (texts, ids, names, roles, types), and of JSON that a model wrote or reads (arguments,
//! structured results) the keys, numbers and punctuation, too. Images count by their size as the provider of the format says
//! it counts them, other media a flat number, their bytes nothing. Names of
//! the fields of a format are not counted: [`limits::MESSAGE_TOKENS`] and [`limits::TOOL_PART_TOKENS`] stand for them.

use serde_json::Value;

use super::image_size::size_of_base64;
use super::images::image_tokens;
use super::media::{Attachment, MEDIA_TOKENS, MediaInfo, MediaSource};
use super::media_list::noted_media;
use super::message::{Role, kind_of};
use super::names::{answered_id, call_id, tool_name};
use super::outgoing::NO_RESULT;
use super::provider::{MediaOfResults, MediaPlace, Provider};
use super::stored::{TEXT_OF_MEDIA, begins_as_marked, digest, is_kept, parts_of, record_of};
use super::to_messages::above_media;
use super::{Format, WrittenMessages, optional};
use contextweaver_base::limits;
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ContextItem, ItemKind};

/// Returns the quarter tokens of a text.
pub type Weigh<'a> = &'a dyn Fn(&str) -> u64;

/// `{"input":""}` around arguments that are no JSON object.
const WRAP_QUARTERS: u64 = 21;

/// Fields whose value is JSON of a tool rather than of the format.
const PAYLOADS: &[&str] =
    &["input", "rawInput", "args", "arguments", "response", "output", "result", "value", "action", "operation"];

/// Returns the quarter tokens of messages and of the instructions beside them.
///
/// ```
/// use contextweaver_convert::providers::cost::message_quarters;
/// use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages};
/// use contextweaver_model::{ContextItem, ItemKind};
/// use contextweaver_text::tokens::Estimator;
///
/// let items = [ContextItem::new("question", ItemKind::UserTurn, "Is it raining in Oslo?")];
/// let written = items_to_messages(&items, Format::OpenAiChat, &WriteOptions::default())?;
/// let quarters = message_quarters(&written, Format::OpenAiChat, &|text| Estimator::V3.quarters(text));
/// // The text, the role, and what a provider puts around a message.
/// assert!(quarters > Estimator::V3.quarters("Is it raining in Oslo?"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn message_quarters(written: &WrittenMessages, format: Format, weigh: Weigh) -> u64 {
    let mut meter = Meter { format, weigh, quarters: 0 };
    for message in written.messages.iter().chain(&written.system) {
        meter.message(message);
    }
    meter.quarters
}

/// Estimates what an item adds to messages, in quarter tokens; only writing them shows it exactly.
#[derive(Clone, Copy)]
pub struct ItemCost<'a> {
    /// The format of the messages.
    pub format: Format,
    /// The item.
    pub item: &'a ContextItem,
    /// The item before it in the log, whose message it may share.
    pub before: Option<&'a ContextItem>,
    /// Counts the quarter tokens of a text.
    pub weigh: Weigh<'a>,
}

/// What of an item is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownAs {
    /// Its own text, with its images and the like. It comes back as the message that it was read from, where it was read from
    /// this format.
    Own,
    /// Another text in its place, with its images and the like.
    Changed,
    /// A text alone.
    Bare,
}

impl ItemCost<'_> {
    const fn provider(&self) -> &'static Provider {
        self.format.provider()
    }

    /// Weighs the item with its text, which weighs `text_quarters`.
    pub fn quarters(&self, text_quarters: u64, shown: ShownAs) -> u64 {
        let stored = if shown == ShownAs::Own { self.stored() } else { None };
        let media = if shown == ShownAs::Bare { 0 } else { self.media(stored.is_none()) };
        text_quarters + media + stored.unwrap_or_else(|| self.new_part() + self.kept_parts())
    }

    /// Weighs the media that come from a store, and with `is_new` those of the message that the item was read from.
    fn media(&self, is_new: bool) -> u64 {
        let place = match self.item.kind {
            ItemKind::ToolResult if self.item.metadata_flag("is_error") => MediaPlace::FailedResult,
            ItemKind::ToolResult => MediaPlace::Result,
            ItemKind::Policy => MediaPlace::Message(Role::System),
            ItemKind::AgentMsg => MediaPlace::Message(Role::Assistant),
            _ => MediaPlace::Message(Role::User),
        };
        let mut meter = Meter { format: self.format, weigh: self.weigh, quarters: 0 };
        let mut count = 0;
        let mut add = |media: &Attachment, tokens: u64| {
            // What is said of them, without the bytes, which count for themselves.
            let source = if let MediaSource::Bytes(_) = media.source { MediaSource::Bytes("") } else { media.source };
            if let Some(part) = (self.provider().media)(place, &Attachment { source, ..media.clone() }) {
                count += 1;
                meter.quarters += 4 * tokens;
                part.as_object().into_iter().for_each(|map| meter.media(map));
            }
        };
        let mut others = Vec::new();
        for value in if is_new { self.stored_media() } else { Vec::new() } {
            match value.as_object().and_then(MediaInfo::of) {
                Some(info) => add(&info.media(), media_tokens(self.format, &info)),
                None => others.push(value),
            }
        }
        let (noted, is_shown) = noted_media(self.item);
        for record in noted.iter().filter(|_| is_shown) {
            let tokens = if record.media_type.starts_with("image/") {
                image_tokens(self.format, record.size)
            } else {
                MEDIA_TOKENS
            };
            // Any bytes will do.
            add(&record.info("AAAA").media(), tokens);
        }
        // What nobody here knows goes back to the format that it came from, and to no other.
        if stored_message(self.item, self.format).is_some() {
            for value in others {
                meter.payload(value);
            }
        }
        // They stand in a message of their own, with a line that says of which call they are.
        let is_behind = self.provider().media_of_results == MediaOfResults::Behind;
        let is_apart = count > 0 && is_behind && self.item.kind == ItemKind::ToolResult;
        let line = || (self.weigh)(&above_media(answered_id(self.item)));
        meter.quarters + if is_apart { 4 * limits::MESSAGE_TOKENS + self.provider().overhead.text + line() } else { 0 }
    }

    /// Returns what is stored of media in the message that the item was read from.
    fn stored_media(&self) -> Vec<&Value> {
        let Some(stored) = record_of(self.item) else { return Vec::new() };
        let text = &self.item.text;
        let is_same = || {
            let is_marked = stored.get(TEXT_OF_MEDIA).is_some_and(|mark| begins_as_marked(text, mark));
            is_marked || optional(stored, "digest") == digest(text)
        };
        if self.item.metadata_flag("redacted") {
            return Vec::new();
        }
        let mut media = Vec::new();
        for part in parts_of(stored) {
            let (Some(original), Some(slots)) = (part.get("original"), part.get("slots").and_then(Value::as_array))
            else {
                continue;
            };
            let pointers = slots.iter().filter_map(|slot| slot.get(3)?.as_str());
            media.extend(pointers.filter_map(|pointer| original.pointer(pointer)));
        }
        // Hashing a text is for the few that have some.
        if !media.is_empty() && !is_same() {
            media.clear();
        }
        media
    }

    /// Weighs the result that is made up for a call without one.
    pub fn made_up_result(&self) -> u64 {
        let id = call_id(self.item);
        (self.weigh)(NO_RESULT) + self.result(id)
    }

    /// Weighs the call that is made up for a result without one.
    pub fn made_up_call(&self) -> u64 {
        (self.weigh)("{}") + self.call(answered_id(self.item))
    }

    fn new_part(&self) -> u64 {
        match self.item.kind {
            ItemKind::ToolCall => {
                let wrap = if self.item.text.trim_start().starts_with('{') { 0 } else { WRAP_QUARTERS };
                wrap + self.call(call_id(self.item))
            }
            ItemKind::ToolResult => self.result(answered_id(self.item)),
            kind => {
                let is_turn = matches!(kind, ItemKind::Policy | ItemKind::UserTurn | ItemKind::AgentMsg);
                // The others are shown under their name.
                let label = if is_turn { 0 } else { (self.weigh)(&format!("[{}]\n", kind.label())) };
                label + self.message(self.provider().overhead.text)
            }
        }
    }

    /// Weighs a message without parts; 0 where the item shares the message of the one before.
    fn message(&self, words: u64) -> u64 {
        if self.shares_message() { 0 } else { 4 * limits::MESSAGE_TOKENS + words }
    }

    fn name(&self) -> u64 {
        (self.weigh)(tool_name(self.item).unwrap_or("tool"))
    }

    fn call(&self, id: &str) -> u64 {
        let overhead = &self.provider().overhead;
        let id = if overhead.has_call_ids { (self.weigh)(id) } else { 0 };
        self.message(overhead.calls) + 4 * limits::TOOL_PART_TOKENS + overhead.call + id + self.name()
    }

    fn result(&self, id: &str) -> u64 {
        let overhead = &self.provider().overhead;
        let id = if overhead.has_result_ids { (self.weigh)(id) } else { 0 };
        let name = if overhead.has_result_names { self.name() } else { 0 };
        let message = overhead.results.map_or(0, |words| {
            if overhead.is_result_alone { 4 * limits::MESSAGE_TOKENS + words } else { self.message(words) }
        });
        message + 4 * limits::TOOL_PART_TOKENS + overhead.result + id + name
    }

    /// Tells whether the item is likely written into the message of the item before it.
    fn shares_message(&self) -> bool {
        let Some(before) = self.before else { return false };
        let stored = |item| stored_message(item, self.format);
        if let (Some(one), Some(other)) = (stored(before), stored(self.item)) {
            return one.get("message").is_some_and(|index| Some(index) == other.get("message"));
        }
        let role = |item: &ContextItem| match item.kind {
            ItemKind::Policy => Role::System,
            ItemKind::AgentMsg | ItemKind::ToolCall => Role::Assistant,
            ItemKind::ToolResult => Role::Tool,
            _ => Role::User,
        };
        (self.provider().shares_message)(role(before), role(self.item)).unwrap_or_else(|| {
            let is_call = |item: &ContextItem| item.kind == ItemKind::ToolCall;
            is_call(before) && is_call(self.item) && before.parent_id == self.item.parent_id
        })
    }

    /// Weighs the stored parts that are written whatever the text is: reasoning, and what structures the message.
    fn kept_parts(&self) -> u64 {
        let Some(stored) = stored_message(self.item, self.format) else { return 0 };
        if optional(stored, "digest").is_empty() || self.item.metadata_flag("redacted") {
            return 0;
        }
        let mut meter = Meter { format: self.format, weigh: self.weigh, quarters: 0 };
        for part in parts_of(stored) {
            if is_kept(optional(part, "kind")) {
                meter.part(part);
            }
        }
        meter.quarters
    }

    /// Weighs what is stored of the message that the item was read from, without the texts, which are the item's.
    fn stored(&self) -> Option<u64> {
        let stored = stored_message(self.item, self.format).filter(|stored| !optional(stored, "digest").is_empty())?;
        let mut meter = Meter { format: self.format, weigh: self.weigh, quarters: 0 };
        if !self.shares_message() {
            meter.message(stored.get("shell").unwrap_or(&Value::Null));
        }
        for part in parts_of(stored) {
            meter.part(part);
        }
        Some(meter.quarters)
    }
}

/// Returns what is stored of the message that an item was read from, if it is of the format.
fn stored_message(item: &ContextItem, format: Format) -> Option<&JsonMap> {
    let stored = record_of(item)?;
    (optional(stored, "format") == format.as_str()).then_some(stored)
}

/// Estimates the tokens of media.
fn media_tokens(format: Format, info: &MediaInfo) -> u64 {
    let media = info.media();
    if info.kind != "image" && !media.is_image() {
        return MEDIA_TOKENS;
    }
    let size = if let MediaSource::Bytes(data) = media.source { size_of_base64(data) } else { None };
    image_tokens(format, size)
}

struct Meter<'a> {
    format: Format,
    weigh: Weigh<'a>,
    quarters: u64,
}

impl Meter<'_> {
    fn message(&mut self, message: &Value) {
        self.quarters += 4 * limits::MESSAGE_TOKENS;
        self.value(message, "");
    }

    /// Weighs a stored part, without the texts that are the item's.
    fn part(&mut self, part: &JsonMap) {
        if part.contains_key("message") {
            // Reasoning in a message of its own.
            self.quarters += 4 * limits::MESSAGE_TOKENS;
        }
        // As in the message, where calls are known by the list they stand in.
        let field = optional(part, "field").trim_end_matches("[]");
        self.value(part.get("original").unwrap_or(&Value::Null), field);
    }

    fn text(&mut self, text: &str) {
        self.quarters += (self.weigh)(text);
    }

    /// Weighs a value of the format that stands in the field `key`.
    fn value(&mut self, value: &Value, key: &str) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.text(&number.to_string()),
            Value::String(text) => self.text(text),
            Value::Array(list) => {
                for value in list {
                    self.value(value, key);
                }
            }
            Value::Object(map) if is_media(map, key) => {
                let tokens = MediaInfo::of(map).map_or(MEDIA_TOKENS, |info| media_tokens(self.format, &info));
                self.quarters += 4 * tokens;
                self.media(map);
            }
            Value::Object(map) => {
                self.quarters += 4 * limits::TOOL_PART_TOKENS * tool_parts(map, key);
                for (key, value) in map {
                    if PAYLOADS.contains(&key.as_str()) && !is_content(value) {
                        self.payload(value);
                    } else {
                        self.value(value, key);
                    }
                }
            }
        }
    }

    /// Weighs JSON of a tool: its texts, keys and punctuation, without escapes.
    fn payload(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.text(&value.to_string()),
            Value::Array(list) => {
                // The brackets, and the comma and space between two values.
                self.quarters += 4 + 2 * list.len() as u64;
                for value in list {
                    self.payload(value);
                }
            }
            Value::Object(map) => {
                // The braces, and quotes, colon and comma of each field.
                self.quarters += 4 + 12 * map.len() as u64;
                for (key, value) in map {
                    self.text(key);
                    self.payload(value);
                }
            }
        }
    }

    /// Weighs the names, types and links of media, without the bytes.
    fn media(&mut self, map: &JsonMap) {
        for (key, value) in map {
            match value {
                Value::String(text) if !is_data(key, text) => self.text(text),
                Value::Object(inner) => self.media(inner),
                _ => {}
            }
        }
    }
}

/// Tells whether the value of a payload field is content of the format: a list of parts, or one that says so.
fn is_content(value: &Value) -> bool {
    match value {
        Value::Array(list) => !list.is_empty() && list.iter().all(|part| CONTENT_TYPES.contains(&kind_of(part))),
        Value::Object(_) => {
            let kind = kind_of(value);
            kind == "computer_screenshot" || (kind == "content" && value.get("value").is_some_and(Value::is_array))
        }
        _ => false,
    }
}

/// Parts of the contents of a result.
const CONTENT_TYPES: &[&str] = &[
    "text",
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "media",
    "file",
    "file-data",
    "file-url",
    "file-id",
    "image-data",
    "image-url",
    "image-file-id",
    "custom",
];

fn is_media(map: &JsonMap, key: &str) -> bool {
    match optional(map, "type") {
        "image_url"
        | "image_generation_call"
        | "input_image"
        | "input_audio"
        | "input_file"
        | "image"
        | "file"
        | "reasoning-file"
        | "media"
        | "file-data"
        | "file-url"
        | "image-data"
        | "image-url"
        | "container_upload"
        | "computer_screenshot" => true,
        "document" => {
            let source = map.get("source").and_then(Value::as_object);
            !source.is_some_and(|source| matches!(optional(source, "type"), "text" | "content"))
        }
        "" => {
            key == "audio"
                || ["inlineData", "inline_data", "fileData", "file_data"]
                    .iter()
                    .any(|name| map.get(*name).is_some_and(Value::is_object))
        }
        _ => false,
    }
}

/// Tells whether a text of media is their bytes.
fn is_data(key: &str, text: &str) -> bool {
    let holds_bytes = matches!(key, "data" | "file_data" | "image" | "image_url" | "url" | "result");
    text.starts_with("data:") || (holds_bytes && !text.contains("://"))
}

/// Returns how many calls and results an object is.
fn tool_parts(map: &JsonMap, key: &str) -> u64 {
    let has = |name: &str| map.get(name).is_some_and(|value| !value.is_null());
    let kind = optional(map, "type");
    let is_part = key == "tool_calls"
        || has("tool_call_id")
        || optional(map, "role") == "function"
        || matches!(kind, "tool_use" | "tool_result" | "tool-call" | "tool-result")
        || ["_call", "_call_output", "_tool_use", "_tool_result"].iter().any(|end| kind.ends_with(end))
        || ["functionCall", "function_call", "functionResponse", "function_response"].iter().any(|name| has(name));
    // A tool part of a `UIMessage` is a call and its result.
    let is_both = has("toolCallId") && optional(map, "state").starts_with("output-");
    u64::from(is_part || has("toolCallId")) + u64::from(is_both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn quarters(message: Value) -> u64 {
        let written = WrittenMessages { messages: vec![message], system: None, warnings: Vec::new() };
        message_quarters(&written, Format::Anthropic, &|text| text.len() as u64)
    }

    #[test]
    fn every_text_counts_with_its_frame() {
        assert_eq!(quarters(json!({ "role": "user", "content": "hello" })), 16 + 4 + 5);
        let call = json!({ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
        let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        assert_eq!(quarters(message), 16 + 9 + 16 + 2 + 8 + 4 + 2);
        let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "ok" });
        assert_eq!(quarters(result), 16 + 16 + 4 + 2 + 2);
    }

    #[test]
    fn arguments_count_with_their_keys_and_media_without_their_bytes() {
        let call = json!({ "type": "tool_use", "id": "c1", "name": "look", "input": { "at": 1 } });
        let message = json!({ "role": "assistant", "content": [call] });
        assert_eq!(quarters(message), 16 + 9 + 16 + 8 + 2 + 4 + (4 + 12 + 2 + 1));
        let source = json!({ "type": "base64", "media_type": "image/png", "data": "A".repeat(100_000) });
        let message = json!({ "role": "user", "content": [{ "type": "image", "source": source }] });
        assert_eq!(quarters(message), 16 + 4 + 4 * 1_369 + 5 + 6 + 9);
        // A file in a result, as the AI SDK has it since version 7.
        let file = |data: &str| {
            let part = json!({ "type": "file", "mediaType": "image/png", "data": { "type": "data", "data": data } });
            let output = json!({ "type": "content", "value": [part] });
            let part = json!({ "type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": output });
            quarters(json!({ "role": "tool", "content": [part] }))
        };
        assert_eq!(file("A"), file(&"A".repeat(100_000)));
        // What a tool returned is text, even where it looks like media.
        let long = json!({ "type": "file", "data": "x".repeat(1000) });
        let part = json!({ "functionResponse": { "name": "look", "response": long } });
        assert!(quarters(json!({ "role": "user", "parts": [part] })) > 1000);
    }
}
