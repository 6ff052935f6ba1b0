//! Texts made of lines: logs, test runs, builds, traces, search results, Markdown, configuration, prose.

use std::collections::HashSet;

use super::level::{Level, LevelMatch};
use super::survey::{Alarm, LineUnit, Survey, bare, form, has_digit, indent, level, pair};
use super::{
    DigestFacts, PIECE_CHARS, Rank, around, around_within, count, json, leaves, lines_at, tables, token_start,
};
use crate::code::{Defined, defines};
use crate::sniff::Shape;
use contextweaver_base::order;
use contextweaver_text::unicode::floor_char_boundary;

/// Bytes from which on a line is read piece by piece.
const LONG_LINE: usize = 400;
/// Characters of the first and the last line.
const ENDS_CHARS: usize = 75;
/// Lines around an error that are searched for its place.
const NEAR: usize = 6;

/// Names candidates of a text of lines.
pub fn facts(text: &str, shape: Shape, facts: &mut DigestFacts) {
    let mut skip = Vec::new();
    // Brackets and columns of code are no data.
    if shape == Shape::Code {
    } else if let Some((start, end)) = leaves::block(text) {
        json::embedded(&text[start..end], start, facts);
        skip.push((start, end));
    } else if let Some((start, end)) = tables::aligned(text, facts) {
        skip.push((start, end));
    }
    prose(text, &skip, shape, facts);
}

/// Names candidates of the lines outside the given ranges.
pub fn prose(text: &str, skip: &[(usize, usize)], shape: Shape, facts: &mut DigestFacts) {
    let mut survey = Survey::default();
    each_unit(text, skip, &mut |unit| survey.take(unit, shape));
    survey.finish();
    let lines = text.lines().count();
    let head = match shape {
        Shape::Matches => format!("{} in {}", count(survey.units, "match"), count(survey.paths.len(), "file")),
        Shape::Code => format!("{} of code", count(lines, "line")),
        Shape::Text if survey.units > 3 * lines => {
            format!("{}, {} characters", count(lines, "line"), text.chars().count())
        }
        _ => count(lines, "line"),
    };
    // The table or the value that fills the text has been counted; markup has no lines of its own.
    if shape != Shape::Markup && (skip.is_empty() || survey.units > 12) {
        facts.add(Rank::Head, 0, "", &head);
    }
    let mut reader = LineReader {
        survey: &survey,
        text,
        shape,
        facts,
        seen: HashSet::new(),
        at: 0,
        errors: Vec::new(),
        notes: Vec::new(),
        opening: true,
    };
    each_unit(text, skip, &mut |unit| reader.take(unit));
    reader.finish();
}

fn each_unit<'a>(text: &'a str, skip: &[(usize, usize)], take: &mut dyn FnMut(LineUnit<'a>)) {
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let start = place;
        place += line.len();
        if skip.iter().any(|(from, to)| (*from..*to).contains(&start)) {
            continue;
        }
        let mut rest = line.trim_end();
        while !rest.is_empty() {
            let end = if rest.len() > LONG_LINE { piece_end(rest) } else { rest.len() };
            let (piece, tail) = rest.split_at(end);
            if piece.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80) {
                take(LineUnit { place: start + (line.trim_end().len() - rest.len()), text: piece });
            }
            rest = tail.trim_start();
        }
    }
}

/// The end of a sentence if one is near, otherwise the end of a word, otherwise anywhere.
fn piece_end(text: &str) -> usize {
    let window = &text[..floor_char_boundary(text, PIECE_CHARS + 40)];
    let bytes = window.as_bytes();
    let ends = |at: usize| matches!(bytes[at], b'.' | b'!' | b'?' | b';') && bytes.get(at + 1) == Some(&b' ');
    match (24..bytes.len()).find(|at| ends(*at)) {
        Some(at) => at + 1,
        None => window.rfind(' ').filter(|at| *at > 0).unwrap_or(window.len()),
    }
}

struct LineReader<'s, 'a, 'f> {
    survey: &'s Survey,
    text: &'a str,
    shape: Shape,
    facts: &'f mut DigestFacts,
    seen: HashSet<u64>,
    at: usize,
    errors: Vec<(u32, LineUnit<'a>, LevelMatch)>,
    notes: Vec<(u32, LineUnit<'a>)>,
    /// Whether all lines so far are pairs, as at the head of a message.
    opening: bool,
}

impl<'a> LineReader<'_, 'a, '_> {
    fn take(&mut self, unit: LineUnit<'a>) {
        self.at += 1;
        let text = bare(unit.text);
        if self.at == 1 || unit.place == self.survey.last {
            let alike = self.survey.alike(self.at - 1);
            let label = if self.at == 1 && alike > 4 && has_digit(text) {
                format!("{alike} lines like")
            } else {
                String::new()
            };
            self.facts.add(Rank::Ends, unit.place, &label, &end_of(text, self.at > 1));
        }
        if self.shape == Shape::Code {
            self.definition(unit, text);
            return;
        }
        self.outline(unit, text);
        match self.survey.level(self.at - 1) {
            Level::Error | Level::Warning => self.alarm(unit, level(unit.text)),
            Level::Note if has_digit(text) || text.contains(':') => {
                // What many lines of one form say is no total.
                let odd = self.survey.is_odd(self.at - 1, unit.text);
                if odd || self.survey.alike(self.at - 1) <= 8 { self.note(unit, odd) } else { self.odd(unit, text) }
            }
            _ => self.odd(unit, text),
        }
    }

    fn outline(&mut self, unit: LineUnit, text: &str) {
        let markdown = matches!(self.shape, Shape::Markdown | Shape::Markup) && unit.text.starts_with('#');
        let section = indent(unit.text) == 0 && unit.text.ends_with(':') && text.len() < 60;
        if markdown || (section && pair(unit.text).is_some()) {
            self.facts.add(Rank::Schema, unit.place, "", text);
        }
        let before = &self.text[..unit.place];
        self.opening &= self.at < 24 && !before.ends_with("\n\n") && !before.ends_with("\r\n\r\n");
        let pair = if self.opening { pair(unit.text) } else { None };
        self.opening &= self.at <= 2 || pair.is_some();
        if pair.is_some_and(|(_, value)| !value.is_empty()) {
            self.facts.add(Rank::Id, unit.place, "", &around(text, 0));
        }
    }

    /// Notes what code defines, functions and types before names; words such as `error` are names here.
    fn definition(&mut self, unit: LineUnit, text: &str) {
        let Some(defined) = defines(unit.text) else { return };
        let rank = match defined {
            _ if !self.seen.insert(form(text, false)) => Rank::More,
            Defined::Structure if indent(unit.text) == 0 => Rank::Total,
            Defined::Structure | Defined::Name => Rank::Schema,
        };
        self.facts.add(rank, unit.place, "", &around(text, 0));
    }

    fn alarm(&mut self, unit: LineUnit<'a>, hit: LevelMatch) {
        let form = form(bare(unit.text), false);
        // Tools repeat a message under different prefixes: the same end of a long line counts as the same message.
        let end = unit.text.len().saturating_sub(40);
        let repeats = unit.text.len() > 60
            && unit.text.get(end..).is_some_and(|end| !self.seen.insert(super::survey::form(end, false)));
        if self.seen.insert(form) && !repeats && self.errors.len() < 4 * super::MAX_PER_RANK {
            let times = self.survey.alarms.get(&form).map_or(1, |alarm| alarm.count);
            let text = unit.text.trim_start();
            let cause = u32::from(text.starts_with("Caused by"));
            let named = ["Error: ", "Exception: ", "error[", "panic: ", "FAILED", "ERROR"]
                .iter()
                .any(|mark| text.contains(mark));
            let mut score = 4 * cause + 2 * u32::from(named) + u32::from(times == 1);
            if hit.level == Level::Warning {
                score = u32::from(times == 1);
            } else if cause == 1 {
                // Of a chain of causes, the last one is the innermost.
                self.errors.iter_mut().for_each(|(score, _, _)| *score = (*score).min(3));
            }
            self.errors.push((score, unit, hit));
        }
    }

    fn note(&mut self, unit: LineUnit<'a>, odd: bool) {
        if self.notes.len() < 4 * super::MAX_PER_RANK {
            let near_end = self.at + 8 > self.survey.units;
            self.notes.push((if near_end || odd { 2 } else { u32::from(self.at < 8) }, unit));
        } else if self.at + 8 > self.survey.units {
            self.notes.pop();
            self.notes.push((2, unit));
        }
    }

    fn odd(&mut self, unit: LineUnit<'a>, text: &str) {
        let pair = pair(unit.text);
        if pair.is_some_and(|(key, value)| self.survey.pairs.rarity(key, value) > 0) {
            self.facts.add(Rank::Odd, unit.place, "", &around(text, 0));
            self.parents(unit);
        } else if text.starts_with("...") {
        } else if self.survey.is_odd(self.at - 1, unit.text) {
            self.facts.add(Rank::Odd, unit.place, "", &around(text, 0));
        } else if self.survey.with_digits * 10 <= self.survey.units * 3 && has_digit(text) {
            let at = text.find(|ch: char| ch.is_ascii_digit()).unwrap_or(0);
            self.facts.add(Rank::Odd, unit.place, "", &around(text, at));
        } else if text.len() >= 40
            && pair.is_none()
            && matches!(self.shape, Shape::Text | Shape::Markdown | Shape::Markup)
        {
            self.facts.add(Rank::More, unit.place, "", &around(text, 0));
        }
    }

    /// The line that an indented line belongs to, or the two lines before.
    fn parents(&mut self, unit: LineUnit) {
        let depth = indent(unit.text);
        let before = self.text[..unit.place].lines().rev().take(40);
        let before = before.map(|line| (line.as_ptr() as usize - self.text.as_ptr() as usize, line));
        let mut found = before.filter(|(_, line)| !line.trim().is_empty());
        let add = |facts: &mut DigestFacts, (place, line): (usize, &str)| {
            facts.add(Rank::Cause, place, "", &around(bare(line), 0));
        };
        if depth > 0 {
            if let Some(parent) = found.find(|(_, line)| indent(line) < depth) {
                add(self.facts, parent);
            }
        } else {
            found.take(2).for_each(|line| add(self.facts, line));
        }
    }

    fn finish(mut self) {
        let mut errors = std::mem::take(&mut self.errors);
        order::sort_by(&mut errors, |a, b| b.2.level.cmp(&a.2.level).then(b.0.cmp(&a.0)));
        for (_, unit, hit) in errors {
            let is_error = hit.level == Level::Error;
            let alarm = self.survey.alarms.get(&form(bare(unit.text), false)).copied().unwrap_or_default();
            let label = match alarm {
                Alarm { count: 0 | 1, .. } => String::new(),
                Alarm { count, is_same: true, .. } => format!("{count} times"),
                Alarm { count, .. } => format!("{count} similar lines"),
            };
            let text = around(unit.text, hit.at);
            self.facts.add(if is_error { Rank::Error } else { Rank::Warning }, unit.place, &label, bare(&text));
            if is_error {
                if let Some((place, line)) = location(self.text, unit) {
                    self.facts.add(Rank::Cause, place, "", &around(line.trim(), 0));
                }
                self.facts.look_at("around the first error", lines_at(self.text, unit.place, NEAR, NEAR));
            }
        }
        let mut notes = std::mem::take(&mut self.notes);
        order::sort_by(&mut notes, |a, b| b.0.cmp(&a.0));
        for (_, unit) in notes {
            self.facts.add(Rank::Total, unit.place, "", &around(bare(unit.text), 0));
        }
    }
}

/// The beginning of a line, or its end.
fn end_of(text: &str, last: bool) -> String {
    let from = text.char_indices().rev().nth(ENDS_CHARS).map_or(0, |(from, _)| from);
    let from = if from > 0 { token_start(text, from, text.len()) } else { 0 };
    if last && from > 0 { format!("…{}", &text[from..]) } else { around_within(text, 0, ENDS_CHARS) }
}

/// Finds the nearest line that says where in the code an error is: after it, or before it as in Python.
fn location<'a>(text: &'a str, unit: LineUnit) -> Option<(usize, &'a str)> {
    if names_place(unit.text) {
        return None;
    }
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let after = |lines: usize| text[unit.place..].lines().skip(1).take(lines).find(|line| is_frame(line));
    let before = || text[..unit.place].lines().rev().take(3).find(|line| is_frame(line));
    after(2).or_else(before).or_else(|| after(NEAR)).map(|line| (offset(line), line))
}

fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    let begins = ["at ", "File ", "--> ", "on "].iter().any(|mark| text.starts_with(mark));
    let alone = text.len() < 120 && !text.trim_end().contains(' ');
    (begins || alone || text.len() < line.len()) && names_place(text)
}

/// `file.rs:12`, `line 12`.
fn names_place(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let after_name = |at: usize| {
        let name = &text[..at];
        let word = name.rsplit([' ', '(', '\t', '"', '/']).next().unwrap_or("");
        word.rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && end.starts_with(|ch: char| ch.is_ascii_alphabetic()))
    };
    text.match_indices(':').take(8).any(|(at, _)| digit(at + 1) && after_name(at))
        || text.match_indices("line ").any(|(at, _)| digit(at + 5))
}
