//! A running prompt as messages: what stays is written once, what may still grow anew in each step.

use super::prompt::{PromptForm, RunningSection, WrittenSections};
use super::writer::{PromptWriter, WriterFrame, WrittenPrompt, WrittenStep};
use crate::compile::inputs::BuildInputs;
use crate::compile::render::messages::{MessageRenderer, above, below, said, shown_item};
use crate::compile::render::renderer::Renderer;
use crate::labels::recalled_text;
use contextweaver_base::Result;
use contextweaver_convert::providers::cost::message_quarters;
use contextweaver_convert::providers::{
    Format, WriteOptions, WrittenBefore, WrittenMessages, continue_messages, last_part,
};
use contextweaver_model::ContextItem;

/// Writes messages of a format.
pub struct MessageWriter {
    renderer: MessageRenderer,
}

impl MessageWriter {
    pub fn new(format: Format, options: &WriteOptions) -> Self {
        Self { renderer: MessageRenderer { format, options: WriteOptions { is_steady: true, ..options.clone() } } }
    }
}

impl PromptWriter for MessageWriter {
    fn form(&self) -> PromptForm {
        PromptForm::Messages(self.renderer.format)
    }

    fn closes_calls(&self) -> bool {
        self.renderer.options.close_calls
    }

    fn renderer(&self) -> &dyn Renderer {
        &self.renderer
    }

    fn write(
        &self,
        sources: &BuildInputs,
        frame: &WriterFrame,
        sections: &[&RunningSection],
        from: &WrittenSections,
    ) -> Result<WrittenPrompt> {
        let renderer = &self.renderer;
        let mut items: Vec<ContextItem> = Vec::new();
        // Of each item: how many sections, and whether the ledger, stand above it.
        let mut above_it: Vec<(usize, bool)> = Vec::new();
        let mut has_ledger = from.has_ledger;
        if !from.has_begun {
            let header = above(frame.header);
            above_it.extend(header.iter().map(|_| (0, false)));
            items.extend(header);
        }
        for at in from.sections..=sections.len() {
            let ledger = frame.ledger.filter(|ledger| !has_ledger && ledger.after.min(sections.len()) == at);
            if let Some(item) = ledger.and_then(|ledger| said("prompt:ledger", &ledger.text)) {
                above_it.push((at, false));
                items.push(item);
                has_ledger = true;
            }
            let Some(section) = sections.get(at) else { break };
            let item = &sources.events.items()[section.at];
            above_it.push((at, has_ledger));
            items.push(if section.recalled {
                let text = section.content.text(item, sources.index.entry(section.at), sources.options);
                // Nobody said it now: it is told as what the ledger is.
                said("prompt:recalled", &recalled_text(item, &text)).unwrap_or_else(|| item.clone())
            } else {
                shown_item(item, sources.index.entry(section.at), section.form, &section.content, sources.options)
            });
        }
        items.extend(below(frame.footer));
        let bytes = |handle: &str| sources.artifacts.peek(handle);
        let weigh = |text: &str| sources.quarters(text);
        let part = last_part(&items, renderer.format).filter(|part| *part < above_it.len());
        let (mut before, mut written) = (from.before.clone(), from.clone());
        let mut step = WrittenStep {
            messages: Vec::new(),
            keep: from.before.count(),
            system: None,
            warnings: Vec::new(),
            quarters: from.quarters,
            written: WrittenSections::default(),
        };
        let options = renderer.options.clone();
        let add = |items: &[ContextItem], step: &mut WrittenStep, before: &mut WrittenBefore| -> Result<bool> {
            if items.is_empty() {
                return Ok(true);
            }
            let only = continue_messages(items, renderer.format, &options, &bytes, before)?;
            step.quarters += message_quarters(&only, renderer.format, &weigh);
            let WrittenMessages { messages, system, warnings } = only;
            let is_second = system.is_some() && step.system.is_some();
            step.messages.extend(messages);
            step.warnings.extend(warnings);
            step.system = step.system.take().or(system);
            Ok(!is_second)
        };
        let (stays, grows) = items.split_at(part.unwrap_or(0));
        add(stays, &mut step, &mut before)?;
        if !stays.is_empty() {
            let (sections, has_ledger) = above_it[stays.len()];
            let system = step.system.clone().or_else(|| from.system.clone());
            let (before, quarters) = (before.clone(), step.quarters);
            written = WrittenSections {
                has_begun: true,
                sections,
                has_ledger,
                before,
                quarters,
                handed_out: 0,
                system,
                has_stubs: false,
            };
        }
        let is_one = add(grows, &mut step, &mut before)?;
        if !is_one || before.is_outdated(&options) || from.has_begun && step.system.is_some() {
            if from.has_begun {
                return Ok(WrittenPrompt::Outdated);
            }
            // Nothing is written for good where instructions go beside all messages, or a call before them needs a signature.
            (step.messages, step.warnings, step.system, step.quarters) = (Vec::new(), Vec::new(), None, 0);
            add(&items, &mut step, &mut WrittenBefore::default())?;
            written = WrittenSections::default();
        }
        if !written.has_begun {
            if from.system.is_some() && from.system != step.system {
                return Ok(WrittenPrompt::Outdated);
            }
            written.system.clone_from(&step.system);
        }
        written.has_stubs = from.has_stubs || step.warnings.iter().any(|warning| warning.code == "RESULT_MISSING");
        written.handed_out = step.keep + step.messages.len();
        step.written = written;
        Ok(WrittenPrompt::Messages(Box::new(step)))
    }
}
