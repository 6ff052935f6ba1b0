//! What a text is, by its declared media type where that says enough and by its looks where not.

use super::code::is_code;
use super::table;
use super::tree::JsonTree;
use contextweaver_text::unicode::floor_char_boundary;

/// The shape of a text, which decides how it is digested, paged and searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One JSON value.
    Json,
    /// One JSON object or array per line.
    Ndjson,
    /// Records of cells between separators, the first being the header.
    Table(u8),
    /// Lines that report events: logs, test runs, builds.
    Log,
    /// A stack trace.
    Trace,
    /// A unified diff.
    Diff,
    /// Lines of `path:line:text`.
    Matches,
    /// Source code.
    Code,
    /// Markdown.
    Markdown,
    /// HTML or XML.
    Markup,
    /// Anything else.
    Text,
}

/// Lines looked at, and bytes of them.
const SAMPLE_LINES: usize = 200;
const SAMPLE_BYTES: usize = 64 * 1024;

/// Returns a media type without parameters, in lower case.
pub fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// A text and what it is, found out once for all who read it.
///
/// ```
/// use contextweaver_content::{Shape, SniffedText, digest_sniffed, reshape_sniffed};
/// use contextweaver_text::tokens::Estimator;
///
/// let text = format!("[{}]", vec![r#"{"state": "ok"}"#; 500].join(", "));
/// let sniffed = SniffedText::new("application/json", &text);
/// assert_eq!(sniffed.shape, Shape::Json);
/// assert!(reshape_sniffed(&sniffed).unwrap().text.len() < text.len());
/// assert!(digest_sniffed(&sniffed, 50, &Estimator::V3).text.contains("500"));
/// ```
#[derive(Debug)]
pub struct SniffedText<'a> {
    /// The text itself, unchanged.
    pub text: &'a str,
    /// What the text was taken for.
    pub shape: Shape,
    /// Its values, if it is an array or an object of JSON.
    pub tree: Option<JsonTree<'a>>,
}

impl<'a> SniffedText<'a> {
    /// Looks at a text. A declared type that the text contradicts (JSON that does not parse) counts for nothing.
    pub fn new(media_type: &str, text: &'a str) -> Self {
        let tree = tree(text);
        let shape = declared(&essence(media_type), text, tree.is_some());
        let shape = shape.unwrap_or_else(|| looks(text, tree.is_some()));
        Self { text, shape, tree }
    }

    /// Takes the caller's word for the shape of a text.
    pub fn of_shape(text: &'a str, shape: Shape) -> Self {
        let tree = if shape == Shape::Json { JsonTree::parse(text) } else { None };
        Self { text, shape, tree }
    }
}

/// Returns the shape of a text, as [`SniffedText::new`] finds it.
///
/// ```
/// use contextweaver_content::{Shape, sniff};
///
/// assert_eq!(sniff("text/plain", "{\"a\": 1}"), Shape::Json);
/// assert_eq!(sniff("application/json", "no JSON at all"), Shape::Text);
/// assert_eq!(sniff("text/csv", "a;b\n1;2\n"), Shape::Table(b';'));
/// ```
pub fn sniff(media_type: &str, text: &str) -> Shape {
    SniffedText::new(media_type, text).shape
}

fn declared(essence: &str, text: &str, is_json: bool) -> Option<Shape> {
    let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
    let plain = subtype.strip_prefix("x-").unwrap_or(subtype);
    match plain {
        "json" => is_json.then_some(Shape::Json),
        "ndjson" | "jsonl" | "jsonlines" | "json-lines" | "json-seq" => is_ndjson(text).then_some(Shape::Ndjson),
        "csv" => Some(Shape::Table(separator(text).unwrap_or(b','))),
        "tab-separated-values" | "tsv" => Some(Shape::Table(b'\t')),
        "diff" | "patch" => Some(Shape::Diff),
        "markdown" => Some(Shape::Markdown),
        "html" | "xml" => Some(Shape::Markup),
        "log" => Some(Shape::Log),
        "javascript" | "ecmascript" | "typescript" | "python" | "rust" | "css" => Some(Shape::Code),
        _ if subtype.ends_with("+json") => is_json.then_some(Shape::Json),
        _ if subtype.ends_with("+xml") => Some(Shape::Markup),
        _ => None,
    }
}

fn tree(text: &str) -> Option<JsonTree<'_>> {
    if text.trim_start().starts_with(['{', '[']) { JsonTree::parse(text) } else { None }
}

/// The first lines that are not blank.
fn sample(text: &str) -> Vec<&str> {
    let end = floor_char_boundary(text, SAMPLE_BYTES);
    text[..end].lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect()
}

fn is_ndjson(text: &str) -> bool {
    let lines = sample(text);
    // The last line of a sample may be cut.
    let whole = if lines.len() > 1 { &lines[..lines.len() - 1] } else { &lines[..] };
    lines.len() > 1 && whole.iter().take(5).all(|line| tree(line).is_some())
}

fn looks(text: &str, is_json: bool) -> Shape {
    let start = text.trim_start();
    if is_json {
        return Shape::Json;
    }
    if start.starts_with(['{', '[']) && is_ndjson(text) {
        return Shape::Ndjson;
    }
    let lines = sample(text);
    if is_markup(start) {
        return Shape::Markup;
    }
    if is_diff(&lines) {
        return Shape::Diff;
    }
    let share =
        |test: fn(&str) -> bool| lines.iter().filter(|line| test(line)).count() as f64 / lines.len().max(1) as f64;
    if lines.len() >= 3 && share(is_match) >= 0.7 {
        return Shape::Matches;
    }
    // Code has cells between commas, comments like headings, and names of errors.
    if is_code(&lines) {
        return Shape::Code;
    }
    if share(is_frame) >= 0.3 && lines.iter().any(|line| begins_trace(line)) {
        return Shape::Trace;
    }
    if lines.len() >= 3 && share(is_event) >= 0.4 {
        return Shape::Log;
    }
    if let Some(separator) = separator(text) {
        return Shape::Table(separator);
    }
    if is_markdown(&lines) { Shape::Markdown } else { Shape::Text }
}

fn is_markup(start: &str) -> bool {
    let head: String = start.chars().take(64).collect::<String>().to_ascii_lowercase();
    if head.starts_with("<!doctype") || head.starts_with("<html") || head.starts_with("<?xml") {
        return true;
    }
    let name = head.strip_prefix('<').is_some_and(|rest| rest.starts_with(|ch: char| ch.is_ascii_alphabetic()));
    name && start.trim_end().ends_with('>') && start.contains("</")
}

fn is_diff(lines: &[&str]) -> bool {
    let has = |prefix: &str| lines.iter().any(|line| line.starts_with(prefix));
    has("@@ -") && (has("diff --git ") || (has("--- ") && has("+++ ")))
}

/// `path:12:text` or `path:12:3: text`, the path without white space.
fn is_match(line: &str) -> bool {
    match_parts(line).is_some()
}

/// Splits `path:line:rest` of a search result.
pub fn match_parts(line: &str) -> Option<(&str, &str, &str)> {
    // A drive letter is part of the path.
    let from = if line.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    let colon = from + line.get(from..)?.find(':')?;
    let (path, rest) = (&line[..colon], &line[colon + 1..]);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let plain = !path.is_empty() && !path.contains(char::is_whitespace) && path.contains(['.', '/', '\\']);
    let ends = rest.as_bytes().get(digits) == Some(&b':');
    (plain && digits > 0 && ends).then(|| (path, &rest[..digits], &rest[digits + 1..]))
}

fn begins_trace(line: &str) -> bool {
    let line = line.trim_start();
    ["Traceback (most recent", "Exception in thread", "panicked at", "goroutine ", "Caused by:", "stack backtrace"]
        .iter()
        .any(|mark| line.contains(mark))
        || line.split_once(':').is_some_and(|(name, _)| name.ends_with("Error") || name.ends_with("Exception"))
}

/// A frame of Python, JavaScript, Java, Rust, Go.
fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    let indented = text.len() < line.len();
    text.starts_with("at ") || text.starts_with("File \"") || (indented && !text.starts_with(['-', '*', '#']))
}

/// A line with a time, a level or a verdict at its start.
fn is_event(line: &str) -> bool {
    const VERDICTS: &[&str] = &[
        "PASS", "FAIL", "PASSED", "FAILED", "SKIPPED", "ok", "not", "TRACE", "DEBUG", "INFO", "WARN", "WARNING",
        "ERROR", "FATAL", "CRITICAL", "NOTICE", "✓", "✔", "✗", "✘", "✖", "×",
    ];
    let words = || line.split([' ', '\t', '[', ']', '|', ':', '(', ')']).filter(|word| !word.is_empty());
    let verdict = |word: &str| VERDICTS.contains(&word);
    words().next().is_some_and(|word| is_time(word) || verdict(word))
        || words().take(5).any(|word| verdict(word) && word.len() > 2 && word.chars().all(char::is_uppercase))
        || words().next_back().is_some_and(|word| matches!(word, "PASSED" | "FAILED" | "SKIPPED" | "ok" | "FAIL"))
}

/// A date or a time of day: starts with digits, holds at least two more groups of them.
fn is_time(word: &str) -> bool {
    let plain = |ch: char| ch.is_ascii_digit() || matches!(ch, '-' | '/' | '.' | 'T' | 'Z' | ',' | '+');
    let groups = word.split(|ch: char| !ch.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    word.starts_with(|ch: char| ch.is_ascii_digit()) && word.chars().all(plain) && (groups >= 3 || word.len() == 2)
}

fn is_markdown(lines: &[&str]) -> bool {
    let heading = |line: &str| {
        let text = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
    };
    let mark = |line: &str| {
        let text = line.trim_start();
        text.starts_with("```")
            || text.starts_with("- ")
            || text.starts_with("* ")
            || text.starts_with("| ")
            || line.contains("](")
    };
    let headings = lines.iter().filter(|line| heading(line)).count();
    let marks = lines.iter().filter(|line| mark(line)).count();
    headings >= 2 || (headings == 1 && marks >= 1) || (marks >= 3 && marks * 3 >= lines.len())
}

/// Returns the separator that cuts the first records into equally many short cells, if there is one.
pub fn separator(text: &str) -> Option<u8> {
    let lines = sample(text);
    // The sample may end inside a record.
    let lines = if lines.len() > 3 { &lines[..lines.len() - 1] } else { &lines[..] };
    if lines.len() < 2 {
        return None;
    }
    [b'\t', b',', b';', b'|'].into_iter().find(|separator| is_table(lines, *separator))
}

fn is_table(lines: &[&str], separator: u8) -> bool {
    let header = table::cells(lines[0], separator);
    if header.len() < 2 || header.len() > 500 {
        return false;
    }
    let named = header.iter().all(|cell| !cell.is_empty() && cell.chars().count() <= 40);
    let distinct = header.iter().enumerate().all(|(at, cell)| !header[..at].contains(cell));
    if !named || !distinct {
        return false;
    }
    let (mut even, mut words, mut sentences) = (0, 0, 0);
    for line in lines {
        sentences += usize::from(line.trim_end().ends_with(['.', '!', '?']));
        let cells = table::cells(line, separator);
        even += usize::from(cells.len() == header.len());
        words += cells.iter().map(|cell| cell.split_whitespace().count()).sum::<usize>();
    }
    // Prose has commas too, but not equally many in every line, and long stretches between them.
    even * 10 >= lines.len() * 9 && words <= 4 * header.len() * lines.len() && sentences * 2 < lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_tell_the_shape() {
        let cases = [
            ("{\"a\": 1}", Shape::Json),
            ("  [1, 2]\n", Shape::Json),
            ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", Shape::Ndjson),
            ("{not json", Shape::Text),
            ("id,name\n1,ann\n2,bob\n", Shape::Table(b',')),
            ("id\tname\n1\tann\n2\tbob\n", Shape::Table(b'\t')),
            ("id;name\n1;ann lee\n2;bob\n", Shape::Table(b';')),
            ("Dear all, it is late.\nWe go on, as planned.\n", Shape::Text),
            ("2026-03-01T10:00:00Z INFO a\n2026-03-01T10:00:01Z INFO b\n2026-03-01T10:00:02Z WARN c\n", Shape::Log),
            ("[INFO] one\n[INFO] two\n[ERROR] three\n", Shape::Log),
            ("collected 2 items\ntests/a.py::x PASSED\ntests/a.py::y FAILED\n", Shape::Log),
            ("Traceback (most recent call last):\n  File \"a.py\", line 1\n    f()\nValueError: no\n", Shape::Trace),
            ("TypeError: x is not a function\n    at f (a.js:1:2)\n    at g (a.js:3:4)\n", Shape::Trace),
            ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Shape::Diff),
            ("src/a.rs:1:fn a()\nsrc/b.rs:22:    a();\nsrc/c.rs:3: a\n", Shape::Matches),
            ("# Title\n\ntext\n\n## Part\n", Shape::Markdown),
            ("const a = f(0, 1);\nconst b = f(2, 3);\nconst c = f(4, 5);\n", Shape::Code),
            ("# one\nimport a, b\n# two\nclass E(ValueError):\n    def f(self):\n        return 1\n", Shape::Code),
            ("<html><body>x</body></html>", Shape::Markup),
            ("<?xml version=\"1.0\"?><a/>", Shape::Markup),
            ("just a sentence", Shape::Text),
            ("", Shape::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(sniff("text/plain", text), expected, "{text:?}");
            assert_eq!(sniff("", text), expected, "{text:?}");
        }
    }

    #[test]
    fn declared_types_count_when_the_text_agrees() {
        assert_eq!(sniff("Application/JSON; charset=utf-8", "[1]"), Shape::Json);
        assert_eq!(sniff("application/vnd.api+json", "{}"), Shape::Json);
        assert_eq!(sniff("application/json", "oops"), Shape::Text);
        assert_eq!(sniff("text/csv", "a;b\n1;2\n3;4"), Shape::Table(b';'));
        assert_eq!(sniff("text/csv", "only"), Shape::Table(b','));
        assert_eq!(sniff("image/svg+xml", "<svg/>"), Shape::Markup);
        assert_eq!(sniff("text/x-diff", "nothing yet"), Shape::Diff);
        assert_eq!(sniff("text/javascript", "a, b"), Shape::Code);
    }
}
