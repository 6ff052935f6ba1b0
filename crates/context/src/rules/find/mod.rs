//! Finds what a user states in a turn: sentences that order, forbid, allow, name, limit or settle something.
//!
//! A sentence is judged by its form: which words open its clauses, whom it addresses, and whether it is about one thing
//! or all, about now or always. Text that others wrote is not read (see `quoted`).

mod cues;
mod english;
mod lexicon;
mod others;
mod quoted;
mod romance;
mod sentences;
mod speakers;
mod values;
mod weigh;
mod why;
mod word;

use std::ops::Range;

use self::speakers::Speakers;
pub use self::why::why;
use contextweaver_text::unicode::floor_char_boundary;

/// The bytes that are read at each end of a long turn. A turn of up to twice as many bytes is read whole.
const READ_AT_ENDS: usize = 32 << 10;
/// A turn is short if the user's own text in it has at most this many bytes.
const SHORT_TURN: usize = 240;
/// The most statements that are found in one turn.
pub const MOST_OF_A_TURN: usize = 64;

contextweaver_model::string_enum! {
    /// What an instruction of the user does.
    StatementKind, "kind" {
        /// It forbids something.
        Prohibition = "prohibition",
        /// It says what is to be done in a case.
        Condition = "condition",
        /// It sets a bound.
        Limit = "limit",
        /// It says how something is written.
        Format = "format",
        /// It says what a word stands for.
        Definition = "definition",
        /// It says who the speaker is, or what belongs to the speaker.
        Identity = "identity",
        /// It allows something.
        Approval = "approval",
        /// It says what was settled.
        Decision = "decision",
        /// It orders something else.
        Instruction = "instruction",
    }
}

/// A sentence of the user that stays in force, or that takes back an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The byte range of the sentence in the turn.
    pub range: Range<usize>,
    pub kind: StatementKind,
    /// Whether it applies this one time only.
    pub is_once: bool,
    /// How sure it is that the sentence is a statement; larger is surer.
    pub weight: f32,
    /// Whether it says that something is no longer as it was.
    pub changes: bool,
    /// Whether it takes back something that was said before.
    pub drops: bool,
    /// Hashes of the words that tell what it is about.
    pub subject: Vec<u64>,
    /// If the sentence gives something a value, a hash of the rest of the sentence. A later sentence with the same hash
    /// gives the new value.
    pub frame: Option<u64>,
}

impl Statement {
    /// Tells whether the sentence is a statement by itself. Otherwise it is one only if an earlier statement has the
    /// same subject.
    pub fn is_sure(&self) -> bool {
        self.weight >= weigh::LEAST
    }
}

/// Returns the statements in a turn of the user, in order, including sentences that are not sure to be statements.
pub fn find(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut speakers = Speakers::default();
    let stretches = read_of(text);
    let is_short = stretches.iter().map(ExactSizeIterator::len).sum::<usize>() <= SHORT_TURN;
    for stretch in stretches {
        for range in sentences::sentences(text, &stretch) {
            let sentence = &text[range.clone()];
            let quotations = sentences::quotations(sentence);
            let words = lexicon::read(sentence, |at| quotations.iter().any(|quotation| quotation.contains(&at)));
            if speakers.is_other(sentence, &words) {
                continue;
            }
            if let Some(statement) = weigh::weigh(sentence, range, &words, is_short) {
                found.push(statement);
                if found.len() == MOST_OF_A_TURN {
                    return found;
                }
            }
        }
    }
    found
}

/// Marks and lines that end a sentence.
const ENDS: [char; 7] = ['\n', '.', '!', '?', '。', '！', '？'];

/// Returns the stretches of a turn that are read, without the text of others. Of a long turn they are at its beginning
/// and its end.
fn read_of(text: &str) -> Vec<Range<usize>> {
    let stretches = quoted::own_stretches(text);
    if text.len() <= 2 * READ_AT_ENDS {
        return stretches;
    }
    // The whole turn tells what is quoted: a fence may open before a cut. Of a stretch across a cut, whole sentences are read.
    let head = text[..floor_char_boundary(text, READ_AT_ENDS)].rfind(ENDS).unwrap_or(0);
    let from = floor_char_boundary(text, text.len() - READ_AT_ENDS);
    let tail = text[from..].find(ENDS).map_or(text.len(), |at| from + at);
    let ends = stretches.into_iter().flat_map(|Range { start, end }| [start..end.min(head), start.max(tail)..end]);
    ends.filter(|range| range.start < range.end).collect()
}

impl Statement {
    /// Merges several statements into one. The caller sets its range.
    pub fn of_all(found: &[Self]) -> Self {
        let mut all = Self {
            range: 0..0,
            kind: found.first().map_or(StatementKind::Instruction, |first| first.kind),
            is_once: false,
            weight: found.iter().map(|statement| statement.weight).fold(weigh::LEAST, f32::max),
            changes: found.iter().any(|statement| statement.changes),
            drops: found.iter().any(|statement| statement.drops),
            subject: found.iter().flat_map(|statement| statement.subject.iter().copied()).collect(),
            frame: if let [one] = found { one.frame } else { None },
        };
        all.subject.truncate(weigh::MOST_SUBJECT);
        all
    }
}

#[cfg(test)]
mod tests;
