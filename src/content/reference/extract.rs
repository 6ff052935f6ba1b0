//! Facts that stand in lines of their own.

use std::collections::{HashMap, HashSet};

use crate::text::lines::lines;
use crate::text::unicode;

/// Finds `key: value` and `key = value` lines; a repeated key keeps its first place and takes its last value.
pub fn key_values(text: &str) -> Vec<(String, &str)> {
    let mut pairs: Vec<(String, &str)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (key, value) in lines(text).filter_map(key_value) {
        if let Some(place) = places.get(&key) {
            pairs[*place].1 = value;
        } else {
            places.insert(key.clone(), pairs.len());
            pairs.push((key, value));
        }
    }
    pairs
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
pub fn facts(text: &str) -> Vec<String> {
    let mut facts: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let pairs = key_values(text).into_iter().map(|(key, value)| format!("{key}: {value}"));
    let entries = numbered(text).into_iter().chain(bullets(text)).map(str::to_owned);
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
    let end = line.find([':', '='])?;
    let key = line[..end].trim_end_matches(unicode::is_space);
    let starts = key.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_');
    let plain = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == ' ';
    if !starts || !key.chars().all(plain) {
        return None;
    }
    let key = key.to_ascii_lowercase().replace(' ', "_");
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
        // The reference's pattern tries every way to share the spaces out: 1.7 s for 8,000 of them.
        let spaces = " ".repeat(4_000_000);
        assert!(facts(&format!("a{spaces}b")).is_empty());
        assert_eq!(facts(&format!("a{spaces}: {spaces}b{spaces}\n1.{spaces}")), ["a: b", ""]);
    }
}
