//! Standing instructions: what the user said once and for all, found in the log and kept in every prompt.
//!
//! `find` reads a turn when it comes in, and the index keeps what it found beside the item. `record` says of a log which of that
//! is in force: what was said later of the same replaces or withdraws it. What the caller adds, corrects and forgets stands in
//! the `book`, and `stated` puts both together. `block` writes what the prompt does not show anyway, and `ours` reads it back
//! where a prompt is handed over as the next history.

pub mod block;
pub mod book;
pub mod edit;
pub mod find;
pub mod given;
pub mod list;
pub mod ours;
pub mod record;
pub mod rule;
pub mod stated;

use self::find::{Statement, StatementKind, find};
use crate::labels;
use contextweaver_text::unicode;

/// Characters of a statement that a prompt repeats.
pub const MOST_CHARS: usize = 400;
/// The weight of a statement of which no form has to tell that it is one.
const CERTAIN: f32 = 8.0;

/// A statement with its words.
#[derive(Debug, Clone)]
pub struct Said {
    pub statement: Statement,
    /// Its words on one line, fit to stand in a prompt.
    pub text: Box<str>,
    /// Whether it comes from an earlier prompt of ours, and so from nowhere in the log.
    pub is_carried: bool,
    /// Whether its words are the caller's, so that no item shows them.
    pub is_callers: bool,
    /// Whether the caller's function found it.
    pub is_given: bool,
}

impl Said {
    /// Makes one of words that the caller gives.
    pub fn of_caller(text: &str, kind: Option<StatementKind>) -> Self {
        let mut statement = Statement::of_all(&find(text));
        statement.range = 0..text.len();
        statement.kind = kind.unwrap_or(statement.kind);
        statement.weight = CERTAIN;
        Self { statement, text: one_line(text), is_carried: false, is_callers: true, is_given: false }
    }
}

/// Returns what a turn of the user states; `text` has its secrets masked.
pub fn said_in(text: &str) -> Box<[Said]> {
    if let Some(lines) = ours::rules_of(text) {
        return lines.map(carried).collect();
    }
    find(text)
        .into_iter()
        .map(|statement| {
            let text = one_line(&text[statement.range.clone()]);
            Said { statement, text, is_carried: false, is_callers: false, is_given: false }
        })
        .collect()
}

/// Reads a line of an earlier prompt: one statement, whatever its sentences are.
pub fn carried(line: &str) -> Said {
    let found = find(line);
    let mut statement = Statement::of_all(&found);
    statement.range = 0..line.len();
    Said { statement, text: line.into(), is_carried: true, is_callers: false, is_given: false }
}

/// Tells whether a text says anything.
pub fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

pub fn one_line(text: &str) -> Box<str> {
    let flat = labels::flatten(&labels::contained(text));
    let words: Vec<&str> = flat.split_whitespace().collect();
    unicode::truncate(&words.join(" "), MOST_CHARS).into()
}
