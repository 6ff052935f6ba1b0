//! Rules that actions must keep, checked before something is done and when it is recorded.
//!
//! Whether a rule is well formed is decided when it is added; what then still can go wrong while it is evaluated is
//! decided by the store's policy, never silently.

pub mod breakers;
mod cel;
mod check;
pub mod rule;
mod verdict;

pub(crate) use self::check::check_record;
pub use self::check::{ActionToCheck, CheckedAction};
pub use self::verdict::{GuardrailFinding, GuardrailVerdict, OnRuleError};

use serde::Serialize;
use serde_json::{Value, json};

use self::rule::Guardrail;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, type_name};
use contextweaver_text::quote::quote;

/// Most guardrails of one store.
const MAX_RULES: usize = 1000;
/// Most checks that are kept until the host takes them; the oldest go.
const MAX_CHECKS: usize = 1000;

/// The guardrails of a store, in the order they were added.
#[derive(Debug, Default)]
pub struct GuardrailSet {
    rules: Vec<Guardrail>,
    /// What was checked since the host last asked.
    checks: Vec<Value>,
}

/// Outcome of adding guardrails. Where one is rejected, none is added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AddedGuardrails {
    /// Number of guardrails that were added.
    pub added: usize,
    /// Ids that were there already; the first rule with an id stays.
    pub duplicates: Vec<String>,
    /// Guardrails that are malformed.
    pub errors: Vec<RejectedGuardrail>,
}

/// A guardrail that is malformed.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedGuardrail {
    /// JSON pointer into what was added.
    pub path: String,
    /// The id of the rule, if it has one.
    pub id: Option<String>,
    /// What was expected.
    pub message: String,
    /// Byte offset in the expression, where the expression is at fault.
    pub position: Option<usize>,
}

impl GuardrailSet {
    /// Adds rules: a list, one rule, or `{guardrails: […]}`.
    pub fn add(&mut self, value: &Value) -> AddedGuardrails {
        let (list, path) = match value {
            Value::Array(list) => (list.as_slice(), String::new()),
            Value::Object(map) if map.contains_key("guardrails") => match &map["guardrails"] {
                Value::Array(list) => (list.as_slice(), "/guardrails".to_owned()),
                other => {
                    return AddedGuardrails::refuse(
                        "/guardrails",
                        format!("expected a list, got {}", type_name(other)),
                    );
                }
            },
            one => (std::slice::from_ref(one), String::new()),
        };
        let mut report = AddedGuardrails::default();
        let mut rules: Vec<Guardrail> = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let path = if value.is_array() || !path.is_empty() { format!("{path}/{index}") } else { String::new() };
            match Guardrail::read(entry, &path) {
                Ok(rule) if self.rules.iter().chain(&rules).any(|known| known.id == rule.id) => {
                    report.duplicates.push(rule.id);
                }
                Ok(rule) => rules.push(rule),
                Err(fault) => {
                    let id = entry.get("id").and_then(Value::as_str).map(str::to_owned);
                    let rule::GuardrailError { path, message, position } = fault;
                    report.errors.push(RejectedGuardrail { path, id, message, position });
                }
            }
        }
        if self.rules.len() + rules.len() > MAX_RULES {
            return AddedGuardrails::refuse("", format!("a store has at most {MAX_RULES} rules"));
        }
        if report.errors.is_empty() {
            report.added = rules.len();
            self.rules.extend(rules);
        }
        report
    }

    /// Adds rules of which none may be bad; `path` is their place in the caller's input.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for the first that is malformed, with its path and `position` among the details.
    pub fn add_all(&mut self, value: &Value, path: &str) -> Result<()> {
        match self.add(value).errors.into_iter().next() {
            None => Ok(()),
            Some(refused) => {
                let mut error =
                    Error::new(ErrorCode::InvalidInput, refused.message).at(path.to_owned() + &refused.path);
                if let Some(position) = refused.position {
                    error = error.detail("position", position);
                }
                Err(error)
            }
        }
    }

    /// Adds the rules of a preset; there is `cornerstone`.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for any other name.
    pub fn add_preset(&mut self, name: &str) -> Result<()> {
        if name != "cornerstone" {
            let message = format!("there is no preset {}", quote(name));
            return Err(Error::new(ErrorCode::InvalidInput, message).hint("the preset is called `cornerstone`"));
        }
        self.add_all(&cornerstone(), "")
    }

    /// Removes all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Removes a rule; tells whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.id != id);
        self.rules.len() < before
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Tells whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules as they were written, for a snapshot.
    pub fn sources(&self) -> Vec<Value> {
        self.rules.iter().map(|rule| Value::Object(rule.source.clone())).collect()
    }

    /// Returns id, description, action, scope, conditions and requirements of each guardrail.
    pub fn active(&self) -> Vec<Value> {
        self.rules.iter().map(Guardrail::describe).collect()
    }

    /// Evaluates the rules, in their order, on what is known of an action.
    pub fn evaluate(&self, context: &JsonMap, on_error: OnRuleError) -> GuardrailVerdict {
        verdict::evaluate(&self.rules, context, on_error)
    }

    /// Returns the ids of the rules that require a field of some kind.
    fn requiring(&self, is_field: impl Fn(&str) -> bool) -> Vec<String> {
        let requires = |rule: &&Guardrail| rule.requirements.iter().any(|needed| is_field(&needed.field));
        self.rules.iter().filter(requires).map(|rule| rule.id.clone()).collect()
    }

    /// Notes a check for the host.
    fn note(&mut self, event: Value) {
        if self.checks.len() == MAX_CHECKS {
            self.checks.remove(0);
        }
        self.checks.push(event);
    }

    /// Hands out what was checked since the last time: `{timestamp, agent, action, allowed, violations, evaluated}` each.
    pub fn take_checks(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.checks)
    }
}

impl AddedGuardrails {
    fn refuse(path: &str, message: String) -> Self {
        let refused = RejectedGuardrail { path: path.to_owned(), id: None, message, position: None };
        Self { errors: vec![refused], ..Self::default() }
    }
}

/// Returns the guardrails of the preset `cornerstone`.
fn cornerstone() -> Value {
    let review = |category: &str| {
        json!({
            "id": format!("require-code-review-{category}"),
            "description": format!("Changes of {category} are reviewed"),
            "condition_category": category,
            "requires_code_review": true,
            "action": "block",
        })
    };
    json!([
        {
            "id": "no-high-stakes-low-confidence",
            "description": "High stakes need confidence",
            "condition_stakes": "high",
            "condition_confidence": "< 0.5",
            "action": "block",
            "message": "Stakes are high and confidence is only {confidence}",
        },
        review("tooling"),
        review("integration"),
        review("security"),
        {
            "id": "require-architecture-review",
            "description": "Architecture is reviewed",
            "condition_category": "architecture",
            "requires_architecture_review": true,
            "action": "block",
        },
        {
            "id": "require-deliberation",
            "description": "Decisions are deliberated",
            "condition": { "phase": "record", "has_deliberation": false },
            "action": "block",
            "message": "Nothing was looked at or thought before this decision",
        },
        {
            "id": "recommend-reasoning",
            "description": "Deliberation includes reasoning",
            "condition": { "phase": "record", "has_deliberation": true, "has_reasoning": false },
            "action": "warn",
            "message": "The deliberation has inputs but no thought about them",
        },
        {
            "id": "low-quality-recording",
            "description": "Records say enough to learn from",
            "condition": { "phase": "record", "quality_score": "< 0.5" },
            "action": "block",
            "message": "The quality of this record is {quality_score}, below 0.5",
        },
    ])
}

#[cfg(test)]
mod tests;
