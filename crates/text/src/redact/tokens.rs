//! Tokens that are recognisable by a fixed prefix.
//!
//! Each row is found through its pivot: the first byte of its prefix that is rare in prose (`_`,
//! `-`, `.`, `J`, `A`), so clean text costs one table look-up per byte.

use super::chars::{ALNUM, ALNUM_DASH, ALNUM_UNDER, UPPER, URLSAFE, after, before, byte, is, is_word, rest, run};
use super::scan::Scanner;

/// What has to follow the prefix of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenShape {
    /// Exactly this many characters, ending at a word edge.
    Exact(usize),
    /// At least this many characters.
    Least(usize),
    /// At least this many characters, cut back to the last word edge.
    Edge(usize),
    /// A second part, after a dot, of at least the same length.
    Pair(usize),
    /// The three parts of a JSON Web Token.
    Jwt,
}

/// The form of one kind of token, told by its prefix.
struct TokenRule {
    rule: u32,
    /// Literal prefix in which `?` stands for one byte of `wild`.
    prefix: &'static str,
    /// Offset of the pivot in the prefix.
    pivot: usize,
    /// Byte before the pivot, which rules most rows out.
    mark: u8,
    wild: &'static str,
    class: u8,
    shape: TokenShape,
}

const fn row(rule: u32, prefix: &'static str, class: u8, shape: TokenShape) -> TokenRule {
    wild(rule, prefix, "", class, shape)
}

const fn wild(rule: u32, prefix: &'static str, set: &'static str, class: u8, shape: TokenShape) -> TokenRule {
    let bytes = prefix.as_bytes();
    let mut pivot = 0;
    let mut mark = b'?';
    while !matches!(bytes[pivot], b'A' | b'J' | b'_' | b'-' | b'.') {
        mark = bytes[pivot];
        pivot += 1;
    }
    TokenRule { rule, prefix, pivot, mark, wild: set, class, shape }
}

/// Rule number of the rows that contextweaver 0.18 does not have.
const EXTRA: u32 = 15;

const BY_UPPER_A: [TokenRule; 10] = [
    row(1, "A3T", UPPER, TokenShape::Exact(17)),
    row(1, "AKIA", UPPER, TokenShape::Exact(16)),
    row(1, "AGPA", UPPER, TokenShape::Exact(16)),
    row(1, "AIDA", UPPER, TokenShape::Exact(16)),
    row(1, "AROA", UPPER, TokenShape::Exact(16)),
    row(1, "AIPA", UPPER, TokenShape::Exact(16)),
    row(1, "ANPA", UPPER, TokenShape::Exact(16)),
    row(1, "ANVA", UPPER, TokenShape::Exact(16)),
    row(1, "ASIA", UPPER, TokenShape::Exact(16)),
    row(2, "AIza", URLSAFE, TokenShape::Exact(35)),
];

const BY_UNDERSCORE: [TokenRule; 10] = [
    wild(3, "gh?_", "pousr", ALNUM, TokenShape::Edge(36)),
    row(7, "github_pat_", ALNUM_UNDER, TokenShape::Least(22)),
    wild(9, "?k_live_", "sr", ALNUM, TokenShape::Least(16)),
    wild(EXTRA, "?k_test_", "sr", ALNUM, TokenShape::Least(16)),
    row(EXTRA, "hf_", ALNUM, TokenShape::Least(20)),
    row(EXTRA, "npm_", ALNUM, TokenShape::Least(20)),
    row(EXTRA, "gsk_", ALNUM, TokenShape::Least(20)),
    row(EXTRA, "whsec_", ALNUM, TokenShape::Least(20)),
    row(EXTRA, "shpat_", ALNUM, TokenShape::Least(32)),
    row(EXTRA, "dop_v1_", ALNUM, TokenShape::Least(40)),
];

const BY_DASH: [TokenRule; 8] = [
    wild(4, "xox?-", "baprs", ALNUM_DASH, TokenShape::Edge(10)),
    row(5, "sk-ant-", URLSAFE, TokenShape::Least(20)),
    row(6, "sk-", URLSAFE, TokenShape::Least(20)),
    wild(8, "xapp-?-", "0123456789", ALNUM_DASH, TokenShape::Least(10)),
    row(EXTRA, "glpat-", URLSAFE, TokenShape::Least(20)),
    row(EXTRA, "xai-", ALNUM, TokenShape::Least(40)),
    row(EXTRA, "pplx-", ALNUM, TokenShape::Least(40)),
    row(EXTRA, "pypi-AgE", URLSAFE, TokenShape::Least(40)),
];

const BY_DOT: [TokenRule; 2] =
    [row(10, "SG.", URLSAFE, TokenShape::Pair(16)), row(EXTRA, "ya29.", URLSAFE, TokenShape::Least(20))];

const BY_UPPER_J: [TokenRule; 1] = [row(11, "eyJ", URLSAFE, TokenShape::Jwt)];

/// Rule number and span of a found token.
pub(super) type TokenMatch = (u32, usize, usize);

impl Scanner<'_> {
    /// Finds a token whose pivot is the byte at an offset.
    pub(super) fn token_at(&mut self, pivot: usize, floor: usize, active: u32) -> Option<TokenMatch> {
        let (letter, rows) = self.rows_at(pivot)?;
        for row in rows {
            let possible = row.mark == letter || row.mark == b'?';
            if !possible || active & (1 << row.rule) == 0 {
                continue;
            }
            let Some(start) = pivot.checked_sub(row.pivot).filter(|&start| start >= floor) else {
                continue;
            };
            if let Some(body) = self.prefix_at(row, start)
                && let Some(end) = self.body_end(row, body)
            {
                return Some((row.rule, start, end));
            }
        }
        None
    }

    /// Returns the byte before a pivot and the rows that the neighbours leave possible.
    fn rows_at(&self, pivot: usize) -> Option<(u8, &'static [TokenRule])> {
        let bytes = self.text.as_bytes();
        let letter = pivot.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let rows: &[TokenRule] = match bytes.get(pivot)? {
            b'A' if matches!(bytes.get(pivot + 1)?, b'3' | b'G' | b'I' | b'K' | b'N' | b'R' | b'S') => &BY_UPPER_A,
            b'_' if letter.is_ascii_lowercase() => &BY_UNDERSCORE,
            b'-' if letter.is_ascii_lowercase() => &BY_DASH,
            b'.' if matches!(letter, b'G' | b'9') => &BY_DOT,
            b'J' if letter == b'y' => &BY_UPPER_J,
            _ => return None,
        };
        Some((letter, rows))
    }

    /// Matches the prefix of a row behind a word edge and returns where the body starts.
    fn prefix_at(&self, row: &TokenRule, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes().get(start..start + row.prefix.len())?;
        let matches = bytes
            .iter()
            .zip(row.prefix.bytes())
            .all(|(&found, wanted)| found == wanted || wanted == b'?' && row.wild.as_bytes().contains(&found));
        (matches && self.opens_word(start)).then(|| start + row.prefix.len())
    }

    /// Reports whether a word may start at an offset.
    ///
    /// contextweaver 0.18 asks for a Unicode word edge. Scripts without spaces write a token right
    /// after a letter, and text inside JSON strings has it after `\n`, so the full rules accept
    /// both.
    pub(super) fn opens_word(&self, at: usize) -> bool {
        let Some(previous) = before(self.text, at) else {
            return true;
        };
        if !self.full {
            return !is_word(previous);
        }
        if !previous.is_ascii() || !is(previous as u8, ALNUM_UNDER) {
            return true;
        }
        matches!(previous, 'n' | 'r' | 't') && at.checked_sub(2).and_then(|slash| byte(self.text, slash)) == Some(b'\\')
    }

    /// Reports whether exactly one side of an offset is a word character.
    fn edge(&self, at: usize) -> bool {
        let word = |c: char| is_word(c) && (c.is_ascii() || !self.full);
        before(self.text, at).is_some_and(word) != after(self.text, at).is_some_and(word)
    }

    fn body_end(&mut self, row: &TokenRule, body: usize) -> Option<usize> {
        match row.shape {
            TokenShape::Exact(size) if !self.full || row.class == UPPER => {
                let end = run(self.text, body, row.class, size);
                (end == body + size && self.edge(end)).then_some(end)
            }
            TokenShape::Edge(least) if !self.full => {
                let end = run(self.text, body, row.class, usize::MAX);
                self.last_edge(body + least, end)
            }
            TokenShape::Exact(least) | TokenShape::Least(least) | TokenShape::Edge(least) => {
                if !self.full && row.prefix == "sk-" && rest(self.text, body).starts_with("ant-") {
                    return None;
                }
                if body < self.kebab_dead.0 && row.class & !self.kebab_dead.1 == 0 {
                    return None;
                }
                let end = run(self.text, body, row.class, usize::MAX);
                if end < body + least {
                    return None;
                }
                if self.full && is_kebab(self.text, body, end) {
                    // Every later body in this run reads like words as well.
                    self.kebab_dead = (end, row.class);
                    return None;
                }
                Some(end)
            }
            TokenShape::Pair(least) => {
                let dot = run(self.text, body, row.class, usize::MAX);
                if dot < body + least || byte(self.text, dot) != Some(b'.') {
                    return None;
                }
                let end = run(self.text, dot + 1, row.class, usize::MAX);
                (end > dot + least).then_some(end)
            }
            TokenShape::Jwt => self.jwt_end(body),
        }
    }

    /// Returns the last word edge between two offsets, both included.
    fn last_edge(&self, least: usize, end: usize) -> Option<usize> {
        (least..=end).rev().find(|&at| {
            super::chars::tick(1);
            self.edge(at)
        })
    }

    /// Matches a token of three parts.
    ///
    /// Every start inside one first part meets the same second and third part, so a failure rules
    /// out all of them; without that note a row of `eyJ-` would cost quadratic time.
    fn jwt_end(&mut self, body: usize) -> Option<usize> {
        if body < self.jwt_dead {
            return None;
        }
        let first = run(self.text, body, URLSAFE, usize::MAX);
        if first == body {
            return None;
        }
        let found = self.jwt_tail(first);
        if found.is_none() {
            self.jwt_dead = first;
        }
        found
    }

    fn jwt_tail(&self, first: usize) -> Option<usize> {
        if !rest(self.text, first).starts_with(".eyJ") {
            return None;
        }
        let second = run(self.text, first + 4, URLSAFE, usize::MAX);
        if second == first + 4 || byte(self.text, second) != Some(b'.') {
            return None;
        }
        let third = run(self.text, second + 1, URLSAFE, usize::MAX);
        if self.full {
            return (third > second + 1).then_some(third);
        }
        self.last_edge(second + 2, third)
    }
}

/// Reports whether a body reads like hyphenated lower-case words, as in a CSS class name.
///
/// Generated tokens have digits, capitals or one long part; `sk-loading-spinner-container` has
/// none of them.
fn is_kebab(text: &str, from: usize, to: usize) -> bool {
    let body = super::chars::part(text, from, to);
    super::chars::tick(body.len());
    !body.bytes().any(|b| is(b, UPPER)) && body.split(['-', '_']).all(|word| word.len() < 16)
}
