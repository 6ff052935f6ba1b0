//! Candidates, and the parts of them that a prompt may have.

use crate::compile::prompt::EntryContent;
use contextweaver_model::{ContextItem, RenderedAs, Sensitivity};

/// Why a stub stands where text was expected.
const STUB_PHASE: &str = "not shown in this phase";

/// A candidate that is still in.
#[derive(Debug, Clone)]
pub struct CandidateRow {
    pub at: usize,
    pub unit: usize,
    pub level: Sensitivity,
    /// Whether only its existence is shown.
    pub stub: bool,
    /// The item as redaction left it.
    pub redacted: Option<Box<ContextItem>>,
    /// Cost in full, in quarter tokens, with what the renderer puts around it.
    pub quarters: u64,
    /// Relevance of its own words, from 0 to 1.
    pub text_score: f64,
    /// In which form it is to stay, where a running prompt has one for it.
    pub stands: Option<Box<StandingEntry>>,
}

/// The form in which an item is to stay in a running prompt.
#[derive(Debug, Clone)]
pub struct StandingEntry {
    pub at: usize,
    pub form: RenderedAs,
    pub content: EntryContent,
    /// Characters of the item that are left out.
    pub omitted_chars: Option<u64>,
}

impl CandidateRow {
    /// Returns the entry of the row in full.
    pub fn whole(&self, index: usize) -> PlannedPart {
        let (form, content) = self.content();
        let omitted_chars = self.stands.as_ref().and_then(|stands| stands.omitted_chars);
        PlannedPart { row: index, at: self.at, form, content, quarters: self.quarters, omitted_chars }
    }

    /// Returns the part, or the whole item if that is no larger.
    pub fn smaller(&self, index: usize, part: PlannedPart) -> PlannedPart {
        if part.quarters < self.quarters { part } else { self.whole(index) }
    }

    /// Returns what is shown of the item in full: all that the phase and redaction leave of it.
    pub fn content(&self) -> (RenderedAs, EntryContent) {
        match &self.redacted {
            Some(item) => (RenderedAs::Redacted, EntryContent::Redacted(item.text.clone())),
            None if self.stands.is_some() => {
                let stands = self.stands.as_deref();
                stands.map_or((RenderedAs::Whole, EntryContent::Own), |stands| (stands.form, stands.content.clone()))
            }
            None if self.stub => (RenderedAs::Stub, EntryContent::stub(STUB_PHASE)),
            None => (RenderedAs::Whole, EntryContent::Own),
        }
    }
}

/// An entry of the prompt to be.
#[derive(Debug, Clone)]
pub struct PlannedPart {
    pub row: usize,
    pub at: usize,
    pub form: RenderedAs,
    /// What stands there of the item.
    pub content: EntryContent,
    /// Cost in quarter tokens, with what the renderer puts around it.
    pub quarters: u64,
    /// Characters an excerpt leaves out.
    pub omitted_chars: Option<u64>,
}

impl PlannedPart {
    /// Tells whether any text of the item is left.
    pub fn says_something(&self) -> bool {
        !matches!(&self.content, EntryContent::Quote { text, .. } if text.trim().is_empty())
    }
}
