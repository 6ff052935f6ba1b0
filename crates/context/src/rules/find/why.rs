//! What a statement was recognised by, in words for people.

use super::cues::Cues;
use super::lexicon::{self, Words};
use super::sentences::quotations;
use super::word::Word;

/// Reasons that are named, those that weigh most.
const MOST_REASONS: usize = 2;

/// Reasons by the cue that tells them, those that weigh most first.
const REASONS: &[(Cues, &str)] = &[
    (Cues::ALWAYS, "says"),
    (Cues::DONT, "forbids with"),
    (Cues::MEANS, "says what a word stands for:"),
    (Cues::DECIDED, "says what was settled:"),
    (Cues::DROP, "takes something back with"),
    (Cues::MAY, "allows with"),
    (Cues::SELF, "says who the user is:"),
    (Cues::MUST, "demands with"),
    (Cues::TONGUE, "names a language:"),
    (Cues::EACH, "speaks of all with"),
    (Cues::IF, "says what is to be done in a case:"),
    (Cues::ONLY, "leaves nothing else with"),
    (Cues::FORM, "says how something is written:"),
];
/// The same of words that tell little beside others.
const WEAK_REASONS: &[(Cues, &str)] = &[
    (Cues::CHANGE, "says that something changes:"),
    (Cues::SHOULD, "says what is wanted:"),
    (Cues::MINE, "speaks of what is the user's:"),
    (Cues::NOT, "denies with"),
    (Cues::DO, "orders with"),
];

/// Says why a sentence is taken for a statement: `says "never"`, `a limit with a number`.
pub fn why(sentence: &str) -> String {
    let quoted = quotations(sentence);
    let words = lexicon::read(sentence, |at| quoted.iter().any(|quotation| quotation.contains(&at)));
    let mut reasons: Vec<String> = Vec::new();
    if words.all.has(Cues::LIMIT.and(Cues::PLACE)) && words.list.iter().any(Word::is_number) {
        reasons.push("a limit with a number".to_owned());
    }
    let mut named: Vec<&str> = Vec::new();
    for (cue, reason) in REASONS.iter().chain(WEAK_REASONS) {
        if reasons.len() >= MOST_REASONS || (!reasons.is_empty() && WEAK_REASONS.iter().any(|(weak, _)| weak == cue)) {
            break;
        }
        let Some(phrase) = phrase_of(sentence, &words, *cue).filter(|phrase| !named.contains(phrase)) else { continue };
        named.push(phrase);
        reasons.push(format!("{reason} \"{phrase}\""));
    }
    match reasons.is_empty() {
        true if words.is_unspaced => "by words of its language that order, forbid or allow".to_owned(),
        true => "by its form: a short sentence that settles something".to_owned(),
        false => reasons.join(", "),
    }
}

/// Returns the first words that have a cue. A verb that orders does where it opens a clause.
fn phrase_of<'a>(sentence: &'a str, words: &Words, cue: Cues) -> Option<&'a str> {
    let has = |(at, word): &(usize, &Word)| word.cues.has(cue) && (cue != Cues::DO || word.opens || *at == 0);
    let (at, word) = words.list.iter().enumerate().find(has)?;
    let last = words.list.get(at + word.spans).unwrap_or(word);
    sentence.get(word.start..last.end)
}

#[cfg(test)]
mod tests {
    use super::why;

    #[test]
    fn names_the_words_that_tell() {
        let table = [
            ("Never push to main.", "says \"Never\""),
            ("Spend at most 200 euros on it.", "a limit with a number"),
            ("Antworte ab jetzt auf Deutsch.", "says \"ab jetzt\""),
            ("Call me Jo.", "says who the user is: \"Call me\""),
            ("If a test fails, ask me first.", "says what is to be done in a case: \"If\""),
            ("The harvest is on Friday instead.", "says that something changes: \"instead\""),
            ("No olvides nada", "speaks of all with \"nada\""),
            ("本番環境には絶対に触らないでください。", "by words of its language that order, forbid or allow"),
        ];
        for (sentence, wanted) in table {
            let found = why(sentence);
            assert!(found.starts_with(wanted), "{sentence}: {found}");
        }
    }
}
