//! Messages of the providers as items and back, in cases that are worth reading.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api::convert::convert_call;
use contextweaver_context::forget_source_message;
use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use contextweaver_model::ContextItem;
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
        { "role": "user", "content": "Go on." },
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
            ("user_turn", "message:6", "Go on.", None),
            ("tool_call", "call_7", "{}", None),
            ("tool_result", "result:call_7", "done", Some("call_7")),
        ]
    );
}

#[test]
fn openai_responses() {
    let messages = json!([
        { "role": "user", "content": "Hi" },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA" },
        { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
          "content": [{ "type": "output_text", "text": "One moment.", "annotations": [] }] },
        { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{\"a\":1}", "status": "completed" },
        { "type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls" },
        { "type": "function_call_output", "call_id": "c1", "output": [{ "type": "input_text", "text": "x" }, { "type": "input_image", "image_url": "https://a/b.png" }] },
        { "type": "custom_tool_call_output", "call_id": "c2", "output": "y" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed" },
        { "type": "item_reference", "id": "msg_9" },
        { "type": "message", "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] },
        { "type": "computer_call", "id": "cu_1", "call_id": "c3", "action": { "type": "screenshot" }, "pending_safety_checks": [], "status": "completed" },
        { "type": "computer_call_output", "call_id": "c3", "output": { "type": "computer_screenshot", "image_url": "data:," } }
    ]);
    let items = comes_back("openai-responses", &messages);
    assert_eq!(
        shown(&items),
        [
            ("user_turn", "message:0", "Hi", None),
            ("agent_msg", "message:2", "One moment.", None),
            ("tool_call", "c1", "{\"a\":1}", Some("message:2")),
            ("tool_call", "c2", "ls", Some("message:2")),
            ("tool_result", "result:c1", "x\n[image: https://a/b.png]", Some("c1")),
            ("tool_result", "result:c2", "y", Some("c2")),
            ("tool_call", "ws_1", "", None),
            ("agent_msg", "message:8", "[item_reference]", None),
            ("agent_msg", "message:9", "No.", None),
            ("tool_call", "c3", "{\"type\":\"screenshot\"}", Some("message:8")),
            ("tool_result", "result:c3", "[computer_screenshot]", Some("c3")),
        ]
    );
    // The reasoning rides on the first call: without it, the message loses its id, and the other call, which has none, stays.
    let (left, warnings) = write("openai-responses", &[&items[..2], &items[3..4], &items[5..6]].concat());
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!((&left[2], &left[3]), (&messages[4], &messages[6]));
    assert_eq!(left.as_array().unwrap().len(), 4);
    assert_eq!((&left[1]["id"], &left[1]["content"]), (&Value::Null, &messages[2]["content"]));
}

#[test]
fn several_actions_on_a_computer_are_the_arguments_of_their_call() {
    let messages = json!([
        { "role": "user", "content": "Go" },
        { "type": "computer_call", "call_id": "c", "actions": [{ "type": "click", "x": 1 }, { "type": "wait" }], "status": "completed" },
        { "type": "computer_call_output", "call_id": "c", "output": { "type": "computer_screenshot", "image_url": "data:," } }
    ]);
    let items = comes_back("openai-responses", &messages);
    assert_eq!(shown(&items)[1].2, "[{\"type\":\"click\",\"x\":1},{\"type\":\"wait\"}]");
}

#[test]
fn arguments_that_are_null_or_quoted_twice_are_an_object() {
    let call = |arguments: &str| {
        let call = json!({ "id": "c", "type": "function", "function": { "name": "f", "arguments": arguments } });
        let messages = json!([{ "role": "assistant", "content": null, "tool_calls": [call] }, { "role": "tool", "tool_call_id": "c", "content": "r" }]);
        let items = read("openai-chat", &messages);
        [
            write("openai-chat", &items).0[0]["tool_calls"][0]["function"]["arguments"].clone(),
            write("anthropic", &items).0[1]["content"][0]["input"].clone(),
        ]
    };
    assert_eq!(call("null"), [json!("{}"), json!({})]);
    assert_eq!(call("\"{\\\"a\\\":1}\"")[1], json!({ "a": 1 }));
    assert_eq!(call("\"a\"")[1], json!({ "input": "\"a\"" }));
}

#[test]
fn ai_sdk_ui() {
    let messages = json!([
        { "id": "a", "role": "user", "metadata": { "at": 1 }, "parts": [
            { "type": "text", "text": "Look" }, { "type": "file", "mediaType": "image/png", "filename": "x.png", "url": "data:image/png;base64,AAAA" } ] },
        { "id": "b", "role": "assistant", "parts": [
            { "type": "step-start" },
            { "type": "reasoning", "text": "hm", "state": "done" },
            { "type": "text", "text": "First.", "state": "done" },
            { "type": "tool-weather", "toolCallId": "c1", "state": "output-available", "input": { "city": "天" }, "output": { "t": 21 } },
            { "type": "dynamic-tool", "toolName": "sh", "toolCallId": "c2", "state": "output-error", "input": "ls", "errorText": "bad" },
            { "type": "step-start" },
            { "type": "source-url", "sourceId": "1", "url": "https://a" },
            { "type": "tool-ask", "toolCallId": "c3", "state": "output-denied", "input": {}, "approval": { "id": "x", "approved": false, "reason": "No!" } },
            { "type": "tool-web", "toolCallId": "c4", "state": "output-available", "providerExecuted": true, "input": {}, "output": 1 },
            { "type": "data-x", "data": {} } ] },
        { "id": "c", "role": "assistant", "parts": [
            { "type": "tool-ask", "toolCallId": "c5", "state": "approval-requested", "input": {}, "approval": { "id": "y" } } ] }
    ]);
    let items = comes_back("ai-sdk-ui", &messages);
    assert_eq!(
        shown(&items),
        [
            ("user_turn", "message:0", "Look\n[image: x.png, image/png, 1 KiB]", None),
            ("agent_msg", "message:1", "First.", None),
            ("tool_call", "c1", "{\"city\":\"天\"}", Some("message:1")),
            ("tool_call", "c2", "ls", Some("message:1")),
            ("tool_result", "result:c1", "{\"t\":21}", Some("c1")),
            ("tool_result", "result:c2", "bad", Some("c2")),
            ("tool_call", "c3", "{}", None),
            ("tool_call", "c4", "{}", None),
            ("tool_result", "result:c4", "1", Some("c4")),
            ("tool_result", "result:c3", "No!", Some("c3")),
            ("tool_call", "c5", "{}", None),
        ]
    );
    let (chat, warnings) = write("openai-chat", &items);
    assert_eq!(warnings, ["OPAQUE_LEFT_OUT"; 3]);
    assert_eq!(
        chat,
        json!([
            { "role": "user", "content": [
                { "type": "text", "text": "Look" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } } ] },
            { "role": "assistant", "content": "First.", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"天\"}" } },
                { "id": "c2", "type": "function", "function": { "name": "sh", "arguments": "{\"input\":\"ls\"}" } } ] },
            { "role": "tool", "tool_call_id": "c1", "content": "{\"t\":21}" },
            { "role": "tool", "tool_call_id": "c2", "content": "bad" },
            { "role": "assistant", "content": "\n[web] {}\n1", "tool_calls": [
                { "id": "c3", "type": "function", "function": { "name": "ask", "arguments": "{}" } } ] },
            { "role": "tool", "tool_call_id": "c3", "content": "No!" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c5", "type": "function", "function": { "name": "ask", "arguments": "{}" } } ] }
        ])
    );
}

#[test]
fn ai_sdk_model() {
    let messages = json!([
        { "role": "system", "content": "Rules", "providerOptions": { "a": { "cache": true } } },
        { "role": "user", "content": [{ "type": "text", "text": "Go" }, { "type": "image", "image": "https://a/b.png" }] },
        { "role": "assistant", "content": [
            { "type": "reasoning", "text": "hm", "providerOptions": { "a": { "signature": "s" } } },
            { "type": "text", "text": "Going." },
            { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": { "a": 1.0 } },
            { "type": "tool-approval-request", "approvalId": "p", "toolCallId": "c1" },
            { "type": "tool-call", "toolCallId": "c2", "toolName": "g", "input": {} } ] },
        { "role": "tool", "content": [
            { "type": "tool-approval-response", "approvalId": "p", "approved": true },
            { "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": { "type": "json", "value": "s" } },
            { "type": "tool-result", "toolCallId": "c2", "toolName": "g", "output": { "type": "error-text", "value": "bad" } } ] },
        { "role": "assistant", "content": "Done." },
        { "role": "user", "content": "Go on." },
        { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c3", "toolName": "f", "input": {} },
            { "type": "tool-approval-request", "approvalId": "q", "toolCallId": "c3" }] },
        { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "q", "approved": false }] }
    ]);
    let items = comes_back("ai-sdk-model", &messages);
    assert_eq!(
        shown(&items[2..]),
        [
            ("agent_msg", "message:2", "Going.", None),
            ("tool_call", "c1", "{\"a\":1.0}", Some("message:2")),
            ("tool_call", "c2", "{}", Some("message:2")),
            ("user_turn", "message:3", "[tool call approved]", Some("c1")),
            ("tool_result", "result:c1", "\"s\"", Some("c1")),
            ("tool_result", "result:c2", "bad", Some("c2")),
            ("agent_msg", "message:4", "Done.", None),
            ("user_turn", "message:5", "Go on.", None),
            ("tool_call", "c3", "{}", None),
            ("user_turn", "message:7", "[tool call denied]", Some("c3")),
        ]
    );
    assert_eq!(items[1].token_estimate, 1000 + 8);
}

#[test]
fn changed_texts_win_and_take_images_with_them() {
    let messages = json!([
        { "role": "user", "name": "kim", "content": [
            { "type": "text", "text": "my password is x" }, { "type": "image_url", "image_url": { "url": "https://a" } } ] },
        { "role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{\"password\":\"x\"}" } } ] },
        { "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "secret" }] }
    ]);
    let mut items = read("openai-chat", &messages);
    items[0].text = "my password is [..]".into();
    items[1].text = "{\"password\":\"[..]\"}".into();
    items[2].text = "gone".into();
    let (written, warnings) = write("openai-chat", &items);
    assert_eq!(warnings, ["MEDIA_LEFT_OUT"]);
    assert_eq!(
        written,
        json!([
            { "role": "user", "name": "kim", "content": "my password is [..]" },
            { "role": "assistant", "reasoning_content": "hm", "content": null, "tool_calls": [
                { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{\"password\":\"[..]\"}" } } ] },
            { "role": "tool", "tool_call_id": "c", "content": "gone" }
        ])
    );
    // Neither a redacted item nor a record that was masked gives its reasoning: calls of the first go, those of the other are words.
    for place in ["redacted", "digest", "forgotten"] {
        let mut items = items.clone();
        match place {
            "redacted" => drop(items[1].metadata.insert("redacted".into(), true.into())),
            "digest" => items[1].metadata["_contextweaver"]["message"]["digest"] = "".into(),
            _ => forget_source_message(&mut items[1]),
        }
        let (written, warnings) = write("openai-chat", &items);
        let wanted = ["MEDIA_LEFT_OUT", "REASONING_INCOMPLETE"];
        let left = if place == "digest" { 3 } else { 1 };
        assert_eq!((written.as_array().unwrap().len(), warnings.as_slice()), (left, wanted.as_slice()), "{place}");
        assert!(!written.to_string().contains("reasoning_content"));
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the callers make it on the spot")]
fn item(kind: &str, id: &str, text: &str, parent: Option<&str>, metadata: Value) -> ContextItem {
    let value = json!({ "kind": kind, "id": id, "text": text, "parent_id": parent, "metadata": metadata });
    ContextItem::from_value(value, "").unwrap()
}

#[test]
fn pairs_are_repaired() {
    let items = [
        item("tool_result", "result:lost", "r0", Some("lost"), json!({ "tool_name": "f" })),
        item("tool_call", "c1", "free text", None, json!({})),
        item("user_turn", "u", "hello", None, json!({})),
        item("tool_result", "result:c1", "r1", Some("c1"), json!({})),
        item("tool_result", "again", "r2", Some("c1"), json!({})),
        item("tool_call", "c2", "{}", None, json!({ "function_name": "a.b" })),
        item("doc_snippet", "d", "text", None, json!({})),
        item("tool_call", "c3", "{}", None, json!({ "tool_call_id": "c1" })),
    ];
    let (written, warnings) = write("openai-chat", &items);
    let call = |id: &str, name: &str, arguments: &str| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }] })
    };
    let result = |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
    assert_eq!(
        written,
        json!([
            call("lost", "f", "{}"), result("lost", "r0"),
            call("c1", "tool", "{\"input\":\"free text\"}"), result("c1", "r1\nr2"),
            { "role": "user", "content": "hello" },
            call("c2", written[5]["tool_calls"][0]["function"]["name"].as_str().unwrap(), "{}"),
            result("c2", "No result was recorded for this call."),
            { "role": "user", "content": "[DOCUMENT]\ntext" },
            call("c1_2", "tool", "{}"),
        ])
    );
    let unnamed = ["NAME_MISSING", "ID_CHANGED"];
    let first = ["CALL_MISSING", "ARGUMENTS_UNREAD", "NAME_MISSING", "RESULTS_JOINED"];
    assert_eq!(warnings, [&first[..], &["NAME_CHANGED", "RESULT_MISSING"], &unnamed].concat());
}

#[test]
fn calls_that_were_logged_as_text_keep_their_tool_and_arguments() {
    let named = |name: &str| json!({ "tool_name": name });
    let read = "read_log";
    // The text of the call, its metadata, that of its result, and what is written.
    let table = [
        ("read_log()", json!({}), named(read), read, json!({}), &[][..]),
        ("read_log()", json!({}), json!({}), read, json!({}), &[]),
        ("read_log({\"tail\": 9})", json!({}), named(read), read, json!({ "tail": 9 }), &[]),
        ("read_log {\"tail\": 9}", json!({}), json!({}), read, json!({ "tail": 9 }), &[]),
        ("{\"tail\": 9}", json!({}), named(read), read, json!({ "tail": 9 }), &[]),
        ("", json!({}), named(read), read, json!({}), &[]),
        ("read_log()", json!({ "function_name": read }), named("other"), read, json!({}), &[]),
        ("read_log()", named(""), named(""), read, json!({}), &[]),
        ("look()", json!({ "function_name": "", "tool_name": "look" }), named(read), "look", json!({}), &[]),
        ("look at it", json!({}), named(read), read, json!({ "input": "look at it" }), &["ARGUMENTS_UNREAD"]),
        ("other()", json!({}), named(read), read, json!({ "input": "other()" }), &["ARGUMENTS_UNREAD"]),
        ("{\"tail\": 9}", json!({}), json!({}), "tool", json!({ "tail": 9 }), &["NAME_MISSING"]),
        ("look", json!({}), json!({}), "tool", json!({ "input": "look" }), &["ARGUMENTS_UNREAD", "NAME_MISSING"]),
    ];
    for (text, call, result, name, arguments, expected) in table {
        let items = [
            item("user_turn", "u1", "read the log", None, json!({})),
            item("tool_call", "c1", text, None, call),
            item("tool_result", "result:c1", "ok", Some("c1"), result),
        ];
        for format in Format::ALL {
            let written = items_to_messages(&items, *format, &WriteOptions::default()).unwrap();
            let shown = json!(written.messages).to_string();
            let (name, compact) = (format!("\"{name}\""), arguments.to_string());
            assert!(shown.contains(&name) || shown.contains(&name.replacen('"', "\"tool-", 1)), "{text}: {shown}");
            let plain = shown.replace("\\\"", "\"").replace("\": ", "\":");
            assert!(plain.contains(&compact), "{text}: {plain} has no {compact}");
            let told: Vec<&str> = written.warnings.iter().map(|warning| warning.code).collect();
            assert_eq!(told, expected, "{text} in {}", format.as_str());
            for warning in written.warnings {
                assert!(warning.message.contains("c1") && warning.path == "/items/1", "{warning:?}");
            }
        }
    }
    // Results that disagree name nothing; the arguments of a message are what they are, though they look like a call.
    let items = [
        item("tool_call", "c1", "{}", None, json!({})),
        item("tool_result", "r1", "1", Some("c1"), named("a")),
        item("tool_result", "r2", "2", Some("c1"), named("b")),
    ];
    assert!(write("openai-chat", &items).1.contains(&"NAME_MISSING"));
    let function = json!({ "id": "c1", "type": "function", "function": { "name": "say", "arguments": "stop()" } });
    let spoken = json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": null, "tool_calls": [function] }]);
    let items = messages_to_items(spoken, Format::OpenAiChat, &ReadOptions::default()).unwrap().items;
    let (written, warnings) = write("anthropic", &items);
    assert_eq!((written[1]["content"][0]["input"].clone(), warnings.len()), (json!({ "input": "stop()" }), 0));
}

#[test]
fn what_is_no_message_is_refused_with_its_place() {
    let table = [
        ("openai-chat", json!({}), "INVALID_INPUT", "/messages"),
        ("openai-chat", json!([1]), "INVALID_INPUT", "/messages/0"),
        ("openai-chat", json!([{ "role": "cow" }]), "INVALID_INPUT", "/messages/0/role"),
        ("openai-chat", json!([{ "role": "user", "content": 1 }]), "INVALID_INPUT", "/messages/0/content"),
        ("openai-chat", json!([{ "role": "tool", "content": "" }]), "MISSING_FIELD", "/messages/0/tool_call_id"),
        (
            "openai-chat",
            json!([{ "role": "assistant", "tool_calls": [{ "function": {} }] }]),
            "MISSING_FIELD",
            "/messages/0/tool_calls/0/id",
        ),
        (
            "openai-chat",
            json!([{ "role": "assistant", "tool_calls": [{ "id": "a", "function": {} }] }]),
            "MISSING_FIELD",
            "/messages/0/tool_calls/0/function/name",
        ),
        ("openai-responses", json!([{ "id": "x" }]), "MISSING_FIELD", "/messages/0/type"),
        (
            "openai-responses",
            json!([{ "type": "function_call", "name": "x", "call_id": 7 }]),
            "INVALID_INPUT",
            "/messages/0/call_id",
        ),
        ("ai-sdk-ui", json!([{ "role": "user" }]), "MISSING_FIELD", "/messages/0/parts"),
        (
            "ai-sdk-ui",
            json!([{ "role": "user", "parts": [{ "type": "tool-x" }] }]),
            "MISSING_FIELD",
            "/messages/0/parts/0/toolCallId",
        ),
        (
            "ai-sdk-model",
            json!([{ "role": "tool", "content": [{ "type": "tool-result" }] }]),
            "MISSING_FIELD",
            "/messages/0/content/0/toolCallId",
        ),
    ];
    for (format, messages, code, path) in table {
        let error = messages_to_items(messages, Format::parse(format).unwrap(), &ReadOptions::default()).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path));
    }
}

#[test]
fn operations() {
    let call = |operation: &str, arguments: Value| {
        let answer = convert_call(operation, &arguments.to_string());
        answer.map(|answer| serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
    };
    let result = json!([{ "role": "tool", "tool_call_id": "c", "content": "x" }]);
    let read = call(
        "messages_to_items",
        json!({ "messages": result, "format": "openai-chat", "start": 7, "known_calls": { "c": "call:c" } }),
    );
    let read = read.unwrap();
    assert_eq!((&read["items"][0]["parent_id"], &read["warnings"]), (&json!("call:c"), &json!([])));
    assert_eq!(read["items"][0]["metadata"]["_contextweaver"]["message"]["message"], 7);
    let written =
        call("items_to_messages", json!({ "items": read["items"], "format": "anthropic", "close_calls": true }));
    let written = written.unwrap();
    assert_eq!(written["warnings"][0]["code"], "CALL_MISSING");
    assert_eq!(written["messages"].as_array().unwrap().len(), 3);
    let spoken = json!([{ "role": "user", "content": "hi" }, { "role": "tool", "tool_call_id": "c", "content": "x" }]);
    let at_once =
        call("messages_to_messages", json!({ "messages": spoken, "format": "openai-chat", "to": "anthropic" }))
            .unwrap();
    let mut read = call("messages_to_items", json!({ "messages": spoken, "format": "openai-chat" })).unwrap();
    let written = call("items_to_messages", json!({ "items": read["items"], "format": "anthropic" })).unwrap();
    assert_eq!(at_once["messages"], written["messages"]);
    let warnings = read["warnings"].as_array_mut().unwrap();
    warnings.extend(written["warnings"].as_array().unwrap().iter().cloned());
    assert_eq!(at_once["warnings"].as_array(), Some(&*warnings));
    assert!(!warnings.is_empty());
    for (arguments, code, path) in [
        (json!({ "messages": [], "format": "cow" }), "INVALID_INPUT", "/format"),
        (json!({ "messages": [], "format": "gemini", "x": 1 }), "UNKNOWN_FIELD", "/x"),
        (
            json!({ "messages": [], "format": "gemini", "known_calls": { "a/b": 1 } }),
            "INVALID_INPUT",
            "/known_calls/a~1b",
        ),
    ] {
        let error = call("messages_to_items", arguments).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path));
    }
}
