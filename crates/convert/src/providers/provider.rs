//! The message formats: one [`Provider`] for each, in the file of its name, with its reader and its writer.

use serde_json::Value;

use super::Warnings;
use super::blanks::PartsOfResult;
use super::image_size::ImageSize;
use super::media::Attachment;
use super::message::{Message, Role};
use super::nameless_calls::CallNamer;
use super::names::IdRule;
use super::outgoing::OutgoingMessage;
use super::stored::StoredMessage;
use super::to_items::ReadOptions;
use super::written::{WriteOptions, WrittenBefore};
use contextweaver_base::Result;

/// A message format: its reader and writer, and everything in which it differs from the others.
pub struct Provider {
    /// Reads messages, and the instructions beside them.
    pub read: fn(Vec<Value>, &ReadOptions) -> Result<Vec<Message>>,
    /// Writes messages, and the instructions beside them.
    pub write: fn(Vec<OutgoingMessage>, &WriteOptions, &mut WrittenBefore, &mut Warnings) -> Written,
    /// The field of a request that has the messages; none where there is no request.
    pub list: Option<&'static str>,
    /// The fields of a request that may have the instructions, where they stand beside the messages.
    pub systems: &'static [&'static str],
    /// Finds what only messages of this format have.
    pub sign: fn(&Value) -> Option<Sign>,
    /// Tells whether a message is likely of this format, where none has a certain sign.
    pub is_likely: fn(&Value) -> bool,
    /// Gives calls and results of a message, which is at a path, the ids and names that they lack.
    pub name_calls: fn(&mut CallNamer, &mut Value, &str),
    /// The ids of calls that are accepted.
    pub ids: IdRule,
    /// Returns the name of a tool if it is accepted, else one as near to it as may be.
    pub legal_name: fn(&str) -> String,
    /// Whether arguments of calls are JSON text, in which a number may be of any size.
    pub has_argument_text: bool,
    /// Where parts of a message go, and the type of a text among them; none where texts have no type.
    pub parts: (&'static str, Option<&'static str>),
    /// Rules beyond the form of the messages.
    pub rules: Rules,
    /// Returns an image, a sound or a file as a part; none where there is no place for it.
    pub media: fn(MediaPlace, &Attachment) -> Option<Value>,
    /// Where media stand that a tool returned.
    pub media_of_results: MediaOfResults,
    /// Cost and limit of images; none where any provider may get the messages.
    pub images: Option<Images>,
    /// Tokens counted beside texts.
    pub overhead: Overhead,
    /// Tells whether what one role says stands in the message before it, of another; none where calls of one response do.
    pub shares_message: fn(Role, Role) -> Option<bool>,
}

/// Messages of a format, and the instructions beside them.
pub type Written = (Vec<Value>, Option<Value>);

/// A certain sign of a format: the word, and its JSON pointer in the message.
pub struct Sign {
    pub what: String,
    pub path: String,
}

impl Sign {
    pub fn new(what: &str, path: impl Into<String>) -> Self {
        Self { what: what.to_owned(), path: path.into() }
    }
}

/// Rules of a provider about messages that are well-formed.
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct Rules {
    /// Messages and texts that say nothing are left out before they are written, also of a result, in the value of which this
    /// finds the list of parts; elsewhere they show when they are written.
    pub blanks: Option<PartsOfResult>,
    /// Reasoning with nothing behind it is refused.
    pub refuses_last_reasoning: bool,
    /// A request needs a turn besides instructions.
    pub needs_turn: bool,
    /// The first turn is made the user's before messages are written; elsewhere the writer sees to it.
    pub begins_with_user: bool,
    /// Calls are refused without the reasoning that led to them.
    pub calls_need_reasoning: bool,
    /// Tools that a provider ran are refused without the reasoning that led to them.
    pub tools_need_reasoning: bool,
    /// Messages, calls and results are items with ids, of which a second one is refused.
    pub has_items: bool,
    /// Parts may name items with ids, of which a second one is refused.
    pub names_items: bool,
    /// Results of tools that the provider ran have a place for another text.
    pub replaces_results: bool,
    /// Models sign their calls, and may refuse those without a signature.
    pub signs_calls: bool,
    /// A response of several steps is one message.
    pub joins_steps: bool,
    /// Tells whether the provider knows what a message holds by ids that it may be without.
    pub is_known_by_id: fn(&StoredMessage) -> bool,
}

/// A format without a rule of these.
pub const NO_RULES: Rules = Rules {
    blanks: None,
    refuses_last_reasoning: false,
    needs_turn: false,
    begins_with_user: false,
    calls_need_reasoning: true,
    tools_need_reasoning: false,
    has_items: false,
    names_items: false,
    replaces_results: false,
    signs_calls: false,
    joins_steps: false,
    is_known_by_id: |_| false,
};

/// Cost and limit of images.
pub struct Images {
    /// Returns the tokens of one, at the resolution at which it counts most.
    pub tokens: fn(ImageSize) -> u64,
    /// Most of a request, as the documentation says.
    pub most: usize,
}

/// Where in a conversation media are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaPlace {
    /// In a message of this role, which is not [`Role::Tool`].
    Message(Role),
    /// In the result of a tool that did not fail, or where the format has media of results: see [`MediaOfResults`].
    Result,
    /// In the result of a tool that failed.
    FailedResult,
}

/// Where media stand that a tool returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaOfResults {
    /// In the result.
    Inside,
    /// Beside the result, in its message.
    Beside,
    /// In a message of the user behind the results.
    Behind,
}

/// Quarter tokens of the roles, types and states that a format writes, as `heuristic/v3` counts them.
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own")]
pub struct Overhead {
    /// A message of text.
    pub text: u64,
    /// A message with calls.
    pub calls: u64,
    /// A call.
    pub call: u64,
    /// A message with results; none where results stand in the message of their calls.
    pub results: Option<u64>,
    /// A result.
    pub result: u64,
    /// Each result has a message of its own, even where calls share one.
    pub is_result_alone: bool,
    /// Calls have ids.
    pub has_call_ids: bool,
    /// Results have the ids of their calls.
    pub has_result_ids: bool,
    /// Results name their tool.
    pub has_result_names: bool,
}
