//! Selection by score, skipping what does not fit.

use contextweaver_base::limits;
use contextweaver_model::{ContextItem, ContextPolicy, ItemKind};
use contextweaver_text::tokens::Estimator;

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
