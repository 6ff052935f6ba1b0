//! Renders a prompt as provider messages. The header becomes the system text, the footer the user's last words.

use serde_json::Value;

use super::renderer::{MessagePrompt, Renderer};
use super::text::{TextRenderer, section_quarters};
use crate::compile::closure;
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::{EntryContent, EntryRendering, StructuredPrompt};
use crate::index::IndexEntry;
use crate::labels;
use crate::options::ManagerOptions;
use crate::source_message::{forget_source_message, spoil_source_message};
use contextweaver_base::Result;
use contextweaver_convert::providers::cost::{ItemCost, ShownAs, Weigh, message_quarters};
use contextweaver_convert::providers::{
    Format, WriteOptions, is_as_read, is_provider_run, items_to_messages_with, keep_media, restore_media_data,
    restore_sealed_data, show_text_alone,
};
use contextweaver_model::{ContextItem, ItemKind, RenderedAs};
use contextweaver_text::tokens::Estimator;

/// Renders a prompt as messages. The text prompt is their record, and must not exceed the budget either.
pub struct MessageRenderer {
    pub format: Format,
    /// How the messages are written.
    pub options: WriteOptions,
}

impl Renderer for MessageRenderer {
    fn entry_quarters(&self, sources: &BuildInputs, at: usize, rendering: &EntryRendering) -> u64 {
        let (item, indexed) = (&sources.events.items()[at], sources.index.entry(at));
        let weigh = |text: &str| sources.quarters(text);
        let text = match (rendering.content, &sources.options.estimator) {
            (EntryContent::Own, Estimator::V2 | Estimator::V3 | Estimator::CharDiv4) => indexed.text_quarters,
            (content, _) => weigh(&content.text(item, indexed, sources.options)),
        };
        let cost = self.cost(sources, at, item, &weigh);
        let beside = match item.kind {
            // A call that the provider ran itself gets no placeholder result, and a result no placeholder call.
            _ if is_provider_run(item) => 0,
            ItemKind::ToolCall if !has_result(sources, item) => cost.made_up_result(),
            ItemKind::ToolResult if closure::joins(sources.events, at).is_none() => cost.made_up_call(),
            _ => 0,
        };
        let shown = match (rendering.content, rendering.form) {
            (EntryContent::Own, _) => ShownAs::Own,
            (EntryContent::Quote { text, .. }, RenderedAs::Whole) if is_as_read(item, text) => ShownAs::Own,
            (_, form) if has_media(form) => ShownAs::Changed,
            _ => ShownAs::Bare,
        };
        let sent = cost.quarters(text, shown);
        (sent + beside).max(section_quarters(sources, at, rendering, false))
    }

    fn frame_quarters(&self, sources: &BuildInputs, header: &str, footer: &str) -> u64 {
        let weigh = |text: &str| sources.quarters(text);
        let quarters = |item: Option<ContextItem>| {
            let cost = |item: &ContextItem| {
                ItemCost { format: self.format, item, before: None, weigh: &weigh }
                    .quarters(weigh(&item.text), ShownAs::Bare)
            };
            item.as_ref().map_or(0, cost)
        };
        let sent = quarters(above(header)) + quarters(below(footer));
        sent.max(TextRenderer.frame_quarters(sources, header, footer))
    }

    fn messages(&self, sources: &BuildInputs, prompt: &StructuredPrompt) -> Result<Option<MessagePrompt>> {
        let header: Vec<&str> = prompt.header.iter().map(|section| section.text.as_str()).collect();
        let ledger = |place: usize| said("prompt:ledger", prompt.ledger_above(place).unwrap_or_default());
        let mut items: Vec<ContextItem> = above(&header.join(labels::SEPARATOR)).into_iter().collect();
        for (place, entry) in prompt.entries.iter().enumerate() {
            items.extend(ledger(place));
            let EntryRendering { form, content } = entry.rendering;
            items.push(shown_item(entry.item, entry.indexed, form, content, sources.options));
        }
        items.extend(ledger(prompt.entries.len()));
        items.extend(below(prompt.footer));
        let bytes = |handle: &str| sources.artifacts.peek(handle);
        let written = items_to_messages_with(&items, self.format, &self.options, &bytes)?;
        let tokens = message_quarters(&written, self.format, &|text| sources.quarters(text)) / 4;
        Ok(Some(MessagePrompt { written, tokens }))
    }
}

impl MessageRenderer {
    fn cost<'a>(&self, sources: &'a BuildInputs, at: usize, item: &'a ContextItem, weigh: Weigh<'a>) -> ItemCost<'a> {
        let before = at.checked_sub(1).map(|before| &sources.events.items()[before]);
        ItemCost { format: self.format, item, before, weigh }
    }
}

pub fn above(header: &str) -> Option<ContextItem> {
    (!header.is_empty()).then(|| ContextItem::new("prompt:header", ItemKind::Policy, header))
}

pub fn below(footer: &str) -> Option<ContextItem> {
    said("prompt:footer", footer)
}

pub fn said(id: &str, text: &str) -> Option<ContextItem> {
    (!text.is_empty()).then(|| ContextItem::new(id, ItemKind::UserTurn, text))
}

/// Tells whether an item in this form keeps its images and other media. A stub and a redacted item do not.
fn has_media(form: RenderedAs) -> bool {
    matches!(form, RenderedAs::Whole | RenderedAs::Excerpt)
}

fn has_result(sources: &BuildInputs, call: &ContextItem) -> bool {
    let items = sources.events.items();
    sources
        .events
        .child_positions(&call.id)
        .iter()
        .any(|child| items[*child].kind == ItemKind::ToolResult && !items[*child].is_superseded())
}

/// Returns a copy of an item with what the prompt shows of it.
pub fn shown_item(
    given: &ContextItem,
    indexed: &IndexEntry,
    form: RenderedAs,
    content: &EntryContent,
    options: &ManagerOptions,
) -> ContextItem {
    let mut item = given.clone();
    item.text = content.text(given, indexed, options).into_owned();
    match form {
        RenderedAs::Redacted => {
            forget_source_message(&mut item);
            return item;
        }
        form if has_media(form) => keep_media(&mut item, &given.text),
        _ => {}
    }
    if !matches!(content, EntryContent::Own) && form != RenderedAs::Whole {
        show_text_alone(&mut item, has_media(form));
    }
    if options.redact_secrets {
        mask(&mut item, options);
    }
    item
}

/// Masks secrets in the metadata. If the stored source message holds one, it can no longer be written back, but for reasoning that
/// nobody has signed. The data and addresses of media are not masked, because the provider fetches them and no model reads them; nor
/// is what a provider has sealed.
fn mask(item: &mut ContextItem, options: &ManagerOptions) {
    let before = std::mem::take(&mut item.metadata);
    if let Value::Object(masked) = options.mask_value(&Value::Object(before.clone())) {
        item.metadata = masked;
    }
    restore_media_data(&before, &mut item.metadata);
    if !restore_sealed_data(&before, &mut item.metadata) {
        spoil_source_message(item);
    }
}
