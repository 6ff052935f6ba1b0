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
    assert_eq!(changed[1]["content"][0]["text"], "[web_search] {\"query\":\"tides\"}\nA page on tides\n");
    assert!(!json!(changed).to_string().contains("srv_1"));
}

/// Two calls and their results, with ids as given, and how the format names the field of an id.
fn two_calls(format: Format, id: &str) -> Value {
    let (first, second) = (json!({ "n": 1 }), json!({ "n": 2 }));
    match format {
        Format::OpenAiChat => {
            let call = |args: &Value| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": args.to_string() } });
            let result = |text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
            json!([{ "role": "assistant", "content": null, "tool_calls": [call(&first), call(&second)] }, result("one"), result("two")])
        }
        Format::OpenAiResponses => {
            let call = |args: &Value| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": args.to_string() });
            let result = |text: &str| json!({ "type": "function_call_output", "call_id": id, "output": text });
            json!([call(&first), call(&second), result("one"), result("two")])
        }
        Format::Anthropic => {
            let call = |args: &Value| json!({ "type": "tool_use", "id": id, "name": "f", "input": args });
            let result = |text: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": text });
            json!([{ "role": "assistant", "content": [call(&first), call(&second)] }, { "role": "user", "content": [result("one"), result("two")] }])
        }
        Format::AiSdkModel => {
            let call = |args: &Value| json!({ "type": "tool-call", "toolCallId": id, "toolName": "f", "input": args });
            let result = |text: &str| json!({ "type": "tool-result", "toolCallId": id, "toolName": "f", "output": { "type": "text", "value": text } });
            json!([{ "role": "assistant", "content": [call(&first), call(&second)] }, { "role": "tool", "content": [result("one"), result("two")] }])
        }
        _ => {
            let part = |args: &Value, text: &str| json!({ "type": "tool-f", "toolCallId": id, "state": "output-available", "input": args, "output": text });
            json!([{ "id": "m1", "role": "assistant", "parts": [part(&first, "one"), part(&second, "two")] }])
        }
    }
}

#[test]
fn calls_without_an_id_get_one_and_their_results_the_same_in_order() {
    for format in Format::ALL.iter().copied().filter(|format| *format != Format::Gemini) {
        let read = messages_to_items(two_calls(format, ""), format, &ReadOptions::default()).unwrap();
        assert!(read.warnings.iter().all(|warning| warning.code == "ID_MISSING"), "{:?}", read.warnings);
        let text = |id: &str| {
            let result = read.items.iter().find(|item| item.parent_id.as_deref() == Some(id));
            result.map(|item| item.text.clone())
        };
        let calls: Vec<_> = read.items.iter().filter(|item| item.kind == ItemKind::ToolCall).collect();
        assert_eq!(calls.len(), 2, "{}", format.as_str());
        for (call, (argument, result)) in calls.iter().zip([("\"n\":1", "one"), ("\"n\":2", "two")]) {
            assert!(call.id.starts_with("unnamed_call_") && call.text.contains(argument), "{call:?}");
            assert!(text(&call.id).is_some_and(|text| text.contains(result)), "{}", format.as_str());
        }
        // Written, each result answers its call, and read again nothing is left to repair.
        for target in Format::ALL.iter().copied().filter(|target| *target != Format::Gemini) {
            let (messages, codes) = written(&read.items, target);
            assert!(
                codes.iter().all(|code| *code == "BEGINNING_MISSING"),
                "{} to {}: {codes:?}",
                format.as_str(),
                target.as_str()
            );
            let again = messages_to_items(json!(messages), target, &ReadOptions::default()).unwrap();
            assert_eq!(again.warnings, [], "{} to {}", format.as_str(), target.as_str());
        }
    }
    // A null counts as empty, and a result may come later than its call.
    let mut messages = two_calls(Format::OpenAiChat, "");
    messages[1]["tool_call_id"] = Value::Null;
    let calls = json!([messages[0]]);
    let first = messages_to_items(calls, Format::OpenAiChat, &ReadOptions::default()).unwrap().items;
    let open = first.iter().map(|item| ("f".to_owned(), item.id.clone())).collect();
    let known = first.iter().map(|item| (item.id.clone(), item.id.clone())).collect();
    let options = ReadOptions { start: 1, open_calls: open, known_calls: known, ..ReadOptions::default() };
    let rest = json!([messages[1], messages[2]]);
    let later = messages_to_items(rest, Format::OpenAiChat, &options).unwrap();
    assert!(later.items.iter().zip(&first).all(|(result, call)| result.parent_id.as_deref() == Some(&call.id)));
    // One that is not there is a mistake of whoever made the message.
    let mut missing = two_calls(Format::Anthropic, "c1");
    missing[0]["content"][0].as_object_mut().unwrap().remove("id");
    let error = messages_to_items(missing, Format::Anthropic, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.path(), "/messages/0/content/0/id");
}

#[test]
fn calls_that_name_no_tool_are_read_as_one() {
    for format in Format::ALL.iter().copied().filter(|format| !matches!(format, Format::Gemini | Format::AiSdkUi)) {
        let text = two_calls(format, "").to_string().replace("\"f\"", "\"\"");
        let read = messages_to_items(serde_json::from_str(&text).unwrap(), format, &ReadOptions::default()).unwrap();
        assert!(read.warnings.iter().any(|warning| warning.code == "NAME_MISSING"), "{}", format.as_str());
        assert_eq!(read.items[0].metadata_str("function_name"), Some("tool"), "{}", format.as_str());
    }
}

#[test]
fn numbers_that_javascript_rounds_stay_where_text_holds_them_and_are_told_elsewhere() {
    let arguments = r#"{"id":725653563933458433,"name":"cut \ud83d"}"#;
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "f", "arguments": arguments } });
    let found = r#"{"rows":[725653563933458433]}"#;
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": found },
    ]);
    let items = messages_to_items(messages.clone(), Format::OpenAiChat, &ReadOptions::default()).unwrap().items;
    for format in Format::ALL {
        let (messages_out, codes) = written(&items, *format);
        let text = json!(messages_out).to_string();
        assert!(text.contains("725653563933458433"), "{}: {text}", format.as_str());
        // The result is a text wherever it would be a value that is rounded.
        let is_text = text.contains(r#"{\"rows\":[725653563933458433]}"#);
        assert!(is_text, "{}: {text}", format.as_str());
        let wanted: &[&str] = match format {
            Format::OpenAiChat => &[],
            Format::OpenAiResponses => &["TEXT_REPAIRED"],
            _ => &["NUMBER_ROUNDED", "TEXT_REPAIRED"],
        };
        assert_eq!(codes, wanted, "{}", format.as_str());
        let is_same = *format == Format::OpenAiChat;
        assert!(is_same || !text.contains("\\ud83d") && !text.contains("\"input\":\"{"), "{}: {text}", format.as_str());
    }
    assert_eq!(written(&items, Format::OpenAiChat).0, *messages.as_array().unwrap());
}

/// Reasoning of an answer that was broken off is refused by its provider.
#[test]
fn reasoning_that_nothing_follows_is_left_out() {
    let user = |text: &str| json!({ "role": "user", "content": text });
    let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [] });
    let answer =
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Hm." }] });
    let thinking = json!({ "type": "reasoning", "text": "so", "providerOptions": {} });
    let said = |parts: Value| json!({ "role": "assistant", "content": parts });
    let text = json!({ "type": "text", "text": "Hm." });
    let cases = [
        (Format::OpenAiResponses, json!([user("a"), thought, user("b")]), json!([user("a"), user("b")])),
        (Format::OpenAiResponses, json!([user("a"), answer, thought]), json!([user("a"), answer])),
        (Format::OpenAiResponses, json!([user("a"), thought, answer]), json!([user("a"), thought, answer])),
        (Format::AiSdkModel, json!([user("a"), said(json!([thinking])), user("b")]), json!([user("a"), user("b")])),
        (
            Format::AiSdkModel,
            json!([user("a"), said(json!([text, thinking]))]),
            json!([user("a"), said(json!([text]))]),
        ),
    ];
    for (format, messages, wanted) in cases {
        let read = messages_to_items(messages.clone(), format, &ReadOptions::default()).unwrap();
        let (sent, codes) = written(&read.items, format);
        assert_eq!(Value::from(sent), wanted, "{}", format.as_str());
        assert_eq!(codes.contains(&"REASONING_INCOMPLETE"), messages != wanted, "{codes:?}");
    }
}

/// What the model says beside a call stands before it, as nothing but the result may follow.
#[test]
fn words_stand_before_calls_for_anthropic() {
    let contents = json!([
        { "role": "user", "parts": [{ "text": "a" }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": {} } }, { "text": "One moment." }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "x": 1 } } }] },
    ]);
    let read = messages_to_items(contents, Format::Gemini, &ReadOptions::default()).unwrap();
    let (sent, _) = written(&read.items, Format::Anthropic);
    assert_eq!(
        (sent[1]["content"][0]["text"].as_str(), sent[1]["content"][1]["type"].as_str()),
        (Some("One moment."), Some("tool_use"))
    );
}

/// Instructions within a conversation are not lost where a format has them beside it, and that is said.
#[test]
fn instructions_in_the_middle_are_named_where_they_move() {
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "a" },
        { "role": "system", "content": "Now at length." },
        { "role": "user", "content": "b" },
    ]);
    for from in [Format::OpenAiChat, Format::Anthropic] {
        let items = messages_to_items(messages.clone(), from, &ReadOptions::default()).unwrap().items;
        // Where they stood in messages of Anthropic they stay: the model took them there.
        for (to, moved) in
            [(Format::Anthropic, from != Format::Anthropic), (Format::Gemini, true), (Format::OpenAiChat, false)]
        {
            let written = items_to_messages(&items, to, &WriteOptions::default()).unwrap();
            let all = json!([written.messages, written.system]).to_string();
            assert!(all.contains("Be brief.") && all.contains("Now at length."), "{all}");
            let codes: Vec<&str> = written.warnings.iter().map(|warning| warning.code).collect();
            assert_eq!(codes, if moved { vec!["SYSTEM_MOVED"] } else { vec![] }, "{}", to.as_str());
        }
    }
}

/// The provider takes instructions behind a message of the user, one message of them, and nowhere else.
#[test]
fn instructions_among_messages_of_anthropic_stand_behind_the_user() {
    let says = |role: &str, text: &str| json!({ "role": role, "content": text });
    let block = |text: &str| json!({ "type": "text", "text": text });
    let rewritten = |messages: &[Value]| {
        let items = messages_to_items(messages.iter().cloned().collect(), Format::Anthropic, &ReadOptions::default());
        items_to_messages(&items.unwrap().items, Format::Anthropic, &WriteOptions::default()).unwrap()
    };
    let call =
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "ls", "input": {} }] });
    let result =
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "a.txt" }] });
    let marked = json!({ "role": "system", "content": [{ "type": "text", "text": "Now.", "cache_control": { "type": "ephemeral" } }] });
    let kept = [says("user", "a"), says("system", "Be brief."), call, result, marked];
    let written = rewritten(&kept);
    assert_eq!((written.messages, written.system), (kept.to_vec(), None));
    // Behind the model they wait for the user, as they were where nothing of the user follows.
    let written =
        rewritten(&[says("user", "a"), says("assistant", "b"), says("system", "Be brief."), says("user", "c")]);
    assert_eq!(written.messages[2..], [says("user", "c"), says("system", "Be brief.")]);
    let written = rewritten(&[says("user", "a"), says("assistant", "b"), says("system", "Be brief.")]);
    assert_eq!((written.messages.len(), written.system), (2, Some(json!("Be brief."))));
    // What stood between them is gone, or empty: they are one message.
    let written = rewritten(&[
        says("user", "a"),
        says("system", "Be brief."),
        says("assistant", " "),
        says("user", "b"),
        says("system", "Be kind."),
    ]);
    let both = json!({ "role": "system", "content": [block("Be brief."), block("Be kind.")] });
    assert_eq!(written.messages, [json!({ "role": "user", "content": [block("a"), block("b")] }), both]);
}

/// Providers cut an answer at its citations: it is one text.
#[test]
fn texts_of_an_answer_are_joined_as_they_were_sent() {
    let cited = json!([{ "type": "web_search_result_location", "url": "https://a.test", "encrypted_index": "E" }]);
    let messages = json!([
        { "role": "user", "content": "How high?" },
        { "role": "assistant", "content": [
            { "type": "text", "text": "mast of 9" }, { "type": "text", "text": ".5 metres", "citations": cited },
        ] },
    ]);
    let items = messages_to_items(messages.clone(), Format::Anthropic, &ReadOptions::default()).unwrap().items;
    assert_eq!(items[1].text, "mast of 9.5 metres");
    assert_eq!(Value::from(written(&items, Format::Anthropic).0), messages);
    assert_eq!(written(&items, Format::OpenAiChat).0[1]["content"], "mast of 9.5 metres");
    // What a user sends in parts are parts.
    let parts =
        json!([{ "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }]);
    assert_eq!(messages_to_items(parts, Format::Anthropic, &ReadOptions::default()).unwrap().items[0].text, "a\nb");
}
