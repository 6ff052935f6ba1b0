//! How messages are written, and what was written before them.

use super::approvals::RequestIds;
use super::names::UniqueIds;
use super::repeated::WrittenItems;
use super::signatures::Signatures;

/// Options of [`super::items_to_messages`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether calls at the end get a stub for their result, too. Otherwise they wait for it.
    pub close_calls: bool,
    /// Whether the last message is written as it would be with others behind it, so that it stays the same once they come.
    pub is_steady: bool,
    /// Whether the model refuses calls without a `thoughtSignature`, as Gemini 3 does. Otherwise those of a conversation tell.
    pub thought_signatures: bool,
}

/// State of the messages that were written before, for messages that continue them.
#[derive(Debug, Clone, Default)]
pub struct WrittenBefore {
    /// Ids of calls that are taken.
    pub(super) calls: UniqueIds,
    /// Ids of messages that are taken, in a format whose messages have some.
    pub(super) messages: UniqueIds,
    /// Count of the messages.
    pub(super) count: usize,
    /// Items that are written, in a format in which each has an id.
    pub(super) items: WrittenItems,
    /// Count of images.
    pub(super) images: usize,
    /// Whether there is one besides instructions.
    pub(super) has_turns: bool,
    /// Requests for approval.
    pub(super) requests: RequestIds,
    /// Signatures of calls, in a format whose models sign them.
    pub(super) signatures: Signatures,
}

impl WrittenBefore {
    /// Returns how many messages stand there.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Tells whether they are refused together with what came later, or as they are to be written now, and have to be written anew.
    pub fn is_outdated(&self, options: &WriteOptions) -> bool {
        self.signatures.are_missing(options.thought_signatures)
    }
}
