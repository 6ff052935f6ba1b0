//! JSON as spans of its text: numbers, strings, key order and repeated keys stay as they were written.

use std::borrow::Cow;

use contextweaver_base::limits;
use contextweaver_model::json::parse_float;

/// The type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// Returns the JSON name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// One value of the tape. The values below it follow it directly.
#[derive(Debug, Clone, Copy)]
struct TapeEntry {
    kind: JsonKind,
    start: u32,
    end: u32,
    /// Index of the first entry that is not below this one.
    next: u32,
    /// Elements or members.
    len: u32,
}

/// A parsed text: a flat tape of spans in the order of the text.
///
/// ```
/// use contextweaver_content::tree::JsonTree;
///
/// let tree = JsonTree::parse(r#"{"total": 1.50, "rows": [1, 2]}"#).unwrap();
/// assert_eq!(tree.root().get("total").unwrap().raw(), "1.50", "as it was written");
/// assert_eq!(tree.root().get("rows").unwrap().len(), 2);
/// ```
#[derive(Debug)]
pub struct JsonTree<'a> {
    text: &'a str,
    tape: Vec<TapeEntry>,
}

/// A value of a tree.
#[derive(Debug, Clone, Copy)]
pub struct JsonNode<'a> {
    text: &'a str,
    tape: &'a [TapeEntry],
    at: usize,
}

impl<'a> JsonTree<'a> {
    /// Parses strict JSON, surrounding white space allowed; `None` for anything else, for text nested deeper than
    /// [`limits::MAX_DEPTH`] and for more than [`limits::MAX_NODES`] values. Linear, not recursive.
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.len() > u32::MAX as usize {
            return None;
        }
        let mut parser = TapeParser { bytes: text.as_bytes(), at: 0, tape: Vec::new() };
        parser.document()?;
        Some(Self { text, tape: parser.tape })
    }

    /// Returns the outermost value.
    pub fn root(&self) -> JsonNode<'_> {
        JsonNode { text: self.text, tape: &self.tape, at: 0 }
    }

    /// Returns the text that was parsed.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the number of values, keys included.
    pub fn size(&self) -> usize {
        self.tape.len()
    }
}

impl<'a> JsonNode<'a> {
    fn entry(self) -> TapeEntry {
        self.tape[self.at]
    }

    /// Returns what the node is.
    pub fn kind(self) -> JsonKind {
        self.entry().kind
    }

    /// Returns the text of the node as it was written.
    pub fn raw(self) -> &'a str {
        let TapeEntry { start, end, .. } = self.entry();
        &self.text[start as usize..end as usize]
    }

    /// Returns where the node starts in the text, in bytes.
    pub fn start(self) -> usize {
        self.entry().start as usize
    }

    /// Returns the number of elements or members.
    pub fn len(self) -> usize {
        self.entry().len as usize
    }

    /// Tells whether there is no element and no member.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Tells whether the node is an array or an object.
    pub fn is_container(self) -> bool {
        matches!(self.kind(), JsonKind::Array | JsonKind::Object)
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let (mut at, end) = if self.is_container() { (self.at + 1, self.entry().next as usize) } else { (0, 0) };
        std::iter::from_fn(move || {
            let node = Self { at, ..self };
            (at < end).then(|| {
                at = node.entry().next as usize;
                node
            })
        })
    }

    /// Returns the members of an object with their keys, or the elements of an array without.
    pub fn entries(self) -> impl Iterator<Item = (Option<Self>, Self)> {
        let mut children = self.children();
        let keyed = self.kind() == JsonKind::Object;
        std::iter::from_fn(move || {
            let first = children.next()?;
            if keyed { Some((Some(first), children.next()?)) } else { Some((None, first)) }
        })
    }

    /// Returns the text from this node's start to the end of a later one, such as a key with its value.
    pub fn through(self, last: Self) -> &'a str {
        &self.text[self.start()..last.entry().end as usize]
    }

    /// Returns the elements of an array; of anything else, nothing.
    pub fn items(self) -> impl Iterator<Item = Self> {
        self.children().filter(move |_| self.kind() == JsonKind::Array)
    }

    /// Returns the members of an object in their order; of anything else, nothing.
    pub fn members(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let mut children = self.children().filter(move |_| self.kind() == JsonKind::Object);
        std::iter::from_fn(move || Some((children.next()?.text(), children.next()?)))
    }

    /// Returns the last member with this key, as JSON readers do.
    pub fn get(self, key: &str) -> Option<Self> {
        self.members().filter(|(name, _)| name == key).last().map(|(_, value)| value)
    }

    /// Returns a string without its quotes and escapes (half a surrogate pair as U+FFFD); other values as written.
    pub fn text(self) -> Cow<'a, str> {
        let raw = self.raw();
        if self.kind() != JsonKind::String {
            return Cow::Borrowed(raw);
        }
        let inner = &raw[1..raw.len() - 1];
        if inner.contains('\\') { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) }
    }

    /// Returns a number as a float.
    pub fn number(self) -> Option<f64> {
        if self.kind() == JsonKind::Number { parse_float(self.raw()) } else { None }
    }
}

/// Resolves the escapes of what stands between the quotes of a JSON string.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or("");
        match code {
            b'u' => {
                let unit = |text: &str| text.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
                let first = unit(rest).unwrap_or(0xfffd);
                rest = rest.get(4..).unwrap_or("");
                let second = rest.strip_prefix("\\u").and_then(unit);
                let pair = [first, second.unwrap_or(0)];
                let is_pair =
                    (0xd800..0xdc00).contains(&first) && second.is_some_and(|u| (0xdc00..0xe000).contains(&u));
                if is_pair {
                    rest = &rest[6..];
                }
                let units = if is_pair { &pair[..] } else { &pair[..1] };
                out.extend(char::decode_utf16(units.iter().copied()).map(|ch| ch.unwrap_or('\u{fffd}')));
            }
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            other => out.push(char::from(other)),
        }
    }
    out.push_str(rest);
    out
}

struct TapeParser<'a> {
    bytes: &'a [u8],
    at: usize,
    tape: Vec<TapeEntry>,
}

impl TapeParser<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Option<()> {
        // Tape positions of the arrays and objects that are open.
        let mut open: Vec<usize> = Vec::new();
        loop {
            self.space();
            let begins = self.value()?;
            if begins {
                if open.len() == limits::MAX_DEPTH {
                    return None;
                }
                open.push(self.tape.len() - 1);
                self.space();
                let closing = self.closing(*open.last()?);
                if self.peek() != closing {
                    self.key(*open.last()?)?;
                    continue;
                }
            }
            // A value has ended, or an empty container is at its end.
            loop {
                let Some(&top) = open.last() else {
                    self.space();
                    return (self.at == self.bytes.len()).then_some(());
                };
                self.space();
                if self.peek() == self.closing(top) {
                    self.at += 1;
                    let next = self.tape.len() as u32;
                    let entry = &mut self.tape[top];
                    (entry.end, entry.next) = (self.at as u32, next);
                    open.pop();
                } else if self.peek() == b',' {
                    self.at += 1;
                    self.space();
                    self.key(top)?;
                    break;
                } else {
                    return None;
                }
            }
        }
    }

    fn closing(&self, open: usize) -> u8 {
        if self.tape[open].kind == JsonKind::Object { b'}' } else { b']' }
    }

    /// Counts the element or member that comes next; of a member, reads the key and the colon.
    fn key(&mut self, open: usize) -> Option<()> {
        self.tape[open].len += 1;
        if self.tape[open].kind == JsonKind::Object {
            if self.peek() != b'"' {
                return None;
            }
            self.value()?;
            self.space();
            if self.peek() != b':' {
                return None;
            }
            self.at += 1;
        }
        Some(())
    }

    /// Reads a scalar, or the bracket that opens a container; tells whether it was a bracket.
    fn value(&mut self) -> Option<bool> {
        if self.tape.len() >= limits::MAX_NODES {
            return None;
        }
        let start = self.at;
        let kind = match self.peek() {
            b'{' => JsonKind::Object,
            b'[' => JsonKind::Array,
            b'"' => JsonKind::String,
            b't' | b'f' => JsonKind::Bool,
            b'n' => JsonKind::Null,
            _ => JsonKind::Number,
        };
        match kind {
            JsonKind::Object | JsonKind::Array => self.at += 1,
            JsonKind::String => self.string()?,
            JsonKind::Number => self.number()?,
            JsonKind::Bool | JsonKind::Null => {
                let word =
                    [&b"true"[..], b"false", b"null"].into_iter().find(|w| self.bytes[start..].starts_with(w))?;
                self.at += word.len();
            }
        }
        let next = self.tape.len() as u32 + 1;
        self.tape.push(TapeEntry { kind, start: start as u32, end: self.at as u32, next, len: 0 });
        Some(matches!(kind, JsonKind::Object | JsonKind::Array))
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.bytes.get(self.at + 1)? {
                    b'u' => {
                        let hex = self.bytes.get(self.at + 2..self.at + 6)?;
                        if !hex.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 6;
                    }
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    _ => return None,
                },
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling() {
        let text = " {\"a\": [1.0, 1e2, -0, 12345678901234567890123],\n \"b\": {\"c\": null, \"c\": \"x\\u00e9\\ud83d\\ude00\\n\\\"\"}} ";
        let tree = JsonTree::parse(text).unwrap();
        let root = tree.root();
        assert_eq!((root.kind(), root.len()), (JsonKind::Object, 2));
        let numbers: Vec<&str> = root.get("a").unwrap().items().map(JsonNode::raw).collect();
        assert_eq!(numbers, ["1.0", "1e2", "-0", "12345678901234567890123"]);
        assert_eq!(root.get("b").unwrap().get("c").unwrap().text(), "xé😀\n\"");
        assert_eq!(root.get("b").unwrap().len(), 2);
        let keys: Vec<String> = root.members().map(|(key, _)| key.into_owned()).collect();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(root.raw(), text.trim());
    }

    #[test]
    fn it_reads_what_serde_reads() {
        let texts = [
            "",
            " ",
            "1",
            "-",
            "01",
            "1.",
            "1e",
            ".5",
            "-0.0e-1",
            "true",
            "tru",
            "nul",
            "nullx",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{}",
            "{ }",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[}",
            "{]",
            "[[],{},[{}]]",
            "{\"a\":{\"b\":[]}}",
            "1 2",
            "\u{feff}1",
            "\"\t\"",
            "\"é\"",
            "[1",
            "{\"a\":1",
            "]",
            "NaN",
            "[1]]",
        ];
        for text in texts {
            let by_serde = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(JsonTree::parse(text).is_some(), by_serde, "{text:?}");
        }
        assert_eq!(JsonTree::parse("\"\\ud800x\"").unwrap().root().text(), "\u{fffd}x");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(JsonTree::parse(&nested(limits::MAX_DEPTH)).is_some());
        assert!(JsonTree::parse(&nested(limits::MAX_DEPTH + 1)).is_none());
        assert!(JsonTree::parse(&"[".repeat(1_000_000)).is_none());
    }
}
