//! Questions for the caller's functions.
//!
//! No function of the caller runs inside the core. An operation that needs an answer stops, hands out its questions and
//! is called again once they are answered; nothing has changed in between.

use std::cell::RefCell;
use std::collections::HashMap;

use serde::Serialize;

use crate::error::{Error, ErrorCode, Result};
use crate::json::{as_string, as_uint};
use crate::limits;
use crate::model::{ContextItem, Sensitivity};
use crate::text::tokens::Estimator;

/// A question for one of the caller's functions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Need {
    /// How many tokens has this text?
    Count {
        /// The text.
        text: String,
    },
    /// How sensitive is this item?
    Classify {
        /// The item.
        item: ContextItem,
    },
    /// What is the summary of this result?
    Summarize {
        /// The item to be.
        item: ContextItem,
        /// Its whole text.
        text: String,
    },
    /// What stands for this item's text?
    Redact {
        /// Name of the hook.
        hook: String,
        /// The item.
        item: ContextItem,
    },
}

/// The result of an operation, or what must be asked first.
#[derive(Debug)]
pub enum Outcome<T> {
    /// Finished.
    Done(T),
    /// Ask, supply the answers, and call again.
    Need(Vec<Need>),
}

/// Answers received so far. Keys hold the text asked about, so an answer can never be used for something else.
#[derive(Debug, Default)]
pub struct Answers {
    counts: HashMap<String, u64>,
    levels: HashMap<(String, String), Sensitivity>,
    summaries: HashMap<(String, String), String>,
    redactions: HashMap<(String, String, String), String>,
    asked: RefCell<Vec<Need>>,
}

impl Answers {
    /// Takes the questions collected since the last call.
    pub fn take_needs(&self) -> Vec<Need> {
        self.asked.borrow().clone()
    }

    /// Tells whether something must be asked.
    pub fn is_waiting(&self) -> bool {
        !self.asked.borrow().is_empty()
    }

    /// Forgets questions nobody answered, so that an operation starts clean.
    pub fn reset(&self) {
        self.asked.borrow_mut().clear();
    }

    /// Forgets answers that only one operation needed; counts of item texts are kept within a bound.
    pub fn settle(&mut self, items: usize) {
        self.reset();
        self.summaries.clear();
        if self.counts.len() > 4 * items + 1024 {
            self.counts.clear();
        }
    }

    fn ask(&self, need: Need) {
        self.asked.borrow_mut().push(need);
    }

    /// Weighs a text in quarter tokens, asking the caller's estimator where there is one.
    pub fn quarters(&self, estimator: &Estimator, text: &str) -> u64 {
        if !matches!(estimator, Estimator::Custom(_)) || text.is_empty() {
            return estimator.quarters(text);
        }
        if let Some(count) = self.counts.get(text) {
            return count * 4;
        }
        self.ask(Need::Count { text: text.to_owned() });
        estimator.quarters(text)
    }

    /// Returns the caller's label for an item, or asks for it and gives none.
    pub fn level(&self, item: &ContextItem) -> Option<Sensitivity> {
        let known = self.levels.get(&(item.id.clone(), item.text.clone())).copied();
        if known.is_none() {
            self.ask(Need::Classify { item: item.clone() });
        }
        known
    }

    /// Returns the caller's summary of a text, or asks for it.
    pub fn summary(&self, item: &ContextItem, text: &str) -> Option<String> {
        let known = self.summaries.get(&(item.id.clone(), text.to_owned())).cloned();
        if known.is_none() {
            self.ask(Need::Summarize { item: item.clone(), text: text.to_owned() });
        }
        known
    }

    /// Returns what the caller's hook makes of an item, or asks for it.
    pub fn redaction(&self, hook: &str, item: &ContextItem) -> Option<String> {
        let key = (hook.to_owned(), item.id.clone(), item.text.clone());
        let known = self.redactions.get(&key).cloned();
        if known.is_none() {
            self.ask(Need::Redact { hook: hook.to_owned(), item: item.clone() });
        }
        known
    }

    /// Takes the answers to the questions handed out, in their order. One that does not fit is `CALLBACK_FAILED`.
    pub fn supply(&mut self, answers: Vec<serde_json::Value>) -> Result<()> {
        let asked = std::mem::take(&mut *self.asked.borrow_mut());
        if asked.len() != answers.len() {
            return Err(Error::new(
                ErrorCode::CallbackFailed,
                format!("{} questions were asked, {} answers came", asked.len(), answers.len()),
            ));
        }
        for (index, (need, answer)) in asked.into_iter().zip(answers).enumerate() {
            let at = format!("/answers/{index}");
            self.accept(need, answer, &at)
                .map_err(|error| Error::new(ErrorCode::CallbackFailed, error.message().to_owned()).at(at))?;
        }
        Ok(())
    }

    fn accept(&mut self, need: Need, answer: serde_json::Value, at: &str) -> Result<()> {
        match need {
            Need::Count { text } => {
                self.counts.insert(text, as_uint(&answer, at, limits::MAX_TOKEN_ESTIMATE)?);
            }
            Need::Classify { item } => {
                let level = Sensitivity::parse(&as_string(answer, at)?)?;
                self.levels.insert((item.id, item.text), level);
            }
            Need::Summarize { item, text } => {
                self.summaries.insert((item.id, text), as_string(answer, at)?);
            }
            Need::Redact { hook, item } => {
                self.redactions.insert((hook, item.id, item.text), as_string(answer, at)?);
            }
        }
        Ok(())
    }
}
