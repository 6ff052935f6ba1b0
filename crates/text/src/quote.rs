//! A caller's value in a message of ours.

use crate::redact::{mask_secrets, redact_id};
use crate::unicode::{is_invisible, is_space};

/// Quotes a caller's value for a message: in backticks, controls escaped, credentials masked, at most 80 characters.
///
/// ```
/// use contextweaver_text::quote::quote;
///
/// assert_eq!(quote("line\nfeed"), "`line\\u{a}feed`");
/// assert_eq!(quote("AKIAABCDEFGHIJKLMNOP"), "`[REDACTED-SECRET]`");
/// ```
pub fn quote(value: &str) -> String {
    // Masked before it is cut: half a credential is not recognised as one. What has no spaces is an id or a key.
    let masked = if value.contains(is_space) { mask_secrets(value) } else { redact_id(value) };
    let mut out = String::from("`");
    for (index, ch) in masked.chars().enumerate() {
        if index == 80 {
            out.push('…');
            break;
        }
        if ch.is_control() || is_invisible(ch) {
            out.extend(ch.escape_unicode());
        } else {
            out.push(ch);
        }
    }
    out.push('`');
    out
}
