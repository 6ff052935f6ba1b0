//! Similarity tokens of contextweaver 0.18: ASCII words with their compounds.

use super::openings::Openings;
use contextweaver_base::order::WordSet;

/// English function words that similarity ignores, sorted (the 128 of contextweaver 0.18).
#[rustfmt::skip]
const STOPWORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did",
    "do", "does", "doing", "down", "during", "each", "few", "for", "from", "further", "get", "had", "has", "have",
    "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "if", "in", "into", "is", "it",
    "its", "itself", "just", "me", "more", "most", "my", "myself", "no", "nor", "not", "now", "of", "off", "on",
    "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own", "same", "she", "should", "so",
    "some", "such", "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
    "yourself", "yourselves",
];

/// Where the stop words of each letter start, the end of the last one behind them.
const STARTS: [u8; 27] = {
    let mut starts = [0; 27];
    let mut at = 0;
    while at < STOPWORDS.len() {
        // Whatever starts later has not been counted yet.
        starts[(STOPWORDS[at].as_bytes()[0] - b'a') as usize + 1] = at as u8 + 1;
        at += 1;
    }
    let mut letter = 1;
    while letter < 27 {
        if starts[letter] == 0 {
            starts[letter] = starts[letter - 1];
        }
        letter += 1;
    }
    starts
};

/// How the stop words of more than one letter begin.
pub(super) const STOPWORD_OPENINGS: Openings = {
    let (mut openings, mut at) = (Openings::NONE, 0);
    while at < STOPWORDS.len() {
        if STOPWORDS[at].len() > 1 {
            openings = openings.with(STOPWORDS[at]);
        }
        at += 1;
    }
    openings
};

/// Tells whether a lower-case word is one of these stop words.
pub(crate) fn is_stopword(word: &str) -> bool {
    let letter = usize::from(word.bytes().next().unwrap_or(0).wrapping_sub(b'a'));
    match STARTS.get(letter..letter + 2) {
        Some(&[start, end]) => STOPWORDS[usize::from(start)..usize::from(end)].contains(&word),
        _ => false,
    }
}

/// Splits text into similarity tokens in order of occurrence.
///
/// Lower-cases, splits on anything but ASCII letters, digits and `_ . / -`, trims `. / -`, emits a compound whole and
/// then its parts; tokens of one character and stop words are left out. Non-ASCII text yields nothing.
///
/// ```
/// use contextweaver_text::tokenize::tokenize;
///
/// assert_eq!(tokenize("Read the file.txt"), ["read", "file.txt", "file", "txt"]);
/// ```
pub fn tokenize(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_token(text, &mut |token| out.push(token.to_owned()));
    out
}

/// Calls `each` for every similarity token, in order of occurrence.
pub fn for_each_token(text: &str, each: &mut dyn FnMut(&str)) {
    let lower = text.to_lowercase();
    let bytes = lower.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        if bytes.get(at).is_some_and(|byte| is_token_char(char::from(*byte))) {
            continue;
        }
        if at > start {
            // All of it is ASCII.
            compound(&lower[start..at], each);
        }
        start = at + 1;
    }
}

fn compound(piece: &str, each: &mut dyn FnMut(&str)) {
    let piece = piece.trim_matches(is_joint);
    emit(piece, each);
    if piece.contains(is_joint) {
        for part in piece.split(is_joint) {
            emit(part, each);
        }
    }
}

/// Returns the distinct similarity tokens, sorted.
pub fn token_set(text: &str) -> WordSet {
    WordSet::new(tokenize(text))
}

fn emit(token: &str, each: &mut dyn FnMut(&str)) {
    if token.len() >= 2 && !is_stopword(token) {
        each(token);
    }
}

const fn is_token_char(ch: char) -> bool {
    ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '_' || is_joint(ch)
}

const fn is_joint(ch: char) -> bool {
    matches!(ch, '.' | '/' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopwords_are_found_by_their_first_letter() {
        assert!(STOPWORDS.is_sorted());
        assert!(STOPWORDS.iter().all(|word| is_stopword(word)));
        assert!(!["", "q", "zoo", "{", "the1", "é"].iter().any(|word| is_stopword(word)));
        assert_eq!(STOPWORDS.len(), 128);
    }
}
