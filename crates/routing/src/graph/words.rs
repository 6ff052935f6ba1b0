//! Numbers the words of tools, so that grouping and scoring compare integers instead of strings.

use super::labels::item_text;
use contextweaver_base::order::{sort, sort_distinct};
use contextweaver_model::SelectableItem;
use contextweaver_text::numbered::{Term, Terms};
use contextweaver_text::tokenize::{for_each_token, token_set};

/// The distinct words of a corpus, numbered from 0 in the order of their first use.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary(Terms);

impl Vocabulary {
    /// Returns the number of a word. A new word gets the next free number.
    pub fn number(&mut self, word: &str) -> u32 {
        self.0.intern(Term::Word(word))
    }

    /// Returns the number of a word, or `None` if it has none yet.
    pub fn find(&self, word: &str) -> Option<u32> {
        self.0.get(Term::Word(word))
    }

    /// Returns the numbers of the distinct words of a tool, ascending.
    ///
    /// New words are numbered in alphabetical order.
    pub fn of(&mut self, item: &SelectableItem) -> Vec<u32> {
        let words = token_set(&item_text(item));
        let mut numbers: Vec<u32> = words.words().iter().map(|word| self.number(word)).collect();
        sort(&mut numbers);
        numbers
    }

    /// Returns the same words as [`Self::of`], in less time, but perhaps under other numbers.
    ///
    /// New words are numbered in the order in which the name, the description and the tags have them.
    pub fn as_read(&mut self, item: &SelectableItem) -> Vec<u32> {
        let mut numbers = Vec::new();
        for text in [&item.name, &item.description].into_iter().chain(&item.tags) {
            for_each_token(text, &mut |word| numbers.push(self.number(word)));
        }
        sort_distinct(&mut numbers);
        numbers
    }

    /// Tells whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many words there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all words; the index of a word is its number.
    pub fn names(&self) -> Vec<&str> {
        (0..self.len() as u32).filter_map(|number| self.0.word(number)).collect()
    }

    /// Returns the words with their numbers, sorted by word.
    pub fn sorted(&self) -> Vec<(&str, u32)> {
        let mut list: Vec<(&str, u32)> = self.names().into_iter().zip(0..).collect();
        sort(&mut list);
        list
    }
}
