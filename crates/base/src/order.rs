//! Sorting, sets of words and sorted maps, compiled once for the whole workspace.
//!
//! Every `sort_by` of the standard library is compiled anew for its element type, some ten kilobytes each; a WebAssembly
//! module notices. Here one sort over positions serves all.

use std::borrow::Borrow;
use std::cmp::Ordering;

use serde::{Serialize, Serializer};

/// Sorts a list, equal elements in their order.
///
/// ```
/// use contextweaver_base::order::sort_by;
///
/// let mut list = ["bb", "a", "cc", "d"];
/// sort_by(&mut list, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(list, ["a", "d", "bb", "cc"]);
/// ```
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
///
/// ```
/// use contextweaver_base::order::WordSet;
///
/// let set = WordSet::new(["b", "a", "b"].map(str::to_owned).to_vec());
/// assert_eq!(set.words(), ["a", "b"]);
/// assert!(set.contains("b"));
/// ```
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

/// Entries of one chunk of a [`SortedMap`].
const CHUNK: usize = 256;

/// A map in the order of its keys: sorted chunks in a sorted list.
///
/// The standard library's is compiled anew for every pair of types, ten kilobytes each; this one takes one. A search
/// takes logarithmic time, an insertion or a removal moves at most a chunk and the list of chunks.
///
/// ```
/// use contextweaver_base::order::SortedMap;
///
/// let mut map = SortedMap::new();
/// map.insert("b".to_owned(), 2);
/// map.insert("a".to_owned(), 1);
/// assert_eq!(map.get("b"), Some(&2));
/// assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "b"]);
/// ```
#[derive(Debug, Clone)]
pub struct SortedMap<K, V> {
    chunks: Vec<Vec<(K, V)>>,
    len: usize,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the chunk a key belongs to and its place there, or the place where it would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> (usize, std::result::Result<usize, usize>)
    where
        K: Borrow<Q>,
    {
        let after = self.chunks.partition_point(|chunk| chunk.first().is_some_and(|(first, _)| first.borrow() <= key));
        let chunk = after.saturating_sub(1);
        let found =
            self.chunks.get(chunk).map_or(Err(0), |chunk| chunk.binary_search_by(|(known, _)| known.borrow().cmp(key)));
        (chunk, found)
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (chunk, place) = self.place(key);
        place.ok().map(|place| &self.chunks[chunk][place].1)
    }

    /// Returns the value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (chunk, place) = self.place(key);
        place.ok().map(|place| &mut self.chunks[chunk][place].1)
    }

    /// Tells whether a key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).1.is_ok()
    }

    /// Sets the value of a key; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let (chunk, place) = self.place(&key);
        match place {
            Ok(place) => Some(std::mem::replace(&mut self.chunks[chunk][place].1, value)),
            Err(place) => {
                if self.chunks.is_empty() {
                    self.chunks.push(Vec::new());
                }
                self.len += 1;
                let full = &mut self.chunks[chunk];
                full.insert(place, (key, value));
                if full.len() > CHUNK {
                    let rest = full.split_off(CHUNK / 2);
                    self.chunks.insert(chunk + 1, rest);
                }
                None
            }
        }
    }

    /// Returns the value of a key, which becomes `value` if it has none.
    pub fn get_or_insert(&mut self, key: &K, value: V) -> &mut V
    where
        K: Clone,
    {
        if !self.contains_key(key) {
            self.insert(key.clone(), value);
        }
        let (chunk, place) = self.place(key);
        &mut self.chunks[chunk][place.unwrap_or_else(|place| place)].1
    }

    fn take(&mut self, chunk: usize, place: usize) -> (K, V) {
        self.len -= 1;
        let entry = self.chunks[chunk].remove(place);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        }
        entry
    }

    /// Removes a key; returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (chunk, place) = self.place(key);
        place.ok().map(|place| self.take(chunk, place).1)
    }

    /// Returns the first entry.
    pub fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Removes the first entry.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (self.len > 0).then(|| self.take(0, 0))
    }

    /// Returns the entries in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.chunks.iter().flatten().map(|(key, value)| (key, value))
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries in the order of their keys.
    pub fn into_entries(self) -> impl Iterator<Item = (K, V)> {
        self.chunks.into_iter().flatten()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<K: Ord + Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_map(self.iter())
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
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
    fn sorted_maps_agree_with_the_standard_library() {
        let (mut ours, mut theirs) = (SortedMap::new(), std::collections::BTreeMap::new());
        let mut state = 1_u64;
        for step in 0..20_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (state >> 33) % 3000;
            match (state >> 20) % 8 {
                0 => assert_eq!(ours.pop_first(), theirs.pop_first()),
                1 | 2 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
                3 => assert_eq!(ours.get_mut(&key).map(std::mem::take), theirs.get_mut(&key).map(std::mem::take)),
                _ => assert_eq!(ours.insert(key, step), theirs.insert(key, step)),
            }
            assert_eq!(
                (ours.len(), ours.get(&key), ours.first()),
                (theirs.len(), theirs.get(&key), theirs.first_key_value())
            );
        }
        assert!(ours.len() > 1000 && ours.iter().eq(theirs.iter()));
        assert!(ours.into_entries().eq(theirs));
    }

    #[test]
    fn sets_hold_each_word_once() {
        let set = |text: &str| WordSet::new(text.split(' ').map(str::to_owned).collect());
        assert_eq!(set("b a b").words(), ["a", "b"]);
        assert_eq!(set("a b c").shared(&set("c d a")), 2);
        assert!(set("x").contains("x") && !set("x").contains("y"));
    }
}
