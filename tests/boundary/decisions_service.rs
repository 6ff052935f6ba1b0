//! What the tools of the decision memory promise, whatever is called in whatever order.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

use contextweaver::api::decisions as api;
use contextweaver_decisions::service::tool_specs::tools;

fn store() -> api::DecisionSession {
    let rules = json!([
        { "id": "floor", "condition_stakes": "high", "condition_confidence": "< 0.5", "action": "block" },
        { "id": "tagged", "condition": "'danger' in action.tags", "action": "block" },
        { "id": "quality", "condition": "action.phase == 'record' && action.quality_score < 0.2", "action": "warn" },
    ]);
    api::new_store(&json!({ "guardrails": rules }).to_string()).unwrap()
}

/// Calls an operation; ids come as they are asked for.
fn called(session: &mut api::DecisionSession, operation: &str, mut arguments: Value, ids: &mut u32) -> Value {
    for _ in 0..4 {
        let answer: Value =
            serde_json::from_str(&api::call(session, operation, &arguments.to_string()).unwrap()).unwrap();
        if answer.get("need").is_none() {
            return answer["done"].clone();
        }
        *ids += 1;
        arguments["ids"] = json!([format!("{ids:08x}")]);
    }
    panic!("{operation} asks on");
}

fn size(session: &mut api::DecisionSession) -> u64 {
    called(session, "size", json!({}), &mut 0)["size"].as_u64().unwrap()
}

fn exported(session: &mut api::DecisionSession) -> Value {
    called(session, "export", json!({}), &mut 0)
}

/// Everything that a store says while texts hold a secret, behind so many characters.
fn all_said(session: &mut api::DecisionSession, secret: &str, pad: usize, ids: &mut u32) -> String {
    let text = format!("{} deploys with {secret} now", "x ".repeat(pad / 2));
    let action = json!({ "description": text, "category": "process", "stakes": "high", "confidence": 0.4 });
    let id = format!("{:08x}", *ids + 1);
    let include = ["decisions", "guardrails", "calibration", "ready", "patterns", "contradictions", "wisdom"];
    let tools = [
        ("record_thought", json!({ "text": text })),
        ("query_decisions", json!({ "query": text })),
        ("check_action", action.clone()),
        (
            "log_decision",
            json!({
                "decision": text, "confidence": 0.5, "category": "process", "context": text, "tags": [secret],
                "pattern": text, "reasons": [{ "type": "analysis", "text": text }],
            }),
        ),
        ("pre_action", json!({ "action": action })),
        ("get_decision", json!({ "id": id })),
        ("update_decision", json!({ "id": id, "context": text })),
        (
            "review_outcome",
            json!({ "id": id, "outcome": "failure", "lessons": text, "affected_kpis": { secret: 1, "password": secret } }),
        ),
        ("get_decision", json!({ "id": id })),
        ("link_decisions", json!({ "source_id": id, "target_id": secret, "edge_type": "supersedes" })),
        ("get_graph", json!({ "node_id": id })),
        ("get_neighbors", json!({ "node_id": id })),
        ("ready", json!({})),
        ("get_stats", json!({})),
        ("get_reason_stats", json!({})),
        ("query_decisions", json!({ "query": "deploys" })),
        ("get_session_context", json!({ "task_description": "deploys", "format": "json", "include": include })),
        ("get_session_context", json!({ "task_description": "deploys", "include": include, "agent_id": secret })),
        (secret, json!({})),
        ("get_decision", json!({ "id": format!("{secret}!") })),
    ];
    let mut said = Vec::new();
    for (name, arguments) in tools {
        let rpc = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments },
        });
        said.push(called(session, "call_tool", json!({ "name": name, "arguments": arguments }), ids));
        if matches!(name, "get_decision" | "get_session_context") || name == secret {
            said.push(called(session, "handle_rpc", json!({ "message": rpc }), ids));
        }
    }
    let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": secret });
    said.push(called(session, "handle_rpc", json!({ "message": rpc }), ids));
    said.push(called(session, "context", json!({ "query": text, "budget_tokens": 2000 }), ids));
    json!(said).to_string()
}

#[test]
fn credentials_are_masked_in_all_that_is_said_and_kept_in_what_is_stored() {
    let secret = format!("ghp_{}", "Zq7Rk2Lm9Xw4".repeat(3));
    for redacts in [true, false] {
        // Somewhere each list and each note cuts the text in the middle of the secret.
        for pad in (0..520).step_by(13) {
            let rule = json!({
                "id": "r", "description": format!("without {secret}"), "condition_stakes": "high", "action": "warn",
                "message": "{description}: not so",
            });
            let mut session = if redacts {
                api::new_store(&json!({ "guardrails": [rule] }).to_string()).unwrap()
            } else {
                api::new_store(&json!({ "guardrails": [rule], "redact_secrets": false }).to_string()).unwrap()
            };
            let said = all_said(&mut session, &secret, pad, &mut 0);
            if redacts {
                let at = said.find("ghp_").or_else(|| said.find("Zq7R"));
                assert!(at.is_none(), "{pad}: {}", &said[at.unwrap().saturating_sub(200)..][..400]);
                assert!(said.contains("[REDACTED-SECRET]"));
            } else {
                assert!(said.contains(&secret), "{pad}");
            }
            let kept = exported(&mut session);
            for field in ["decision", "context", "lessons"] {
                assert!(kept["decisions"].to_string().contains(&format!("\"{field}\":\"{}", "x ".repeat(pad / 2))));
            }
            assert!(kept.to_string().matches(&secret).count() > 5, "{pad}: {kept}");
        }
    }
}

#[test]
fn a_masked_context_keeps_its_budget() {
    let mut session = store();
    let mut ids = 0;
    for number in 10..50 {
        let decision = format!("Number {number}: password=ab{number}cd for pwd=xy{number}zz");
        let arguments = json!({ "decision": decision, "confidence": 0.5, "category": "process" });
        called(&mut session, "call_tool", json!({ "name": "log_decision", "arguments": arguments }), &mut ids);
    }
    for budget in (100..900).step_by(20) {
        let context =
            called(&mut session, "context", json!({ "query": "password", "budget_tokens": budget }), &mut ids);
        assert!(context["tokens"].as_u64().unwrap() <= budget, "{budget}: {context}");
        assert!(!context["text"].as_str().unwrap().contains("cd for"));
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Use PostgreSQL for orders".to_owned()),
        Just("Cache sessions in memory".to_owned()),
        "[a-z]{1,8}( [a-z]{1,8}){0,6}",
        "\\PC{1,40}",
        Just("\n## Heading\n- [x](y) | <b>\u{202e}".to_owned()),
    ]
}

fn id() -> impl Strategy<Value = String> {
    (0_u32..6).prop_map(|number| format!("{number:08x}"))
}

/// A call that may be right.
fn plausible() -> impl Strategy<Value = (String, Value)> {
    let action = (text(), 0_usize..4, 0_usize..11, any::<bool>(), any::<bool>()).prop_map(
        |(description, stakes, confidence, is_tagged, lies)| {
            let stakes = ["low", "medium", "high", "critical"][stakes];
            let confidence = confidence as f64 / 10.0;
            let context = if lies { json!({ "stakes": "low", "confidence": 1, "tags": [] }) } else { json!({}) };
            let tags = if is_tagged { json!(["danger"]) } else { json!([]) };
            let action =
                json!({ "description": description, "stakes": stakes, "confidence": confidence, "context": context });
            ("pre_action".to_owned(), json!({ "action": action, "tags": tags }))
        },
    );
    let other = (0_usize..12, text(), id(), id()).prop_map(|(which, text, id, other)| {
        let call = match which {
            0 => ("log_decision", json!({ "decision": text, "confidence": 0.7, "category": "process", "pattern": id })),
            1 => ("review_outcome", json!({ "id": id, "outcome": "failure", "lessons": text })),
            2 => ("update_decision", json!({ "id": id, "context": text, "tags": [other] })),
            3 => ("record_thought", json!({ "text": text, "decision_id": id })),
            4 => ("record_thought", json!({ "text": text, "agent_id": other })),
            5 => ("link_decisions", json!({ "source_id": id, "target_id": other, "edge_type": "supersedes" })),
            6 => ("query_decisions", json!({ "query": text, "filters": { "has_outcome": true } })),
            7 => ("get_decision", json!({ "id": id })),
            8 => ("get_graph", json!({ "node_id": id, "depth": 3 })),
            9 => ("get_session_context", json!({ "task_description": text, "max_tokens": 300 })),
            10 => ("get_reason_stats", json!({})),
            _ => ("check_action", json!({ "description": text, "stakes": "high", "confidence": 0.2 })),
        };
        (call.0.to_owned(), call.1)
    });
    prop_oneof![action, other]
}

/// Arguments of any form.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    let names: Vec<String> = tools()
        .iter()
        .flat_map(|tool| tool.input["properties"].as_object().unwrap().keys().cloned())
        .chain(["description", "type", "text", "structure", "steps", "__proto__"].map(str::to_owned))
        .collect();
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let names = names.clone();
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(names), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(property(64))]

    #[test]
    fn what_is_blocked_is_not_recorded(calls in prop::collection::vec(plausible(), 1..25)) {
        let (mut session, mut ids) = (store(), 0);
        for (place, (name, arguments)) in calls.iter().enumerate() {
            let before = size(&mut session);
            let now = place as u64 * 10_000;
            let asked = json!({ "name": name, "arguments": arguments, "now": now });
            let result = called(&mut session, "call_tool", asked, &mut ids);
            let grown = size(&mut session) - before;
            // Words of nothing but white space are none.
            if name == "pre_action" && arguments["action"]["description"].as_str().unwrap().trim().is_empty() {
                prop_assert_eq!(&result["isError"], &json!(true));
                prop_assert_eq!(grown, 0);
            } else if name == "pre_action" {
                let content = &result["structuredContent"];
                let action = &arguments["action"];
                let is_risky = action["stakes"] == "high" && action["confidence"].as_f64().unwrap() < 0.5;
                let is_blocked = is_risky || arguments["tags"] == json!(["danger"]);
                prop_assert_eq!(&content["allowed"], &json!(!is_blocked), "{}", arguments);
                prop_assert_eq!(content["decisionId"].is_string(), !is_blocked);
                prop_assert_eq!(grown, u64::from(!is_blocked));
                prop_assert_eq!(content["blockReasons"].is_array(), is_blocked);
            } else {
                prop_assert_eq!(grown, u64::from(name == "log_decision" && result["isError"].is_null()));
            }
        }
    }

    #[test]
    fn what_is_imported_is_what_was_exported(calls in prop::collection::vec(plausible(), 0..25)) {
        let (mut session, mut ids) = (store(), 0);
        for (place, (name, arguments)) in calls.iter().enumerate() {
            let asked = json!({ "name": name, "arguments": arguments, "now": place as u64 * 10_000 });
            called(&mut session, "call_tool", asked, &mut ids);
        }
        let exported_first = exported(&mut session);
        let mut copy = api::new_store("{}").unwrap();
        let imported = called(&mut copy, "import", json!({ "snapshot": exported_first, "mode": "replace" }), &mut 0);
        prop_assert_eq!(&imported["errors"], &json!([]));
        prop_assert_eq!(&exported(&mut copy), &exported_first);
        // And it goes on as the first would.
        for (place, (name, arguments)) in calls.iter().enumerate() {
            let now = 1_000_000 + place as u64 * 10_000;
            let asked = json!({ "name": name, "arguments": arguments, "now": now });
            let (mut ours, mut theirs) = (ids, ids);
            let first = called(&mut session, "call_tool", asked.clone(), &mut ours);
            prop_assert_eq!(called(&mut copy, "call_tool", asked, &mut theirs), first);
            ids = ours;
        }
        prop_assert_eq!(exported(&mut copy), exported(&mut session));
    }

    #[test]
    fn figures_are_those_of_a_plain_sum(list in prop::collection::vec((0_u32..=100, 0_usize..5), 0..60)) {
        let outcomes = [("success", 1.0), ("partial", 0.5), ("failure", 0.0), ("abandoned", 0.0)];
        let record = |(number, (confidence, outcome)): (usize, &(u32, usize))| {
            let mut record = json!({
                "id": format!("{number:08x}"), "decision": "d", "category": "process", "status": "pending",
                "confidence": f64::from(*confidence) / 100.0, "date": "2026-01-01T00:00:00+00:00",
            });
            if let Some((name, _)) = outcomes.get(*outcome) {
                (record["outcome"], record["status"]) = (json!(name), json!("reviewed"));
            }
            record
        };
        let records: Vec<Value> = list.iter().enumerate().map(record).collect();
        let mut session = store();
        called(&mut session, "import", json!({ "snapshot": records }), &mut 0);
        let answer = called(&mut session, "call_tool", json!({ "name": "get_stats", "arguments": {}, "now": 0 }), &mut 0);
        let figures = &answer["structuredContent"];
        let reviewed: Vec<(u32, f64)> =
            list.iter().filter_map(|(confidence, outcome)| Some((*confidence, outcomes.get(*outcome)?.1))).collect();
        let count = reviewed.len() as f64;
        if reviewed.len() < 5 {
            prop_assert!(figures["overall"].is_null());
            return Ok(());
        }
        let mean = |of: &dyn Fn(f64, f64) -> f64| reviewed.iter().map(|(c, o)| of(f64::from(*c) / 100.0, *o)).sum::<f64>() / count;
        let (accuracy, brier) = (mean(&|_, o| o), mean(&|c, o| (c - o) * (c - o)));
        let mut ece = 0.0;
        for bin in 0..10 {
            let inside = reviewed.iter().filter(|(c, _)| (c / 10).min(9) == bin);
            ece += inside.map(|(c, o)| o - f64::from(*c) / 100.0).sum::<f64>().abs() / count;
        }
        let z = 1.959_964_f64;
        let middle = (accuracy + z * z / (2.0 * count)) / (1.0 + z * z / count);
        let half = z / (1.0 + z * z / count) * (accuracy * (1.0 - accuracy) / count + z * z / (4.0 * count * count)).sqrt();
        let (overall, extended) = (&figures["overall"], &figures["extended"]);
        for (name, shown, wanted) in [
            ("accuracy", &overall["accuracy"], accuracy),
            ("brier", &overall["brierScore"], brier),
            ("gap", &overall["calibrationGap"], accuracy - mean(&|c, _| c)),
            ("ece", &extended["ece"], ece),
            ("low", &extended["accuracyInterval"]["low"], middle - half),
            ("high", &extended["accuracyInterval"]["high"], middle + half),
        ] {
            let shown = shown.as_f64().unwrap();
            prop_assert!((shown - wanted).abs() < 6e-4, "{name}: {shown} for {wanted}");
        }
        prop_assert_eq!(&overall["reviewedDecisions"], &json!(reviewed.len()));
        prop_assert_eq!(&overall["totalDecisions"], &json!(list.len()));
    }

    #[test]
    fn no_arguments_are_too_odd(which in 0_usize..15, arguments in anything()) {
        let (mut session, mut ids) = (store(), 0);
        let tool = &tools()[which];
        let asked = json!({ "name": tool.name, "arguments": arguments, "now": 0 });
        let result = called(&mut session, "call_tool", asked, &mut ids);
        let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        if result["isError"] == true {
            prop_assert_eq!(&said["error"], "validation_error", "{}", said);
            prop_assert_eq!(size(&mut session), 0);
        } else {
            prop_assert_eq!(&said, &result["structuredContent"]);
        }
    }

    #[test]
    fn every_message_gets_an_answer_or_none(message in anything(), method in 0_usize..6) {
        let method = ["initialize", "tools/list", "tools/call", "server/discover", "ping", "x"][method];
        for message in [message.clone(), json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": message })] {
            let answer = called(&mut store(), "handle_rpc", json!({ "message": message, "now": 0 }), &mut 0);
            if !answer.is_null() {
                prop_assert_eq!(&answer["jsonrpc"], "2.0");
                prop_assert!(answer["result"].is_object() != answer["error"].is_object());
            }
        }
    }
}

#[test]
fn null_is_a_message_that_is_refused() {
    let answer = called(&mut store(), "handle_rpc", json!({ "message": null, "now": 0 }), &mut 0);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
}

#[test]
fn what_a_host_hears_of_a_check_has_no_credential() {
    let secret = format!("ghp_{}", "Zq7Rk2Lm9Xw4".repeat(3));
    for (redacts, shown) in
        [(true, "deploy with [REDACTED-SECRET]".to_owned()), (false, format!("deploy with {secret}"))]
    {
        let mut session = api::new_store(&json!({ "redact_secrets": redacts }).to_string()).unwrap();
        let arguments =
            json!({ "name": "check_action", "arguments": { "description": format!("deploy with {secret}") } });
        let answer: Value =
            serde_json::from_str(&api::call(&mut session, "call_tool", &arguments.to_string()).unwrap()).unwrap();
        let heard =
            answer["events"].as_array().unwrap().iter().find(|event| event["kind"] == "guardrail_check").unwrap();
        assert_eq!(heard["event"]["action"], shown);
    }
}
