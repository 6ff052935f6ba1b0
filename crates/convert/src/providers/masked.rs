//! What may still be written of a message in which credentials were masked.

use serde_json::Value;

use super::stored::{MESSAGE_KEY, is_reasoning, parts_of};
use contextweaver_model::RESERVED_KEY;
use contextweaver_model::json::JsonMap;

/// Fields that a provider has sealed: what they hold looks like a credential by chance alone, and is refused when it is another.
const SEALED: &[&str] = &[
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "encrypted_index",
    "encryptedContent",
    "reasoningEncryptedContent",
    "redactedData",
];
/// Types of parts whose `data` is sealed.
const SEALED_DATA: &[&str] = &["redacted_thinking", "reasoning.encrypted"];

/// Puts back what a provider has sealed, after credentials were masked in the metadata of an item. Tells whether its message may be
/// written back: of the rest, only reasoning that nobody has signed is another.
///
/// ```
/// use contextweaver_convert::providers::{Format, messages_to_items, restore_sealed_data};
/// use serde_json::json;
///
/// let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2stYW50" });
/// let messages = json!([{ "role": "assistant", "content": [thinking, { "type": "text", "text": "Done." }] }]);
/// let before = messages_to_items(messages, Format::Anthropic, &Default::default())?.items.remove(0).metadata;
/// let masked = |text: &str| serde_json::from_str(&serde_json::to_string(&before)?.replace(text, "[masked]"));
/// let mut changed = masked("c2stYW50")?;
/// assert!(restore_sealed_data(&before, &mut changed));
/// assert_eq!(changed, before);
/// // What is signed cannot be another.
/// assert!(!restore_sealed_data(&before, &mut masked("hm")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn restore_sealed_data(before: &JsonMap, changed: &mut JsonMap) -> bool {
    let before = before.get(RESERVED_KEY).and_then(|own| own.get(MESSAGE_KEY)).and_then(Value::as_object);
    let changed = changed.get_mut(RESERVED_KEY).and_then(|own| own.get_mut(MESSAGE_KEY)).and_then(Value::as_object_mut);
    match (before, changed) {
        (Some(before), Some(changed)) => restore_message(before, changed),
        _ => true,
    }
}

fn restore_message(before: &JsonMap, changed: &mut JsonMap) -> bool {
    let mut is_same = before.iter().all(|(key, value)| key == "parts" || changed.get(key) == Some(value));
    let Some(Value::Array(parts)) = changed.get_mut("parts") else { return is_same };
    for (before, changed) in parts_of(before).zip(parts.iter_mut().filter_map(Value::as_object_mut)) {
        let (Some(given), Some(original)) = (before.get("original"), changed.get_mut("original")) else { continue };
        let field = before.get("field").and_then(Value::as_str).unwrap_or("");
        let is_sealed = if SEALED.contains(&field) && given.is_string() {
            original.clone_from(given);
            true
        } else {
            put_back(given, original)
        };
        is_same &= *before == *changed || is_reasoning(before) && !is_sealed;
    }
    is_same
}

/// Puts back each sealed field, and tells whether there is one.
fn put_back(before: &Value, changed: &mut Value) -> bool {
    let mut is_found = false;
    match (before, changed) {
        (Value::Object(map), Value::Object(changed)) => {
            let is_data = map.get("type").and_then(Value::as_str).is_some_and(|kind| SEALED_DATA.contains(&kind));
            for (key, value) in map {
                let Some(changed) = changed.get_mut(key) else { continue };
                let is_sealed = SEALED.contains(&key.as_str()) || is_data && key == "data";
                if is_sealed && value.is_string() {
                    changed.clone_from(value);
                    is_found = true;
                } else {
                    is_found |= put_back(value, changed);
                }
            }
        }
        (Value::Array(list), Value::Array(changed)) => {
            for (value, changed) in list.iter().zip(changed) {
                is_found |= put_back(value, changed);
            }
        }
        _ => {}
    }
    is_found
}
