//! What the caller says of standing instructions: those it adds, and what becomes of those that were found.
//!
//! A statement that was found is known by its item and its words, not by its place among others: what is found before it may
//! change. A record that was made is never removed, so that what was forgotten is recognised when it comes back.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::find::StatementKind;
use super::rule::RuleState;
use super::{CERTAIN, MOST_CHARS, Said, has_words};
use contextweaver_base::{Error, ErrorCode, Result, limits};
use contextweaver_model::json::Fields;

/// What the caller says of one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleRecord {
    pub subject: Subject,
    /// Other words than those that were found; of what was added, its words.
    pub text: Option<String>,
    pub kind: Option<StatementKind>,
    pub state: Option<RuleState>,
    /// Set where the caller forgot it: it is no statement any more.
    pub is_forgotten: bool,
    /// The change of the book that made it what it is.
    changed: u64,
}

/// Which statement a record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// One that the caller added, behind an item of the log; behind none where the log was empty.
    Added { id: String, after: Option<String> },
    /// One that was found in an item, by its words.
    Found { item_id: String, said: String },
}

impl RuleRecord {
    /// Makes a record that says nothing yet.
    pub fn new(subject: Subject) -> Self {
        Self { subject, text: None, kind: None, state: None, is_forgotten: false, changed: 0 }
    }

    /// Tells whether it is about what the caller added.
    pub fn is_added(&self) -> bool {
        matches!(self.subject, Subject::Added { .. })
    }

    /// Returns the texts by which the statement is recognised: as it was found, and as it is now.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let found = match &self.subject {
            Subject::Added { .. } => None,
            Subject::Found { said, .. } => Some(said.as_str()),
        };
        found.into_iter().chain(self.text.as_deref())
    }

    /// Returns the statement as the record has it; `found` is what it is about.
    pub fn applied(&self, found: Option<&Said>, mask: impl Fn(&str) -> String) -> Option<Said> {
        let mut said = match (&self.text, found) {
            (Some(text), found) => Said::of_caller(&mask(text), found.map(|found| found.statement.kind)),
            (None, Some(found)) => found.clone(),
            (None, None) => return None,
        };
        said.statement.kind = self.kind.unwrap_or(said.statement.kind);
        said.statement.weight = said.statement.weight.max(CERTAIN);
        if let Some(state) = self.state {
            said.statement.is_once = state == RuleState::Once;
        }
        Some(said)
    }

    fn from_value(value: Value, at: &str) -> Result<Self> {
        let mut fields = Fields::open(value, at)?;
        let subject = match fields.opt_string("item_id")? {
            Some(item_id) => Subject::Found { item_id, said: fields.string("said")? },
            None => Subject::Added { id: fields.string("id")?, after: fields.opt_string("after")? },
        };
        let mut record = Self::new(subject);
        record.text = fields.opt_string("text")?;
        record.kind = fields.parsed_or("kind", None, |text| StatementKind::parse(text).map(Some))?;
        record.state = fields.parsed_or("state", None, |text| RuleState::parse(text).map(Some))?;
        record.is_forgotten = fields.bool_or("forgotten", false)?;
        Ok(record)
    }
}

impl Serialize for RuleRecord {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let (id, after, item_id, said) = match &self.subject {
            Subject::Added { id, after } => (Some(id), after.as_ref(), None, None),
            Subject::Found { item_id, said } => (None, None, Some(item_id), Some(said)),
        };
        let named = [("id", id), ("after", after), ("item_id", item_id), ("said", said), ("text", self.text.as_ref())];
        let strings = named.into_iter().filter_map(|(name, text)| Some((name, Value::from(text?.as_str()))));
        let kind = self.kind.map(|kind| ("kind", kind.as_str().into()));
        let state = self.state.map(|state| ("state", state.as_str().into()));
        let forgotten = self.is_forgotten.then_some(("forgotten", true.into()));
        s.collect_map(strings.chain(kind).chain(state).chain(forgotten))
    }
}

/// What the caller says of all of them, in the order in which it was said first.
#[derive(Debug, Clone, Default)]
pub struct RuleBook {
    records: Vec<RuleRecord>,
    changes: u64,
}

impl RuleBook {
    /// Returns all records.
    pub fn records(&self) -> &[RuleRecord] {
        &self.records
    }

    /// Tells whether anything holds in words of the caller.
    pub fn has_words(&self) -> bool {
        let holds = |state: Option<RuleState>| state.is_none_or(|state| state == RuleState::InForce);
        self.records.iter().any(|record| record.text.is_some() && !record.is_forgotten && holds(record.state))
    }

    /// Returns the record about a statement.
    pub fn of(&self, subject: &Subject) -> Option<&RuleRecord> {
        self.records.iter().find(|record| is_about(record, subject))
    }

    /// Returns what the caller added under an id, forgotten or not.
    pub fn added(&self, id: &str) -> Option<&RuleRecord> {
        self.records.iter().find(|record| matches!(&record.subject, Subject::Added { id: own, .. } if own == id))
    }

    /// Returns an id that no record has.
    pub fn fresh_id(&self) -> String {
        let numbers = self.records.iter().filter_map(|record| match &record.subject {
            Subject::Added { id, .. } => id.strip_prefix("rule:")?.parse::<u64>().ok(),
            Subject::Found { .. } => None,
        });
        let next = numbers.filter(|number| *number < limits::MAX_SEQUENCE).max().map_or(0, |last| last + 1);
        format!("rule:{next}")
    }

    /// Writes a record in place of the one about the same statement.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` where there are as many as the limit.
    pub fn put(&mut self, mut record: RuleRecord) -> Result<()> {
        let place = self.records.iter().position(|known| is_about(known, &record.subject));
        if place.is_none() && self.records.len() >= limits::MAX_RULES {
            let message =
                format!("{} standing instructions were added, corrected or forgotten, the limit", limits::MAX_RULES);
            return Err(Error::new(ErrorCode::QuotaExceeded, message));
        }
        self.changes += 1;
        record.changed = self.changes;
        match place {
            Some(place) => self.records[place] = record,
            None => self.records.push(record),
        }
        Ok(())
    }

    /// Removes what was said of the statements of an item, as their words go with it.
    pub fn erase(&mut self, id: &str) {
        let before = self.records.len();
        self.records.retain(|record| !matches!(&record.subject, Subject::Found { item_id, .. } if item_id == id));
        self.changes += u64::from(self.records.len() < before);
    }

    /// Returns how often it was changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.records.iter_mut().for_each(|record| record.changed = 0);
    }

    /// Returns the records that were written after a change; all after none.
    pub fn changed_since(&self, change: Option<u64>) -> impl Iterator<Item = &RuleRecord> {
        self.records.iter().filter(move |record| change.is_none_or(|change| record.changed > change))
    }

    /// Takes a record as [`RuleBook::changed_since`] told it.
    ///
    /// # Errors
    /// `MISSING_FIELD`, `INVALID_INPUT` and `QUOTA_EXCEEDED`, at paths below `at`.
    pub fn put_record(&mut self, value: Value, at: &str) -> Result<()> {
        self.put(RuleRecord::from_value(value, at)?).map_err(|error| error.at(at))
    }

    /// Reads the snapshot form.
    ///
    /// # Errors
    /// Those of [`RuleBook::put_record`].
    pub fn from_fields(fields: &mut Fields) -> Result<Self> {
        let mut book = Self::default();
        let at = fields.at("rules");
        for (index, record) in fields.list("rules")?.into_iter().enumerate() {
            book.put_record(record, &format!("{at}/{index}"))?;
        }
        Ok(book)
    }
}

impl Serialize for RuleBook {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        self.records.serialize(s)
    }
}

fn is_about(record: &RuleRecord, subject: &Subject) -> bool {
    match (&record.subject, subject) {
        (Subject::Added { id, .. }, Subject::Added { id: other, .. }) => id == other,
        (own, other) => own == other,
    }
}

/// Checks words that the caller gives for a statement.
///
/// # Errors
/// `OUT_OF_RANGE` at `/text` for none, or for more than a prompt repeats.
pub fn check_text(text: &str) -> Result<()> {
    let chars = text.chars().count();
    if has_words(text) && chars <= MOST_CHARS {
        return Ok(());
    }
    let message = format!("expected words, at most {MOST_CHARS} characters, got {chars}");
    let hint = "one statement, as it is to stand in prompts; add several one by one";
    Err(Error::new(ErrorCode::OutOfRange, message).at("/text").hint(hint))
}
