//! What a search looks for: a text, or a regular expression run without backtracking.
//!
//! A pattern becomes a small program; all its threads walk the text side by side (Thompson's construction), so the time
//! is text times program and no pattern can make it explode. Groups do not capture; repetition is the same greedy or
//! lazy. Known signs:
//!
//! ```text
//! .  [a-z]  [^a-z]  \d \w \s \D \W \S  \b \B  ^ $  ( ) |  * + ? {2,5}  \t  \.
//! ```

use crate::error::{Error, ErrorCode, Result};
use crate::json::Fields;

/// Bytes of a pattern, instructions it may become, groups in groups, and steps of one search.
const MAX_BYTES: usize = 1024;
const MAX_PROGRAM: usize = 4096;
const MAX_GROUPS: usize = 50;
const MAX_STEPS: usize = 1 << 30;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pattern {
    Literal(String),
    Program { code: Vec<Op>, fold: bool },
}

/// One instruction; jumps are relative to its own place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Set { ranges: Vec<(char, char)>, negated: bool },
    Split(isize, isize),
    Jump(isize),
    Start,
    End,
    Border(bool),
}

impl Pattern {
    /// Takes `text`, or `pattern` with `regex`, and `ignore_case`.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let regex = fields.bool_or("regex", false)?;
        let fold = fields.bool_or("ignore_case", false)?;
        let key = if fields.has("text") && !regex { "text" } else { "pattern" };
        let source = fields.string(key)?;
        let fail = |code, message: &str| Err(Error::new(code, message).at(fields.at(key)));
        if source.is_empty() {
            return fail(ErrorCode::InvalidInput, "nothing to search for");
        }
        if source.len() > MAX_BYTES {
            return fail(ErrorCode::TooLarge, "a pattern has at most 1024 bytes");
        }
        if !regex && !fold {
            return Ok(Self::Literal(source));
        }
        let mut parser = Parser { rest: &source, depth: 0, fold };
        let code = if regex { parser.whole() } else { Some(source.chars().map(|ch| parser.one(ch)).collect()) };
        match code {
            Some(code) if code.len() <= MAX_PROGRAM => Ok(Self::Program { code, fold }),
            Some(_) => fail(ErrorCode::TooLarge, "the pattern repeats too much"),
            None => fail(ErrorCode::InvalidInput, "the pattern is not a regular expression of the supported kind"),
        }
    }

    /// Refuses a search that would take too many steps.
    pub fn check(&self, bytes: usize) -> Result<()> {
        match self {
            Self::Program { code, .. } if bytes.saturating_mul(code.len()) > MAX_STEPS => {
                Err(Error::new(ErrorCode::TooLarge, "the pattern is too long for a text of this size")
                    .hint("search for a shorter or literal text"))
            }
            _ => Ok(()),
        }
    }

    /// Finds the first match at or after a byte of the text; linear in the text.
    pub fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        match self {
            Self::Literal(literal) => {
                let at = from + text.get(from..)?.find(literal.as_str())?;
                Some((at, at + literal.len()))
            }
            Self::Program { code, fold } => Machine::new(code, *fold).find(text, from),
        }
    }
}

/// The simple lower case: one character for one.
fn lower(ch: char) -> char {
    let mut all = ch.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => ch,
    }
}

fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

struct Machine<'p> {
    code: &'p [Op],
    fold: bool,
    /// For every instruction, the last position at which a thread was there.
    seen: Vec<usize>,
    stack: Vec<usize>,
}

/// Threads as places in the program, with where each began.
type Threads = Vec<(usize, usize)>;

impl<'p> Machine<'p> {
    fn new(code: &'p [Op], fold: bool) -> Self {
        Self { code, fold, seen: vec![usize::MAX; code.len() + 1], stack: Vec::new() }
    }

    fn find(&mut self, text: &str, from: usize) -> Option<(usize, usize)> {
        let mut threads: Threads = Vec::new();
        let mut next: Threads = Vec::new();
        let mut before = text[..from].chars().next_back();
        let mut chars = text.get(from..)?.char_indices();
        // Threads wait at the characters they want; those of an earlier beginning come first.
        loop {
            let (at, ch) = chars.next().map_or((text.len(), None), |(at, ch)| (from + at, Some(ch)));
            for (place, start) in std::mem::take(&mut next) {
                if self.follow(place, start, at, before, ch, &mut threads) {
                    return Some((start, at));
                }
            }
            if self.follow(0, at, at, before, ch, &mut threads) {
                return Some((at, at));
            }
            let wanted = ch?;
            let folded = if self.fold { lower(wanted) } else { wanted };
            for (place, start) in threads.drain(..) {
                if let Op::Set { ranges, negated } = &self.code[place] {
                    let inside = |ch: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&ch));
                    if (inside(folded) || inside(wanted)) != *negated {
                        next.push((place + 1, start));
                    }
                }
            }
            before = ch;
        }
    }

    /// Follows jumps from a place until characters are wanted; tells whether the end of the program was reached.
    fn follow(
        &mut self,
        place: usize,
        start: usize,
        at: usize,
        before: Option<char>,
        after: Option<char>,
        threads: &mut Threads,
    ) -> bool {
        self.stack.push(place);
        while let Some(place) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[place], at) == at {
                continue;
            }
            let to = |by: isize| place.wrapping_add_signed(by);
            match self.code.get(place) {
                None => {
                    self.stack.clear();
                    return true;
                }
                Some(Op::Set { .. }) => threads.push((place, start)),
                Some(Op::Jump(by)) => self.stack.push(to(*by)),
                Some(Op::Split(first, second)) => self.stack.extend([to(*second), to(*first)]),
                Some(Op::Start) if before.is_none_or(|ch| ch == '\n') => self.stack.push(place + 1),
                Some(Op::End) if after.is_none_or(|ch| ch == '\n') => self.stack.push(place + 1),
                Some(Op::Border(wanted)) if (before.is_some_and(is_word) != after.is_some_and(is_word)) == *wanted => {
                    self.stack.push(place + 1);
                }
                Some(_) => {}
            }
        }
        false
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    fold: bool,
}

impl Parser<'_> {
    fn whole(&mut self) -> Option<Vec<Op>> {
        let code = self.choice()?;
        self.rest.is_empty().then_some(code)
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let ch = chars.next()?;
        self.rest = chars.as_str();
        Some(ch)
    }

    fn eat(&mut self, text: &str) -> bool {
        let tail = self.rest.strip_prefix(text);
        self.rest = tail.unwrap_or(self.rest);
        tail.is_some()
    }

    fn one(&self, ch: char) -> Op {
        let ch = if self.fold { lower(ch) } else { ch };
        Op::Set { ranges: vec![(ch, ch)], negated: false }
    }

    fn choice(&mut self) -> Option<Vec<Op>> {
        let mut left = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let atom = self.atom()?;
            left.extend(self.repeated(atom)?);
            if left.len() > MAX_PROGRAM {
                return Some(left);
            }
        }
        if !self.eat("|") {
            return Some(left);
        }
        // Choices nest to the right, as deep as groups may.
        self.depth += 1;
        let right = if self.depth > MAX_GROUPS { None } else { self.choice() }?;
        self.depth -= 1;
        let mut code = vec![Op::Split(1, left.len().cast_signed() + 2)];
        code.extend(left);
        code.push(Op::Jump(right.len().cast_signed() + 1));
        code.extend(right);
        Some(code)
    }

    fn atom(&mut self) -> Option<Vec<Op>> {
        let op = match self.next()? {
            '(' => {
                self.eat("?:");
                self.depth += 1;
                let code = if self.depth > MAX_GROUPS { None } else { self.choice() }?;
                self.depth -= 1;
                return self.eat(")").then_some(code);
            }
            '[' => self.set()?,
            '.' => Op::Set { ranges: vec![('\n', '\n')], negated: true },
            '^' => Op::Start,
            '$' => Op::End,
            '\\' => match self.next()? {
                'b' => Op::Border(true),
                'B' => Op::Border(false),
                ch => {
                    let mut ranges = Vec::new();
                    let negated = escape(ch, &mut ranges)?;
                    Op::Set { ranges, negated }
                }
            },
            '*' | '+' | '?' | ')' => return None,
            ch => self.one(ch),
        };
        Some(vec![op])
    }

    fn set(&mut self) -> Option<Op> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            let low = match self.next()? {
                ']' if !ranges.is_empty() => return Some(Op::Set { ranges, negated }),
                '\\' => {
                    let ch = self.next()?;
                    if escape(ch, &mut ranges)? {
                        return None;
                    }
                    continue;
                }
                ch => ch,
            };
            let high = if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.next();
                self.next()?
            } else {
                low
            };
            ranges.push((low, high));
            if self.fold {
                ranges.push((lower(low), lower(high)));
            }
        }
    }

    fn repeated(&mut self, atom: Vec<Op>) -> Option<Vec<Op>> {
        let (least, most) = match self.rest.chars().next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let (inside, _) = self.rest[1..].split_once('}')?;
                let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
                self.rest = &self.rest[inside.len() + 1..];
                let most = if high.is_empty() { None } else { Some(high.parse::<usize>().ok()?) };
                (low.parse::<usize>().ok()?, most)
            }
            _ => return Some(atom),
        };
        self.next();
        self.eat("?");
        let copies = most.unwrap_or(least + 1).max(least);
        if copies.saturating_mul(atom.len() + 1) > MAX_PROGRAM {
            // Too large, which the caller finds.
            return Some(vec![Op::Jump(1); MAX_PROGRAM + 1]);
        }
        let len = atom.len().cast_signed();
        let mut code = Vec::new();
        for _ in 0..least {
            code.extend(atom.iter().cloned());
        }
        match most {
            None => {
                code.push(Op::Split(1, len + 2));
                code.extend(atom);
                code.push(Op::Jump(-(len + 1)));
            }
            Some(most) => {
                for _ in least..most {
                    code.push(Op::Split(1, len + 1));
                    code.extend(atom.iter().cloned());
                }
            }
        }
        Some(code)
    }
}

/// Appends the characters of an escape; tells whether it means all others.
fn escape(ch: char, ranges: &mut Vec<(char, char)>) -> Option<bool> {
    match ch.to_ascii_lowercase() {
        'd' => ranges.push(('0', '9')),
        'w' => ranges.extend([('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_'), ('\u{aa}', char::MAX)]),
        's' => ranges.extend([('\t', '\r'), (' ', ' '), ('\u{a0}', '\u{a0}'), ('\u{2000}', '\u{200a}')]),
        't' if ch == 't' => ranges.push(('\t', '\t')),
        other if other.is_ascii_alphanumeric() => return None,
        _ => ranges.push((ch, ch)),
    }
    Some(ch.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(pattern: &str, fold: bool, text: &str) -> Option<(usize, usize)> {
        let mut fields = Fields::open(json!({ "pattern": pattern, "regex": true, "ignore_case": fold }), "").unwrap();
        Pattern::take(&mut fields).unwrap().find(text, 0)
    }

    #[test]
    fn expressions_match() {
        let cases = [
            ("b+", "abbc", Some((1, 2))),
            ("ab*c", "xabbc", Some((1, 5))),
            ("a(b|cd)?e", "ace acde", Some((4, 8))),
            ("^a.c$", "abc", Some((0, 3))),
            ("^b", "ab", None),
            ("E\\d{4}\\b", "E41900 E4190", Some((7, 12))),
            ("[^a-c]+x", "abcdx", Some((3, 5))),
            ("[]a]", "]", Some((0, 1))),
            ("\\[x\\]", "[x]", Some((0, 3))),
            ("é.", "aéö", Some((1, 5))),
            ("a{2,3}$", "aaaa", Some((1, 4))),
            ("(a|b|c)*d", "abcabd", Some((0, 6))),
            ("x*", "y", Some((0, 0))),
            ("(a*)*b", "aaac", None),
            ("\\bcat\\b", "concat cat", Some((7, 10))),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(find(pattern, false, text), expected, "{pattern} {text}");
        }
        assert_eq!(find("STRASSE|ÄB", true, "aäB"), Some((1, 4)));
        assert_eq!(find("[A-C]x", true, "bX"), Some((0, 2)));
    }

    #[test]
    fn bad_and_huge_patterns_are_refused() {
        let code = |pattern: &str| {
            let mut fields = Fields::open(json!({ "pattern": pattern, "regex": true }), "").unwrap();
            Pattern::take(&mut fields).unwrap_err().code()
        };
        let deep = "(".repeat(400);
        for bad in ["(", ")", "*a", "a{", "a{x}", "[", "[a", "\\", "\\q", "(?=a)", &deep] {
            assert_eq!(code(bad), ErrorCode::InvalidInput, "{bad}");
        }
        for huge in ["a{9999}", "((a{60}){60}){60}", &"a".repeat(1025)] {
            assert_eq!(code(huge), ErrorCode::TooLarge, "{huge}");
        }
    }

    #[test]
    fn no_pattern_explodes() {
        let text = "a".repeat(20_000);
        assert_eq!(find("(a|a)*(a|aa)*b", false, &text), None);
    }
}
