//! How much alike two words are: twice the characters in matching blocks over all characters.

use contextweaver_base::order;

/// From this length on, characters that make up more than a hundredth of the second word do not start a match.
const POPULAR_FROM: usize = 200;

/// The characters of a word, in their order and sorted.
pub(super) struct NameLetters {
    chars: Vec<char>,
    sorted: Vec<char>,
}

impl NameLetters {
    pub(super) fn new(word: &str) -> Self {
        let chars: Vec<char> = word.chars().collect();
        let mut sorted = chars.clone();
        order::sort(&mut sorted);
        Self { chars, sorted }
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }
}

fn share(matches: usize, a: &NameLetters, b: &NameLetters) -> f64 {
    2.0 * matches as f64 / (a.len() + b.len()) as f64
}

/// Counts the elements two sorted lists share, repeated ones as often as both have them.
pub(super) fn shared<T: Ord>(first: &[T], second: &[T]) -> usize {
    let (mut at, mut to, mut count) = (0, 0, 0);
    while at < first.len() && to < second.len() {
        let way = first[at].cmp(&second[to]);
        count += usize::from(way.is_eq());
        at += usize::from(way.is_le());
        to += usize::from(way.is_ge());
    }
    count
}

/// Returns what the ratio of two words cannot exceed; of words whose lengths alone keep them below the threshold,
/// without looking at their letters.
pub(super) fn ratio_bound(a: &NameLetters, b: &NameLetters, threshold: f64) -> f64 {
    let by_length = share(a.len().min(b.len()), a, b);
    if by_length < threshold {
        return by_length;
    }
    share(shared(&a.sorted, &b.sorted), a, b)
}

/// Returns the ratio of two words by Ratcliff and Obershelp: the longest matching block, the first of equally long
/// ones, then the same on both sides of it. The order of the words matters.
pub(super) fn ratio(a: &NameLetters, b: &NameLetters) -> f64 {
    // Places of every character in the second word, as a list sorted by character and place.
    let mut places: Vec<(char, usize)> = b.chars.iter().copied().zip(0..).collect();
    order::sort(&mut places);
    if b.len() >= POPULAR_FROM {
        let most = b.len() / 100 + 1;
        let count = |ch: char| places.partition_point(|at| at.0 <= ch) - places.partition_point(|at| at.0 < ch);
        let keep: Vec<bool> = places.iter().map(|(ch, _)| count(*ch) <= most).collect();
        let mut keep = keep.into_iter();
        places.retain(|_| keep.next().unwrap_or(true));
    }
    let mut open = vec![(0, a.len(), 0, b.len())];
    let mut matches = 0;
    while let Some((a_from, a_to, b_from, b_to)) = open.pop() {
        let (i, j, size) = longest(a, b, &places, (a_from, a_to, b_from, b_to));
        if size > 0 {
            matches += size;
            open.push((a_from, i, b_from, j));
            open.push((i + size, a_to, j + size, b_to));
        }
    }
    share(matches, a, b)
}

/// Returns the longest block within the ranges: where it is in both words, and its length.
fn longest(
    a: &NameLetters,
    b: &NameLetters,
    places: &[(char, usize)],
    (a_from, a_to, b_from, b_to): (usize, usize, usize, usize),
) -> (usize, usize, usize) {
    let (mut at, mut to, mut size) = (a_from, b_from, 0);
    // Lengths of the blocks that end at each place of the second word, before it by one.
    let (mut lengths, mut next) = (vec![0; b_to + 1], vec![0; b_to + 1]);
    for i in a_from..a_to {
        let ch = a.chars[i];
        let start = places.partition_point(|place| *place < (ch, b_from));
        for (_, j) in places[start..].iter().take_while(|place| place.0 == ch && place.1 < b_to) {
            let length = lengths[*j] + 1;
            next[j + 1] = length;
            if length > size {
                (at, to, size) = (i + 1 - length, j + 1 - length, length);
            }
        }
        std::mem::swap(&mut lengths, &mut next);
        next.fill(0);
    }
    // Popular characters start no block, but they belong to one they adjoin.
    while at > a_from && to > b_from && a.chars[at - 1] == b.chars[to - 1] {
        (at, to, size) = (at - 1, to - 1, size + 1);
    }
    while at + size < a_to && to + size < b_to && a.chars[at + size] == b.chars[to + size] {
        size += 1;
    }
    (at, to, size)
}
