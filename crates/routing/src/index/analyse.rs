//! From text to terms, the same way for tools and queries.

use std::ops::Range;

use super::stem::stem;
use contextweaver_text::numbered::{Term, Terms};

/// Endings an apostrophe introduces; they carry no topic.
const CLITICS: &[&str] = &["s", "re", "ve", "ll", "d", "m", "t"];

/// Calls `each` for every lower-case word of the text, in order.
///
/// Words are runs of letters and digits; identifiers are split where their case changes, so that `getHTTPResponse` has
/// three. `'s` and its like at the end of a word are left out.
pub fn for_each_word(text: &str, each: &mut dyn FnMut(&str)) {
    let bytes = text.as_bytes();
    let lower = text.to_ascii_lowercase();
    let (mut start, mut at, mut before) = (0, 0, b' ');
    while let Some(byte) = bytes.get(at).copied() {
        // Nearly all text is ASCII; its bytes are read one by one, without decoding.
        let ch = if byte.is_ascii() { char::from(byte) } else { text[at..].chars().next().unwrap_or(' ') };
        let width = ch.len_utf8();
        if byte.is_ascii_alphanumeric() || !byte.is_ascii() && ch.is_alphanumeric() {
            if byte.is_ascii_uppercase() {
                let starts_word = before.is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
                if starts_word || before.is_ascii_lowercase() || before.is_ascii_digit() {
                    finish(text, &lower, start..at, each);
                    start = at;
                }
            }
            at += width;
        } else {
            finish(text, &lower, start..at, each);
            start = at + width;
            if matches!(ch, '\'' | '\u{2019}') {
                start += clitic(&text[start..]).map_or(0, str::len);
            }
            at = start;
        }
        before = byte;
    }
    finish(text, &lower, start..at, each);
}

/// Returns the ending that an apostrophe before this text introduces.
fn clitic(rest: &str) -> Option<&'static str> {
    let ends = |tail: &str| !tail.starts_with(|ch: char| ch == '_' || ch.is_alphanumeric());
    CLITICS.iter().find(|clitic| rest.strip_prefix(**clitic).is_some_and(ends)).copied()
}

fn finish(text: &str, lower: &str, word: Range<usize>, each: &mut dyn FnMut(&str)) {
    if word.is_empty() {
        return;
    }
    let known = &lower[word.clone()];
    if known.is_ascii() {
        each(known);
    } else {
        each(&text[word].to_lowercase());
    }
}

/// Calls `each` for the terms of one lower-case word: its stem, or its pairs of characters where the script is written
/// without spaces.
pub fn for_each_term(word: &str, each: &mut dyn FnMut(&str)) {
    if !is_dense(word) {
        let mut term = word.to_owned();
        stem(&mut term);
        return each(&term);
    }
    let mut starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    starts.push(word.len());
    if starts.len() == 2 {
        each(word);
    }
    for window in starts.windows(3) {
        each(&word[window[0]..window[2]]);
    }
}

/// Tells whether a word holds a character of a script written without spaces: kana, Han, Hangul.
pub fn is_dense(word: &str) -> bool {
    !word.is_ascii() && word.chars().any(|ch| matches!(ch as u32, 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF))
}

/// Words too frequent to tell tools apart.
#[derive(Debug, Clone)]
pub struct StopWords {
    words: Terms,
    /// Those numbered below are left out of tools too, the others of queries only.
    everywhere: u32,
}

impl StopWords {
    /// Makes the sets from two lists of words separated by white space.
    pub fn new(everywhere: &str, queries: &str) -> Self {
        let mut words = Terms::default();
        for word in everywhere.split_whitespace() {
            words.intern(Term::Word(word));
        }
        let everywhere = words.len() as u32;
        for word in queries.split_whitespace() {
            words.intern(Term::Word(word));
        }
        Self { words, everywhere }
    }

    /// Tells whether a word is left out of the texts of tools.
    pub fn hides(&self, word: &str) -> bool {
        self.words.get(Term::Word(word)).is_some_and(|id| id < self.everywhere)
    }

    /// Tells whether a word is left out of queries.
    pub fn hides_in_queries(&self, word: &str) -> bool {
        self.words.get(Term::Word(word)).is_some()
    }
}

/// The words of a query and the terms they give.
#[derive(Debug, Default)]
pub struct QueryText {
    /// All words, lower-case.
    pub words: Vec<String>,
    /// Terms in order, those of left out words only when there are no others.
    pub terms: Vec<String>,
    /// Number of the word that each term is of.
    pub origins: Vec<u32>,
    /// Whether it has left out words alone, as "how are you", so that the terms are theirs.
    pub is_all_small: bool,
    /// Terms of what two parts around a hyphen make when they are written as one: `re-index` has `reindex`.
    pub compounds: Vec<String>,
}

impl QueryText {
    /// Analyses a query of at most `limit` words; what follows is not read.
    pub fn new(text: &str, stop: &StopWords, limit: usize) -> Self {
        let mut words: Vec<String> = Vec::new();
        for_each_word(text, &mut |word| {
            if words.len() < limit {
                words.push(word.to_owned());
            }
        });
        let (mut terms, mut origins, mut is_all_small) = (Vec::new(), Vec::new(), false);
        for with_all in [false, true] {
            is_all_small = with_all;
            for (at, word) in words.iter().enumerate() {
                if with_all || !stop.hides_in_queries(word) {
                    for_each_term(word, &mut |term| terms.push(term.to_owned()));
                    origins.resize(terms.len(), at as u32);
                }
            }
            if !terms.is_empty() {
                break;
            }
        }
        terms.truncate(limit);
        origins.truncate(limit);
        let mut compounds = Vec::new();
        for_each_compound(text, limit, &mut |word| for_each_term(word, &mut |term| compounds.push(term.to_owned())));
        Self { words, terms, origins, is_all_small, compounds }
    }
}

/// Calls `each` for the two parts around each hyphen as one lower-case word, at most `limit` times.
fn for_each_compound(text: &str, limit: usize, each: &mut dyn FnMut(&str)) {
    let is_other = |ch: char| !ch.is_alphabetic();
    for (at, _) in text.match_indices('-').take(limit) {
        let before = text[..at].rsplit(is_other).next().unwrap_or_default();
        let after = text[at + 1..].split(is_other).next().unwrap_or_default();
        if !before.is_empty() && !after.is_empty() {
            let word = [before, after].concat().to_lowercase();
            if !is_dense(&word) {
                each(&word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexicon;
    use super::*;

    fn item_terms(text: &str) -> String {
        let stop = lexicon::stop_words();
        let mut out: Vec<String> = Vec::new();
        for_each_word(text, &mut |word| {
            if !stop.hides(word) {
                for_each_term(word, &mut |term| out.push(term.to_owned()));
            }
        });
        out.join(" ")
    }

    #[test]
    fn texts_of_tools() {
        for (text, expected) in [
            ("getHTTPResponse", "get http respons"),
            ("list_user's_files-v2", "list user s file v2"),
            ("k8s.pods.list", "k8s pod list"),
            ("don't we\u{2019}ll user's, 'tis I'D o'dea", "don user tis d o dea"),
            ("aB ABc Ab2C v2Get S3 x", "b bc ab2 c v2 get s3 x"),
            ("Straße ΟΔΟΣ naïve", "straß οδος naïv"),
            ("查 v2版本 ひらがな 한국어", "查 v2 2版 版本 ひら らが がな 한국 국어"),
            ("", ""),
            ("the of and", ""),
        ] {
            assert_eq!(item_terms(text), expected, "{text}");
        }
    }

    #[test]
    fn queries() {
        let stop = lexicon::stop_words();
        for (text, expected) in [
            ("Can you please delete my old invoices?", "delet old invoic"),
            ("查询天气 Beijing", "查询 询天 天气 beij"),
            ("the of and", "the of and"),
            ("  ?! ", ""),
        ] {
            assert_eq!(QueryText::new(text, &stop, 100).terms.join(" "), expected, "{text}");
        }
        let compounds = QueryText::new("Re-index it - e-mails, 5-day x- -y 查-询 a-b-c", &stop, 100).compounds;
        assert_eq!(compounds, ["reindex", "email", "ab", "bc"]);
        assert_eq!(QueryText::new("a-b-c", &stop, 1).compounds, ["ab"]);
        assert_eq!(QueryText::new("one two delete it", &stop, 3).words, ["one", "two", "delete"]);
    }
}
