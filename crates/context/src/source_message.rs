//! What a converter keeps with an item of the message it came from, below `metadata._contextweaver.message`: nothing here
//! looks into more of it than its place among the others.

use serde_json::Value;

use contextweaver_model::{ContextItem, JsonMap, RESERVED_KEY};

/// Key below the one that is reserved.
const MESSAGE: &str = "message";

/// Returns the record of the message that an item came from; none where the item was not made by a converter.
pub fn source_message(metadata: &JsonMap) -> Option<&Value> {
    metadata.get(RESERVED_KEY)?.get(MESSAGE)
}

/// Takes away what was kept of the message, but for its place among the others: a converter must know that a call had
/// reasoning which it cannot write any more.
pub fn forget_source_message(item: &mut ContextItem) {
    let message = item.metadata.get_mut(RESERVED_KEY).and_then(|own| own.get_mut(MESSAGE));
    if let Some(Value::Object(message)) = message {
        message.retain(|key, _| matches!(key.as_str(), "format" | "message" | "group" | "reasoning"));
        message.insert("digest".into(), "".into());
        message.insert("parts".into(), Value::Array(Vec::new()));
    }
}

/// Says that what is kept of the message is not what it was, so that a converter writes nothing of it, and names what is lost.
pub fn spoil_source_message(item: &mut ContextItem) {
    let message = item.metadata.get_mut(RESERVED_KEY).and_then(|own| own.get_mut(MESSAGE));
    if let Some(Value::Object(message)) = message {
        message.insert("digest".into(), "".into());
        // The text that media belong to.
        message.shift_remove("of");
    }
}
