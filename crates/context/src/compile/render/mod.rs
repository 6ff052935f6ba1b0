//! Stage 8: the structured prompt becomes text or messages.

pub mod messages;
pub mod renderer;
pub mod text;

use self::renderer::{MessagePrompt, Renderer};
use self::text::TextPrompt;
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::StructuredPrompt;
use contextweaver_base::Result;

/// A prompt as it is sent.
pub struct RenderedPrompt {
    /// As text: what is sent, or the record of what the messages hold.
    pub text: TextPrompt,
    pub messages: Option<MessagePrompt>,
}

impl RenderedPrompt {
    /// Returns the tokens of the larger form: neither may exceed the budget.
    pub fn tokens(&self) -> u64 {
        self.messages.as_ref().map_or(0, |messages| messages.tokens).max(self.text.tokens)
    }
}

/// Stage 8. Writes the text always: it is the record of the prompt, even where messages are sent.
pub fn render(sources: &BuildInputs, renderer: &dyn Renderer, prompt: &StructuredPrompt) -> Result<RenderedPrompt> {
    let text = text::write(sources, prompt);
    Ok(RenderedPrompt { text, messages: renderer.messages(sources, prompt)? })
}
