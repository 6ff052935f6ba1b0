//! What part of a text is asked for.

use serde_json::Value;

use super::json::JsonPath;
use crate::digest::columns::number;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap, as_number, as_uint, parse_float, there_are, wrong_type};
use contextweaver_text::pattern::{Dialect, Pattern};
use contextweaver_text::quote::quote;

/// A part of a text, as read from `{"type": ..., ...}`.
///
/// | Type | Fields | Part |
/// |---|---|---|
/// | `head` | `chars` 500, `start` 0 | characters from the beginning, or from `start` |
/// | `tail` | `chars` 500, `end` | characters before the end, or before `end` |
/// | `lines` | `start`, `end` | lines |
/// | `around` | `line`, `context` 6 | a line and those about it |
/// | `rows` | `start`, `end`, `columns`, `where`, `header` true | records of a table, of NDJSON, of the array in a JSON text; else lines |
/// | `json_keys` | `keys` | members of a JSON object |
/// | `json_path` | `path` | what a path leads to; several values as an array |
/// | `search` | `text` or `pattern`, either an expression with `regex` (false), `ignore_case` false, `context` 2, `max_hits` 20 | lines or JSON values that match |
/// | `columns` | | names and types of columns |
/// | `stats` | `columns` | counts, ranges and frequent values of columns |
/// | `outline` | | headings, keys, files, levels: what the text consists of |
///
/// Everything but `head`, `tail` and `around` also takes `start` and `end` over its own units, and `offset`, the
/// characters of the first unit that were shown before; a slice that was cut returns the selector that goes on.
/// Lines and rows count from 0, the header of a table being row 0; a negative bound counts from the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    pub(super) kind: SelectorKind,
    pub(super) range: UnitRange,
    /// Where the selector stands in the request, for errors that only the text brings to light.
    pub(super) path: String,
    /// The selector as it was written.
    given: JsonMap,
}

/// Units from, up to, and the characters of the first one to leave out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct UnitRange {
    pub start: i64,
    pub end: Option<i64>,
    pub offset: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SelectorKind {
    Head { start: usize, chars: usize },
    Tail { end: Option<usize>, chars: usize },
    Lines,
    Rows { columns: Vec<String>, conditions: Vec<RowCondition>, header: bool },
    JsonKeys(Vec<String>),
    JsonPath(JsonPath),
    Search { pattern: Pattern, context: usize, max_hits: usize },
    Columns,
    Stats(Vec<String>),
    Outline,
}

/// What a row must fulfil: a column compared with a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowCondition {
    pub column: String,
    op: u8,
    text: String,
    /// Of a number that was given as one.
    equal: Option<f64>,
    /// Of what orders cells as numbers.
    number: Option<f64>,
}

const OPERATORS: &[&str] = &["=", "!=", "<", "<=", ">", ">=", "contains"];
/// Types of selectors, between spaces.
pub const SELECTORS: &str = "head tail lines around rows json_keys json_path search columns stats outline";
/// Characters, lines, rows and hits are counted up to here, which leaves room for a context in 32 bits.
const MAX: u64 = (1 << 31) - MAX_CONTEXT - 2;
/// Largest whole number of which each smaller one is a number of its own.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
const MAX_HITS: u64 = 1000;
const MAX_CONTEXT: u64 = 1000;

impl Selector {
    /// Reads a closed selector: an unknown field is an error.
    ///
    /// # Errors
    /// `UNSUPPORTED` at `<path>/type` for an unknown type; `INVALID_INPUT`, `MISSING_FIELD`, `UNKNOWN_FIELD` and
    /// `OUT_OF_RANGE` at the field; `TOO_LARGE` for a pattern that is too long.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let example = value["type"].as_str().and_then(example_of);
        Self::read(value, path).map_err(|error| match example.filter(|_| error.code() == ErrorCode::MissingField) {
            Some(example) if error.hint_text().is_none() => error.hint(format!("such as {example}")),
            _ => error,
        })
    }

    fn read(value: Value, path: &str) -> Result<Self> {
        let given = value.as_object().cloned().unwrap_or_default();
        let mut fields = Fields::open(value, path)?;
        let name = fields.string_or("type", "")?;
        if name == "around" {
            return Self::around(fields);
        }
        let count = |fields: &mut Fields, key: &'static str, default: u64, max: u64| {
            fields.uint_or(key, default, max).map(|count| count as usize)
        };
        let kind = match name.as_str() {
            "head" => SelectorKind::Head {
                start: count(&mut fields, "start", 0, MAX)?,
                chars: count(&mut fields, "chars", 500, MAX)?,
            },
            "tail" => SelectorKind::Tail {
                end: fields.opt_uint("end", MAX)?.map(|end| end as usize),
                chars: count(&mut fields, "chars", 500, MAX)?,
            },
            "lines" => SelectorKind::Lines,
            "rows" => SelectorKind::Rows {
                columns: fields.strings("columns")?,
                conditions: fields.records("where", RowCondition::from_value)?,
                header: fields.bool_or("header", true)?,
            },
            "json_keys" if !fields.has("keys") => return Err(fields.missing("keys")),
            "json_keys" => SelectorKind::JsonKeys(fields.strings("keys")?),
            "json_path" => SelectorKind::JsonPath(JsonPath::parse(&fields.string("path")?, &fields.at("path"))?),
            "search" => SelectorKind::Search {
                pattern: pattern(&mut fields)?,
                context: count(&mut fields, "context", 2, MAX_CONTEXT)?,
                max_hits: count(&mut fields, "max_hits", 20, MAX_HITS)?,
            },
            "columns" => SelectorKind::Columns,
            "stats" => SelectorKind::Stats(fields.strings("columns")?),
            "outline" => SelectorKind::Outline,
            other => {
                return Err(Error::new(ErrorCode::Unsupported, format!("unknown selector {}", quote(other)))
                    .at(fields.at("type"))
                    .hint(format!("one of: {SELECTORS}")));
            }
        };
        let mut range = UnitRange::default();
        if !matches!(kind, SelectorKind::Head { .. } | SelectorKind::Tail { .. }) {
            range.start = bound(&mut fields, "start")?.unwrap_or(0);
            range.end = bound(&mut fields, "end")?;
            range.offset = count(&mut fields, "offset", 0, MAX)?;
        }
        let path = fields.path().to_owned();
        fields.finish()?;
        Ok(Self { kind, range, path, given })
    }

    /// Returns the selector of all columns.
    pub(super) fn columns() -> Self {
        Self { kind: SelectorKind::Columns, range: UnitRange::default(), path: String::new(), given: JsonMap::new() }
    }

    /// Reads `around`, which is another way to write `lines`.
    fn around(mut fields: Fields) -> Result<Self> {
        let line = as_uint(&fields.require("line")?, &fields.at("line"), MAX)? as usize;
        let context = fields.uint_or("context", 6, MAX_CONTEXT)? as usize;
        let path = fields.path().to_owned();
        fields.finish()?;
        let (start, end) = (line.saturating_sub(context), line + context + 1);
        let given = JsonMap::from_iter([("type".to_owned(), "lines".into())]);
        let range = UnitRange { start: start.cast_signed() as i64, end: Some(end.cast_signed() as i64), offset: 0 };
        Ok(Self { kind: SelectorKind::Lines, range, path, given })
    }

    /// Returns the selector with other numbers in it, to go on where a slice was cut.
    pub(super) fn with(&self, changes: &[(&str, usize)]) -> JsonMap {
        let mut map = self.given.clone();
        map.shift_remove("offset");
        for (key, value) in changes {
            map.insert((*key).to_owned(), (*value).into());
        }
        map
    }

    /// Returns fields as they were written: what is asked, whatever page of the answer.
    pub(super) fn question(&self, fields: &[&str]) -> String {
        let written = |field: &&str| self.given.get(*field).map(Value::to_string).unwrap_or_default();
        fields.iter().map(written).collect::<Vec<_>>().join("\n")
    }

    /// Returns the question that one unit answers.
    pub(super) fn of_unit(&self, place: usize) -> String {
        let mut map = self.with(&[("start", place)]);
        map.shift_remove("end");
        Value::Object(map).to_string()
    }

    /// Makes the error for a column that does not exist.
    pub(super) fn no_column<'a>(&self, name: &str, at: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
        Error::new(ErrorCode::NotFound, format!("no column {}", quote(name)))
            .at(format!("{}{at}", self.path))
            .hint(there_are(name, "column", known))
    }
}

/// Returns a selector of a type that does not do without a field.
fn example_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "around" => r#"{"type":"around","line":120}"#,
        "rows" => r#"{"type":"rows","where":[{"column":"state","op":"=","value":"open"}]}"#,
        "json_keys" => r#"{"type":"json_keys","keys":["total"]}"#,
        "json_path" => r#"{"type":"json_path","path":"items[0].name"}"#,
        "search" => r#"{"type":"search","text":"error"}"#,
        _ => return None,
    })
}

/// Takes a place that may count from the end.
fn bound(fields: &mut Fields, key: &'static str) -> Result<Option<i64>> {
    let Some(value) = fields.take(key) else { return Ok(None) };
    let at = fields.at(key);
    let number = as_number(&value, &at, -(MAX as f64), MAX as f64)?;
    if number.fract() != 0.0 {
        return Err(Error::new(ErrorCode::OutOfRange, "expected a whole number").at(at));
    }
    Ok(Some(number as i64))
}

impl RowCondition {
    fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let column = fields.string("column")?;
        let op = fields.string_or("op", "=")?;
        // As most languages write it.
        let op = if op == "==" { "=".to_owned() } else { op };
        let op = OPERATORS.iter().position(|known| *known == op).ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, format!("unknown operator {}", quote(&op)))
                .at(fields.at("op"))
                .hint(format!("one of: {}", OPERATORS.join(" ")))
        })?;
        let value = fields.take("value").unwrap_or(Value::Null);
        let equal = value.as_f64().filter(|number| is_exact(*number));
        let text = match &value {
            Value::Array(_) | Value::Object(_) => return Err(wrong_type(&fields.at("value"), "a scalar", &value)),
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        fields.finish()?;
        Ok(Self { column, op: op as u8, equal, number: parse_float(text.trim()), text })
    }

    /// Compares a cell. A number equals what is the same number, a text what is the same text, such as a version or an id of more
    /// digits than a number has; an absent or empty cell equals null and `""`. By a number only numbers are ordered.
    pub(super) fn holds(&self, cell: &str) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match self.op {
            0 | 1 => self.equals(cell) == (self.op == 0),
            6 => cell.contains(&self.text),
            _ => {
                let order = match self.number {
                    Some(wanted) => number(cell.trim()).and_then(|number| number.partial_cmp(&wanted)),
                    None => Some(cell.cmp(&self.text)),
                };
                match self.op {
                    2 => order == Some(Less),
                    3 => matches!(order, Some(Less | Equal)),
                    4 => order == Some(Greater),
                    _ => matches!(order, Some(Greater | Equal)),
                }
            }
        }
    }

    fn equals(&self, cell: &str) -> bool {
        let is_same = |wanted: f64| {
            parse_float(cell.trim()).is_some_and(|number| {
                is_exact(number) && number.partial_cmp(&wanted) == Some(std::cmp::Ordering::Equal)
            })
        };
        cell.trim() == self.text.trim() || self.equal.is_some_and(is_same)
    }
}

/// Tells whether no whole number beside this one is read as the same.
fn is_exact(number: f64) -> bool {
    number.abs() <= MAX_EXACT
}

/// Takes `text` or `pattern`, with `regex` and `ignore_case`. An expression may stand in either.
fn pattern(fields: &mut Fields) -> Result<Pattern> {
    let regex = fields.bool_or("regex", false)?;
    let fold = fields.bool_or("ignore_case", false)?;
    let key = if fields.has("pattern") && (regex || !fields.has("text")) { "pattern" } else { "text" };
    let source = fields.string(key)?;
    let pattern = if source.is_empty() {
        Err(Error::new(ErrorCode::InvalidInput, "nothing to search for"))
    } else if regex {
        Pattern::expression(&source, Dialect::Lines, fold)
    } else {
        Pattern::text(&source, fold)
    };
    pattern.map_err(|error| error.at(fields.at(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_are_closed_and_checked() {
        use ErrorCode::{InvalidInput, MissingField, OutOfRange, UnknownField, Unsupported};
        let cases = [
            (json!({"type": "head", "chars": -2}), OutOfRange, "/s/chars"),
            (json!({"type": "head", "chars": true}), InvalidInput, "/s/chars"),
            (json!({"type": "head", "end": 2}), UnknownField, "/s/end"),
            (json!({"type": "lines", "start": 1.5}), OutOfRange, "/s/start"),
            (json!({"type": "lines", "start": "1"}), InvalidInput, "/s/start"),
            (json!({"type": "rows", "where": [{"column": "a", "op": "~"}]}), InvalidInput, "/s/where/0/op"),
            (json!({"type": "rows", "where": [{"op": "="}]}), MissingField, "/s/where/0/column"),
            (json!({"type": "rows", "where": [{"column": "a", "value": []}]}), InvalidInput, "/s/where/0/value"),
            (json!({"type": "json_keys", "keys": "ab"}), InvalidInput, "/s/keys"),
            (json!({"type": "json_keys"}), MissingField, "/s/keys"),
            (json!({"type": "json_path"}), MissingField, "/s/path"),
            (json!({"type": "json_path", "path": "a["}), InvalidInput, "/s/path"),
            (json!({"type": "search"}), MissingField, "/s/text"),
            (json!({"type": "search", "text": ""}), InvalidInput, "/s/text"),
            (json!({"type": "search", "text": "a", "pattern": "b"}), UnknownField, "/s/pattern"),
            (json!({"type": "search", "pattern": "(", "regex": true}), InvalidInput, "/s/pattern"),
            (json!({"type": "search", "text": "(", "regex": true}), InvalidInput, "/s/text"),
            (json!({"type": "search", "text": "a", "pattern": "b", "regex": true}), UnknownField, "/s/text"),
            (json!({"type": "search", "text": "a", "max_hits": 1001}), OutOfRange, "/s/max_hits"),
            (json!({"type": "around"}), MissingField, "/s/line"),
            (json!({"type": "around", "line": -1}), OutOfRange, "/s/line"),
            (json!({"type": "Head"}), Unsupported, "/s/type"),
            (json!({}), Unsupported, "/s/type"),
            (json!([]), InvalidInput, "/s"),
        ];
        for (value, code, path) in cases {
            let error = Selector::from_value(value.clone(), "/s").unwrap_err();
            assert_eq!((error.code(), error.path()), (code, path), "{value}");
        }
    }

    #[test]
    fn what_lacks_a_field_is_shown_one_that_has_it() {
        for lacking in [
            json!({"type": "around", "context": 3}),
            json!({"type": "rows", "where": [{"op": "=", "value": 1}]}),
            json!({"type": "json_keys"}),
            json!({"type": "json_path"}),
            json!({"type": "search", "regex": true}),
        ] {
            let error = Selector::from_value(lacking.clone(), "").unwrap_err();
            let example = error.hint_text().unwrap().strip_prefix("such as ").unwrap();
            let example: Value = serde_json::from_str(example).unwrap();
            assert_eq!(example["type"], lacking["type"]);
            assert!(Selector::from_value(example, "").is_ok(), "{lacking}");
        }
        // A field that is only misspelt is worth more than an example.
        let error = Selector::from_value(json!({"type": "json_path", "Path": "a"}), "").unwrap_err();
        assert_eq!(error.hint_text(), Some("there is `Path`; did you mean `path`?"));
    }

    #[test]
    fn conditions_compare_numbers_as_numbers() {
        let holds = |op: &str, value: Value, cell: &str| {
            RowCondition::from_value(json!({ "column": "c", "op": op, "value": value }), "").unwrap().holds(cell)
        };
        assert!(holds("==", json!(1), "1") && !holds("==", json!("a"), "b"));
        assert!(holds("=", json!(1), "1.0") && holds("<", json!(10), "9") && holds(">=", json!("2026-01"), "2026-02"));
        assert!(holds("=", json!(true), "true") && holds("=", json!(null), "") && holds("!=", json!("a"), "b"));
        assert!(holds("contains", json!("ell"), "hello") && !holds("contains", json!("x"), "hello"));
        assert!(!holds("<", json!("b"), "c") && holds(">", json!("10"), "11") && !holds(">", json!("10"), "9"));
        // Ids of 64 bits and versions are what they are written as.
        let id = "1234567890123456789";
        for value in [json!(id), json!(1_234_567_890_123_456_789_u64)] {
            assert!(holds("=", value.clone(), id) && holds("!=", value, "1234567890123456788"));
        }
        assert!(holds("=", json!("1.10"), "1.10") && holds("!=", json!("1.10"), "1.1"));
        for (op, cell) in [(">", "n/a"), ("<", ""), ("<=", "x"), (">=", "null"), (">", "6,50"), ("<", "4 %")] {
            assert_eq!(holds(op, json!(5), cell), matches!(cell, "6,50" | "4 %"), "{cell} {op} 5");
        }
    }
}
