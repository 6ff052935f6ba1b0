//! JSON values as Python sees them, for decisions and output that must match contextweaver 0.18, which was written in
//! Python. The functions recurse; the JSON parser bounds the depth.

use serde_json::{Number, Value};

use super::{JsonMap, number_text, parse_float};
use contextweaver_text::python::push_quoted;
use contextweaver_text::unicode::trim;

/// Tells whether a value is true in a Python condition.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(true) => true,
    }
}

/// Writes a value as Python's `str` does.
pub fn text(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let mut out = String::new();
    push(&mut out, value);
    out
}

/// Appends the value as Python's `repr` writes it.
fn push(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => push_quoted(out, text, usize::MAX),
        Value::Array(list) => {
            out.push('[');
            for (at, entry) in list.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push(out, entry);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, entry)) in map.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_quoted(out, key, usize::MAX);
                out.push_str(": ");
                push(out, entry);
            }
            out.push('}');
        }
    }
}

/// Converts an object or a sequence of pairs to an object, as Python's `dict` does. Returns `None` for anything else.
pub fn dict(value: Value) -> Option<JsonMap> {
    match value {
        Value::Object(map) => Some(map),
        Value::String(text) if text.is_empty() => Some(JsonMap::new()),
        Value::Array(list) => list
            .into_iter()
            .map(|pair| match &elements(&pair)?[..] {
                [key, value] => Some((key_text(key)?, value.clone())),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// Returns what Python iterates over: the entries of a list, the characters of a string, the keys of an object. Returns
/// `None` for other values.
pub fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list.clone()),
        Value::String(text) => Some(text.chars().map(|ch| ch.to_string().into()).collect()),
        Value::Object(map) => Some(map.keys().map(|key| key.as_str().into()).collect()),
        _ => None,
    }
}

/// Returns an object key as Python's `json` module writes it, or `None` for a list or an object.
fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::Array(_) | Value::Object(_) => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number_text(number)),
        other => Some(other.to_string()),
    }
}

/// Reads a number as Python's `float` does, but accepts only ASCII digits.
pub fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(text) => parse_float(&without_joints(trim(text))?),
        other => other.as_f64(),
    }
}

/// Reads a whole number as Python's `int` does: it cuts off the fraction of a number, and refuses a text with a
/// fraction. A value beyond 64 bits becomes the largest or the smallest `i64`.
pub fn int(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => whole(&without_joints(trim(text))?),
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)),
        Value::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    }
}

fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    is_whole.then(|| text.parse().unwrap_or(beyond))
}

/// Removes the underscores between digits. Returns `None` if there is an underscore anywhere else.
fn without_joints(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_joint = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    let all_between = text.bytes().enumerate().all(|(at, byte)| byte != b'_' || is_joint(at));
    all_between.then(|| text.replace('_', ""))
}

/// Compares two values as Python does: `True`, `1` and `1.0` are equal, and the order of keys does not matter.
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

/// Writes a number or a boolean as a text that is the same for equal values, and different for all others.
fn number_key(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Number(number) => {
            Some(whole_float(number).map_or_else(|| number_text(number), |whole| whole.to_string()))
        }
        _ => None,
    }
}

/// Returns the value of a float as an integer, if it has no fraction and its magnitude is below 1e36.
fn whole_float(number: &Number) -> Option<i128> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e36)?;
    Some(float as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_python_does() {
        for (value, wanted) in [
            (json!("a'b"), "a'b"),
            (json!(null), "None"),
            (json!([1, "a", null, 1e21, 1.0]), "[1, 'a', None, 1e+21, 1.0]"),
            (json!({ "k": "v", "it's": [true, {}] }), "{'k': 'v', \"it's\": [True, {}]}"),
        ] {
            assert_eq!(text(&value), wanted);
        }
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
        }
    }

    #[test]
    fn values_are_read_as_python_does() {
        for (value, wanted) in [
            (json!(""), Some(json!({}))),
            (json!([]), Some(json!({}))),
            (json!([["a", 1], "bc", { "x": 1, "y": 2 }]), Some(json!({ "a": 1, "b": "c", "x": "y" }))),
            (json!([["a"]]), None),
            (json!([[[], 1]]), None),
            (json!("ab"), None),
            (json!(0), None),
        ] {
            assert_eq!(dict(value).map(Value::Object), wanted);
        }
        for (value, whole, float_of) in [
            (json!(" 1_0 "), Some(10), Some(10.0)),
            (json!("1__0"), None, None),
            (json!("_1"), None, None),
            (json!("1_0.5e1"), None, Some(105.0)),
            (json!(12.9), Some(12), Some(12.9)),
            (json!(-12.9), Some(-12), Some(-12.9)),
            (json!(true), Some(1), Some(1.0)),
            (json!(1e300), Some(i64::MAX), Some(1e300)),
            (json!("-99999999999999999999"), Some(i64::MIN), Some(-1e20)),
            (json!("+3"), Some(3), Some(3.0)),
            (json!("-"), None, None),
            (json!([]), None, None),
            (json!(null), None, None),
        ] {
            assert_eq!((int(&value), float(&value)), (whole, float_of), "{value}");
        }
    }
}
