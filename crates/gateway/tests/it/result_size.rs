//! How much of a result a client gets, by whoever says so.

use contextweaver_gateway::{CallRequest, CallStep};
use serde_json::{Value, json};

use crate::support::{gateway, list, request};

const TOOLS: &str =
    r#"[{ "name": "a" }, { "name": "b" }, { "name": "c", "_meta": { "anthropic/maxResultSizeChars": 400000 } }]"#;

/// Tokens and characters of a result.
fn size(options: &Value, name: &str, client: Option<&str>, chars: Option<u64>) -> (Option<u64>, Option<u64>) {
    let mut gateway = gateway(options.clone());
    list(&mut gateway, "s", &serde_json::from_str(TOOLS).unwrap());
    let meta = chars.map(|chars| ("anthropic/maxResultSizeChars".to_owned(), chars.into())).into_iter().collect();
    let call = CallRequest { client: client.map(str::to_owned), meta, ..request(name, json!({})) };
    let CallStep::Forward(call) = gateway.begin_call(call).unwrap().step else { panic!() };
    assert_eq!(call.meta.get("anthropic/maxResultSizeChars"), None);
    (call.result_tokens, call.result_chars)
}

#[test]
fn the_word_for_a_tool_goes_before_that_for_its_server_and_that_for_all() {
    let all = json!({ "servers": [{ "name": "s", "result_tokens": 500, "tools": { "a": { "result_tokens": 900 } } }], "result_tokens": 70 });
    assert_eq!(size(&all, "a", None, None), (Some(900), None));
    assert_eq!(size(&all, "b", None, None), (Some(500), None));
    let plain = json!({ "servers": [{ "name": "s" }], "result_tokens": 70 });
    assert_eq!(size(&plain, "b", None, None), (Some(70), None));
    assert_eq!(size(&json!({ "servers": [{ "name": "s" }] }), "b", None, None), (None, None));
}

#[test]
fn what_a_client_takes_is_a_bound_of_each() {
    let none = json!({ "servers": [{ "name": "s" }] });
    let large = json!({ "servers": [{ "name": "s" }], "result_tokens": 60_000 });
    assert_eq!(size(&none, "b", None, Some(8_000)), (Some(2_000), Some(8_000)));
    assert_eq!(size(&large, "b", None, Some(8_000)), (Some(2_000), Some(8_000)));
    assert_eq!(size(&none, "b", None, Some(2)), (Some(1), Some(2)));
    // One that cuts results by itself.
    assert_eq!(size(&large, "b", Some("claude-code"), None), (Some(25_000), None));
    assert_eq!(size(&none, "b", Some("claude-code"), None), (None, None));
    // It takes what a server says of a tool, and others do not.
    assert_eq!(size(&none, "c", Some("claude-code/2.1"), None), (Some(100_000), None));
    assert_eq!(size(&none, "c", Some("another"), None), (None, None));
    assert_eq!(size(&large, "c", Some("claude-code"), None), (Some(60_000), None));
}
