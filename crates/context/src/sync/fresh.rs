//! New messages of a conversation, read as items that the log can take beside those it has.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::plan::spoken_of;
use super::record::blocks_of;
use crate::manager::ContextManager;
use crate::messages::{message_owners, open_calls};
use crate::source_message::source_message;
use contextweaver_base::Result;
use contextweaver_convert::providers::{
    Format, KnownIds, LastResponse, MessageWarning, ReadOptions, call_id, messages_to_items_after,
};
use contextweaver_model::{ContextItem, ItemKind};

/// How far back a call is looked for that was logged before its message came, where the message has no id for it.
const LOGGED_ITEMS: usize = 64;

/// The ids that new messages may speak of: those that the log knows, but for what is gone, and those of new calls.
struct LogIds<'a> {
    manager: &'a ContextManager,
    format: Format,
    gone: HashSet<&'a str>,
    /// New calls: ids of their items by the provider's, and those of the items. Of several with one id the last counts.
    calls: HashMap<String, String>,
    items: HashSet<String>,
}

impl KnownIds for LogIds<'_> {
    fn item(&self, id: &str) -> Option<&str> {
        let logged = || self.manager.message_plan.items_of(id).find(|item| !self.gone.contains(item));
        self.calls.get(id).map(String::as_str).or_else(logged)
    }

    fn is_item(&self, id: &str) -> bool {
        let is_spoken_of = |item: &ContextItem| !spoken_of(item, self.format).is_empty();
        self.items.contains(id) || !self.gone.contains(id) && self.manager.events().find(id).is_some_and(is_spoken_of)
    }
}

/// Reads stretches of messages, in order.
pub struct FreshReader<'a> {
    manager: &'a ContextManager,
    format: Format,
    ids: LogIds<'a>,
    options: ReadOptions,
    taken: HashSet<String>,
    /// The items to be appended.
    pub items: Vec<ContextItem>,
    /// Ids as they were read, and those that they have because the log knows others by them.
    renamed: HashMap<String, String>,
    /// Every item of the last stretch, also those that the log has already, with the index of its message.
    pub owners: Vec<(usize, String)>,
    pub warnings: Vec<MessageWarning>,
}

impl<'a> FreshReader<'a> {
    /// Reads behind what the manager's plan has followed.
    pub fn new(manager: &'a ContextManager, format: Format, id_prefix: String, gone: &'a [String]) -> Self {
        let gone = gone.iter().map(String::as_str).collect();
        let start = manager.message_plan.next();
        Self {
            manager,
            format,
            ids: LogIds { manager, format, gone, calls: HashMap::new(), items: HashSet::new() },
            options: ReadOptions { start, id_prefix, ..ReadOptions::default() },
            taken: HashSet::new(),
            items: Vec::new(),
            renamed: HashMap::new(),
            owners: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads the instructions beside the messages.
    pub fn read_system(&mut self, system: Option<Value>) -> Result<()> {
        let options = ReadOptions { system, ..self.options.clone() };
        let read = messages_to_items_after(Value::Array(Vec::new()), self.format, &options, &self.ids)?;
        self.warnings.extend(read.warnings);
        for item in read.items {
            self.take(item, 0);
        }
        Ok(())
    }

    /// Reads the messages of a stretch and takes them out. `lead` is how many of what is compared stand before all messages,
    /// `earlier` are the ids of the items right before the stretch, `known_blocks` is how many blocks of the first message
    /// were read before.
    pub fn read(
        &mut self,
        messages: &mut [Value],
        run: Range<usize>,
        lead: usize,
        earlier: &[String],
        known_blocks: usize,
    ) -> Result<()> {
        if run.is_empty() {
            return Ok(());
        }
        if let Some(blocks) = blocks_of(&mut messages[run.start]).filter(|_| known_blocks > 0) {
            blocks.drain(..known_blocks);
        }
        // What was read right before is among the last.
        let known =
            |id: &String| self.manager.events().find(id).or_else(|| self.items.iter().rfind(|item| item.id == *id));
        let earlier: Vec<&ContextItem> = earlier.iter().filter_map(known).collect();
        let is_first = earlier.iter().all(|item| item.kind == ItemKind::Policy);
        let before = if is_first { LastResponse::Missing } else { LastResponse::Finished };
        let last_response = before.after(earlier.iter().copied());
        (self.options.open_calls, self.options.last_response) = (open_calls(earlier.into_iter()), last_response);
        let shift = run.start;
        let count = run.len();
        let list = messages[run.clone()].iter_mut().map(Value::take).collect();
        let read = messages_to_items_after(Value::Array(list), self.format, &self.options, &self.ids);
        let read = read.map_err(|error| {
            let path = shifted(error.path(), shift, known_blocks);
            error.under(path)
        })?;
        for mut warning in read.warnings {
            warning.path = shifted(&warning.path, shift, known_blocks);
            self.warnings.push(warning);
        }
        let owners = message_owners(&read.items, self.options.start);
        for (item, (message, _)) in read.items.into_iter().zip(owners) {
            self.take(item, lead + run.start + message.min(count - 1));
        }
        self.options.start += count;
        Ok(())
    }

    /// Returns the id of a call or result that the log has already, by another way than a message.
    fn logged(&self, read: &ContextItem) -> Option<String> {
        let events = self.manager.events();
        let is_logged = |known: &&ContextItem| {
            known.kind == read.kind
                && !known.is_superseded()
                && !self.taken.contains(&known.id)
                && source_message(&known.metadata).is_none()
        };
        let found = match read.kind {
            // Its ids are made up from places.
            ItemKind::ToolCall if !self.format.has_call_ids() => {
                let name = |item: &ContextItem| item.metadata_str("function_name").map(str::to_owned);
                let is_same = |known: &&ContextItem| known.text == read.text && name(known) == name(read);
                events.tail(LOGGED_ITEMS).iter().filter(is_logged).find(is_same)
            }
            ItemKind::ToolCall => events.find(call_id(read)),
            ItemKind::ToolResult => read.parent_id.as_deref().and_then(|call| events.children(call).find(is_logged)),
            _ => None,
        };
        found.filter(is_logged).map(|known| known.id.clone())
    }

    fn take(&mut self, mut item: ContextItem, message: usize) {
        let read_id = item.id.clone();
        if let Some(parent) = item.parent_id.take() {
            let now = self.renamed.get(&parent).cloned();
            if now.is_some() && item.kind == ItemKind::ToolResult {
                item.metadata.entry("tool_call_id").or_insert_with(|| parent.clone().into());
            }
            item.parent_id = Some(now.unwrap_or(parent));
        }
        if let Some(known) = self.logged(&item) {
            self.owners.push((message, known.clone()));
            self.taken.insert(known.clone());
            self.renamed.insert(read_id, known);
            return;
        }
        let is_free = |id: &str| self.manager.events().position(id).is_none() && !self.taken.contains(id);
        if !is_free(&read_id) {
            let names = (2..).map(|number: u64| format!("{read_id}~{number}"));
            item.id = names.into_iter().find(|id| is_free(id)).unwrap_or_default();
            if item.kind == ItemKind::ToolCall {
                item.metadata.entry("tool_call_id").or_insert_with(|| read_id.clone().into());
            }
            self.renamed.insert(read_id, item.id.clone());
        }
        if item.kind == ItemKind::ToolCall {
            self.ids.calls.insert(call_id(&item).to_owned(), item.id.clone());
            self.ids.items.insert(item.id.clone());
        }
        self.taken.insert(item.id.clone());
        self.owners.push((message, item.id.clone()));
        self.items.push(item);
    }
}

/// Moves the index of a path below `/messages`, and that of a block in the first message.
fn shifted(path: &str, by: usize, blocks: usize) -> String {
    let Some(rest) = path.strip_prefix("/messages/") else { return path.to_owned() };
    let mut shifted = String::from("/messages");
    for (place, part) in rest.split('/').enumerate() {
        let by = match place {
            0 => by,
            2 if rest.starts_with("0/") => blocks,
            _ => 0,
        };
        shifted.push('/');
        match part.parse::<usize>() {
            Ok(index) => shifted.push_str(&(index + by).to_string()),
            Err(_) => shifted.push_str(part),
        }
    }
    shifted
}
