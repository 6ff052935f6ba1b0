//! Numbers for words and pairs of words.

use super::hash::{of_number, of_text};

/// A word, or two words that stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term<'a> {
    /// One analysed word.
    Word(&'a str),
    /// The numbers of two words.
    Pair(u32, u32),
}

/// Where the text of a word is, or the numbers of the two words of a pair.
#[derive(Debug, Clone, Copy)]
enum TermKey {
    Word { start: u32, len: u32 },
    Pair(u32, u32),
}

/// Terms numbered in the order they came: an open-addressed table over one string, because most terms are pairs that
/// occur once, and a heap block for each would be most of the memory.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Numbers by hash, one higher; 0 is free. The length is a power of two.
    table: Vec<u32>,
    keys: Vec<TermKey>,
    text: String,
}

impl Terms {
    /// Returns whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns a term by its number.
    pub fn term(&self, id: u32) -> Term<'_> {
        match self.keys.get(id as usize) {
            Some(TermKey::Word { start, len }) => Term::Word(&self.text[*start as usize..(*start + *len) as usize]),
            Some(TermKey::Pair(first, second)) => Term::Pair(*first, *second),
            None => Term::Word(""),
        }
    }

    /// Returns the text of a word; pairs have none.
    pub fn word(&self, id: u32) -> Option<&str> {
        match self.term(id) {
            Term::Word(word) => Some(word),
            Term::Pair(..) => None,
        }
    }

    /// Returns a term as people read it.
    pub fn text(&self, id: u32) -> String {
        match self.term(id) {
            Term::Word(word) => word.to_owned(),
            Term::Pair(first, second) => {
                [self.word(first).unwrap_or_default(), "_", self.word(second).unwrap_or_default()].concat()
            }
        }
    }

    /// Returns the number of a term.
    pub fn get(&self, term: Term) -> Option<u32> {
        if self.table.is_empty() { None } else { self.seek(term).1 }
    }

    /// Returns the number of a term, which it gets if it has none.
    pub fn intern(&mut self, term: Term) -> u32 {
        if self.keys.len() * 2 >= self.table.len() {
            self.grow(self.table.len());
        }
        let (place, found) = self.seek(term);
        if let Some(id) = found {
            return id;
        }
        let key = match term {
            Term::Pair(first, second) => TermKey::Pair(first, second),
            Term::Word(word) => {
                let start = self.text.len() as u32;
                self.text.push_str(word);
                TermKey::Word { start, len: word.len() as u32 }
            }
        };
        self.keys.push(key);
        self.table[place] = self.keys.len() as u32;
        self.keys.len() as u32 - 1
    }

    /// Returns the place of a term in the table, and its number if it is there.
    fn seek(&self, term: Term) -> (usize, Option<u32>) {
        let mask = self.table.len() - 1;
        let mut place = hash(term) as usize & mask;
        loop {
            match self.table[place] {
                0 => return (place, None),
                id if self.is(id - 1, term) => return (place, Some(id - 1)),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Tells whether a number is that of a term.
    fn is(&self, id: u32, term: Term) -> bool {
        match (self.keys[id as usize], term) {
            (TermKey::Pair(first, second), Term::Pair(one, other)) => first == one && second == other,
            (TermKey::Word { start, len }, Term::Word(word)) => {
                len as usize == word.len() && self.text.as_bytes()[start as usize..][..len as usize] == *word.as_bytes()
            }
            _ => false,
        }
    }

    /// Makes room for more terms than the table has now.
    pub fn reserve(&mut self, more: usize) {
        if (self.keys.len() + more) * 2 >= self.table.len() {
            self.grow(self.keys.len() + more);
        }
    }

    /// Makes the table larger than twice this length.
    fn grow(&mut self, len: usize) {
        let len = (len * 2 + 1).next_power_of_two().max(64);
        self.table = vec![0; len];
        for id in 0..self.keys.len() as u32 {
            let mut place = hash(self.term(id)) as usize & (len - 1);
            while self.table[place] != 0 {
                place = (place + 1) & (len - 1);
            }
            self.table[place] = id + 1;
        }
    }
}

fn hash(term: Term) -> u64 {
    match term {
        Term::Word(word) => of_text(word),
        Term::Pair(first, second) => of_number(u64::from(first) << 32 | u64::from(second)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_keep_their_numbers() {
        let mut terms = Terms::default();
        assert_eq!(terms.get(Term::Word("w0")), None);
        for id in 0..5000_u32 {
            assert_eq!(terms.intern(Term::Word(&format!("w{id}"))), id * 2);
            assert_eq!(terms.intern(Term::Pair(id, id + 1)), id * 2 + 1);
        }
        for id in 0..5000_u32 {
            assert_eq!(terms.intern(Term::Word(&format!("w{id}"))), id * 2);
            assert_eq!(terms.get(Term::Pair(id, id + 1)), Some(id * 2 + 1));
            assert_eq!(terms.word(id * 2), Some(format!("w{id}").as_str()));
        }
        assert_eq!((terms.len(), terms.get(Term::Pair(1, 0)), terms.get(Term::Word(""))), (10_000, None, None));
        let pair = terms.intern(Term::Pair(2, 4));
        assert_eq!(terms.text(pair), "w1_w2");
    }
}
