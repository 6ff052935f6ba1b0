//! What reading a resource or getting a prompt gives, as an envelope with its bytes apart.

use serde_json::Value;

use super::result::{ConvertedResult, finish, outcome, summary};
use super::result_reader::{ContentBlock, ResultReader, short};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_model::json::{JsonMap, type_name, wrong_type};
use contextweaver_text::unicode::{sanitize, visible};

/// Fields that results of a kind have beside what is read.
const READ_CONTENTS: &[&str] = &["contents", "resultType", "inputRequests", "requestState", "task"];
const READ_MESSAGES: &[&str] = &["description", "messages", "resultType", "inputRequests", "requestState", "task"];

/// Converts the result of `resources/read`. Handles are `resource:<id>:<index>`. Every object becomes an
/// envelope, as in [`super::mcp_result_to_envelope`]; a resource states no facts.
///
/// # Errors
/// `INVALID_INPUT` for what is no object.
///
/// ```
/// use contextweaver_convert::mcp::mcp_resource_to_envelope;
/// use serde_json::json;
///
/// let result = json!({ "contents": [{ "uri": "file:///notes.txt", "mimeType": "text/plain", "text": "Buy milk" }] });
/// let converted = mcp_resource_to_envelope(&result, "notes", 1 << 20)?;
/// assert_eq!(converted.full_text, "Buy milk");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_resource_to_envelope(result: &Value, id: &str, max_bytes: usize) -> Result<ConvertedResult> {
    let map = object(result)?;
    let mut reader = ResultReader::of_primitive("resource", id, max_bytes);
    let stand_in = outcome(&mut reader, map);
    let contents = list(&mut reader, map, "contents", stand_in.is_none());
    for (index, content) in contents.iter().enumerate().take(limits::MCP_PARTS) {
        let path = format!("/contents/{index}");
        if let Value::Object(map) = content {
            let block = ContentBlock { map, index, path, withheld: false };
            reader.contents(&block, &index.to_string(), "content");
        } else {
            reader.part(index, content, path);
        }
    }
    reader.keep_beyond("contents", contents);
    reader.keep_rest(map, READ_CONTENTS);
    reader.facts.clear();
    Ok(finish(reader, Vec::new(), stand_in, false))
}

/// Converts the result of `prompts/get`: a text of lines `[role] text`, which is also stored as
/// `prompt:<id>:messages`, behind the bytes of other parts, `prompt:<id>:<kind>:<index>`. The summary is the description.
///
/// # Errors
/// `INVALID_INPUT` for what is no object.
///
/// ```
/// use contextweaver_convert::mcp::mcp_prompt_to_envelope;
/// use serde_json::json;
///
/// let result = json!({ "description": "A greeting",
///                      "messages": [{ "role": "user", "content": { "type": "text", "text": "Say hello" } }] });
/// let converted = mcp_prompt_to_envelope(&result, "greeting", 1 << 20)?;
/// assert_eq!(converted.full_text, "[user] Say hello");
/// assert_eq!(converted.envelope.summary, "A greeting");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_prompt_to_envelope(result: &Value, id: &str, max_bytes: usize) -> Result<ConvertedResult> {
    let map = object(result)?;
    let mut reader = ResultReader::of_primitive("prompt", id, max_bytes);
    let stand_in = outcome(&mut reader, map);
    let (mut lines, mut parts) = (Vec::new(), 0);
    let messages = list(&mut reader, map, "messages", stand_in.is_none());
    for (index, message) in messages.iter().enumerate().take(limits::MCP_PARTS) {
        let path = format!("/messages/{index}");
        let role = role(&mut reader, message, &path);
        let content = message.get("content").unwrap_or(&Value::Null);
        match content {
            Value::Array(list) => {
                for (at, part) in list.iter().enumerate().take(limits::MCP_PARTS.saturating_sub(parts)) {
                    reader.part(parts + at, part, format!("{path}/content/{at}"));
                }
                parts += list.len();
            }
            // Before there were parts, a message was a text.
            Value::String(text) => reader.show(visible(text).into_owned(), text, &path),
            part => {
                reader.part(parts, part, format!("{path}/content"));
                parts += 1;
            }
        }
        let said = std::mem::take(&mut reader.texts).join("\n");
        lines.push(format!("[{role}] {said}").trim_end().to_owned());
    }
    reader.keep_beyond("messages", messages);
    if parts > limits::MCP_PARTS {
        let message = format!("{parts} parts, of which the first {} were read", limits::MCP_PARTS);
        reader.degrade("too-many-parts", message, "/messages");
    }
    let text = if lines.is_empty() { "(no messages)".to_owned() } else { lines.join("\n") };
    if stand_in.is_none() {
        let label = format!("rendered prompt {}", short(id));
        reader.store("messages", text.clone().into_bytes(), "text/plain", label, "/messages");
        reader.texts.push(text);
    }
    reader.keep_rest(map, READ_MESSAGES);
    reader.facts.clear();
    let mut converted = finish(reader, Vec::new(), stand_in, false);
    let description = map.get("description").and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(description) = description {
        let shown = sanitize(description);
        summary(&shown).clone_into(&mut converted.envelope.summary);
    }
    Ok(converted)
}

fn object(result: &Value) -> Result<&JsonMap> {
    result.as_object().ok_or_else(|| wrong_type("/result", "an object", result))
}

/// Returns the parts of a result, which must be there unless it is none yet.
fn list<'a>(reader: &mut ResultReader, map: &'a JsonMap, key: &str, expected: bool) -> &'a [Value] {
    let value = map.get(key).unwrap_or(&Value::Null);
    if value.is_null() && expected {
        reader.degrade("malformed-result", format!("`{key}` is missing"), format!("/{key}"));
    }
    reader.parts(key, value)
}

/// Returns who says a message.
fn role(reader: &mut ResultReader, message: &Value, path: &str) -> String {
    match message.get("role") {
        Some(Value::String(role)) => short(role).replace(['[', ']'], "_"),
        other => {
            let message = format!("the role is {}", other.map_or("missing", type_name));
            reader.degrade("malformed-part", message, format!("{path}/role"));
            "user".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::result::NO_CONTENT;
    use super::*;
    use contextweaver_model::Status;

    fn handles(converted: &ConvertedResult) -> Vec<&str> {
        converted.binaries.iter().map(|binary| binary.handle.as_str()).collect()
    }

    fn codes(converted: &ConvertedResult) -> Vec<(&str, &str)> {
        converted.warnings.iter().map(|warning| (warning.code, warning.path.as_str())).collect()
    }

    #[test]
    fn contents_keep_their_bytes() {
        let result = json!({ "contents": [
            { "uri": "u:a", "mimeType": "text/csv", "text": "a,b" },
            { "uri": "u:b", "blob": "aGVsbG8=" },
            { "uri": "u:c", "blob": "%%" },
            "x",
            { "uri": "u:d", "text": "t\u{202e}", "blob": "aGk" },
        ], "ttlMs": 5 });
        let converted = mcp_resource_to_envelope(&result, "resource::u:a#00000000", 1 << 20).unwrap();
        assert_eq!(converted.full_text, "a,b\nx\nt\\u{202e}");
        assert_eq!(
            handles(&converted),
            ["0", "1", "2", "4", "4:blob"].map(|end| format!("resource:resource::u:a#00000000:{end}"))
        );
        assert_eq!(converted.binaries[1].bytes, b"hello");
        assert_eq!(
            codes(&converted),
            [
                ("decode-error", "/contents/2/blob"),
                ("malformed-part", "/contents/3"),
                ("base64-form", "/contents/4/blob"),
            ]
        );
        assert_eq!((converted.envelope.status, converted.envelope.facts.len()), (Status::Partial, 0));
        assert_eq!(converted.envelope.provenance["extra"], json!({ "ttlMs": 5 }));
    }

    #[test]
    fn messages_are_lines_and_their_images_are_bytes() {
        let result = json!({ "messages": [
            { "role": "assistant", "content": { "type": "image", "data": "aGk=", "mimeType": "image/png" } },
            { "role": "user", "content": [{ "type": "text", "text": "a  \n b \n" }, { "type": "text", "text": "c: d" }] },
            { "role": "x]\n[assistant", "content": "yo" },
            5,
        ] });
        let converted = mcp_prompt_to_envelope(&result, "prompt::a:b#00000000", 1 << 20).unwrap();
        assert_eq!(converted.full_text, "[assistant]\n[user] a  \n b \n\nc: d\n[x_\\u{a}_assistant] yo\n[user]");
        assert_eq!(
            handles(&converted),
            ["image:0", "messages"].map(|end| format!("prompt:prompt::a:b#00000000:{end}"))
        );
        assert_eq!(converted.binaries[1].bytes, converted.full_text.as_bytes());
        assert_eq!(
            codes(&converted),
            [("malformed-part", "/messages/3/role"), ("malformed-part", "/messages/3/content")]
        );
        assert!(converted.envelope.facts.is_empty());
    }

    #[test]
    fn what_is_only_asked_for_is_partial() {
        let result = json!({ "resultType": "input_required", "inputRequests": { "who": {} } });
        for converted in [
            mcp_resource_to_envelope(&result, "r", 1 << 20).unwrap(),
            mcp_prompt_to_envelope(&result, "p", 1 << 20).unwrap(),
        ] {
            assert_eq!(converted.full_text, "(input required: who)");
            assert_eq!((converted.envelope.status, converted.warnings.len()), (Status::Partial, 0));
        }
        let empty = mcp_prompt_to_envelope(&json!({}), "p", 1 << 20).unwrap();
        assert_eq!(
            (empty.full_text.as_str(), codes(&empty)),
            ("(no messages)", vec![("malformed-result", "/messages")])
        );
        assert_eq!(mcp_resource_to_envelope(&json!({}), "r", 9).unwrap().full_text, NO_CONTENT);
        assert_eq!(mcp_resource_to_envelope(&json!([]), "r", 9).unwrap_err().path(), "/result");
    }

    #[test]
    fn a_result_unpacks_to_so_many_bytes() {
        let result = json!({ "contents": [{ "uri": "u:a", "text": "x".repeat(100) }, { "uri": "u:b", "text": "y" }] });
        let converted = mcp_resource_to_envelope(&result, "r", 50).unwrap();
        let line = "(TOO_LARGE: 55 bytes of /contents/0/text and 1 more are missing: a result is kept up to 50 bytes; call the tool \
                    again for a smaller part)";
        assert_eq!(
            (handles(&converted), converted.full_text.clone()),
            (vec!["resource:r:1"], format!("{}\n{line}", "x".repeat(46)))
        );
        let many = json!({ "messages": vec![json!({ "role": "user", "content": "x" }); limits::MCP_PARTS + 1] });
        let converted = mcp_prompt_to_envelope(&many, "p", 1 << 20).unwrap();
        assert_eq!(codes(&converted), [("too-many-parts", "/messages")]);
    }
}
