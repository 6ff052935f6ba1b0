//! Stored text in a line of Markdown.
//!
//! Whoever can record a decision can put text here that a model reads later. It must not become structure: a heading, a
//! list, a table, a link, code, HTML, or signs that a terminal or a screen obeys.

use std::borrow::Cow;

use crate::terms;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::{prefix, sanitize};

/// Most characters of one text.
const MAX_CHARS: usize = 500;

/// Makes one line of a text, in which nothing has a meaning for Markdown. Credentials are masked first, where that is asked for:
/// by their lines and signs they are known.
pub(super) fn plain_text(mask: bool, text: &str) -> String {
    let masked = if mask { mask_secrets(text) } else { Cow::Borrowed(text) };
    let text = &*masked;
    let joined = text.split_whitespace().fold(String::new(), |mut out, word| {
        if !out.is_empty() {
            out.push(' ');
        }
        // What is cut off later need not be cleaned.
        if out.len() < 4 * MAX_CHARS {
            out.push_str(word);
        }
        out
    });
    let joined = joined.trim_end();
    let mut cut = terms::truncate_masked(joined, MAX_CHARS).into_owned();
    if prefix(joined, MAX_CHARS).len() < joined.len() {
        cut.push('…');
    }
    let mut out = String::with_capacity(cut.len());
    let mut before = None;
    for ch in sanitize(&cut).chars() {
        let is_start = before.is_none();
        match ch {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '[' | ']' | '|' | '*' | '~' => escape(&mut out, ch),
            // Behind an image's sign, a link's text and at the start of a line these have a meaning as well.
            '(' if before == Some(']') => escape(&mut out, ch),
            '!' | '#' | '+' | '-' | '_' | '=' | '>' | ':' if is_start => escape(&mut out, ch),
            '.' | ')' if is_number(&out) => escape(&mut out, ch),
            _ => out.push(ch),
        }
        before = Some(ch);
    }
    out
}

fn escape(out: &mut String, ch: char) {
    out.push('\\');
    out.push(ch);
}

/// Tells whether the line is a number so far, which a dot would make the item of a list.
fn is_number(out: &str) -> bool {
    !out.is_empty() && out.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_has_no_structure() {
        for (text, expected) in [
            ("Use PostgreSQL 3", "Use PostgreSQL 3"),
            ("  two\n\n## words\t", "two ## words"),
            ("# Heading", "\\# Heading"),
            ("- item", "\\- item"),
            ("1. item", "1\\. item"),
            ("12) item", "12\\) item"),
            ("v1.2", "v1.2"),
            ("> quote", "\\> quote"),
            ("a | b", "a \\| b"),
            ("[x](http://y)", "\\[x\\]\\(http://y)"),
            ("![x](y)", "\\!\\[x\\]\\(y)"),
            ("```sh", "\\`\\`\\`sh"),
            ("~~~", "\\~\\~\\~"),
            ("---", "\\---"),
            ("***", "\\*\\*\\*"),
            ("<script>&lt;", "&lt;script>&amp;lt;"),
            ("a\u{202e}b\u{1b}[31m", "a\\\\u{202e}b\\\\u{1b}\\[31m"),
            ("a\u{2028}# b", "a # b"),
            ("a\\", "a\\\\"),
            ("\u{200b}# x", "\\\\u{200b}# x"),
            ("", ""),
        ] {
            assert_eq!(plain_text(false, text), expected, "{text:?}");
        }
        // Lines and signs tell a credential, so it is masked before they go.
        for text in ["a <password>hunter22</password>", "a\ndb.example.com:5432:app:alice:hunter22x\nb"] {
            assert!(
                plain_text(false, text).contains("hunter22") && !plain_text(true, text).contains("hunter22"),
                "{text}"
            );
        }
        assert!(plain_text(true, &"x ".repeat(100_000)).chars().count() <= MAX_CHARS + 1);
        assert!(plain_text(true, &"x".repeat(100_000)).chars().count() <= MAX_CHARS + 1);
    }
}
