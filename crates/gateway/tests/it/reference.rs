//! Reference mode beyond what was recorded, and resources and prompts.

use contextweaver_base::ErrorCode;
use contextweaver_gateway::{
    CallRequest, CallStep, FinishedCall, Gateway, MeasuredResult, ServerStatus, ViewOutcome, gateway_meta_tools,
    primitive_meta_tools, proxy_meta_tools,
};
use serde_json::{Value, json};

use crate::support::{error, gateway, names, request, text, with_tools};

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object",
        "properties": { "n": { "type": "integer" } }, "required": ["n"] } })
}

fn body(gateway: &mut Gateway, name: &str, arguments: Value) -> Value {
    serde_json::from_str(&text(&gateway.begin_call(request(name, arguments)).unwrap().step)).unwrap()
}

fn ids(cards: &Value) -> Vec<String> {
    cards.as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect()
}

/// 0.18 names the groups of its tree instead, so that with 72 tools `/github` leads nowhere.
#[test]
fn every_namespace_has_a_path_however_many_tools_there_are() {
    let mut tools = Vec::new();
    for space in ["github", "slack", "Google.Drive"] {
        tools.extend((0..24).map(|n| tool(&format!("{space}.tool_{n}"), "Does something with it.")));
    }
    let mut gateway = with_tools(&[("a", json!(tools))], json!({ "mode": "reference" }));
    let roots = body(&mut gateway, "tool_browse", json!({ "path": "/" }));
    assert_eq!(ids(&roots), ["/github", "/google", "/slack"]);
    assert_eq!(roots[0]["kind"], "internal");
    let mut found = Vec::new();
    let mut open: Vec<String> = ids(&roots);
    while let Some(path) = open.pop() {
        for id in ids(&body(&mut gateway, "tool_browse", json!({ "path": path }))) {
            if id.starts_with('/') { open.push(id) } else { found.push(id) }
        }
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 72);
    let told = error(&gateway.begin_call(request("tool_browse", json!({ "path": "/nowhere" }))).unwrap().step);
    assert_eq!((&told["error"], &told["path"]), (&json!("PATH_NOT_FOUND"), &json!("/nowhere")));
}

#[test]
fn several_servers_are_told_apart() {
    let same = || json!([tool("read", "Reads a file.")]);
    let mut gateway = with_tools(&[("one", same()), ("two", same())], json!({ "mode": "reference" }));
    let cards = body(&mut gateway, "tool_browse", json!({ "query": "read a file" }));
    let namespaces: Vec<&str> =
        cards.as_array().unwrap().iter().map(|card| card["namespace"].as_str().unwrap()).collect();
    assert!(namespaces.contains(&"one") && namespaces.contains(&"two"), "{cards}");
    for card in cards.as_array().unwrap() {
        let arguments = json!({ "tool_id": card["id"], "args": { "n": 1 } });
        let CallStep::Forward(forward) = gateway.begin_call(request("tool_execute", arguments)).unwrap().step else {
            panic!()
        };
        assert_eq!(card["namespace"], forward.server.as_str());
    }
}

#[test]
fn what_was_browsed_stays_first() {
    let tools = json!([
        tool("send_mail", "Send an email."),
        tool("read_mail", "Read an email."),
        tool("plan_trip", "Plan a trip.")
    ]);
    let options = json!({ "mode": "reference", "reference": { "cache_stable": true } });
    let mut gateway = with_tools(&[("a", tools)], options);
    let first = body(&mut gateway, "tool_browse", json!({ "query": "plan a trip" }));
    assert_eq!(ids(&first).len(), 1);
    let next = ids(&body(&mut gateway, "tool_browse", json!({ "query": "email or trip" })));
    assert_eq!((next[0].as_str(), next[1].as_str(), next.len()), (ids(&first)[0].as_str(), "__cache_breakpoint__", 4));
    let again = body(&mut gateway, "tool_browse", json!({ "query": "plan a trip" }));
    assert_eq!(again, first);
}

#[test]
fn a_dry_run_counts_nothing_and_tells_nothing_of_what_is_denied() {
    let options = json!({ "mode": "reference", "policy": { "rules": [{ "action": "deny", "tool": "secret" }] },
        "rate_limits": { "tool_execute": { "max_calls_per_session": 1 } } });
    let mut gateway = with_tools(&[("a", json!([tool("secret", "Hidden."), tool("open", "Open.")]))], options);
    let id = ids(&body(&mut gateway, "tool_browse", json!({ "query": "" })));
    assert_eq!(id.len(), 1, "a tool that is denied is not found");
    let dry = json!({ "tool_id": id[0], "args": { "n": 1 }, "dry_run": true });
    for _ in 0..3 {
        let report = body(&mut gateway, "tool_execute", dry.clone());
        assert_eq!(report["checks"][1], json!({ "name": "rate_limit", "status": "pass" }));
    }
    let run = json!({ "tool_id": id[0], "args": { "n": 1 } });
    assert!(matches!(gateway.begin_call(request("tool_execute", run)).unwrap().step, CallStep::Forward(_)));
    assert_eq!(body(&mut gateway, "tool_execute", dry)["checks"][1]["status"], "fail");
    let secret = id[0].replace("open", "secret");
    let secret = secret.split('#').next().unwrap().to_owned();
    let unknown =
        error(&gateway.begin_call(request("tool_execute", json!({ "tool_id": secret, "args": {} }))).unwrap().step);
    assert_eq!(unknown["error"], "HYDRATE_FAILED");
}

#[test]
fn a_proxy_lists_tools_without_their_schemas() {
    let options = json!({ "mode": "reference", "reference": { "proxy": true } });
    let mut gateway = with_tools(&[("a", json!([tool("read", "Reads.\n\nIgnore the others.")]))], options);
    let listed = gateway.list_tools("s", None).tools;
    assert_eq!(listed[0]["inputSchema"], json!({ "type": "object" }));
    assert_eq!(listed[0]["description"], "Reads. Ignore the others.");
    let id = listed[0]["name"].as_str().unwrap();
    let record = body(&mut gateway, "tool_hydrate", json!({ "tool_id": id }));
    assert_eq!(record["args_schema"]["required"], json!(["n"]));
    assert_eq!(
        error(&gateway.begin_call(request("tool_browse", json!({ "query": "" }))).unwrap().step)["error"],
        "ARGS_INVALID"
    );
}

#[test]
fn meta_tools_say_what_they_do() {
    for tool in gateway_meta_tools().into_iter().chain(proxy_meta_tools()).chain(primitive_meta_tools()) {
        let executes = tool["name"] == "tool_execute";
        assert_eq!(tool["annotations"]["readOnlyHint"], !executes, "{}", tool["name"]);
        assert_eq!(tool["annotations"]["openWorldHint"], executes);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
}

#[test]
fn an_envelope_is_needed_and_becomes_the_reply() {
    let mut gateway =
        with_tools(&[("a", json!([tool("read", "Reads.")]))], json!({ "mode": "reference", "tolerant_args": true }));
    let id = ids(&body(&mut gateway, "tool_browse", json!({ "query": "" }))).remove(0);
    let arguments = json!({ "tool_id": id, "args": { "n": "5" } });
    let CallStep::Forward(forward) = gateway.begin_call(request("tool_execute", arguments)).unwrap().step else {
        panic!()
    };
    assert_eq!(json!(forward.arguments), json!({ "n": 5 }));
    let finished = FinishedCall { call: forward.call, reply: json!({ "content": [] }), ..FinishedCall::default() };
    let missing = gateway.finish_call(finished.clone()).unwrap_err();
    assert_eq!((missing.code(), missing.path()), (ErrorCode::MissingField, "/envelope"));
    let envelope = json!({ "status": "error", "summary": "no", "artifacts": [{ "handle": "h", "media_type": "text/plain", "size_bytes": 2 }],
        "provenance": { "server": "x" } });
    let measured =
        MeasuredResult { tokens: 900, shown_tokens: 1, bytes: 3600, handles: vec!["h".to_owned()], is_error: true };
    let done = gateway.finish_call(FinishedCall { envelope: Some(envelope), measured, ..finished }).unwrap();
    assert_eq!(done.reply["isError"], true);
    let body: Value = serde_json::from_str(done.reply["content"][0]["text"].as_str().unwrap()).unwrap();
    let provenance = json!({ "tool": "read", "protocol": "mcp", "tool_id": id,
        "arg_repairs": [{ "path": "$.n", "rule": "str_to_integer" }], "server": "x" });
    assert_eq!(body["provenance"], provenance);
    assert_eq!(
        (&body["firewall_stats"]["triggered"], &body["firewall_stats"]["artifact_ref"]),
        (&json!(true), &json!("h"))
    );
}

#[test]
fn a_view_is_bounded_and_says_what_is_missing() {
    let mut gateway = with_tools(&[("a", json!([tool("read", "Reads.")]))], json!({ "mode": "reference" }));
    let view = json!({ "handle": "h", "selector": { "type": "head", "chars": 1_000_000_000 } });
    let CallStep::Drilldown { max_tokens, plain, .. } = gateway.begin_call(request("tool_view", view)).unwrap().step
    else {
        panic!()
    };
    assert!(plain && max_tokens.is_some());
    let slice = |truncated| ViewOutcome::Slice {
        text: "abc".into(),
        unit: "chars".into(),
        start: 0,
        end: 3,
        total: 9,
        truncated,
    };
    assert_eq!(gateway.view_reply("h", slice(false))["content"][0]["text"], "abc");
    assert_eq!(gateway.view_reply("h", slice(true))["content"][0]["text"], "abc\n(chars 0 to 3 of 9)");
}

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
fn reference_mode_reads_resources_and_prompts_by_id() {
    let mut gateway = with_primitives(json!({ "mode": "reference" }));
    assert!(names(&mut gateway, "s").contains(&"prompt_get".to_owned()));
    let cards = body(&mut gateway, "resource_browse", json!({ "query": "file a" }));
    assert_eq!(cards[0]["kind"], "resource");
    let step = gateway.begin_call(request("resource_read", json!({ "resource_id": cards[0]["id"] }))).unwrap().step;
    let CallStep::ReadResource { call, uri, .. } = step else { panic!("{step:?}") };
    assert_eq!(uri, "file:///a");
    let envelope = json!({ "status": "ok", "summary": "text" });
    let done = gateway.finish_call(FinishedCall {
        call,
        reply: json!({}),
        envelope: Some(envelope),
        ..FinishedCall::default()
    });
    let reply: Value = serde_json::from_str(done.unwrap().reply["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        reply["provenance"],
        json!({ "resource_id": cards[0]["id"], "protocol": "mcp", "primitive": "resource" })
    );
    let prompts = body(&mut gateway, "prompt_browse", json!({ "query": "" }));
    let review = prompts.as_array().unwrap().iter().find(|card| card["namespace"] == "one").unwrap()["id"].clone();
    let wrong = gateway.begin_call(request("prompt_get", json!({ "prompt_id": review }))).unwrap().step;
    assert_eq!(error(&wrong)["error"], "ARGS_INVALID");
    let step = gateway
        .begin_call(request("prompt_get", json!({ "prompt_id": review, "args": { "code": "x" } })))
        .unwrap()
        .step;
    let CallStep::GetPrompt { server, name, arguments, .. } = step else { panic!("{step:?}") };
    assert_eq!((server.as_str(), name.as_str(), json!(arguments)), ("one", "review code", json!({ "code": "x" })));
    for (tool, key, code) in
        [("resource_read", "resource_id", "RESOURCE_NOT_FOUND"), ("prompt_get", "prompt_id", "PROMPT_NOT_FOUND")]
    {
        assert_eq!(error(&gateway.begin_call(request(tool, json!({ key: "x" }))).unwrap().step)["error"], code);
    }
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
        (json!({ "servers": [], "reference": { "top_k": 0 } }), ErrorCode::OutOfRange, "/reference/top_k"),
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
