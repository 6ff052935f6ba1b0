//! Words as numbers.

use std::collections::HashMap;

use super::labels::item_text;
use crate::model::SelectableItem;
use crate::order::sort;
use crate::text::tokenize::token_set;

/// The words of a corpus, numbered in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary(HashMap<String, usize>);

impl Vocabulary {
    /// Returns the number of a word, a new one for a new word.
    pub fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.0.get(word) {
            return *number as u32;
        }
        let number = self.0.len();
        self.0.insert(word.to_owned(), number);
        number as u32
    }

    /// Returns the number of a known word.
    pub fn find(&self, word: &str) -> Option<u32> {
        self.0.get(word).map(|number| *number as u32)
    }

    /// Returns the numbers of the distinct words of a tool, sorted.
    pub fn of(&mut self, item: &SelectableItem) -> Vec<u32> {
        let words = token_set(&item_text(item));
        let mut numbers: Vec<u32> = words.words().iter().map(|word| self.number(word)).collect();
        sort(&mut numbers);
        numbers
    }

    /// Tells whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many words there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the words by number.
    pub fn names(&self) -> Vec<&str> {
        let mut names = vec![""; self.len()];
        for (word, number) in &self.0 {
            names[*number] = word;
        }
        names
    }

    /// Returns the words with their numbers, sorted by word.
    pub fn sorted(&self) -> Vec<(&str, u32)> {
        let mut list: Vec<(&str, u32)> = self.0.iter().map(|(word, number)| (word.as_str(), *number as u32)).collect();
        sort(&mut list);
        list
    }
}
