//! In which form an item can stand in the prompt, and what each form costs.

use std::borrow::Cow;
use std::cell::Cell;

use super::row::{CandidateRow, PlannedPart};
use super::units::cap;
use crate::compile::excerpt::{self, ExcerptQuery, StoredText};
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{EntryContent, EntryRendering};
use crate::compile::render::renderer::Renderer;
use crate::compile::score::bm25n::TermWeights;
use crate::compile::state::BuildState;
use crate::digest_note::{self, HANDLE_FIELD};
use crate::firewall::handle_of_item;
use crate::index::IndexEntry;
use contextweaver_model::{ContextItem, ItemKind, RenderedAs};

/// Items up to this many tokens are never cut.
const SMALL_TOKENS: u64 = 60;
/// Tokens set aside for the label of an excerpt.
const LABEL_TOKENS: u64 = 4;
/// Quarter tokens set aside for gaps.
const GAP_ROOM: u64 = 8;
/// Quarter tokens below which more of a text is not worth another form.
pub const MIN_GROWTH: u64 = 4 * 30;
/// How many times the room of a digest an excerpt below it needs.
const DIGEST_SHARE: u64 = 3;
/// Share of a text from which on what it states is most of it.
const STATED_PART: (usize, usize) = (3, 2);
/// How often a part that grew too far is tried smaller.
const GROWTH_ROUNDS: usize = 3;

/// How hard a pinned unit is squeezed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SqueezeLevel {
    /// Excerpts only where a unit is larger than the cap.
    None,
    /// Every large result becomes the smallest excerpt.
    Small,
    /// Every result becomes one line.
    Stub,
}

/// Makes parts out of rows.
pub struct Planner<'a> {
    pub sources: &'a BuildInputs<'a>,
    /// Knows what an entry costs.
    pub renderer: &'a dyn Renderer,
    pub wanted: ExcerptQuery<'a>,
    /// Largest share of the budget one unit may take whole, in tokens; a selection lowers it.
    pub cap: Cell<u64>,
    /// Position of the last item, which stays whole.
    pub last: Option<usize>,
    /// Whether a running prompt is cut.
    pub is_cut: bool,
    /// Whether the last item stays whole. An answer of the agent that nothing follows does not: nobody works on it.
    pub keeps_last: bool,
    pub work: Cell<u64>,
}

impl<'a> Planner<'a> {
    /// Makes a planner for a build whose items may take so many quarter tokens together.
    pub fn new(state: &BuildState<'a>, terms: &'a TermWeights, limit: u64) -> Self {
        let is_answer = |row: &CandidateRow| state.items()[row.at].kind == ItemKind::AgentMsg;
        let has_steps = state.units.iter().any(|unit| unit.step.is_some());
        let keeps_last = has_steps || !state.rows.last().is_some_and(is_answer);
        Self {
            sources: state.sources,
            renderer: state.renderer,
            wanted: ExcerptQuery::new(state.sources.index, terms, state.rows.len()),
            cap: Cell::new(cap(limit / 4)),
            last: state.rows.last().map(|row| row.at),
            is_cut: state.is_cut(),
            keeps_last,
            work: Cell::new(0),
        }
    }

    /// Returns an item of the log.
    pub fn item(&self, at: usize) -> &'a ContextItem {
        &self.sources.events.items()[at]
    }

    /// Tells whether the standing instructions say most of an item, or it was for one time alone.
    pub fn is_stated(&self, at: usize) -> bool {
        if self.indexed(at).said.iter().any(|said| said.statement.is_once) {
            return true;
        }
        let said: usize =
            self.indexed(at).said.iter().filter(|said| said.statement.is_sure()).map(|said| said.text.len()).sum();
        said > 0 && STATED_PART.0 * said >= STATED_PART.1 * self.item(at).text.len()
    }

    /// Tells whether an item is what an earlier prompt said of itself.
    pub fn says_ours(&self, at: usize) -> bool {
        self.indexed(at).is_ours
    }

    /// Returns a row as the parts of it that matter most, in about so many quarter tokens.
    pub fn line(&self, index: usize, row: &CandidateRow, room: u64) -> PlannedPart {
        if row.redacted.is_some() { row.whole(index) } else { self.quote(index, row, "", room / 4) }
    }

    fn indexed(&self, at: usize) -> &'a IndexEntry {
        self.sources.index.entry(at)
    }

    /// Returns the entries of a unit: whole, or with large members cut to what matters.
    pub fn unit(&self, rows: &[CandidateRow], members: &[usize], squeeze: SqueezeLevel) -> Vec<PlannedPart> {
        let tokens = members.iter().map(|index| rows[*index].quarters).sum::<u64>() / 4;
        let has_result = members.iter().any(|index| self.is_document(&rows[*index]));
        let has_source = members.iter().any(|index| self.has_more(&rows[*index]));
        let large = (tokens > self.cap.get() && has_result) || tokens > 2 * self.cap.get();
        if squeeze == SqueezeLevel::None && !large && !has_source {
            return members.iter().map(|index| rows[*index].whole(*index)).collect();
        }
        let stays = |row: &CandidateRow| {
            // What was just fetched stays whole, and what was fetched on purpose.
            let is_wanted = self.keeps_last && Some(row.at) == self.last
                || row.stands.is_some()
                || self.item(row.at).metadata.contains_key(HANDLE_FIELD);
            !self.can_cut(row)
                || (is_wanted && squeeze == SqueezeLevel::None)
                || (row.quarters <= 4 * SMALL_TOKENS && !self.has_more(row))
        };
        let kept: u64 =
            members.iter().map(|i| &rows[*i]).filter(|row| stays(row)).map(|row| row.quarters).sum::<u64>() / 4;
        let cut = members.iter().filter(|index| !stays(&rows[**index])).count().max(1) as u64;
        let room = match squeeze {
            SqueezeLevel::None => (self.cap.get().saturating_sub(kept) / cut).max(SMALL_TOKENS),
            _ => SMALL_TOKENS,
        };
        members
            .iter()
            .map(|index| {
                let row = &rows[*index];
                let is_result = self.item(row.at).kind == ItemKind::ToolResult;
                if squeeze == SqueezeLevel::Stub && is_result && row.redacted.is_none() {
                    row.smaller(*index, self.stub(*index, row))
                } else if stays(row) {
                    row.whole(*index)
                } else {
                    self.excerpt(*index, row, room)
                }
            })
            .collect()
    }

    /// Tells whether the item is of a kind that is quoted rather than said.
    fn is_document(&self, row: &CandidateRow) -> bool {
        matches!(self.item(row.at).kind, ItemKind::ToolResult | ItemKind::DocSnippet | ItemKind::RetrievedDoc)
    }

    /// Tells whether a summary stands for a text that speaks to the query.
    pub fn has_more(&self, row: &CandidateRow) -> bool {
        row.redacted.is_none() && !row.stub && row.stands.is_none() && row.text_score > 0.0 && self.is_ours(row.at)
    }

    /// Weighs what a row will cost about: where a digest gives way to the text behind it, that text.
    pub fn planned_quarters(&self, row: &CandidateRow) -> u64 {
        let behind = || digest_note::tokens(self.item(row.at)).map_or(0, |tokens| 4 * tokens);
        if self.has_more(row) { row.quarters.max(behind()) } else { row.quarters }
    }

    fn can_cut(&self, row: &CandidateRow) -> bool {
        let kind = self.item(row.at).kind;
        row.redacted.is_none()
            && !row.stub
            && !matches!(kind, ItemKind::ToolCall | ItemKind::UserTurn | ItemKind::Policy)
            || (kind == ItemKind::UserTurn
                && row.redacted.is_none()
                && Some(row.at) != self.last
                && row.quarters > 8 * self.cap.get())
    }

    fn excerpt(&self, index: usize, row: &CandidateRow, room_tokens: u64) -> PlannedPart {
        // What stands out must not give way to what shares words with the query.
        let is_larger =
            digest_note::tokens(self.item(row.at)).is_some_and(|tokens| tokens + LABEL_TOKENS > room_tokens);
        let digest = self.digest(row.at).filter(|digest| {
            is_larger && DIGEST_SHARE * self.sources.options.estimator.quarters(digest) <= 4 * room_tokens
        });
        let part = self.quote(index, row, digest.as_deref().unwrap_or(""), room_tokens);
        if part.form == RenderedAs::Whole || self.has_more(row) { part } else { row.smaller(index, part) }
    }

    /// Returns a part with more of what is behind it, for at most so many quarter tokens more; none where nothing is left
    /// out, or hardly anything would be gained. A digest stays above what is added, as it says what stands out.
    pub fn grown(&self, row: &CandidateRow, part: &PlannedPart, more: u64) -> Option<PlannedPart> {
        let item = self.item(row.at);
        if !self.may_grow(row, part) {
            return None;
        }
        let whole = digest_note::tokens(item).map_or(self.indexed(row.at).part_quarters, |tokens| 4 * tokens);
        let room = worthwhile(part.quarters + more, whole);
        let digest = self.digest(row.at).filter(|_| whole > room);
        let above = digest.as_deref().unwrap_or("");
        let mut asked = room;
        // What the renderer puts around a part is known only when it is written.
        for _ in 0..GROWTH_ROUNDS {
            let grown = self.quote(part.row, row, above, asked / 4);
            if grown.quarters <= room {
                let gains = grown.form == RenderedAs::Whole || grown.quarters >= part.quarters + MIN_GROWTH;
                return gains.then_some(grown);
            }
            asked = asked.saturating_sub(grown.quarters - room + GAP_ROOM);
        }
        None
    }

    /// Returns how a row enters a running prompt: whole where that takes no more than a share, in quarter tokens, else what stands out
    /// of it and the parts that the query and the last call ask for, in half of the share. With it whether it is all of a stored
    /// text, and what it would take whole.
    pub fn entry(&self, index: usize, row: &CandidateRow, share: u64) -> (PlannedPart, bool, u64) {
        let item = self.item(row.at);
        if row.redacted.is_some() || row.stub || !self.is_digest(row.at) {
            return (row.whole(index), false, row.quarters);
        }
        let estimated = digest_note::tokens(item).map_or(0, |tokens| 4 * tokens);
        let mut whole_quarters = estimated.max(row.quarters);
        // A text far above its share need not be weighed.
        if estimated <= 2 * share
            && let Some(text) = self.indexed(row.at).stored_text(item, self.sources.artifacts, self.sources.options)
        {
            let content = EntryContent::Quote { text: text.into_owned(), note: None };
            let whole = self.written(index, row, RenderedAs::Whole, content, None);
            whole_quarters = whole.quarters;
            if whole.quarters <= share {
                return (whole, true, whole_quarters);
            }
        }
        let digest = self.digest(row.at).unwrap_or_default();
        (self.quote(index, row, &digest, share / 4 / 2), false, whole_quarters)
    }

    /// Tells whether there is more of an item than a part shows, by what it is.
    pub fn may_grow(&self, row: &CandidateRow, part: &PlannedPart) -> bool {
        if row.redacted.is_some() || row.stub || row.stands.is_some() {
            return false;
        }
        match part.form {
            RenderedAs::Excerpt => true,
            RenderedAs::Stub => self.can_cut(row),
            RenderedAs::Whole => part.content == EntryContent::Own && self.is_digest(row.at),
            RenderedAs::Redacted => false,
        }
    }

    /// Returns the digest of an item whose text is behind it.
    fn digest(&self, at: usize) -> Option<Cow<'a, str>> {
        self.is_digest(at).then(|| self.sources.options.mask_secrets(&self.item(at).text))
    }

    /// Tells whether a digest of ours stands for a longer text, and no summary of the caller's.
    fn is_ours(&self, at: usize) -> bool {
        self.indexed(at).is_summarised() && !digest_note::is_chosen(self.item(at))
    }

    /// Tells whether the text of an item is our digest of a text that is still there.
    pub fn is_digest(&self, at: usize) -> bool {
        self.is_ours(at) && self.indexed(at).stored(self.item(at), self.sources.artifacts).is_some()
    }

    /// Quotes the text behind an item in about so many tokens, below a text that says what stands out in it.
    fn quote(&self, index: usize, row: &CandidateRow, above: &str, room_tokens: u64) -> PlannedPart {
        let item = self.item(row.at);
        let source = self.indexed(row.at).source(item, self.sources.artifacts);
        let estimator = &self.sources.options.estimator;
        let mut room = (4 * room_tokens.saturating_sub(LABEL_TOKENS)).saturating_sub(GAP_ROOM);
        let weigh = |line: &Option<String>| line.as_ref().map_or(0, |line| estimator.quarters(line) + GAP_ROOM);
        let widest = excerpt::widest_gap(source);
        let mut below = digest_note::note_with(item, room_tokens, Some(&widest));
        // The line below an excerpt is worth its room where it leaves most of it. A digest has it already.
        let is_too_long = above.is_empty() && 3 * weigh(&below) >= room;
        // Whoever goes on with the prompt is told where to look, if nothing else.
        let handle = || {
            let artifact = item.artifact_ref.as_ref().filter(|_| self.is_cut)?;
            Some(["(", &digest_note::way(NOTE_PART, &artifact.handle), ")"].concat())
        };
        if is_too_long {
            below = below.and_then(|_| handle());
        }
        room = room.saturating_sub(weigh(&below));
        let media_type = item.artifact_ref.as_ref().map_or("", |artifact| artifact.media_type.as_str());
        let stored = StoredText { text: source, media_type };
        let found = excerpt::excerpt_below(above, &stored, room, &self.wanted, estimator);
        self.work.set(self.work.get() + found.work);
        if found.omitted_chars == 0 {
            // Nothing was left out, so this is the whole text behind the summary.
            let content = EntryContent::Quote { text: source.to_owned(), note: None };
            return self.written(index, row, RenderedAs::Whole, content, None);
        }
        if !is_too_long {
            let kept = estimator.tokens(&found.text);
            below = below.and_then(|_| digest_note::note_with(item, kept, found.missing.as_ref())).or_else(handle);
        }
        let content = EntryContent::Quote { text: found.text, note: below };
        self.written(index, row, RenderedAs::Excerpt, content, Some(found.omitted_chars))
    }

    fn stub(&self, index: usize, row: &CandidateRow) -> PlannedPart {
        // Whoever goes on with the prompt is told where to look.
        let handle = handle_of_item(self.item(row.at)).filter(|_| self.is_cut);
        let content = handle.map_or_else(
            || EntryContent::stub(STUB_ROOM),
            |handle| EntryContent::stub(&digest_note::way(STUB_ROOM, &handle)),
        );
        self.written(index, row, RenderedAs::Stub, content, None)
    }

    fn written(
        &self,
        index: usize,
        row: &CandidateRow,
        form: RenderedAs,
        content: EntryContent,
        omitted_chars: Option<u64>,
    ) -> PlannedPart {
        let rendering = EntryRendering { form, content: &content };
        let quarters = self.renderer.entry_quarters(self.sources, row.at, &rendering);
        PlannedPart { row: index, at: row.at, form, content, quarters, omitted_chars }
    }
}

/// Returns what of so much room is worth giving to a text of this weight: all of it where it holds half of the text, and
/// the less, the smaller the part that it could show. So one line more never makes much of a difference, and a text that
/// is larger than any prompt does not fill it with its beginning.
fn worthwhile(room: u64, whole: u64) -> u64 {
    let share = 2.0 * room as f64 / whole.max(1) as f64;
    (room as f64 * share.min(1.0)) as u64
}

/// Why a stub stands where text was expected.
const STUB_ROOM: &str = "left out for room";
/// What stands below an excerpt that has no room to say how much of the text it is.
const NOTE_PART: &str = "a part";
