//! Whether a query goes on with what was said before: "yes, do it", "and for Berlin?".

use super::ToolIndex;
use super::analyse::{for_each_term, for_each_word, is_dense};
use contextweaver_text::numbered::Term;

/// Most words of a query that goes on with what was said before.
const MAX_WORDS: usize = 10;

/// Marks of a question, as scripts have them.
pub const QUESTION_MARKS: &[char] = &['?', '\u{ff1f}', '\u{61f}', '\u{37e}', '\u{55e}'];

/// How a query goes on with what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// It agrees to what was proposed.
    Agreement {
        /// Whether it asks for what was announced.
        is_directive: bool,
        /// Whether it also says what is to be done, or to what: "yes, drop it".
        says_more: bool,
    },
    /// It asks for the same again, or of something else.
    Fragment,
}

/// What a word says beside what was said before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordSense {
    /// Nothing: a word that all requests have, or small talk.
    Filler,
    /// What is to be done.
    Action,
    /// What some tool has.
    Known,
    /// What is known to be a thing, and no tool has.
    Foreign,
    /// A name or a value.
    Unknown,
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, &mut |word| words.push(word.to_owned()));
    words
}

/// Tells whether a comma follows so many words.
fn sets_off(text: &str, words: usize) -> bool {
    text.split_once(',').is_some_and(|(before, _)| words_of(before).len() == words)
}

impl ToolIndex {
    /// Tells how a query goes on with what was said before, if it does. `is_found` says whether it finds tools by itself: then
    /// only an answer that agrees does, and that only where it names nothing that a tool has.
    pub fn follow_up(&self, query: &str, is_found: bool) -> Option<FollowUp> {
        let mut words: Vec<String> = Vec::new();
        for_each_word(query, &mut |word| {
            if words.len() <= MAX_WORDS {
                words.push(word.to_owned());
            }
        });
        let turns = self.options.lexicon.turns();
        if words.is_empty() || words.len() > MAX_WORDS || turns.refusals.is_in(&words) {
            return None;
        }
        let mut said = vec![false; words.len()];
        let is_directive = turns.directives.mark(&words, &mut said);
        let approved = turns.approvals.opening(&words);
        said[..approved].fill(true);
        // "Great, that worked" answers no question.
        let approved = if said.iter().all(|is_said| *is_said) { approved } else { 0 };
        let agreed = turns.agreements.opening(&words).max(approved);
        said[..agreed].fill(true);
        let senses: Vec<WordSense> = words.iter().map(|word| self.sense(word)).collect();
        let has = |sense: WordSense| senses.iter().zip(&said).any(|(known, is_said)| !is_said && *known == sense);
        if agreed > 0 || turns.directives.opening(&words) > 0 {
            let (acts, is_unknown) = (has(WordSense::Action), has(WordSense::Unknown));
            // "Ok, book me a taxi" agrees to nothing that was proposed, and "fine tuning" to nothing at all.
            let is_other = is_unknown && (acts || !sets_off(query, agreed));
            let names = has(WordSense::Known) || has(WordSense::Foreign);
            let says_more = acts || is_unknown;
            return (!names && !is_other).then_some(FollowUp::Agreement { is_directive, says_more });
        }
        if is_found || has(WordSense::Action) || has(WordSense::Foreign) {
            return None;
        }
        let is_about = has(WordSense::Unknown) || has(WordSense::Known);
        if turns.repeats.is_in(&words) && !is_about {
            return Some(FollowUp::Fragment);
        }
        // In any language a question of one word leaves out what it asks; several may be a request of their own.
        let is_question = query.trim_end().ends_with(QUESTION_MARKS);
        let is_open = turns.openers.opening(&words) > 0 || is_question && words.len() == 1 && !is_dense(&words[0]);
        (is_open && is_about).then_some(FollowUp::Fragment)
    }

    /// Tells whether a text names a thing that some tool has.
    pub fn names_thing(&self, text: &str) -> bool {
        let (words, turns) = (words_of(text), self.options.lexicon.turns());
        let mut said = vec![false; words.len()];
        turns.directives.mark(&words, &mut said);
        turns.agreements.mark(&words, &mut said);
        words.iter().zip(said).any(|(word, is_said)| !is_said && self.sense(word) == WordSense::Known)
    }

    /// Tells whether a text asks for something that was not named: "anything else?".
    pub fn asks_for_other(&self, text: &str) -> bool {
        self.options.lexicon.turns().others.is_in(&words_of(text))
    }

    fn sense(&self, word: &str) -> WordSense {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return WordSense::Unknown;
        }
        if self.stop.hides_in_queries(word) {
            return WordSense::Filler;
        }
        let lexicon = &self.options.lexicon;
        let (mut sense, is_action) = (WordSense::Unknown, self.is_action(word));
        for_each_term(word, &mut |term| {
            let entry = lexicon.terms().get(Term::Word(term));
            let is_known = |number: u32| self.frequency(number) > 0;
            let mut is_there = self.terms.get(Term::Word(term)).is_some_and(is_known);
            if let Some(entry) = entry {
                if lexicon.is_talk(entry) || lexicon.is_generic(entry) && !is_action {
                    sense = WordSense::Filler;
                    return;
                }
                lexicon.for_each_neighbour(entry, &mut |neighbour, _| {
                    is_there |= self.resolved(neighbour).is_some_and(is_known);
                });
            }
            sense = match (is_action, is_there, entry) {
                (true, ..) => WordSense::Action,
                (_, true, _) => WordSense::Known,
                (_, _, Some(_)) if sense != WordSense::Known => WordSense::Foreign,
                _ => sense,
            };
        });
        sense
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IndexOptions, Lexicon};
    use super::*;
    use contextweaver_model::SelectableItem;
    use serde_json::json;

    fn index(lexicon: Lexicon) -> ToolIndex {
        let tool = |id: &str, description: &str| {
            SelectableItem::from_value(json!({ "id": id, "kind": "tool", "name": id, "description": description }), "")
                .unwrap()
        };
        let tools = [tool("push_branch", "Pushes a branch"), tool("list_files", "Lists files")];
        let mut index = ToolIndex::build(tools.iter(), IndexOptions { lexicon, ..IndexOptions::default() });
        index.read("");
        index
    }

    #[test]
    fn only_what_leaves_something_out_goes_on() {
        let index = index(Lexicon::english());
        let agrees = |is_directive, says_more| Some(FollowUp::Agreement { is_directive, says_more });
        for (query, wanted) in [
            ("yes", agrees(false, false)),
            ("OK, go ahead!", agrees(true, false)),
            ("go ahead and delete it", agrees(true, true)),
            ("yes, to Ada", agrees(false, true)),
            ("great", agrees(false, false)),
            ("Berlin?", Some(FollowUp::Fragment)),
            ("and for Berlin?", Some(FollowUp::Fragment)),
            ("once more, please", Some(FollowUp::Fragment)),
            ("now the same for b.example", Some(FollowUp::Fragment)),
            ("no, thanks", None),
            ("yes, but not now", None),
            ("great, that worked", None),
            ("yes, list the files", None),
            ("ok, book me a taxi", None),
            ("fine tuning", None),
            ("can you explain that again, more slowly?", None),
            ("que hora es?", None),
            ("\u{5929}\u{6c14}\u{5982}\u{4f55}\u{ff1f}", None),
            ("and what is the weather like today in Berlin, and tomorrow?", None),
            ("and the weather?", None),
            ("tell me a joke", None),
            ("?", None),
            ("", None),
        ] {
            assert_eq!(index.follow_up(query, false), wanted, "{query}");
        }
        assert_eq!(index.follow_up("and for Berlin?", true), None, "it finds tools");
        assert_eq!(index.follow_up("yes", true), agrees(false, false));
    }

    #[test]
    fn without_a_lexicon_only_a_question_of_one_word_goes_on() {
        let index = index(Lexicon::none());
        let found: Vec<bool> =
            ["yes", "and for Berlin?", "Berlin?"].map(|query| index.follow_up(query, false).is_some()).to_vec();
        assert_eq!(found, [false, false, true]);
    }
}
