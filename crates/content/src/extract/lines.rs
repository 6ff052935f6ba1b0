//! Facts that stand in lines of their own.

use std::collections::{HashMap, HashSet};

use contextweaver_text::lines::lines;
use contextweaver_text::unicode;

/// Finds `key: value` and `key = value` lines; a repeated key keeps its first place and takes its last value.
pub fn key_values(text: &str) -> Vec<(String, &str)> {
    let mut pairs = KeyValuePairs::default();
    lines(text).filter_map(key_value).for_each(|(key, value)| pairs.add(key, value));
    pairs.list
}

/// Keys in the order they were found, with their last values.
#[derive(Default)]
struct KeyValuePairs<'a> {
    list: Vec<(String, &'a str)>,
    places: HashMap<String, usize>,
}

impl<'a> KeyValuePairs<'a> {
    fn add(&mut self, key: String, value: &'a str) {
        if let Some(place) = self.places.get(&key) {
            self.list[*place].1 = value;
        } else {
            self.places.insert(key.clone(), self.list.len());
            self.list.push((key, value));
        }
    }
}

/// Finds the entries of lines such as `1. entry` and `2) entry`.
pub fn numbered(text: &str) -> Vec<&str> {
    lines(text).filter_map(numbered_entry).collect()
}

/// Finds the entries of lines such as `- entry`, `* entry` and `• entry`.
pub fn bullets(text: &str) -> Vec<&str> {
    lines(text).filter_map(bullet_entry).collect()
}

/// Finds `key: value` lines, numbered and bulleted lines, in that order; exact duplicates once.
///
/// ```
/// use contextweaver_content::extract::facts;
///
/// assert_eq!(facts("- pay\nstatus: ok\nprose"), ["status: ok", "pay"]);
/// ```
pub fn facts(text: &str) -> Vec<String> {
    let mut facts: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let (mut pairs, mut numbered, mut bullets) = (KeyValuePairs::default(), Vec::new(), Vec::new());
    // The three begin differently, so that a line is at most one of them.
    for line in lines(text) {
        if let Some((key, value)) = key_value(line) {
            pairs.add(key, value);
        } else if let Some(entry) = numbered_entry(line) {
            numbered.push(entry);
        } else {
            bullets.extend(bullet_entry(line));
        }
    }
    let pairs = pairs.list.into_iter().map(|(key, value)| format!("{key}: {value}"));
    let entries = numbered.into_iter().chain(bullets).map(str::to_owned);
    for fact in pairs.chain(entries) {
        if seen.insert(fact.clone()) {
            facts.push(fact);
        }
    }
    facts
}

/// Reads a line as a key and a value: a key of ASCII letters, digits, `_` and spaces that starts with no digit.
fn key_value(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start_matches(unicode::is_space);
    if !line.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_') {
        return None;
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ');
    let (key, rest) = line.split_at(line.bytes().position(|byte| !plain(&byte))?);
    // Only plain spaces stand inside a key, any may stand behind it.
    let end = line.len() - rest.trim_start_matches(unicode::is_space).len();
    if !line[end..].starts_with([':', '=']) {
        return None;
    }
    let key = key.trim_end_matches(' ').to_ascii_lowercase().replace(' ', "_");
    Some((key, unicode::trim(&line[end + 1..])))
}

fn numbered_entry(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(unicode::is_space);
    let rest = line.trim_start_matches(unicode::is_digit);
    let rest = (rest.len() < line.len()).then_some(rest)?.strip_prefix(['.', ')'])?;
    rest.starts_with(unicode::is_space).then(|| unicode::trim(rest))
}

fn bullet_entry(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(unicode::is_space).strip_prefix(['-', '*', '•'])?;
    rest.starts_with(unicode::is_space).then(|| unicode::trim(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_give_facts() {
        let table: &[(&str, &[&str])] = &[
            ("a = 1\nB two:2\na: 3", &["a: 3", "b_two: 2"]),
            ("a\tb: 1\na \t: 1\n\u{a0}c\u{a0}:\u{1f}x\u{1f}", &["a: 1", "c: x"]),
            ("1abc: no\nkey-dash: no\n: no\nké: no", &[]),
            ("½. no\n1.no\n1) one\n٣. three\n12.) no\n1. ", &["one", "three", ""]),
            ("- a\n--  no\n•\ta\n-no\n* b", &["a", "b"]),
            ("a: 1\u{b}b: 2\u{1c}- c", &["a: 1", "b: 2", "c"]),
        ];
        for (text, expected) in table {
            assert_eq!(&facts(text), expected, "{text}");
        }
    }

    #[test]
    fn long_runs_of_spaces_are_read_once() {
        // A pattern that backtracks tries every way to share the spaces out: 1.7 s for 8,000 of them.
        let spaces = " ".repeat(4_000_000);
        assert!(facts(&format!("a{spaces}b")).is_empty());
        assert_eq!(facts(&format!("a{spaces}: {spaces}b{spaces}\n1.{spaces}")), ["a: b", ""]);
    }
}
