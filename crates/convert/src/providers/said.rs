//! Messages in which the user and the model take turns, as Anthropic and Gemini want them.

use serde_json::Value;

use super::Warnings;
use super::part::{Piece, Role, Turn, What, at};
use super::turns::NO_RESULT;
use contextweaver_model::json::JsonMap;
use contextweaver_text::unicode::quote;

/// What the user says where the model would speak first, because what came before is not there.
pub const BEGINNING: &str = "[Earlier messages are not shown.]";

/// What one side says until the other speaks.
#[derive(Debug)]
pub struct Said {
    /// Whether it is the user's side, which gives the results, too.
    pub is_user: bool,
    /// The message without its parts.
    pub shell: JsonMap,
    /// Its parts.
    pub blocks: Vec<Block>,
}

/// A part of a message to be written.
#[derive(Debug)]
pub struct Block {
    /// The part.
    pub value: Value,
    /// What it is.
    pub kind: Kind,
    /// Id of the call that it is or answers.
    pub id: String,
    /// Whether it is as it was read.
    pub is_exact: bool,
    /// Whether it is text that may be the whole content without a list around it.
    pub is_whole: bool,
    /// Whether it was the first part of its message.
    pub was_first: bool,
    /// Index of the item.
    pub item: usize,
}

/// What a part is to the rules of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A call.
    Call,
    /// A result.
    Result,
    /// Reasoning.
    Reasoning,
    /// Anything else.
    Other,
}

impl Block {
    /// Makes the part of a piece.
    pub fn new(piece: &Piece, value: Value) -> Self {
        let (kind, id) = match &piece.what {
            What::Call(call) => (Kind::Call, call.id.clone()),
            What::Result(answer) => (Kind::Result, answer.id.clone()),
            What::Reasoning => (Kind::Reasoning, String::new()),
            What::Text(_) | What::Carried => (Kind::Other, String::new()),
        };
        let was_first = piece.place.is_some_and(|place| place.1 == 0);
        Self { value, kind, id, is_exact: piece.exact.is_some(), is_whole: false, was_first, item: piece.item }
    }

    fn is_reasoning(&self) -> bool {
        self.kind == Kind::Reasoning
    }

    /// Makes a part that stands for something that is not there.
    pub fn made_up(value: Value, kind: Kind, id: &str, item: usize) -> Self {
        Self { value, kind, id: id.to_owned(), is_exact: false, is_whole: true, was_first: false, item }
    }
}

/// Makes the part of a result, for a call and with its name, that says a text and whether it is an error.
pub type MakeResult = fn(call: &Block, text: &str) -> Value;

impl Said {
    /// Takes the pieces of a turn; `make` makes a part of each, or none of what says nothing.
    pub fn new(turn: Turn, mut make: impl FnMut(Piece) -> Option<Block>) -> Self {
        let mut said = Self { is_user: turn.role != Role::Assistant, shell: JsonMap::new(), blocks: Vec::new() };
        for mut piece in turn.pieces {
            if let Some(Value::Object(shell)) = piece.shell.take() {
                said.take_shell(shell);
            }
            said.blocks.extend(make(piece));
        }
        said
    }

    /// Adds the fields of another message, where this one has none of that name.
    fn take_shell(&mut self, shell: JsonMap) {
        for (key, value) in shell {
            self.shell.entry(key).or_insert(value);
        }
    }

    fn begins_with_reasoning(&self) -> bool {
        self.blocks.first().is_some_and(Block::is_reasoning)
    }

    /// Takes what the same side says next; with `thinks_first` its first reasoning goes before what has none.
    fn take(&mut self, mut next: Self, thinks_first: bool) {
        self.take_shell(std::mem::take(&mut next.shell));
        if thinks_first && next.begins_with_reasoning() && !self.blocks.iter().any(Block::is_reasoning) {
            let reasoning = next.blocks.iter().take_while(|block| block.is_reasoning()).count();
            let spoken = std::mem::replace(&mut self.blocks, next.blocks.drain(..reasoning).collect());
            self.blocks.extend(spoken);
        }
        self.blocks.append(&mut next.blocks);
    }

    /// Puts reasoning first where what stood before it is not there.
    fn think_first(&mut self) {
        if self.blocks.first().is_some_and(|block| !block.was_first && !block.is_reasoning()) {
            self.put_first(Block::is_reasoning);
        }
    }

    fn put_first(&mut self, leads: impl Fn(&Block) -> bool) {
        let (mut first, rest): (Vec<Block>, Vec<Block>) = std::mem::take(&mut self.blocks).into_iter().partition(leads);
        first.extend(rest);
        self.blocks = first;
    }

    fn calls(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.kind == Kind::Call)
    }
}

/// Joins what the same side says in a row; who says nothing is left out.
fn alternate(list: Vec<Said>, thinks_first: bool) -> Vec<Said> {
    let mut joined: Vec<Said> = Vec::with_capacity(list.len());
    for said in list.into_iter().filter(|said| !said.blocks.is_empty()) {
        match joined.last_mut() {
            Some(before) if before.is_user == said.is_user => before.take(said, thinks_first),
            _ => joined.push(said),
        }
    }
    joined
}

/// Makes messages that keep the rules: the sides alternate and the user begins, every call but those said last has its
/// result in the next message, results come first. With `thinks_first` the model thinks before it speaks, and does not
/// end in thought.
pub fn in_turns(
    mut list: Vec<Said>,
    thinks_first: bool,
    result: MakeResult,
    start: Value,
    warnings: &mut Warnings,
) -> Vec<Said> {
    if thinks_first {
        list.iter_mut().for_each(Said::think_first);
    }
    list = alternate(list, thinks_first);
    if thinks_first {
        for said in list.iter_mut().filter(|said| !said.is_user) {
            drop_last_reasoning(said, warnings);
        }
        list = alternate(list, thinks_first);
    }
    for said in list.iter_mut().filter(|said| said.is_user) {
        said.put_first(|block| block.kind == Kind::Result);
    }
    for index in 1..list.len() {
        let (before, rest) = list.split_at_mut(index);
        complete(&before[index - 1], &mut rest[0], result, warnings);
    }
    if list.first().is_some_and(|said| !said.is_user) {
        warnings.add(
            "BEGINNING_MISSING",
            "the model would speak first; a remark stands for what came before",
            at("/items", 0),
        );
        let blocks = vec![Block::made_up(start, Kind::Other, "", 0)];
        list.insert(0, Said { is_user: true, shell: JsonMap::new(), blocks });
    }
    list
}

fn drop_last_reasoning(said: &mut Said, warnings: &mut Warnings) {
    while let Some(last) = said.blocks.pop_if(|block| block.is_reasoning()) {
        let message = "reasoning that nothing follows is left out";
        warnings.add("REASONING_INCOMPLETE", message, at("/items", last.item));
    }
}

/// Adds results that are missing although others of the same turn are there.
fn complete(before: &Said, next: &mut Said, result: MakeResult, warnings: &mut Warnings) {
    let known = contextweaver_base::order::WordSet::new(next.blocks.iter().map(|block| block.id.clone()).collect());
    let results = next.blocks.iter().filter(|block| block.kind == Kind::Result).count();
    let missing: Vec<Block> = before
        .calls()
        .filter(|call| !known.contains(&call.id))
        .map(|call| {
            let message = format!("call {} has no result; a stub stands for it", quote(&call.id));
            warnings.add("RESULT_MISSING", message, at("/items", call.item));
            Block::made_up(result(call, NO_RESULT), Kind::Result, &call.id, call.item)
        })
        .collect();
    next.blocks.splice(results..results, missing);
}
