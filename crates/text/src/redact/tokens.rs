//! Tokens that are recognisable by a fixed prefix or by a mark inside.

use super::chars::{
    ALNUM, ALNUM_UNDER, BASE64, DASH, DIGIT, DOT, DOTTED, EQUALS, HEX, LETTER, TILDE, UPPER, URLSAFE, after, before,
    byte, is, is_word, part, rest, run, run_back, tick,
};
use super::keys::is_generated;
use super::keys::is_placeholder;
use super::rules::{TokenRule, TokenShape};
use super::scanner::Scanner;

impl Scanner<'_> {
    /// Finds a token of one rule of which the prefix starts at an offset.
    pub(super) fn token_at(&mut self, rule: &TokenRule, at: usize, floor: usize) -> Option<(usize, usize)> {
        let body = self.body_start(rule, at)?;
        let span = if self.opens_word(at) { self.token_span(rule, at, body, floor) } else { None };
        // Documents write `x` for each character.
        span.filter(|&(_, end)| end <= body || !is_placeholder(part(self.text, body, end)))
    }

    /// Matches the prefix of a rule and returns where the body starts.
    fn body_start(&self, rule: &TokenRule, at: usize) -> Option<usize> {
        let mut end = at;
        for wanted in rule.prefix.bytes() {
            let mut found = byte(self.text, end)?;
            // JSON may have a backslash before a slash.
            if wanted == b'/' && found == b'\\' {
                end += 1;
                found = byte(self.text, end)?;
            }
            if found != wanted && !(wanted == b'?' && rule.wild.as_bytes().contains(&found)) {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    /// Reports whether a word may start at an offset.
    ///
    /// Scripts without spaces write a token right after a letter, and text inside JSON strings and URLs has it after `\n`
    /// or `%3D`.
    pub(super) fn opens_word(&self, at: usize) -> bool {
        let Some(previous) = before(self.text, at) else {
            return true;
        };
        !previous.is_ascii() || !is(previous as u8, ALNUM_UNDER) || self.ends_escape(at)
    }

    /// Reports whether an escape of JSON or of a URL ends at an offset.
    pub(super) fn ends_escape(&self, at: usize) -> bool {
        let back = |count: usize| at.checked_sub(count).and_then(|before| byte(self.text, before));
        let hex = |count: usize| (1..=count).all(|at| back(at).is_some_and(|b| is(b, HEX)));
        matches!(back(1), Some(b'n' | b'r' | b't')) && back(2) == Some(b'\\')
            || hex(2) && (back(3) == Some(b'%') || back(3) == Some(b'x') && back(4) == Some(b'\\'))
            || hex(4) && back(5) == Some(b'u') && back(6) == Some(b'\\')
    }

    /// Reports whether exactly one side of an offset is a word character.
    fn edge(&self, at: usize) -> bool {
        let word = |c: char| is_word(c) && c.is_ascii();
        before(self.text, at).is_some_and(word) != after(self.text, at).is_some_and(word)
    }

    /// Matches what follows a prefix, and returns what has to be masked.
    fn token_span(&mut self, rule: &TokenRule, at: usize, body: usize, floor: usize) -> Option<(usize, usize)> {
        let least = usize::from(rule.least);
        let whole = |end: Option<usize>| end.map(|end| (at, end));
        match rule.shape {
            TokenShape::Exact if rule.class == UPPER => {
                let end = run(self.text, body, rule.class, least);
                whole((end == body + least && self.edge(end)).then_some(end))
            }
            TokenShape::Exact | TokenShape::Least => {
                // This looks back a few bytes; a run may be as long as the text.
                if self.in_base64(rule, at) {
                    return None;
                }
                whole(self.long_run(rule.class, body, least))
            }
            TokenShape::Pair => {
                let dot = run(self.text, body, rule.class, usize::MAX);
                if dot < body + least || byte(self.text, dot) != Some(b'.') {
                    return None;
                }
                let end = run(self.text, dot + 1, rule.class, usize::MAX);
                whole((end > dot + least).then_some(end))
            }
            TokenShape::Jwt => whole(self.jwt_end(body)),
            TokenShape::Sized | TokenShape::Mixed => {
                let most = usize::from(rule.most);
                let end = self.before_stop(body, run(self.text, body, rule.class, most + 4));
                let value = part(self.text, body, end);
                let joined = at.checked_sub(1).and_then(|at| byte(self.text, at)).is_some_and(|b| is(b, DASH | DOT));
                let marked = rule.prefix.contains('?') || value.contains(rule.wild);
                let mixed = rule.shape == TokenShape::Sized
                    || value.bytes().any(|b| b.is_ascii_lowercase()) && value.bytes().any(|b| b.is_ascii_uppercase());
                let fits = (body + least..=body + most).contains(&end) && !joined && marked && mixed;
                whole((fits && is_generated(value) && !self.in_base64(rule, at)).then_some(end))
            }
            TokenShape::Triple => whole(self.triple_end(body, least)),
            TokenShape::Url => {
                self.long_run(rule.class, body, least)?;
                let host = run_back(self.text, at, DOTTED, 64.min(at - floor));
                let scheme = part(self.text, floor, host).trim_end_matches("://").len() + floor;
                let start =
                    if scheme + 3 == host { run_back(self.text, scheme, LETTER, 8.min(scheme - floor)) } else { host };
                Some((start, self.url_end(body)))
            }
            TokenShape::Value => self.long_run(rule.class, body, least).map(|end| (body, end)),
            TokenShape::Around => {
                let separator = at.checked_sub(1).filter(|&at| matches!(byte(self.text, at), Some(b'.' | b'-')))?;
                let start = run_back(self.text, separator, rule.class, least);
                let fits = start >= floor && separator - start == least && self.opens_word(start);
                (fits && is_generated(part(self.text, start, separator)))
                    .then(|| (start, self.before_stop(body, run(self.text, body, DOTTED | EQUALS, usize::MAX))))
            }
        }
    }

    /// Returns the end of a run that is long enough and does not read like words.
    fn long_run(&mut self, class: u16, body: usize, least: usize) -> Option<usize> {
        if body < self.kebab_dead.0 && class & !self.kebab_dead.1 == 0 {
            return None;
        }
        let end = self.before_stop(body, run(self.text, body, class, usize::MAX));
        if end < body + least {
            return None;
        }
        if is_kebab(self.text, body, end) {
            // Every later body in this run reads like words as well.
            self.kebab_dead = (end, class);
            return None;
        }
        Some(end)
    }

    /// Returns the end of a run before the full stops of a sentence, at most three.
    fn before_stop(&self, body: usize, end: usize) -> usize {
        let run = part(self.text, body, end);
        let stops = run.bytes().rev().take(3).take_while(|&b| b == b'.').count();
        end - stops
    }

    /// Reports whether a prefix of mere letters stands inside of base64.
    fn in_base64(&self, rule: &TokenRule, at: usize) -> bool {
        let letters = rule.prefix.bytes().all(|b| is(b, ALNUM));
        let sign = at.checked_sub(1).and_then(|at| byte(self.text, at)).is_some_and(|b| b == b'+' || b == b'/');
        // The parts of a path are not generated.
        letters && sign && is_generated(part(self.text, run_back(self.text, at, BASE64, 24), at))
    }

    /// Returns the end of the secret part of a URL: before a backslash that is none of JSON's before a slash, and
    /// before the punctuation of the sentence.
    fn url_end(&self, body: usize) -> usize {
        let end = run(self.text, body, super::chars::PATH, usize::MAX);
        let path = part(self.text, body, end);
        let slash =
            path.bytes().enumerate().position(|(at, b)| b == b'\\' && path.as_bytes().get(at + 1) != Some(&b'/'));
        body + part(path, 0, slash.unwrap_or(path.len())).trim_end_matches(['.', ':', '?', '&']).len()
    }

    /// Matches a number as base64, six characters and a signature, with dots between.
    fn triple_end(&self, body: usize, least: usize) -> Option<usize> {
        let dot = run(self.text, body, URLSAFE, 2 * least);
        let next = run(self.text, dot + 1, URLSAFE, 7);
        let dots = byte(self.text, dot) == Some(b'.') && byte(self.text, next) == Some(b'.');
        let end = run(self.text, next + 1, URLSAFE, 64);
        (dots && dot >= body + least && next == dot + 7 && end > next + 27).then_some(end)
    }

    /// Finds a token by a mark inside of it.
    ///
    /// core.telegram.org/bots: the number of a bot, a colon, and 35 characters that start with `A`.
    /// learn.microsoft.com: a client secret has three characters, a digit and `Q~` in front.
    pub(super) fn token_around(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        if byte(self.text, at) == Some(b':') {
            if byte(self.text, at + 1) != Some(b'A') {
                return None;
            }
            let start = run_back(self.text, at, DIGIT, 11);
            let head = part(self.text, 0, start);
            let end = run(self.text, at + 1, URLSAFE, 36);
            let fits = (8..=10).contains(&(at - start)) && end == at + 36 && start >= floor;
            return (fits && (self.opens_word(start) || head.ends_with("bot"))).then_some((start, end));
        }
        let head = part(self.text, 0, at).strip_suffix('Q')?;
        let start = head.len().checked_sub(4).filter(|&start| start >= floor)?;
        let class = DOTTED | TILDE;
        let known = head.ends_with(|c: char| c.is_ascii_digit()) && run(self.text, start, class, 4) == start + 4;
        let end = run(self.text, at + 1, class, 40);
        let length = part(self.text, at + 1, end).trim_end_matches('.').len();
        // Not inside of a longer run, of which a part would be left when the rest is masked; but behind an escape.
        let before = start.checked_sub(1).and_then(|at| byte(self.text, at)).unwrap_or(b' ');
        let alone = !is(before, class) || is(before, ALNUM) && self.opens_word(start);
        (known && alone && (31..=34).contains(&length)).then_some((start, at + 1 + length))
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
        (third > second + 1).then_some(third)
    }
}

/// Reports whether a body reads like hyphenated lower-case words, as in a CSS class name.
///
/// Generated tokens have digits, capitals or one long part; `sk-loading-spinner-container` has
/// none of them.
fn is_kebab(text: &str, from: usize, to: usize) -> bool {
    let body = part(text, from, to);
    tick(body.len());
    !body.bytes().any(|b| is(b, UPPER)) && body.split(['-', '_', '.', '/']).all(|word| word.len() < 16)
}
