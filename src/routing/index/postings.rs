//! Which tools hold which term, how often, and in which field.

/// One term in one field of one tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry {
    /// Place of the tool.
    pub item: u32,
    packed: u32,
}

const COUNT_BITS: u32 = 29;

impl Entry {
    /// Makes an entry; counts beyond half a billion are no longer told apart.
    pub fn new(item: u32, field: usize, count: u32) -> Self {
        Self { item, packed: (field as u32) << COUNT_BITS | count.min((1 << COUNT_BITS) - 1) }
    }

    /// Returns the field.
    pub const fn field(self) -> usize {
        (self.packed >> COUNT_BITS) as usize
    }

    /// Returns how often the term occurs in it.
    pub const fn count(self) -> u32 {
        self.packed & ((1 << COUNT_BITS) - 1)
    }
}

/// Entries by term: most of them in one packed list, those added since in chains through a second one.
///
/// The entries of one tool stand together, in the order of their fields, in both; sums over them are the same bits
/// wherever they are.
#[derive(Debug, Clone, Default)]
pub struct Postings {
    /// Where the entries of each term begin in `packed`; the end behind them.
    starts: Vec<u32>,
    packed: Vec<Entry>,
    /// By term: one higher than the place of its newest entry in `added`, 0 for none.
    heads: Vec<u32>,
    /// Entries and the `head` before them.
    added: Vec<(Entry, u32)>,
}

/// Walks over the entries of one term.
pub struct Entries<'a> {
    packed: std::slice::Iter<'a, Entry>,
    head: u32,
    added: &'a [(Entry, u32)],
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if let Some(entry) = self.packed.next() {
            return Some(*entry);
        }
        let (entry, before) = self.added.get((self.head as usize).wrapping_sub(1))?;
        self.head = *before;
        Some(*entry)
    }
}

impl Postings {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.packed.len() + self.added.len()
    }

    /// Returns the entries of a term.
    pub fn entries(&self, term: u32) -> Entries<'_> {
        let term = term as usize;
        let packed = match self.starts.get(term..term + 2) {
            Some(&[start, end]) => self.packed[start as usize..end as usize].iter(),
            _ => [].iter(),
        };
        Entries { packed, head: self.heads.get(term).copied().unwrap_or(0), added: &self.added }
    }

    /// Adds an entry. Those of one tool and term are added one after the other, the last field first.
    pub fn add(&mut self, term: u32, entry: Entry) {
        let term = term as usize;
        if self.heads.len() <= term {
            self.heads.resize(term + 1, 0);
        }
        self.added.push((entry, self.heads[term]));
        self.heads[term] = self.added.len() as u32;
    }

    /// Returns the tool that was last added to a term since the last packing.
    pub fn newest(&self, term: u32) -> Option<u32> {
        let head = self.heads.get(term as usize)?;
        self.added.get((*head as usize).wrapping_sub(1)).map(|(entry, _)| entry.item)
    }

    /// Tells whether so many entries were added that packing them pays.
    pub fn is_loose(&self) -> bool {
        self.added.len() > 1024 + self.packed.len() / 4
    }

    /// Packs all entries for which `place` of the tool gives a new place; `terms` says the new number of each term.
    pub fn pack(&mut self, place: &dyn Fn(u32) -> Option<u32>, terms: &dyn Fn(u32) -> Option<u32>) {
        let old = self.starts.len().saturating_sub(1).max(self.heads.len()) as u32;
        let mut packed = Vec::with_capacity(self.len());
        let mut starts = vec![0];
        for term in 0..old {
            if terms(term).is_none() {
                continue;
            }
            for entry in self.entries(term) {
                if let Some(item) = place(entry.item) {
                    packed.push(Entry { item, ..entry });
                }
            }
            starts.push(packed.len() as u32);
        }
        *self = Self { starts, packed, heads: Vec::new(), added: Vec::new() };
    }

    /// Makes postings of entries that are in the order of their terms; `starts` says where those of each begin.
    pub fn from_packed(starts: Vec<u32>, packed: Vec<Entry>) -> Self {
        Self { starts, packed, heads: Vec::new(), added: Vec::new() }
    }
}
