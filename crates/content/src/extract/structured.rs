//! Facts about the shape of a text: keys and columns of JSON, sections and entities of everything else.

use serde_json::Value;

use super::entities::{emails, numbers, sections, urls};
use super::lines::key_values;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{self, JsonMap, number_text};
use contextweaver_text::lines::lines;
use contextweaver_text::python::push_quoted;
use contextweaver_text::unicode::{self, prefix};

/// Characters shown of a value of an object.
const VALUE_CHARS: usize = 60;
/// Characters shown of a value in a row.
const CELL_CHARS: usize = 20;
/// Keys of an object, or columns of a table, that are named.
const KEYS: usize = 10;
/// Columns that are shown of a row.
const CELLS: usize = 5;
/// Rows that are shown of a table.
const ROWS: usize = 3;
/// Bytes that hold [`VALUE_CHARS`] characters in any case.
const ENOUGH_BYTES: usize = 4 * VALUE_CHARS;

/// Describes a text in a few short facts.
#[derive(Debug, Clone)]
pub struct StructuredExtractor {
    /// Characters of all facts together; those from the first one on that does not fit are left out.
    pub max_chars: usize,
    /// How values and their types are written.
    pub notation: Notation,
    /// Whether an element of a list of objects that is none has no row; otherwise it is an error.
    pub skips_other_rows: bool,
}

/// How values and their types are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// As in JSON: `null`, `object`.
    Json,
    /// As in Python: `None`, `dict`.
    Python,
}

impl Notation {
    fn is_python(self) -> bool {
        self == Self::Python
    }
}

impl Default for StructuredExtractor {
    fn default() -> Self {
        Self { max_chars: limits::SUMMARY_CHARS, notation: Notation::Json, skips_other_rows: true }
    }
}

impl StructuredExtractor {
    /// Returns facts about keys and columns of JSON, or about sections and entities of other text.
    ///
    /// # Errors
    /// `INVALID_INPUT`, unless such rows are skipped, where a list starts with an object that has keys and one of the next two
    /// elements is none.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_content::extract::StructuredExtractor;
    ///
    /// let facts = StructuredExtractor::default().extract(r#"{"order": 12446, "lines": [1, 2]}"#)?;
    /// assert_eq!(facts, ["type: object (2 keys)", "order: number = 12446", "lines: array[2]"]);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn extract(&self, text: &str) -> Result<Vec<String>> {
        let text = unicode::trim(text);
        let mut facts = match parse_container(text) {
            Some(Value::Object(map)) => self.of_object(&map),
            Some(Value::Array(list)) => self.of_list(&list)?,
            _ if text.is_empty() => Vec::new(),
            _ => of_text(text),
        };
        let mut chars = 0;
        let too_many = |fact: &String| {
            chars += fact.chars().count();
            chars > self.max_chars
        };
        let count = facts.iter().position(too_many).unwrap_or(facts.len());
        facts.truncate(count);
        Ok(facts)
    }

    fn of_object(&self, map: &JsonMap) -> Vec<String> {
        let mut facts = vec![format!("type: object ({} keys)", map.len())];
        facts.extend(map.iter().take(KEYS).map(|(key, value)| match value {
            Value::Array(list) => format!("{key}: array[{}]", list.len()),
            Value::Object(inner) => format!("{key}: object({} keys)", inner.len()),
            _ => format!("{key}: {} = {}", type_name(value, self.notation), self.show(value, VALUE_CHARS)),
        }));
        facts
    }

    fn of_list(&self, list: &[Value]) -> Result<Vec<String>> {
        let mut facts = vec![format!("type: array ({} items)", list.len())];
        let Some(Value::Object(first)) = list.first() else { return Ok(facts) };
        let columns: Vec<&str> = first.keys().map(String::as_str).take(KEYS).collect();
        facts.push(format!("columns: {}", columns.join(", ")));
        for row in list.iter().take(ROWS) {
            let object = row.as_object();
            if object.is_none() && self.skips_other_rows {
                continue;
            }
            // Without columns nothing is looked for in the row.
            if object.is_none() && !columns.is_empty() {
                return Err(Error::new(ErrorCode::InvalidInput, "a row of the list is not an object"));
            }
            let cell = |column: &&str| {
                let value = object.and_then(|row| row.get(*column)).map(|value| self.show(value, CELL_CHARS));
                format!("{column}={}", value.unwrap_or_default())
            };
            let cells: Vec<String> = columns.iter().take(CELLS).map(cell).collect();
            facts.push(format!("  row: {}", cells.join(", ")));
        }
        Ok(facts)
    }

    fn show(&self, value: &Value, chars: usize) -> String {
        let mut out = String::new();
        match value {
            Value::String(text) => out.push_str(prefix(text, chars)),
            _ => write_value(&mut out, value, self.notation),
        }
        out.truncate(prefix(&out, chars).len());
        out
    }
}

/// Parses a text that starts as a JSON object or list does; `None` where it is neither.
pub fn parse_container(text: &str) -> Option<Value> {
    if text.starts_with(['{', '[']) { json::parse(text).ok() } else { None }
}

fn of_text(text: &str) -> Vec<String> {
    let mut facts = vec![format!("line_count: {}", lines(text).count())];
    for (name, found) in
        [("sections", sections(text)), ("emails", emails(text)), ("urls", urls(text)), ("numbers", numbers(text))]
    {
        if !found.is_empty() {
            facts.push(format!("{name}: {}", found.join(", ")));
        }
    }
    facts.extend(key_values(text).into_iter().map(|(key, value)| format!("{key}: {value}")));
    facts
}

/// Names the type of a value.
pub(super) fn type_name(value: &Value, notation: Notation) -> &'static str {
    match value {
        _ if notation == Notation::Json => json::type_name(value),
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// Writes a value; stops soon after [`ENOUGH_BYTES`].
fn write_value(out: &mut String, value: &Value, notation: Notation) {
    match value {
        Value::Null => out.push_str(if notation.is_python() { "None" } else { "null" }),
        Value::Bool(true) => out.push_str(if notation.is_python() { "True" } else { "true" }),
        Value::Bool(false) => out.push_str(if notation.is_python() { "False" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_string(out, text, notation),
        Value::Array(list) => {
            out.push('[');
            for (index, entry) in list.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if out.len() > ENOUGH_BYTES {
                    return;
                }
                write_value(out, entry, notation);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, entry)) in map.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if out.len() > ENOUGH_BYTES {
                    return;
                }
                write_string(out, key, notation);
                out.push_str(": ");
                write_value(out, entry, notation);
            }
            out.push('}');
        }
    }
}

fn write_string(out: &mut String, text: &str, notation: Notation) {
    if !notation.is_python() {
        return out.push_str(&Value::from(prefix(text, ENOUGH_BYTES)).to_string());
    }
    push_quoted(out, text, ENOUGH_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: StructuredExtractor =
        StructuredExtractor { max_chars: 500, notation: Notation::Python, skips_other_rows: false };

    fn facts(text: &str, python: bool) -> Vec<String> {
        let extractor = if python { PYTHON } else { StructuredExtractor::default() };
        extractor.extract(text).unwrap()
    }

    #[test]
    fn json_is_shown_in_either_notation() {
        let object = r#" {"s": "it's", "i": 3, "f": 1e22, "t": true, "n": null, "l": [1], "o": {}} "#;
        let shown = |python| facts(object, python).join(" | ");
        assert_eq!(
            shown(true),
            "type: object (7 keys) | s: str = it's | i: int = 3 | f: float = 1e+22 | t: bool = True | n: NoneType = None \
             | l: array[1] | o: object(0 keys)"
        );
        assert_eq!(
            shown(false),
            "type: object (7 keys) | s: string = it's | i: number = 3 | f: number = 1e+22 | t: boolean = true \
             | n: null = null | l: array[1] | o: object(0 keys)"
        );
        let table = [
            (r#"[{"a": ["it's", true]}]"#, r#"["it's", True]"#, r#"["it's", true]"#),
            (r#"[{"a": {"'\"": null}}]"#, r#"{'\'"': None}"#, r#"{"'\"": null}"#),
            (r#"[{"a": ["\u0001\u00a0\u200b"]}]"#, r"['\x01\xa0\u200b']", "[\"\\u0001\u{a0}\u{200b}\"]"),
            (r#"[{"a": ["e\u0301😀\n\\"]}]"#, "['e\u{301}😀\\n\\\\']", "[\"e\u{301}😀\\n\\\\\"]"),
        ];
        for (text, python, json) in table {
            assert_eq!(facts(text, true)[2], format!("  row: a={python}"));
            assert_eq!(facts(text, false)[2], format!("  row: a={json}"));
        }
    }

    #[test]
    fn rows_that_are_no_objects() {
        let text = r#"[{"a": 1}, null, {"a": 2, "b": 3}, {"a": 4}]"#;
        assert_eq!(facts(text, false), ["type: array (4 items)", "columns: a", "  row: a=1", "  row: a=2"]);
        assert!(PYTHON.extract(text).is_err());
        assert_eq!(facts("[1, {}]", true), ["type: array (2 items)"]);
        assert_eq!(facts("[{}, 1]", true), ["type: array (2 items)", "columns: ", "  row: ", "  row: "]);
        assert_eq!(facts("[{}, 1]", false), ["type: array (2 items)", "columns: ", "  row: "]);
    }

    #[test]
    fn large_values_are_not_written_out() {
        let inner = format!("[{}]", vec!["\"žž\""; 500_000].join(","));
        let text = format!("[{{{}}}]", ["a", "b", "c", "d"].map(|key| format!("\"{key}\":{inner}")).join(","));
        assert_eq!(facts(&text, true)[2].chars().count(), "  row: a=, b=, c=, d=".len() + 4 * CELL_CHARS);
    }
}
