//! A running prompt compiled anew: smaller, by the stages of a build, around the last steps as they stand.

use super::account::Account;
use super::cut::BESIDE_KEPT;
use super::entry;
use super::prompt::{LeftItem, RunningPrompt, RunningSection, WrittenSections};
use super::request::{Anew, Entered, RunningChange, RunningMessages, RunningOutput, RunningRequest};
use super::writer::{WriterFrame, WrittenPrompt, WrittenStep};
use crate::compile::pipeline::{self, BuiltPrompt, CutPrompt, CutScope};
use crate::compile::prompt::{EntryContent, EntryRendering};
use crate::compile::select::row::StandingEntry;
use crate::request::BuildRequest;
use contextweaver_base::order::sort_distinct;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ItemKind, RenderedAs};

/// Share of a cut prompt up to which the last steps stay as they are. The newest step counts towards it, and may be
/// larger by itself. What matters of earlier steps is chosen like everything else.
const RECENT_SHARE: f64 = 0.1;

/// What stays of a prompt.
struct Kept<'a> {
    sections: Vec<&'a RunningSection>,
    /// Where the last steps begin that stay as they are, and the newest.
    recent: usize,
    newest: usize,
    /// The first request.
    keeps: Vec<usize>,
    /// What these take, in tokens, with what else must be there.
    tokens: u64,
}

impl Kept<'_> {
    fn standing(&self, from: usize) -> Vec<StandingEntry> {
        let entry = |section: &&RunningSection| {
            let (form, content) = section.behind_cut();
            StandingEntry { at: section.at, form, content: content.clone(), omitted_chars: section.omitted_chars }
        };
        self.sections[from..].iter().map(entry).collect()
    }
}

impl RunningRequest<'_> {
    /// Compiles a prompt anew.
    pub(super) fn compile(&self, anew: &Anew) -> Result<RunningOutput> {
        let room = self.room();
        let kept = self.kept(anew, anew.depth.of(room, 0));
        let target = anew.depth.of(room, kept.tokens);
        // What stays is given up step by step where it does not fit.
        let first = &kept.keeps[..];
        let attempts = [
            (Some(target), Some(kept.recent), first, false),
            (None, Some(kept.newest), first, true),
            (None, None, first, true),
            (None, None, &[], true),
        ];
        let mut failed: Option<Error> = None;
        for (tokens, from, keeps, may_squeeze) in attempts {
            // All of the room would be full again with the next step.
            let required = failed.as_ref().and_then(|error| error.details().get("required")?.as_u64());
            let least = required.map_or(room, |required| (BESIDE_KEPT * required as f64) as u64);
            let tokens = tokens.unwrap_or(least.max(target).min(room));
            let request = BuildRequest { budget_tokens: Some(tokens), ..self.request.clone() };
            let stands = from.map(|from| kept.standing(from)).unwrap_or_default();
            let scope = CutScope { stands, keeps: keeps.to_vec(), budget: Some(room), may_squeeze };
            match pipeline::compile(self.sources, &request, &scope, self.writer.renderer()) {
                Ok((built, cut)) => return self.replaced(anew, built, cut),
                Err(error) if error.code() == ErrorCode::BudgetExceeded => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or_else(|| Error::new(ErrorCode::Internal, "nothing was tried")))
    }

    /// Makes the running prompt of what was compiled.
    fn replaced(&self, anew: &Anew, built: BuiltPrompt, cut: CutPrompt) -> Result<RunningOutput> {
        let CutPrompt { header, ledger, entries, left, warnings: said } = cut;
        let section = |entry: StandingEntry| {
            let StandingEntry { at, form, content, omitted_chars } = entry;
            let is_stored = form == RenderedAs::Whole
                && matches!(content, EntryContent::Quote { .. })
                && self.sources.index.entry(at).is_summarised();
            entry::section(self.sources, at, form, content, omitted_chars, is_stored)
        };
        let sections: Vec<RunningSection> = entries.into_iter().map(section).collect();
        let frame = WriterFrame { header: &header, ledger: ledger.as_ref(), footer: &self.footer };
        let places: Vec<&RunningSection> = sections.iter().collect();
        let nothing = WrittenSections::default();
        let (messages, written, tokens) = match self.writer.write(self.sources, &frame, &places, &nothing)? {
            WrittenPrompt::Text => (None, None, built.pack.stats.prompt_tokens()),
            WrittenPrompt::Messages(step) => {
                let WrittenStep { messages, system, warnings, written, quarters, .. } = *step;
                (Some(RunningMessages { keep: 0, messages, system, warnings }), Some(written), quarters / 4)
            }
            WrittenPrompt::Outdated => {
                return Err(Error::new(ErrorCode::Internal, "instructions behind the beginning"));
            }
        };
        let mut account = anew.account;
        let left = left.into_iter().map(|(at, stage, reason, tokens)| LeftItem { at, stage, reason, tokens });
        let mut running = RunningPrompt {
            form: self.writer.form(),
            close_calls: self.writer.closes_calls(),
            footer: self.footer.clone(),
            warnings: said,
            marks: Vec::new(),
            header,
            ledger,
            sections,
            seen: self.sources.events.len(),
            left: left.collect(),
            budget: self.asked,
            head: self.request.head.clone(),
            account: Account::default(),
            broken: None,
            is_asleep: false,
            changes: self.sources.events.changes(),
            written,
        };
        let entered = Entered {
            cut: Some(anew.reason),
            repeated: anew.base.map_or(0, |base| self.stays_beside(base, running.hides())),
            tokens,
            whole: anew.whole.max(tokens),
            is_turn: anew.new.has_turn,
            is_cold: anew.base.is_some_and(|base| self.is_cold(base)),
            hides: running.hides(),
        };
        let step = self.entered(&mut account, &entered);
        running.account = account;
        Ok(RunningOutput {
            explanation: built.pack.explanation,
            step,
            events: built.events,
            messages,
            tokens,
            change: RunningChange::Replaced(Box::new(running)),
            work: built.work + anew.new.work,
        })
    }

    /// Says what stays of a prompt whatever else does: the newest step as it is, others before it up to their share.
    fn kept<'a>(&self, anew: &Anew<'a>, target: u64) -> Kept<'a> {
        let items = self.sources.events.items();
        let standing = anew.base.into_iter().flat_map(|base| &base.sections).chain(&anew.new.sections);
        let sections: Vec<&RunningSection> = standing.filter(|section| !section.recalled).collect();
        let kind = |place: usize| items[sections[place].at].kind;
        let is_said = |place: usize| matches!(kind(place), ItemKind::ToolCall | ItemKind::AgentMsg);
        // What the model has not answered yet: results with their calls and what stands behind them, or what was said last.
        let unanswered = (0..sections.len()).rev().find(|place| is_said(*place)).map_or(0, |place| place + 1);
        // In a first prompt nobody knows what is new: a question of the user is, and what stands before it is not.
        let fresh = match anew.base {
            Some(base) => base.sections.iter().filter(|section| !section.recalled).count(),
            None => (0..sections.len()).rev().find(|at| kind(*at) == ItemKind::UserTurn).map_or(0, |at| at + 1),
        };
        let has_results = (unanswered.max(fresh)..sections.len()).any(|place| kind(place) == ItemKind::ToolResult);
        let is_last = |place: &usize| kind(*place) != ItemKind::Policy;
        let last = (0..sections.len()).rev().find(is_last).unwrap_or(sections.len().saturating_sub(1));
        let mut newest = if has_results { unanswered.saturating_sub(1) } else { last };
        while newest > 0 && kind(newest) == ItemKind::ToolCall && is_said(newest - 1) {
            newest -= 1;
        }
        // Messages have more than text: images, and what stands around a call.
        let entry_quarters = |at: usize, form: RenderedAs, content: &EntryContent| {
            self.writer.renderer().entry_quarters(self.sources, at, &EntryRendering { form, content })
        };
        let own_quarters = |at: usize| entry_quarters(at, RenderedAs::Whole, &EntryContent::Own);
        let quarters_of = |section: &RunningSection| {
            let (form, content) = section.behind_cut();
            entry_quarters(section.at, form, content)
        };
        let weigh = |range: &[&RunningSection]| range.iter().map(|section| quarters_of(section)).sum::<u64>();
        let mut quarters = weigh(&sections[newest..]);
        let most = (4.0 * target as f64 * RECENT_SHARE) as u64;
        let mut recent = newest;
        for place in (0..newest).rev() {
            quarters += quarters_of(sections[place]);
            if quarters > most {
                break;
            }
            // Half a step is none.
            if kind(place) != ItemKind::ToolResult {
                recent = place;
            }
        }
        // What must be there besides: instructions, the first request, and the one of now.
        let index = self.sources.index;
        let is_ours = |id: &str| self.sources.events.position(id).is_some_and(|at| index.entry(at).is_ours);
        let asks = |item: &&ContextItem| item.kind == ItemKind::UserTurn && !item.is_superseded() && !is_ours(&item.id);
        let position = |item: Option<&ContextItem>| item.and_then(|item| self.sources.events.position(&item.id));
        let first = position(items.iter().find(asks));
        let instructions = (0..items.len()).take_while(|at| items[*at].kind == ItemKind::Policy);
        let asked = self.request.pin.iter().filter_map(|id| self.sources.events.position(id));
        let mut pinned: Vec<usize> =
            instructions.chain(first).chain(position(items.iter().rfind(asks))).chain(asked).collect();
        sort_distinct(&mut pinned);
        pinned.retain(|at| sections[recent..].iter().all(|section| section.at != *at));
        let pinned: u64 = pinned.iter().map(|at| own_quarters(*at)).sum();
        let around = self.sources.quarters(anew.header) + self.sources.quarters(&self.footer);
        let tokens = (weigh(&sections[recent..]) + pinned + around) / 4;
        Kept { sections, recent, newest, keeps: first.into_iter().collect(), tokens }
    }
}
