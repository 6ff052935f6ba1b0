//! Images and the like of an item whose bytes are stored elsewhere, under a handle: `metadata._contextweaver.media` is
//! `{of: [bytes, digest], list: [{handle, media_type, name?, bytes, size?: [width, height]}]}`, where `of` is the text that
//! they belong to. With another text they are not shown: it may have been changed to take something out that they show.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::image_size::{ImageSize, size_of_bytes};
use super::media::MediaInfo;
use super::optional;
use super::stored::{
    MESSAGE_KEY, NO_TEXT, StoredMessage, TEXT_OF_MEDIA, begins_as_marked, digest, is_opaque, mark_of, parts_of,
    record_of,
};
use crate::media_label::kind_of;
use contextweaver_model::{ContextItem, JsonMap, RESERVED_KEY};

/// Key below [`RESERVED_KEY`] of the list.
const MEDIA_KEY: &str = "media";

/// Finds stored bytes by their handle.
pub type MediaBytes<'a> = &'a dyn Fn(&str) -> Option<&'a [u8]>;

/// An image, a sound or a file that is stored under a handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaRecord {
    /// The name of the bytes in the store.
    pub handle: String,
    /// MIME type of the bytes.
    pub media_type: String,
    /// Its name, such as that of a file; may be empty.
    pub name: String,
    /// Count of the bytes.
    pub bytes: usize,
    /// Width and height in pixels, of an image that says them.
    pub size: Option<ImageSize>,
}

impl MediaRecord {
    /// Describes bytes that are stored under a handle.
    pub fn new(handle: &str, media_type: &str, name: &str, bytes: &[u8]) -> Self {
        Self {
            handle: handle.to_owned(),
            media_type: media_type.to_owned(),
            name: name.to_owned(),
            bytes: bytes.len(),
            size: size_of_bytes(bytes),
        }
    }

    /// Returns the label that stands for it in a text, such as `[image: image/png, 12 KiB]`.
    pub fn label(&self) -> String {
        self.info("").label_of_bytes(self.bytes)
    }

    pub(super) fn info<'a>(&'a self, data: &'a str) -> MediaInfo<'a> {
        MediaInfo { kind: kind_of(&self.media_type), media_type: &self.media_type, name: &self.name, data }
    }

    fn to_value(&self) -> Value {
        let mut value = json!({ "handle": self.handle, "media_type": self.media_type, "bytes": self.bytes });
        if !self.name.is_empty() {
            value["name"] = self.name.as_str().into();
        }
        if let Some(ImageSize { width, height }) = self.size {
            value["size"] = json!([width, height]);
        }
        value
    }

    fn read(value: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
        let size = value
            .get("size")
            .and_then(|size| Some(ImageSize { width: number(size.get(0)?)?, height: number(size.get(1)?)? }));
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            handle: text("handle")?.to_owned(),
            media_type: text("media_type")?.to_owned(),
            name: text("name").unwrap_or("").to_owned(),
            bytes: number(value.get("bytes")?)? as usize,
            size,
        })
    }
}

/// Writes into the metadata of an item that it has images and the like, which are stored elsewhere. Messages show them as
/// the format does ([`super::items_to_messages_with`]), as long as the text of the item begins as it does now.
///
/// ```
/// use contextweaver_convert::providers::{MediaRecord, note_media};
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let mut item = ContextItem::new("result:c1", ItemKind::ToolResult, "One chart.");
/// note_media(&mut item, &[MediaRecord::new("mcp:plot:c1:image:0", "image/png", "", b"\x89PNG\r\n\x1a\n")]);
/// assert_eq!(item.metadata["_contextweaver"]["media"]["list"][0]["handle"], "mcp:plot:c1:image:0");
/// ```
pub fn note_media(item: &mut ContextItem, media: &[MediaRecord]) {
    if media.is_empty() {
        return;
    }
    let list: Value = media.iter().map(MediaRecord::to_value).collect();
    let noted = json!({ TEXT_OF_MEDIA: mark_of(&item.text), "list": list });
    let own = item.metadata.entry(RESERVED_KEY).or_insert_with(|| json!({}));
    if !own.is_object() {
        *own = json!({});
    }
    own[MEDIA_KEY] = noted;
}

/// Says that the images and the like that belonged to the text `before` of an item belong to its text now, as those of a
/// result to its digest. They are shown as long as the text begins as it does now.
///
/// ```
/// use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages, keep_media, messages_to_items};
/// use serde_json::json;
///
/// let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
/// let messages = json!([{ "role": "user", "content": [{ "type": "text", "text": "What is it? Is it a cat?" }, image] }]);
/// let mut items = messages_to_items(messages, Format::OpenAiChat, &Default::default())?.items;
/// let before = std::mem::replace(&mut items[0].text, "What is it?".into());
/// let written = items_to_messages(&items, Format::OpenAiChat, &WriteOptions::default())?;
/// assert_eq!(written.messages[0]["content"], "What is it?");
/// assert_eq!(written.warnings[0].code, "MEDIA_LEFT_OUT");
/// keep_media(&mut items[0], &before);
/// let written = items_to_messages(&items, Format::OpenAiChat, &WriteOptions::default())?;
/// assert_eq!(written.messages[0]["content"][1], image);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn keep_media(item: &mut ContextItem, before: &str) {
    let Some(Value::Object(own)) = item.metadata.get_mut(RESERVED_KEY) else { return };
    if item.text == before {
        return;
    }
    for (key, is_read) in [(MESSAGE_KEY, true), (MEDIA_KEY, false)] {
        let Some(Value::Object(record)) = own.get_mut(key) else { continue };
        let is_marked = record.get(TEXT_OF_MEDIA).is_some_and(|mark| begins_as_marked(before, mark));
        if is_marked || is_read && record.get("digest").is_some_and(|marked| *marked == digest(before).as_str()) {
            record.insert(TEXT_OF_MEDIA.to_owned(), mark_of(&item.text));
        }
    }
}

/// Says that an item shows its text alone, though that is the text that was read: what else its message had, such as a
/// result of the provider, is not written. With `has_media` its images and the like are.
///
/// ```
/// use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages, messages_to_items, show_text_alone};
/// use serde_json::json;
///
/// let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" });
/// let mut items = messages_to_items(json!([search]), Format::OpenAiResponses, &Default::default())?.items;
/// show_text_alone(&mut items[0], false);
/// let written = items_to_messages(&items, Format::OpenAiResponses, &WriteOptions::default())?;
/// assert_ne!(written.messages[0], search);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn show_text_alone(item: &mut ContextItem, has_media: bool) {
    let Some(Value::Object(own)) = item.metadata.get_mut(RESERVED_KEY) else { return };
    if let Some(Value::Object(record)) = own.get_mut(MESSAGE_KEY)
        && record.get("digest").is_some_and(|marked| *marked == digest(&item.text).as_str())
    {
        record.insert("digest".to_owned(), NO_TEXT.into());
        if has_media {
            record.insert(TEXT_OF_MEDIA.to_owned(), mark_of(&item.text));
        }
    }
    if !has_media && let Some(Value::Object(record)) = own.get_mut(MEDIA_KEY) {
        record.insert(TEXT_OF_MEDIA.to_owned(), Value::Null);
    }
}

/// Returns the text of an item without the labels of images and the like at its end: what the tool said in words, which may be
/// one JSON document. The whole text where there is nothing else, or where it is not as it was read.
///
/// ```
/// use contextweaver_convert::providers::{Format, messages_to_items, text_before_media};
/// use serde_json::json;
///
/// let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
/// let messages = json!([{ "role": "user", "content": [{ "type": "text", "text": "What is it?" }, image] }]);
/// let items = messages_to_items(messages, Format::OpenAiChat, &Default::default())?.items;
/// assert_eq!(items[0].text, "What is it?\n[image: https://example.org/a.png]");
/// assert_eq!(text_before_media(&items[0]), "What is it?");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn text_before_media(item: &ContextItem) -> &str {
    StoredMessage::of(item).map_or(&item.text, |stored| stored.before_media(&item.text))
}

/// Tells whether an item that shows a text comes back as the message that it was read from, where that is written again.
///
/// ```
/// use contextweaver_convert::providers::{Format, is_as_read, messages_to_items};
/// use serde_json::json;
///
/// let messages = json!([{ "role": "user", "content": "What is it?" }]);
/// let items = messages_to_items(messages, Format::OpenAiChat, &Default::default())?.items;
/// assert!(is_as_read(&items[0], "What is it?") && !is_as_read(&items[0], "What"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn is_as_read(item: &ContextItem, text: &str) -> bool {
    record_of(item).and_then(|record| record.get("digest")).is_some_and(|marked| *marked == digest(text).as_str())
}

/// Tells whether an item has more than its text: images and the like, or what only its provider understands.
///
/// ```
/// use contextweaver_convert::providers::{Format, has_more_than_text, messages_to_items};
/// use serde_json::json;
///
/// let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
/// let messages = json!([{ "role": "user", "content": [image] }, { "role": "user", "content": "What is it?" }]);
/// let items = messages_to_items(messages, Format::OpenAiChat, &Default::default())?.items;
/// assert!(has_more_than_text(&items[0]) && !has_more_than_text(&items[1]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn has_more_than_text(item: &ContextItem) -> bool {
    let is_noted = item.metadata.get(RESERVED_KEY).is_some_and(|own| own.get(MEDIA_KEY).is_some());
    is_noted || record_of(item).is_some_and(|record| parts_of(record).any(|part| is_opaque(optional(part, "kind"))))
}

/// Puts back, in metadata of an item of which the values were changed, where images and the like are: the bytes or the
/// address in the message that the item was read from, and the handles of those that are stored.
///
/// ```
/// use contextweaver_convert::providers::{Format, messages_to_items, restore_media_data};
/// use serde_json::json;
///
/// let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png?sig=1" } });
/// let messages = json!([{ "role": "user", "content": [image] }]);
/// let item = messages_to_items(messages, Format::OpenAiChat, &Default::default())?.items.remove(0);
/// let changed = serde_json::to_string(&item.metadata)?.replace("sig=1", "sig=x");
/// let mut changed = serde_json::from_str(&changed)?;
/// restore_media_data(&item.metadata, &mut changed);
/// assert_eq!(changed, item.metadata);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn restore_media_data(before: &JsonMap, changed: &mut JsonMap) {
    let (Some(before), Some(changed)) = (before.get(RESERVED_KEY), changed.get_mut(RESERVED_KEY)) else { return };
    let parts = before.pointer("/message/parts").and_then(Value::as_array);
    for (at, part) in parts.into_iter().flatten().enumerate() {
        let slots = part.get("slots").and_then(Value::as_array).into_iter().flatten();
        for pointer in slots.filter_map(|slot| slot.get(3)?.as_str()) {
            let pointer = format!("/original{pointer}");
            let info = part.pointer(&pointer).and_then(Value::as_object).and_then(MediaInfo::of);
            let target = changed.pointer_mut(&format!("/message/parts/{at}{pointer}"));
            if let (Some(info), Some(before), Some(target)) = (info, part.pointer(&pointer), target) {
                put_back(before, target, info.data);
            }
        }
    }
    let list = before.pointer("/media/list").and_then(Value::as_array);
    for (at, record) in list.into_iter().flatten().enumerate() {
        if let Some(target) = changed.pointer_mut(&format!("/media/list/{at}/handle")) {
            target.clone_from(&record["handle"]);
        }
    }
}

/// Puts a text back where it stood.
fn put_back(before: &Value, changed: &mut Value, data: &str) {
    match (before, changed) {
        (Value::String(text), changed) if text == data => changed.clone_from(before),
        (Value::Object(map), Value::Object(changed)) => {
            for (key, value) in map {
                if let Some(changed) = changed.get_mut(key) {
                    put_back(value, changed, data);
                }
            }
        }
        _ => {}
    }
}

/// Returns what is noted of media of an item, and whether its text is still the one they belong to.
pub fn noted_media(item: &ContextItem) -> (Vec<MediaRecord>, bool) {
    let Some(noted) = item.metadata.get(RESERVED_KEY).and_then(|own| own.get(MEDIA_KEY)) else {
        return (Vec::new(), false);
    };
    let list = noted.get("list").and_then(Value::as_array).into_iter().flatten().filter_map(MediaRecord::read);
    let is_same = noted.get(TEXT_OF_MEDIA).is_some_and(|mark| begins_as_marked(&item.text, mark));
    (list.collect(), is_same && !item.metadata_flag("redacted"))
}

/// Writes bytes as base64.
pub fn base64_of(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns the text of an item without the labels of its noted media, where it has nothing else to say.
pub fn text_beside<'a>(text: &'a str, media: &[MediaRecord]) -> &'a str {
    let labels: Vec<String> = media.iter().map(MediaRecord::label).collect();
    if labels.join("\n") == text { "" } else { text }
}
