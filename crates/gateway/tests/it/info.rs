//! What whoever watches calls is told of them.

use contextweaver_gateway::{
    CallInfo, CallKind, CallRequest, CallStep, FailedCall, FailureKind, FinishedCall, Gateway, NextStep,
    UpstreamFailure,
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

#[test]
fn calls_whose_steps_interleave_do_not_get_what_is_told_of_each_other() {
    let policy = json!({ "rules": [{ "action": "ask", "tool": "write" }] });
    let options = json!({ "policy": policy, "retry": { "max_attempts": 2 }, "cache": {} });
    let mut gateway = with_tools(&[("a", json!([tools()[0]])), ("b", json!([tools()[1]]))], options);
    let read = |error| info(CallKind::Tool, Some("a"), Some("read"), error);
    let write = |error| info(CallKind::Tool, Some("b"), Some("write"), error);

    let asked = call(&mut gateway, "write", json!({ "to": "x" }));
    let sent = call(&mut gateway, "read", json!({ "n": 1 }));
    let asked_too = call(&mut gateway, "write", json!({ "to": "y" }));
    assert_eq!((&asked.info, &sent.info, &asked_too.info), (&write(None), &read(None), &write(None)));
    let CallStep::Confirm { call: first, .. } = asked.step else { panic!() };
    let CallStep::Confirm { call: second, .. } = asked_too.step else { panic!() };
    let CallStep::Forward(forward) = sent.step else { panic!() };
    let fail = |gateway: &mut Gateway| {
        let failure = UpstreamFailure::new(FailureKind::Timeout, "it broke");
        gateway.fail_call(FailedCall { call: forward.call, failure, random: 0.0 })
    };

    assert_eq!(gateway.confirm_call(first, false, 0).unwrap().info, write(Some("AUTH_REQUIRED")));
    assert_eq!(fail(&mut gateway).unwrap().info, read(None));
    // What is no step of a call leaves nothing for the next one either.
    let nameless = CallRequest { session: String::new(), ..request("write", json!({})) };
    gateway.begin_call(nameless).unwrap_err();
    gateway.confirm_call(forward.call, false, 0).unwrap_err();
    assert_eq!(gateway.confirm_call(second, true, 0).unwrap().info, write(None));
    assert_eq!(fail(&mut gateway).unwrap().info, read(Some("UPSTREAM_TIMEOUT")));
    fail(&mut gateway).unwrap_err();

    // An answer that was kept is told of its own call alone.
    let CallStep::Forward(again) = call(&mut gateway, "read", json!({ "n": 2 })).step else { panic!() };
    let reply = Some(json!({ "content": [] }));
    gateway.finish_call(FinishedCall { call: again.call, reply, ..FinishedCall::default() }).unwrap();
    let kept = call(&mut gateway, "read", json!({ "n": 2 }));
    assert_eq!(kept.info, CallInfo { cache_hit: true, ..read(None) });
    assert_eq!(call(&mut gateway, "read", json!({ "n": 3 })).info, read(None));
}
