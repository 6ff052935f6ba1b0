//! Reads a regular expression into a tree.

use super::program::{CharSet, Dialect, Look, Node, lower};
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
    /// The sets of characters, one for each place that wants one.
    pub sets: Vec<CharSet>,
}

impl<'a> PatternParser<'a> {
    pub(super) fn new(rest: &'a str, dialect: Dialect, fold: bool) -> Self {
        Self { rest, depth: 0, dialect, fold, sets: Vec::new() }
    }

    pub(super) fn whole(&mut self) -> Option<Node> {
        let node = self.choice()?;
        self.rest.is_empty().then_some(node)
    }

    /// Returns a tree that wants the characters of a text.
    pub(super) fn literal(&mut self, text: &str) -> Node {
        Node::Sequence(text.chars().map(|ch| self.one(ch)).collect())
    }

    fn one(&mut self, ch: char) -> Node {
        let ch = if self.fold { lower(ch) } else { ch };
        self.add(vec![(ch, ch)], false)
    }

    fn add(&mut self, ranges: CharRanges, negated: bool) -> Node {
        self.sets.push(CharSet::new(ranges, negated));
        Node::Set(self.sets.len() as u16 - 1)
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

    fn choice(&mut self) -> Option<Node> {
        let mut all = vec![self.sequence()?];
        while self.eat("|") {
            all.push(self.sequence()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Node::Choice(all)) }
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut all = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let atom = self.atom()?;
            all.push(self.repeated(atom)?);
        }
        Some(Node::Sequence(all))
    }

    fn atom(&mut self) -> Option<Node> {
        let is_whole = self.dialect == Dialect::Whole;
        Some(match self.next()? {
            '(' => {
                self.eat("?:");
                self.depth += 1;
                let node = if self.depth > MAX_GROUPS { None } else { self.choice() }?;
                self.depth -= 1;
                return self.eat(")").then_some(node);
            }
            '[' => return self.set(),
            '.' if is_whole => self.add(vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')], true),
            '.' => self.add(vec![('\n', '\n')], true),
            '^' => Node::Look(Look::Start),
            '$' => Node::Look(Look::End),
            '\\' if self.eat("b") => Node::Look(Look::Border),
            '\\' if self.eat("B") => Node::Look(Look::NoBorder),
            '\\' => match self.escape()? {
                SetMember::One(ch) => self.one(ch),
                SetMember::Any(ranges) => self.add(ranges, false),
            },
            '*' | '+' | '?' | ')' => return None,
            // Not what JavaScript would take it for.
            '{' if is_whole => return None,
            ch => self.one(ch),
        })
    }

    fn set(&mut self) -> Option<Node> {
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
            if self.fold && lower(low) <= lower(high) {
                ranges.push((lower(low), lower(high)));
            }
        }
        Some(self.add(ranges, negated))
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

    fn repeated(&mut self, atom: Node) -> Option<Node> {
        // Counts are read as 64 bits everywhere, so that a huge one is refused in one way.
        let (least, most) = match self.rest.chars().next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let (inside, _) = self.rest[1..].split_once('}')?;
                let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
                self.rest = &self.rest[inside.len() + 1..];
                let most = if high.is_empty() { None } else { Some(high.parse::<u64>().ok()?) };
                (low.parse::<u64>().ok()?, most)
            }
            _ => return Some(atom),
        };
        self.next();
        self.eat("?");
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        Some(Node::Repeat { node: Box::new(atom), least: count(least), most: most.map(|most| count(most.max(least))) })
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
