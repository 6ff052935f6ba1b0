//! Messages of the providers as items and back, in cases that are worth reading.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::model::ContextItem;
use contextweaver::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use serde_json::{Value, json};

fn read(format: &str, messages: &Value) -> Vec<ContextItem> {
    let format = Format::parse(format).unwrap();
    messages_to_items(messages.clone(), format, &ReadOptions { id_prefix: "message:".into(), ..ReadOptions::default() })
        .unwrap()
        .items
}

fn write(format: &str, items: &[ContextItem]) -> (Value, Vec<&'static str>) {
    let written = items_to_messages(items, Format::parse(format).unwrap(), &WriteOptions::default()).unwrap();
    (Value::Array(written.messages), written.warnings.iter().map(|warning| warning.code).collect())
}

/// Kind, id, text and parent of every item.
fn shown(items: &[ContextItem]) -> Vec<(&'static str, &str, &str, Option<&str>)> {
    items
        .iter()
        .map(|item| (item.kind.as_str(), item.id.as_str(), item.text.as_str(), item.parent_id.as_deref()))
        .collect()
}

fn comes_back(format: &str, messages: &Value) -> Vec<ContextItem> {
    let items = read(format, messages);
    let (written, warnings) = write(format, &items);
    assert_eq!(written.to_string(), messages.to_string());
    assert!(warnings.is_empty(), "{warnings:?}");
    items
}

#[test]
fn openai_chat() {
    let messages = json!([
        { "role": "developer", "content": "Be brief." },
        { "role": "user", "name": "kim", "content": [
            { "type": "text", "text": "What is this?" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAABBBB" } },
            { "type": "text", "text": "And the weather?" } ] },
        { "role": "assistant", "reasoning_content": "hm", "content": "Let me see.", "refusal": null, "tool_calls": [
            { "id": "call_a", "type": "function", "function": { "name": "weather", "arguments": "{\"city\": \"\\u5929\"}" } },
            { "id": "call_b", "type": "custom", "custom": { "name": "shell", "input": "ls -l" } } ] },
        { "role": "tool", "tool_call_id": "call_a", "content": "21" },
        { "role": "tool", "tool_call_id": "call_b", "content": [{ "type": "text", "text": "a.txt" }] },
        { "role": "assistant", "content": "A cat.", "annotations": [] },
        { "role": "user", "content": "" },
        { "role": "assistant", "content": null, "function_call": { "name": "old", "arguments": "{}" } },
        { "role": "function", "name": "old", "content": "done" }
    ]);
    let items = comes_back("openai-chat", &messages);
    assert_eq!(
        shown(&items),
        [
            ("policy", "message:0", "Be brief.", None),
            ("user_turn", "message:1", "What is this?\n[image: image/png, 1 KiB]\nAnd the weather?", None),
            ("agent_msg", "message:2", "Let me see.", None),
            ("tool_call", "call_a", "{\"city\": \"天\"}", Some("message:2")),
            ("tool_call", "call_b", "ls -l", Some("message:2")),
            ("tool_result", "result:call_a", "21", Some("call_a")),
            ("tool_result", "result:call_b", "a.txt", Some("call_b")),
            ("agent_msg", "message:5", "A cat.", None),
            ("user_turn", "message:6", "", None),
            ("tool_call", "call_7", "{}", None),
            ("tool_result", "result:call_7", "done", Some("call_7")),
        ]
    );
}
