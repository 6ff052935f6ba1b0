//! Sessions as 0.18 reads them.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::python::{self, is_truthy};
use contextweaver_model::json::{self, wrong_type};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::lines::lines;
use contextweaver_text::unicode::trim;

/// Reads a session: lines end at every terminator Unicode knows and count from the first one that is not blank, and what
/// has no known type is a turn of the user. The first problem is an error. Sensitivity and artifact are not read.
///
/// # Errors
/// `DECODE_FAILED`, `INVALID_INPUT` or `OUT_OF_RANGE` for the first bad line, whose number is in the details.
///
/// ```
/// use contextweaver_compat::mcp::load_mcp_session_jsonl;
///
/// let items = load_mcp_session_jsonl(r#"{"type": "agent_msg", "content": [1, null]}"#)?;
/// // Values are shown as Python shows them.
/// assert_eq!(items[0].text, "[1, None]");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn load_mcp_session_jsonl(text: &str) -> Result<Vec<ContextItem>> {
    let mut items = Vec::new();
    for (index, line) in lines(trim(text)).enumerate() {
        let line = trim(line);
        if !line.is_empty() {
            let read = json::parse(line).and_then(|record| item(record, index + 1));
            items.push(read.map_err(|error| error.detail("line", index + 1))?);
        }
    }
    Ok(items)
}

fn item(record: Value, number: usize) -> Result<ContextItem> {
    let Value::Object(mut record) = record else { return Err(wrong_type("", "an object", &record)) };
    let kind = match record.shift_remove("type") {
        // Found documents are no type of a session there.
        Some(Value::String(name)) => {
            ItemKind::parse(&name).ok().filter(|kind| *kind != ItemKind::RetrievedDoc).unwrap_or(ItemKind::UserTurn)
        }
        Some(other @ (Value::Array(_) | Value::Object(_))) => return Err(wrong_type("/type", "a string", &other)),
        _ => ItemKind::UserTurn,
    };
    let id = match record.shift_remove("id") {
        None => format!("mcp-line-{number}"),
        Some(id) => as_id(id, "/id")?,
    };
    let content = record.shift_remove("content").unwrap_or_else(|| "".into());
    let shown = record.shift_remove("text").filter(is_truthy).unwrap_or(content);
    let mut item = ContextItem::new(id, kind, python::text(&shown));
    if let Some(tokens) = record.shift_remove("token_estimate") {
        item.token_estimate = tokens_of(&tokens)?;
    }
    if let Some(metadata) = record.shift_remove("metadata") {
        let wrong = wrong_type("/metadata", "an object", &metadata);
        item.metadata = python::dict(metadata).ok_or(wrong)?;
    }
    item.parent_id =
        record.shift_remove("parent_id").filter(|id| !id.is_null()).map(|id| as_id(id, "/parent_id")).transpose()?;
    Ok(item)
}

fn as_id(id: Value, path: &str) -> Result<String> {
    match id {
        Value::String(id) => Ok(id),
        other => Err(wrong_type(path, "a string", &other)),
    }
}

fn tokens_of(value: &Value) -> Result<u64> {
    let whole = python::int(value).ok_or_else(|| wrong_type("/token_estimate", "a whole number", value))?;
    u64::try_from(whole).map_err(|_| {
        Error::new(ErrorCode::OutOfRange, format!("expected a whole number from 0 on, got {whole}"))
            .at("/token_estimate")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_the_first_that_is_not_blank() {
        let items = load_mcp_session_jsonl("\n\n{\"text\": \"a\"}\u{85}\n{\"content\": [1, null]}").unwrap();
        let found: Vec<(&str, &str)> = items.iter().map(|item| (item.id.as_str(), item.text.as_str())).collect();
        assert_eq!(found, [("mcp-line-1", "a"), ("mcp-line-3", "[1, None]")]);
        let items = load_mcp_session_jsonl("{\"type\": \"retrieved_doc\"}").unwrap();
        assert_eq!(items[0].kind, ItemKind::UserTurn);
        let error = load_mcp_session_jsonl("{}\n{bad").unwrap_err();
        assert_eq!(error.details()["line"], 2);
    }
}
