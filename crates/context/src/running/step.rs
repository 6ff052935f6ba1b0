//! A step of a running prompt: it extends the prompt before, or cuts it.

use super::account::{Account, AccountStep};
use super::cut::{CutDepth, CutScale};
use super::entry::{self, NewEntries};
use super::prompt::{LeftItem, PromptForm, RunningPrompt, RunningSection, WrittenSections};
use super::request::{Anew, Entered, Extension, RunningChange, RunningMessages, RunningOutput, RunningRequest};
use super::writer::{WriterFrame, WrittenPrompt, WrittenStep};
use super::{recalled, record};
use crate::compile::pipeline;
use crate::compile::prompt::{EntryContent, PromptSection};
use crate::compile::render::text::SEPARATOR_QUARTERS;
use crate::event::Event;
use crate::labels::{SEPARATOR, join_sections};
use contextweaver_base::order::sort_distinct;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{CutReason, ItemKind, RenderedAs, RunningStep};
use contextweaver_text::tokens::Estimator;

/// One result stays whole up to the prompt's room divided by this.
const RESULT_SHARE: f64 = 2.0;

/// The text above the items, and warnings about what it leaves out.
struct PromptHead {
    text: String,
    warnings: Vec<String>,
}

/// The prompt that a step would send if nothing were compiled anew.
struct Draft {
    new: NewEntries,
    /// The prompt as messages; none where text is sent.
    written: Option<Box<WrittenStep>>,
    tokens: u64,
    whole: u64,
}

impl Draft {
    fn hides(&self) -> bool {
        self.new.sections.iter().any(RunningSection::is_part) || self.new.left.iter().any(LeftItem::is_hidden)
    }

    fn is_new(&self) -> bool {
        !self.new.sections.is_empty()
    }
}

impl RunningRequest<'_> {
    /// Makes the next prompt: it extends the one before, or is compiled anew.
    pub fn advance(&self, before: Option<&RunningPrompt>) -> Result<RunningOutput> {
        let head = self.head()?;
        let anew = self.must_begin(before, &head.text);
        let account = before.map(|before| before.account).unwrap_or_default();
        let base = before.filter(|_| anew.is_none());
        let mut new = self.enter(base)?;
        if let Some(base) = base.filter(|_| !new.is_torn) {
            let back = recalled::recalled(self.sources, base, &new.sections, self.room());
            if !back.is_empty() {
                new.sections = recalled::placed(self.sources, std::mem::take(&mut new.sections), back);
            }
        }
        if new.is_torn {
            return self.begin(head, account, CutReason::Edited);
        }
        let Some(draft) = self.draft(base, &head.text, new)? else {
            return self.begin(head, account, CutReason::Instructions);
        };
        let hides = base.is_some_and(RunningPrompt::hides) || draft.hides();
        let is_cold = base.is_some_and(|before| self.is_cold(before) || self.is_moved(before, hides));
        let cold = is_cold.then_some(CutReason::Cold);
        let scale = self.scale(base, &account, &draft, anew);
        let is_partial = base.is_some_and(|base| !base.left.is_empty());
        let compile = |reason, depth| {
            let Draft { new, whole, .. } = &draft;
            self.compile(&Anew { base, header: &head.text, account, reason, new, whole: *whole, depth })
        };
        if !self.prices.has_cache() && (is_partial || draft.tokens > scale.budget) {
            // Without a cache, an extended prompt costs as much as a new one.
            return compile(anew.unwrap_or(CutReason::Uncached), CutDepth::ALL);
        }
        let reason = match anew {
            Some(reason) if draft.tokens <= scale.budget && self.needs_stages(&draft.new) => {
                return compile(reason, CutDepth::ALL);
            }
            Some(reason) => (draft.tokens > scale.budget).then_some(reason),
            None if draft.tokens > scale.budget => Some(CutReason::Full),
            None if cold.is_some() && draft.tokens > scale.share().of(self.room(), 0) && draft.is_new() => cold,
            None => None,
        };
        if let Some(reason) = reason {
            return compile(reason, self.depth(&scale, reason));
        }
        if base.is_some()
            && draft.is_new()
            && let Some(depth) = scale.pays()
        {
            return compile(CutReason::Pays, depth);
        }
        // A stub stands among the last messages, which each step writes anew. The messages before them stay.
        let edited = draft.new.replaces_stub.then_some(CutReason::Edited);
        Ok(self.extended(base, head, account, anew.or(cold).or(edited), draft))
    }

    fn head(&self) -> Result<PromptHead> {
        let header = pipeline::header_of(self.sources, self.request, true)?;
        Ok(PromptHead { text: header_text(&header.sections), warnings: pipeline::left_out_warnings(&header.dropped) })
    }

    /// Returns why the next prompt cannot extend the one before; none where it can.
    fn must_begin(&self, before: Option<&RunningPrompt>, header: &str) -> Option<CutReason> {
        let Some(before) = before else { return Some(CutReason::First) };
        if let Some(reason) = before.broken {
            return Some(reason);
        }
        if before.form != self.writer.form() || before.close_calls != self.writer.closes_calls() {
            return Some(CutReason::Format);
        }
        let items = self.sources.events.items();
        let stands = |at: usize| before.sections.iter().any(|section| section.at == at);
        if self.sources.events.rearranged() > before.changes {
            return Some(CutReason::Edited);
        }
        let mut changed: Vec<usize> =
            self.sources.events.changed_since(before.changes).filter(|at| *at < before.seen).collect();
        sort_distinct(&mut changed);
        let is_edited = |at: usize| items[at].is_superseded() || changed.binary_search(&at).is_ok();
        let edited: Vec<usize> = before.sections.iter().map(|section| section.at).filter(|at| is_edited(*at)).collect();
        if !edited.is_empty() {
            return Some(reason_of_change(edited.iter().map(|at| items[*at].kind)));
        }
        if before.header != header {
            return Some(CutReason::Instructions);
        }
        if before.budget != self.asked && !before.left.is_empty() {
            return Some(CutReason::Budget);
        }
        let is_missing =
            |id: &String| self.sources.events.position(id).is_none_or(|at| at < before.seen && !stands(at));
        self.request.pin.iter().any(is_missing).then_some(CutReason::Pinned)
    }

    /// Tells whether the provider's cache has nothing of the prompt before: the cache has expired, or what stands before the
    /// prompt changed.
    pub(super) fn is_cold(&self, before: &RunningPrompt) -> bool {
        let is_late = match (before.account.sent_at, self.request.now) {
            (Some(then), Some(now)) if self.prices.has_cache() => now - then > 1000.0 * self.prices.kept_seconds,
            _ => false,
        };
        is_late || before.head != self.request.head
    }

    /// Tells whether the tools that read hidden items are added before the prompt in this step, or taken away.
    fn is_moved(&self, before: &RunningPrompt, hides: bool) -> bool {
        self.request.hidden_tokens > 0 && before.hides() != hides
    }

    /// Returns the tokens of what stands beside the prompt.
    fn beside(&self, hides: bool) -> u64 {
        self.request.reserved_tokens + if hides { self.request.hidden_tokens } else { 0 }
    }

    /// Returns the tokens beside the prompt that stay in the provider's cache at a cut, because they stand before what
    /// changes.
    pub(super) fn stays_beside(&self, before: &RunningPrompt, hides: bool) -> u64 {
        if self.is_cold(before) || self.is_moved(before, hides) { 0 } else { self.beside(hides) }
    }

    pub(super) fn room(&self) -> u64 {
        self.budget.saturating_sub(self.beside(true))
    }

    fn enter(&self, base: Option<&RunningPrompt>) -> Result<NewEntries> {
        let share = (4.0 * self.room() as f64 / RESULT_SHARE) as u64;
        entry::enter(self.sources, self.request, self.writer.renderer(), base, share)
    }

    /// Writes the new entries behind the prompt before. Returns none where the messages that are written cannot go on: their
    /// instructions would change, or one of their calls lacks a signature.
    fn draft(&self, base: Option<&RunningPrompt>, header: &str, new: NewEntries) -> Result<Option<Draft>> {
        let sections: Vec<&RunningSection> =
            base.into_iter().flat_map(|base| &base.sections).chain(&new.sections).collect();
        let mut left = base.into_iter().flat_map(|base| &base.left).chain(&new.left);
        let ledger = base.and_then(|base| base.ledger.as_ref());
        let frame = WriterFrame { header, ledger, footer: &self.footer };
        let text = self.text_quarters(&frame, &sections);
        let is_read = self.writer.form() == PromptForm::Text || self.request.explain;
        let text = match self.sources.options.estimator {
            // A caller's estimator may count the whole text as more than its parts.
            Estimator::Custom(_) if is_read => text.max(record::text_quarters(self.sources, &frame, &sections)),
            _ => text,
        };
        let mut quarters = text;
        let nothing = WrittenSections::default();
        let from = base.and_then(|base| base.written.as_ref()).unwrap_or(&nothing);
        let written = match self.writer.write(self.sources, &frame, &sections, from)? {
            WrittenPrompt::Text => None,
            WrittenPrompt::Outdated => return Ok(None),
            WrittenPrompt::Messages(written) => {
                quarters = quarters.max(written.quarters);
                Some(written)
            }
        };
        let tokens = quarters / 4;
        // If everything is shown unchanged, the prompt itself is what would be sent without us.
        let whole = if left.all(|left| !left.is_hidden()) && sections.iter().all(|section| self.is_as_it_is(section)) {
            tokens
        } else {
            (base.map_or(0, |base| base.account.whole) + new.whole_quarters / 4).max(tokens)
        };
        Ok(Some(Draft { new, written, tokens, whole }))
    }

    /// Tells whether a section shows its item as it would be sent without us.
    fn is_as_it_is(&self, section: &RunningSection) -> bool {
        let is_own =
            matches!(section.content, EntryContent::Own) && !self.sources.index.entry(section.at).is_summarised();
        section.form == RenderedAs::Whole && !section.recalled && (section.is_stored || is_own)
    }

    /// Starts a prompt anew from the whole log: with all of it where that fits, else cut.
    fn begin(&self, head: PromptHead, account: Account, reason: CutReason) -> Result<RunningOutput> {
        let new = self.enter(None)?;
        match self.draft(None, &head.text, new)? {
            Some(draft) if draft.tokens <= self.room() && !self.needs_stages(&draft.new) => {
                Ok(self.extended(None, head, account, Some(reason), draft))
            }
            Some(draft) => {
                let fits = draft.tokens <= self.room();
                let depth = if fits {
                    CutDepth::ALL
                } else {
                    self.depth(&self.scale(None, &account, &draft, Some(reason)), reason)
                };
                let header = &head.text;
                self.compile(&Anew { base: None, header, account, reason, new: &draft.new, whole: draft.whole, depth })
            }
            None => Err(Error::new(ErrorCode::Internal, "instructions behind the beginning")),
        }
    }

    /// Tells whether the stages of a build must run even if everything fits: there are standing instructions in the caller's
    /// words, which no item shows, or more new items of a kind than the policy allows.
    fn needs_stages(&self, new: &NewEntries) -> bool {
        let items = self.sources.events.items();
        (self.sources.options.standing_rules && self.sources.book.has_words())
            || self.sources.options.policy.max_items_per_kind.iter().any(|(kind, cap)| {
                new.sections.iter().filter(|section| items[section.at].kind == *kind).count() as u64 > *cap
            })
    }

    /// Returns the depth of a cut that has to be made. A first prompt outside of a loop may use all of the room, as others
    /// may never follow.
    fn depth(&self, scale: &CutScale, reason: CutReason) -> CutDepth {
        let is_alone = reason == CutReason::First && !self.is_loop;
        if is_alone { CutDepth::ALL } else { scale.forced() }
    }

    /// Returns the quarter tokens that the prompt has as text, whether or not text is sent.
    fn text_quarters(&self, frame: &WriterFrame, sections: &[&RunningSection]) -> u64 {
        let ledger = frame.ledger.map_or("", |ledger| &ledger.text);
        let around = |text: &str| if text.is_empty() { 0 } else { self.sources.quarters(text) + SEPARATOR_QUARTERS };
        let sum: u64 = sections.iter().map(|section| section.quarters).sum();
        (sum + around(frame.header) + around(frame.footer) + around(ledger)).saturating_sub(SEPARATOR_QUARTERS)
    }

    fn scale<'s>(
        &'s self,
        base: Option<&RunningPrompt>,
        account: &'s Account,
        draft: &Draft,
        reason: Option<CutReason>,
    ) -> CutScale<'s> {
        CutScale {
            stays: base.map_or(0, |base| self.stays_beside(base, true)),
            is_cold: is_new_to_all(reason),
            prices: &self.prices,
            account,
            thrift: self.sources.options.thrift,
            budget: self.room(),
            beside: self.beside(true),
            next: draft.tokens,
            whole: draft.whole,
            is_turn: draft.new.has_turn,
        }
    }

    /// Makes a draft the outcome of the step: an extension of `base`, or without one a new running prompt.
    fn extended(
        &self,
        base: Option<&RunningPrompt>,
        head: PromptHead,
        mut account: Account,
        reason: Option<CutReason>,
        draft: Draft,
    ) -> RunningOutput {
        let hides = base.is_some_and(RunningPrompt::hides) || draft.hides();
        let Draft { new, written, tokens, whole } = draft;
        let is_cold = base.is_some_and(|base| self.is_cold(base));
        let stays = base.and_then(|base| base.written.as_ref()).map_or(0, |written| written.quarters / 4);
        let repeated = match reason {
            None => account.sent,
            Some(CutReason::Edited) => stays + base.map_or(0, |base| self.stays_beside(base, hides)),
            Some(_) => 0,
        };
        let entered = Entered { cut: reason, repeated, tokens, whole, is_turn: new.has_turn, is_cold, hides };
        let step = self.entered(&mut account, &entered);
        let (messages, written) = match written {
            None => (None, None),
            Some(step) => {
                let WrittenStep { messages, keep, system, warnings, written, .. } = *step;
                (Some(RunningMessages { keep, messages, system, warnings }), Some(written))
            }
        };
        let changes = self.sources.events.changes();
        let seen = self.sources.events.len();
        let work = new.work + new.sections.len() as u64;
        let change = if base.is_some() {
            RunningChange::Extended(Box::new(Extension {
                sections: new.sections,
                left: new.left,
                seen,
                changes,
                account,
                head: self.request.head.clone(),
                footer: self.footer.clone(),
                written,
            }))
        } else {
            RunningChange::Replaced(Box::new(RunningPrompt {
                form: self.writer.form(),
                close_calls: self.writer.closes_calls(),
                footer: self.footer.clone(),
                warnings: head.warnings,
                marks: Vec::new(),
                header: head.text,
                ledger: None,
                sections: new.sections,
                seen,
                left: new.left,
                budget: self.asked,
                head: self.request.head.clone(),
                account,
                broken: None,
                is_asleep: false,
                changes,
                written,
            }))
        };
        RunningOutput {
            explanation: None,
            step,
            events: vec![Event::ContextBuilt { phase: self.request.phase.as_str().to_owned() }],
            messages,
            tokens,
            change,
            work,
        }
    }

    /// Enters a step into the account.
    pub(super) fn entered(&self, account: &mut Account, entered: &Entered) -> RunningStep {
        let Entered { cut, repeated, tokens, whole, is_turn, is_cold, hides } = *entered;
        let tokens = tokens + self.beside(hides);
        let repeated = repeated.min(tokens);
        let step = AccountStep {
            tokens,
            repeated,
            whole,
            beside: self.request.reserved_tokens,
            is_cold: is_cold || is_new_to_all(cut),
            is_cut: cut.is_some_and(|cut| cut != CutReason::First),
            is_turn,
            now: self.request.now,
        };
        let (cost, cost_without) = account.enter(&self.prices, &step);
        RunningStep {
            step: account.costs.steps,
            cut,
            tokens,
            repeated_tokens: repeated,
            tokens_without: whole + self.request.reserved_tokens,
            cost,
            cost_without,
            hides,
        }
    }
}

impl RunningPrompt {
    /// Adds the outcome of a step behind the prompt.
    pub fn extend(&mut self, extension: Extension) {
        let Extension { sections, left, seen, changes, account, head, footer, written } = extension;
        self.sections.extend(sections);
        self.left.extend(left);
        (self.seen, self.changes, self.account, self.head) = (seen, changes, account, head);
        (self.footer, self.written) = (footer, written);
    }
}

/// Returns the reason for a cut after items of these kinds changed: `Instructions` if all are policies, else `Edited`.
pub(crate) fn reason_of_change(mut kinds: impl Iterator<Item = ItemKind>) -> CutReason {
    if kinds.all(|kind| kind == ItemKind::Policy) { CutReason::Instructions } else { CutReason::Edited }
}

/// Tells whether a reason for a cut loses the provider's cache without us as well. Only changed instructions do, because
/// they stand before the whole conversation.
fn is_new_to_all(reason: Option<CutReason>) -> bool {
    reason == Some(CutReason::Instructions)
}

fn header_text(header: &[PromptSection]) -> String {
    let texts: Vec<&str> = header.iter().map(|section| section.text.as_str()).collect();
    join_sections(&texts, SEPARATOR)
}
