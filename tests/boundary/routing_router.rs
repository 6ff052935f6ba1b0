//! Routes over whole catalogs: what comes first, what never comes, what is said of it, and that nothing else changes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::path::{Path, PathBuf};

use contextweaver::api::error_record;
use contextweaver::api::routing::{
    catalog_call, new_catalog, new_router, router_call, router_with_index, routing_call,
};
use contextweaver_base::{Error, ErrorCode};
use contextweaver_routing::catalog::LoadedCatalog;
use contextweaver_routing::graph::{BuildOptions, build};
use contextweaver_routing::router::Router;
use contextweaver_test_support::{Skip, is_long, skip};
use serde_json::{Map, Value, json};

fn read(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn tool(id: &str, name: &str, description: &str, namespace: &str) -> Value {
    json!({ "id": id, "kind": "tool", "name": name, "description": description, "namespace": namespace })
}

fn catalog(items: &Value) -> LoadedCatalog {
    new_catalog(&json!({ "items": items }).to_string()).unwrap()
}

fn router(items: &Value, options: &Value) -> Router {
    new_router(&catalog(items), &options.to_string()).unwrap()
}

fn call(router: &mut Router, operation: &str, arguments: &Value) -> Value {
    let text = router_call(router, operation, &arguments.to_string()).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["done"].take()
}

fn route(router: &mut Router, query: &str, options: &Value) -> Value {
    let mut arguments = options.clone();
    arguments["query"] = query.into();
    call(router, "route", &arguments)
}

fn ids(result: &Value) -> Vec<String> {
    serde_json::from_value(result["candidate_ids"].clone()).unwrap()
}

fn found(router: &mut Router, query: &str, options: &Value) -> Vec<String> {
    ids(&route(router, query, options))
}

/// Options of the routers of this build, one of each kind.
fn kinds() -> Vec<Value> {
    vec![json!({}), json!({ "navigator": "beam" })]
}

/// A small catalog with near relatives in two namespaces.
fn office() -> Value {
    let mut items = json!([
        tool("billing.invoices.search", "invoices_search", "Search invoices by customer or date", "billing"),
        tool("billing.invoices.create", "invoices_create", "Create an invoice", "billing"),
        tool("billing.invoices.void", "invoices_void", "Void an invoice", "billing"),
        tool("crm.contacts.search", "contacts_search", "Search contacts by customer", "crm"),
        tool("crm.contacts.merge", "contacts_merge", "Merge two contacts", "crm"),
        tool("mail:send#1a2b3c4d", "mail.send", "Send a message to a customer", "mail"),
        tool("mail:read#5e6f7a8b", "mail.read", "Read a message", "mail"),
    ]);
    items[2]["tags"] = json!(["destructive"]);
    items[5]["requires"] = json!(["address"]);
    items[3]["provides"] = json!(["address"]);
    items
}

#[test]
fn no_branch_is_forgotten() {
    let cases = read(&home().join("tests/vectors/routing/must_improve.json")).unwrap();
    let mut seen = 0;
    for case in cases["cases"].as_array().unwrap().iter().filter(|case| case["input"]["op"] == "route") {
        let (input, name) = (&case["input"], &case["name"]);
        let edges = input["graph_edges"].as_object().unwrap();
        let node = |id: &String| {
            let node = json!({ "node_id": id, "label": "alpha", "routing_hint": "alpha" });
            (id.clone(), node)
        };
        let nodes = edges.keys().map(node);
        let nodes: serde_json::Map<String, Value> = nodes.collect();
        let items = input["items"].as_array().unwrap();
        let all: Vec<&Value> = items.iter().map(|item| &item["id"]).collect();
        let graph = json!({ "root_id": "root", "nodes": nodes, "items": all, "edges": edges });
        let wanted = case["expected"]["required"].as_str().unwrap().split(' ').next().unwrap();
        for navigator in ["exact", "beam"] {
            let options = json!({
                "navigator": navigator, "beam_width": input["beam_width"], "top_k": input["top_k"], "graph": graph,
            });
            let mut router = router(&input["items"], &options);
            let found = found(&mut router, input["query"].as_str().unwrap(), &json!({}));
            assert_eq!(found[0], wanted, "{name} {navigator}");
            let top_k = input["top_k"].as_u64().unwrap() as usize;
            assert_eq!(found.len(), top_k.min(items.len()), "{name} {navigator}");
        }
        seen += 1;
    }
    assert!(seen >= 3);
}

/// Recall@1, recall@5, recall@10 and the mean reciprocal rank of the first ten.
fn measure(router: &mut Router, queries: &[Value], top_k: u64) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for query in queries {
        let expected: Vec<String> = serde_json::from_value(query["expected"].clone()).unwrap();
        let found = found(router, query["query"].as_str().unwrap(), &json!({ "top_k": top_k }));
        for (sum, k) in sums.iter_mut().zip([1, 5, 10]) {
            let hits = found.iter().take(k).filter(|id| expected.contains(id)).count();
            *sum += hits as f64 / expected.len() as f64;
        }
        if let Some(at) = found.iter().take(10).position(|id| expected.contains(id)) {
            sums[3] += 1.0 / (at + 1) as f64;
        }
    }
    sums.map(|sum| sum / queries.len() as f64)
}

#[test]
fn every_engine_of_the_reference_is_beaten() {
    let path = home().join("../shared/vectors-public/routing/quality.json");
    let Some(document) = read(&path) else {
        skip(Skip::Test, &format!("recordings over public data are not here ({})", path.display()));
        return;
    };
    let names = ["recall@1", "recall@5", "recall@10", "mrr@10"];
    let mut behind = Vec::new();
    println!("{:8} {:14} {names:?}", "catalog", "engine");
    for case in document["cases"].as_array().unwrap() {
        let input = &case["input"];
        let catalog = input["catalog"].as_str().unwrap();
        let mut router = router(&document["catalogs"][catalog], &json!({}));
        let ours = measure(&mut router, document["queries"].as_array().unwrap(), input["top_k"].as_u64().unwrap());
        println!("{catalog:8} {:14} {ours:.4?}", "ours");
        for (engine, figures) in case["expected"]["reference_metrics"].as_object().unwrap() {
            if !figures.is_object() {
                continue;
            }
            let theirs = names.map(|name| figures[name].as_f64().unwrap_or(0.0));
            println!("{catalog:8} {engine:14} {theirs:.4?}");
            for at in (0..4).filter(|at| ours[*at] <= theirs[*at]) {
                behind.push(format!("{catalog} {engine} {}: {} to {}", names[at], ours[at], theirs[at]));
            }
        }
    }
    assert!(behind.is_empty(), "{behind:#?}");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let items = office();
    let mut backwards = items.as_array().unwrap().clone();
    backwards.reverse();
    for options in kinds() {
        let mut routers = [router(&items, &options), router(&items, &options), router(&json!(backwards), &options)];
        let arguments = json!({ "query": "search a customer", "debug": true, "include_items": true }).to_string();
        let answers = routers.each_mut().map(|router| router_call(router, "route", &arguments).unwrap());
        assert_eq!(answers[0], router_call(&mut routers[0], "route", &arguments).unwrap());
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{options}");
        let graphs = routers.each_mut().map(|router| router_call(router, "graph", "{}").unwrap());
        assert!(graphs.iter().all(|graph| *graph == graphs[0]), "{options}");
    }
}

#[test]
fn filters_go_before_everything() {
    let filters = [
        (json!({ "exclude_ids": ["billing.invoices.search"] }), vec!["billing.invoices.search"], (1, 0)),
        (json!({ "exclude_tags": ["destructive"] }), vec!["billing.invoices.void"], (1, 0)),
        (json!({ "allowed_namespaces": ["crm", "mail"] }), vec!["billing."], (0, 3)),
        (json!({ "allowed_tags": ["destructive"] }), vec!["crm", "mail", ".search", ".create"], (0, 6)),
    ];
    for navigator in ["exact", "beam"] {
        let mut router = router(&office(), &json!({ "navigator": navigator, "top_k": 1 }));
        for (filter, gone, (excluded, gated)) in &filters {
            for query in ["search invoices", "billing.invoices.search", "invoices_void", "Void an invoice", "customer"]
            {
                let mut options = filter.clone();
                options["pin_ids"] = json!(["billing.invoices.search", "billing.invoices.void", "no.such.tool"]);
                options["debug"] = true.into();
                options["history"] = json!({ "called_tool_ids": ["mail.send"], "last_result_summary": "invoices" });
                for options in [filter.clone(), options] {
                    let result = route(&mut router, query, &options);
                    let left = ids(&result);
                    assert!(left.iter().all(|id| !gone.iter().any(|part| id.contains(part))), "{filter} {query}");
                    assert_eq!((&result["excluded_count"], &result["gated_count"]), (&json!(excluded), &json!(gated)));
                    // Nothing is lost to places that filtered tools would have taken.
                    assert!(!left.is_empty() || result["no_match"] == true, "{filter} {query}");
                }
            }
        }
        for filter in [json!({ "allowed_namespaces": [] }), json!({ "allowed_tags": ["none"] })] {
            let mut arguments = filter.clone();
            arguments["query"] = "x".into();
            let error = router_call(&mut router, "route", &arguments.to_string()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::NoCandidates);
            assert_eq!(error.details()["gated_count"], 7);
        }
        assert_eq!(found(&mut router, "search invoices", &json!({})), ["billing.invoices.search"], "{navigator}");
    }
}

#[test]
fn pins_and_quotas_hold() {
    let mut router = router(&office(), &json!({}));
    let options = json!({ "top_k": 3, "pin_ids": ["mail:read#5e6f7a8b", "crm.contacts.search", "ghost"] });
    let result = route(&mut router, "search invoices", &options);
    // The ranked pin comes first, the other after it with a score of 0, then the best of the rest.
    assert_eq!(ids(&result), ["crm.contacts.search", "mail:read#5e6f7a8b", "billing.invoices.search"]);
    assert_eq!(result["scores"][1], 0.0);
    assert_eq!(result["trace"]["extra"]["pinned"], json!(["crm.contacts.search", "mail:read#5e6f7a8b"]));
    for (at, id) in ids(&result).iter().enumerate() {
        assert_eq!(result["paths"][at].as_array().unwrap().last().unwrap(), id);
    }
    let all = found(&mut router, "invoice customer", &json!({ "top_k": 7 }));
    let some = found(&mut router, "invoice customer", &json!({ "top_k": 7, "namespace_quota": 1 }));
    let mut seen = Vec::new();
    let wanted: Vec<&String> = all
        .iter()
        .filter(|id| {
            let space = id.split(['.', ':']).next().unwrap();
            let is_new = !seen.contains(&space);
            seen.push(space);
            is_new
        })
        .collect();
    assert_eq!(some.iter().collect::<Vec<_>>(), wanted);
    assert!(all.len() > some.len());
    let over = json!({ "top_k": 1, "pin_ids": ["crm.contacts.search", "crm.contacts.merge"] });
    assert_eq!(found(&mut router, "invoice", &over).len(), 2);
}

#[test]
fn hints_are_read_with_the_query() {
    let mut router = router(&office(), &json!({}));
    let plain = route(&mut router, "merge", &json!({ "context_hints": ["", "  "] }));
    assert_eq!(plain["context_boost_applied"], false);
    assert_eq!(plain["candidate_ids"], json!(["crm.contacts.merge"]));
    let hinted = route(&mut router, "merge", &json!({ "context_hints": [" invoice "] }));
    assert_eq!(hinted["context_hints"], json!(["invoice"]));
    assert!(ids(&hinted).contains(&"billing.invoices.create".to_owned()));
    assert_eq!(hinted["trace"]["query"], "merge");
    // A tool that is asked for by its id comes first, whatever the hints say.
    let hints = json!({ "context_hints": ["send a message to a customer", "search contacts"] });
    assert_eq!(found(&mut router, "Billing.Invoices.VOID", &hints)[0], "billing.invoices.void");
}

#[test]
fn what_was_called_counts_under_every_name() {
    let mut router = router(&office(), &json!({}));
    let query = "message";
    let before = route(&mut router, query, &json!({}));
    for name in ["mail:read#5e6f7a8b", "mail.read", "mail_read_5e6f7a8b"] {
        let history = json!({ "history": { "called_tool_ids": [name] } });
        let after = route(&mut router, query, &history);
        let deltas = after["history_adjustments"].as_object().unwrap();
        assert_eq!(deltas.keys().collect::<Vec<_>>(), ["mail:read#5e6f7a8b"], "{name}");
        assert!(deltas["mail:read#5e6f7a8b"].as_f64().unwrap() < 0.0);
        assert_eq!(ids(&after).len(), ids(&before).len());
        assert_eq!(ids(&after)[1], "mail:read#5e6f7a8b", "{name}");
    }
    let unknown = json!({ "history": { "called_tool_ids": ["somebody_elses_tool"] } });
    assert_eq!(route(&mut router, query, &unknown)["candidate_ids"], before["candidate_ids"]);
    // What was provided helps the tool that requires it.
    let provided = json!({ "history": { "called_tool_ids": ["contacts_search"] } });
    let after = route(&mut router, query, &provided);
    assert!(after["history_adjustments"]["mail:send#1a2b3c4d"].as_f64().unwrap() > 0.0);
    // So does likeness to the last result.
    let like = json!({ "history": { "last_result_summary": "a message to send" } });
    assert_eq!(found(&mut router, query, &like)[0], "mail:send#1a2b3c4d");
    // What is not shown is not explained.
    let one = json!({ "top_k": 1, "history": { "last_result_summary": "a message to send" } });
    let told = route(&mut router, query, &one);
    assert_eq!(told["history_adjustments"].as_object().unwrap().keys().collect::<Vec<_>>(), ["mail:send#1a2b3c4d"]);
}

#[test]
fn what_became_of_calls_counts() {
    let mut router = router(&office(), &json!({}));
    let before = found(&mut router, "message", &json!({}));
    let bad = json!({ "item_id": before[0], "success": false, "quality_score": 0.0 });
    let weights = json!({ "failure_penalty": 0.6 });
    let after = route(&mut router, "message", &json!({ "feedback": { "records": [bad], "weights": weights } }));
    assert_eq!(ids(&after), [before[1].clone(), before[0].clone()]);
    assert_eq!(after["trace"]["extra"]["score_provider"], "FeedbackAwareScoreProvider");
    // However much is added, scores stay numbers.
    let extreme = json!({
        "feedback": { "records": [bad], "weights": { "failure_penalty": 1e308, "quality_weight": 1e308 } },
        "history": { "called_tool_ids": before, "repeat_penalty": -1e308, "last_result_summary": "message",
            "result_boost_weight": 1e308 },
    });
    let after = route(&mut router, "message", &extreme);
    assert!(after["scores"].as_array().unwrap().iter().all(Value::is_number), "{after}");
}

fn twins_of(word: &str) -> Value {
    json!([tool("a", word, "Fetch weather", ""), tool("b", word, "Fetch news", "")])
}

#[test]
fn nothing_that_fits_is_said_to_be_nothing() {
    let mut router = router(&office(), &json!({ "fuzzy": false }));
    for query in ["xylophone", "", " ", "!?", "\u{0}"] {
        let result = route(&mut router, query, &json!({}));
        assert_eq!((&result["no_match"], &result["candidate_ids"]), (&json!(true), &json!([])), "{query:?}");
        assert_eq!((&result["trace"]["top_score"], &result["is_ambiguous"]), (&json!(0.0), &json!(false)));
    }
    let result = route(&mut router, "order coffee, 2 cups", &json!({ "pin_ids": ["crm.contacts.search"] }));
    let reason = result["no_match_reason"].as_str().unwrap();
    assert!(reason.starts_with("no tool has `order`, `coffee`, `cups`"), "{reason}");
    let ids = result["nearest_ids"].as_array().unwrap();
    assert_eq!(ids.is_empty(), !reason.contains("; nearest: "), "{result}");
    // A secret in the query is not repeated.
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let told = route(&mut router, &format!("order coffee with {secret}"), &json!({}));
    assert_eq!(told["no_match"], true);
    assert!(!told.to_string().to_lowercase().contains("16c7e42f"), "{told}");
    assert_eq!(result["candidate_ids"], json!(["crm.contacts.search"]), "a pinned tool is there all the same");
    let found = route(&mut router, "invoice", &json!({}));
    assert_eq!((&found["no_match"], &found["no_match_reason"]), (&json!(false), &Value::Null));
    assert_eq!(found["nearest_ids"], Value::Null);
    assert!(found["confidence"].as_f64().unwrap() > 0.2, "{found}");
    assert_eq!(route(&mut router, "Billing.Invoices.VOID", &json!({}))["confidence"], 1.0);
    // With less confidence than is asked for, nothing fits; with none asked for, whatever shares a word does.
    let mut sure = self::router(&office(), &json!({ "min_confidence": 0.99 }));
    assert_eq!(route(&mut sure, "invoice", &json!({}))["no_match"], true);
    let mut any = self::router(&twins_of("get"), &json!({ "min_confidence": 0 }));
    assert_eq!(route(&mut any, "get well soon", &json!({}))["no_match"], false);
    assert_eq!(route(&mut self::router(&twins_of("get"), &json!({})), "get well soon", &json!({}))["no_match"], true);
    let mut beam = self::router(&office(), &json!({ "navigator": "beam" }));
    assert_eq!(route(&mut beam, "coffee", &json!({}))["confidence"], Value::Null);
    // What scores too little is no match, near-duplicates included.
    let twins = json!([tool("a", "go", "Fetch weather", ""), tool("a_v2", "go v2", "Fetch weather", "")]);
    let mut strict = self::router(&twins, &json!({ "min_score": 1000.0 }));
    let result = route(&mut strict, "weather", &json!({}));
    assert_eq!(
        (&result["no_match"], &result["no_match_reason"]),
        (&json!(true), &json!("no tool reaches `min_score`"))
    );
}

/// Many tools of few words, with the ids and names that real ones have.
fn generated(count: usize) -> Value {
    let verbs = ["get", "list", "create", "delete", "update", "search", "send", "merge", "export", "sync"];
    let nouns = ["invoice", "user", "file", "message", "ticket", "order", "report", "event", "contact", "backup"];
    let item = |n: usize| {
        let (verb, noun, space) = (verbs[n % 10], nouns[n / 10 % 10], format!("s{}", n / 100 % 25));
        let part = ["Alpha", "beta", "GAMMA", "délta"][n / 2500 % 4];
        tool(
            &format!("{space}:{verb}_{noun}_{part}#{n:08x}"),
            &format!("{space}.{verb}{part}_{noun}.{}", n / 100),
            &format!("{verb} one {noun} of the {part} kind in {space}"),
            &space,
        )
    };
    (0..count).map(item).collect()
}

#[test]
fn a_tool_that_is_named_comes_first() {
    let items = generated(if is_long() { 10_000 } else { 2_000 });
    let mut router = router(&items, &json!({}));
    let list = items.as_array().unwrap();
    for item in list {
        let (id, name) = (item["id"].as_str().unwrap(), item["name"].as_str().unwrap());
        let is_sampled = item["id"].as_str().unwrap().ends_with('7');
        for query in [id.to_owned(), id.to_uppercase(), name.to_owned(), format!(" {} ", name.to_uppercase())] {
            if query == id || is_sampled {
                let result = route(&mut router, &query, &json!({ "top_k": 1 }));
                assert_eq!(result["candidate_ids"], json!([id]), "{query}");
                assert_eq!(result["is_ambiguous"], false);
            }
        }
    }
}

#[test]
fn what_is_too_close_to_call_is_said() {
    let items = json!([
        tool("a.send", "send_message", "Send a message to a person", "a"),
        tool("b.send", "send_message", "Send a message to a room", "b"),
        tool("c.wipe", "wipe_disk", "Erase everything on a disk", "c"),
    ]);
    let mut router = router(&items, &json!({}));
    let close = route(&mut router, "send a message", &json!({}));
    assert_eq!(close["is_ambiguous"], true);
    let question = "Did you mean 'a', 'b'? Multiple namespaces matched 'send a message'.";
    assert_eq!(close["clarifying_question"], question);
    let extra = &close["trace"]["extra"]["ambiguity"];
    assert!(extra["ratio"].as_f64().unwrap() >= extra["threshold"].as_f64().unwrap());
    for clear in ["erase the disk", "a.send", "send a message to a room"] {
        let result = route(&mut router, clear, &json!({}));
        assert_eq!((&result["is_ambiguous"], &result["clarifying_question"]), (&json!(false), &Value::Null), "{clear}");
    }
    // Below zero, too: the one that lost more is not the rival of the one that lost little.
    let records = |second: f64| {
        let bad = |id: &str, quality: f64| json!({ "item_id": id, "success": false, "quality_score": quality });
        let weights = json!({ "failure_penalty": 10.0, "quality_weight": 20.0 });
        json!({ "feedback": { "records": [bad("a.send", 0.5), bad("b.send", second)], "weights": weights } })
    };
    assert_eq!(route(&mut router, "send a message", &records(0.5))["is_ambiguous"], true);
    assert_eq!(route(&mut router, "send a message", &records(0.0))["is_ambiguous"], false);
}

#[test]
fn near_duplicates_take_one_place() {
    let mut items = office();
    for version in ["v2", "v3", "copy"] {
        let id = format!("billing.invoices.search_{version}");
        let name = format!("invoices_search {version}");
        let copy = tool(&id, &name, "Search invoices by customer or date", "billing");
        items.as_array_mut().unwrap().push(copy);
    }
    let mut router = router(&items, &json!({}));
    let result = route(&mut router, "search invoices by customer", &json!({ "top_k": 10 }));
    let all = ids(&result);
    assert_eq!(result["trace"]["extra"]["folded"], json!({ "billing.invoices.search": 3 }));
    assert_eq!(all[0], "billing.invoices.search");
    // Those it stands for come after all others, and are no rivals.
    assert!(all[all.len() - 3..].iter().all(|id| id.starts_with("billing.invoices.search_")), "{all:?}");
    assert_eq!(result["is_ambiguous"], false);
    let scores: Vec<f64> = serde_json::from_value(result["scores"].clone()).unwrap();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn what_matched_adds_up() {
    let mut router = router(&office(), &json!({}));
    for query in ["search invoices by customer", "void an invioce", "message"] {
        let result = route(&mut router, query, &json!({ "debug": true, "top_k": 7 }));
        let matches = result["trace"]["extra"]["matches"].as_array().unwrap();
        assert_eq!(matches.len(), ids(&result).len());
        for (found, score) in matches.iter().zip(result["scores"].as_array().unwrap()) {
            let terms = found["terms"].as_array().unwrap();
            let sum: f64 = terms.iter().map(|term| term["contribution"].as_f64().unwrap()).sum();
            assert!((sum - score.as_f64().unwrap()).abs() < 1e-9, "{query}: {sum} {score}");
            assert!((sum - found["score"].as_f64().unwrap()).abs() < 1e-9);
        }
        assert!(result["trace"].get("steps").is_none());
    }
    let mut beam = self::router(&office(), &json!({ "navigator": "beam" }));
    let result = route(&mut beam, "invoice", &json!({ "debug": true }));
    assert!(!result["trace"]["steps"].as_array().unwrap().is_empty());
}

const QUERIES: &[&str] =
    &["search a customer", "invoice", "billing.invoices.void", "send mail", "zzz", "merge contacts"];

/// Everything a router says, as text.
fn said(router: &mut Router) -> Vec<String> {
    let mut answers = vec![];
    for query in QUERIES {
        let arguments = json!({ "query": query, "debug": true, "include_items": true, "top_k": 20,
            "history": { "called_tool_ids": ["mail.send"] } });
        answers.push(router_call(router, "route", &arguments.to_string()).unwrap());
    }
    for (operation, arguments) in [("graph", "{}"), ("items", "{}"), ("browse", "{}")] {
        answers.push(router_call(router, operation, arguments).unwrap());
    }
    let all: Vec<String> = router.catalog().items().map(|item| item.id.clone()).collect();
    let arguments = json!({ "candidate_ids": all, "provider": "openai-chat" }).to_string();
    answers.push(router_call(router, "tools_for", &arguments).unwrap());
    answers
}

#[test]
fn tools_that_come_and_go_leave_no_trace() {
    let items = office();
    let list = items.as_array().unwrap();
    for options in kinds() {
        let mut fresh = router(&items, &options);
        let mut grown = router(&json!(list[4..]), &options);
        said(&mut grown);
        call(&mut grown, "add", &json!({ "items": list[..2] }));
        said(&mut grown);
        let extra: Vec<Value> =
            (0..300).map(|n| tool(&format!("x{n}"), "invoice", "An invoice of a customer", "x")).collect();
        call(&mut grown, "add", &json!({ "items": extra }));
        said(&mut grown);
        call(&mut grown, "add", &json!({ "items": list[2..4] }));
        let gone: Vec<String> = (0..300).map(|n| format!("x{n}")).collect();
        assert_eq!(call(&mut grown, "remove", &json!({ "ids": gone }))["removed"], 300);
        assert_eq!(said(&mut grown), said(&mut fresh), "{options}");
        assert_eq!(grown.index_bytes(), fresh.index_bytes());
    }
}

#[test]
fn a_restored_index_is_a_built_one() {
    let items = office();
    let loaded = catalog(&items);
    let mut fresh = router(&items, &json!({}));
    let bytes = fresh.index_bytes();
    let mut restored = router_with_index(&loaded, "{}", &bytes).unwrap();
    assert_eq!(said(&mut restored), said(&mut fresh));
    assert_eq!(restored.index_bytes(), bytes);
    // And goes on like one.
    for router in [&mut fresh, &mut restored] {
        call(router, "add", &json!({ "items": [tool("new", "new", "A new customer", "crm")] }));
        call(router, "remove", &json!({ "ids": ["mail:read#5e6f7a8b"] }));
    }
    assert_eq!(said(&mut restored), said(&mut fresh));
    // A graph of the caller's own goes with it.
    let graph = call(&mut router(&items, &json!({ "max_children": 2 })), "graph", &json!({}));
    let options = json!({ "graph": graph }).to_string();
    let mut with_graph =
        [new_router(&loaded, &options).unwrap(), router_with_index(&loaded, &options, &bytes).unwrap()];
    let [built, restored] = with_graph.each_mut().map(said);
    assert_eq!(built, restored);
    for (bytes, code) in [(&bytes[..bytes.len() - 1], ErrorCode::DecodeFailed), (&[], ErrorCode::DecodeFailed)] {
        assert_eq!(router_with_index(&loaded, "{}", bytes).unwrap_err().code(), code);
    }
    let other = catalog(&json!([tool("a", "a", "a", "")]));
    assert_eq!(router_with_index(&other, "{}", &bytes).unwrap_err().code(), ErrorCode::SnapshotVersion);
}

#[test]
fn vectors_of_the_caller_count_beside_the_words() {
    let mut router = router(&office(), &json!({}));
    let ask = |router: &mut Router, embedding: Value| {
        route(router, "invoice", &json!({ "query_embedding": embedding, "top_k": 7 }))
    };
    let before = ask(&mut router, Value::Null);
    // Nothing to compare it with.
    assert_eq!(ask(&mut router, json!([1, 2, 3])), before);
    let vectors = json!({ "vectors": [
        { "id": "mail:read#5e6f7a8b", "vector": [0, 2] },
        { "id": "billing.invoices.void", "vector": [5, 0] },
    ] });
    call(&mut router, "set_embeddings", &vectors);
    assert_eq!(ask(&mut router, Value::Null), before);
    let hybrid = ask(&mut router, json!([0, 1]));
    assert_eq!(hybrid["trace"]["retriever_engine"], "embedding+bm25f");
    assert!(ids(&hybrid).contains(&"mail:read#5e6f7a8b".to_owned()));
    assert_eq!(ids(&ask(&mut router, json!([1, 0])))[0], "billing.invoices.void");
    let wrong = json!({ "query": "invoice", "query_embedding": [1, 0, 0] }).to_string();
    assert_eq!(router_call(&mut router, "route", &wrong).unwrap_err().code(), ErrorCode::InvalidInput);
    // Filters go before vectors, too.
    let gone = json!({ "query_embedding": [0, 1], "exclude_ids": ["mail:read#5e6f7a8b"] });
    assert!(!found(&mut router, "invoice", &gone).contains(&"mail:read#5e6f7a8b".to_owned()));
    // With the last tool that has one, their length is forgotten.
    let both = json!({ "ids": ["mail:read#5e6f7a8b", "billing.invoices.void"] });
    call(&mut router, "remove", &both);
    assert!(router_call(&mut router, "route", &wrong).is_ok());
    let longer = json!({ "vectors": [{ "id": "crm.contacts.merge", "vector": [1, 2, 3] }] });
    call(&mut router, "set_embeddings", &longer);
}

#[test]
fn what_fails_changes_nothing() {
    let items = office();
    for options in [json!({}), json!({ "navigator": "beam" })] {
        let mut router = router(&items, &options);
        let before = (said(&mut router), router.index_bytes());
        let bad = [
            ("add", json!({ "items": [tool("new", "n", "d", ""), tool("new", "n", "d", "")] }), "DUPLICATE_ID"),
            ("add", json!({ "items": [tool("new", "n", "d", ""), items[0]] }), "DUPLICATE_ID"),
            ("add", json!({ "items": [tool("new", "n", "d", ""), { "id": 1 }] }), "INVALID_INPUT"),
            ("add", json!({ "items": [tool(" ", "n", "d", "")] }), "INVALID_INPUT"),
            ("remove", json!({ "ids": ["crm.contacts.merge", 1] }), "INVALID_INPUT"),
            ("remove", json!({ "ids": ["crm.contacts.merge"], "more": 1 }), "UNKNOWN_FIELD"),
            (
                "set_embeddings",
                json!({ "vectors": [{ "id": "crm.contacts.merge", "vector": [1, 2] },
                { "id": "ghost", "vector": [1, 2] }] }),
                "NOT_FOUND",
            ),
            (
                "set_embeddings",
                json!({ "vectors": [{ "id": "crm.contacts.merge", "vector": [1, 2] },
                { "id": "crm.contacts.search", "vector": [1] }] }),
                "INVALID_INPUT",
            ),
            ("route", json!({ "query": "x", "top_k": 0 }), "OUT_OF_RANGE"),
            ("route", json!({ "query": "x", "allowed_namespaces": [] }), "NO_CANDIDATES"),
            ("browse", json!({ "path": "/no/such/place" }), "NOT_FOUND"),
            ("nonsense", json!({}), "UNSUPPORTED"),
        ];
        for (operation, arguments, code) in &bad {
            let error = router_call(&mut router, operation, &arguments.to_string()).unwrap_err();
            let is_beam = options["navigator"] == "beam" && *operation == "set_embeddings";
            assert_eq!(error.code().as_str(), if is_beam { "INVALID_INPUT" } else { *code }, "{operation} {arguments}");
        }
        let one = build(&[router.catalog().items().next().unwrap()], BuildOptions::default(), "").unwrap();
        assert_eq!(router.use_graph(one).unwrap_err().code(), ErrorCode::GraphInvalid);
        assert_eq!((said(&mut router), router.index_bytes()), before, "{options}");
    }
}

#[test]
fn the_impact_of_a_change_is_told() {
    let before = json!([
        tool("a", "alpha `x`", "find invoices", ""),
        tool("b", "beta", "send mail", ""),
        tool("c", "gamma", "open door", ""),
    ]);
    let after = json!([
        tool("a", "alpha", "find door", ""),
        tool("b`2", "beta", "send mail", ""),
        tool("c", "gamma", "open invoices", ""),
    ]);
    let probe = |query: &str, expected: Value| json!({ "query": query, "expected": expected });
    let probes =
        [probe("send mail", json!("b")), probe("find *invoices*\n", json!("a")), probe("xylophone", Value::Null)];
    let impact = |arguments: Value| -> Result<Value, Error> {
        let answer = catalog_call(&mut catalog(&before), "impact", &arguments.to_string())?;
        Ok(serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
    };
    let next = json!({ "items": after });
    let told = impact(json!({ "next": next, "probes": probes, "top_k": 1 })).unwrap();
    let examples = json!([
        { "query": "send mail", "before_top1": "b", "after_top1": "b`2" },
        { "query": "find *invoices*\n", "before_top1": "a", "after_top1": "c" },
    ]);
    assert_eq!(told["impact"]["examples"], examples);
    assert_eq!((&told["impact"]["recall_before"], &told["impact"]["recall_after"]), (&json!(1.0), &json!(0.0)));
    let lines = "- 'send mail': `b` -> `` b`2 ``\n- 'find *invoices*\\\\n': `a` -> `c`\n";
    assert!(told["markdown"].as_str().unwrap().ends_with(lines), "{told}");
    // Without queries, those that the tools suggest are asked.
    let told = impact(json!({ "next": next })).unwrap();
    assert_eq!(told["impact"]["probes_total"], 3);
    assert!(told["markdown"].as_str().unwrap().contains("- 'beta send mail': `b` -> `` b`2 ``\n"), "{told}");
    for (arguments, code, path) in [
        (json!({}), ErrorCode::MissingField, "/next"),
        (json!({ "next": next, "probes": [] }), ErrorCode::InvalidInput, "/probes"),
        (json!({ "next": next, "top_k": 0 }), ErrorCode::OutOfRange, "/top_k"),
        (json!({ "next": { "items": [] } }), ErrorCode::NoCandidates, ""),
        (json!({ "next": next, "router": { "top_k": 0 } }), ErrorCode::OutOfRange, "/router/top_k"),
        (json!({ "next": next, "probes": [{ "query": 1 }] }), ErrorCode::InvalidInput, "/probes/0/query"),
    ] {
        let error = impact(arguments).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path));
    }
}

#[test]
fn a_route_can_be_explained_and_offered() {
    let mut router = router(&office(), &json!({}));
    let result = route(&mut router, "search invoices", &json!({ "exclude_tags": ["destructive"] }));
    let told = routing_call("explain_route", &json!({ "result": result }).to_string()).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["done"]["data"]["excluded_count"], 1);
    let arguments = json!({ "candidate_ids": result["candidate_ids"], "scores": result["scores"] });
    let cards = call(&mut router, "cards", &arguments);
    assert_eq!(cards["cards"][0]["score"], result["scores"][0]);
    // However often a tool is named, its card is made in linear time.
    let many = vec!["crm.contacts.merge"; 50_000];
    call(&mut router, "cards", &json!({ "candidate_ids": many, "scores": vec![0.5; 50_000], "budget_tokens": 100 }));
}

#[test]
fn nothing_that_is_said_of_a_route_has_a_credential() {
    let secret = ["ghp", "_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ"].concat();
    let (query, namespace) = (format!("deploy with {secret}"), format!("ops.{secret}"));
    let items = json!([
        tool("deploy", "deploy", "Deploys a service", &namespace),
        tool("redeploy", &secret, "Deploys a service again", &namespace),
        { "id": "titled", "kind": "tool", "name": "titled", "title": secret, "description": "Has a title" },
    ]);
    for options in [json!({ "ambiguity_ratio": 0.01 }), json!({ "navigator": "beam", "confidence_gap": 1.0 })] {
        let mut router = router(&items, &options);
        let arguments = json!({ "query": query, "context_hints": [secret], "debug": true });
        let result = call(&mut router, "route", &arguments);
        assert!(result["clarifying_question"].is_string(), "{result}");
        assert_eq!(result["trace"]["query"], "deploy with [REDACTED-SECRET]");
        assert!(!result.to_string().contains(&secret), "{result}");
        let explained = routing_call("explain_route", &json!({ "result": result }).to_string()).unwrap();
        assert!(!explained.contains(&secret), "{explained}");
        let raw = json!({ "result": {
            "candidate_ids": [], "context_hints": [secret], "clarifying_question": secret, "trace": { "query": secret },
        } });
        assert!(!routing_call("explain_route", &raw.to_string()).unwrap().contains(&secret));
        let cards = call(&mut router, "cards", &json!({ "candidate_ids": result["candidate_ids"] }));
        assert!(!cards.to_string().contains(&secret), "{cards}");
    }
    let mut router = router(&items, &json!({}));
    let mut pages = vec![call(&mut router, "browse", &json!({}))];
    while let Some(page) = pages.pop() {
        for child in page["children"].as_array().unwrap() {
            assert!(!child["label"].as_str().unwrap().contains(&secret), "{child}");
            if let Some(path) = child["path"].as_str() {
                pages.push(call(&mut router, "browse", &json!({ "path": path })));
            }
        }
        assert!(![&page["label"], &page["hint"]].iter().any(|text| text.as_str().unwrap().contains(&secret)), "{page}");
    }
    let kept = call(&mut router, "items", &json!({}));
    assert!(kept.to_string().contains(&secret), "what is stored is as it came");
}

#[test]
fn errors_repeat_no_credential() {
    let secret = ["ghp", "_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ"].concat();
    let mut router = router(&json!([tool("a", "a", "a", "")]), &json!({}));
    let mut refused = |operation: &str, arguments: Value| {
        error_record(&router_call(&mut router, operation, &arguments.to_string()).unwrap_err())
    };
    let hidden = "[REDACTED-SECRET]";
    let key: Map<String, Value> = [("query".to_owned(), json!("x")), (secret.clone(), json!(1))].into_iter().collect();
    let unknown = refused("route", Value::Object(key));
    assert_eq!(
        (&unknown["path"], &unknown["message"]),
        (&json!(format!("/{hidden}")), &json!(format!("unknown field `{hidden}`")))
    );
    let missing = refused("hydrate", json!({ "id": secret }));
    assert!(
        missing["message"].as_str().unwrap().contains(hidden) && !missing.to_string().contains(&secret),
        "{missing}"
    );
    let details = Error::new(ErrorCode::GraphInvalid, "no root")
        .at("/a/token:b")
        .detail("lost", json!([{ secret.clone(): secret }]));
    assert_eq!(
        error_record(&details),
        json!({ "code": "GRAPH_INVALID", "message": "no root", "path": "/a/token:b", "details": { "lost": [{ hidden: hidden }] } })
    );
}
