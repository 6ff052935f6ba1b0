//! Which messages of a conversation are those that were read before.

use contextweaver_base::order::{SortedMap, sort};

/// What a message is known by: a hash of 128 bits over its content.
pub type Fingerprint = [u64; 2];

/// What became of the messages that were read before.
#[derive(Debug, PartialEq, Eq)]
pub struct Alignment {
    /// How many of the first ones are only left out at the front.
    pub trimmed: usize,
    /// For each message now, the one before that it is.
    pub earlier: Vec<Option<usize>>,
}

/// Finds the messages of `now` among those of `before`, in order.
///
/// A conversation that goes on has all of them at its beginning; one that was trimmed begins with a later one. What is
/// left between a common beginning and a common end is matched by those that occur once in each, in a longest common
/// order. `may_be_trimmed` says whether the beginning is that of the conversation. `O(n log n)`.
pub fn align(before: &[Fingerprint], now: &[Fingerprint], may_be_trimmed: bool) -> Alignment {
    let trimmed = if may_be_trimmed { beginning(before, now) } else { 0 };
    let cut = align_from(trimmed, before, now);
    if trimmed == 0 {
        return cut;
    }
    // A message that was said before may stand in front now as a new one: then more of the others stay where nothing is cut.
    let whole = align_from(0, before, now);
    let begins_alike = usize::from(before.first() == now.first());
    if whole.kept() + begins_alike > cut.kept() { whole } else { cut }
}

impl Alignment {
    fn kept(&self) -> usize {
        self.earlier.iter().flatten().count()
    }
}

/// Finds the messages of `now` among those of `before` from an index on.
fn align_from(trimmed: usize, before: &[Fingerprint], now: &[Fingerprint]) -> Alignment {
    let mut earlier = vec![None; now.len()];
    let same = |(a, b): &(&Fingerprint, &Fingerprint)| a == b;
    let start = before[trimmed..].iter().zip(now).take_while(same).count();
    for (index, found) in earlier.iter_mut().enumerate().take(start) {
        *found = Some(trimmed + index);
    }
    let from = trimmed + start;
    let end = before[from..].iter().rev().zip(now[start..].iter().rev()).take_while(same).count();
    for index in 0..end {
        earlier[now.len() - 1 - index] = Some(before.len() - 1 - index);
    }
    let (old, new) = (&before[from..before.len() - end], &now[start..now.len() - end]);
    for (at, to) in common(old, new) {
        earlier[start + to] = Some(from + at);
    }
    Alignment { trimmed, earlier }
}

/// Returns where in `before` the messages of now begin: where most of them follow, and first of all at the beginning.
fn beginning(before: &[Fingerprint], now: &[Fingerprint]) -> usize {
    let Some(first) = now.first() else { return 0 };
    // A message that is said again and again could make each of its places a long comparison.
    let mut steps = 8 * (before.len() + now.len());
    let (mut best, mut longest) = (0, 0);
    for from in (0..before.len()).filter(|at| before[*at] == *first) {
        let run = before[from..].iter().zip(now).take(steps).take_while(|(a, b)| a == b).count();
        steps -= run.min(steps);
        if run > longest {
            (best, longest) = (from, run);
        }
        if steps == 0 {
            break;
        }
    }
    best
}

/// Pairs those that occur once in each, in the longest order that both have.
fn common(old: &[Fingerprint], new: &[Fingerprint]) -> Vec<(usize, usize)> {
    let once = |list: &[Fingerprint]| {
        let mut places: SortedMap<Fingerprint, Option<usize>> = SortedMap::new();
        for (at, print) in list.iter().enumerate() {
            let is_first = places.get(print).is_none();
            places.insert(*print, is_first.then_some(at));
        }
        places
    };
    let (old, new_places) = (once(old), once(new));
    let pairs: Vec<(usize, usize)> = new
        .iter()
        .enumerate()
        .filter(|(to, print)| new_places.get(*print) == Some(&Some(*to)))
        .filter_map(|(to, print)| old.get(print).copied().flatten().map(|at| (at, to)))
        .collect();
    // Patience sorting: `ends[n]` is the pair that ends the order of n + 1 pairs earliest in `old`.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (index, (at, _)) in pairs.iter().enumerate() {
        let place = ends.partition_point(|end: &usize| pairs[*end].0 < *at);
        previous.push(place.checked_sub(1).map(|before| ends[before]));
        if place == ends.len() {
            ends.push(index);
        } else {
            ends[place] = index;
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        found.push(pairs[index]);
        next = previous[index];
    }
    sort(&mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prints(text: &str) -> Vec<Fingerprint> {
        text.bytes().map(|byte| [u64::from(byte), 0]).collect()
    }

    /// What became of each message: `+` for a new one, else that it was; and those that are gone.
    fn shown(before: &str, now: &str) -> String {
        let found = align(&prints(before), &prints(now), true);
        let mut gone: Vec<char> = before.chars().skip(found.trimmed).collect();
        let kept: String = found
            .earlier
            .iter()
            .zip(now.chars())
            .map(|(earlier, ch)| match earlier {
                None => '+',
                Some(at) => {
                    assert_eq!(before.chars().nth(*at), Some(ch));
                    let place = gone.iter().rposition(|other| *other == ch).unwrap();
                    gone.remove(place);
                    ch
                }
            })
            .collect();
        assert!(found.earlier.iter().flatten().is_sorted_by(|a, b| a < b));
        format!("{kept} -{} {}", gone.into_iter().collect::<String>(), found.trimmed)
    }

    #[test]
    fn a_conversation_goes_on_is_edited_and_trimmed() {
        for (before, now, expected) in [
            ("", "abc", "+++ - 0"),
            ("abc", "abc", "abc - 0"),
            ("abc", "abcde", "abc++ - 0"),
            ("abc", "ab", "ab -c 0"),
            ("abc", "abX", "ab+ -c 0"),
            ("abcde", "abXde", "ab+de -c 0"),
            ("abcde", "abde", "abde -c 0"),
            ("abcde", "abXcde", "ab+cde - 0"),
            ("abcde", "cdef", "cde+ - 2"),
            ("abcde", "cXef", "c+e+ -d 2"),
            ("abcde", "Scdef", "+cde+ -ab 0"),
            ("abc", "xyz", "+++ -abc 0"),
            ("abcdefgh", "aXcYeZgQ", "a+c+e+g+ -bdfh 0"),
            ("aaa", "aaaa", "aaa+ - 0"),
            ("abab", "ababab", "abab++ - 0"),
            ("abc", "", " -abc 0"),
            ("ab", "bab", "+ab - 0"),
            ("aabc", "abbc", "a+bc -a 0"),
            ("abc", "bbc", "b+c - 1"),
            ("abcab", "abX", "ab+ -abc 0"),
            ("xabc", "abcxabc", "+++xabc - 0"),
        ] {
            assert_eq!(shown(before, now), expected, "{before} {now}");
        }
    }

    #[test]
    fn the_same_said_again_and_again_is_compared_in_steps() {
        let before = vec![[1, 1]; 20_000];
        let mut now = before.clone();
        now[19_998] = [2, 2];
        let found = align(&before, &now, true);
        assert_eq!((found.trimmed, found.earlier[0]), (0, Some(0)));
    }
}
