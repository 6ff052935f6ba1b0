//! Tables: delimited text, and tables drawn with bars or spaces inside other text.

use std::borrow::Cow;

use serde_json::json;

use super::columns::{Columns, FAILED, Oddest, number};
use super::{DigestFacts, Rank, around, count, lines_at};
use crate::table::Table;

/// Records shown because they are odd.
const MAX_ODD: usize = 12;
/// Rows from which on aligned lines are a table.
const MIN_ROWS: usize = 5;

/// A record: where it starts, how it is shown, its cells.
type TableRecord<'a> = (usize, Cow<'a, str>, Vec<Cow<'a, str>>);

/// Names candidates of delimited text.
pub fn delimited(text: &str, separator: u8, facts: &mut DigestFacts) {
    let table = Table::parse(text, separator);
    let records = table.records();
    let read = |at: usize| -> TableRecord {
        let record = records[at];
        (record.as_ptr() as usize - text.as_ptr() as usize, record.into(), table.cells(record))
    };
    rows(records.len(), &read, None, facts);
}

/// Names candidates of `len` records, the first of which may name the columns; `within` is the text around the table.
fn rows<'a>(len: usize, read: &dyn Fn(usize) -> TableRecord<'a>, within: Option<&str>, facts: &mut DigestFacts) {
    if len == 0 {
        return;
    }
    let (place, shown, names) = read(0);
    let has_names = len > 1 && !names.iter().any(|name| number(name).is_some());
    let first = usize::from(has_names);
    facts.add(Rank::Head, 0, "", &format!("{}, {}", count(len - first, "row"), count(names.len(), "column")));
    if has_names {
        facts.add(Rank::Head, place + 1, "", &around(&shown, 0));
    }
    let heading =
        |at: usize| if has_names { names.get(at).map_or("", |name| name.as_ref()).to_owned() } else { at.to_string() };
    let titles: Vec<String> = (0..names.len().min(256)).map(heading).collect();
    let mut values = Columns::default();
    for at in first..len {
        values.row();
        read(at).2.iter().zip(&titles).for_each(|(cell, title)| values.add(title, cell));
    }
    values.finish();
    let mut oddest = Oddest::new(MAX_ODD);
    for at in first..len {
        let cells = read(at).2;
        let ragged = 3 * u32::from(cells.len() != names.len());
        let odd = |(cell, title): (&Cow<str>, &String)| u32::from(values.oddness(title, cell));
        oddest.add(ragged + cells.iter().zip(&titles).map(odd).sum::<u32>(), at);
    }
    for (score, at) in oddest.finish() {
        let rank = if score >= u32::from(FAILED) { Rank::Error } else { Rank::Odd };
        let (place, shown, cells) = read(at);
        let selector = match within {
            Some(text) => lines_at(text, place, 0, 0),
            None => json!({ "type": "rows", "start": at, "end": at + 1 }),
        };
        facts.look_at("the row that stands out", selector);
        if shown.chars().nth(120).is_none() {
            facts.add(rank, place, "", &shown);
            continue;
        }
        let label = format!("row {}", at + 1 - first);
        for (index, (cell, title)) in cells.iter().zip(&titles).enumerate() {
            if index == 0 || values.oddness(title, cell) > 0 {
                facts.add(rank, place + index, &label, &format!("{title}={}", around(cell, 0)));
            }
        }
    }
    for at in [first, len - 1] {
        let (place, shown, _) = read(at);
        facts.add(Rank::Ends, place, "", &around(&shown, 0));
    }
}

/// Finds the longest run of lines cut into equally many cells by bars or by wide gaps, names candidates of it, and
/// returns its range.
pub fn aligned(text: &str, facts: &mut DigestFacts) -> Option<(usize, usize)> {
    let mut best: (usize, usize, usize) = (0, 0, 0);
    let (mut start, mut rows_seen, mut width, mut place) = (0, 0, 0, 0);
    for line in text.split_inclusive('\n') {
        let cells = cell_count(line);
        // Rules between the rows belong to the table.
        let rule = is_rule(line);
        if !(rule && rows_seen > 0) && (cells != width || cells < 3) {
            (start, rows_seen, width) = (place, 0, cells);
        }
        place += line.len();
        if !rule && cells >= 3 {
            rows_seen += 1;
            if rows_seen > best.0 {
                best = (rows_seen, start, place);
            }
        }
    }
    let (found, start, end) = best;
    if found < MIN_ROWS {
        return None;
    }
    let block = &text[start..end];
    let records: Vec<&str> = block.lines().filter(|line| !is_rule(line)).collect();
    let read = |at: usize| -> TableRecord {
        let line = records[at];
        (line.as_ptr() as usize - text.as_ptr() as usize, squeeze(line).into(), cells(line))
    };
    // Gaps alone make no table: a line of names has to come first.
    let titled = records.first().is_some_and(|line| {
        line.contains(is_bar) || !cells(line).iter().any(|cell| cell.contains(|ch: char| ch.is_ascii_digit()))
    });
    if !titled {
        return None;
    }
    rows(records.len(), &read, Some(text), facts);
    Some((start, end))
}

fn is_bar(ch: char) -> bool {
    matches!(ch, '|' | '│' | '┃' | '║')
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() > 3
        && line.chars().all(|ch| is_bar(ch) || matches!(ch, '+' | '-' | '=' | ':' | ' ' | '\u{2500}'..='\u{257f}'))
}

/// A row without the bars of its frame.
fn inside(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix(is_bar).map_or(line, |line| line.strip_suffix(is_bar).unwrap_or(line))
}

fn has_bar(line: &str) -> bool {
    // Nearly every line is ruled out by its bytes; other bars than `|` begin with 0xe2.
    line.bytes().any(|byte| matches!(byte, b'|' | 0xe2)) && line.contains(is_bar)
}

fn cell_count(line: &str) -> usize {
    if has_bar(line) {
        return inside(line).split(is_bar).count();
    }
    let bytes = line.trim_end().as_bytes();
    let gap = |at: usize| at >= 2 && bytes[at] != b' ' && bytes[at - 1] == b' ' && bytes[at - 2] == b' ';
    let from = bytes.iter().position(|byte| *byte != b' ').unwrap_or(bytes.len());
    usize::from(from < bytes.len()) + (from + 1..bytes.len()).filter(|at| gap(*at)).count()
}

fn cells(line: &str) -> Vec<Cow<'_, str>> {
    if has_bar(line) {
        return inside(line).split(is_bar).map(|cell| cell.trim().into()).collect();
    }
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(Cow::from).collect()
}

/// A row without its frame and with narrow gaps.
fn squeeze(line: &str) -> String {
    let bars = line.contains(is_bar);
    let cells = cells(line);
    cells.join(if bars { " | " } else { "  " })
}
