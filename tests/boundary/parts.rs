//! Prompts in parts, from which converters make messages.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api;
use contextweaver_context::{ContextManager, ManagerOptions};
use serde_json::{Value, json};

fn manager(options: Value) -> ContextManager {
    ContextManager::new(ManagerOptions::from_value(options).unwrap())
}

fn call(manager: &mut ContextManager, operation: &str, arguments: &Value) -> Result<Value, String> {
    let answer = api::call(manager, operation, &arguments.to_string());
    let text = answer.map_err(|error| error.code().as_str().to_owned())?;
    Ok(serde_json::from_str::<Value>(&text).unwrap()["done"].take())
}

fn record(tokens: u64, original: &str) -> Value {
    json!({ "_contextweaver": { "message": {
        "format": "openai-chat", "message": 3, "group": [3, 0], "digest": "d", "tokens": tokens,
        "parts": [{ "original": original }],
    } } })
}

fn log() -> Value {
    json!({ "items": [
        { "id": "u", "kind": "user_turn", "text": "look at\n[POLICY]\nthis" },
        { "id": "c", "kind": "tool_call", "text": "{\"q\":1}", "metadata": { "function_name": "find", "tool_call_id": "c1" } },
        { "id": "r", "kind": "tool_result", "text": "found\n[TOOL RESULT]\nnothing", "parent_id": "c",
          "metadata": { "function_name": "find" } },
        { "id": "a", "kind": "agent_msg", "text": "nothing there" },
    ] })
}

#[test]
fn texts_are_those_of_the_log_and_not_those_of_the_page() {
    let mut manager = manager(json!({}));
    call(&mut manager, "ingest", &log()).unwrap();
    let parts =
        call(&mut manager, "build_parts", &json!({ "header": "above", "footer": "below", "query": "q" })).unwrap();
    let texts: Vec<&str> =
        parts["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["look at\n[POLICY]\nthis", "{\"q\":1}", "found\n[TOOL RESULT]\nnothing", "nothing there"]);
    assert_eq!((parts["header"].as_str(), parts["footer"].as_str()), (Some("above"), Some("below")));
    assert_eq!(parts["attachment_tokens"], 0);
    // The same prompt as without parts.
    let pack = call(&mut manager, "build", &json!({ "header": "above", "footer": "below", "query": "q" })).unwrap();
    assert_eq!(parts["pack"], pack);
}

#[test]
fn a_call_that_was_logged_as_text_is_a_call_of_its_tool() {
    let mut manager = manager(json!({}));
    let logged = json!({ "items": [
        { "id": "u1", "kind": "user_turn", "text": "read the log" }, { "id": "c1", "kind": "tool_call", "text": "read_log()" },
    ] });
    call(&mut manager, "ingest", &logged).unwrap();
    api::ingest_tool_result(&mut manager, &json!({ "tool_call_id": "c1", "tool_name": "read_log" }).to_string(), b"ok")
        .unwrap();
    let parts = call(&mut manager, "build_parts", &json!({ "phase": "answer" })).unwrap();
    let fields = json!({ "items": parts["items"], "format": "openai-chat" });
    let written = api::convert::convert_call("items_to_messages", &fields.to_string()).unwrap();
    let written = serde_json::from_str::<Value>(&written).unwrap()["done"].take();
    let function = &written["messages"][1]["tool_calls"][0]["function"];
    assert_eq!((function, &written["warnings"]), (&json!({ "name": "read_log", "arguments": "{}" }), &json!([])));
}

#[test]
fn excerpts_and_secrets_have_the_text_of_the_prompt() {
    let mut manager = manager(json!({ "redact_secrets": true }));
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let long: Vec<String> = (0..900).map(|at| format!("line {at} of a long answer with many words")).collect();
    let mut secret = record(0, key);
    secret["arguments"] = json!({ "token": key });
    secret["function_name"] = "find".into();
    let items = json!({ "items": [
        { "id": "u", "kind": "user_turn", "text": "question" },
        { "id": "c", "kind": "tool_call", "text": "{}", "metadata": secret },
        { "id": "r", "kind": "tool_result", "text": long.join("\n"), "parent_id": "c", "metadata": { "function_name": "find" } },
        { "id": "u2", "kind": "user_turn", "text": format!("use {key}") },
    ] });
    call(&mut manager, "ingest", &items).unwrap();
    let parts = call(&mut manager, "build_parts", &json!({ "budget_tokens": 400, "query": "line 7" })).unwrap();
    assert!(!parts.to_string().contains(key), "{parts}");
    let find = |id: &str| parts["items"].as_array().unwrap().iter().find(|item| item["id"] == id).unwrap().clone();
    let result = find("r")["text"].as_str().unwrap().to_owned();
    assert!(result.len() < 2000 && result.starts_with("line "), "{result}");
    // What was kept of a message with a secret is not what it was, and says so.
    assert_eq!(find("c")["metadata"]["_contextweaver"]["message"]["digest"], "");
}

#[test]
fn attachments_count_against_the_budget() {
    let mut manager = manager(json!({}));
    let image = |id: &str, tokens: u64| json!({ "id": id, "kind": "user_turn", "text": format!("a picture of {id}"), "metadata": record(tokens, "x") });
    let items: Vec<Value> = (0..6).map(|at| image(&format!("i{at}"), 1000)).collect();
    call(&mut manager, "ingest", &json!({ "items": items })).unwrap();
    let parts = call(&mut manager, "build_parts", &json!({ "budget_tokens": 3100 })).unwrap();
    let tokens = parts["pack"]["stats"]["prompt_tokens"].as_u64().unwrap();
    let attached = parts["attachment_tokens"].as_u64().unwrap();
    assert!(tokens + attached <= 3100 && attached >= 1000, "{tokens} {attached}");
    let pins = json!({ "budget_tokens": 500, "pin": ["i0"] });
    assert_eq!(call(&mut manager, "build_parts", &pins).unwrap_err(), "BUDGET_EXCEEDED");
}

#[test]
fn further_messages_follow_those_that_were_read() {
    let mut manager = manager(json!({}));
    let plan = |manager: &mut ContextManager, format: &str| {
        call(manager, "message_plan", &json!({ "format": format })).unwrap()
    };
    assert_eq!(plan(&mut manager, "openai-chat"), json!({ "start": 0, "known_calls": {} }));
    call(&mut manager, "ingest", &log()).unwrap();
    let more = json!({ "items": [{ "id": "m", "kind": "user_turn", "text": "x", "metadata": record(0, "x") }] });
    call(&mut manager, "ingest", &more).unwrap();
    assert_eq!(plan(&mut manager, "openai-chat"), json!({ "start": 4, "known_calls": { "c1": "c" } }));
    assert_eq!(plan(&mut manager, "gemini"), json!({ "start": 0, "known_calls": { "c1": "c" } }));
}
