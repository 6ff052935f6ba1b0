//! Reading the texts of a tool: words become numbers of terms, each word once.

use super::analyse::{StopWords, for_each_term, is_dense};
use super::fields::FIELDS;
use super::terms::{Term, Terms};

/// The word is left out.
const LEFT_OUT: u32 = u32::MAX;
/// The word has several terms.
const SEVERAL: u32 = u32::MAX - 1;

/// Numbers of terms by the words they come from, so that each word is stemmed once.
#[derive(Default)]
pub struct WordCache {
    words: Terms,
    terms: Vec<u32>,
}

/// A tool being read.
pub struct Reading<'a> {
    stop: &'a StopWords,
    terms: &'a mut Terms,
    cache: &'a mut WordCache,
    /// Numbers of the terms of each field, in order.
    pub fields: [Vec<u32>; FIELDS],
    /// Words read.
    pub work: u64,
}

impl<'a> Reading<'a> {
    /// Begins with a tool.
    pub fn new(stop: &'a StopWords, terms: &'a mut Terms, cache: &'a mut WordCache) -> Self {
        Self { stop, terms, cache, fields: Default::default(), work: 0 }
    }

    /// Reads one lower-case word.
    pub fn word(&mut self, field: usize, word: &str) {
        self.work += 1;
        let known = self.cache.words.intern(Term::Word(word));
        if known as usize == self.cache.terms.len() {
            self.cache.terms.push(LEFT_OUT);
            if is_dense(word) {
                self.cache.terms[known as usize] = SEVERAL;
            } else if !self.stop.hides(word) {
                for_each_term(word, &mut |term| {
                    self.cache.terms[known as usize] = self.terms.intern(Term::Word(term));
                });
            }
        }
        match self.cache.terms[known as usize] {
            LEFT_OUT => {}
            SEVERAL => for_each_term(word, &mut |term| {
                self.fields[field].push(self.terms.intern(Term::Word(term)));
            }),
            term => self.fields[field].push(term),
        }
    }
}
