//! Append mode: prompts that only grow, so that a provider's prompt cache keeps working.
//!
//! The next prompt is the previous one, then what is new, then a few older items recalled for the query, then the
//! current turn. When that does not fit, the prompt is cut anew to 60 % of the budget, once.

use serde::Serialize;
use serde_json::{Value, json};

use crate::compile::frame::PromptFrame;
use crate::compile::ledger::Ledger;
use crate::compile::prompt::{EntryContent, EntryRendering, PromptEntry, StructuredPrompt};
use crate::compile::render::text::TextPrompt;
use crate::compile::select::plan::{PlannedPart, Planner, SqueezeLevel};
use crate::compile::select::units::{INSTRUCTIONS, SelectionUnit, UnitSelection};
use crate::compile::state::BuildState;
use crate::labels::SEPARATOR;
use contextweaver_base::order;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, to_value};
use contextweaver_model::{ItemKind, Phase, PrefixReport, RenderedAs, RenderedItem};

/// Share of the budget that a re-cut prompt uses, so that it can grow again.
const RECUT_SHARE: f64 = 0.6;
/// Share of the budget that recalled items may take per build.
const RECALL_SHARE: f64 = 0.1;
/// Share of the best score that an item needs to be recalled.
const RECALL_SCORE: f64 = 0.35;

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
        let phase = Phase::parse(&fields.string("phase")?).map_err(|error| error.at(fields.at("phase")))?;
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
    prompt: String,
    header: String,
    footer: String,
    /// What the last cut said of that which left it, if anything; it stays as it is until the next.
    ledger: Option<Ledger>,
    sections: Vec<ManifestSection>,
    /// Items of the log when the prompt was built.
    seen: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ManifestSection {
    at: usize,
    /// The section as it was written.
    text: String,
    #[serde(rename = "rendered_as")]
    form: RenderedAs,
    /// What it says in a message; null where that is the item's own text.
    quote: Option<ManifestQuote>,
    omitted_chars: Option<u64>,
    recalled: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ManifestQuote {
    text: String,
    note: Option<String>,
}

impl ManifestSection {
    fn content(&self) -> EntryContent {
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
        })
    }
}

/// Extends the previous prompt, or cuts anew when it cannot be extended.
pub fn extend(
    state: &BuildState,
    planner: &Planner,
    manifest: &PromptManifest,
    frame: &PromptFrame,
    limit: u64,
) -> Result<(UnitSelection, Option<PromptLayout>)> {
    let recut = |reason| -> Result<(UnitSelection, Option<PromptLayout>)> {
        let selection = cut(state, planner, limit)?;
        let layout = PromptLayout::of_log(state, &selection, reason);
        Ok((selection, Some(layout)))
    };
    let mut extension = PromptExtension::new(state, planner, limit);
    if !extension.repeat(manifest) {
        return recut("changed");
    }
    if !extension.add_new(manifest.seen) {
        return recut("overflow");
    }
    extension.recall();
    let reason = match () {
        () if manifest.header != frame.header => "header",
        () if !manifest.footer.is_empty() => "footer",
        () => "none",
    };
    Ok(extension.finish(reason))
}

struct PromptExtension<'a> {
    state: &'a BuildState<'a>,
    planner: &'a Planner<'a>,
    limit: u64,
    used: u64,
    /// Row of each position of the log.
    row_at: Vec<Option<usize>>,
    parts: Vec<Option<PlannedPart>>,
    earlier: Vec<usize>,
    fresh: Vec<usize>,
    recalled: Vec<usize>,
    marked: Vec<bool>,
}

impl<'a> PromptExtension<'a> {
    fn new(state: &'a BuildState, planner: &'a Planner, limit: u64) -> Self {
        let mut row_at = vec![None; state.sources.events.len()];
        for (index, row) in state.rows.iter().enumerate() {
            row_at[row.at] = Some(index);
        }
        Self {
            state,
            planner,
            limit,
            used: 0,
            marked: vec![false; row_at.len()],
            row_at,
            parts: state.rows.iter().map(|_| None).collect(),
            earlier: Vec::new(),
            fresh: Vec::new(),
            recalled: Vec::new(),
        }
    }

    /// Repeats the earlier sections byte for byte. Fails when one of them may no longer stand as it did.
    fn repeat(&mut self, manifest: &PromptManifest) -> bool {
        for section in &manifest.sections {
            let Some(index) = self.row_at.get(section.at).copied().flatten() else { return false };
            let row = &self.state.rows[index];
            let was_redacted = section.form == RenderedAs::Redacted;
            if row.redacted.is_some() != was_redacted {
                return false;
            }
            let content = section.content();
            let rendering = EntryRendering { form: section.form, content: &content, earlier: Some(&section.text) };
            let quarters = self.planner.renderer.entry_quarters(self.state.sources, section.at, &rendering);
            self.used += quarters;
            if section.recalled {
                self.marked[section.at] = true;
            }
            self.earlier.push(section.at);
            self.parts[index] = Some(PlannedPart {
                row: index,
                at: section.at,
                form: section.form,
                content,
                earlier: Some(section.text.clone()),
                quarters,
                omitted_chars: section.omitted_chars,
            });
        }
        true
    }

    /// Adds the units that came since, and pinned ones that are missing. Fails when they do not fit.
    fn add_new(&mut self, seen: usize) -> bool {
        for unit in &self.state.units {
            let is_new = unit.rows.iter().any(|row| self.state.rows[*row].at >= seen);
            let missing: Vec<usize> = unit.rows.iter().copied().filter(|row| self.parts[*row].is_none()).collect();
            // A unit that is there in part needs its other part, whatever brought the first one in.
            let is_torn = !missing.is_empty() && missing.len() < unit.rows.len();
            // Instructions that had no room in the last cut have none beside what it holds.
            let is_pinned = unit.pinned.is_some_and(|why| why != INSTRUCTIONS);
            if !is_new && !is_torn && !is_pinned {
                continue;
            }
            let older = missing.iter().any(|row| self.state.rows[*row].at < seen);
            for part in self.planner.unit(&self.state.rows, &missing, SqueezeLevel::None) {
                self.place(part, older);
            }
        }
        self.used <= self.limit
    }

    fn place(&mut self, part: PlannedPart, out_of_order: bool) {
        self.used += part.quarters;
        if out_of_order {
            // The label grows by the mark.
            self.used += 11;
            self.marked[part.at] = true;
            self.recalled.push(part.at);
        } else {
            self.fresh.push(part.at);
        }
        let row = part.row;
        self.parts[row] = Some(part);
    }

    /// Brings back older units that speak to the query, whole, within a tenth of the budget.
    fn recall(&mut self) {
        let mut room = ((self.limit as f64 * RECALL_SHARE) as u64).min(self.limit - self.used);
        let is_absent = |unit: &SelectionUnit| unit.rows.iter().all(|row| self.parts[*row].is_none());
        let mut order: Vec<usize> =
            (0..self.state.units.len()).filter(|index| is_absent(&self.state.units[*index])).collect();
        // The current turn matches itself best of all, so the best is sought among those that are not there.
        let best = order.iter().map(|index| self.state.units[*index].score).fold(0.0, f64::max);
        order.retain(|index| {
            self.state.units[*index].score > 0.0 && self.state.units[*index].score >= RECALL_SCORE * best
        });
        order::sort_by(&mut order, |a, b| {
            self.state.units[*b].score.total_cmp(&self.state.units[*a].score).then(b.cmp(a))
        });
        for index in order {
            let unit = &self.state.units[index];
            let cost = unit.quarters + 11 * unit.rows.len() as u64;
            if cost > room {
                continue;
            }
            room -= cost;
            for row in &unit.rows {
                let part = self.state.rows[*row].whole(*row);
                self.place(part, true);
            }
        }
    }

    fn finish(mut self, reason: &'static str) -> (UnitSelection, Option<PromptLayout>) {
        let items = self.state.sources.events.items();
        order::sort(&mut self.fresh);
        order::sort(&mut self.recalled);
        // The current turn comes last: the last new user turn and what follows it.
        let turn = self.fresh.iter().rposition(|at| items[*at].kind == ItemKind::UserTurn).unwrap_or(self.fresh.len());
        let (before, current) = self.fresh.split_at(turn);
        let order: Vec<usize> =
            self.earlier.iter().chain(before).chain(&self.recalled).chain(current).copied().collect();
        let mut selection = UnitSelection::of(self.state.units.len());
        selection.used = self.used;
        selection.work = self.state.rows.len() as u64;
        for (index, unit) in self.state.units.iter().enumerate() {
            let parts: Vec<PlannedPart> = unit.rows.iter().filter_map(|row| self.parts[*row].take()).collect();
            if parts.is_empty() {
                selection.dropped.push((index, "budget"));
            } else {
                selection.taken[index] = Some(parts);
            }
        }
        (selection, Some(PromptLayout { order, recalled: self.marked, reason }))
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
