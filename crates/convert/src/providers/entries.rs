//! Messages that are lists of parts, put together from turns.

use serde_json::{Value, json};

use super::part::{Answer, Call, Exact, Piece, Role, Turn, What, put};
use contextweaver_base::order::sort_by;

/// A message to be written.
#[derive(Debug)]
pub struct Entry {
    /// Who speaks.
    pub role: Role,
    /// Its index, if it was read from this format.
    pub message: Option<usize>,
    /// What is said, in order.
    pub pieces: Vec<Piece>,
}

/// How a format writes its parts.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// The field with the list of parts.
    pub list: &'static str,
    /// Whether a message of one text may have the text there instead of the list.
    pub plain: bool,
    /// Writes a text.
    pub text: fn(&str) -> Value,
    /// Writes a call.
    pub call: fn(&Call) -> Value,
    /// Writes a result.
    pub result: fn(&Answer) -> Value,
}

/// Sorts turns into messages. Pieces of one message meet again. Where `speaker` is given, neighbours with one speaker
/// are one message, too, unless they were neighbours when they were read.
pub fn entries(turns: Vec<Turn>, speaker: Option<fn(Role) -> &'static str>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for turn in turns {
        for pieces in by_message(turn.pieces) {
            let message = pieces.first().and_then(Piece::message);
            let entry = Entry { role: turn.role, message, pieces };
            match entries.last_mut() {
                Some(last) if belongs(last, &entry, speaker) => {
                    last.pieces.extend(entry.pieces);
                    if last.message == entry.message && last.message.is_some() {
                        sort_by(&mut last.pieces, |a, b| a.place.cmp(&b.place));
                    }
                    last.message = entry.message.or(last.message);
                }
                _ => entries.push(entry),
            }
        }
    }
    entries
}

fn belongs(last: &Entry, entry: &Entry, speaker: Option<fn(Role) -> &'static str>) -> bool {
    match (last.message, entry.message) {
        (Some(last), Some(next)) if last == next => return true,
        (Some(last), Some(next)) if last + 1 == next => return false,
        _ => {}
    }
    speaker.is_some_and(|speaker| speaker(last.role) == speaker(entry.role))
}

/// Splits pieces by the messages they were in; those of no message go with the ones before.
pub fn by_message(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut lists: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        match lists.last_mut() {
            Some(list) if list[0].message() == piece.message() || piece.message().is_none() => list.push(piece),
            _ => lists.push(vec![piece]),
        }
    }
    lists
}

/// Returns the message around pieces: as it was, or a new one.
pub fn shell_of(pieces: &mut [Piece], new: Value) -> Value {
    pieces.iter_mut().find_map(|piece| piece.shell.take()).unwrap_or(new)
}

impl Entry {
    /// Writes the message; `role` is the name of the speaker. One that says nothing is none.
    pub fn build(mut self, role: &str, style: &Style) -> Option<Value> {
        let mut message = shell_of(&mut self.pieces, json!({ "role": role }));
        let is_text = matches!(&self.pieces[..], [Piece { what: What::Text(_), .. }]);
        let has_list = message.get(style.list).is_some_and(Value::is_array);
        let is_plain = is_text && style.plain && !has_list;
        if !is_plain && !has_list {
            put(&mut message, style.list, json!([]));
        }
        let element = format!("{}[]", style.list);
        let mut is_empty = true;
        for piece in self.pieces {
            is_empty = false;
            let (field, value) = match (piece.exact, piece.what) {
                (Some(Exact { field, value }), _) if is_plain || field != style.list => (field, value),
                (_, What::Text(text)) if is_plain => (style.list.to_owned(), text.into()),
                (_, What::Text(text)) => (element.clone(), (style.text)(&text)),
                (_, What::Call(call)) => (element.clone(), (style.call)(&call)),
                (_, What::Result(answer)) => (element.clone(), (style.result)(&answer)),
                (_, What::Reasoning | What::Carried) => continue,
            };
            put(&mut message, &field, value);
        }
        (!is_empty).then_some(message)
    }
}
