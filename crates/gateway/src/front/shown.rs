//! A tool of a server as a client sees it: what it says, made safe to show.

use serde_json::{Value, json};

use contextweaver_model::json::JsonMap;
use contextweaver_text::redact::{SECRET_MASK, redact_value};
use contextweaver_text::unicode::visible;

/// Words of a schema that hold text for a reader.
const SCHEMA_TEXTS: [&str; 3] = ["description", "title", "$comment"];

/// Under this key of `_meta` stands that the server of a tool cannot be reached.
pub(crate) const UNAVAILABLE: &str = "contextweaver/unavailable";

/// Keys of `_meta` that begin so are the gateway's.
const RESERVED: &str = "contextweaver/";

/// Takes out of the `_meta` of a server's entry what only the gateway says.
pub(crate) fn without_reserved(entry: &mut JsonMap) {
    if let Some(Value::Object(meta)) = entry.get_mut("_meta") {
        meta.retain(|key, _| !key.starts_with(RESERVED));
    }
}

/// Makes a tool of a server, of which each field is what the protocol says, safe to show: credentials are masked, invisible
/// characters become visible. The name is left to the caller.
pub(crate) fn shown_tool(tool: &JsonMap) -> JsonMap {
    let Value::Object(mut tool) = redact_value(&Value::Object(tool.clone()), SECRET_MASK) else {
        return JsonMap::new();
    };
    for place in ["/title", "/description", "/annotations/title"] {
        let mut steps = place.split('/').skip(1);
        let first = steps.next().and_then(|key| tool.get_mut(key));
        let found = steps.fold(first, |value, key| value?.get_mut(key));
        if let Some(Value::String(text)) = found {
            *text = visible(text).into_owned();
        }
    }
    without_reserved(&mut tool);
    for key in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get_mut(key).map(Value::take) {
            tool.insert(key.to_owned(), readable(schema));
        }
    }
    tool
}

/// Makes what is hidden in the texts of a schema visible. Values that an argument may have stay as they are.
fn readable(mut schema: Value) -> Value {
    let mut open = vec![&mut schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(text) if SCHEMA_TEXTS.contains(&key.as_str()) => {
                            *text = visible(text).into_owned();
                        }
                        other => open.push(other),
                    }
                }
            }
            _ => {}
        }
    }
    schema
}

/// Marks a tool whose server cannot be reached, for the model and for the client.
pub(crate) fn mark_unavailable(tool: &mut JsonMap, server: &str) {
    let note = format!("(The server \"{server}\" is unavailable now: calls fail until it is back.)");
    let text = match tool.get("description") {
        Some(Value::String(text)) if !text.is_empty() => format!("{note} {text}"),
        _ => note,
    };
    tool.insert("description".to_owned(), text.into());
    let meta = tool.get_mut("_meta").map_or_else(|| json!({}), Value::take);
    let mut meta = if let Value::Object(map) = meta { map } else { JsonMap::new() };
    meta.insert(UNAVAILABLE.to_owned(), true.into());
    tool.insert("_meta".to_owned(), Value::Object(meta));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::{EntryKind, mended_entry};

    fn shown(tool: &Value) -> JsonMap {
        shown_tool(&mended_entry(EntryKind::Tool, 0, tool, &mut Vec::new()))
    }

    #[test]
    fn what_clients_refuse_is_left_out() {
        let tool = json!({
            "name": "a", "title": 5, "description": "b\u{202e}c key=AKIAABCDEFGHIJKLMNOP", "annotations": { "readOnlyHint": "true",
            "title": "T\u{202e}", "own": 1 }, "icons": [{ "src": 5 }], "_meta": [], "outputSchema": 7, "inputSchema": { "properties": {
            "description": { "type": "string", "description": "x\u{200b}y", "enum": ["\u{200b}"] } } },
        });
        let listed = shown(&tool);
        assert_eq!(listed["description"], "b\\u{202e}c key=[REDACTED-SECRET]");
        assert_eq!(listed["annotations"], json!({ "title": "T\\u{202e}", "own": 1 }));
        assert_eq!(listed["icons"], json!([]));
        for key in ["title", "_meta", "outputSchema"] {
            assert!(!listed.contains_key(key), "{key}");
        }
        let property = &listed["inputSchema"]["properties"]["description"];
        assert_eq!(property["description"], "x\\u{200b}y");
        assert_eq!(property["enum"], json!(["\u{200b}"]));
        assert_eq!(listed["inputSchema"]["type"], "object");
        for odd in [json!({ "name": "a" }), json!({ "name": "a", "inputSchema": { "type": "string" } })] {
            assert_eq!(shown(&odd)["inputSchema"], json!({ "type": "object" }));
        }
    }

    #[test]
    fn a_dead_server_is_told_to_model_and_client() {
        let mut tool = shown(&json!({ "name": "a", "description": "Reads.", "_meta": { "x": 1 } }));
        mark_unavailable(&mut tool, "files");
        let text = "(The server \"files\" is unavailable now: calls fail until it is back.) Reads.";
        assert_eq!(tool["description"], text);
        assert_eq!(tool["_meta"], json!({ "x": 1, UNAVAILABLE: true }));
    }
}
