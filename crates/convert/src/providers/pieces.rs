//! From one item to what is written for it, in the format that it came from.

use serde_json::Value;

use super::part::{Exact, Piece, What};
use super::record::{Kept, Kind, Record};
use super::turns::call_id;
use contextweaver_model::ContextItem;
use contextweaver_text::unicode::trim;

/// Returns the piece of an item without a record for the format: its text, unless that is empty, which most providers
/// refuse.
pub fn plain(item: usize, what: &What, place: Option<(usize, usize)>) -> Option<Piece> {
    let is_nothing = matches!(what, What::Text(text) if trim(text).is_empty());
    (!is_nothing).then(|| Piece { what: what.clone(), exact: None, place, shell: None, item })
}

/// Returns the pieces of an item: its parts as they were, if the text is unchanged; else the text, and of the parts what
/// carries no text of the item.
pub fn of(item: &ContextItem, record: &Record, what: &What, index: usize) -> Vec<Piece> {
    let is_hidden = !record.is_whole(item);
    let filled = if is_hidden || !keeps_id(item, what) { None } else { record.fill(&item.text) };
    match filled.filter(|filled| !filled.is_empty()) {
        Some(filled) => as_it_was(record, filled, what, index),
        None => changed(record, is_hidden, what, index),
    }
}

fn as_it_was(record: &Record, filled: Vec<(Value, String)>, what: &What, item: usize) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(filled.len());
    for (part, (value, text)) in record.parts.iter().zip(filled) {
        let what = match part.kind {
            Kind::Text => What::Text(text),
            Kind::Call | Kind::Result => what.clone(),
            Kind::Reasoning => What::Reasoning,
            Kind::Opaque | Kind::Mark => What::Carried,
        };
        pieces.push(exact(part, what, value, item));
    }
    // Around the message of the item, not around that of reasoning from another entry.
    if let Some(piece) = pieces.iter_mut().find(|piece| piece.message() == record.message) {
        piece.shell.clone_from(&record.shell);
    }
    pieces
}

fn changed(record: &Record, is_hidden: bool, what: &What, item: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in record.parts.iter().filter(|_| !is_hidden) {
        let what = match part.kind {
            Kind::Reasoning => What::Reasoning,
            Kind::Mark => What::Carried,
            Kind::Text | Kind::Call | Kind::Result | Kind::Opaque => continue,
        };
        pieces.push(exact(part, what, part.original.clone(), item));
    }
    let main = record.parts.iter().find(|part| !matches!(part.kind, Kind::Reasoning | Kind::Mark));
    let place = main.and_then(place).or(record.message.map(|message| (message, 0)));
    let shell = record.shell.as_ref().filter(|_| !is_hidden).map(bare);
    pieces.extend(plain(item, what, place).map(|piece| Piece { shell, ..piece }));
    pieces
}

fn place(part: &Kept) -> Option<(usize, usize)> {
    part.message.map(|message| (message, part.at))
}

fn exact(part: &Kept, what: What, value: Value, item: usize) -> Piece {
    let exact = Some(Exact { field: part.field.clone(), value });
    Piece { what, exact, place: place(part), shell: None, item }
}

/// Tells whether the id in the parts of an item is the one that is to be written.
fn keeps_id(item: &ContextItem, what: &What) -> bool {
    match what {
        What::Call(call) => call.id == call_id(item),
        What::Result(answer) => item.metadata_str("tool_call_id").is_none_or(|id| id == answer.id),
        _ => true,
    }
}

/// Returns what tells who speaks; the rest of a message may say what the text no longer says.
fn bare(shell: &Value) -> Value {
    let keys = ["id", "type", "role", "name", "tool_call_id"];
    let fields = shell.as_object().into_iter().flatten();
    let kept = fields.filter(|(key, value)| keys.contains(&key.as_str()) && value.is_string());
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}
