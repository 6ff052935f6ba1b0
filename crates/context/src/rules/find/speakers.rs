//! Who speaks in a sentence: the user, or somebody whose words the user hands on.

use super::cues::Cues;
use super::lexicon::Words;
use super::word::Word;

/// Words of a name that opens what somebody said.
const NAME_WORDS: usize = 3;

/// What the sentences of a turn so far say of the next one.
#[derive(Debug, Default)]
pub struct Speakers {
    /// A sentence said where something comes from.
    announced: bool,
    /// Somebody else speaks.
    other: bool,
    sentences: usize,
}

impl Speakers {
    /// Tells whether a sentence is not the user's own statement.
    pub fn is_other(&mut self, sentence: &str, words: &Words) -> bool {
        let is_first = self.sentences == 0;
        self.sentences += 1;
        let has = |cue: Cues| words.all.has(cue);
        if self.other {
            if words.list.first().is_some_and(|word| word.cues.has(Cues::BYE)) {
                (self.other, self.announced) = (false, false);
            }
            return true;
        }
        if is_first && is_transcript(sentence, words) {
            self.other = true;
            return true;
        }
        let first = words.list.first();
        let greets = first.is_some_and(|word| word.cues.has(Cues::HELLO)) && !is_first;
        let addresses = self.announced && (is_name_with_colon(sentence, words) || is_address(sentence, words));
        if greets || addresses || hands_over(sentence, words) {
            self.other = true;
            return true;
        }
        let speaks_itself = has(Cues::MUST.and(Cues::DONT).and(Cues::ALWAYS)) && !has(Cues::SAYS);
        self.announced |= has(Cues::SOURCE.and(Cues::SAYS)) && !speaks_itself;
        is_reported(words)
    }
}

/// Tells whether a sentence says what a text says: the text is its subject, and a verb of saying follows.
fn is_reported(words: &Words) -> bool {
    if words.list.iter().any(|word| word.cues.has(Cues::SAYS) && word.spans > 0) && !words.all.has(Cues::YOU) {
        return true;
    }
    let mut source = None;
    for (at, word) in words.list.iter().enumerate() {
        if word.cues.has(Cues::SOURCE) && source.is_none() {
            source = Some(at);
        }
        let is_near = source.is_some_and(|source| at > source && at - source <= 4);
        if is_near && word.cues.has(Cues::SAYS) {
            return true;
        }
        if source.is_none() && word.cues.has(Cues::DO) && at == 0 {
            return false;
        }
    }
    false
}

/// Tells whether what follows a colon are the words of others: a verb of saying stands before it, a text that was received, or
/// behind it a salutation.
fn hands_over(sentence: &str, words: &Words) -> bool {
    let colons = sentence.char_indices().filter(|(_, ch)| matches!(ch, ':' | '：'));
    for (colon, _) in colons {
        let before = words.list.iter().rev().find(|word| word.end <= colon);
        let is_own =
            words.list.iter().any(|word| word.end <= colon && matches!(word.text.as_str(), "i" | "we" | "ich" | "wir"));
        let speaks = |word: &Word| word.cues.has(Cues::SAYS) || word.ends.has(Cues::SAYS);
        if before.is_some_and(speaks) && !is_own {
            return true;
        }
        let is_told = |cue: Cues| words.list.iter().any(|word| word.end <= colon && word.cues.has(cue));
        if is_told(Cues::SOURCE) && is_told(Cues::SAYS.and(Cues::PAST)) && !is_told(Cues::MUST.and(Cues::ALWAYS)) {
            return true;
        }
        let behind = words.list.iter().find(|word| word.start > colon);
        if behind.is_some_and(|word| word.cues.has(Cues::HELLO)) {
            return true;
        }
    }
    false
}

/// Tells whether a turn begins as lines of a transcript do: with a name of several words and a colon, or a time before it.
fn is_transcript(sentence: &str, words: &Words) -> bool {
    let Some(colon) = sentence.find(": ") else { return false };
    let timed = sentence.starts_with('(') || sentence.starts_with('[');
    let named = match sentence.find([')', ']']).filter(|_| timed) {
        Some(close) => sentence[close + 1..].find(": ").map(|colon| close + 1..close + 1 + colon),
        None => Some(0..sentence.find(" (").map_or(colon, |open| open.min(colon))),
    };
    let Some(named) = named else { return false };
    let name = words.list.iter().filter(|word| word.start >= named.start && word.end <= named.end);
    let is_name = |word: &Word| {
        let tells = Cues::DECIDED.and(Cues::CHANGE).and(Cues::MUST).and(Cues::FORM).and(Cues::LIMIT).and(Cues::TOPIC);
        sentence[word.start..].starts_with(char::is_uppercase) && !word.is_number() && !word.cues.has(tells)
    };
    // "HARD LIMIT: …" has a heading, "Ann Berg MP: …" a name.
    let is_heading = !timed && name.clone().all(|word| !sentence[word.start..word.end].contains(char::is_lowercase));
    let count = name.clone().count();
    (count > 1 || (timed && count == 1)) && count <= NAME_WORDS + 1 && !is_heading && name.clone().all(is_name)
}

/// Tells whether a sentence begins with one or two words and a comma, as a salutation does.
fn is_address(sentence: &str, words: &Words) -> bool {
    let Some(comma) = sentence.find(',') else { return false };
    let count = words.list.iter().take_while(|word| word.end <= comma).count();
    let is_known = words.list.first().is_some_and(|word| word.cues != Cues::default());
    (1..=2).contains(&count) && !is_known && sentence.starts_with(char::is_uppercase)
}

/// Tells whether a sentence begins with a name and a colon, as lines of a chat do.
fn is_name_with_colon(sentence: &str, words: &Words) -> bool {
    let Some(colon) = sentence.find(':') else { return false };
    let names = words.list.iter().take_while(|word| word.end <= colon);
    let mut count = 0;
    for word in names {
        count += 1;
        let is_capital = sentence[word.start..].starts_with(char::is_uppercase);
        if !is_capital || count > NAME_WORDS || word.cues.has(Cues::DECIDED.and(Cues::CHANGE).and(Cues::POLITE)) {
            return false;
        }
    }
    count > 0
}
