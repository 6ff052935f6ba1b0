//! Words as numbers.

use std::collections::HashMap;

/// The words of a corpus, numbered in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary(HashMap<String, usize>);

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

    /// Returns how many words there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the words with their numbers, sorted by word.
    pub fn sorted(&self) -> Vec<(&str, u32)> {
        let mut list: Vec<(&str, u32)> = self.0.iter().map(|(word, number)| (word.as_str(), *number as u32)).collect();
        crate::order::sort(&mut list);
        list
    }
}
