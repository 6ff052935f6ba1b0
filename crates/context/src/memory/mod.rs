//! What outlives a conversation: choosing among remembered entries, and turning episodes into facts.

mod consolidate;
mod source;

pub use consolidate::{ConsolidationOptions, ConsolidationPolicy, ConsolidationReport, consolidate};
pub use source::{MemoryQuery, is_expired, preferred_scopes, rank_memory, select_memory, to_context_items};

use contextweaver_base::order::WordSet;
use contextweaver_text::{terms, tokenize};

/// Words that turn a statement around; similarity ignores them as stop words.
const NEGATIONS: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

/// Returns the distinct words of a text: 0.18's ASCII tokens and, unless `compat`, the words of every
/// other script, which 0.18 cannot see.
pub fn word_set(text: &str, compat: bool) -> WordSet {
    let mut words = tokenize::tokenize(text);
    if !compat && !text.is_ascii() {
        terms::for_each_term(text, |term| {
            if !term.is_ascii() {
                words.push(term.to_owned());
            }
        });
    }
    WordSet::new(words)
}

/// Returns the negations of an English text, contractions as `n't`.
pub fn negations(text: &str) -> WordSet {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|ch: char| !ch.is_ascii_lowercase() && ch != '\'');
    let found = words.filter_map(|word| match NEGATIONS.binary_search(&word) {
        Ok(found) => Some(NEGATIONS[found].to_owned()),
        Err(_) => word.ends_with("n't").then(|| "n't".to_owned()),
    });
    WordSet::new(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_scripts_count_outside_of_0_18() {
        assert!(word_set("Привет мир", true).is_empty());
        assert_eq!(word_set("Привет мир", false).len(), 2);
        assert_eq!(word_set("dark mode", true), word_set("dark mode", false));
    }

    #[test]
    fn negations_are_found_in_every_spelling() {
        assert!(NEGATIONS.is_sorted());
        let cases = [
            ("is safe", 0),
            ("is NOT safe, never", 2),
            ("don't, won’t", 1),
            ("nothing notable", 0),
            ("cannot go without", 2),
        ];
        for (text, count) in cases {
            assert_eq!(negations(text).len(), count, "{text}");
        }
    }
}
