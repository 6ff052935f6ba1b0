//! What of a prompt goes into the messages of a provider: the items with the texts they have in it.

use serde::Serialize;
use serde_json::Value;

use super::callbacks::Outcome;
use super::draft::Event;
use super::manager::ContextManager;
use super::origin::{attachment_tokens, forget, origin};
use super::request::BuildRequest;
use super::{firewall, render, sensitivity};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ContextPack, ItemKind, JsonMap, RenderedAs, RenderedItem};
use contextweaver_text::redact::{SECRET_MASK, redact_value};

/// A prompt in parts, for a converter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromptParts {
    /// The prompt with its record.
    pub pack: ContextPack,
    /// The items of the prompt, in its order, with the texts that they have in it.
    pub items: Vec<ContextItem>,
    /// What stands above them.
    pub header: String,
    /// What stands below them.
    pub footer: String,
    /// Tokens of what goes along without a text of its own: images, files, reasoning.
    pub attachment_tokens: u64,
    /// For the hooks.
    #[serde(skip)]
    pub events: Vec<Event>,
}

impl ContextManager {
    /// Compiles a prompt as [`ContextManager::build`] does and takes it apart. The budget covers texts and attachments.
    pub fn build_parts(&mut self, request: &BuildRequest) -> Result<Outcome<PromptParts>> {
        if self.options().compat {
            let message = "the compat mode does not say what a prompt is made of";
            return Err(Error::new(ErrorCode::Unsupported, message));
        }
        let budget = request.budget_tokens.unwrap_or_else(|| self.options().budget.of(request.phase));
        let mut request = BuildRequest { budget_tokens: Some(budget), attachments: true, ..request.clone() };
        loop {
            let built = match self.compile(&request)? {
                Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
                Outcome::Done(built) => built,
            };
            let rendered = built.pack.items.as_deref().unwrap_or_default();
            let attachment_tokens = rendered.iter().map(|item| self.attached_to(item)).sum::<u64>();
            let excess = (built.pack.stats.prompt_tokens() + attachment_tokens).saturating_sub(budget);
            if excess == 0 {
                let output = self.settle(&request, built);
                return Ok(Outcome::Done(self.take_apart(output.pack, output.events, attachment_tokens)));
            }
            // Only sections that an append-only prompt keeps, and a caller's estimator, can be more than was planned.
            let step = excess.max(budget / 64);
            let rest = request.budget_tokens.unwrap_or(0).checked_sub(step).ok_or_else(|| {
                let message = format!("images, files and reasoning exceed the budget by {excess} tokens");
                Error::new(ErrorCode::BudgetExceeded, message).detail("over_by", excess).detail("limit", budget)
            })?;
            request.budget_tokens = Some(rest);
        }
    }

    fn attached_to(&self, rendered: &RenderedItem) -> u64 {
        let is_whole = rendered.rendered_as == RenderedAs::Whole;
        let at = self.events().position(&rendered.id).filter(|_| is_whole);
        at.map_or(0, |at| attachment_tokens(&self.events().items()[at]))
    }

    fn take_apart(&self, pack: ContextPack, events: Vec<Event>, attachment_tokens: u64) -> PromptParts {
        let rendered = pack.items.as_deref().unwrap_or_default();
        let above = rendered.first().map_or(pack.prompt.len(), |item| item.start as usize);
        let below = rendered.last().map_or(above, |item| item.end as usize);
        let trim = |text: &str| text.trim_matches('\n').to_owned();
        let (header, footer) = (trim(&pack.prompt[..above]), trim(&pack.prompt[below..]));
        let items = rendered.iter().filter_map(|item| self.as_shown(item, &pack.prompt)).collect();
        PromptParts { pack, items, header, footer, attachment_tokens, events }
    }

    /// Returns an item with the text it has in a prompt.
    fn as_shown(&self, rendered: &RenderedItem, prompt: &str) -> Option<ContextItem> {
        let mut item = self.events().items()[self.events().position(&rendered.id)?].clone();
        let section = &prompt[rendered.start as usize..rendered.end as usize];
        let body = section.split_once('\n').map_or("", |(_, body)| body);
        let clean = firewall::clean(&item.text, self.options());
        // As it is in the log, where the prompt only escapes what looks like a label.
        let is_whole = rendered.rendered_as == RenderedAs::Whole && body == render::default_body(&item, &clean);
        let text = if is_whole { clean.into_owned() } else { without_function(&item, body).to_owned() };
        if rendered.rendered_as == RenderedAs::Redacted {
            forget(&mut item);
        } else if self.options().redact_secrets {
            mask(&mut item);
        }
        item.text = text;
        Some(item)
    }
}

/// Returns the index of the next message of a format, and the calls in a log: the provider's ids and the items'.
pub fn message_plan(items: &[ContextItem], format: &str) -> (u64, JsonMap) {
    let last = |item: &ContextItem| {
        let message = origin(&item.metadata)?;
        let is_same = message.get("format")?.as_str()? == format;
        message.get("message").filter(|_| is_same)?.as_u64()
    };
    let start = items.iter().filter_map(last).max().map_or(0, |last| last + 1);
    let calls = items.iter().filter(|item| item.kind == ItemKind::ToolCall);
    let ids = |item: &ContextItem| {
        (item.metadata_str("tool_call_id").unwrap_or(&item.id).to_owned(), item.id.as_str().into())
    };
    (start, calls.map(ids).collect())
}

/// Takes off what the prompt puts around the text of calls and results.
fn without_function<'a>(item: &ContextItem, body: &'a str) -> &'a str {
    let Some(name) = item.metadata_str("function_name").map(render::flatten) else { return body };
    let inner = body.strip_prefix(name.as_str()).and_then(|rest| match item.kind {
        ItemKind::ToolCall => rest.strip_prefix('(')?.strip_suffix(')'),
        ItemKind::ToolResult => rest.strip_prefix(": "),
        _ => None,
    });
    inner.unwrap_or(body)
}

/// Masks secrets in the metadata. What was kept of the message cannot be written any more when there is one in it.
fn mask(item: &mut ContextItem) {
    let before = origin(&item.metadata).cloned();
    let metadata = Value::Object(std::mem::take(&mut item.metadata));
    if let Value::Object(masked) = redact_value(&metadata, sensitivity::secret_rules(false), SECRET_MASK) {
        item.metadata = masked;
    }
    if before.as_ref() != origin(&item.metadata) {
        forget(item);
    }
}
