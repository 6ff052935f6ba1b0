//! What a hit must be like, whichever way it was found.

use serde_json::Value;

use crate::record::Decision;
use crate::timestamps::{DAY_MS, parse};
use contextweaver_base::limits::MAX_SEQUENCE;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::numbered::{Term, Terms};
use contextweaver_text::quote::quote;

/// Conditions; a hit fulfils all that are given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecisionFilters {
    /// The exact category.
    pub category: Option<String>,
    /// One of these stakes; an empty or missing list lets all pass, as with the other lists.
    pub stakes: Vec<String>,
    /// One of these statuses, `pending` or `reviewed`.
    pub status: Vec<String>,
    /// The exact project, `owner/repo`.
    pub project: Option<String>,
    /// The exact feature.
    pub feature: Option<String>,
    /// The exact number of the pull request.
    pub pr: Option<u64>,
    /// At least this confidence; a decision without confidence does not pass.
    pub min_confidence: Option<f64>,
    /// At most this confidence; a decision without confidence does not pass.
    pub max_confidence: Option<f64>,
    /// Whether its status is `reviewed`.
    pub has_outcome: Option<bool>,
    /// At least one of these tags.
    pub tags: Vec<String>,
    /// Decided on or after this date or timestamp.
    pub date_after: Option<String>,
    /// Decided on or before it; a date without a time includes its whole day.
    pub date_before: Option<String>,
    /// Recorded by this agent.
    pub agent: Option<String>,
}

/// What the conditions look at, with numbers in place of names.
#[derive(Debug, Clone, Default)]
pub(super) struct FilterKeys {
    category: u32,
    stakes: u32,
    status: u32,
    project: u32,
    feature: u32,
    agent: u32,
    pr: Option<u64>,
    confidence: Option<f64>,
    decided: Option<i64>,
    tags: Box<[u32]>,
}

impl FilterKeys {
    /// Reads the facts of a decision; names that are new get numbers.
    pub fn of(decision: &Decision, names: &mut Terms) -> Self {
        let mut number = |name: &str| names.intern(Term::Word(name));
        let mut optional = |name: &Option<String>| number(name.as_deref().unwrap_or_default());
        let (stakes, project) = (optional(&decision.stakes), optional(&decision.project));
        let (feature, agent) = (optional(&decision.feature), optional(&decision.recorded_by));
        Self {
            category: number(&decision.category),
            stakes,
            status: number(&decision.status),
            project,
            feature,
            agent,
            pr: decision.pr,
            confidence: decision.confidence,
            decided: parse(&decision.date).or_else(|| decision.created_ms()),
            tags: decision.tags.iter().map(|tag| number(tag)).collect(),
        }
    }
}

/// Conditions ready to be checked: of each, the names that pass.
#[derive(Debug, Clone, Default)]
pub(super) struct CompiledFilters {
    category: Option<Vec<u32>>,
    stakes: Option<Vec<u32>>,
    status: Option<Vec<u32>>,
    reviewed: Option<u32>,
    project: Option<Vec<u32>>,
    feature: Option<Vec<u32>>,
    agent: Option<Vec<u32>>,
    tags: Option<Vec<u32>>,
    pr: Option<u64>,
    confidence: Option<(f64, f64)>,
    decided: Option<(i64, i64)>,
}

/// The number of a name that no decision has.
const NOBODY: u32 = u32::MAX;

impl DecisionFilters {
    /// Reads the conditions of a call.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` or `UNKNOWN_FIELD`, with the path of the field.
    pub fn from_fields(mut fields: Fields) -> Result<Self> {
        let (least, most) = (f64::MIN, f64::MAX);
        let filters = Self {
            category: fields.opt_string("category")?,
            stakes: fields.strings("stakes")?,
            status: fields.strings("status")?,
            project: fields.opt_string("project")?,
            feature: fields.opt_string("feature")?,
            pr: fields.opt_uint("pr", MAX_SEQUENCE)?,
            min_confidence: fields.opt_number("min_confidence", least, most)?,
            max_confidence: fields.opt_number("max_confidence", least, most)?,
            has_outcome: fields.take("has_outcome").map(|value| value == Value::Bool(true)),
            tags: fields.strings("tags")?,
            date_after: fields.opt_string("date_after")?,
            date_before: fields.opt_string("date_before")?,
            agent: None,
        };
        fields.finish()?;
        Ok(filters)
    }

    /// Makes the conditions ready; a date that is none is an error.
    pub(super) fn ready(&self, names: &Terms) -> Result<CompiledFilters> {
        let number = |name: &str| names.get(Term::Word(name)).unwrap_or(NOBODY);
        let one = |name: &Option<String>| name.as_deref().map(|name| vec![number(name)]);
        let any = |list: &[String]| {
            let numbers = || list.iter().map(|name| number(name)).collect::<Vec<u32>>();
            (!list.is_empty()).then(numbers)
        };
        let confidence = match (self.min_confidence, self.max_confidence) {
            (None, None) => None,
            (least, most) => Some((least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY))),
        };
        Ok(CompiledFilters {
            category: one(&self.category),
            stakes: any(&self.stakes),
            status: any(&self.status),
            reviewed: self.has_outcome.map(|reviewed| number(if reviewed { "reviewed" } else { "pending" })),
            project: one(&self.project),
            feature: one(&self.feature),
            agent: one(&self.agent),
            tags: any(&self.tags),
            pr: self.pr,
            confidence,
            decided: self.period()?,
        })
    }

    /// Tells whether a decision fulfils the conditions.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` where one of the dates cannot be read.
    pub fn matches(&self, decision: &Decision) -> Result<bool> {
        let mut names = Terms::default();
        let facts = FilterKeys::of(decision, &mut names);
        Ok(self.ready(&names)?.passes(&facts))
    }

    fn period(&self) -> Result<Option<(i64, i64)>> {
        let read = |field: &str, text: Option<&str>| {
            let moment = |text: &str| {
                parse(text).ok_or_else(|| {
                    let message = format!("expected a date or a timestamp, got {}", quote(text));
                    Error::new(ErrorCode::InvalidInput, message).at(format!("/filters/{field}"))
                })
            };
            text.map(moment).transpose()
        };
        let before = self.date_before.as_deref();
        let (start, end) = (read("date_after", self.date_after.as_deref())?, read("date_before", before)?);
        if start.is_none() && end.is_none() {
            return Ok(None);
        }
        let is_day = before.is_some_and(|text| !text.contains([':', 'T', 't', ' ']));
        let end = end.map_or(i64::MAX, |end| if is_day { end + DAY_MS - 1 } else { end });
        Ok(Some((start.unwrap_or(i64::MIN), end)))
    }
}

impl CompiledFilters {
    /// Tells whether a decision fulfils the conditions.
    pub fn passes(&self, facts: &FilterKeys) -> bool {
        let named = |wanted: &Option<Vec<u32>>, name: u32| wanted.as_ref().is_none_or(|wanted| wanted.contains(&name));
        named(&self.category, facts.category)
            && named(&self.stakes, facts.stakes)
            && named(&self.status, facts.status)
            && self.reviewed.is_none_or(|status| facts.status == status)
            && named(&self.project, facts.project)
            && named(&self.feature, facts.feature)
            && named(&self.agent, facts.agent)
            && self.tags.as_ref().is_none_or(|tags| facts.tags.iter().any(|tag| tags.contains(tag)))
            && self.pr.is_none_or(|number| facts.pr == Some(number))
            && self.confidence.is_none_or(|(least, most)| within(facts.confidence, least, most))
            && self.decided.is_none_or(|(start, end)| facts.decided.is_some_and(|at| (start..=end).contains(&at)))
    }
}

fn within(value: Option<f64>, least: f64, most: f64) -> bool {
    value.is_some_and(|value| least <= value && value <= most)
}
