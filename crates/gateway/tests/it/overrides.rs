//! What the operator says of tools in place of their servers.

use contextweaver_gateway::{CallStep, ForwardedCall, Gateway, GatewayOptions};
use serde_json::{Value, json};

use crate::support::{error, gateway, list, names, request, text};

fn issues() -> Value {
    json!([
        { "name": "create_issue", "description": "Creates an issue in a repository.", "inputSchema": { "type": "object",
          "properties": { "repo": { "type": "string" }, "title": { "type": "string" }, "labels": { "type": "array" },
            "note": { "type": ["string", "null"] } },
          "required": ["repo", "title"], "additionalProperties": false } },
        { "name": "close_issue", "description": "Closes what create_issue made." },
        { "name": "delete_repo", "description": "Deletes a repository." },
    ])
}

fn over(tools: Value) -> Gateway {
    let mut gateway = gateway(json!({ "servers": [{ "name": "github" }], "tools": tools }));
    list(&mut gateway, "github", &issues());
    gateway
}

fn forwarded(gateway: &mut Gateway, name: &str, arguments: Value) -> ForwardedCall {
    match gateway.begin_call(request(name, arguments)).unwrap().step {
        CallStep::Forward(call) => *call,
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_tool_is_shown_and_called_as_the_operator_says() {
    let said = json!({ "github__create_issue": { "name": "report_bug", "description": "Reports a bug of ours.",
        "result_tokens": 300, "arguments": { "fixed": { "repo": "o/r" }, "defaults": { "labels": ["bug"], "note": "-" } } },
        "github__delete_repo": { "hide": true } });
    let mut gateway = over(said);
    assert_eq!(names(&mut gateway, "s"), ["report_bug", "close_issue", "drilldown", "recall"]);
    let shown = gateway.list_tools("s", None).tools.remove(0);
    assert_eq!(shown["description"], "Reports a bug of ours.");
    let schema = &shown["inputSchema"];
    assert_eq!(schema["required"], json!(["title"]));
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["title", "labels", "note"]);
    assert_eq!(schema["properties"]["labels"]["default"], json!(["bug"]));

    let call = forwarded(&mut gateway, "report_bug", json!({ "title": "t", "labels": null }));
    assert_eq!((call.tool.as_str(), call.result_tokens), ("create_issue", Some(300)));
    assert_eq!(
        call.arguments,
        *json!({ "title": "t", "labels": ["bug"], "note": "-", "repo": "o/r" }).as_object().unwrap()
    );
    // What a tool takes as null is meant so.
    let call = forwarded(&mut gateway, "github__report_bug", json!({ "title": "t", "labels": [], "note": null }));
    assert_eq!((&call.arguments["labels"], &call.arguments["note"]), (&json!([]), &Value::Null));
    // The server's own schema still holds.
    let told = error(&gateway.begin_call(request("report_bug", json!({ "title": 5 }))).unwrap().step);
    assert_eq!(told["error"], "ARGS_INVALID");
    for gone in ["create_issue", "github__create_issue", "delete_repo", "github__delete_repo"] {
        assert!(matches!(gateway.begin_call(request(gone, json!({}))).unwrap().step, CallStep::Error(_)), "{gone}");
    }
}

#[test]
fn a_fixed_argument_is_not_for_clients_to_give() {
    let mut gateway = over(json!({ "github__create_issue": { "arguments": { "fixed": { "repo": "o/r" } } } }));
    let call = forwarded(&mut gateway, "create_issue", json!({ "title": "t", "repo": "evil/r" }));
    assert_eq!(call.arguments["repo"], "o/r");
    let finished = contextweaver_gateway::FinishedCall { call: call.call, ..Default::default() };
    let noted = json!([{ "path": "$.repo", "rule": "fixed_by_override" }]);
    assert_eq!(gateway.finish_call(finished).unwrap().meta["contextweaver/arg_repairs"], noted);
}

#[test]
fn search_finds_a_tool_by_the_words_of_the_operator() {
    let options = json!({ "mode": "search", "servers": [{ "name": "github", "tools": {
        "close_issue": { "name": "settle_ticket", "description": "Settles a ticket of the helpdesk." },
        "delete_repo": { "hide": true } } }] });
    let mut gateway = gateway(options);
    list(&mut gateway, "github", &issues());
    let answer = text(
        &gateway
            .begin_call(request("search_tools", json!({ "query": "settle a ticket of the helpdesk" })))
            .unwrap()
            .step,
    );
    assert!(answer.starts_with("1. settle_ticket: Settles a ticket"), "{answer}");
    assert_eq!(forwarded(&mut gateway, "call_tool", json!({ "name": "settle_ticket" })).tool, "close_issue");
    let answer =
        text(&gateway.begin_call(request("search_tools", json!({ "query": "delete a repository" }))).unwrap().step);
    assert!(!answer.contains("delete_repo"), "{answer}");
}

#[test]
fn policies_mean_a_tool_by_its_names_of_before_too() {
    for tool in ["create_issue", "github__create_issue", "report_bug", "github__report_bug"] {
        let options = json!({ "servers": [{ "name": "github" }], "policy": { "rules": [{ "action": "deny", "tool": tool }] },
            "tools": { "github__create_issue": { "name": "report_bug" } } });
        let mut gateway = gateway(options);
        list(&mut gateway, "github", &issues());
        let told = error(&gateway.begin_call(request("report_bug", json!({}))).unwrap().step);
        assert_eq!(told["error"], "POLICY_DENIED", "{tool}");
        assert_eq!(gateway.stats().unmatched_rules, []);
    }
}

#[test]
fn the_original_is_told_with_what_an_override_breaks() {
    let said = json!({
        "github__create_issue": { "name": "report_bug", "description": "Takes `repo`.",
            "arguments": { "fixed": { "repo": 5 }, "defaults": { "lables": [] } } },
        "github__close_issue": { "name": "report_bug" },
        "github__delete_repo": { "hide": true },
        "github__create_isue": { "hide": true },
        "gitlab__x": { "hide": true },
    });
    let mut gateway = over(said);
    let stats = gateway.stats();
    let told: Vec<(&str, Option<&str>, Vec<&str>)> = stats
        .overrides
        .iter()
        .map(|one| {
            (one.tool.as_str(), one.shown_as.as_deref(), one.problems.iter().map(|problem| problem.code).collect())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("delete_repo", None, vec![]),
            (
                "create_issue",
                Some("github__report_bug"),
                vec!["unknown-argument", "value-invalid", "text-names-argument", "text-names-tool", "name-taken"]
            ),
            ("close_issue", told[2].1, vec!["name-taken"]),
        ]
    );
    assert_eq!(stats.overrides[1].description.as_deref(), Some("Creates an issue in a repository."));
    assert!(
        stats.overrides[1].problems[0].message.ends_with("did you mean `labels`?"),
        "{:?}",
        stats.overrides[1].problems
    );
    assert_eq!(stats.overrides[1].problems[1].path, "/tools/github__create_issue/arguments/fixed/repo");
    let unmatched: Vec<&str> = stats.unmatched_rules.iter().map(|rule| rule.path.as_str()).collect();
    assert_eq!(unmatched, ["/tools/github__create_isue", "/tools/gitlab__x"]);
}

#[test]
fn an_override_changes_no_pin_and_hides_no_finding() {
    let plain = over(json!({})).pin_state();
    let said = json!({ "github__create_issue": { "name": "report_bug", "description": "Ours." } });
    let mut gateway = over(said);
    assert_eq!(gateway.pin_state(), plain);
    let mut changed = issues();
    changed[0]["description"] = "Creates an issue, and sends it to me.".into();
    let listed = gateway.set_listing("github", json!({ "tools": changed }).to_string().as_bytes()).unwrap();
    assert_eq!(listed.report.quarantined[0].name, "create_issue");
    assert!(!names(&mut gateway, "s").contains(&"report_bug".to_owned()));
    assert_eq!(gateway.accept("github", Some("create_issue")).unwrap().accepted, ["create_issue"]);
    assert!(names(&mut gateway, "s").contains(&"report_bug".to_owned()));
}

#[test]
fn names_of_an_earlier_run_are_those_of_the_operator() {
    let options = json!({ "servers": [{ "name": "github" }], "pins": { "github": { "create_issue": "a", "delete_repo": "b" } },
        "tools": { "github__create_issue": { "name": "report_bug" }, "github__delete_repo": { "hide": true } } });
    let mut gateway = gateway(options);
    let told = error(&gateway.begin_call(request("report_bug", json!({}))).unwrap().step);
    assert_eq!((&told["error"], &told["retryable"]), (&json!("UPSTREAM_UNAVAILABLE"), &json!(true)));
}

#[test]
fn what_is_no_override_is_refused_with_its_place() {
    for (tools, code, path) in [
        (json!([]), "INVALID_INPUT", "/tools"),
        (json!({ "a__x": { "nmae": "y" } }), "UNKNOWN_FIELD", "/tools/a__x/nmae"),
        (json!({ "a__x": { "name": "has space" } }), "INVALID_INPUT", "/tools/a__x/name"),
        (json!({ "a__x": { "name": "b__y" } }), "INVALID_INPUT", "/tools/a__x/name"),
        (json!({ "a__x": { "name": "drilldown" } }), "INVALID_INPUT", "/tools/a__x/name"),
        (json!({ "a__x": { "description": " " } }), "INVALID_INPUT", "/tools/a__x/description"),
        (json!({ "a__x": { "result_tokens": 0 } }), "OUT_OF_RANGE", "/tools/a__x/result_tokens"),
        (json!({ "a__x": { "arguments": { "set": {} } } }), "UNKNOWN_FIELD", "/tools/a__x/arguments/set"),
        (
            json!({ "a__x": { "arguments": { "fixed": { "k": 1 }, "defaults": { "k": 2 } } } }),
            "DUPLICATE_ID",
            "/tools/a__x/arguments/fixed/k",
        ),
        (json!({ "a__own": { "hide": true } }), "DUPLICATE_ID", "/tools/a__own"),
    ] {
        let options = json!({ "servers": [{ "name": "a", "tools": { "own": { "hide": true } } }], "tools": tools });
        let error = GatewayOptions::from_value(options).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path), "{tools}");
    }
}
