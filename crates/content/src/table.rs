//! Delimited text: records and cells, quotes respected.

use std::borrow::Cow;

/// Records of a delimited text, the header among them.
#[derive(Debug)]
pub struct Table<'a> {
    separator: u8,
    records: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// Splits a text into records at line ends outside quotes. A quote that never closes is an ordinary character, so
    /// that one of them cannot swallow what follows. Blank lines are no records.
    pub fn parse(text: &'a str, separator: u8) -> Self {
        let mut records = split(text, separator, true);
        if records.is_none() {
            records = split(text, separator, false);
        }
        Self { separator, records: records.unwrap_or_default() }
    }

    /// Returns the records as they were written, without line ends.
    pub fn records(&self) -> &[&'a str] {
        &self.records
    }

    /// Returns the cells of a record, quotes taken off.
    pub fn cells<'r>(&self, record: &'r str) -> Vec<Cow<'r, str>> {
        cells(record, self.separator)
    }
}

/// Returns `None` when quotes are respected and one is still open at the end.
fn split(text: &str, separator: u8, quotes: bool) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let (mut records, mut start, mut at) = (Vec::new(), 0, 0);
    // Whether a cell begins here, and whether this is inside quotes.
    let (mut fresh, mut inside) = (true, false);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if inside {
            if *byte == b'"' {
                // A doubled quote is one character of the cell.
                if bytes.get(at) == Some(&b'"') {
                    at += 1;
                } else {
                    inside = false;
                }
            }
            continue;
        }
        inside = quotes && fresh && *byte == b'"';
        fresh = *byte == separator || *byte == b'\n';
        if *byte == b'\n' {
            push(&mut records, &text[start..at - 1]);
            start = at;
        }
    }
    push(&mut records, &text[start..]);
    (!inside).then_some(records)
}

fn push<'a>(records: &mut Vec<&'a str>, record: &'a str) {
    let record = record.strip_suffix('\r').unwrap_or(record);
    if !record.trim().is_empty() {
        records.push(record);
    }
}

/// Returns the cells of one record: quoted cells without their quotes, others trimmed.
pub fn cells(record: &str, separator: u8) -> Vec<Cow<'_, str>> {
    let mut cells = Vec::new();
    let mut rest = record;
    loop {
        let (cell, tail) = cell(rest, separator);
        cells.push(cell);
        match tail {
            Some(tail) => rest = tail,
            None => return cells,
        }
    }
}

/// Reads one cell; the second part is what follows the separator, if there is one.
fn cell(text: &str, separator: u8) -> (Cow<'_, str>, Option<&str>) {
    let after = |rest: &str| rest.as_bytes().first() == Some(&separator);
    if let Some(inner) = text.strip_prefix('"') {
        let mut from = 0;
        while let Some(found) = inner[from..].find('"') {
            let at = from + found;
            if inner[at + 1..].starts_with('"') {
                from = at + 2;
                continue;
            }
            let rest = &inner[at + 1..];
            if rest.trim().is_empty() || after(rest) {
                let value = &inner[..at];
                let value = if value.contains('"') { Cow::Owned(value.replace("\"\"", "\"")) } else { value.into() };
                return (value, after(rest).then(|| &rest[1..]));
            }
            break;
        }
    }
    match text.as_bytes().iter().position(|byte| *byte == separator) {
        Some(at) => (text[..at].trim().into(), Some(&text[at + 1..])),
        None => (text.trim().into(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let table = Table::parse(text, b',');
        table.records().iter().map(|r| table.cells(r).into_iter().map(Cow::into_owned).collect()).collect()
    }

    #[test]
    fn quotes_hold_line_ends_and_separators() {
        assert_eq!(
            rows("a,b\r\n1,\"x, y\n\"\"z\"\"\"\n\n2,\n"),
            [vec!["a", "b"], vec!["1", "x, y\n\"z\""], vec!["2", ""],]
        );
        assert_eq!(rows("\"\"\"q\"\",\",1\n2,3"), [vec!["\"q\",", "1"], vec!["2", "3"]]);
        assert_eq!(rows("a,\"\"\nb,\"c\""), [vec!["a", ""], vec!["b", "c"]]);
    }

    #[test]
    fn a_quote_that_never_closes_swallows_nothing() {
        assert_eq!(rows("a,b\n\"1,2\n3,4").len(), 3);
        assert_eq!(rows("5\" pipe,1\n6\" pipe,2"), [vec!["5\" pipe", "1"], vec!["6\" pipe", "2"]]);
        assert!(rows("").is_empty());
    }
}
