//! Tells how much a text calls for attention, by the beginnings of its words and without a language model.

use contextweaver_text::data::Base64Runs;
use contextweaver_text::openings::Openings;

/// What a text reports. A more urgent level is greater.
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

/// The greatest level in a text, and the position of the word that shows it.
#[derive(Debug, Clone, Copy, Default)]
pub struct LevelMatch {
    pub level: Level,
    /// Byte offset of the word.
    pub at: usize,
}

/// The beginnings of words, by their first letter from `a` to `z`, in three lists: errors, warnings, notes. A final `.`
/// means that the word must end there, except for a plural `s`. A `_` is a space, hyphen, underscore or nothing.
#[rustfmt::skip]
const STEMS: [[&[&str]; 3]; 26] = [
    [&["abort", "assertion."], &["alert."], &["action.", "agreed.", "approved."]],
    [&[], &["back_off.", "blocked.", "broken."], &[]],
    [&["corrupt", "could_not.", "crash", "critical.", "cannot."], &["cancelled.", "canceled.", "caution", "conflict"], &["changed.", "collected.", "completed.", "conclusion."]],
    [&["deadlock", "denied", "did_not.", "does_not.", "declined."], &["degraded", "deprecat", "destroy.", "destroyed.", "down.", "deleted.", "draining.", "disabled."], &["deadline.", "decided.", "decision.", "due.", "duration."]],
    [&["emerg", "err.", "error.", "errors.", "errored.", "exception.", "exceptions.", "exhausted.", "exceeded."], &["escalat", "expired."], &["elapsed.", "emitted."]],
    [&["fail.", "failed.", "failing.", "fails.", "failure", "fatal", "forbidden."], &["fixme."], &["finished.", "flushed.", "found."]],
    [&[], &[], &[]],
    [&[], &[], &[]],
    [&["insufficient."], &["incident.", "invalid."], &["important."]],
    [&[], &[], &[]],
    [&["killed."], &[], &[]],
    [&[], &["lost.", "loss."], &[]],
    [&["malicious"], &["missing.", "must_be.", "mismatch"], &["matches.", "must."]],
    [&[], &["not_found", "not_ready"], &["note."]],
    [&["oom.", "outage", "overflow."], &["offline.", "overdue."], &[]],
    [&["panic"], &[], &["passed.", "passing.", "pending.", "plan.", "processed."]],
    [&[], &[], &[]],
    [&["refused.", "rejected."], &["retries.", "retry.", "retrying.", "retried.", "revert", "rollback", "rolled_back", "roll_back."], &["ran.", "required.", "results.", "rows."]],
    [&["segfault", "severe."], &["slow.", "stale.", "suspended.", "suspicious"], &["skipped.", "sum.", "summary."]],
    [&["timed_out", "timeout.", "traceback"], &["throttl", "todo."], &["total.", "totals.", "tests."]],
    [&["unable.", "uncaught", "undefined.", "unhandled", "unauthorized", "unreachable", "unresolved."], &["unhealthy", "unstable.", "unused."], &[]],
    [&["violat", "vulnerab"], &[], &[]],
    [&[], &["warn", "wrn."], &["wrote."]],
    [&[], &[], &[]],
    [&[], &[], &[]],
    [&[], &[], &[]],
];

/// The first two letters of all stems. Most words begin with none of them, and need no further look.
const OPENINGS: Openings = {
    let mut openings = Openings::NONE;
    let mut at = 0;
    while at < 3 * STEMS.len() {
        let stems = STEMS[at / 3][at % 3];
        let mut stem = 0;
        while stem < stems.len() {
            openings = openings.with(stems[stem]);
            stem += 1;
        }
        at += 1;
    }
    openings
};

/// Symbols of failure.
const MARKS: &[char] = &['✗', '✘', '✖', '❌'];

impl LevelMatch {
    /// Finds the greatest level in a text, in linear time. Long runs of base64 are skipped.
    pub fn of(text: &str) -> Self {
        let mut hit = Self::default();
        if let Some(at) = if text.is_ascii() { None } else { text.find(MARKS) } {
            hit = Self { level: Error, at };
        }
        let bytes = text.as_bytes();
        let (mut at, mut before) = (0, b' ');
        let mut data = Base64Runs::of(text);
        while at < bytes.len() {
            if let Some(end) = data.end(at) {
                (at, before) = (end, b' ');
                continue;
            }
            let byte = bytes[at];
            if byte.is_ascii_alphabetic() && starts_word(before, byte, bytes.get(at + 1).copied()) {
                let level = level_at(bytes, at);
                if level > hit.level && !is_denied(text, at) {
                    hit = Self { level, at };
                    if level == Error {
                        break;
                    }
                }
            }
            before = byte;
            at += 1;
        }
        hit
    }
}

/// Tells whether a letter starts a word: it stands behind a character that is no letter, or it is a capital that opens
/// the next part of a name, as in `BackOff` and `OOMKilled`.
fn starts_word(before: u8, byte: u8, after: Option<u8>) -> bool {
    let capital = byte.is_ascii_uppercase();
    !(before.is_ascii_alphabetic() || before >= 0x80)
        || (capital && before.is_ascii_lowercase())
        || (capital && after.is_some_and(|next| next.is_ascii_lowercase()))
}

fn level_at(bytes: &[u8], at: usize) -> Level {
    if !OPENINGS.may_start(&bytes[at..]) {
        return Level::None;
    }
    let letter = usize::from(bytes[at].to_ascii_lowercase() - b'a');
    let second = bytes.get(at + 1).copied().unwrap_or(0).to_ascii_lowercase();
    let may = |stem: &str| stem.as_bytes()[1] == second;
    let has = |level: usize| STEMS[letter][level].iter().any(|stem| may(stem) && matches_stem(&bytes[at..], stem));
    [Error, Warning, Note].into_iter().enumerate().find(|(at, _)| has(*at)).map_or(Level::None, |(_, level)| level)
}

fn matches_stem(bytes: &[u8], stem: &str) -> bool {
    let mut at = 0;
    for wanted in stem.bytes() {
        let found = bytes.get(at).copied().unwrap_or(0);
        match wanted {
            // `TypeErrors` and `typeErrorCode` hold the word; `errorless` and `DOWNLOAD` do not.
            b'.' => return ends_word(bytes, at) || (found | 0x20 == b's' && ends_word(bytes, at + 1)),
            b'_' => at += usize::from(matches!(found, b' ' | b'_' | b'-')),
            _ if found.to_ascii_lowercase() == wanted => at += 1,
            _ => return false,
        }
    }
    true
}

/// Tells whether a word ends before a byte: it is no letter, or opens the next part of a name.
fn ends_word(bytes: &[u8], at: usize) -> bool {
    let next = bytes.get(at).copied().unwrap_or(0);
    !next.is_ascii_alphabetic() || starts_word(bytes[at - 1], next, bytes.get(at + 1).copied())
}

/// Tells whether the text around a word takes its meaning away, as in `0 errors`, `failed: 0`, `"error": null`,
/// `src/error.rs` and `--fail-fast`.
fn is_denied(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let begin = bytes[..at].iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |last| last + 1);
    let end = at + bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len() - at);
    let (head, tail) = (&bytes[..begin], &bytes[end..]);
    // `2 error(s)` counts errors, `error(x)` calls a function.
    let follows = tail.get(1).is_some_and(u8::is_ascii_alphanumeric) && !tail.starts_with(b"(s)");
    let named =
        matches!(head.last(), Some(b'/' | b'-')) || (matches!(tail.first(), Some(b'/' | b'.' | b'(')) && follows);
    // A setting such as `timeout: 30` does not report a timeout.
    let setting =
        bytes[at..end].eq_ignore_ascii_case(b"timeout") && matches!(tail.first(), Some(b'_' | b':' | b'=' | b'"'));
    let spaced = bytes[at..end].eq_ignore_ascii_case(b"timeout") && tail.trim_ascii_start().starts_with(b"=");
    named || setting || spaced || follows_none(head) || says_none(tail)
}

fn follows_none(head: &[u8]) -> bool {
    let words = head.trim_ascii_end();
    let start = words.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |last| last + 1);
    // A decimal is not zero: `1.0 failed`.
    let alone = start == 0 || !matches!(words[start - 1], b'.' | b',' | b':');
    words.len() < head.len() && alone && matches!(&words[start..], b"0" | b"no" | b"No" | b"zero" | b"without")
}

/// Tells whether what stands behind a word says that there is none, as in `errors: 0`, `"error": null` and `failed=""`.
pub(crate) fn says_none(tail: &[u8]) -> bool {
    let tail = without_quotes(tail).trim_ascii_start();
    let [b':' | b'=', value @ ..] = tail else { return false };
    let quoted = value.trim_ascii_start();
    let value = without_quotes(quoted);
    let end = value.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.').unwrap_or(value.len());
    let (word, rest) = value.split_at(end);
    let is_empty = quoted.len() - value.len() > 1 || value.starts_with(b"[]") || value.starts_with(b"{}");
    is_none(word, rest) || (word.is_empty() && is_empty)
}

/// Takes quotes away; there are two of each in JSON within CSV.
fn without_quotes(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte != b'"').unwrap_or(text.len());
    &text[start..]
}

/// Tells whether a value says that there is nothing: `0`, `null`, and `no` unless more is said, as in `no such file`.
fn is_none(word: &[u8], rest: &[u8]) -> bool {
    let next = rest.strip_prefix(b" ").unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = next.iter().position(|byte| !is_name(byte)).unwrap_or(next.len());
    // `error=null retries=3` begins another field.
    let is_field = matches!(next.get(end), Some(b':' | b'='));
    match word {
        b"0" | b"false" | b"False" => true,
        b"no" | b"nil" | b"null" => end == 0 || is_field,
        b"none" | b"None" => &next[..end] != b"of",
        _ => false,
    }
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
            ("\"error\": \"none\", \"errors\": \"0\"", Level::None),
            ("1,\"{\"\"error\"\": \"\"\"\"}\"", Level::None),
            ("1,\"{\"\"error\"\": \"\"declined\"\"}\"", Error),
            ("\"error\": \"card_declined\"", Error),
            ("errors: 3", Error),
            ("error: no such file or directory", Error),
            ("fatal: no configured push destination.", Error),
            ("error: none of the candidates matched", Error),
            ("error: nil pointer dereference", Error),
            ("error: none", Level::None),
            ("error: no", Level::None),
            ("failures: 0 of 12 cases", Level::None),
            ("errors=0 failed=no retry_count=null x=1", Level::None),
            ("    3 Error(s)", Error),
            ("    0 Error(s)", Level::None),
            ("error(code)", Level::None),
            ("DOWNLOAD at 90 %", Level::None),
            ("FAILOVER to the other node", Level::None),
            ("ERRORS: 2", Error),
            ("typeErrorCode 3", Error),
            ("HTTPError 500", Error),
            ("WARN slow query in 89s", Warning),
            ("> v3.4 is deprecated", Warning),
            ("=== 1 failed, 139 passed in 22.76s ===", Error),
            ("test result: ok. 5 passed; 0 failed;", Note),
            ("collected 140 items", Note),
            ("an ordinary line about performance and terror", Level::None),
            ("", Level::None),
        ];
        for (text, expected) in cases {
            assert_eq!(LevelMatch::of(text).level, expected, "{text}");
        }
    }

    #[test]
    fn data_says_nothing_and_what_follows_it_does() {
        let data = "Ab0/Error/".repeat(40);
        assert_eq!(LevelMatch::of(&data).level, Level::None);
        let hit = LevelMatch::of(&format!("\"{data}\": failed"));
        assert_eq!((hit.level, hit.at), (Error, data.len() + 4));
        assert_eq!(LevelMatch::of(&format!("failed {data}")).at, 0);
        assert_eq!(
            LevelMatch::of("src/Error/of").level,
            LevelMatch::of(&format!("{} src/Error/of", "a ".repeat(200))).level
        );
    }
}
