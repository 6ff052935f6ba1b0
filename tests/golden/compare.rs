//! Where two JSON values differ.

use serde_json::Value;

/// Returns the path and the two values of the first difference. Numbers compare by value within the tolerance, objects
/// by keys.
pub fn first_difference(expected: &Value, actual: &Value, tolerance: f64) -> Option<String> {
    differ("", expected, actual, tolerance)
}

fn differ(path: &str, expected: &Value, actual: &Value, tolerance: f64) -> Option<String> {
    match (expected, actual) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                let at = format!("{path}/{key}");
                match b.get(key) {
                    None => return Some(format!("{at} is missing, expected {}", short(value))),
                    Some(other) => {
                        if let Some(found) = differ(&at, value, other, tolerance) {
                            return Some(found);
                        }
                    }
                }
            }
            b.keys().find(|key| !a.contains_key(*key)).map(|key| format!("{path}/{key} is not expected"))
        }
        (Value::Array(a), Value::Array(b)) => {
            let within =
                a.iter().zip(b).enumerate().find_map(|(i, (x, y))| differ(&format!("{path}/{i}"), x, y, tolerance));
            within.or_else(|| {
                (a.len() != b.len()).then(|| format!("{path} has {} entries, expected {}", b.len(), a.len()))
            })
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (Value::Number(a), Value::Number(b)) if is_close(a, b, tolerance) => None,
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path}\n  expected {}\n  got      {}", short(a), short(b))),
    }
}

fn is_close(a: &serde_json::Number, b: &serde_json::Number, tolerance: f64) -> bool {
    a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= tolerance)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 400 { text.chars().take(400).chain("…".chars()).collect() } else { text }
}
