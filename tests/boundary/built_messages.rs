//! Prompts as messages in one operation, and where further messages begin.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api;
use contextweaver_context::{ContextManager, ManagerOptions};
use contextweaver_convert::providers::Format;
use serde_json::{Value, json};

fn manager() -> ContextManager {
    ContextManager::new(ManagerOptions::default())
}

fn call(manager: &mut ContextManager, operation: &str, arguments: &Value) -> Result<Value, (String, String)> {
    let answer = api::manager::call(manager, operation, &arguments.to_string());
    let text = answer.map_err(|error| (error.code().as_str().to_owned(), error.path().to_owned()))?;
    Ok(serde_json::from_str::<Value>(&text).unwrap()["done"].take())
}

fn log() -> Value {
    json!({ "items": [
        { "id": "u", "kind": "user_turn", "text": "look at this" },
        { "id": "c", "kind": "tool_call", "text": "{\"q\":1}", "metadata": { "function_name": "find", "tool_call_id": "c1" } },
        { "id": "r", "kind": "tool_result", "text": "nothing", "parent_id": "c", "metadata": { "function_name": "find" } },
        { "id": "open", "kind": "tool_call", "text": "{}", "metadata": { "function_name": "find" } },
    ] })
}

#[test]
fn messages_come_in_one_answer() {
    let mut manager = manager();
    call(&mut manager, "ingest", &log()).unwrap();
    let request = json!({ "phase": "answer", "format": "anthropic", "header": "above", "footer": "below" });
    let built = call(&mut manager, "build_messages", &request).unwrap();
    assert_eq!(built["system"], "above");
    assert_eq!(built["warnings"][0]["code"], "RESULT_MISSING");
    // The record of a running prompt is read on its own.
    assert_eq!((&built["pack"], &built["step"]["cut"]), (&Value::Null, &json!("first")));
    assert_eq!(built["stats"]["included_count"], 4);
    assert!(built["tokens"].as_u64() >= built["stats"]["prompt_tokens"].as_u64());
    let alone =
        json!({ "phase": "answer", "format": "anthropic", "header": "above", "footer": "below", "running": false });
    let alone = call(&mut manager, "build_messages", &alone).unwrap();
    assert_eq!((&alone["pack"]["stats"]["included_count"], &alone["step"]), (&json!(4), &Value::Null));
    let open = json!({ "phase": "answer", "format": "openai-chat", "close_calls": false });
    let built = call(&mut manager, "build_messages", &open).unwrap();
    assert_eq!((&built["warnings"], built["messages"].as_array().unwrap().len()), (&json!([]), 4));
    assert_eq!(built["messages"][3]["tool_calls"][0]["id"], "open");
}

#[test]
fn a_call_that_was_logged_as_text_is_a_call_of_its_tool() {
    let mut manager = manager();
    let logged = json!({ "items": [
        { "id": "u1", "kind": "user_turn", "text": "read the log" }, { "id": "c1", "kind": "tool_call", "text": "read_log()" },
    ] });
    call(&mut manager, "ingest", &logged).unwrap();
    crate::with_bytes(
        &mut manager,
        "ingest_tool_result",
        &json!({ "tool_call_id": "c1", "tool_name": "read_log" }).to_string(),
        b"ok",
    )
    .unwrap();
    let written = call(&mut manager, "build_messages", &json!({ "phase": "answer", "format": "openai-chat" })).unwrap();
    let function = &written["messages"][1]["tool_calls"][0]["function"];
    assert_eq!((function, &written["warnings"]), (&json!({ "name": "read_log", "arguments": "{}" }), &json!([])));
}

#[test]
fn requests_that_cannot_be_answered_say_where() {
    let mut manager = manager();
    call(&mut manager, "ingest", &log()).unwrap();
    for (request, code, path) in [
        (json!({}), "MISSING_FIELD", "/format"),
        (json!({ "format": "klingon" }), "INVALID_INPUT", "/format"),
        (json!({ "phase": "answer", "format": "gemini", "close_calls": 1 }), "INVALID_INPUT", "/close_calls"),
        (
            json!({ "phase": "answer", "format": "anthropic", "thought_signatures": true }),
            "UNSUPPORTED",
            "/thought_signatures",
        ),
        (json!({ "phase": "dance", "format": "gemini" }), "INVALID_INPUT", "/phase"),
        (json!({ "phase": "answer", "format": "gemini", "attachments": true }), "UNKNOWN_FIELD", "/attachments"),
        (json!({ "phase": "answer", "format": "gemini", "budget_tokens": 3 }), "BUDGET_EXCEEDED", ""),
    ] {
        let refused = call(&mut manager, "build_messages", &request).unwrap_err();
        assert_eq!(refused, (code.to_owned(), path.to_owned()));
    }
}

#[test]
fn further_messages_follow_those_that_were_read() {
    let mut manager = manager();
    let plan = |manager: &mut ContextManager, format: &str| {
        let format = Format::parse(format).unwrap();
        let (start, known_calls) = contextweaver_context::message_plan(manager.events().items(), format);
        json!({ "start": start, "known_calls": known_calls })
    };
    assert_eq!(plan(&mut manager, "openai-chat"), json!({ "start": 0, "known_calls": [] }));
    call(&mut manager, "ingest", &log()).unwrap();
    let record = json!({ "_contextweaver": { "message": { "format": "openai-chat", "message": 3 } } });
    let more = json!({ "items": [{ "id": "m", "kind": "user_turn", "text": "x", "metadata": record }] });
    call(&mut manager, "ingest", &more).unwrap();
    assert_eq!(
        plan(&mut manager, "openai-chat"),
        json!({ "start": 4, "known_calls": [["c1", "c"], ["open", "open"]] })
    );
    assert_eq!(plan(&mut manager, "gemini"), json!({ "start": 0, "known_calls": [["c1", "c"], ["open", "open"]] }));
}
