//! Questions for the caller's functions.
//!
//! No function of the caller runs inside the core. An operation that needs an answer stops, hands out its questions and
//! is called again once they are answered; nothing has changed in between.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde::Serialize;

use crate::rules::find::{MOST_OF_A_TURN, StatementKind};
use crate::rules::given::GivenStatement;
use crate::rules::has_words;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, as_string, as_uint, wrong_type};
use contextweaver_model::{ContextItem, Sensitivity};
use contextweaver_text::tokens::Estimator;

/// A question for one of the caller's functions. Its answer is a JSON value, for [`crate::ContextManager::supply`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Need {
    /// How many tokens has this text? A whole number.
    Count {
        /// Text to be counted.
        text: String,
    },
    /// How sensitive is this item? `public`, `internal`, `confidential` or `restricted`.
    Classify {
        /// The item with the label that it has now.
        item: ContextItem,
    },
    /// What is the summary of this result? Text, or `{"failed": message}`.
    Summarize {
        /// The item of the result, not yet in the log.
        item: ContextItem,
        /// The whole text of the result, secrets masked.
        text: String,
    },
    /// Which facts are in this result? An array of texts, or `{"failed": message}`.
    Extract {
        /// The item of the result, not yet in the log.
        item: ContextItem,
        /// The whole text of the result, secrets masked.
        text: String,
    },
    /// What does the user state in this turn once and for all? An array of texts or of `{text, kind?, once?}`, null for what
    /// the built-in finder says, or `{"failed": message}`, which is the same.
    FindRules {
        /// The turn.
        item: ContextItem,
    },
    /// What stands for this item's text? Text.
    Redact {
        /// Name of the hook, as the policy has it.
        hook: String,
        /// The item as the hooks before left it.
        item: ContextItem,
    },
}

/// The result of an operation, or what must be asked first.
#[derive(Debug)]
pub enum Outcome<T> {
    /// What the operation returns.
    Done(T),
    /// Ask, supply the answers, and call again.
    Need(Vec<Need>),
}

/// Answers received so far. Keys hold the text asked about, so an answer can never be used for something else.
#[derive(Debug, Default)]
pub struct CallbackAnswers {
    known: HashMap<String, CallbackAnswer>,
    /// About results, for the operation at hand only: their texts are large, and the next may ask another function.
    results: HashMap<String, CallbackAnswer>,
    asked: RefCell<Vec<Need>>,
}

#[derive(Debug, Clone)]
enum CallbackAnswer {
    Tokens(u64),
    Level(Sensitivity),
    Text(String),
    Texts(Vec<String>),
    /// Statements of a turn; none where the built-in finder decides.
    Statements(Option<Rc<[GivenStatement]>>),
    Failed(String),
}

impl<T> Outcome<T> {
    /// Returns what is finished; none where questions must be answered first, which only managers with functions of the
    /// caller have.
    ///
    /// ```
    /// use contextweaver_context::Outcome;
    ///
    /// assert_eq!(Outcome::Done(1).done(), Some(1));
    /// assert_eq!(Outcome::<u8>::Need(Vec::new()).done(), None);
    /// ```
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(value) => Some(value),
            Self::Need(_) => None,
        }
    }
}

impl Need {
    fn key(&self) -> String {
        match self {
            Self::Count { text } => format!("count\0{text}"),
            Self::Classify { item } => format!("classify\0{}\0{}", item.id, item.text),
            Self::Summarize { item, text } => format!("summarize\0{}\0{text}", item.id),
            Self::Extract { item, text } => format!("extract\0{}\0{text}", item.id),
            Self::FindRules { item } => format!("rules\0{}\0{}", item.id, item.text),
            Self::Redact { hook, item } => format!("redact\0{hook}\0{}\0{}", item.id, item.text),
        }
    }

    const fn is_about_result(&self) -> bool {
        matches!(self, Self::Summarize { .. } | Self::Extract { .. })
    }
}

impl CallbackAnswers {
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

    /// Forgets what was asked. Answers stay, as the next operation will ask the same, until they outgrow the log.
    pub fn settle(&mut self, items: usize) {
        self.reset();
        self.results.clear();
        if self.known.len() > 4 * items + 1024 {
            self.known.clear();
        }
    }

    fn answer(&self, need: Need) -> Option<CallbackAnswer> {
        let answers = if need.is_about_result() { &self.results } else { &self.known };
        let known = answers.get(&need.key()).cloned();
        if known.is_none() {
            self.asked.borrow_mut().push(need);
        }
        known
    }

    /// Weighs a text in quarter tokens, asking the caller's estimator where there is one.
    pub fn quarters(&self, estimator: &Estimator, text: &str) -> u64 {
        if !matches!(estimator, Estimator::Custom(_)) || text.is_empty() {
            return estimator.quarters(text);
        }
        match self.answer(Need::Count { text: text.to_owned() }) {
            Some(CallbackAnswer::Tokens(count)) => count * 4,
            _ => estimator.quarters(text),
        }
    }

    /// Counts the tokens of a text as [`CallbackAnswers::quarters`] weighs it.
    pub fn tokens(&self, estimator: &Estimator, text: &str) -> u64 {
        self.quarters(estimator, text) / 4
    }

    /// Returns the caller's label for an item, or asks for it and gives none.
    pub fn level(&self, item: &ContextItem) -> Option<Sensitivity> {
        match self.answer(Need::Classify { item: item.clone() }) {
            Some(CallbackAnswer::Level(level)) => Some(level),
            _ => None,
        }
    }

    /// Returns the caller's summary of a text or how that failed, or asks for it.
    pub fn summary(&self, item: &ContextItem, text: &str) -> Option<Result<String>> {
        match self.answer(Need::Summarize { item: item.clone(), text: text.to_owned() }) {
            Some(CallbackAnswer::Text(text)) => Some(Ok(text)),
            other => other.and_then(failure),
        }
    }

    /// Returns the facts the caller finds in a text or how that failed, or asks for them.
    pub fn facts(&self, item: &ContextItem, text: &str) -> Option<Result<Vec<String>>> {
        match self.answer(Need::Extract { item: item.clone(), text: text.to_owned() }) {
            Some(CallbackAnswer::Texts(facts)) => Some(Ok(facts)),
            other => other.and_then(failure),
        }
    }

    /// Returns what the caller's function finds in a turn, or asks for it and gives none.
    pub fn statements(&self, item: &ContextItem) -> Option<Rc<[GivenStatement]>> {
        match self.answer(Need::FindRules { item: item.clone() }) {
            Some(CallbackAnswer::Statements(given)) => given,
            _ => None,
        }
    }

    /// Returns what the caller's hook makes of an item, or asks for it.
    pub fn redaction(&self, hook: &str, item: &ContextItem) -> Option<String> {
        match self.answer(Need::Redact { hook: hook.to_owned(), item: item.clone() }) {
            Some(CallbackAnswer::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes the answers to the questions handed out, in their order.
    ///
    /// # Errors
    /// `CALLBACK_FAILED` when there are not as many as questions, or one has another form than its question asks for.
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
            let key = need.key();
            let answer = read(&need, answer, &at)
                .map_err(|error| Error::new(ErrorCode::CallbackFailed, error.message().to_owned()).at(at))?;
            let answers = if need.is_about_result() { &mut self.results } else { &mut self.known };
            answers.insert(key, answer);
        }
        Ok(())
    }
}

fn failure<T>(answer: CallbackAnswer) -> Option<Result<T>> {
    match answer {
        CallbackAnswer::Failed(message) => Some(Err(Error::new(ErrorCode::CallbackFailed, message))),
        _ => None,
    }
}

/// Reads an answer. Work on results may fail, which is said by `{"failed": message}`.
fn read(need: &Need, answer: serde_json::Value, at: &str) -> Result<CallbackAnswer> {
    if let Some(message) = answer.get("failed").filter(|_| need.is_about_result()) {
        return as_string(message.clone(), at).map(CallbackAnswer::Failed);
    }
    match need {
        Need::FindRules { .. } => read_statements(answer, at).map(CallbackAnswer::Statements),
        Need::Count { .. } => as_uint(&answer, at, limits::MAX_TOKEN_ESTIMATE).map(CallbackAnswer::Tokens),
        Need::Classify { .. } => Sensitivity::parse(&as_string(answer, at)?).map(CallbackAnswer::Level),
        Need::Summarize { .. } | Need::Redact { .. } => as_string(answer, at).map(CallbackAnswer::Text),
        Need::Extract { .. } => match answer {
            serde_json::Value::Array(facts) => {
                facts.into_iter().map(|fact| as_string(fact, at)).collect::<Result<_>>().map(CallbackAnswer::Texts)
            }
            other => Err(wrong_type(at, "an array of strings", &other)),
        },
    }
}

/// Reads what a function found in a turn.
fn read_statements(answer: serde_json::Value, at: &str) -> Result<Option<Rc<[GivenStatement]>>> {
    let list = match answer {
        serde_json::Value::Null => return Ok(None),
        serde_json::Value::Object(failure) if failure.contains_key("failed") => return Ok(None),
        serde_json::Value::Array(list) => list,
        other => return Err(wrong_type(at, "an array of statements", &other)),
    };
    let read = |value| match value {
        serde_json::Value::String(text) => Ok(GivenStatement { text, kind: None, is_once: false }),
        value => {
            let mut fields = Fields::open(value, at)?;
            let text = fields.string("text")?;
            let kind = fields.parsed_or("kind", None, |text| StatementKind::parse(text).map(Some))?;
            let given = GivenStatement { text, kind, is_once: fields.bool_or("once", false)? };
            fields.finish()?;
            Ok(given)
        }
    };
    let mut given = list.into_iter().take(MOST_OF_A_TURN).map(read).collect::<Result<Vec<_>>>()?;
    given.retain(|given| has_words(&given.text));
    Ok(Some(given.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contextweaver_model::ItemKind;
    use serde_json::json;

    #[test]
    fn answers_about_results_hold_for_one_operation() {
        let item = ContextItem::new("r", ItemKind::ToolResult, "");
        let mut answers = CallbackAnswers::default();
        let ask = |answers: &CallbackAnswers| (answers.summary(&item, "text"), answers.level(&item));
        for expected in ["one", "two"] {
            let known = ask(&answers);
            assert!(known.0.is_none());
            let asked = answers.take_needs().len();
            answers.supply([json!(expected), json!("internal")][..asked].to_vec()).unwrap();
            let (summary, level) = ask(&answers);
            assert_eq!((summary.unwrap().unwrap().as_str(), level), (expected, Some(Sensitivity::Internal)));
            answers.settle(1);
        }
        assert_eq!(answers.level(&item), Some(Sensitivity::Internal), "others stay");
    }
}
