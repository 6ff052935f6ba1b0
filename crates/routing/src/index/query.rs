//! What a query looks for: its terms, similar ones for those no tool has, and what the lexicon adds.

use super::analyse::QueryText;
use super::collapse;
use super::files::{named_files, without_paths};
use super::postings::{PostingLists, TermPosting};
use super::{NONE, ToolIndex};
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;
use contextweaver_text::numbered::{Term, Terms};

/// Words shorter than this, and numbers, have no similar ones.
const FUZZY_CHARS: usize = 4;
/// Words shorter than this are similar to none.
const FUZZY_VOCABULARY_CHARS: usize = 3;
/// Longer words are data, such as hashes, and have no similar ones.
const FUZZY_MAX_CHARS: usize = 64;
/// Least Dice coefficient of the trigrams of two similar words.
const FUZZY_DICE: f64 = 0.55;
const FUZZY_WEIGHT: f64 = 0.6;
const FUZZY_MATCHES: usize = 3;
const GENERIC_WEIGHT: f64 = 0.5;
const PHRASE_WEIGHT: f64 = 0.5;

/// How a term became part of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermSource {
    /// It is a word of the query.
    Word,
    /// Two words of the query stand side by side.
    Pair,
    /// It is similar to the word of the query with this number.
    Fuzzy(u32),
    /// The turn of phrase with this number, of those in the query, stands for it.
    Phrase(u32),
    /// It is related to this term of the lexicon.
    Neighbour(u32),
}

/// A weighted term of a query.
#[derive(Debug, Clone, Copy)]
pub struct QueryTerm {
    /// Number of the term.
    pub term: u32,
    /// Weight in the query, lower for generic words and for terms that were not in it.
    pub weight: f64,
    /// How it became part of the query.
    pub source: TermSource,
    /// Number of tools that hold it.
    pub frequency: u32,
}

/// A query as weighted terms.
pub struct ParsedQuery {
    /// Its words and terms.
    pub text: QueryText,
    /// The numbers of its terms among those of the tools; none where no tool has it.
    pub numbers: Vec<Option<u32>>,
    /// The numbers of its terms in the lexicon; none where it has none.
    pub entries: Vec<Option<u32>>,
    /// What is looked for, in the order of the sums.
    pub terms: Vec<QueryTerm>,
}

impl ParsedQuery {
    /// Returns the words that name a version.
    pub fn versions(&self) -> Vec<&str> {
        self.text.words.iter().map(String::as_str).filter(|word| collapse::tells_apart(word)).collect()
    }
}

/// Trigrams of the terms of the index, to find words like a misspelt one.
#[derive(Debug, Clone, Default)]
pub struct FuzzyVocabulary {
    pieces: Terms,
    words: PostingLists,
    /// Terms seen so far.
    seen: usize,
    counts: Vec<u32>,
}

/// Returns the distinct pieces of a word, its ends marked.
fn pieces(word: &str) -> Vec<(u32, u32)> {
    let chars: Vec<u64> = std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).map(u64::from).collect();
    let mut found: Vec<(u32, u32)> = Vec::with_capacity(chars.len());
    for window in chars.windows(3) {
        // A character has 21 bits.
        let packed = window[0] << 42 | window[1] << 21 | window[2];
        let piece = ((packed >> 32) as u32, packed as u32);
        if !found.contains(&piece) {
            found.push(piece);
        }
    }
    found
}

impl FuzzyVocabulary {
    /// Takes in the terms that came since the last time.
    fn update(&mut self, terms: &Terms) {
        for term in self.seen as u32..terms.len() as u32 {
            let Some(word) = terms.word(term) else { continue };
            let chars = word.chars().take(FUZZY_MAX_CHARS + 1).count();
            if (FUZZY_VOCABULARY_CHARS..=FUZZY_MAX_CHARS).contains(&chars) {
                let pieces = pieces(word);
                for (high, low) in &pieces {
                    let piece = self.pieces.intern(Term::Pair(*high, *low));
                    self.words.add(piece, TermPosting::new(term, 0, pieces.len() as u32));
                }
            }
        }
        self.seen = terms.len();
        self.counts.resize(self.seen, 0);
        if self.words.is_loose() {
            self.words.pack(&[], &[]);
        }
    }

    /// Returns all words similar enough and how much, and counts the postings touched.
    fn similar(&mut self, word: &str, visited: &mut u64) -> Vec<(u32, f64)> {
        let pieces = pieces(word);
        let mut touched: Vec<TermPosting> = Vec::new();
        for (high, low) in &pieces {
            let Some(piece) = self.pieces.get(Term::Pair(*high, *low)) else { continue };
            for entry in self.words.entries(piece) {
                *visited += 1;
                let count = &mut self.counts[entry.item as usize];
                if *count == 0 {
                    touched.push(entry);
                }
                *count += 1;
            }
        }
        let mut found = Vec::new();
        for entry in touched {
            let shared = std::mem::take(&mut self.counts[entry.item as usize]);
            let dice = 2.0 * f64::from(shared) / (pieces.len() as f64 + f64::from(entry.count()));
            if dice >= FUZZY_DICE {
                found.push((entry.item, dice));
            }
        }
        found
    }
}

impl ToolIndex {
    /// Reads a query; paths of files are read as what such files are called.
    pub(super) fn read(&mut self, text: &str) -> ParsedQuery {
        let files = named_files(text, &self.stop);
        self.read_plain(&without_paths(text, &files))
    }

    /// Reads a query in which no path stands, or each is a word as any other.
    pub(super) fn read_plain(&mut self, text: &str) -> ParsedQuery {
        let mut text = QueryText::new(text, &self.stop, limits::MAX_QUERY_WORDS);
        self.work += text.words.len() as u64;
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut numbers: Vec<Option<u32>> = text.terms.iter().map(|term| self.known(term)).collect();
        for number in numbers.iter().flatten() {
            self.include(&mut terms, *number, 1.0, TermSource::Word);
        }
        for pair in numbers.windows(2) {
            if let [Some(first), Some(second)] = pair
                && let Some(number) = self.terms.get(Term::Pair(*first, *second))
            {
                self.include(&mut terms, number, 1.0, TermSource::Pair);
            }
        }
        for compound in std::mem::take(&mut text.compounds) {
            if let Some(number) = self.known(&compound) {
                self.include(&mut terms, number, 1.0, TermSource::Word);
                text.terms.push(compound);
                numbers.push(Some(number));
            }
        }
        if self.options.fuzzy {
            self.add_similar(&text, &numbers, &mut terms);
        }
        let lexicon = self.options.lexicon.terms();
        let entries: Vec<Option<u32>> = text.terms.iter().map(|term| lexicon.get(Term::Word(term))).collect();
        self.widen(&text, &entries, &mut terms);
        ParsedQuery { text, numbers, entries, terms }
    }

    /// Returns the number of a word that some tool has.
    fn known(&self, word: &str) -> Option<u32> {
        self.terms.get(Term::Word(word)).filter(|term| self.frequency(*term) > 0)
    }

    /// Adds a term that some tool has; of several weights the largest counts.
    fn include(&self, terms: &mut Vec<QueryTerm>, term: u32, weight: f64, source: TermSource) {
        if let Some(known) = terms.iter_mut().find(|known| known.term == term) {
            if known.weight < weight {
                (known.weight, known.source) = (weight, source);
            }
            return;
        }
        let frequency = self.frequency(term);
        if frequency > 0 {
            terms.push(QueryTerm { term, weight, source, frequency });
        }
    }

    fn add_similar(&mut self, text: &QueryText, numbers: &[Option<u32>], terms: &mut Vec<QueryTerm>) {
        for (at, word) in text.terms.iter().enumerate() {
            let chars = word.chars().take(FUZZY_MAX_CHARS + 1).count();
            let is_number = word.chars().all(char::is_numeric);
            if numbers[at].is_some() || is_number || !(FUZZY_CHARS..=FUZZY_MAX_CHARS).contains(&chars) {
                continue;
            }
            if text.terms[..at].contains(word) {
                continue;
            }
            let mut fuzzy = self.fuzzy.take().unwrap_or_default();
            fuzzy.update(&self.terms);
            let mut found = fuzzy.similar(word, &mut self.work);
            self.fuzzy = Some(fuzzy);
            found.retain(|(term, _)| self.frequency(*term) > 0);
            sort_by(&mut found, |a, b| {
                b.1.total_cmp(&a.1).then_with(|| self.terms.word(a.0).cmp(&self.terms.word(b.0)))
            });
            for (term, dice) in found.into_iter().take(FUZZY_MATCHES) {
                self.include(terms, term, FUZZY_WEIGHT * dice, TermSource::Fuzzy(at as u32));
            }
        }
    }

    /// Halves what is generic and adds what the lexicon knows.
    fn widen(&mut self, text: &QueryText, entries: &[Option<u32>], terms: &mut Vec<QueryTerm>) {
        self.resolve();
        let lexicon = &self.options.lexicon;
        let resolved = |term: u32| self.resolved(term);
        // Words that no tool has may have neighbours that some have.
        let mut sources: Vec<(u32, f64)> = Vec::new();
        let entry_of = |term: u32| lexicon.terms().get(Term::Word(self.terms.word(term)?));
        let similar = terms.iter().filter(|found| matches!(found.source, TermSource::Fuzzy(_)));
        let similar = similar.map(|found| (entry_of(found.term), found.weight));
        for (entry, weight) in entries.iter().map(|entry| (*entry, 1.0)).chain(similar) {
            if let Some(entry) = entry
                && !sources.iter().any(|(known, _)| *known == entry)
            {
                sources.push((entry, weight * if lexicon.is_generic(entry) { GENERIC_WEIGHT } else { 1.0 }));
            }
        }
        for found in terms.iter_mut().filter(|found| found.source != TermSource::Pair) {
            if entry_of(found.term).is_some_and(|entry| lexicon.is_generic(entry)) {
                found.weight *= GENERIC_WEIGHT;
            }
        }
        let own = terms.len();
        for (at, phrase) in lexicon.phrases_in(&text.words).enumerate() {
            for number in phrase.terms.iter().filter_map(|term| resolved(*term)) {
                if !terms.iter().any(|known| known.term == number) {
                    self.include(terms, number, PHRASE_WEIGHT, TermSource::Phrase(at as u32));
                }
            }
        }
        for (source, weight) in sources {
            lexicon.for_each_neighbour(source, &mut |neighbour, share| {
                if let Some(number) = resolved(neighbour)
                    && !terms[..own].iter().any(|known| known.term == number)
                {
                    self.include(terms, number, share * weight, TermSource::Neighbour(source));
                }
            });
        }
    }

    /// Returns the number of a term of the lexicon among those of the tools.
    pub(super) fn resolved(&self, term: u32) -> Option<u32> {
        self.resolved.1.get(term as usize).copied().filter(|number| *number != NONE)
    }

    /// Finds the terms of the lexicon among those of the tools, again when there are new ones.
    fn resolve(&mut self) {
        if self.resolved.0 == self.terms.len() {
            return;
        }
        let lexicon = self.options.lexicon.terms();
        let numbers = (0..lexicon.len() as u32).map(|term| self.terms.get(lexicon.term(term)).unwrap_or(NONE));
        self.resolved = (self.terms.len(), numbers.collect());
    }
}
