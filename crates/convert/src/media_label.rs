//! The label that stands in a text for an image, a sound or a file.

use contextweaver_text::unicode::{is_invisible, truncate};

/// How large media are, or where.
#[derive(Debug, Clone, Copy)]
pub enum MediaSize<'a> {
    /// So many bytes; 0 where that is not known.
    Bytes(usize),
    /// At an address.
    Address(&'a str),
}

/// Returns a label, such as `[image: image/png, 12 KiB]`; an empty name or media type is left out.
pub fn media_label(kind: &str, name: &str, media_type: &str, size: MediaSize) -> String {
    let mut about: Vec<String> =
        [name, media_type].iter().filter(|text| !text.is_empty()).map(|text| plain(text)).collect();
    match size {
        MediaSize::Address(address) => about.push(plain(address)),
        MediaSize::Bytes(0) => {}
        MediaSize::Bytes(bytes) => about.push(format!("{} KiB", bytes.div_ceil(1024))),
    }
    if about.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", about.join(", ")) }
}

/// Returns the word for a media type in a label.
pub fn kind_of(media_type: &str) -> &str {
    let kind = media_type.split('/').next().unwrap_or("");
    if matches!(kind, "image" | "audio" | "video") { kind } else { "file" }
}

/// Shortens a name and takes out what would break a line or a bracket.
pub fn plain(text: &str) -> String {
    let fits = |ch: &char| !ch.is_control() && !is_invisible(*ch) && !matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}');
    truncate(&text.chars().filter(fits).take(200).collect::<String>(), 120)
}
