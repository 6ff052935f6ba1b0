//! What a provider refuses and is repaired, with a warning each time.

use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use contextweaver_model::{ContextItem, ItemKind};
use serde_json::{Value, json};

fn item(kind: ItemKind, id: &str, text: &str, parent: Option<&str>) -> ContextItem {
    let mut item = ContextItem::new(id, kind, text);
    item.parent_id = parent.map(str::to_owned);
    item
}

fn call(id: &str, name: &str) -> ContextItem {
    let mut call = item(ItemKind::ToolCall, id, "{}", None);
    call.metadata.insert("function_name".into(), name.into());
    call
}

fn written(items: &[ContextItem], format: Format) -> (Vec<Value>, Vec<&'static str>) {
    let written =
        items_to_messages(items, format, &WriteOptions { close_calls: true, ..WriteOptions::default() }).unwrap();
    (written.messages, written.warnings.iter().map(|warning| warning.code).collect())
}

#[test]
fn results_that_do_not_follow_their_calls_are_repaired_and_named() {
    let user = item(ItemKind::UserTurn, "u", "go", None);
    let result = item(ItemKind::ToolResult, "result:c1", "42", Some("c1"));
    for format in Format::ALL {
        // Before its call: behind it.
        let (moved, codes) = written(&[user.clone(), result.clone(), call("c1", "f")], *format);
        let (usual, none) = written(&[user.clone(), call("c1", "f"), result.clone()], *format);
        assert_eq!((moved, codes), (usual, vec!["RESULT_MOVED"]), "{}", format.as_str());
        assert!(none.is_empty(), "{none:?}");
        // Without one: with a call made up.
        let (orphan, codes) = written(&[user.clone(), result.clone()], *format);
        assert_eq!(codes, ["CALL_MISSING"], "{}", format.as_str());
        assert!(json!(orphan).to_string().contains("42"));
    }
    // The way in.
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "42" });
    let call = json!({ "role": "assistant", "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } } ] });
    for messages in [json!([result]), json!([result, call])] {
        let read = messages_to_items(messages, Format::OpenAiChat, &ReadOptions::default()).unwrap();
        assert_eq!(read.warnings[0].code, "UNKNOWN_CALL");
    }
}

#[test]
fn a_last_message_of_the_model_ends_in_no_white_space_for_anthropic() {
    let said = |text: &str| vec![item(ItemKind::UserTurn, "u", "go ", None), item(ItemKind::AgentMsg, "a", text, None)];
    let (messages, codes) = written(&said("Here is \n\t"), Format::Anthropic);
    assert_eq!((messages[1]["content"].as_str(), codes), (Some("Here is"), vec!["TEXT_TRIMMED"]));
    // Others take it, and so does Anthropic from the user and before the end.
    let (messages, codes) = written(&said("Here is \n"), Format::OpenAiChat);
    assert_eq!((messages[1]["content"].as_str(), codes.len()), (Some("Here is \n"), 0));
    let mut items = said("Here is ");
    items.push(item(ItemKind::UserTurn, "u2", "so? ", None));
    let (messages, codes) = written(&items, Format::Anthropic);
    let texts: Vec<_> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!((texts, codes.len()), (vec!["go ", "Here is ", "so? "], 0));
    // Of several blocks the last.
    let blocks = json!([{ "type": "text", "text": "a " }, { "type": "text", "text": "b " }]);
    let messages = json!([{ "role": "user", "content": "go" }, { "role": "assistant", "content": blocks }]);
    let items = messages_to_items(messages, Format::Anthropic, &ReadOptions::default()).unwrap().items;
    let (messages, codes) = written(&items, Format::Anthropic);
    assert_eq!((messages[1]["content"][0]["text"].as_str(), codes), (Some("a "), vec!["TEXT_TRIMMED"]));
    assert_eq!(messages[1]["content"][1]["text"], "b");
}

#[test]
fn names_of_functions_are_mended_both_ways() {
    let long = "n".repeat(80);
    for name in ["123", "-a", "send mail", "天気", long.as_str()] {
        let items = [item(ItemKind::UserTurn, "u", "go", None), call("c1", name)];
        let (messages, codes) = written(&items, Format::Gemini);
        let mended = messages[1]["parts"][0]["functionCall"]["name"].as_str().unwrap().to_owned();
        assert!(mended.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_'), "{mended}");
        assert!(mended.len() <= 64 && mended.chars().all(|ch| ch.is_ascii_alphanumeric() || "_-.:".contains(ch)));
        assert!(codes.contains(&"NAME_CHANGED"), "{codes:?}");
        // Its result has the same name, and the item keeps its own.
        assert_eq!(messages[2]["parts"][0]["functionResponse"]["name"], mended);
        assert_eq!(items[1].metadata["function_name"], name);
        assert_eq!(written(&items, Format::Gemini).0, messages);
    }
    // A name that only Gemini takes goes elsewhere and comes back.
    let call = json!({ "functionCall": { "name": "files.read:v2", "args": {} } });
    let messages = json!([{ "role": "user", "parts": [{ "text": "go" }] }, { "role": "model", "parts": [call] }]);
    let items = messages_to_items(messages, Format::Gemini, &ReadOptions::default()).unwrap().items;
    let (chat, codes) = written(&items, Format::OpenAiChat);
    let name = chat[1]["tool_calls"][0]["function"]["name"].as_str().unwrap();
    assert!(name.starts_with("files_read_v2_") && codes.contains(&"NAME_CHANGED"), "{name} {codes:?}");
    assert_eq!(written(&items, Format::Gemini).0[1]["parts"][0], call);
}

/// Some servers count calls anew in each turn: a call and its result get the new id together, and keep what else they have.
#[test]
fn an_id_used_again_changes_in_the_call_and_in_its_result() {
    let turn = |n: u32| {
        [
            json!({ "role": "user", "content": format!("question {n}") }),
            json!({ "role": "assistant", "content": null, "tool_calls": [{
                "id": "call_0", "type": "function", "function": { "name": "f", "arguments": format!("{{\"n\":{n}}}") },
                "extra_content": { "google": { "thought_signature": format!("sign{n}") } },
            }] }),
            json!({ "role": "tool", "tool_call_id": "call_0", "content": format!("result {n}") }),
        ]
    };
    let mut messages: Vec<Value> = turn(0).into_iter().chain(turn(1)).collect();
    let read = messages_to_items(messages.clone().into(), Format::OpenAiChat, &ReadOptions::default()).unwrap();
    let mut items = read.items;
    messages[4]["tool_calls"][0]["id"] = "call_0_2".into();
    messages[5]["tool_call_id"] = "call_0_2".into();
    let written = items_to_messages(&items, Format::OpenAiChat, &WriteOptions::default()).unwrap();
    assert_eq!(written.messages, messages);
    // Shown otherwise, the result still answers its call.
    items[5].text = "digest".into();
    messages[5]["content"] = "digest".into();
    let written = items_to_messages(&items, Format::OpenAiChat, &WriteOptions::default()).unwrap();
    assert_eq!(written.messages, messages);
}

/// What a provider ran itself is a call with its result, which can be shown otherwise where the provider leaves room for that.
#[test]
fn results_of_the_provider_are_results() {
    let user = || json!({ "role": "user", "content": "go" });
    let code = json!({
        "type": "code_interpreter_call", "id": "ci_1", "code": "print(1)", "status": "completed",
        "outputs": [{ "type": "logs", "logs": "long log" }],
    });
    let mcp = json!({
        "type": "mcp_call", "id": "mcp_1", "name": "search", "server_label": "docs", "arguments": "{}", "output": "long log",
    });
    let shell = json!({
        "type": "shell_call_output", "call_id": "c", "output": [
            { "stdout": "long log", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } },
        ],
    });
    let shell_call = json!({ "type": "shell_call", "id": "s", "call_id": "c", "action": { "commands": ["make"] } });
    let responses = [
        (vec![user(), code], "/1/outputs/0/logs"),
        (vec![user(), mcp], "/1/output"),
        (vec![user(), shell_call, shell], "/2/output/0/stdout"),
    ];
    let fetched = |id: &str| {
        json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "I look." },
                { "type": "server_tool_use", "id": id, "name": "web_fetch", "input": { "url": "https://a.test" } },
                { "type": "web_fetch_tool_result", "tool_use_id": id, "content": {
                    "type": "web_fetch_result", "url": "https://a.test", "content": {
                        "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "long log" },
                    },
                } },
                { "type": "text", "text": "Done." },
            ] },
        ])
    };
    let anthropic = serde_json::from_value(fetched("srv_1")).unwrap();
    let cases = responses.map(|(messages, at)| (Format::OpenAiResponses, messages, at)).into_iter().chain([(
        Format::Anthropic,
        anthropic,
        "/1/content/2/content/content/source/data",
    )]);
    for (format, messages, at) in cases {
        let mut given = Value::from(messages);
        let read = messages_to_items(given.clone(), format, &ReadOptions::default()).unwrap();
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        let mut items = read.items;
        let (same, codes) = written(&items, format);
        assert_eq!((Value::from(same), codes), (given.clone(), vec![]));
        for other in Format::ALL.iter().filter(|other| **other != format) {
            let (messages, _) = written(&items, *other);
            assert!(json!(messages).to_string().contains("long log"), "{at} for {}", other.as_str());
        }
        let result = items.iter_mut().find(|item| item.kind == ItemKind::ToolResult).unwrap();
        assert!(result.text.contains("long log") && result.parent_id.is_some(), "{at}: {result:?}");
        result.text = "a digest".into();
        let (changed, codes) = written(&items, format);
        *given.pointer_mut(at).unwrap() = "a digest".into();
        assert_eq!((Value::from(changed), codes), (given, vec![]), "{at}");
        // Without its result the call goes, too, in words.
        items.retain(|item| item.kind != ItemKind::ToolResult);
        let (alone, _) = written(&items, format);
        assert!(!json!(alone).to_string().contains("digest"), "{at}");
    }
}

/// Pages that only the provider can read go back byte for byte, or are words.
#[test]
fn what_the_provider_wants_back_as_it_was_is_never_changed() {
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": [
            { "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "query": "tides" } },
            { "type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [
                { "type": "web_search_result", "url": "https://a.test", "title": "Tides", "encrypted_content": "gAAAA" },
            ] },
            { "type": "text", "text": "High at noon." },
        ] },
        { "role": "user", "content": "Thanks" },
    ]);
    let mut items = messages_to_items(messages.clone(), Format::Anthropic, &ReadOptions::default()).unwrap().items;
    assert_eq!(items[2].text, "Tides https://a.test");
    assert_eq!(Value::from(written(&items, Format::Anthropic).0), messages);
    items[2].text = "A page on tides".into();
    let (changed, _) = written(&items, Format::Anthropic);
    assert_eq!(changed[1]["content"][0]["text"], "[web_search] {\"query\":\"tides\"}\nA page on tides");
    assert!(!json!(changed).to_string().contains("srv_1"));
}
