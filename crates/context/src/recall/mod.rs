//! Recall: searches the log and its artifacts for text that is no longer in the prompt.

use std::collections::HashSet;

mod owners;
pub mod request;
mod rules;
mod search;
pub(crate) mod sources;
mod twins;
mod write;

use self::request::{RecallAnswer, RecallRequest};
use self::rules::RecalledRules;
use crate::callbacks::Outcome;
use crate::compile::prompt::EntryContent;
use crate::digest_note;
use crate::manager::ContextManager;
use crate::rules::rule::StandingRule;
use contextweaver_base::Result;
use contextweaver_model::RenderedAs;

impl ContextManager {
    /// Searches everything that the log and its artifacts hold, and returns the places that speak most to the query, each cited
    /// with item, handle and characters, within a number of tokens.
    ///
    /// Words count the more the rarer they are, and most where they stand together. What an edit replaced is not searched, nor
    /// is an item that is at or above the sensitivity floor or redacted, unless the policy allows that for drilldowns. Secrets
    /// are masked before anything is compared. Standing instructions that the query speaks of stand above the excerpts, in at most
    /// half of the tokens, with whether they hold. Answers of earlier recalls come after what they quote. Items are found by the
    /// index and read from the likeliest on, artifacts that it does not know after them, together at most
    /// [`limits::MAX_RECALL_BYTES`](contextweaver_base::limits::MAX_RECALL_BYTES).
    ///
    /// # Errors
    /// `INVALID_INPUT` at `/query` for a query without words, when the request is read.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions, RecallRequest, ToolResult};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("c1", ItemKind::ToolCall, r#"{"since":"May"}"#))?;
    /// let orders: String = (0..900).map(|n| format!("order {} of Mia Li, parcel {}\n", 4000 + n, n * 7919 % 10007)).collect();
    /// manager.ingest_tool_result(&ToolResult::new("c1", "list_orders"), orders.as_bytes())?;
    ///
    /// let answer = manager.recall(&RecallRequest::new("the parcel of order 4711"))?.done().unwrap();
    /// assert!(answer.text.contains("order 4711 of Mia Li, parcel 6475") && answer.tokens <= 300);
    /// let first = &answer.excerpts[0];
    /// assert_eq!((first.item_id.as_deref(), first.handle.as_deref()), (Some("result:c1"), Some("artifact:result:c1")));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn recall(&mut self, request: &RecallRequest) -> Result<Outcome<RecallAnswer>> {
        let listed = match self.rules() {
            Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
            Outcome::Done(listed) => listed,
        };
        self.answers.reset();
        self.refresh_index();
        let told: &[StandingRule] = if request.handles.is_none() { &listed } else { &[] };
        let answer = self.found(request, told);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        self.answers.settle(self.events.len());
        Ok(Outcome::Done(answer))
    }

    fn found(&self, request: &RecallRequest, listed: &[StandingRule]) -> RecallAnswer {
        let wanted = search::Wanted::of(&request.query, &self.index);
        let visible = if request.hidden_only { self.visible() } else { HashSet::new() };
        let is_visible = |at: usize| visible.contains(&at);
        let mut texts = sources::Texts::new(self, request, &is_visible);
        texts.read(&wanted);
        let estimator = &self.options.estimator;
        let rules = RecalledRules::of(listed, &wanted, request.max_tokens, estimator);
        write::answer(&texts, rules, request.max_tokens, estimator)
    }

    /// Returns the positions of items that stand whole in the running prompts; none where there is no such.
    /// Of several phases, only those that all of them show, as it is not known which of them asks.
    fn visible(&self) -> HashSet<usize> {
        let whole = self.running.all().map(|(_, running)| -> HashSet<usize> {
            let sections = running.sections.iter().filter(|section| section.form == RenderedAs::Whole);
            let says_all = |at: usize, content: &EntryContent| {
                let item = &self.events.items()[at];
                *content != EntryContent::Own || digest_note::tokens(item).is_none() || digest_note::is_reshaped(item)
            };
            sections.filter(|section| says_all(section.at, &section.content)).map(|section| section.at).collect()
        });
        whole.reduce(|all, one| &all & &one).unwrap_or_default()
    }
}
