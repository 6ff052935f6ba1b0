//! What selectors find in a text, as places in it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::tree::JsonKind;
use contextweaver_text::unicode::prefix;

/// Bytes of a text, from and up to; a text has at most 4 GiB.
pub(super) type Span = (u32, u32);

/// Returns where a part of a text stands in it.
pub(super) fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    (start as u32, (start + part.len()) as u32)
}

/// Returns the part of a text at a place.
pub(super) fn part_of(text: &str, (start, end): Span) -> &str {
    &text[start as usize..end as usize]
}

/// Characters between two of the places that a table of characters knows.
const STRIDE: usize = 512;

/// Where the characters of a long text are, so that nobody counts to them from its beginning.
#[derive(Debug)]
pub(super) struct CharTable {
    /// Where every [`STRIDE`]th character begins; none where each character is a byte.
    marks: Vec<u32>,
    /// Number of characters.
    pub chars: usize,
}

impl CharTable {
    pub fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self { marks: Vec::new(), chars: text.len() };
        }
        let (mut marks, mut chars) = (Vec::new(), 0);
        for (at, _) in text.char_indices() {
            if chars % STRIDE == 0 {
                marks.push(at as u32);
            }
            chars += 1;
        }
        Self { marks, chars }
    }

    /// Returns where a character of the text begins, or its end.
    pub fn byte_of(&self, text: &str, place: usize) -> usize {
        if place >= self.chars || self.marks.is_empty() {
            return if place >= self.chars { text.len() } else { place };
        }
        let mark = self.marks[place / STRIDE] as usize;
        mark + prefix(&text[mark..], place % STRIDE).len()
    }
}

/// Where the rows of a text are.
#[derive(Debug, Clone)]
pub(super) struct RowIndex {
    /// The separator of a table.
    pub separator: Option<u8>,
    /// Whether the records are elements of a JSON array.
    pub array: bool,
    /// The header of a table is the first.
    pub rows: Arc<Vec<Span>>,
}

/// How the rows of one selector are shown.
#[derive(Debug)]
pub(super) struct RowPlan {
    /// Places of the columns that are shown.
    pub picked: Vec<usize>,
    /// Places of the columns that the conditions are about.
    pub tested: Vec<usize>,
    /// The header as it stands above a page.
    pub header: String,
}

/// Where the values are that a path or keys lead to.
#[derive(Debug)]
pub(super) struct NodeList {
    /// What they are counted as.
    pub unit: &'static str,
    /// Each value; of members, from the key to the end of the value.
    pub nodes: Vec<Span>,
    /// Characters of a string that are meant, of each value; nothing where none means a part.
    pub parts: Vec<Option<(u32, u32)>>,
}

/// The hits of a search.
#[derive(Debug)]
pub(super) enum SearchHits {
    Lines(Vec<LineMatch>),
    /// Hits in JSON, and the steps of the paths that lead to them.
    Values(Vec<ValueMatch>, Vec<PathLink>),
}

/// A hit in a line: all of the line, or some bytes of it.
#[derive(Debug)]
pub(super) struct LineMatch {
    pub line: u32,
    pub window: Option<Span>,
}

/// A hit in JSON.
#[derive(Debug)]
pub(super) struct ValueMatch {
    /// The last step of its path; see [`PathLink::above`].
    pub path: u32,
    pub shown: MatchedPart,
}

/// What is shown of a hit in JSON.
#[derive(Debug)]
pub(super) enum MatchedPart {
    /// A small value.
    Value(Span),
    /// What kind of value stands under a key, and how many elements it has.
    Under(JsonKind, u32),
    /// Bytes of a long value.
    Window(Span),
}

/// A step of a path: the key or the index of a value.
#[derive(Debug)]
pub(super) struct PathLink {
    /// The step before it, as its place among the steps and one; 0 for the first step.
    pub above: u32,
    pub step: LinkStep,
}

/// The key of a member, as it is written in the text, or the index of an element.
#[derive(Debug, Clone, Copy)]
pub(super) enum LinkStep {
    Key(Span),
    Index(u32),
}

/// What was written about a text.
#[derive(Debug)]
pub(super) struct WrittenEntries {
    pub open: String,
    pub entries: Vec<String>,
    /// What the text itself costs.
    pub quarters: u64,
}

/// A unit that is larger than a page.
#[derive(Debug)]
pub(super) struct CutUnit {
    pub lead: String,
    /// Whether parts of it are written as JSON strings.
    pub is_json: bool,
    plain: PlainText,
    chars: CharTable,
}

/// A text as it is shown in parts.
#[derive(Debug)]
enum PlainText {
    /// It stands so in the text that is sliced.
    There(Span),
    Written(String),
}

impl CutUnit {
    pub fn new(text: &str, lead: String, is_json: bool, plain: Cow<'_, str>) -> Self {
        let chars = CharTable::of(&plain);
        let all = text.as_bytes().as_ptr_range();
        let plain = match plain {
            Cow::Borrowed(part) if all.contains(&part.as_ptr()) => PlainText::There(span_of(text, part)),
            other => PlainText::Written(other.into_owned()),
        };
        Self { lead, is_json, plain, chars }
    }

    /// Returns what follows so many characters.
    pub fn after<'t>(&'t self, text: &'t str, count: usize) -> &'t str {
        let plain = match &self.plain {
            PlainText::There(at) => part_of(text, *at),
            PlainText::Written(plain) => plain,
        };
        &plain[self.chars.byte_of(plain, count)..]
    }

    pub fn len(&self) -> usize {
        self.chars.chars
    }
}
