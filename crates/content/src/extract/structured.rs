//! Facts about the shape of a text: keys and columns of JSON, sections and entities of everything else.

use serde_json::Value;

use super::entities::{emails, numbers, sections, urls};
use super::lines::key_values;
use contextweaver_base::limits;
use contextweaver_model::json::{self, JsonMap, number_text, type_name};
use contextweaver_text::lines::lines;
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
/// Bytes from which on [`VALUE_CHARS`] characters are certain: one takes at most four.
const ENOUGH_BYTES: usize = 4 * VALUE_CHARS;

/// Describes a text in a few short facts.
#[derive(Debug, Clone)]
pub struct StructuredExtractor {
    /// Most characters of all facts together. The first fact that does not fit is left out, and so are those behind it.
    pub max_chars: usize,
}

impl Default for StructuredExtractor {
    fn default() -> Self {
        Self { max_chars: limits::SUMMARY_CHARS }
    }
}

impl StructuredExtractor {
    /// Returns facts about keys and columns of JSON, or about sections and entities of other text.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_content::extract::StructuredExtractor;
    ///
    /// let facts = StructuredExtractor::default().extract(r#"{"order": 12446, "lines": [1, 2]}"#);
    /// assert_eq!(facts, ["type: object (2 keys)", "order: number = 12446", "lines: array[2]"]);
    /// ```
    pub fn extract(&self, text: &str) -> Vec<String> {
        let text = unicode::trim(text);
        let mut facts = match parse_container(text) {
            Some(Value::Object(map)) => Self::of_object(&map),
            Some(Value::Array(list)) => Self::of_list(&list),
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
        facts
    }

    fn of_object(map: &JsonMap) -> Vec<String> {
        let mut facts = vec![format!("type: object ({} keys)", map.len())];
        facts.extend(map.iter().take(KEYS).map(|(key, value)| match value {
            Value::Array(list) => format!("{key}: array[{}]", list.len()),
            Value::Object(inner) => format!("{key}: object({} keys)", inner.len()),
            _ => format!("{key}: {} = {}", type_name(value), show(value, VALUE_CHARS)),
        }));
        facts
    }

    fn of_list(list: &[Value]) -> Vec<String> {
        let mut facts = vec![format!("type: array ({} items)", list.len())];
        let Some(Value::Object(first)) = list.first() else { return facts };
        let columns: Vec<&str> = first.keys().map(String::as_str).take(KEYS).collect();
        facts.push(format!("columns: {}", columns.join(", ")));
        for row in list.iter().take(ROWS) {
            // An element that is no object has no row.
            let Value::Object(row) = row else { continue };
            let cell = |column: &&str| {
                let value = row.get(*column).map(|value| show(value, CELL_CHARS));
                format!("{column}={}", value.unwrap_or_default())
            };
            let cells: Vec<String> = columns.iter().take(CELLS).map(cell).collect();
            facts.push(format!("  row: {}", cells.join(", ")));
        }
        facts
    }
}

fn show(value: &Value, chars: usize) -> String {
    let mut out = String::new();
    match value {
        Value::String(text) => out.push_str(prefix(text, chars)),
        _ => write_value(&mut out, value),
    }
    out.truncate(prefix(&out, chars).len());
    out
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

/// Writes a value; stops soon after [`ENOUGH_BYTES`].
fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_string(out, text),
        Value::Array(list) => {
            out.push('[');
            for (index, entry) in list.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if out.len() > ENOUGH_BYTES {
                    return;
                }
                write_value(out, entry);
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
                write_string(out, key);
                out.push_str(": ");
                write_value(out, entry);
            }
            out.push('}');
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push_str(&Value::from(prefix(text, ENOUGH_BYTES)).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Vec<String> {
        StructuredExtractor::default().extract(text)
    }

    #[test]
    fn json_is_shown_as_json() {
        let object = r#" {"s": "it's", "i": 3, "f": 1e22, "t": true, "n": null, "l": [1], "o": {}} "#;
        assert_eq!(
            facts(object).join(" | "),
            "type: object (7 keys) | s: string = it's | i: number = 3 | f: number = 1e+22 | t: boolean = true \
             | n: null = null | l: array[1] | o: object(0 keys)"
        );
        let table = [
            (r#"[{"a": ["it's", true]}]"#, r#"["it's", true]"#),
            (r#"[{"a": {"'\"": null}}]"#, r#"{"'\"": null}"#),
            (r#"[{"a": ["\u0001\u00a0\u200b"]}]"#, "[\"\\u0001\u{a0}\u{200b}\"]"),
            (r#"[{"a": ["e\u0301😀\n\\"]}]"#, "[\"e\u{301}😀\\n\\\\\"]"),
        ];
        for (text, wanted) in table {
            assert_eq!(facts(text)[2], format!("  row: a={wanted}"));
        }
    }

    #[test]
    fn rows_that_are_no_objects() {
        let text = r#"[{"a": 1}, null, {"a": 2, "b": 3}, {"a": 4}]"#;
        assert_eq!(facts(text), ["type: array (4 items)", "columns: a", "  row: a=1", "  row: a=2"]);
        assert_eq!(facts("[1, {}]"), ["type: array (2 items)"]);
        assert_eq!(facts("[{}, 1]"), ["type: array (2 items)", "columns: ", "  row: "]);
    }

    #[test]
    fn large_values_are_not_written_out() {
        let inner = format!("[{}]", vec!["\"žž\""; 500_000].join(","));
        let text = format!("[{{{}}}]", ["a", "b", "c", "d"].map(|key| format!("\"{key}\":{inner}")).join(","));
        assert_eq!(facts(&text)[2].chars().count(), "  row: a=, b=, c=, d=".len() + 4 * CELL_CHARS);
    }
}
