//! Recognises the language of a sentence, and marks its words with what they tell of a rule (their cues).

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::cues::Cues;
use super::word::Word;
use super::{english, others, romance};

/// Words that a phrase may have.
const MOST_WORDS: usize = 5;

/// Words for addressing somebody formally or not, in languages that tell the two apart.
#[rustfmt::skip]
pub const ADDRESSES: &[&str] = &[
    "siezen", "gesiezt", "duzen", "geduzt", "tutear", "tutea", "tuteo", "usted", "tutoyer", "tutoie", "vouvoyer", "vouvoie",
];

/// A language whose words are known.
pub struct Language {
    /// Words of which most sentences have some, by which the language is recognised.
    common: HashSet<&'static str>,
    /// Phrases by their first word: the words behind it, and what they tell.
    phrases: HashMap<&'static str, Vec<(Vec<&'static str>, Cues)>>,
}

/// Languages in the order in which they are tried; the first one is that of sentences which tell none.
fn languages() -> &'static [Language; 6] {
    static LANGUAGES: OnceLock<[Language; 6]> = OnceLock::new();
    LANGUAGES.get_or_init(|| {
        [
            Language::new(english::COMMON, english::CUES),
            Language::new(others::GERMAN_COMMON, others::GERMAN),
            Language::new(romance::SPANISH_COMMON, romance::SPANISH),
            Language::new(romance::PORTUGUESE_COMMON, romance::PORTUGUESE),
            Language::new(romance::FRENCH_COMMON, romance::FRENCH),
            Language::new(others::RUSSIAN_COMMON, others::RUSSIAN),
        ]
    })
}

impl Language {
    fn new(common: &'static str, cues: &[(Cues, &'static str)]) -> Self {
        let mut phrases: HashMap<&str, Vec<(Vec<&str>, Cues)>> = HashMap::new();
        for (cue, list) in cues {
            for phrase in list.split_whitespace() {
                let mut words = phrase.split('_');
                let first = words.next().unwrap_or_default();
                phrases.entry(first).or_default().push((words.collect(), *cue));
            }
        }
        Self { common: common.split_whitespace().collect(), phrases }
    }

    /// Adds the cues of the phrases that begin at a word to the words they have.
    fn mark(&self, words: &mut [Word], at: usize) {
        let Some(phrases) = self.phrases.get(words[at].text.as_str()) else { return };
        for (rest, cue) in phrases {
            let end = at + 1 + rest.len();
            let is_here = rest.len() < MOST_WORDS
                && end <= words.len()
                && rest.iter().zip(&words[at + 1..end]).all(|(wanted, word)| word.text == *wanted);
            if is_here {
                words[at].cues = words[at].cues.and(*cue);
                words[at].spans = words[at].spans.max(rest.len());
                words[end - 1].ends = words[end - 1].ends.and(*cue);
            }
        }
    }
}

/// The words of a sentence, with what they tell.
#[derive(Debug, Default)]
pub struct Words {
    pub list: Vec<Word>,
    /// Whether its language is written without spaces.
    pub is_unspaced: bool,
    /// Whether it is in another language than English.
    pub is_foreign: bool,
    /// All cues together.
    pub all: Cues,
}

const fn is_kana(ch: char) -> bool {
    matches!(ch, '\u{3040}'..='\u{30ff}')
}

const fn is_han(ch: char) -> bool {
    matches!(ch, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Reads a sentence. Bytes for which `is_masked` holds are quoted, and are passed over.
pub fn read(sentence: &str, is_masked: impl Fn(usize) -> bool) -> Words {
    let unspaced = sentence.chars().filter(|ch| is_kana(*ch) || is_han(*ch)).count();
    if 3 * unspaced > sentence.chars().filter(|ch| ch.is_alphabetic()).count() {
        let table = if sentence.chars().any(is_kana) { others::JAPANESE } else { others::CHINESE };
        let told = table.iter().filter(|(_, list)| list.split_whitespace().any(|part| sentence.contains(part)));
        let all = told.fold(Cues::default(), |all, (cue, _)| all.and(*cue));
        return Words { list: split(sentence, &is_masked), is_unspaced: true, is_foreign: true, all };
    }
    let mut list = split(sentence, &is_masked);
    let known = languages();
    let best = language_of(sentence, &list, known);
    let language = &known[best];
    for word in &mut list {
        word.is_common = language.common.contains(word.text.as_str());
    }
    for at in 0..list.len() {
        language.mark(&mut list, at);
    }
    if best == 0 {
        english::settle(sentence, &mut list);
    }
    let all = list.iter().fold(Cues::default(), |all, word| all.and(word.cues));
    Words { list, is_unspaced: false, is_foreign: best > 0, all }
}

/// Returns the place of the language that a sentence is most likely in: the one with the most common words, and where there is
/// at most one such word, also by those that begin a phrase.
fn language_of(sentence: &str, words: &[Word], known: &[Language]) -> usize {
    if sentence.chars().any(|ch| matches!(ch, '\u{400}'..='\u{4ff}')) {
        return known.len() - 1;
    }
    let best = |count: &dyn Fn(&Language) -> usize| {
        let mut best = (count(&known[0]), 0);
        for (at, language) in known.iter().enumerate().skip(1) {
            let found = count(language);
            if found > best.0 {
                best = (found, at);
            }
        }
        best
    };
    let is_common = |language: &Language, word: &Word| language.common.contains(word.text.as_str());
    let opens = |language: &Language, word: &Word| language.phrases.contains_key(word.text.as_str());
    let (found, place) = best(&|language| words.iter().filter(|word| is_common(language, word)).count());
    if found > 1 {
        return place;
    }
    best(&|language| {
        words.iter().map(|word| usize::from(is_common(language, word)) + usize::from(opens(language, word))).sum()
    })
    .1
}

fn split(sentence: &str, is_masked: &impl Fn(usize) -> bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut opens, mut inside) = (true, false);
    let mut before = ' ';
    for (at, ch) in sentence.char_indices() {
        let joins = matches!(ch, '\'' | '’' | '-') && before.is_alphanumeric();
        if is_masked(at) {
            inside = false;
        } else if ch.is_alphanumeric() || (joins && inside) {
            if !inside {
                words.push(Word { start: at, opens: std::mem::take(&mut opens), ..Word::default() });
                inside = true;
            }
            if let Some(word) = words.last_mut() {
                word.text.extend(if ch == '’' { '\'' } else { ch }.to_lowercase());
                word.end = at + ch.len_utf8();
            }
        } else {
            inside = false;
            opens |= matches!(ch, ',' | ':' | ';' | '—' | '–' | '(' | '.' | '!' | '?' | '¡' | '，' | '、' | '：');
        }
        before = ch;
    }
    for word in &mut words {
        let kept = word.text.trim_end_matches(['\'', '-']).len();
        word.text.truncate(kept);
    }
    words
}
