//! A prompt as one text: label lines, bodies, blank lines between.

use super::renderer::{MessagePrompt, Renderer};
use crate::compile::closure::TornResult;
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{EntryContent, EntryRendering, PromptEntry, StructuredPrompt};
use crate::index;
use crate::labels::{SEPARATOR, SectionMark, label_line};
use contextweaver_base::Result;
use contextweaver_model::RenderedItem;

/// Weight of the blank line between two sections, in quarter tokens.
pub const SEPARATOR_QUARTERS: u64 = 2;

/// Writes text alone: what is sent is the text prompt.
pub struct TextRenderer;

impl Renderer for TextRenderer {
    fn entry_quarters(&self, sources: &BuildInputs, at: usize, rendering: &EntryRendering) -> u64 {
        section_quarters(sources, at, rendering, false)
    }

    fn frame_quarters(&self, sources: &BuildInputs, header: &str, footer: &str) -> u64 {
        let quarters = |text: &str| if text.is_empty() { 0 } else { sources.quarters(text) + SEPARATOR_QUARTERS };
        quarters(header) + quarters(footer)
    }

    fn messages(&self, _: &BuildInputs, _: &StructuredPrompt) -> Result<Option<MessagePrompt>> {
        Ok(None)
    }
}

/// Weighs the section of an item with its separator, in quarter tokens.
pub fn section_quarters(sources: &BuildInputs, at: usize, rendering: &EntryRendering, recalled: bool) -> u64 {
    let (item, indexed) = (&sources.events.items()[at], sources.index.entry(at));
    let quarters = match rendering.content {
        EntryContent::Own if !recalled => index::part_quarters(item, indexed, sources.options, sources.answers),
        content => {
            let label = label_line(item, SectionMark::of(rendering.form, recalled));
            sources.quarters(&format!("{label}\n{}", content.body(item, indexed)))
        }
    };
    call_stub(sources, at).map_or(0, |stub| sources.quarters(stub)) + quarters + SEPARATOR_QUARTERS
}

/// Returns what stands above a result in place of its call, where that is not above it.
fn call_stub(sources: &BuildInputs, at: usize) -> Option<&'static str> {
    TornResult::of(sources.events, at).map(|torn| match torn {
        TornResult::Orphan => "[TOOL CALL]\n(not in the log)\n\n",
        TornResult::BeforeCall => "[TOOL CALL]\n(logged later)\n\n",
    })
}

pub struct TextPrompt {
    pub text: String,
    pub tokens: u64,
    /// Tokens of header and footer.
    pub frame_tokens: u64,
    /// Its sections, one for each entry of the prompt.
    pub items: Vec<RenderedItem>,
}

/// Writes a prompt as text.
pub fn write(sources: &BuildInputs, prompt: &StructuredPrompt) -> TextPrompt {
    let size: u64 = prompt.entries.iter().map(|entry| 4 * entry.tokens).sum();
    let mut writer = TextPromptWriter::new(sources, size as usize + 64);
    for section in prompt.header {
        writer.add_frame(&section.text);
    }
    for (place, entry) in prompt.entries.iter().enumerate() {
        writer.add_frame(prompt.ledger_above(place).unwrap_or_default());
        writer.add(entry);
    }
    writer.add_frame(prompt.ledger_above(prompt.entries.len()).unwrap_or_default());
    writer.add_frame(prompt.footer);
    let mut written = writer.prompt;
    written.tokens = sources.quarters(&written.text) / 4;
    written
}

/// Counts tokens section by section so that the sum is the whole prompt's estimate, where the estimator adds up.
#[derive(Default)]
struct TokenCounter {
    quarters: u64,
    tokens: u64,
}

impl TokenCounter {
    /// Adds the weight of a text and returns the whole tokens it completes.
    fn add(&mut self, quarters: u64) -> u64 {
        self.quarters += quarters;
        let before = std::mem::replace(&mut self.tokens, self.quarters / 4);
        self.tokens - before
    }
}

struct TextPromptWriter<'a> {
    sources: &'a BuildInputs<'a>,
    counter: TokenCounter,
    prompt: TextPrompt,
}

impl<'a> TextPromptWriter<'a> {
    fn new(sources: &'a BuildInputs<'a>, capacity: usize) -> Self {
        let text = String::with_capacity(capacity);
        Self {
            sources,
            counter: TokenCounter::default(),
            prompt: TextPrompt { text, tokens: 0, frame_tokens: 0, items: Vec::new() },
        }
    }

    fn separate(&mut self) -> u64 {
        if self.prompt.text.is_empty() {
            return 0;
        }
        self.prompt.text.push_str(SEPARATOR);
        self.counter.add(SEPARATOR_QUARTERS)
    }

    fn add_frame(&mut self, text: &str) {
        if !text.is_empty() {
            let separator = self.separate();
            self.prompt.text.push_str(text);
            self.prompt.frame_tokens += separator + self.counter.add(self.sources.quarters(text));
        }
    }

    fn add(&mut self, entry: &PromptEntry) {
        let separator = self.separate();
        let start = self.prompt.text.len();
        self.prompt.text.push_str(call_stub(self.sources, entry.at).unwrap_or_default());
        self.prompt.text.push_str(&label_line(entry.item, SectionMark::of(entry.rendering.form, entry.recalled)));
        self.prompt.text.push('\n');
        self.prompt.text.push_str(&entry.rendering.content.body(entry.item, entry.indexed));
        let tokens = self.counter.add(self.sources.quarters(&self.prompt.text[start..]));
        self.prompt.items.push(RenderedItem {
            id: entry.item.id.clone(),
            rendered_as: entry.rendering.form,
            tokens: tokens + separator,
            start: start as u64,
            end: self.prompt.text.len() as u64,
            omitted_chars: entry.omitted_chars,
            digest: entry.rendering.is_digest(entry.indexed),
            recalled: entry.recalled,
        });
    }
}
