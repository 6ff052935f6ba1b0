//! Images, sounds and files in messages: what is known of them, and the label that stands in a text for them.

use std::borrow::Cow;

use serde_json::Value;

use crate::media_label::{MediaSize, kind_of, media_label, plain};
use contextweaver_model::json::JsonMap;

/// Tokens that media count of which nothing tells how many they are: a sound, a film, a file.
pub const MEDIA_TOKENS: u64 = 1000;

/// What is known of an image, a sound or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaInfo<'a> {
    /// The word for it in the label: `image`, `file`, `audio`.
    pub kind: &'a str,
    /// Its media type, or what the format has in its place, or empty.
    pub media_type: &'a str,
    /// Its name, or empty.
    pub name: &'a str,
    /// Its bytes in base64, a `data:` URL, or where it is; empty where only its provider has it.
    pub data: &'a str,
}

impl<'a> MediaInfo<'a> {
    /// Reads a part of any format, if it is media; their types have different names.
    pub fn of(part: &'a JsonMap) -> Option<Self> {
        let text = |path: &[&str]| text_at(part, path);
        let first = |keys: &[&str]| keys.iter().map(|key| text(&[*key])).find(|text| !text.is_empty()).unwrap_or("");
        let info = |kind, media_type, name, data| Some(Self { kind, media_type, name, data });
        match text(&["type"]) {
            "image_url" | "input_image" | "computer_screenshot" => {
                let url = text(&["image_url"]);
                info("image", "", "", if url.is_empty() { text(&["image_url", "url"]) } else { url })
            }
            "image_generation_call" => info("image", "image/png", "", text(&["result"])),
            "input_audio" => info("audio", text(&["input_audio", "format"]), "", text(&["input_audio", "data"])),
            "input_file" => info("file", "", text(&["filename"]), first(&["file_url", "file_data"])),
            "file" if part.get("file").is_some_and(Value::is_object) => {
                info("file", "", text(&["file", "filename"]), text(&["file", "file_data"]))
            }
            "container_upload" => info("file", "", text(&["file_id"]), ""),
            kind @ ("image" | "document") if part.contains_key("source") => {
                // Of a source of text the text is shown.
                let data = match text(&["source", "type"]) {
                    "base64" => text(&["source", "data"]),
                    "url" => text(&["source", "url"]),
                    _ => "",
                };
                let name = Some(text(&["title"])).filter(|title| !title.is_empty());
                let name = name.unwrap_or_else(|| text(&["source", "file_id"]));
                info(if kind == "image" { "image" } else { "document" }, text(&["source", "media_type"]), name, data)
            }
            // A URL, base64, or bytes as JSON shows them.
            kind @ ("image" | "file" | "media" | "file-data" | "file-url" | "image-data" | "image-url") => {
                let data = Some(first(&["data", "image", "url"])).filter(|data| !data.is_empty());
                let data = data.or_else(|| Some(text(&["data", "data"])).filter(|data| !data.is_empty()));
                let kind = if kind.starts_with("image") { "image" } else { "file" };
                info(
                    kind,
                    first(&["mediaType", "mimeType"]),
                    text(&["filename"]),
                    data.unwrap_or_else(|| text(&["data", "url"])),
                )
            }
            "" => Self::of_gemini(part),
            _ => None,
        }
    }

    /// Reads a part of Gemini, which has no type: in camel case or with underscores.
    fn of_gemini(part: &'a JsonMap) -> Option<Self> {
        let field = |map: &'a JsonMap, names: [&str; 2]| names.into_iter().find_map(|name| map.get(name));
        let text = |map, names| field(map, names).and_then(Value::as_str).unwrap_or("");
        let object = |names| field(part, names).and_then(Value::as_object);
        let (blob, data) = match (object(["inlineData", "inline_data"]), object(["fileData", "file_data"])) {
            (Some(blob), _) => (blob, text(blob, ["data", "data"])),
            (None, Some(file)) => (file, text(file, ["fileUri", "file_uri"])),
            _ => return None,
        };
        let media_type = text(blob, ["mimeType", "mime_type"]);
        Some(Self { kind: kind_of(media_type), media_type, name: text(blob, ["displayName", "display_name"]), data })
    }

    /// Returns what of it another format may carry.
    pub fn media(&self) -> Attachment<'a> {
        let (mut media_type, mut source) = (self.media_type, MediaSource::None);
        if let Some((head, data)) = self.data.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
            let given = head.split(';').next().unwrap_or("");
            media_type = if media_type.is_empty() { given } else { media_type };
            if head.ends_with(";base64") {
                source = MediaSource::Bytes(data);
            }
        } else if let Some((scheme, rest)) = self.data.split_once("://") {
            let is_fetched = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
            if is_fetched && !rest.starts_with(FILES_OF_GEMINI) {
                source = MediaSource::Address(self.data);
            }
        } else if is_base64(self.data) {
            source = MediaSource::Bytes(self.data);
        }
        let media_type = self.known_type(media_type, source);
        Attachment { media_type, name: self.name, source }
    }

    /// Finds the media type: of bytes by how they begin, as what is said of them is often wrong and then refused; else as it
    /// is given, or by the end of a name.
    fn known_type(&self, given: &'a str, source: MediaSource<'a>) -> Cow<'a, str> {
        let begin = |(sign, _): &&(&str, &str)| matches!(source, MediaSource::Bytes(data) if begins(data, sign));
        if let Some((_, known)) = SIGNS.iter().find(begin) {
            return Cow::Borrowed(known);
        }
        if given.contains('/') && !given.ends_with("/*") {
            return Cow::Borrowed(given);
        }
        let ending = |text: &str| {
            let path = text.split(['?', '#']).next().unwrap_or("");
            let (_, ending) = path.rsplit_once('.')?;
            ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, media_type)| *media_type)
        };
        let address = if let MediaSource::Address(address) = source { address } else { "" };
        if let Some(known) = ending(self.name).or_else(|| ending(address)) {
            return Cow::Borrowed(known);
        }
        match (self.kind, given) {
            ("audio", format) => Cow::Owned(format!("audio/{}", if format == "mp3" { "mpeg" } else { format })),
            ("image", _) | (_, "image" | "image/*") => Cow::Borrowed("image/*"),
            _ => Cow::Borrowed(""),
        }
    }

    /// Returns the label, such as `[image: image/png, 12 KiB]`.
    pub fn label(&self) -> String {
        self.label_of_bytes(0)
    }

    /// Returns the label of media that have so many bytes, where the data are not here.
    pub fn label_of_bytes(&self, bytes: usize) -> String {
        let (mut media_type, mut data, mut is_link) = (self.media_type, self.data, self.data.contains("://"));
        if let Some((head, rest)) = data.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
            let (given, _) = head.split_once(';').unwrap_or((head, ""));
            media_type = if media_type.is_empty() { given } else { media_type };
            (data, is_link) = (rest, false);
        }
        let size = if is_link { MediaSize::Address(data) } else { MediaSize::Bytes(bytes.max(data.len() / 4 * 3)) };
        media_label(self.kind, self.name, media_type, size)
    }
}

/// An image, a sound or a file as any format may carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment<'a> {
    /// Its media type; `image/*` of an image of which no more is known, empty where nothing is.
    pub media_type: Cow<'a, str>,
    /// Its name, or empty.
    pub name: &'a str,
    /// Where its bytes are.
    pub source: MediaSource<'a>,
}

/// Where the bytes of media are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaSource<'a> {
    /// Here, as base64.
    Bytes(&'a str),
    /// At an address of the web, where every provider can fetch them.
    Address(&'a str),
    /// With the provider that they were uploaded to, or nowhere.
    None,
}

impl Attachment<'_> {
    /// Tells whether it is an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns an address, of bytes a `data:` URL; none where the bytes are nowhere.
    pub fn url(&self) -> Option<String> {
        match self.source {
            MediaSource::Bytes(data) => Some(format!("data:{};base64,{data}", self.media_type)),
            MediaSource::Address(address) => Some(address.to_owned()),
            MediaSource::None => None,
        }
    }

    /// Returns the media type where a format wants one.
    pub fn full_type(&self) -> &str {
        if self.media_type.is_empty() { "application/octet-stream" } else { &self.media_type }
    }

    /// Returns the name of a file where a format wants one.
    pub fn file_name(&self) -> &str {
        match (self.name, &*self.media_type) {
            ("", PDF) => "file.pdf",
            ("", _) => "file.txt",
            (name, _) => name,
        }
    }

    /// Tells whether it is an image that `OpenAI` and Anthropic read.
    pub fn is_common_image(&self) -> bool {
        // An address may be any image; of bytes the type is said.
        let is_known = matches!(self.source, MediaSource::Address(_)) || self.media_type != "image/*";
        is_known && COMMON_IMAGES.contains(&&*self.media_type)
    }
}

/// The type of PDF files.
pub const PDF: &str = "application/pdf";
/// Image types that `OpenAI` and Anthropic read.
const COMMON_IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/*"];

/// Where files are that were uploaded to Gemini: nobody else can fetch them.
const FILES_OF_GEMINI: &str = "generativelanguage.googleapis.com/";

/// How base64 of files begins; a `|` is followed by the characters from the twelfth on.
const SIGNS: &[(&str, &str)] = &[
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR|RUJQ", "image/webp"),
    ("UklGR|QVZF", "audio/wav"),
    ("JVBERi0", "application/pdf"),
];

/// Attachment types of names by their ends.
const ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("txt", "text/plain"),
];

fn begins(data: &str, sign: &str) -> bool {
    let (first, later) = sign.split_once('|').unwrap_or((sign, ""));
    data.starts_with(first) && data.get(12..).is_some_and(|rest| rest.starts_with(later))
}

/// Tells whether a text is made of the characters of base64.
fn is_base64(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    !text.is_empty() && text.bytes().all(is_digit)
}

/// Returns the label of a part of an unknown type.
pub fn label_of(value: &Value) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (text("type"), text("name")) {
        (Some(kind), Some(name)) => format!("[{}: {}]", plain(kind), plain(name)),
        (Some(kind), None) => format!("[{}]", plain(kind)),
        _ => "[unknown part]".to_owned(),
    }
}

/// Returns a string of an object, or empty text.
pub fn text_at<'a>(map: &'a JsonMap, path: &[&str]) -> &'a str {
    let mut value = path.split_first().and_then(|(first, _)| map.get(*first));
    for key in path.iter().skip(1) {
        value = value.and_then(|value| value.get(*key));
    }
    value.and_then(Value::as_str).unwrap_or("")
}
