//! Who writes a running prompt: the stages around it know neither text nor messages, so that a module without converters carries
//! none.

use super::prompt::{PromptForm, RunningSection, WrittenSections};
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::Ledger;
use crate::compile::render::renderer::Renderer;
use crate::compile::render::text::TextRenderer;
use contextweaver_base::Result;
use contextweaver_convert::providers::MessageWarning;
use serde_json::Value;

/// Writes running prompts of one form.
pub trait PromptWriter {
    fn form(&self) -> PromptForm;

    /// Whether calls at the end get a stub for their result.
    fn closes_calls(&self) -> bool;

    /// Returns what knows the price of an entry.
    fn renderer(&self) -> &dyn Renderer;

    /// Writes the sections behind those that are written.
    fn write(
        &self,
        sources: &BuildInputs,
        frame: &WriterFrame,
        sections: &[&RunningSection],
        from: &WrittenSections,
    ) -> Result<WrittenPrompt>;
}

/// What stands around the sections.
pub struct WriterFrame<'a> {
    pub header: &'a str,
    pub ledger: Option<&'a Ledger>,
    pub footer: &'a str,
}

/// What a writer makes.
pub enum WrittenPrompt {
    /// Nothing: the text of the record is what is sent.
    Text,
    Messages(Box<WrittenStep>),
    /// The messages that stand cannot go on: their instructions would be another text, or one of their calls lacks a signature.
    Outdated,
}

/// What is written of a running prompt in a step.
pub struct WrittenStep {
    /// The messages behind those that stay.
    pub messages: Vec<Value>,
    /// How many messages stay that are not among these.
    pub keep: usize,
    /// What goes beside them; none where it stays as it was.
    pub system: Option<Value>,
    pub warnings: Vec<MessageWarning>,
    /// Quarter tokens of all messages, with what goes beside them.
    pub quarters: u64,
    /// How far they are written now.
    pub written: WrittenSections,
}

/// Writes nothing: a text is made of the record.
pub struct TextWriter;

impl PromptWriter for TextWriter {
    fn form(&self) -> PromptForm {
        PromptForm::Text
    }

    fn closes_calls(&self) -> bool {
        false
    }

    fn renderer(&self) -> &dyn Renderer {
        &TextRenderer
    }

    fn write(
        &self,
        _: &BuildInputs,
        _: &WriterFrame,
        _: &[&RunningSection],
        _: &WrittenSections,
    ) -> Result<WrittenPrompt> {
        Ok(WrittenPrompt::Text)
    }
}
