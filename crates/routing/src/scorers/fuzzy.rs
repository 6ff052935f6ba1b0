//! A fuzzy score: how much two sets of words have in common, their rests compared by characters.

use contextweaver_base::order::WordSet;
use contextweaver_text::unicode::is_space;

/// Characters of the rests that are compared; what is beyond does not count.
const MAX_COMPARED: usize = 4096;

/// The distinct words of a text between white space, sorted.
#[derive(Debug, Clone)]
pub struct FuzzyWords(WordSet);

impl FuzzyWords {
    /// Splits a text. One without a character beyond Latin-1 is split at ASCII white space only.
    pub fn of(text: &str) -> Self {
        let is_wide = text.chars().any(|ch| ch > '\u{ff}');
        let splits = |ch: char| is_space(ch) && (is_wide || ch.is_ascii());
        Self(WordSet::new(text.split(splits).filter(|word| !word.is_empty()).map(str::to_owned).collect()))
    }
}

/// Returns the likeness of two sets of words, from 0 to 1. Empty sets are like nothing.
pub fn token_set_ratio(a: &FuzzyWords, b: &FuzzyWords) -> f64 {
    let (a, b) = (&a.0, &b.0);
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut shared, mut shared_words) = (0, 0);
    let mut rests = [Vec::new(), Vec::new()];
    for word in a.words() {
        if b.contains(word) {
            shared += word.chars().count();
            shared_words += 1;
        } else {
            push_word(&mut rests[0], word);
        }
    }
    for word in b.words().iter().filter(|word| !a.contains(word)) {
        push_word(&mut rests[1], word);
    }
    if shared_words > 0 && rests.iter().any(Vec::is_empty) {
        return 1.0;
    }
    // The words in common are joined by spaces, and one more stands before a rest.
    let shared = shared + usize::max(shared_words, 1) - 1;
    let [left, right] = rests.each_ref().map(Vec::len);
    let gap = usize::from(shared > 0);
    let whole = [left, right].map(|rest| shared + gap + rest);
    let common = longest_common(&rests[0][..left.min(MAX_COMPARED)], &rests[1][..right.min(MAX_COMPARED)]);
    let mut best = likeness(left + right - 2 * common, whole[0] + whole[1]);
    if shared > 0 {
        for (rest, whole) in [left, right].into_iter().zip(whole) {
            best = best.max(likeness(gap + rest, shared + whole));
        }
    }
    best / 100.0
}

fn push_word(rest: &mut Vec<char>, word: &str) {
    if !rest.is_empty() {
        rest.push(' ');
    }
    rest.extend(word.chars());
}

fn likeness(distance: usize, length: usize) -> f64 {
    if length == 0 { 100.0 } else { 100.0 - 100.0 * distance as f64 / length as f64 }
}

/// Returns the length of the longest common subsequence, sixty-four places at a time.
fn longest_common(a: &[char], b: &[char]) -> usize {
    let mut letters: Vec<char> = a.to_vec();
    contextweaver_base::order::sort_distinct(&mut letters);
    let blocks = a.len().div_ceil(64);
    // Where each letter is in `a`, a bit for every place.
    let mut places = vec![0_u64; letters.len() * blocks];
    for (at, letter) in a.iter().enumerate() {
        let row = letters.binary_search(letter).unwrap_or(0);
        places[row * blocks + at / 64] |= 1 << (at % 64);
    }
    let mut unmatched = vec![u64::MAX; blocks];
    for letter in b {
        let Ok(row) = letters.binary_search(letter) else { continue };
        let mut carry = false;
        for (block, places) in unmatched.iter_mut().zip(&places[row * blocks..]) {
            let matches = *block & places;
            let (sum, first) = block.overflowing_add(matches);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *block = sum | (*block & !places);
        }
    }
    let zeros = |(index, block): (usize, &u64)| {
        let used = (a.len() - index * 64).min(64);
        (!block & (u64::MAX >> (64 - used))).count_ones() as usize
    };
    unmatched.iter().enumerate().map(zeros).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rests_are_compared_as_short_ones() {
        for (a, b) in [(1, 1), (63, 64), (64, 65), (129, 200), (0, 5)] {
            let left: Vec<char> = (0..a).map(|at| if at % 3 == 0 { 'x' } else { 'y' }).collect();
            let right: Vec<char> = (0..b).map(|at| if at % 5 == 0 { 'y' } else { 'x' }).collect();
            let mut table = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
            for i in 0..left.len() {
                for j in 0..right.len() {
                    table[i + 1][j + 1] =
                        if left[i] == right[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
                }
            }
            assert_eq!(longest_common(&left, &right), table[left.len()][right.len()], "{a} {b}");
        }
    }
}
