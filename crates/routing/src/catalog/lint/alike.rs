//! Names and descriptions that are nearly the same, found by what they share rather than by comparing all.

use super::super::finding::CatalogFinding;
use contextweaver_base::order::{self, SortedMap};
use contextweaver_model::SelectableItem;
use contextweaver_text::hash::of_text;
use contextweaver_text::tokenize::token_set;

/// Names shorter or longer than this are not near each other.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 6..=64;
/// Tools compared with one for sharing a sign.
const MAX_COMPARED: usize = 8;
/// Fewest words of a description to compare.
const MIN_WORDS: usize = 4;
/// Shared words per hundred from which two descriptions say the same.
const SAME_PERCENT: usize = 90;

/// Names with one sign are compared, so it need not be hard to forge.
fn sign(chars: impl Iterator<Item = char>) -> u64 {
    of_text(&chars.collect::<String>())
}

/// Finds names that differ in one character, or in case and joints; numbers make no name near.
///
/// Two such names are the same, or become it when each loses at most one character.
pub(super) fn names(items: &[&SelectableItem], found: &mut Vec<CatalogFinding>) {
    let bare: Vec<Vec<char>> = items
        .iter()
        .map(|item| item.name.to_lowercase().chars().filter(|ch| !matches!(ch, '_' | '-' | '.' | '/')).collect())
        .collect();
    let mut signs: Vec<(u64, usize)> = Vec::new();
    for (place, name) in bare.iter().enumerate().filter(|(_, name)| NAME_CHARS.contains(&name.len())) {
        signs.push((sign(name.iter().copied()), place));
        for gone in 0..name.len() {
            signs.push((sign(name.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, ch)| *ch)), place));
        }
    }
    order::sort_distinct(&mut signs);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for group in signs.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, second)) in group.iter().enumerate() {
            let firsts = group[..at].iter().rev().take(MAX_COMPARED);
            pairs.extend(firsts.map(|(_, first)| (*second, *first)));
        }
    }
    order::sort_distinct(&mut pairs);
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let near = |(second, first): &&(usize, usize)| {
            items[*first].name != items[*second].name && is_near(&bare[*first], &bare[*second])
        };
        if let Some((second, first)) = group.iter().find(near) {
            let (first, second) = (items[*first], items[*second]);
            let evidence = format!("{} / {} of {}", second.name, first.name, first.id);
            found.push(CatalogFinding::new("name-near", &second.id, "/name").evidence(&evidence));
        }
    }
}

/// Tells whether two names are the same or differ in one character that is no digit.
fn is_near(first: &[char], second: &[char]) -> bool {
    let shared = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let (first, second) = (&first[shared..], &second[shared..]);
    let changed = [first.first(), second.first()];
    if changed.into_iter().flatten().any(|ch| ch.is_numeric()) {
        return false;
    }
    match (first, second) {
        ([], []) => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) if a == b => true,
        (a, [_, b @ ..]) => a == b,
        _ => false,
    }
}

/// Finds descriptions that share nine words of ten.
///
/// Two such descriptions share one of the rarest words of each; only tools with the same rare word are compared.
pub(super) fn descriptions(items: &[&SelectableItem], found: &mut Vec<CatalogFinding>) {
    // How often each word occurs, and the tools that have it among their rarest.
    let mut words: SortedMap<String, (u32, Vec<usize>)> = SortedMap::new();
    let sets: Vec<Vec<String>> = items.iter().map(|item| token_set(&item.description).words().to_vec()).collect();
    for word in sets.iter().flatten() {
        words.get_or_insert(word, (0, Vec::new())).0 += 1;
    }
    for (place, set) in sets.iter().enumerate().filter(|(_, set)| set.len() >= MIN_WORDS) {
        let mut rare: Vec<(u32, &String)> =
            set.iter().map(|word| (words.get(word).map_or(0, |(count, _)| *count), word)).collect();
        order::sort(&mut rare);
        let signs = set.len() - (set.len() * SAME_PERCENT).div_ceil(100) + 1;
        let mut same = None;
        for (_, word) in rare.into_iter().take(signs) {
            let Some((_, list)) = words.get_mut(word) else { continue };
            same = same
                .or_else(|| list.iter().rev().take(MAX_COMPARED).find(|other| is_same(set, &sets[**other])).copied());
            list.push(place);
        }
        if let Some(other) = same {
            let evidence = format!("as {}: {}", items[other].id, items[other].description);
            found.push(CatalogFinding::new("description-near", &items[place].id, "/description").evidence(&evidence));
        }
    }
}

fn is_same(first: &[String], second: &[String]) -> bool {
    let shared = first.iter().filter(|word| second.binary_search(word).is_ok()).count();
    shared * 100 >= (first.len() + second.len() - shared) * SAME_PERCENT
}
