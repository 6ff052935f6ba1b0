//! JSON whose whole numbers have any length, and its one canonical text.
//!
//! Whole numbers beyond 64 bits are kept as strings of this mark and their digits. A text with such a number that also
//! has the mark in a string is refused, so that nothing can pass for a number.

use std::borrow::Cow;

use serde_json::Value;

use contextweaver_base::order;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{self, number_text, parse_float};

const MARK: char = '\u{1}';

/// Parses JSON text within the limits, long whole numbers marked.
pub(super) fn parse(text: &str) -> Result<Value> {
    let marked = mark(text);
    if matches!(marked, Cow::Owned(_)) && text.contains("\\u0001") {
        let message = "the text has a whole number beyond 64 bits and the control character U+0001";
        return Err(Error::new(ErrorCode::Unsupported, message));
    }
    json::parse(&marked)
}

/// Writes whole numbers that fit no 64 bits as marked strings, and `-0` as `0`.
fn mark(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + bytes[at..].iter().take_while(is_part).count();
                let number = &text[at..end];
                let digits = number.strip_prefix('-').unwrap_or(number);
                let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
                let is_long = digits.len() > 18 && !digits.starts_with('0');
                let fits = || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
                if number == "-0" || (is_whole && is_long && !fits()) {
                    out.push_str(&text[copied..at]);
                    let parts = if number == "-0" { ["0", "", ""] } else { ["\"\\u0001", number, "\""] };
                    out.extend(parts);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the digits of a marked number.
fn marked(text: &str) -> Option<&str> {
    let number = text.strip_prefix(MARK)?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    (digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Makes marked numbers floats.
pub(super) fn unmark(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => {
            if let Some(number) = marked(text).and_then(parse_float) {
                return number.into();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|entry| *entry = unmark(entry.take())),
        Value::Object(map) => map.values_mut().for_each(|entry| *entry = unmark(entry.take())),
        _ => {}
    }
    value
}

/// Writes a list with sorted keys, without spaces, non-ASCII as it is, numbers as Python prints them.
pub(super) fn canonical(list: &[Value]) -> String {
    let mut out = String::from("[");
    for (place, value) in list.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(&mut out, value);
    }
    out.push(']');
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => out.push_str(&marked(text).map_or_else(|| value.to_string(), str::to_owned)),
        Value::Array(list) => out.push_str(&canonical(list)),
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            order::sort(&mut keys);
            out.push('{');
            for (place, key) in keys.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(out, &map[key]);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}
