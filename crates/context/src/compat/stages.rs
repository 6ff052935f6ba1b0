//! The stages of 0.18, and of those that both modes share what recorded cases compare.

use std::fmt::Write as _;

pub use crate::compile::candidates::candidates;
pub use crate::compile::score::compat::{CompatQuery, score_item};
pub use crate::labels::SEPARATOR;
pub use crate::sensitivity::{detect_level, filter, mask, mask_item_secrets};

use crate::callbacks::CallbackAnswers;
use crate::compile::frame::{episode_items, fact_item};
use crate::labels::{body, join_sections};
use crate::options::ManagerOptions;
use crate::store::{EpisodicStore, EventLog, FactStore};
use contextweaver_base::order::{WordSet, sort_by};
use contextweaver_base::{Result, limits};
use contextweaver_model::{CompatWeights, ContextItem, ContextPolicy, ItemKind};
use contextweaver_text::similarity::{FirstFit, number_words};
use contextweaver_text::tokenize::token_set;
use contextweaver_text::unicode;

/// Adds every ancestor of the candidates, as 0.18 does, whatever its kind. Returns positions in log order and
/// how many were added.
pub fn ancestors(log: &EventLog, candidates: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut present = vec![false; log.len()];
    for at in candidates {
        present[*at] = true;
    }
    let mut added = Vec::new();
    for &start in candidates {
        let mut at = start;
        while let Some(parent) = log.items()[at].parent_id.as_deref().and_then(|id| log.position(id)) {
            if std::mem::replace(&mut present[parent], true) {
                break;
            }
            added.push(parent);
            at = parent;
        }
    }
    let closed = (0..present.len()).filter(|at| present[*at]).collect();
    (closed, added)
}

/// Scores a list and orders it: score descending, then id.
pub fn score_all<'a>(
    items: &'a [ContextItem],
    wanted: &CompatQuery,
    weights: &CompatWeights,
) -> Vec<(f64, &'a ContextItem)> {
    let total = items.len();
    let mut scored: Vec<(f64, &ContextItem)> = items
        .iter()
        .enumerate()
        .map(|(position, item)| (score_item(item, wanted, position, total, weights), item))
        .collect();
    sort_by(&mut scored, |a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    scored
}

/// Tells which of the texts, taken in order, are near-duplicates of an earlier kept one: Jaccard similarity of the
/// tokens of 0.18 at or above the threshold. Decides exactly as comparing every pair would, in near-linear time.
pub fn near_duplicates(texts: &[&str], threshold: f64) -> Vec<bool> {
    let sets: Vec<WordSet> = texts.iter().map(|text| token_set(text)).collect();
    let mut kept = FirstFit::new(threshold);
    let duplicate = |set: Vec<u32>| {
        let found = kept.find(&set, &|_| true).is_some();
        if !found {
            kept.push(set);
        }
        found
    };
    number_words(&sets).into_iter().map(duplicate).collect()
}

/// Returns the header: memory sections, then the caller's text.
pub(super) fn header(
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
        let (recent, _) = filter(recent, options, answers)?;
        if !recent.is_empty() {
            let lines = recent.iter().map(|item| format!("- {}", item.text)).collect::<Vec<_>>();
            sections.push(format!("[EPISODIC MEMORY]\n{}", lines.join("\n")));
        }
        let (known, _) = filter(facts.all().map(fact_item).collect(), options, answers)?;
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

/// Takes items in the order given until the limit; the kind's cap is tested first. `tokens` counts those that have no
/// estimate.
pub fn select(
    ordered: Vec<ContextItem>,
    limit: u64,
    policy: &ContextPolicy,
    tokens: impl Fn(&str) -> u64,
) -> CompatSelection {
    let mut out = CompatSelection::default();
    let mut counts = [0_u64; ItemKind::ALL.len()];
    let mut used = 0;
    for item in ordered {
        // Counted even where the cap decides, so that a function of the caller is asked about all items at once.
        let cost = if item.token_estimate > 0 { item.token_estimate } else { tokens(&item.text) };
        let cap = policy.cap_of(item.kind).unwrap_or(limits::COMPAT_ITEMS_PER_KIND as u64);
        let count = &mut counts[item.kind.index()];
        if *count >= cap {
            out.dropped.push((item, "kind_limit"));
            continue;
        }
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

/// Renders an item as 0.18 does: label line, then body.
pub fn compat_item(item: &ContextItem) -> String {
    let section = item.metadata.get("section").and_then(serde_json::Value::as_str).map(unicode::trim);
    let label = section.filter(|text| !text.is_empty()).unwrap_or_else(|| item.kind.label());
    let mut out = String::with_capacity(item.text.len() + 32);
    out.push('[');
    out.push_str(label);
    if let Some(artifact) = &item.artifact_ref {
        let prefix = if artifact.handle.starts_with("artifact:") { "" } else { "artifact:" };
        let _ = write!(out, " [{prefix}{}]", artifact.handle);
    }
    out.push_str("]\n");
    out.push_str(&body(item, item.metadata_str("function_name"), &item.text));
    out
}

/// Renders items as 0.18 does, with header and footer.
pub fn compat_prompt(items: &[ContextItem], separator: &str, header: &str, footer: &str) -> String {
    let body = items.iter().map(compat_item).collect::<Vec<_>>().join(separator);
    join_sections(&[header, &body, footer], separator)
}

/// Joins the texts of items without any label.
pub fn passthrough(items: &[ContextItem]) -> String {
    items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_duplicates_decide_as_the_exact_method() {
        let words = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta"];
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for round in 0..300 {
            let texts: Vec<String> =
                (0..40).map(|_| (0..next(8)).map(|_| words[next(8) as usize]).collect::<Vec<_>>().join(" ")).collect();
            let threshold = [0.0, 0.2, 0.5, 0.6, 0.85, 1.0][round % 6];
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            assert_eq!(near_duplicates(&texts, threshold), exact(&texts, threshold), "threshold {threshold}");
        }
    }

    fn exact(texts: &[&str], threshold: f64) -> Vec<bool> {
        let mut kept: Vec<WordSet> = Vec::new();
        texts
            .iter()
            .map(|text| {
                let set = token_set(text);
                let hit = kept.iter().any(|other| contextweaver_text::similarity::jaccard(&set, other) >= threshold);
                if !hit {
                    kept.push(set);
                }
                hit
            })
            .collect()
    }
}
