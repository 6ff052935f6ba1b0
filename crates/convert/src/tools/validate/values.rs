//! Comparing values as JSON Schema does.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

use contextweaver_base::order;

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
        "multipleOf" => is_multiple(number, bound).unwrap_or(true),
        _ => true,
    }
}

/// Tells whether a number is a multiple of another, exactly as both are written; nothing of what is a multiple of nothing.
fn is_multiple(number: &Number, of: &Number) -> Option<bool> {
    let ((digits, exponent), (divisor, least)) = (decimal(number)?, decimal(of)?);
    let (digits, divisor) = (digits.unsigned_abs(), divisor.unsigned_abs());
    if digits == 0 || divisor == 0 {
        return Some(true);
    }
    // Digits end in no zero, so that they are no multiple of ten.
    let Ok(mut zeros) = u32::try_from(exponent.checked_sub(least)?) else { return Some(false) };
    let times = |a: u128, b: u128| a.checked_mul(b).map(|product| product % divisor);
    let (mut rest, mut power) = (digits % divisor, 10 % divisor);
    while zeros > 0 {
        if zeros % 2 == 1 {
            rest = times(rest, power)?;
        }
        power = times(power, power)?;
        zeros /= 2;
    }
    Some(rest == 0)
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

/// Steps of comparing two numbers, which are read as decimals, and of a part of a value.
const NUMBER_STEPS: usize = 64;
const PART_STEPS: usize = 8;
/// Bytes that are compared in one step.
const STEP_BYTES: usize = 16;

/// Tells whether two values are the same data, whatever the order of their keys and the form of their numbers; counts
/// the steps that it took.
pub(super) fn same(a: &Value, b: &Value, steps: &mut usize) -> bool {
    *steps += PART_STEPS;
    match (a, b) {
        (Value::String(a), Value::String(b)) => {
            *steps += a.len().min(b.len()) / STEP_BYTES;
            a == b
        }
        (Value::Number(a), Value::Number(b)) => {
            *steps += NUMBER_STEPS;
            compare_numbers(a, b).is_eq()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, steps)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, steps)))
        }
        _ => a == b,
    }
}

/// Tells whether no two of the items are the same; counts the steps that it took.
pub(super) fn are_unique(list: &[Value], steps: &mut usize) -> bool {
    // Written in one form, what is the same is the same text.
    let mut forms = String::new();
    let mut ends = Vec::with_capacity(list.len());
    for item in list {
        push_form(&mut forms, item, steps);
        ends.push(forms.len());
    }
    let form = |index: &usize| &forms[index.checked_sub(1).map_or(0, |before| ends[before])..ends[*index]];
    let mut sorted: Vec<usize> = (0..list.len()).collect();
    order::sort_by(&mut sorted, |a, b| form(a).cmp(form(b)));
    let rounds = list.len().max(1).ilog2() as usize + 1;
    *steps += rounds * (list.len() * PART_STEPS + forms.len() / STEP_BYTES);
    sorted.windows(2).all(|pair| form(&pair[0]) != form(&pair[1]))
}

/// Writes a value so that the same data give the same text: decimals shortened, keys sorted.
fn push_form(out: &mut String, value: &Value, steps: &mut usize) {
    *steps += PART_STEPS;
    match value {
        Value::Number(number) => {
            *steps += NUMBER_STEPS;
            let _ = match decimal(number) {
                Some((digits, exponent)) => write!(out, "{digits}e{exponent}"),
                None => write!(out, "{number}"),
            };
        }
        Value::Array(list) => {
            out.push('[');
            for item in list {
                push_form(out, item, steps);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            order::sort(&mut keys);
            *steps += keys.len() * 4 * PART_STEPS;
            out.push('{');
            for key in keys {
                let _ = write!(out, "{key:?}:");
                push_form(out, &map[key.as_str()], steps);
                out.push(',');
            }
            out.push('}');
        }
        Value::String(text) => {
            let _ = write!(out, "{text:?}");
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}
