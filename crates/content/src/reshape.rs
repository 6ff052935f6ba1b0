//! Shortens a text without losing anything: JSON loses its white space, lists and maps of similar objects become
//! tables, and repeated lines are written once.
//!
//! The table of a list begins with a header such as `[3]{id,note}`: the number of objects and the names of the columns.
//! One line per object follows, with values separated by commas. The table of a map, such as `{"dark":{"on":true},…}`,
//! has a header such as `{3}{key:on}`, and each of its lines begins with the key and a colon. A column of objects is
//! split: `address.city` is the member `city` of the member `address`. After the last line of a table the JSON goes on.
//! Outside its strings, JSON never contains `[3]{` or `{3}{`, so a table cannot be mistaken for JSON. NDJSON becomes
//! one table, after the word `ndjson`.
//!
//! A value is written as JSON. A string loses its quotes if it is not empty, holds no comma, quote or backslash, does
//! not begin with `[` or `{`, has no white space at its ends, and does not read as a number, `true`, `false` or `null`.
//! The key of a line loses its quotes if it is not empty, holds no comma, colon, quote or backslash, and has no white
//! space at its ends. The name of a column must also be free of dots and braces. An empty cell means that the object
//! has no such member.

use std::borrow::Cow;

use super::narrow::{ColumnUse, Room, uses};
use super::sniff::{Shape, SniffedText};
use super::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_text::tokens::Estimator;

/// The fewest objects of a list or a map that become a table.
const MIN_ROWS: usize = 3;
/// The most columns of a table.
const MAX_COLUMNS: usize = 64;
/// The word before the table of an NDJSON text.
const NDJSON: &str = "ndjson";

/// A shorter spelling of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshaped {
    /// The text in its shorter spelling.
    pub text: String,
    /// How it was made: `minified`, `table` or `folded`.
    pub form: &'static str,
}

/// Shortens a text without losing anything. Returns `None` if that would not save both bytes and tokens.
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

/// Does the same as [`reshape()`] for a text whose shape is already known.
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

/// Shortens JSON as [`reshape()`] does, but leaves columns out of tables that do not fit into `room`. A note before
/// such a table names these columns. Returns `None` if every table has all its columns.
pub(super) fn narrowed(source: &SniffedText, room: Room) -> Option<String> {
    let tree = source.tree.as_ref()?;
    let mut writer = TableWriter { out: String::new(), tables: 0, room: Some(room), narrowed: 0 };
    writer.value(tree.root(), true);
    (writer.narrowed > 0).then_some(writer.out)
}

fn json(source: &SniffedText) -> Option<Reshaped> {
    let tree = source.tree.as_ref()?;
    let mut writer = TableWriter::new(source.text.len());
    writer.value(tree.root(), true);
    let form = if writer.tables > 0 { "table" } else { "minified" };
    Some(Reshaped { text: writer.out, form })
}

fn ndjson(text: &str) -> Option<Reshaped> {
    // A decoder ends each line with a line feed, so only such a text comes back unchanged.
    let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
    let trees = lines.iter().map(|line| JsonTree::parse(line)).collect::<Option<Vec<JsonTree>>>()?;
    let rows: Vec<JsonNode> = trees.iter().map(JsonTree::root).collect();
    let columns = columns(&rows)?;
    let mut writer = TableWriter::new(text.len());
    writer.out.push_str(NDJSON);
    writer.table(&rows, &columns, &[]);
    Some(Reshaped { text: writer.out, form: "table" })
}

struct TableWriter<'r> {
    out: String,
    /// The number of tables written so far.
    tables: usize,
    /// The room that each table must fit into; if `None`, tables keep all their columns.
    room: Option<Room<'r>>,
    /// The number of tables that were written without some of their columns.
    narrowed: usize,
}

impl TableWriter<'_> {
    fn new(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes), tables: 0, room: None, narrowed: 0 }
    }

    /// Writes a value without white space. With `tables`, it and the values inside it become tables where possible.
    /// Values inside a row never do, so that a row stays one line.
    fn value(&mut self, node: JsonNode, tables: bool) {
        let is_list = node.kind() == JsonKind::Array;
        if !is_list && node.kind() != JsonKind::Object {
            self.out.push_str(node.raw());
        } else if !(tables && self.as_table(node)) {
            let [open, close] = if is_list { ['[', ']'] } else { ['{', '}'] };
            self.list(node, open, close, tables);
        }
    }

    /// Writes a list or a map of similar objects as a table if that is shorter, and tells whether it did.
    fn as_table(&mut self, node: JsonNode) -> bool {
        if node.len() < MIN_ROWS {
            return false;
        }
        let (keys, rows): (Vec<Option<JsonNode>>, Vec<JsonNode>) = node.entries().unzip();
        let Some(mut columns) = columns(&rows) else { return false };
        self.narrow(rows.len(), &mut columns);
        let keys: Vec<JsonNode> = keys.into_iter().flatten().collect();
        self.table(&rows, &columns, &keys);
        true
    }

    /// Hides columns if the rows do not fit into the room, and writes a note that names them.
    fn narrow(&mut self, rows: usize, columns: &mut [Column]) {
        let Some(room) = &self.room else { return };
        let columns_with: Vec<(&str, &[JsonNode])> =
            columns.iter().map(|column| (column.key, column.values.as_slice())).collect();
        let uses = uses(&columns_with, rows, room);
        let with = |what: ColumnUse| columns.iter().zip(&uses).filter(move |(_, of)| **of == what);
        let once: Vec<String> = with(ColumnUse::SaidOnce)
            .filter_map(|(column, _)| {
                Some(format!("{} {}", name(column.key, HEADER_MARKS), column.values.first()?.raw()))
            })
            .collect();
        let left: Vec<&str> = with(ColumnUse::LeftOut).map(|(column, _)| name(column.key, HEADER_MARKS)).collect();
        if once.is_empty() && left.is_empty() {
            return;
        }
        self.narrowed += 1;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if !once.is_empty() {
            self.out.extend(["(each row: ", &once.join(", "), ")\n"]);
        }
        if !left.is_empty() {
            self.out.extend(["(rows without ", &left.join(", "), ")\n"]);
        }
        for (column, of) in columns.iter_mut().zip(uses) {
            column.is_shown = of == ColumnUse::Shown;
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

    /// Writes a table. `keys` are the keys of a map; a list has none.
    fn table(&mut self, rows: &[JsonNode], columns: &[Column], keys: &[JsonNode]) {
        self.tables += 1;
        let [open, close] = if keys.is_empty() { ['[', ']'] } else { ['{', '}'] };
        self.out.push(open);
        self.out.push_str(&rows.len().to_string());
        self.out.push(close);
        self.out.push_str(if keys.is_empty() { "{" } else { "{key:" });
        let mut path = Vec::new();
        let mut is_first = true;
        self.names(columns, &mut path, &mut is_first);
        self.out.push('}');
        for (at, row) in rows.iter().enumerate() {
            self.out.push('\n');
            if let Some(key) = keys.get(at) {
                self.out.push_str(name(key.raw(), LINE_MARKS));
                self.out.push(':');
            }
            self.cells(Some(*row), columns);
        }
        self.out.push('\n');
    }

    fn names<'a>(&mut self, columns: &[Column<'a>], path: &mut Vec<&'a str>, is_first: &mut bool) {
        for column in columns.iter().filter(|column| column.is_shown) {
            path.push(name(column.key, HEADER_MARKS));
            if column.group.is_empty() {
                if !std::mem::take(is_first) {
                    self.out.push(',');
                }
                self.out.push_str(&path.join("."));
            } else {
                self.names(&column.group, path, is_first);
            }
            path.pop();
        }
    }

    /// Writes the cells of an object. Without an object, they are all empty.
    fn cells(&mut self, row: Option<JsonNode>, columns: &[Column]) {
        let mut members = row.into_iter().flat_map(JsonNode::entries).peekable();
        let mut is_first = true;
        for column in columns {
            let member =
                members.next_if(|(key, _)| key.is_some_and(|key| key.raw() == column.key)).map(|(_, value)| value);
            if !column.is_shown {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            if !column.group.is_empty() {
                self.cells(member, &column.group);
                continue;
            }
            let Some(value) = member else { continue };
            match bare(value.raw()).filter(|_| value.kind() == JsonKind::String) {
                Some(text) => self.out.push_str(text),
                None => self.value(value, false),
            }
        }
    }
}

/// Returns a string without its quotes, if it can be read back from a cell without them.
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

/// A key with one of these characters keeps its quotes: `LINE_MARKS` at the beginning of a line, `HEADER_MARKS` as the
/// name of a column.
const LINE_MARKS: &[char] = &[',', ':', '"', '\\'];
const HEADER_MARKS: &[char] = &[',', ':', '.', '{', '}', '"', '\\'];

/// Returns a key without its quotes, or with them if it is empty, holds one of `marks`, or has white space at its ends.
fn name<'a>(raw: &'a str, marks: &[char]) -> &'a str {
    let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or_default();
    let is_plain = !inside.is_empty() && !inside.contains(marks) && inside.trim().len() == inside.len();
    if is_plain { inside } else { raw }
}

/// A column of a table: the key of a member. If the member is an object in every row that has it, the column may be
/// split into the columns of `group`.
struct Column<'a> {
    key: &'a str,
    /// The values in the rows that have the key, in order.
    values: Vec<JsonNode<'a>>,
    group: Vec<Column<'a>>,
    is_shown: bool,
}

impl Column<'_> {
    /// Returns the number of cells that the column takes in each row.
    fn width(&self) -> usize {
        if self.group.is_empty() { 1 } else { width(&self.group) }
    }
}

fn width(columns: &[Column]) -> usize {
    columns.iter().map(Column::width).sum()
}

/// Returns the columns of a table with these rows; `None` if `keys` finds no order for them, or a table is not shorter.
fn columns<'a>(rows: &[JsonNode<'a>]) -> Option<Vec<Column<'a>>> {
    let keys = keys(rows).filter(|keys| saved(rows, keys) > 0)?;
    let values = values(rows, &keys);
    let mut room = MAX_COLUMNS - keys.len();
    let spread = |(key, values): (&&'a str, Vec<JsonNode<'a>>)| {
        let group = self::columns(&values).filter(|group| {
            // Unsplit, the object is one cell. Split, a row without it has `more` further empty cells.
            let more = width(group) - 1;
            let keys: Vec<&str> = group.iter().map(|column| column.key).collect();
            more <= room && saved(&values, &keys) > (rows.len() - values.len()) * more
        });
        room -= group.as_ref().map_or(0, |group| width(group) - 1);
        Column { key, values, group: group.unwrap_or_default(), is_shown: true }
    };
    Some(keys.iter().zip(values).map(spread).collect())
}

/// Returns the values of each column. The order of `keys` must fit every row.
fn values<'a>(rows: &[JsonNode<'a>], keys: &[&str]) -> Vec<Vec<JsonNode<'a>>> {
    let mut values: Vec<Vec<JsonNode<'a>>> = keys.iter().map(|_| Vec::new()).collect();
    for row in rows {
        let mut at = 0;
        for (key, value) in row.entries() {
            while key.is_some_and(|key| key.raw() != keys[at]) {
                at += 1;
            }
            values[at].push(value);
            at += 1;
        }
    }
    values
}

/// Returns how many bytes shorter the objects are as rows of a table with these columns: keys, colons and braces go,
/// empty cells and the header are added. Returns 0 if the table is longer.
fn saved(rows: &[JsonNode], columns: &[&str]) -> usize {
    let header: usize = columns.iter().map(|column| column.len() + 1).sum();
    let gone = |row: &JsonNode| {
        let keys: usize = row.entries().filter_map(|(key, _)| key).map(|key| key.raw().len() + 1).sum();
        keys + row.len() + 1
    };
    rows.iter().map(gone).sum::<usize>().saturating_sub(rows.len() * columns.len() + header)
}

/// Returns the keys of all rows in one order that fits every row. Returns `None` if it finds no such order, if a row is
/// empty or not an object, if there are more than [`MAX_COLUMNS`] keys, or if most cells would be empty.
fn keys<'a>(rows: &[JsonNode<'a>]) -> Option<Vec<&'a str>> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        if row.kind() != JsonKind::Object || row.is_empty() {
            return None;
        }
        let mut at = 0;
        for key in row.entries().filter_map(|(key, _)| key).map(JsonNode::raw) {
            match columns[at..].iter().position(|column| *column == key) {
                Some(found) => at += found + 1,
                // The key stands earlier: the order differs, or the key repeats. Or there are too many columns.
                None if columns[..at].contains(&key) || columns.len() == MAX_COLUMNS => return None,
                None => {
                    columns.insert(at, key);
                    at += 1;
                }
            }
        }
    }
    // Rows that share few keys would make a table of mostly empty cells.
    let cells: usize = rows.iter().map(|row| row.len()).sum();
    (cells * 2 >= rows.len() * columns.len()).then_some(columns)
}

/// Writes each run of equal lines once with its length, as `line (x3)`, if that is shorter.
fn folded(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut lines = text.split('\n').peekable();
    let mut first = true;
    while let Some(line) = lines.next() {
        // A line such as `a (x2)` would be read back as two lines.
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
