//! The few that are shown of all that were ranked.

use contextweaver_base::order::{SortedMap, WordSet};

/// A tool with its score and its path in the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedCandidate {
    /// Id of the tool.
    pub id: String,
    /// Its score; scores of different queries do not compare.
    pub score: f64,
    /// Node ids from below the root to the tool itself.
    pub path: Vec<String>,
}

/// How many are shown, and of which namespace.
#[derive(Debug, Clone, Copy)]
pub struct ShortlistLimits<'a> {
    /// Most tools in the short list, pinned ones included.
    pub top_k: usize,
    /// Tools that are shown whatever their score.
    pub pinned: &'a WordSet,
    /// Tools of one namespace, pinned ones not counted.
    pub namespace_quota: Option<usize>,
}

/// Puts the short list together: pinned tools in ranked order, then pinned ones without a rank in the order of their
/// ids, then the best of the rest. More pins than places stay. `namespace` returns that of an active tool.
pub fn shortlist<'a>(
    ranked: &[RankedCandidate],
    places: ShortlistLimits<'_>,
    namespace: &dyn Fn(&str) -> Option<&'a str>,
) -> Vec<RankedCandidate> {
    if places.pinned.is_empty() && places.namespace_quota.is_none() {
        return ranked[..ranked.len().min(places.top_k)].to_vec();
    }
    let is_pinned = |id: &str| places.pinned.contains(id);
    let mut list: Vec<RankedCandidate> = ranked.iter().filter(|candidate| is_pinned(&candidate.id)).cloned().collect();
    let ranked_pins = WordSet::new(list.iter().map(|candidate| candidate.id.clone()).collect());
    for id in places.pinned.words() {
        if !ranked_pins.contains(id) && namespace(id).is_some() {
            list.push(RankedCandidate { id: id.clone(), score: 0.0, path: Vec::new() });
        }
    }
    let mut taken: SortedMap<&str, usize> = SortedMap::new();
    for candidate in ranked.iter().filter(|candidate| !is_pinned(&candidate.id)) {
        if list.len() >= places.top_k {
            break;
        }
        if let Some(quota) = places.namespace_quota {
            let count = taken.get_or_insert(&namespace(&candidate.id).unwrap_or_default(), 0);
            if *count >= quota {
                continue;
            }
            *count += 1;
        }
        list.push(candidate.clone());
    }
    list
}
