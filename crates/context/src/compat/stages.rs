//! The header and the selection of 0.18; its other stages are calls of functions that both modes share.

use crate::callbacks::CallbackAnswers;
use crate::frame::{episode_items, fact_item};
use crate::options::ManagerOptions;
use crate::sensitivity;
use crate::store::{EpisodicStore, FactStore};
use contextweaver_base::{Result, limits};
use contextweaver_model::{ContextItem, ContextPolicy, ItemKind};
use contextweaver_text::tokens::Estimator;
use std::fmt::Write as _;

/// Returns the header: memory sections, then the caller's text.
pub fn header(
    caller: &str,
    memory_allowed: bool,
    episodes: &EpisodicStore,
    facts: &FactStore,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> Result<String> {
    let mut sections = Vec::new();
    if memory_allowed {
        let recent = episode_items(episodes.latest(limits::HEADER_EPISODES));
        let (recent, _) = sensitivity::filter(recent, options, answers)?;
        if !recent.is_empty() {
            let lines = recent.iter().map(|item| format!("- {}", item.text)).collect::<Vec<_>>();
            sections.push(format!("[EPISODIC MEMORY]\n{}", lines.join("\n")));
        }
        let (known, _) = sensitivity::filter(facts.all().map(fact_item).collect(), options, answers)?;
        if !known.is_empty() {
            sections.push(fact_section(&known));
        }
    }
    if !caller.is_empty() {
        sections.push(caller.to_owned());
    }
    Ok(sections.join("\n\n"))
}

/// The list of facts stops at 64 facts, or at the first that takes it over 2,000 characters.
fn fact_section(facts: &[ContextItem]) -> String {
    let mut out = String::from("[FACTS]");
    let mut length = out.chars().count();
    for (index, fact) in facts.iter().enumerate() {
        if index >= limits::HEADER_FACTS {
            let _ = write!(out, "\n- ... ({} more facts omitted)", facts.len() - index);
            break;
        }
        let line = format!("- {}", fact.text);
        length += line.chars().count();
        if length > limits::HEADER_FACT_CHARS {
            out.push_str("\n- ... (facts truncated to fit header budget)");
            break;
        }
        out.push('\n');
        out.push_str(&line);
    }
    out
}

/// What was taken and what was not.
#[derive(Debug, Default)]
pub struct CompatSelection {
    /// Items in the order taken.
    pub selected: Vec<ContextItem>,
    /// Items and reasons in the order considered.
    pub dropped: Vec<(ContextItem, &'static str)>,
    /// Tokens per kind in order of first appearance.
    pub tokens_per_section: Vec<(ItemKind, u64)>,
    /// For each budget drop: tokens it would have led to, and the limit.
    pub overruns: Vec<(u64, u64)>,
}

/// Takes items in the order given until the limit; the kind's cap is tested first.
pub fn select(ordered: Vec<ContextItem>, limit: u64, policy: &ContextPolicy, estimator: &Estimator) -> CompatSelection {
    let mut out = CompatSelection::default();
    let mut counts = [0_u64; ItemKind::ALL.len()];
    let mut used = 0;
    for item in ordered {
        let cap = policy.cap_of(item.kind).unwrap_or(limits::REFERENCE_ITEMS_PER_KIND as u64);
        let count = &mut counts[item.kind.index()];
        if *count >= cap {
            out.dropped.push((item, "kind_limit"));
            continue;
        }
        let cost = if item.token_estimate > 0 { item.token_estimate } else { estimator.tokens(&item.text) };
        if used + cost > limit {
            out.overruns.push((used + cost, limit));
            out.dropped.push((item, "budget"));
            continue;
        }
        used += cost;
        *count += 1;
        match out.tokens_per_section.iter_mut().find(|(kind, _)| *kind == item.kind) {
            Some((_, sum)) => *sum += cost,
            None => out.tokens_per_section.push((item.kind, cost)),
        }
        out.selected.push(item);
    }
    out
}
