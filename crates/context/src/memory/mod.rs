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

/// Returns the distinct words of a text, of every script.
fn word_set(text: &str) -> WordSet {
    let mut words = tokenize::tokenize(text);
    if !text.is_ascii() {
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
    fn words_of_every_script_count() {
        assert_eq!((word_set("Привет мир").len(), word_set("dark mode").len()), (2, 2));
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
