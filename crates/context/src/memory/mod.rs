//! What outlives a conversation: choosing among remembered entries, and turning episodes into facts.

mod consolidate;
mod source;

pub use consolidate::{
    CONSOLIDATED_KEY, CONSOLIDATION_VERSION, ConsolidationOptions, ConsolidationPolicy, ConsolidationReport,
    EpisodeCluster, PromotedFact, consolidate,
};
pub use source::{MemoryQuery, is_expired, preferred_scopes, rank_memory, select_memory, to_context_items};

use contextweaver_base::order::WordSet;
use contextweaver_text::{terms, tokenize};

/// Words that turn a statement around; similarity ignores them as stop words.
const NEGATIONS: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

/// Which words of memories are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryWords {
    /// Those of every script; of two texts with the same words, one that negates says something else.
    #[default]
    EveryScript,
    /// ASCII tokens alone, blind to negation, as in 0.18.
    Ascii,
}

/// Returns the distinct words of a text.
fn word_set(text: &str, scripts: MemoryWords) -> WordSet {
    let mut words = tokenize::tokenize(text);
    if scripts == MemoryWords::EveryScript && !text.is_ascii() {
        terms::for_each_term(text, |term| {
            if !term.is_ascii() {
                words.push(term.to_owned());
            }
        });
    }
    WordSet::new(words)
}

/// Returns the negations of an English text, contractions as `n't`.
fn negations(text: &str) -> WordSet {
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
        assert!(word_set("Привет мир", MemoryWords::Ascii).is_empty());
        assert_eq!(word_set("Привет мир", MemoryWords::EveryScript).len(), 2);
        let [ascii, every] = [MemoryWords::Ascii, MemoryWords::EveryScript].map(|words| word_set("dark mode", words));
        assert_eq!(ascii, every);
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
