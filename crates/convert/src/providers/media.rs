//! The label that stands in a text for media and other parts without text.

use serde_json::Value;

use contextweaver_model::json::JsonMap;

/// Tokens that an image or a sound counts, whatever its size.
pub const MEDIA_TOKENS: u64 = 1000;

/// What is known of an image, a sound or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaInfo<'a> {
    /// The word for it in the label: `image`, `file`, `audio`.
    pub kind: &'a str,
    /// Its media type, or empty.
    pub media_type: &'a str,
    /// Its name, or empty.
    pub name: &'a str,
    /// Its bytes in base64, a `data:` URL, or where it is.
    pub data: &'a str,
}

impl MediaInfo<'_> {
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
    let fits = |ch: &char| {
        !ch.is_control()
            && !contextweaver_text::unicode::is_invisible(*ch)
            && !matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}')
    };
    contextweaver_text::unicode::truncate(&text.chars().filter(fits).take(200).collect::<String>(), 120)
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
