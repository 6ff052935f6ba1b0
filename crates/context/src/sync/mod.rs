//! A conversation as its caller holds it, whole, brought into the log: what is new is appended, what was edited or removed
//! is superseded.

mod align;
mod change;
mod fresh;
pub(crate) mod plan;
pub(crate) mod record;

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use self::change::Change;
use self::fresh::FreshReader;
use crate::callbacks::Outcome;
use crate::event::Event;
use crate::index::LogIndex;
use crate::ingest::items::IngestedItems;
use crate::manager::ContextManager;
use crate::running::reason_of_change;
use contextweaver_base::order::sort;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{Format, MessageWarning};
use contextweaver_model::{ContextItem, CutReason, ItemKind, SUPERSEDED};

use self::record::KnownMessage;

pub use self::plan::message_plan;

/// A whole conversation, of which the caller may know what is unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The format of the messages.
    pub format: Format,
    /// The messages, without the first `unchanged`; paths of errors and warnings count from the first one here.
    pub messages: Vec<Value>,
    /// How many of its first messages are known to be those of the conversation that was handed over last.
    pub unchanged: usize,
    /// Prefix of the ids of items that are neither call nor result.
    pub id_prefix: String,
    /// The instructions beside the messages: of Anthropic `system`, of Gemini `systemInstruction`. They count as the first
    /// message, so they are not given with `unchanged`.
    pub system: Option<Value>,
}

/// What became of a conversation that was handed over whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SyncedMessages {
    /// Ids of the new items, in order.
    pub added: Vec<String>,
    /// Ids of the items of messages that were edited or removed: they stay in the log, and in no prompt.
    pub superseded: Vec<String>,
    /// How many messages are as they were.
    pub unchanged: usize,
    /// Id of the item of what the user said last: while it stays, the turn is the same. Absent where the user has said
    /// nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub user_turn: Option<String>,
    /// What reading the new messages repaired or could not convert.
    pub warnings: Vec<MessageWarning>,
    /// What the hooks should hear.
    #[serde(skip)]
    pub events: Vec<Event>,
}

impl Conversation {
    /// Makes the record of a conversation of which nothing is known.
    pub fn new(format: Format, messages: Vec<Value>) -> Self {
        Self { format, messages, unchanged: 0, id_prefix: String::new(), system: None }
    }
}

impl ContextManager {
    /// Brings the log in line with a conversation as its caller holds it. Messages that were read before stay as they are,
    /// also where the client left out older ones at the front; new ones are read and appended as by
    /// [`ContextManager::ingest_messages`]. The items of messages that were edited or removed stay in the log and in the
    /// store, marked `superseded` in their metadata, and stand in no prompt. A result or call that the log has already, by
    /// [`ContextManager::ingest_tool_result`] or as an item, is not appended again.
    ///
    /// A message is known by a hash of its JSON, whatever the order of its keys. Appending costs what is new; where
    /// something changes before messages that stay, the log is put in the new order and indexed anew. Blocks that a client
    /// has added to the user's last message are appended, as a message would be.
    ///
    /// # Errors
    /// Those of [`messages_to_items`](contextweaver_convert::providers::messages_to_items) and of
    /// [`ContextManager::ingest_messages`], below `/messages`; `OUT_OF_RANGE` at `/unchanged` for more messages than were
    /// read. Nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{Conversation, ContextManager, ManagerOptions};
    /// use contextweaver_convert::providers::Format;
    /// use serde_json::json;
    ///
    /// let format = Format::parse("openai-chat")?;
    /// let whole = |messages: serde_json::Value| Conversation::new(format, messages.as_array().cloned().unwrap());
    /// let (ask, answer) = (json!({ "role": "user", "content": "Hi" }), json!({ "role": "assistant", "content": "Hello" }));
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.sync_messages(whole(json!([ask])))?;
    /// let synced = manager.sync_messages(whole(json!([ask, answer])))?.done().unwrap();
    /// assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (1, 0, 1));
    /// let edited = json!({ "role": "user", "content": "Good morning" });
    /// let synced = manager.sync_messages(whole(json!([edited])))?.done().unwrap();
    /// assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (1, 2, 0));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn sync_messages(&mut self, conversation: Conversation) -> Result<Outcome<SyncedMessages>> {
        let Conversation { format, mut messages, unchanged, id_prefix, system } = conversation;
        self.message_plan.follow(&self.events, format);
        let known = self.known_messages.of(format);
        let here: Vec<usize> = (0..known.len()).filter(|at| !known[*at].is_trimmed).collect();
        let rest = match unchanged {
            0 => 0,
            count => here.get(count - 1).map(|at| at + 1).ok_or_else(|| {
                let message = format!("{} messages were handed over before, not {count}", here.len());
                Error::new(ErrorCode::OutOfRange, message).at("/unchanged")
            })?,
        };
        let lead = usize::from(system.is_some());
        let now = system.iter().map(KnownMessage::of_system).chain(messages.iter().map(KnownMessage::of)).collect();
        // Behind instructions that stayed, too, the rest may begin later than it did.
        let is_whole = here[..unchanged].iter().all(|at| known[*at].is_system);
        let mut change = Change::new(known[rest..].to_vec(), now, is_whole);
        change.grow(&messages, lead);
        change.renew_answers(format.has_call_ids(), |item| {
            let item = self.events.find(item).filter(|item| item.kind == ItemKind::ToolResult)?;
            item.parent_id.clone()
        });
        let superseded: Vec<String> = change.gone().flat_map(|message| message.items.iter().cloned()).collect();
        let mut reader = FreshReader::new(self, format, id_prefix, &superseded);
        for run in change.runs() {
            let earlier = change.right_before(run.start, &known[..rest]);
            let start = run.start.max(lead);
            if run.start < start {
                reader.read_system(system.clone())?;
            }
            let stretch = start - lead..run.end - lead;
            let grown = change.grown().filter(|grown| grown.now == run.start);
            reader.read(&mut messages, stretch, lead, &earlier, grown.map_or(0, |grown| grown.blocks))?;
            change.note(reader.owners.drain(..));
        }
        let FreshReader { items, mut warnings, .. } = reader;
        let fresh = items.len();
        let IngestedItems { ids: added, events } =
            match self.ingest_messages(items).map_err(|error| error.under("/messages"))? {
                Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
                Outcome::Done(ingested) => ingested,
            };
        // Nothing fails from here on.
        if unchanged == 0 {
            warnings.extend(replaced(&change));
        }
        let unchanged = unchanged + change.kept();
        let order = self.order(&change, fresh);
        self.supersede(&superseded, order);
        self.known_messages.set_from(format, rest, change.into_known());
        let is_asked = |item: &&ContextItem| item.kind == ItemKind::UserTurn && !item.is_superseded();
        let user_turn = self.events.items().iter().rfind(is_asked).map(|item| item.id.clone());
        Ok(Outcome::Done(SyncedMessages { added, superseded, unchanged, user_turn, warnings, events }))
    }

    /// Tells whether messages begin with all those that were read of their format: a conversation handed over again, which
    /// [`ContextManager::sync_messages`] would not read twice.
    pub fn has_read(&self, format: Format, messages: &[NotedMessage]) -> bool {
        let known = self.known_messages.of(format);
        let same = known.iter().zip(messages).all(|(known, message)| known.print == message.0.print);
        known.len() > 1 && messages.len() >= known.len() && same
    }

    /// Notes messages that were read and appended by another way than [`ContextManager::sync_messages`]; `owners` are the
    /// ids of the items with the indices of their messages.
    pub fn note_messages(&mut self, format: Format, messages: Vec<NotedMessage>, owners: Vec<(usize, String)>) {
        let mut known: Vec<KnownMessage> = messages.into_iter().map(|message| message.0).collect();
        for (message, id) in owners {
            if let Some(message) = known.get_mut(message) {
                message.items.push(id);
            }
        }
        self.known_messages.set_from(format, self.known_messages.of(format).len(), known);
    }

    /// Returns the order that the log must have, by positions, where items that were just appended belong before others.
    fn order(&self, change: &Change, fresh: usize) -> Option<Vec<usize>> {
        let before = self.events.len() - fresh;
        let position = |id: &String| self.events.position(id);
        // By the position of an old item: the new ones that belong before it.
        let mut inserted: HashMap<usize, Vec<usize>> = HashMap::new();
        for run in change.runs() {
            let Some(next) =
                change.kept_after(run.end).find_map(|message| message.items.iter().filter_map(position).min())
            else {
                continue;
            };
            let own = run.flat_map(|message| change.read_from(message)).filter_map(position);
            inserted.entry(next).or_default().extend(own.filter(|at| *at >= before));
        }
        inserted.retain(|_, positions| !positions.is_empty());
        // They stand as they were read, which is not always the order of their messages.
        for positions in inserted.values_mut() {
            sort(positions);
        }
        if inserted.is_empty() {
            return None;
        }
        let mut order = Vec::with_capacity(self.events.len());
        let mut is_placed = vec![false; self.events.len()];
        for at in 0..self.events.len() {
            for early in inserted.remove(&at).into_iter().flatten().chain([at]) {
                if !std::mem::replace(&mut is_placed[early], true) {
                    order.push(early);
                }
            }
        }
        Some(order)
    }

    /// Marks items as superseded, and puts the log into another order.
    fn supersede(&mut self, ids: &[String], order: Option<Vec<usize>>) {
        for at in ids.iter().filter_map(|id| self.events.position(id)).collect::<Vec<_>>() {
            let mut item = self.events.items()[at].clone();
            item.metadata.insert(SUPERSEDED.into(), true.into());
            self.events.replace(at, item);
        }
        let Some(order) = order else { return };
        self.events.rearrange(&order);
        self.index = LogIndex::new();
        self.index.extend(&self.events, &self.options, &self.artifacts, false);
        let kinds = ids.iter().filter_map(|id| self.events.find(id)).map(|item| item.kind);
        // Without any gone, something was put in between.
        let reason = if ids.is_empty() { CutReason::Edited } else { reason_of_change(kinds) };
        // What they say of positions is no longer so.
        self.running.break_off(reason);
    }
}

/// Warns where a conversation shares nothing with the one before it but instructions.
fn replaced(change: &Change) -> Option<MessageWarning> {
    let gone = change.gone().filter(|message| !message.is_system).count();
    if gone == 0 || change.kept_after(0).any(|message| !message.is_system) {
        return None;
    }
    let message = format!(
        "the conversation shares nothing with the {gone} messages before it, which leave all prompts; hand over the whole \
         conversation, or append what is new by `ingestMessages`"
    );
    Some(MessageWarning { code: "CONVERSATION_REPLACED", message, path: "/messages".to_owned() })
}

/// A message that is about to be read, as it will be known.
#[derive(Debug, Clone, PartialEq)]
pub struct NotedMessage(KnownMessage);

impl NotedMessage {
    /// Notes what a message is known by.
    pub fn of(message: &Value) -> Self {
        Self(KnownMessage::of(message))
    }
}
