//! JSON as models, tools and servers write it.

use std::borrow::Cow;

use serde_json::Value;

/// Parses JSON of a model, a tool or a server, in which half of a surrogate pair counts as U+FFFD: JavaScript writes such a text.
///
/// ```
/// use contextweaver_model::json::parse_sent;
///
/// assert_eq!(parse_sent(r#"{"a":"cut \ud83d"}"#).unwrap()["a"], "cut \u{fffd}");
/// assert!(parse_sent("{").is_none());
/// ```
pub fn parse_sent(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| match whole_escapes(text) {
        Cow::Owned(mended) => serde_json::from_str(&mended).ok(),
        Cow::Borrowed(_) => None,
    })
}

/// Replaces escapes of half a surrogate pair in JSON text by that of U+FFFD; borrowed where there are none.
pub fn whole_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match unit(bytes, at) {
            Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(&text[kept..at]);
                out.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            // An escaped backslash begins no escape. What is escaped may be cut off, or no ASCII.
            _ => at += if bytes.get(at + 1).is_some_and(u8::is_ascii) { 2 } else { 1 },
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Reads the escape `\uXXXX` at a place.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
}

/// Returns the first whole number in JSON text that a float cannot hold, and so none of JavaScript.
///
/// ```
/// use contextweaver_model::json::inexact_number;
///
/// assert_eq!(inexact_number(r#"{"id":725653563933458433}"#), Some("725653563933458433"));
/// assert_eq!(inexact_number(r#"{"id":"725653563933458433","n":9007199254740992}"#), None);
/// ```
pub fn inexact_number(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                let number = &text[at..at + length];
                if is_inexact(number) {
                    return Some(number);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns the place behind the quote that ends a string of JSON text, in which `at` is.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => break,
            // What is escaped does not end the string.
            b'\\' => at += 1,
            _ => {}
        }
    }
    at
}

fn is_inexact(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.len() < 16 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    digits.parse::<u128>().map_or(true, |exact| exact as f64 as u128 != exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        let table = [
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\uDE00\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\n""#, Some(r#""\ufffd\n""#)),
            (r#""a\\ud83d""#, None),
            (r#""a\\\ud83d""#, Some(r#""a\\\ufffd""#)),
            (r#""\ud83""#, None),
            ("\\", None),
            ("\\é\\", None),
            ("", None),
        ];
        for (text, wanted) in table {
            let whole = whole_escapes(text);
            assert_eq!((&*whole, matches!(whole, Cow::Owned(_))), (wanted.unwrap_or(text), wanted.is_some()), "{text}");
        }
        assert_eq!(parse_sent(r#"{"\udfff":["\ud800"]}"#).unwrap()["\u{fffd}"][0], "\u{fffd}");
        assert_eq!(parse_sent(r#"{"\ud800": }"#), None);
    }

    #[test]
    fn numbers_that_a_float_cannot_hold_are_found() {
        let table = [
            (r#"{"a":[1, 9007199254740993]}"#, Some("9007199254740993")),
            (r#"{"a":-9223372036854775807}"#, Some("-9223372036854775807")),
            ("18446744073709551615", Some("18446744073709551615")),
            (&"7".repeat(60), Some("777777777777777777777777777777777777777777777777777777777777")),
            // As exact as they are written, floats anyway, or text.
            ("9007199254740994", None),
            ("[0.12345678901234567, 1e30, 12345678901234567.5]", None),
            (r#"["9007199254740993", "\"9007199254740993"]"#, None),
            (r#""9007199254740993"#, None),
            ("", None),
        ];
        for (text, wanted) in table {
            assert_eq!(inexact_number(text), wanted, "{text}");
        }
    }
}
