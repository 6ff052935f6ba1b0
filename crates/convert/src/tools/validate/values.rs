//! Comparing values as JSON Schema does.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use contextweaver_base::order;
use contextweaver_model::json::JsonMap;

/// Tells whether a value has a type, or one of several; `1.0` is an integer.
pub(super) fn has_type(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::String(name) => is_a(name, value),
        Value::Array(names) => names.iter().any(|name| name.as_str().is_some_and(|name| is_a(name, value))),
        _ => true,
    }
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(|number| decimal(number).is_some_and(|(_, exponent)| exponent >= 0)),
        _ => false,
    }
}

/// Returns a number as digits and a power of ten, exactly as it is written; nothing if it has too many digits.
fn decimal(number: &Number) -> Option<(i128, i32)> {
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let part = part.trim_end_matches('0');
    let mut digits: i128 = [whole, part].concat().parse().ok()?;
    let mut exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(part.len()).ok()?)?;
    while digits != 0 && digits % 10 == 0 {
        digits /= 10;
        exponent += 1;
    }
    Some((digits, if digits == 0 { 0 } else { exponent }))
}

/// Brings two numbers to the same power of ten.
fn aligned(a: &Number, b: &Number) -> Option<(i128, i128)> {
    let ((a, at_a), (b, at_b)) = (decimal(a)?, decimal(b)?);
    let low = at_a.min(at_b);
    let raised = |digits: i128, at: i32| digits.checked_mul(10_i128.checked_pow(at.abs_diff(low))?);
    Some((raised(a, at_a)?, raised(b, at_b)?))
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match aligned(a, b) {
        Some((a, b)) => a.cmp(&b),
        None => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
    }
}

/// Tells whether a number is within a bound, or a multiple.
pub(super) fn number_fits(keyword: &str, rule: &Value, number: &Number) -> bool {
    let Value::Number(bound) = rule else { return true };
    let order = || compare_numbers(number, bound);
    match keyword {
        "minimum" => order().is_ge(),
        "exclusiveMinimum" => order().is_gt(),
        "maximum" => order().is_le(),
        "exclusiveMaximum" => order().is_lt(),
        "multipleOf" => match aligned(number, bound) {
            Some((_, 0)) => true,
            Some((number, bound)) => number % bound == 0,
            // Far apart: with floats there is nothing to tell.
            None => {
                let quotient = number.as_f64().unwrap_or(0.0) / bound.as_f64().unwrap_or(1.0);
                !quotient.is_finite() || quotient.fract() == 0.0
            }
        },
        _ => true,
    }
}

/// Reads a bound of a count.
pub(super) fn as_count(rule: &Value) -> Option<usize> {
    let number = rule.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
    Some(number as usize)
}

/// Tells whether a count is within a bound.
pub(super) fn count_fits(is_least: bool, rule: &Value, count: usize) -> bool {
    as_count(rule).is_none_or(|bound| if is_least { count >= bound } else { count <= bound })
}

/// Tells whether two values are the same data, whatever the order of their keys and the form of their numbers.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    compare(a, b).is_eq()
}

/// Tells whether no two of the items are the same.
pub(super) fn are_unique(list: &[Value]) -> bool {
    let mut sorted: Vec<&Value> = list.iter().collect();
    order::sort_by(&mut sorted, |a, b| compare(a, b));
    sorted.windows(2).all(|pair| !same(pair[0], pair[1]))
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::Array(a), Value::Array(b)) => {
            let parts = a.iter().zip(b).map(|(a, b)| compare(a, b));
            a.len().cmp(&b.len()).then_with(|| first_difference(parts))
        }
        (Value::Object(a), Value::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
            let (ours, theirs) = (keys(a), keys(b));
            ours.cmp(&theirs)
                .then_with(|| first_difference(ours.iter().map(|key| compare(&a[key.as_str()], &b[key.as_str()]))))
        }),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference(mut parts: impl Iterator<Item = Ordering>) -> Ordering {
    parts.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn keys(map: &JsonMap) -> Vec<&String> {
    let mut keys: Vec<&String> = map.keys().collect();
    order::sort(&mut keys);
    keys
}

fn rank(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
