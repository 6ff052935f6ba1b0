//! What of the previous prompt may stand as it did.

use crate::compile::append::{ManifestSection, PromptManifest};
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::EntryRendering;
use crate::compile::select::plan::{PlannedPart, Planner};
use crate::compile::state::BuildState;
use contextweaver_model::RenderedAs;

/// The sections of the previous prompt, up to the first that may not stand as it did.
pub struct StandingSections {
    pub parts: Vec<PlannedPart>,
    pub recalled: Vec<bool>,
    /// Share of the previous prompt up to each section: one more than there are sections.
    pub shares: Vec<f64>,
    /// Whether all of them may stand.
    pub is_whole: bool,
    /// Whether the header above them is the same.
    pub has_header: bool,
    /// Whether a ledger stands above them, which every cut makes anew.
    pub has_ledger: bool,
}

impl StandingSections {
    pub fn of(state: &BuildState, planner: &Planner, manifest: &PromptManifest, frame: &PromptFrame) -> Self {
        let mut row_at = vec![None; state.sources.events.len()];
        for (index, row) in state.rows.iter().enumerate() {
            row_at[row.at] = Some(index);
        }
        let has_header = manifest.header == frame.header;
        let has_ledger = state.sources.options.has_ledger(frame.budget);
        let (parts, recalled, shares) = (Vec::new(), Vec::new(), vec![0.0]);
        let mut standing = Self { parts, recalled, shares, is_whole: true, has_header, has_ledger };
        let mut bytes = manifest.header.len();
        for section in &manifest.sections {
            let row = row_at.get(section.at).copied().flatten();
            let Some(part) = row.and_then(|row| repeated(state, planner, section, row)) else {
                standing.is_whole = false;
                break;
            };
            bytes += crate::labels::SEPARATOR.len() + section.text.len();
            let share = (bytes as f64 / manifest.prompt.len().max(1) as f64).min(1.0);
            standing.parts.push(part);
            standing.recalled.push(section.recalled);
            standing.shares.push(if has_header { share } else { 0.0 });
        }
        standing
    }
}

/// Returns a section as a part to be repeated byte for byte; none when it may no longer stand as it did.
fn repeated(state: &BuildState, planner: &Planner, section: &ManifestSection, index: usize) -> Option<PlannedPart> {
    if state.rows[index].redacted.is_some() != (section.form == RenderedAs::Redacted) {
        return None;
    }
    let content = section.content();
    let rendering = EntryRendering { form: section.form, content: &content, earlier: Some(&section.text) };
    let quarters = planner.renderer.entry_quarters(state.sources, section.at, &rendering);
    Some(PlannedPart {
        row: index,
        at: section.at,
        form: section.form,
        content,
        earlier: Some(section.text.clone()),
        quarters,
        omitted_chars: section.omitted_chars,
    })
}
