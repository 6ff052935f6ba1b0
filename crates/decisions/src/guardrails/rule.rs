//! Guardrail rules, and how they are read from JSON.

use serde_json::{Value, json};

use super::cel::{Expression, ExpressionError};
use contextweaver_model::json::{JsonMap, number_text, parse_float, pointer, type_name};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Fields of a rule besides `condition_…` and `requires_…`.
const FIELDS: &[&str] = &["id", "description", "scope", "action", "message", "condition", "requires", "template"];
/// Suffixes of fields in a `condition` object, each with its comparison: `reason_count_lt` compares by `<`.
const SUFFIXES: &[(&str, ComparisonOperator)] = &[
    ("_lte", ComparisonOperator::LessOrEqual),
    ("_gte", ComparisonOperator::GreaterOrEqual),
    ("_lt", ComparisonOperator::Less),
    ("_gt", ComparisonOperator::Greater),
];
/// Signs before an operand. Longer ones come first, so that `<=` is not read as `<`.
const SIGNS: &[(&str, ComparisonOperator)] = &[
    ("<=", ComparisonOperator::LessOrEqual),
    (">=", ComparisonOperator::GreaterOrEqual),
    ("==", ComparisonOperator::Equal),
    ("!=", ComparisonOperator::Unequal),
    ("<", ComparisonOperator::Less),
    (">", ComparisonOperator::Greater),
    ("=", ComparisonOperator::Equal),
];

/// How a field of the action is compared with an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonOperator {
    /// `==` or `=`; also the comparison of an operand without a sign.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl ComparisonOperator {
    /// Returns the name in lists of active rules, such as `lte`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::Unequal => "ne",
            Self::Less => "lt",
            Self::LessOrEqual => "lte",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "gte",
        }
    }
}

/// What a rule does to an action that violates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardrailAction {
    /// The action is refused.
    Block,
    /// The action is allowed with a warning.
    Warn,
    /// The action is allowed; the warning is for the record.
    Log,
}

impl GuardrailAction {
    /// Returns the name in guardrails, such as `block`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Log => "log",
        }
    }
}

/// A comparison of one field of the action.
#[derive(Debug, Clone)]
pub struct FieldTest {
    /// Name of the field of the action.
    pub field: String,
    /// The comparison.
    pub operator: ComparisonOperator,
    /// The value that the field is compared with.
    pub operand: Value,
    /// Whether the rule writes an operator, as a sign or a suffix. Then texts that read as numbers compare as numbers.
    pub written: bool,
    /// Whether an absent field gets the same default as in expressions.
    pub defaults: bool,
}

/// One of the conditions that an action must meet for a rule to apply to it.
#[derive(Debug, Clone)]
pub enum GuardrailCondition {
    /// A comparison with one field.
    Field(FieldTest),
    /// An expression, with its source for descriptions.
    Expression(Expression, String),
}

/// A field that an action must have. An action without it, or with another value, violates the rule.
#[derive(Debug, Clone)]
pub struct GuardrailRequirement {
    /// Name of the field of the action.
    pub field: String,
    /// The value that the field must have, or a comparison that it must meet, such as `>= 0.5`. `true` accepts any
    /// truthy value, `false` any falsy one.
    pub expected: Value,
}

/// A rule for actions. If all its conditions hold for an action, the action must meet all its requirements.
#[derive(Debug, Clone)]
pub struct Guardrail {
    /// Id of the rule, unique in a store.
    pub id: String,
    /// What the rule is for, as findings show it; may be empty.
    pub description: String,
    /// The projects that the rule is for; if empty, all projects.
    pub scope: Vec<String>,
    /// What a violation leads to.
    pub action: GuardrailAction,
    /// The message of a violation; `{field}` stands for that field of the action.
    pub message: Option<String>,
    /// The rule applies to an action if all of these hold.
    pub conditions: Vec<GuardrailCondition>,
    /// What an action must meet. If empty, every action that the rule applies to violates it.
    pub requirements: Vec<GuardrailRequirement>,
    /// The JSON it was read from, for snapshots.
    pub source: JsonMap,
}

/// Why a guardrail cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardrailError {
    /// JSON pointer to the faulty value in the rules that were added.
    pub path: String,
    /// What was expected, or what is wrong.
    pub message: String,
    /// Byte offset of the fault in an expression; `None` if no expression is at fault.
    pub position: Option<usize>,
}

impl GuardrailError {
    fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into(), position: None }
    }
}

type ReadGuardrail<T> = Result<T, GuardrailError>;

impl Guardrail {
    /// Reads a rule. `path` is the JSON pointer to it, for errors.
    ///
    /// # Errors
    ///
    /// The place of the first value that is malformed, and what was expected there.
    pub fn read(value: &Value, path: &str) -> ReadGuardrail<Self> {
        let Value::Object(source) = value else {
            return Err(GuardrailError::new(path, format!("expected an object, got {}", type_name(value))));
        };
        let known = |key: &str| FIELDS.contains(&key) || named(key, "condition_") || named(key, "requires_");
        if let Some(key) = source.keys().find(|key| !known(key)) {
            return Err(GuardrailError::new(&pointer(path, key), format!("unknown field {}", quote(key))));
        }
        let id = text(source, "id", path)?.filter(|id| !trim(id).is_empty());
        let id = id.ok_or_else(|| GuardrailError::new(&pointer(path, "id"), "a rule needs an id"))?;
        Ok(Self {
            id,
            description: text(source, "description", path)?.unwrap_or_default(),
            scope: scope(source, path)?,
            action: action(source, path)?,
            message: text(source, "message", path)?,
            conditions: conditions(source, path)?,
            requirements: requirements(source, path)?,
            source: source.clone(),
        })
    }

    /// Returns the description, or the id where there is none.
    pub fn name(&self) -> &str {
        if self.description.is_empty() { &self.id } else { &self.description }
    }

    /// Describes the rule for the list of active rules.
    pub fn describe(&self) -> Value {
        let conditions = self.conditions.iter().map(|condition| match condition {
            GuardrailCondition::Field(test) => {
                json!({ "field": test.field, "operator": test.operator.name(), "value": test.operand })
            }
            GuardrailCondition::Expression(_, source) => json!({ "field": "cel", "operator": "cel", "value": source }),
        });
        let requirements =
            self.requirements.iter().map(|needed| json!({ "field": needed.field, "expected": needed.expected }));
        json!({
            "id": self.id,
            "description": self.description,
            "action": self.action.as_str(),
            "scope": self.scope,
            "conditions": conditions.collect::<Vec<_>>(),
            "requirements": requirements.collect::<Vec<_>>(),
        })
    }
}

fn named(key: &str, start: &str) -> bool {
    key.strip_prefix(start).is_some_and(|field| !field.is_empty())
}

fn text(source: &JsonMap, key: &str, path: &str) -> ReadGuardrail<Option<String>> {
    match source.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => {
            Err(GuardrailError::new(&pointer(path, key), format!("expected a string, got {}", type_name(other))))
        }
    }
}

fn scope(source: &JsonMap, path: &str) -> ReadGuardrail<Vec<String>> {
    let wrong = || GuardrailError::new(&pointer(path, "scope"), "expected a project or a list of projects");
    match source.get("scope") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(list)) => {
            list.iter().map(|entry| entry.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn action(source: &JsonMap, path: &str) -> ReadGuardrail<GuardrailAction> {
    match text(source, "action", path)?.as_deref() {
        None | Some("warn") => Ok(GuardrailAction::Warn),
        Some("block") => Ok(GuardrailAction::Block),
        Some("log") => Ok(GuardrailAction::Log),
        Some(other) => {
            let message = format!("expected block, warn or log, got {}", quote(other));
            Err(GuardrailError::new(&pointer(path, "action"), message))
        }
    }
}

fn conditions(source: &JsonMap, path: &str) -> ReadGuardrail<Vec<GuardrailCondition>> {
    let mut out = Vec::new();
    for (key, value) in source {
        if let Some(field) = key.strip_prefix("condition_") {
            out.push(GuardrailCondition::Field(test(field, None, value, false)));
        }
    }
    let at = pointer(path, "condition");
    match source.get("condition") {
        None | Some(Value::Null) => {}
        Some(Value::String(source)) => out.push(expression(source, &at)?),
        Some(Value::Object(fields)) => {
            for (key, value) in fields {
                out.push(match (key.as_str(), value) {
                    ("cel", Value::String(source)) => expression(source, &pointer(&at, key))?,
                    ("cel", other) => {
                        let message = format!("expected an expression, got {}", type_name(other));
                        return Err(GuardrailError::new(&pointer(&at, key), message));
                    }
                    _ => field_condition(key, value, &at)?,
                });
            }
        }
        Some(other) => {
            let message = format!("expected an expression or an object, got {}", type_name(other));
            return Err(GuardrailError::new(&at, message));
        }
    }
    Ok(out)
}

fn expression(source: &str, path: &str) -> ReadGuardrail<GuardrailCondition> {
    match Expression::parse(source) {
        Ok(expression) => Ok(GuardrailCondition::Expression(expression, source.to_owned())),
        Err(ExpressionError { message, position }) => {
            Err(GuardrailError { path: path.to_owned(), message, position: Some(position) })
        }
    }
}

/// Reads an entry of a `condition` object.
fn field_condition(key: &str, value: &Value, path: &str) -> ReadGuardrail<GuardrailCondition> {
    let suffix = SUFFIXES.iter().find_map(|(suffix, operator)| Some((key.strip_suffix(suffix)?, *operator)));
    let (field, operator) = suffix.map_or((key, None), |(field, operator)| (field, Some(operator)));
    if field.is_empty() {
        return Err(GuardrailError::new(&pointer(path, key), "a condition needs a field"));
    }
    // In contextweaver 0.18, `quality_lt` is about the field `quality_score`.
    let field = if operator.is_some() && field == "quality" { "quality_score" } else { field };
    Ok(GuardrailCondition::Field(test(field, operator, value, true)))
}

fn test(field: &str, operator: Option<ComparisonOperator>, value: &Value, defaults: bool) -> FieldTest {
    let written = value.as_str().and_then(comparison).filter(|_| operator.is_none());
    let is_written = written.is_some() || operator.is_some();
    let (operator, operand) = written.unwrap_or_else(|| (operator.unwrap_or(ComparisonOperator::Equal), value.clone()));
    FieldTest { field: field.to_owned(), operator, operand, written: is_written, defaults }
}

/// Reads a text such as `>= 0.5` as an operator and an operand. The operand becomes a number if it reads as one.
pub(super) fn comparison(text: &str) -> Option<(ComparisonOperator, Value)> {
    let text = trim(text);
    let (sign, operator) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
    let operand = trim(&text[sign.len()..]);
    let number = parse_float(operand).filter(|number| number.is_finite());
    Some((*operator, number.map_or_else(|| operand.into(), Value::from)))
}

fn requirements(source: &JsonMap, path: &str) -> ReadGuardrail<Vec<GuardrailRequirement>> {
    let mut out = Vec::new();
    for (key, value) in source {
        if let Some(field) = key.strip_prefix("requires_") {
            out.push(GuardrailRequirement { field: field.to_owned(), expected: value.clone() });
        }
    }
    match source.get("requires") {
        None | Some(Value::Null) => {}
        Some(Value::Object(fields)) => {
            let fields = fields.iter();
            out.extend(fields.map(|(key, value)| GuardrailRequirement { field: key.clone(), expected: value.clone() }));
        }
        Some(other) => {
            let message = format!("expected an object, got {}", type_name(other));
            return Err(GuardrailError::new(&pointer(path, "requires"), message));
        }
    }
    Ok(out)
}

/// Writes a value in a message: text as it is, everything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        other => other.to_string(),
    }
}
