//! Which items say the same.
//!
//! Only exact repeats do. Version 0.18 for Python drops an item that shares most of its words with a better one, which
//! loses "not", single digits and everything that is not English.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use contextweaver_base::order::sort;
use contextweaver_convert::providers::has_more_than_text;
use contextweaver_model::{ContextItem, ItemKind};

/// Characters from which on two turns with the same words are repeats: `yes` answers many questions.
pub const LEAST_TURN_CHARS: usize = 16;

/// Returns the exact repeats among visible positions, ascending, each with the one that stands for it: same kind, parent, label and
/// text. The newest stands for the others, of instructions the first, as some providers take those at the beginning alone.
/// `fingerprints` are those of [`fingerprint`], by position.
pub fn exact_repeats(
    items: &[ContextItem],
    visible: impl DoubleEndedIterator<Item = usize>,
    fingerprints: impl Fn(usize) -> u64,
) -> Vec<(usize, usize)> {
    // Positions of kept items by fingerprint; items whose fingerprints meet by chance are compared.
    let mut stand: HashMap<u64, usize> = HashMap::new();
    let mut repeats = Vec::new();
    for at in visible.rev() {
        let print = fingerprints(at);
        if print == 0 {
            continue;
        }
        let kept = stand.entry(print).or_insert(at);
        if *kept == at || !same(&items[*kept], &items[at]) {
            continue;
        }
        if items[at].kind == ItemKind::Policy {
            repeats.push((std::mem::replace(kept, at), at));
        } else {
            repeats.push((at, *kept));
        }
    }
    sort(&mut repeats);
    repeats
}

/// Returns a number that repeats of an item share, 0 for an item that never counts as one.
///
/// Calls and results never count: two of them are two events even when they look the same. Nor does an item with more than its
/// text, such as an image: equal labels may stand for other bytes.
pub fn fingerprint(item: &ContextItem) -> u64 {
    if !can_repeat(item) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (item.kind, item.sensitivity, item.parent_id.as_deref(), item.text.trim()).hash(&mut hasher);
    hasher.finish().max(1)
}

fn can_repeat(item: &ContextItem) -> bool {
    let least = match item.kind {
        ItemKind::ToolCall | ItemKind::ToolResult => return false,
        kind if kind.is_turn() => LEAST_TURN_CHARS,
        _ => 1,
    };
    item.text.trim().chars().nth(least - 1).is_some() && !has_more_than_text(item)
}

/// Tells whether two items are exact repeats.
pub fn is_repeat(a: &ContextItem, b: &ContextItem) -> bool {
    can_repeat(a) && can_repeat(b) && same(a, b)
}

fn same(a: &ContextItem, b: &ContextItem) -> bool {
    a.kind == b.kind && a.parent_id == b.parent_id && a.sensitivity == b.sensitivity && a.text.trim() == b.text.trim()
}
