//! Runs a program over a text: all its threads side by side, and never the same set of threads twice.
//!
//! A set of threads is a state, and where it goes at a character is kept in a table once it was worked out, so that most
//! characters cost one look into the table (a lazy DFA). The table is bounded: when it is full it is begun anew, and
//! working a state out counts every instruction that is visited.

use super::program::{CharSet, Look, Op, lower};
use contextweaver_base::{Result, StepBudget, order};

/// Entries of a table, and places in programs that its states consist of.
const TABLE_ENTRIES: usize = 1 << 15;
const STATE_PLACES: usize = 1 << 16;
/// Characters whose class is remembered.
const KNOWN_CHARS: usize = 256;
/// Steps of working out where a state goes, beside the instructions visited.
const MISS_STEPS: usize = 16;

/// An entry that is not worked out.
const UNKNOWN: u32 = u32::MAX;
/// The state that leads nowhere.
const DEAD: u32 = UNKNOWN / 2 - 1;

/// What stands on one side of a place, as far as `^`, `$` and `\b` ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CharKind {
    /// The end of the text, or of a line.
    Edge,
    Word,
    Other,
}

/// Characters that no instruction tells apart are of one class; 0 is the end of the text.
pub(super) struct Alphabet<'p> {
    sets: &'p [CharSet],
    fold: bool,
    lines: bool,
    /// Whether kinds matter.
    has_look: bool,
    cuts: Vec<u32>,
    /// Of the characters last seen, the class.
    known: Vec<(char, u16)>,
    /// What distinguishes the classes, sorted, with their numbers.
    keys: Vec<((u32, u32, CharKind), u16)>,
    kinds: Vec<CharKind>,
    /// For each class, for each set, whether it contains the class.
    members: Vec<bool>,
    /// Steps that were taken for new classes.
    steps: usize,
}

impl<'p> Alphabet<'p> {
    pub fn new(sets: &'p [CharSet], fold: bool, lines: bool, has_look: bool) -> Self {
        let mut cuts = Vec::new();
        for set in sets {
            set.push_cuts(&mut cuts);
        }
        order::sort_distinct(&mut cuts);
        let steps = cuts.len() * 8;
        let mut alphabet = Self {
            sets,
            fold,
            lines,
            has_look,
            cuts,
            known: Vec::new(),
            keys: Vec::new(),
            kinds: Vec::new(),
            members: Vec::new(),
            steps,
        };
        // The end of the text is in no set.
        alphabet.kinds.push(alphabet.kind(None));
        alphabet.members.resize(sets.len(), false);
        alphabet.known.resize(KNOWN_CHARS, ('\0', 0));
        alphabet
    }

    /// Returns the bytes of what was learned.
    pub fn memory(&self) -> usize {
        self.cuts.len() * 4 + self.known.len() * 8 + self.keys.len() * 16 + self.members.len()
    }

    fn kind(&self, ch: Option<char>) -> CharKind {
        match ch {
            _ if !self.has_look => CharKind::Other,
            None => CharKind::Edge,
            Some('\n') if self.lines => CharKind::Edge,
            Some('_') => CharKind::Word,
            Some(ch) if ch.is_ascii_alphanumeric() || self.lines && ch.is_alphanumeric() => CharKind::Word,
            Some(_) => CharKind::Other,
        }
    }

    fn class(&mut self, ch: char) -> usize {
        let (known, class) = self.known[ch as usize % KNOWN_CHARS];
        if known == ch && class > 0 { usize::from(class) } else { self.look_up(ch) }
    }

    #[cold]
    fn look_up(&mut self, ch: char) -> usize {
        let folded = if self.fold { lower(ch) } else { ch };
        let cut = |ch: char| self.cuts.partition_point(|cut| *cut <= ch as u32) as u32;
        let key = (cut(ch), cut(folded), self.kind(Some(ch)));
        let class = match self.keys.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(at) => self.keys[at].1,
            Err(at) => {
                let class = self.kinds.len() as u16;
                self.keys.insert(at, (key, class));
                self.kinds.push(key.2);
                self.members.extend(self.sets.iter().map(|set| set.contains(ch, folded)));
                self.steps += self.sets.len() * 8;
                class
            }
        };
        self.steps += MISS_STEPS;
        self.known[ch as usize % KNOWN_CHARS] = (ch, class);
        usize::from(class)
    }
}

/// A program with the states that were worked out.
pub(super) struct Automaton {
    code: Vec<Op>,
    /// Whether a match may begin anywhere.
    searching: bool,
    /// Entries of one state in the table: the classes there is room for.
    stride: usize,
    /// For each state and class, the next state times two, plus one where a match ends before the character.
    table: Vec<u32>,
    /// The states one after the other: the kind of the character before, then places in the program in order.
    places: Vec<u16>,
    /// Where states end in `places`.
    ends: Vec<u32>,
    /// Hashes of what the states consist of.
    hashes: Vec<u64>,
    /// Numbers of the states in the order of their hashes.
    sorted: Vec<u16>,
    /// The state that is worked out.
    current: Vec<u16>,
    /// The places of the state that follows, as bits.
    next: Vec<u64>,
    /// For each instruction, when it was visited last.
    seen: Vec<u32>,
    visit: u32,
    stack: Vec<u16>,
    /// How often the table was begun anew.
    era: u32,
}

impl Automaton {
    /// Makes an automaton; one that is `searching` finds matches that begin anywhere, another those at its beginning.
    pub fn new(code: Vec<Op>, searching: bool) -> Self {
        Self {
            next: vec![0; code.len() / 64 + 1],
            seen: vec![0; code.len() + 1],
            code,
            searching,
            stride: 16,
            table: Vec::new(),
            places: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            sorted: Vec::new(),
            current: Vec::new(),
            visit: 0,
            stack: Vec::new(),
            era: 0,
        }
    }

    /// Returns the bytes of the program and of what was learned.
    pub fn memory(&self) -> usize {
        self.code.len() * 8 + self.table.len() * 4 + self.places.len() * 2 + self.ends.len() * 14
    }

    /// Runs over characters that follow `before`; returns the bytes of them at which the first match ends, or the last one
    /// that ends within `last` bytes. Characters beyond are looked at, as the place before them may have to be an edge.
    pub fn run(
        &mut self,
        alphabet: &mut Alphabet<'_>,
        mut chars: impl Iterator<Item = char>,
        (before, last): (Option<char>, Option<usize>),
        budget: &mut StepBudget,
    ) -> Result<Option<usize>> {
        self.current.clear();
        self.current.push(alphabet.kind(before) as u16);
        if !self.searching {
            self.current.push(0);
        }
        let mut state = self.intern();
        // The program had to be written, which takes time too.
        let written = if self.visit == 0 { self.code.len() } else { 0 };
        let (mut bytes, mut count, mut found) = (0, written + MISS_STEPS, None);
        loop {
            let next = chars.next();
            let class = next.map_or(0, |ch| alphabet.class(ch));
            let mut entry =
                if class < self.stride { self.table[state as usize * self.stride + class] } else { UNKNOWN };
            if entry == UNKNOWN {
                let before = count + std::mem::take(&mut alphabet.steps);
                count = 0;
                entry = self.work_out(state, class, alphabet, before, budget)?;
            }
            if entry & 1 == 1 {
                found = Some(bytes);
            }
            state = entry >> 1;
            let (true, Some(ch)) = (state != DEAD && (last.is_some() || found.is_none()), next) else { break };
            bytes += ch.len_utf8();
            count += 1;
            if last.is_some_and(|last| bytes > last) {
                break;
            }
        }
        budget.charge(count + std::mem::take(&mut alphabet.steps))?;
        Ok(found)
    }

    /// Works out where a state goes at a class of characters, and notes it.
    #[inline(never)]
    fn work_out(
        &mut self,
        state: u32,
        class: usize,
        alphabet: &Alphabet<'_>,
        steps: usize,
        budget: &mut StepBudget,
    ) -> Result<u32> {
        let mut state = state;
        self.current.clear();
        self.current.extend_from_slice(Self::places(&self.places, &self.ends, state as usize));
        if class >= self.stride {
            self.clear();
            self.stride = alphabet.kinds.len().next_power_of_two();
            state = self.intern();
        }
        let waiting = std::mem::take(&mut self.current);
        let before = waiting.first().map_or(CharKind::Other, |kind| match kind {
            0 => CharKind::Edge,
            1 => CharKind::Word,
            _ => CharKind::Other,
        });
        let after = alphabet.kinds[class];
        let members = &alphabet.members[class * alphabet.sets.len()..][..alphabet.sets.len()];
        self.visit = self.visit.wrapping_add(1);
        let (mut visited, mut matched) = (0, false);
        let begin = self.searching.then_some(0);
        for place in waiting[1..].iter().copied().chain(begin) {
            self.stack.push(place);
            while let Some(place) = self.stack.pop() {
                visited += 1;
                if std::mem::replace(&mut self.seen[usize::from(place)], self.visit) == self.visit {
                    continue;
                }
                let to = |by: i16| place.wrapping_add_signed(by);
                match self.code.get(usize::from(place)) {
                    None => matched = true,
                    Some(Op::Set(set)) if members[usize::from(*set)] => {
                        self.next[usize::from(place + 1) / 64] |= 1 << ((place + 1) % 64);
                    }
                    Some(Op::Set(_)) => {}
                    Some(Op::Jump(by)) => self.stack.push(to(*by)),
                    Some(Op::Split(by)) => self.stack.extend([to(*by), place + 1]),
                    Some(Op::Look(look)) => {
                        let holds = match look {
                            Look::Start => before == CharKind::Edge,
                            Look::End => after == CharKind::Edge,
                            Look::Border => (before == CharKind::Word) != (after == CharKind::Word),
                            Look::NoBorder => (before == CharKind::Word) == (after == CharKind::Word),
                        };
                        if holds {
                            self.stack.push(place + 1);
                        }
                    }
                }
            }
        }
        budget.charge(steps + MISS_STEPS + visited + waiting.len())?;
        // Taken out of the bits, places are in order.
        self.current = waiting;
        self.current.clear();
        self.current.push(after as u16);
        for (index, bits) in self.next.iter_mut().enumerate() {
            while *bits != 0 {
                self.current.push((index * 64) as u16 + bits.trailing_zeros() as u16);
                *bits &= *bits - 1;
            }
        }
        // The state has to be hashed, looked for and kept.
        budget.charge(MISS_STEPS + self.current.len())?;
        let era = self.era;
        let next = if self.current.len() == 1 && !self.searching { DEAD } else { self.intern() };
        let entry = next * 2 + u32::from(matched);
        // Where the table was begun anew, the state is gone.
        if self.era == era {
            self.table[state as usize * self.stride + class] = entry;
        }
        Ok(entry)
    }

    fn places<'a>(places: &'a [u16], ends: &[u32], state: usize) -> &'a [u16] {
        let start = if state == 0 { 0 } else { ends[state - 1] as usize };
        &places[start..ends[state] as usize]
    }

    /// Returns the number of the current state, a new one if it is new.
    fn intern(&mut self) -> u32 {
        // FNV-1a over the places: comparing them with those of a dozen states took half the time of a search.
        let hash = self
            .current
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, place| (hash ^ u64::from(*place)).wrapping_mul(0x100_0000_01b3));
        let mut place = self.sorted.partition_point(|state| self.hashes[usize::from(*state)] < hash);
        while let Some(state) = self.sorted.get(place).copied().map(usize::from)
            && self.hashes[state] == hash
        {
            if Self::places(&self.places, &self.ends, state) == self.current {
                return state as u32;
            }
            place += 1;
        }
        let is_full = self.table.len() + self.stride > TABLE_ENTRIES.max(4 * self.stride);
        if is_full || self.places.len() + self.current.len() > STATE_PLACES {
            self.clear();
            place = 0;
        }
        let state = self.ends.len();
        self.sorted.insert(place, state as u16);
        self.places.extend_from_slice(&self.current);
        self.ends.push(self.places.len() as u32);
        self.hashes.push(hash);
        self.table.resize(self.table.len() + self.stride, UNKNOWN);
        state as u32
    }

    fn clear(&mut self) {
        self.table.clear();
        self.places.clear();
        self.ends.clear();
        self.hashes.clear();
        self.sorted.clear();
        self.era += 1;
    }
}
