//! A request for several things, taken apart: "commit this, push it and take a screenshot".
//!
//! A part begins where a sentence or a clause asks for something with a verb of its own, and names something before the
//! next part does; all else stays with the part before it. Requests are recognised by English words.

use super::ToolIndex;
use super::analyse::for_each_term;
use contextweaver_text::numbered::Term;

/// Most parts that are searched for by themselves; the last one has the rest.
const MAX_WISHES: usize = 8;
/// Most words that stand before the verb of a request.
const LEAD_WORDS: usize = 8;

/// Words that stand before the verb without saying what is wanted.
const LEAD_IN: &[&str] = &[
    "addition",
    "additionally",
    "after",
    "afterward",
    "afterwards",
    "again",
    "also",
    "am",
    "and",
    "assistance",
    "but",
    "can",
    "could",
    "d",
    "finally",
    "first",
    "firstly",
    "furthermore",
    "help",
    "i",
    "if",
    "in",
    "interested",
    "just",
    "kindly",
    "lastly",
    "later",
    "let",
    "like",
    "ll",
    "m",
    "me",
    "moreover",
    "my",
    "need",
    "next",
    "now",
    "please",
    "possible",
    "s",
    "second",
    "secondly",
    "should",
    "so",
    "that",
    "then",
    "third",
    "thirdly",
    "to",
    "us",
    "want",
    "we",
    "will",
    "would",
    "you",
    "your",
];
/// Words that make the sentence they begin one of several things to do.
const SEQUENCE: &[&str] = &[
    "additionally",
    "afterward",
    "afterwards",
    "also",
    "finally",
    "firstly",
    "furthermore",
    "lastly",
    "moreover",
    "next",
    "secondly",
    "then",
    "thirdly",
];
/// Words of which one, before the verb, makes a sentence a request whatever its verb.
const ADDRESS: &[&str] = &["kindly", "like", "need", "please", "want", "you"];
/// Verbs of requests, beside those that the lexicon has for what tools do.
const REQUEST_VERBS: &[&str] = &["find", "gather", "get", "give", "obtain", "provide", "show", "tell", "use"];
/// Words behind which a clause with a verb is a request of its own.
const JOINTS: &[&str] = &["also", "and", "plus", "then"];
/// Endings of words that are no orders, although a verb has the same stem: "using", "sorted", "predictions".
const OTHER_FORMS: &[&str] = &["ing", "ed", "ion"];

/// Tells whether a word is in a list, which is in order.
fn is_one_of(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// A word of a request, and what stands before it.
struct WordPlace<'a> {
    start: usize,
    word: &'a str,
    opens_sentence: bool,
    opens_clause: bool,
}

/// Returns the words of a text, in lower case, with the places where a sentence or a clause begins. Marks between quotes
/// begin neither.
fn words<'a>(text: &str, lower: &'a str) -> Vec<WordPlace<'a>> {
    let (mut found, mut end, mut quote): (Vec<WordPlace<'a>>, usize, Option<u8>) = (Vec::new(), 0, None);
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let (mut at, mut opens_sentence, mut opens_clause) = (0, true, true);
    while at < bytes.len() {
        if is_word(bytes[at]) {
            let start = at;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            found.push(WordPlace { start, word: &lower[start..at], opens_sentence, opens_clause });
            (opens_sentence, opens_clause, end) = (false, false, at);
            continue;
        }
        let is_spaced = bytes.get(at + 1).is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'"' | b'\''));
        match (bytes[at], quote) {
            (mark @ (b'"' | b'\''), Some(open)) if mark == open => quote = None,
            (b'"', None) => quote = Some(b'"'),
            // Behind a letter it is an apostrophe.
            (b'\'', None) if end < at || at == 0 => quote = Some(b'\''),
            (b'!' | b'?' | b'\n', None) => opens_sentence = true,
            (b'.' | b';', None) if is_spaced => opens_sentence = true,
            (b',' | b':', None) if is_spaced => opens_clause = true,
            _ => {}
        }
        at += 1;
    }
    found
}

impl ToolIndex {
    /// Returns the parts of a request that each ask for something, or nothing when it asks for one thing.
    pub(super) fn wishes<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let lower = text.to_ascii_lowercase();
        let words = words(text, &lower);
        let opens = |place: &WordPlace| place.opens_sentence || place.opens_clause || is_one_of(JOINTS, place.word);
        // Most queries are done here.
        if !words.iter().skip(1).any(opens) {
            return Vec::new();
        }
        let asks = |at: &usize| opens(&words[*at]) && self.asks(&words[*at..]);
        let places: Vec<usize> = (0..words.len()).filter(asks).collect();
        if places.len() < 2 {
            return Vec::new();
        }
        let mut kept: Vec<usize> = Vec::new();
        for (number, place) in places.iter().enumerate() {
            let end = places.get(number + 1).copied().unwrap_or(words.len());
            let names = words[*place..end].iter().any(|word| self.names_something(word.word));
            // What names nothing, such as "then" before a request with a verb of its own, stays with what is before.
            if names {
                kept.push(*place);
            }
        }
        if kept.len() < 2 {
            return Vec::new();
        }
        kept.truncate(MAX_WISHES);
        let starts: Vec<usize> =
            kept.iter().enumerate().map(|(number, at)| if number == 0 { 0 } else { words[*at].start }).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
    }

    /// Tells whether a sentence or a clause asks for something.
    fn asks(&self, words: &[WordPlace]) -> bool {
        let is_sentence = words[0].opens_sentence;
        if is_sentence && is_one_of(SEQUENCE, words[0].word) {
            return true;
        }
        let mut is_addressed = false;
        for (at, place) in words.iter().take(LEAD_WORDS + 1).enumerate() {
            if at > 0 && place.opens_sentence {
                return false;
            }
            if !is_one_of(LEAD_IN, place.word) {
                return is_sentence && is_addressed || self.is_action(place.word);
            }
            is_addressed |= is_one_of(ADDRESS, place.word);
        }
        false
    }

    /// Tells whether a word says what is to be done, in the form of an order.
    pub(super) fn is_action(&self, word: &str) -> bool {
        let is_plural = word.ends_with('s') && !word.ends_with("ss");
        if is_plural || OTHER_FORMS.iter().any(|ending| word.ends_with(ending)) {
            return false;
        }
        let lexicon = &self.options.lexicon;
        let mut found = is_one_of(REQUEST_VERBS, word);
        for_each_term(word, &mut |term| {
            found |= lexicon.terms().get(Term::Word(term)).is_some_and(|term| lexicon.is_action(term));
        });
        found
    }

    /// Tells whether a word says more than that something is to be done.
    fn names_something(&self, word: &str) -> bool {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || self.stop.hides_in_queries(word) || is_one_of(LEAD_IN, word) || self.is_action(word) {
            return false;
        }
        let lexicon = &self.options.lexicon;
        let mut found = false;
        for_each_term(word, &mut |term| {
            found |= lexicon.terms().get(Term::Word(term)).is_none_or(|term| !lexicon.is_generic(term));
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::IndexOptions;
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        for list in [LEAD_IN, SEQUENCE, ADDRESS, REQUEST_VERBS, JOINTS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn parts_have_a_verb_and_a_thing() {
        let index = ToolIndex::new(IndexOptions::default());
        for (text, parts) in [
            ("commit what is staged, push it and take a screenshot", &[][..]),
            ("create an invoice and send an email to Ada", &["create an invoice ", "and send an email to Ada"]),
            (
                "I need your help. Please translate 'Come here. Find me!' into French. Finally, the weather in Rome.",
                &[
                    "I need your help. Please translate 'Come here. Find me!' into French. ",
                    "Finally, the weather in Rome.",
                ],
            ),
            (
                "Delete the branch; then, could you please update the ticket? It is urgent.",
                &["Delete the branch; then, ", "could you please update the ticket? It is urgent."],
            ),
            ("search books and magazines, sorted by price, using the archive", &[]),
            ("It's cold. What is the weather in Paris?", &[]),
            ("delete it, and update it", &[]),
            ("", &[]),
            ("find, and then", &[]),
            ("Straße löschen, update the café", &[]),
        ] {
            assert_eq!(index.wishes(text), parts, "{text}");
        }
        let many = "Delete the invoice. ".repeat(20);
        let parts = index.wishes(&many);
        assert_eq!((parts.len(), parts.concat()), (MAX_WISHES, many));
    }
}
