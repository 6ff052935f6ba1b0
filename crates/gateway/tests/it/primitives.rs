//! Resources and prompts of several servers, and options that are refused.

use contextweaver_base::ErrorCode;
use contextweaver_gateway::{CallRequest, Gateway, ServerStatus};
use serde_json::{Value, json};

use crate::support::gateway;

fn with_primitives(options: Value) -> Gateway {
    let mut all = options;
    all["servers"] = json!([{ "name": "one" }, { "name": "two" }]);
    let mut gateway = gateway(all);
    let one = json!({ "tools": [], "resources": [{ "uri": "file:///a", "name": "a", "description": "The file a." }, { "uri": "db://x?password=hunter2222", "name": "x" }, { "name": "nameless" }],
        "resource_templates": [{ "uriTemplate": "one://{id}", "name": "t" }], "prompts": [{ "name": "review code", "arguments": [{ "name": "code", "required": true }] }] });
    let two = json!({ "tools": [], "resources": [{ "uri": "file:///a", "name": "other a" }, { "uri": "two://b", "name": "b" }], "prompts": [{ "name": "review code" }, { "name": "plan" }] });
    for (server, listing) in [("one", one), ("two", two)] {
        gateway.set_listing(server, listing.to_string().as_bytes()).unwrap();
    }
    gateway
}

#[test]
fn resources_and_prompts_are_found_where_they_are() {
    let mut gateway = with_primitives(json!({}));
    let listed = json!(gateway.list_resources());
    assert_eq!(listed.as_array().unwrap().len(), 4);
    assert_eq!(listed[0]["_meta"], json!({ "contextweaver/server": "one" }));
    assert!(listed[3].get("_meta").is_none() && !listed.to_string().contains("hunter"), "{listed}");
    let servers = |gateway: &Gateway, uri: &str| gateway.find_resource(uri).unwrap().servers;
    assert_eq!(servers(&gateway, "file:///a"), ["one", "two"]);
    assert_eq!(servers(&gateway, "two://b"), ["two", "one"]);
    assert_eq!(servers(&gateway, "one://5"), ["one", "two"]);
    // Shown without its credentials, it is still found.
    let shown = listed[1]["uri"].as_str().unwrap();
    assert_eq!(gateway.find_resource(shown).unwrap().uri, "db://x?password=hunter2222");
    let prompts: Vec<String> =
        gateway.list_prompts().iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(prompts, ["one__review code", "two__review code", "plan"]);
    for (name, server, upstream) in
        [("one__review code", "one", "review code"), ("plan", "two", "plan"), ("two__plan", "two", "plan")]
    {
        let found = gateway.find_prompt(name).unwrap();
        assert_eq!((found.server.as_str(), found.name.as_str()), (server, upstream));
    }
    let unknown = gateway.find_prompt("plans").unwrap_err();
    assert_eq!(
        (unknown.code(), unknown.to_json()["hint"].as_str()),
        (ErrorCode::NotFound, Some("did you mean `plan`?"))
    );
    for server in ["one", "two"] {
        gateway.set_status(server, ServerStatus::Unavailable, None).unwrap();
    }
    assert_eq!(gateway.find_resource("zzz:1").unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(gateway.list_resources().len(), 4);
}

#[test]
fn options_that_say_nothing_are_refused() {
    for (options, code, path) in [
        (json!({}), ErrorCode::MissingField, "/servers"),
        (json!({ "servers": [{}] }), ErrorCode::MissingField, "/servers/0/name"),
        (json!({ "servers": [{ "name": "a" }, { "name": "a" }] }), ErrorCode::DuplicateId, "/servers/1/name"),
        (json!({ "servers": [{ "name": "a b" }] }), ErrorCode::InvalidInput, "/servers/0/name"),
        (json!({ "servers": [], "mode": "serach" }), ErrorCode::InvalidInput, "/mode"),
        (json!({ "servers": [], "moed": "search" }), ErrorCode::UnknownField, "/moed"),
        (json!({ "servers": [], "pins": { "b": {} } }), ErrorCode::NotFound, "/pins/b"),
        (json!({ "servers": [], "names": { "drilldown": "call_tool" } }), ErrorCode::DuplicateId, "/names"),
        (json!({ "servers": [], "names": { "recall": "search_tools" } }), ErrorCode::DuplicateId, "/names"),
        (json!({ "servers": [], "names": { "drilldown": "x y" } }), ErrorCode::InvalidInput, "/names/drilldown"),
        (json!({ "servers": [], "mode": "reference" }), ErrorCode::InvalidInput, "/mode"),
        (json!({ "servers": [], "reference": {} }), ErrorCode::UnknownField, "/reference"),
        (json!({ "servers": [], "preset": "fast" }), ErrorCode::InvalidInput, "/preset"),
        (
            json!({ "servers": [{ "name": "a", "policy": { "rules": [{}] } }] }),
            ErrorCode::MissingField,
            "/servers/0/policy/rules/0/action",
        ),
    ] {
        let refused = contextweaver_gateway::GatewayOptions::from_value(options.clone()).unwrap_err();
        assert_eq!((refused.code(), refused.path()), (code, path), "{options}");
    }
    let mut gateway = gateway(json!({ "servers": [] }));
    let nobody = gateway.begin_call(CallRequest { name: "x".to_owned(), ..CallRequest::default() }).unwrap_err();
    assert_eq!((nobody.code(), nobody.path()), (ErrorCode::InvalidInput, "/session"));
}
