//! Boundary tests; one build runs in Node and, when its runner is asked to, in a browser.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use contextweaver::wasm::{
    artifact_bytes, catalog_call, catalog_free, catalog_new, engine_version, last_panic, manager_call, manager_free,
    manager_ingest_tool_result, manager_new, manager_restore, manager_snapshot, text_call,
};
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;

fn call(handle: u32, operation: &str, arguments: &Value) -> Result<Value, Value> {
    match manager_call(handle, operation, &arguments.to_string()) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap()),
        Err(text) => Err(serde_json::from_str(&text).unwrap()),
    }
}

fn session() -> u32 {
    let handle = manager_new("{}").unwrap();
    let items = json!([
        { "id": "u", "kind": "user_turn", "text": "which order failed?" },
        { "id": "c", "kind": "tool_call", "text": "orders()" },
    ]);
    call(handle, "ingest", &json!({ "items": items })).unwrap();
    handle
}

#[wasm_bindgen_test]
fn the_version_is_the_crate_version() {
    assert_eq!(engine_version(), env!("CARGO_PKG_VERSION"));
    assert_eq!(last_panic(), "");
}

#[wasm_bindgen_test]
fn a_session_compiles_and_survives_a_snapshot() {
    let handle = session();
    let raw = "order 7 failed: amount is no integer\n".repeat(200);
    let record = json!({ "tool_call_id": "c", "tool_name": "orders" }).to_string();
    let ingested: Value =
        serde_json::from_str(&manager_ingest_tool_result(handle, &record, raw.as_bytes()).unwrap()).unwrap();
    assert_eq!(ingested["done"]["item"]["id"], "result:c");
    assert_eq!(ingested["events"][0]["hook"], "firewall_triggered");
    assert_eq!(artifact_bytes(handle, "artifact:result:c").unwrap(), raw.as_bytes());
    let request = json!({ "phase": "answer", "query": "failed order", "budget_tokens": 400 });
    let pack = call(handle, "build", &request).unwrap();
    assert!(pack["done"]["stats"]["prompt_tokens"].as_u64().unwrap() <= 400);
    let snapshot = manager_snapshot(handle).unwrap();
    let restored = manager_restore(&snapshot, "{}").unwrap();
    assert_eq!(call(restored, "build", &request).unwrap()["done"], pack["done"]);
    manager_free(handle);
    manager_free(restored);
}

/// A runtime may collect garbage whenever the memory grows: thousands of results took twice as long for that.
#[wasm_bindgen_test]
fn the_memory_grows_by_parts_of_itself() {
    let handle = manager_new("{}").unwrap();
    let pages = || core::arch::wasm32::memory_size(0);
    let (start, mut last, mut times) = (pages(), pages(), 0);
    for number in 0..3000 {
        let record = json!({ "tool_call_id": format!("c{number}"), "tool_name": "orders" }).to_string();
        let raw = format!("order {number} failed: amount is no integer\n").repeat(40);
        manager_ingest_tool_result(handle, &record, raw.as_bytes()).unwrap();
        if pages() > last {
            (last, times) = (pages(), times + 1);
        }
    }
    assert!(last > start + 100 && times < 60, "from {start} to {last} pages in {times} calls");
    manager_free(handle);
}

#[wasm_bindgen_test]
fn errors_carry_code_and_path_and_leave_the_instance_alive() {
    let handle = session();
    let bad = json!({ "items": [{ "id": "x", "kind": "nonsense", "text": "t" }] });
    let error = call(handle, "ingest", &bad).unwrap_err();
    assert_eq!((error["code"].as_str(), error["path"].as_str()), (Some("INVALID_INPUT"), Some("/items/0/kind")));
    for (text, code) in [("{", "DECODE_FAILED"), ("[".repeat(500).as_str(), "TOO_DEEP"), ("[]", "INVALID_INPUT")] {
        let error: Value = serde_json::from_str(&manager_call(handle, "build", text).unwrap_err()).unwrap();
        assert_eq!(error["code"], code);
    }
    assert_eq!(call(handle, "nonsense", &json!({})).unwrap_err()["code"], "UNSUPPORTED");
    assert!(call(handle, "build", &json!({ "phase": "answer" })).is_ok());
    manager_free(handle);
    manager_free(handle);
    assert_eq!(call(handle, "stats", &json!({})).unwrap_err()["code"], "DISPOSED");
}

#[wasm_bindgen_test]
fn questions_are_handed_out_and_answered() {
    let handle = manager_new(&json!({ "estimator": { "custom": "mine" } }).to_string()).unwrap();
    call(handle, "ingest", &json!({ "items": [{ "id": "u", "kind": "user_turn", "text": "a b c" }] })).unwrap();
    let request = json!({ "phase": "answer" });
    let mut rounds = 0;
    let pack = loop {
        let answer = call(handle, "build", &request).unwrap();
        let Some(needs) = answer["need"].as_array() else { break answer };
        let counts: Vec<u64> =
            needs.iter().map(|need| need["text"].as_str().unwrap().split_whitespace().count() as u64).collect();
        call(handle, "supply", &json!({ "answers": counts })).unwrap();
        rounds += 1;
        assert!(rounds < 10);
    };
    assert_eq!(pack["done"]["stats"]["prompt_tokens"], 4);
    assert_eq!(pack["done"]["stats"]["token_estimator"], "mine");
    manager_free(handle);
}

#[wasm_bindgen_test]
fn text_functions_answer() {
    let tokens = text_call("count_tokens", &json!({ "text": "你好世界" }).to_string()).unwrap();
    assert_eq!(tokens, r#"{"done":{"tokens":4}}"#);
    let clean = text_call("redact_secrets", &json!({ "text": "password=hunter22" }).to_string()).unwrap();
    assert_eq!(clean, r#"{"done":{"text":"password=[REDACTED-SECRET]"}}"#);
    assert!(text_call("count_tokens", r#"{"text": "a", "extra": 1}"#).unwrap_err().contains("UNKNOWN_FIELD"));
}

#[wasm_bindgen_test]
fn a_catalog_answers_until_it_is_freed() {
    let tools = json!({ "items": [{ "id": "a", "kind": "tool", "name": "a", "description": "does it" }] });
    let handle = catalog_new(tools.to_string().as_bytes()).unwrap();
    assert_eq!(catalog_call(handle, "size", "{}").unwrap(), r#"{"done":{"size":1}}"#);
    assert!(catalog_call(handle, "get", r#"{"id": "b"}"#).unwrap_err().contains("NOT_FOUND"));
    let again = catalog_call(handle, "register", &json!({ "item": tools["items"][0] }).to_string()).unwrap_err();
    let error: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((error["code"].as_str(), error["path"].as_str()), (Some("DUPLICATE_ID"), Some("/item/id")));
    catalog_free(handle);
    catalog_free(handle);
    let error: Value = serde_json::from_str(&catalog_call(handle, "size", "{}").unwrap_err()).unwrap();
    assert_eq!((error["code"].as_str(), error["message"].as_str()), (Some("DISPOSED"), Some("the catalog was freed")));
}
