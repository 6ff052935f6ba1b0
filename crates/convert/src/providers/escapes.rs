//! JSON text that writes everything outside ASCII as `\uXXXX`, and the same text as people read it.

use std::fmt::Write as _;

/// Replaces the escapes of visible code points outside ASCII by the code points, if [`escape`] gives the text back.
pub fn unescape(text: &str) -> Option<String> {
    if !text.is_ascii() || !text.contains("\\u") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some((ch, used)) = escaped(rest) else {
            // Any other escape: both characters stay, so that an escaped backslash does not start one.
            let used = rest.len().min(2);
            out.push_str(&rest[..used]);
            rest = &rest[used..];
            continue;
        };
        out.push(ch);
        rest = &rest[used..];
    }
    out.push_str(rest);
    (out.len() != text.len() && escape(&out) == text).then_some(out)
}

/// Reads the escape at the start of a text, if it is of a visible code point outside ASCII; returns its length, too.
fn escaped(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let first = unit(text)?;
    let (ch, used) = match char::from_u32(u32::from(first)) {
        Some(ch) => (ch, 6),
        None => (char::decode_utf16([first, unit(text.get(6..)?)?]).next()?.ok()?, 12),
    };
    let is_shown = !ch.is_ascii() && !ch.is_control() && !contextweaver_text::unicode::is_invisible(ch);
    (is_shown && !matches!(ch, '\u{2028}' | '\u{2029}')).then_some((ch, used))
}

/// Writes everything outside ASCII as `\uXXXX`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        if ch.is_ascii() {
            out.push(ch);
            continue;
        }
        let mut units = [0_u16; 2];
        for unit in ch.encode_utf16(&mut units) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_where_they_can_be_put_back() {
        let table = [
            (r#"{"a": "\u5929\u6c17"}"#, Some(r#"{"a": "天気"}"#)),
            (r#"{"a":"\ud83d\ude00\n"}"#, Some("{\"a\":\"😀\\n\"}")),
            (r#"{"a":"\\u5929"}"#, None),
            (r#"{"a":"\\\u5929"}"#, Some(r#"{"a":"\\天"}"#)),
            (r#"{"a":"\u200b \u5929"}"#, Some(r#"{"a":"\u200b 天"}"#)),
            // Invisible, half a pair, upper case, mixed, cut off: as it was.
            (r#"{"a":"\u200b"}"#, None),
            (r#"{"a":"\ud83d"}"#, None),
            (r#"{"a":"\u5C71"}"#, None),
            (r#"{"a":"天\u5929"}"#, None),
            (r#"{"a":"\u59"#, None),
            (r#"{"a":"\n"}"#, None),
            ("\\", None),
        ];
        for (text, expected) in table {
            assert_eq!(unescape(text).as_deref(), expected, "{text}");
        }
    }
}
