//! Tables of which a column is named after a credential: values with commas, semicolons, tabs or bars between, in lines
//! of their own or in a string with escaped line breaks. And lines of a name and a value.

use super::chars::{DIGIT, DOTTED, LETTER, UNDER, byte, is, part, rest, run, skip_slashes, tick};
use super::keys::is_generated;
use super::keys::{KeyKind, is_secret, key_kind, may_tell};
use super::scanner::{Scanner, SecretColumns, Table};

/// Longest name of a column, in bytes.
const MAX_NAME: usize = 128;
/// Widest first column of which the names stand above the values, in bytes.
const MAX_FIRST: usize = 48;
/// Most spaces in a name that has no bars around.
const MAX_WORDS: usize = 4;
/// Shortest cell of another column than of passwords, in bytes.
const MIN_CELL: usize = 12;
/// Longest row that is looked at, in bytes.
const MAX_ROW: usize = 4096;

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
    let bare = ["\\\"", "\""].iter().find_map(|quote| {
        let bare = text.strip_prefix(*quote)?.strip_suffix(*quote)?;
        Some((start + quote.len(), start + quote.len() + bare.len()))
    });
    bare.unwrap_or((start, start + text.len()))
}

/// Returns the end of an escaped line break at an offset, of at most four backslashes.
pub(super) fn escaped_break(text: &str, at: usize) -> Option<usize> {
    let letter = skip_slashes(text, at);
    let next = match byte(text, letter)? {
        b'n' => return (letter > at).then_some(letter + 1),
        b'r' if letter > at => letter + 1,
        _ => return None,
    };
    let letter = skip_slashes(text, next);
    (letter > next && byte(text, letter) == Some(b'n')).then_some(letter + 1)
}

impl Scanner<'_> {
    fn line_at(&self, start: usize, escaped: usize) -> &str {
        let tail = rest(self.text, start);
        let mut slashes = 0;
        let ends = |(at, b): (usize, u8)| {
            // The quote that closes the string has fewer backslashes than those inside of it.
            let quote = b == b'"' && slashes < escaped;
            slashes = if b == b'\\' { slashes + 1 } else { 0 };
            b == b'\n' || quote || escaped > 0 && slashes == 1 && escaped_break(tail, at).is_some()
        };
        let length = tail.bytes().take(MAX_ROW + 1).enumerate().position(ends).unwrap_or(tail.len());
        let quote = byte(tail, length) == Some(b'"');
        let before = part(tail, 0, length).bytes().rev().take_while(|&b| quote && b == b'\\').count();
        tick(length.min(MAX_ROW));
        if length > MAX_ROW { "" } else { part(tail, 0, length - before).trim_end_matches('\r') }
    }

    /// Finds the first credential of a line that starts at an offset, if it is a row of a table; or reads the head of one.
    pub(super) fn row_at(&mut self, start: usize, floor: usize) -> Option<(usize, usize)> {
        let Some(mut table) = self.table.filter(|table| table.row.1 + 1 == start || table.row.1 + 2 == start) else {
            // A line of a name and a value looks like the head of a table.
            let pair = self.line_pair(start, floor);
            self.table = if pair.is_none() { self.table_head(start, false) } else { None };
            return pair;
        };
        self.row_of(&mut table, start, floor)
    }

    /// Finds the first credential of a row behind an escaped line break at an offset.
    pub(super) fn escaped_row_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let start = escaped_break(self.text, at)?;
        if let Some(mut table) = self.table.filter(|table| table.escaped > 0 && table.row.1 == at) {
            return self.row_of(&mut table, start, floor);
        }
        let head = self.text.as_bytes().get(floor..at)?.iter().rev().take(MAX_ROW);
        let length = head.take_while(|b| !matches!(b, b'"' | b'\\' | b'\n')).count();
        tick(length);
        let head = at - length;
        // The letter of the break before belongs to no name.
        let skipped = usize::from(head >= 2 && escaped_break(self.text, head - 1).is_some_and(|end| end > head));
        self.table = self.table_head(head + skipped, true);
        if let Some(mut table) = self.table.filter(|table| table.row.1 == at) {
            return self.row_of(&mut table, start, floor);
        }
        None
    }

    fn row_of(&mut self, table: &mut Table, start: usize, floor: usize) -> Option<(usize, usize)> {
        let line = self.line_at(start, table.escaped);
        table.row = (start, start + line.len());
        // Lines between the head and the rows, as Markdown and databases have them.
        let rule = line.bytes().all(|b| matches!(b, b'-' | b'|' | b'+' | b':' | b' ' | b'='));
        self.table = (!line.is_empty()).then_some(*table);
        if rule { None } else { self.cell_from(table, floor) }
    }

    /// Finds the value of a line that has a name, white space and a value, or both in a row of a table of two columns.
    fn line_pair(&mut self, start: usize, floor: usize) -> Option<(usize, usize)> {
        let first = byte(self.text, start)?;
        if let Some(found) = self.pgpass_at(start, floor) {
            return Some(found);
        }
        if first != b'|' {
            let end = if is(first, LETTER) { run(self.text, start, DOTTED, MAX_NAME) } else { return None };
            let gap = part(self.text, end, end + 2);
            if !gap.starts_with(['\t', ' ']) || !may_tell(part(self.text, start, end).as_bytes()) {
                return None;
            }
            let bar = end + self.spaces(end);
            if byte(self.text, bar) == Some(b'|') {
                return self.bar_pair(start, end, bar + 1, floor);
            }
            let (from, to) = self.spaced_pair(start, floor)?;
            let ends = matches!(byte(self.text, to), None | Some(b'\n' | b'\r' | b'"' | b'\''));
            return ends.then_some((from, to));
        }
        let line = self.line_at(start, 0);
        let middle = cell_end(line, 1, b'|');
        let close = cell_end(line, middle + 1, b'|');
        let (name, end) = inner(line, 1, middle);
        let (from, to) = inner(line, middle + 1, close);
        let kind = key_kind(part(line, name, end).trim_matches(['`', '*']))?;
        let quoted = usize::from(part(line, from, to).starts_with('`') && to > from + 2);
        let (from, to) = (start + from + quoted, start + to - quoted);
        let whole = rest(line, close + 1).trim().is_empty();
        let digit = part(self.text, from, to).bytes().any(|b| is(b, DIGIT));
        (whole && digit && from >= floor && self.is_cell_secret(kind, from, to)).then_some((from, to))
    }

    /// Finds the value behind a name and a bar, as `psql` writes each column in a line of its own.
    fn bar_pair(&self, start: usize, end: usize, after: usize, floor: usize) -> Option<(usize, usize)> {
        let kind = key_kind(part(self.text, start, end))?;
        let length = self.line_at(after, 0).len();
        let (from, to) = inner(part(self.text, 0, after + length), after, after + length);
        let single = !part(self.text, from, to).contains('|');
        (single && from >= floor && self.is_cell_secret(kind, from, to)).then_some((from, to))
    }

    /// Finds the next credential of a row that has one before.
    pub(super) fn rest_of_row(&mut self, from: usize, floor: usize, wanted: bool) -> Option<(usize, usize)> {
        if from == 0
            && wanted
            && let Some(found) = self.row_at(0, floor)
        {
            return Some(found);
        }
        let table = self.table.filter(|table| wanted && table.row.0 < from && from < table.row.1 && floor == from)?;
        self.cell_from(&table, floor)
    }

    /// Reads the names of columns in a line that has nothing else, one of which names a credential.
    fn table_head(&self, start: usize, escaped: bool) -> Option<Table> {
        let (columns, delimiter, at) = self.delimited_head(start).or_else(|| self.aligned_head(start))?;
        let end = at + usize::from(byte(self.text, at) == Some(b'\r'));
        let slashes = skip_slashes(self.text, at) - at;
        (columns.is_table() && escaped == (slashes > 0)).then_some(Table {
            delimiter,
            columns,
            head: (start, at),
            escaped: slashes,
            row: (start, end),
        })
    }

    /// Reads names with commas, semicolons, tabs or bars between; returns them, what is between, and where the line ends.
    fn delimited_head(&self, start: usize) -> Option<(SecretColumns, u8, usize)> {
        let mut columns = SecretColumns::default();
        let (mut at, mut delimiter) = (start, 0);
        match byte(self.text, at)? {
            b'|' => {
                delimiter = b'|';
                columns.push(None);
                at += 1;
            }
            // `psql` puts a space before the first name.
            b' ' if byte(self.text, at + 1).is_some_and(|b| is(b, LETTER | UNDER)) => delimiter = b'|',
            b'"' => {}
            b if is(b, LETTER | UNDER) => {}
            _ => return None,
        }
        loop {
            let end = self.name_end(at, delimiter)?;
            let name = part(self.text, at, end).trim();
            let bare = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
            // What stands in parentheses says more of it.
            columns.push(key_kind(bare.split_once(" (").map_or(bare, |(name, _)| name)));
            let sign = byte(self.text, end).unwrap_or(b'\n');
            let delimits = matches!(sign, b',' | b';' | b'\t' | b'|') && (delimiter == 0 || delimiter == sign);
            at = end;
            if !delimits {
                return (columns.count > 1).then_some((columns, delimiter, at));
            }
            delimiter = sign;
            at += 1;
        }
    }

    fn spaces(&self, at: usize) -> usize {
        rest(self.text, at).bytes().take(MAX_NAME).take_while(|&b| b == b' ').count()
    }

    /// Returns where the name of a column ends, which is what people write above columns: a few words, maybe with a unit.
    fn name_end(&self, at: usize, delimiter: u8) -> Option<usize> {
        let tail = rest(self.text, at).as_bytes();
        if tail.first() == Some(&b'"') {
            let length = tail.iter().skip(1).take(MAX_NAME).position(|&b| b == b'"' || b == b'\n')? + 2;
            tick(length);
            let ends =
                matches!(tail.get(length), None | Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b'\\' | b' '));
            return ends.then(|| at + length + self.spaces(at + length));
        }
        let (mut words, mut open) = (0, 0_usize);
        for (offset, &b) in tail.iter().enumerate() {
            tick(1);
            match b {
                b',' | b';' | b'\t' | b'|' if open == 0 && (delimiter == 0 || b == delimiter) => {
                    return Some(at + offset);
                }
                b'\n' | b'\r' if open == 0 => return Some(at + offset),
                b'\\' if escaped_break(self.text, at + offset).is_some() => return Some(at + offset),
                b' ' => words += usize::from(tail.get(offset + 1) != Some(&b' ')),
                b'(' | b'[' => open += 1,
                b')' | b']' => open = open.checked_sub(1)?,
                b'=' | b'{' | b'}' | b'<' | b'>' | b'`' | b'"' | b'\'' | b'\\' => return None,
                _ => {}
            }
            if offset >= MAX_NAME || words > MAX_WORDS && delimiter != b'|' {
                return None;
            }
        }
        (open == 0).then_some(self.text.len())
    }

    /// Reads names with two spaces or more between, below which the values stand.
    fn aligned_head(&self, start: usize) -> Option<(SecretColumns, u8, usize)> {
        let tail = rest(self.text, start);
        let first = tail.bytes().next().filter(u8::is_ascii_alphabetic);
        let gap = first.and_then(|_| tail.as_bytes().windows(2).take(MAX_FIRST).position(|two| two == b"  "));
        tick(MAX_FIRST);
        gap?;
        let length = tail.bytes().take(MAX_ROW).position(|b| b == b'\n').unwrap_or(tail.len().min(MAX_ROW));
        tick(length);
        let line = part(tail, 0, length).trim_end();
        let plain = |b: u8| is(b, DOTTED) || b == b' ';
        if !line.bytes().all(plain) {
            return None;
        }
        let mut columns = SecretColumns::default();
        line.split("  ").filter(|name| !name.is_empty()).for_each(|name| columns.push(key_kind(name.trim())));
        Some((columns, b' ', start + line.len()))
    }

    /// Finds the first credential of a row at or after an offset.
    fn cell_from(&self, table: &Table, floor: usize) -> Option<(usize, usize)> {
        let start = table.row.0;
        let line = part(self.text, start, table.row.1);
        if table.delimiter == b' ' {
            return self.aligned_cell(table, line, floor);
        }
        let mut at = 0;
        let mut found = None;
        let mut count = 0;
        while at <= line.len() {
            let end = cell_end(line, at, table.delimiter);
            let (from, to) = inner(line, at, end);
            if found.is_none()
                && start + from >= floor
                && let Some(kind) = table.columns.kind(count)
                && self.is_cell_secret(kind, start + from, start + to)
            {
                found = Some((start + from, start + to));
            }
            count += 1;
            at = end + 1;
        }
        found.filter(|_| count == table.columns.count)
    }

    /// Finds the first credential at or after an offset among cells that stand below the names of their columns.
    fn aligned_cell(&self, table: &Table, line: &str, floor: usize) -> Option<(usize, usize)> {
        let head = part(self.text, table.head.0, table.head.1);
        let (mut place, mut column) = (0, 0);
        for name in head.split("  ") {
            let offset = place + name.len() - name.trim_start().len();
            place += name.len() + 2;
            if name.is_empty() {
                continue;
            }
            let kind = table.columns.kind(column);
            column += 1;
            let (Some(kind), true) = (kind, line.is_char_boundary(offset)) else { continue };
            let free = part(line, 0, offset).ends_with(' ') || offset == 0;
            let cell = rest(line, offset);
            let to = offset + cell.find("  ").unwrap_or(cell.len());
            let (from, to) = (table.row.0 + offset, table.row.0 + to);
            if free && !cell.starts_with(' ') && from >= floor && self.is_cell_secret(kind, from, to) {
                return Some((from, to));
            }
        }
        None
    }

    /// Cells have nothing of a credential but the name of their column, so only passwords may look like words.
    pub(super) fn is_cell_secret(&self, kind: KeyKind, from: usize, to: usize) -> bool {
        let value = part(self.text, from, to);
        let looks = kind == KeyKind::Password && !value.contains(' ') || value.len() >= MIN_CELL && is_generated(value);
        looks && is_secret(kind, value, false) && !self.is_mask(from, to)
    }
}
