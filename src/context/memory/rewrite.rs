//! Letting a model reword a remembered fact without letting it change the fact.

use std::collections::BTreeSet;

use super::words::{negations, term_set};
use crate::text::{tokenize::token_set, unicode};

/// Characters of notes given to the model.
const MAX_NOTES_CHARS: usize = 4000;

const TASK: &str = "Combine these notes into one short sentence that states a single fact. \
    Add nothing that the notes do not say. Reply with the sentence only.\n\n";

/// Returns what to ask the model.
pub fn rewrite_prompt(notes: &[&str]) -> String {
    format!("{TASK}{}", unicode::prefix(&notes.join("\n"), MAX_NOTES_CHARS))
}

/// Returns the model's sentence, trimmed, if every word and every negation of it is in the notes; otherwise nothing.
///
/// Stricter than the reference, which cannot see words of one character or of scripts other than Latin.
pub fn accept_rewrite(reply: &str, notes: &[&str]) -> Option<String> {
    let sentence = unicode::trim(reply);
    let grounded = notes.iter().any(|note| !note.is_empty())
        && within(&token_set(sentence), notes, token_set)
        && within(&term_set(sentence), notes, term_set)
        && within(&negations(sentence), notes, negations);
    (grounded && !sentence.is_empty()).then(|| sentence.to_owned())
}

fn within<T: Ord>(words: &BTreeSet<T>, notes: &[&str], split: fn(&str) -> BTreeSet<T>) -> bool {
    let allowed: BTreeSet<T> = notes.iter().flat_map(|note| split(note)).collect();
    words.is_subset(&allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_grounded_sentences_pass() {
        let notes = ["the editor uses dark mode", "dark mode is safe", "порт 5432"];
        let cases = [
            ("  Dark mode is safe.\n", true),
            ("the editor: dark mode", true),
            ("dark mode is not safe", false),
            ("dark mode isn’t safe", false),
            ("the editor uses light mode", false),
            ("dark mode 7", false),
            ("порт 5432", true),
            ("хост 5432", false),
            ("   ", false),
            ("", false),
        ];
        for (reply, accepted) in cases {
            assert_eq!(accept_rewrite(reply, &notes).is_some(), accepted, "{reply}");
        }
        assert!(accept_rewrite("it is not safe", &["never not safe"]).is_some());
    }

    #[test]
    fn the_prompt_is_bounded() {
        let long = "ж".repeat(10_000);
        assert_eq!(rewrite_prompt(&[&long]).chars().count(), TASK.chars().count() + MAX_NOTES_CHARS);
    }
}
