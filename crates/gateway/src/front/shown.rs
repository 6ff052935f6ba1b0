//! A tool of a server as a client sees it: what it says, made safe to show, in the form that clients accept.

use serde_json::{Value, json};

use contextweaver_convert::mcp::HINTS;
use contextweaver_model::json::JsonMap;
use contextweaver_text::redact::{SECRET_MASK, SecretRules, redact_value};
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

/// Makes a tool of a server safe to show, and such that no client refuses the list it is in. The name is left to the caller.
///
/// Credentials are masked, invisible characters become visible. A field that is not what the protocol says is left out: the
/// clients of the official SDK refuse a whole list for one of them.
pub(crate) fn shown_tool(tool: &Value) -> JsonMap {
    let Value::Object(mut tool) = redact_value(tool, SecretRules::Full, SECRET_MASK) else { return JsonMap::new() };
    for key in ["title", "description"] {
        keep(&mut tool, key, |value| match value {
            Value::String(text) => Some(Value::String(visible(&text).into_owned())),
            _ => None,
        });
    }
    keep(&mut tool, "annotations", |value| match value {
        Value::Object(map) => Some(Value::Object(annotations(map))),
        _ => None,
    });
    for key in ["_meta", "execution"] {
        keep(&mut tool, key, |value| value.is_object().then_some(value));
    }
    without_reserved(&mut tool);
    keep(&mut tool, "icons", |value| match value {
        Value::Array(list) => {
            Some(list.into_iter().filter(|icon| icon.get("src").is_some_and(Value::is_string)).collect())
        }
        _ => None,
    });
    keep(&mut tool, "outputSchema", |value| value.is_object().then(|| readable(value)));
    let schema = tool.get_mut("inputSchema").map(Value::take);
    tool.insert("inputSchema".to_owned(), input_schema(schema));
    tool
}

/// Replaces a field, or leaves it out; what is not there stays so.
fn keep(map: &mut JsonMap, key: &str, read: impl FnOnce(Value) -> Option<Value>) {
    let Some(value) = map.get_mut(key).map(Value::take) else { return };
    match read(value) {
        Some(value) => {
            map.insert(key.to_owned(), value);
        }
        None => {
            map.shift_remove(key);
        }
    }
}

fn annotations(mut map: JsonMap) -> JsonMap {
    map.retain(|key, value| match key.as_str() {
        "title" => value.is_string(),
        key if HINTS.contains(&key) => value.is_boolean(),
        _ => true,
    });
    if let Some(Value::String(title)) = map.get_mut("title") {
        *title = visible(title).into_owned();
    }
    map
}

/// The arguments of a tool are an object, and say so.
fn input_schema(schema: Option<Value>) -> Value {
    let Some(Value::Object(map)) = schema else { return json!({ "type": "object" }) };
    match map.get("type") {
        Some(kind) if kind == "object" => readable(Value::Object(map)),
        None => {
            let mut typed = JsonMap::new();
            typed.insert("type".to_owned(), "object".into());
            typed.extend(map);
            readable(Value::Object(typed))
        }
        Some(_) => json!({ "type": "object" }),
    }
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

    #[test]
    fn what_clients_refuse_is_left_out() {
        let tool = json!({
            "name": "a", "title": 5, "description": "b\u{202e}c key=AKIAABCDEFGHIJKLMNOP", "annotations": { "readOnlyHint": "true",
            "title": "T", "own": 1 }, "icons": [{ "src": 5 }], "_meta": [], "outputSchema": 7, "inputSchema": { "properties": {
            "description": { "type": "string", "description": "x\u{200b}y", "enum": ["\u{200b}"] } } },
        });
        let shown = shown_tool(&tool);
        assert_eq!(shown["description"], "b\\u{202e}c key=[REDACTED-SECRET]");
        assert_eq!(shown["annotations"], json!({ "title": "T", "own": 1 }));
        assert_eq!(shown["icons"], json!([]));
        for key in ["title", "_meta", "outputSchema"] {
            assert!(!shown.contains_key(key), "{key}");
        }
        let property = &shown["inputSchema"]["properties"]["description"];
        assert_eq!(property["description"], "x\\u{200b}y");
        assert_eq!(property["enum"], json!(["\u{200b}"]));
        assert_eq!(shown["inputSchema"]["type"], "object");
        for odd in [json!({ "name": "a" }), json!({ "name": "a", "inputSchema": { "type": "string" } })] {
            assert_eq!(shown_tool(&odd)["inputSchema"], json!({ "type": "object" }));
        }
    }

    #[test]
    fn a_dead_server_is_told_to_model_and_client() {
        let mut tool = shown_tool(&json!({ "name": "a", "description": "Reads.", "_meta": { "x": 1 } }));
        mark_unavailable(&mut tool, "files");
        let text = "(The server \"files\" is unavailable now: calls fail until it is back.) Reads.";
        assert_eq!(tool["description"], text);
        assert_eq!(tool["_meta"], json!({ "x": 1, UNAVAILABLE: true }));
    }
}
