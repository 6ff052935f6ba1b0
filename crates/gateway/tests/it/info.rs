//! What whoever watches calls is told of them.

use contextweaver_gateway::{
    CallInfo, CallKind, CallStep, FailedCall, FailureKind, FinishedCall, Gateway, NextStep, UpstreamFailure,
};
use serde_json::{Value, json};

use crate::support::{request, with_tools};

fn tools() -> Value {
    json!([
        { "name": "read", "description": "Reads.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
        { "name": "write", "description": "Writes.", "inputSchema": { "type": "object", "required": ["to"] } },
    ])
}

fn call(gateway: &mut Gateway, name: &str, arguments: Value) -> NextStep {
    let mut request = request(name, arguments);
    request.can_confirm = true;
    gateway.begin_call(request).unwrap()
}

fn info(kind: CallKind, server: Option<&str>, tool: Option<&str>, error: Option<&'static str>) -> CallInfo {
    CallInfo { kind, server: server.map(str::to_owned), tool: tool.map(str::to_owned), error, cache_hit: false }
}

#[test]
fn a_call_is_told_by_the_names_of_its_server() {
    let options =
        json!({ "mode": "firewall", "cache": {}, "policy": { "rules": [{ "action": "ask", "tool": "write" }] } });
    let mut gateway = with_tools(&[("a", tools()), ("b", json!([tools()[0]]))], options);
    let read = info(CallKind::Tool, Some("a"), Some("read"), None);
    let begun = call(&mut gateway, "a__read", json!({}));
    assert_eq!(begun.info, read);
    let CallStep::Forward(forward) = begun.step else { panic!() };
    let reply = json!({ "content": [] });
    gateway.finish_call(FinishedCall { call: forward.call, reply: Some(reply), ..FinishedCall::default() }).unwrap();
    assert_eq!(call(&mut gateway, "a__read", json!({})).info, CallInfo { cache_hit: true, ..read });

    // Nothing of the call before stays.
    let unknown = call(&mut gateway, "not a tool: ann@example.com", json!({}));
    assert_eq!(unknown.info, info(CallKind::Tool, None, None, Some("HYDRATE_FAILED")));
    let wrong = call(&mut gateway, "write", json!({}));
    assert_eq!(wrong.info, info(CallKind::Tool, Some("a"), Some("write"), Some("ARGS_INVALID")));

    for (accepted, error) in [(true, None), (false, Some("AUTH_REQUIRED"))] {
        let asked = call(&mut gateway, "write", json!({ "to": "b" }));
        assert_eq!(asked.info, info(CallKind::Tool, Some("a"), Some("write"), None));
        let CallStep::Confirm { call, .. } = asked.step else { panic!() };
        let confirmed = gateway.confirm_call(call, accepted, 0).unwrap();
        assert_eq!(confirmed.info, info(CallKind::Tool, Some("a"), Some("write"), error));
    }
}

#[test]
fn how_a_call_failed_is_told_by_its_code() {
    let mut gateway = with_tools(&[("a", tools())], json!({ "retry": { "max_attempts": 2 } }));
    let CallStep::Forward(forward) = call(&mut gateway, "read", json!({})).step else { panic!() };
    let mut fail = |kind| {
        let failure = UpstreamFailure::new(kind, "it broke");
        gateway.fail_call(FailedCall { call: forward.call, failure, random: 0.0 }).unwrap()
    };
    let again = fail(FailureKind::Timeout);
    assert!(matches!(again.step, CallStep::Retry { .. }));
    assert_eq!(again.info, info(CallKind::Tool, Some("a"), Some("read"), None));
    assert_eq!(fail(FailureKind::Rpc).info, info(CallKind::Tool, Some("a"), Some("read"), Some("UPSTREAM_ERROR")));
}

#[test]
fn the_gateways_own_tools_are_told_apart() {
    let mut gateway = with_tools(&[("a", tools())], json!({ "mode": "search" }));
    let mut told = |name: &str, arguments: Value| call(&mut gateway, name, arguments).info;
    let (search, view) = (CallKind::Search, CallKind::Drilldown);
    assert_eq!(told("search_tools", json!({ "query": "reads" })), info(search, None, Some("search_tools"), None));
    let wrong = told("search_tools", json!({ "query": 1 }));
    assert_eq!(wrong, info(search, None, Some("search_tools"), Some("ARGS_INVALID")));
    assert_eq!(told("drilldown", json!({ "handle": "h" })), info(view, None, Some("drilldown"), None));
    let named = told("call_tool", json!({ "name": "read", "arguments": {} }));
    assert_eq!(named, info(CallKind::Tool, Some("a"), Some("read"), None));
    let unknown = told("call_tool", json!({ "name": "reed" }));
    assert_eq!(unknown, info(CallKind::Tool, None, Some("call_tool"), Some("HYDRATE_FAILED")));
}
