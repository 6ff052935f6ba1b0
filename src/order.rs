//! Sorting and sets of words, once for the whole crate.
//!
//! Every `sort_by` of the standard library is compiled anew for its element type, some ten kilobytes each; a WebAssembly
//! module notices. Here one sort over positions serves all.

use std::cmp::Ordering;

/// Sorts a list, equal elements in their order.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = positions(list.len(), &|a, b| compare(&list[a as usize], &list[b as usize]));
    rearrange(list, order);
}

/// Sorts a list by its own order.
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, Ord::cmp);
}

/// Sorts a list and leaves each element once.
pub fn sort_distinct<T: Ord>(list: &mut Vec<T>) {
    sort(list);
    list.dedup();
}

/// Returns the positions of a list in sorted order. Positions break ties, so the order is stable.
fn positions(len: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    order.sort_unstable_by(|a, b| compare(*a, *b).then(a.cmp(b)));
    order
}

/// Moves `list[order[i]]` to `i` for every `i`, cycle by cycle.
fn rearrange<T>(list: &mut [T], mut order: Vec<u32>) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at as u32) as usize;
            if from == start || from == at {
                break;
            }
            list.swap(at, from);
            at = from;
        }
    }
}

/// Distinct words, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordSet(Vec<String>);

impl WordSet {
    /// Makes a set of words in any order.
    pub fn new(mut words: Vec<String>) -> Self {
        sort_distinct(&mut words);
        Self(words)
    }

    /// Returns the words, sorted.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// Tells whether the set has no word.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether a word is in the set.
    pub fn contains(&self, word: &str) -> bool {
        self.0.binary_search_by(|known| known.as_str().cmp(word)).is_ok()
    }

    /// Counts the words in both sets.
    pub fn shared(&self, other: &Self) -> usize {
        self.0.iter().filter(|word| other.contains(word)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_agrees_with_the_standard_library() {
        let mut state = 1_u64;
        for len in 0..200 {
            let mut list: Vec<(u64, usize)> = (0..len)
                .map(|place| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 33) % 17, place)
                })
                .collect();
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_by(&mut list, |a, b| a.0.cmp(&b.0));
            assert_eq!(list, expected);
        }
    }

    #[test]
    fn sets_hold_each_word_once() {
        let set = |text: &str| WordSet::new(text.split(' ').map(str::to_owned).collect());
        assert_eq!(set("b a b").words(), ["a", "b"]);
        assert_eq!(set("a b c").shared(&set("c d a")), 2);
        assert!(set("x").contains("x") && !set("x").contains("y"));
    }
}
