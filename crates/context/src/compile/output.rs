//! What is told of a finished prompt: its numbers, its digests, what was dropped.

use crate::compile::closure::TornResult;
use crate::compile::frame::PromptFrame;
use crate::compile::prompt::StructuredPrompt;
use crate::compile::render::text::TextPrompt;
use crate::compile::select::units::UnitSelection;
use crate::compile::state::BuildState;
use crate::event::Event;
use crate::masking::mask_envelope;
use crate::store::EventLog;
use contextweaver_base::order::sort_distinct;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{
    BuildStats, ContextPolicy, DropReason, DroppedItem, ItemKind, OverflowAction, RenderedAs, ResultEnvelope, Stage,
};
use contextweaver_text::quote::quote;

/// Counts what was kept and what was not.
pub fn stats(
    build: &BuildState,
    selection: &UnitSelection,
    prompt: &StructuredPrompt,
    text: &TextPrompt,
    frame: &PromptFrame,
) -> BuildStats {
    let items = build.sources.events.items();
    let mut stats = BuildStats::empty(build.sources.options.estimator.name());
    for (rendered, entry) in text.items.iter().zip(&prompt.entries) {
        stats.add_section(entry.kind().as_str(), rendered.tokens);
    }
    stats.header_footer_tokens = text.frame_tokens;
    let weigh = |text: &str| build.renderer.frame_quarters(build.sources, "", text);
    (stats.rules, stats.ledger) = prompt.ledger.as_ref().map_or((None, None), |ledger| ledger.stats(weigh));
    stats.prompt_tokens = Some(text.tokens);
    stats.budget_tokens = Some(frame.budget);
    stats.included_count = prompt.entries.len() as u64;
    stats.total_candidates = (build.rows.len() + build.excluded.len()) as u64;
    // Hooks and explanations need all.
    let needs_all = build.request.explain || build.sources.options.listens;
    let most = build.request.list_dropped.filter(|_| !needs_all).unwrap_or(u64::MAX);
    let mut drop = |at: usize, reason: DropReason, stage: Stage, quarters: u64| {
        if stats.dropped_count >= most {
            return stats.count_drop(reason.as_str());
        }
        let item_id = items[at].id.clone();
        let reason = reason.as_str().into();
        stats.add_drop(DroppedItem { item_id, reason, stage: Some(stage), tokens: Some(quarters / 4) });
    };
    let mut repeats = 0;
    for excluded in &build.excluded {
        repeats += u64::from(excluded.stage == Stage::Dedup);
        let entry = build.sources.index.entry(excluded.at);
        drop(excluded.at, excluded.reason, excluded.stage, entry.part_quarters);
    }
    for (unit, reason) in &selection.dropped {
        for row in &build.units[*unit].rows {
            let row = &build.rows[*row];
            drop(row.at, *reason, Stage::Select, row.quarters);
        }
    }
    stats.dedup_removed = repeats;
    stats
}

/// Returns the items that are not in the prompt: position, stage, reason and tokens.
pub fn left(build: &BuildState, selection: &UnitSelection) -> Vec<(usize, Stage, DropReason, u64)> {
    let early = build.excluded.iter().map(|excluded| {
        let quarters = build.sources.index.entry(excluded.at).part_quarters;
        (excluded.at, excluded.stage, excluded.reason, quarters / 4)
    });
    let late = selection.dropped.iter().flat_map(|(unit, reason)| {
        let rows = build.units[*unit].rows.iter().map(|row| &build.rows[*row]);
        rows.map(|row| (row.at, Stage::Select, *reason, row.quarters / 4))
    });
    early.chain(late).collect()
}

/// Returns the kinds dropped for the budget, and what the hooks are told.
pub fn events(
    build: &BuildState,
    selection: &UnitSelection,
    stats: &BuildStats,
    budget: u64,
) -> (Vec<ItemKind>, Vec<Event>) {
    let mut events = Vec::new();
    let reasons = stats.dropped_reasons.iter().filter(|_| build.sources.options.listens);
    for (reason, _) in reasons {
        let item_ids = stats
            .dropped_items
            .iter()
            .filter(|drop| drop.reason == reason.as_str())
            .map(|drop| drop.item_id.clone())
            .collect();
        events.push(Event::ItemsExcluded { item_ids, reason: reason.clone() });
    }
    let has_no_room = |reason: DropReason| matches!(reason, DropReason::Budget | DropReason::NearRepeat);
    let over: Vec<usize> =
        selection.dropped.iter().filter(|(_, reason)| has_no_room(*reason)).map(|(unit, _)| *unit).collect();
    if !over.is_empty() {
        let wanted: u64 = over.iter().map(|unit| build.units[*unit].quarters).sum::<u64>() / 4;
        let requested = stats.prompt_tokens() + wanted;
        events.push(Event::BudgetExceeded { requested, limit: budget });
    }
    events.push(Event::ContextBuilt { phase: build.request.phase.as_str().to_owned() });
    let mut kinds: Vec<ItemKind> = over
        .iter()
        .flat_map(|unit| &build.units[*unit].rows)
        .map(|row| build.sources.events.items()[build.rows[*row].at].kind)
        .collect();
    sort_distinct(&mut kinds);
    (kinds, events)
}

/// Applies the overflow policy to the kinds dropped for the budget, and names them in their order.
pub fn check_overflow(
    policy: &ContextPolicy,
    kinds: &[ItemKind],
    stats: &BuildStats,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let lost: Vec<&str> = kinds
        .iter()
        .filter(|kind| policy.overflow_raise_kinds.as_ref().is_none_or(|watched| watched.contains(kind)))
        .map(|kind| kind.as_str())
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    match policy.overflow_action {
        OverflowAction::Drop => Ok(()),
        OverflowAction::Warn => {
            warnings.push(format!("items were dropped for the budget: {}", lost.join(", ")));
            Ok(())
        }
        OverflowAction::Raise => {
            Err(Error::new(ErrorCode::BudgetExceeded, "items were dropped for the budget and the policy forbids it")
                .at("/policy/overflow_action")
                .detail("dropped_kinds", lost)
                .detail("stats", serde_json::to_value(stats).unwrap_or_default()))
        }
    }
}

/// Names instructions at the head of the log that are not in the prompt as a whole: the model is not told what it is for.
pub fn cut_instructions(build: &BuildState, prompt: &StructuredPrompt) -> Vec<String> {
    let items = build.items();
    let head = build.instructions().iter().take_while(|row| row.redacted.is_none());
    head.filter_map(|row| {
        let (id, tokens) = (quote(&items[row.at].id), row.quarters / 4);
        let shown = prompt.entries.iter().find(|entry| entry.at == row.at).map(|entry| entry.rendering.form);
        match shown {
            Some(RenderedAs::Whole) => None,
            Some(_) => Some(format!("instructions {id} of {tokens} tokens stand there in part: raise the budget")),
            None => Some(format!("instructions {id} of {tokens} tokens had no room: raise the budget")),
        }
    })
    .collect()
}

/// Most ids in one warning.
const NAMED: usize = 5;

/// Names results in the prompt that stand below a stub, as their call is not in the log, or comes after them.
pub fn torn_results(events: &EventLog, prompt: &StructuredPrompt) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut of_nothing: Vec<String> = Vec::new();
    for entry in &prompt.entries {
        let Some(torn) = TornResult::of(events, entry.at) else { continue };
        let id = quote(&entry.item.id);
        match (torn, &entry.item.parent_id) {
            (TornResult::BeforeCall, _) => {
                warnings.push(format!("result {id} stands before its call; a stub stands above it"));
            }
            (TornResult::Orphan, Some(parent)) => {
                let parent = quote(parent);
                warnings
                    .push(format!("result {id} answers {parent}, which is no call of the log; a stub stands for it"));
            }
            (TornResult::Orphan, None) => of_nothing.push(id),
        }
    }
    if !of_nothing.is_empty() {
        let more =
            if of_nothing.len() > NAMED { format!(" and {} more", of_nothing.len() - NAMED) } else { String::new() };
        let named = of_nothing[..of_nothing.len().min(NAMED)].join(", ");
        warnings.push(format!("results that name no call stand below a stub of one: {named}{more}"));
    }
    warnings
}

/// Returns the digests of results whose text is in the prompt.
pub fn envelopes(build: &BuildState, prompt: &StructuredPrompt) -> Vec<ResultEnvelope> {
    let known = build.sources.envelopes;
    prompt
        .entries
        .iter()
        .filter(|entry| matches!(entry.rendering.form, RenderedAs::Whole | RenderedAs::Excerpt))
        .filter_map(|entry| {
            let mut envelope = known.get(&entry.item.id)?.clone();
            // One that was made elsewhere is kept as it came.
            mask_envelope(&mut envelope, build.sources.options);
            Some(envelope)
        })
        .collect()
}
