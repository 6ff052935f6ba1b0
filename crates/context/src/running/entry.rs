//! How what is new enters a running prompt: whole as far as its share goes, else the parts that matter.

use super::prompt::{LeftItem, RunningPrompt, RunningSection};
use crate::compile::candidates::candidates;
use crate::compile::closure::{closure, joins};
use crate::compile::firewall::firewall;
use crate::compile::inputs::BuildInputs;
use crate::compile::pipeline::resolve_pins;
use crate::compile::prompt::{EntryContent, EntryRendering};
use crate::compile::render::renderer::Renderer;
use crate::compile::repeats::is_repeat;
use crate::compile::score::score;
use crate::compile::select::plan::Planner;
use crate::compile::sensitivity::sensitivity;
use crate::compile::state::BuildState;
use crate::firewall::handle_of_item;
use crate::request::BuildRequest;
use contextweaver_base::Result;
use contextweaver_model::{DropReason, ItemKind, RenderedAs, Stage};

/// Bytes from which on a result that says again what stands there is named instead.
const REPEAT_BYTES: usize = 400;

/// What is new in a log.
pub struct NewEntries {
    pub sections: Vec<RunningSection>,
    /// What no prompt may show.
    pub left: Vec<LeftItem>,
    /// What the sections take, with what the renderer puts around them, in quarter tokens.
    pub quarters: u64,
    /// What they would take whole.
    pub whole_quarters: u64,
    /// Whether something new belongs to what is not in the prompt any more.
    pub is_torn: bool,
    /// Whether a result takes the place of a stub that was sent for it.
    pub replaces_stub: bool,
    /// Whether the user said something.
    pub has_turn: bool,
    pub work: u64,
}

/// Gives each item from a position on its form. `share` is what one result may take whole, in quarter tokens.
pub fn enter(
    sources: &BuildInputs,
    request: &BuildRequest,
    renderer: &dyn Renderer,
    running: Option<&RunningPrompt>,
    share: u64,
) -> Result<NewEntries> {
    let items = sources.events.items();
    let from = running.map_or(0, |running| running.seen);
    let mut admitted = candidates(&items[from..], request, &sources.options.policy);
    for at in &mut admitted {
        *at += from;
    }
    let mut closed = closure(sources.events, &admitted, &[]);
    let stands = |at: usize| running.is_some_and(|running| running.sections.iter().any(|section| section.at == at));
    let mut new = NewEntries {
        sections: Vec::new(),
        left: Vec::new(),
        quarters: 0,
        whole_quarters: 0,
        is_torn: closed.candidates.iter().any(|candidate| candidate.at < from && !stands(candidate.at)),
        replaces_stub: running.is_some_and(|running| replaces_stub(sources, running, &admitted)),
        has_turn: false,
        work: 0,
    };
    if new.is_torn {
        return Ok(new);
    }
    closed.candidates.retain(|candidate| candidate.at >= from);
    // Numbers of units are places in a list of all candidates.
    let first = closed.candidates.iter().map(|candidate| candidate.unit).min().unwrap_or(0);
    closed.candidates.iter_mut().for_each(|candidate| candidate.unit -= first);
    let mut state = BuildState::new(sources, request, renderer, &closed);
    let pins = resolve_pins(sources.events, request)?;
    sensitivity(&mut state, &closed, &pins)?;
    firewall(&mut state);
    let needs_terms = state.rows.iter().any(|row| sources.index.entry(row.at).is_summarised());
    // Words to look for are needed where something may be shown in part alone.
    let terms = needs_terms.then(|| score(&mut state));
    let planner = terms.as_ref().map(|terms| Planner::new(&state, terms, 4 * share));
    for (index, row) in state.rows.iter().enumerate() {
        let item = &items[row.at];
        new.has_turn |= item.kind == ItemKind::UserTurn;
        let is_asked = pins.contains(&row.at);
        if row.redacted.is_none() && !row.stub && !is_asked && is_said(sources, running, &new.sections, row.at) {
            let tokens = sources.index.entry(row.at).part_quarters / 4;
            new.left.push(LeftItem { at: row.at, stage: Stage::Dedup, reason: DropReason::Dedup, tokens });
            continue;
        }
        let repeated =
            repeated(sources, running, &new.sections, row.at).filter(|_| row.redacted.is_none() && !row.stub);
        let (part, is_stored, whole) = match (&planner, repeated) {
            (_, Some(earlier)) => {
                let content = EntryContent::Quote { text: same_as(sources, earlier), note: None };
                let form = RenderedAs::Stub;
                let quarters = renderer.entry_quarters(sources, row.at, &EntryRendering { form, content: &content });
                let mut part = row.whole(index);
                (part.form, part.content, part.quarters) = (form, content, quarters);
                let said = sources.index.entry(earlier).source(&items[earlier], sources.artifacts);
                let whole = row.quarters.max(sources.quarters(said));
                (part, false, whole)
            }
            (Some(planner), None) => planner.entry(index, row, share),
            (None, None) => (row.whole(index), false, row.quarters),
        };
        new.quarters += part.quarters;
        new.whole_quarters += whole;
        let mut section = section(sources, part.at, part.form, part.content, part.omitted_chars, is_stored);
        section.is_repeat = repeated.is_some();
        new.sections.push(section);
    }
    new.left.extend(state.excluded.iter().map(|excluded| LeftItem {
        at: excluded.at,
        stage: Stage::Sensitivity,
        reason: excluded.reason,
        tokens: sources.index.entry(excluded.at).part_quarters / 4,
    }));
    new.work = planner.as_ref().map_or(0, |planner| planner.work.get()) + (items.len() - from) as u64;
    Ok(new)
}

/// Tells whether something new answers a call for whose result a stub was sent.
fn replaces_stub(sources: &BuildInputs, running: &RunningPrompt, new: &[usize]) -> bool {
    let items = sources.events.items();
    let has_stubs = running.written.as_ref().is_some_and(|written| written.has_stubs);
    let answered = |call: usize| {
        let results = sources.events.child_positions(&items[call].id);
        results.iter().any(|at| *at < running.seen && running.sections.iter().any(|section| section.at == *at))
    };
    has_stubs
        && new.iter().any(|at| {
            let call = (items[*at].kind == ItemKind::ToolResult).then(|| joins(sources.events, *at)).flatten();
            call.is_some_and(|call| call < running.seen && !answered(call))
        })
}

/// Makes a section, weighed.
pub fn section(
    sources: &BuildInputs,
    at: usize,
    form: RenderedAs,
    content: EntryContent,
    omitted_chars: Option<u64>,
    is_stored: bool,
) -> RunningSection {
    let mut section = RunningSection {
        at,
        form,
        content,
        is_stored,
        omitted_chars,
        recalled: false,
        is_repeat: false,
        is_digest: false,
        quarters: 0,
    };
    section.weigh(sources);
    section
}

/// Tells whether these are instructions that stand there already.
fn is_said(sources: &BuildInputs, running: Option<&RunningPrompt>, new: &[RunningSection], at: usize) -> bool {
    let items = sources.events.items();
    let mut stands = running.into_iter().flat_map(|running| &running.sections).chain(new);
    items[at].kind == ItemKind::Policy && stands.any(|section| is_repeat(&items[section.at], &items[at]))
}

/// Returns a result that stands whole and says the same as the one at a position.
fn repeated(
    sources: &BuildInputs,
    running: Option<&RunningPrompt>,
    new: &[RunningSection],
    at: usize,
) -> Option<usize> {
    let items = sources.events.items();
    let (item, indexed) = (&items[at], sources.index.entry(at));
    if item.kind != ItemKind::ToolResult {
        return None;
    }
    let text = indexed.source(item, sources.artifacts);
    if text.len() < REPEAT_BYTES {
        return None;
    }
    let earlier = running.into_iter().flat_map(|running| &running.sections).chain(new);
    let mut whole = earlier.filter(|section| section.is_all(sources.index) && !section.recalled && section.at != at);
    let same = whole.find(|section| {
        let other = &items[section.at];
        other.kind == ItemKind::ToolResult && sources.index.entry(section.at).source(other, sources.artifacts) == text
    });
    same.map(|section| section.at)
}

/// Says that a result is the same as another one.
fn same_as(sources: &BuildInputs, earlier: usize) -> String {
    let item = &sources.events.items()[earlier];
    let handle = handle_of_item(item).unwrap_or_else(|| item.id.clone());
    format!("(the same as the result {} above)", crate::digest_note::safe_handle(&handle))
}
