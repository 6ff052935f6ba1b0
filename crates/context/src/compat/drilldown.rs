//! Parts of artifacts as 0.18 cuts them: text and nothing about it. Bounds count as in Python, from the end where
//! negative, all where null.

use crate::drilldown::request::{DrilldownRequest, Slice};
use crate::manager::ContextManager;
use crate::reduce::within;
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{self, JsonMap, to_sorted_ascii, wrong_type};
use contextweaver_text::lines::{join_lines, lines, slice_range};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::prefix;
use serde_json::Value;

/// Reads a part; malformed UTF-8 shows as U+FFFD.
pub(super) fn part(manager: &ContextManager, request: &DrilldownRequest) -> Result<Slice> {
    let text = String::from_utf8_lossy(manager.artifacts.get(&request.handle)?);
    let selector = request
        .selector
        .as_object()
        .ok_or_else(|| Error::new(ErrorCode::InvalidInput, "expected an object").at("/selector"))?;
    let options = &manager.options;
    let part = select(selector, &text)?;
    let clean = options.mask_secrets(&part);
    let shown = match request.max_tokens {
        Some(limit) => within(&clean, limit, &options.estimator),
        None => clean.into_owned(),
    };
    Ok(Slice {
        handle: request.handle.clone(),
        selector: request.selector.clone(),
        tokens: options.estimator.tokens(&shown),
        unit: "chars",
        total: text.chars().count() as u64,
        start: 0,
        end: shown.chars().count() as u64,
        truncated: shown.len() < part.len(),
        next: None,
        text: shown,
        item_id: None,
    })
}

/// Applies `{"type": "head" | "lines" | "rows" | "json_keys", ...}` to a text. Keys of what is not a JSON object are the
/// empty text.
///
/// # Errors
/// `UNSUPPORTED` at `/type` for an unknown type, `INVALID_INPUT` for a bound that is no whole number.
pub fn select(selector: &JsonMap, text: &str) -> Result<String> {
    let kind = selector.get("type").and_then(Value::as_str).unwrap_or("");
    match kind {
        "head" => {
            let chars = bound(selector, "chars", Some(500))?;
            // Counting all characters is for counts from the end only.
            let count = match chars {
                Some(chars) if chars >= 0 => usize::try_from(chars).unwrap_or(usize::MAX),
                _ => slice_range(text.chars().count(), None, chars).end,
            };
            Ok(prefix(text, count).to_owned())
        }
        "lines" | "rows" => {
            let (start, end) = (bound(selector, "start", None)?, bound(selector, "end", None)?);
            Ok(join_lines(text, slice_range(lines(text).count(), start, end)))
        }
        "json_keys" => {
            let Ok(Value::Object(map)) = json::parse(text) else { return Ok(String::new()) };
            let keys = wanted_keys(selector.get("keys"))?;
            let picked = map.into_iter().filter(|(key, _)| keys.contains(key)).collect();
            Ok(to_sorted_ascii(&Value::Object(picked), Some(2)))
        }
        other => Err(Error::new(ErrorCode::Unsupported, format!("unknown selector {}", quote(other))).at("/type")),
    }
}

/// Reads a bound of a slice: null is none, true is 1.
fn bound(selector: &JsonMap, key: &str, default: Option<i64>) -> Result<Option<i64>> {
    match selector.get(key) {
        None => Ok(default),
        Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(i64::from(*flag))),
        Some(Value::Number(number)) if !number.is_f64() => Ok(Some(number.as_i64().unwrap_or(i64::MAX))),
        Some(other) => Err(wrong_type(&json::pointer("", key), "a whole number", other)),
    }
}

/// Reads keys: a list of them, an object for its own, or a string for its characters.
fn wanted_keys(keys: Option<&Value>) -> Result<WordSet> {
    let words = match keys {
        None => Vec::new(),
        Some(Value::String(text)) => text.chars().map(String::from).collect(),
        Some(Value::Object(map)) => map.keys().cloned().collect(),
        Some(Value::Array(list)) => {
            if let Some(other) = list.iter().find(|key| key.is_array() || key.is_object()) {
                return Err(wrong_type("/keys", "a list of strings", other));
            }
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(other) => return Err(wrong_type("/keys", "a list of strings", other)),
    };
    Ok(WordSet::new(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn odd_selectors_do_what_they_do_in_python() {
        let object = r#"{"b": 1, "a": [], "é": 2}"#;
        let table = [
            ("hello", json!({"type": "head", "chars": -2}), Ok("hel")),
            ("hello", json!({"type": "head", "chars": null}), Ok("hello")),
            ("hello", json!({"type": "head", "chars": true}), Ok("h")),
            ("hello", json!({"type": "head", "chars": u64::MAX}), Ok("hello")),
            ("hello", json!({"type": "head", "chars": "2"}), Err(ErrorCode::InvalidInput)),
            ("hello", json!({"type": "head", "chars": 2.0}), Err(ErrorCode::InvalidInput)),
            ("a\nb\r\nc\n", json!({"type": "rows", "start": -2}), Ok("b\nc")),
            ("a\nb\nc", json!({"type": "lines", "start": false, "end": -1}), Ok("a\nb")),
            (object, json!({"type": "json_keys", "keys": ["b", 1, null, "zz"]}), Ok("{\n  \"b\": 1\n}")),
            (object, json!({"type": "json_keys", "keys": "éx"}), Ok("{\n  \"\\u00e9\": 2\n}")),
            (object, json!({"type": "json_keys", "keys": {"a": 0}}), Ok("{\n  \"a\": []\n}")),
            (object, json!({"type": "json_keys"}), Ok("{}")),
            (object, json!({"type": "json_keys", "keys": null}), Err(ErrorCode::InvalidInput)),
            (object, json!({"type": "json_keys", "keys": [["a"]]}), Err(ErrorCode::InvalidInput)),
            ("[1]", json!({"type": "json_keys", "keys": null}), Ok("")),
            ("", json!({"type": "Head"}), Err(ErrorCode::Unsupported)),
            ("", json!({"type": 5}), Err(ErrorCode::Unsupported)),
        ];
        for (text, selector, expected) in table {
            let actual = select(selector.as_object().unwrap(), text).map_err(|error| error.code());
            assert_eq!(actual, expected.map(str::to_owned), "{selector}");
        }
    }
}
