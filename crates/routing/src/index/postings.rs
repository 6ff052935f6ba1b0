//! Which tools hold which term, how often, and in which field.

use super::NONE;

/// Occurrences of a term in one field of one tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct TermPosting {
    /// Place of the tool in the index.
    pub item: u32,
    packed: u32,
}

const COUNT_BITS: u32 = 29;

impl TermPosting {
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
pub struct PostingLists {
    /// Where the entries of each term begin in `packed`; the end behind them.
    starts: Vec<u32>,
    packed: Vec<TermPosting>,
    /// By term: one higher than the place of its newest entry in `added`, 0 for none.
    heads: Vec<u32>,
    /// In the order they came.
    added: Vec<UnpackedPosting>,
}

/// A posting added since the last packing.
#[derive(Debug, Clone, Copy)]
struct UnpackedPosting {
    entry: TermPosting,
    term: u32,
    /// The `head` before it.
    before: u32,
}

/// The postings of one term, packed ones first.
pub struct TermPostings<'a> {
    packed: std::slice::Iter<'a, TermPosting>,
    head: u32,
    added: &'a [UnpackedPosting],
}

impl Iterator for TermPostings<'_> {
    type Item = TermPosting;

    fn next(&mut self) -> Option<TermPosting> {
        if let Some(entry) = self.packed.next() {
            return Some(*entry);
        }
        let found = self.added.get((self.head as usize).wrapping_sub(1))?;
        self.head = found.before;
        Some(found.entry)
    }
}

impl PostingLists {
    /// Returns the number of postings.
    pub fn len(&self) -> usize {
        self.packed.len() + self.added.len()
    }

    /// Returns the entries of a term.
    pub fn entries(&self, term: u32) -> TermPostings<'_> {
        let term = term as usize;
        let packed = match self.starts.get(term..term + 2) {
            Some(&[start, end]) => self.packed[start as usize..end as usize].iter(),
            _ => [].iter(),
        };
        TermPostings { packed, head: self.heads.get(term).copied().unwrap_or(0), added: &self.added }
    }

    /// Adds an entry. Those of one tool and term are added one after the other, the last field first.
    pub fn add(&mut self, term: u32, entry: TermPosting) {
        let place = term as usize;
        if self.heads.len() <= place {
            self.heads.resize(place + 1, 0);
        }
        self.added.push(UnpackedPosting { entry, term, before: self.heads[place] });
        self.heads[place] = self.added.len() as u32;
    }

    /// Returns the tool that was last added to a term since the last packing.
    pub fn newest(&self, term: u32) -> Option<u32> {
        let head = self.heads.get(term as usize)?;
        self.added.get((*head as usize).wrapping_sub(1)).map(|found| found.entry.item)
    }

    /// Tells whether so many entries were added that packing them pays.
    pub fn is_loose(&self) -> bool {
        self.added.len() > 1024 + self.packed.len() / 4
    }

    /// Packs the entries and gives tools and terms new numbers: those in the lists, or the old ones where a list is
    /// empty; [`NONE`] leaves out. Numbers keep their order. Counts first and then writes each entry where it belongs:
    /// following chains would wait for memory.
    pub fn pack(&mut self, places: &[u32], numbers: &[u32]) {
        let (mut ends, mut packed): (Vec<u32>, Vec<TermPosting>) =
            (vec![0; (self.heads.len() + 1).max(self.starts.len())], Vec::new());
        let mut starts = Vec::new();
        for is_writing in [false, true] {
            if is_writing {
                let mut sum = 0;
                for end in &mut ends {
                    sum += std::mem::replace(end, sum);
                }
                starts.clone_from(&ends);
                packed.resize(sum as usize, TermPosting::default());
            }
            let mut each = |term: u32, entry: TermPosting| {
                let (term, item) = (renumbered(numbers, term), renumbered(places, entry.item));
                if term == NONE || item == NONE {
                    return;
                }
                let end = &mut ends[term as usize];
                if is_writing {
                    packed[*end as usize] = TermPosting { item, ..entry };
                }
                *end += 1;
            };
            // Those of one term in the order of `entries`.
            for term in 1..self.starts.len() {
                for place in self.starts[term - 1]..self.starts[term] {
                    each(term as u32 - 1, self.packed[place as usize]);
                }
            }
            for added in self.added.iter().rev() {
                each(added.term, added.entry);
            }
        }
        *self = Self { starts, packed, heads: Vec::new(), added: Vec::new() };
    }

    /// Makes postings of entries that are in the order of their terms; `starts` says where those of each begin.
    pub fn from_packed(starts: Vec<u32>, packed: Vec<TermPosting>) -> Self {
        Self { starts, packed, heads: Vec::new(), added: Vec::new() }
    }
}

fn renumbered(list: &[u32], number: u32) -> u32 {
    if list.is_empty() { number } else { list[number as usize] }
}
