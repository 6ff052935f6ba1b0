//! What stands around the items: above them remembered episodes and facts and the caller's header, below them the
//! caller's footer; and what that leaves the items of the token budget.

use crate::callbacks::CallbackAnswers;
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{PromptSection, SectionKind};
use crate::compile::render::renderer::Renderer;
use crate::labels::join_sections;
use crate::options::ManagerOptions;
use crate::request::BuildRequest;
use crate::sensitivity;
use crate::store::{EpisodicStore, FactStore};
use contextweaver_base::limits;
use contextweaver_base::order::{WordSet, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, DropReason, Episode, Fact, ItemKind, Sensitivity};
use contextweaver_text::terms::for_each_term;

/// Header and footer of a prompt, weighed.
#[derive(Debug)]
pub struct PromptFrame {
    /// Memory sections and the caller's header.
    pub sections: Vec<PromptSection>,
    /// The sections as one text.
    pub header: String,
    /// The caller's footer.
    pub footer: String,
    /// Their cost with what the renderer puts around them, in quarter tokens.
    pub quarters: u64,
    /// Tokens the whole prompt may have.
    pub budget: u64,
}

impl PromptFrame {
    /// Weighs header and footer against the budget.
    pub fn new(
        sections: Vec<PromptSection>,
        footer: String,
        sources: &BuildInputs,
        request: &BuildRequest,
        renderer: &dyn Renderer,
    ) -> Self {
        let texts: Vec<&str> = sections.iter().map(|section| section.text.as_str()).collect();
        let header = join_sections(&texts, crate::labels::SEPARATOR);
        let quarters = renderer.frame_quarters(sources, &header, &footer);
        let budget = request.budget_tokens.unwrap_or_else(|| sources.options.budget.of(request.phase));
        Self { sections, header, footer, quarters, budget }
    }

    /// Returns the quarter tokens left for items; an oversized header is an error.
    pub fn limit(&self) -> Result<u64> {
        // A token is only charged when full, and the last section needs no separator after it.
        let available = 4 * self.budget + 3 + crate::compile::render::text::SEPARATOR_QUARTERS;
        available.checked_sub(self.quarters).ok_or_else(|| {
            let over = (self.quarters - available).div_ceil(4);
            Error::new(ErrorCode::BudgetExceeded, format!("header and footer exceed the budget by {over} tokens"))
                .hint("shorten them or raise the budget")
                .detail("over_by", over)
                .detail("limit", self.budget)
        })
    }
}

fn memory_item(id: String, text: String, sensitivity: Sensitivity) -> ContextItem {
    ContextItem { sensitivity, ..ContextItem::new(id, ItemKind::MemoryFact, text) }
}

pub fn episode_items<'a>(episodes: impl Iterator<Item = &'a Episode>) -> Vec<ContextItem> {
    episodes
        .map(|episode| {
            memory_item(format!("episode:{}", episode.episode_id), episode.summary.clone(), episode.sensitivity)
        })
        .collect()
}

/// Returns a fact as an item.
pub fn fact_item(fact: &Fact) -> ContextItem {
    memory_item(fact.fact_id.clone(), format!("{}: {}", fact.key, fact.value), fact.sensitivity)
}

/// The header of the default mode.
pub struct PromptHeader {
    /// The sections, none when there is nothing to say.
    pub sections: Vec<PromptSection>,
    /// Episodes and facts that the policy kept out, or that had no room: id and reason.
    pub dropped: Vec<(String, DropReason)>,
}

/// Returns the header of the default mode. Facts that share words with the query come first; one that is too long is
/// cut and marked, one that has no room is skipped, and every one left out is reported.
pub fn ranked_header(
    caller: &str,
    query: &str,
    memory_allowed: bool,
    episodes: &EpisodicStore,
    facts: &FactStore,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> Result<PromptHeader> {
    let mut header = PromptHeader { sections: Vec::new(), dropped: Vec::new() };
    let mut add = |kind, text| header.sections.push(PromptSection { kind, text });
    if memory_allowed {
        let recent = episode_items(episodes.latest(limits::HEADER_EPISODES));
        let recent = admitted(recent, options, answers, &mut header.dropped)?;
        let lines: Vec<String> = recent.iter().map(|item| memory_line(item, options)).collect();
        if !lines.is_empty() {
            add(SectionKind::Episodes, format!("[EPISODIC MEMORY]\n{}", lines.join("\n")));
        }
        let known = admitted(facts.all().map(fact_item).collect(), options, answers, &mut header.dropped)?;
        let lines = fact_lines(known, query, options, &mut header.dropped);
        if !lines.is_empty() {
            add(SectionKind::Facts, format!("[FACTS]\n{}", lines.join("\n")));
        }
    }
    if !caller.is_empty() {
        add(SectionKind::Caller, options.mask_secrets(caller).into_owned());
    }
    Ok(header)
}

fn admitted(
    items: Vec<ContextItem>,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
    dropped: &mut Vec<(String, DropReason)>,
) -> Result<Vec<ContextItem>> {
    let (kept, out) = sensitivity::filter(items, options, answers)?;
    dropped.extend(out.into_iter().map(|item| (item.id, DropReason::Sensitivity)));
    Ok(kept)
}

/// One line: secrets masked, line breaks flattened, so that a value cannot open a section of its own.
fn memory_line(item: &ContextItem, options: &ManagerOptions) -> String {
    let clean = options.mask_secrets(&item.text);
    let clean = crate::labels::contained(&clean);
    let flat = crate::labels::flatten(&clean);
    format!("- {}", contextweaver_text::unicode::truncate(&flat, limits::HEADER_LINE_CHARS))
}

fn fact_lines(
    facts: Vec<ContextItem>,
    query: &str,
    options: &ManagerOptions,
    dropped: &mut Vec<(String, DropReason)>,
) -> Vec<String> {
    let terms = |text: &str| {
        let mut found = Vec::new();
        for_each_term(text, |term| found.push(term.to_owned()));
        WordSet::new(found)
    };
    let wanted = terms(query);
    let mut ranked: Vec<(usize, ContextItem)> =
        facts.into_iter().map(|fact| (terms(&fact.text).shared(&wanted), fact)).collect();
    // Stable: facts that match equally stay in id order.
    sort_by(&mut ranked, |a, b| b.0.cmp(&a.0));
    let mut lines = Vec::new();
    let mut length = 0;
    for (_, fact) in ranked {
        let line = memory_line(&fact, options);
        let chars = line.chars().count() + 1;
        if lines.len() < limits::HEADER_FACTS && length + chars <= limits::HEADER_FACT_CHARS {
            length += chars;
            lines.push(line);
        } else {
            dropped.push((fact.id, DropReason::Budget));
        }
    }
    lines
}
