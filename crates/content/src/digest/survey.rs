//! What a first pass over the lines of a text learns: their forms, the pairs in them, which errors repeat.

use std::collections::{HashMap, HashSet};

use super::columns::{ColumnProfile, Columns};
use super::level::{Level, LevelMatch};
use crate::sniff::{self, Shape};

/// Kinds of lines that are told apart.
const MAX_KINDS: usize = 20_000;
/// Kinds whose words are compared place by place, and words of a line.
const MAX_COMPARED: usize = 8;
const MAX_WORDS: usize = 16;

/// A piece of the text: a line, or part of a long one.
#[derive(Debug, Clone, Copy)]
pub struct LineUnit<'a> {
    pub place: usize,
    pub text: &'a str,
}

/// Errors and warnings of one form, in which numbers are alike.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alarm {
    pub count: u32,
    /// Hash of the first one.
    print: u64,
    /// Whether all say the same to the letter.
    pub is_same: bool,
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// What the first pass learns.
#[derive(Default)]
pub struct Survey {
    pub units: usize,
    pub with_digits: usize,
    /// Kind and level of every unit, so that nothing is read twice.
    marks: Vec<(u32, Level)>,
    /// Kinds by their form, numbered as they appear, and how many units are of each.
    kinds: HashMap<u64, u32>,
    counts: Vec<u32>,
    /// Words of the lines of the first kinds, by their place in the line.
    pub words: Vec<Vec<ColumnProfile>>,
    /// Whether the lines are mostly of a few kinds.
    pub is_regular: bool,
    pub pairs: Columns,
    /// Errors by their form.
    pub alarms: HashMap<u64, Alarm>,
    pub paths: HashSet<u64>,
    pub last: usize,
}

impl Survey {
    pub fn take(&mut self, unit: LineUnit, shape: Shape) {
        self.units += 1;
        self.last = unit.place;
        self.with_digits += usize::from(has_digit(unit.text));
        let level = level(unit.text).level;
        let kind = self.kind_of(form(unit.text, true));
        self.marks.push((kind, level));
        if let Some(columns) = self.words.get_mut(kind as usize) {
            words(unit.text).zip(columns).for_each(|(word, column)| column.add(word));
        }
        let column = pair(unit.text).and_then(|(key, value)| Some((self.pairs.column(key)?, value)));
        if let Some((column, value)) = column {
            column.add(value);
        }
        if level >= Level::Warning && self.alarms.len() < MAX_KINDS {
            let text = bare(unit.text);
            let print = text.bytes().fold(FNV_START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
            let alarm = self.alarms.entry(form(text, false)).or_insert(Alarm { count: 0, print, is_same: true });
            alarm.count += 1;
            alarm.is_same &= alarm.print == print;
        }
        let path = if shape == Shape::Matches { sniff::match_parts(unit.text) } else { None };
        if let Some((path, _, _)) = path {
            self.paths.insert(
                path.bytes().fold(0, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
            );
        }
    }

    pub fn finish(&mut self) {
        self.pairs.finish();
        self.words.iter_mut().flatten().for_each(ColumnProfile::finish);
        let common: u32 = self.counts.iter().filter(|count| **count >= 4).sum();
        self.is_regular = self.units >= 12 && common as usize * 10 >= self.units * 7;
    }

    fn kind_of(&mut self, form: u64) -> u32 {
        let next = self.counts.len();
        let kind = match self.kinds.get(&form) {
            Some(kind) => *kind,
            None if next == MAX_KINDS => return u32::MAX,
            None => {
                self.kinds.insert(form, next as u32);
                self.counts.push(0);
                if next < MAX_COMPARED {
                    self.words.push((0..MAX_WORDS).map(|_| ColumnProfile::default()).collect());
                }
                next as u32
            }
        };
        self.counts[kind as usize] += 1;
        kind
    }

    pub fn level(&self, unit: usize) -> Level {
        self.marks.get(unit).map(|(_, level)| *level).unwrap_or_default()
    }

    /// Counts the units of the same form as the `unit`th, itself among them.
    pub fn alike(&self, unit: usize) -> usize {
        self.marks.get(unit).and_then(|(kind, _)| self.counts.get(*kind as usize)).map_or(1, |count| *count as usize)
    }

    /// Tells whether a line is of a form that hardly occurs in a regular text, or differs from the lines of its form in
    /// a word where they agree.
    pub fn is_odd(&self, unit: usize, text: &str) -> bool {
        if self.is_regular && self.alike(unit) <= 1 + self.units / 100 {
            return true;
        }
        let columns = self.marks.get(unit).and_then(|(kind, _)| self.words.get(*kind as usize));
        columns.is_some_and(|columns| words(text).zip(columns).any(|(word, column)| column.is_exception(word)))
    }
}

/// The words of a line; of `key=value` and of a number with a short unit, what can be compared.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace().map(|word| {
        let bytes = word.as_bytes();
        let mark = |byte: &u8| matches!(byte, b',' | b';' | b'(' | b')' | b'[' | b']' | b'"');
        let from = bytes.iter().rposition(|byte| *byte == b'=').map_or(0, |at| at + 1);
        let from = from + bytes[from..].iter().take_while(|byte| mark(byte)).count();
        let end = bytes[from..].iter().rposition(|byte| !mark(byte)).map_or(from, |at| from + at + 1);
        let unit = bytes[from..end].iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is_amount = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let amount = unit <= 3 && unit < end - from && bytes[from..end - unit].iter().all(is_amount);
        word.get(from..if amount { end - unit } else { end }).unwrap_or(word)
    })
}

/// Hashes the form of a line: numbers are alike; with `words`, words are alike too.
pub fn form(text: &str, words: bool) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = text.as_bytes();
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
        if !is_word(&bytes[at]) {
            // Runs of one character are alike whatever their length; spaces between words are part of the words.
            if bytes[at] != last && !(words && last == b'w' && bytes[at] == b' ') {
                mix(bytes[at]);
                last = bytes[at];
            }
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len() - at);
        let word = &bytes[at..end];
        if word.iter().any(u8::is_ascii_digit) {
            mix(b'0');
            last = b'0';
        } else if !words {
            for byte in word {
                mix(*byte);
            }
            last = b'a';
        } else if last != b'w' {
            mix(b'w');
            last = b'w';
        }
        at = end;
    }
    hash
}

/// `key: value` or `key=value` with a short plain key; the value may be empty.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().trim_start_matches("- ");
    let at = text.bytes().take(48).position(|byte| matches!(byte, b':' | b'='))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b' ');
    let (key, value) = (text[..at].trim_end(), text[at + 1..].trim());
    let named = key.starts_with(|ch: char| ch.is_ascii_alphabetic() || matches!(ch, '_' | '"'))
        && key.bytes().all(plain)
        && key.split(' ').count() <= 2;
    (named && !value.starts_with("//")).then_some((key, value))
}

/// The level of a line, lowered where the line itself says that all is well.
pub fn level(line: &str) -> LevelMatch {
    let mut hit = LevelMatch::of(line);
    let end = line.trim_end();
    if ["PASSED", "PASS", " ok", " OK", "✓"].iter().any(|verdict| end.ends_with(verdict)) || end.starts_with("✓") {
        hit.level = Level::None;
    }
    let calm = |word: &str| matches!(word, "INFO" | "DEBUG" | "TRACE" | "info" | "debug" | "I");
    let mut words = line.split([' ', '[', ']', '=', '|', '\t', '"', ':']).filter(|word| !word.is_empty()).take(9);
    if hit.level > Level::Note && words.any(calm) {
        hit.level = if hit.level == Level::Error { Level::Warning } else { Level::Note };
    }
    hit
}

/// Takes off rules around a title: `=== 3 failed ===`.
pub fn bare(text: &str) -> &str {
    let mut text = text.trim();
    let may_rule = |byte: Option<&u8>| matches!(byte, Some(b'=' | b'-' | b'*' | b'_' | b'~'));
    if !may_rule(text.as_bytes().first()) && !may_rule(text.as_bytes().last()) {
        return text;
    }
    for mark in ['=', '-', '*', '_', '~'] {
        let run = |part: &str| part.len() >= 3 && part.chars().all(|ch| ch == mark);
        let start = text.len() - text.trim_start_matches(mark).len();
        if run(&text[..start]) {
            text = text[start..].trim();
        }
        let end = text.trim_end_matches(mark).len();
        if run(&text[end..]) {
            text = text[..end].trim();
        }
    }
    text
}

pub fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

pub fn indent(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
