//! Which rules and words may start where, by the first three bytes.

use super::rules::RULES;
use super::words::WORDS;

/// Number of values of the hash of three bytes.
const HASHES: usize = 1 << 14;
/// Number of hashes that share a list of rules.
const SHARED: usize = 1 << 5;

const fn hash(first: u8, second: u8, third: u8) -> usize {
    let gram = first as u32 | (second as u32) << 8 | (third as u32) << 16;
    (gram.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

/// Returns the hash of each way in which the start of a rule or of a word, by its number, may be written.
const fn grams(number: usize) -> ([usize; 64], usize) {
    let (mut hashes, mut count) = ([0; 64], 0);
    if number < RULES.len() {
        let (prefix, wild) = (RULES[number].prefix.as_bytes(), RULES[number].wild.as_bytes());
        let open = if prefix[1] == b'?' { 1 } else { 2 };
        // A prefix without a wild byte here has one choice, its own.
        while count == 0 || count < wild.len() && prefix[open] == b'?' {
            let mut gram = [prefix[0], prefix[1], prefix[2]];
            if gram[open] == b'?' {
                gram[open] = wild[count];
            }
            hashes[count] = hash(gram[0], gram[1], gram[2]);
            count += 1;
        }
    } else {
        let word = WORDS[number - RULES.len()].0.as_bytes();
        while count < 8 {
            hashes[count] = hash(cased(word[0], count & 1), cased(word[1], count & 2), cased(word[2], count & 4));
            count += 1;
        }
    }
    (hashes, count)
}

const fn cased(letter: u8, upper: usize) -> u8 {
    if upper == 0 { letter } else { letter.to_ascii_uppercase() }
}

const NUMBERS: usize = RULES.len() + WORDS.len();

/// A bit for each hash that a start has.
static STARTS: [u64; HASHES / 64] = {
    let mut bits = [0; HASHES / 64];
    let mut number = 0;
    while number < NUMBERS {
        let (hashes, count) = grams(number);
        let mut at = 0;
        while at < count {
            bits[hashes[at] / 64] |= 1 << (hashes[at] % 64);
            at += 1;
        }
        number += 1;
    }
    bits
};

/// Where in [`LISTED`] the list of each group of hashes starts.
static LISTS: [u16; HASHES / SHARED + 1] = lists();

const fn lists() -> [u16; HASHES / SHARED + 1] {
    let mut lists = [0; HASHES / SHARED + 1];
    let mut number = 0;
    while number < NUMBERS {
        let (hashes, count) = grams(number);
        let mut at = 0;
        while at < count {
            lists[hashes[at] / SHARED + 1] += 1;
            at += 1;
        }
        number += 1;
    }
    let mut at = 1;
    while at < lists.len() {
        lists[at] += lists[at - 1];
        at += 1;
    }
    lists
}

const LISTED_COUNT: usize = lists()[HASHES / SHARED] as usize;

/// Numbers of rules, and behind them of words, in lists.
static LISTED: [u16; LISTED_COUNT] = {
    let (mut listed, mut ends) = ([0; LISTED_COUNT], lists());
    let mut number = 0;
    while number < NUMBERS {
        let (hashes, count) = grams(number);
        let mut at = 0;
        while at < count {
            let list = hashes[at] / SHARED;
            listed[ends[list] as usize] = number as u16;
            ends[list] += 1;
            at += 1;
        }
        number += 1;
    }
    listed
};

/// The fourth byte of each entry in [`LISTED`], as [`folded`]; zero for any byte.
static FOURTHS: [u8; LISTED_COUNT] = {
    let (mut fourths, mut at) = ([0; LISTED_COUNT], 0);
    while at < LISTED_COUNT {
        let number = LISTED[at] as usize;
        let start = if number < RULES.len() { RULES[number].prefix } else { WORDS[number - RULES.len()].0 }.as_bytes();
        // JSON may have a backslash before a slash.
        if start.len() > 3 && start[3] != b'?' && start[3] != b'/' {
            fourths[at] = folded(start[3]);
        }
        at += 1;
    }
    fourths
};

/// Makes letters of both cases equal.
const fn folded(byte: u8) -> u8 {
    byte | 0x20
}

/// Reports whether a rule or a word may start at an offset.
#[inline]
pub(super) fn is_opening(text: &[u8], at: usize) -> bool {
    let Some(&[first, second, third]) = text.get(at..).and_then(<[u8]>::first_chunk) else { return false };
    let hash = hash(first, second, third);
    STARTS[hash / 64] >> (hash % 64) & 1 == 1
}

/// Returns the numbers of what may start with three bytes: of a rule, or, above those, of a word.
pub(super) fn openings([first, second, third]: [u8; 3]) -> &'static [u16] {
    let hash = hash(first, second, third);
    let list = hash / SHARED;
    let listed = LISTED.get(usize::from(LISTS[list])..usize::from(LISTS[list + 1])).unwrap_or_default();
    if STARTS[hash / 64] >> (hash % 64) & 1 == 1 { listed } else { &[] }
}

/// Reports whether a rule or a word may start at an offset, by the fourth byte as well.
#[inline]
pub(super) fn opens(text: &[u8], at: usize) -> bool {
    if !is_opening(text, at) {
        return false;
    }
    let Some(&[first, second, third]) = text.get(at..).and_then(<[u8]>::first_chunk) else { return false };
    let list = hash(first, second, third) / SHARED;
    let fourth = text.get(at + 3).map_or(0, |&b| folded(b));
    let fourths = FOURTHS.get(usize::from(LISTS[list])..usize::from(LISTS[list + 1])).unwrap_or_default();
    fourths.iter().any(|&wanted| wanted == 0 || wanted == fourth)
}
