//! Statements of databases and lists, of which the names stand apart from the values: what is a credential in them is found
//! ahead.

use super::chars::{DOTTED, byte, is, is_space, part, rest, run, skip_space, starts_ignoring_case, tick};
use super::keys::{KeyKind, is_generated, is_secret, key_kind};
use super::scanner::{Scanner, SecretColumns, Table};

/// How far a statement or a list is read, in bytes.
const MAX_STATEMENT: usize = 1 << 20;
/// Longest name of a table with what stands around it, in bytes.
const MAX_TABLE: usize = 200;

/// Where a value is, without its quotes, and where reading goes on.
struct Value {
    start: usize,
    end: usize,
    after: usize,
}

impl Scanner<'_> {
    /// Returns the next secret that was found ahead, unless it stands behind an offset.
    pub(super) fn ahead_before(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        while let Some(&(start, end)) = self.ahead.front().filter(|(start, _)| *start <= at) {
            self.ahead.pop_front();
            if start >= floor {
                return Some((start, end));
            }
        }
        None
    }

    /// Reads `INSERT INTO users (id, password) VALUES (1, 'x'), (2, 'y')` from behind its first words.
    pub(super) fn insert_at(&mut self, at: usize) {
        if at < self.read_ahead {
            return;
        }
        let Some((columns, end)) = self.columns_behind(at) else { return };
        let mut at = self.blank(end);
        if !columns.is_table() || !starts_ignoring_case(self.text, at, "values") {
            return;
        }
        at = self.blank(at + "values".len());
        let limit = at + MAX_STATEMENT;
        while byte(self.text, at) == Some(b'(') && at < limit {
            let mut column = 0;
            loop {
                let Some(value) = self.sql_value(self.blank(at + 1)) else { return };
                self.add_ahead(columns.kind(column), value.start, value.end);
                column += 1;
                at = self.blank(value.after);
                if byte(self.text, at) != Some(b',') {
                    break;
                }
            }
            if byte(self.text, at) != Some(b')') {
                break;
            }
            at = self.blank(at + 1);
            at = if byte(self.text, at) == Some(b',') { self.blank(at + 1) } else { self.text.len() };
        }
        self.read_ahead = self.read_ahead.max(at.min(limit));
    }

    /// Reads `COPY users (id, password) FROM stdin;` from behind its first word: rows with tabs follow.
    pub(super) fn copy_at(&mut self, at: usize) {
        let Some((columns, end)) = self.columns_behind(at) else { return };
        let tail = rest(self.text, end);
        let length = tail.bytes().take(MAX_TABLE).position(|b| b == b'\n').unwrap_or(0);
        tick(length);
        let line = part(tail, 0, length);
        if columns.is_table() && line.to_ascii_lowercase().contains("from stdin") {
            let row = (at, end + length);
            self.table = Some(Table { delimiter: b'\t', columns, head: row, escaped: 0, row });
        }
    }

    /// Reads the elements of a list that a key of credentials has.
    pub(super) fn list_at(&mut self, open: usize, kind: KeyKind) {
        if open < self.read_ahead {
            return;
        }
        let mut at = skip_space(self.text, open + 1);
        while let Some((start, slashes, quote)) = self.open_quote(at) {
            let Some(end) = self.quoted_end(start, slashes, quote, false) else { break };
            if !part(self.text, start, end).contains(is_space) {
                self.add_ahead(Some(kind), start, end);
            }
            at = skip_space(self.text, end + slashes + 1);
            if byte(self.text, at) != Some(b',') {
                break;
            }
            at = skip_space(self.text, at + 1);
        }
        self.read_ahead = self.read_ahead.max(at);
    }

    fn add_ahead(&mut self, kind: Option<KeyKind>, start: usize, end: usize) {
        let value = part(self.text, start, end);
        let looks = |kind| kind == KeyKind::Password || is_generated(value);
        let last = self.ahead.back().map_or(0, |&(_, end)| end);
        if let Some(kind) = kind.filter(|&kind| looks(kind) && start >= last)
            && is_secret(kind, value, true)
            && !self.is_mask(start, end)
        {
            self.ahead.push_back((start, end));
        }
    }

    /// Skips white space, also the escaped breaks of a string of JSON.
    fn blank(&self, at: usize) -> usize {
        let mut at = skip_space(self.text, at);
        while byte(self.text, at) == Some(b'\\') && matches!(byte(self.text, at + 1), Some(b'n' | b'r' | b't')) {
            at = skip_space(self.text, at + 2);
        }
        at
    }

    /// Reads the names in the parentheses behind the name of a table.
    fn columns_behind(&self, at: usize) -> Option<(SecretColumns, usize)> {
        let plain = |b: &u8| {
            is(*b, DOTTED)
                || matches!(b, b'`' | b'"' | b'[' | b']' | b' ' | b'\\' | b'\n' | b'\r' | b'\t')
                || *b >= 0x80
        };
        let tail = rest(self.text, at).as_bytes();
        let length = tail.iter().take(MAX_TABLE).take_while(|b| plain(b)).count();
        tick(length);
        let mut at = at + length;
        if byte(self.text, at) != Some(b'(') {
            return None;
        }
        let mut columns = SecretColumns::default();
        loop {
            let open = self.blank(at + 1);
            let tail = rest(self.text, open).as_bytes();
            let length = tail.iter().take(MAX_TABLE).take_while(|b| plain(b)).count();
            tick(length);
            let name = part(self.text, open, open + length);
            columns.push(key_kind(name.trim_matches(['`', '"', '[', ']', ' ', '\\'])));
            at = self.blank(open + length);
            match byte(self.text, at)? {
                b',' => {}
                b')' => return Some((columns, at + 1)),
                _ => return None,
            }
        }
    }

    /// Reads a value of a statement, in quotes or without.
    fn sql_value(&self, at: usize) -> Option<Value> {
        let bytes = self.text.as_bytes();
        // A letter may say what the quotes hold.
        let prefix = usize::from(bytes.get(at)?.is_ascii_alphabetic() && bytes.get(at + 1) == Some(&b'\''));
        let quote = *bytes.get(at + prefix)?;
        if !matches!(quote, b'\'' | b'"') {
            let end = run(self.text, at, DOTTED, MAX_TABLE);
            return (end > at).then_some(Value { start: at, end, after: end });
        }
        let start = at + prefix + 1;
        let mut end = start;
        loop {
            tick(1);
            match *bytes.get(end)? {
                b'\\' => end += 1,
                b if b == quote && bytes.get(end + 1) == Some(&quote) => end += 1,
                b if b == quote => return Some(Value { start, end, after: end + 1 }),
                _ => {}
            }
            end += 1;
            if end > start + MAX_STATEMENT {
                return None;
            }
        }
    }
}
