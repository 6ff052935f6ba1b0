//! The promises of routing over random catalogs, and over input that nobody should send.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a property that cannot be checked is a failed test")]

use std::collections::{BTreeMap, BTreeSet};

use contextweaver::api::routing::{catalog_call, new_catalog, new_router, router_call, routing_call};
use contextweaver_base::Error;
use contextweaver_routing::router::Router;
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const WORDS: &[&str] = &[
    "get", "list", "delete", "invoice", "invoices", "file", "user", "v2", "copy", "search", "send", "message", "天気",
    "the", "order",
];

fn words(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS), 0..most).prop_map(|words| words.join(" "))
}

/// Tools with crowded ids and namespaces.
fn tools() -> impl Strategy<Value = Vec<Value>> {
    let tool = ("[a-d.:/#~ ]{1,4}", words(3), words(7), "([ab](\\.[ab]){0,2})?", words(2));
    proptest::collection::vec(tool, 1..40).prop_map(|list| {
        let mut tools = BTreeMap::new();
        for (id, name, description, namespace, tag) in list.into_iter().filter(|tool| !tool.0.trim().is_empty()) {
            let tool = json!({ "id": id, "kind": "tool", "name": name, "description": description,
                "namespace": namespace, "tags": [tag] });
            tools.insert(id, tool);
        }
        tools.insert("z".into(), json!({ "id": "z", "kind": "tool", "name": "z", "description": "order" }));
        tools.into_values().collect()
    })
}

fn router(items: &[Value], options: &Value) -> Router {
    let loaded = new_catalog(&json!({ "items": items }).to_string()).unwrap();
    new_router(&loaded, &options.to_string()).unwrap()
}

fn done(answer: &str) -> Value {
    serde_json::from_str::<Value>(answer).unwrap()["done"].take()
}

fn call(router: &mut Router, operation: &str, arguments: &Value) -> Value {
    done(&router_call(router, operation, &arguments.to_string()).unwrap())
}

fn list(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Everything that paths and pages lead to from the root, and the most children and levels met.
fn walk(router: &mut Router, limit: u64) -> BTreeSet<String> {
    let (mut open, mut met) = (vec!["/".to_owned()], BTreeSet::new());
    while let Some(path) = open.pop() {
        let mut offset = Some(0);
        while let Some(at) = offset {
            let page = call(router, "browse", &json!({ "path": path, "offset": at, "limit": limit }));
            assert_eq!(page["path"], path);
            for child in page["children"].as_array().unwrap() {
                match child["path"].as_str() {
                    Some(path) => open.push(path.to_owned()),
                    None => assert!(met.insert(child["id"].as_str().unwrap().to_owned())),
                }
            }
            offset = page["next"].as_u64();
            assert!(offset.is_none_or(|next| next > at));
        }
    }
    met
}

/// Levels below the root, if the graph has no cycle, keeps the bound and has one parent for every node.
fn depth(graph: &Value, bound: usize) -> usize {
    let edges = graph["edges"].as_object().unwrap();
    let mut seen = BTreeSet::new();
    let (mut level, mut levels) = (vec![graph["root_id"].as_str().unwrap().to_owned()], 0);
    while !level.is_empty() {
        let mut next = Vec::new();
        for node in level {
            assert!(seen.insert(node.clone()), "{node} is met twice");
            let below = edges.get(&node).map(list).unwrap_or_default();
            assert!(below.len() <= bound, "{node} has {} children", below.len());
            next.extend(below);
        }
        levels += usize::from(!next.is_empty());
        level = next;
    }
    levels
}

proptest! {
    #![proptest_config(property(200))]

    #[test]
    fn short_lists_are_short_and_in_order(
        items in tools(),
        query in words(5),
        top_k in 1_u64..8,
        pins in proptest::collection::vec(0_usize..50, 0..4),
        quota in proptest::option::of(1_u64..3),
    ) {
        let ids: Vec<&Value> = items.iter().map(|item| &item["id"]).collect();
        let pins: BTreeSet<&str> = pins.iter().filter_map(|at| ids.get(*at)?.as_str()).collect();
        for navigator in ["exact", "beam"] {
            let mut router = router(&items, &json!({ "navigator": navigator }));
            let arguments = json!({ "query": query, "top_k": top_k, "pin_ids": pins, "namespace_quota": quota });
            let result = call(&mut router, "route", &arguments);
            let found = list(&result["candidate_ids"]);
            let scores: Vec<f64> = serde_json::from_value(result["scores"].clone()).unwrap();
            prop_assert!(found.len() <= pins.len().max(top_k as usize));
            prop_assert_eq!((found.len(), found.len()), (scores.len(), result["paths"].as_array().unwrap().len()));
            prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
            prop_assert!(found.iter().all(|id| ids.iter().any(|known| *known == id)));
            // All pins, then the others.
            prop_assert_eq!(found.iter().take(pins.len()).map(String::as_str).collect::<BTreeSet<_>>(), pins.clone());
            let rest: Vec<(f64, &String)> = scores.iter().copied().zip(&found).skip(pins.len()).collect();
            prop_assert!(rest.windows(2).all(|pair| pair[0].0 >= pair[1].0), "{rest:?}");
            // Near-duplicates stand behind all others; where there are none, equals are in the order of their ids.
            if navigator == "beam" || result["trace"]["extra"].get("folded").is_none() {
                let is_exact = items.iter().any(|item| item["id"] == query || item["name"] == query);
                let after = usize::from(is_exact);
                let in_order = |pair: &[(f64, &String)]| pair[0].0 > pair[1].0 || pair[0].1 < pair[1].1;
                prop_assert!(rest.windows(2).skip(after).all(in_order), "{query:?} {rest:?}");
            }
            // Fewer places are the first of more places.
            if pins.is_empty() && quota.is_none() {
                let more = call(&mut router, "route", &json!({ "query": query, "top_k": top_k + 5 }));
                let more = list(&more["candidate_ids"]);
                if navigator == "exact" {
                    prop_assert_eq!(&found[..], &more[..found.len()]);
                    prop_assert_eq!(found.len(), more.len().min(top_k as usize));
                }
            }
        }
    }

    #[test]
    fn a_tool_that_shares_no_word_changes_no_order(lengths in proptest::collection::vec(0_usize..9, 2..9), more in 1_usize..30) {
        // The word stands once in each description, which are of several lengths.
        let item = |(n, length): (usize, &usize)| {
            let filling: Vec<String> = (0..*length).map(|at| format!("word{n}x{at}")).collect();
            json!({ "id": format!("t{n}"), "kind": "tool", "name": format!("name{n}"),
                "description": format!("invoice {}", filling.join(" ")) })
        };
        let items: Vec<Value> = lengths.iter().enumerate().map(item).collect();
        let options = json!({ "lexicon": "none", "fuzzy": false });
        let mut router = router(&items, &options);
        let arguments = json!({ "query": "invoice", "top_k": 20 });
        let before = call(&mut router, "route", &arguments);
        let filling: Vec<String> = (0..more).map(|at| format!("other{at}")).collect();
        let other = json!({ "id": "a", "kind": "tool", "name": "other", "description": filling.join(" ") });
        call(&mut router, "add", &json!({ "items": [other] }));
        let after = call(&mut router, "route", &arguments);
        prop_assert_eq!(&before["candidate_ids"], &after["candidate_ids"]);
    }

    #[test]
    fn everything_can_be_browsed(items in tools(), max_children in 2_usize..7, limit in 1_u64..6, strategy in 0_usize..4) {
        let strategy = ["auto", "namespace", "cluster", "alphabetical"][strategy];
        let mut router = router(&items, &json!({ "max_children": max_children, "strategy": strategy }));
        let ids: BTreeSet<String> = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(&walk(&mut router, limit), &ids);
        for id in &ids {
            let page = call(&mut router, "browse", &json!({ "id": id }));
            prop_assert_eq!((&page["total"], &page["children"][0]["id"]), (&json!(1), &json!(id)));
        }
        let graph = call(&mut router, "graph", &json!({}));
        let mut least = 1;
        let mut room = max_children;
        while room < ids.len() {
            room *= max_children;
            least += 1;
        }
        let levels = depth(&graph, max_children);
        prop_assert!(levels <= least + 2, "{} tools, {} children: {} levels", ids.len(), max_children, levels);
        // The path of a route leads to the tool.
        let result = call(&mut router, "route", &json!({ "query": "order invoice", "top_k": 5 }));
        for (id, path) in list(&result["candidate_ids"]).iter().zip(result["paths"].as_array().unwrap()) {
            let mut at = graph["root_id"].as_str().unwrap().to_owned();
            for step in list(path) {
                prop_assert!(list(&graph["edges"][&at]).contains(&step));
                at = step;
            }
            prop_assert_eq!(&at, id);
        }
    }

    #[test]
    fn names_for_providers_are_legal_and_stay(items in tools(), more in tools()) {
        let mut router = router(&items, &json!({}));
        let names = |router: &mut Router| -> BTreeMap<String, String> {
            let (names, catalog) = router.names();
            catalog.items().map(|item| (item.id.clone(), names.name_of(&item.id).unwrap().to_owned())).collect()
        };
        let before = names(&mut router);
        let fresh: Vec<&Value> = more.iter().filter(|item| !before.contains_key(item["id"].as_str().unwrap())).collect();
        call(&mut router, "add", &json!({ "items": fresh }));
        let after = names(&mut router);
        let legal = |name: &String| {
            (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        for names in [&before, &after] {
            prop_assert!(names.values().all(legal));
            prop_assert_eq!(names.values().collect::<BTreeSet<_>>().len(), names.len());
        }
        // A name changes in one case only: when a tool comes whose id or name differs from the tool's in nothing but
        // separators.
        let bare = |id: &str| id.replace(['.', ':', '/', '#', '@', ' '], "_");
        let called: BTreeMap<String, [String; 2]> = {
            let (_, catalog) = router.names();
            catalog.items().map(|item| (item.id.clone(), [bare(&item.id), bare(&item.name)])).collect()
        };
        for (id, name) in before.iter().filter(|(id, name)| after[*id] != **name) {
            let is_twin = |other: &str| called[other].iter().any(|form| called[id].contains(form));
            let twin = after.keys().any(|other| !before.contains_key(other) && is_twin(other));
            prop_assert!(twin, "{id}: {name} -> {}", after[id]);
        }
        for (id, name) in &after {
            prop_assert_eq!(router.names().0.resolve(name).unwrap(), id);
        }
    }
}

/// Tools without any word of the query change what is rare beside what, and what is long beside the others, and so may
/// change the order where tools are found by different words or with different counts of one.
#[test]
fn tools_that_share_no_word_shift_what_is_rare_and_long() {
    let tool =
        |id: &str, name: &str, text: &str| json!({ "id": id, "kind": "tool", "name": name, "description": text });
    let rare = [tool("t1", "x1", "ledger a1 a2 a3 a4"), tool("t2", "parcel", "x2"), tool("t3", "x3", "parcel")];
    let long = [tool("t1", "x1", "ledger"), tool("t2", "x2", "ledger ledger a1 a2 a3 a4"), tool("t3", "x3", "x4")];
    let cases = [("ledger parcel", rare, 111, "t1", "t2"), ("ledger", long, 1, "t1", "t2")];
    for (query, items, count, first, then) in cases {
        let mut router = router(&items, &json!({ "lexicon": "none", "fuzzy": false }));
        let arguments = json!({ "query": query });
        assert_eq!(call(&mut router, "route", &arguments)["candidate_ids"][0], first, "{query}");
        let text = "long ".repeat(30);
        let others: Vec<Value> = (0..count).map(|n| tool(&format!("u{n}"), &format!("u{n}"), &text)).collect();
        call(&mut router, "add", &json!({ "items": others }));
        assert_eq!(call(&mut router, "route", &arguments)["candidate_ids"][0], then, "{query}");
    }
}

/// Values that no one expects.
fn hostile() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        Just("x".repeat(100_000)),
        Just("a.".repeat(5_000)),
        Just("\u{202e}\u{0}\u{7f}\u{feff}\u{fffd}\u{10ffff}".to_owned()),
        Just("__proto__".to_owned()),
        Just("/".to_owned()),
        Just("a".to_owned()),
        Just("billing.search".to_owned()),
        Just("2026-01-02T03:04:05Z".to_owned()),
    ];
    let number = prop_oneof![
        Just(json!(-1)),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(0.5)),
        Just(json!(1e308)),
        Just(json!(-1e308)),
        Just(json!(5e-324)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        any::<u32>().prop_map(Value::from),
    ];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, text.prop_map(Value::from)];
    let key = prop_oneof![proptest::sample::select(KEYS).prop_map(str::to_owned), any::<String>()];
    leaf.prop_recursive(5, 24, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner.clone()), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            (0_usize..140, inner).prop_map(|(depth, inner)| (0..depth).fold(inner, |value, _| json!([value]))),
        ]
    })
}

const KEYS: &[&str] = &[
    "__proto__",
    "constructor",
    "id",
    "ids",
    "kind",
    "name",
    "description",
    "namespace",
    "tags",
    "args_schema",
    "type",
    "properties",
    "required",
    "metadata",
    "items",
    "item",
    "next",
    "query",
    "top_k",
    "path",
    "offset",
    "limit",
    "graph",
    "root_id",
    "nodes",
    "edges",
    "node_id",
    "vectors",
    "vector",
    "candidate_ids",
    "scores",
    "provider",
    "selected",
    "history",
    "called_tool_ids",
    "feedback",
    "records",
    "weights",
    "filters",
    "tools",
    "inputSchema",
    "annotations",
    "on_invalid",
    "mcp",
    "pinned",
    "cards",
    "result",
    "trace",
    "lexicon",
    "phrases",
    "navigator",
    "strategy",
];

fn good_items() -> Value {
    json!([
        { "id": "a", "kind": "tool", "name": "a", "description": "Search invoices",
            "args_schema": { "type": "object", "properties": { "q": { "type": "string" } } } },
        { "id": "billing.search", "kind": "tool", "name": "search", "description": "Search bills", "namespace": "billing" },
    ])
}

/// Operations with arguments as they should be: of making a catalog, of a catalog, of making a router, of a router, and
/// of none.
fn good_calls() -> Vec<(usize, &'static str, Value)> {
    let items = good_items();
    let next = json!({ "items": items });
    let ids = json!(["a", "billing.search"]);
    let graph = json!({ "root_id": "r", "items": ids, "edges": { "r": ids },
        "nodes": { "r": { "node_id": "r", "label": "all", "routing_hint": "" } } });
    let card = json!({ "id": "a", "name": "a", "description": "d", "tags": [], "kind": "tool" });
    let route = json!({ "query": "search", "top_k": 3, "debug": true, "include_items": true, "exclude_ids": ["b"],
        "exclude_tags": [], "allowed_namespaces": null, "allowed_tags": null, "context_hints": ["bills"],
        "pin_ids": ["a"], "namespace_quota": 2, "query_embedding": [1, 2],
        "history": { "called_tool_ids": ["search"], "last_result_summary": "invoices", "step_number": 2,
            "repeat_penalty": 0.5, "result_boost_weight": 0.3 },
        "feedback": { "records": [{ "item_id": "a", "success": true, "latency_ms": 3, "token_cost": 2,
            "quality_score": 0.5, "timestamp": "2026-01-02T03:04:05Z" }], "weights": { "success_weight": 1 } } });
    let result = json!({ "candidate_ids": ["a"], "scores": [1.0], "trace": { "query": "q", "retriever_engine": "e" } });
    let mcp = json!({ "mcp": { "tools": [{ "name": "t", "description": "d", "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true } }] }, "server": "s", "id_form": "canonical" });
    vec![
        (0, "", next.clone()),
        (0, "", json!({ "items": items, "on_invalid": "report" })),
        (0, "", mcp),
        (1, "register", json!({ "item": { "id": "n", "kind": "tool", "name": "n", "description": "d" } })),
        (1, "get", json!({ "id": "a" })),
        (1, "remove", json!({ "id": "b" })),
        (1, "diff", json!({ "next": next })),
        (1, "impact", json!({ "next": next, "probes": [{ "query": "q", "expected": "a" }], "top_k": 2, "router": {} })),
        (1, "lint", json!({ "pinned": { "a": "x" } })),
        (1, "items", json!({})),
        (2, "", json!({ "navigator": "beam", "scorer": "bm25", "graph": graph })),
        (
            2,
            "",
            json!({ "preset": "balanced", "beam_width": 2, "max_depth": 3, "top_k": 4, "max_children": 5,
            "confidence_gap": 0.5, "strategy": "cluster", "target_group_size": 3, "ambiguity_ratio": 0.5, "min_score": 1,
            "fuzzy": false, "embedding_weight": 1,
            "lexicon": { "base": "none", "generic": ["x"], "verbs": ["get fetch"], "nouns": ["a b"],
                "abbreviations": ["x yz"], "phrases": { "get rid of": "delete" } } }),
        ),
        (3, "route", route),
        (
            3,
            "cards",
            json!({ "candidate_ids": ids, "scores": [1, 2], "budget_tokens": 100,
            "max_cards": 2, "card_tokens": 10, "max_card_tokens": 20, "redact_secrets": true, "show_scores": true }),
        ),
        (3, "browse", json!({ "path": "/billing", "offset": 0, "limit": 1 })),
        (3, "browse", json!({ "id": "a" })),
        (3, "graph", json!({})),
        (3, "hydrate", json!({ "id": "a", "schemas": { "a": { "type": "object" } } })),
        (
            3,
            "selection_schema",
            json!({ "candidate_ids": ids, "provider": "openai", "property_name": "p",
            "schema_name": "s" }),
        ),
        (3, "validate_selection", json!({ "candidate_ids": ids, "selected": "A", "repair": true })),
        (3, "tools_for", json!({ "candidate_ids": ids, "provider": "anthropic", "strict": true })),
        (3, "add", json!({ "items": [{ "id": "n", "kind": "tool", "name": "n", "description": "d" }] })),
        (3, "remove", json!({ "ids": ["billing.search"] })),
        (3, "set_embeddings", json!({ "vectors": [{ "id": "a", "vector": [1, 2] }] })),
        (4, "render_cards", json!({ "cards": [card], "show_scores": true })),
        (4, "explain_route", json!({ "result": result })),
    ]
}

/// Puts a value at some place of another: the place with this number, counted through.
fn put(target: &mut Value, at: &mut usize, value: &Value) -> bool {
    if *at == 0 {
        *target = value.clone();
        return true;
    }
    *at -= 1;
    match target {
        Value::Array(list) => list.iter_mut().any(|one| put(one, at, value)),
        Value::Object(map) => map.values_mut().any(|one| put(one, at, value)),
        _ => false,
    }
}

/// Runs one operation of a fresh catalog and router; then everything must still work.
fn run(room: usize, operation: &str, arguments: &str) -> Result<String, Error> {
    let good = json!({ "items": good_items() }).to_string();
    let mut loaded = new_catalog(&good).unwrap();
    let mut router = new_router(&loaded, "{}").unwrap();
    let fields = json!({ "query": "search bills", "debug": true }).to_string();
    let before = router_call(&mut router, "route", &fields).unwrap();
    let answer = match room {
        0 => new_catalog(arguments).map(|mut made| {
            catalog_call(&mut made, "lint", "{}").unwrap();
            catalog_call(&mut made, "items", "{}").unwrap();
            let mut router = new_router(&made, "{}").unwrap();
            // An empty catalog has nothing to choose from; any other answers.
            assert_eq!(router_call(&mut router, "route", &fields).is_err(), made.catalog.is_empty());
            catalog_call(&mut made, "hash", "{}").unwrap()
        }),
        1 => catalog_call(&mut loaded, operation, arguments),
        2 => new_router(&loaded, arguments).and_then(|mut made| router_call(&mut made, "route", &fields)),
        3 => router_call(&mut router, operation, arguments),
        _ => routing_call(operation, arguments),
    };
    assert!(catalog_call(&mut loaded, "lint", "{}").is_ok());
    let after = router_call(&mut router, "route", &fields);
    match (&answer, operation) {
        // Whatever was added or removed, there is an answer while there is a tool.
        (Ok(_), "add" | "remove" | "set_embeddings") => assert_eq!(after.is_err(), router.catalog().is_empty()),
        _ => assert_eq!(after.unwrap(), before),
    }
    answer
}

#[test]
fn what_is_right_is_answered() {
    for (room, operation, arguments) in good_calls() {
        run(room, operation, &arguments.to_string()).unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
}

#[test]
fn texts_made_to_hurt_are_refused() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for text in [
        deep("[", "]"),
        deep("{\"a\":", "}"),
        "[".repeat(100_000),
        "{\"query\": \"\\ud800\"}".to_owned(),
        "{\"query\": \"a\", \"top_k\": 1e999}".to_owned(),
        "{\"query\": \"a\", \"top_k\": 18446744073709551616}".to_owned(),
        "{\"query\": \"a\", \"min_score\": -0.0, \"__proto__\": {}}".to_owned(),
        "{\"items\": NaN}".to_owned(),
        "\u{feff}{}".to_owned(),
        String::new(),
    ] {
        for (room, operation, _) in good_calls() {
            assert!(run(room, operation, &text).is_err(), "{operation} {}", &text[..text.len().min(60)]);
        }
    }
}

proptest! {
    #![proptest_config(property(800))]

    #[test]
    fn no_input_is_a_trap(which in any::<proptest::sample::Index>(), at in 0_usize..40, value in hostile(), extra: bool) {
        let calls = good_calls();
        let (room, operation, mut arguments) = calls[which.index(calls.len())].clone();
        let mut left = at;
        if !put(&mut arguments, &mut left, &value) {
            arguments = value;
        }
        if let (true, Some(map)) = (extra, arguments.as_object_mut()) {
            map.insert("__proto__".to_owned(), Value::Object(Map::new()));
        }
        let text = arguments.to_string();
        match run(room, operation, &text) {
            Ok(answer) => {
                prop_assert!(serde_json::from_str::<Value>(&answer).unwrap().get("done").is_some());
                // No score is anything but a number.
                if operation == "route" {
                    let done = done(&answer);
                    prop_assert!(done["scores"].as_array().unwrap().iter().all(Value::is_number), "{text}");
                }
            }
            Err(error) => {
                prop_assert!(!matches!(error.code().as_str(), "INTERNAL" | "POISONED"), "{error}");
                prop_assert!(error.message().len() < 2_000, "{} characters", error.message().len());
                prop_assert!(error.path().is_empty() || error.path().starts_with('/'), "{error}");
            }
        }
    }

    #[test]
    fn no_text_is_a_trap(which in any::<proptest::sample::Index>(), text in any::<String>(), cut in any::<proptest::sample::Index>()) {
        let calls = good_calls();
        let (room, operation, arguments) = &calls[which.index(calls.len())];
        let good = arguments.to_string();
        let _ = run(*room, operation, &text);
        let _ = run(*room, operation, &good[..cut.index(good.len())]);
        let _ = run(*room, &text, &good);
    }
}
