//! Text as Python writes it, where output of contextweaver 0.18 shows it.

use std::fmt::Write as _;

/// Quotes text as Python's `repr` does.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, text, usize::MAX);
    out
}

/// Appends the quoted form of at most so many code points of a text: in single quotes unless the whole holds one and no
/// double quote, with backslashes and whatever does not print escaped.
pub fn push_quoted(out: &mut String, text: &str, chars: usize) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for ch in text.chars().take(chars) {
        let code = ch as u32;
        // Writing to a string cannot fail.
        let _ = match ch {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\\' => out.write_str("\\\\"),
            _ if ch == quote => write!(out, "\\{ch}"),
            _ if is_printable(ch) => out.write_char(ch),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(quote);
}

fn is_printable(ch: char) -> bool {
    if ch.is_ascii() {
        return !ch.is_ascii_control();
    }
    // Combining marks are escaped at the start of a text only, so a letter goes before.
    let mut bytes = *b"x\0\0\0\0";
    let width = ch.encode_utf8(&mut bytes[1..]).len();
    std::str::from_utf8(&bytes[..=width]).is_ok_and(|text| text.escape_debug().count() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_python_does() {
        for (text, wanted) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("q \"x\"", "'q \"x\"'"),
            ("a'b\"c", "'a\\'b\"c'"),
            ("t\tn\n\\ é日", "'t\\tn\\n\\\\ é日'"),
            (
                "\u{0}\u{7f}\u{a0}\u{200b}\u{2028}\u{e000}\u{10ffff}",
                "'\\x00\\x7f\\xa0\\u200b\\u2028\\ue000\\U0010ffff'",
            ),
            ("\u{301}\u{fe0f}\u{ad}", "'\u{301}\u{fe0f}\\xad'"),
        ] {
            assert_eq!(quoted(text), wanted);
        }
    }
}
