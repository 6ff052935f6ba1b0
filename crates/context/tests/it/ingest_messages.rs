//! One road: a result that comes in a message is the result that comes by itself.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_context::{
    BuildRequest, BuiltMessages, ContextManager, DrilldownRequest, ManagerOptions, RecallRequest, ToolResult,
};
use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use contextweaver_model::{ContextItem, ItemKind, Phase};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A question, a call, and its result as messages of a format.
fn messages(format: Format, result: &str) -> Value {
    let mut call = ContextItem::new("c1", ItemKind::ToolCall, "{}");
    call.metadata.insert("function_name".into(), "list_orders".into());
    let mut answer = ContextItem::new("result:c1", ItemKind::ToolResult, result);
    answer.parent_id = Some("c1".to_owned());
    let items = [ContextItem::new("u1", ItemKind::UserTurn, "Which orders are held?"), call, answer];
    let written =
        items_to_messages(&items, format, &WriteOptions { close_calls: true, ..WriteOptions::default() }).unwrap();
    assert!(written.warnings.is_empty(), "{:?}", written.warnings);
    Value::Array(written.messages)
}

/// A manager that was given messages.
fn ingested(messages: Value, format: Format) -> ContextManager {
    let read = messages_to_items(messages, format, &ReadOptions::default()).unwrap();
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_messages(read.items).unwrap().done().unwrap();
    manager
}

/// The item of the only result.
fn result(manager: &ContextManager) -> &ContextItem {
    manager.events().items().iter().find(|item| item.kind == ItemKind::ToolResult).unwrap()
}

fn build(manager: &mut ContextManager, format: Format, budget: u64) -> BuiltMessages {
    let request =
        BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Interpret, "which are held?") };
    manager
        .build_messages(&request, format, WriteOptions { close_calls: true, ..WriteOptions::default() })
        .unwrap()
        .done()
        .unwrap()
}

fn rows(count: usize) -> String {
    let row = |n: usize| json!({ "id": 12_000 + n, "customer": format!("C-{}", n % 90), "status": if n.is_multiple_of(50) { "held" } else { "shipped" } });
    Value::Array((0..count).map(row).collect()).to_string()
}

fn log_lines() -> String {
    let line = |n: usize| match n {
        1500 => "ERROR order 4711 failed: card declined\n".to_owned(),
        _ => format!("info request {n} served in {} ms\n", n % 90),
    };
    (0..3000).map(line).collect()
}

#[test]
fn a_result_in_a_message_is_digested_as_one_that_comes_alone() {
    for text in [rows(400), log_lines(), "a short answer".to_owned()] {
        let mut alone = ContextManager::new(ManagerOptions::default());
        alone.ingest_tool_result(&ToolResult::new("c1", "list_orders"), text.as_bytes()).unwrap().done().unwrap();
        let expected = result(&alone);
        for format in Format::ALL.iter().copied() {
            let manager = ingested(messages(format, &text), format);
            let found = result(&manager);
            assert_eq!(found.text, expected.text, "{format:?}");
            assert_eq!(found.metadata.get("firewall"), expected.metadata.get("firewall"), "{format:?}");
            assert_eq!(found.metadata_str("tool_name"), Some("list_orders"), "{format:?}");
            let handle = &found.artifact_ref.as_ref().unwrap().handle;
            assert_eq!(manager.artifacts().get(handle).unwrap(), text.as_bytes(), "{format:?}");
        }
    }
}

/// The label of a picture is no second line of the document beside it.
#[test]
fn a_document_beside_a_picture_is_read_as_one() {
    let text = rows(400);
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" } });
    let content = json!([{ "type": "text", "text": text }, image]);
    let messages = json!([
        { "role": "user", "content": "Which order failed?" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "list_orders", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": content }] },
    ]);
    let mut manager = ingested(messages, Format::Anthropic);
    let found = result(&manager).text.clone();
    let alone = result(&ingested(self::messages(Format::Anthropic, &text), Format::Anthropic)).text.clone();
    assert_eq!(found, alone);
    assert_eq!(manager.artifacts().get("artifact:result:c1").unwrap(), text.as_bytes());
    let sent = Value::Array(build(&mut manager, Format::Anthropic, 2500).written.messages);
    assert_eq!(sent[2]["content"][0]["content"][1], image, "{sent}");
}

#[test]
fn what_is_below_the_threshold_is_written_as_it_was_read() {
    for format in Format::ALL.iter().copied() {
        let original = messages(format, "{\"state\": \"paid\"}");
        let mut manager = ingested(original.clone(), format);
        assert_eq!(Value::Array(build(&mut manager, format, 4000).written.messages), original, "{format:?}");
    }
}

#[test]
fn a_digest_is_a_message_with_the_way_to_the_rest() {
    for format in Format::ALL.iter().copied() {
        let mut manager = ingested(messages(format, &log_lines()), format);
        let built = build(&mut manager, format, 1500);
        assert!(built.tokens <= 1500, "{format:?}: {}", built.tokens);
        let text = Value::Array(built.written.messages.clone()).to_string();
        assert!(text.contains("card declined"), "{format:?}: {text}");
        assert!(text.contains("drilldown artifact:result:"), "{format:?}: {text}");
        assert!(built.written.warnings.is_empty(), "{format:?}: {:?}", built.written.warnings);
    }
}

/// The words of the question are everywhere in the log; what stands out stays.
#[test]
fn an_excerpt_does_not_take_the_place_of_what_stands_out() {
    for budget in [600, 1500, 4000] {
        let mut manager = ingested(messages(Format::OpenAiChat, &log_lines()), Format::OpenAiChat);
        let request = BuildRequest {
            budget_tokens: Some(budget),
            ..BuildRequest::new(Phase::Interpret, "which request failed?")
        };
        let prompt = manager.build(&request).unwrap().done().unwrap().pack.prompt;
        assert!(prompt.contains("card declined"), "{budget}: {prompt}");
    }
}

#[test]
fn a_result_whose_call_came_before_has_its_name() {
    let (format, options) = (Format::OpenAiChat, ReadOptions::default());
    let Value::Array(mut messages) = messages(format, &log_lines()) else { panic!("a list") };
    let last = messages.pop().unwrap();
    let mut manager = ingested(Value::Array(messages), format);
    let known_calls = vec![("c1".to_owned(), "c1".to_owned())];
    let read = messages_to_items(json!([last]), format, &ReadOptions { start: 2, known_calls, ..options }).unwrap();
    manager.ingest_messages(read.items).unwrap().done().unwrap();
    assert_eq!(result(&manager).metadata_str("tool_name"), Some("list_orders"));
}

#[test]
fn a_refused_message_leaves_nothing_behind() {
    let format = Format::OpenAiChat;
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.put_artifact("artifact:result:c1", b"taken", "text/plain", "").unwrap();
    let read = messages_to_items(messages(format, &rows(400)), format, &ReadOptions::default()).unwrap();
    let error = manager.ingest_messages(read.items).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("DUPLICATE_ID", "/2/id"));
    assert!(manager.events().is_empty() && manager.artifacts().len() == 1);
}

#[test]
fn a_failed_call_has_an_envelope_that_says_so() {
    let result = json!([
        { "role": "user", "content": "Read it." },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "f", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": "no such file" }] },
    ]);
    let mut manager = ingested(result.clone(), Format::Anthropic);
    assert_eq!(Value::Array(build(&mut manager, Format::Anthropic, 4000).written.messages), result);
}

proptest! {
    #![proptest_config(contextweaver_test_support::property(2_000))]

    /// Whatever the text, whatever the format: the same item as by itself, and the bytes under its handle.
    #[test]
    fn any_text_meets_the_same_firewall(
        lines in prop::collection::vec("[a-z0-9 :=\"{},.ÄЖ漢-]{0,40}", 1..120),
        format in prop::sample::select(Format::ALL.to_vec()),
    ) {
        let text = lines.join("\n");
        prop_assume!(!text.trim().is_empty());
        let mut alone = ContextManager::new(ManagerOptions::default());
        alone.ingest_tool_result(&ToolResult::new("c1", "list_orders"), text.as_bytes()).unwrap().done().unwrap();
        let manager = ingested(messages(format, &text), format);
        prop_assert_eq!(&result(&manager).text, &result(&alone).text);
        let handle = &result(&manager).artifact_ref.as_ref().unwrap().handle;
        prop_assert_eq!(manager.artifacts().get(handle).unwrap(), text.as_bytes());
    }
}

/// A text that masking changed still ends with the label of the picture behind it.
#[test]
fn a_masked_message_stays_one_message_beside_its_picture() {
    let text = format!("My token is {}.", ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat());
    let image = json!({ "type": "input_image", "detail": "low", "image_url": "https://x.example/a.png" });
    let content = json!([{ "type": "input_text", "text": text }, image]);
    let mut manager = ingested(json!([{ "role": "user", "content": content }]), Format::OpenAiResponses);
    let built = build(&mut manager, Format::OpenAiResponses, 4000).written;
    let all = Value::Array(built.messages).to_string();
    assert!(all.contains("My token is [REDACTED-SECRET].\"") && all.contains(&image.to_string()), "{all}");
    assert!(!all.contains("[image"), "{all}");
}

/// A call of a tool by the model, and its answer.
fn answered(format: Format, name: &str, arguments: &Value, answer: &str) -> Value {
    let mut call = ContextItem::new("d1", ItemKind::ToolCall, arguments.to_string());
    call.metadata.insert("function_name".into(), name.into());
    let mut result = ContextItem::new("result:d1", ItemKind::ToolResult, answer);
    result.parent_id = Some("d1".to_owned());
    let written =
        items_to_messages(&[call, result], format, &WriteOptions { close_calls: true, ..WriteOptions::default() })
            .unwrap();
    Value::Array(written.messages)
}

fn shown(manager: &mut ContextManager, format: Format) -> String {
    Value::Array(build(manager, format, 16_000).written.messages).to_string()
}

/// A quarter of a budget is more than the threshold of the firewall.
#[test]
fn what_a_model_read_on_purpose_stays_as_it_was_read() {
    let options = ReadOptions::default();
    for format in Format::ALL.iter().copied() {
        let conversation = |name: &str, arguments: Value, answer: &dyn Fn(&mut ContextManager) -> String| {
            let mut manager = ingested(messages(format, &log_lines()), format);
            let answer = answer(&mut manager);
            let read = messages_to_items(
                answered(format, name, &arguments, &answer),
                format,
                &ReadOptions { start: 4, ..options.clone() },
            );
            manager.ingest_messages(read.unwrap().items).unwrap().done().unwrap();
            manager
        };
        let handle = |manager: &ContextManager| result(manager).artifact_ref.as_ref().unwrap().handle.clone();
        let known = handle(&ingested(messages(format, &log_lines()), format));
        let selector = json!({ "type": "lines", "start": 100, "end": 400 });
        let slice = |manager: &mut ContextManager| {
            let request =
                DrilldownRequest { max_tokens: Some(4000), ..DrilldownRequest::new(&known, selector.clone()) };
            manager.drilldown(&request).unwrap().done().unwrap().text
        };
        let mut manager = conversation("drilldown", json!({ "handle": known, "selector": selector }), &slice);
        let last = manager.events().items().last().unwrap().clone();
        assert!(last.text.starts_with("info request 100 ") && last.text.ends_with("info request 399 served in 39 ms"));
        assert_eq!(last.metadata_str("drilldown_handle"), Some(known.as_str()), "{format:?}");
        assert!(shown(&mut manager, format).contains("info request 250 served in 70 ms"), "{format:?}");

        let found = |manager: &mut ContextManager| {
            let request = RecallRequest { max_tokens: 3000, ..RecallRequest::new("request 1500 declined") };
            manager.recall(&request).unwrap().done().unwrap().text
        };
        let mut manager = conversation("recall", json!({ "query": "declined" }), &found);
        let last = manager.events().items().last().unwrap().clone();
        assert!(
            last.text.starts_with('[') && last.metadata_str("recalled_from").is_some(),
            "{format:?}: {}",
            last.text
        );
        assert!(shown(&mut manager, format).contains("info request 1499 served"), "{format:?}");

        // Tools of the caller's may have the same names.
        let theirs = |_: &mut ContextManager| log_lines();
        for (name, arguments) in
            [("drilldown", json!({ "handle": "artifact:theirs" })), ("recall", json!({ "query": "request" }))]
        {
            let manager = conversation(name, arguments, &theirs);
            let last = manager.events().items().last().unwrap();
            assert!(last.artifact_ref.is_some() && last.text.len() < 2000, "{format:?} {name}");
        }
    }
}
