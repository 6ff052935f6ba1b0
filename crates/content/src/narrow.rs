//! Which columns of a table can go where its rows do not fit: what is the same in each row, then what nobody reads.
//!
//! A reader who asked for a list wants to see what is in it. Fifty commits with their short names and subjects tell more
//! than five with trees, parents and addresses.

use std::collections::HashSet;

use super::tree::{JsonKind, JsonNode};
use contextweaver_text::tokens::Estimator;

/// Rows from which on a table is narrowed.
const MIN_ROWS: usize = 8;
/// Characters of a value without white space from which on nobody reads it: hashes, keys, addresses.
const OPAQUE_CHARS: usize = 24;
/// Characters of a value, on the average, from which on it is a text of its own, which does not belong into a list.
const PROSE_CHARS: usize = 240;
/// Share of the values of a column that must be opaque, in percent.
const MOSTLY_PERCENT: usize = 80;

/// The fate of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnUse {
    /// It is shown.
    Shown,
    /// Its value is the same in each row, and is said once.
    SaidOnce,
    /// It is left out.
    LeftOut,
}

/// How much room there is for a table, and which columns were asked for.
pub(super) struct Room<'a> {
    /// Quarter tokens.
    pub quarters: u64,
    /// Names of the question, in small letters.
    pub asked: &'a HashSet<String>,
    pub estimator: &'a Estimator,
}

/// Decides of each column, given with its key and its values; the rows are `rows`. At least one column stays.
pub(super) fn uses(columns: &[(&str, &[JsonNode])], rows: usize, room: &Room) -> Vec<ColumnUse> {
    let mut uses = vec![ColumnUse::Shown; columns.len()];
    if rows < MIN_ROWS {
        return uses;
    }
    let cost: Vec<u64> = columns
        .iter()
        .map(|(_, values)| values.iter().map(|value| room.estimator.quarters(value.raw()) + 1).sum())
        .collect();
    let mut total: u64 = cost.iter().sum();
    let is_asked = |key: &str| room.asked.contains(key.trim_matches('"').to_lowercase().as_str());
    let mut order: Vec<(ColumnUse, usize)> = Vec::new();
    for (at, (key, values)) in columns.iter().enumerate() {
        if is_asked(key) {
            continue;
        }
        if is_constant(values, rows) {
            order.push((ColumnUse::SaidOnce, at));
        } else if is_unread(values) {
            order.push((ColumnUse::LeftOut, at));
        }
    }
    // The column stays by which later calls name a row.
    let is_named = columns
        .iter()
        .enumerate()
        .any(|(at, (key, values))| is_name(key, values) && !order.iter().any(|&(_, gone)| gone == at));
    if !is_named && let Some(first) = order.iter().position(|&(_, at)| is_name(columns[at].0, columns[at].1)) {
        order.remove(first);
    }
    // A value that is said once loses nothing; of the other columns the dearest goes first.
    order.sort_by_key(|&(what, at)| (what == ColumnUse::LeftOut, std::cmp::Reverse(cost[at]), at));
    let mut shown = columns.len();
    for (what, at) in order {
        if total <= room.quarters || shown == 1 {
            break;
        }
        uses[at] = what;
        total -= cost[at];
        shown -= 1;
    }
    uses
}

fn is_constant(values: &[JsonNode], rows: usize) -> bool {
    let mut raw = values.iter().map(|value| value.raw());
    let first = raw.next();
    values.len() == rows && first.is_some_and(|first| first.len() < OPAQUE_CHARS * 2 && raw.all(|other| other == first))
}

/// Tells whether the reader of a list passes over a column: hashes, addresses, nested values, long texts.
fn is_unread(values: &[JsonNode]) -> bool {
    let told: Vec<&JsonNode> = values.iter().filter(|value| value.raw() != "null" && value.raw() != "[]").collect();
    let opaque = told.iter().filter(|value| value.is_container() || is_opaque(value)).count();
    let chars: usize = told.iter().map(|value| value.raw().len()).sum();
    opaque * 100 >= told.len() * MOSTLY_PERCENT || chars >= told.len() * PROSE_CHARS
}

fn is_opaque(value: &JsonNode) -> bool {
    let inside = value.raw().trim_matches('"');
    let is_address = inside.starts_with("http://") || inside.starts_with("https://");
    let is_run = inside.len() >= OPAQUE_CHARS && !inside.contains(char::is_whitespace) && !inside.contains('/');
    value.kind() == JsonKind::String
        && (is_address || is_run && inside.contains(|letter: char| letter.is_ascii_digit()))
}

/// Whether a column names its rows: each value is another one, and no text, date or measure.
fn is_name(key: &str, values: &[JsonNode]) -> bool {
    let key = key.trim_matches('"');
    let is_numbered = ["id", "Id", "ID", "number"].iter().any(|end| key.ends_with(end));
    let names = |value: &JsonNode| match value.kind() {
        JsonKind::String => {
            !value.raw().contains(char::is_whitespace) && !value.raw().starts_with("\"http") && !is_date(value.raw())
        }
        _ => is_numbered && !value.is_container(),
    };
    let mut seen = HashSet::new();
    values.iter().all(|value| names(value) && seen.insert(value.raw()))
}

/// Whether a text begins as dates do: `2026-11-27`.
fn is_date(raw: &str) -> bool {
    let begin = raw.trim_matches('"').as_bytes();
    begin.len() >= 10 && begin[..4].iter().all(u8::is_ascii_digit) && begin[4] == b'-' && begin[7] == b'-'
}

#[cfg(test)]
mod tests {
    use super::super::{SniffedText, abridge};
    use contextweaver_text::tokens::Estimator;
    use serde_json::{Value, json};

    fn short(rows: &[Value], tokens: u64, asked: &str) -> String {
        abridge(&SniffedText::new("application/json", &json!(rows).to_string()), tokens, asked, &Estimator::V3).text
    }

    fn hash(n: u64) -> String {
        format!("{:032x}{n:08x}", u128::from(n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
    }

    fn commits() -> Vec<Value> {
        let commit = |n: u64| {
            let subject = format!("Adjust the reading of station {n}, which was {} metres off its place", n * 37);
            json!({"hash": hash(n), "short": &hash(n)[..7], "author": "A", "subject": subject, "parents": [hash(n + 1)]})
        };
        (0..40).map(commit).collect()
    }

    #[test]
    fn all_rows_are_told_rather_than_all_columns() {
        let made = short(&commits(), 1_150, "");
        assert!(made.contains("[40]{short,subject}"), "{made}");
        assert!(made.contains("(each row: author \"A\")") && made.contains("(rows without hash, parents)"), "{made}");
        assert_eq!(
            made.lines().filter(|line| line.contains("Adjust the reading") && line.contains(",\"")).count(),
            40,
            "{made}"
        );
        // What was asked for stays, and so does everything where there is room.
        assert!(short(&commits(), 1_150, r#"{"fields":"parents"}"#).contains("{short,subject,parents}"));
        assert!(!short(&commits(), 8_000, "").contains("rows without"));
    }

    #[test]
    fn what_names_a_row_stays() {
        let rows: Vec<Value> = commits()
            .into_iter()
            .map(|mut row| {
                row.as_object_mut().unwrap().remove("short");
                row
            })
            .collect();
        assert!(short(&rows, 1_150, "").contains("{hash,subject}"));
    }

    #[test]
    fn issues_are_listed_without_their_addresses_and_texts() {
        let issue = |n: u64| {
            let body = "It breaks where the second list is longer than the first one, as the log says. ".repeat(8);
            json!({"url": format!("https://api.example/issues/{n}"), "node_id": hash(n), "number": n, "title": format!("Crash number {n}"), "state": "open", "labels": [{"name": "bug"}], "body": body})
        };
        let rows: Vec<Value> = (0..30).map(issue).collect();
        let made = short(&rows, 1_000, "");
        assert!((0..30).all(|n| made.contains(&format!("{n},Crash number {n}"))), "{made}");
        assert!(made.contains("state \"open\"") && !made.contains("It breaks"), "{made}");
    }
}
