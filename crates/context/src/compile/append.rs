//! Append mode: prompts that only grow, so that a provider's prompt cache keeps working.
//!
//! The next prompt is the previous one, then what is new, then older items recalled for the query, then the current turn.
//! Where that does not fit, or the query wants much else, only the first part of the previous one stays: see
//! [`crate::compile::extension`].

use serde::Serialize;
use serde_json::{Value, json};

use crate::compile::frame::PromptFrame;
use crate::compile::prompt::{EntryContent, Ledger, PromptEntry, StructuredPrompt};
use crate::compile::render::text::TextPrompt;
use crate::compile::select::plan::Planner;
use crate::compile::select::units::UnitSelection;
use crate::compile::state::BuildState;
use crate::labels::SEPARATOR;
use contextweaver_base::order;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Fields, to_value};
use contextweaver_model::{Phase, PrefixReport, RenderedAs, RenderedItem};

/// Share of the budget that a re-cut prompt uses, so that it can grow again.
const RECUT_SHARE: f64 = 0.6;
/// Credit and debt are kept up to so many builds: what was saved long ago is not spent on a row of cuts.
const MAX_CREDIT: f64 = 4.0;

/// Selects with room to grow: everything where it fits, else as much as the share allows, else what must be there.
pub fn cut(state: &BuildState, planner: &Planner, limit: u64) -> Result<UnitSelection> {
    let total: u64 = state.units.iter().map(|unit| unit.quarters).sum();
    if total > limit
        && let Ok(selection) = state.selector(planner, (limit as f64 * RECUT_SHARE) as u64).choose()
    {
        return Ok(selection);
    }
    state.selector(planner, limit).choose()
}

/// The order of an append-only prompt.
#[derive(Debug)]
pub struct PromptLayout {
    /// Positions in the log, in prompt order.
    pub order: Vec<usize>,
    /// Whether a position stands out of log order.
    pub recalled: Vec<bool>,
    /// Why earlier bytes changed, if they did.
    pub reason: &'static str,
}

impl PromptLayout {
    /// Puts a selection in the order of the log.
    pub fn of_log(state: &BuildState, selection: &UnitSelection, reason: &'static str) -> Self {
        let mut order: Vec<usize> = selection.parts().map(|part| part.at).collect();
        order::sort(&mut order);
        Self { order, recalled: vec![false; state.sources.events.len()], reason }
    }
}

/// The manifests of the phases, and how much of each stayed as it was.
#[derive(Debug, Default)]
pub struct PromptManifests {
    phases: [Option<PromptManifest>; Phase::ALL.len()],
    kept: [Vec<KeptSections>; Phase::ALL.len()],
    changes: u64,
}

/// How many sections, from the first on, a change left as they were.
#[derive(Debug, Clone, Copy)]
struct KeptSections {
    change: u64,
    sections: usize,
    /// The last change of the header up to then.
    header: u64,
}

/// Changes of one phase whose kept sections are known one by one; before them everything may have changed.
const KEPT_CHANGES: usize = 1000;

impl PromptManifests {
    /// Returns the manifest of a phase.
    pub fn of(&self, phase: Phase) -> Option<&PromptManifest> {
        self.phases[phase as usize].as_ref()
    }

    /// Puts a manifest in the place of that of its phase.
    pub fn set(&mut self, phase: Phase, manifest: Option<PromptManifest>) {
        let kept = &mut self.kept[phase as usize];
        let before = std::mem::replace(&mut self.phases[phase as usize], manifest);
        let now = self.phases[phase as usize].as_ref();
        if before.is_none() && now.is_none() {
            return;
        }
        self.changes += 1;
        let (sections, same_header) = match (&before, now) {
            (Some(before), Some(now)) => {
                let pairs = before.sections.iter().zip(&now.sections);
                (pairs.take_while(|(before, now)| before == now).count(), before.above() == now.above())
            }
            _ => (0, false),
        };
        let header = if same_header { kept.last().map_or(0, |last| last.header) } else { self.changes };
        // A later change that kept less hides those before it.
        while kept.last().is_some_and(|last| last.sections >= sections) {
            kept.pop();
        }
        kept.push(KeptSections { change: self.changes, sections, header });
        if kept.len() > KEPT_CHANGES {
            kept.remove(0);
            kept[0].sections = 0;
            kept[0].header = kept[0].change;
        }
    }

    /// Forgets all manifests.
    pub fn clear(&mut self) {
        for phase in Phase::ALL {
            self.set(*phase, None);
        }
    }

    /// Returns how often a manifest changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.kept = Default::default();
    }

    /// Returns what the manifests are that changed after a change, without the sections that stayed; all whole after none.
    pub fn changed_since(&self, change: Option<u64>) -> Vec<Value> {
        let mut told = Vec::new();
        for phase in Phase::ALL {
            let marks =
                self.kept[*phase as usize].iter().filter(|kept| change.is_none_or(|change| kept.change > change));
            let newer: Vec<&KeptSections> = marks.collect();
            let keep = newer.iter().map(|kept| kept.sections).min().filter(|_| change.is_some());
            let is_new_header = newer.iter().any(|kept| change.is_none_or(|change| kept.header > change));
            match self.of(*phase) {
                Some(manifest) if change.is_none() || keep.is_some() => {
                    told.push(manifest.told(*phase, keep.unwrap_or(0), is_new_header || change.is_none()));
                }
                None if keep.is_some() => told.push(json!({ "phase": phase.as_str(), "gone": true })),
                _ => {}
            }
        }
        told
    }

    /// Takes what [`PromptManifests::changed_since`] told. Where sections are missing that stayed, the manifest is left out,
    /// so that the next prompt is cut anew.
    pub fn apply(&mut self, told: Value, at: &str, items: usize) -> Result<()> {
        let mut fields = Fields::open(told, at)?;
        let phase = fields.parsed("phase", Phase::parse)?;
        let keep = fields.uint_or("keep", 0, u64::MAX)? as usize;
        let is_gone = fields.bool_or("gone", false)?;
        let is_new_header = fields.has("header");
        let has_prompt = fields.has("prompt");
        let mut map = fields.rest();
        map.insert("prompt".into(), map.get("prompt").cloned().unwrap_or_else(|| "".into()));
        let before = self.of(phase);
        if is_gone || (keep > 0 || !is_new_header) && before.is_none_or(|before| before.sections.len() < keep) {
            self.set(phase, None);
            return Ok(());
        }
        let mut manifest = PromptManifest::from_value(Value::Object(map), at, items)?;
        if let Some(before) = before {
            let mut sections = before.sections[..keep].to_vec();
            sections.append(&mut manifest.sections);
            manifest.sections = sections;
            if !is_new_header {
                manifest.header.clone_from(&before.header);
                manifest.ledger.clone_from(&before.ledger);
            }
        }
        if !has_prompt {
            manifest.prompt = manifest.joined();
        }
        self.set(phase, Some(manifest));
        Ok(())
    }
}

/// What a prompt of append mode was made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromptManifest {
    pub prompt: String,
    pub header: String,
    pub footer: String,
    /// What the last cut said of that which left it, if anything; it stays as it is until the next.
    ledger: Option<Ledger>,
    pub sections: Vec<ManifestSection>,
    /// Items of the log when the prompt was built.
    pub seen: usize,
    /// Builds' worth of bytes repeated beyond what was asked for, or short of it.
    pub credit: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManifestSection {
    pub at: usize,
    /// The section as it was written.
    pub text: String,
    #[serde(rename = "rendered_as")]
    pub form: RenderedAs,
    /// What it says in a message; null where that is the item's own text.
    quote: Option<ManifestQuote>,
    pub omitted_chars: Option<u64>,
    pub recalled: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ManifestQuote {
    text: String,
    note: Option<String>,
}

impl ManifestSection {
    pub fn content(&self) -> EntryContent {
        match (&self.quote, self.form) {
            (None, _) => EntryContent::Own,
            (Some(quote), RenderedAs::Redacted) => EntryContent::Redacted(quote.text.clone()),
            (Some(quote), _) => EntryContent::Quote { text: quote.text.clone(), note: quote.note.clone() },
        }
    }
}

impl ManifestQuote {
    fn of(content: &EntryContent) -> Option<Self> {
        match content {
            EntryContent::Own => None,
            EntryContent::Redacted(text) => Some(Self { text: text.clone(), note: None }),
            EntryContent::Quote { text, note } => Some(Self { text: text.clone(), note: note.clone() }),
        }
    }

    fn from_value(value: Value, at: &str) -> Result<Self> {
        let mut fields = Fields::open(value, at)?;
        Ok(Self { text: fields.string("text")?, note: fields.opt_string("note")? })
    }
}

impl PromptManifest {
    /// Notes what a prompt was made of, for the build after it.
    pub fn of(state: &BuildState, prompt: &StructuredPrompt, text: &TextPrompt, frame: &PromptFrame) -> Self {
        let section = |(entry, item): (&PromptEntry, &RenderedItem)| ManifestSection {
            at: entry.at,
            text: text.text[item.start as usize..item.end as usize].to_owned(),
            form: entry.rendering.form,
            quote: ManifestQuote::of(entry.rendering.content),
            omitted_chars: entry.omitted_chars,
            recalled: entry.recalled,
        };
        Self {
            prompt: text.text.clone(),
            header: frame.header.clone(),
            footer: frame.footer.clone(),
            ledger: prompt.ledger.clone(),
            sections: prompt.entries.iter().zip(&text.items).map(section).collect(),
            seen: state.sources.events.len(),
            credit: 0.0,
        }
    }

    /// Returns what is made at a cut: the header and the ledger.
    fn above(&self) -> (&str, Option<&Ledger>) {
        (&self.header, self.ledger.as_ref())
    }

    /// Returns what the last cut said of that which left it.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Notes how much of the prompt before was repeated, against what is asked for.
    pub fn count_repeated(&mut self, previous: &Self, report: &PrefixReport, stability: f64) {
        let share = report.shared_bytes as f64 / report.previous_bytes.max(1) as f64;
        self.credit = round(previous.credit + share - stability, 4).clamp(-MAX_CREDIT, MAX_CREDIT);
    }

    /// Returns the prompt as its sections make it.
    fn joined(&self) -> String {
        let mut texts: Vec<&str> = self.sections.iter().map(|section| section.text.as_str()).collect();
        if let Some(ledger) = &self.ledger {
            texts.insert(ledger.after.min(texts.len()), &ledger.text);
        }
        let texts = std::iter::once(self.header.as_str()).chain(texts).chain([self.footer.as_str()]);
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(SEPARATOR)
    }

    /// Says what it is, but for the first sections.
    fn told(&self, phase: Phase, keep: usize, with_header: bool) -> Value {
        let sections: Vec<Value> = self.sections[keep..].iter().map(to_value).collect();
        let mut told = json!({ "phase": phase.as_str(), "seen": self.seen, "sections": sections });
        if keep > 0 {
            told["keep"] = keep.into();
        }
        if with_header {
            told["header"] = self.header.clone().into();
            if let Some(ledger) = &self.ledger {
                told["ledger"] = to_value(ledger);
            }
        }
        if self.credit != 0.0 {
            told["credit"] = self.credit.into();
        }
        if !self.footer.is_empty() {
            told["footer"] = self.footer.clone().into();
        }
        if self.joined() != self.prompt {
            told["prompt"] = self.prompt.clone().into();
        }
        told
    }

    /// Reads the snapshot form.
    pub fn from_value(value: Value, path: &str, items: usize) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let last = items.saturating_sub(1) as u64;
        let sections = fields.records("sections", |section, at| {
            let mut section = Fields::open(section, at)?;
            let form = section.parsed_or("rendered_as", RenderedAs::Whole, RenderedAs::parse)?;
            let quote_at = section.at("quote");
            let quote = match (section.take("quote"), form) {
                (Some(quote), _) => Some(ManifestQuote::from_value(quote, &quote_at)?),
                (None, RenderedAs::Whole) => None,
                (None, _) => {
                    let message = "a section that is not the whole item says what it quotes";
                    return Err(Error::new(ErrorCode::MissingField, message).at(quote_at));
                }
            };
            Ok(ManifestSection {
                at: section.uint_or("at", 0, last)? as usize,
                text: section.string("text")?,
                form,
                quote,
                omitted_chars: section.opt_uint("omitted_chars", u64::MAX)?,
                recalled: section.bool_or("recalled", false)?,
            })
        })?;
        Ok(Self {
            prompt: fields.string("prompt")?,
            header: fields.string_or("header", "")?,
            footer: fields.string_or("footer", "")?,
            ledger: {
                let at = fields.at("ledger");
                let read = |value| Ledger::from_value(value, &at, items, items);
                fields.take("ledger").map(read).transpose()?
            },
            sections,
            seen: fields.uint_or("seen", 0, items as u64)? as usize,
            credit: fields.number_or("credit", 0.0, -MAX_CREDIT, MAX_CREDIT)?,
        })
    }
}

/// Tells how a prompt relates to the one before.
pub fn compare(previous: Option<&PromptManifest>, prompt: &str, layout: Option<&PromptLayout>) -> PrefixReport {
    let Some(previous) = previous else {
        return PrefixReport { shared_bytes: 0, previous_bytes: 0, reason: "first" };
    };
    let shared = previous.prompt.bytes().zip(prompt.bytes()).take_while(|(a, b)| a == b).count();
    let reason = match layout {
        _ if shared == previous.prompt.len() => "none",
        Some(layout) => layout.reason,
        None => "options",
    };
    PrefixReport { shared_bytes: shared as u64, previous_bytes: previous.prompt.len() as u64, reason }
}
