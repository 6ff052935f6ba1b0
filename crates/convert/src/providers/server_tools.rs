//! Tools that a provider runs itself, such as its search of the web: their calls and results are calls and results, which the
//! model's own messages hold. This file says what of them is text; the file of each provider says which parts they are.

use serde_json::Value;

use super::message::{TextSlot, at, below};
use contextweaver_model::ContextItem;
use contextweaver_model::json::JsonMap;

/// Key in the metadata of a call or a result that its provider ran.
pub const PROVIDER_RUN: &str = "provider_run";

/// Type of the part in which a provider keeps what it left out of a conversation, and key in the metadata of its item.
pub const COMPACTION: &str = "compaction";

/// Fields of results in which a model reads text.
const TEXTS: &[&str] = &["text", "stdout", "stderr", "logs", "output", "content", "error"];
/// Fields that say what a text is of, or stand for one that only the provider can read.
const TITLES: &[&str] = &["title", "filename", "url", "tool_name", "error_code"];
/// Levels of nesting in which texts are looked for.
const MAX_LEVELS: usize = 8;

/// Tells whether the provider ran the tool of a call or a result itself.
///
/// ```
/// use contextweaver_convert::providers::{Format, is_provider_run, messages_to_items};
/// use serde_json::json;
///
/// let search = json!({ "type": "web_search_call", "id": "ws_1", "action": { "type": "search", "query": "tides" } });
/// let items = messages_to_items(json!([search]), Format::OpenAiResponses, &Default::default())?.items;
/// assert!(is_provider_run(&items[0]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn is_provider_run(item: &ContextItem) -> bool {
    item.metadata_flag(PROVIDER_RUN)
}

/// Tells whether an item is what a provider keeps of messages that it left out, without which the rest is not understood.
///
/// ```
/// use contextweaver_convert::providers::{Format, is_compaction, messages_to_items};
/// use serde_json::json;
///
/// let kept = json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA" });
/// let items = messages_to_items(json!([kept]), Format::OpenAiResponses, &Default::default())?.items;
/// assert!(is_compaction(&items[0]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn is_compaction(item: &ContextItem) -> bool {
    item.metadata_flag(COMPACTION)
}

/// Returns the texts of a result at `base`, each where it stands, below lines that say what it is of.
pub fn readable(value: &Value, base: &str) -> Vec<TextSlot> {
    let mut slots = Vec::new();
    collect(value, base, MAX_LEVELS, &mut slots);
    slots
}

fn collect(value: &Value, base: &str, levels: usize, slots: &mut Vec<TextSlot>) {
    if levels == 0 {
        return;
    }
    match value {
        Value::String(text) => slots.push(TextSlot::text(base, text)),
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate().filter(|(_, value)| value.is_object()) {
                collect(value, &at(base, index), levels - 1, slots);
            }
        }
        Value::Object(map) => {
            let titles: Vec<&str> = TITLES.iter().filter_map(|key| map.get(*key)?.as_str()).collect();
            if !titles.is_empty() {
                slots.push(TextSlot::label(titles.join(" ")));
            }
            for (key, value) in map {
                match value {
                    Value::String(text) if is_text(map, key) && !text.is_empty() => {
                        slots.push(TextSlot::text(below(base, key), text));
                    }
                    Value::Array(_) | Value::Object(_) => collect(value, &below(base, key), levels - 1, slots),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn is_text(map: &JsonMap, key: &str) -> bool {
    // The text of a document is the data of its source.
    TEXTS.contains(&key) || key == "data" && map.get("type").is_some_and(|kind| kind == "text")
}
