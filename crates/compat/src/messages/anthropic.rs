//! Anthropic messages as 0.18 converts them.

use serde_json::{Value, json};

use super::grouped::groups;
use super::{KnownCalls, as_object, invalid, item, metadata, missing, one_of, or_default, present, text_of_parts};
use contextweaver_base::Result;
use contextweaver_model::json::python::{is_truthy, text};
use contextweaver_model::json::{JsonMap, pointer, to_sorted_ascii, type_name};
use contextweaver_model::{ContextItem, ItemKind};

/// Converts a list of Anthropic messages to items.
///
/// # Errors
/// `INVALID_INPUT` (blocks other than `text`, `tool_use` and `tool_result` included), `MISSING_FIELD`, and
/// `NOT_FOUND` for a result without an earlier call.
///
/// ```
/// use contextweaver_compat::messages::{from_anthropic, to_anthropic};
/// use serde_json::{Value, json};
///
/// let messages = json!([{ "role": "user", "content": "Is it raining?" }]);
/// let items = from_anthropic(&messages, "/messages")?;
/// assert_eq!(items[0].text, "Is it raining?");
/// assert_eq!(Value::from(to_anthropic(&items, "/items")?), messages);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_anthropic(messages: &Value, path: &str) -> Result<Vec<ContextItem>> {
    let mut items = Vec::new();
    let mut announced = KnownCalls::default();
    for (index, message) in super::as_list(messages, path)?.iter().enumerate() {
        let path = format!("{path}/{index}");
        let message = as_object(message, &path)?;
        let role = one_of(message, "role", &["user", "assistant"], &path)?;
        let path = pointer(&path, "content");
        match message.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                let block = metadata([("type", "text".into()), ("text", text.as_str().into())]);
                items.push(decode_text(&PlacedBlock {
                    role,
                    message: index,
                    place: 0,
                    shorthand: true,
                    fields: &block,
                }));
            }
            Some(Value::Array(blocks)) => {
                for (place, block) in blocks.iter().enumerate() {
                    let path = format!("{path}/{place}");
                    let fields = as_object(block, &path)?;
                    let block = PlacedBlock { role, message: index, place, shorthand: false, fields };
                    items.push(decode_block(&mut announced, &block, &path)?);
                }
            }
            Some(other) => {
                return Err(invalid(format!("expected text, an array or null, got {}", type_name(other)), path));
            }
        }
    }
    Ok(items)
}

/// A content block and where it is.
struct PlacedBlock<'a> {
    role: &'a str,
    message: usize,
    place: usize,
    shorthand: bool,
    fields: &'a JsonMap,
}

impl PlacedBlock<'_> {
    fn metadata(&self, block_type: &str) -> JsonMap {
        metadata([
            ("role", self.role.into()),
            ("msg_index", self.message.into()),
            ("block_index", self.place.into()),
            ("block_type", block_type.into()),
            ("was_string_shorthand", self.shorthand.into()),
            ("original_block", Value::Object(self.fields.clone())),
        ])
    }

    fn must_be_from(&self, role: &str, path: &str) -> Result<()> {
        if self.role == role {
            return Ok(());
        }
        Err(invalid(format!("expected in a message of role `{role}`, got `{}`", self.role), pointer(path, "type")))
    }
}

fn decode_block(announced: &mut KnownCalls, block: &PlacedBlock, path: &str) -> Result<ContextItem> {
    match one_of(block.fields, "type", &["text", "tool_use", "tool_result"], path)? {
        "text" => Ok(decode_text(block)),
        "tool_use" => {
            block.must_be_from("assistant", path)?;
            decode_call(announced, block, path)
        }
        _ => {
            block.must_be_from("user", path)?;
            decode_result(announced, block, path)
        }
    }
}

fn decode_text(block: &PlacedBlock) -> ContextItem {
    let kind = if block.role == "user" { ItemKind::UserTurn } else { ItemKind::AgentMsg };
    let id = format!("anthropic:{}:{}:{}", block.role, block.message, block.place);
    let shown = block.fields.get("text").map_or_else(String::new, text);
    item(id, kind, shown, block.metadata("text"))
}

fn decode_call(announced: &mut KnownCalls, block: &PlacedBlock, path: &str) -> Result<ContextItem> {
    let id = announced.add(block.fields, path)?;
    let input = or_default(block.fields, "input", json!({}));
    let shown = to_sorted_ascii(&input, None);
    let mut data = block.metadata("tool_use");
    data.extend(metadata([
        ("tool_use_id", id.clone()),
        ("function_name", or_default(block.fields, "name", "".into())),
        ("input", input),
    ]));
    Ok(item(format!("anthropic:tool_use:{}", text(id)), ItemKind::ToolCall, shown, data))
}

fn decode_result(announced: &KnownCalls, block: &PlacedBlock, path: &str) -> Result<ContextItem> {
    let id = announced.answered(block.fields, "tool_use_id", path)?;
    let content = or_default(block.fields, "content", Value::Null);
    let shown = match &content {
        Value::Null => String::new(),
        Value::Array(parts) => text_of_parts(parts),
        other => text(other),
    };
    let mut data = block.metadata("tool_result");
    data.extend(metadata([
        ("tool_use_id", id.clone()),
        ("is_error", present(block.fields, "is_error").is_some().into()),
        ("is_error_present", block.fields.contains_key("is_error").into()),
        ("content_payload", content),
    ]));
    let id = text(id);
    let mut result = item(format!("anthropic:tool_result:{id}"), ItemKind::ToolResult, shown, data);
    result.parent_id = Some(format!("anthropic:tool_use:{id}"));
    Ok(result)
}

/// Converts items to Anthropic messages, by the metadata that the other direction leaves; `path` is where they are.
///
/// # Errors
/// `MISSING_FIELD` and `INVALID_INPUT` where the metadata does not tell the message, or the message would be blank.
pub fn to_anthropic(items: &[ContextItem], path: &str) -> Result<Vec<Value>> {
    let mut messages = Vec::new();
    for group in groups(items, "block_index", &["user", "assistant"], path)? {
        let mut blocks = Vec::with_capacity(group.items.len());
        for (index, item) in &group.items {
            blocks.push(encode_block(item, &format!("{path}/{index}/metadata"))?);
        }
        let is_text = |block: &Value| block["type"] == "text";
        group.check_not_blank(&blocks, is_text, path)?;
        let is_shorthand = || group.items[0].1.metadata.get("was_string_shorthand").is_some_and(is_truthy);
        let content = match &mut blocks[..] {
            [block] if is_text(block) && is_shorthand() => block["text"].take(),
            _ => Value::Array(blocks),
        };
        messages.push(json!({ "role": group.role, "content": content }));
    }
    Ok(messages)
}

/// Lays what the item says over the block it was made of, if it says which type of block that was.
fn encode_block(item: &ContextItem, path: &str) -> Result<Value> {
    let data = &item.metadata;
    let block_type = data.get("block_type").and_then(Value::as_str);
    let is_known = matches!(block_type, Some("text" | "tool_use" | "tool_result"));
    let original = data.get("original_block").filter(|_| is_known).and_then(Value::as_object);
    let mut block = original.cloned().unwrap_or_default();
    let mut set = |key: &str, value: Value| drop(block.insert(key.to_owned(), value));
    let id = || present(data, "tool_use_id").cloned().ok_or_else(|| missing("tool_use_id", path));
    match block_type {
        Some("tool_use") => {
            set("type", "tool_use".into());
            set("id", id()?);
            set("name", or_default(data, "function_name", "".into()));
            set("input", or_default(data, "input", json!({})));
        }
        Some("tool_result") => {
            set("type", "tool_result".into());
            set("tool_use_id", id()?);
            let content = data.get("content_payload").filter(|content| !content.is_null());
            let is_error = present(data, "is_error_present").map(|_| present(data, "is_error").is_some().into());
            for (key, value) in [("content", content.cloned()), ("is_error", is_error)] {
                match value {
                    Some(value) => drop(block.insert(key.to_owned(), value)),
                    None => drop(block.shift_remove(key)),
                }
            }
        }
        _ => {
            set("type", "text".into());
            set("text", item.text.clone().into());
        }
    }
    Ok(Value::Object(block))
}
