//! What the pass over a text knows where it stands.

use super::SECRET_MASK;
use super::chars::part;
use super::keys::KeyKind;
use super::rules::Word;

/// Most columns of a table that is looked at.
pub(super) const MAX_COLUMNS: usize = 32;

/// Where a table is, and which columns hold credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) delimiter: u8,
    pub(super) columns: usize,
    pub(super) kinds: [Option<KeyKind>; MAX_COLUMNS],
    /// Start and end of the row that was read last.
    pub(super) row: (usize, usize),
}

/// Looks for secrets and remembers what earlier failures have ruled out.
///
/// Those notes keep the running time linear, because a search that failed once is not repeated
/// from a later start.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) full: bool,
    /// Mask that may already be present.
    pub(super) mask: &'a str,
    /// No JSON Web Token has its first part end at or before this offset.
    pub(super) jwt_dead: usize,
    /// Before this offset, bodies of these characters are hyphenated words.
    pub(super) kebab_dead: (usize, u16),
    /// Offset of the last search for an END marker and what it found.
    pub(super) pem_end: Option<(usize, Option<(usize, usize)>)>,
    /// For each kind of quote, the offset before which an opening quote stays unclosed.
    pub(super) unclosed: [usize; 9],
    /// The command of the current line, and how far the line was read.
    pub(super) command: Option<(Word, usize)>,
    /// Where the cookies of a header end.
    pub(super) cookies_end: usize,
    /// The table that the current line is in.
    pub(super) table: Option<Table>,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner for one text.
    pub(super) fn new(text: &'a str, full: bool, mask: &'a str) -> Self {
        Self {
            text,
            full,
            mask,
            jwt_dead: 0,
            kebab_dead: (0, 0),
            pem_end: None,
            unclosed: [0; 9],
            command: None,
            cookies_end: 0,
            table: None,
        }
    }

    /// Reports whether a span is an earlier mask, which must not count as a secret again.
    pub(super) fn is_mask(&self, start: usize, end: usize) -> bool {
        let span = part(self.text, start, end);
        self.full && (span == self.mask || span == SECRET_MASK)
    }
}
