//! JSON values as Python sees them, where the reference's output depends on it: truth, equality, text, whole numbers.

use serde_json::{Number, Value};

use super::number_text;
use crate::text::python::push_quoted;
use crate::text::unicode::trim;

/// Tells whether a value counts as true.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// Writes a value as `str` does: a text as it is, everything else in Python's notation.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => notation(value),
    }
}

/// Writes a value as `repr` does.
pub fn notation(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => push_quoted(out, text, usize::MAX),
        Value::Array(list) => {
            out.push('[');
            for (index, entry) in list.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write(out, entry);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, entry)) in map.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                push_quoted(out, key, usize::MAX);
                out.push_str(": ");
                write(out, entry);
            }
            out.push('}');
        }
    }
}

/// Compares two values: `True`, `1` and `1.0` are equal, and the order of keys does not matter.
pub fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| is_equal(value, other)))
        }
        (Value::Number(_) | Value::Bool(_), Value::Number(_) | Value::Bool(_)) => number_key(a) == number_key(b),
        _ => a == b,
    }
}

/// Writes a value that can be a key so that equal ones, and no others, have the same text; lists and objects cannot.
pub fn hash_key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("'{text}")),
        Value::Null => Some("None".to_owned()),
        _ => number_key(value),
    }
}

fn number_key(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Number(number) => {
            Some(whole_float(number).map_or_else(|| number_text(number), |whole| whole.to_string()))
        }
        _ => None,
    }
}

/// Returns the whole number a float is.
fn whole_float(number: &Number) -> Option<i128> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e36)?;
    Some(float as i128)
}

/// Reads a whole number as `int` does: fractions are cut off, text may have spaces around it, a sign, and single `_`
/// between its digits. Numbers beyond 64 bits become the largest or smallest.
pub fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::Number(number) => {
            let beyond = || number.as_f64().map(|float| float as i64);
            number.as_i64().or_else(beyond)
        }
        Value::String(text) => int_of_text(trim(text)),
        _ => None,
    }
}

fn int_of_text(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mut value = 0_i64;
    for group in digits.split('_') {
        if group.is_empty() {
            return None;
        }
        for byte in group.bytes() {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            value = value.saturating_mul(10).saturating_add(i64::from(digit));
        }
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_python_shows_them() {
        for (value, shown) in [
            (json!("it's"), "it's"),
            (json!([1, "a", null, 1e21, 2.0]), "[1, 'a', None, 1e+21, 2.0]"),
            (json!({ "k": "it's", "t": true, "o": {} }), "{'k': \"it's\", 't': True, 'o': {}}"),
            (json!(false), "False"),
        ] {
            assert_eq!(text(&value), shown);
        }
        assert_eq!(notation(&json!("a")), "'a'");
    }

    #[test]
    fn numbers_and_flags_are_equal_by_value() {
        for (a, b, equal) in [
            (json!(1), json!(true), true),
            (json!(1.0), json!(true), true),
            (json!([{ "a": 1, "b": 0 }]), json!([{ "b": false, "a": 1.0 }]), true),
            (json!("1"), json!(1), false),
            (json!(null), json!(false), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0), false),
            (json!(1.5), json!(1.5), true),
            (json!([1]), json!([1, 2]), false),
        ] {
            assert_eq!(is_equal(&a, &b), equal, "{a} {b}");
            if let (Some(left), Some(right)) = (hash_key(&a), hash_key(&b)) {
                assert_eq!(left == right, equal, "{a} {b}");
            }
        }
        assert_eq!(hash_key(&json!([1])), None);
    }

    #[test]
    fn whole_numbers_are_read() {
        for (value, read) in [
            (json!(" -1_0 "), Some(-10)),
            (json!("+3"), Some(3)),
            (json!(-1.9), Some(-1)),
            (json!(true), Some(1)),
            (json!(u64::MAX), Some(i64::MAX)),
            (json!("99999999999999999999"), Some(i64::MAX)),
            (json!("1.5"), None),
            (json!(""), None),
            (json!("-"), None),
            (json!("_1"), None),
            (json!("1__0"), None),
            (json!(null), None),
            (json!([1]), None),
        ] {
            assert_eq!(to_int(&value), read, "{value}");
        }
    }
}
