//! The single pass that looks for every secret shape.
//!
//! Two things can reveal a secret: the start of a word, if its first three bytes are those of a known prefix, and a few
//! bytes such as `:` and `=`. Clean text costs one table look-up per byte and one per word.

use super::chars::{byte, starts_ignoring_case, tick};
use super::hidden::{hidden_at, hides, may_hide};
use super::openings::{opened, openings, opens};
use super::rules::{RULES, WORDS, Word};
use super::scanner::{ASSIGN, AUTH, EXTRA, HiddenSearch, PEM, Scanner, URL};

/// Bytes of which the kinds are gathered in one number, with a third of its bits for each kind.
const LANE: usize = 21;
/// Bytes that are looked at together.
const BLOCK: usize = 3 * LANE;
/// The byte is part of a word.
const IN_WORD: u64 = 1 << (LANE - 1);
/// The byte can reveal a secret, or hide something.
const SIGN: u64 = IN_WORD << LANE;
/// A word behind the byte may be an option, or its first bytes the rest of an escape.
const JOINT: u64 = SIGN << LANE;

/// What a byte is.
static KINDS: [u64; 256] = kinds();

const fn kinds() -> [u64; 256] {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = match code as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' => IN_WORD,
            b':' | b'=' | b'~' | b'>' | b'\n' => SIGN,
            b'\\' => SIGN | JOINT,
            b'%' | b'-' => JOINT,
            byte if may_hide(byte) => SIGN,
            _ => 0,
        };
        code += 1;
    }
    table
}

/// What the bytes of a block are, a bit for each.
struct Kinds {
    words: u64,
    signs: u64,
    joints: u64,
}

/// Returns what the bytes of a block are.
#[inline]
fn classify(block: &[u8; BLOCK]) -> Kinds {
    let (first, others) = block.split_at(LANE);
    let (second, third) = others.split_at(LANE);
    // The bits of each byte enter at the top of their part of the number, and move down.
    let mut lanes = [0; 3];
    for ((&a, &b), &c) in first.iter().zip(second).zip(third) {
        lanes[0] = lanes[0] >> 1 | KINDS[usize::from(a)];
        lanes[1] = lanes[1] >> 1 | KINDS[usize::from(b)];
        lanes[2] = lanes[2] >> 1 | KINDS[usize::from(c)];
    }
    let gather = |kind: usize| {
        let part = |lane: u64| lane >> (kind * LANE) & ((1 << LANE) - 1);
        part(lanes[0]) | part(lanes[1]) << LANE | part(lanes[2]) << (2 * LANE)
    };
    Kinds { words: gather(0), signs: gather(1), joints: gather(2) }
}

/// Reports whether the first bytes of a word may be the rest of an escape, or the word an option.
#[inline]
fn is_joined(text: &[u8], at: usize) -> bool {
    let back = |count| at.checked_sub(count).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    match back(1) {
        b'\\' | b'%' => true,
        b'-' => KINDS[usize::from(back(2))] & IN_WORD == 0,
        _ => false,
    }
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

impl Scanner<'_> {
    /// Returns those of the rules that match somewhere, unless a hidden piece is met that is looked for.
    pub(super) fn rules_present(&mut self, wanted: u32, accepts: &dyn Fn(&SecretSpan) -> bool) -> u32 {
        let (mut found, mut from) = (0, 0);
        while let Some(hit) = self.next(from, 0, wanted & !found) {
            if accepts(&hit) {
                found |= hit.rule;
                from = hit.trigger;
            } else {
                from = hit.end.max(hit.trigger + 1);
            }
        }
        // What was not read as nothing more was wanted may still hide something.
        if self.hidden == HiddenSearch::Open && found & wanted == wanted && hides(self.text, from) {
            self.hidden = HiddenSearch::Met;
        }
        found
    }

    /// Finds the next secret revealed at or after `from`.
    ///
    /// Nothing before `floor` is part of a match, though it may decide whether a word starts
    /// there.
    pub(super) fn next(&mut self, from: usize, floor: usize, active: u32) -> Option<SecretSpan> {
        if let Some((start, end)) = self.rest_of_row(from, floor, active & ASSIGN != 0) {
            return Some(SecretSpan { rule: ASSIGN, trigger: from, start, end });
        }
        let bytes = self.text.as_bytes();
        let mut base = from;
        let before = from.checked_sub(1).and_then(|at| byte(self.text, at));
        let before = before.map_or(0, |b| KINDS[usize::from(b)]);
        let (mut inside, mut joint) = (before & IN_WORD != 0, before & JOINT != 0);
        while base < bytes.len() && active != 0 {
            let kinds = match bytes.get(base..).and_then(<[u8]>::first_chunk) {
                Some(block) => classify(block),
                None => classify(&padded(bytes.get(base..).unwrap_or_default())),
            };
            tick(BLOCK);
            let starts = kinds.words & !(kinds.words << 1 | u64::from(inside));
            let joined = starts & (kinds.joints << 1 | u64::from(joint));
            inside = kinds.words >> (BLOCK - 1) == 1;
            joint = kinds.joints >> (BLOCK - 1) == 1;
            let opened = opened(bytes, base, starts);
            let mut left = opened | joined | kinds.signs;
            while left != 0 {
                let offset = left.trailing_zeros();
                left &= left - 1;
                let at = base + offset as usize;
                if !self.ahead.is_empty()
                    && let Some((start, end)) = self.ahead_before(at, floor)
                {
                    return Some(SecretSpan { rule: ASSIGN, trigger: at, start, end });
                }
                let hit = if starts >> offset & 1 == 1 {
                    let opened = opened >> offset & 1 == 1 && opens(bytes, at);
                    let joined = joined >> offset & 1 == 1 && is_joined(bytes, at);
                    if !opened && !joined {
                        continue;
                    }
                    if opened {
                        self.opened.rotate_right(1);
                        self.opened[0] = at;
                    }
                    self.word_at(at, floor, active, opened)
                } else {
                    self.sign_at(at, floor, active)
                };
                if let Some((rule, start, end)) = hit {
                    return Some(SecretSpan { rule, trigger: at, start, end });
                }
                if self.hidden == HiddenSearch::Met {
                    return None;
                }
            }
            base += BLOCK;
        }
        let (start, end) = self.ahead_before(bytes.len(), floor)?;
        Some(SecretSpan { rule: ASSIGN, trigger: start, start, end })
    }

    /// Tries what the start of a word can reveal.
    #[inline(never)]
    fn word_at(&mut self, at: usize, floor: usize, active: u32, opened: bool) -> Option<(u32, usize, usize)> {
        let known = if opened { self.prefix_at(at, floor, active) } else { None };
        if known.is_some() {
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
        if opens(self.text.as_bytes(), at + skipped) { self.prefix_at(at + skipped, floor, active) } else { None }
    }

    /// Tries the rules of which the prefix starts at an offset.
    fn prefix_at(&mut self, at: usize, floor: usize, active: u32) -> Option<(u32, usize, usize)> {
        for &number in openings(*self.text.as_bytes().get(at..)?.first_chunk()?) {
            let number = usize::from(number);
            let Some((word, meaning)) = number.checked_sub(RULES.len()).and_then(|word| WORDS.get(word)) else {
                let rule = RULES.get(number)?;
                if active & 1 << rule.rule != 0
                    && let Some((start, end)) = self.token_at(rule, at, floor)
                {
                    return Some((1 << rule.rule, start, end));
                }
                continue;
            };
            if !starts_ignoring_case(self.text, at, word) {
                continue;
            }
            return match meaning {
                Word::Begin if active & PEM != 0 => {
                    let start = at.checked_sub(5).filter(|&start| start >= floor)?;
                    self.pem_at(start).map(|(start, end)| (PEM, start, end))
                }
                Word::Scheme if active & AUTH != 0 => {
                    let (start, end) = self.auth_at(at)?;
                    self.value_end = end;
                    Some((AUTH, start, end))
                }
                Word::Begin | Word::Scheme => None,
                &word if active & ASSIGN != 0 => {
                    self.announced(word, at, floor).map(|(start, end)| (ASSIGN, start, end))
                }
                _ => None,
            };
        }
        None
    }

    /// Tries what a single byte can reveal.
    #[inline(never)]
    fn sign_at(&mut self, at: usize, floor: usize, active: u32) -> Option<(u32, usize, usize)> {
        let sign = byte(self.text, at)?;
        if !matches!(sign, b':' | b'=' | b'~' | b'>' | b'\n') {
            if self.hidden == HiddenSearch::Open && hidden_at(self.text, at) {
                self.hidden = HiddenSearch::Met;
                return None;
            }
            let breaks = sign == b'\\' && active & ASSIGN != 0;
            let span = if breaks { self.escaped_row_at(at, floor) } else { None };
            return span.map(|(start, end)| (ASSIGN, start, end));
        }
        let next = byte(self.text, at + 1);
        if sign == b':'
            && next == Some(b'/')
            && active & URL != 0
            && let Some((start, end)) = self.url_at(at, floor)
        {
            return Some((URL, start, end));
        }
        if active & ASSIGN != 0
            && sign == b':'
            && matches!(next, Some(b'$' | b'{'))
            && let Some((start, end)) = self.hash_at(at, floor)
        {
            return Some((ASSIGN, start, end));
        }
        if active & EXTRA != 0
            && (sign == b':' && next == Some(b'A') || sign == b'~')
            && let Some((start, end)) = self.token_around(at, floor)
        {
            return Some((EXTRA, start, end));
        }
        self.met_wrap |= sign == b'\n' && !self.met_wrap && self.may_wrap(at);
        if active & ASSIGN == 0 {
            return None;
        }
        let span = match sign {
            b'\n' => self.row_at(at + 1, floor),
            b'>' => self.element_at(at, floor),
            b':' | b'=' => self.assign_at(at, floor),
            _ => None,
        };
        span.map(|(start, end)| (ASSIGN, start, end))
    }

    /// Reports whether a span is an earlier mask, which must not count as a secret again.
    pub(super) fn is_mask(&self, start: usize, end: usize) -> bool {
        let span = super::chars::part(self.text, start, end);
        span == self.mask || span == super::SECRET_MASK
    }
}

/// Fills up the last bytes of a text with ones that mean nothing.
fn padded(last: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    for (slot, &b) in block.iter_mut().zip(last) {
        *slot = b;
    }
    block
}
