//! The single pass that looks for every secret shape.
//!
//! Two things can reveal a secret: the start of a word, if its first three bytes are those of a known prefix, and a few
//! bytes such as `:` and `=`. Clean text costs one table look-up per byte and one per word.

use super::chars::{byte, tick};
use super::rules::RULES;
use super::tables::Table;
use super::words::{WORDS, Word};

/// Rule bit of private key blocks.
pub(super) const PEM: u32 = 1;
/// Rule bits of the tokens with a known prefix.
pub(super) const TOKENS: u32 = 0x8ffe;
/// Rule bit of the tokens that contextweaver 0.18 does not have.
pub(super) const EXTRA: u32 = 1 << 15;
/// Rule bit of passwords inside URLs.
pub(super) const URL: u32 = 1 << 12;
/// Rule bit of authorization schemes followed by credentials.
pub(super) const AUTH: u32 = 1 << 13;
/// Rule bit of credentials assigned to a telling key.
pub(super) const ASSIGN: u32 = 1 << 14;
/// Bits of all rules.
pub(super) const ALL: u32 = 0xffff;
/// Bits of the rules that contextweaver 0.18 has.
const COMPAT: u32 = 0x7fff;

/// Bytes that are looked at together.
const BLOCK: usize = 64;
const IN_WORD: u8 = 1;
const TRIGGER: u8 = 2;
/// A word behind it may be an option, or its first bytes the rest of an escape.
const JOINT: u8 = 4;

/// What a byte is: part of a word, or one that can reveal a secret.
const KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = match code as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' => IN_WORD,
            b':' | b'=' | b'~' | b'>' | b'\n' => TRIGGER,
            b'\\' | b'%' | b'-' => JOINT,
            _ => 0,
        };
        code += 1;
    }
    table
}

/// A bit for each hash of the first three bytes of a prefix.
static GRAMS: [u64; 256] = grams();

const fn hash(first: u8, second: u8, third: u8) -> usize {
    let gram = first as u32 | (second as u32) << 8 | (third as u32) << 16;
    (gram.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

/// Reports whether three bytes may start a prefix.
#[inline]
fn is_gram(bytes: &[u8], at: usize) -> bool {
    let Some(&[first, second, third]) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return false };
    let bit = hash(first, second, third);
    GRAMS[bit / 64] >> (bit % 64) & 1 == 1
}

/// Gathers one bit of each byte.
#[inline]
fn bits(kinds: &[u8; BLOCK], kind: u8) -> u64 {
    let mut gathered = 0;
    for (at, eight) in kinds.chunks_exact(8).enumerate() {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes) >> kind.trailing_zeros();
        // Moves the lowest bit of the byte at n to the bit 56 + n.
        let gather = (eight & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        gathered |= gather << (8 * at);
    }
    gathered
}

const fn grams() -> [u64; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < RULES.len() {
        let (prefix, wild) = (RULES[at].prefix.as_bytes(), RULES[at].wild.as_bytes());
        let wanted = if prefix[1] == b'?' { 1 } else { 2 };
        let mut choice = 0;
        // A prefix without a wild byte here has one choice, its own.
        while choice == 0 || choice < wild.len() && prefix[wanted] == b'?' {
            let mut gram = [prefix[0], prefix[1], prefix[2]];
            if gram[wanted] == b'?' {
                gram[wanted] = wild[choice];
            }
            let bit = hash(gram[0], gram[1], gram[2]);
            table[bit / 64] |= 1 << (bit % 64);
            choice += 1;
        }
        at += 1;
    }
    at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].0.as_bytes();
        let mut cases = 0;
        while cases < 8 {
            let bit = hash(cased(word[0], cases & 1), cased(word[1], cases & 2), cased(word[2], cases & 4));
            table[bit / 64] |= 1 << (bit % 64);
            cases += 1;
        }
        at += 1;
    }
    table
}

const fn cased(letter: u8, upper: u32) -> u8 {
    if upper == 0 { letter } else { letter.to_ascii_uppercase() }
}

/// A span to be masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretSpan {
    /// Bit of the rule that matched.
    pub(super) rule: u32,
    /// Offset of the byte that revealed the secret.
    pub(super) trigger: usize,
    /// First byte of the secret.
    pub(super) start: usize,
    /// End of the secret.
    pub(super) end: usize,
}

/// Looks for secrets and remembers what earlier failures have ruled out.
///
/// Those notes keep the running time linear, because a search that failed once is not repeated
/// from a later start.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) full: bool,
    /// Mask that may already be present.
    pub(super) mask: &'a str,
    /// No JSON Web Token has its first part end at or before this offset.
    pub(super) jwt_dead: usize,
    /// Before this offset, bodies of these characters are hyphenated words.
    pub(super) kebab_dead: (usize, u16),
    /// Offset of the last search for an END marker and what it found.
    pub(super) pem_end: Option<(usize, Option<(usize, usize)>)>,
    /// For each kind of quote, the offset before which an opening quote stays unclosed.
    pub(super) unclosed: [usize; 9],
    /// The command of the current line, and how far the line was read.
    pub(super) command: Option<(Word, usize)>,
    /// Where the cookies of a header end.
    pub(super) cookies_end: usize,
    /// The table that the current line is in.
    pub(super) table: Option<Table>,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner for one text.
    pub(super) fn new(text: &'a str, full: bool, mask: &'a str) -> Self {
        Self {
            text,
            full,
            mask,
            jwt_dead: 0,
            kebab_dead: (0, 0),
            pem_end: None,
            unclosed: [0; 9],
            command: None,
            cookies_end: 0,
            table: None,
        }
    }

    /// Finds the next secret revealed at or after `from`.
    ///
    /// Nothing before `floor` is part of a match, though it may decide whether a word starts
    /// there.
    pub(super) fn next(&mut self, from: usize, floor: usize, active: u32) -> Option<SecretSpan> {
        let active = active & if self.full { ALL } else { COMPAT };
        if let Some((start, end)) = self.rest_of_row(from, floor, active & ASSIGN != 0) {
            return Some(SecretSpan { rule: ASSIGN, trigger: from, start, end });
        }
        let bytes = self.text.as_bytes();
        let mut base = from;
        let before = from.checked_sub(1).and_then(|at| byte(self.text, at)).map_or(0, |b| KINDS[usize::from(b)]);
        let (mut inside, mut joint) = (before & IN_WORD != 0, before & JOINT != 0);
        while base < bytes.len() && active != 0 {
            let block = bytes.get(base..bytes.len().min(base + BLOCK)).unwrap_or_default();
            let mut kinds = [0; BLOCK];
            for (kind, &b) in kinds.iter_mut().zip(block) {
                *kind = KINDS[usize::from(b)];
            }
            tick(block.len());
            let (words, triggers) = (bits(&kinds, IN_WORD), bits(&kinds, TRIGGER));
            let starts = words & !(words << 1 | u64::from(inside));
            let joined = starts & (bits(&kinds, JOINT) << 1 | u64::from(joint));
            inside = words >> (BLOCK - 1) == 1;
            joint = kinds[BLOCK - 1] & JOINT != 0;
            let mut left = starts | triggers;
            while left != 0 {
                let offset = left.trailing_zeros();
                left &= left - 1;
                let at = base + offset as usize;
                let hit = if starts >> offset & 1 == 1 {
                    if !is_gram(bytes, at) && joined >> offset & 1 == 0 {
                        continue;
                    }
                    self.word_at(at, floor, active)
                } else {
                    self.sign_at(at, floor, active)
                };
                if let Some((rule, start, end)) = hit {
                    return Some(SecretSpan { rule, trigger: at, start, end });
                }
            }
            base += BLOCK;
        }
        None
    }

    /// Tries what the start of a word can reveal.
    fn word_at(&mut self, at: usize, floor: usize, active: u32) -> Option<(u32, usize, usize)> {
        let known = self.prefix_at(at, floor, active);
        if known.is_some() || !self.full {
            return known;
        }
        // Escapes of JSON and of URLs end in characters of words.
        let skipped = match (byte(self.text, at.checked_sub(1)?)?, byte(self.text, at)?) {
            (b'\\', b'n' | b'r' | b't') => 1,
            (b'\\', b'x') => 3,
            (b'\\', b'u') => 5,
            (b'%', _) => 2,
            (b'-', _) if active & ASSIGN != 0 => {
                return self.option_at(at, floor).map(|(start, end)| (ASSIGN, start, end));
            }
            _ => return None,
        };
        self.prefix_at(at + skipped, floor, active)
    }

    /// Tries the rules of which the prefix starts at an offset.
    fn prefix_at(&mut self, at: usize, floor: usize, active: u32) -> Option<(u32, usize, usize)> {
        if !is_gram(self.text.as_bytes(), at) {
            return None;
        }
        if active & TOKENS != 0
            && let Some((rule, start, end)) = self.token_at(at, floor, active)
        {
            return Some((1 << rule, start, end));
        }
        let letter = byte(self.text, at)?.to_ascii_lowercase();
        let (_, word) = WORDS.iter().find(|(word, _)| {
            word.as_bytes().first() == Some(&letter) && super::chars::starts_ignoring_case(self.text, at, word)
        })?;
        match word {
            Word::Begin if active & PEM != 0 => {
                let start = at.checked_sub(5).filter(|&start| start >= floor)?;
                self.pem_at(start).map(|(start, end)| (PEM, start, end))
            }
            Word::Scheme if active & AUTH != 0 => self.auth_at(at).map(|(start, end)| (AUTH, start, end)),
            Word::Begin | Word::Scheme => None,
            &word if self.full && active & ASSIGN != 0 => {
                self.announced(word, at, floor).map(|(start, end)| (ASSIGN, start, end))
            }
            _ => None,
        }
    }

    /// Tries what a single byte can reveal.
    fn sign_at(&mut self, at: usize, floor: usize, active: u32) -> Option<(u32, usize, usize)> {
        let sign = byte(self.text, at)?;
        if sign == b':'
            && active & URL != 0
            && let Some((start, end)) = self.url_at(at, floor)
        {
            return Some((URL, start, end));
        }
        if active & EXTRA != 0
            && matches!(sign, b':' | b'~')
            && let Some((start, end)) = self.token_around(at, floor)
        {
            return Some((EXTRA, start, end));
        }
        if active & ASSIGN == 0 {
            return None;
        }
        let span = match (sign, self.full) {
            (b'\n', true) => self.row_at(at + 1, floor),
            (b'>', true) => self.element_at(at, floor),
            (b':' | b'=', true) => self.assign_full(at, floor),
            (b':' | b'=', false) => self.assign_reference(at, floor),
            _ => None,
        };
        span.map(|(start, end)| (ASSIGN, start, end))
    }

    /// Reports whether a span is an earlier mask, which must not count as a secret again.
    pub(super) fn is_mask(&self, start: usize, end: usize) -> bool {
        let span = super::chars::part(self.text, start, end);
        self.full && (span == self.mask || span == super::SECRET_MASK)
    }
}
