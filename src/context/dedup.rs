//! Stage 6: repeats.
//!
//! The reference drops an item that shares most of its words with a better one, which loses "not", single digits and
//! everything that is not English. The default only drops exact repeats.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits;
use crate::model::{ContextItem, ItemKind};
use crate::text::tokenize::token_set;

/// Finds exact repeats among visible positions (ascending): same kind, parent, label and text. The newest one stays.
///
/// Calls and results never count: two calls are two events even when they look the same. Neither do short turns.
pub fn exact_repeats(items: &[ContextItem], visible: &[usize], exempt: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut newest: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut repeats = Vec::new();
    for &at in visible.iter().rev() {
        let item = &items[at];
        if exempt(at) || !can_repeat(item) {
            continue;
        }
        let kept = newest.entry(fingerprint(item)).or_default();
        if kept.iter().any(|&other| same(&items[other], item)) {
            repeats.push(at);
        } else {
            kept.push(at);
        }
    }
    repeats.reverse();
    repeats
}

fn can_repeat(item: &ContextItem) -> bool {
    match item.kind {
        ItemKind::ToolCall | ItemKind::ToolResult => false,
        ItemKind::UserTurn | ItemKind::AgentMsg => {
            item.text.trim().chars().nth(limits::DEDUP_MIN_TURN_CHARS - 1).is_some()
        }
        _ => !item.text.trim().is_empty(),
    }
}

fn same(a: &ContextItem, b: &ContextItem) -> bool {
    a.kind == b.kind && a.parent_id == b.parent_id && a.sensitivity == b.sensitivity && a.text.trim() == b.text.trim()
}

fn fingerprint(item: &ContextItem) -> u64 {
    let mut hasher = DefaultHasher::new();
    (item.kind, item.parent_id.as_deref(), item.text.trim()).hash(&mut hasher);
    hasher.finish()
}

/// Tells which of the texts, taken in order, are near-duplicates of an earlier kept one: Jaccard similarity of the
/// reference's tokens at or above the threshold.
///
/// Decides exactly as comparing every pair would, in near-linear time: two sets that similar must share one of their
/// rarest tokens (prefix filtering, Chaudhuri et al. 2006), so only those are looked up, and sizes bound the rest.
pub fn near_duplicates(texts: &[&str], threshold: f64) -> Vec<bool> {
    if threshold <= 0.0 {
        return (0..texts.len()).map(|index| index > 0).collect();
    }
    let sets = rank_tokens(texts);
    let mut by_token: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut compared = vec![usize::MAX; texts.len()];
    let mut duplicate = vec![false; texts.len()];
    for (index, set) in sets.iter().enumerate() {
        let prefix = &set[..prefix_len(set.len(), threshold)];
        let found = prefix.iter().flat_map(|token| by_token.get(token).into_iter().flatten()).any(|&other| {
            if std::mem::replace(&mut compared[other], index) == index {
                return false;
            }
            let (small, large) = (set.len().min(sets[other].len()), set.len().max(sets[other].len()));
            small as f64 / large as f64 >= threshold && similarity(set, &sets[other]) >= threshold
        });
        if found {
            duplicate[index] = true;
        } else {
            for token in prefix {
                by_token.entry(*token).or_default().push(index);
            }
        }
    }
    duplicate
}

/// Turns each text into its tokens' ranks, rarest first.
fn rank_tokens(texts: &[&str]) -> Vec<Vec<u32>> {
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut sets: Vec<Vec<u32>> = Vec::with_capacity(texts.len());
    for text in texts {
        let set = token_set(text).into_iter().map(|token| {
            let fresh = ids.len() as u32;
            let id = *ids.entry(token).or_insert(fresh);
            if id == fresh {
                counts.push(0);
            }
            counts[id as usize] += 1;
            id
        });
        sets.push(set.collect());
    }
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_by_key(|id| (counts[*id as usize], *id));
    let mut rank = vec![0_u32; order.len()];
    for (position, id) in order.iter().enumerate() {
        rank[*id as usize] = position as u32;
    }
    for set in &mut sets {
        for id in set.iter_mut() {
            *id = rank[*id as usize];
        }
        set.sort_unstable();
    }
    sets
}

fn prefix_len(size: usize, threshold: f64) -> usize {
    // A hair less than the exact bound: rounding may only lengthen the prefix, never lose a pair.
    let needed = (threshold * size as f64 - 1e-9).ceil().max(0.0) as usize;
    if size == 0 { 0 } else { (size + 1).saturating_sub(needed).min(size) }
}

fn similarity(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    shared as f64 / (a.len() + b.len() - shared) as f64
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
        let mut kept: Vec<std::collections::BTreeSet<String>> = Vec::new();
        texts
            .iter()
            .map(|text| {
                let set = token_set(text);
                let hit = kept.iter().any(|other| crate::text::similarity::jaccard(&set, other) >= threshold);
                if !hit {
                    kept.push(set);
                }
                hit
            })
            .collect()
    }
}
