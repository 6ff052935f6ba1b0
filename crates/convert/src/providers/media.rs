//! Images, sounds and files in messages: what is known of them, the label that stands in a text for them, and the same for
//! other formats.

use serde_json::Value;

use contextweaver_model::json::JsonMap;
use contextweaver_text::unicode::{is_invisible, truncate};

/// Tokens that an image or a sound counts, whatever its size.
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
        let kind = media_type.split('/').next().unwrap_or("");
        let kind = if matches!(kind, "image" | "audio" | "video") { kind } else { "file" };
        Some(Self { kind, media_type, name: text(blob, ["displayName", "display_name"]), data })
    }

    /// Returns the label, such as `[image: image/png, 12 KiB]`.
    pub fn label(&self) -> String {
        let mut about: Vec<String> = Vec::new();
        let (mut media_type, mut data, mut is_link) = (self.media_type, self.data, self.data.contains("://"));
        if let Some((head, rest)) = data.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
            let (given, _) = head.split_once(';').unwrap_or((head, ""));
            media_type = if media_type.is_empty() { given } else { media_type };
            (data, is_link) = (rest, false);
        }
        about.extend([self.name, media_type].iter().filter(|text| !text.is_empty()).map(|text| plain(text)));
        if is_link {
            about.push(plain(data));
        } else if !data.is_empty() {
            let kib = (data.len() / 4 * 3).div_ceil(1024);
            about.push(format!("{kib} KiB"));
        }
        if about.is_empty() { format!("[{}]", self.kind) } else { format!("[{}: {}]", self.kind, about.join(", ")) }
    }
}

/// Shortens a name and takes out what would break a line or a bracket.
fn plain(text: &str) -> String {
    let fits = |ch: &char| !ch.is_control() && !is_invisible(*ch) && !matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}');
    truncate(&text.chars().filter(fits).take(200).collect::<String>(), 120)
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
