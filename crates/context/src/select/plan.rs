//! In which form an item can stand in the prompt, and what each form costs.

use std::cell::Cell;

use crate::callbacks::Answers;
use crate::excerpt::{self, Wanted};
use crate::footer::{self, HANDLE_FIELD};
use crate::index::LogIndex;
use crate::options::ManagerOptions;
use crate::render::{self, Mark};
use crate::store::ArtifactStore;
use contextweaver_model::{ContextItem, ItemKind, RenderedAs, Sensitivity};

/// Weight of the blank line between two sections, in quarter tokens.
pub const SEPARATOR_QUARTERS: u64 = 2;
/// Items up to this many tokens are never cut.
const SMALL_TOKENS: u64 = 60;
/// Tokens set aside for the label of an excerpt.
const LABEL_TOKENS: u64 = 4;
/// Quarter tokens set aside for gaps.
const GAP_ROOM: u64 = 8;

/// A candidate that is still in.
#[derive(Debug, Clone)]
pub struct Row {
    /// Position in the log.
    pub at: usize,
    /// Its unit.
    pub unit: usize,
    /// Label after classification.
    pub level: Sensitivity,
    /// Whether only its existence is shown.
    pub stub: bool,
    /// The item as redaction left it.
    pub redacted: Option<Box<ContextItem>>,
    /// Cost of the whole section with its separator, in quarter tokens.
    pub quarters: u64,
    /// Relevance of its own words, from 0 to 1.
    pub text_score: f64,
}

/// A section of the prompt to be.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index of the row.
    pub row: usize,
    /// Position in the log.
    pub at: usize,
    /// The form.
    pub form: RenderedAs,
    /// Label line and body, where they are not the item's own.
    pub text: Option<String>,
    /// Cost with separator, in quarter tokens.
    pub quarters: u64,
    /// Characters an excerpt leaves out.
    pub omitted_chars: Option<u64>,
}

/// How hard a pinned unit is squeezed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Squeeze {
    /// Excerpts only where a unit is larger than the cap.
    None,
    /// Every large result becomes the smallest excerpt.
    Small,
    /// Every result becomes one line.
    Stub,
}

/// Makes parts out of rows.
pub struct Planner<'a> {
    /// All items.
    pub items: &'a [ContextItem],
    /// Their index.
    pub index: &'a LogIndex,
    /// Settings.
    pub options: &'a ManagerOptions,
    /// Stored texts.
    pub artifacts: &'a ArtifactStore,
    /// Counts of the caller's estimator.
    pub answers: &'a Answers,
    /// Words that matter.
    pub wanted: Wanted<'a>,
    /// Largest share of the budget one unit may take whole, in tokens.
    pub cap: u64,
    /// Position of the last item, which stays whole.
    pub last: Option<usize>,
    /// Pieces looked at.
    pub work: Cell<u64>,
}

impl Planner<'_> {
    /// Returns the section of a row in full.
    pub fn whole(&self, index: usize, row: &Row) -> Part {
        let part =
            |form, text| Part { row: index, at: row.at, form, text, quarters: row.quarters, omitted_chars: None };
        match &row.redacted {
            Some(item) => part(RenderedAs::Redacted, Some(redacted_text(item))),
            None if row.stub => part(RenderedAs::Stub, Some(stub_text(&self.items[row.at], STUB_PHASE))),
            None => part(RenderedAs::Whole, None),
        }
    }

    /// Returns the sections of a unit: whole, or with large members cut to what matters.
    pub fn unit(&self, rows: &[Row], members: &[usize], squeeze: Squeeze) -> Vec<Part> {
        let tokens = members.iter().map(|index| rows[*index].quarters).sum::<u64>() / 4;
        let has_result = members.iter().any(|index| self.is_document(&rows[*index]));
        let has_source = members.iter().any(|index| self.has_more(&rows[*index]));
        let large = (tokens > self.cap && has_result) || tokens > 2 * self.cap;
        if squeeze == Squeeze::None && !large && !has_source {
            return members.iter().map(|index| self.whole(*index, &rows[*index])).collect();
        }
        let stays = |row: &Row| {
            // What was just fetched stays whole, and what was fetched on purpose.
            let is_wanted = Some(row.at) == self.last || self.items[row.at].metadata.contains_key(HANDLE_FIELD);
            !self.can_cut(row)
                || (is_wanted && squeeze == Squeeze::None)
                || (row.quarters <= 4 * SMALL_TOKENS && !self.has_more(row))
        };
        let kept: u64 =
            members.iter().map(|i| &rows[*i]).filter(|row| stays(row)).map(|row| row.quarters).sum::<u64>() / 4;
        let cut = members.iter().filter(|index| !stays(&rows[**index])).count().max(1) as u64;
        let room = match squeeze {
            Squeeze::None => (self.cap.saturating_sub(kept) / cut).max(SMALL_TOKENS),
            _ => SMALL_TOKENS,
        };
        members
            .iter()
            .map(|index| {
                let row = &rows[*index];
                let is_result = self.items[row.at].kind == ItemKind::ToolResult;
                if squeeze == Squeeze::Stub && is_result && row.redacted.is_none() {
                    self.smaller(*index, row, self.stub(*index, row, STUB_ROOM))
                } else if stays(row) {
                    self.whole(*index, row)
                } else {
                    self.excerpt(*index, row, room)
                }
            })
            .collect()
    }

    /// Tells whether the item is of a kind that is quoted rather than said.
    fn is_document(&self, row: &Row) -> bool {
        matches!(self.items[row.at].kind, ItemKind::ToolResult | ItemKind::DocSnippet | ItemKind::RetrievedDoc)
    }

    /// Tells whether a summary stands for a text that speaks to the query.
    pub fn has_more(&self, row: &Row) -> bool {
        let is_ours = self.index.entry(row.at).is_summarised() && !footer::is_chosen(&self.items[row.at]);
        row.redacted.is_none() && !row.stub && row.text_score > 0.0 && is_ours
    }

    fn can_cut(&self, row: &Row) -> bool {
        let kind = self.items[row.at].kind;
        row.redacted.is_none()
            && !row.stub
            && !matches!(kind, ItemKind::ToolCall | ItemKind::UserTurn | ItemKind::Policy)
            || (kind == ItemKind::UserTurn
                && row.redacted.is_none()
                && Some(row.at) != self.last
                && row.quarters > 8 * self.cap)
    }

    fn excerpt(&self, index: usize, row: &Row, room_tokens: u64) -> Part {
        let item = &self.items[row.at];
        let source = self.index.entry(row.at).source(item, self.artifacts);
        let estimator = &self.options.estimator;
        let mut room = (4 * room_tokens.saturating_sub(LABEL_TOKENS)).saturating_sub(GAP_ROOM);
        // The line below an excerpt is worth its room where it leaves most of it.
        let below = footer::footer(item, room_tokens).map_or(0, |line| estimator.quarters(&line) + GAP_ROOM);
        let has_footer = below > 0 && 3 * below < room;
        if has_footer {
            room -= below;
        }
        let found = excerpt::excerpt(source, room, &self.wanted, estimator);
        self.work.set(self.work.get() + found.work);
        if found.omitted_chars == 0 {
            // Nothing was left out, so this is the whole text behind the summary.
            let text = format!("{}\n{source}", render::label_line(item, Mark::None));
            return self.written(index, row, RenderedAs::Whole, text, None);
        }
        let mut text = format!("{}\n{}", render::label_line(item, Mark::Excerpt), render::escape_labels(&found.text));
        if let Some(line) = footer::footer(item, estimator.tokens(&found.text)).filter(|_| has_footer) {
            text.push('\n');
            text.push_str(&line);
        }
        let part = self.written(index, row, RenderedAs::Excerpt, text, Some(found.omitted_chars));
        if self.has_more(row) { part } else { self.smaller(index, row, part) }
    }

    fn stub(&self, index: usize, row: &Row, why: &str) -> Part {
        self.written(index, row, RenderedAs::Stub, stub_text(&self.items[row.at], why), None)
    }

    /// Returns the part, or the whole item if that is no larger.
    fn smaller(&self, index: usize, row: &Row, part: Part) -> Part {
        if part.quarters < row.quarters { part } else { self.whole(index, row) }
    }

    fn written(&self, index: usize, row: &Row, form: RenderedAs, text: String, omitted_chars: Option<u64>) -> Part {
        let quarters = self.answers.quarters(&self.options.estimator, &text) + SEPARATOR_QUARTERS;
        Part { row: index, at: row.at, form, text: Some(text), quarters, omitted_chars }
    }
}

/// Why a stub stands where text was expected.
const STUB_PHASE: &str = "not shown in this phase";
const STUB_ROOM: &str = "left out for room";

/// Returns the section of a redacted item.
pub fn redacted_text(item: &ContextItem) -> String {
    format!("{}\n{}", render::label_line(item, Mark::None), render::default_body(item, &item.text))
}

/// Returns the section that only says that an item exists.
pub fn stub_text(item: &ContextItem, why: &str) -> String {
    format!("{}\n({why})", render::label_line(item, Mark::None))
}

/// Returns the stub of an item whose kind the phase does not show.
pub fn phase_stub_text(item: &ContextItem) -> String {
    stub_text(item, STUB_PHASE)
}
