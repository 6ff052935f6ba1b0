//! A manager under `compat: "0.18"` where no recorded case reaches. The figures are what 0.18.2 answers.

use contextweaver::api::{call, ingest_mcp_result, ingest_tool_result, new_manager};
use contextweaver_base::Result;
use contextweaver_context::ContextManager;
use serde_json::{Value, json};

fn manager(options: &Value) -> ContextManager {
    let mut options = options.clone();
    options["compat"] = "0.18".into();
    new_manager(&options.to_string()).unwrap()
}

/// Runs an operation until nothing is asked any more.
fn run(
    manager: &mut ContextManager,
    answer: &dyn Fn(&Value) -> Value,
    operation: &dyn Fn(&mut ContextManager) -> Result<String>,
) -> Value {
    for _ in 0..5 {
        let mut output: Value = serde_json::from_str(&operation(manager).unwrap()).unwrap();
        let Some(needs) = output["need"].as_array() else { return output["done"].take() };
        let answers: Vec<Value> = needs.iter().map(answer).collect();
        call(manager, "supply", &json!({ "answers": answers }).to_string()).unwrap();
    }
    panic!("the same is asked again and again");
}

/// Counts two characters as a token.
fn half(need: &Value) -> Value {
    assert_eq!(need["kind"], "count", "{need}");
    (need["text"].as_str().unwrap().chars().count() / 2).into()
}

fn nothing(need: &Value) -> Value {
    panic!("asked {need}")
}

fn take(manager: &mut ContextManager, operation: &str, arguments: &Value) -> Value {
    run(manager, &half, &|manager| call(manager, operation, &arguments.to_string()))
}

fn take_mcp(manager: &mut ContextManager, answer: &dyn Fn(&Value) -> Value, id: &str, result: &Value) -> Value {
    let named = json!({ "tool_call_id": id, "tool_name": "t" }).to_string();
    let result = json!({ "result": result }).to_string();
    run(manager, answer, &|manager| ingest_mcp_result(manager, &named, &result, Vec::new()))
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn large() -> String {
    format!("{}\nstatus: ok", "word ".repeat(600))
}

#[test]
fn the_estimator_counts_what_0_18_counts_with_it() {
    let short = "東京 is large";
    let table = [(json!({ "custom": "half" }), [5, 5, 5, 4]), (json!("heuristic/chardiv4"), [2, 2, 2, 2])];
    for (estimator, [raw, mcp, digest, part]) in table {
        let mut manager = manager(&json!({ "estimator": estimator }));
        let named = |id: &str| json!({ "tool_call_id": id, "tool_name": "t" }).to_string();
        let mut raw_result = |id: &str, raw: &str| {
            let done = run(&mut manager, &half, &|manager| ingest_tool_result(manager, &named(id), raw.as_bytes()));
            done["item"]["token_estimate"].clone()
        };
        assert_eq!(raw_result("c1", short), raw, "{estimator}");
        assert_eq!(raw_result("c2", &large()), 125, "what the firewall makes is counted as ever: {estimator}");
        assert_eq!(take_mcp(&mut manager, &half, "m1", &text(short))["item"]["token_estimate"], mcp, "{estimator}");
        assert_eq!(take_mcp(&mut manager, &half, "m2", &text(&large()))["item"]["token_estimate"], 125, "{estimator}");
        let envelope = json!({ "status": "ok", "summary": short });
        let arguments = json!({ "tool_call_id": "e1", "tool_name": "t", "envelope": envelope });
        let item = take(&mut manager, "ingest_envelope", &arguments)["item"].take();
        assert_eq!(item["token_estimate"], digest, "{estimator}");
        let selector = json!({ "type": "head", "chars": 8 });
        let arguments = json!({ "handle": "artifact:result:c1", "selector": selector, "inject": true });
        let slice = take(&mut manager, "drilldown", &arguments);
        let injected = manager.events().get(slice["item_id"].as_str().unwrap()).unwrap();
        assert_eq!(injected.token_estimate, part, "{estimator}");
    }
}

#[test]
fn a_build_counts_by_the_estimator_of_the_manager() {
    let mut manager =
        manager(&json!({ "estimator": { "custom": "half" }, "policy": { "sensitivity_action": "redact" } }));
    let items = json!([
        { "id": "a", "kind": "user_turn", "text": "error Ⅻ release response id" },
        { "id": "b", "kind": "agent_msg", "text": "x".repeat(100) },
        { "id": "s", "kind": "user_turn", "text": "secret words", "sensitivity": "confidential" },
    ]);
    take(&mut manager, "ingest", &json!({ "items": items }));
    let arguments = json!({ "phase": "answer", "query": "q", "header": "some header text" });
    let stats = take(&mut manager, "build", &arguments)["stats"].take();
    assert_eq!(stats["tokens_per_section"], json!({ "user_turn": 25, "agent_msg": 50 }));
    assert_eq!(stats["header_footer_tokens"], 8);
    let arguments = json!({ "phase": "answer", "query": "q", "budget_tokens": 40 });
    let stats = take(&mut manager, "build", &arguments)["stats"].take();
    assert_eq!(stats["tokens_per_section"], json!({ "user_turn": 25 }));
    assert_eq!(stats["dropped_items"], json!([{ "item_id": "b", "reason": "budget" }]));
}

#[test]
fn what_a_tool_gives_later_stands_under_its_handles() {
    let mut manager = manager(&json!({}));
    for (id, value, size) in [("a", "first", 14), ("b", "second!", 16)] {
        let result = json!({ "content": [], "structuredContent": { "v": value } });
        let envelope = take_mcp(&mut manager, &nothing, id, &result)["envelope"].take();
        assert_eq!(envelope["artifacts"][0]["size_bytes"], size, "{envelope}");
        let arguments = json!({ "handle": "mcp:t:structured_content", "selector": { "type": "head" } });
        assert_eq!(
            take(&mut manager, "drilldown", &arguments)["text"],
            json!({ "v": value }).to_string().replace(':', ": ")
        );
    }
}

#[test]
fn a_large_mcp_result_keeps_the_facts_and_the_status_that_it_came_with() {
    let mut result = text(&large());
    result["structuredContent"] = json!({ "total": 3, "password": "hunter2222" });
    let facts = |options: Value| take_mcp(&mut manager(&options), &nothing, "a", &result)["envelope"]["facts"].take();
    let once = ["status: ok", "total: 3", "password: hunter2222"];
    assert_eq!(facts(json!({})), json!([once, once].concat()));
    let masked = ["status: ok", "total: 3", "password: [REDACTED-SECRET]"];
    assert_eq!(facts(json!({ "redact_secrets": true })), json!([masked, masked].concat()));

    let failing = json!({ "summarizer": { "custom": "f" }, "extractor": { "custom": "f" } });
    let fail = |_: &Value| json!({ "failed": "why" });
    for (is_error, status) in [(false, "ok"), (true, "error")] {
        let mut result = text(&large());
        result["isError"] = is_error.into();
        let envelope = take_mcp(&mut manager(&failing), &fail, "a", &result)["envelope"].take();
        assert_eq!(
            (envelope["status"].as_str(), envelope["summary"].as_str()),
            (Some(status), Some("(summary unavailable)"))
        );
    }
}

#[test]
fn views_are_those_that_its_drilldown_reads() {
    let rows: Vec<Value> = (0..80).map(|id| json!({ "id": id })).collect();
    let content = json!({ "a": 1, "errors": ["disk full"], "rows": rows }).to_string();
    let mut manager = manager(&json!({}));
    manager.put_artifact("h", content.as_bytes(), "application/json", "").unwrap();
    manager.put_artifact("png", b"\x89PNG\xff\xfe", "image/png", "").unwrap();
    let views =
        |manager: &mut ContextManager, handle: &str| take(manager, "artifact_views", &json!({ "handle": handle }));
    let found = views(&mut manager, "h");
    let ids: Vec<&str> = found.as_array().unwrap().iter().map(|view| view["view_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["h:json_keys", "h:key:a", "h:key:errors", "h:key:rows", "h:head"]);
    let header = views(&mut manager, "png");
    assert_eq!(header[0]["selector"], json!({ "type": "head", "chars": 128 }));
    for (handle, list) in [("h", &found), ("png", &header)] {
        for view in list.as_array().unwrap() {
            let part = take(&mut manager, "drilldown", &json!({ "handle": handle, "selector": view["selector"] }));
            assert!(part["text"].as_str().is_some_and(|text| !text.is_empty()), "{view}");
        }
    }
    take(&mut manager, "ingest", &json!({ "items": [{ "id": "r", "kind": "tool_result", "text": "short" }] }));
    let error = call(&mut manager, "artifact_views", "{\"handle\":\"artifact:r\"}").unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("ARTIFACT_NOT_FOUND", "/handle"));
}

#[test]
fn candidates_are_explained_in_the_order_of_their_scores() {
    let mut manager = manager(&json!({ "scoring": { "recency_weight": 0.00001 } }));
    let turn = |id: &str, text: &str| json!({ "id": id, "kind": "user_turn", "text": text });
    let items = [turn("b", "x y z"), turn("c", "p q r"), turn("a", "k l m")];
    take(&mut manager, "ingest", &json!({ "items": items }));
    let pack = take(&mut manager, "build", &json!({ "phase": "answer", "query": "q0", "explain": true }));
    let candidates = pack["explanation"]["candidates"].as_array().unwrap();
    let shown: Vec<_> = candidates.iter().map(|one| (one["item_id"].as_str().unwrap(), &one["score"])).collect();
    let rounded = json!(0.3975);
    assert_eq!(shown, [("a", &rounded), ("c", &rounded), ("b", &rounded)]);
}

#[test]
fn a_policy_stands_in_place_of_the_policy_of_a_profile() {
    let options = json!({
        "profile": { "policy": { "sensitivity_floor": "restricted" } },
        "policy": { "sensitivity_action": "drop" },
    });
    let included = |mut manager: ContextManager| {
        let items = json!([{ "id": "a", "kind": "user_turn", "text": "x", "sensitivity": "confidential" }]);
        take(&mut manager, "ingest", &json!({ "items": items }));
        take(&mut manager, "build", &json!({ "phase": "answer", "query": "x" }))["stats"]["included_count"].take()
    };
    assert_eq!(included(manager(&options)), 0);
    assert_eq!(included(manager(&json!({ "profile": options["profile"] }))), 1);
    assert_eq!(
        included(new_manager(&options.to_string()).unwrap()),
        1,
        "by default the profile fills what is left out"
    );
}

/// What is stricter than 0.18 on purpose, as `docs/compat.md` lists it.
#[test]
fn what_is_withheld_or_masked_where_0_18_shows_it() {
    let raw = |manager: &mut ContextManager, text: &str| {
        let named = json!({ "tool_call_id": "c", "tool_name": "t" }).to_string();
        ingest_tool_result(manager, &named, text.as_bytes()).unwrap();
    };
    let head = |handle: &str| json!({ "handle": handle, "selector": { "type": "head" } }).to_string();
    let confidential = |_: &Value| json!("confidential");

    let mut classified = manager(&json!({ "classifier": { "custom": "f" } }));
    let decision = json!([{ "id": "d", "kind": "agent_msg", "text": "use postgres", "metadata": { "handoff_category": "decision" } }]);
    take(&mut classified, "ingest", &json!({ "items": decision }));
    let handed = run(&mut classified, &confidential, &|manager| call(manager, "handoff", "{}"));
    assert_eq!((&handed["pack"]["decisions"], &handed["pack"]["sensitivity_dropped"]), (&json!([]), &json!(1)));
    raw(&mut classified, "abc");
    let asked: Value =
        serde_json::from_str(&call(&mut classified, "drilldown", &head("artifact:result:c")).unwrap()).unwrap();
    let answers = json!({ "answers": [confidential(&asked["need"][0])] }).to_string();
    call(&mut classified, "supply", &answers).unwrap();
    let error = call(&mut classified, "drilldown", &head("artifact:result:c")).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("POLICY_VIOLATION", "/handle"));

    let mut masked = manager(&json!({ "redact_secrets": true }));
    raw(&mut masked, "AKIAIOSFODNN7EXAMPLE");
    let part = call(&mut masked, "drilldown", &head("artifact:result:c")).unwrap();
    assert!(part.contains("[REDACTED-SECRET]") && !part.contains("AKIA"), "{part}");
    let small = take_mcp(&mut masked, &nothing, "m", &text("AKIAIOSFODNN7EXAMPLE"));
    assert_eq!(small["item"]["text"], "[REDACTED-SECRET]");

    let mut withheld = manager(&json!({}));
    let result = json!({ "result": { "content": [], "structuredContent": { "salary": 1 } } }).to_string();
    for (id, level) in [("a", "restricted"), ("b", "public")] {
        let named = json!({ "tool_call_id": id, "tool_name": "t", "sensitivity": level }).to_string();
        ingest_mcp_result(&mut withheld, &named, &result, Vec::new()).unwrap();
    }
    for (operation, arguments) in [
        ("drilldown", head("mcp:t:structured_content")),
        ("artifact_views", json!({ "handle": "mcp:t:structured_content" }).to_string()),
    ] {
        assert_eq!(call(&mut withheld, operation, &arguments).unwrap_err().code().as_str(), "POLICY_VIOLATION");
    }
}
