//! How much a text calls for attention, by the beginnings of its words. No language model, no context.

/// What a text reports, the more urgent the greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing in particular.
    #[default]
    None,
    /// A count, a total, a decision, something to do.
    Note,
    /// Something may fail, or is slow, old, tried again or taken away.
    Warning,
    /// Something failed.
    Error,
}

use Level::{Error, Note, Warning};

/// The greatest level of a text, and where the word stands that says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hit {
    /// The level.
    pub level: Level,
    /// Byte offset of the word.
    pub at: usize,
}

/// Beginnings of words by their first letter. A final `.` asks for the whole word; `_` is one separator or none.
const STEMS: [&[(&str, Level)]; 26] = [
    &[
        ("abort", Error),
        ("assertion.", Error),
        ("alert.", Warning),
        ("action.", Note),
        ("agreed.", Note),
        ("approved.", Note),
    ],
    &[("back_off.", Warning), ("blocked.", Warning), ("broken.", Warning)],
    &[
        ("corrupt", Error),
        ("could_not.", Error),
        ("crash", Error),
        ("critical.", Error),
        ("cannot.", Error),
        ("cancelled.", Warning),
        ("canceled.", Warning),
        ("caution", Warning),
        ("conflict", Warning),
        ("changed.", Note),
        ("collected.", Note),
        ("completed.", Note),
        ("conclusion.", Note),
    ],
    &[
        ("deadlock", Error),
        ("denied", Error),
        ("did_not.", Error),
        ("does_not.", Error),
        ("declined.", Error),
        ("degraded", Warning),
        ("deprecat", Warning),
        ("destroy.", Warning),
        ("destroyed.", Warning),
        ("down.", Warning),
        ("deleted.", Warning),
        ("draining.", Warning),
        ("disabled.", Warning),
        ("deadline.", Note),
        ("decided.", Note),
        ("decision.", Note),
        ("due.", Note),
        ("duration.", Note),
    ],
    &[
        ("emerg", Error),
        ("err.", Error),
        ("error.", Error),
        ("errors.", Error),
        ("errored.", Error),
        ("exception.", Error),
        ("exceptions.", Error),
        ("exhausted.", Error),
        ("exceeded.", Error),
        ("escalat", Warning),
        ("expired.", Warning),
        ("elapsed.", Note),
        ("emitted.", Note),
    ],
    &[
        ("fail.", Error),
        ("failed.", Error),
        ("failing.", Error),
        ("fails.", Error),
        ("failure", Error),
        ("fatal", Error),
        ("forbidden.", Error),
        ("fixme.", Warning),
        ("finished.", Note),
        ("flushed.", Note),
        ("found.", Note),
    ],
    &[],
    &[],
    &[("insufficient.", Error), ("incident.", Warning), ("invalid.", Warning), ("important.", Note)],
    &[],
    &[("killed.", Error)],
    &[("lost.", Warning), ("loss.", Warning)],
    &[
        ("malicious", Error),
        ("missing.", Warning),
        ("must_be.", Warning),
        ("mismatch", Warning),
        ("matches.", Note),
        ("must.", Note),
    ],
    &[("not_found", Warning), ("not_ready", Warning), ("note.", Note)],
    &[("oom.", Error), ("outage", Error), ("overflow.", Error), ("offline.", Warning), ("overdue.", Warning)],
    &[
        ("panic", Error),
        ("passed.", Note),
        ("passing.", Note),
        ("pending.", Note),
        ("plan.", Note),
        ("processed.", Note),
    ],
    &[],
    &[
        ("refused.", Error),
        ("rejected.", Error),
        ("retries.", Warning),
        ("retry.", Warning),
        ("retrying.", Warning),
        ("retried.", Warning),
        ("revert", Warning),
        ("rollback", Warning),
        ("rolled_back", Warning),
        ("ran.", Note),
        ("required.", Note),
        ("results.", Note),
        ("rows.", Note),
    ],
    &[
        ("segfault", Error),
        ("severe.", Error),
        ("slow.", Warning),
        ("stale.", Warning),
        ("suspended.", Warning),
        ("suspicious", Warning),
        ("skipped.", Note),
        ("sum.", Note),
        ("summary.", Note),
    ],
    &[
        ("timed_out", Error),
        ("timeout.", Error),
        ("traceback", Error),
        ("throttl", Warning),
        ("todo.", Warning),
        ("total.", Note),
        ("totals.", Note),
        ("tests.", Note),
    ],
    &[
        ("unable.", Error),
        ("uncaught", Error),
        ("undefined.", Error),
        ("unhandled", Error),
        ("unauthorized", Error),
        ("unreachable", Error),
        ("unresolved.", Error),
        ("unhealthy", Warning),
        ("unstable.", Warning),
        ("unused.", Warning),
    ],
    &[("violat", Error), ("vulnerab", Error)],
    &[("warn", Warning), ("wrn.", Warning), ("wrote.", Note)],
    &[],
    &[],
    &[],
];

/// Marks of failure that are no words.
const MARKS: &[char] = &['✗', '✘', '✖', '❌'];

impl Hit {
    /// Reads a text; linear in it.
    pub fn of(text: &str) -> Self {
        let mut hit = Self::default();
        if !text.is_ascii() {
            if let Some(at) = text.find(MARKS) {
                hit = Self { level: Error, at };
            }
        }
        let bytes = text.as_bytes();
        let mut before = b' ';
        for at in 0..bytes.len() {
            let byte = bytes[at];
            if byte.is_ascii_alphabetic() && starts_word(before, byte, bytes.get(at + 1).copied()) {
                let level = level_at(bytes, at);
                if level > hit.level && !is_denied(text, at) {
                    hit = Self { level, at };
                }
            }
            before = byte;
        }
        hit
    }
}

/// A letter after something else, or a capital that opens the next part of a name (`BackOff`, `OOMKilled`).
fn starts_word(before: u8, byte: u8, after: Option<u8>) -> bool {
    let capital = byte.is_ascii_uppercase();
    !(before.is_ascii_alphabetic() || before >= 0x80)
        || (capital && before.is_ascii_lowercase())
        || (capital && after.is_some_and(|next| next.is_ascii_lowercase()))
}

fn level_at(bytes: &[u8], at: usize) -> Level {
    let letter = usize::from(bytes[at].to_ascii_lowercase() - b'a');
    let stems = STEMS[letter].iter();
    stems.filter(|(stem, _)| matches_stem(&bytes[at..], stem)).map(|(_, level)| *level).max().unwrap_or_default()
}

fn matches_stem(bytes: &[u8], stem: &str) -> bool {
    let mut at = 0;
    for wanted in stem.bytes() {
        let found = bytes.get(at).copied().unwrap_or(0);
        match wanted {
            // `TypeErrors` and `typeErrorCode` hold the word, `errorless` does not.
            b'.' => return !found.is_ascii_lowercase() || (found == b's' && !is_lower(bytes.get(at + 1))),
            b'_' => at += usize::from(matches!(found, b' ' | b'_' | b'-')),
            _ if found.to_ascii_lowercase() == wanted => at += 1,
            _ => return false,
        }
    }
    true
}

fn is_lower(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_lowercase)
}

/// Tells whether a word says nothing here: `0 errors`, `failed: 0`, `"error": null`, `src/error.rs`, `--fail-fast`.
fn is_denied(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let begin = bytes[..at].iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |last| last + 1);
    let end = at + bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len() - at);
    let (head, tail) = (&bytes[..begin], &bytes[end..]);
    let follows = tail.get(1).is_some_and(u8::is_ascii_alphanumeric);
    let named =
        matches!(head.last(), Some(b'/' | b'-')) || (matches!(tail.first(), Some(b'/' | b'.' | b'(')) && follows);
    named || follows_none(head) || says_none(tail)
}

fn follows_none(head: &[u8]) -> bool {
    let words = head.trim_ascii_end();
    let start = words.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |last| last + 1);
    // A decimal is not zero: `1.0 failed`.
    let alone = start == 0 || !matches!(words[start - 1], b'.' | b',' | b':');
    words.len() < head.len() && alone && matches!(&words[start..], b"0" | b"no" | b"No" | b"zero" | b"without")
}

fn says_none(tail: &[u8]) -> bool {
    let tail = tail.strip_prefix(b"\"").unwrap_or(tail).trim_ascii_start();
    let [b':' | b'=', value @ ..] = tail else { return false };
    let value = value.trim_ascii_start();
    let end = value.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.').unwrap_or(value.len());
    let (word, rest) = value.split_at(end);
    let empty = [&b"\"\""[..], b"[]", b"{}"].iter().any(|empty| rest.starts_with(empty));
    matches!(word, b"0" | b"null" | b"none" | b"None" | b"false" | b"False" | b"no" | b"nil")
        || (word.is_empty() && empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart() {
        let cases = [
            ("2026-03-01T10:00:00Z ERROR order failed", Error),
            ("java.lang.NullPointerException: x", Error),
            ("E   AssertionError: expected 709 got 389", Error),
            ("✗ renders", Error),
            ("upstream timed out", Error),
            ("CrashLoopBackOff", Error),
            ("ImagePullBackOff", Warning),
            ("OOMKilled", Error),
            ("ContainersNotReady", Warning),
            ("src/error.rs:12: let a = 1;", Level::None),
            ("cargo test --fail-fast", Level::None),
            ("0 errors, 0 warnings", Level::None),
            ("no errors here", Level::None),
            ("\"error\": null, \"failed\": false", Level::None),
            ("\"error\": \"\", \"errors\": [],", Level::None),
            ("\"error\": \"card_declined\"", Error),
            ("errors: 3", Error),
            ("WARN slow query in 89s", Warning),
            ("> v3.4 is deprecated", Warning),
            ("=== 1 failed, 139 passed in 22.76s ===", Error),
            ("test result: ok. 5 passed; 0 failed;", Note),
            ("collected 140 items", Note),
            ("an ordinary line about performance and terror", Level::None),
            ("", Level::None),
        ];
        for (text, expected) in cases {
            assert_eq!(Hit::of(text).level, expected, "{text}");
        }
    }
}
