//! Which lines a reader looks for first: errors, warnings, closing counts. Words only, no language model.

use crate::digest::level::says_none;
use contextweaver_text::openings::Openings;

/// What a line reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Something failed.
    pub error: bool,
    /// Something may fail, or is slow, old or tried again.
    pub warning: bool,
    /// Counts of what was done, as at the end of a run.
    pub summary: bool,
}

/// What a word says.
const ERROR: u8 = 1;
const WARNING: u8 = 2;
/// A count stands before it: `3 passed`.
const COUNTED: u8 = 4;
/// A count stands after it: `collected 3`, `Total: 3`.
const COUNTING: u8 = 8;

/// Words that say something, sorted for the search.
#[rustfmt::skip]
const WORDS: &[(&str, u8)] = &[
    ("abort", ERROR),
    ("aborted", ERROR),
    ("aborting", ERROR),
    ("alert", WARNING),
    ("backoff", WARNING),
    ("cannot", ERROR),
    ("caution", WARNING),
    ("changed", COUNTED),
    ("collected", COUNTING),
    ("completed", COUNTING),
    ("conflict", WARNING),
    ("corrupt", ERROR),
    ("corrupted", ERROR),
    ("crash", ERROR),
    ("crashed", ERROR),
    ("critical", ERROR),
    ("deadlock", ERROR),
    ("declined", ERROR),
    ("degraded", WARNING),
    ("deletions", COUNTED),
    ("denied", ERROR),
    ("deprecated", WARNING),
    ("deprecation", WARNING),
    ("done", COUNTING),
    ("duration", COUNTING),
    ("elapsed", COUNTING),
    ("emerg", ERROR),
    ("err", ERROR),
    ("error", ERROR),
    ("errored", ERROR),
    ("errors", ERROR | COUNTED | COUNTING),
    ("exception", ERROR),
    ("exceptions", ERROR),
    ("expired", WARNING),
    ("fail", ERROR),
    ("failed", ERROR | COUNTED | COUNTING),
    ("failing", ERROR),
    ("fails", ERROR),
    ("failure", ERROR),
    ("failures", ERROR | COUNTED | COUNTING),
    ("fatal", ERROR),
    ("files", COUNTED),
    ("finished", COUNTING),
    ("flushed", COUNTING),
    ("forbidden", ERROR),
    ("found", COUNTED | COUNTING),
    ("ignored", COUNTED),
    ("insertions", COUNTED),
    ("invalid", WARNING),
    ("items", COUNTED),
    ("killed", ERROR),
    ("matches", COUNTED),
    ("missing", WARNING),
    ("oom", ERROR),
    ("oomkilled", ERROR),
    ("overdue", WARNING),
    ("panic", ERROR),
    ("panicked", ERROR),
    ("passed", COUNTED | COUNTING),
    ("passing", COUNTED),
    ("pending", COUNTED),
    ("processed", COUNTING),
    ("ran", COUNTING),
    ("refused", ERROR),
    ("rejected", ERROR),
    ("results", COUNTED),
    ("retries", WARNING),
    ("retry", WARNING),
    ("retrying", WARNING),
    ("rows", COUNTED),
    ("segfault", ERROR),
    ("severe", ERROR),
    ("skipped", COUNTED | COUNTING),
    ("slow", WARNING),
    ("stale", WARNING),
    ("sum", COUNTING),
    ("summary", COUNTING),
    ("tests", COUNTED | COUNTING),
    ("throttled", WARNING),
    ("throttling", WARNING),
    ("timedout", ERROR),
    ("timeout", ERROR),
    ("total", COUNTED | COUNTING),
    ("totals", COUNTING),
    ("traceback", ERROR),
    ("unable", ERROR),
    ("unauthorized", ERROR),
    ("uncaught", ERROR),
    ("undefined", ERROR),
    ("unhandled", ERROR),
    ("unhealthy", WARNING),
    ("unreachable", ERROR),
    ("unresolved", ERROR),
    ("unstable", WARNING),
    ("vulnerable", WARNING),
    ("warn", WARNING),
    ("warning", WARNING),
    ("warnings", WARNING | COUNTED),
    ("wrn", WARNING),
    ("wrote", COUNTING),
    ("xfailed", COUNTED),
];

/// How the words begin that say something, these and those that only announce something.
const OPENINGS: Openings = {
    let mut openings = Openings::NONE.with("exit").with("timed");
    let methods = ["get", "post", "put", "patch", "delete", "head"];
    let mut at = 0;
    while at < methods.len() {
        openings = openings.with(methods[at]);
        at += 1;
    }
    at = 0;
    while at < WORDS.len() {
        openings = openings.with(WORDS[at].0);
        at += 1;
    }
    openings
};

/// Marks of failure that are no words, and beginnings of lines; Python's test runner begins the lines of a failure with E.
const MARKS: &[char] = &['✗', '✘', '✖', '❌'];
const BEGINNINGS: &[&str] = &["npm ERR!", "not ok ", "E   "];

impl Signal {
    /// Reads a line; linear in it.
    pub fn of(line: &str) -> Self {
        let marked = !line.is_ascii() && line.contains(MARKS);
        let error = marked || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
        let signal = Self { error, ..Self::default() };
        let mut reader = SignalReader { signal, before: "", end: 0, counting: 0, exit: 0, method: false };
        let mut at = 0;
        let bytes = line.as_bytes();
        while at < bytes.len() {
            let start = at;
            let mut digits = true;
            while let Some(byte) = bytes.get(at).filter(|byte| is_word(**byte)) {
                digits &= byte.is_ascii_digit();
                at += 1;
            }
            if at > start {
                reader.word(line, start, at, digits);
            } else {
                at += 1;
            }
        }
        reader.signal
    }

    /// Tells whether the line reports anything.
    pub const fn any(self) -> bool {
        self.error || self.warning || self.summary
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

struct SignalReader<'a> {
    signal: Signal,
    /// The word before, where one space stands between.
    before: &'a str,
    /// Where the word before ended.
    end: usize,
    /// Words for which a number still counts as what an earlier word announced.
    counting: u8,
    exit: u8,
    /// Whether a request was named, whose status comes next.
    method: bool,
}

impl<'a> SignalReader<'a> {
    fn word(&mut self, line: &'a str, start: usize, end: usize, digits: bool) {
        let (word, head, tail) = (&line[start..end], &line[..start], &line[end..]);
        // `"count": 0, "error": 1`: the zero belongs to another word.
        if self.end + 1 != start || !head.ends_with(' ') {
            self.before = "";
        }
        self.end = end;
        if digits {
            self.number(word, head, tail);
        } else if (OPENINGS.may_start(word.as_bytes()) || names_error(word)) && !is_part_of_name(head, tail) {
            self.plain(word, tail);
        }
        if !digits {
            self.counting = self.counting.saturating_sub(1);
            self.exit = self.exit.saturating_sub(1);
        }
        self.before = word;
    }

    fn number(&mut self, word: &str, head: &str, tail: &str) {
        let zero = word.bytes().all(|byte| byte == b'0');
        self.signal.summary |= self.counting > 0;
        // `exit code 2`, `exited with 137`
        self.signal.error |= self.exit > 0 && !zero;
        (self.counting, self.exit) = (0, 0);
        let alone = head.ends_with(' ') && (tail.is_empty() || tail.starts_with([' ', ',']));
        if self.method && alone && word.len() == 3 {
            self.signal.error |= word.starts_with('5');
            self.signal.warning |= word.starts_with('4');
            self.method = false;
        }
    }

    fn plain(&mut self, word: &str, tail: &str) {
        self.method |= matches!(word, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD");
        let mut buffer = [0_u8; 16];
        let Some(lower) = buffer.get_mut(..word.len()) else {
            self.signal.error |= names_error(word);
            return;
        };
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        let found = WORDS.binary_search_by(|(known, _)| known.as_bytes().cmp(lower));
        let says = found.map_or(0, |at| WORDS[at].1);
        let counted = self.before.bytes().all(|byte| byte.is_ascii_digit()) && !self.before.is_empty();
        self.signal.summary |= counted && says & COUNTED != 0;
        if says & COUNTING != 0 {
            self.counting = 3;
        }
        if lower.starts_with(b"exit") {
            self.exit = 4;
        }
        let error = says & ERROR != 0 || names_error(word) || timed_out(lower, tail);
        if !error && says & WARNING == 0 {
            return;
        }
        let none = matches!(self.before, "0" | "no" | "No" | "zero" | "without") || says_none(tail.as_bytes());
        let setting = *lower == *b"timeout" && tail.trim_start_matches([' ', '"', '=', ':']).starts_with(is_digit);
        if !none && !setting {
            self.signal.error |= error;
            self.signal.warning |= says & WARNING != 0;
        }
    }
}

fn is_digit(ch: char) -> bool {
    ch.is_ascii_digit()
}

fn timed_out(lower: &[u8], tail: &str) -> bool {
    lower == b"timed" && tail.starts_with(" out")
}

/// `AssertionError`, `NullPointerException`: a type's name that ends so.
fn names_error(word: &str) -> bool {
    // Their last letters: most words end with none of them.
    word.ends_with(['r', 'n', 'e', 'd'])
        && ["Error", "Exception", "Failure", "Killed"]
            .iter()
            .any(|end| word.strip_suffix(end).is_some_and(|name| name.ends_with(|ch: char| ch.is_ascii_alphanumeric())))
}

/// A word inside a path, a file name or an option says nothing: `src/error.rs`, `--fail-fast`.
fn is_part_of_name(head: &str, tail: &str) -> bool {
    let extension = tail.strip_prefix('.').is_some_and(|rest| rest.starts_with(|ch: char| ch.is_ascii_lowercase()));
    head.ends_with('/') || head.ends_with('-') || tail.starts_with('/') || tail.starts_with('-') || extension
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn lines_are_told_apart() {
        let cases = [
            ("2026-03-01T10:00:00Z ERROR order failed", "e"),
            ("java.lang.NullPointerException: x", "e"),
            ("E   AssertionError: expected 709 got 389", "e"),
            ("✗ renders", "e"),
            ("not ok 3 - parses", "e"),
            ("process exited with code 137", "e"),
            ("process exited with code 0", ""),
            ("\"GET /a HTTP/1.1\" 503 12", "e"),
            ("http GET /v1/oak/500 200 537ms", ""),
            ("POST /v1/oak 404 12ms", "w"),
            ("upstream timed out", "e"),
            ("const TIMEOUT = 363;", ""),
            ("timeout: 30s", ""),
            ("connection timeout", "e"),
            ("src/error.rs:12: let a = 1;", ""),
            ("cargo test --fail-fast", ""),
            ("0 errors, 0 warnings", "s"),
            ("errors=\"\"", ""),
            ("\"\"error\"\": null", ""),
            ("no errors found", ""),
            ("\"error\": null, \"failed\": false", ""),
            ("\"error\": \"\", \"errors\": [],", ""),
            ("\"error\": \"card_declined\"", "e"),
            ("{\"level\": \"error\"}", "e"),
            ("errors: 3", "es"),
            ("error: no such file or directory", "e"),
            ("error: none, failed=null count=3", ""),
            ("{\"n\": 0, \"error\": \"x\"}", "e"),
            ("{\"a\": \"no\", \"failed\": true}", "e"),
            ("error_count 3", ""),
            ("WARN slow query in 89s", "w"),
            ("> v3.4 is deprecated", "w"),
            ("=== 1 failed, 139 passed in 22.76s ===", "es"),
            ("test result: ok. 5 passed; 0 failed;", "s"),
            ("collected 140 items", "s"),
            ("Total: 12", "s"),
            ("Ran 12 tests in 0.3s", "s"),
            ("3 files changed, 2 insertions(+)", "s"),
            ("tests/test_fir_46.py::test_46 PASSED", ""),
            ("an ordinary line", ""),
            ("", ""),
        ];
        for (line, expected) in cases {
            let signal = Signal::of(line);
            let got: String = [(signal.error, 'e'), (signal.warning, 'w'), (signal.summary, 's')]
                .iter()
                .filter(|(is, _)| *is)
                .map(|(_, mark)| *mark)
                .collect();
            assert_eq!(got, expected, "{line}");
        }
    }
}
