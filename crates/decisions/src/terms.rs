//! Words as the keyword search and the built-in vectors see them.

use std::borrow::Cow;

use contextweaver_text::redact::mask_secrets;
use contextweaver_text::terms::is_mark;
use contextweaver_text::unicode::{floor_char_boundary, is_word, prefix};

/// Calls `each` for every run of letters, digits, marks and underscores of the lower-cased text, in order.
pub fn for_each_term(text: &str, each: &mut dyn FnMut(&str)) {
    let lower = lower(text);
    for word in lower.split(|ch: char| !is_word(ch) && !is_mark(ch)) {
        if !word.is_empty() {
            each(word);
        }
    }
}

/// Returns the terms of a text, in order and with repeats.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_term(text, &mut |term| out.push(term.to_owned()));
    out
}

/// Returns the beginning of a text. What is cut short is masked before, whatever the options say: half of a credential is
/// not recognised as one later.
pub fn truncate_masked(text: &str, chars: usize) -> Cow<'_, str> {
    let part = prefix(text, chars);
    if part.len() == text.len() {
        return Cow::Borrowed(text);
    }
    match mask_secrets(text) {
        Cow::Borrowed(_) => Cow::Borrowed(part),
        Cow::Owned(masked) => Cow::Owned(prefix(&masked, chars).to_owned()),
    }
}

/// Does the same by bytes.
pub fn truncate_masked_bytes(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let masked = mask_secrets(text);
    masked[..floor_char_boundary(&masked, bytes)].to_owned()
}

/// Returns a text as it is compared: lower case, trimmed, with single spaces.
pub fn case_folded(text: &str) -> String {
    let lower = lower(text);
    let mut out = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn lower(text: &str) -> Cow<'_, str> {
    let is_lower = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_digits_marks_and_underscores() {
        let cases: &[(&str, &[&str])] = &[
            ("Hello, World! foo_bar CSRF-2", &["hello", "world", "foo_bar", "csrf", "2"]),
            ("Ünï çödé 日本語 text", &["ünï", "çödé", "日本語", "text"]),
            ("it's a.b 1.2", &["it", "s", "a", "b", "1", "2"]),
            ("e\u{301}te\u{301} हिन्दी ½ Ⅷ", &["e\u{301}te\u{301}", "हिन्दी", "½", "ⅷ"]),
            ("!!! — \u{1f600}", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(&terms(text), expected, "{text}");
        }
    }

    #[test]
    fn folding_ignores_case_and_space() {
        assert_eq!(case_folded("  Retry\twith \n BACKOFF "), "retry with backoff");
        assert_eq!(case_folded("\u{3000}ÉTÉ"), "été");
        assert_eq!(case_folded(" \n"), "");
    }
}
