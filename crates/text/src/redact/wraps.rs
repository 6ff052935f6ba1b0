//! Line breaks in the middle of a word: of terminals, of quoted-printable, of base64 and of folded text.
//!
//! Nothing in a text says that a line was broken for its length alone. So a break counts only where both sides are one
//! piece without it, and what is found across a break counts only if what is behind it looks like the rest of a token.

use super::chars::binds;
use super::chars::{ALNUM, DIGIT, EQUALS, PATH, UNDER, URLSAFE, byte, is, part, rest, run, tick};
use super::keys::is_generated;
use super::openings::openings;
use super::rules::{RULES, TokenShape};
use super::scanner::{Scanner, TOKENS};

/// Narrowest line that a terminal or a tool breaks, in bytes.
const MIN_LINE: usize = 40;
/// Narrowest line that ends in the sign of quoted-printable, in bytes.
const MIN_QUOTED_LINE: usize = 20;
/// Shortest word that is broken, in bytes.
const MIN_WORD: usize = 14;
/// Shortest word of mere letters that is broken, in bytes; two words of prose are shorter.
const MIN_LETTERS: usize = 32;
/// Shortest part of an indented word that is broken, in bytes.
const MIN_PART: usize = 16;
/// Bound on the parts of a word that are looked at, in bytes.
const MAX_PART: usize = 256;

/// Returns the start and the end of a line break inside of a word, of which the line feed is at an offset.
pub(super) fn soft_break(text: &str, at: usize) -> Option<(usize, usize)> {
    let back = |from: usize, sign: u8| from - usize::from(from > 0 && byte(text, from - 1) == Some(sign));
    let bare = back(at, b'\r');
    let start = back(bare, b'=');
    let quoted = start < bare;
    let next = byte(text, at + 1)?;
    let left = start.checked_sub(1).and_then(|at| byte(text, at));
    if !binds(left) || !(next == b' ' || binds(Some(next))) {
        return None;
    }
    if next != b' ' {
        let least = if quoted { MIN_QUOTED_LINE } else { MIN_LINE };
        tick(least);
        if text.as_bytes().get(start.checked_sub(least)?..start)?.contains(&b'\n') {
            return None;
        }
    }
    let most = if next == b' ' { MAX_PART } else { MIN_LETTERS };
    let head = text.as_bytes().get(..start)?.iter().rev().take(most);
    let before = head.take_while(|&&b| binds(Some(b))).count();
    let indent = rest(text, at + 1).bytes().take(MAX_PART).take_while(|&b| b == b' ').count();
    let end = at + 1 + indent;
    let after = rest(text, end).bytes().take(most).take_while(|&b| binds(Some(b))).count();
    tick(before + indent + after);
    let marked = |word: &str| word.bytes().any(|b| is(b, DIGIT | UNDER));
    let marked = || marked(part(text, start - before, start)) || marked(part(text, end, end + after));
    if after == 0 || before + after < MIN_WORD || before + after < MIN_LETTERS && !marked() {
        return None;
    }
    if indent > 0 {
        let line = part(text, (start - before).saturating_sub(indent + 1), start - before);
        let alone = line.len() == indent + 1 && line.starts_with('\n') && line.trim().is_empty();
        let ends = matches!(byte(text, end + after), None | Some(b'\n' | b'\r' | b'='));
        return (alone && ends && before >= MIN_PART).then_some((start, end));
    }
    Some((start, end))
}

impl Scanner<'_> {
    /// Reports whether a secret may go over the line break at an offset: whether the word before it is the start of a
    /// token, or the value of a key.
    pub(super) fn may_wrap(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let back = |count: usize| at.checked_sub(count).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let valued = self.value_end + 2 >= at;
        let opened = self.opened.iter().any(|opened| opened.saturating_add(MAX_PART) >= at);
        let opens = || (1..=5).any(|count| is(back(count), ALNUM | UNDER) && !is(back(count + 1), ALNUM | UNDER));
        if !valued && !opened && !opens() {
            return false;
        }
        let Some((start, end)) = soft_break(self.text, at) else { return false };
        if valued {
            return true;
        }
        let head = bytes.get(..start).unwrap_or_default().iter().rev().take(MAX_PART);
        // There are prefixes with these signs.
        let word = start - head.take_while(|&&b| binds(Some(b)) || matches!(b, b'$' | b'=')).count();
        let tail = bytes.get(end..).unwrap_or_default().iter().take(MAX_PART);
        let length = start - word + tail.take_while(|&&b| binds(Some(b))).count();
        tick(length);
        let joined = |at: usize| bytes.get(if at < start { at } else { at - start + end }).copied().unwrap_or_default();
        let opens = |at: usize| {
            let first = at == word || !is(joined(at - 1), ALNUM | UNDER);
            let listed: &[u16] = if first { openings([joined(at), joined(at + 1), joined(at + 2)]) } else { &[] };
            listed.iter().filter_map(|&number| RULES.get(usize::from(number))).any(|rule| {
                let fits = |(offset, wanted): (usize, u8)| {
                    let found = joined(at + offset);
                    found == wanted || wanted == b'?' && rule.wild.as_bytes().contains(&found)
                };
                let body = at + rule.prefix.len();
                let parted = matches!(rule.shape, TokenShape::Around | TokenShape::Pair | TokenShape::Jwt);
                let least = if parted { 0 } else { usize::from(rule.least) };
                body - word + least <= length
                    && rule.prefix.bytes().enumerate().all(fits)
                    && (body..body + least).all(|at| is(joined(at), rule.class))
            })
        };
        // What was met on the way, or is broken itself.
        let met = self.opened.iter().copied().filter(|at| (word..start).contains(at));
        met.chain(word.max(start.saturating_sub(3))..start).any(opens)
    }
}

/// Reports whether what a rule found goes over line breaks, and is one token there: by the looks of the rest, or because
/// the form of a token is not complete without it.
pub(super) fn is_wrapped(text: &str, start: usize, end: usize, rule: u32, mask: &str) -> bool {
    let found = part(text, start, end);
    let Some(head) = found.find('\n') else { return false };
    let next = byte(text, end);
    let goes_on = next.is_some_and(|b| is(b, URLSAFE | EQUALS) || b == b':' || b == b'(');
    tick(end - start);
    // A value has no form of its own, so the next line has to look generated.
    let rests =
        || rest(found, head + 1).split('\n').all(|line| is_rest(line) && (rule & TOKENS != 0 || is_generated(line)));
    let part_alone = || Scanner::new(part(text, 0, start + head), mask).next(start, start, rule).is_some();
    !goes_on && (rests() || rule & TOKENS != 0 && !part_alone())
}

/// Reports whether the start of a line looks like the rest of a token rather than a word.
pub(super) fn is_rest(line: &str) -> bool {
    let value = line.trim().trim_end_matches('=');
    let of = |test: fn(&u8) -> bool| value.bytes().any(|b| test(&b));
    let turns = value.as_bytes().windows(2).filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    let plain = run(value, 0, PATH, usize::MAX) == value.len() && !value.contains(['=', ':']);
    let mixed = of(u8::is_ascii_digit) && of(u8::is_ascii_alphabetic);
    plain
        && of(|&b| is(b, ALNUM))
        && (mixed || value.len() >= MIN_PART || turns.count() >= if value.len() < 8 { 2 } else { 1 })
}
