//! JSON for slices: paths into it, and shorter forms of it that keep every number and string as it was written.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::tree::{JsonKind, JsonNode, unescape};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::lines::slice_range;
use contextweaver_text::unicode::{prefix, truncate};

/// Characters of a key in a path that is shown.
const SHOWN_KEY_CHARS: usize = 160;

/// Folds white space between values to what stands on one line; never longer than the source.
pub(crate) fn squeeze(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['\n', '\t', '\r']) || !raw.starts_with(['{', '[']) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len() / 2);
    let (mut inside, mut escaped, mut gap) = (false, false, false);
    for ch in raw.chars() {
        if inside {
            inside = escaped || ch != '"';
            escaped = ch == '\\' && !escaped;
        } else if matches!(ch, ' ' | '\n' | '\t' | '\r') {
            gap = true;
            continue;
        } else {
            if gap && out.ends_with([',', ':']) {
                out.push(' ');
            }
            inside = ch == '"';
        }
        gap = false;
        out.push(ch);
    }
    Cow::Owned(out)
}

/// Appends one character as it stands inside a JSON string.
pub(super) fn push_escaped(out: &mut String, ch: char) {
    match ch {
        '"' | '\\' => {
            out.push('\\');
            out.push(ch);
        }
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{1f}' => {
            let _ = write!(out, "\\u{:04x}", ch as u32);
        }
        _ => out.push(ch),
    }
}

pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    text.chars().for_each(|ch| push_escaped(out, ch));
    out.push('"');
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(i64),
    /// Elements from, up to; of a string, characters.
    Range(i64, Option<i64>),
    All,
}

/// A path into JSON: `data[0:5].id`, `["a.b"][-1]`, `items[*].name`; a leading `$` may stand for the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonPath(Vec<PathStep>);

/// A value that a path leads to, or some characters of a string.
#[derive(Clone, Copy)]
pub(super) struct PathMatch<'a> {
    pub node: JsonNode<'a>,
    pub chars: Option<(usize, usize)>,
}

impl JsonPath {
    /// Reads a path of at most 64 steps.
    pub fn parse(text: &str, at: &str) -> Result<Self> {
        let fail = |message: &str| Error::new(ErrorCode::InvalidInput, message).at(at);
        let mut rest = text.trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if steps.len() == limits::MAX_DEPTH {
                return Err(fail("a path has at most 64 steps"));
            }
            let Some(inner) = rest.strip_prefix('[') else {
                rest = rest.strip_prefix('.').unwrap_or(rest);
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (key, tail) = rest.split_at(end);
                match key {
                    "" => return Err(fail("a path has an empty key; write it as [\"\"]")),
                    "*" => steps.push(PathStep::All),
                    _ => steps.push(PathStep::Key(key.to_owned())),
                }
                rest = tail;
                continue;
            };
            let (step, tail) =
                bracket(inner).ok_or_else(|| fail("expected [index], [from:to], [*] or [\"key\"] in the path"))?;
            steps.push(step);
            rest = tail;
        }
        Ok(Self(steps))
    }

    /// Follows the path; what does not exist is left out. The second part tells whether the path may lead to several
    /// values here: a range of a string is one value.
    pub fn follow<'a>(&self, root: JsonNode<'a>) -> (Vec<PathMatch<'a>>, bool) {
        let whole = |node| PathMatch { node, chars: None };
        let (mut hits, mut plural) = (vec![whole(root)], false);
        for step in &self.0 {
            let mut next = Vec::new();
            for PathMatch { node, chars } in hits {
                if chars.is_some() {
                    continue;
                }
                match step {
                    PathStep::Key(key) => next.extend(node.get(key).map(whole)),
                    PathStep::Index(index) => {
                        let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                        let index = if *index < 0 { node.len().checked_sub(back) } else { Some(back) };
                        next.extend(index.and_then(|index| node.items().nth(index)).map(whole));
                    }
                    PathStep::Range(start, end) if node.kind() == JsonKind::String => {
                        let range = slice_range(node.text().chars().count(), Some(*start), *end);
                        next.push(PathMatch { node, chars: Some((range.start, range.end)) });
                    }
                    PathStep::Range(start, end) => {
                        let range = slice_range(node.len(), Some(*start), *end);
                        next.extend(node.items().skip(range.start).take(range.len()).map(whole));
                        plural = true;
                    }
                    PathStep::All => {
                        next.extend(node.entries().map(|(_, value)| whole(value)));
                        plural = true;
                    }
                }
            }
            hits = next;
        }
        (hits, plural)
    }
}

/// Reads what stands between brackets, a key with the escapes of JSON; returns what follows them.
fn bracket(text: &str) -> Option<(PathStep, &str)> {
    if let Some(quote) = text.chars().next().filter(|ch| matches!(ch, '"' | '\'')) {
        let mut chars = text[1..].char_indices();
        while let Some((at, ch)) = chars.next() {
            if ch == quote {
                let (key, tail) = (&text[1..=at], &text[1 + at + 1..]);
                return Some((PathStep::Key(unescape(key)), tail.strip_prefix(']')?));
            }
            if ch == '\\' {
                chars.next();
            }
        }
        return None;
    }
    let (inner, tail) = text.split_once(']')?;
    let inner = inner.trim();
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let step = match inner.split_once(':') {
        _ if matches!(inner, "" | "*") => PathStep::All,
        Some((from, to)) => PathStep::Range(
            if from.trim().is_empty() { 0 } else { number(from)? },
            if to.trim().is_empty() { None } else { Some(number(to)?) },
        ),
        None => PathStep::Index(number(inner)?),
    };
    Some((step, tail))
}

/// Appends a key to a path that is only shown: of one that nobody will type, the beginning. It stands in every path
/// below it.
pub(super) fn push_shown_key(path: &mut String, key: &str) {
    push_key(path, &truncate(key, SHOWN_KEY_CHARS));
}

/// Returns as much of a key, given as it is written in JSON, as is shown.
pub(super) fn shown_key(raw: &str) -> String {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    // A character is written with at most twelve.
    unescape(prefix(inner, 12 * (SHOWN_KEY_CHARS + 1)))
}

/// Appends an index to a path.
pub(crate) fn push_index(path: &mut String, index: usize) {
    let _ = write!(path, "[{index}]");
}

/// Appends a key to a path.
pub(crate) fn push_key(path: &mut String, key: &str) {
    let plain = !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '@'));
    if plain {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
        return;
    }
    path.push_str("[\"");
    for ch in key.chars() {
        if matches!(ch, '"' | '\\') {
            path.push('\\');
        }
        path.push(ch);
    }
    path.push_str("\"]");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::JsonTree;

    #[test]
    fn paths_lead_to_values() {
        let text = r#"{"a": [1, 2.0, {"b": "xyz"}], "c d": {"e\"": null}, "": 5, "0": 6, "g\nh": 7}"#;
        let tree = JsonTree::parse(text).unwrap();
        let cases: &[(&str, &[&str])] = &[
            ("$", &[text]),
            ("", &[text]),
            ("a[0]", &["1"]),
            ("$.a[-1].b", &["\"xyz\""]),
            ("a[0:2]", &["1", "2.0"]),
            ("a[-2:]", &["2.0", "{\"b\": \"xyz\"}"]),
            ("a[].b", &["\"xyz\""]),
            ("a[*]", &["1", "2.0", "{\"b\": \"xyz\"}"]),
            ("[\"c d\"]", &["{\"e\\\"\": null}"]),
            ("['c d'][\"e\\\"\"]", &["null"]),
            ("[\"\"]", &["5"]),
            ("0", &["6"]),
            (r#"["g\nh"]"#, &["7"]),
            ("[\"g\nh\"]", &["7"]),
            ("a[7]", &[]),
            ("zz.y", &[]),
        ];
        for (path, expected) in cases {
            let (hits, _) = JsonPath::parse(path, "").unwrap().follow(tree.root());
            let raw: Vec<&str> = hits.iter().map(|hit| hit.node.raw()).collect();
            assert_eq!(&raw, expected, "{path}");
        }
        for bad in ["a[", "a[x]", "a..b", ".", "a[\"x]", "a[1", "a.", "[1:x]"] {
            assert_eq!(JsonPath::parse(bad, "/p").unwrap_err().path(), "/p", "{bad}");
        }
    }

    #[test]
    fn keys_are_written_as_they_are_read() {
        let mut path = String::new();
        for key in ["a", "b c", "d\"\\e", "", "f.g"] {
            push_key(&mut path, key);
        }
        assert_eq!(path, "a[\"b c\"][\"d\\\"\\\\e\"][\"\"][\"f.g\"]");
        let keys: Vec<PathStep> = ["a", "b c", "d\"\\e", "", "f.g"].map(|key| PathStep::Key(key.into())).into();
        assert_eq!(JsonPath::parse(&path, "").unwrap(), JsonPath(keys));
    }

    #[test]
    fn squeezing_keeps_strings_and_never_grows() {
        assert_eq!(
            squeeze("{\n  \"a\": [\n    1.0,\n    \"x \\\" \\n  y\"\n  ]\n}"),
            "{\"a\": [1.0, \"x \\\" \\n  y\"]}"
        );
        assert_eq!(squeeze("{\"a\":\n1,\"b\":[2,3]}"), "{\"a\": 1,\"b\":[2,3]}");
        assert_eq!(squeeze("{ \"a\" : 1 }"), "{ \"a\" : 1 }");
    }
}
