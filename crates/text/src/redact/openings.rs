//! Which rules and words may start where, by the first three bytes.

use super::rules::RULES;
use super::rules::WORDS;

/// Number of values of the hash of three bytes.
const HASHES: usize = 1 << 14;
/// Number of hashes that share a list of rules.
const SHARED: usize = 1 << 5;

/// Odd, and the one of three thousand with which the fewest of the usual words have the hash of a start.
const FACTOR: u32 = 0xbeda_9895;

const fn hash(gram: [u8; 3]) -> usize {
    (u32::from_le_bytes([gram[0], gram[1], gram[2], 0]).wrapping_mul(FACTOR) >> 18) as usize
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
            hashes[count] = hash(gram);
            count += 1;
        }
    } else {
        let word = WORDS[number - RULES.len()].0.as_bytes();
        while count < 8 {
            hashes[count] = hash([cased(word[0], count & 1), cased(word[1], count & 2), cased(word[2], count & 4)]);
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

/// Returns those of the bits at which a rule or a word may start, of offsets above a base.
pub(super) fn opened(text: &[u8], base: usize, starts: u64) -> u64 {
    let (mut opened, mut left) = (0, starts);
    while left != 0 {
        let offset = left.trailing_zeros();
        left &= left - 1;
        if let Some(&gram) = text.get(base + offset as usize..).and_then(<[u8]>::first_chunk) {
            let hash = hash(gram);
            // No branch: most words are none, and those that are come without a pattern.
            opened |= (STARTS[hash / 64] >> (hash % 64) & 1) << offset;
        }
    }
    opened
}

/// Returns where the list of a hash is, unless nothing has it.
fn list(hash: usize) -> Option<std::ops::Range<usize>> {
    let list = hash / SHARED;
    (STARTS[hash / 64] >> (hash % 64) & 1 == 1).then(|| usize::from(LISTS[list])..usize::from(LISTS[list + 1]))
}

/// Returns the numbers of what may start with three bytes: of a rule, or, above those, of a word.
pub(super) fn openings(gram: [u8; 3]) -> &'static [u16] {
    list(hash(gram)).and_then(|list| LISTED.get(list)).unwrap_or_default()
}

/// Reports whether a rule or a word may start at an offset, by the fourth byte as well.
pub(super) fn opens(text: &[u8], at: usize) -> bool {
    let Some(&gram) = text.get(at..).and_then(<[u8]>::first_chunk) else { return false };
    let fourth = text.get(at + 3).map_or(0, |&b| folded(b));
    let fourths = list(hash(gram)).and_then(|list| FOURTHS.get(list)).unwrap_or_default();
    fourths.iter().any(|&wanted| wanted == 0 || wanted == fourth)
}
