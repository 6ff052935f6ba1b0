//! Reads the content blocks of a result.

use serde_json::Value;

use super::base64::{self, Base64Error, DecodedBase64};
use super::facts;
use super::result_reader::{ContentBlock, ResultReader, short};
use contextweaver_base::limits;
use contextweaver_model::json::type_name;
use contextweaver_text::markdown::{code_span, one_line};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::{self, visible};

impl ResultReader<'_> {
    /// Reads the content of a result.
    pub fn content(&mut self, content: &Value) {
        let parts = self.parts("content", content);
        for (index, part) in parts.iter().enumerate().take(limits::MCP_PARTS) {
            self.part(index, part, format!("/content/{index}"));
        }
        self.keep_beyond("content", parts);
    }

    /// Returns the parts that stand under a key of the result.
    pub fn parts<'v>(&mut self, key: &str, value: &'v Value) -> &'v [Value] {
        match value {
            Value::Null => &[],
            Value::Array(list) => list,
            other => {
                let message = format!("`{key}` is {}, not an array", type_name(other));
                self.degrade("malformed-result", message, format!("/{key}"));
                std::slice::from_ref(other)
            }
        }
    }

    /// Keeps the parts that are too many to be read.
    pub fn keep_beyond(&mut self, key: &str, parts: &[Value]) {
        if let Some(rest) = parts.get(limits::MCP_PARTS..).filter(|rest| !rest.is_empty()) {
            let message = format!("{} parts, of which the first {} were read", parts.len(), limits::MCP_PARTS);
            let path = format!("/{key}");
            self.degrade("too-many-parts", message, path.as_str());
            self.keep_json(&format!("{key}:{}", limits::MCP_PARTS), &rest, &path);
        }
    }

    /// Reads one part; `index` numbers its handle.
    pub fn part(&mut self, index: usize, part: &Value, path: String) {
        let Value::Object(map) = part else {
            self.degrade("malformed-part", format!("the part is {}, not an object", type_name(part)), path.as_str());
            match part {
                Value::Null => {}
                Value::String(text) => self.say(text, &format!("text:{index}"), &path),
                other => self.keep_json(&format!("unknown:{index}"), other, &path),
            }
            return;
        };
        let mut block = ContentBlock { map, index, path, withheld: false };
        let inner = map.get("resource").and_then(|resource| resource.get("annotations"));
        block.withheld = self.annotations(&block, map.get("annotations").or(inner));
        match map.get("type").and_then(Value::as_str) {
            None if !map.contains_key("type") && map.contains_key("text") => self.text(&block),
            Some("text") => self.text(&block),
            Some("image") => self.media(&block, "image", "image/png"),
            Some("audio") => self.media(&block, "audio", "audio/wav"),
            Some("resource") => self.resource(&block),
            Some("resource_link") => self.link(&block),
            kind => self.unknown(&block, kind),
        }
    }

    /// Shows a text. Where that shows something that hides, the text as it came is kept beside it.
    pub fn say(&mut self, text: &str, kind: &str, path: &str) {
        let shown = visible(text).into_owned();
        if shown != text {
            self.keep_text(text, kind, path);
        }
        self.show(shown, text, path);
    }

    fn keep_text(&mut self, text: &str, kind: &str, path: &str) {
        let label = self.label(None, "text");
        self.store(kind, text.as_bytes().to_vec(), "text/plain", label, path);
    }

    /// Shows a text as far as there is room for it.
    pub fn show(&mut self, mut shown: String, text: &str, path: &str) {
        // Each text ends with a line break.
        let room = self.text_room.saturating_sub(1);
        let cut = self.cut.remove(path).unwrap_or(0);
        let all = shown.len() + cut;
        if shown.len() > room {
            shown.truncate(unicode::floor_char_boundary(&shown, room));
        }
        if shown.len() < all {
            self.lacks(all, shown.len(), room, path);
            if shown.is_empty() {
                return;
            }
        }
        self.text_room = room.saturating_sub(shown.len());
        let open = limits::MCP_FACTS.saturating_sub(self.facts.len());
        self.facts.extend(facts::stated(text).take(open).map(|fact| (one_line(fact), limits::MCP_FACTS)));
        self.texts.push(shown);
    }

    /// Reads something that should be a text.
    fn as_text(&mut self, value: &Value, path: &str) -> String {
        if let Value::String(text) = value {
            return text.clone();
        }
        self.degrade("malformed-part", format!("the text is {}", type_name(value)), path);
        if value.is_null() { String::new() } else { value.to_string() }
    }

    fn text(&mut self, block: &ContentBlock) {
        self.extra(block, &["text"]);
        let path = block.at("text");
        let text = block.map.get("text").map_or_else(String::new, |text| self.as_text(text, &path));
        let kind = format!("text:{}", block.index);
        if block.withheld {
            self.withhold(block);
            self.keep_text(&text, &kind, &path);
        } else {
            self.say(&text, &kind, &path);
        }
    }

    fn withhold(&mut self, block: &ContentBlock) {
        self.list("withheld_parts", block.index.into());
    }

    fn media(&mut self, block: &ContentBlock, kind: &str, default: &str) {
        self.extra(block, &["data", "mimeType"]);
        let label = self.label(None, kind);
        let place = format!("{kind}:{}", block.index);
        match block.value("data") {
            Some(Value::String(data)) => self.bytes(block, data, ("data", &place), default, label),
            Some(other) => {
                let message = format!("`data` is {}, not a string", type_name(other));
                self.degrade("malformed-part", message, block.at("data"));
                self.keep_json(&place, block.map, &block.path);
            }
            None => {
                self.degrade("malformed-part", "`data` is missing", block.path.as_str());
                let media_type = self.media_type(block, default);
                self.store(&place, Vec::new(), &media_type, label, &block.path);
            }
        }
    }

    /// Keeps what base64 stands for, or the text itself where it is none.
    fn bytes(&mut self, block: &ContentBlock, data: &str, (key, place): (&str, &str), default: &str, label: String) {
        let path = block.at(key);
        if let Some(size) = self.cut.remove(&path) {
            return self.lacks(size, 0, self.room, &path);
        }
        let decoded = match self.attached.remove(&path) {
            Some(bytes) if bytes.len() > self.room => Err(Base64Error::TooLarge(bytes.len())),
            Some(bytes) => Ok(DecodedBase64 { bytes, form: None, media_type: None }),
            None => base64::decode(data, self.room),
        };
        match decoded {
            Ok(decoded) => {
                if let Some(form) = decoded.form {
                    self.warn("base64-form", format!("{form} was accepted"), path.as_str());
                }
                let named = decoded.media_type.filter(|name| is_media_type(name));
                let media_type = self.media_type(block, named.as_deref().unwrap_or(default));
                if self.store(place, decoded.bytes, &media_type, label, &path) && !block.withheld {
                    self.show_media(block.text("uri").map_or("", file_name));
                }
            }
            Err(Base64Error::TooLarge(size)) => self.lacks(size, 0, self.room, &path),
            Err(Base64Error::Invalid) => {
                self.degrade("decode-error", "not base64; kept as text", path.as_str());
                self.list("decode_error", block.index.into());
                self.store(place, data.as_bytes().to_vec(), "text/plain", label, &path);
            }
        }
    }

    /// Reads the media type of a block, or gives the default.
    fn media_type(&mut self, block: &ContentBlock, default: &str) -> String {
        match block.map.get("mimeType") {
            Some(Value::String(name)) if is_media_type(name) => name.clone(),
            None => default.to_owned(),
            Some(_) => {
                self.warn("media-type", "`mimeType` is no media type", block.at("mimeType"));
                default.to_owned()
            }
        }
    }

    fn resource(&mut self, block: &ContentBlock) {
        self.extra(block, &["resource"]);
        let place = format!("resource:{}", block.index);
        let Some(Value::Object(map)) = block.map.get("resource") else {
            self.degrade("malformed-part", "`resource` is no object", block.at("resource"));
            return self.keep_json(&place, block.map, &block.path);
        };
        let inner = ContentBlock { map, index: block.index, path: block.at("resource"), withheld: block.withheld };
        self.contents(&inner, &place, "resource");
    }

    /// Reads the text or the bytes of a resource.
    pub fn contents(&mut self, block: &ContentBlock, place: &str, kind: &str) {
        self.extra(block, &["uri", "mimeType", "text", "blob"]);
        if block.value("uri").is_some_and(|uri| !uri.is_string()) {
            self.degrade("malformed-part", "`uri` is not a string", block.at("uri"));
        }
        let label = self.label(block.text("uri"), kind);
        let text = block.value("text").map(|text| self.as_text(text, &block.at("text")));
        let (text, blob) = (text.filter(|text| !text.is_empty()), block.value("blob"));
        if let Some(text) = &text {
            let media_type = self.media_type(block, "text/plain");
            self.store(place, text.as_bytes().to_vec(), &media_type, label.clone(), &block.at("text"));
            if block.withheld {
                self.withhold(block);
            } else {
                self.show(visible(text).into_owned(), text, &block.at("text"));
            }
        }
        let blob_place = if text.is_some() { format!("{place}:blob") } else { place.to_owned() };
        match blob {
            Some(Value::String(blob)) => {
                self.bytes(block, blob, ("blob", &blob_place), "application/octet-stream", label);
            }
            Some(other) => {
                let message = format!("`blob` is {}, not a string", type_name(other));
                self.degrade("malformed-part", message, block.at("blob"));
                self.keep_json(&blob_place, block.map, &block.path);
            }
            None if text.is_none() => {
                if !block.map.contains_key("text") {
                    self.degrade("malformed-part", "the resource has neither `text` nor `blob`", block.path.as_str());
                }
                let media_type = self.media_type(block, "application/octet-stream");
                self.store(place, Vec::new(), &media_type, label, &block.path);
            }
            None => {}
        }
    }

    fn link(&mut self, block: &ContentBlock) {
        self.extra(block, &["uri", "name", "title", "description", "mimeType"]);
        let place = format!("resource_link:{}", block.index);
        let Some(uri) = block.text("uri") else {
            self.degrade("malformed-part", "`uri` is missing or not a string", block.at("uri"));
            return self.keep_json(&place, block.map, &block.path);
        };
        if block.value("name").is_some_and(|name| !name.is_string()) {
            self.degrade("malformed-part", "`name` is not a string", block.at("name"));
        }
        // The label is for people, who may follow what they see.
        let label = self.label(block.text("name").or(is_plain_uri(uri).then_some(uri)), "resource link");
        let media_type = self.media_type(block, "application/octet-stream");
        if self.store(&place, uri.as_bytes().to_vec(), "text/uri-list", label, &block.path)
            && let Some(artifact) = self.artifacts.last_mut()
        {
            // The artifact has the type of the target of the link, the bytes are the link.
            artifact.media_type = media_type;
        }
        if block.withheld {
            return self.withhold(block);
        }
        let target = if self.withholds_links { "(link withheld)".to_owned() } else { shown_uri(uri) };
        let names = [block.text("title"), block.text("name")];
        let name = match names {
            [Some(title), Some(name)] if title != name => Some(format!("{} ({})", short(title), short(name))),
            _ => names.into_iter().flatten().next().map(short),
        };
        let mut line = name.map_or_else(|| target.clone(), |name| format!("{name}: {target}"));
        if let Some(description) = block.text("description") {
            line = format!("{line} - {}", one_line(&visible(description)));
        }
        self.show(line, "", &block.path);
    }

    fn unknown(&mut self, block: &ContentBlock, kind: Option<&str>) {
        let is_plain = |kind: &&str| {
            (1..=64).contains(&kind.len())
                && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        };
        let shown = kind.map_or_else(|| "without a type".to_owned(), |kind| format!("of type {}", quote(kind)));
        self.warn("unknown-block", format!("a block {shown} is kept as JSON"), block.path.as_str());
        let count = self.provenance.get("unknown_blocks").and_then(Value::as_u64).unwrap_or(0);
        self.provenance.insert("unknown_blocks".into(), (count + 1).into());
        let kind = kind.filter(is_plain).unwrap_or("unknown");
        self.keep_json(&format!("{kind}:{}", block.index), block.map, &block.path);
    }
}

/// Returns the last part of the path of an address.
fn file_name(uri: &str) -> &str {
    let path = uri.split(['?', '#']).next().unwrap_or("");
    path.rsplit('/').next().unwrap_or("")
}

fn is_media_type(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let mut sides = text.splitn(2, '/');
    let is_side = |side: Option<&str>| side.is_some_and(|side| !side.is_empty());
    text.len() <= 255 && text.bytes().all(is_plain) && is_side(sides.next()) && is_side(sides.next())
}

/// Schemes of addresses that do nothing by being followed but fetch, from somewhere else.
const PLAIN_SCHEMES: &[&str] = &["http", "https", "mailto", "urn"];

/// Tells whether an address is of a known scheme and has nothing that Markdown reads as more than an address.
fn is_plain_uri(uri: &str) -> bool {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    PLAIN_SCHEMES.iter().any(|plain| scheme.eq_ignore_ascii_case(plain))
        && uri.chars().all(|ch| ch.is_ascii_graphic() && !"<>[]()!`*\"\\".contains(ch))
}

/// Returns an address as the model may see it: whole, so that it can be used. What might be more than an address to a
/// program that shows it, such as an image to be fetched, is a code span.
fn shown_uri(uri: &str) -> String {
    let shown = unicode::truncate(uri, limits::MCP_URI_CHARS);
    if is_plain_uri(uri) { shown } else { code_span(&shown) }
}
