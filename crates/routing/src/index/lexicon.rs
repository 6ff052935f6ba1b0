//! Words that mean nearly the same, words that mean little, and turns of phrase: English by default, replaceable.

use super::analyse::{StopWords, for_each_term, for_each_word};
use contextweaver_base::order::sort_distinct;
use contextweaver_text::numbered::{Term, Terms};

/// The lists, each behind its name in brackets; one group or phrase a line.
const ENGLISH: &str = include_str!("english.txt");

/// Returns one list.
fn section(name: &str) -> &'static str {
    let start = ENGLISH.find(&["[", name, "]\n"].concat()).map_or(ENGLISH.len(), |at| at + name.len() + 3);
    let rest = &ENGLISH[start..];
    rest.split("\n[").next().unwrap_or_default()
}

/// Returns the words that are no terms, as they are before stemming.
pub fn stop_words() -> StopWords {
    StopWords::new(section("stop"), section("request"))
}

/// How the words of a group are related, which decides their weight for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordRelation {
    /// Synonymous actions.
    Verb,
    /// Synonymous things.
    Noun,
    /// A word and its short forms.
    Abbreviation,
}

impl WordRelation {
    const fn weight(self) -> f64 {
        match self {
            Self::Verb => 0.3,
            Self::Noun => 0.35,
            Self::Abbreviation => 0.6,
        }
    }
}

#[derive(Debug, Clone)]
struct LexiconGroup {
    weight: f64,
    is_action: bool,
    members: Vec<u32>,
}

/// A turn of phrase and the terms it stands for.
#[derive(Debug, Clone)]
pub struct LexiconPhrase {
    /// Lower-case words, in order.
    pub words: Vec<String>,
    /// Numbers of terms of the lexicon.
    pub terms: Vec<u32>,
}

/// Words by which a query goes on with what was said before, each a turn of phrase of lower-case words.
#[derive(Debug, Clone, Default)]
pub struct TurnPhrases {
    /// Begin an answer that agrees: "yes".
    pub agreements: Phrases,
    /// Agree where nothing else is said: "great".
    pub approvals: Phrases,
    /// Ask for what was announced: "go ahead".
    pub directives: Phrases,
    /// Say that it is not wanted, wherever they stand.
    pub refusals: Phrases,
    /// Begin a question that leaves out what it asks for: "what about".
    pub openers: Phrases,
    /// Ask for the same once more.
    pub repeats: Phrases,
    /// Make a question one for something that was not named: "anything else?".
    pub others: Phrases,
}

/// Turns of phrase, each a list of lower-case words.
#[derive(Debug, Clone, Default)]
pub struct Phrases(Vec<Vec<String>>);

impl Phrases {
    fn of(lines: &str) -> Self {
        let mut phrases = Vec::new();
        for line in lines.lines() {
            let mut words = Vec::new();
            for_each_word(line, &mut |word| words.push(word.to_owned()));
            phrases.push(words);
        }
        Self(phrases)
    }

    /// Returns how many words the longest phrase has that the words begin with; 0 for none.
    pub fn opening(&self, words: &[String]) -> usize {
        self.0.iter().filter(|phrase| words.starts_with(phrase)).map(Vec::len).fold(0, usize::max)
    }

    /// Marks the words that belong to a phrase; tells whether there is one.
    pub fn mark(&self, words: &[String], marks: &mut [bool]) -> bool {
        let mut found = false;
        for phrase in &self.0 {
            for (at, window) in words.windows(phrase.len()).enumerate() {
                if window == phrase {
                    marks[at..at + phrase.len()].fill(true);
                    found = true;
                }
            }
        }
        found
    }

    /// Tells whether the words hold a phrase.
    pub fn is_in(&self, words: &[String]) -> bool {
        self.0.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == phrase))
    }
}

/// Synonyms and phrases that queries are expanded with.
#[derive(Debug, Clone)]
pub struct Lexicon {
    terms: Terms,
    generic: Vec<u32>,
    talk: Vec<u32>,
    groups: Vec<LexiconGroup>,
    /// Terms and the groups they are in.
    memberships: Vec<(u32, u32)>,
    phrases: Vec<LexiconPhrase>,
    turns: TurnPhrases,
}

impl Default for Lexicon {
    fn default() -> Self {
        Self::english()
    }
}

impl Lexicon {
    /// Makes an empty lexicon: queries are not expanded.
    pub fn none() -> Self {
        Self {
            terms: Terms::default(),
            generic: Vec::new(),
            talk: Vec::new(),
            groups: Vec::new(),
            memberships: Vec::new(),
            phrases: Vec::new(),
            turns: TurnPhrases::default(),
        }
    }

    /// Makes the built-in lexicon of tool vocabulary.
    pub fn english() -> Self {
        let mut lexicon = Self::none();
        lexicon.add_generic(section("generic"));
        lexicon.talk = lexicon.intern(section("talk"));
        for (name, relation) in [
            ("verbs", WordRelation::Verb),
            ("nouns", WordRelation::Noun),
            ("abbreviations", WordRelation::Abbreviation),
        ] {
            for line in section(name).lines() {
                lexicon.add_group(relation, line);
            }
        }
        for (phrase, terms) in section("phrases").lines().filter_map(|line| line.split_once(" = ")) {
            lexicon.add_phrase(phrase, terms);
        }
        let phrases = |name: &str| Phrases::of(section(name));
        lexicon.turns = TurnPhrases {
            agreements: phrases("agreement"),
            approvals: phrases("approval"),
            directives: phrases("directive"),
            refusals: phrases("refusal"),
            openers: phrases("opener"),
            repeats: phrases("repeat"),
            others: phrases("else"),
        };
        lexicon
    }

    /// Returns the numbers of the terms of a text, each once.
    fn intern(&mut self, text: &str) -> Vec<u32> {
        let (mut ids, terms) = (Vec::new(), &mut self.terms);
        for_each_word(text, &mut |word| for_each_term(word, &mut |term| ids.push(terms.intern(Term::Word(term)))));
        sort_distinct(&mut ids);
        ids
    }

    /// Adds words that count half in queries, because they say little about what is wanted.
    pub fn add_generic(&mut self, words: &str) {
        let ids = self.intern(words);
        self.generic.extend(ids);
        sort_distinct(&mut self.generic);
    }

    /// Adds a group of words of which each stands for the others; a word may be in several groups.
    pub fn add_group(&mut self, relation: WordRelation, words: &str) {
        let members = self.intern(words);
        let group = self.groups.len() as u32;
        self.memberships.extend(members.iter().map(|member| (*member, group)));
        sort_distinct(&mut self.memberships);
        self.groups.push(LexiconGroup {
            weight: relation.weight(),
            is_action: relation == WordRelation::Verb,
            members,
        });
    }

    /// Adds a turn of phrase and the words it stands for.
    pub fn add_phrase(&mut self, phrase: &str, words: &str) {
        let mut parts = Vec::new();
        for_each_word(phrase, &mut |word| parts.push(word.to_owned()));
        if !parts.is_empty() {
            let terms = self.intern(words);
            self.phrases.push(LexiconPhrase { words: parts, terms });
        }
    }

    /// Returns the terms the lexicon knows.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the words by which a query goes on with what was said before.
    pub fn turns(&self) -> &TurnPhrases {
        &self.turns
    }

    /// Tells whether a term says what is to be done: a word of a group of actions.
    pub fn is_action(&self, term: u32) -> bool {
        let start = self.memberships.partition_point(|(member, _)| *member < term);
        let mut groups = self.memberships[start..].iter().take_while(|(member, _)| *member == term);
        groups.any(|(_, group)| self.groups[*group as usize].is_action)
    }

    /// Tells whether a term is too general to count in full.
    pub fn is_generic(&self, term: u32) -> bool {
        self.generic.binary_search(&term).is_ok()
    }

    /// Tells whether a term is a word of small talk, which says nothing about what is wanted.
    pub fn is_talk(&self, term: u32) -> bool {
        self.talk.binary_search(&term).is_ok()
    }

    /// Calls `each` with every neighbour of a term and how much it counts.
    pub fn for_each_neighbour(&self, term: u32, each: &mut dyn FnMut(u32, f64)) {
        let start = self.memberships.partition_point(|(member, _)| *member < term);
        for (_, group) in self.memberships[start..].iter().take_while(|(member, _)| *member == term) {
            let group = &self.groups[*group as usize];
            for member in group.members.iter().filter(|member| **member != term) {
                each(*member, group.weight);
            }
        }
    }

    /// Returns the turns of phrase that the words hold.
    pub fn phrases_in<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = &'a LexiconPhrase> {
        self.phrases.iter().filter(|phrase| words.windows(phrase.words.len()).any(|window| window == phrase.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_whole() {
        let count = |name: &str| (section(name).split_whitespace().count(), section(name).lines().count());
        let names = ["stop", "request", "generic", "talk", "verbs", "nouns", "abbreviations", "phrases", "none"];
        let counts = [(128, 1), (40, 1), (256, 1), (48, 1), (255, 52), (353, 95), (52, 25), (210, 39), (0, 0)];
        assert_eq!(names.map(count), counts);
    }

    #[test]
    fn neighbours_phrases_and_generic_words() {
        let mut lexicon = Lexicon::english();
        lexicon.add_group(WordRelation::Noun, "widget gadget");
        let neighbours = |word: &str| {
            let mut found = Vec::new();
            if let Some(term) = lexicon.terms().get(Term::Word(word)) {
                lexicon.for_each_neighbour(term, &mut |term, weight| found.push((lexicon.terms().text(term), weight)));
            }
            found
        };
        assert_eq!(neighbours("widget"), [("gadget".to_owned(), 0.35)]);
        assert_eq!(neighbours("renam"), [("titl".to_owned(), 0.3)]);
        assert_eq!(neighbours("qwerty"), []);
        assert!(neighbours("pr").contains(&("pull".to_owned(), 0.35)));
        let words = ["please", "get", "rid", "of", "it"].map(str::to_owned);
        let phrases: Vec<_> = lexicon.phrases_in(&words).map(|phrase| phrase.words.join(" ")).collect();
        assert_eq!(phrases, ["get rid of"]);
        assert!(lexicon.is_generic(lexicon.terms().get(Term::Word("get")).unwrap()));
        assert_eq!(Lexicon::none().phrases_in(&words).count(), 0);
    }
}
