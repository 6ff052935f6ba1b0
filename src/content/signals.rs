//! Which lines a reader looks for first: errors, warnings, closing counts. Words only, no language model.

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

/// Words that report an error, sorted for the search. A `timeout` that is being set is none.
const ERRORS: &[&str] = &[
    "abort",
    "aborted",
    "aborting",
    "cannot",
    "corrupt",
    "corrupted",
    "crash",
    "crashed",
    "critical",
    "deadlock",
    "declined",
    "denied",
    "emerg",
    "err",
    "error",
    "errored",
    "errors",
    "exception",
    "exceptions",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "fatal",
    "forbidden",
    "killed",
    "oom",
    "oomkilled",
    "panic",
    "panicked",
    "refused",
    "rejected",
    "segfault",
    "severe",
    "timedout",
    "timeout",
    "traceback",
    "unable",
    "unauthorized",
    "uncaught",
    "undefined",
    "unhandled",
    "unreachable",
    "unresolved",
];

/// Words that report a warning, sorted.
const WARNINGS: &[&str] = &[
    "alert",
    "backoff",
    "caution",
    "conflict",
    "degraded",
    "deprecated",
    "deprecation",
    "expired",
    "invalid",
    "missing",
    "overdue",
    "retries",
    "retry",
    "retrying",
    "slow",
    "stale",
    "throttled",
    "throttling",
    "unhealthy",
    "unstable",
    "vulnerable",
    "warn",
    "warning",
    "warnings",
    "wrn",
];

/// Words that a count stands before (`3 passed`), sorted.
const COUNTED: &[&str] = &[
    "changed",
    "deletions",
    "errors",
    "failed",
    "failures",
    "files",
    "found",
    "ignored",
    "insertions",
    "items",
    "matches",
    "passed",
    "passing",
    "pending",
    "results",
    "rows",
    "skipped",
    "tests",
    "total",
    "warnings",
    "xfailed",
];

/// Words that a count stands after (`collected 3`, `Total: 3`), sorted.
const COUNTING: &[&str] = &[
    "collected",
    "completed",
    "done",
    "duration",
    "elapsed",
    "errors",
    "failed",
    "failures",
    "finished",
    "flushed",
    "found",
    "passed",
    "processed",
    "ran",
    "skipped",
    "sum",
    "summary",
    "tests",
    "total",
    "totals",
    "wrote",
];

/// Marks of failure that are no words.
const MARKS: &[&str] = &["✗", "✘", "✖", "❌", "npm ERR!", "not ok "];

impl Signal {
    /// Reads a line; linear in it.
    pub fn of(line: &str) -> Self {
        let mut signal = Self { error: MARKS.iter().any(|mark| line.contains(mark)), ..Self::default() };
        // Python's test runner marks the lines of a failure so.
        signal.error |= line.starts_with("E   ");
        let mut reader = Reader { signal, before: "", counting: 0, exit: 0, method: false };
        let mut at = 0;
        let bytes = line.as_bytes();
        while at < bytes.len() {
            let start = at;
            while bytes.get(at).is_some_and(|byte| is_word(*byte)) {
                at += 1;
            }
            if at > start {
                reader.word(line, start, at);
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

struct Reader<'a> {
    signal: Signal,
    before: &'a str,
    /// Words for which a number still counts as what an earlier word announced.
    counting: u8,
    exit: u8,
    /// Whether a request was named, whose status comes next.
    method: bool,
}

impl<'a> Reader<'a> {
    fn word(&mut self, line: &'a str, start: usize, end: usize) {
        let (word, head, tail) = (&line[start..end], &line[..start], &line[end..]);
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        if digits {
            self.number(word, head, tail);
        } else if !is_part_of_name(head, tail) {
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
        let has = |list: &[&str]| list.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok();
        let counted = self.before.bytes().all(|byte| byte.is_ascii_digit()) && !self.before.is_empty();
        self.signal.summary |= counted && has(COUNTED);
        if has(COUNTING) {
            self.counting = 3;
        }
        if lower.starts_with(b"exit") {
            self.exit = 4;
        }
        let none = matches!(self.before, "0" | "no" | "No" | "zero" | "without") || says_none(tail);
        let setting = *lower == *b"timeout" && tail.trim_start_matches([' ', '"', '=', ':']).starts_with(is_digit);
        if !none && !setting {
            self.signal.error |= has(ERRORS) || names_error(word) || timed_out(lower, tail);
            self.signal.warning |= has(WARNINGS);
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
    ["Error", "Exception", "Failure", "Killed"]
        .iter()
        .any(|end| word.strip_suffix(end).is_some_and(|name| name.ends_with(|ch: char| ch.is_ascii_alphanumeric())))
}

/// A word inside a path, a file name or an option says nothing: `src/error.rs`, `--fail-fast`.
fn is_part_of_name(head: &str, tail: &str) -> bool {
    let extension = tail.strip_prefix('.').is_some_and(|rest| rest.starts_with(|ch: char| ch.is_ascii_lowercase()));
    head.ends_with('/') || head.ends_with('-') || tail.starts_with('/') || tail.starts_with('-') || extension
}

/// `errors: 0`, `"error": null`, `failed=false`.
fn says_none(tail: &str) -> bool {
    let rest = tail.trim_start_matches('"').trim_start();
    let Some(value) = rest.strip_prefix([':', '=']) else { return false };
    let value = value.trim_start().trim_start_matches('"');
    let word = value.split(|ch: char| !ch.is_alphanumeric() && ch != '.').next().unwrap_or("");
    match word {
        "0" | "null" | "none" | "None" | "false" | "False" | "no" | "nil" => true,
        // `""`, `[]`, `{}`
        "" => {
            tail.contains('"') && value.starts_with([',', '}', '[', '{', ']']) && !value.starts_with(['[', '{'])
                || value.starts_with("[]")
                || value.starts_with("{}")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted() {
        for list in [ERRORS, WARNINGS, COUNTED, COUNTING] {
            assert!(list.is_sorted());
        }
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
            ("no errors found", ""),
            ("\"error\": null, \"failed\": false", ""),
            ("\"error\": \"\", \"errors\": [],", ""),
            ("\"error\": \"card_declined\"", "e"),
            ("{\"level\": \"error\"}", "e"),
            ("errors: 3", "es"),
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
