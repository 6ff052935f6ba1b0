//! Messages of Anthropic and contents of Gemini: they come back as they were, and what is written of any log keeps the
//! rules that the providers document.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use crate::provider_logs::{Random, anthropic, gemini, items, list, rules};
use contextweaver_base::limits;
use contextweaver_convert::providers::{
    Format, ReadOptions, WriteOptions, WrittenMessages, items_to_messages, messages_to_items,
};
use contextweaver_model::ContextItem;
use contextweaver_test_support::cases;
use serde_json::{Value, json};

const BOTH: [Format; 2] = [Format::Anthropic, Format::Gemini];

fn read(format: Format, messages: &Value, system: Option<&Value>) -> Vec<ContextItem> {
    let options = ReadOptions { id_prefix: "message:".into(), system: system.cloned(), ..ReadOptions::default() };
    let read = messages_to_items(messages.clone(), format, &options).unwrap_or_else(|e| panic!("{e}: {messages}"));
    assert!(read.warnings.is_empty(), "{:?} of {messages}", read.warnings);
    read.items
}

fn write(format: Format, items: &[ContextItem]) -> WrittenMessages {
    items_to_messages(items, format, &WriteOptions::default()).unwrap()
}

fn conversation(format: Format, random: &mut Random) -> (Value, Option<Value>) {
    if format == Format::Anthropic { anthropic::conversation(random) } else { gemini::conversation(random) }
}

fn check(format: Format, written: &WrittenMessages, random: u64, items: &[ContextItem]) {
    let broken = if format == Format::Anthropic { rules::anthropic } else { rules::gemini };
    if let Err(problem) = broken(&written.messages) {
        let items = serde_json::to_string_pretty(items).unwrap();
        let messages = serde_json::to_string_pretty(&written.messages).unwrap();
        panic!("case {random}, {}: {problem}\n{messages}\nof {items}", format.as_str());
    }
}

#[test]
fn what_keeps_the_rules_comes_back_exactly() {
    for format in BOTH {
        for case in 0..u64::from(cases(2_000)) {
            let (messages, system) = conversation(format, &mut Random::new(case));
            let items = read(format, &messages, system.as_ref());
            let written = write(format, &items);
            assert_eq!(Value::Array(written.messages.clone()).to_string(), messages.to_string(), "case {case}");
            assert_eq!(
                written.system.map(|value| value.to_string()),
                system.map(|value| value.to_string()),
                "case {case}"
            );
            assert!(written.warnings.is_empty(), "case {case}: {:?}", written.warnings);
            check(format, &write(format, &items), case, &items);
        }
    }
}

#[test]
fn items_come_back_as_well() {
    for format in BOTH {
        for case in 0..u64::from(cases(200)) {
            let (messages, system) = conversation(format, &mut Random::new(case));
            let items = read(format, &messages, system.as_ref());
            let written = write(format, &items);
            assert_eq!(read(format, &Value::Array(written.messages), written.system.as_ref()), items, "case {case}");
        }
    }
}

#[test]
fn ids_are_unique_and_parents_are_there() {
    for format in BOTH {
        for case in 0..u64::from(cases(200)) {
            let (messages, system) = conversation(format, &mut Random::new(case));
            let items = read(format, &messages, system.as_ref());
            let mut ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
            for parent in items.iter().filter_map(|item| item.parent_id.as_deref()) {
                assert!(ids.contains(&parent), "case {case}: {parent}");
            }
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), items.len(), "case {case}");
        }
    }
}

/// Logs of messages of any format and of items from nowhere, some of them removed, shortened or emptied.
#[test]
fn every_log_becomes_messages_that_the_provider_accepts() {
    for case in 0..u64::from(cases(2_000)) {
        let random = &mut Random::new(case);
        let mut log = items::any(random, read_any);
        items::spoil(&mut log, random);
        let before = log.clone();
        for format in BOTH {
            check(format, &write(format, &log), case, &log);
            let closed =
                items_to_messages(&log, format, &WriteOptions { close_calls: true, ..WriteOptions::default() })
                    .unwrap();
            check(format, &closed, case, &log);
        }
        assert_eq!(log, before);
    }
}

fn read_any(format: Format, messages: &Value, prefix: &str, start: usize) -> Vec<ContextItem> {
    let options = ReadOptions { id_prefix: format!("{prefix}:"), start, ..ReadOptions::default() };
    messages_to_items(messages.clone(), format, &options).unwrap().items
}

#[test]
fn thinking_is_exact_or_absent() {
    for case in 0..u64::from(cases(2_000)) {
        let random = &mut Random::new(case);
        let (messages, _) = anthropic::conversation(random);
        let mut log = read(Format::Anthropic, &messages, None);
        items::spoil(&mut log, random);
        let written = Value::Array(write(Format::Anthropic, &log).messages);
        let (before, after) = (list(&messages), list(&written));
        let blocks = |messages: &[Value], wanted: fn(&str) -> bool| -> Vec<String> {
            let all = messages.iter().flat_map(|message| list(&message["content"]));
            all.filter(|block| wanted(block["type"].as_str().unwrap())).map(|block| block.to_string()).collect()
        };
        let thinking: fn(&str) -> bool = |kind| kind.ends_with("thinking");
        let (given, kept) = (blocks(&before, thinking), blocks(&after, thinking));
        // In their order, each one of those that were given.
        let mut rest = given.iter();
        assert!(kept.iter().all(|block| rest.any(|other| other == block)), "case {case}: {written} of {messages}");
        // A call stands with all that was thought before it, unless it is made up for a result.
        for message in &before {
            let blocks = list(&message["content"]);
            let Some(last) = blocks.iter().rposition(|block| block["type"] == "tool_use") else { continue };
            let wanted: Vec<&Value> =
                blocks[..last].iter().filter(|block| thinking(block["type"].as_str().unwrap())).collect();
            for call in blocks.iter().filter(|block| block["type"] == "tool_use") {
                let home = after.iter().find(|other| {
                    list(&other["content"])
                        .iter()
                        .any(|block| block["id"] == call["id"] && block["name"] == call["name"])
                });
                let Some(home) = home.map(|message| list(&message["content"])) else { continue };
                assert!(wanted.iter().all(|block| home.contains(block)), "case {case}: {written} of {messages}");
            }
        }
    }
}

#[test]
fn signatures_stay_on_their_parts() {
    for case in 0..u64::from(cases(2_000)) {
        let random = &mut Random::new(case);
        let (contents, _) = gemini::conversation(random);
        let mut log = read(Format::Gemini, &contents, None);
        items::spoil(&mut log, random);
        let written = Value::Array(write(Format::Gemini, &log).messages);
        let parts = |contents: &Value| -> Vec<Value> {
            list(contents).iter().flat_map(|content| list(&content["parts"])).collect()
        };
        let signature = |part: &Value| part.get("thoughtSignature").or_else(|| part.get("thought_signature")).cloned();
        let name = |part: &Value| {
            part.get("functionCall").or_else(|| part.get("function_call")).map(|call| call["name"].clone())
        };
        let given = parts(&contents);
        for part in parts(&written) {
            // Calls that another model made are taken without a signature where they say so.
            let Some(signed) = signature(&part).filter(|it| it != "skip_thought_signature_validator") else { continue };
            let owner = given.iter().find(|other| signature(other).as_ref() == Some(&signed)).unwrap();
            // The arguments of a call may have been shortened; nothing else may differ.
            match name(&part) {
                Some(name_of) => assert_eq!(Some(name_of), name(owner), "case {case}"),
                None => assert_eq!(part.to_string(), owner.to_string(), "case {case}"),
            }
        }
    }
}

fn texts(items: &[ContextItem]) -> Vec<(&str, &str)> {
    items.iter().map(|item| (item.kind.as_str(), item.text.as_str())).collect()
}

#[test]
fn anthropic_by_example() {
    let messages = json!([
        { "role": "user", "content": "What is this, and the weather?" },
        { "role": "assistant", "id": "msg_1", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "text", "text": "Let me see." },
            { "type": "tool_use", "id": "toolu_1", "name": "weather", "input": { "city": "天" } },
            { "type": "tool_use", "id": "toolu_2", "name": "look", "input": {} } ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "toolu_2", "content": [
                { "type": "text", "text": "a cat" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } } ] },
            { "type": "tool_result", "tool_use_id": "toolu_1", "content": "21", "is_error": false },
            { "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } } ] },
        { "role": "assistant", "content": [
            { "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": { "query": "cat" } },
            { "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [] },
            { "type": "text", "text": "A cat.", "citations": [] } ] },
        { "role": "user", "content": [
            { "type": "document", "title": "Cats", "source": { "type": "text", "media_type": "text/plain", "data": "Cats purr." } } ] },
    ]);
    let system = json!([{ "type": "text", "text": "Be kind.", "cache_control": { "type": "ephemeral" } }]);
    let mut items = read(Format::Anthropic, &messages, Some(&system));
    assert_eq!(
        texts(&items),
        [
            ("policy", "Be kind."),
            ("user_turn", "What is this, and the weather?"),
            ("agent_msg", "Let me see."),
            ("tool_call", "{\"city\":\"天\"}"),
            ("tool_call", "{}"),
            ("tool_result", "a cat\n[image: image/png, 1 KiB]"),
            ("tool_result", "21"),
            ("user_turn", "Be brief."),
            ("tool_call", "{\"query\":\"cat\"}"),
            ("tool_result", "[web_search_tool_result]"),
            ("agent_msg", "A cat."),
            ("user_turn", "[document: Cats, text/plain]\nCats purr."),
        ]
    );
    assert_eq!(items[6].parent_id.as_ref(), Some(&items[3].id));
    assert_eq!(json!(write(Format::Anthropic, &items).messages).to_string(), messages.to_string());
    // What was changed is written in place of the original; reasoning stays as it was.
    items[3].text = "{\"city\":\"X\"}".into();
    items[5].text = "[summary]".into();
    items[10].text = "[redacted]".into();
    let written = write(Format::Anthropic, &items).messages;
    assert_eq!(written[1]["content"][0], messages[1]["content"][0]);
    assert_eq!(written[1]["content"][2]["input"], json!({ "city": "X" }));
    assert_eq!(
        written[2]["content"][0],
        json!({ "type": "tool_result", "tool_use_id": "toolu_2", "content": "[summary]" })
    );
    let kept = &messages[3]["content"];
    let changed = json!([kept[0], kept[1], { "type": "text", "text": "[redacted]" }]);
    assert_eq!(written[3], json!({ "role": "assistant", "content": changed }));
    // Without one of two parallel calls the reasoning is gone that led to both.
    let rest: Vec<ContextItem> = items.iter().filter(|item| item.text != "{\"city\":\"X\"}").cloned().collect();
    let (without, warnings) = (write(Format::Anthropic, &rest), ["REASONING_INCOMPLETE", "CALL_MISSING"]);
    assert!(!json!(without.messages).to_string().contains("c2ln"));
    assert!(without.warnings.iter().all(|warning| warnings.contains(&warning.code)), "{:?}", without.warnings);
}

#[test]
fn gemini_by_example() {
    let contents = json!([
        { "role": "user", "parts": [
            { "text": "What is this?" },
            { "inlineData": { "mimeType": "image/png", "data": "AAAA" } } ] },
        { "role": "model", "parts": [
            { "text": "hm", "thought": true },
            { "text": "Let me see.", "thoughtSignature": "c2lnMA==" },
            { "functionCall": { "id": "f-1", "name": "look", "args": { "at": "天" } }, "thoughtSignature": "c2lnMQ==" },
            { "function_call": { "name": "weather", "args": {} } } ] },
        { "role": "function", "parts": [
            { "functionResponse": { "id": "f-1", "name": "look", "response": { "output": "a cat" } } },
            { "function_response": { "name": "weather", "response": { "temp": 21 } } } ] },
        { "role": "model", "parts": [
            { "executableCode": { "language": "PYTHON", "code": "print(1)" } },
            { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "1" } },
            { "text": "A cat." },
            { "text": "", "thoughtSignature": "c2lnMg==" } ] },
    ]);
    let system = json!({ "parts": [{ "text": "Be kind." }] });
    let mut items = read(Format::Gemini, &contents, Some(&system));
    assert_eq!(
        texts(&items),
        [
            ("policy", "Be kind."),
            ("user_turn", "What is this?\n[image: image/png, 1 KiB]"),
            ("agent_msg", "Let me see."),
            ("tool_call", "{\"at\":\"天\"}"),
            ("tool_call", "{}"),
            ("tool_result", "a cat"),
            ("tool_result", "{\"temp\":21}"),
            ("tool_call", "print(1)"),
            ("tool_result", "1"),
            ("agent_msg", "A cat."),
        ]
    );
    let written = write(Format::Gemini, &items);
    assert_eq!((json!(written.messages).to_string(), written.system), (contents.to_string(), Some(system)));
    items[2].text = "[redacted]".into();
    items[3].text = "{}".into();
    items[5].text = "[summary]".into();
    let written = write(Format::Gemini, &items).messages;
    assert_eq!(written[1]["parts"][1], json!({ "text": "[redacted]" }));
    let call = json!({ "functionCall": { "name": "look", "args": {} }, "thoughtSignature": "c2lnMQ==" });
    assert_eq!(written[1]["parts"][2], call);
    let response = json!({ "functionResponse": { "name": "look", "response": { "output": "[summary]" } } });
    assert_eq!(written[2]["parts"][0], response);
}

#[test]
fn what_breaks_the_rules_is_repaired() {
    let table = [
        // The model speaks first, twice; null and blank say nothing.
        (
            json!([
                { "role": "assistant", "content": "a" }, { "role": "assistant", "content": [{ "type": "text", "text": "b" }] },
                { "role": "user", "content": null }, { "role": "user", "content": " " }, { "role": "user", "content": "c", "x": 1 } ]),
            json!([
                { "role": "user", "content": "[Earlier messages are not shown.]" },
                { "role": "assistant", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] },
                { "role": "user", "content": "c", "x": 1 } ]),
        ),
        // Results after text, and one of two missing.
        (
            json!([
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "1", "name": "f", "input": {} }, { "type": "tool_use", "id": "2", "name": "f", "input": null } ] },
                { "role": "user", "content": [
                    { "type": "text", "text": "b" }, { "type": "tool_result", "tool_use_id": "2", "content": "r" } ] } ]),
            json!([
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "1", "name": "f", "input": {} }, { "type": "tool_use", "id": "2", "name": "f", "input": {} } ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "1", "content": "No result was recorded for this call.", "is_error": true },
                    { "type": "tool_result", "tool_use_id": "2", "content": "r" }, { "type": "text", "text": "b" } ] } ]),
        ),
        // Blocks that a message was split into are one answer; reasoning that nothing follows is no use.
        (
            json!([
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [{ "type": "thinking", "thinking": "t", "signature": "s" }] },
                { "role": "assistant", "content": [{ "type": "text", "text": "b" }] },
                { "role": "user", "content": "c" },
                { "role": "assistant", "content": [{ "type": "redacted_thinking", "data": "d" }] } ]),
            json!([
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "t", "signature": "s" }, { "type": "text", "text": "b" } ] },
                { "role": "user", "content": "c" } ]),
        ),
    ];
    for (messages, expected) in table {
        let items = messages_to_items(messages, Format::Anthropic, &ReadOptions::default()).unwrap().items;
        let written = write(Format::Anthropic, &items);
        assert_eq!(json!(written.messages), expected);
        assert!(!written.warnings.is_empty());
    }
}

#[test]
fn errors_name_the_place() {
    let anthropic = [
        (json!([{ "content": "x" }]), "/messages/0/role"),
        (json!([{ "role": "robot", "content": "x" }]), "/messages/0/role"),
        (json!([{ "role": "user", "content": 5 }]), "/messages/0/content"),
        (json!([{ "role": "user", "content": ["x"] }]), "/messages/0/content/0"),
        (
            json!([{ "role": "assistant", "content": [{ "type": "tool_use", "name": "f" }] }]),
            "/messages/0/content/0/id",
        ),
        (
            json!([{ "role": "user", "content": [{ "type": "tool_use", "id": "1", "name": "f" }] }]),
            "/messages/0/content/0/type",
        ),
        (json!([{ "role": "user", "content": [{ "type": "tool_result" }] }]), "/messages/0/content/0/tool_use_id"),
    ];
    let gemini = [
        (json!([{ "role": "assistant", "parts": [] }]), "/messages/0/role"),
        (json!([{ "role": "user", "parts": {} }]), "/messages/0/parts"),
        (json!([{ "role": "user", "parts": [null] }]), "/messages/0/parts/0"),
        (
            json!([{ "role": "user", "parts": [{ "functionCall": { "name": "f" } }] }]),
            "/messages/0/parts/0/functionCall",
        ),
        (json!([{ "role": "model", "parts": [{ "function_call": {} }] }]), "/messages/0/parts/0/function_call/name"),
        (json!([{ "parts": [{ "functionResponse": 1 }] }]), "/messages/0/parts/0/functionResponse"),
    ];
    for (format, table) in [(Format::Anthropic, &anthropic[..]), (Format::Gemini, &gemini[..])] {
        for (messages, path) in table {
            let error = messages_to_items(messages.clone(), format, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.path(), *path, "{messages}");
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_cut_and_named_by_its_message_whatever_stands_beside() {
    let half = "x".repeat(5 << 20);
    let parts = json!([{ "type": "text", "text": half }, { "type": "text", "text": half }]);
    let long = json!([{ "role": "user", "content": "first" }, { "role": "user", "content": parts }]);
    for (messages, system, path) in [
        (long.clone(), None, "/messages/1"),
        (long, Some(json!("Answer briefly.")), "/messages/1"),
        (json!([]), Some(parts), "/system"),
    ] {
        let options = ReadOptions { system, ..ReadOptions::default() };
        let read = messages_to_items(messages, Format::Anthropic, &options).unwrap();
        let told: Vec<_> = read.warnings.iter().map(|warning| (warning.code, warning.path.as_str())).collect();
        assert_eq!(told, [("VALUE_CUT", path)]);
        let text = &read.items.last().unwrap().text;
        assert!(text.len() <= limits::MAX_STRING_BYTES && text.ends_with(" bytes are left out]"), "{}", text.len());
        // It is written as what is left of it.
        let written = items_to_messages(&read.items, Format::Anthropic, &WriteOptions::default()).unwrap();
        assert!(json!([written.messages, written.system]).to_string().contains("bytes are left out]"));
    }
}
