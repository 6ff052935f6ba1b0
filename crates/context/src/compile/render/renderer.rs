//! What a renderer is asked by the stages before it: what an entry costs as it will be sent.

use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{EntryRendering, StructuredPrompt};
use contextweaver_base::Result;
use contextweaver_convert::providers::WrittenMessages;

/// Writes prompts, and so knows what each entry adds to what is sent: the budget is spent by its prices.
pub trait Renderer {
    /// Weighs the entry of the item at a position with everything that is put around it, in quarter tokens.
    fn entry_quarters(&self, sources: &BuildInputs, at: usize, rendering: &EntryRendering) -> u64;

    /// Weighs header and footer with what is put around them, in quarter tokens; empty ones cost nothing.
    fn frame_quarters(&self, sources: &BuildInputs, header: &str, footer: &str) -> u64;

    /// Writes messages, where they are what is sent.
    fn messages(&self, sources: &BuildInputs, prompt: &StructuredPrompt) -> Result<Option<MessagePrompt>>;
}

/// A prompt as messages of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePrompt {
    /// The messages, what goes beside them, and what was repaired.
    pub written: WrittenMessages,
    /// Tokens of all that is sent.
    pub tokens: u64,
}
