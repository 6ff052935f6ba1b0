//! What an expression consists of, and the instructions it becomes, to be run forwards or backwards.

use contextweaver_base::order;

/// How the signs of an expression are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `^` and `$` are the ends of a line, `\w` are the letters of every script; for searching a text.
    Lines,
    /// `^` and `$` are the ends of the text, `\w` are ASCII letters, as in JavaScript; for JSON Schema.
    Whole,
}

/// The simple lower case: one character for one.
pub fn lower(ch: char) -> char {
    let mut all = ch.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => ch,
    }
}

/// Characters, as ranges in order that do not touch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CharSet {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl CharSet {
    pub fn new(mut ranges: Vec<(char, char)>, negated: bool) -> Self {
        order::sort(&mut ranges);
        let mut kept: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match kept.last_mut().filter(|last| low <= last.1) {
                Some(last) => last.1 = last.1.max(high),
                None => kept.push((low, high)),
            }
        }
        Self { ranges: kept, negated }
    }

    /// Tells whether a character is in the set, or its lower case.
    pub fn contains(&self, ch: char, folded: char) -> bool {
        let inside = |ch: char| {
            let after = self.ranges.partition_point(|(low, _)| *low <= ch);
            after.checked_sub(1).is_some_and(|at| ch <= self.ranges[at].1)
        };
        (inside(ch) || folded != ch && inside(folded)) != self.negated
    }

    /// Appends where ranges begin, and where what follows them begins.
    pub fn push_cuts(&self, cuts: &mut Vec<u32>) {
        cuts.extend(self.ranges.iter().flat_map(|(low, high)| [*low as u32, *high as u32 + 1]));
    }
}

/// What a place between two characters must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Start,
    End,
    Border,
    NoBorder,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// One character of the set with this number.
    Set(u16),
    Look(Look),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: usize,
        /// None for any number of times.
        most: Option<usize>,
    },
}

/// One instruction; jumps are relative to its own place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    Set(u16),
    /// Goes on with the next instruction and, beside it, elsewhere.
    Split(i16),
    Jump(i16),
    Look(Look),
}

impl Node {
    /// Returns how many instructions the tree becomes.
    pub fn size(&self) -> usize {
        let sum = |all: &[Self]| all.iter().fold(0, |sum: usize, node| sum.saturating_add(node.size()));
        match self {
            Self::Set(_) | Self::Look(_) => 1,
            Self::Sequence(all) => sum(all),
            Self::Choice(all) => sum(all).saturating_add(2 * (all.len() - 1)),
            Self::Repeat { node, least, most } => {
                let size = node.size();
                let always = least.saturating_mul(size);
                let optional = match most {
                    None => size.saturating_add(2),
                    Some(most) => (most - least).saturating_mul(size.saturating_add(1)),
                };
                // Repeating nothing takes time too.
                always.saturating_add(optional).max(most.unwrap_or(*least))
            }
        }
    }

    /// Tells whether places between characters are looked at.
    pub fn has_look(&self) -> bool {
        match self {
            Self::Set(_) => false,
            Self::Look(_) => true,
            Self::Sequence(all) | Self::Choice(all) => all.iter().any(Self::has_look),
            Self::Repeat { node, .. } => node.has_look(),
        }
    }

    /// Appends the instructions; those that run `backwards` read the text from its end.
    pub fn emit(&self, backwards: bool, code: &mut Vec<Op>) {
        // The size is checked before, so that every distance fits.
        let distance = |from: usize, to: usize| (to.cast_signed() - from.cast_signed()) as i16;
        match self {
            Self::Set(set) => code.push(Op::Set(*set)),
            Self::Look(look) => code.push(Op::Look(match look {
                Look::Start if backwards => Look::End,
                Look::End if backwards => Look::Start,
                look => *look,
            })),
            Self::Sequence(all) => {
                for at in 0..all.len() {
                    all[if backwards { all.len() - 1 - at } else { at }].emit(backwards, code);
                }
            }
            Self::Choice(all) => {
                let mut jumps = Vec::with_capacity(all.len());
                for (index, node) in all.iter().enumerate() {
                    let split = code.len();
                    let is_last = index + 1 == all.len();
                    if !is_last {
                        code.push(Op::Split(0));
                    }
                    node.emit(backwards, code);
                    if !is_last {
                        jumps.push(code.len());
                        code.push(Op::Jump(0));
                        code[split] = Op::Split(distance(split, code.len()));
                    }
                }
                for jump in jumps {
                    code[jump] = Op::Jump(distance(jump, code.len()));
                }
            }
            Self::Repeat { node, least, most } => {
                for _ in 0..*least {
                    node.emit(backwards, code);
                }
                let first = code.len();
                let Some(most) = most else {
                    code.push(Op::Split(0));
                    node.emit(backwards, code);
                    code.push(Op::Jump(distance(code.len(), first)));
                    code[first] = Op::Split(distance(first, code.len()));
                    return;
                };
                // Who leaves one of these copies leaves all, so that no place can be reached in many ways.
                let mut splits = Vec::with_capacity(most - least);
                for _ in *least..*most {
                    splits.push(code.len());
                    code.push(Op::Split(0));
                    node.emit(backwards, code);
                }
                for split in splits {
                    code[split] = Op::Split(distance(split, code.len()));
                }
            }
        }
    }
}
