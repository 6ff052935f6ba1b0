//! Writes messages: from items to [`OutgoingMessage`]s that keep the rules all providers have.

use serde_json::{Value, json};

use super::approvals::Approvals;
use super::media_list::MediaBytes;
use super::message::{Role, at};
use super::message_groups::{MessageGroup, group_items};
use super::names::{UniqueIds, answered_id, call_id, legal_id, legal_name, tool_name};
use super::outgoing::{
    NO_RESULT, OutgoingMessage, OutgoingPart, PartContent, ToolCallPart, ToolResultPart, replaced_part, unchanged_parts,
};
use super::provider::{MediaOfResults, Provider};
use super::repeated::{drop_repeated_ids, take_out_repeated};
use super::server_tools::is_provider_run;
use super::sources::{self, SourceItem, sources};
use super::stored::StoredPartKind;
use super::torn::free_torn;
use super::written::{WriteOptions, WrittenBefore};
use super::{Format, Warnings, call_text};
use contextweaver_base::order::{WordSet, sort_by};
use contextweaver_model::json::{inexact_number, whole_escapes};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Makes messages of items, not yet in the form of a format.
pub fn outgoing_messages(
    items: &[ContextItem],
    format: Format,
    options: &WriteOptions,
    bytes: MediaBytes,
    before: &mut WrittenBefore,
    warnings: &mut Warnings,
) -> Vec<OutgoingMessage> {
    let mut sources = sources(items, format);
    let rules = &format.provider().rules;
    if rules.has_items {
        take_out_repeated(&mut sources, &before.items, warnings);
    }
    if rules.signs_calls {
        before.signatures.look_for(&sources);
    }
    let approvals = Approvals::of(&sources, &mut before.requests);
    let groups = group_items(&sources, &approvals);
    let ids = &mut before.calls;
    let mut builder = MessageBuilder {
        sources,
        approvals,
        format,
        bytes,
        warnings,
        ids,
        messages: Vec::new(),
        has_open_calls: false,
    };
    builder.warn_of_answers();
    let last = groups.iter().rposition(|group| !builder.keeps_calls_open(group));
    for (index, group) in groups.iter().enumerate() {
        let waits = match last.is_none_or(|last| index >= last) {
            true if options.close_calls => Waits::Asked,
            true => Waits::All,
            false => Waits::None,
        };
        builder.add_group(group, waits);
    }
    let MessageBuilder { mut messages, sources, .. } = builder;
    if rules.has_items {
        drop_repeated_ids(&mut messages, &sources, &mut before.items, warnings);
        free_torn(&mut messages, &sources, warnings);
    }
    messages
}

/// Returns the text above media that a tool returned, where they cannot stand in its result.
pub fn above_media(call: &str) -> String {
    format!("[From the result of call {call}]")
}

/// Which calls of a message may go without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    None,
    /// Those that wait for an approval, or for what is done after it.
    Asked,
    All,
}

/// Makes messages, one group of items after the other.
pub(super) struct MessageBuilder<'a, 'b, 'w> {
    pub(super) sources: Vec<SourceItem<'a>>,
    approvals: Approvals,
    pub(super) format: Format,
    pub(super) bytes: MediaBytes<'b>,
    pub(super) warnings: &'w mut Warnings,
    ids: &'w mut UniqueIds,
    messages: Vec<OutgoingMessage>,
    /// Whether calls of the present message still wait for results. If so, nothing may stand behind the results so far.
    pub(super) has_open_calls: bool,
}

impl MessageBuilder<'_, '_, '_> {
    pub(super) const fn provider(&self) -> &'static Provider {
        self.format.provider()
    }

    pub(super) fn item(&self, index: usize) -> &ContextItem {
        self.sources[index].item
    }

    pub(super) fn warn(&mut self, code: &'static str, message: String, item: usize) {
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

    fn add_group(&mut self, group: &MessageGroup, waits: Waits) {
        match group.role {
            Role::Assistant => self.add_assistant(&group.items, waits),
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
        let mut parts: Vec<OutgoingPart> = order.into_iter().filter_map(|at| taken[at].take()).collect();
        if role == Role::Assistant && self.provider().rules.has_items {
            self.free_messages(&mut parts);
        }
        if !parts.is_empty() {
            self.messages.push(OutgoingMessage { role, parts, lost_reasoning: false });
        }
    }

    /// Takes the ids off messages of a response of which something before them is not there: with it one may want its reasoning.
    fn free_messages(&self, parts: &mut [OutgoingPart]) {
        let mut before: Option<(usize, bool)> = None;
        for part in parts {
            let Some(index) = part.message() else { continue };
            let start = self.sources[part.item].stored.as_ref().map(|stored| stored.group.0);
            let follows = before
                .map_or(start == Some(index), |(before, is_whole)| before == index || is_whole && before + 1 == index);
            let is_whole = follows && part.original.is_some();
            if let Some(Value::Object(fields)) = part.message_fields.as_mut().filter(|_| !follows) {
                fields.shift_remove("id");
            }
            before = Some((index, is_whole));
        }
    }

    /// Adds a message of the model, and the results of its calls.
    fn add_assistant(&mut self, items: &[usize], waits: Waits) {
        let lost_reasoning = sources::lost_reasoning(&self.sources, items);
        let leaves_out_calls = sources::leaves_out_calls(&self.sources, items);
        let is_masked = leaves_out_calls && sources::has_masked_reasoning(&self.sources, items);
        self.has_open_calls = items.iter().any(|index| self.may_wait(*index, waits));
        let (mut parts, mut results, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for &index in items {
            if is_provider_run(self.item(index)) {
                // In words they are lines of their own among the others, which are one text.
                let edges =
                    [!parts.is_empty(), items.last() != Some(&index)].map(|stands| if stands { "\n" } else { "" });
                parts.extend(self.server_parts(index, edges, lost_reasoning));
                continue;
            }
            if self.item(index).kind != ItemKind::ToolCall {
                parts.extend(self.text_parts(index));
                continue;
            }
            if is_masked {
                parts.extend(self.words_of_call(index));
                words.extend(self.words_of_results(index));
                continue;
            }
            if leaves_out_calls {
                let id = quote(call_id(self.item(index)));
                let message =
                    format!("call {id} and its results are left out, as the reasoning that led to it is not there");
                self.warn("REASONING_INCOMPLETE", message, index);
                continue;
            }
            let call = self.tool_call(index);
            results.extend(self.results_of(index, &call, waits));
            parts.extend(self.parts(index, &PartContent::ToolCall(call)));
        }
        let before = self.messages.len();
        self.push(Role::Assistant, parts);
        for message in &mut self.messages[before..] {
            message.lost_reasoning = lost_reasoning;
        }
        // The last message says what is to be done now; what was done before stands behind its approval.
        let answers = self.answers_of(items, leaves_out_calls);
        let open = items.iter().filter(|index| self.may_wait(**index, waits));
        let open = WordSet::new(open.map(|index| call_id(self.item(*index)).to_owned()).collect());
        let is_open = |call: Option<&str>| call.is_some_and(|call| open.contains(call));
        self.push_answers(&answers, |call| !is_open(call));
        self.push_results(results);
        self.push(Role::User, words);
        self.push_answers(&answers, is_open);
        self.has_open_calls = false;
    }

    /// Writes a call as words of the model: its provider refuses it without the reasoning before it, in which a secret stood.
    fn words_of_call(&mut self, index: usize) -> Vec<OutgoingPart> {
        let item = self.item(index);
        let text = format!("[{}] {}", tool_name(item).unwrap_or("tool"), item.text);
        let message = format!(
            "call {} and its results are written as words, as a secret was taken out of the reasoning that led to it",
            quote(call_id(item))
        );
        self.warn("REASONING_INCOMPLETE", message, index);
        self.made(index, &PartContent::Text(text))
    }

    /// Writes the results of such a call as words of the user.
    fn words_of_results(&mut self, index: usize) -> Vec<OutgoingPart> {
        let name = tool_name(self.item(index)).unwrap_or("tool").to_owned();
        let results = self.sources[index].results.clone();
        let write = |result: usize| {
            let text = format!("[{name}]\n{}", self.item(result).text);
            let mut parts = if self.has_media(result) {
                self.text_with_media(result, &text)
            } else {
                self.made(result, &PartContent::Text(text))
            };
            // They stood in a message of the tool's.
            for part in &mut parts {
                part.message_fields = None;
            }
            parts
        };
        results.into_iter().flat_map(write).collect()
    }

    /// Tells whether a call may go without a result.
    fn may_wait(&self, index: usize, waits: Waits) -> bool {
        let is_asked = || self.approvals.is_asked(index);
        self.sources[index].waits() && (waits == Waits::All || waits == Waits::Asked && is_asked())
    }

    /// Returns the items that answer requests of a message; none where its calls are left out.
    fn answers_of(&mut self, items: &[usize], leaves_out_calls: bool) -> Vec<usize> {
        let mut answers: Vec<usize> = items.iter().flat_map(|index| self.approvals.answers(*index)).copied().collect();
        contextweaver_base::order::sort(&mut answers);
        answers.dedup();
        if !leaves_out_calls {
            return answers;
        }
        for index in answers {
            self.warn_of_answer(index);
        }
        Vec::new()
    }

    /// Adds the answers that `is_wanted` picks by the ids of their calls.
    fn push_answers(&mut self, answers: &[usize], is_wanted: impl Fn(Option<&str>) -> bool) {
        let wanted = |index: &usize| self.approvals.parts(&self.sources, *index, &is_wanted);
        let parts = answers.iter().flat_map(wanted).collect();
        self.push(Role::User, parts);
    }

    /// Warns of answers to requests that are not there, which nobody understands.
    fn warn_of_answers(&mut self) {
        for index in 0..self.sources.len() {
            if self.approvals.is_answer(index) && self.approvals.parts(&self.sources, index, |_| true).is_empty() {
                self.warn_of_answer(index);
            }
        }
    }

    fn warn_of_answer(&mut self, index: usize) {
        let message =
            "an answer to a request for approval is left out, as the request is not there, or was answered before";
        self.warn("APPROVAL_LEFT_OUT", message.to_owned(), index);
    }

    /// Returns what a provider ran itself, a call with its results: as it was read from this format, with another text in a result
    /// that has a place for it, else as text.
    fn server_parts(&mut self, index: usize, [above, below]: [&str; 2], lost_reasoning: bool) -> Vec<OutgoingPart> {
        let results = self.sources[index].results.clone();
        let members: Vec<usize> = std::iter::once(index).chain(results).collect();
        let as_read = |at: &usize| {
            let SourceItem { item, stored, is_same_format, .. } = &self.sources[*at];
            let stored = stored.as_ref().filter(|_| *is_same_format)?;
            let is_replaced = |_: &OutgoingPart| self.provider().rules.replaces_results;
            let replaced = || replaced_part(item, stored, &PartContent::Opaque, *at).filter(is_replaced);
            unchanged_parts(item, stored, &PartContent::Opaque, *at).or_else(|| Some(vec![replaced()?]))
        };
        // A result without its call is words, and so are several, one before its call, a call whose part says that it has one, and
        // what came of reasoning that is not there.
        let is_lost = lost_reasoning || self.sources[index].is_torn();
        let is_free = !is_lost || !self.provider().rules.tools_need_reasoning;
        let is_whole = self.item(index).kind == ItemKind::ToolCall && members.len() <= 2 && is_free;
        let parts = members.iter().map(as_read).collect::<Option<Vec<_>>>().filter(|_| is_whole);
        let is_torn = |part: &OutgoingPart| {
            let state = part.original.as_ref().and_then(|original| original.value.get("state")?.as_str());
            members.len() == 1 && state.is_some_and(|state| state.starts_with("output-"))
        };
        let in_order = |parts: &[OutgoingPart]| parts.is_sorted_by_key(|part| part.position);
        if let Some(parts) =
            parts.map(|parts| parts.concat()).filter(|parts| in_order(parts) && !parts.iter().any(is_torn))
        {
            return parts;
        }
        for index in &members {
            self.warn_of_lost(*index);
        }
        let item = self.item(index);
        let said = |at: &usize| trim(&self.item(*at).text).to_owned();
        let name = tool_name(item).unwrap_or("tool");
        let mut lines = vec![match item.kind {
            ItemKind::ToolCall => trim(&format!("[{name}] {}", item.text)).to_owned(),
            _ => format!("[{name}]\n{}", said(&index)),
        }];
        lines.extend(members[1..].iter().map(said).filter(|text| !text.is_empty()));
        self.made(index, &PartContent::Text(format!("{above}{}{below}", lines.join("\n"))))
    }

    /// Adds results, and what they have of media where the format has those beside or behind them.
    fn push_results(&mut self, mut results: Vec<OutgoingPart>) {
        let (mut media, mut beside) = (Vec::new(), Vec::new());
        for part in &mut results {
            let PartContent::ToolResult(result) = &mut part.content else { continue };
            match self.provider().media_of_results {
                MediaOfResults::Beside => {
                    beside
                        .extend(result.media.drain(..).map(|value| OutgoingPart::opaque("parts[]", value, part.item)));
                }
                MediaOfResults::Behind if !result.media.is_empty() => {
                    let text = above_media(&result.call_id);
                    let values = std::iter::once(json!({ "type": "text", "text": text })).chain(result.media.drain(..));
                    media.extend(values.map(|value| OutgoingPart::opaque("content[]", value, part.item)));
                }
                _ => {}
            }
        }
        results.append(&mut beside);
        self.push(Role::Tool, results);
        self.push(Role::User, media);
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
        if !self.is_stored_call(index) {
            self.warn_of_arguments(&text, &id, index);
        }
        ToolCallPart { id, name, arguments: text }
    }

    /// Warns of what JSON text holds and a value of JavaScript does not.
    fn warn_of_arguments(&mut self, text: &str, id: &str, index: usize) {
        if !self.provider().has_argument_text
            && let Some(number) = inexact_number(text)
        {
            let message = format!(
                "{number} in the arguments of call {} is rounded to a number of JavaScript; as a string it stays what it is",
                quote(id)
            );
            self.warn("NUMBER_ROUNDED", message, index);
        }
        if matches!(whole_escapes(text), std::borrow::Cow::Owned(_)) {
            let message =
                format!("half of a surrogate pair in the arguments of call {} is written as U+FFFD", quote(id));
            self.warn("TEXT_REPAIRED", message, index);
        }
    }

    fn is_stored_call(&self, index: usize) -> bool {
        let source = &self.sources[index];
        source.is_same_format && source.stored.as_ref().is_some_and(|stored| !stored.parts.is_empty())
    }

    /// Writes the results of a call: several are joined, and a missing one is made up unless it may still come.
    fn results_of(&mut self, index: usize, call: &ToolCallPart, waits: Waits) -> Vec<OutgoingPart> {
        let results = self.sources[index].results.clone();
        let Some((first, more)) = results.split_first() else {
            if self.may_wait(index, waits) {
                return Vec::new();
            }
            self.warn("RESULT_MISSING", format!("call {} has no result; a stub stands for it", quote(&call.id)), index);
            let (call_id, name) = (call.id.clone(), call.name.clone());
            let result =
                ToolResultPart { call_id, name, text: NO_RESULT.to_owned(), media: Vec::new(), is_error: true };
            return vec![OutgoingPart::new(PartContent::ToolResult(result), index)];
        };
        for result in results.iter().filter(|result| **result < index) {
            let message = format!("a result of call {} stands before it; it is written behind it", quote(&call.id));
            self.warn("RESULT_MOVED", message, *result);
        }
        let result = self.tool_result(*first, call);
        if more.is_empty() {
            return self.parts(*first, &PartContent::ToolResult(result));
        }
        self.warn("RESULTS_JOINED", format!("call {} has more than one result", quote(&call.id)), more[0]);
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for index in &results {
            self.warn_of_lost(*index);
            let (text, mut own) = self.result_content(*index);
            texts.push(text);
            media.append(&mut own);
        }
        let content = PartContent::ToolResult(ToolResultPart { text: texts.join("\n"), media, ..result });
        self.made(*first, &content)
    }

    fn tool_result(&self, index: usize, call: &ToolCallPart) -> ToolResultPart {
        let item = self.item(index);
        let is_error = item.metadata_flag("is_error");
        let (call_id, name, text) = (call.id.clone(), call.name.clone(), item.text.clone());
        ToolResultPart { call_id, name, text, media: Vec::new(), is_error }
    }

    /// Adds results whose calls are missing, with calls made up for them.
    fn add_results_without_calls(&mut self, items: &[usize]) {
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for &index in items {
            let item = self.item(index);
            let given = answered_id(item).to_owned();
            if self.sources[index].wanted_reasoning() > 0 && !self.provider().rules.has_items {
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
        self.push_results(results);
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
}
