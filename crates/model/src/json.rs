//! Reading caller-shaped JSON with a path for every complaint, and writing JSON in two canonical forms.

mod floats;
mod nearest;
pub mod numbers;
pub mod python;
mod record;
mod sent;

use std::fmt::Write as _;

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

pub use floats::{float_text, parse_float, plain_text};
pub use nearest::{nearest, there_are};
pub use record::{Field, Record, as_word, closed_or};
use sent::end_of_string;
pub use sent::{inexact_number, parse_sent, whole_escapes};

/// A JSON object in the caller's key order.
pub type JsonMap = serde_json::Map<String, Value>;

/// Parses JSON text within the size and depth limits.
///
/// # Errors
/// `TOO_LARGE`, `TOO_DEEP`, or `DECODE_FAILED` with `line` and `column` in the details.
///
/// ```
/// use contextweaver_model::json::parse;
///
/// assert_eq!(parse("[1, 2]")?[1], 2);
/// assert_eq!(parse("[1, 2").unwrap_err().code().as_str(), "DECODE_FAILED");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Value> {
    parse_within(text, limits::MAX_INPUT_BYTES)
}

/// Returns a record as a JSON value, by way of text: the writer of text is there anyway, another one would be compiled for every
/// kind of record.
pub fn to_value(record: &impl serde::Serialize) -> Value {
    serde_json::to_string(record).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Parses a snapshot, which may be as large as a full store and log.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_snapshot(text: &str) -> Result<Value> {
    parse_within(text, limits::MAX_SNAPSHOT_BYTES)
}

fn parse_within(text: &str, limit: usize) -> Result<Value> {
    if text.len() > limit {
        return Err(Error::new(ErrorCode::TooLarge, format!("input has {} bytes, the limit is {limit}", text.len())));
    }
    check_depth(text)?;
    serde_json::from_str(text).map_err(|error| {
        Error::new(ErrorCode::DecodeFailed, format!("input is not valid JSON: {error}"))
            .detail("line", error.line())
            .detail("column", error.column())
    })
}

/// Refuses JSON text nested deeper than [`limits::MAX_DEPTH`] levels below the argument's own, before anything walks it.
fn check_depth(text: &str) -> Result<()> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                // An argument wraps the caller's value in at most four levels (record, list, item, metadata).
                if depth > limits::MAX_DEPTH + 4 {
                    return Err(Error::new(
                        ErrorCode::TooDeep,
                        format!("input nests deeper than {} levels", limits::MAX_DEPTH),
                    ));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Escapes one token of a JSON pointer.
pub fn pointer(base: &str, key: &str) -> String {
    format!("{base}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Names the JSON type of a value for messages.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The fields of one object under a path; taking a field removes it, so that what is left is unknown.
///
/// A list: an object of the caller has few fields, and finding one by comparing is faster than hashing its name.
///
/// ```
/// use contextweaver_model::json::Fields;
/// use serde_json::json;
///
/// let mut fields = Fields::open(json!({ "name": "ada", "age": "36" }), "/user")?;
/// assert_eq!(fields.string("name")?, "ada");
/// assert_eq!(fields.uint_or("age", 0, 150).unwrap_err().path(), "/user/age");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub struct Fields {
    entries: Vec<(String, Value)>,
    path: String,
    /// Fields that were asked for and are not there: what an unknown one may stand for.
    absent: Vec<&'static str>,
}

impl Fields {
    /// Opens an object.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `path` for anything but an object.
    pub fn open(value: Value, path: &str) -> Result<Self> {
        match value {
            Value::Object(map) => {
                Ok(Self { entries: map.into_iter().collect(), path: path.to_owned(), absent: Vec::new() })
            }
            other => Err(wrong_type(path, "an object", &other)),
        }
    }

    /// Opens an object that has no fields but the known ones.
    ///
    /// # Errors
    /// `INVALID_INPUT` for anything but an object, `UNKNOWN_FIELD` for a field that is not known.
    pub fn open_closed(value: Value, path: &str, known: &[&'static str]) -> Result<Self> {
        let fields = Self::open(value, path)?;
        match fields.entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(fields),
            Some((key, _)) => Err(unknown_field(path, key, known)),
        }
    }

    /// Returns the path of the object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the path of one field.
    pub fn at(&self, key: &str) -> String {
        pointer(&self.path, key)
    }

    /// Takes a field; null counts as absent.
    pub fn take(&mut self, key: &'static str) -> Option<Value> {
        let Some(place) = self.place(key) else {
            // Where nothing is left, nothing will be unknown.
            if !self.entries.is_empty() {
                self.absent.push(key);
            }
            return None;
        };
        Some(self.entries.remove(place).1).filter(|value| !value.is_null())
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|(known, _)| known == key)
    }

    /// Puts a value where a field is absent.
    pub fn default_to(&mut self, key: &'static str, value: &str) {
        if self.peek(key).is_none_or(Value::is_null) {
            self.entries.retain(|(known, _)| known != key);
            self.entries.push((key.to_owned(), value.into()));
            self.absent.push(key);
        }
    }

    /// Returns a field and leaves it there.
    pub fn peek(&self, key: &str) -> Option<&Value> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    /// Tells whether the field is present, even as null.
    pub fn has(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// Takes a required field.
    ///
    /// # Errors
    /// `MISSING_FIELD` for an absent field or null; a hint names the field that may stand for it.
    pub fn require(&mut self, key: &'static str) -> Result<Value> {
        self.take(key).ok_or_else(|| self.missing(key))
    }

    /// Makes the error for a required field that is absent or null; a hint names the field that may stand for it.
    pub fn missing(&self, key: &str) -> Error {
        let error = missing_field(&self.path, key);
        let there = self.entries.iter().filter(|(_, value)| !value.is_null()).map(|(known, _)| known.as_str());
        match nearest(key, there) {
            Some(found) => error.hint(format!("there is {}; did you mean `{key}`?", quote(found))),
            None => error,
        }
    }

    /// Returns a required field and leaves it there.
    ///
    /// # Errors
    /// `MISSING_FIELD` for an absent field or null.
    pub fn required(&self, key: &str) -> Result<&Value> {
        self.peek(key).filter(|value| !value.is_null()).ok_or_else(|| self.missing(key))
    }

    /// Takes a required string.
    ///
    /// # Errors
    /// `MISSING_FIELD`; those of [`as_string`].
    pub fn string(&mut self, key: &'static str) -> Result<String> {
        let value = self.require(key)?;
        self.text(key, value)
    }

    /// Takes a string, or gives the default.
    ///
    /// # Errors
    /// Those of [`as_string`].
    pub fn string_or(&mut self, key: &'static str, default: &str) -> Result<String> {
        Ok(self.opt_string(key)?.unwrap_or_else(|| default.to_owned()))
    }

    /// Takes a string if present.
    ///
    /// # Errors
    /// Those of [`as_string`].
    pub fn opt_string(&mut self, key: &'static str) -> Result<Option<String>> {
        self.take(key).map(|value| self.text(key, value)).transpose()
    }

    /// Reads a string; the path is made only for a complaint.
    fn text(&self, key: &str, value: Value) -> Result<String> {
        match value {
            Value::String(text) if text.len() <= limits::MAX_STRING_BYTES => Ok(text),
            other => as_string(other, &self.at(key)),
        }
    }

    /// Takes a boolean, or gives the default.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type.
    pub fn bool_or(&mut self, key: &'static str, default: bool) -> Result<bool> {
        Ok(self.opt_bool(key)?.unwrap_or(default))
    }

    /// Takes a boolean if present.
    ///
    /// # Errors
    /// `INVALID_INPUT` if it is something else.
    pub fn opt_bool(&mut self, key: &'static str) -> Result<Option<bool>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong_type(&self.at(key), "true or false", &other)),
        }
    }

    /// Takes a whole number of `0..=max` if present.
    ///
    /// # Errors
    /// Those of [`as_uint`].
    pub fn opt_uint(&mut self, key: &'static str, max: u64) -> Result<Option<u64>> {
        self.take(key).map(|value| as_uint(&value, &self.at(key), max)).transpose()
    }

    /// Takes a whole number of `0..=max`, or gives the default.
    ///
    /// # Errors
    /// Those of [`as_uint`].
    pub fn uint_or(&mut self, key: &'static str, default: u64, max: u64) -> Result<u64> {
        Ok(self.opt_uint(key, max)?.unwrap_or(default))
    }

    /// Takes a finite number within the range if present.
    ///
    /// # Errors
    /// Those of [`as_number`].
    pub fn opt_number(&mut self, key: &'static str, min: f64, max: f64) -> Result<Option<f64>> {
        self.take(key).map(|value| as_number(&value, &self.at(key), min, max)).transpose()
    }

    /// Takes a finite number within the range, or gives the default.
    ///
    /// # Errors
    /// Those of [`as_number`].
    pub fn number_or(&mut self, key: &'static str, default: f64, min: f64, max: f64) -> Result<f64> {
        Ok(self.opt_number(key, min, max)?.unwrap_or(default))
    }

    /// Takes a list of strings; absent is empty.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type; those of [`as_string`].
    pub fn strings(&mut self, key: &'static str) -> Result<Vec<String>> {
        let list = self.list(key)?.into_iter().enumerate();
        list.map(|(index, value)| match value {
            Value::String(text) if text.len() <= limits::MAX_STRING_BYTES => Ok(text),
            other => as_string(other, &format!("{}/{index}", self.at(key))),
        })
        .collect()
    }

    /// Takes a list of strings if present.
    ///
    /// # Errors
    /// Those of [`Fields::strings`].
    pub fn opt_strings(&mut self, key: &'static str) -> Result<Option<Vec<String>>> {
        let is_present = self.peek(key).is_some_and(|value| !value.is_null());
        self.strings(key).map(|list| is_present.then_some(list))
    }

    /// Takes a list; absent is empty.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type.
    pub fn list(&mut self, key: &'static str) -> Result<Vec<Value>> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list),
            Some(other) => Err(wrong_type(&self.at(key), "an array", &other)),
        }
    }

    /// Takes a list of records, each read under its own path; absent is empty.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type; those of `read`.
    pub fn records<T>(&mut self, key: &'static str, read: impl Fn(Value, &str) -> Result<T>) -> Result<Vec<T>> {
        let at = self.at(key);
        self.list(key)?.into_iter().enumerate().map(|(index, value)| read(value, &format!("{at}/{index}"))).collect()
    }

    /// Takes the entries of an object if present, each read with its name under its own path.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type; those of `read`.
    pub fn entries<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&str, Value, &str) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(map) = self.opt_object(key)? else { return Ok(None) };
        let at = self.at(key);
        map.into_iter().map(|(name, value)| read(&name, value, &pointer(&at, &name))).collect::<Result<_>>().map(Some)
    }

    /// Takes what a field holds, by its type.
    ///
    /// # Errors
    /// Those of [`Field::take`].
    pub fn get<T: Field>(&mut self, key: &'static str) -> Result<T> {
        T::take(self, key)
    }

    /// Takes an object; absent is empty.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type.
    pub fn object(&mut self, key: &'static str) -> Result<JsonMap> {
        Ok(self.opt_object(key)?.unwrap_or_default())
    }

    /// Takes an object if present.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type.
    pub fn opt_object(&mut self, key: &'static str) -> Result<Option<JsonMap>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(wrong_type(&self.at(key), "an object", &other)),
        }
    }

    /// Takes a nested object if present.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type.
    pub fn nested(&mut self, key: &'static str) -> Result<Option<Self>> {
        self.take(key).map(|value| Self::open(value, &self.at(key))).transpose()
    }

    /// Takes a required string and parses it.
    ///
    /// # Errors
    /// `MISSING_FIELD`, with the hint of `parse` for a text that it does not know; those of [`as_string`] and of `parse`, at
    /// the field.
    pub fn parsed<T>(&mut self, key: &'static str, parse: fn(&str) -> Result<T>) -> Result<T> {
        if let Some(text) = self.opt_string(key)? {
            return parse(&text).map_err(|error| error.at(self.at(key)));
        }
        let error = self.missing(key);
        let unknown = parse("").err();
        match unknown.as_ref().and_then(Error::hint_text).filter(|_| error.hint_text().is_none()) {
            Some(known) => Err(error.hint(known)),
            None => Err(error),
        }
    }

    /// Takes a string and parses it, or gives the default.
    ///
    /// # Errors
    /// Those of [`as_string`] and of `parse`, at the field.
    pub fn parsed_or<T>(&mut self, key: &'static str, default: T, parse: fn(&str) -> Result<T>) -> Result<T> {
        match self.opt_string(key)? {
            None => Ok(default),
            Some(text) => parse(&text).map_err(|error| error.at(self.at(key))),
        }
    }

    /// Takes everything that is left.
    pub fn rest(self) -> JsonMap {
        self.entries.into_iter().collect()
    }

    /// Refuses fields that were not taken: options are closed, so that a typing error is noticed.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD` for the first field that is left; a hint names the field that it may stand for.
    pub fn finish(self) -> Result<()> {
        match self.entries.first() {
            None => Ok(()),
            Some((key, _)) => Err(unknown_field(&self.path, key, &self.absent)),
        }
    }
}

/// Makes the error for a required field that is absent or null.
pub fn missing_field(path: &str, key: &str) -> Error {
    Error::new(ErrorCode::MissingField, format!("missing field {}", quote(key))).at(pointer(path, key))
}

fn unknown_field(path: &str, key: &str, known: &[&'static str]) -> Error {
    let error = Error::new(ErrorCode::UnknownField, format!("unknown field {}", quote(key))).at(pointer(path, key));
    match nearest(key, known.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// Makes the error for a value of the wrong type.
pub fn wrong_type(path: &str, wanted: &str, got: &Value) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("expected {wanted}, got {}", type_name(got))).at(path)
}

/// Reads a string within the size limit.
///
/// # Errors
/// `INVALID_INPUT` for another type, `TOO_LARGE` beyond the limit of a string.
pub fn as_string(value: Value, path: &str) -> Result<String> {
    match value {
        Value::String(text) if text.len() > limits::MAX_STRING_BYTES => Err(Error::new(
            ErrorCode::TooLarge,
            format!("string has {} bytes, the limit is {}", text.len(), limits::MAX_STRING_BYTES),
        )
        .at(path)),
        Value::String(text) => Ok(text),
        other => Err(wrong_type(path, "a string", &other)),
    }
}

/// Reads a whole number of `0..=max`; a float without fraction counts, as JavaScript has no other numbers.
///
/// # Errors
/// `INVALID_INPUT` for another type, `OUT_OF_RANGE` beyond the bounds.
pub fn as_uint(value: &Value, path: &str, max: u64) -> Result<u64> {
    let out_of_range =
        || Error::new(ErrorCode::OutOfRange, format!("expected a whole number from 0 to {max}, got {value}")).at(path);
    match value {
        Value::Number(number) => {
            let whole = number
                .as_u64()
                .or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n)).map(|n| n as u64));
            whole.filter(|n| *n <= max).ok_or_else(out_of_range)
        }
        other => Err(wrong_type(path, "a whole number", other)),
    }
}

/// Reads a finite number within a range.
///
/// # Errors
/// `INVALID_INPUT` for another type, `OUT_OF_RANGE` beyond the bounds.
pub fn as_number(value: &Value, path: &str, min: f64, max: f64) -> Result<f64> {
    match value.as_f64() {
        Some(number) if number.is_finite() && (min..=max).contains(&number) => Ok(number),
        Some(_) => {
            let (min, max) = (plain_text(min), plain_text(max));
            let message = format!("expected a number from {min} to {max}, got {value}");
            Err(Error::new(ErrorCode::OutOfRange, message).at(path))
        }
        None => Err(wrong_type(path, "a number", value)),
    }
}

/// Writes JSON with sorted keys, non-ASCII escaped; `indent` spaces per level, or one line with `", "` and `": "`.
///
/// The same bytes as Python's `json.dumps(value, sort_keys=True, indent=indent)`, which prompts of contextweaver 0.18 contain.
pub fn to_sorted_ascii(value: &Value, indent: Option<usize>) -> String {
    let mut out = String::new();
    write_ascii(&mut out, value, JsonLayout { indent, sorted: true, spaced: true }, 0);
    out
}

/// Writes JSON as [`to_sorted_ascii`] does on one line, without spaces: what keys and sizes of 0.18 are made of.
pub fn to_sorted_compact(value: &Value) -> String {
    let mut out = String::new();
    write_ascii(&mut out, value, JsonLayout { indent: None, sorted: true, spaced: false }, 0);
    out
}

#[derive(Clone, Copy)]
struct JsonLayout {
    indent: Option<usize>,
    sorted: bool,
    /// Whether a space follows `:` and, on one line, `,`.
    spaced: bool,
}

fn write_ascii(out: &mut String, value: &Value, layout: JsonLayout, level: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_ascii_string(out, text),
        Value::Array(list) if list.is_empty() => out.push_str("[]"),
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Array(list) => {
            out.push('[');
            for (index, entry) in list.iter().enumerate() {
                break_line(out, layout, level + 1, index > 0);
                write_ascii(out, entry, layout, level + 1);
            }
            break_line(out, layout, level, false);
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            if layout.sorted {
                contextweaver_base::order::sort(&mut keys);
            }
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                break_line(out, layout, level + 1, index > 0);
                write_ascii_string(out, key);
                out.push_str(if layout.spaced { ": " } else { ":" });
                write_ascii(out, &map[key], layout, level + 1);
            }
            break_line(out, layout, level, false);
            out.push('}');
        }
    }
}

fn break_line(out: &mut String, layout: JsonLayout, level: usize, comma: bool) {
    match layout.indent {
        Some(width) => {
            if comma {
                out.push(',');
            }
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * level));
        }
        None if comma => out.push_str(if layout.spaced { ", " } else { "," }),
        None => {}
    }
}

fn write_ascii_string(out: &mut String, text: &str) {
    out.push('"');
    for ch in text.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(ch),
            _ => {
                let mut units = [0_u16; 2];
                for unit in ch.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// Writes a number as Python does: floats keep `.0`, exponents have a sign and two digits.
pub fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_text(float),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_unknown_field_is_told_with_what_it_may_stand_for() {
        let hint = |given: Value| {
            let mut fields = Fields::open(given, "").unwrap();
            fields.opt_string("query").unwrap();
            fields.opt_uint("budget_tokens", 9).unwrap();
            fields.finish().unwrap_err().to_json()["hint"].take()
        };
        assert_eq!(hint(json!({ "budgetTokens": 1 })), "did you mean `budget_tokens`?");
        assert_eq!(hint(json!({ "colour": 1 })), Value::Null);
        // One that is there is not what was meant.
        assert_eq!(hint(json!({ "query": "a", "qeury": "b" })), Value::Null);
        let closed = Fields::open_closed(json!({ "phse": 1 }), "/a", &["phase"]).err().unwrap();
        assert_eq!((closed.path(), &closed.to_json()["hint"]), ("/a/phse", &json!("did you mean `phase`?")));
    }

    #[test]
    fn a_missing_field_is_told_with_what_may_stand_for_it() {
        let missing = |given: Value| {
            let mut fields = Fields::open(given, "/items/0").unwrap();
            let error = fields.parsed("item_kind", crate::ItemKind::parse).unwrap_err();
            assert_eq!((error.code(), error.path()), (ErrorCode::MissingField, "/items/0/item_kind"));
            error.hint_text().unwrap_or_default().to_owned()
        };
        assert_eq!(missing(json!({ "itemKind": "policy" })), "there is `itemKind`; did you mean `item_kind`?");
        for given in [json!({ "text": "a" }), json!({ "itemKind": null, "item_kind": null })] {
            assert!(missing(given).starts_with("one of: user_turn agent_msg"));
        }
        let mut fields = Fields::open(json!({ "Name": "a" }), "").unwrap();
        let hint = Some("there is `Name`; did you mean `name`?");
        assert_eq!(fields.required("name").unwrap_err().hint_text(), hint);
        assert_eq!(fields.string("name").unwrap_err().hint_text(), hint);
        assert_eq!(fields.string("text").unwrap_err().hint_text(), None);
    }

    #[test]
    fn sorted_ascii_matches_the_reference_layout() {
        let value = json!({"b": [1, 2.0, 1e-7, 1e16], "a": {"k": "naïve\u{7f}😀"}, "e": [], "o": {}});
        assert_eq!(
            to_sorted_ascii(&value, None),
            r#"{"a": {"k": "na\u00efve\u007f\ud83d\ude00"}, "b": [1, 2.0, 1e-07, 1e+16], "e": [], "o": {}}"#
        );
        assert_eq!(
            to_sorted_ascii(&json!({"z": null, "a": [1]}), Some(2)),
            "{\n  \"a\": [\n    1\n  ],\n  \"z\": null\n}"
        );
        assert_eq!(to_sorted_compact(&json!({"z": "ü", "a": [1, {"b": 2.0}]})), r#"{"a":[1,{"b":2.0}],"z":"\u00fc"}"#);
    }

    #[test]
    fn depth_is_bounded_and_strings_do_not_count() {
        let deep = "[".repeat(limits::MAX_DEPTH + 5);
        assert_eq!(parse(&deep).unwrap_err().code(), ErrorCode::TooDeep);
        assert!(parse(&format!("\"{}\"", "[".repeat(500))).is_ok());
        assert!(parse(&format!("\"\\\"{}\"", "[".repeat(500))).is_ok());
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(as_uint(&json!(3.0), "/n", 10).unwrap(), 3);
        for bad in [json!(-1), json!(1.5), json!(11)] {
            assert_eq!(as_uint(&bad, "/n", 10).unwrap_err().code(), ErrorCode::OutOfRange);
        }
        assert_eq!(as_uint(&json!("3"), "/n", 10).unwrap_err().code(), ErrorCode::InvalidInput);
    }
}
