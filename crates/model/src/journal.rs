//! The journal of an object: what changed of it, as lines of text that say what they are and whether they are whole.
//!
//! A part is one line, `{"sum":"<hash of the part>","part":{...}}`. It names the part before it by number and hash, so that
//! what is missing, altered, doubled or out of order is seen. A change that is longer than a part is cut into pieces.

use std::fmt;

use serde_json::Value;

use crate::json::{self, Fields};
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::hash::Hash;
use contextweaver_text::unicode::floor_char_boundary;

/// Version of the format.
pub const JOURNAL_VERSION: u64 = 1;

/// What stands around the part in its line, before and after the hash.
const OPENING: &str = "{\"sum\":\"";
const MIDDLE: &str = "\",\"part\":";
/// Digits of a hash.
const SUM_DIGITS: usize = 16;
/// Bytes that a part has beside its changes, at most, but for settings.
const FRAME_BYTES: usize = 512;

/// Where a journal ends: the number of its last part, 0 for none, and the hash of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JournalEnd {
    /// Parts are numbered from 1; the numbers go on where all parts were replaced.
    pub sequence: u64,
    /// Hash of the last part.
    pub sum: u64,
}

impl JournalEnd {
    /// Reads what its `Display` writes, `<number>-<hash>`; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (sequence, sum) = text.split_once('-')?;
        let sequence = sequence.parse().ok().filter(|sequence| *sequence < limits::MAX_SEQUENCE)?;
        Some(Self { sequence, sum: number(sum)? })
    }
}

impl fmt::Display for JournalEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.sequence, self.sum)
    }
}

/// A batch of changes that belong together.
#[derive(Debug, Clone, Default)]
pub struct JournalBatch<'a> {
    /// What is kept, such as `session`.
    pub kind: &'a str,
    /// The batch does not need those before it.
    pub whole: bool,
    /// JSON of what the reader must know first; in batches that are whole.
    pub settings: Option<&'a str>,
    /// JSON of each change.
    pub changes: Vec<String>,
    /// How far the object had come, in its own counts.
    pub counts: &'a [u64],
}

impl JournalBatch<'_> {
    /// Writes the parts, each of at most `part_bytes` bytes but for settings; moves `end` on.
    pub fn write(&self, end: &mut JournalEnd, part_bytes: usize) -> Vec<String> {
        let room = part_bytes.saturating_sub(FRAME_BYTES);
        let mut parts: Vec<Vec<String>> = vec![Vec::new()];
        let mut used = 0;
        let mut add = |change: String| {
            if used + change.len() + 1 > room && used > 0 {
                parts.push(Vec::new());
                used = 0;
            }
            used += change.len() + 1;
            if let Some(part) = parts.last_mut() {
                part.push(change);
            }
        };
        for change in &self.changes {
            if change.len() < room {
                add(change.clone());
            } else {
                // Quotes and backslashes take two bytes in a piece.
                let pieces = pieces(change, room / 2 - FRAME_BYTES / 8);
                for (index, piece) in pieces.iter().enumerate() {
                    let left = pieces.len() - 1 - index;
                    add(format!("{{\"piece\":{},\"left\":{left}}}", Value::from(*piece)));
                }
            }
        }
        let last = parts.len() - 1;
        parts.iter().enumerate().map(|(index, changes)| self.part(end, changes, index == 0, index == last)).collect()
    }

    fn part(&self, end: &mut JournalEnd, changes: &[String], is_first: bool, is_last: bool) -> String {
        let mut body = format!(
            "{{\"contextweaver\":\"{}\",\"version\":{JOURNAL_VERSION},\"sequence\":{},\"after\":\"{:016x}\"",
            self.kind,
            end.sequence + 1,
            end.sum
        );
        if self.whole && is_first {
            body.push_str(",\"whole\":true");
            if let Some(settings) = self.settings {
                body.push_str(",\"settings\":");
                body.push_str(settings);
            }
        }
        body.push_str(",\"changes\":[");
        body.push_str(&changes.join(","));
        body.push(']');
        if is_last {
            let counts: Vec<String> = self.counts.iter().map(u64::to_string).collect();
            body.push_str(",\"counts\":[");
            body.push_str(&counts.join(","));
            body.push(']');
        }
        body.push('}');
        let sum = sum_of(&body);
        *end = JournalEnd { sequence: end.sequence + 1, sum };
        format!("{OPENING}{sum:016x}{MIDDLE}{body}}}")
    }
}

fn sum_of(body: &str) -> u64 {
    let mut hash = Hash::default();
    hash.bytes(body.as_bytes());
    hash.value()[0]
}

/// Cuts a text into pieces of at most `size` bytes.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // A character has at most four bytes, and a piece at least one character.
        let (piece, after) = rest.split_at(floor_char_boundary(rest, size.max(4)));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Something of a journal that could not be read.
#[derive(Debug, Clone)]
pub struct JournalFinding {
    /// Index of the part among those that were given; none for one that is missing.
    pub part: Option<usize>,
    /// What is wrong.
    pub error: Error,
}

/// A change as it was read.
#[derive(Debug)]
pub struct JournalChange {
    /// Index of its part among those that were given.
    pub part: usize,
    /// The change.
    pub value: Value,
}

/// A journal as far as it could be read.
#[derive(Debug, Default)]
pub struct Journal {
    /// What the last whole batch says of itself.
    pub settings: Option<Value>,
    /// The changes from the last whole batch on, in order.
    pub changes: Vec<JournalChange>,
    /// How far the object had come; none where the end is not known.
    pub counts: Option<Vec<u64>>,
    /// The end of what was read.
    pub end: JournalEnd,
    /// What could not be read, and what is missing.
    pub findings: Vec<JournalFinding>,
}

struct JournalPart {
    index: usize,
    sequence: u64,
    sum: u64,
    after: u64,
    is_whole: bool,
    settings: Option<Value>,
    changes: Vec<Value>,
    counts: Option<Vec<u64>>,
}

fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::JournalDamaged, message)
}

impl Journal {
    /// Reads lines in any order; what is wrong with them is a finding each. Of parts before the last whole one nothing is
    /// read.
    ///
    /// # Errors
    /// `TOO_LARGE` for more text than a snapshot may have; `SNAPSHOT_VERSION` for parts of a later version; `INVALID_INPUT`
    /// for a journal of another kind of object.
    pub fn read(text: &str, kind: &str) -> Result<Self> {
        if text.len() > limits::MAX_SNAPSHOT_BYTES {
            let message = format!("the journal has {} bytes, the limit is {}", text.len(), limits::MAX_SNAPSHOT_BYTES);
            return Err(Error::new(ErrorCode::TooLarge, message).hint("compact it: write it anew with whole: true"));
        }
        let mut journal = Self::default();
        let mut parts: Vec<JournalPart> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            match read_part(line, kind, index) {
                Ok(part) => parts.push(part),
                Err(error) if error.code() == ErrorCode::JournalDamaged => journal.find(Some(index), error),
                Err(error) => {
                    let path = format!("/{index}{}", error.path());
                    return Err(error.under(path));
                }
            }
        }
        sort_by(&mut parts, |a, b| a.sequence.cmp(&b.sequence));
        if let Some(start) = parts.iter().rposition(|part| part.is_whole) {
            parts.drain(..start);
        }
        journal.chain(parts);
        Ok(journal)
    }

    fn find(&mut self, part: Option<usize>, error: Error) {
        self.findings.push(JournalFinding { part, error });
    }

    fn chain(&mut self, parts: Vec<JournalPart>) {
        let mut pieces: Option<(String, u64)> = None;
        let mut is_first = true;
        for part in parts {
            let at = Some(part.index);
            if !is_first && part.sequence == self.end.sequence {
                let again = if part.sum == self.end.sum { "is there twice" } else { "is there in two versions" };
                self.find(at, damaged(format!("part {} {again}", part.sequence)));
                continue;
            }
            if is_first && !part.is_whole {
                let message = format!("the journal begins with part {}, which goes on from others", part.sequence);
                self.find(None, damaged(message));
            } else if !is_first && part.sequence > self.end.sequence + 1 {
                let missing = format!("parts {} to {} are missing", self.end.sequence + 1, part.sequence - 1);
                self.find(None, damaged(missing));
                pieces = None;
            } else if !is_first && part.after != self.end.sum {
                self.find(at, damaged(format!("part {} goes on from another one", part.sequence)));
                pieces = None;
            }
            is_first = false;
            self.end = JournalEnd { sequence: part.sequence, sum: part.sum };
            self.counts = part.counts;
            self.settings = part.settings.or(self.settings.take());
            for value in part.changes {
                if let Err(error) = self.add(part.index, value, &mut pieces) {
                    self.find(at, error);
                }
            }
        }
        if pieces.is_some() || (!is_first && self.counts.is_none()) {
            self.find(None, damaged("the end is missing"));
        }
    }

    /// Adds a change, or what is known of it so far.
    fn add(&mut self, part: usize, value: Value, pieces: &mut Option<(String, u64)>) -> Result<()> {
        let Some(piece) = value.get("piece") else {
            self.changes.push(JournalChange { part, value });
            return Ok(());
        };
        let (Some(text), Some(left)) = (piece.as_str(), value.get("left").and_then(Value::as_u64)) else {
            return Err(damaged("a piece of a change is not read"));
        };
        let whole = match pieces.take() {
            Some((before, expected)) if expected == left => before + text,
            Some(_) => return Err(damaged("a piece of a change is missing")),
            None => text.to_owned(),
        };
        if left > 0 {
            *pieces = Some((whole, left - 1));
            return Ok(());
        }
        let value = json::parse_snapshot(&whole).map_err(|_| damaged("a change in pieces is not whole"))?;
        self.changes.push(JournalChange { part, value });
        Ok(())
    }
}

fn read_part(line: &str, kind: &str, index: usize) -> Result<JournalPart> {
    let frame = line.strip_prefix(OPENING).and_then(|rest| rest.split_at_checked(SUM_DIGITS));
    let body = frame.and_then(|(sum, rest)| Some((number(sum)?, rest.strip_prefix(MIDDLE)?.strip_suffix('}')?)));
    let Some((sum, body)) = body else { return Err(damaged("this is no part of a journal")) };
    if sum_of(body) != sum {
        return Err(damaged("the part is not what was written"));
    }
    let mut fields = Fields::open(json::parse_snapshot(body).map_err(|_| damaged("the part is no JSON"))?, "/part")?;
    let written = fields.string("contextweaver").map_err(|_| damaged("the part does not say what it is of"))?;
    let version = fields.uint_or("version", 0, u64::MAX).map_err(|_| damaged("the part does not say its version"))?;
    if version != JOURNAL_VERSION {
        return Err(Error::new(ErrorCode::SnapshotVersion, format!("journal version {version} is not known"))
            .at(fields.at("version"))
            .hint(format!("this release reads version {JOURNAL_VERSION}")));
    }
    if written != kind {
        return Err(Error::new(ErrorCode::InvalidInput, format!("expected a journal of a {kind}"))
            .at(fields.at("contextweaver")));
    }
    fields_of_part(fields, index, sum).map_err(|error| damaged(format!("the part is malformed: {}", error.message())))
}

fn fields_of_part(mut fields: Fields, index: usize, sum: u64) -> Result<JournalPart> {
    let after = fields.string("after")?;
    let has_counts = fields.has("counts");
    let counts: Vec<u64> = fields.list("counts")?.iter().filter_map(Value::as_u64).collect();
    Ok(JournalPart {
        index,
        sequence: fields.uint_or("sequence", 0, limits::MAX_SEQUENCE)?,
        sum,
        after: number(&after).ok_or_else(|| damaged("it names no hash of the part before"))?,
        is_whole: fields.bool_or("whole", false)?,
        settings: fields.take("settings"),
        changes: fields.list("changes")?,
        counts: has_counts.then_some(counts),
    })
}

fn number(digits: &str) -> Option<u64> {
    let is_hex = digits.len() == SUM_DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(batches: &[(bool, Vec<String>)], part_bytes: usize) -> Vec<String> {
        let mut end = JournalEnd::default();
        let parts = batches.iter().flat_map(|(whole, changes)| {
            let batch =
                JournalBatch { kind: "x", whole: *whole, settings: None, changes: changes.clone(), counts: &[7] };
            batch.write(&mut end, part_bytes)
        });
        parts.collect()
    }

    fn texts(journal: &Journal) -> Vec<String> {
        journal.changes.iter().map(|change| change.value.to_string()).collect()
    }

    fn found(journal: &Journal) -> Vec<String> {
        journal.findings.iter().map(|finding| finding.error.message().to_owned()).collect()
    }

    fn changes(range: std::ops::Range<u32>) -> Vec<String> {
        range.map(|n| n.to_string()).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let long = format!("[{}]", Value::from("\"\\ž\n".repeat(5000)));
        let parts = written(&[(true, vec!["1".into(), long.clone(), "2".into()]), (false, changes(3..900))], 2048);
        assert!(parts.len() > 10 && parts.iter().all(|part| part.len() <= 2048 && !part.contains('\n')));
        let journal = Journal::read(&parts.join("\n"), "x").unwrap();
        assert_eq!(found(&journal), Vec::<String>::new());
        assert_eq!(texts(&journal), [vec!["1".into(), long, "2".into()], changes(3..900)].concat());
        assert_eq!((journal.counts, journal.end.sequence), (Some(vec![7]), parts.len() as u64));
        assert!(Journal::read("", "x").unwrap().changes.is_empty());
    }

    #[test]
    fn a_whole_batch_stands_for_all_before_it() {
        let parts = written(&[(true, changes(0..2)), (false, changes(2..3)), (true, changes(7..9))], 4096);
        assert_eq!(texts(&Journal::read(&parts.join("\n"), "x").unwrap()), ["7", "8"]);
        let last = Journal::read(&parts[2], "x").unwrap();
        assert_eq!((texts(&last), last.findings.len(), last.end.sequence), (changes(7..9), 0, 3));
    }

    #[test]
    fn what_is_wrong_is_named_and_the_rest_is_read() {
        let parts = written(&[(true, changes(0..1)), (false, changes(1..2)), (false, changes(2..3))], 4096);
        let read = |parts: &[&str]| {
            let journal = Journal::read(&parts.join("\n"), "x").unwrap();
            (texts(&journal).concat(), found(&journal).join("; "))
        };
        let [a, b, c] = [parts[0].as_str(), &parts[1], &parts[2]];
        let expected = |texts: &str, findings: &str| (texts.to_owned(), findings.to_owned());
        assert_eq!(read(&[c, a, b]), expected("012", ""));
        assert_eq!(read(&[a, b, b, c]), expected("012", "part 2 is there twice"));
        assert_eq!(read(&[a, c]), expected("02", "parts 2 to 2 are missing"));
        assert_eq!(read(&[b, c]), expected("12", "the journal begins with part 2, which goes on from others"));
        assert_eq!(read(&[a, b, &c[..c.len() - 3]]), expected("01", "this is no part of a journal"));
        let flipped = b.replace("[1]", "[5]");
        let both = "the part is not what was written; parts 2 to 2 are missing";
        assert_eq!(read(&[a, &flipped, c]), expected("02", both));
        let fork = written(&[(true, changes(0..1)), (false, changes(5..6))], 4096);
        assert_eq!(read(&[a, &fork[1], c]), expected("052", "part 3 goes on from another one"));
    }

    #[test]
    fn pieces_without_their_others_are_named() {
        let long = Value::from("x".repeat(9000)).to_string();
        let parts = written(&[(true, vec!["1".into(), long, "2".into()])], 2048);
        for missing in 1..parts.len() - 1 {
            let some: Vec<&str> = parts
                .iter()
                .map(String::as_str)
                .enumerate()
                .filter(|(at, _)| *at != missing)
                .map(|(_, part)| part)
                .collect();
            let journal = Journal::read(&some.join("\n"), "x").unwrap();
            assert!(!journal.findings.is_empty());
            assert!(texts(&journal).iter().all(|text| text == "1" || text == "2"), "{missing}");
        }
        let torn = Journal::read(&parts[..2].join("\n"), "x").unwrap();
        assert_eq!(found(&torn), ["the end is missing"]);
    }

    #[test]
    fn what_is_another_thing_is_refused() {
        let part = written(&[(true, changes(0..1))], 4096).remove(0);
        assert_eq!(Journal::read(&part, "y").unwrap_err().path(), "/0/part/contextweaver");
        let mut end = JournalEnd::default();
        let later = JournalBatch { kind: "x", ..JournalBatch::default() }.write(&mut end, 4096).remove(0);
        let body =
            later[OPENING.len() + SUM_DIGITS + MIDDLE.len()..later.len() - 1].replace("\"version\":1", "\"version\":2");
        let later = format!("{OPENING}{:016x}{MIDDLE}{body}}}", sum_of(&body));
        assert_eq!(Journal::read(&later, "x").unwrap_err().code(), ErrorCode::SnapshotVersion);
    }
}
