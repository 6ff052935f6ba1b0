//! How calls go: what is checked, in which order, and what a client is told.

use contextweaver_base::{ErrorCode, limits};
use contextweaver_gateway::{
    AppUse, CallRequest, CallStep, FailedCall, FailureKind, FinishedCall, MeasuredResult, ServerStatus, UpstreamFailure,
};
use serde_json::{Value, json};

use crate::support::{error, list, names, request, text, with_tools};

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("Does {name}."), "inputSchema": { "type": "object",
        "properties": { "n": { "type": "integer" } }, "required": ["n"] } })
}

fn reader(name: &str) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = json!({ "readOnlyHint": true });
    tool
}

fn forward(step: CallStep) -> contextweaver_gateway::ForwardedCall {
    let CallStep::Forward(forward) = step else { panic!("not forwarded: {step:?}") };
    *forward
}

fn failed(call: u64, kind: FailureKind) -> FailedCall {
    FailedCall { call, failure: UpstreamFailure::new(kind, "it broke"), random: 0.0 }
}

#[test]
fn a_call_reaches_the_tool_that_its_name_was_shown_for() {
    let mut gateway = with_tools(&[("a", json!([tool("x"), tool("y")])), ("b", json!([tool("y")]))], json!({}));
    assert_eq!(names(&mut gateway, "s"), ["x", "a__y", "b__y", "drilldown", "recall"]);
    for (name, server, upstream) in [("x", "a", "x"), ("a__y", "a", "y"), ("b__y", "b", "y"), ("a__x", "a", "x")] {
        let forward = forward(gateway.begin_call(request(name, json!({ "n": 1 }))).unwrap().step);
        assert_eq!((forward.server.as_str(), forward.tool.as_str()), (server, upstream), "{name}");
    }
    let CallStep::Error(error) = gateway.begin_call(request("z", json!({}))).unwrap().step else { panic!() };
    assert_eq!(error.code, -32602);
    // `x` of a goes, and b gets one: who has not listed since means the one that it saw.
    list(&mut gateway, "a", &json!([tool("y")]));
    list(&mut gateway, "b", &json!([tool("y"), tool("x")]));
    assert!(matches!(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step, CallStep::Error(_)));
    names(&mut gateway, "s");
    assert_eq!(forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).server, "b");
    // The plain name of a tool that is prefixed by now.
    list(&mut gateway, "a", &json!([tool("y"), tool("x")]));
    assert_eq!(forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).server, "b");
}

#[test]
fn policy_comes_before_arguments_and_denied_calls_count() {
    let options = json!({
        "policy": { "rules": [{ "action": "deny", "tool": "x" }] },
        "rate_limits": { "tool_execute": { "max_calls_per_minute": 2 } },
    });
    let mut gateway = with_tools(&[("a", json!([tool("x"), tool("y")]))], options);
    assert_eq!(names(&mut gateway, "s"), ["y", "drilldown", "recall"]);
    for _ in 0..2 {
        let told = error(&gateway.begin_call(request("x", json!({}))).unwrap().step);
        assert_eq!((&told["error"], told["message"].as_str().unwrap().contains('n')), (&json!("POLICY_DENIED"), true));
        assert!(!told.to_string().contains("required"));
    }
    let told = error(&gateway.begin_call(request("y", json!({ "n": 1 }))).unwrap().step);
    assert_eq!((&told["error"], &told["retryable"]), (&json!("RATE_LIMITED"), &json!(true)));
    // Others are not slowed down by that.
    let other = CallRequest { session: "t".to_owned(), ..request("y", json!({ "n": 1 })) };
    forward(gateway.begin_call(other).unwrap().step);
}

#[test]
fn arguments_are_told_by_place_never_by_value() {
    let mut gateway = with_tools(&[("a", json!([tool("x")]))], json!({}));
    let told = error(&gateway.begin_call(request("x", json!({ "n": "AKIAABCDEFGHIJKLMNOP" }))).unwrap().step);
    assert_eq!(told["error"], "ARGS_INVALID");
    assert_eq!(told["details"]["errors"], json!([{ "path": "/n", "keyword": "type", "expected": "integer" }]));
    assert!(!told.to_string().contains("AKIA"));
    for arguments in [json!("{}"), json!([]), json!(1), json!(true)] {
        assert_eq!(error(&gateway.begin_call(request("x", arguments)).unwrap().step)["error"], "ARGS_INVALID");
    }
    let many: serde_json::Map<String, Value> = (0..50).map(|n| (format!("k{n}"), json!({ "type": "null" }))).collect();
    list(&mut gateway, "a", &json!([{ "name": "many", "inputSchema": { "type": "object", "properties": many } }]));
    let wrong: serde_json::Map<String, Value> = (0..50).map(|n| (format!("k{n}"), json!(1))).collect();
    names(&mut gateway, "s");
    let told = error(&gateway.begin_call(request("many", Value::Object(wrong))).unwrap().step);
    assert_eq!(told["details"]["errors"].as_array().unwrap().len(), 10);
}

#[test]
fn null_is_what_models_write_for_what_they_leave_out() {
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["id"],
        "properties": { "id": { "type": ["string", "null"] }, "limit": { "type": "integer" }, "deep": { "type": "object",
            "properties": { "flag": { "type": "boolean" } } } } });
    let tool = json!({ "name": "find", "description": "Finds.", "inputSchema": schema });
    let mut gateway = with_tools(&[("a", json!([tool]))], json!({}));
    // The server decides what it makes of it.
    let given = json!({ "id": null, "limit": null, "deep": null });
    assert_eq!(
        Value::Object(forward(gateway.begin_call(request("find", given.clone())).unwrap().step).arguments),
        given
    );
    for (given, path) in [
        (json!({ "id": "x", "limit": "many", "deep": null }), "/limit"),
        (json!({ "id": "x", "other": null }), "/other"),
        (json!({ "id": "x", "deep": { "flag": null } }), "/deep/flag"),
        (json!({ "limit": null }), ""),
    ] {
        let told = error(&gateway.begin_call(request("find", given)).unwrap().step);
        assert_eq!(
            (&told["error"], told["details"]["errors"].as_array().map(Vec::len)),
            (&json!("ARGS_INVALID"), Some(1))
        );
        assert_eq!(told["details"]["errors"][0]["path"], path);
    }
}

#[test]
fn what_has_a_default_need_not_be_given() {
    // As generators write the schema of what a server reads: defaults under `required`, at any depth.
    let deep = json!({ "type": "object", "required": ["unit", "of"],
        "properties": { "unit": { "enum": ["m", "ft"], "default": "m" }, "of": { "type": "string" } } });
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["scale", "id"],
        "properties": { "id": { "type": "string" }, "scale": { "enum": ["css", "device"], "default": "css" },
            "odd": { "type": "string", "default": null }, "deep": { "anyOf": [{ "type": "array", "items": deep }] },
            "words": { "type": "string", "description": "long ".repeat(200) } } });
    let tool = json!({ "name": "shoot", "description": "Shoots.", "inputSchema": schema });
    let mut gateway = with_tools(&[("a", json!([tool]))], json!({ "mode": "search" }));
    for given in [
        json!({ "id": "x" }),
        json!({ "id": "x", "scale": null }),
        json!({ "id": "x", "deep": [{ "of": "y" }] }),
        json!({ "id": "x", "scale": "device" }),
    ] {
        let call = forward(gateway.begin_call(request("shoot", given.clone())).unwrap().step);
        assert_eq!(Value::Object(call.arguments), given);
    }
    for (given, path) in [
        (json!({}), ""),
        (json!({ "id": "x", "scale": "none" }), "/scale"),
        (json!({ "id": "x", "deep": [{ "unit": "m" }] }), "/deep"),
    ] {
        let told = error(&gateway.begin_call(request("shoot", given)).unwrap().step);
        assert_eq!((&told["error"], &told["details"]["errors"][0]["path"]), (&json!("ARGS_INVALID"), &json!(path)));
    }
    // In fewer tokens, too, where the default itself is left out.
    let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": "shoots" }))).unwrap().step);
    assert!(answer.contains(r#""required":["id"]"#), "{answer}");
}

#[test]
fn tools_for_views_alone_are_called_but_not_found() {
    let ui = |meta: Value| json!({ "name": meta["name"], "description": "Reads pages of a file.", "inputSchema": { "type": "object" }, "_meta": { "ui": meta["ui"] } });
    let tools = json!([
        ui(json!({ "name": "read_pages", "ui": { "resourceUri": "ui://a/view.html" } })),
        ui(json!({ "name": "read_bytes", "ui": { "visibility": ["app"] } })),
        ui(json!({ "name": "read_both", "ui": { "visibility": ["model", "app"] } })),
        ui(json!({ "name": "read_odd", "ui": { "visibility": [] } })),
    ]);
    let mut gateway = with_tools(&[("a", tools)], json!({ "mode": "search" }));
    let found = text(&gateway.begin_call(request("search_tools", json!({ "query": "read pages" }))).unwrap().step);
    assert!(found.contains("read_pages") && found.contains("read_both") && found.contains("read_odd"), "{found}");
    assert!(!found.contains("read_bytes"), "{found}");
    for (name, app) in [("read_pages", Some(AppUse::View)), ("read_bytes", Some(AppUse::Only)), ("read_both", None)] {
        assert_eq!(forward(gateway.begin_call(request(name, json!({}))).unwrap().step).app, app);
    }
}

#[test]
fn a_users_word_is_for_the_tool_as_it_was() {
    let options = json!({ "policy": { "default": "ask" } });
    let mut gateway = with_tools(&[("a", json!([tool("x")]))], options);
    let told = error(&gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step);
    assert_eq!((&told["error"], &told["details"]["approval"]), (&json!("AUTH_REQUIRED"), &json!("required")));
    let asking = CallRequest { can_confirm: true, ..request("x", json!({ "n": 1 })) };
    let ask = |gateway: &mut contextweaver_gateway::Gateway| match gateway.begin_call(asking.clone()).unwrap().step {
        CallStep::Confirm { call, message } => (call, message),
        other => panic!("{other:?}"),
    };
    let (call, message) = ask(&mut gateway);
    assert!(message.contains("`x`") && message.contains("\"a\""), "{message}");
    assert_eq!(
        gateway.finish_call(FinishedCall { call, ..FinishedCall::default() }).unwrap_err().code(),
        ErrorCode::NotFound
    );
    forward(gateway.confirm_call(call, true, 0).unwrap().step);
    assert_eq!(gateway.confirm_call(call, true, 0).unwrap_err().code(), ErrorCode::NotFound);
    let (call, _) = ask(&mut gateway);
    assert_eq!(error(&gateway.confirm_call(call, false, 0).unwrap().step)["error"], "AUTH_REQUIRED");
    let (call, _) = ask(&mut gateway);
    list(&mut gateway, "a", &json!([reader("x")]));
    gateway.accept("a", None).unwrap();
    assert_eq!(error(&gateway.confirm_call(call, true, 0).unwrap().step)["error"], "HYDRATE_FAILED");
    // What does not fit is refused before anybody is asked.
    let asking = CallRequest { can_confirm: true, ..request("x", json!({})) };
    assert_eq!(error(&gateway.begin_call(asking).unwrap().step)["error"], "ARGS_INVALID");
}

#[test]
fn only_what_is_allowed_of_meta_passes() {
    let mut gateway = with_tools(&[("a", json!([tool("x")]))], json!({}));
    let meta = json!({ "traceparent": "00-1", "progressToken": 1, "dev.contextweaver/context": { "user": "u" } });
    let call = CallRequest { meta: meta.as_object().unwrap().clone(), ..request("x", json!({ "n": 1 })) };
    assert_eq!(json!(forward(gateway.begin_call(call).unwrap().step).meta), json!({ "traceparent": "00-1" }));
}

#[test]
fn no_tool_promises_structured_content() {
    let mut typed = tool("x");
    typed["outputSchema"] = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
    for mode in ["firewall", "search"] {
        let mut gateway = with_tools(&[("a", json!([typed]))], json!({ "mode": mode, "pinned_tools": ["x"] }));
        let listed = gateway.list_tools("s", None).tools;
        let shown = listed.iter().find(|tool| tool["name"] == "x").unwrap();
        assert!(!shown.contains_key("outputSchema"), "{mode}");
        assert!(forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).output_schema.is_some());
    }
}

#[test]
fn tools_of_a_dead_server_stay_and_say_so() {
    let mut gateway = with_tools(&[("a", json!([tool("x")])), ("b", json!([tool("y")]))], json!({}));
    let changed =
        gateway.set_status("a", ServerStatus::Unavailable, Some("connect ECONNREFUSED\ntoken=hunter2222")).unwrap();
    assert!(changed.tools && !changed.resources);
    let listed = gateway.list_tools("s", None).tools;
    assert_eq!(listed[0]["_meta"]["contextweaver/unavailable"], true);
    assert!(listed[0]["description"].as_str().unwrap().starts_with("(The server \"a\" is unavailable"));
    assert!(listed[1].get("_meta").is_none());
    let told = error(&gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step);
    assert_eq!((&told["error"], &told["retryable"]), (&json!("UPSTREAM_UNAVAILABLE"), &json!(true)));
    assert!(!told.to_string().contains("hunter"), "{told}");
    forward(gateway.begin_call(request("y", json!({ "n": 1 }))).unwrap().step);
    assert!(gateway.set_status("a", ServerStatus::Ready, None).unwrap().tools);
    assert!(!gateway.set_status("a", ServerStatus::Ready, None).unwrap().tools);
    forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step);
}

#[test]
fn only_what_does_no_harm_is_called_again() {
    let options = json!({ "retry": { "max_attempts": 3, "base_delay": 0.1 } });
    let mut gateway = with_tools(&[("a", json!([reader("r"), tool("w")]))], options);
    let call = forward(gateway.begin_call(request("r", json!({ "n": 1 }))).unwrap().step).call;
    for wait in [100, 200] {
        assert_eq!(
            gateway.fail_call(failed(call, FailureKind::Timeout)).unwrap().step,
            CallStep::Retry { after_ms: wait }
        );
    }
    assert_eq!(
        error(&gateway.fail_call(failed(call, FailureKind::Timeout)).unwrap().step)["error"],
        "UPSTREAM_TIMEOUT"
    );
    assert_eq!(gateway.fail_call(failed(call, FailureKind::Timeout)).unwrap_err().code(), ErrorCode::NotFound);
    let call = forward(gateway.begin_call(request("w", json!({ "n": 1 }))).unwrap().step).call;
    // It may have been done, so that a model must not simply call it again.
    let told = error(&gateway.fail_call(failed(call, FailureKind::Timeout)).unwrap().step);
    assert_eq!((&told["error"], &told["retryable"]), (&json!("UPSTREAM_TIMEOUT"), &json!(false)));
    assert!(told["message"].as_str().unwrap().contains("may have been done"));
    let call = forward(gateway.begin_call(request("r", json!({ "n": 1 }))).unwrap().step).call;
    assert_eq!(
        error(&gateway.fail_call(failed(call, FailureKind::Cancelled)).unwrap().step)["error"],
        "UPSTREAM_ERROR"
    );
    assert_eq!(gateway.stats().retries, 2);
}

#[test]
fn an_error_of_the_protocol_stays_one_where_nothing_else_changes() {
    let mut gateway = with_tools(&[("a", json!([tool("x")]))], json!({}));
    let call = forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).call;
    let failure = UpstreamFailure {
        code: Some(-32042),
        data: Some(json!({ "elicitations": [{ "url": "https://a.example/?token=hunter2222" }] })),
        ..UpstreamFailure::new(FailureKind::Rpc, "open\nthis password=hunter2222")
    };
    let step = gateway.fail_call(FailedCall { call, failure: failure.clone(), random: 0.0 }).unwrap().step;
    let CallStep::Error(told) = step else { panic!() };
    assert_eq!((told.code, told.message.as_str()), (-32042, "open this password=[REDACTED-SECRET]"));
    assert_eq!(told.data, failure.data);
    let call = forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).call;
    let failure = UpstreamFailure { code: Some(-32000), ..failure };
    let CallStep::Error(told) = gateway.fail_call(FailedCall { call, failure, random: 0.0 }).unwrap().step else {
        panic!()
    };
    assert!(!json!(told).to_string().contains("hunter"), "{told:?}");
}

#[test]
fn a_search_front_lists_what_was_used() {
    let options = json!({ "mode": "search", "recent_tools": 2, "pinned_tools": ["a__p*"] });
    let mut gateway = with_tools(&[("a", json!([tool("x"), tool("y"), tool("z"), tool("pinned")]))], options);
    let own = ["search_tools", "call_tool", "drilldown", "recall", "pinned"];
    assert_eq!(names(&mut gateway, "s"), own);
    let mut used = Vec::new();
    for (name, changes) in [("z", true), ("x", true), ("z", false), ("pinned", false), ("y", true)] {
        let call = request("call_tool", json!({ "name": name, "arguments": { "n": 1 } }));
        let call = forward(gateway.begin_call(call).unwrap().step).call;
        let done = gateway.finish_call(FinishedCall { call, ..FinishedCall::default() });
        assert_eq!(done.unwrap().changed.tools, changes, "{name}");
        used.push(names(&mut gateway, "s").split_off(5));
    }
    assert_eq!(used, [vec!["z"], vec!["x", "z"], vec!["x", "z"], vec!["x", "z"], vec!["y", "z"]]);
    assert_eq!(names(&mut gateway, "other"), own);
    let told = error(&gateway.begin_call(request("call_tool", json!({ "name": "Pined" }))).unwrap().step);
    assert_eq!(told["error"], "HYDRATE_FAILED");
    assert!(told["message"].as_str().unwrap().contains("nearest names: pinned"), "{told}");
    let told = error(&gateway.begin_call(request("call_tool", json!({ "name": "x", "n": 1 }))).unwrap().step);
    assert!(told["message"].as_str().unwrap().contains("`arguments`"), "{told}");
    let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": "zebra crossing" }))).unwrap().step);
    assert!(answer.starts_with("No tool fits \"zebra crossing\""), "{answer}");
    let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": "x" }))).unwrap().step);
    assert!(answer.starts_with("x: Does x.\narguments: {"), "{answer}");
    let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": "" }))).unwrap().step);
    assert!(answer.contains("- a: 4 tools"), "{answer}");
    for wrong in
        [json!({}), json!({ "query": 5 }), json!({ "query": "x", "top_k": 0 }), json!({ "query": "x", "nmae": 1 })]
    {
        assert_eq!(error(&gateway.begin_call(request("search_tools", wrong)).unwrap().step)["error"], "ARGS_INVALID");
    }
}

#[test]
fn results_are_kept_for_the_session_that_asked() {
    let mut gateway = with_tools(&[("a", json!([reader("r"), tool("w")]))], json!({ "cache": {} }));
    let reply = json!({ "content": [{ "type": "text", "text": "alice" }] });
    let ask = |gateway: &mut contextweaver_gateway::Gateway, session: &str, name: &str, now_ms: u64| {
        let call = CallRequest { session: session.to_owned(), now_ms, ..request(name, json!({ "n": 1 })) };
        gateway.begin_call(call).unwrap().step
    };
    for name in ["r", "w"] {
        let sent = forward(ask(&mut gateway, "alice", name, 0));
        assert_eq!(sent.keeps_reply, name == "r");
        let finished = FinishedCall { call: sent.call, reply: Some(reply.clone()), ..FinishedCall::default() };
        gateway.finish_call(finished).unwrap();
    }
    assert_eq!(ask(&mut gateway, "alice", "r", 59_000), CallStep::Reply(reply));
    for (session, name, now) in [("bob", "r", 0), ("alice", "w", 0), ("alice", "r", 60_000)] {
        forward(ask(&mut gateway, session, name, now));
    }
    assert_eq!(gateway.stats().cache_hits, 1);
}

#[test]
fn a_result_says_what_was_repaired_in_the_arguments_of_its_call() {
    let mut gateway = with_tools(&[("a", json!([reader("r")]))], json!({ "cache": {}, "tolerant_args": true }));
    let mut ask = |arguments: Value| gateway.begin_call(request("r", arguments)).unwrap().step;
    let sent = forward(ask(json!({ "n": "1" })));
    let reply = json!({ "content": [], "_meta": { "own": 1 } });
    let repairs = json!([{ "path": "$.n", "rule": "str_to_integer" }]);
    let finished = FinishedCall { call: sent.call, reply: Some(reply.clone()), ..FinishedCall::default() };
    assert_eq!(gateway.finish_call(finished).unwrap().meta["contextweaver/arg_repairs"], repairs);
    // A kept reply answers a later call, which has repairs of its own, or none.
    let mut ask = |arguments: Value| gateway.begin_call(request("r", arguments)).unwrap().step;
    assert_eq!(ask(json!({ "n": 1 })), CallStep::Reply(reply));
    let CallStep::Reply(again) = ask(json!({ "n": "1" })) else { panic!() };
    assert_eq!(again["_meta"], json!({ "own": 1, "contextweaver/arg_repairs": repairs }));
}

#[test]
fn a_stored_result_is_read_as_the_policy_of_its_tool_says() {
    let options = json!({ "policy": { "rules": [{ "action": "deny", "meta_tool": "tool_view", "tool": "secret" }] } });
    let mut gateway = with_tools(&[("a", json!([tool("secret"), tool("x")]))], options);
    for (name, handles) in [("secret", ["h1", "mcp:secret:resource:0"]), ("x", ["h2", "h3"])] {
        let call = forward(gateway.begin_call(request(name, json!({ "n": 1 }))).unwrap().step).call;
        let measured = MeasuredResult { handles: handles.map(str::to_owned).to_vec(), ..MeasuredResult::default() };
        gateway.finish_call(FinishedCall { call, measured, ..FinishedCall::default() }).unwrap();
    }
    let read = |gateway: &mut contextweaver_gateway::Gateway, session: &str, handle: &str| {
        let call = request("drilldown", json!({ "handle": handle, "selector": { "type": "head" } }));
        gateway.begin_call(CallRequest { session: session.to_owned(), ..call }).unwrap().step
    };
    for handle in ["h1", "mcp:secret:resource:0", "unknown"] {
        assert_eq!(error(&read(&mut gateway, "s", handle))["error"], "POLICY_DENIED", "{handle}");
    }
    for handle in ["h2", "h3"] {
        assert!(matches!(read(&mut gateway, "s", handle), CallStep::Drilldown { .. }));
        let told = error(&read(&mut gateway, "other", handle));
        assert_eq!((&told["error"], &told["details"]["reason"]), (&json!("POLICY_DENIED"), &json!("handle")));
        assert!(told["message"].as_str().unwrap().contains("this client has no such handle"), "{told}");
    }
    // After a restart the host tells what it knows.
    gateway.own_handles("other", vec![("h2".to_owned(), "a".to_owned(), "x".to_owned())]);
    assert!(matches!(read(&mut gateway, "other", "h2"), CallStep::Drilldown { .. }));
    // A server that is not configured any more: where a policy refuses some, nobody knows whether this is one.
    gateway.own_handles("other", vec![("h3".to_owned(), "gone".to_owned(), "x".to_owned())]);
    assert_eq!(error(&read(&mut gateway, "other", "h3"))["error"], "POLICY_DENIED");
    let mut open = with_tools(&[("a", json!([tool("x")]))], json!({}));
    open.own_handles("other", vec![("h3".to_owned(), "gone".to_owned(), "x".to_owned())]);
    assert!(matches!(read(&mut open, "other", "h3"), CallStep::Drilldown { .. }));
}

#[test]
fn a_search_of_results_is_told_which_it_may_read() {
    let options = json!({ "policy": { "rules": [{ "action": "deny", "meta_tool": "tool_view", "tool": "secret" }] } });
    for (options, handles) in [(options, Some(vec!["h2".to_owned()])), (json!({}), None)] {
        let mut gateway = with_tools(&[("a", json!([tool("secret"), tool("x")]))], options);
        for (name, handle) in [("secret", "h1"), ("x", "h2")] {
            let call = forward(gateway.begin_call(request(name, json!({ "n": 1 }))).unwrap().step).call;
            let measured = MeasuredResult { handles: vec![handle.to_owned()], ..MeasuredResult::default() };
            gateway.finish_call(FinishedCall { call, measured, ..FinishedCall::default() }).unwrap();
        }
        let mut ask = |arguments| gateway.begin_call(request("recall", arguments)).unwrap().step;
        let step = ask(json!({ "query": "the order", "max_tokens": 100 }));
        let query = "the order".to_owned();
        assert_eq!(step, CallStep::Recall { query, max_tokens: Some(100), handles });
        for wrong in
            [json!({}), json!({ "query": " " }), json!({ "query": 1 }), json!({ "query": "a", "max_tokens": 0 })]
        {
            assert_eq!(error(&ask(wrong.clone()))["error"], "ARGS_INVALID", "{wrong}");
        }
        assert_eq!((gateway.stats().recalls, gateway.stats().drilldowns), (1, 0));
    }
}

#[test]
fn open_calls_are_bounded_and_end_with_their_session() {
    let mut gateway = with_tools(&[("a", json!([tool("x")]))], json!({}));
    for _ in 0..limits::MAX_OPEN_CALLS {
        forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step);
    }
    assert_eq!(error(&gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step)["error"], "RATE_LIMITED");
    gateway.end_session("s");
    assert_eq!(gateway.stats().open_calls, 0);
    let call = forward(gateway.begin_call(request("x", json!({ "n": 1 }))).unwrap().step).call;
    gateway.cancel_call(call);
    assert_eq!(
        gateway.finish_call(FinishedCall { call, ..FinishedCall::default() }).unwrap_err().code(),
        ErrorCode::NotFound
    );
}
