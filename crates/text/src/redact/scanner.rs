//! What the pass over a text knows where it stands.

use std::collections::VecDeque;

use super::keys::KeyKind;
use super::rules::Word;

/// Rule bit of private key blocks.
pub(super) const PEM: u32 = 1;
/// Rule bits of the tokens with a known prefix.
pub(super) const TOKENS: u32 = 0x8ffe;
/// Rule bit of the tokens that contextweaver 0.18 does not have.
pub(super) const EXTRA: u32 = 1 << 15;
/// Rule bit of passwords inside URLs.
pub(super) const URL: u32 = 1 << 12;
/// Rule bit of authorization schemes followed by credentials.
pub(super) const AUTH: u32 = 1 << 13;
/// Rule bit of credentials assigned to a telling key.
pub(super) const ASSIGN: u32 = 1 << 14;
/// Bits of all rules.
pub(super) const ALL: u32 = 0xffff;

/// Most columns of a table that hold credentials.
const MAX_SECRET_COLUMNS: usize = 8;

/// Which columns hold credentials.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SecretColumns {
    /// Number of all columns.
    pub(super) count: usize,
    secrets: [Option<(usize, KeyKind)>; MAX_SECRET_COLUMNS],
}

impl SecretColumns {
    /// Adds a column, which may hold credentials.
    pub(super) fn push(&mut self, kind: Option<KeyKind>) {
        if let (Some(kind), Some(free)) = (kind, self.secrets.iter_mut().find(|slot| slot.is_none())) {
            *free = Some((self.count, kind));
        }
        self.count += 1;
    }

    /// Returns what a column holds, if it is credentials.
    pub(super) fn kind(&self, column: usize) -> Option<KeyKind> {
        self.secrets.iter().flatten().find(|(known, _)| *known == column).map(|(_, kind)| *kind)
    }

    /// Reports whether there is something to be masked, beside something else.
    pub(super) fn is_table(&self) -> bool {
        self.count > 1 && self.secrets[0].is_some()
    }
}

/// Where a table is, and which columns hold credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// What stands between cells; a space where they are aligned.
    pub(super) delimiter: u8,
    pub(super) columns: SecretColumns,
    /// Start and end of the head, of which the places of aligned columns are.
    pub(super) head: (usize, usize),
    /// Number of backslashes of the escapes that end the lines, as in a string of JSON.
    pub(super) escaped: usize,
    /// Start and end of the row that was read last.
    pub(super) row: (usize, usize),
}

/// What is known of the manifests in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manifest {
    /// Start and end of the map of secret values that was met last.
    pub(super) map: (usize, usize),
    /// End of the map that was looked at last.
    pub(super) seen: usize,
    /// Whether the last kind was `Secret`.
    pub(super) secret: bool,
}

/// Whether a text is searched for something hidden, which asks for another way of reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenSearch {
    /// Nothing hidden is left, or it does not matter.
    Off,
    /// Nothing has been met so far.
    Open,
    /// Something was met, and the search has stopped there.
    Met,
}

/// Looks for secrets and remembers what earlier failures have ruled out.
///
/// Those notes keep the running time linear, because a search that failed once is not repeated
/// from a later start.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
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
    /// Secrets that were found ahead, in order.
    pub(super) ahead: VecDeque<(usize, usize)>,
    /// How far lists and statements were read ahead.
    pub(super) read_ahead: usize,
    /// What is known of manifests of Kubernetes.
    pub(super) manifest: Manifest,
    /// What to do at a hidden piece.
    pub(super) hidden: HiddenSearch,
    /// Where the last value of a key ended.
    pub(super) value_end: usize,
    /// Where the last value without quotes ends that has no generated part.
    pub(super) plain_end: usize,
    /// Where the last words start that may be the prefix of a token.
    pub(super) opened: [usize; 4],
    /// Whether a line break inside of a word was met.
    pub(super) met_wrap: bool,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner for one text.
    pub(super) fn new(text: &'a str, mask: &'a str) -> Self {
        Self {
            text,
            mask,
            jwt_dead: 0,
            kebab_dead: (0, 0),
            pem_end: None,
            unclosed: [0; 9],
            command: None,
            cookies_end: 0,
            table: None,
            ahead: VecDeque::new(),
            read_ahead: 0,
            manifest: Manifest::default(),
            hidden: HiddenSearch::Off,
            value_end: 0,
            plain_end: 0,
            opened: [0; 4],
            met_wrap: false,
        }
    }

    /// Stops the search at the first hidden piece, as the text has to be read in another way.
    pub(super) fn seeking_hidden(self) -> Self {
        Self { hidden: HiddenSearch::Open, ..self }
    }
}
