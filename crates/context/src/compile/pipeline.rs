//! The default pipeline: eight stages over positions of the log, nothing copied that is not rendered.

use crate::compile::candidates::candidates;
use crate::compile::closure::closure;
use crate::compile::dedup::dedup;
use crate::compile::firewall::firewall;
use crate::compile::frame::{PromptFrame, PromptHeader, ranked_header};
use crate::compile::inputs::BuildInputs;
use crate::compile::ledger::LedgerWriter;
use crate::compile::prompt::{Ledger, StructuredPrompt};
use crate::compile::render::renderer::{MessagePrompt, Renderer};
use crate::compile::render::{RenderedPrompt, render};
use crate::compile::score::bm25n::TermWeights;
use crate::compile::score::score;
use crate::compile::select::row::StandingEntry;
use crate::compile::select::units::UnitSelection;
use crate::compile::select::{arrange, group, select};
use crate::compile::sensitivity::sensitivity;
use crate::compile::state::BuildState;
use crate::compile::{explain, output};
use crate::event::Event;
use crate::request::BuildRequest;
use crate::sensitivity::check_hooks;
use crate::store::EventLog;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextPack, DropReason, ItemKind, Stage};
use contextweaver_text::quote::quote;

/// The part of the room for items from which on what is left over beside it is worth choosing anew.
const SPARE_SHARE: u64 = 256;
/// How often that is done.
const MOST_SPARES: u32 = 3;
/// Rounds after which the least that is taken off the room for items no longer doubles: half of what is left.
const DOUBLING_ROUNDS: u32 = 5;

/// A build before anybody has seen it; what it changes of the manager is set when it is handed out.
pub struct BuiltPrompt {
    pub pack: ContextPack,
    /// The same as messages, where the renderer writes them.
    pub messages: Option<MessagePrompt>,
    pub events: Vec<Event>,
    /// Postings, items and pieces touched.
    pub work: u64,
}

/// What a build must keep when a running prompt is cut.
pub struct CutScope {
    /// Entries that are to stand as they do, the newest last.
    pub stands: Vec<StandingEntry>,
    /// Positions of items that must be there beside these.
    pub keeps: Vec<usize>,
    /// Tokens that the running prompt may have, where there is one.
    pub budget: Option<u64>,
    /// Whether pinned items may lose text where they do not fit. Without it, the build fails.
    pub may_squeeze: bool,
}

impl CutScope {
    /// A build that goes on with nothing.
    const NONE: Self = Self { stands: Vec::new(), keeps: Vec::new(), budget: None, may_squeeze: true };
}

/// The part of a build's result with which a running prompt goes on.
pub struct CutPrompt {
    pub header: String,
    pub ledger: Option<Ledger>,
    pub entries: Vec<StandingEntry>,
    /// Items that are not in it: position, stage, reason and tokens.
    pub left: Vec<(usize, Stage, DropReason, u64)>,
    /// What is said of it, but for results without their calls.
    pub warnings: Vec<String>,
}

/// Compiles a prompt. When the caller's functions must be asked, the result is provisional and must be thrown away.
pub fn build(sources: &BuildInputs, request: &BuildRequest, renderer: &dyn Renderer) -> Result<BuiltPrompt> {
    compile(sources, request, &CutScope::NONE, renderer).map(|(built, _)| built)
}

/// Compiles a prompt, as [`build`] does, for a running one to go on with.
pub fn compile(
    sources: &BuildInputs,
    request: &BuildRequest,
    scope: &CutScope,
    renderer: &dyn Renderer,
) -> Result<(BuiltPrompt, CutPrompt)> {
    check_hooks(&sources.options.policy, &sources.options.custom_hooks)?;
    let pins = resolve_pins(sources.events, request)?;
    let admitted = candidates(sources.events.items(), request, &sources.options.policy);
    let closed = closure(sources.events, &admitted, &pins);
    let mut state = BuildState::new(sources, request, renderer, &closed);
    sensitivity(&mut state, &closed, &pins)?;
    take_out_ours(&mut state, &pins);
    stand(&mut state, scope);
    firewall(&mut state);
    // Before the scores, in which a repeat would count its words twice.
    let standing = scope.stands.iter().map(|entry| entry.at);
    dedup(&mut state, pins.iter().copied().chain(standing).chain(scope.keeps.iter().copied()));
    let header = make_header(sources, request, scope)?;
    let footer = sources.options.mask_secrets(&request.footer).into_owned();
    let PromptHeader { sections, dropped } = header;
    let frame = PromptFrame::new(sections, footer, sources, request, renderer);
    let terms = score(&mut state);
    group(&mut state, &pins);
    keep(&mut state, scope);
    let room = frame.limit().map_err(|error| with_pinned(error, &state, &terms))?;
    let mut ledger = LedgerWriter::new(&state, &frame, room);
    mark_holding(&mut state, &ledger);
    let (mut limit, mut rounds, mut excess) = (room - ledger.quarters(), 0, 0);
    let (mut spares, mut given_back) = (0, 0);
    loop {
        let selection = match select(&state, &terms, limit) {
            Ok(selected) => selected,
            // A prompt without a ledger is better than none.
            Err(_) if ledger.give_up() => {
                (limit, rounds, excess) = (room, 0, 0);
                continue;
            }
            // Where less room was tried than there is, it is the excess that does not fit.
            Err(error) => return Err(too_large(error, excess, &frame)),
        };
        let mut prompt = arrange(&state, &selection, &frame);
        // Statements that the prompt shows anyway leave their room to items. Tried a few times, as another choice may show others.
        let spare = if spares < MOST_SPARES { ledger.spare(&state, &prompt).saturating_sub(given_back) } else { 0 };
        if spare > limit / SPARE_SHARE {
            (limit, spares, given_back) = (limit + spare, spares + 1, given_back + spare);
            continue;
        }
        prompt.ledger = ledger.of(&state, &frame, &prompt);
        let written = render(sources, renderer, &prompt)?;
        excess = written.tokens().saturating_sub(frame.budget);
        if excess == 0 || sources.answers.is_waiting() {
            let finished = Finished { state: &state, selection: &selection, prompt, frame: &frame };
            return finished.into_built(written, &dropped);
        }
        // The sum of the parts is not the whole to a caller's estimator, and messages have parts that only writing them
        // shows: give selection the difference and try again.
        let step = (4 * excess).max((limit / 64) << rounds).max(4);
        if step > limit {
            if ledger.give_up() {
                (limit, rounds, excess) = (room, 0, 0);
                continue;
            }
            return Err(over_budget(excess, &frame));
        }
        limit -= step;
        rounds = (rounds + 1).min(DOUBLING_ROUNDS);
    }
}

/// Adds to what header and footer exceed the budget by what must stand beside them, so that a caller who adds it to the
/// budget gets a prompt.
fn with_pinned(error: Error, state: &BuildState, terms: &TermWeights) -> Error {
    let Err(pinned) = select(state, terms, 0) else { return error };
    match (error.details()["over_by"].as_u64(), pinned.details()["required"].as_u64()) {
        (Some(frame), Some(pinned)) => error.detail("over_by", frame + pinned),
        _ => error,
    }
}

fn over_budget(excess: u64, frame: &PromptFrame) -> Error {
    Error::new(ErrorCode::BudgetExceeded, format!("the prompt exceeds the budget by {excess} tokens"))
        .hint("raise the budget or pin less")
        .detail("over_by", excess)
        .detail("limit", frame.budget)
}

fn too_large(error: Error, excess: u64, frame: &PromptFrame) -> Error {
    if excess > 0 && error.code() == ErrorCode::BudgetExceeded { over_budget(excess, frame) } else { error }
}

/// Returns the positions of the items that must be in a prompt.
pub fn resolve_pins(events: &EventLog, request: &BuildRequest) -> Result<Vec<usize>> {
    request
        .pin
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let path = format!("/pin/{index}");
            let Some(at) = events.position(id) else { return Err(events.missing(id).at(path)) };
            if events.items()[at].is_superseded() {
                let message = format!("another item stands in the place of {}", quote(id));
                return Err(Error::new(ErrorCode::NotFound, message).at(path));
            }
            Ok(at)
        })
        .collect()
}

/// Takes out what an earlier prompt said of itself: this one says it anew.
fn take_out_ours(state: &mut BuildState, pins: &[usize]) {
    let index = state.sources.index;
    let last = state.rows.last().map(|row| row.at);
    let mut ours = Vec::new();
    state.rows.retain(|row| {
        let is_ours = index.entry(row.at).is_ours && row.redacted.is_none() && !row.stub;
        let goes = is_ours && !pins.contains(&row.at) && Some(row.at) != last;
        if goes {
            ours.push(row.at);
        }
        !goes
    });
    state.ours = ours;
}

/// Lets rows stand as the running prompt has them.
fn stand(state: &mut BuildState, scope: &CutScope) {
    state.may_squeeze = scope.may_squeeze;
    state.budget = scope.budget;
    for entry in &scope.stands {
        let Some(row) = state.row_of(entry.at) else { continue };
        let row = &mut state.rows[row];
        if row.redacted.is_none() && !row.stub {
            row.stands = Some(Box::new(entry.clone()));
        }
    }
}

/// Keeps the units of what is to stand.
fn keep(state: &mut BuildState, scope: &CutScope) {
    let standing = scope.stands.iter().map(|entry| entry.at);
    for at in standing.chain(scope.keeps.iter().copied()) {
        let Some(row) = state.row_of(at) else { continue };
        let unit = state.rows[row].unit;
        state.units[unit].pinned.get_or_insert("running");
    }
}

/// Marks the units in which the user states what is in force.
fn mark_holding(state: &mut BuildState, ledger: &LedgerWriter) {
    for (at, holds) in ledger.homes() {
        let Some(row) = state.row_of(at) else { continue };
        let unit = &mut state.units[state.rows[row].unit];
        unit.holds = unit.holds.max(holds);
    }
}

fn make_header(sources: &BuildInputs, request: &BuildRequest, scope: &CutScope) -> Result<PromptHeader> {
    header_of(sources, request, scope.budget.is_some())
}

/// Returns what stands above the items. In a running prompt facts are not ranked by the query: they would move with it, and with
/// them everything below.
pub fn header_of(sources: &BuildInputs, request: &BuildRequest, is_running: bool) -> Result<PromptHeader> {
    let memory = sources.options.policy.allows(request.phase, ItemKind::MemoryFact);
    let query = if is_running { "" } else { &request.query };
    ranked_header(&request.header, query, memory, sources.episodes, sources.facts, sources.options, sources.answers)
}

/// Says what memory is not in the header.
pub fn left_out_warnings(left_out: &[(String, DropReason)]) -> Vec<String> {
    left_out.iter().map(|(id, reason)| format!("{} left out of the header: {reason}", quote(id))).collect()
}

struct Finished<'a> {
    state: &'a BuildState<'a>,
    selection: &'a UnitSelection,
    prompt: StructuredPrompt<'a>,
    frame: &'a PromptFrame,
}

impl Finished<'_> {
    fn into_built(
        self,
        written: RenderedPrompt,
        left_out: &[(String, DropReason)],
    ) -> Result<(BuiltPrompt, CutPrompt)> {
        let Self { state, selection, prompt, frame } = self;
        let RenderedPrompt { text, messages } = written;
        let mut warnings = left_out_warnings(left_out);
        warnings.extend(output::cut_instructions(state, &prompt));
        let torn = output::torn_results(state.sources.events, &prompt);
        warnings.extend(torn.iter().cloned());
        let mut stats = output::stats(state, selection, &prompt, &text, frame);
        let (overflow, events) = output::events(state, selection, &stats, frame.budget);
        output::check_overflow(&state.sources.options.policy, &overflow, &stats, &mut warnings)?;
        stats.dependency_closures = state.closures.len() as u64 + selection.closures;
        let explanation = state.request.explain.then(|| explain::explain(state, selection, &stats));
        state.request.shorten(&mut stats);
        let envelopes = output::envelopes(state, &prompt);
        let entries = prompt.entries.iter().map(|entry| StandingEntry {
            at: entry.at,
            form: entry.rendering.form,
            content: entry.rendering.content.clone(),
            omitted_chars: entry.omitted_chars,
        });
        let cut = CutPrompt {
            header: frame.header.clone(),
            entries: entries.collect(),
            left: output::left(state, selection),
            ledger: prompt.ledger,
            warnings: warnings.iter().filter(|warning| !torn.contains(warning)).cloned().collect(),
        };
        let pack = ContextPack {
            prompt: text.text,
            stats,
            phase: state.request.phase,
            envelopes,
            items: Some(text.items),
            warnings,
            explanation,
            running: None,
        };
        Ok((BuiltPrompt { pack, messages, events, work: state.work + selection.work }, cut))
    }
}
