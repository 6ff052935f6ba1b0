//! Which lines a prompt shows already: an agent reads a file twice, or runs a test again.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::compile::repeats::LEAST_TURN_CHARS;

/// Lines with words from which on a text is no repeat by chance: `OK` stands below many calls.
const LEAST_LINES: usize = 3;

/// The lines with words of the parts that are in, without what indents them.
#[derive(Debug, Default)]
pub struct PromptLines(HashSet<u64>);

impl PromptLines {
    /// Adds those of a text.
    pub fn add(&mut self, text: &str) {
        self.0.extend(lines(text));
    }

    /// Tells whether texts have nothing but lines that are shown, and enough of them. `is_said` for turns,
    /// which are often one line: a long meeting says the same remark many times.
    pub fn have_all<'t>(&self, texts: impl Iterator<Item = &'t str>, is_said: bool) -> bool {
        let (mut found, mut is_long) = (0, false);
        let is_shown = |text: &str| {
            is_long |= is_said && text.chars().nth(LEAST_TURN_CHARS - 1).is_some();
            lines(text).all(|line| {
                found += 1;
                self.0.contains(&line)
            })
        };
        texts.map(str::trim).all(is_shown) && found > 0 && (found >= LEAST_LINES || is_long)
    }
}

fn lines(text: &str) -> impl Iterator<Item = u64> {
    text.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric)).map(|line| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    })
}
