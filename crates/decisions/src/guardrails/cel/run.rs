//! Evaluating expressions.

use std::borrow::Cow;

use serde_json::Value;

use super::values::{CowValue, STEP_BYTES, add, calculate, compare, member, wrong};
use super::{CelComparison, CelFunction, EvaluationError, ExpressionKind, ExpressionNode, MAX_STEPS};
use contextweaver_base::StepBudget;
use contextweaver_text::pattern::{Dialect, Pattern};

/// Steps of a regular expression that are one step here.
const STEP_MATCHES: usize = 256;
/// Steps of preparing a regular expression that the action brings with it, and the same in steps of patterns.
const PATTERN_STEPS: usize = 100;
const PATTERN_WEIGHT: usize = 8192;
/// Steps of a pattern that take as long as one step here that is none of a pattern.
const STEP_WEIGHT: usize = 6;

/// Tells whether an expression holds. What the evaluation takes is taken from `all`, too, in steps of patterns.
pub(super) fn holds<'v>(
    node: &'v ExpressionNode,
    action: &'v Value,
    all: &mut StepBudget,
) -> Result<bool, EvaluationError> {
    all.charge(0)?;
    let budget = StepBudget::new("the expression", MAX_STEPS);
    let mut run = Evaluator { variables: vec![Cow::Borrowed(action)], budget, matching: 0 };
    let found = run.truth(node);
    all.charge(run.budget.spent() as usize * STEP_WEIGHT + run.matching)?;
    found
}

struct Evaluator<'v> {
    variables: Vec<CowValue<'v>>,
    /// Of the whole evaluation.
    budget: StepBudget,
    /// What patterns took, in their own steps.
    matching: usize,
}

impl<'v> Evaluator<'v> {
    fn spend(&mut self, steps: usize) -> Result<(), EvaluationError> {
        Ok(self.budget.charge(steps)?)
    }

    /// Pays for looking at a value, without what is in its elements.
    fn spend_size(&mut self, value: &Value) -> Result<(), EvaluationError> {
        self.spend(match value {
            Value::String(text) => text.len() / STEP_BYTES,
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        })
    }

    /// Pays for copying a value with all that is in it.
    fn spend_whole(&mut self, value: &Value) -> Result<(), EvaluationError> {
        self.spend_size(value)?;
        match value {
            Value::Array(list) => list.iter().try_for_each(|value| self.spend_whole(value)),
            Value::Object(map) => map.values().try_for_each(|value| self.spend_whole(value)),
            _ => Ok(()),
        }
    }

    fn truth(&mut self, node: &'v ExpressionNode) -> Result<bool, EvaluationError> {
        match self.value(node)?.as_ref() {
            Value::Bool(flag) => Ok(*flag),
            other => {
                Err(wrong(&format!("expected true or false, got {}", contextweaver_model::json::type_name(other))))
            }
        }
    }

    fn value(&mut self, node: &'v ExpressionNode) -> Result<CowValue<'v>, EvaluationError> {
        self.spend(1)?;
        Ok(match &node.kind {
            ExpressionKind::Literal(value) => Cow::Borrowed(value),
            ExpressionKind::Variable(place) => self.variable(self.variables.len() - 1 - place)?,
            ExpressionKind::Member(target, name) => {
                let target = self.value(target)?;
                return member(target, name)?.ok_or(EvaluationError::Missing);
            }
            ExpressionKind::Has(target, name) => Cow::Owned(member(self.value(target)?, name)?.is_some().into()),
            ExpressionKind::Index(target, index) => self.index(target, index)?,
            ExpressionKind::Not(operand) => Cow::Owned((!self.truth(operand)?).into()),
            ExpressionKind::Minus(operand) => Cow::Owned(minus(self.value(operand)?.as_ref())?),
            ExpressionKind::Chain { all, parts } => Cow::Owned(self.chain(*all, parts)?.into()),
            ExpressionKind::Compare(comparison, left, right) => {
                Cow::Owned(self.compare(*comparison, left, right)?.into())
            }
            ExpressionKind::Arithmetic(sign, left, right) => Cow::Owned(self.arithmetic(*sign, left, right)?),
            ExpressionKind::Choice(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                if self.truth(condition)? { self.value(then)? } else { self.value(otherwise)? }
            }
            ExpressionKind::List(parts) => {
                let values: Result<Vec<Value>, EvaluationError> = parts.iter().map(|part| self.owned(part)).collect();
                Cow::Owned(Value::Array(values?))
            }
            ExpressionKind::Call(function, parts) => Cow::Owned(self.call(*function, parts)?),
            ExpressionKind::Matches(text, pattern) => {
                let text = self.value(text)?;
                Cow::Owned(self.matches(&text, pattern)?.into())
            }
            ExpressionKind::Each { all, list, condition } => Cow::Owned(self.each(*all, list, condition)?.into()),
        })
    }

    fn variable(&mut self, place: usize) -> Result<CowValue<'v>, EvaluationError> {
        match &self.variables[place] {
            Cow::Borrowed(value) => Ok(Cow::Borrowed(*value)),
            Cow::Owned(value) => {
                let value = value.clone();
                self.spend_whole(&value)?;
                Ok(Cow::Owned(value))
            }
        }
    }

    fn owned(&mut self, node: &'v ExpressionNode) -> Result<Value, EvaluationError> {
        let value = self.value(node)?;
        if let Cow::Borrowed(value) = value {
            self.spend_whole(value)?;
        }
        Ok(value.into_owned())
    }

    /// One side that decides is enough, whatever became of the others.
    fn chain(&mut self, all: bool, parts: &'v [ExpressionNode]) -> Result<bool, EvaluationError> {
        let mut fault = None;
        for part in parts {
            match self.truth(part) {
                Ok(flag) if flag != all => return Ok(flag),
                Ok(_) => {}
                Err(other) => fault = fault.or(Some(other)),
            }
        }
        fault.map_or(Ok(all), Err)
    }

    fn each(
        &mut self,
        all: bool,
        list: &'v ExpressionNode,
        condition: &'v ExpressionNode,
    ) -> Result<bool, EvaluationError> {
        let list = self.value(list)?;
        let mut fault = None;
        for element in elements(list)? {
            self.variables.push(element);
            let result = self.truth(condition);
            self.variables.pop();
            match result {
                Ok(flag) if flag != all => return Ok(flag),
                Ok(_) => {}
                Err(other) => fault = fault.or(Some(other)),
            }
            self.spend(1)?;
        }
        fault.map_or(Ok(all), Err)
    }

    fn index(
        &mut self,
        target: &'v ExpressionNode,
        index: &'v ExpressionNode,
    ) -> Result<CowValue<'v>, EvaluationError> {
        let target = self.value(target)?;
        let index = self.value(index)?;
        match (target.as_ref(), index.as_ref()) {
            (Value::Object(_), Value::String(name)) => member(target, name)?.ok_or(EvaluationError::Missing),
            (Value::Array(_), Value::Number(number)) => {
                let place = number.as_u64().and_then(|place| usize::try_from(place).ok());
                elements(target)?.nth(place.unwrap_or(usize::MAX)).ok_or(EvaluationError::Missing)
            }
            _ => Err(wrong("only lists and objects have elements")),
        }
    }

    fn compare(
        &mut self,
        comparison: CelComparison,
        left: &'v ExpressionNode,
        right: &'v ExpressionNode,
    ) -> Result<bool, EvaluationError> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        compare(comparison, &left, &right, &mut self.budget)
    }

    fn arithmetic(
        &mut self,
        sign: char,
        left: &'v ExpressionNode,
        right: &'v ExpressionNode,
    ) -> Result<Value, EvaluationError> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        self.spend_whole(&left)?;
        self.spend_whole(&right)?;
        if sign == '+' { add(&left, &right) } else { calculate(sign, &left, &right) }
    }

    fn call(&mut self, function: CelFunction, parts: &'v [ExpressionNode]) -> Result<Value, EvaluationError> {
        let target = self.value(&parts[0])?;
        self.spend_size(&target)?;
        if function == CelFunction::Size {
            return match target.as_ref() {
                Value::String(text) => Ok(text.chars().count().into()),
                Value::Array(list) => Ok(list.len().into()),
                Value::Object(map) => Ok(map.len().into()),
                _ => Err(wrong("size() takes text, a list or an object")),
            };
        }
        let argument = self.value(&parts[1])?;
        let (Value::String(text), Value::String(part)) = (target.as_ref(), argument.as_ref()) else {
            return Err(wrong("functions of text take text"));
        };
        Ok(match function {
            CelFunction::StartsWith => text.starts_with(part.as_str()),
            CelFunction::EndsWith => text.ends_with(part.as_str()),
            CelFunction::Contains => text.contains(part.as_str()),
            CelFunction::Size | CelFunction::Matches => {
                self.spend(PATTERN_STEPS)?;
                self.matching += PATTERN_WEIGHT;
                let pattern = Pattern::expression(part, Dialect::Whole, false);
                self.matches(&target, &pattern.map_err(|error| wrong(error.message()))?)?
            }
        }
        .into())
    }

    fn matches(&mut self, text: &Value, pattern: &Pattern) -> Result<bool, EvaluationError> {
        let Value::String(text) = text else { return Err(wrong("matches() takes text")) };
        let left = MAX_STEPS.saturating_sub(self.budget.spent()) * STEP_MATCHES as u64;
        let mut budget = StepBudget::new("the expression", left);
        let found = pattern.matcher().is_match(text, &mut budget);
        self.matching += budget.spent() as usize;
        self.spend((budget.spent() as usize).div_ceil(STEP_MATCHES))?;
        found.map_err(|error| wrong(error.message()))
    }
}

fn elements<'v>(list: CowValue<'v>) -> Result<Box<dyn Iterator<Item = CowValue<'v>> + 'v>, EvaluationError> {
    match list {
        Cow::Borrowed(Value::Array(list)) => Ok(Box::new(list.iter().map(Cow::Borrowed))),
        Cow::Owned(Value::Array(list)) => Ok(Box::new(list.into_iter().map(Cow::Owned))),
        _ => Err(wrong("expected a list")),
    }
}

fn minus(value: &Value) -> Result<Value, EvaluationError> {
    match (value.as_i64().and_then(i64::checked_neg), value.as_f64()) {
        (Some(whole), _) => Ok(whole.into()),
        (None, Some(float)) => Ok((-float).into()),
        _ => Err(wrong("only numbers have a sign")),
    }
}
