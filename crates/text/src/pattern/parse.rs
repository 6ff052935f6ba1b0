//! Reads a regular expression into a program.

use super::{Dialect, MAX_PROGRAM, Op, lower};
use contextweaver_base::order;

/// Levels of groups within groups, at most.
const MAX_GROUPS: usize = 50;

/// Characters from one to another, both included.
type CharRanges = Vec<(char, char)>;

/// What an escape or a place in a set stands for.
enum SetMember {
    One(char),
    Any(CharRanges),
}

pub(super) struct PatternParser<'a> {
    rest: &'a str,
    depth: usize,
    dialect: Dialect,
    fold: bool,
}

impl<'a> PatternParser<'a> {
    pub(super) fn new(rest: &'a str, dialect: Dialect, fold: bool) -> Self {
        Self { rest, depth: 0, dialect, fold }
    }

    pub(super) fn whole(&mut self) -> Option<Vec<Op>> {
        let code = self.choice()?;
        self.rest.is_empty().then_some(code)
    }

    pub(super) fn one(&self, ch: char) -> Op {
        let ch = if self.fold { lower(ch) } else { ch };
        Op::Set { ranges: vec![(ch, ch)], negated: false }
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
        let is_whole = self.dialect == Dialect::Whole;
        let any = |ranges| Op::Set { ranges, negated: false };
        let op = match self.next()? {
            '(' => {
                self.eat("?:");
                self.depth += 1;
                let code = if self.depth > MAX_GROUPS { None } else { self.choice() }?;
                self.depth -= 1;
                return self.eat(")").then_some(code);
            }
            '[' => self.set()?,
            '.' if is_whole => {
                let ends = vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')];
                Op::Set { ranges: ends, negated: true }
            }
            '.' => Op::Set { ranges: vec![('\n', '\n')], negated: true },
            '^' => Op::Start,
            '$' => Op::End,
            '\\' if self.eat("b") => Op::Border(true),
            '\\' if self.eat("B") => Op::Border(false),
            '\\' => match self.escape()? {
                SetMember::One(ch) => self.one(ch),
                SetMember::Any(ranges) => any(ranges),
            },
            '*' | '+' | '?' | ')' => return None,
            // Not what JavaScript would take it for.
            '{' if is_whole => return None,
            ch => self.one(ch),
        };
        Some(vec![op])
    }

    fn set(&mut self) -> Option<Op> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        if self.dialect == Dialect::Whole && self.rest.starts_with(']') {
            return None;
        }
        while ranges.is_empty() || !self.eat("]") {
            let low = match self.place()? {
                SetMember::One(low) => low,
                SetMember::Any(more) => {
                    ranges.extend(more);
                    continue;
                }
            };
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let high = if is_range {
                self.next();
                match self.place()? {
                    SetMember::One(high) if high >= low => high,
                    _ => return None,
                }
            } else {
                low
            };
            ranges.push((low, high));
            if self.fold {
                ranges.push((lower(low), lower(high)));
            }
        }
        Some(Op::Set { ranges, negated })
    }

    /// Takes one character of a set, or an escape that stands for several.
    fn place(&mut self) -> Option<SetMember> {
        match self.next()? {
            '\\' => self.escape(),
            ch => Some(SetMember::One(ch)),
        }
    }

    /// Takes what follows a backslash.
    fn escape(&mut self) -> Option<SetMember> {
        let ch = self.next()?;
        let one = match ch {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => char::from_u32(self.hex(2)?)?,
            'u' if self.eat("{") => {
                let (digits, rest) = self.rest.split_once('}')?;
                self.rest = rest;
                char::from_u32(number(digits)?)?
            }
            'u' => self.unit()?,
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => {
                let ranges = class(ch.to_ascii_lowercase(), self.dialect);
                return Some(SetMember::Any(if ch.is_ascii_uppercase() { others(ranges) } else { ranges }));
            }
            other if other.is_ascii_alphanumeric() => return None,
            other => other,
        };
        Some(SetMember::One(one))
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        number(digits)
    }

    /// Takes four hexadecimal digits, or twice four for the halves of one character.
    fn unit(&mut self) -> Option<char> {
        let first = self.hex(4)?;
        if !(0xd800..0xdc00).contains(&first) || !self.eat("\\u") {
            return char::from_u32(first);
        }
        let second = self.hex(4)?.checked_sub(0xdc00)?;
        char::from_u32(0x1_0000 + (first - 0xd800) * 0x400 + second)
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
        let copies = most.unwrap_or(least.saturating_add(1)).max(least);
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

fn number(digits: &str) -> Option<u32> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hex { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// Returns the characters of `\d`, `\w` or `\s`.
fn class(name: char, dialect: Dialect) -> CharRanges {
    match name {
        'd' => vec![('0', '9')],
        'w' => {
            let mut ranges = vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
            if dialect == Dialect::Lines {
                ranges.push(('\u{aa}', char::MAX));
            }
            ranges
        }
        _ => vec![
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ],
    }
}

/// Returns all characters but these.
fn others(mut ranges: CharRanges) -> CharRanges {
    order::sort(&mut ranges);
    let mut rest = Vec::new();
    let mut free = Some('\0');
    for (low, high) in ranges {
        if let Some(first) = free
            && first < low
        {
            rest.push((first, beside(low, -1).unwrap_or(first)));
        }
        free = beside(high, 1);
    }
    rest.extend(free.map(|first| (first, char::MAX)));
    rest
}

/// Returns the character before or after one; none lies between the halves of surrogates.
fn beside(ch: char, step: i32) -> Option<char> {
    match (ch, step) {
        ('\u{d7ff}', 1) => Some('\u{e000}'),
        ('\u{e000}', -1) => Some('\u{d7ff}'),
        _ => (ch as u32).checked_add_signed(step).and_then(char::from_u32),
    }
}
