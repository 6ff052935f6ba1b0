//! Shorter spellings of a text that lose nothing: JSON without white space, lists of like objects as tables, repeated
//! lines once.
//!
//! A table stands where the list stood: `[2]{id,note}` and then one line per object, its values separated by commas.
//! No JSON text holds `[2]{`, so it cannot be mistaken. A value is written as in JSON; a string may go without quotes
//! when it holds no comma, quote or backslash, is not empty, does not begin with a bracket, has no white space at its
//! ends and does not read as a number, `true`, `false` or `null`. Nothing between two commas: the object has no such
//! member. After the last line the JSON goes on. NDJSON becomes one table after the word `ndjson`.

use std::borrow::Cow;

use super::sniff::{Shape, SniffedText};
use super::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_text::tokens::Estimator;

/// Objects from which on a list becomes a table.
const MIN_ROWS: usize = 3;
/// Columns of a table.
const MAX_COLUMNS: usize = 64;
/// What precedes the table of an NDJSON text.
const NDJSON: &str = "ndjson";

/// A shorter spelling of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshaped {
    /// The text in its shorter spelling.
    pub text: String,
    /// How it was made: `minified`, `table` or `folded`.
    pub form: &'static str,
}

/// Spells a text shorter without losing anything; `None` when that is not possible.
///
/// ```
/// use contextweaver_content::{Shape, reshape};
///
/// let json = r#"[{"id": 1, "ok": true}, {"id": 2, "ok": true}, {"id": 3, "ok": false}]"#;
/// let shorter = reshape(json, Shape::Json).unwrap();
/// assert_eq!((shorter.form, shorter.text.as_str()), ("table", "[3]{id,ok}\n1,true\n2,true\n3,false\n"));
/// ```
pub fn reshape(text: &str, shape: Shape) -> Option<Reshaped> {
    reshape_sniffed(&SniffedText::of_shape(text, shape))
}

/// Spells a text as [`reshape()`] does, of a text whose shape is known.
pub fn reshape_sniffed(source: &SniffedText) -> Option<Reshaped> {
    let text = source.text;
    let reshaped = match source.shape {
        Shape::Json => json(source)?,
        Shape::Ndjson => ndjson(text)?,
        Shape::Table(_) => return None,
        _ => Reshaped { text: folded(text)?, form: "folded" },
    };
    let weight = |text: &str| Estimator::V3.quarters(text);
    (reshaped.text.len() < text.len() && weight(&reshaped.text) < weight(text)).then_some(reshaped)
}

fn json(source: &SniffedText) -> Option<Reshaped> {
    let tree = source.tree.as_ref()?;
    let mut writer = TableWriter { out: String::with_capacity(source.text.len()), tables: 0 };
    writer.value(tree.root(), true);
    let form = if writer.tables > 0 { "table" } else { "minified" };
    Some(Reshaped { text: writer.out, form })
}

fn ndjson(text: &str) -> Option<Reshaped> {
    // The text is put together again with one line feed after each line.
    let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
    let trees = lines.iter().map(|line| JsonTree::parse(line)).collect::<Option<Vec<JsonTree>>>()?;
    let rows: Vec<JsonNode> = trees.iter().map(JsonTree::root).collect();
    let columns = columns(&rows)?;
    let mut writer = TableWriter { out: NDJSON.to_owned(), tables: 0 };
    writer.table(&rows, &columns);
    Some(Reshaped { text: writer.out, form: "table" })
}

struct TableWriter {
    out: String,
    tables: usize,
}

impl TableWriter {
    /// Writes a value without white space. Rows hold plain JSON, so that each is one line.
    fn value(&mut self, node: JsonNode, tables: bool) {
        match node.kind() {
            JsonKind::Array => {
                if tables && node.len() >= MIN_ROWS {
                    let rows: Vec<JsonNode> = node.items().collect();
                    if let Some(columns) = columns(&rows) {
                        self.table(&rows, &columns);
                        return;
                    }
                }
                self.list(node, '[', ']', tables);
            }
            JsonKind::Object => self.list(node, '{', '}', tables),
            _ => self.out.push_str(node.raw()),
        }
    }

    fn list(&mut self, node: JsonNode, open: char, close: char, tables: bool) {
        self.out.push(open);
        for (index, (key, value)) in node.entries().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            if let Some(key) = key {
                self.out.push_str(key.raw());
                self.out.push(':');
            }
            self.value(value, tables);
        }
        self.out.push(close);
    }

    fn table(&mut self, rows: &[JsonNode], columns: &[&str]) {
        self.tables += 1;
        self.out.push('[');
        self.out.push_str(&rows.len().to_string());
        self.out.push_str("]{");
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.out.push_str(bare(column).filter(|key| !key.contains('}')).unwrap_or(column));
        }
        self.out.push('}');
        for row in rows {
            self.out.push('\n');
            let mut members = row.entries().peekable();
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    self.out.push(',');
                }
                let Some((_, value)) = members.next_if(|(key, _)| key.is_some_and(|key| key.raw() == *column)) else {
                    continue;
                };
                match bare(value.raw()).filter(|_| value.kind() == JsonKind::String) {
                    Some(text) => self.out.push_str(text),
                    None => self.value(value, false),
                }
            }
        }
        self.out.push('\n');
    }
}

/// Returns the inside of a string that is written without quotes.
fn bare(raw: &str) -> Option<&str> {
    let text = raw.strip_prefix('"')?.strip_suffix('"')?;
    let reads_as_value = match text.as_bytes().first()? {
        b'-' | b'0'..=b'9' => JsonTree::parse(text).is_some(),
        b'[' | b'{' => true,
        _ => matches!(text, "true" | "false" | "null"),
    };
    let plain = !text.contains([',', '"', '\\']) && text.trim().len() == text.len();
    (plain && !reads_as_value).then_some(text)
}

/// The keys of the rows in one order that fits all of them, if all are objects and there is such an order.
fn columns<'a>(rows: &[JsonNode<'a>]) -> Option<Vec<&'a str>> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        if row.kind() != JsonKind::Object || row.is_empty() {
            return None;
        }
        let mut at = 0;
        for key in row.entries().filter_map(|(key, _)| key).map(JsonNode::raw) {
            match columns[at..].iter().position(|column| *column == key) {
                Some(found) => at += found + 1,
                // Standing earlier: another order, or a key that occurs twice.
                None if columns[..at].contains(&key) || columns.len() == MAX_COLUMNS => return None,
                None => {
                    columns.insert(at, key);
                    at += 1;
                }
            }
        }
    }
    // A table that is mostly holes is no table.
    let cells: usize = rows.iter().map(|row| row.len()).sum();
    (cells * 2 >= rows.len() * columns.len()).then_some(columns)
}

/// Writes each run of equal lines once, with how often it occurs.
fn folded(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut lines = text.split('\n').peekable();
    let mut first = true;
    while let Some(line) = lines.next() {
        // What would read as a count makes the spelling ambiguous.
        if is_counted(line) {
            return None;
        }
        let mut times = 1;
        while lines.next_if_eq(&line).is_some() {
            times += 1;
        }
        if !first {
            out.push('\n');
        }
        first = false;
        let mark: Cow<str> = if times > 1 { format!("{line} (x{times})").into() } else { line.into() };
        let plain = line.len() * times + times - 1;
        if plain <= mark.len() {
            for time in 0..times {
                out.push_str(if time > 0 { "\n" } else { "" });
                out.push_str(line);
            }
        } else {
            out.push_str(&mark);
        }
    }
    Some(out)
}

fn is_counted(line: &str) -> bool {
    let count = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (x"));
    count.is_some_and(|(_, count)| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}
