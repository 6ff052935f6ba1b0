//! Search by words: an inverted index that follows every change, scored with BM25.

use crate::terms::for_each_term;
use contextweaver_base::limits::MAX_QUERY_WORDS;
use contextweaver_base::order::{sort, sort_by};
use contextweaver_text::numbered::{Term, Terms};

/// How fast the weight of a repeated word levels off.
const K1: f64 = 1.5;
/// How much the length of a text counts.
const B: f64 = 0.75;
/// Part of the mean weight that a word in more than half of the texts gets in [`Bm25Weighting::Okapi`].
const EPSILON: f64 = 0.25;
/// Words that no text holds any longer may be as many before the list of words is made anew.
const IDLE_WORDS: usize = 1024;
/// Rare words of a text that others are found by.
const KIN_WORDS: usize = 8;
/// Texts that are looked at for each of those words.
const KIN_HOLDERS: usize = 256;

contextweaver_model::string_enum! {
    /// How BM25 weighs a term by the number of texts that hold it.
    #[derive(Default)]
    Bm25Weighting, "bm25" {
        /// Always above zero, so that stores of one or two decisions find what they hold.
        #[default]
        Smooth = "smooth",
        /// As in contextweaver 0.18: a word in half of the texts counts nothing.
        Okapi = "okapi",
    }
}

/// A term in the text of one slot, and how often it occurs there.
#[derive(Debug, Clone, Copy)]
struct KeywordPosting {
    slot: u32,
    count: u32,
}

/// What is kept of a text: numbers of its distinct words, sorted, and how many words it has.
#[derive(Debug, Clone, Default)]
struct KeywordDocument {
    terms: Box<[u32]>,
    length: u32,
}

/// The inverted index over the texts of decisions.
#[derive(Debug, Clone, Default)]
pub struct KeywordIndex {
    terms: Terms,
    /// By number of the word, sorted by slot.
    postings: Vec<Vec<KeywordPosting>>,
    /// By slot; nothing for a slot without a text.
    documents: Vec<Option<KeywordDocument>>,
    live: usize,
    length: u64,
    idle: usize,
}

impl KeywordIndex {
    /// Indexes the text of a slot in place of the one before.
    pub fn set(&mut self, slot: u32, text: &str) {
        let mut numbers = Vec::new();
        for_each_term(text, &mut |word| numbers.push(self.terms.intern(Term::Word(word))));
        let added = self.terms.len() - self.postings.len();
        self.postings.resize_with(self.terms.len(), Vec::new);
        self.idle += added;
        let length = numbers.len() as u32;
        sort(&mut numbers);
        if self.documents.len() <= slot as usize {
            self.documents.resize_with(slot as usize + 1, || None);
        }
        let before = self.documents[slot as usize].take();
        self.live += usize::from(before.is_none());
        let before = before.unwrap_or_default();
        self.length = self.length - u64::from(before.length) + u64::from(length);
        let mut terms = Vec::new();
        for run in numbers.chunk_by(|a, b| a == b) {
            terms.push(run[0]);
            self.count(run[0], slot, run.len() as u32);
        }
        for term in before.terms.iter().filter(|term| terms.binary_search(term).is_err()) {
            self.forget(*term, slot);
        }
        self.documents[slot as usize] = Some(KeywordDocument { terms: terms.into(), length });
        self.tidy();
    }

    /// Removes the text of a slot.
    pub fn remove(&mut self, slot: u32) {
        let Some(document) = self.documents.get_mut(slot as usize).and_then(Option::take) else { return };
        self.live -= 1;
        self.length -= u64::from(document.length);
        for term in &document.terms {
            self.forget(*term, slot);
        }
        self.tidy();
    }

    fn count(&mut self, term: u32, slot: u32, count: u32) {
        let list = &mut self.postings[term as usize];
        self.idle -= usize::from(list.is_empty());
        // Nearly every text is a new one, behind all others.
        if list.last().is_none_or(|last| last.slot < slot) {
            return list.push(KeywordPosting { slot, count });
        }
        match list.binary_search_by(|posting| posting.slot.cmp(&slot)) {
            Ok(place) => list[place].count = count,
            Err(place) => list.insert(place, KeywordPosting { slot, count }),
        }
    }

    fn forget(&mut self, term: u32, slot: u32) {
        let list = &mut self.postings[term as usize];
        if let Ok(place) = list.binary_search_by(|posting| posting.slot.cmp(&slot)) {
            list.remove(place);
            self.idle += usize::from(list.is_empty());
        }
    }

    /// Numbers the words anew once most of them are in no text.
    fn tidy(&mut self) {
        if self.idle <= IDLE_WORDS.max(self.postings.len() / 2) {
            return;
        }
        let mut terms = Terms::default();
        let mut numbers = vec![0; self.postings.len()];
        for (old, list) in self.postings.iter().enumerate() {
            if !list.is_empty() {
                numbers[old] = terms.intern(self.terms.term(old as u32));
            }
        }
        self.terms = terms;
        self.postings.retain(|list| !list.is_empty());
        for document in self.documents.iter_mut().flatten() {
            // The numbers keep their order.
            for term in &mut document.terms {
                *term = numbers[*term as usize];
            }
        }
        self.idle = 0;
    }

    /// Returns the slots that share a word with the query, in order, each with its score.
    ///
    /// Slots whose words all count nothing or less are left out.
    pub fn scores(&self, query: &str, weighting: Bm25Weighting) -> Vec<(u32, f64)> {
        let mut known = Vec::new();
        let mut seen = 0;
        for_each_term(query, &mut |word| {
            seen += 1;
            if seen <= MAX_QUERY_WORDS
                && let Some(term) = self.terms.get(Term::Word(word))
            {
                known.push(term);
            }
        });
        if known.is_empty() || self.live == 0 {
            return Vec::new();
        }
        let mean = self.length as f64 / self.live as f64;
        let common = if weighting == Bm25Weighting::Okapi { self.common_weight() } else { 0.0 };
        let mut totals = vec![0.0_f64; self.documents.len()];
        for term in known {
            let list = &self.postings[term as usize];
            let weight = self.weight(list.len(), weighting, common);
            for posting in list {
                let length = self.documents[posting.slot as usize].as_ref().map_or(0, |document| document.length);
                let count = f64::from(posting.count);
                let part = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * f64::from(length) / mean));
                totals[posting.slot as usize] += weight * part;
            }
        }
        let scored = totals.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
        scored.map(|(slot, score)| (slot as u32, score)).collect()
    }

    fn weight(&self, holders: usize, weighting: Bm25Weighting, common: f64) -> f64 {
        let (all, holders) = (self.live as f64, holders as f64);
        match weighting {
            Bm25Weighting::Smooth => libm::log1p((all - holders + 0.5) / (holders + 0.5)),
            Bm25Weighting::Okapi => {
                let weight = okapi(all, holders);
                if weight < 0.0 { common } else { weight }
            }
        }
    }

    /// Returns the weight of words in more than half of the texts.
    fn common_weight(&self) -> f64 {
        let held = self.postings.iter().filter(|list| !list.is_empty());
        let (sum, count) =
            held.fold((0.0, 0_u32), |(sum, count), list| (sum + okapi(self.live as f64, list.len() as f64), count + 1));
        EPSILON * sum / f64::from(count.max(1))
    }

    /// Returns the slots that share most of the rarest words of a slot, of those that are wanted.
    ///
    /// What is much like a text nearly always shares rare words with it. Of words that many texts have, the newest of
    /// them are looked at.
    pub fn kin(&self, slot: u32, most: usize, wanted: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let Some(document) = self.documents.get(slot as usize).and_then(Option::as_ref) else { return Vec::new() };
        let mut terms: Vec<(usize, u32)> =
            document.terms.iter().map(|term| (self.postings[*term as usize].len(), *term)).collect();
        terms.retain(|(holders, _)| *holders > 1);
        sort(&mut terms);
        let mut slots = Vec::new();
        for (_, term) in terms.into_iter().take(KIN_WORDS) {
            let others = self.postings[term as usize].iter().rev().map(|posting| posting.slot).take(KIN_HOLDERS);
            slots.extend(others.filter(|other| *other != slot && wanted(*other)));
        }
        sort(&mut slots);
        let mut counted: Vec<(usize, u32)> = slots.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
        sort_by(&mut counted, |a, b| b.0.cmp(&a.0));
        counted.into_iter().take(most).map(|(_, slot)| slot).collect()
    }
}

fn okapi(all: f64, holders: f64) -> f64 {
    libm::log(all - holders + 0.5) - libm::log(holders + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> KeywordIndex {
        let mut index = KeywordIndex::default();
        for (slot, text) in texts.iter().enumerate() {
            index.set(slot as u32, text);
        }
        index
    }

    #[test]
    fn the_smallest_stores_find_what_they_hold() {
        let one = index(&["use postgres"]);
        assert_eq!(one.scores("postgres", Bm25Weighting::Smooth).len(), 1);
        assert_eq!(one.scores("postgres", Bm25Weighting::Okapi), []);
        for query in ["", "!!!", "redis"] {
            assert_eq!(one.scores(query, Bm25Weighting::Smooth), []);
        }
        assert_eq!(index(&[]).scores("x", Bm25Weighting::Smooth), []);
    }

    #[test]
    fn changes_leave_what_a_new_index_has() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut changed = KeywordIndex::default();
        let mut texts: Vec<Option<String>> = vec![None; 12];
        for step in 0..3000 {
            let slot = next(12) as usize;
            if next(4) == 0 {
                texts[slot] = None;
                changed.remove(slot as u32);
            } else {
                // Ever new words, so that the list of words is made anew on the way.
                let text = (0..next(9)).map(|_| format!("w{} s{step}", next(6))).collect::<Vec<_>>().join(" ");
                changed.set(slot as u32, &text);
                texts[slot] = Some(text);
            }
            if step % 50 > 0 {
                continue;
            }
            let mut fresh = KeywordIndex::default();
            for (slot, text) in texts.iter().enumerate() {
                if let Some(text) = text {
                    fresh.set(slot as u32, text);
                }
            }
            for weighting in [Bm25Weighting::Smooth, Bm25Weighting::Okapi] {
                let (ours, theirs) = (changed.scores("w1 w2 w2", weighting), fresh.scores("w1 w2 w2", weighting));
                assert_eq!(ours.len(), theirs.len());
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    assert!(ours.0 == theirs.0 && (ours.1 - theirs.1).abs() < 1e-9, "{ours:?} {theirs:?}");
                }
            }
        }
        assert!(changed.terms.len() < 3 * IDLE_WORDS);
    }

    #[test]
    fn kin_share_rare_words() {
        let index = index(&["alpha beta common", "beta common", "alpha beta gamma common", "alpha"]);
        assert_eq!(index.kin(0, 9, &|_| true), [2, 1, 3]);
        assert_eq!(index.kin(0, 1, &|_| true), [2]);
        assert_eq!(index.kin(0, 9, &|slot| slot != 2), [1, 3]);
        assert_eq!(index.kin(9, 9, &|_| true), Vec::<u32>::new());
    }
}
