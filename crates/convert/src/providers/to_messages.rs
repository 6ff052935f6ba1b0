//! Writes messages: from items to [`OutgoingMessage`]s that keep the rules all providers have.

use super::message::{Role, at};
use super::names::{UniqueIds, answered_id, call_id, legal_id, legal_name, tool_name};
use super::outgoing::{OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, ToolResultPart, restored_parts};
use super::stored::{StoredMessage, StoredPartKind};
use super::{Format, Warnings, call_text};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::unicode::{quote, trim};

/// The result that is written for a call without one.
pub const NO_RESULT: &str = "No result was recorded for this call.";

/// Options of [`super::items_to_messages`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether calls at the end get a stub for their result, too. Otherwise they wait for it.
    pub close_calls: bool,
}

/// An item with its stored message, its call and its results.
struct SourceItem<'a> {
    item: &'a ContextItem,
    stored: Option<StoredMessage>,
    /// Whether it was read from the format that is written.
    is_same_format: bool,
    /// Of a result its call.
    call: Option<usize>,
    /// Of a call its results, in order.
    results: Vec<usize>,
}

/// Items that are written as one message.
struct MessageGroup {
    role: Role,
    items: Vec<usize>,
}

/// Makes messages of items, not yet in the form of a format.
pub fn outgoing_messages(
    items: &[ContextItem],
    format: Format,
    options: &WriteOptions,
    warnings: &mut Warnings,
) -> Vec<OutgoingMessage> {
    let sources = sources(items, format);
    let groups = group_items(&sources);
    let mut builder = MessageBuilder { sources, format, warnings, ids: UniqueIds::default(), messages: Vec::new() };
    let last = groups.iter().rposition(|group| !builder.keeps_calls_open(group));
    for (index, group) in groups.iter().enumerate() {
        let may_wait = !options.close_calls && last.is_none_or(|last| index >= last);
        builder.add_group(group, may_wait);
    }
    builder.messages
}

fn sources(items: &[ContextItem], format: Format) -> Vec<SourceItem<'_>> {
    let mut sources: Vec<SourceItem> = items
        .iter()
        .map(|item| {
            let stored = StoredMessage::of(item);
            let is_same_format = stored.as_ref().is_some_and(|stored| stored.format == format);
            SourceItem { item, stored, is_same_format, call: None, results: Vec::new() }
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

fn group_items(sources: &[SourceItem]) -> Vec<MessageGroup> {
    let mut groups: Vec<MessageGroup> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let role = match source.item.kind {
            ItemKind::Policy => Role::System,
            ItemKind::AgentMsg | ItemKind::ToolCall => Role::Assistant,
            // Written with its call; without one a call is made up.
            ItemKind::ToolResult if source.call.is_some() => continue,
            ItemKind::ToolResult => Role::Tool,
            _ => Role::User,
        };
        match groups.last_mut() {
            Some(group) if group.role == role && joins(sources, &group.items, index) => group.items.push(index),
            _ => groups.push(MessageGroup { role, items: vec![index] }),
        }
    }
    groups
}

/// Tells whether an item belongs to the message of those before it.
fn joins(sources: &[SourceItem], items: &[usize], index: usize) -> bool {
    let Some(before) = items.last().copied() else { return false };
    let (one, other) = (&sources[before], &sources[index]);
    if let (Some(one), Some(other)) = (&one.stored, &other.stored) {
        return one.format == other.format && one.group == other.group;
    }
    let is_next = before + 1 == index;
    match other.item.kind {
        ItemKind::ToolCall => {
            let parent = other.item.parent_id.as_deref();
            let is_parent = |index: &usize| parent == Some(sources[*index].item.id.as_str());
            let is_sibling =
                is_next && one.item.kind == ItemKind::ToolCall && one.item.parent_id == other.item.parent_id;
            is_sibling || items.first().is_some_and(is_parent)
        }
        ItemKind::ToolResult => is_next,
        _ => false,
    }
}

struct MessageBuilder<'a, 'w> {
    sources: Vec<SourceItem<'a>>,
    format: Format,
    warnings: &'w mut Warnings,
    ids: UniqueIds,
    messages: Vec<OutgoingMessage>,
}

impl MessageBuilder<'_, '_> {
    fn item(&self, index: usize) -> &ContextItem {
        self.sources[index].item
    }

    fn warn(&mut self, code: &'static str, message: String, item: usize) {
        self.warnings.add(code, message, at("/items", item));
    }

    /// Tells whether calls may still wait for their results after a message, as after the approval of a tool call.
    fn keeps_calls_open(&self, group: &MessageGroup) -> bool {
        group.role == Role::User
            && group.items.iter().all(|index| {
                let source = &self.sources[*index];
                let stored = source.stored.as_ref().filter(|stored| source.is_same_format && !stored.parts.is_empty());
                stored.is_some_and(|stored| {
                    stored.parts.iter().all(|part| matches!(part.kind, StoredPartKind::Opaque | StoredPartKind::Marker))
                        && source.item.metadata_str("role") == Some("tool")
                })
            })
    }

    fn add_group(&mut self, group: &MessageGroup, may_wait: bool) {
        match group.role {
            Role::Assistant => self.add_assistant(&group.items, may_wait),
            Role::Tool => self.add_results_without_calls(&group.items),
            role => {
                let parts = group.items.iter().flat_map(|index| self.text_parts(*index)).collect();
                self.push(role, parts);
            }
        }
    }

    fn push(&mut self, role: Role, parts: Vec<OutgoingPart>) {
        // Reasoning goes back to its position, whichever call it is stored with; a part without one stays after the part
        // before it.
        let mut last = None;
        let positions: Vec<Option<(usize, usize)>> = parts
            .iter()
            .map(|part| {
                last = part.position.or(last);
                last
            })
            .collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        sort_by(&mut order, |a, b| positions[*a].cmp(&positions[*b]));
        let mut taken: Vec<Option<OutgoingPart>> = parts.into_iter().map(Some).collect();
        let parts: Vec<OutgoingPart> = order.into_iter().filter_map(|at| taken[at].take()).collect();
        if !parts.is_empty() {
            self.messages.push(OutgoingMessage { role, parts, lost_reasoning: false });
        }
    }

    /// Adds a message of the model, and the results of its calls.
    fn add_assistant(&mut self, items: &[usize], may_wait: bool) {
        let lost_reasoning = self.lost_reasoning(items);
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        for &index in items {
            if self.item(index).kind != ItemKind::ToolCall {
                parts.extend(self.text_parts(index));
                continue;
            }
            if lost_reasoning {
                let id = quote(call_id(self.item(index)));
                let message =
                    format!("call {id} and its results are left out, as the reasoning that led to it is not there");
                self.warn("REASONING_INCOMPLETE", message, index);
                continue;
            }
            let call = self.tool_call(index);
            results.extend(self.results_of(index, &call, may_wait));
            parts.extend(self.parts(index, &PartContent::ToolCall(call)));
        }
        let before = self.messages.len();
        self.push(Role::Assistant, parts);
        for message in &mut self.messages[before..] {
            message.lost_reasoning = lost_reasoning;
        }
        self.push(Role::Tool, results);
    }

    /// Tells whether reasoning that led to calls is missing.
    fn lost_reasoning(&self, items: &[usize]) -> bool {
        let (mut wanted, mut there) = (0, 0);
        for source in items.iter().map(|index| &self.sources[*index]) {
            let Some(stored) = source.stored.as_ref().filter(|_| source.is_same_format) else { continue };
            wanted = wanted.max(stored.reasoning);
            if source.item.kind == ItemKind::ToolCall && stored.is_usable(source.item) {
                there += stored.parts.iter().filter(|part| part.kind == StoredPartKind::Reasoning).count();
            }
        }
        there < wanted
    }

    /// Returns the tool of a call, as the item, its results or its text name it, and the text of the arguments.
    fn tool_of(&mut self, index: usize) -> (String, String) {
        let SourceItem { item, stored, results, .. } = &self.sources[index];
        let (item, is_logged) = (*item, stored.is_none());
        let mut named = results.iter().filter_map(|result| tool_name(self.sources[*result].item));
        let of_results = named.next().filter(|first| named.all(|other| other == *first));
        let (mut name, mut text) = (tool_name(item).or(of_results), item.text.as_str());
        // The text of a call that was read from messages is its arguments.
        if is_logged && !trim(text).is_empty() && !call_text::is_object(text) {
            if let Some((tool, arguments)) = call_text::parse_call(text, name) {
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

    /// Makes the tool call of an item, with an id that no other call has.
    fn tool_call(&mut self, index: usize) -> ToolCallPart {
        let given = call_id(self.item(index)).to_owned();
        let (named, text) = self.tool_of(index);
        // What came from this provider is legal there, whatever the documents say.
        let (id, name) = if self.is_stored_call(index) {
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
        ToolCallPart { id, name, arguments: text }
    }

    fn is_stored_call(&self, index: usize) -> bool {
        let source = &self.sources[index];
        source.is_same_format && source.stored.as_ref().is_some_and(|stored| !stored.parts.is_empty())
    }

    /// Writes the results of a call: several are joined, and a missing one is made up unless it may still come.
    fn results_of(&mut self, index: usize, call: &ToolCallPart, may_wait: bool) -> Vec<OutgoingPart> {
        let results = self.sources[index].results.clone();
        let Some((first, more)) = results.split_first() else {
            if may_wait {
                return Vec::new();
            }
            self.warn("RESULT_MISSING", format!("call {} has no result; a stub stands for it", quote(&call.id)), index);
            let (call_id, name) = (call.id.clone(), call.name.clone());
            let result = ToolResultPart { call_id, name, text: NO_RESULT.to_owned(), is_error: true };
            return vec![OutgoingPart::new(PartContent::ToolResult(result), index)];
        };
        let result = self.tool_result(*first, call);
        let mut parts = self.parts(*first, &PartContent::ToolResult(result));
        if !more.is_empty() {
            let texts: Vec<&str> = results.iter().map(|index| self.item(*index).text.as_str()).collect();
            let text = texts.join("\n");
            self.warn("RESULTS_JOINED", format!("call {} has more than one result", quote(&call.id)), more[0]);
            for part in &mut parts {
                if let PartContent::ToolResult(result) = &mut part.content {
                    result.text.clone_from(&text);
                    part.original = None;
                }
            }
        }
        parts
    }

    fn tool_result(&self, index: usize, call: &ToolCallPart) -> ToolResultPart {
        let item = self.item(index);
        let is_error = item.metadata_flag("is_error");
        ToolResultPart { call_id: call.id.clone(), name: call.name.clone(), text: item.text.clone(), is_error }
    }

    /// Adds results whose calls are missing, with calls made up for them.
    fn add_results_without_calls(&mut self, items: &[usize]) {
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for &index in items {
            let item = self.item(index);
            let given = answered_id(item).to_owned();
            let source = &self.sources[index];
            if source.is_same_format && source.stored.as_ref().is_some_and(|stored| stored.reasoning > 0) {
                let message = format!(
                    "a result of call {} is left out with it, as the reasoning that led to it is not there",
                    quote(&given)
                );
                self.warn("REASONING_INCOMPLETE", message, index);
                continue;
            }
            let name = legal_name(tool_name(item).unwrap_or("tool"), self.format);
            let id = legal_id(&given, self.format);
            let id = self.ids.unique(&id, self.format);
            let message =
                format!("the call {} of a result is not there; one without arguments stands for it", quote(&given));
            self.warn("CALL_MISSING", message, index);
            let call = ToolCallPart { id, name, arguments: "{}".to_owned() };
            let result = self.tool_result(index, &call);
            results.extend(self.parts(index, &PartContent::ToolResult(result)));
            calls.push(OutgoingPart::new(PartContent::ToolCall(call), index));
        }
        self.push(Role::Assistant, calls);
        self.push(Role::Tool, results);
    }

    /// Writes an item that is neither call nor result.
    fn text_parts(&mut self, index: usize) -> Vec<OutgoingPart> {
        let item = self.item(index);
        let text = match item.kind {
            ItemKind::Policy | ItemKind::UserTurn | ItemKind::AgentMsg => item.text.clone(),
            // The other kinds have no role of their own: they are shown under their name.
            kind => format!("[{}]\n{}", kind.label(), item.text),
        };
        self.parts(index, &PartContent::Text(text))
    }

    fn parts(&mut self, index: usize, content: &PartContent) -> Vec<OutgoingPart> {
        let source = &self.sources[index];
        if let Some(stored) = source.stored.as_ref().filter(|_| source.is_same_format) {
            return restored_parts(source.item, stored, content, index);
        }
        let is_lost = |kind| matches!(kind, StoredPartKind::Reasoning | StoredPartKind::Opaque);
        if source.stored.as_ref().is_some_and(|stored| stored.parts.iter().any(|part| is_lost(part.kind))) {
            let message = "what only the provider it came from understands is left out".to_owned();
            self.warn("OPAQUE_LEFT_OUT", message, index);
        }
        OutgoingPart::of_text(index, content, None).into_iter().collect()
    }
}
