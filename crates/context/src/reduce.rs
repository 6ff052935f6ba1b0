//! What stands in the prompt for a result above the gate: its kept paths, a summary by the caller, the same text in
//! fewer tokens, or a digest. The first that applies; each only when tokens fall.

use crate::callbacks::CallbackAnswers;
use crate::options::{ManagerOptions, STRUCTURED};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::extract::{RuleBasedSummarizer, StructuredExtractor, facts};
use contextweaver_content::{KeepPath, SniffedText, digest_sniffed, project, reshape_sniffed};
use contextweaver_model::json;
use contextweaver_model::{ContextItem, JsonMap, Status, Strategy};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode;

/// A text in fewer tokens.
pub struct ReducedText {
    /// What stands in the prompt.
    pub text: String,
    pub strategy: Strategy,
    /// Whether something went wrong on the way.
    pub status: Status,
    /// Where to look next, as a selector.
    pub view: Option<JsonMap>,
    /// What the source holds in `key: value` lines and lists, within the tokens that the text leaves of the budget.
    pub facts: Vec<String>,
}

/// What a result is reduced for.
pub struct Reduction<'a> {
    /// The item to be, with its text.
    pub item: &'a ContextItem,
    /// Its text, secrets masked.
    pub source: &'a SniffedText<'a>,
    /// Paths of a JSON text that may stand in the prompt; nothing else of it may.
    pub keep: &'a [KeepPath],
    pub options: &'a ManagerOptions,
    /// Answers of the caller's functions.
    pub answers: &'a CallbackAnswers,
}

/// Refuses functions that a model stands behind where the options ask for the same bytes every time.
pub fn check_deterministic(options: &ManagerOptions) -> Result<()> {
    let model = [&options.summarizer, &options.extractor].into_iter().flatten().find(|plugin| plugin.is_llm);
    match model.filter(|_| options.firewall.deterministic) {
        None => Ok(()),
        Some(plugin) => Err(Error::new(
            ErrorCode::Determinism,
            format!(
                "{} is backed by a model, and the firewall is to be deterministic",
                contextweaver_text::quote::quote(&plugin.name)
            ),
        )),
    }
}

impl Reduction<'_> {
    fn tokens(&self, text: &str) -> u64 {
        self.options.estimator.tokens(text)
    }

    /// Reduces the text. When the caller's functions must be asked, the result is provisional.
    pub fn run(&self) -> ReducedText {
        let mut reduced = self.text();
        if self.keep.is_empty() {
            let budget = self.options.firewall.summary_tokens.saturating_sub(self.tokens(&reduced.text));
            match self.facts() {
                Ok(found) => reduced.facts = self.fitting(&found, &reduced.text, budget),
                Err(_) => reduced.status = worse(reduced.status, Status::Partial),
            }
        }
        reduced
    }

    fn text(&self) -> ReducedText {
        if !self.keep.is_empty() {
            return self.projection();
        }
        let mut status = Status::Ok;
        if self.options.estimator.fits(self.source.text, self.options.firewall.threshold_tokens) {
            // Only data was taken out, under its name.
            return reshaped_to(self.source.text.to_owned(), status);
        }
        if self.options.summarizer.is_some() {
            match self.summary() {
                Some(summary) => return summary,
                None => status = Status::Partial,
            }
        }
        if let Some(reshaped) = reshape_sniffed(self.source)
            && self.options.estimator.fits(&reshaped.text, self.options.firewall.threshold_tokens)
        {
            return reshaped_to(reshaped.text, status);
        }
        ReducedText { status, ..self.digested(self.source) }
    }

    fn digested(&self, source: &SniffedText) -> ReducedText {
        let firewall = &self.options.firewall;
        let budget = firewall.summary_tokens.min(firewall.threshold_tokens);
        let found = digest_sniffed(source, budget, &self.options.estimator);
        let view = found.focus.map(|focus| focus.selector);
        ReducedText { text: found.text, strategy: Strategy::Summary, status: Status::Ok, view, facts: Vec::new() }
    }

    /// What the kept paths hold, and nothing else whatever happens: text that is no JSON has no paths.
    fn projection(&self) -> ReducedText {
        let reduced =
            |text, status| ReducedText { text, strategy: Strategy::Structured, status, view: None, facts: Vec::new() };
        let Ok(value) = json::parse(self.source.text) else { return reduced("{}".to_owned(), Status::Error) };
        let kept = project(&value, self.keep).to_string();
        if self.tokens(&kept) <= self.options.firewall.threshold_tokens {
            return reduced(kept, Status::Ok);
        }
        reduced(self.digested(&SniffedText::new("application/json", &kept)).text, Status::Partial)
    }

    /// The summary of the summarizer chosen; none when it failed or saves nothing.
    fn summary(&self) -> Option<ReducedText> {
        let plugin = self.options.summarizer.as_ref()?;
        let text = if plugin.built_in {
            RuleBasedSummarizer::default().summarize(self.source.text)
        } else {
            match self.answers.summary(self.item, self.source.text) {
                // Whatever stands here until the answer is in, nobody sees.
                None => String::new(),
                Some(answer) => answer.ok()?,
            }
        };
        // A summary may quote what the source no longer holds.
        let text = self.options.mask_secrets(&text).into_owned();
        let text = within(&text, self.options.firewall.threshold_tokens, &self.options.estimator);
        let strategy = if plugin.is_llm { Strategy::LlmSummary } else { Strategy::Summary };
        (self.tokens(&text) < self.tokens(self.source.text)).then(|| ReducedText {
            text,
            strategy,
            status: Status::Ok,
            view: None,
            facts: Vec::new(),
        })
    }

    fn facts(&self) -> Result<Vec<String>> {
        match &self.options.extractor {
            None => Ok(facts(self.source.text)),
            Some(plugin) if plugin.built_in && plugin.name == STRUCTURED => {
                Ok(StructuredExtractor::default().extract(self.source.text))
            }
            Some(_) => self.answers.facts(self.item, self.source.text).unwrap_or_else(|| Ok(Vec::new())),
        }
    }

    /// Leaves facts that the text does not hold already, as long as they fit.
    fn fitting(&self, found: &[String], text: &str, budget: u64) -> Vec<String> {
        let (mut kept, mut left) = (Vec::new(), 4 * budget);
        for fact in found {
            let fact = self.options.mask_secrets(fact);
            // A fact takes a line of its own.
            let cost = self.options.estimator.quarters(&fact) + 1;
            if cost > left {
                break;
            }
            if !text.contains(&*fact) {
                left -= cost;
                kept.push(fact.into_owned());
            }
        }
        kept
    }
}

/// Makes the record of a text that says what its source does.
fn reshaped_to(text: String, status: Status) -> ReducedText {
    ReducedText { text, strategy: Strategy::Reshaped, status, view: None, facts: Vec::new() }
}

fn worse(a: Status, b: Status) -> Status {
    if a == Status::Error { a } else { b }
}

/// Cuts a text to so many tokens, the cut marked.
pub fn within(text: &str, tokens: u64, estimator: &Estimator) -> String {
    if estimator.fits(text, tokens) {
        return text.to_owned();
    }
    let mut left = (4 * tokens).saturating_sub(estimator.quarters("…"));
    let mut end = 0;
    for (at, ch) in text.char_indices() {
        let cost = estimator.quarters(&text[at..at + ch.len_utf8()]);
        if cost > left {
            break;
        }
        left -= cost;
        end = at + ch.len_utf8();
    }
    let end = unicode::token_boundary(text, end);
    if end == 0 { String::new() } else { format!("{}…", text[..end].trim_end()) }
}
