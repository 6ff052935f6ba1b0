//! The inputs of a step of a running prompt, of a cut among them, and what comes out.

use super::account::Account;
use super::cut::CutDepth;
use super::entry::NewEntries;
use super::prices::PriceModel;
use super::prompt::{LeftItem, RunningPrompt, RunningSection, WrittenSections};
use super::writer::PromptWriter;
use crate::compile::inputs::BuildInputs;
use crate::event::Event;
use crate::request::BuildRequest;
use contextweaver_convert::providers::MessageWarning;
use contextweaver_model::{CutReason, Explanation, RunningStep};
use serde_json::Value;

/// The outcome of a step: what is sent, and what becomes of the running prompt.
pub struct RunningOutput {
    /// Why each item is or is not in the prompt, where the prompt was compiled anew and the request asks for it.
    pub explanation: Option<Explanation>,
    pub step: RunningStep,
    pub events: Vec<Event>,
    pub messages: Option<RunningMessages>,
    /// Tokens of the prompt.
    pub tokens: u64,
    pub change: RunningChange,
    pub work: u64,
}

/// The messages of a step.
pub struct RunningMessages {
    /// How many messages that were handed out before stay, from the first on.
    pub keep: usize,
    /// The messages behind those that stay.
    pub messages: Vec<Value>,
    pub system: Option<Value>,
    pub warnings: Vec<MessageWarning>,
}

/// The effect of a step on the running prompt.
pub enum RunningChange {
    /// The running prompt goes on, with this behind it.
    Extended(Box<Extension>),
    /// This takes the place of the running prompt.
    Replaced(Box<RunningPrompt>),
}

/// The sections that a step adds behind a running prompt, and its state from then on.
pub struct Extension {
    pub sections: Vec<RunningSection>,
    pub left: Vec<LeftItem>,
    pub seen: usize,
    pub changes: u64,
    pub account: Account,
    pub head: Option<String>,
    pub footer: String,
    pub written: Option<WrittenSections>,
}

/// The inputs of a step.
pub struct RunningRequest<'a> {
    pub sources: &'a BuildInputs<'a>,
    pub request: &'a BuildRequest,
    /// The text below the items, with secrets masked.
    pub footer: String,
    pub writer: &'a dyn PromptWriter,
    /// Most tokens of the prompt and what stands beside it, as the estimator counts.
    pub budget: u64,
    /// The budget as the caller gave it, before it is scaled to tokens of the estimator.
    pub asked: u64,
    pub prices: PriceModel,
    /// Whether more calls are sure to come, so that a first prompt leaves room for them.
    pub is_loop: bool,
}

/// A cut: what goes on, and why it is not the prompt as it is.
pub struct Anew<'a> {
    pub base: Option<&'a RunningPrompt>,
    pub header: &'a str,
    pub account: Account,
    pub reason: CutReason,
    pub new: &'a NewEntries,
    /// Tokens of the whole conversation.
    pub whole: u64,
    pub depth: CutDepth,
}

/// The figures of a step that go into the account.
pub struct Entered {
    pub cut: Option<CutReason>,
    /// Tokens that repeat the prompt before.
    pub repeated: u64,
    /// Tokens of the prompt.
    pub tokens: u64,
    /// Tokens of the whole conversation.
    pub whole: u64,
    pub is_turn: bool,
    /// Whether the provider's cache is cold, so that it would have nothing of the conversation either.
    pub is_cold: bool,
    pub hides: bool,
}
