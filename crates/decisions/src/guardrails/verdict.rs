//! What rules say of an action.

use serde_json::{Map, Value, json};

use super::cel::EvaluationError;
use super::cel::is_equal as same_value;
use super::rule::{
    ComparisonOperator, FieldTest, Guardrail, GuardrailAction, GuardrailCondition, GuardrailRequirement, comparison,
    shown,
};
use crate::terms::truncate_masked;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{StepBudget, limits};
use contextweaver_model::json::JsonMap;
use contextweaver_model::json::python::{float, is_equal, is_truthy};

/// Most characters of a value that a failed requirement quotes.
const MAX_QUOTED: usize = 500;
/// Characters of a message with its values filled in.
const MAX_MESSAGE: usize = 8192;

/// Fields of the action that expressions name, beside `context`.
const NAMED: &[&str] = &[
    "description",
    "stakes",
    "confidence",
    "category",
    "tags",
    "reason_count",
    "pattern",
    "quality_score",
    "has_pattern",
    "has_tags",
    "phase",
    "deliberation_inputs_count",
    "has_deliberation",
    "has_reasoning",
    "scope",
    "project",
];

/// Tells whether expressions name a field of the action so, and not as one of its context.
pub(super) fn is_named(field: &str) -> bool {
    NAMED.contains(&field)
}

contextweaver_model::string_enum! {
    /// What happens when a guardrail cannot be evaluated.
    #[derive(Default)]
    OnRuleError, "on_rule_error" {
        /// The error is listed among the warnings.
        #[default]
        Warn = "warn",
        /// A guardrail with the action `block` blocks.
        Block = "block",
        /// The guardrail counts as passed.
        Ignore = "ignore",
    }
}

/// A guardrail or breaker that applies to an action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuardrailFinding {
    /// Id of the guardrail.
    pub id: String,
    /// Its description, or its id where it has none.
    pub name: String,
    /// Its message, with values of the action filled in.
    pub message: String,
    /// `block`, `warn` or `log`.
    pub severity: &'static str,
    /// More fields: `type`, and what circuit breakers add.
    pub more: Map<String, Value>,
}

impl GuardrailFinding {
    /// Writes the finding with the keys of `pre_action`.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "guardrailId": self.id, "name": self.name, "message": self.message, "severity": self.severity,
        });
        if let Some(out) = out.as_object_mut() {
            out.extend(self.more.clone());
        }
        out
    }
}

/// Outcome of checking an action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuardrailVerdict {
    /// Whether nothing blocks the action.
    pub allowed: bool,
    /// Findings that block it.
    pub violations: Vec<GuardrailFinding>,
    /// Findings that do not block it.
    pub warnings: Vec<GuardrailFinding>,
    /// Number of guardrails that were evaluated.
    pub evaluated: usize,
}

/// Evaluates rules, in their order.
pub(super) fn evaluate(rules: &[Guardrail], context: &JsonMap, on_error: OnRuleError) -> GuardrailVerdict {
    let mut verdict = GuardrailVerdict { allowed: true, evaluated: rules.len(), ..GuardrailVerdict::default() };
    let budget = StepBudget::new("checking the rules", limits::MAX_SEARCH_STEPS);
    let mut subject = RuleContext { context, action: action_of(context), budget, shown: SortedMap::new() };
    for rule in rules {
        match subject.judge(rule) {
            Ok(None) => {}
            Ok(Some(message)) => {
                let severity = rule.action.as_str();
                verdict.add(GuardrailFinding { severity, ..finding(rule, message) });
            }
            Err(problem) => verdict.add_error(rule, &problem, on_error),
        }
    }
    verdict
}

fn finding(rule: &Guardrail, message: String) -> GuardrailFinding {
    GuardrailFinding { id: rule.id.clone(), name: rule.name().to_owned(), message, ..GuardrailFinding::default() }
}

impl GuardrailVerdict {
    /// Returns all findings, those that block first.
    pub fn findings(&self) -> impl Iterator<Item = &GuardrailFinding> {
        self.violations.iter().chain(&self.warnings)
    }

    /// Adds a finding where its severity puts it.
    pub fn add(&mut self, finding: GuardrailFinding) {
        if finding.severity == GuardrailAction::Block.as_str() {
            self.allowed = false;
            self.violations.push(finding);
        } else {
            self.warnings.push(finding);
        }
    }

    fn add_error(&mut self, rule: &Guardrail, problem: &str, on_error: OnRuleError) {
        if on_error == OnRuleError::Ignore {
            return;
        }
        let blocks = on_error == OnRuleError::Block && rule.action == GuardrailAction::Block;
        let mut finding = finding(rule, format!("Guardrail {} could not be evaluated: {problem}", rule.id));
        finding.severity = if blocks { GuardrailAction::Block } else { GuardrailAction::Warn }.as_str();
        finding.more.insert("type".to_owned(), "rule_error".into());
        self.add(finding);
    }
}

/// Makes the value that expressions call `action`.
fn action_of(context: &JsonMap) -> Value {
    let mut action = json!({
        "description": "", "stakes": "medium", "category": "", "tags": [], "reason_count": 0, "pattern": "",
        "quality_score": 0,
    });
    let mut others = JsonMap::new();
    if let Some(action) = action.as_object_mut() {
        for (key, value) in context {
            if !is_named(key) {
                others.insert(key.clone(), value.clone());
            } else if !value.is_null() {
                action.insert(key.clone(), value.clone());
            }
        }
        // Never taken from the caller's word for it.
        let has = |action: &JsonMap, key: &str| action.get(key).is_some_and(is_truthy).into();
        let (has_pattern, has_tags) = (has(action, "pattern"), has(action, "tags"));
        action.insert("has_pattern".to_owned(), has_pattern);
        action.insert("has_tags".to_owned(), has_tags);
        action.insert("context".to_owned(), Value::Object(others));
    }
    action
}

struct RuleContext<'c> {
    context: &'c JsonMap,
    action: Value,
    /// Of all expressions together: there may be a thousand, and each may be a search of a long text.
    budget: StepBudget,
    /// Values as messages show them, by field; a message may name one hundreds of times.
    shown: SortedMap<String, String>,
}

impl RuleContext<'_> {
    /// Returns the message of a rule that is broken; why, when it cannot be told.
    fn judge(&mut self, rule: &Guardrail) -> Result<Option<String>, String> {
        if !self.in_scope(&rule.scope) {
            return Ok(None);
        }
        for condition in &rule.conditions {
            if !self.meets(condition)? {
                return Ok(None);
            }
        }
        let failed: Vec<String> = rule.requirements.iter().filter_map(|needed| self.lacks(needed)).collect();
        if failed.is_empty() && !rule.requirements.is_empty() {
            return Ok(None);
        }
        Ok(Some(match (&rule.message, failed.is_empty()) {
            (Some(message), _) => self.fill(message),
            (None, false) => truncate_masked(&format!("{}: {}", rule.id, failed.join("; ")), MAX_MESSAGE).into_owned(),
            (None, true) => format!("Guardrail {} triggered", rule.id),
        }))
    }

    /// A rule for some projects does not speak of others; an action of no project keeps all rules.
    fn in_scope(&self, scope: &[String]) -> bool {
        let named = |key: &str| self.context.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
        let project = named("project").or_else(|| named("scope"));
        scope.is_empty() || project.is_none_or(|project| scope.iter().any(|entry| entry == project))
    }

    fn meets(&mut self, condition: &GuardrailCondition) -> Result<bool, String> {
        match condition {
            GuardrailCondition::Expression(expression, _) => match expression.holds(&self.action, &mut self.budget) {
                Ok(holds) => Ok(holds),
                Err(EvaluationError::Missing) => Ok(false),
                Err(EvaluationError::Wrong(problem)) => Err(problem),
            },
            GuardrailCondition::Field(test) => match self.field(test).filter(|value| !value.is_null()) {
                None => Ok(false),
                Some(value) => compare(test, value),
            },
        }
    }

    fn field(&self, test: &FieldTest) -> Option<&Value> {
        if test.defaults && is_named(&test.field) {
            return self.action.get(&test.field);
        }
        self.said(&test.field)
    }

    /// Returns a field as it was given. Whether there are tags or a pattern is nothing that a caller says.
    fn said(&self, field: &str) -> Option<&Value> {
        if matches!(field, "has_tags" | "has_pattern") { self.action.get(field) } else { self.context.get(field) }
    }

    /// Says how a requirement is not met.
    fn lacks(&self, needed: &GuardrailRequirement) -> Option<String> {
        let field = &needed.field;
        let Some(value) = self.said(field).filter(|value| !value.is_null()) else {
            return Some(format!("Missing: {field}"));
        };
        let written = needed.expected.as_str().and_then(comparison);
        let met = match (&needed.expected, written) {
            (Value::Bool(expected), _) => is_truthy(value) == *expected,
            (_, Some((operator, operand))) => {
                let test = FieldTest { field: field.clone(), operator, operand, written: true, defaults: false };
                compare(&test, value).unwrap_or(false)
            }
            (expected, None) => is_equal(expected, value),
        };
        let shown = |value: &Value| truncate_masked(&shown(value), MAX_QUOTED).into_owned();
        (!met).then(|| format!("{field}: expected {}, got {}", shown(&needed.expected), shown(value)))
    }

    /// Returns a field of the action as messages show it.
    fn shown(&mut self, field: &str) -> Option<&str> {
        if !self.shown.contains_key(field) {
            let value = truncate_masked(&shown(self.context.get(field)?), MAX_MESSAGE).into_owned();
            self.shown.insert(field.to_owned(), value);
        }
        self.shown.get(field).map(String::as_str)
    }

    /// Fills values into a message, once: what a value brings along stands for itself.
    fn fill(&mut self, message: &str) -> String {
        let mut out = String::new();
        let mut rest = message;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            let inner = &rest[open + 1..];
            let close = inner.find(['{', '}']).filter(|at| inner.as_bytes()[*at] == b'}');
            if let Some((close, value)) = close.and_then(|close| Some((close, self.shown(&inner[..close])?))) {
                out.push_str(value);
                rest = &inner[close + 1..];
            } else {
                out.push('{');
                rest = inner;
            }
            if out.len() > MAX_MESSAGE {
                break;
            }
        }
        out.push_str(rest);
        truncate_masked(&out, MAX_MESSAGE).into_owned()
    }
}

/// Compares a value. Values and operands with a written operator count as numbers where they read as such.
fn compare(test: &FieldTest, value: &Value) -> Result<bool, String> {
    let numbers = || Some((float(value)?, float(&test.operand)?));
    if matches!(test.operator, ComparisonOperator::Equal | ComparisonOperator::Unequal) {
        let equal = match numbers().filter(|_| test.written) {
            Some((left, right)) => left.partial_cmp(&right).is_some_and(std::cmp::Ordering::is_eq),
            None if test.defaults => same_value(value, &test.operand),
            None => is_equal(value, &test.operand),
        };
        return Ok(equal == (test.operator == ComparisonOperator::Equal));
    }
    let (left, right) = numbers().ok_or_else(|| {
        let (left, right) =
            (contextweaver_model::json::type_name(value), contextweaver_model::json::type_name(&test.operand));
        format!("{}: {left} and {right} do not compare as numbers", test.field)
    })?;
    Ok(match test.operator {
        ComparisonOperator::Less => left < right,
        ComparisonOperator::LessOrEqual => left <= right,
        ComparisonOperator::Greater => left > right,
        _ => left >= right,
    })
}
