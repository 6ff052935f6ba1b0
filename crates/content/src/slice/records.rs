//! Rows and columns of tables, of NDJSON, and of the array of records in a JSON text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use super::found::{RowIndex, RowPlan, part_of, span_of};
use super::index::SliceIndex;
use super::json::{JsonPath, push_quoted};
use super::pager::{PageFrame, PageUnit, Pager};
use super::selector::{RowCondition, Selector, SelectorKind};
use super::{MatchingRows, TextSlice};
use crate::sniff::Shape;
use crate::table::{Table, cells};
use crate::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_base::order::{SortedMap, WordSet, sort_distinct};
use contextweaver_base::{Error, ErrorCode, Result, StepBudget, limits};
use contextweaver_model::json::{parse_float, plain_text};
use contextweaver_text::lines::lines;
use contextweaver_text::unicode::{prefix, truncate};

/// Columns of JSON records that are looked at, and values of one column that are counted one by one.
const MAX_COLUMNS: usize = 256;
const MAX_VALUES: usize = 6;
/// Characters of a value that is shown.
const VALUE_CHARS: usize = 40;
/// Steps of writing one cell, and of testing one value.
const CELL_STEPS: usize = 4;
const TEST_STEPS: usize = 8;
/// Values of a record that take as long to pass by as following a path takes at least.
const LOOKUP_STEPS: usize = 3;
/// Conditions that are not counted: with so few the work is linear in the text, however long it is.
const FREE_TESTS: usize = 8;

pub(super) struct TabularText<'a> {
    text: &'a str,
    at: RowIndex,
}

impl<'a> TabularText<'a> {
    pub fn of(text: &'a str, shape: Shape) -> Option<Self> {
        let spans = |rows: &mut dyn Iterator<Item = &'a str>| Arc::new(rows.map(|row| span_of(text, row)).collect());
        let (separator, array, rows) = match shape {
            Shape::Table(separator) => {
                (Some(separator), false, spans(&mut Table::parse(text, separator).records().iter().copied()))
            }
            Shape::Ndjson => (None, false, spans(&mut lines(text).filter(|line| !line.trim().is_empty()))),
            Shape::Json => {
                let tree = JsonTree::parse(text)?;
                let rows = json_rows(&tree)?.map(|row| (row.start as u32, row.end as u32));
                (None, true, Arc::new(rows.collect()))
            }
            _ => return None,
        };
        Some(Self { text, at: RowIndex { separator, array, rows } })
    }

    /// Returns the rows that are known of a text, or looks for them.
    pub fn indexed(text: &'a str, media_type: &str, index: &mut SliceIndex) -> Option<Self> {
        if let Some(at) = &index.table {
            return Some(Self { text, at: at.clone() });
        }
        let found = Self::of(text, index.shape(media_type, text))?;
        index.read += found.at.rows.len() as u64;
        index.table = Some(found.at.clone());
        Some(found)
    }

    fn row(&self, row: usize) -> &'a str {
        self.at.rows.get(row).map_or("", |at| part_of(self.text, *at))
    }

    fn len(&self) -> usize {
        self.at.rows.len()
    }

    pub fn absent(selector: &Selector) -> Error {
        Error::new(ErrorCode::Unsupported, "the artifact has no rows and columns")
            .at(selector.path.as_str())
            .hint("use lines, search or outline")
    }

    /// The names of a table's columns.
    fn header(&self) -> Vec<Cow<'a, str>> {
        match self.at.separator {
            Some(separator) if self.len() > 0 => cells(self.row(0), separator),
            _ => Vec::new(),
        }
    }

    /// The rows without the header of a table.
    fn data(&self) -> Range<usize> {
        usize::from(self.at.separator.is_some()).min(self.len())..self.len()
    }

    /// Returns the rows of a range, or those of them that fulfil all conditions.
    pub fn rows(
        &self,
        pager: &mut Pager,
        (columns, conditions, header): (&[String], &[RowCondition], bool),
    ) -> Result<TextSlice> {
        let selector = pager.selector;
        let plan = self.plan(pager, columns, conditions)?;
        let picked = &plan.picked;
        let span = selector.span(self.len());
        let titled = header && self.at.separator.is_some();
        // Conditions are about data, not about the header.
        let from = if titled && !conditions.is_empty() { span.start.max(1) } else { span.start };
        let fulfilled = match conditions {
            [] => None,
            _ => Some(self.fulfilled(pager, conditions, &plan.tested)?),
        };
        let kept = match &fulfilled {
            None => from..span.end,
            Some(rows) => {
                let place = |bound: usize| rows.partition_point(|row| (*row as usize) < bound);
                place(from)..place(span.end).max(place(from))
            }
        };
        let row_at = |at: usize| fulfilled.as_ref().map_or(Some(at), |rows| Some(*rows.get(at)? as usize));
        let mut budget = StepBudget::new("the choice of columns", limits::MAX_SEARCH_STEPS);
        let mut refused = None;
        let mut show = |at: usize| {
            let row = self.row(row_at(at).unwrap_or(usize::MAX));
            if columns.is_empty() {
                return if self.at.array { PageUnit::json(row) } else { PageUnit::text(row) };
            }
            if let Err(error) = budget.charge(CELL_STEPS * columns.len()) {
                refused.get_or_insert(error);
                return PageUnit::text("");
            }
            let projected = self.project(row, columns, picked);
            if self.at.array { PageUnit::json(projected) } else { PageUnit::text(projected) }
        };
        let mut frame = if self.at.array { PageFrame::ARRAY } else { PageFrame::LINES };
        if titled && from > 0 && !kept.is_empty() {
            frame.open = Cow::Borrowed(&plan.header);
        }
        let page = pager.fill(kept.clone(), &frame, &mut show);
        if let Some(error) = refused {
            return Err(error
                .at(format!("{}/columns", selector.path))
                .hint("ask for fewer columns, or for fewer rows"));
        }
        let taken = page.taken;
        let mut answer = selector.answer("rows", self.len(), &(span.start..span.start + kept.len()), page);
        let end = if taken < kept.len() { row_at(kept.start + taken).unwrap_or(span.end) } else { span.end };
        answer.end = end as u64;
        if let Some(rows) = &fulfilled {
            let first = usize::from(titled);
            let before = rows.partition_point(|row| (*row as usize) < first);
            answer.total = (rows.len() - before) as u64;
            answer.matches = Some(MatchingRows {
                start: (kept.start - before) as u64,
                end: (kept.start + taken - before) as u64,
                rows: self.len().saturating_sub(first) as u64,
            });
        }
        if let Some(next) = &mut answer.next {
            next.insert("start".into(), end.into());
            if next.contains_key("end") {
                next.insert("end".into(), span.end.into());
            }
        }
        Ok(answer)
    }

    /// Finds the columns that a selector names.
    fn plan(&self, pager: &mut Pager, columns: &[String], conditions: &[RowCondition]) -> Result<Arc<RowPlan>> {
        let question = pager.selector.question(&["columns", "where"]);
        if let Some(known) = pager.index.plan.known(&question) {
            return Ok(known);
        }
        let mut places = SortedMap::new();
        for (place, name) in self.header().into_iter().enumerate() {
            // Of several columns with one name the first is meant.
            places.get_or_insert(&name.into_owned(), place);
        }
        self.refuse_absent(pager, columns, conditions)?;
        let place = |name: &String, at: &str| match places.get(name) {
            None if self.at.separator.is_some() => {
                Err(pager.selector.no_column(name, at, places.keys().map(String::as_str)))
            }
            found => Ok(found.copied().unwrap_or(0)),
        };
        let picked = columns.iter().map(|name| place(name, "/columns")).collect::<Result<Vec<_>>>()?;
        let tested = conditions.iter().map(|test| place(&test.column, "/where")).collect::<Result<Vec<_>>>()?;
        let header = match self.at.separator {
            None => String::new(),
            Some(_) if columns.is_empty() => self.row(0).to_owned(),
            Some(_) => self.project(self.row(0), columns, &picked),
        };
        Ok(pager.index.plan.keep(question, RowPlan { picked, tested, header: header + "\n" }))
    }

    /// Refuses a column that no record of JSON has: a key, in conditions also a path to what lies deeper.
    fn refuse_absent(&self, pager: &mut Pager, columns: &[String], conditions: &[RowCondition]) -> Result<()> {
        if self.at.separator.is_some() || self.len() == 0 {
            return Ok(());
        }
        let mut absent = AbsentColumns::new(columns, conditions);
        let mut budget = StepBudget::new("looking for the columns", limits::MAX_SEARCH_STEPS);
        for row in 0..self.len() {
            if absent.is_empty() {
                return Ok(());
            }
            pager.index.read += 1;
            let Some(tree) = JsonTree::parse(self.row(row)) else { continue };
            absent.look_into(&tree, &mut budget).map_err(|error| {
                error.at(format!("{}/where", pager.selector.path)).hint("ask for fewer conditions, or for fewer rows")
            })?;
        }
        match absent.first() {
            Some((name, at)) => Err(pager.selector.no_column(name, at, self.keys().iter().map(String::as_str))),
            None => Ok(()),
        }
    }

    /// The keys that records of JSON have, in the order of their appearance.
    fn keys(&self) -> Vec<String> {
        let (mut keys, mut known) = (Vec::new(), SortedMap::new());
        for tree in (0..self.len()).filter_map(|row| JsonTree::parse(self.row(row))) {
            for (key, _) in tree.root().members() {
                if keys.len() < MAX_COLUMNS && known.get(&*key).is_none() {
                    known.insert(key.clone().into_owned(), ());
                    keys.push(key.into_owned());
                }
            }
        }
        keys
    }

    /// Returns all rows that fulfil the conditions, in order.
    fn fulfilled(&self, pager: &mut Pager, conditions: &[RowCondition], places: &[usize]) -> Result<Arc<Vec<u32>>> {
        let question = pager.selector.question(&["where"]);
        if let Some(known) = pager.index.kept.known(&question) {
            return Ok(known);
        }
        let mut budget = StepBudget::new("testing the conditions", limits::MAX_SEARCH_STEPS);
        let paths: Vec<Option<JsonPath>> = conditions.iter().map(|test| deeper(&test.column)).collect();
        let mut rows = Vec::new();
        for row in 0..self.len() {
            let holds = match self.at.separator {
                Some(separator) => {
                    let cells = cells(self.row(row), separator);
                    budget.charge(TEST_STEPS * conditions.len().saturating_sub(FREE_TESTS)).map(|()| {
                        let cell = |at: &usize| cells.get(*at).map_or("", |cell| cell);
                        conditions.iter().zip(places).all(|(test, at)| test.holds(cell(at)))
                    })
                }
                None => fulfils(self.row(row), conditions, &paths, &mut budget),
            };
            let holds = holds.map_err(|error| {
                error.at(format!("{}/where", pager.selector.path)).hint("ask for fewer conditions, or for fewer rows")
            })?;
            if holds {
                rows.push(row as u32);
            }
        }
        pager.index.read += self.len() as u64;
        Ok(pager.index.kept.keep(question, rows))
    }

    /// Leaves only some columns of a row, in the order asked for.
    fn project(&self, row: &str, columns: &[String], places: &[usize]) -> String {
        let mut out = String::new();
        let Some(separator) = self.at.separator else {
            let Some(tree) = JsonTree::parse(row) else { return row.to_owned() };
            out.push('{');
            // The last member with a key counts.
            let mut places = SortedMap::new();
            let members: Vec<JsonNode> = tree.root().members().map(|(_, value)| value).collect();
            for (place, (name, _)) in tree.root().members().enumerate() {
                places.insert(name.into_owned(), place);
            }
            for (name, value) in columns.iter().filter_map(|name| Some((name, members[*places.get(name)?]))) {
                out.push_str(if out.len() > 1 { ", " } else { "" });
                push_quoted(&mut out, name);
                out.push_str(": ");
                out.push_str(value.raw());
            }
            out.push('}');
            return out;
        };
        let cells = cells(row, separator);
        for (index, at) in places.iter().enumerate() {
            if index > 0 {
                out.push(char::from(separator));
            }
            let cell = cells.get(*at).map_or("", |cell| cell);
            if cell.contains(['"', '\n', '\r', char::from(separator)]) {
                out.push('"');
                out.push_str(&cell.replace('"', "\"\""));
                out.push('"');
            } else {
                out.push_str(cell);
            }
        }
        out
    }

    /// Returns a line about the whole and one for each column: of `columns` the type, of `stats` what is in it.
    pub fn describe(&self, selector: &Selector) -> Result<(String, Vec<String>)> {
        let (wanted, stats): (&[String], bool) = match &selector.kind {
            SelectorKind::Stats(wanted) => (wanted, true),
            _ => (&[], false),
        };
        let columns = self.profile();
        let known = WordSet::new(columns.iter().map(|column| column.name.clone()).collect());
        if let Some(name) = wanted.iter().find(|name| !known.contains(name)) {
            return Err(selector.no_column(name, "/columns", columns.iter().map(|column| column.name.as_str())));
        }
        let wanted = WordSet::new(wanted.to_vec());
        let open = format!("{} rows, {} columns\n", self.data().len(), columns.len());
        let rows = self.data().len();
        let shown = columns.into_iter().filter(|column| wanted.is_empty() || wanted.contains(&column.name));
        Ok((open, shown.map(|column| column.line(rows, stats)).collect()))
    }

    fn profile(&self) -> Vec<ColumnStats> {
        let mut columns: Vec<ColumnStats> = self.header().iter().map(|name| ColumnStats::new(name)).collect();
        for row in self.data().map(|row| self.row(row)) {
            if let Some(separator) = self.at.separator {
                for (column, cell) in columns.iter_mut().zip(cells(row, separator)) {
                    column.add(kind_of(&cell), &cell);
                }
                continue;
            }
            let Some(tree) = JsonTree::parse(row) else { continue };
            let root = tree.root();
            if root.kind() != JsonKind::Object {
                if let Some(at) = place(&mut columns, "value", 0) {
                    columns[at].add(root.kind(), &root.text());
                }
                continue;
            }
            // Records mostly have their keys in one order: begin to look where the last one was found.
            let mut hint = 0;
            for (key, value) in root.members() {
                let Some(at) = place(&mut columns, &key, hint) else { continue };
                columns[at].add(value.kind(), &value.text());
                hint = at + 1;
            }
        }
        columns
    }
}

/// Tells whether a record of JSON fulfils all conditions, each with the path that its column may be.
fn fulfils(
    row: &str,
    conditions: &[RowCondition],
    paths: &[Option<JsonPath>],
    budget: &mut StepBudget,
) -> Result<bool> {
    let Some(tree) = JsonTree::parse(row) else { return Ok(false) };
    budget.charge(TEST_STEPS * conditions.len().saturating_sub(FREE_TESTS) * (tree.size() + LOOKUP_STEPS))?;
    Ok(conditions.iter().zip(paths).all(|(test, path)| {
        match cell(&tree, &test.column, path.as_ref()).filter(|node| node.kind() != JsonKind::Null) {
            None => test.holds(""),
            Some(node) => test.holds(&node.text()),
        }
    }))
}

/// Reads a column as the path to what lies deeper.
fn deeper(column: &str) -> Option<JsonPath> {
    JsonPath::parse(column, "").ok()
}

/// Returns what a record of JSON has in a column: below a key, or where the path leads.
fn cell<'a>(tree: &'a JsonTree, column: &str, path: Option<&JsonPath>) -> Option<JsonNode<'a>> {
    tree.root().get(column).or_else(|| Some(path?.follow(tree.root()).0.first()?.node))
}

/// Columns that none of the records looked into has.
struct AbsentColumns {
    /// Those to show, and whether each is absent.
    shown: SortedMap<String, bool>,
    /// How many of them are absent.
    left: usize,
    tested: Vec<(String, Option<JsonPath>)>,
}

impl AbsentColumns {
    fn new(columns: &[String], conditions: &[RowCondition]) -> Self {
        let tested = WordSet::new(conditions.iter().map(|test| test.column.clone()).collect());
        let tested = tested.words().iter().map(|name| (name.clone(), deeper(name))).collect();
        let mut shown = SortedMap::new();
        for name in columns {
            shown.insert(name.clone(), true);
        }
        Self { left: shown.len(), shown, tested }
    }

    fn is_empty(&self) -> bool {
        self.left == 0 && self.tested.is_empty()
    }

    /// Leaves out the columns that a record has.
    fn look_into(&mut self, tree: &JsonTree, budget: &mut StepBudget) -> Result<()> {
        budget.charge(TEST_STEPS * self.tested.len().saturating_sub(FREE_TESTS) * (tree.size() + LOOKUP_STEPS))?;
        self.tested.retain(|(name, path)| cell(tree, name, path.as_ref()).is_none());
        for (key, _) in tree.root().members() {
            if let Some(is_absent) = self.shown.get_mut(&*key) {
                self.left -= usize::from(std::mem::take(is_absent));
            }
        }
        Ok(())
    }

    /// Returns one of them, and the field that names it.
    fn first(&self) -> Option<(&str, &'static str)> {
        let shown = self.shown.keys().find(|name| self.shown.get(*name) == Some(&true));
        let shown = shown.map(|name| (name.as_str(), "/columns"));
        shown.or_else(|| Some((self.tested.first()?.0.as_str(), "/where")))
    }
}

/// The array that a JSON text is about: the text itself, or the longest member.
fn main_array(root: JsonNode) -> Option<JsonNode> {
    if root.kind() == JsonKind::Array {
        return Some(root);
    }
    let arrays =
        root.members().map(|(_, value)| value).filter(|value| value.kind() == JsonKind::Array && value.len() > 1);
    arrays.fold(None, |longest: Option<JsonNode>, array| {
        longest.filter(|known| known.len() >= array.len()).or(Some(array))
    })
}

/// Returns where the rows of a JSON text stand in it, as the selector `rows` counts them; none where it has no list.
pub fn json_rows(tree: &JsonTree<'_>) -> Option<impl Iterator<Item = Range<usize>>> {
    let rows = main_array(tree.root())?.items();
    Some(rows.map(|row| row.start()..row.start() + row.raw().len()))
}

/// Tells whether a JSON text holds an array of records.
pub(crate) fn has_columns(root: JsonNode) -> bool {
    main_array(root).and_then(|array| array.items().next()).is_some_and(|first| first.kind() == JsonKind::Object)
}

fn place(columns: &mut Vec<ColumnStats>, name: &str, hint: usize) -> Option<usize> {
    let known = columns.get(hint).is_some_and(|column| column.name == name).then_some(hint);
    known.or_else(|| columns.iter().position(|column| column.name == name)).or_else(|| {
        (columns.len() < MAX_COLUMNS).then(|| {
            columns.push(ColumnStats::new(name));
            columns.len() - 1
        })
    })
}

/// What the cell of a table looks like.
fn kind_of(cell: &str) -> JsonKind {
    let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    if cell.is_empty() {
        JsonKind::Null
    } else if cell.bytes().all(numeric) && parse_float(cell).is_some() {
        JsonKind::Number
    } else if matches!(cell, "true" | "false" | "True" | "False" | "TRUE" | "FALSE") {
        JsonKind::Bool
    } else {
        JsonKind::String
    }
}

/// What is in a column.
struct ColumnStats {
    name: String,
    /// Names of the types, in the order of their appearance.
    types: Vec<&'static str>,
    filled: usize,
    empty: usize,
    hashes: Vec<u64>,
    /// Values and how often, as long as they are few.
    values: Vec<(String, usize)>,
    least: Option<(f64, String)>,
    most: Option<(f64, String)>,
    first: Option<String>,
    last: Option<String>,
    sum: f64,
}

impl ColumnStats {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            types: Vec::new(),
            filled: 0,
            empty: 0,
            hashes: Vec::new(),
            values: Vec::new(),
            least: None,
            most: None,
            first: None,
            last: None,
            sum: 0.0,
        }
    }

    fn add(&mut self, kind: JsonKind, text: &str) {
        if kind == JsonKind::Null {
            self.empty += 1;
            return;
        }
        self.filled += 1;
        let whole = kind == JsonKind::Number && !text.contains(['.', 'e', 'E']);
        let name = if whole { "integer" } else { kind.name() };
        if !self.types.contains(&name) {
            self.types.push(name);
        }
        // FNV-1a: only to count, and the same everywhere.
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        self.hashes.push(hash);
        if self.values.len() <= MAX_VALUES {
            match self.values.iter_mut().find(|(value, _)| value == text) {
                Some((_, count)) => *count += 1,
                None => self.values.push((text.to_owned(), 1)),
            }
        }
        if kind == JsonKind::Number {
            let number = parse_float(text).unwrap_or(0.0);
            self.sum += number;
            if self.least.as_ref().is_none_or(|(least, _)| number < *least) {
                self.least = Some((number, text.to_owned()));
            }
            if self.most.as_ref().is_none_or(|(most, _)| number > *most) {
                self.most = Some((number, text.to_owned()));
            }
        } else if kind == JsonKind::String {
            let text = prefix(text, VALUE_CHARS);
            if self.first.as_ref().is_none_or(|first| text < first.as_str()) {
                self.first = Some(text.to_owned());
            }
            if self.last.as_ref().is_none_or(|last| text > last.as_str()) {
                self.last = Some(text.to_owned());
            }
        }
    }

    fn line(mut self, rows: usize, stats: bool) -> String {
        if self.types == ["integer", "number"] || self.types == ["number", "integer"] {
            self.types = vec!["number"];
        }
        let mut line = format!("{}: {}", one_line(&self.name), self.types.join("|"));
        if rows > self.filled {
            let _ = write!(line, ", {} empty", rows - self.filled);
        }
        if !stats || self.filled == 0 {
            return line;
        }
        sort_distinct(&mut self.hashes);
        let _ = write!(line, ", {} distinct", self.hashes.len());
        let few = self.values.len() <= MAX_VALUES && self.hashes.len() < self.filled;
        if few {
            let counted: Vec<String> =
                self.values.iter().map(|(value, count)| format!("{} x{count}", one_line(value))).collect();
            let _ = write!(line, " ({})", counted.join(", "));
        }
        if let (Some((_, least)), Some((_, most))) = (&self.least, &self.most) {
            let _ = write!(line, ", min {}, max {}", one_line(least), one_line(most));
            let _ = write!(line, ", sum {}", rounded(self.sum));
            let _ = write!(line, ", mean {}", rounded(self.sum / self.filled.max(1) as f64));
        } else if let (false, Some(first), Some(last)) = (few, &self.first, &self.last) {
            let _ = write!(line, ", from {} to {}", one_line(first), one_line(last));
        }
        line
    }
}

fn rounded(value: f64) -> String {
    plain_text((value * 1e4).round() / 1e4)
}

/// Shortens a value to part of one line.
pub(crate) fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|ch| if ch.is_control() { ' ' } else { ch }).take(VALUE_CHARS + 1).collect();
    truncate(&flat, VALUE_CHARS)
}
