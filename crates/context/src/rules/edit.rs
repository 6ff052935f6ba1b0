//! Adding, correcting and forgetting standing instructions.

use serde_json::Value;

use super::book::{RuleRecord, Subject, check_text};
use super::find::StatementKind;
use super::one_line;
use super::rule::{RuleState, StandingRule};
use crate::callbacks::Outcome;
use crate::manager::ContextManager;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::CutReason;
use contextweaver_model::json::{Fields, nearest};
use contextweaver_text::quote::quote;

/// Ids that an error lists.
const LISTED_IDS: usize = 6;

/// A standing instruction that the caller adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// Its words, as they are to stand in prompts.
    pub text: String,
    /// What it does; by its form where nothing is said.
    pub kind: Option<StatementKind>,
    /// Its id; `rule:<n>` where nothing is said.
    pub id: Option<String>,
}

impl NewRule {
    /// Reads a closed record.
    ///
    /// # Errors
    /// `MISSING_FIELD`, `UNKNOWN_FIELD`, `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let new = Self { text: fields.string("text")?, kind: kind(&mut fields)?, id: fields.opt_string("id")? };
        fields.finish()?;
        check_text(&new.text)?;
        match &new.id {
            Some(id) if id.trim().is_empty() || id.contains('#') => {
                let message = "expected an id without `#`, which stands in the ids of what was found";
                Err(Error::new(ErrorCode::InvalidInput, message).at("/id"))
            }
            _ => Ok(new),
        }
    }
}

/// What the caller corrects of a standing instruction; what is not said stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleCorrection {
    /// Other words.
    pub text: Option<String>,
    /// What it does.
    pub kind: Option<StatementKind>,
    /// Whether it holds, whatever was said later.
    pub state: Option<RuleState>,
}

impl RuleCorrection {
    /// Reads a closed record with the id of the instruction.
    ///
    /// # Errors
    /// `MISSING_FIELD`, `UNKNOWN_FIELD`, `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn from_value(value: Value) -> Result<(String, Self)> {
        let mut fields = Fields::open(value, "")?;
        let id = fields.string("id")?;
        let correction = Self {
            text: fields.opt_string("text")?,
            kind: kind(&mut fields)?,
            state: fields.parsed_or("state", None, |text| RuleState::parse(text).map(Some))?,
        };
        fields.finish()?;
        if let Some(text) = &correction.text {
            check_text(text)?;
        }
        if correction == Self::default() {
            let error = Error::new(ErrorCode::MissingField, "nothing is corrected");
            return Err(error.hint("give text, kind or state"));
        }
        if correction.state == Some(RuleState::Replaced) {
            return Err(Error::new(ErrorCode::InvalidInput, "what takes its place is not said")
                .at("/state")
                .hint("give the words that hold now as text, or withdraw it and add another"));
        }
        Ok((id, correction))
    }
}

fn kind(fields: &mut Fields) -> Result<Option<StatementKind>> {
    fields.parsed_or("kind", None, |text| StatementKind::parse(text).map(Some))
}

impl ContextManager {
    /// Adds a standing instruction that no turn of the log states. It is in force until it is forgotten or corrected, whatever
    /// is said later. Words that were added before are not added twice: what stands is returned.
    ///
    /// # Errors
    /// `DUPLICATE_ID` at `/id` for an id that was used; `QUOTA_EXCEEDED` above
    /// [`limits::MAX_RULES`](contextweaver_base::limits::MAX_RULES); `UNSUPPORTED` where instructions are not kept.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, NewRule};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let new = NewRule { text: "Never touch the folder legal.".into(), kind: None, id: None };
    /// let rule = manager.add_rule(&new)?.done().unwrap();
    /// assert_eq!((rule.id.as_str(), rule.kind.as_str()), ("rule:0", "prohibition"));
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "What is left to do?"))?;
    /// let pack = manager.build(&BuildRequest::new(Phase::Answer, "left"))?.done().unwrap().pack;
    /// assert!(pack.prompt.contains("- Never touch the folder legal. (added)"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn add_rule(&mut self, new: &NewRule) -> Result<Outcome<StandingRule>> {
        self.check_keeps_rules()?;
        let told = match self.standing() {
            Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
            Outcome::Done(told) => told,
        };
        let words = one_line(&self.options.mask_secrets(&new.text));
        let is_same = |(rule, subject): &(StandingRule, Subject)| {
            matches!(subject, Subject::Added { .. }) && rule.text == *words && rule.state == RuleState::InForce
        };
        let known = self.listed(&told).into_iter().find(is_same);
        if let Some((rule, _)) = known.filter(|(rule, _)| new.id.as_ref().is_none_or(|id| *id == rule.id)) {
            return Ok(Outcome::Done(rule));
        }
        let id = new.id.clone().unwrap_or_else(|| self.rule_book.fresh_id());
        if self.rule_book.added(&id).is_some() {
            let message = format!("an instruction with id {} was added before", quote(&id));
            return Err(Error::new(ErrorCode::DuplicateId, message).at("/id").hint("correctRule gives it other words"));
        }
        let after = self.events.items().last().map(|item| item.id.clone());
        let mut record = RuleRecord::new(Subject::Added { id: id.clone(), after });
        record.text = Some(new.text.clone());
        record.kind = new.kind;
        self.write_rule(record, &told)
    }

    /// Gives a standing instruction other words, another kind or another state. That stands until it is corrected again, whatever
    /// is said later. An instruction that was withdrawn so stays in the list.
    ///
    /// # Errors
    /// `NOT_FOUND` at `/id`, with the ids that are near or that there are; `QUOTA_EXCEEDED` and `UNSUPPORTED` as of
    /// [`ContextManager::add_rule`].
    pub fn correct_rule(&mut self, id: &str, correction: &RuleCorrection) -> Result<Outcome<StandingRule>> {
        self.change_rule(id, |record| {
            record.text = correction.text.clone().or(record.text.take());
            record.kind = correction.kind.or(record.kind);
            record.state = correction.state.or(record.state);
        })
    }

    /// Takes an instruction for none from now on: it leaves the list and all prompts, and what it had replaced is in force again.
    /// It does not come back where its turn is read again, nor where an earlier prompt is a history; a later turn that says the
    /// same is another one. Returns what was forgotten.
    ///
    /// # Errors
    /// Those of [`ContextManager::correct_rule`].
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Never push to main. Call me Jo."))?;
    /// manager.forget_rule("u1#1")?;
    /// let rules = manager.rules().done().unwrap();
    /// assert_eq!((rules.len(), rules[0].id.as_str()), (1, "u1#2"));
    /// let error = manager.forget_rule("u1#1").unwrap_err();
    /// assert_eq!((error.code().as_str(), error.path()), ("NOT_FOUND", "/id"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn forget_rule(&mut self, id: &str) -> Result<Outcome<StandingRule>> {
        self.change_rule(id, |record| record.is_forgotten = true)
    }

    fn change_rule(&mut self, id: &str, change: impl FnOnce(&mut RuleRecord)) -> Result<Outcome<StandingRule>> {
        self.check_keeps_rules()?;
        let told = match self.standing() {
            Outcome::Need(needs) => return Ok(Outcome::Need(needs)),
            Outcome::Done(told) => told,
        };
        let mut listed = self.listed(&told);
        let Some(place) = listed.iter().position(|(rule, _)| rule.id == id) else {
            return Err(self.no_rule(id, &listed));
        };
        let (before, subject) = listed.swap_remove(place);
        let known = self.rule_book.of(&subject).cloned();
        let mut record = known.unwrap_or_else(|| RuleRecord::new(subject));
        change(&mut record);
        if record.is_forgotten {
            self.put_rule(record)?;
            return Ok(Outcome::Done(before));
        }
        self.write_rule(record, &told)
    }

    /// Writes a record and returns the instruction as it is now.
    fn write_rule(&mut self, record: RuleRecord, told: &[bool]) -> Result<Outcome<StandingRule>> {
        let subject = record.subject.clone();
        self.put_rule(record)?;
        let now = self.listed(told).into_iter().find(|(_, own)| *own == subject);
        let (rule, _) = now.ok_or_else(|| Error::new(ErrorCode::Internal, "what was written is not there"))?;
        Ok(Outcome::Done(rule))
    }

    /// Writes a record. A running prompt says what held before, so the next one is written anew.
    fn put_rule(&mut self, record: RuleRecord) -> Result<()> {
        self.rule_book.put(record)?;
        self.answers.settle(self.events.len());
        self.running.break_off(CutReason::Edited);
        Ok(())
    }

    fn check_keeps_rules(&self) -> Result<()> {
        if self.options.standing_rules {
            return Ok(());
        }
        let error = Error::new(ErrorCode::Unsupported, "standing instructions are not kept");
        Err(error.hint("new ContextManager({ rules: true })"))
    }

    fn no_rule(&self, id: &str, listed: &[(StandingRule, Subject)]) -> Error {
        let error = Error::new(ErrorCode::NotFound, format!("no standing instruction with id {}", quote(id))).at("/id");
        if self.rule_book.added(id).is_some_and(|record| record.is_forgotten) {
            return error.hint("it was forgotten; addRule adds it under another id");
        }
        let ids: Vec<&str> = listed.iter().map(|(rule, _)| rule.id.as_str()).collect();
        let of_item =
            |known: &&&str| known.rsplit_once('#').is_some_and(|(item, _)| Some(item) == id.split('#').next());
        let near: Vec<&str> =
            nearest(id, ids.iter().copied()).into_iter().chain(ids.iter().filter(of_item).copied()).collect();
        match (near.as_slice(), ids.as_slice()) {
            (_, []) => error.hint("there are none: see rules()"),
            ([], ids) => error.hint(format!("there are: {}", first_of(ids))),
            (near, _) => error.hint(format!("did you mean: {}", first_of(near))),
        }
    }
}

fn first_of(ids: &[&str]) -> String {
    let more = if ids.len() > LISTED_IDS { " …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(LISTED_IDS)].join(" "))
}
