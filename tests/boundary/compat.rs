//! The option `compat`, in builds with and without the feature.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api::convert::{convert_call, convert_result};
use contextweaver::api::{new_manager, restore_manager};
use contextweaver_base::{Error, ErrorCode, Result};
use serde_json::{Value, json};

fn failed<T>(result: Result<T>) -> Option<Error> {
    result.err()
}

/// Asks everything that has the option for a version.
fn asked(version: &Value) -> Vec<(&'static str, Option<Error>)> {
    let convert = |operation: &str, mut arguments: Value| {
        arguments["compat"] = version.clone();
        convert_call(operation, &arguments.to_string())
    };
    let options = json!({ "compat": version }).to_string();
    let result = json!({ "result": { "content": [] }, "tool_name": "t", "compat": version }).to_string();
    let snapshot = contextweaver::api::call(&mut new_manager("{}").unwrap(), "snapshot", "{}").unwrap();
    let snapshot = serde_json::from_str::<Value>(&snapshot).unwrap()["done"].to_string();
    let tool = json!({ "name": "t", "description": "d" });
    vec![
        ("manager", failed(new_manager(&options))),
        ("restored manager", failed(restore_manager(&snapshot, &options))),
        ("tool", failed(convert("mcp_tool_to_selectable", json!({ "tool": tool })))),
        ("session", failed(convert("load_mcp_session", json!({ "text": "" })))),
        ("messages", failed(convert("messages_to_items", json!({ "messages": [], "format": "gemini" })))),
        ("items", failed(convert("items_to_messages", json!({ "items": [], "format": "gemini" })))),
        ("result", failed(convert_result(&result))),
    ]
}

#[test]
fn whatever_has_the_option_takes_it_or_says_that_the_build_does_not() {
    for (what, error) in asked(&json!("0.18")) {
        if cfg!(feature = "compat") {
            assert!(error.is_none(), "{what}: {error:?}");
        } else {
            let error = error.unwrap();
            assert_eq!((error.code(), error.path()), (ErrorCode::Unsupported, "/compat"), "{what}");
            assert!(error.to_json()["hint"].as_str().unwrap().contains("feature `compat`"), "{what}");
        }
    }
    assert!(asked(&Value::Null).iter().all(|(_, error)| error.is_none()));
}

#[test]
fn other_versions_are_unknown() {
    for (what, error) in asked(&json!("0.17")) {
        let error = error.unwrap();
        assert_eq!((error.code(), error.path()), (ErrorCode::Unsupported, "/compat"), "{what}");
    }
}

#[cfg(feature = "compat")]
#[test]
fn messages_have_the_ids_of_0_18() {
    let call = |operation: &str, arguments: Value| {
        let answer = convert_call(operation, &arguments.to_string())?;
        Ok::<Value, Error>(serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
    };
    let user = json!([{ "role": "user", "content": "x" }]);
    let old = json!({ "messages": user, "format": "openai-chat", "compat": "0.18" });
    let old = call("messages_to_items", old).unwrap();
    assert_eq!(old["items"][0]["id"], "openai:user:0");
    let old = json!({ "items": old["items"], "format": "openai-chat", "compat": "0.18" });
    assert_eq!(call("items_to_messages", old).unwrap(), json!({ "messages": user, "warnings": [] }));
    let unknown = json!({ "messages": [], "format": "ai-sdk-ui", "compat": "0.18" });
    let error = call("messages_to_items", unknown).unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::Unsupported, "/format"));
}
