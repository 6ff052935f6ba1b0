//! The label that stands in a text for an image, a sound or a file.

use std::borrow::Cow;

use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::{is_invisible, truncate};

/// Characters of a name or an address that a label has.
const LABEL_CHARS: usize = 120;

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
        MediaSize::Address(address) => about.push(plain(&shown_address(address))),
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

/// Returns an address as it is fit to be read: without its query where that holds a credential, such as a signature, and
/// without those before the host. Whoever fetches it has the whole.
fn shown_address(address: &str) -> Cow<'_, str> {
    if let Cow::Borrowed(clean) = mask_secrets(address) {
        return Cow::Borrowed(clean);
    }
    let place = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let host = rest.split('/').next().unwrap_or_default();
    let rest = host.rsplit_once('@').map_or(rest, |(user, _)| &rest[user.len() + 1..]);
    let more = if place.len() < address.len() { "?…" } else { "" };
    Cow::Owned(mask_secrets(&format!("{scheme}://{rest}{more}")).into_owned())
}

/// Shortens a name and takes out what would break a line or a bracket.
pub fn plain(text: &str) -> String {
    // Half of a credential would not be known for one.
    let text = if text.len() > LABEL_CHARS { mask_secrets(text) } else { Cow::Borrowed(text) };
    let fits = |ch: &char| !ch.is_control() && !is_invisible(*ch) && !matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}');
    truncate(&text.chars().filter(fits).take(200).collect::<String>(), LABEL_CHARS)
}
