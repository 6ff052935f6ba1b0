//! Values that a sentence gives something: "the cap is $200", "the staging URL is https://…".

use std::hash::{DefaultHasher, Hash, Hasher};

use super::cues::Cues;
use super::lexicon::Words;
use super::word::Word;

/// Words with a topic that a sentence has before its value, at least: "it is 5" says nothing of what.
const LEAST_TOPICS: usize = 2;
/// Characters of a code such as `v15` or `77e90d3`, at least.
const LEAST_CODE: usize = 3;

/// Tells whether a sentence gives something a value that nobody could guess: an address, a path, a code.
pub fn names_code(sentence: &str, words: &Words) -> bool {
    let Some(is) = words.list.iter().find(|word| word.cues.has(Cues::IS)) else { return false };
    sentence[is.end..].split_whitespace().any(is_code)
}

fn is_code(token: &str) -> bool {
    let token = token.trim_matches(|ch: char| !ch.is_alphanumeric());
    let has = |is: fn(char) -> bool| token.chars().any(is);
    let is_mixed = token.len() >= LEAST_CODE && has(|ch| ch.is_ascii_digit()) && has(char::is_alphabetic);
    let is_ordinal = token.trim_start_matches(|ch: char| ch.is_ascii_digit()).chars().all(char::is_lowercase);
    token.contains("://") || token.contains('@') || (is_mixed && !is_ordinal)
}

/// Returns what a sentence says apart from its values, which stand behind "is" or a word of bounds; none where it gives nothing
/// a value. A later sentence with the same frame says the new value.
pub fn frame(sentence: &str, words: &Words) -> Option<u64> {
    if words.is_unspaced || words.all.has(Cues::DONT.and(Cues::EACH).and(Cues::IF)) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    // Other languages begin more words with a capital than names.
    let is_name = |at: usize, word: &Word| !words.is_foreign && word.is_name(sentence, at);
    let (mut topics, mut values, mut was_value, mut has_verb) = (0, 0, false, false);
    for (at, word) in words.list.iter().enumerate() {
        let can_be = has_verb && topics >= LEAST_TOPICS;
        let is_value = can_be && (has_digit(word) || is_code(token_of(sentence, word)) || is_name(at, word));
        if !is_value {
            word.text.hash(&mut hasher);
        } else if !was_value {
            '#'.hash(&mut hasher);
            values += 1;
        }
        was_value = is_value;
        has_verb |= word.cues.has(Cues::IS.and(Cues::LIMIT).and(Cues::PLACE));
        topics += usize::from(values == 0 && !word.is_common && word.text.len() > 2);
    }
    (values > 0).then(|| hasher.finish())
}

fn has_digit(word: &Word) -> bool {
    word.is_number() || word.text.contains(|ch: char| ch.is_ascii_digit())
}

/// Returns what stands around a word up to the next spaces.
fn token_of<'a>(sentence: &'a str, word: &Word) -> &'a str {
    let start = sentence[..word.start].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let end = sentence[word.end..].find(char::is_whitespace).map_or(sentence.len(), |at| word.end + at);
    sentence[start..end].trim_start()
}
