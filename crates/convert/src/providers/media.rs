//! What stands in a text for something that is no text.

use serde_json::Value;

use super::decode::IMAGE_TOKENS;
use super::part::{Body, Part, Slot};
use contextweaver_model::json::JsonMap;

/// Something that is no text, as far as it can be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Media<'a> {
    /// What to call it: `image`, `file`, `audio`.
    pub what: &'a str,
    /// Its media type, or empty.
    pub media_type: &'a str,
    /// Its name, or empty.
    pub name: &'a str,
    /// Its bytes in base64, a `data:` URL, or where it is.
    pub data: &'a str,
}

impl Media<'_> {
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
        if about.is_empty() { format!("[{}]", self.what) } else { format!("[{}: {}]", self.what, about.join(", ")) }
    }

    /// Returns the tokens: images and sound a flat number; of anything else nobody knows, and it counts the same.
    pub const fn tokens() -> u64 {
        IMAGE_TOKENS
    }
}

/// Shortens a name and takes out what would break a line or a bracket.
fn plain(text: &str) -> String {
    let fits = |ch: &char| {
        !ch.is_control()
            && !contextweaver_text::unicode::is_invisible(*ch)
            && !matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}')
    };
    contextweaver_text::unicode::truncate(&text.chars().filter(fits).take(200).collect::<String>(), 120)
}

/// Makes an opaque part that is media.
pub fn media(field: &str, original: Value, label: &str) -> Part {
    Part { tokens: Some(Media::tokens()), ..Part::new(Body::Opaque, field, original, vec![Slot::label(label)]) }
}

/// Makes the part of a block that nobody here knows: its label is its type.
pub fn unknown(field: &str, original: Value) -> Part {
    let label = label_of(&original);
    Part::new(Body::Opaque, field, original, vec![Slot::label(label)])
}

/// Returns the label of a block that nobody here knows.
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
