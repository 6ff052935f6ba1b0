//! Compiles prompts as provider messages, and finds open calls and the messages that items were read from.

use serde::Serialize;

use crate::callbacks::Outcome;
use crate::compile::render::messages::MessageRenderer;
use crate::compile::render::renderer::MessagePrompt;
use crate::event::Event;
use crate::manager::{BuildOutput, ContextManager};
use crate::request::BuildRequest;
use crate::running::{FinishedStep, MessageWriter, RunningMessages};
use crate::source_message::source_message;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{Format, WriteOptions, WrittenMessages, call_id, is_provider_run, tool_name};
use contextweaver_model::{BuildStats, ContextItem, ContextPack, ItemKind, RunningStep};

/// A prompt as messages in a provider's format.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BuiltMessages {
    /// The messages, the instructions that go beside them, and warnings of what was repaired or left out.
    #[serde(flatten)]
    pub written: WrittenMessages,
    /// How many of the messages that were handed out before stay. These messages follow them.
    pub keep: usize,
    /// The same prompt as text, with its record. A running prompt has it only if the request asks for an explanation;
    /// otherwise [`ContextManager::running_record`] returns it.
    pub pack: Option<ContextPack>,
    /// The statistics of the record.
    pub stats: BuildStats,
    /// Tokens of everything that is sent; never above the budget.
    pub tokens: u64,
    /// The step of a running prompt; `None` for a prompt that was compiled on its own.
    pub step: Option<RunningStep>,
    /// Events for the caller's hooks, in the order to report them.
    #[serde(skip)]
    pub events: Vec<Event>,
}

impl ContextManager {
    /// Compiles a prompt as [`ContextManager::build`] does, but as messages in a provider's format. The budget covers
    /// everything that is sent: texts, ids, names, arguments, media, placeholders for missing results, and the
    /// provider's framing ([`contextweaver_convert::providers::cost`]).
    ///
    /// The call goes on with the running prompt of the phase, unless [`BuildRequest::running`] is `Some(false)`.
    ///
    /// # Errors
    /// Those of [`ContextManager::build`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_convert::providers::{Format, WriteOptions};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Where is order 12446?"))?;
    /// let request = BuildRequest::new(Phase::Answer, "order");
    /// let built = manager.build_messages(&request, Format::parse("openai-chat")?, WriteOptions::default())?.done().unwrap();
    /// assert_eq!(built.written.messages[0]["content"], "Where is order 12446?");
    /// assert!(built.tokens <= manager.options().budget.of(Phase::Answer));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn build_messages(
        &mut self,
        request: &BuildRequest,
        format: Format,
        options: WriteOptions,
    ) -> Result<Outcome<BuiltMessages>> {
        if request.running != Some(false) {
            return Ok(match self.run(request, &MessageWriter::new(format, &options))? {
                Outcome::Need(needs) => Outcome::Need(needs),
                Outcome::Done(FinishedStep { step, stats, pack, messages, tokens, events }) => {
                    let messages =
                        messages.ok_or_else(|| Error::new(ErrorCode::Internal, "a prompt without its messages"))?;
                    let RunningMessages { keep, messages, system, warnings } = messages;
                    let written = WrittenMessages { messages, system, warnings };
                    Outcome::Done(BuiltMessages { written, keep, pack, stats, tokens, step: Some(step), events })
                }
            });
        }
        let mut built = match self.compile(request, &MessageRenderer { format, options })? {
            Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
            Outcome::Done(built) => built,
        };
        let Some(MessagePrompt { written, tokens }) = built.messages.take() else {
            return Err(Error::new(ErrorCode::Internal, "a prompt without its messages"));
        };
        let BuildOutput { pack, events } = self.settle(built);
        let stats = pack.stats.clone();
        Ok(Outcome::Done(BuiltMessages { written, keep: 0, pack: Some(pack), stats, tokens, step: None, events }))
    }
}

/// Returns the calls at the end of `items` that have no result yet, in order: the name of the tool and the provider's
/// id of each call. `items` are a log, or the part of it before further messages.
pub fn open_calls<'a>(items: impl DoubleEndedIterator<Item = &'a ContextItem>) -> Vec<(String, String)> {
    let (mut open, mut answered) = (Vec::new(), Vec::new());
    for item in items.rev().filter(|item| !item.is_superseded()) {
        match item.kind {
            ItemKind::ToolResult => answered.extend(item.parent_id.as_deref()),
            _ if is_provider_run(item) => {}
            ItemKind::ToolCall if answered.contains(&item.id.as_str()) => {}
            ItemKind::ToolCall => {
                open.push((tool_name(item).unwrap_or("").to_owned(), call_id(item).to_owned()));
            }
            _ => break,
        }
    }
    open.reverse();
    open
}

/// Returns the id of each item, with the index of the message that it was read from, counted from `start`. The index is
/// 0 for an item that was not read from a message.
pub fn message_owners(items: &[ContextItem], start: usize) -> Vec<(usize, String)> {
    let index = |item: &ContextItem| source_message(&item.metadata)?.get("message")?.as_u64();
    items
        .iter()
        .map(|item| (index(item).map_or(0, |at| (at as usize).saturating_sub(start)), item.id.clone()))
        .collect()
}
