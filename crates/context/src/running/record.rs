//! The record of a running prompt: the pack that a build of the same prompt would have.

use super::prompt::{RunningPrompt, RunningSection, StepMark};
use crate::compile::inputs::BuildInputs;
use crate::compile::output;
use crate::compile::prompt::{EntryRendering, PromptEntry, PromptSection, SectionKind, StructuredPrompt};
use crate::compile::render::text;
use contextweaver_model::{
    BuildStats, CandidateDetail, CandidateExplanation, ContextPack, DropReason, DroppedItem, Explanation, Phase,
    RenderedAs, ResultEnvelope, Stage,
};

use super::writer::WriterFrame;
use crate::compile::explain;
use crate::masking::mask_envelope;
use crate::request::BuildRequest;

/// Returns the record of a step of a running prompt.
pub fn record(sources: &BuildInputs, running: &RunningPrompt, mark: &StepMark, phase: Phase) -> ContextPack {
    let sections = &running.sections[..mark.sections.min(running.sections.len())];
    let frame = WriterFrame { header: &running.header, ledger: running.ledger.as_ref(), footer: &running.footer };
    let header = header(&frame);
    let prompt = structured(sources, &frame, &header, sections.iter());
    let written = text::write(sources, &prompt);
    let mut stats = BuildStats::empty(sources.options.estimator.name());
    for (rendered, entry) in written.items.iter().zip(&prompt.entries) {
        stats.add_section(entry.kind().as_str(), rendered.tokens);
    }
    stats.header_footer_tokens = written.frame_tokens;
    stats.prompt_tokens = Some(written.tokens);
    complete(sources, running, mark, sections, &mut stats);
    let mut warnings = running.warnings.clone();
    warnings.extend(output::torn_results(sources.events, &prompt));
    ContextPack {
        prompt: written.text,
        envelopes: envelopes(sources, sections),
        stats,
        phase,
        items: Some(written.items),
        warnings,
        explanation: None,
        running: Some(mark.step.clone()),
    }
}

fn header(frame: &WriterFrame) -> Vec<PromptSection> {
    let texts = [frame.header].into_iter().filter(|text| !text.is_empty());
    texts.map(|text| PromptSection { kind: SectionKind::Caller, text: text.to_owned() }).collect()
}

fn structured<'a>(
    sources: &'a BuildInputs,
    frame: &WriterFrame<'a>,
    header: &'a [PromptSection],
    sections: impl Iterator<Item = &'a RunningSection>,
) -> StructuredPrompt<'a> {
    let entries = sections.map(|section| PromptEntry {
        at: section.at,
        item: &sources.events.items()[section.at],
        indexed: sources.index.entry(section.at),
        rendering: EntryRendering { form: section.form, content: &section.content },
        tokens: section.quarters / 4,
        omitted_chars: section.omitted_chars,
        recalled: section.recalled,
    });
    StructuredPrompt { header, entries: entries.collect(), ledger: frame.ledger.cloned(), footer: frame.footer }
}

/// Weighs the text of sections as a whole, which is not what its parts weigh where the caller counts.
pub fn text_quarters(sources: &BuildInputs, frame: &WriterFrame, sections: &[&RunningSection]) -> u64 {
    let header = header(frame);
    let prompt = structured(sources, frame, &header, sections.iter().copied());
    4 * text::write(sources, &prompt).tokens
}

/// Returns the numbers of a step alone, by what its sections weigh.
pub fn stats(sources: &BuildInputs, running: &RunningPrompt, mark: &StepMark) -> BuildStats {
    let sections = &running.sections[..mark.sections.min(running.sections.len())];
    let mut stats = BuildStats::empty(sources.options.estimator.name());
    let (mut quarters, mut tokens) = (0, 0);
    let mut add = |more: u64| {
        quarters += more;
        let before = std::mem::replace(&mut tokens, quarters / 4);
        tokens - before
    };
    let mut is_first = true;
    let mut around = |text: &str| {
        if text.is_empty() {
            return 0;
        }
        let separator = if std::mem::take(&mut is_first) { 0 } else { text::SEPARATOR_QUARTERS };
        sources.quarters(text) + separator
    };
    let mut frame = add(around(&running.header));
    for (place, section) in sections.iter().enumerate() {
        if let Some(ledger) = running.ledger.as_ref().filter(|ledger| ledger.after.min(sections.len()) == place) {
            frame += add(around(&ledger.text));
        }
        // A section is weighed with the separator above it.
        let own = section.quarters - if around("x") == sources.quarters("x") { text::SEPARATOR_QUARTERS } else { 0 };
        stats.add_section(sources.events.items()[section.at].kind.as_str(), add(own));
    }
    if let Some(ledger) = running.ledger.as_ref().filter(|ledger| ledger.after >= sections.len()) {
        frame += add(around(&ledger.text));
    }
    frame += add(around(&running.footer));
    stats.header_footer_tokens = frame;
    stats.prompt_tokens = Some(quarters / 4);
    complete(sources, running, mark, sections, &mut stats);
    stats
}

fn complete(
    sources: &BuildInputs,
    running: &RunningPrompt,
    mark: &StepMark,
    sections: &[RunningSection],
    stats: &mut BuildStats,
) {
    let items = sources.events.items();
    let mut places: Vec<usize> = sections.iter().map(|section| section.at).collect();
    contextweaver_base::order::sort_distinct(&mut places);
    let left = &running.left[..mark.left.min(running.left.len())];
    let back = |at: usize| places.binary_search(&at).is_ok();
    stats.included_count = places.len() as u64;
    stats.budget_tokens = Some(running.budget);
    for left in left.iter().filter(|left| !back(left.at)) {
        stats.dedup_removed += u64::from(left.stage == Stage::Dedup);
        let item_id = items[left.at].id.clone();
        stats.add_drop(DroppedItem {
            item_id,
            reason: left.reason.as_str().into(),
            stage: Some(left.stage),
            tokens: Some(left.tokens),
        });
    }
    stats.total_candidates = stats.included_count + stats.dropped_count;
    let weigh = |text: &str| sources.quarters(text) + text::SEPARATOR_QUARTERS;
    (stats.rules, stats.ledger) = running.ledger.as_ref().map_or((None, None), |ledger| ledger.stats(weigh));
}

fn envelopes(sources: &BuildInputs, sections: &[RunningSection]) -> Vec<ResultEnvelope> {
    let shown = sections.iter().filter(|section| matches!(section.form, RenderedAs::Whole | RenderedAs::Excerpt));
    shown
        .filter(|section| !section.recalled)
        .filter_map(|section| {
            let mut envelope = sources.envelopes.get(&sources.events.items()[section.at].id)?.clone();
            mask_envelope(&mut envelope, sources.options);
            Some(envelope)
        })
        .collect()
}

/// Says of every candidate whether it is in a running prompt, in which form, and why not: what went on is as the last cut left it,
/// and nothing of it was scored anew.
pub fn explanation(
    sources: &BuildInputs,
    running: &RunningPrompt,
    request: &BuildRequest,
    stats: &BuildStats,
) -> Explanation {
    let items = sources.events.items();
    let detail = |stage, tokens, form| CandidateDetail::unscored(stage, tokens, 0, form);
    let candidate = |at: usize, reason: &str, detail: CandidateDetail| CandidateExplanation {
        item_id: items[at].id.clone(),
        kind: items[at].kind,
        sensitivity: items[at].sensitivity,
        score: None,
        included: reason.is_empty(),
        drop_reason: reason.to_owned(),
        dependency_closure: false,
        detail: Some(detail),
    };
    let mut seen = vec![false; items.len()];
    let mut candidates: Vec<CandidateExplanation> = Vec::new();
    for section in &running.sections {
        if !std::mem::replace(&mut seen[section.at], true) {
            candidates.push(candidate(section.at, "", detail(Stage::Render, section.quarters / 4, Some(section.form))));
        }
    }
    for left in running.left.iter().filter(|left| !seen[left.at]) {
        candidates.push(candidate(left.at, left.reason.as_str(), detail(left.stage, left.tokens, None)));
    }
    Explanation {
        version: 1,
        phase: request.phase,
        query: sources.options.mask_record(&request.query).into_owned(),
        total_candidates: stats.total_candidates,
        included_count: stats.included_count,
        dropped_count: stats.dropped_count,
        dropped_reasons: explain::reasons(stats),
        dependency_closures: 0,
        sensitivity_drops: running.left.iter().filter(|left| left.reason == DropReason::Sensitivity).count() as u64,
        dedup_removed: stats.dedup_removed,
        budget_tokens: stats.budget_tokens.unwrap_or(0).saturating_sub(stats.header_footer_tokens),
        resolved_weights: explain::weights(sources.options.scoring.weights),
        candidates,
    }
}
