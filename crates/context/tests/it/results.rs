//! What holds for every large result, whatever its form: nothing withheld gets out, nothing is lost, nothing grows.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test stops at the first thing that is wrong"
)]

use crate::support;

use contextweaver_base::ErrorCode;
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{
    BuildRequest, Classifier, CompactRequest, ContextManager, DrilldownRequest, ManagerOptions, SuppliedSummary,
    ToolResult,
};
use contextweaver_model::{ContextItem, ItemKind, Phase, RenderedAs, ResultEnvelope, Sensitivity, Strategy as How};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

const FORMS: &[&str] =
    &["object", "array", "ndjson", "csv", "log", "trace", "diff", "markdown", "html", "text", "line"];

/// A text of some form with strings planted in it.
fn payload(form: &str, rows: usize, planted: &[&str]) -> (String, &'static str) {
    let plant = |n: usize| planted[n % planted.len()];
    let list = |row: &dyn Fn(usize) -> String| (0..rows).map(row).collect::<Vec<_>>();
    let records = || {
        let row =
            |n: usize| json!({ "id": n, "note": format!("row {n}"), plant(n): n, "value": plant(n + 1) }).to_string();
        list(&row)
    };
    match form {
        "object" => {
            let members = list(&|n| format!("\"k{n} {}\": {{\"a\": \"{}\", \"n\": {n}}}", plant(n), plant(n + 1)));
            (format!("{{{}}}", members.join(", ")), "application/json")
        }
        "array" => (format!("[{}]", records().join(",\n")), "application/json"),
        "ndjson" => (records().join("\n"), "application/x-ndjson"),
        "csv" => {
            (format!("id,name,{}\n{}", plant(0), list(&|n| format!("{n},n{n},{}", plant(n))).join("\n")), "text/csv")
        }
        "log" => {
            (list(&|n| format!("2026-01-01T00:00:{:02}Z ERROR step {n} {}", n % 60, plant(n))).join("\n"), "text/plain")
        }
        "trace" => (
            format!("TypeError: {}\n{}", plant(0), list(&|n| format!("    at f{n} ({}:{n})", plant(n))).join("\n")),
            "",
        ),
        "diff" => {
            let lines = list(&|n| format!("+let a{n} = \"{}\";", plant(n))).join("\n");
            (
                format!("diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1,{rows} @@\n{lines}\n", plant(0)),
                "text/x-diff",
            )
        }
        "markdown" => {
            (list(&|n| format!("## Part {n} {}\n\n- item {}\n", plant(n), plant(n + 1))).join("\n"), "text/markdown")
        }
        "html" => (
            format!(
                "<html><title>{}</title>{}</html>",
                plant(0),
                list(&|n| format!("<h2>{}</h2><p>{n}</p>", plant(n))).join("")
            ),
            "",
        ),
        "text" => (list(&|n| format!("Sentence {n} speaks of {}. It goes on.", plant(n))).join("\n\n"), "text/plain"),
        _ => (list(&|n| format!("{n} {} ", plant(n))).join(""), "text/plain"),
    }
}

fn ingest(manager: &mut ContextManager, raw: &str, media_type: &str, level: &str) -> Value {
    let result = json!({ "tool_call_id": "c", "tool_name": "t", "media_type": media_type, "sensitivity": level });
    match manager.ingest_tool_result(&ToolResult::from_value(result).unwrap(), raw.as_bytes()).unwrap() {
        Outcome::Done(ingested) => json!(ingested),
        Outcome::Need(_) => panic!("no functions here"),
    }
}

fn done<T>(outcome: Outcome<T>) -> T {
    match outcome {
        Outcome::Done(value) => value,
        Outcome::Need(_) => panic!("no functions here"),
    }
}

fn read(manager: &mut ContextManager, selector: &Value) -> String {
    let request = json!({ "handle": "artifact:result:c", "selector": selector, "max_tokens": 2000 });
    match manager.drilldown(&DrilldownRequest::from_value(request).unwrap()) {
        Ok(outcome) => json!(done(outcome)).to_string(),
        Err(error) => error.to_json().to_string(),
    }
}

/// Everything that a manager says of one result, as one text.
fn everything(manager: &mut ContextManager, raw: &str, media_type: &str, level: &str) -> String {
    let mut said = vec![ingest(manager, raw, media_type, level).to_string()];
    let views = match manager.views("artifact:result:c") {
        Ok(views) => done(views),
        Err(error) => {
            said.push(error.to_json().to_string());
            Vec::new()
        }
    };
    said.push(json!(views).to_string());
    let mut selectors: Vec<Value> = views.into_iter().map(|view| Value::Object(view.selector)).collect();
    for chars in [37, 101, 350] {
        selectors.push(json!({ "type": "head", "chars": chars }));
        selectors.push(json!({ "type": "tail", "chars": chars }));
    }
    for name in ["outline", "columns", "stats", "rows", "lines"] {
        selectors.push(json!({ "type": name }));
    }
    selectors.push(json!({ "type": "search", "text": "a", "context": 0 }));
    selectors.push(json!({ "type": "json_path", "path": "[].value" }));
    said.extend(selectors.iter().map(|selector| read(manager, selector)));
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "what is in row 3, step 3, part 3?")).unwrap();
    for phase in Phase::ALL {
        let request = BuildRequest { explain: true, ..BuildRequest::new(*phase, "row 3 step 3 part 3 note value") };
        said.push(
            support::build(manager, &request).map_or_else(|e| e.to_json().to_string(), |pack| json!(pack).to_string()),
        );
    }
    said.push(json!(done(manager.summary_requests(9))).to_string());
    said.push(support::handoff(manager));
    said.join("\n")
}

fn reduce(manager: &mut ContextManager, request: Value) -> Value {
    json!(done(manager.compact(&CompactRequest::from_value(request).unwrap()).unwrap()))
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn p5_no_secret_gets_out_of_a_result(form in 0..FORMS.len(), rows in 1..90_usize, seed in 0..4_usize) {
        let assigned = format!("password={}", support::SECRETS[3]);
        let mut planted = support::SECRETS[..3].to_vec();
        planted.extend([assigned.as_str(), "plain"]);
        planted.rotate_left(seed);
        let (raw, media_type) = payload(FORMS[form], rows, &planted);
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut said = everything(&mut manager, &raw, media_type, "public");
        said.push_str(&reduce(&mut manager, json!({ "data": raw, "media_type": media_type, "budget_tokens": 60 })).to_string());
        for secret in support::SECRETS {
            prop_assert!(!said.contains(secret), "{} of {} got out", secret, FORMS[form]);
        }
        prop_assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), raw.as_bytes());
    }

    #[test]
    fn p5_nothing_withheld_gets_out_of_a_result(form in 0..FORMS.len(), rows in 1..90_usize, level in 2..4_usize) {
        let level = Sensitivity::ALL[level];
        let (raw, media_type) = payload(FORMS[form], rows, &["MARKQ", "plain"]);
        let mut manager = ContextManager::new(ManagerOptions::default());
        let said = everything(&mut manager, &raw, media_type, level.as_str());
        prop_assert!(said.lines().next().unwrap().contains(level.as_str()));
        prop_assert!(!said.contains("MARKQ"), "{} got out", FORMS[form]);
        prop_assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), raw.as_bytes());
    }

    #[test]
    fn p7_p8_a_refused_result_leaves_no_trace(form in 0..FORMS.len(), rows in 1..60_usize, room in 10..2000_usize) {
        let mut options = ManagerOptions::default();
        options.limits.store.store_bytes = room;
        let mut manager = ContextManager::new(options);
        let (raw, media_type) = payload(FORMS[form], rows, &["x"]);
        let before = json!(manager.snapshot());
        let result = json!({ "tool_call_id": "c", "tool_name": "t", "media_type": media_type });
        match manager.ingest_tool_result(&ToolResult::from_value(result).unwrap(), raw.as_bytes()) {
            Ok(_) => prop_assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), raw.as_bytes()),
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::QuotaExceeded);
                prop_assert!(raw.len() > room);
                prop_assert_eq!(json!(manager.snapshot()), before);
            }
        }
        prop_assert!(manager.artifacts().total_bytes() <= room);
    }

    #[test]
    fn what_comes_out_is_never_larger_than_what_came_in(form in 0..FORMS.len(), rows in 1..120_usize, budget in 0..700_u64) {
        let (raw, media_type) = payload(FORMS[form], rows, &["one", "two"]);
        let mut manager = ContextManager::new(ManagerOptions::default());
        let out = reduce(&mut manager, json!({ "data": raw, "media_type": media_type, "budget_tokens": budget }));
        let estimator = manager.options().estimator.clone();
        let payload = out["payload"].as_str().unwrap();
        let came = estimator.tokens(&raw);
        if out["firewalled"] == true {
            let facts: u64 = out["facts"].as_array().unwrap().iter().map(|fact| estimator.tokens(fact.as_str().unwrap())).sum();
            prop_assert!(estimator.tokens(payload) + facts <= budget.min(came), "{} {}", FORMS[form], payload);
            let handle = out["artifact_ref"].as_str().unwrap();
            prop_assert_eq!(manager.artifacts().get(handle).unwrap(), raw.as_bytes());
        } else {
            prop_assert_eq!(payload, raw.as_str());
        }
    }

    #[test]
    fn p6_a_restored_manager_builds_the_same_bytes(form in 0..FORMS.len(), rows in 1..120_usize) {
        let (raw, media_type) = payload(FORMS[form], rows, &["one", "two", "three"]);
        let mut manager = ContextManager::new(ManagerOptions::default());
        ingest(&mut manager, &raw, media_type, "public");
        manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "row 3?")).unwrap();
        let mut restored = ContextManager::from_json(json!(manager.snapshot()), ManagerOptions::default()).unwrap();
        let request = BuildRequest::new(Phase::Interpret, "row 3 step 3");
        let built = |manager: &mut ContextManager| support::build(manager, &request).map(|pack| json!(pack)).unwrap();
        prop_assert_eq!(built(&mut manager), built(&mut restored));
        prop_assert_eq!(json!(manager.snapshot()), json!(restored.snapshot()));
    }
}

fn with(options: ManagerOptions, raw: &str) -> ContextManager {
    let mut manager = ContextManager::new(options);
    manager.ingest(ContextItem::new("c", ItemKind::ToolCall, "f()")).unwrap();
    ingest(&mut manager, raw, "text/plain", "public");
    manager
}

fn rows(count: usize) -> String {
    (0..count).map(|n| format!("row {n} of the report with word{}\n", n * 31 % 977)).collect()
}

#[test]
fn the_footer_names_the_handle_and_how_much_is_shown() {
    let mut manager = with(ManagerOptions::default(), &rows(300));
    let request = BuildRequest { budget_tokens: Some(200), ..BuildRequest::new(Phase::Interpret, "") };
    let pack = support::build(&mut manager, &request).unwrap();
    let total = manager.options().estimator.tokens(&rows(300));
    let line = pack.prompt.lines().find(|line| line.contains("drilldown artifact:result:c ")).unwrap();
    let shown: u64 = line.strip_prefix('(').unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(line.contains(&format!(" of {total} tokens; ")), "{line}");
    assert!(shown > 0 && shown < 200, "{line}");
    // What it offers can be had.
    let selector: Value =
        serde_json::from_str(line.split_once("result:c ").unwrap().1.strip_suffix(')').unwrap()).unwrap();
    assert!(read(&mut manager, &selector).contains("row "), "{selector}");
}

#[test]
fn the_gate_is_one_number_of_tokens() {
    let estimator = ManagerOptions::default().estimator;
    let mut text = String::new();
    while estimator.tokens(&text) < 500 {
        text.push_str("Title\n\nvalue 42 ");
    }
    let text = &text[..text.len() - 1];
    for (raw, same) in [(text.to_owned(), estimator.tokens(text) <= 500), (format!("{text} and more of it"), false)] {
        let manager = with(ManagerOptions::default(), &raw);
        assert_eq!(manager.events().get("result:c").unwrap().text == raw, same);
    }
}

#[test]
fn a_label_found_anywhere_in_a_result_counts() {
    // Nothing in the digest shows it, but an excerpt would.
    let raw = format!("{}write to someone.private@example.org\n{}", rows(200), rows(200));
    let classifier = Classifier::Heuristic { pii: true };
    let mut manager = with(ManagerOptions { classifier, ..ManagerOptions::default() }, &raw);
    assert_eq!(manager.events().get("result:c").unwrap().sensitivity, Sensitivity::Confidential);
    let pack = support::build(&mut manager, &BuildRequest::new(Phase::Interpret, "someone.private")).unwrap();
    assert!(!pack.prompt.contains("someone.private"));
}

#[test]
fn a_slice_put_into_the_log_stays_whole() {
    let mut manager = with(ManagerOptions::default(), &rows(400));
    let request = json!({ "handle": "artifact:result:c", "selector": { "type": "lines", "start": 100, "end": 170 }, "inject": true });
    let slice = done(manager.drilldown(&DrilldownRequest::from_value(request).unwrap()).unwrap());
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "and now?")).unwrap();
    for query in ["", "row 150"] {
        let request = BuildRequest { budget_tokens: Some(2500), ..BuildRequest::new(Phase::Answer, query) };
        let prompt = support::build(&mut manager, &request).unwrap().prompt;
        assert!(prompt.contains(&slice.text), "{query}");
        // The result it is of is still there, with its handle.
        assert!(prompt.contains("[artifact:result:c]]"), "{prompt}");
    }
}

#[test]
fn without_a_selector_the_lines_are_read_from_the_first_one_on() {
    let mut manager = with(ManagerOptions::default(), &rows(400));
    for selector in [None, Some(json!(null))] {
        let mut request = json!({ "handle": "artifact:result:c", "max_tokens": 40 });
        if let Some(selector) = selector {
            request["selector"] = selector;
        }
        let slice = done(manager.drilldown(&DrilldownRequest::from_value(request).unwrap()).unwrap());
        assert!(slice.text.starts_with(rows(400).lines().next().unwrap()), "{}", slice.text);
        assert_eq!((slice.selector, slice.next.unwrap()["type"].as_str()), (json!({ "type": "lines" }), Some("lines")));
    }
}

#[test]
fn a_result_the_caller_put_into_the_log_can_be_looked_into() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let item =
        |id: &str, level| ContextItem { sensitivity: level, ..ContextItem::new(id, ItemKind::ToolResult, rows(300)) };
    manager.ingest_all(vec![item("open", Sensitivity::Public), item("closed", Sensitivity::Restricted)]).unwrap();
    let mut read = |handle: &str| {
        let request = json!({ "handle": handle, "selector": { "type": "lines", "start": 7, "end": 8 } });
        manager.drilldown(&DrilldownRequest::from_value(request).unwrap()).map(|outcome| done(outcome).text)
    };
    assert_eq!(read("artifact:open").unwrap(), "row 7 of the report with word217");
    assert_eq!(read("artifact:closed").unwrap_err().code(), ErrorCode::PolicyViolation);
    assert_eq!(read("artifact:none").unwrap_err().code(), ErrorCode::ArtifactNotFound);
}

#[test]
fn the_most_restrictive_owner_of_an_artifact_decides() {
    let mut manager = with(ManagerOptions::default(), &rows(300));
    let mut other = ContextItem::new("other", ItemKind::DocSnippet, "see there");
    other.sensitivity = Sensitivity::Confidential;
    other.artifact_ref = manager.events().get("result:c").unwrap().artifact_ref.clone();
    manager.ingest(other).unwrap();
    assert!(read(&mut manager, &json!({ "type": "head" })).contains("POLICY_VIOLATION"));
    assert_eq!(manager.views("artifact:result:c").unwrap_err().code(), ErrorCode::PolicyViolation);
}

fn kept(raw: &str, keep: &[&str]) -> (ContextManager, Value) {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let result = json!({ "tool_call_id": "c", "tool_name": "t", "media_type": "application/json", "keep": keep });
    let result = ToolResult::from_value(result).unwrap();
    let ingested = json!(done(manager.ingest_tool_result(&result, raw.as_bytes()).unwrap()));
    (manager, ingested)
}

#[test]
fn an_allow_list_never_widens() {
    let orders: Vec<Value> =
        (0..120).map(|n| json!({ "id": n, "ssn": format!("MARKQ {n}"), "total": n * 3 })).collect();
    let raw = json!({ "orders": orders, "note": "MARKQ" }).to_string();
    for keep in [&["orders[].id"][..], &["nothing.here"], &["orders[].id", "orders[].total"]] {
        let (mut manager, ingested) = kept(&raw, keep);
        assert_eq!(ingested["envelope"]["firewall_stats"]["strategy"], How::Structured.as_str());
        manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "what is the ssn MARKQ 7?")).unwrap();
        let pack = support::build(&mut manager, &BuildRequest::new(Phase::Interpret, "ssn MARKQ 7")).unwrap();
        let shown = pack.prompt.replace("what is the ssn MARKQ 7?", "");
        assert!(!shown.contains("ssn") && !shown.contains("note"), "names of keys are not kept either: {shown}");
        assert!(!shown.contains("MARKQ") && !ingested["item"]["text"].to_string().contains("MARKQ"), "{keep:?}");
    }
    let (_, ingested) = kept(&format!("{raw} and no JSON"), &["orders[].id"]);
    assert_eq!((&ingested["item"]["text"], &ingested["envelope"]["status"]), (&json!("{}"), &json!("error")));
}

#[test]
fn a_late_summary_takes_the_place_of_a_digest() {
    let mut manager = with(ManagerOptions::default(), &rows(300));
    let asked = done(manager.summary_requests(5));
    assert_eq!((asked.len(), asked[0].item_id.as_str(), asked[0].text.as_str()), (1, "result:c", rows(300).as_str()));
    let supply = |manager: &mut ContextManager, value: Value| {
        manager.supply_summary(SuppliedSummary::from_value(value).unwrap())
    };
    for (value, code) in [
        (json!({ "item_id": "none", "summary": "s" }), ErrorCode::NotFound),
        (json!({ "item_id": "result:c", "summary": "" }), ErrorCode::InvalidInput),
    ] {
        let before = json!(manager.snapshot());
        assert_eq!(supply(&mut manager, value).unwrap_err().code(), code);
        assert_eq!(json!(manager.snapshot()), before);
    }
    let summary = format!("Three hundred rows. Key {}", support::SECRETS[0]);
    let done_with = supply(&mut manager, json!({ "item_id": "result:c", "summary": summary })).unwrap();
    assert_eq!(done_with.item.text, "Three hundred rows. Key [REDACTED-SECRET]");
    assert!(done(manager.summary_requests(5)).is_empty());
    let request = BuildRequest::new(Phase::Interpret, "");
    let prompt = support::build(&mut manager, &request).unwrap().prompt;
    assert!(prompt.contains("Three hundred rows.") && prompt.contains("drilldown artifact:result:c"), "{prompt}");
    let mut restored = ContextManager::from_json(json!(manager.snapshot()), ManagerOptions::default()).unwrap();
    assert_eq!(support::build(&mut restored, &request).unwrap().prompt, prompt);
    assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), rows(300).as_bytes());
}

#[test]
fn returned_envelopes_and_items_hold_nothing_of_a_withheld_text() {
    let raw = format!("MARKQ: 1\n{}", (0..900).map(|n| format!("key{n}: MARKQ {n}\n")).collect::<String>());
    for (text, level, options) in [
        ("MARKQ: 123456", "restricted", json!({})),
        (raw.as_str(), "confidential", json!({})),
        ("MARKQ 4111 1111 1111 1111", "public", json!({ "classifier": "heuristic" })),
    ] {
        let options = ManagerOptions::from_value(options).unwrap();
        let mut manager = ContextManager::new(options);
        let said = ingest(&mut manager, text, "text/plain", level);
        assert!(!said.to_string().to_lowercase().contains("markq"), "{said}");
        let shown = format!("[REDACTED: {}]", said["item"]["sensitivity"].as_str().unwrap());
        assert_eq!((&said["envelope"]["summary"], &said["item"]["text"]), (&json!(shown), &json!(shown)));
        assert_eq!(said["envelope"]["artifacts"][0]["handle"], "artifact:result:c");
        assert_eq!(said["envelope"]["provenance"]["source_item_id"], "result:c");
        // What is stored is untouched: under another policy it may be shown.
        let kept = json!(manager.snapshot());
        assert!(kept["event_log"].to_string().contains("MARKQ") && kept["envelopes"].to_string().contains("MARKQ"));
        assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), text.as_bytes());
        if text.len() > 1000 {
            let late = json!({ "item_id": "result:c", "summary": "MARKQ in short", "facts": ["MARKQ: 1"] });
            let late = manager.supply_summary(SuppliedSummary::from_value(late).unwrap()).unwrap();
            assert!(!json!(late).to_string().contains("MARKQ"));
        }
        let made = json!({ "status": "ok", "summary": text, "facts": [text] });
        let made = ResultEnvelope::from_value(made, "").unwrap();
        let item = manager.ingest_envelope("d", "t", made, Sensitivity::parse(level).unwrap()).unwrap().done().unwrap();
        assert!(!json!(item).to_string().contains("MARKQ"), "{level}");
        assert_eq!(json!(manager.snapshot())["envelopes"]["result:d"]["summary"], text);
    }
    let mut options = ManagerOptions::default();
    options.policy.sensitivity_floor = Sensitivity::Restricted;
    let said = ingest(&mut ContextManager::new(options), "MARKQ: 1", "text/plain", "confidential");
    assert_eq!((&said["envelope"]["summary"], &said["envelope"]["facts"]), (&json!("MARKQ: 1"), &json!(["markq: 1"])));
}

#[test]
fn a_model_is_refused_where_the_same_bytes_are_asked_for() {
    let mut options = ManagerOptions::from_value(json!({
        "firewall": { "deterministic": true }, "summarizer": { "custom": "s", "is_llm": true },
    }))
    .unwrap();
    let mut manager = ContextManager::new(options.clone());
    let result = ToolResult::from_value(json!({ "tool_call_id": "c", "tool_name": "t" })).unwrap();
    assert_eq!(manager.ingest_tool_result(&result, b"x").unwrap_err().code(), ErrorCode::Determinism);
    assert_eq!(manager.artifacts().len(), 0);
    options.summarizer = None;
    let mut manager = with(options, &rows(300));
    let late = SuppliedSummary::from_value(json!({ "item_id": "result:c", "summary": "s" })).unwrap();
    assert_eq!(manager.supply_summary(late).unwrap_err().code(), ErrorCode::Determinism);
}

#[test]
fn bytes_that_are_no_text_stay_bytes() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let raw = [0xff_u8, 0xd8, 0xff, 0x00].repeat(5000);
    let result =
        ToolResult::from_value(json!({ "tool_call_id": "c", "tool_name": "t", "media_type": "image/jpeg" })).unwrap();
    done(manager.ingest_tool_result(&result, &raw).unwrap());
    assert_eq!(manager.events().get("result:c").unwrap().text, "(binary, image/jpeg, 20000 bytes)");
    assert!(read(&mut manager, &json!({ "type": "head" })).contains("UNSUPPORTED"));
    assert!(done(manager.views("artifact:result:c").unwrap()).is_empty());
    assert_eq!(manager.artifacts().get("artifact:result:c").unwrap(), raw);
}

#[test]
fn a_result_away_from_its_call_is_named_after_it_and_an_excerpt_of_it_is_not() {
    let lines: Vec<String> = (0..20).map(|n| format!("order {} is at depot {}", 1200 + n, n * 7)).collect();
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "Where is order 1207?")).unwrap();
    for id in ["c1", "c2"] {
        let mut call = ContextItem::new(id, ItemKind::ToolCall, "{}");
        call.metadata.insert("function_name".into(), "look_up".into());
        manager.ingest(call).unwrap();
    }
    for id in ["c1", "c2"] {
        let mut result = ContextItem::new(format!("result:{id}"), ItemKind::ToolResult, lines.join("\n"));
        result.parent_id = Some(id.to_owned());
        manager.ingest(result).unwrap();
    }
    let build = |manager: &mut ContextManager, budget| {
        let request = BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, "order 1207") };
        manager.build(&request).unwrap().done().unwrap().pack
    };
    let whole = build(&mut manager, 4000).prompt;
    assert_eq!(whole.matches("\nlook_up: order 1200 is at depot 0\n").count(), 2, "{whole}");
    let cut = build(&mut manager, 180);
    assert!(cut.items.unwrap().iter().any(|item| item.rendered_as == RenderedAs::Excerpt), "{}", cut.prompt);
    assert!(cut.prompt.contains("order 1207 is at depot 49") && !cut.prompt.contains("look_up: "), "{}", cut.prompt);
}

/// Of 47 hints in a hundred, all lines stood in the digest above already.
#[test]
fn the_hint_below_a_digest_leads_to_what_it_does_not_say() {
    let csv: String = (0..400)
        .map(|n| format!("{},C-{},{},{}\n", 7000 + n, n % 90, if n == 200 { "held" } else { "shipped" }, n * 31 % 500))
        .collect();
    let minified: String = (0..900).map(|n| format!("function f{n}(b,c){{return b*{n}+c}};")).collect();
    let code: String =
        (0..300).map(|n| format!("export const a_{n} = compute({}, \"a\");\n", n * 7919 % 10_007)).collect();
    for (name, text, media_type) in [
        ("csv", format!("id,customer,status,total\n{csv}"), "text/csv"),
        ("minified", minified, "text/plain"),
        ("code", code, "text/plain"),
    ] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        manager.ingest(ContextItem::new("c1", ItemKind::ToolCall, "read({})")).unwrap();
        let result = ToolResult { media_type: media_type.to_owned(), ..ToolResult::new("c1", "read") };
        let item = manager.ingest_tool_result(&result, text.as_bytes()).unwrap().done().unwrap().item;
        let hint = item.metadata["firewall"]["view"].clone();
        assert!(!["columns", "stats"].contains(&hint["type"].as_str().unwrap()), "{name}: {hint}");
        let slice =
            manager.drilldown(&DrilldownRequest::new("artifact:result:c1", hint.clone())).unwrap().done().unwrap();
        let shown = slice.text.lines().filter(|line| item.text.contains(line)).count();
        assert!(2 * shown <= slice.text.lines().count(), "{name}: {hint} shows\n{}\nagain:\n{}", slice.text, item.text);
    }
}

/// Excel, .NET and PowerShell begin texts with one.
#[test]
fn a_byte_order_mark_hides_nothing() {
    let records: Vec<Value> =
        (0..400).map(|n| json!({ "id": n, "state": if n == 7 { "bad" } else { "ok" } })).collect();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let rows: String = (0..400).map(|n| format!("{n},{}\n", if n == 7 { "bad" } else { "ok" })).collect();
    for (text, media_type) in [
        (json!(records).to_string(), "application/json"),
        (lines, "text/plain"),
        (format!("id,state\n{rows}"), "text/csv"),
    ] {
        let raw = format!("\u{feff}{text}");
        let [mut plain, mut marked] = [(); 2].map(|()| ContextManager::new(ManagerOptions::default()));
        let summary = |manager: &mut ContextManager, raw: &str| {
            ingest(manager, raw, media_type, "public")["item"]["text"].as_str().unwrap().to_owned()
        };
        assert_eq!(summary(&mut marked, &raw), summary(&mut plain, &text));
        let selector = json!({ "type": "rows", "where": [{ "column": "id", "op": "=", "value": 7 }] });
        let shown = read(&mut marked, &selector);
        assert_eq!(shown, read(&mut plain, &selector));
        assert!(shown.contains("bad"), "{shown}");
        assert_eq!(marked.artifacts().get("artifact:result:c").unwrap(), raw.as_bytes());
    }
}
