//! Which values of many like records are out of the ordinary.

use std::collections::HashMap;

use super::level::{Level, LevelMatch};
use contextweaver_base::order;
use contextweaver_model::json::parse_float;

/// Different values of a column that are still told apart.
const MAX_VALUES: usize = 16;
/// Numbers of a column that its median is taken from.
const MAX_NUMBERS: usize = 2048;
/// Columns whose values are counted; those found later are not.
const MAX_COLUMNS: usize = 256;
/// Records from which on a value can be out of the ordinary.
const MIN_RECORDS: u32 = 6;

/// The values of one field of many records.
#[derive(Debug, Default)]
pub struct ColumnProfile {
    present: u32,
    /// Values by first appearance, with their counts; no longer kept once there are too many.
    values: Vec<(Box<str>, u32)>,
    is_free: bool,
    numbers: Vec<f64>,
    numeric: u32,
    /// Values that report an error or a warning.
    alarming: u32,
    /// How often the most frequent value occurs.
    most: u32,
    median: f64,
    /// Median distance from the median.
    spread: f64,
}

/// Columns of records, found by name.
#[derive(Debug, Default)]
pub struct Columns {
    names: HashMap<Box<str>, usize>,
    list: Vec<ColumnProfile>,
    rows: u32,
}

/// What is odd about a value, 0 for nothing; an error counts most.
pub type Oddness = u8;

/// Oddness of a value that reports an error.
pub const FAILED: Oddness = 6;

/// The oddest records seen, a bounded number of them.
#[derive(Debug)]
pub struct Oddest {
    list: Vec<(u32, usize)>,
    room: usize,
}

impl Oddest {
    /// Makes an empty list for at most `room` records.
    pub fn new(room: usize) -> Self {
        Self { list: Vec::new(), room }
    }

    /// Takes in the sum of a record's oddness.
    pub fn add(&mut self, score: u32, at: usize) {
        if score > 0 {
            self.list.push((score, at));
        }
        if self.list.len() > 1024 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        order::sort_by(&mut self.list, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        self.list.truncate(self.room);
    }

    /// Returns scores and positions, the oddest first.
    pub fn finish(mut self) -> Vec<(u32, usize)> {
        self.cut();
        self.list
    }
}

impl Columns {
    /// Counts one record.
    pub fn row(&mut self) {
        self.rows += 1;
    }

    /// Takes in one value of a record.
    pub fn add(&mut self, name: &str, value: &str) {
        let alarming = value.len() <= 400 && LevelMatch::of(value).level >= Level::Warning;
        if let Some(column) = self.column(name) {
            column.add(value);
            column.alarming += u32::from(alarming);
        }
    }

    /// Finds or opens a column; there is none when there are too many.
    pub fn column(&mut self, name: &str) -> Option<&mut ColumnProfile> {
        let at = match self.names.get(name) {
            Some(at) => *at,
            None if self.list.len() == MAX_COLUMNS => return None,
            None => {
                self.list.push(ColumnProfile::default());
                self.names.insert(name.into(), self.list.len() - 1);
                self.list.len() - 1
            }
        };
        self.list.get_mut(at)
    }

    /// Computes the medians, once all records are in.
    pub fn finish(&mut self) {
        for column in &mut self.list {
            column.finish();
        }
    }

    /// Tells how odd a value is among those of its column. Call after [`Columns::finish`].
    pub fn oddness(&self, name: &str, value: &str) -> Oddness {
        let Some(column) = self.names.get(name).map(|at| &self.list[*at]) else { return 0 };
        // A value of fields hardly any record has is as rare as its field.
        let rare_field = self.rows >= MIN_RECORDS && column.present * 20 <= self.rows.max(20);
        let oddness = if rare_field { 3 } else { column.oddness(value) };
        match level_of(name, value) {
            Level::Error if column.alarming * 5 <= column.present.max(5) || rare_field => FAILED,
            Level::Warning if column.alarming * 10 <= column.present.max(10) || rare_field => oddness.max(4),
            _ => oddness,
        }
    }

    /// Tells how odd a value is for its column alone, whatever its words say.
    pub fn rarity(&self, name: &str, value: &str) -> Oddness {
        self.names.get(name).map_or(0, |at| self.list[*at].oddness(value))
    }

    /// Tells whether a column has many different values.
    pub fn is_free(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|at| self.list[*at].is_free)
    }

    /// Returns the names of columns that all but a few records have.
    pub fn usual(&self) -> Vec<&str> {
        let rows = self.rows;
        let usual = |at: usize| rows >= MIN_RECORDS && (rows - self.list[at].present.min(rows)) * 20 <= rows.max(20);
        let mut names: Vec<&str> = self.names.iter().filter(|(_, at)| usual(**at)).map(|(name, _)| &**name).collect();
        order::sort(&mut names);
        names
    }
}

impl ColumnProfile {
    /// Takes in one value.
    pub fn add(&mut self, value: &str) {
        self.present += 1;
        if let Some(number) = number(value) {
            self.numeric += 1;
            // Every so many values stand for all, so that a long column costs no more memory.
            let step = (self.numeric as usize / MAX_NUMBERS).next_power_of_two();
            if (self.numeric as usize).is_multiple_of(step) && self.numbers.len() < 4 * MAX_NUMBERS {
                self.numbers.push(number);
            }
        }
        if self.is_free {
            return;
        }
        if let Some(known) = self.values.iter_mut().find(|(known, _)| **known == *value) {
            known.1 += 1;
        } else if self.values.len() < MAX_VALUES && value.len() <= 64 {
            self.values.push((value.into(), 1));
        } else {
            self.is_free = true;
            self.values = Vec::new();
        }
    }

    /// Computes the median, once all values are in.
    pub fn finish(&mut self) {
        self.median = median(&mut self.numbers);
        let mut distances: Vec<f64> = self.numbers.iter().map(|number| (number - self.median).abs()).collect();
        self.spread = median(&mut distances);
        self.numbers = Vec::new();
        self.most = self.values.iter().map(|(_, count)| *count).max().unwrap_or(0);
    }

    fn oddness(&self, value: &str) -> Oddness {
        if self.present < MIN_RECORDS {
            return 0;
        }
        let is_numeric = self.numeric * 10 >= self.present * 9;
        let own = number(value);
        if is_numeric && own.is_none_or(|own| self.spread > 0.0 && (own - self.median).abs() > 20.0 * self.spread) {
            return if own.is_some() { 4 } else { 3 };
        }
        if self.is_free {
            return 0;
        }
        let count = self.values.iter().find(|(known, _)| **known == *value).map_or(0, |(_, count)| *count);
        let most = self.most;
        let factor = if self.values.len() <= 3 { 5 } else { 8 };
        // Rare beside the others, and not one of many that are all rare.
        let rare = count * 20 <= self.present.max(20) && self.values.len() as u32 * 3 <= self.present;
        let own = own.filter(|_| is_numeric);
        let odd = match own {
            None => count * factor <= most,
            // Of a few numbers that repeat, one that lies beyond all others.
            Some(own) => count == 1 && most >= 5 && self.values.len() <= 6 && self.is_outermost(own),
        };
        if rare && odd { 3 } else { 0 }
    }

    /// Tells whether a value is odd beside one that most records have, or a number far from all others.
    pub fn is_exception(&self, value: &str) -> bool {
        let told = if self.is_free { self.numeric * 10 >= self.present * 9 } else { self.most * 2 >= self.present };
        // Where all agree, nothing can be odd.
        told && self.most < self.present && self.present >= 2 * MIN_RECORDS && self.oddness(value) > 0
    }

    fn is_outermost(&self, own: f64) -> bool {
        let others =
            || self.values.iter().filter_map(|(known, _)| number(known)).filter(|known| (known - own).abs() > 0.0);
        others().all(|other| other < own) || others().all(|other| other > own)
    }
}

/// The level of a value, or of its name when the value says that it applies.
pub fn level_of(name: &str, value: &str) -> Level {
    let bare = value.trim_matches('"');
    let last = name.rsplit('.').next().unwrap_or(name);
    let by_value = if bare.len() <= 400 { LevelMatch::of(bare).level } else { Level::None };
    let silent = matches!(bare, "" | "0" | "null" | "false" | "none" | "None" | "[]" | "{}" | "no" | "False" | "No");
    if silent {
        let promise = matches!(last, "ok" | "success" | "succeeded" | "healthy" | "valid" | "ready");
        return if promise && matches!(bare, "false" | "False" | "no" | "No") { Level::Error } else { Level::None };
    }
    // An HTTP status from 400 on.
    let status = matches!(last, "status" | "status_code" | "statusCode" | "code");
    if status && bare.len() == 3 && bare.bytes().all(|byte| byte.is_ascii_digit()) && bare.starts_with(['4', '5']) {
        return Level::Error;
    }
    let by_name = match last {
        "reason" | "stderr" => Level::Error,
        _ => LevelMatch::of(last).level,
    };
    let by_name = if by_name >= Level::Warning { by_name } else { Level::None };
    by_value.max(by_name)
}

/// Reads a number: a decimal comma, a percent sign, a currency sign, groups of three are let pass.
pub fn number(text: &str) -> Option<f64> {
    if text.len() > 40 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain && !text.ends_with('.') {
        return parse_float(text);
    }
    let text = text.trim_matches(|ch: char| matches!(ch, '"' | ' ' | '%' | '$' | '€' | '£'));
    if !text.ends_with(|ch: char| ch.is_ascii_digit()) {
        return None;
    }
    if !text.contains(',') {
        return parse_float(text).filter(|number| number.is_finite());
    }
    let (whole, part) = text.rsplit_once(',')?;
    let grouped = part.len() == 3 || text.contains('.');
    let plain = if grouped { text.replace(',', "") } else { format!("{}.{part}", whole.replace(',', "")) };
    parse_float(&plain)
}

fn median(numbers: &mut [f64]) -> f64 {
    order::sort_by(numbers, f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
