//! Reading the texts of a tool: words become numbers of terms, each word once.

use super::analyse::{StopWords, for_each_term, is_dense};
use super::collapse::{VariantSignature, word_hash};
use super::fields::FIELDS;
use contextweaver_text::numbered::{Term, Terms};

/// The word is left out.
const LEFT_OUT: u32 = u32::MAX;
/// The word has several terms.
const SEVERAL: u32 = u32::MAX - 1;

/// Term and signature of a word that was read before.
#[derive(Clone, Copy)]
struct CachedWord {
    /// Number of its term.
    term: u32,
    /// What it adds to the signature of near-duplicates.
    kinship: Option<u64>,
}

/// What is known of words, so that each is stemmed once, and room that is used again for every tool.
#[derive(Default)]
pub struct WordCache {
    words: Terms,
    known: Vec<CachedWord>,
    /// Numbers of the terms of each field of the present tool, in order.
    pub fields: [Vec<u32>; FIELDS],
}

/// Reads the words of one tool into terms by field.
pub struct ToolReader<'a> {
    stop: &'a StopWords,
    terms: &'a mut Terms,
    cache: &'a mut WordCache,
    /// What it has in common with its near-duplicates.
    pub kinship: VariantSignature,
    /// Number of words read.
    pub work: u64,
}

impl<'a> ToolReader<'a> {
    /// Begins with a tool.
    pub fn new(stop: &'a StopWords, terms: &'a mut Terms, cache: &'a mut WordCache) -> Self {
        for field in &mut cache.fields {
            field.clear();
        }
        Self { stop, terms, cache, kinship: VariantSignature::default(), work: 0 }
    }

    /// Reads one lower-case word.
    pub fn word(&mut self, field: usize, word: &str) {
        self.work += 1;
        let Self { stop, terms, cache, kinship, .. } = self;
        let number = cache.words.intern(Term::Word(word)) as usize;
        if number == cache.known.len() {
            let mut term = LEFT_OUT;
            if is_dense(word) {
                term = SEVERAL;
            } else if !stop.hides(word) {
                for_each_term(word, &mut |stem| term = terms.intern(Term::Word(stem)));
            }
            cache.known.push(CachedWord { term, kinship: word_hash(word) });
        }
        let known = cache.known[number];
        kinship.add(field, word, known.kinship);
        match known.term {
            LEFT_OUT => {}
            SEVERAL => for_each_term(word, &mut |term| cache.fields[field].push(terms.intern(Term::Word(term)))),
            term => cache.fields[field].push(term),
        }
    }
}
