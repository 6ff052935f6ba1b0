//! A prompt before it is written: what stands in it, in which form and which order. A renderer makes text or messages of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::index::IndexEntry;
use crate::labels;
use crate::options::ManagerOptions;
use contextweaver_base::Result;
use contextweaver_base::order::sort_distinct;
use contextweaver_model::json::{Fields, as_uint};
use contextweaver_model::{ContextItem, ItemKind, LedgerStats, RenderedAs, RulesStats};

/// A section above the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSection {
    pub kind: SectionKind,
    /// Its text, title included.
    pub text: String,
}

/// Where a section above the items comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    Episodes,
    Facts,
    Caller,
}

/// What stands in a prompt of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryContent {
    /// Its own text with secrets masked; below a digest the line that says what is left out.
    Own,
    /// What redaction made of its text.
    Redacted(String),
    /// Text from behind a digest, an excerpt, or a remark in its place. Not named after its function.
    Quote {
        text: String,
        /// The line below it that says what is left out.
        note: Option<String>,
    },
}

impl EntryContent {
    /// Makes the remark that only says that an item exists.
    pub fn stub(why: &str) -> Self {
        Self::Quote { text: format!("({why})"), note: None }
    }

    /// Returns the body below the label line of a text prompt: named after its function, label lines escaped.
    pub fn body<'a>(&'a self, item: &'a ContextItem, indexed: &'a IndexEntry) -> Cow<'a, str> {
        match self {
            Self::Own => Cow::Borrowed(indexed.shown(item)),
            Self::Redacted(text) => Cow::Owned(indexed.body(item, text)),
            Self::Quote { text, note: None } => labels::contained(text),
            Self::Quote { text, note: Some(note) } => Cow::Owned(format!("{}\n{note}", labels::contained(text))),
        }
    }

    /// Returns what a message says: the text itself, as messages have labels and functions of their own.
    pub fn text<'a>(
        &'a self,
        item: &'a ContextItem,
        indexed: &'a IndexEntry,
        options: &ManagerOptions,
    ) -> Cow<'a, str> {
        let (text, note) = match self {
            Self::Own => (options.mask_secrets(&item.text), indexed.note()),
            Self::Redacted(text) => (Cow::Borrowed(text.as_str()), None),
            Self::Quote { text, note } => (Cow::Borrowed(text.as_str()), note.as_deref()),
        };
        match note {
            // What stands above our note may hold one of somebody else's.
            Some(note) => Cow::Owned(format!("{}\n{note}", labels::escape_notes(&text))),
            None => text,
        }
    }
}

/// How an item is shown, which is what its price depends on.
#[derive(Debug, Clone, Copy)]
pub struct EntryRendering<'a> {
    pub form: RenderedAs,
    /// What stands there of it.
    pub content: &'a EntryContent,
}

impl EntryRendering<'_> {
    /// Tells whether what stands there of an item is its digest.
    pub fn is_digest(&self, indexed: &IndexEntry) -> bool {
        self.form == RenderedAs::Whole && *self.content == EntryContent::Own && indexed.is_summarised()
    }
}

/// An item in the prompt.
#[derive(Debug)]
pub struct PromptEntry<'a> {
    pub at: usize,
    /// The item as the log has it.
    pub item: &'a ContextItem,
    /// What the index knows of it.
    pub indexed: &'a IndexEntry,
    pub rendering: EntryRendering<'a>,
    /// Tokens it was planned with, what the renderer puts around it included.
    pub tokens: u64,
    /// Characters an excerpt leaves out.
    pub omitted_chars: Option<u64>,
    /// Whether it stands out of log order.
    pub recalled: bool,
}

impl PromptEntry<'_> {
    /// Returns the kind of the item.
    pub fn kind(&self) -> ItemKind {
        self.item.kind
    }
}

/// The block of standing instructions that a prompt has.
pub struct RulesBlock {
    pub text: String,
    /// How many entries of the prompt stand above the block.
    pub after: usize,
    pub count: u64,
    /// Positions of the items whose statements the block repeats.
    pub homes: Vec<usize>,
}

/// A prompt: sections above, entries, what stands below.
#[derive(Debug)]
pub struct StructuredPrompt<'a> {
    /// Remembered episodes and facts, and the caller's header.
    pub header: &'a [PromptSection],
    /// The items, in prompt order.
    pub entries: Vec<PromptEntry<'a>>,
    /// What it says of that which left it.
    pub ledger: Option<Ledger>,
    /// The caller's footer; may be empty.
    pub footer: &'a str,
}

impl StructuredPrompt<'_> {
    /// Returns what the ledger says where it stands above the entry at a place, or behind all of them.
    pub fn ledger_above(&self, place: usize) -> Option<&str> {
        let ledger = self.ledger.as_ref()?;
        (ledger.after.min(self.entries.len()) == place).then_some(&ledger.text)
    }
}

/// A ledger as it stands in a prompt: a line with identifiers of what left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Its text, title included.
    pub text: String,
    /// Entries of the prompt above it.
    pub after: usize,
    /// Count of the identifiers.
    pub identifiers: u64,
    /// Count of the standing instructions above them.
    #[serde(skip_serializing_if = "is_none")]
    pub rules: u64,
    /// Positions of the items that it names, ascending.
    pub homes: Vec<usize>,
}

// Of 32 bits, as in WebAssembly, a reference is the smaller one.
#[cfg_attr(
    target_pointer_width = "64",
    expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Ledger {
    /// Returns its two parts: the standing instructions, and the line that names what left. Either may be empty.
    pub fn parts(&self) -> (&str, &str) {
        if self.rules == 0 {
            return ("", &self.text);
        }
        // Statements stand on a line each, so that the first empty one is between the parts.
        self.text.split_once(labels::SEPARATOR).unwrap_or((&self.text, ""))
    }

    /// Counts its parts; `quarters` weighs one of them.
    pub fn stats(&self, quarters: impl Fn(&str) -> u64) -> (Option<RulesStats>, Option<LedgerStats>) {
        let (rules, names) = self.parts();
        let tokens = |text: &str| quarters(text).div_ceil(4);
        let rules = (self.rules > 0).then(|| RulesStats { tokens: tokens(rules), statements: self.rules });
        let names = (!names.is_empty()).then(|| LedgerStats { tokens: tokens(names), identifiers: self.identifiers });
        (rules, names)
    }

    /// Puts standing instructions above what else it says.
    pub fn with_rules(rules: RulesBlock, names: Option<Self>) -> Self {
        let mut homes = rules.homes;
        let (mut text, mut identifiers) = (rules.text, 0);
        if let Some(names) = names {
            text = [text.as_str(), labels::SEPARATOR, &names.text].concat();
            identifiers = names.identifiers;
            homes.extend(names.homes);
            sort_distinct(&mut homes);
        }
        Self { text, after: rules.after, identifiers, rules: rules.count, homes }
    }

    /// Reads the snapshot form.
    pub fn from_value(value: Value, path: &str, entries: usize, items: usize) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let last = items.saturating_sub(1) as u64;
        Ok(Self {
            text: fields.string("text")?,
            after: fields.uint_or("after", 0, entries as u64)? as usize,
            identifiers: fields.uint_or("identifiers", 0, u64::MAX)?,
            rules: fields.uint_or("rules", 0, u64::MAX)?,
            homes: fields.records("homes", |value, at| Ok(as_uint(&value, at, last)? as usize))?,
        })
    }
}
