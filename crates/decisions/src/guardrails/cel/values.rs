//! What values do with each other.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::{CelComparison, EvaluationError};
use contextweaver_base::{Error, StepBudget};

/// Characters of text that are looked at in one step.
pub(super) const STEP_BYTES: usize = 64;

/// A value, borrowed from the context where it can be.
pub(super) type CowValue<'v> = Cow<'v, Value>;

/// Makes the fault of values that do not go together.
pub(super) fn wrong(message: &str) -> EvaluationError {
    EvaluationError::Wrong(message.to_owned())
}

/// Looks up a member; only objects have members.
pub(super) fn member<'v>(target: CowValue<'v>, name: &str) -> Result<Option<CowValue<'v>>, EvaluationError> {
    match target {
        Cow::Borrowed(Value::Object(map)) => Ok(map.get(name).map(Cow::Borrowed)),
        Cow::Owned(Value::Object(mut map)) => Ok(map.get_mut(name).map(Value::take).map(Cow::Owned)),
        _ => Err(wrong("only objects have members")),
    }
}

/// Compares two numbers by value; large whole numbers exactly.
fn order_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Tells whether two values are equal, of which one is part of a rule and no larger than that.
pub(in crate::guardrails) fn is_equal(a: &Value, b: &Value) -> bool {
    equals(a, b, &mut StepBudget::new("the comparison", u64::MAX)).unwrap_or(false)
}

/// Tells whether two values are equal; numbers by value, different kinds never. Depth is bounded by the parser of JSON. A
/// pair of values is a step, and so are [`STEP_BYTES`] of two texts.
fn equals(a: &Value, b: &Value, budget: &mut StepBudget) -> Result<bool, Error> {
    budget.charge(1)?;
    Ok(match (a, b) {
        (Value::Number(_), Value::Number(_)) => order_numbers(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                if !equals(a, b, budget)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, value) in a {
                let Some(other) = b.get(key) else { return Ok(false) };
                if !equals(value, other, budget)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::String(a), Value::String(b)) => {
            budget.charge(a.len().min(b.len()) / STEP_BYTES)?;
            a == b
        }
        (Value::Array(_) | Value::Object(_), _) => false,
        _ => a == b,
    })
}

/// Compares two values.
pub(super) fn compare(
    comparison: CelComparison,
    left: &Value,
    right: &Value,
    budget: &mut StepBudget,
) -> Result<bool, EvaluationError> {
    let order = match (comparison, right) {
        (CelComparison::Equal, _) => return Ok(equals(left, right, budget)?),
        (CelComparison::Unequal, _) => return Ok(!equals(left, right, budget)?),
        (CelComparison::In, Value::Array(list)) => {
            for entry in list {
                if equals(left, entry, budget)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        (CelComparison::In, Value::Object(map)) => return Ok(left.as_str().is_some_and(|key| map.contains_key(key))),
        (CelComparison::In, _) => return Err(wrong("`in` takes a list or an object")),
        _ => match (left, right) {
            (Value::Number(_), Value::Number(_)) => order_numbers(left, right),
            (Value::String(left), Value::String(right)) => {
                budget.charge(left.len().min(right.len()) / STEP_BYTES)?;
                Some(left.cmp(right))
            }
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            _ => None,
        },
    };
    let order = order.ok_or_else(|| {
        let (left, right) = (contextweaver_model::json::type_name(left), contextweaver_model::json::type_name(right));
        wrong(&format!("{left} and {right} have no order"))
    })?;
    Ok(match comparison {
        CelComparison::Less => order.is_lt(),
        CelComparison::LessOrEqual => order.is_le(),
        CelComparison::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// Adds numbers, joins texts and lists.
pub(super) fn add(left: &Value, right: &Value) -> Result<Value, EvaluationError> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Ok([left.as_str(), right].concat().into()),
        (Value::Array(left), Value::Array(right)) => Ok(Value::Array([left.as_slice(), right].concat())),
        _ => calculate('+', left, right),
    }
}

/// Calculates with numbers; whole ones give whole ones.
pub(super) fn calculate(sign: char, left: &Value, right: &Value) -> Result<Value, EvaluationError> {
    if let (Some(a), Some(b)) = (left.as_i64(), right.as_i64()) {
        let whole = match sign {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        return whole.map(Value::from).ok_or_else(|| wrong("the result is no whole number of 64 bits"));
    }
    let float = match (left.as_f64(), right.as_f64(), sign) {
        (Some(a), Some(b), '+') => a + b,
        (Some(a), Some(b), '-') => a - b,
        (Some(a), Some(b), '*') => a * b,
        (Some(a), Some(b), '/') => a / b,
        _ => return Err(wrong("these values do not calculate")),
    };
    if float.is_finite() { Ok(float.into()) } else { Err(wrong("the result is no number")) }
}
