//! From items to the turns of a conversation, with the rules that all providers have.

use super::names::{Ids, legal_id, legal_name};
use super::part::{Answer, Call, Piece, Role, Turn, What, at};
use super::pieces::{self, plain};
use super::record::{Kind, Record};
use super::{Format, Warnings, spoken};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::unicode::{quote, trim};

/// What is said for a tool whose result nobody knows.
pub const NO_RESULT: &str = "No result was recorded for this call.";

/// What writing depends on besides the items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether calls that nothing follows get a stub for their result, too. Otherwise they wait for it.
    pub close_calls: bool,
}

/// What an item is to the conversation.
struct Source<'a> {
    item: &'a ContextItem,
    record: Option<Record>,
    /// Whether the record is of the format that is written.
    same: bool,
    /// Of a result its call.
    call: Option<usize>,
    /// Of a call its results, in order.
    results: Vec<usize>,
}

/// Items that are said in one go.
struct Block {
    role: Role,
    members: Vec<usize>,
}

/// Makes turns of items.
pub fn turns(items: &[ContextItem], format: Format, options: &WriteOptions, warnings: &mut Warnings) -> Vec<Turn> {
    let sources = sources(items, format);
    let blocks = blocks(&sources);
    let mut maker = Maker { sources, format, warnings, ids: Ids::default(), turns: Vec::new() };
    let last = blocks.iter().rposition(|block| !maker.only_carries(block));
    for (index, block) in blocks.iter().enumerate() {
        let may_wait = !options.close_calls && last.is_none_or(|last| index >= last);
        maker.block(block, may_wait);
    }
    maker.turns
}

fn sources(items: &[ContextItem], format: Format) -> Vec<Source<'_>> {
    let mut sources: Vec<Source> = items
        .iter()
        .map(|item| {
            let record = Record::of(item);
            let same = record.as_ref().is_some_and(|record| record.format == format);
            Source { item, record, same, call: None, results: Vec::new() }
        })
        .collect();
    let mut by_item: SortedMap<&str, usize> = SortedMap::new();
    let mut by_call: SortedMap<&str, Vec<usize>> = SortedMap::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.kind == ItemKind::ToolCall) {
        by_item.insert(&item.id, index);
        let id = call_id(item);
        match by_call.get_mut(id) {
            Some(list) => list.push(index),
            None => {
                by_call.insert(id, vec![index]);
            }
        }
    }
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.kind == ItemKind::ToolResult) {
        let parent = item.parent_id.as_deref();
        let call = parent.and_then(|id| by_item.get(id)).copied().or_else(|| {
            let calls = parent.and_then(|id| by_call.get(id)).or_else(|| by_call.get(answered_id(item)))?;
            // The latest before the result.
            let after = calls.partition_point(|call| *call < index);
            calls.get(after.saturating_sub(1)).copied()
        });
        if let Some(call) = call {
            sources[index].call = Some(call);
            sources[call].results.push(index);
        }
    }
    sources
}

/// Returns the provider's id of a call.
pub fn call_id(item: &ContextItem) -> &str {
    item.metadata_str("tool_call_id").unwrap_or(&item.id)
}

/// Returns the provider's id of the call that a result answers.
pub fn answered_id(item: &ContextItem) -> &str {
    let parent = item.parent_id.as_deref();
    let own = || item.id.strip_prefix("result:").unwrap_or(&item.id);
    item.metadata_str("tool_call_id").or(parent).unwrap_or_else(own)
}

/// Returns the name of the tool.
pub fn tool_name(item: &ContextItem) -> Option<&str> {
    let named = |key| item.metadata_str(key).filter(|name| !name.is_empty());
    named("function_name").or_else(|| named("tool_name"))
}

fn blocks(sources: &[Source]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let role = match source.item.kind {
            ItemKind::Policy => Role::System,
            ItemKind::AgentMsg | ItemKind::ToolCall => Role::Assistant,
            // Its call says it; without one it makes one up.
            ItemKind::ToolResult if source.call.is_some() => continue,
            ItemKind::ToolResult => Role::Tool,
            _ => Role::User,
        };
        match blocks.last_mut() {
            Some(block) if block.role == role && joins(sources, &block.members, index) => block.members.push(index),
            _ => blocks.push(Block { role, members: vec![index] }),
        }
    }
    blocks
}

/// Tells whether an item was said in one go with those before it.
fn joins(sources: &[Source], members: &[usize], index: usize) -> bool {
    let Some(before) = members.last().copied() else { return false };
    let (one, other) = (&sources[before], &sources[index]);
    if let (Some(one), Some(other)) = (&one.record, &other.record) {
        return one.format == other.format && one.group == other.group;
    }
    let is_next = before + 1 == index;
    match other.item.kind {
        ItemKind::ToolCall => {
            let parent = other.item.parent_id.as_deref();
            let is_parent = |member: &usize| parent == Some(sources[*member].item.id.as_str());
            let is_sibling =
                is_next && one.item.kind == ItemKind::ToolCall && one.item.parent_id == other.item.parent_id;
            is_sibling || members.first().is_some_and(is_parent)
        }
        ItemKind::ToolResult => is_next,
        _ => false,
    }
}

struct Maker<'a, 'w> {
    sources: Vec<Source<'a>>,
    format: Format,
    warnings: &'w mut Warnings,
    ids: Ids,
    turns: Vec<Turn>,
}

impl Maker<'_, '_> {
    fn item(&self, index: usize) -> &ContextItem {
        self.sources[index].item
    }

    fn warn(&mut self, code: &'static str, message: String, item: usize) {
        self.warnings.add(code, message, at("/items", item));
    }

    /// Tells whether a block says nothing that ends the wait for a result, such as the user's leave to call a tool.
    fn only_carries(&self, block: &Block) -> bool {
        block.role == Role::User
            && block.members.iter().all(|member| {
                let source = &self.sources[*member];
                let record = source.record.as_ref().filter(|record| source.same && !record.parts.is_empty());
                record.is_some_and(|record| {
                    record.parts.iter().all(|part| matches!(part.kind, Kind::Opaque | Kind::Mark))
                        && source.item.metadata_str("role") == Some("tool")
                })
            })
    }

    fn block(&mut self, block: &Block, may_wait: bool) {
        match block.role {
            Role::Assistant => self.assistant(&block.members, may_wait),
            Role::Tool => self.orphans(&block.members),
            role => {
                let pieces = block.members.iter().flat_map(|member| self.said(*member)).collect();
                self.push(role, pieces);
            }
        }
    }

    fn push(&mut self, role: Role, pieces: Vec<Piece>) {
        // Reasoning stands where it stood, whatever it rode on; what has no place stays with what is before it.
        let mut last = None;
        let places: Vec<Option<(usize, usize)>> = pieces
            .iter()
            .map(|piece| {
                last = piece.place.or(last);
                last
            })
            .collect();
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        sort_by(&mut order, |a, b| places[*a].cmp(&places[*b]));
        let mut taken: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
        let pieces: Vec<Piece> = order.into_iter().filter_map(|at| taken[at].take()).collect();
        if !pieces.is_empty() {
            self.turns.push(Turn { role, pieces, lost_reasoning: false });
        }
    }

    /// Writes what the model said, and the results of the calls it made.
    fn assistant(&mut self, members: &[usize], may_wait: bool) {
        let without = self.without_reasoning(members);
        let (mut pieces, mut answers) = (Vec::new(), Vec::new());
        for &member in members {
            if self.item(member).kind != ItemKind::ToolCall {
                pieces.extend(self.said(member));
                continue;
            }
            if without {
                let id = quote(call_id(self.item(member)));
                let message =
                    format!("call {id} and its results are left out, as the reasoning that led to it is not there");
                self.warn("REASONING_INCOMPLETE", message, member);
                continue;
            }
            let call = self.call_of(member);
            answers.extend(self.answer(member, &call, may_wait));
            pieces.extend(self.pieces(member, &What::Call(call)));
        }
        let before = self.turns.len();
        self.push(Role::Assistant, pieces);
        for turn in &mut self.turns[before..] {
            turn.lost_reasoning = without;
        }
        self.push(Role::Tool, answers);
    }

    /// Tells whether reasoning that led to calls is not there.
    fn without_reasoning(&self, members: &[usize]) -> bool {
        let (mut wanted, mut there) = (0, 0);
        for source in members.iter().map(|member| &self.sources[*member]) {
            let Some(record) = source.record.as_ref().filter(|_| source.same) else { continue };
            wanted = wanted.max(record.reasoning);
            if source.item.kind == ItemKind::ToolCall && record.is_whole(source.item) {
                there += record.parts.iter().filter(|part| part.kind == Kind::Reasoning).count();
            }
        }
        there < wanted
    }

    /// Returns the tool of a call, as the item, its results or its text name it, and the text of the arguments.
    fn tool_of(&mut self, index: usize) -> (String, String) {
        let Source { item, record, results, .. } = &self.sources[index];
        let (item, is_logged) = (*item, record.is_none());
        let mut told = results.iter().filter_map(|result| tool_name(self.sources[*result].item));
        let told = told.next().filter(|first| told.all(|other| other == *first));
        let (mut name, mut text) = (tool_name(item).or(told), item.text.as_str());
        // What came from messages is arguments and nothing else.
        if is_logged && !trim(text).is_empty() && !spoken::is_object(text) {
            if let Some((tool, arguments)) = spoken::take_apart(text, name) {
                (name, text) = (Some(tool), arguments);
            } else {
                let message = format!(
                    "the text of call {} is neither a JSON object nor a call such as `name({{...}})`; it is written as the \
                     argument `input`",
                    quote(&item.id)
                );
                self.warn("ARGUMENTS_UNREAD", message, index);
            }
        }
        if name.is_none() {
            let message = format!(
                "nothing names the tool of call {}; it is written as `tool`; metadata.function_name can name it",
                quote(&item.id)
            );
            self.warn("NAME_MISSING", message, index);
        }
        (name.unwrap_or("tool").to_owned(), text.to_owned())
    }

    /// Makes the call of an item, with an id of its own.
    fn call_of(&mut self, index: usize) -> Call {
        let given = call_id(self.item(index)).to_owned();
        let (named, text) = self.tool_of(index);
        // What came from this provider is legal there, whatever the documents say.
        let (id, name) = if self.exact_call(index) {
            (given.clone(), named.clone())
        } else {
            (legal_id(&given, self.format), legal_name(&named, self.format))
        };
        let id = self.ids.unique(&id, self.format);
        if id != given {
            let message = format!("the id {} of a call was changed to {}", quote(&given), quote(&id));
            self.warn("ID_CHANGED", message, index);
        }
        if named != name {
            let message = format!("the name of a tool was changed to {}", quote(&name));
            self.warn("NAME_CHANGED", message, index);
        }
        Call { id, name, text }
    }

    fn exact_call(&self, index: usize) -> bool {
        let source = &self.sources[index];
        source.same && source.record.as_ref().is_some_and(|record| !record.parts.is_empty())
    }

    /// Writes the results of a call; two are joined, none is made up unless it may still come.
    fn answer(&mut self, index: usize, call: &Call, may_wait: bool) -> Vec<Piece> {
        let results = self.sources[index].results.clone();
        let Some((first, more)) = results.split_first() else {
            if may_wait {
                return Vec::new();
            }
            self.warn("RESULT_MISSING", format!("call {} has no result; a stub stands for it", quote(&call.id)), index);
            let (id, name) = (call.id.clone(), call.name.clone());
            let what = What::Result(Answer { id, name, text: NO_RESULT.to_owned(), is_error: true });
            return vec![Piece { what, exact: None, place: None, shell: None, item: index }];
        };
        let answer = self.answer_of(*first, call);
        let mut pieces = self.pieces(*first, &What::Result(answer));
        if !more.is_empty() {
            let texts: Vec<&str> = results.iter().map(|index| self.item(*index).text.as_str()).collect();
            let text = texts.join("\n");
            self.warn("RESULTS_JOINED", format!("call {} has more than one result", quote(&call.id)), more[0]);
            for piece in &mut pieces {
                if let What::Result(answer) = &mut piece.what {
                    answer.text.clone_from(&text);
                    piece.exact = None;
                }
            }
        }
        pieces
    }

    fn answer_of(&self, index: usize, call: &Call) -> Answer {
        let item = self.item(index);
        let is_error = item.metadata_flag("is_error");
        Answer { id: call.id.clone(), name: call.name.clone(), text: item.text.clone(), is_error }
    }

    /// Writes results whose calls are not there, with calls made up for them.
    fn orphans(&mut self, members: &[usize]) {
        let (mut calls, mut answers) = (Vec::new(), Vec::new());
        for &member in members {
            let item = self.item(member);
            let given = answered_id(item).to_owned();
            let source = &self.sources[member];
            if source.same && source.record.as_ref().is_some_and(|record| record.reasoning > 0) {
                let message = format!(
                    "a result of call {} is left out with it, as the reasoning that led to it is not there",
                    quote(&given)
                );
                self.warn("REASONING_INCOMPLETE", message, member);
                continue;
            }
            let name = legal_name(tool_name(item).unwrap_or("tool"), self.format);
            let id = legal_id(&given, self.format);
            let id = self.ids.unique(&id, self.format);
            let message =
                format!("the call {} of a result is not there; one without arguments stands for it", quote(&given));
            self.warn("CALL_MISSING", message, member);
            let call = Call { id, name, text: "{}".to_owned() };
            let answer = self.answer_of(member, &call);
            answers.extend(self.pieces(member, &What::Result(answer)));
            calls.push(Piece { what: What::Call(call), exact: None, place: None, shell: None, item: member });
        }
        self.push(Role::Assistant, calls);
        self.push(Role::Tool, answers);
    }

    /// Writes an item that only says something.
    fn said(&mut self, index: usize) -> Vec<Piece> {
        let item = self.item(index);
        let text = match item.kind {
            ItemKind::Policy | ItemKind::UserTurn | ItemKind::AgentMsg => item.text.clone(),
            // The other kinds are no one's turn: they are shown under their name.
            kind => format!("[{}]\n{}", kind.label(), item.text),
        };
        self.pieces(index, &What::Text(text))
    }

    fn pieces(&mut self, index: usize, what: &What) -> Vec<Piece> {
        let source = &self.sources[index];
        let Some(record) = source.record.as_ref() else { return plain(index, what, None).into_iter().collect() };
        if source.same {
            return pieces::of(source.item, record, what, index);
        }
        if record.parts.iter().any(|part| matches!(part.kind, Kind::Reasoning | Kind::Opaque)) {
            let message = "what only the provider it came from understands is left out".to_owned();
            self.warn("OPAQUE_LEFT_OUT", message, index);
        }
        plain(index, what, None).into_iter().collect()
    }
}
