//! What was sent last of a running prompt, section by section, and what a journal says of it.

use serde::Serialize;
use serde_json::{Value, json};

use super::account::Account;
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{EntryContent, EntryRendering, Ledger};
use crate::compile::render::text::section_quarters;
use crate::index::LogIndex;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{Format, WrittenBefore};
use contextweaver_model::json::{Field, Fields, as_uint, to_value};
use contextweaver_model::{CutReason, DropReason, Phase, RenderedAs, RunningStep, Stage};

/// The form in which a running prompt is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptForm {
    Text,
    Messages(Format),
}

impl PromptForm {
    fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Messages(format) => format.as_str(),
        }
    }

    fn parse(name: &str) -> Result<Self> {
        if name == "text" { Ok(Self::Text) } else { Format::parse(name).map(Self::Messages) }
    }
}

/// An item in a running prompt. It stays as it is until the next cut.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing of a section, and any of them may hold")]
pub struct RunningSection {
    /// Position in the log.
    pub at: usize,
    pub form: RenderedAs,
    pub content: EntryContent,
    /// Whether the content is all of the text behind a digest, which the store has.
    pub is_stored: bool,
    pub omitted_chars: Option<u64>,
    /// Whether it is an excerpt of something that left, behind what was there.
    pub recalled: bool,
    /// Whether it says that the same stands above, so that nothing is hidden.
    pub is_repeat: bool,
    /// Whether it is a digest of ours, behind which there is more; not part of a snapshot.
    pub is_digest: bool,
    /// Weight of the section in a text prompt, in quarter tokens; not part of a snapshot.
    pub quarters: u64,
}

impl RunningSection {
    /// Tells whether there is more of the item than it shows.
    pub fn is_part(&self) -> bool {
        let is_less = self.is_digest || matches!(self.form, RenderedAs::Excerpt | RenderedAs::Stub);
        is_less && !self.recalled && !self.is_repeat
    }

    /// Tells whether all of the item is shown.
    pub fn is_all(&self, index: &LogIndex) -> bool {
        self.form == RenderedAs::Whole && (self.is_stored || !index.entry(self.at).is_summarised())
    }

    /// Returns how it stands behind a cut: what it says that stands above may leave with that.
    pub fn behind_cut(&self) -> (RenderedAs, &EntryContent) {
        if self.is_repeat { (RenderedAs::Whole, &EntryContent::Own) } else { (self.form, &self.content) }
    }

    /// Weighs it, and tells whether it is a digest.
    pub fn weigh(&mut self, sources: &BuildInputs) {
        let rendering = EntryRendering { form: self.form, content: &self.content };
        self.quarters = section_quarters(sources, self.at, &rendering, self.recalled);
        self.is_digest = rendering.is_digest(sources.index.entry(self.at));
    }
}

/// An item that is not in a running prompt, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftItem {
    pub at: usize,
    pub stage: Stage,
    pub reason: DropReason,
    /// Tokens that it would have taken.
    pub tokens: u64,
}

impl LeftItem {
    /// Tells whether it could be asked for.
    pub fn is_hidden(&self) -> bool {
        self.stage != Stage::Sensitivity
    }
}

const STAGES: [Stage; 3] = [Stage::Select, Stage::Dedup, Stage::Sensitivity];

/// How far the sections of a running prompt have been written as messages.
#[derive(Debug, Clone, Default)]
pub struct WrittenSections {
    /// Whether what stands above the sections is written.
    pub has_begun: bool,
    /// Sections whose messages stay whatever comes.
    pub sections: usize,
    /// Whether the ledger is among these.
    pub has_ledger: bool,
    /// Their messages.
    pub before: WrittenBefore,
    /// Quarter tokens of these, with the instructions beside them.
    pub quarters: u64,
    /// Messages that were handed out with the last step.
    pub handed_out: usize,
    /// What goes beside the messages.
    pub system: Option<Value>,
    /// Whether a stub was sent for the result of a call that stands there.
    pub has_stubs: bool,
}

/// What was sent last, and what it was made of.
#[derive(Debug, Clone)]
pub struct RunningPrompt {
    pub form: PromptForm,
    /// Whether calls at the end got a stub for their result.
    pub close_calls: bool,
    pub header: String,
    /// What the last cut said of that which left it.
    pub ledger: Option<Ledger>,
    pub sections: Vec<RunningSection>,
    /// Items of the log when it was sent.
    pub seen: usize,
    /// What is not in it.
    pub left: Vec<LeftItem>,
    /// The budget that was asked for, in tokens.
    pub budget: u64,
    /// What the caller says that the provider has before the prompt: the model and its tools.
    pub head: Option<String>,
    pub account: Account,
    /// Why the next prompt cannot go on with it.
    pub broken: Option<CutReason>,
    /// Whether it is as a snapshot had it, without the texts that the store has.
    pub is_asleep: bool,
    /// The last change of the log that it knows; not part of a snapshot.
    pub changes: u64,
    /// What stood below it; not part of a snapshot.
    pub footer: String,
    /// What the last cut said; not part of a snapshot.
    pub warnings: Vec<String>,
    /// The steps since the last cut; not part of a snapshot.
    pub marks: Vec<StepMark>,
    /// Not part of a snapshot.
    pub written: Option<WrittenSections>,
}

/// How far a running prompt was in a step.
#[derive(Debug, Clone)]
pub struct StepMark {
    pub step: RunningStep,
    pub sections: usize,
    pub left: usize,
}

impl RunningPrompt {
    /// Tells whether something of the conversation is not shown, or in part.
    pub fn hides(&self) -> bool {
        self.left.iter().any(LeftItem::is_hidden) || self.sections.iter().any(RunningSection::is_part)
    }

    /// Says what it is, but for the first sections, and without a new head what a cut makes.
    fn told(&self, phase: Phase, keep: usize, is_new_head: bool) -> Value {
        let sections: Vec<Value> = self.sections[keep..].iter().map(section_told).collect();
        let mut told = json!({
            "phase": phase.as_str(), "seen": self.seen, "sections": sections, "account": self.account.told(),
            "budget": self.budget, "form": self.form.as_str(),
        });
        if keep > 0 {
            told["keep"] = keep.into();
        }
        if is_new_head {
            told["header"] = self.header.clone().into();
            told["left"] = self.left.iter().map(left_told).collect();
            if let Some(ledger) = &self.ledger {
                told["ledger"] = to_value(ledger);
            }
        }
        let has_stubs = self.written.as_ref().is_some_and(|written| written.has_stubs);
        for (name, is) in [("close_calls", self.close_calls), ("stubs", has_stubs)] {
            if is {
                told[name] = true.into();
            }
        }
        for (name, text) in [("head", self.head.as_deref()), ("broken", self.broken.map(CutReason::as_str))] {
            if let Some(text) = text {
                told[name] = text.into();
            }
        }
        told
    }

    /// Reads the snapshot form.
    pub fn from_value(value: Value, path: &str, items: usize) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let last = items.saturating_sub(1) as u64;
        let left = fields.records("left", |value, at| {
            let Value::Array(parts) = value else { return Err(bad(at)) };
            let [item, stage, reason, tokens] = &parts[..] else { return Err(bad(at)) };
            let place = |value: &Value, most: usize| as_uint(value, at, most as u64).map(|place| place as usize);
            Ok(LeftItem {
                at: place(item, last as usize)?,
                stage: STAGES[place(stage, STAGES.len() - 1)?],
                reason: DropReason::ALL[place(reason, DropReason::ALL.len() - 1)?],
                tokens: as_uint(tokens, at, u64::MAX)?,
            })
        })?;
        let ledger_at = fields.at("ledger");
        let broken = fields.parsed_or("broken", None, |reason| CutReason::parse(reason).map(Some))?;
        let has_stubs = fields.bool_or("stubs", false)?;
        Ok(Self {
            form: fields.parsed_or("form", PromptForm::Text, PromptForm::parse)?,
            close_calls: fields.bool_or("close_calls", false)?,
            header: fields.string_or("header", "")?,
            ledger: {
                let read = |value| Ledger::from_value(value, &ledger_at, items, items);
                fields.take("ledger").map(read).transpose()?
            },
            sections: fields.records("sections", |section, at| section_from(section, at, last))?,
            seen: fields.uint_or("seen", 0, items as u64)? as usize,
            left,
            budget: fields.uint_or("budget", 0, u64::MAX)?,
            head: fields.opt_string("head")?,
            account: Account::optional(&mut fields, "account")?.unwrap_or_default(),
            broken,
            is_asleep: true,
            changes: 0,
            footer: String::new(),
            warnings: Vec::new(),
            marks: Vec::new(),
            written: has_stubs.then(|| WrittenSections { has_stubs, ..WrittenSections::default() }),
        })
    }
}

impl Serialize for RunningPrompt {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut told = self.told(Phase::Answer, 0, true);
        // A snapshot has it by its phase.
        told.as_object_mut().map(|told| told.shift_remove("phase"));
        told.serialize(s)
    }
}

fn bad(at: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, "expected an item, a stage, a reason and tokens").at(at)
}

fn left_told(left: &LeftItem) -> Value {
    let stage = STAGES.iter().position(|stage| *stage == left.stage).unwrap_or_default();
    json!([left.at, stage, left.reason as usize, left.tokens])
}

fn section_told(section: &RunningSection) -> Value {
    let mut told = json!({ "at": section.at });
    if section.form != RenderedAs::Whole {
        told["rendered_as"] = to_value(&section.form);
    }
    match &section.content {
        EntryContent::Own => {}
        _ if section.is_stored => told["stored"] = true.into(),
        EntryContent::Redacted(text) => told["text"] = text.clone().into(),
        EntryContent::Quote { text, note } => {
            told["text"] = text.clone().into();
            if let Some(note) = note {
                told["note"] = note.clone().into();
            }
        }
    }
    if let Some(chars) = section.omitted_chars {
        told["omitted_chars"] = chars.into();
    }
    if section.recalled {
        told["recalled"] = true.into();
    }
    if section.is_repeat {
        told["repeat"] = true.into();
    }
    told
}

fn section_from(section: Value, at: &str, last: u64) -> Result<RunningSection> {
    let mut fields = Fields::open(section, at)?;
    let form = fields.parsed_or("rendered_as", RenderedAs::Whole, RenderedAs::parse)?;
    let is_stored = fields.bool_or("stored", false)?;
    let note = fields.opt_string("note")?;
    let content = match (fields.opt_string("text")?, form) {
        (Some(text), RenderedAs::Redacted) => EntryContent::Redacted(text),
        (Some(text), _) => EntryContent::Quote { text, note },
        (None, RenderedAs::Whole) => EntryContent::Own,
        (None, _) if is_stored => EntryContent::Own,
        (None, _) => {
            let message = "a section that is not the whole item says what it quotes";
            return Err(Error::new(ErrorCode::MissingField, message).at(fields.at("text")));
        }
    };
    Ok(RunningSection {
        at: fields.uint_or("at", 0, last)? as usize,
        form,
        content,
        is_stored,
        omitted_chars: fields.opt_uint("omitted_chars", u64::MAX)?,
        recalled: fields.bool_or("recalled", false)?,
        is_repeat: fields.bool_or("repeat", false)?,
        is_digest: false,
        quarters: 0,
    })
}

/// The running prompts of the phases, and how much of each stayed as it was.
#[derive(Debug, Default)]
pub struct RunningPrompts {
    phases: [Option<Box<RunningPrompt>>; Phase::ALL.len()],
    /// Those before the last cut, for who reads their record late.
    earlier: [Option<Box<RunningPrompt>>; Phase::ALL.len()],
    kept: [Vec<KeptSections>; Phase::ALL.len()],
    changes: u64,
}

/// How many sections, from the first on, a change left as they were.
#[derive(Debug, Clone, Copy)]
struct KeptSections {
    change: u64,
    sections: usize,
    /// The last change of what a cut makes, up to then: header and ledger.
    head: u64,
}

/// Changes of one phase whose kept sections are known one by one; before them everything may have changed.
const KEPT_CHANGES: usize = 1000;

impl RunningPrompts {
    /// Returns the running prompt of a phase.
    pub fn of(&self, phase: Phase) -> Option<&RunningPrompt> {
        self.phases[phase as usize].as_deref()
    }

    /// Returns the running prompt of a phase, to go on with it.
    pub fn of_mut(&mut self, phase: Phase) -> Option<&mut RunningPrompt> {
        self.phases[phase as usize].as_deref_mut()
    }

    /// Returns those that there are.
    pub fn all(&self) -> impl Iterator<Item = (Phase, &RunningPrompt)> {
        Phase::ALL.iter().filter_map(|phase| Some((*phase, self.of(*phase)?)))
    }

    /// Puts another in the place of that of a phase.
    pub fn set(&mut self, phase: Phase, running: Option<RunningPrompt>) {
        self.phases[phase as usize] = running.map(Box::new);
        self.note(phase, 0, true);
    }

    /// Begins anew in a phase; what was before the cut can still be read.
    pub fn replace(&mut self, phase: Phase, running: RunningPrompt) {
        self.earlier[phase as usize] = self.phases[phase as usize].take();
        self.set(phase, Some(running));
    }

    /// Returns those whose steps can be read: that of now, and the one before the last cut.
    pub fn recorded(&self, phase: Phase) -> impl Iterator<Item = &RunningPrompt> {
        [&self.phases, &self.earlier].into_iter().filter_map(move |phases| phases[phase as usize].as_deref())
    }

    /// Takes out the one of a phase where it is as a snapshot had it.
    pub fn take_asleep(&mut self, phase: Phase) -> Option<Box<RunningPrompt>> {
        self.phases[phase as usize].take_if(|running| running.is_asleep)
    }

    /// Puts it back as it was.
    pub fn put_back(&mut self, phase: Phase, running: Box<RunningPrompt>) {
        self.phases[phase as usize] = Some(running);
    }

    /// Puts it back with what it was made of.
    pub fn put_awake(&mut self, phase: Phase, mut running: Box<RunningPrompt>) {
        running.is_asleep = false;
        self.phases[phase as usize] = Some(running);
    }

    /// Notes that the one of a phase went on behind so many sections.
    pub fn note(&mut self, phase: Phase, sections: usize, is_new_head: bool) {
        self.changes += 1;
        let kept = &mut self.kept[phase as usize];
        let head = if is_new_head { self.changes } else { kept.last().map_or(0, |last| last.head) };
        // A later change that kept less hides those before it.
        while kept.last().is_some_and(|last| last.sections >= sections) {
            kept.pop();
        }
        kept.push(KeptSections { change: self.changes, sections, head });
        if kept.len() > KEPT_CHANGES {
            kept.remove(0);
            kept[0].sections = 0;
            kept[0].head = kept[0].change;
        }
    }

    /// Says that no prompt can go on with those that there are; what was counted stays.
    pub fn break_off(&mut self, reason: CutReason) {
        for phase in Phase::ALL {
            self.earlier[*phase as usize] = None;
            let Some(running) = self.of_mut(*phase) else { continue };
            running.broken.get_or_insert(reason);
            // What they say of positions is no longer so, and they may hold what was forgotten.
            running.sections.clear();
            running.left.clear();
            (running.ledger, running.written) = (None, None);
            self.note(*phase, 0, true);
        }
    }

    /// Returns how often they changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.kept = Default::default();
    }

    /// Returns what those are that changed after a change, without the sections that stayed; all whole after none.
    pub fn changed_since(&self, change: Option<u64>) -> Vec<Value> {
        let mut told = Vec::new();
        for (phase, running) in self.all() {
            let marks = self.kept[phase as usize].iter();
            let newer: Vec<&KeptSections> =
                marks.filter(|kept| change.is_none_or(|change| kept.change > change)).collect();
            if newer.is_empty() && change.is_some() {
                continue;
            }
            let keep = newer.iter().map(|kept| kept.sections).min().filter(|_| change.is_some()).unwrap_or(0);
            let is_new_head = newer.iter().any(|kept| change.is_none_or(|change| kept.head > change));
            told.push(running.told(phase, keep.min(running.sections.len()), is_new_head || change.is_none()));
        }
        told
    }

    /// Takes what [`RunningPrompts::changed_since`] told. Where sections are missing that stayed, the prompt is left out, so that
    /// the next one begins anew.
    pub fn apply(&mut self, told: Value, at: &str, items: usize) -> Result<()> {
        let mut fields = Fields::open(told, at)?;
        let phase = fields.parsed("phase", Phase::parse)?;
        let keep = fields.uint_or("keep", 0, u64::MAX)? as usize;
        let is_new_head = fields.has("header");
        let mut running = RunningPrompt::from_value(Value::Object(fields.rest()), at, items)?;
        let before = self.phases[phase as usize].take();
        if keep > 0 || !is_new_head {
            let Some(before) = before.filter(|before| before.sections.len() >= keep) else {
                self.set(phase, None);
                return Ok(());
            };
            let mut before = *before;
            before.sections.truncate(keep);
            before.sections.append(&mut running.sections);
            running.sections = before.sections;
            if !is_new_head {
                (running.header, running.ledger, running.left) = (before.header, before.ledger, before.left);
            }
        }
        self.set(phase, Some(running));
        Ok(())
    }
}
