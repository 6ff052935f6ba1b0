//! Evaluating expressions.

use std::borrow::Cow;

use serde_json::Value;

use super::values::{add, calculate, compare, member, wrong};
use super::{Comparison, Fault, Function, Kind, MAX_STEPS, Node};
use contextweaver_text::pattern::{Dialect, Pattern};

/// A value, borrowed from the context where it can be.
pub(super) type Held<'v> = Cow<'v, Value>;

/// Characters of text that are looked at in one step.
const STEP_BYTES: usize = 64;
/// Instructions of a regular expression times characters that are one step.
const STEP_MATCHES: usize = 4096;

/// Tells whether an expression holds.
pub(super) fn holds<'v>(node: &'v Node, action: &'v Value) -> Result<bool, Fault> {
    let mut run = Run { variables: vec![Cow::Borrowed(action)], steps: 0 };
    run.truth(node)
}

struct Run<'v> {
    variables: Vec<Held<'v>>,
    steps: usize,
}

impl<'v> Run<'v> {
    fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS { Err(wrong("it takes too much work")) } else { Ok(()) }
    }

    /// Pays for looking at a whole value.
    fn spend_size(&mut self, value: &Value) -> Result<(), Fault> {
        self.spend(match value {
            Value::String(text) => text.len() / STEP_BYTES,
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        })
    }

    fn truth(&mut self, node: &'v Node) -> Result<bool, Fault> {
        match self.value(node)?.as_ref() {
            Value::Bool(flag) => Ok(*flag),
            other => {
                Err(wrong(&format!("expected true or false, got {}", contextweaver_model::json::type_name(other))))
            }
        }
    }

    fn value(&mut self, node: &'v Node) -> Result<Held<'v>, Fault> {
        self.spend(1)?;
        Ok(match &node.kind {
            Kind::Literal(value) => Cow::Borrowed(value),
            Kind::Variable(place) => self.variables[self.variables.len() - 1 - place].clone(),
            Kind::Member(target, name) => {
                let target = self.value(target)?;
                return member(target, name)?.ok_or(Fault::Missing);
            }
            Kind::Has(target, name) => Cow::Owned(member(self.value(target)?, name)?.is_some().into()),
            Kind::Index(target, index) => self.index(target, index)?,
            Kind::Not(operand) => Cow::Owned((!self.truth(operand)?).into()),
            Kind::Minus(operand) => Cow::Owned(minus(self.value(operand)?.as_ref())?),
            Kind::Chain { all, parts } => Cow::Owned(self.chain(*all, parts)?.into()),
            Kind::Compare(comparison, left, right) => Cow::Owned(self.compare(*comparison, left, right)?.into()),
            Kind::Arithmetic(sign, left, right) => Cow::Owned(self.arithmetic(*sign, left, right)?),
            Kind::Choice(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                if self.truth(condition)? { self.value(then)? } else { self.value(otherwise)? }
            }
            Kind::List(parts) => {
                let values: Result<Vec<Value>, Fault> =
                    parts.iter().map(|part| Ok(self.value(part)?.into_owned())).collect();
                Cow::Owned(Value::Array(values?))
            }
            Kind::Call(function, parts) => Cow::Owned(self.call(*function, parts)?),
            Kind::Matches(text, pattern) => {
                let text = self.value(text)?;
                Cow::Owned(self.matches(&text, pattern)?.into())
            }
            Kind::Each { all, list, condition } => Cow::Owned(self.each(*all, list, condition)?.into()),
        })
    }

    /// One side that decides is enough, whatever became of the others.
    fn chain(&mut self, all: bool, parts: &'v [Node]) -> Result<bool, Fault> {
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

    fn each(&mut self, all: bool, list: &'v Node, condition: &'v Node) -> Result<bool, Fault> {
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

    fn index(&mut self, target: &'v Node, index: &'v Node) -> Result<Held<'v>, Fault> {
        let target = self.value(target)?;
        let index = self.value(index)?;
        match (target.as_ref(), index.as_ref()) {
            (Value::Object(_), Value::String(name)) => member(target, name)?.ok_or(Fault::Missing),
            (Value::Array(_), Value::Number(number)) => {
                let place = number.as_u64().and_then(|place| usize::try_from(place).ok());
                elements(target)?.nth(place.unwrap_or(usize::MAX)).ok_or(Fault::Missing)
            }
            _ => Err(wrong("only lists and objects have elements")),
        }
    }

    fn compare(&mut self, comparison: Comparison, left: &'v Node, right: &'v Node) -> Result<bool, Fault> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        self.spend_size(&left)?;
        self.spend_size(&right)?;
        compare(comparison, &left, &right)
    }

    fn arithmetic(&mut self, sign: char, left: &'v Node, right: &'v Node) -> Result<Value, Fault> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        self.spend_size(&left)?;
        self.spend_size(&right)?;
        if sign == '+' { add(&left, &right) } else { calculate(sign, &left, &right) }
    }

    fn call(&mut self, function: Function, parts: &'v [Node]) -> Result<Value, Fault> {
        let target = self.value(&parts[0])?;
        self.spend_size(&target)?;
        if function == Function::Size {
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
            Function::StartsWith => text.starts_with(part.as_str()),
            Function::EndsWith => text.ends_with(part.as_str()),
            Function::Contains => text.contains(part.as_str()),
            Function::Size | Function::Matches => {
                let pattern = Pattern::expression(part, Dialect::Whole, false);
                self.matches(&target, &pattern.map_err(|error| wrong(error.message()))?)?
            }
        }
        .into())
    }

    fn matches(&mut self, text: &Value, pattern: &Pattern) -> Result<bool, Fault> {
        let Value::String(text) = text else { return Err(wrong("matches() takes text")) };
        self.spend(pattern.steps(text.len()) / STEP_MATCHES)?;
        Ok(pattern.find(text, 0).is_some())
    }
}

fn elements<'v>(list: Held<'v>) -> Result<Box<dyn Iterator<Item = Held<'v>> + 'v>, Fault> {
    match list {
        Cow::Borrowed(Value::Array(list)) => Ok(Box::new(list.iter().map(Cow::Borrowed))),
        Cow::Owned(Value::Array(list)) => Ok(Box::new(list.into_iter().map(Cow::Owned))),
        _ => Err(wrong("expected a list")),
    }
}

fn minus(value: &Value) -> Result<Value, Fault> {
    match (value.as_i64().and_then(i64::checked_neg), value.as_f64()) {
        (Some(whole), _) => Ok(whole.into()),
        (None, Some(float)) => Ok((-float).into()),
        _ => Err(wrong("only numbers have a sign")),
    }
}
