//! Which items say the same.
//!
//! Only exact repeats do. Version 0.18 for Python drops an item that shares most of its words with a better one, which
//! loses "not", single digits and everything that is not English.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use contextweaver_base::limits;
use contextweaver_model::{ContextItem, ItemKind};

/// Returns the exact repeats among visible positions, both ascending: same kind, parent, label and text. The newest one
/// stays. `fingerprints` are those of [`fingerprint`], by position.
pub fn exact_repeats(items: &[ContextItem], visible: &[usize], fingerprints: impl Fn(usize) -> u64) -> Vec<usize> {
    // Positions of kept items by fingerprint; items whose fingerprints meet by chance are compared.
    let mut newest: HashMap<u64, usize> = HashMap::new();
    let mut repeats = Vec::new();
    for &at in visible.iter().rev() {
        let print = fingerprints(at);
        if print == 0 {
            continue;
        }
        let kept = *newest.entry(print).or_insert(at);
        if kept != at && same(&items[kept], &items[at]) {
            repeats.push(at);
        }
    }
    repeats.reverse();
    repeats
}

/// Returns a number that repeats of an item share, 0 for an item that never counts as one.
///
/// Calls and results never count: two calls are two events even when they look the same. Neither do short turns.
pub fn fingerprint(item: &ContextItem) -> u64 {
    if !can_repeat(item) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (item.kind, item.sensitivity, item.parent_id.as_deref(), item.text.trim()).hash(&mut hasher);
    hasher.finish().max(1)
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
