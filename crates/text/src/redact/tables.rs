//! Tables of which a column is named after a credential: values with commas, semicolons, tabs or bars between.

use super::chars::{ALNUM_UNDER, byte, is, part, rest, tick};
use super::keys::{KeyKind, is_secret, key_kind};
use super::scan::Scanner;
use super::tokens::is_generated;

/// Longest name of a column, in bytes.
const MAX_NAME: usize = 40;
/// Most columns of a table that is looked at.
const MAX_COLUMNS: usize = 32;
/// Shortest cell of another column than of passwords, in bytes.
const MIN_CELL: usize = 12;
/// Longest row that is looked at, in bytes.
const MAX_ROW: usize = 4096;

/// Where a table is, and which columns hold credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    delimiter: u8,
    columns: usize,
    kinds: [Option<KeyKind>; MAX_COLUMNS],
    /// Start and end of the row that was read last.
    row: (usize, usize),
}

/// Returns where a cell ends, which may be in quotes.
fn cell_end(line: &str, from: usize, delimiter: u8) -> usize {
    let bytes = line.as_bytes();
    let mut at = from;
    let mut quoted = false;
    while let Some(&b) = bytes.get(at) {
        if b == b'"' {
            quoted = !quoted;
        } else if b == delimiter && !quoted {
            break;
        }
        at += 1;
    }
    tick(at - from + 1);
    at
}

/// Returns where the text of a cell is, without space and quotes.
fn inner(line: &str, from: usize, to: usize) -> (usize, usize) {
    let cell = part(line, from, to);
    let head = cell.trim_start();
    let start = to - head.len();
    let text = head.trim_end();
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    bare.map_or((start, start + text.len()), |bare| (start + 1, start + 1 + bare.len()))
}

impl Scanner<'_> {
    fn line_at(&self, start: usize) -> &str {
        let tail = rest(self.text, start);
        let length = tail.bytes().take(MAX_ROW + 1).position(|b| b == b'\n').unwrap_or(tail.len());
        tick(length.min(MAX_ROW));
        if length > MAX_ROW { "" } else { part(tail, 0, length).trim_end_matches('\r') }
    }

    /// Finds the first credential of a line that starts at an offset, if it is a row of a table; or reads the head of one.
    pub(super) fn row_at(&mut self, start: usize, floor: usize) -> Option<(usize, usize)> {
        let Some(mut table) = self.table.filter(|table| table.row.1 + 1 == start || table.row.1 + 2 == start) else {
            self.table = self.table_head(start);
            return None;
        };
        let line = self.line_at(start);
        table.row = (start, start + line.len());
        // Lines between the head and the rows, as Markdown and databases have them.
        let rule = line.bytes().all(|b| matches!(b, b'-' | b'|' | b'+' | b':' | b' ' | b'='));
        self.table = (!line.is_empty()).then_some(table);
        if rule { None } else { self.cell_from(&table, floor) }
    }

    /// Finds the next credential of a row that has one before.
    pub(super) fn rest_of_row(&mut self, from: usize, floor: usize, wanted: bool) -> Option<(usize, usize)> {
        if from == 0 && wanted && self.full {
            self.table = self.table_head(0);
        }
        let table = self.table.filter(|table| wanted && table.row.0 < from && from < table.row.1 && floor == from)?;
        self.cell_from(&table, floor)
    }

    /// Reads the names of columns in a line that has nothing else.
    fn table_head(&self, start: usize) -> Option<Table> {
        let bytes = self.text.as_bytes();
        let (mut at, mut columns, mut delimiter, mut any) = (start, 0, 0, false);
        let mut kinds = [None; MAX_COLUMNS];
        if byte(self.text, at).is_some_and(|b| !is(b, ALNUM_UNDER) && !matches!(b, b'|' | b'"')) {
            return None;
        }
        if byte(self.text, at) == Some(b'|') {
            delimiter = b'|';
            columns = 1;
            at += 1;
        }
        loop {
            let inside = |b: u8| is(b, ALNUM_UNDER) || matches!(b, b' ' | b'"' | b'-' | b'.');
            let length = bytes.get(at..)?.iter().take(MAX_NAME + 1).take_while(|&&b| inside(b)).count();
            tick(length + 1);
            let sign = byte(self.text, at + length).unwrap_or(b'\n');
            let ends = matches!(sign, b'\n' | b'\r');
            if !ends && !matches!(sign, b',' | b';' | b'\t' | b'|') || ends && columns == 0 || length > MAX_NAME {
                return None;
            }
            let name = part(self.text, at, at + length).trim_matches([' ', '"']);
            let words = name.bytes().filter(|&b| b == b' ').count();
            if words > 2 || name.bytes().next().is_some_and(|b| !is(b, ALNUM_UNDER) || b.is_ascii_digit()) {
                return None;
            }
            let slot = kinds.get_mut(columns)?;
            *slot = key_kind(name);
            any |= slot.is_some();
            columns += 1;
            at += length;
            match sign {
                _ if ends => break,
                _ if delimiter == 0 || delimiter == sign => delimiter = sign,
                _ => return None,
            }
            if name.is_empty() && sign != b'|' {
                return None;
            }
            at += 1;
        }
        let end = at + usize::from(byte(self.text, at) == Some(b'\r'));
        (any && columns > 1).then_some(Table { delimiter, columns, kinds, row: (start, end) })
    }

    /// Finds the first credential of a row at or after an offset.
    fn cell_from(&self, table: &Table, floor: usize) -> Option<(usize, usize)> {
        let start = table.row.0;
        let line = part(self.text, start, table.row.1);
        let mut at = 0;
        let mut found = None;
        let mut count = 0;
        while at <= line.len() {
            let end = cell_end(line, at, table.delimiter);
            let (from, to) = inner(line, at, end);
            if found.is_none()
                && start + from >= floor
                && let Some(Some(kind)) = table.kinds.get(count)
                && self.is_cell_secret(*kind, start + from, start + to)
            {
                found = Some((start + from, start + to));
            }
            count += 1;
            at = end + 1;
        }
        found.filter(|_| count == table.columns)
    }

    /// Cells have nothing of a credential but the name of their column, so only passwords may look like words.
    fn is_cell_secret(&self, kind: KeyKind, from: usize, to: usize) -> bool {
        let value = part(self.text, from, to);
        let looks = kind == KeyKind::Password && !value.contains(' ') || value.len() >= MIN_CELL && is_generated(value);
        looks && is_secret(kind, value, false) && !self.is_mask(from, to)
    }
}
