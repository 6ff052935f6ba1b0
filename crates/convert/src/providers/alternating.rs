//! Messages whose roles alternate between the user and the model, as Anthropic and Gemini want them.

use serde_json::Value;

use super::Warnings;
use super::blanks::says;
use super::message::{Role, at};
use super::outgoing::{NO_RESULT, OutgoingMessage, OutgoingPart, PartContent, warn_of_reasoning};
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;

/// The text of the user message that is put before a conversation that would start with the model.
pub const MISSING_START: &str = "[Earlier messages are not shown.]";

/// A message of the user or of the model, being written.
#[derive(Debug)]
pub struct AlternatingMessage {
    /// Whether it is the user's; tool results are in messages of the user.
    pub is_user: bool,
    /// The fields of the message besides its parts.
    pub fields: JsonMap,
    pub parts: Vec<AlternatingPart>,
    /// Instructions that stand behind it, as a message of their own: a format may allow them there and nowhere else.
    pub instructions: Option<Box<AlternatingMessage>>,
}

/// A part as the provider is sent it.
#[derive(Debug)]
pub struct AlternatingPart {
    pub value: Value,
    pub kind: AlternatingPartKind,
    /// Id of the call that it is or answers.
    pub id: String,
    /// Whether it is as it was read.
    pub is_original: bool,
    /// Whether it is text that may be the whole content, without a list around it.
    pub is_plain_text: bool,
    /// Whether it was the first part of its message.
    pub was_first: bool,
    /// Index of the message it was read from, if it comes from this format.
    pub message: Option<usize>,
    /// Index of the item.
    pub item: usize,
}

/// What a part is to the rules of alternation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlternatingPartKind {
    ToolCall,
    ToolResult,
    /// Reasoning.
    Reasoning,
    /// Anything else.
    Other,
}

impl AlternatingPart {
    /// Makes the part of a message with the value that is sent.
    pub fn new(part: &OutgoingPart, value: Value) -> Self {
        let (kind, id) = match &part.content {
            PartContent::ToolCall(call) => (AlternatingPartKind::ToolCall, call.id.clone()),
            PartContent::ToolResult(result) => (AlternatingPartKind::ToolResult, result.call_id.clone()),
            PartContent::Reasoning => (AlternatingPartKind::Reasoning, String::new()),
            PartContent::Text(_) | PartContent::Opaque => (AlternatingPartKind::Other, String::new()),
        };
        let was_first = part.position.is_some_and(|(_, index)| index == 0);
        let message = part.message();
        let is_original = part.original.is_some();
        Self { value, kind, id, is_original, is_plain_text: false, was_first, message, item: part.item }
    }

    fn is_reasoning(&self) -> bool {
        self.kind == AlternatingPartKind::Reasoning
    }

    /// Makes a part that no item has: a missing result, or the start of a conversation.
    pub fn made_up(value: Value, kind: AlternatingPartKind, id: &str, item: usize) -> Self {
        let (is_original, was_first) = (false, false);
        Self { value, kind, id: id.to_owned(), is_original, is_plain_text: true, was_first, message: None, item }
    }
}

/// Makes the part of a failed result of a call, with a text.
pub type WriteMissingResult = fn(call: &AlternatingPart, text: &str) -> Value;

impl AlternatingMessage {
    /// Takes the parts of a message; `write` makes the value of each, or none of an empty one.
    pub fn new(message: OutgoingMessage, mut write: impl FnMut(OutgoingPart) -> Option<AlternatingPart>) -> Self {
        let mut alternating = Self::user(Vec::new());
        alternating.is_user = message.role != Role::Assistant;
        for mut part in message.parts {
            if let Some(Value::Object(fields)) = part.message_fields.take() {
                alternating.add_fields(fields);
            }
            alternating.parts.extend(write(part));
        }
        alternating
    }

    fn user(parts: Vec<AlternatingPart>) -> Self {
        Self { is_user: true, fields: JsonMap::new(), parts, instructions: None }
    }

    /// Adds instructions behind those that stand there.
    pub fn instruct(&mut self, next: Self) {
        match &mut self.instructions {
            Some(before) => before.append(next, false),
            None => self.instructions = Some(Box::new(next)),
        }
    }

    /// Adds the fields of another message, where this one has none of that name.
    fn add_fields(&mut self, fields: JsonMap) {
        for (key, value) in fields {
            self.fields.entry(key).or_insert(value);
        }
    }

    fn begins_with_reasoning(&self) -> bool {
        self.parts.first().is_some_and(AlternatingPart::is_reasoning)
    }

    /// Adds the next message of the same role; with `reasons_first` its leading reasoning goes before parts that have none.
    fn append(&mut self, mut next: Self, reasons_first: bool) {
        self.add_fields(std::mem::take(&mut next.fields));
        if reasons_first && next.begins_with_reasoning() && !self.parts.iter().any(AlternatingPart::is_reasoning) {
            let reasoning = next.parts.iter().take_while(|part| part.is_reasoning()).count();
            let others = std::mem::replace(&mut self.parts, next.parts.drain(..reasoning).collect());
            self.parts.extend(others);
        }
        self.parts.append(&mut next.parts);
        if let Some(instructions) = next.instructions {
            self.instruct(*instructions);
        }
    }

    /// Puts reasoning first where the parts that stood before it are missing.
    fn put_reasoning_first(&mut self) {
        if self.parts.first().is_some_and(|part| !part.was_first && !part.is_reasoning()) {
            self.put_first(AlternatingPart::is_reasoning);
        }
    }

    fn put_first(&mut self, leads: impl Fn(&AlternatingPart) -> bool) {
        let (mut first, rest): (Vec<AlternatingPart>, Vec<AlternatingPart>) =
            std::mem::take(&mut self.parts).into_iter().partition(leads);
        first.extend(rest);
        self.parts = first;
    }

    /// Puts calls last where parts come from elsewhere, or from several messages: what follows a call is refused, as its result must.
    pub fn put_calls_last(&mut self) {
        let is_one = |pair: &[AlternatingPart]| pair[0].message == pair[1].message;
        if self.parts.iter().any(|part| !part.is_original) || !self.parts.windows(2).all(is_one) {
            self.put_first(|part| part.kind != AlternatingPartKind::ToolCall);
        }
    }

    fn has_results(&self) -> bool {
        self.parts.iter().any(|part| part.kind == AlternatingPartKind::ToolResult)
    }

    fn calls(&self) -> impl Iterator<Item = &AlternatingPart> {
        self.parts.iter().filter(|part| part.kind == AlternatingPartKind::ToolCall)
    }
}

/// Joins messages of the same role in a row, and leaves out empty ones. Without `reasons_first` what the user says stays
/// apart from results that it did not stand beside.
fn join_same_role(list: Vec<AlternatingMessage>, reasons_first: bool) -> Vec<AlternatingMessage> {
    let mut joined: Vec<AlternatingMessage> = Vec::with_capacity(list.len());
    for message in list.into_iter().filter(|message| !message.parts.is_empty()) {
        let stays_apart = |before: &AlternatingMessage| {
            let [one, other] =
                [before.parts.last(), message.parts.first()].map(|part| part.and_then(|part| part.message));
            !reasons_first
                && message.is_user
                && before.has_results() != message.has_results()
                && (one.is_none() || one != other)
        };
        match joined.last_mut() {
            Some(before) if before.is_user == message.is_user && !stays_apart(before) => {
                before.append(message, reasons_first);
            }
            _ => joined.push(message),
        }
    }
    joined
}

/// Makes messages that keep the rules: roles alternate and the user begins, every call but those of the last message has
/// its result in the next message, results come first. With `reasons_first` reasoning comes before other parts, and no
/// message ends in it; without it, results are a message of their own. `start` is the part of the user where the model would
/// begin, unless others stand before them.
pub fn alternate_roles(
    mut list: Vec<AlternatingMessage>,
    reasons_first: bool,
    result: WriteMissingResult,
    start: Option<Value>,
    warnings: &mut Warnings,
) -> Vec<AlternatingMessage> {
    if reasons_first {
        list.iter_mut().for_each(AlternatingMessage::put_reasoning_first);
    }
    list = join_same_role(list, reasons_first);
    if reasons_first {
        for message in list.iter_mut().filter(|message| !message.is_user) {
            drop_last_reasoning(message, warnings);
        }
        list = join_same_role(list, reasons_first);
    }
    for message in list.iter_mut().filter(|message| message.is_user) {
        message.put_first(|part| part.kind == AlternatingPartKind::ToolResult);
    }
    let mut index = 1;
    while index < list.len() {
        let missing = missing_results(&list[index - 1], &list[index], result, warnings);
        if !missing.is_empty() && !reasons_first && !list[index].has_results() {
            list.insert(index, AlternatingMessage::user(missing));
        } else {
            let next = &mut list[index].parts;
            let results = next.iter().filter(|part| part.kind == AlternatingPartKind::ToolResult).count();
            next.splice(results..results, missing);
        }
        index += 1;
    }
    if let Some(start) = start.filter(|_| list.first().is_some_and(|first| !first.is_user)) {
        warn_of_beginning(warnings);
        let parts = vec![AlternatingPart::made_up(start, AlternatingPartKind::Other, "", 0)];
        list.insert(0, AlternatingMessage::user(parts));
    }
    list
}

fn warn_of_beginning(warnings: &mut Warnings) {
    let message = "the model would speak first; a remark stands for what came before";
    warnings.add("BEGINNING_MISSING", message, at("/items", 0));
}

/// Puts a remark of the user before a model that would speak first, in a format that is written for any provider. A conversation
/// that began with the model stays as it was.
pub fn begin_with_user(messages: &mut Vec<OutgoingMessage>, warnings: &mut Warnings) {
    let is_turn = |message: &OutgoingMessage| message.role != Role::System && !message.parts.is_empty();
    let Some(first) = messages.iter().position(is_turn).filter(|at| messages[*at].role != Role::User) else { return };
    let part = &messages[first].parts[0];
    let instructions = messages[..first].iter().flat_map(|message| &message.parts).filter_map(OutgoingPart::message);
    if part.message().is_some_and(|index| index == instructions.max().map_or(0, |last| last + 1)) {
        return;
    }
    warn_of_beginning(warnings);
    let parts = vec![OutgoingPart::new(PartContent::Text(MISSING_START.to_owned()), part.item)];
    messages.insert(first, OutgoingMessage { role: Role::User, parts, lost_reasoning: false });
}

/// Puts the remark of the user where nothing is left of a conversation in which tools were called: without messages it is refused.
pub fn fill_empty(messages: &mut Vec<OutgoingMessage>, items: &[ContextItem], warnings: &mut Warnings) {
    if messages.iter().any(|message| message.role != Role::System && message.parts.iter().any(says)) {
        return;
    }
    let Some(item) = items.iter().position(|item| matches!(item.kind, ItemKind::ToolCall | ItemKind::ToolResult))
    else {
        return;
    };
    warn_of_beginning(warnings);
    let parts = vec![OutgoingPart::new(PartContent::Text(MISSING_START.to_owned()), item)];
    messages.push(OutgoingMessage { role: Role::User, parts, lost_reasoning: false });
}

fn drop_last_reasoning(message: &mut AlternatingMessage, warnings: &mut Warnings) {
    while let Some(last) = message.parts.pop_if(|part| part.is_reasoning()) {
        warn_of_reasoning(last.item, warnings);
    }
}

/// Makes results for the calls of the message before that have none in the next one.
fn missing_results(
    before: &AlternatingMessage,
    next: &AlternatingMessage,
    result: WriteMissingResult,
    warnings: &mut Warnings,
) -> Vec<AlternatingPart> {
    let known = contextweaver_base::order::WordSet::new(next.parts.iter().map(|part| part.id.clone()).collect());
    let missing = before.calls().filter(|call| !known.contains(&call.id)).map(|call| {
        let message = format!("call {} has no result; a stub stands for it", quote(&call.id));
        warnings.add("RESULT_MISSING", message, at("/items", call.item));
        AlternatingPart::made_up(result(call, NO_RESULT), AlternatingPartKind::ToolResult, &call.id, call.item)
    });
    missing.collect()
}
