//! Texts and messages that say nothing, which most providers refuse.

use serde_json::{Value, json};

use super::Warnings;
use super::message::{Role, at};
use super::outgoing::{OutgoingMessage, OutgoingPart, PartContent};
use contextweaver_text::unicode::trim;

/// Finds the list of parts in the value of a result.
pub type PartsOfResult = fn(&mut Value) -> Option<&mut Value>;

/// Leaves out messages that say nothing, empty texts among other parts, and those of results.
pub fn leave_out_blanks(messages: &mut [OutgoingMessage], parts_of: PartsOfResult, warnings: &mut Warnings) {
    for message in messages {
        let mut kept: Vec<OutgoingPart> = Vec::with_capacity(message.parts.len());
        let mut parts = std::mem::take(&mut message.parts).into_iter().peekable();
        while let Some(first) = parts.next() {
            let mut group = vec![first];
            while let Some(part) = parts.next_if(|part| part.message() == group[0].message()) {
                group.push(part);
            }
            kept.extend(said(group, message.role, warnings));
        }
        for part in &mut kept {
            let content = part.original.as_mut().filter(|_| matches!(part.content, PartContent::ToolResult(_)));
            if content.is_some_and(|original| fill_result(&mut original.value, parts_of)) {
                warn(part.item, warnings);
            }
        }
        message.parts = kept;
    }
}

/// Returns what one message says; nothing where all of its texts are blank and it has nothing else.
fn said(mut group: Vec<OutgoingPart>, role: Role, warnings: &mut Warnings) -> Vec<OutgoingPart> {
    let is_silent = role != Role::Tool && !group.iter().any(says);
    let is_blank = |part: &OutgoingPart| match &part.content {
        PartContent::Text(text) => {
            let is_in_list = part.original.as_ref().is_none_or(|original| original.field.ends_with("[]"));
            is_silent || is_in_list && text.is_empty()
        }
        PartContent::Opaque => is_silent && is_nothing(part),
        _ => false,
    };
    let Some(blank) = group.iter().find(|part| is_blank(part)) else { return group };
    warn(blank.item, warnings);
    let fields = group.iter_mut().find_map(|part| part.message_fields.take());
    group.retain(|part| !is_blank(part));
    if let Some(first) = group.first_mut() {
        first.message_fields = fields;
    }
    group
}

/// Tells whether a part says something by itself.
pub fn says(part: &OutgoingPart) -> bool {
    match &part.content {
        PartContent::Text(text) => !trim(text).is_empty(),
        PartContent::Reasoning => false,
        _ => !is_nothing(part),
    }
}

/// Tells whether a part is a message without parts.
fn is_nothing(part: &OutgoingPart) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => trim(text).is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    part.original.as_ref().is_some_and(|original| match original.field.as_str() {
        "content" => is_empty(&original.value),
        "" => original.value.get("role").is_some() && original.value.get("content").is_some_and(is_empty),
        _ => false,
    })
}

/// Takes empty texts out of the list in a result, which is an empty text where nothing is left; tells whether there were any.
fn fill_result(value: &mut Value, parts_of: PartsOfResult) -> bool {
    let Some(content) = parts_of(value) else { return false };
    let parts = if content.is_array() {
        content.as_array_mut()
    } else {
        content.get_mut("value").and_then(Value::as_array_mut)
    };
    let Some(parts) = parts else { return false };
    let before = parts.len();
    parts.retain(|part| part.get("text") != Some(&json!("")));
    if !parts.is_empty() {
        return parts.len() < before;
    }
    *content = if content.is_array() { "".into() } else { json!({ "type": "text", "value": "" }) };
    true
}

fn warn(item: usize, warnings: &mut Warnings) {
    warnings.add("EMPTY_LEFT_OUT", "a message or part that says nothing is left out", at("/items", item));
}
