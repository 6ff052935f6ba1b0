//! A word of a sentence, with the cues that it gives.

use super::cues::Cues;

/// Names of numbers, in the languages that are read. "One" is an article in most of them.
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty", "thirty",
    "fifty", "hundred", "thousand", "half", "twice", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
    "zwölf", "zwanzig", "hundert", "tausend", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "cien",
    "dois", "duas", "três", "quatro", "sete", "oito", "nove", "dez", "cem", "deux", "trois", "quatre", "cinq", "sept", "huit", "neuf",
    "dix", "cent", "два", "две", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять", "сто",
];

/// A word of a sentence.
#[derive(Debug, Clone, Default)]
pub struct Word {
    /// In lower case.
    pub text: String,
    /// Where it stands in the sentence, in bytes.
    pub start: usize,
    pub end: usize,
    /// Cues of phrases that begin with the word.
    pub cues: Cues,
    /// Cues of phrases that end with it.
    pub ends: Cues,
    /// How many words the longest phrase that begins here has behind this one.
    pub spans: usize,
    /// Whether a comma, a colon or the like stands before it.
    pub opens: bool,
    /// Whether it is one of the words that tell a language.
    pub is_common: bool,
}

impl Word {
    /// Tells whether it has a capital within a sentence.
    pub fn is_name(&self, sentence: &str, at: usize) -> bool {
        at > 0 && sentence[self.start..].starts_with(char::is_uppercase)
    }

    /// Tells whether it begins with a digit, as names of things do not, or is the name of a number.
    pub fn is_number(&self) -> bool {
        self.text.starts_with(|ch: char| ch.is_ascii_digit()) || NUMBERS.contains(&self.text.as_str())
    }
}
