//! From a selection to the prompt and its numbers.

use super::draft::{Draft, Event, Sources};
use super::render::{self, Mark, SEPARATOR};
use super::request::BuildRequest;
use super::select::plan::{Part, SEPARATOR_QUARTERS};
use super::select::units::Selection;
use contextweaver_base::order::{sort_by, sort_distinct};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{
    BuildStats, ContextPolicy, DroppedItem, ItemKind, OverflowAction, RenderedAs, RenderedItem, ResultEnvelope, Stage,
};
use contextweaver_text::tokens::Estimator;

/// What stands around the items.
pub struct Frame {
    /// Memory sections and the caller's header.
    pub header: String,
    /// The caller's footer.
    pub footer: String,
    /// Their cost with separators, in quarter tokens.
    pub quarters: u64,
    /// Tokens the whole prompt may have.
    pub budget: u64,
}

impl Frame {
    /// Weighs header and footer against the budget.
    pub fn new(header: &str, footer: &str, sources: &Sources, request: &BuildRequest) -> Self {
        let cost = |text: &str| match text {
            "" => 0,
            text => sources.answers.quarters(&sources.options.estimator, text) + SEPARATOR_QUARTERS,
        };
        Self {
            header: header.to_owned(),
            footer: footer.to_owned(),
            quarters: cost(header) + cost(footer),
            budget: request.budget_tokens.unwrap_or_else(|| sources.options.budget.of(request.phase)),
        }
    }

    /// Returns the quarter tokens left for items; an oversized header is an error.
    pub fn limit(&self) -> Result<u64> {
        // A token is only charged when full, and the last section needs no separator after it.
        let available = 4 * self.budget + 3 + SEPARATOR_QUARTERS;
        available.checked_sub(self.quarters).ok_or_else(|| {
            let over = (self.quarters - available).div_ceil(4);
            Error::new(ErrorCode::BudgetExceeded, format!("header and footer exceed the budget by {over} tokens"))
                .hint("shorten them or raise the budget")
                .detail("over_by", over)
                .detail("limit", self.budget)
        })
    }
}

/// The order of an append-only prompt.
#[derive(Debug)]
pub struct Layout {
    /// Positions in prompt order.
    pub order: Vec<usize>,
    /// Whether a position stands out of log order.
    pub recalled: Vec<bool>,
    /// Why earlier bytes changed, if they did.
    pub reason: &'static str,
}

/// A rendered prompt.
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// Tokens of header and footer.
    pub frame_tokens: u64,
    /// Its sections.
    pub items: Vec<RenderedItem>,
    /// Row of each section.
    pub rows: Vec<usize>,
    /// Kind of each section.
    pub kinds: Vec<ItemKind>,
}

/// Puts the selected parts together: in log order, or as an append-only layout says.
pub fn assemble(draft: &Draft, selection: &Selection, layout: Option<&Layout>, frame: &Frame) -> Prompt {
    let mut parts: Vec<&Part> = selection.parts().collect();
    sort_by(&mut parts, |a, b| a.at.cmp(&b.at));
    if let Some(layout) = layout {
        let mut place = vec![usize::MAX; draft.sources.events.len()];
        for (index, at) in layout.order.iter().enumerate() {
            place[*at] = index;
        }
        sort_by(&mut parts, |a, b| place[a.at].cmp(&place[b.at]));
    }
    let size: u64 = parts.iter().map(|part| part.quarters).sum();
    let mut writer = Writer::new(draft, frame, size as usize + 64);
    for part in parts {
        let recalled = layout.is_some_and(|layout| layout.recalled[part.at]);
        writer.add(part, recalled);
    }
    writer.finish()
}

struct Writer<'a> {
    draft: &'a Draft<'a>,
    frame: &'a Frame,
    counter: Counter<'a>,
    prompt: Prompt,
}

/// Counts tokens section by section so that the sum is the whole prompt's estimate.
struct Counter<'a> {
    estimator: &'a Estimator,
    quarters: u64,
    tokens: u64,
}

impl Counter<'_> {
    /// Adds a piece and returns the whole tokens it completes.
    fn add(&mut self, text: &str) -> u64 {
        self.quarters += self.estimator.quarters(text);
        let before = std::mem::replace(&mut self.tokens, self.quarters / 4);
        self.tokens - before
    }
}

impl<'a> Writer<'a> {
    fn new(draft: &'a Draft, frame: &'a Frame, capacity: usize) -> Self {
        let mut counter = Counter { estimator: &draft.sources.options.estimator, quarters: 0, tokens: 0 };
        let mut text = String::with_capacity(capacity);
        text.push_str(&frame.header);
        let frame_tokens = counter.add(&frame.header);
        let prompt = Prompt { text, tokens: 0, frame_tokens, items: Vec::new(), rows: Vec::new(), kinds: Vec::new() };
        Self { draft, frame, counter, prompt }
    }

    fn separate(&mut self) -> u64 {
        if self.prompt.text.is_empty() {
            return 0;
        }
        self.prompt.text.push_str(SEPARATOR);
        self.counter.add(SEPARATOR)
    }

    fn add(&mut self, part: &Part, recalled: bool) {
        let item = &self.draft.sources.events.items()[part.at];
        let separator = self.separate();
        let start = self.prompt.text.len();
        match &part.text {
            Some(text) if !recalled => self.prompt.text.push_str(text),
            _ => {
                let mark = if recalled { Mark::Recalled } else { Mark::None };
                self.prompt.text.push_str(&render::label_line(item, mark));
                self.prompt.text.push('\n');
                let body = part.text.as_deref().and_then(|text| text.split_once('\n')).map(|(_, body)| body);
                let entry = self.draft.sources.index.entry(part.at);
                self.prompt.text.push_str(body.unwrap_or_else(|| entry.shown(item)));
            }
        }
        let tokens = self.counter.add(&self.prompt.text[start..]);
        self.prompt.rows.push(part.row);
        self.prompt.kinds.push(item.kind);
        self.prompt.items.push(RenderedItem {
            id: item.id.clone(),
            rendered_as: part.form,
            tokens: tokens + separator,
            start: start as u64,
            end: self.prompt.text.len() as u64,
            omitted_chars: part.omitted_chars,
            recalled,
        });
    }

    fn finish(mut self) -> Prompt {
        if !self.frame.footer.is_empty() {
            let separator = self.separate();
            self.prompt.text.push_str(&self.frame.footer);
            self.prompt.frame_tokens += separator + self.counter.add(&self.frame.footer);
        }
        let Sources { options, answers, .. } = self.draft.sources;
        self.prompt.tokens = answers.quarters(&options.estimator, &self.prompt.text) / 4;
        self.prompt
    }
}

/// Counts what was kept and what was not.
pub fn stats(draft: &Draft, selection: &Selection, prompt: &Prompt, frame: &Frame) -> BuildStats {
    let items = draft.sources.events.items();
    let mut stats = BuildStats::empty(draft.sources.options.estimator.name());
    for (rendered, kind) in prompt.items.iter().zip(&prompt.kinds) {
        stats.add_section(kind.as_str(), rendered.tokens);
    }
    stats.header_footer_tokens = prompt.frame_tokens;
    stats.prompt_tokens = Some(prompt.tokens);
    stats.budget_tokens = Some(frame.budget);
    stats.included_count = prompt.items.len() as u64;
    stats.total_candidates = (draft.rows.len() + draft.left.len()) as u64;
    let estimator = &draft.sources.options.estimator;
    for left in &draft.left {
        let entry = draft.sources.index.entry(left.at);
        let tokens = match estimator {
            Estimator::Custom(_) => estimator.tokens(entry.shown(&items[left.at])),
            _ => entry.part_quarters / 4,
        };
        stats.dedup_removed += u64::from(left.stage == Stage::Dedup);
        stats.add_drop(DroppedItem {
            item_id: items[left.at].id.clone(),
            reason: left.reason.into(),
            stage: Some(left.stage),
            tokens: Some(tokens),
        });
    }
    for (unit, reason) in &selection.dropped {
        for row in &draft.units[*unit].rows {
            let row = &draft.rows[*row];
            stats.add_drop(DroppedItem {
                item_id: items[row.at].id.clone(),
                reason: (*reason).into(),
                stage: Some(Stage::Select),
                tokens: Some(row.quarters / 4),
            });
        }
    }
    stats
}

/// Returns the kinds dropped for the budget, and what the hooks are told.
pub fn events(draft: &Draft, selection: &Selection, stats: &BuildStats, frame: &Frame) -> (Vec<ItemKind>, Vec<Event>) {
    let mut events = Vec::new();
    let reasons = stats.dropped_reasons.iter().filter(|_| draft.sources.options.listens);
    for (reason, _) in reasons {
        let item_ids = stats
            .dropped_items
            .iter()
            .filter(|drop| drop.reason == reason.as_str())
            .map(|drop| drop.item_id.clone())
            .collect();
        events.push(Event::ItemsExcluded { item_ids, reason: reason.clone() });
    }
    let over: Vec<usize> =
        selection.dropped.iter().filter(|(_, reason)| *reason == "budget").map(|(unit, _)| *unit).collect();
    if !over.is_empty() {
        let wanted: u64 = over.iter().map(|unit| draft.units[*unit].quarters).sum::<u64>() / 4;
        let requested = stats.prompt_tokens() + wanted;
        events.push(Event::BudgetExceeded { requested, limit: frame.budget });
    }
    events.push(Event::ContextBuilt { phase: draft.request.phase.as_str().to_owned() });
    let mut kinds: Vec<ItemKind> = over
        .iter()
        .flat_map(|unit| &draft.units[*unit].rows)
        .map(|row| draft.sources.events.items()[draft.rows[*row].at].kind)
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

/// Returns the digests of results whose text is in the prompt.
pub fn envelopes(draft: &Draft, prompt: &Prompt) -> Vec<ResultEnvelope> {
    let known = draft.sources.envelopes;
    prompt
        .items
        .iter()
        .filter(|item| matches!(item.rendered_as, RenderedAs::Whole | RenderedAs::Excerpt))
        .filter_map(|item| known.get(&item.id).cloned())
        .collect()
}
