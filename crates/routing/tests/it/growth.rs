//! Work of routing grows near-linearly with the tools: counted in operations, because a clock proves nothing.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::order::WordSet;
use contextweaver_model::SelectableItem;
use contextweaver_routing::Catalog;
use contextweaver_routing::catalog::{CollisionThresholds, LintOptions, analyze_collisions, lint};
use contextweaver_routing::graph::{BrowseIndex, BuildOptions, ChoiceGraph, PageOptions, build};
use contextweaver_routing::index::{IndexOptions, RankScope, ToolIndex};
use contextweaver_routing::router::{RouteFilters, RouteHistory, RouteOptions, Router, RouterOptions};
use contextweaver_test_support::is_long;
use serde_json::json;

const SIZES: [usize; 3] = [1_000, 10_000, 50_000];

/// Tools of random words from a vocabulary that grows slower than they do, in a few hundred namespaces.
fn tools(count: usize) -> Vec<SelectableItem> {
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..count)
        .map(|n| {
            let mut words = |count: u64| -> Vec<String> { (0..count).map(|_| format!("w{}", random(3000))).collect() };
            let (name, description) = (words(2).join("_"), words(12).join(" "));
            SelectableItem {
                id: format!("t{n}"),
                kind: "tool".to_owned(),
                name,
                description,
                namespace: format!("area{}.part{}", random(20), random(20)),
                ..SelectableItem::default()
            }
        })
        .collect()
}

/// Checks that so many times the tools take at most some more than so many times the work, and a tool at most so much.
fn near_linear(what: &str, counts: &[(usize, u64)], most_of_one: u64) {
    // What little is left over is not tidied up, so small catalogs have less work.
    for pair in counts.windows(2) {
        let (tools, growth) = (pair[1].0 as f64 / pair[0].0 as f64, pair[1].1 as f64 / pair[0].1.max(1) as f64);
        assert!(growth < 1.4 * tools, "{what}: {pair:?}");
    }
    for (count, work) in counts {
        println!("{what} {count}: {work} operations, {:.2} a tool", *work as f64 / *count as f64);
        assert!(*work <= most_of_one * *count as u64, "{what} {count}: {work}");
    }
}

fn all(limit: usize) -> RankScope<'static> {
    RankScope { allowed: None, embedding: None, limit }
}

#[test]
fn an_index_takes_near_linear_work() {
    let (mut built, mut added, mut routed, mut removed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for count in SIZES {
        let items = tools(count);
        let mut index = ToolIndex::build(&items, IndexOptions::default());
        built.push((count, index.work()));
        let before = index.work();
        for query in ["w1 w22", "w333 w444 w555", "w1 w2 w3 w4 w5"] {
            index.rank(query, all(10)).unwrap();
        }
        routed.push((count, index.work() - before));
        let mut index = ToolIndex::new(IndexOptions::default());
        for item in &items {
            index.add(item);
        }
        added.push((count, index.work()));
        let before = index.work();
        for item in &items {
            index.remove(&item.id);
        }
        removed.push((count, index.work() - before));
    }
    near_linear("build", &built, 200);
    near_linear("add", &added, 400);
    near_linear("remove", &removed, 400);
    near_linear("rank", &routed, 1);
}

#[test]
fn adding_and_asking_in_turn_is_no_trap() {
    let mut counts = Vec::new();
    for count in [1_000, 10_000] {
        let mut index = ToolIndex::new(IndexOptions::default());
        for (n, item) in tools(count).iter().enumerate() {
            index.add(item);
            if n % 10 == 0 {
                // Of rare words, so that the work is that of keeping the index.
                index.rank("zebra quagga", all(5)).unwrap();
                index.remove(&format!("t{}", n / 2));
            }
        }
        counts.push((count, index.work()));
    }
    near_linear("in turn", &counts, 600);
}

fn size(graph: &ChoiceGraph) -> (usize, usize, u64) {
    let ids = graph.nodes();
    (ids.len(), ids.iter().map(|id| id.len()).sum(), graph.max_depth())
}

#[test]
fn a_graph_is_as_large_as_its_catalog() {
    for count in SIZES {
        let mut items = tools(count);
        for shape in ["spread", "one namespace", "one name", "deep"] {
            for item in &mut items {
                match shape {
                    "one namespace" => item.namespace = "one".to_owned(),
                    "one name" => item.name = "same".to_owned(),
                    "deep" => item.namespace = format!("{}{}", "a.".repeat(item.id.len() * 5), item.id),
                    _ => {}
                }
            }
            let refs: Vec<&SelectableItem> = items.iter().collect();
            let graph = build(&refs, BuildOptions::default(), "").unwrap();
            let (nodes, bytes, depth) = size(&graph);
            assert!(nodes <= 2 * count + 1, "{shape} {count}: {nodes} nodes");
            assert!(bytes <= 100 * count, "{shape} {count}: {bytes} bytes of ids");
            assert!(depth <= 3 + (count as f64).log(20.0).ceil() as u64, "{shape} {count}: {depth} levels");
            let pages = BrowseIndex::new(&graph, &refs);
            assert!(pages.browse(&graph, "/", PageOptions::default()).unwrap().total <= 20);
        }
    }
}

#[test]
fn routes_with_everything_are_no_trap() {
    for count in [1_000, 20_000] {
        let mut catalog = Catalog::new();
        catalog.register_all(tools(count)).unwrap();
        let ids: Vec<String> = catalog.items().map(|item| item.id.clone()).collect();
        let mut router = Router::new(catalog, RouterOptions::default());
        let filters = RouteFilters {
            exclude_ids: WordSet::new(ids.iter().step_by(2).cloned().collect()),
            ..RouteFilters::default()
        };
        // Half of the tools are excluded, a quarter pinned, an eighth called under names that must be looked up.
        let options = RouteOptions {
            filters,
            pin_ids: WordSet::new(ids.iter().step_by(4).cloned().collect()),
            namespace_quota: Some(1),
            history: Some(RouteHistory {
                called_tool_ids: ids.iter().step_by(8).cloned().chain(["ghost".to_owned()]).collect(),
                last_result_summary: Some("w1 w2 w3".to_owned()),
                ..RouteHistory::default()
            }),
            debug: true,
            ..RouteOptions::default()
        };
        let result = router.route("w1 w22 w333 w4444", &options).unwrap();
        assert_eq!(result.excluded_count, count as u64 / 2);
        assert!(!result.candidate_ids.is_empty());
    }
}

#[test]
fn thousands_of_twins_are_told_in_short() {
    let count = if is_long() { 20_000 } else { 5_000 };
    let twins = |name: fn(usize) -> String| -> Vec<SelectableItem> {
        let text = json!({ "type": "string" });
        let twin = |n: usize| SelectableItem {
            id: format!("id{n:05}"),
            kind: "tool".to_owned(),
            name: name(n),
            description: "Sends a message to everyone in the room at once".to_owned(),
            namespace: format!("s{}", n % 7),
            args_schema: json!({ "type": "object", "properties": { "room": text, "text": text } })
                .as_object()
                .cloned()
                .unwrap(),
            ..SelectableItem::default()
        };
        (0..count).map(twin).collect()
    };
    for items in [
        twins(|_| "send_message".to_owned()),
        twins(|n| format!("send_message_{n}")),
        twins(|n| {
            // Names that differ in letters only.
            let digit = |place: usize| char::from(b'a' + (n / 12_usize.pow(place as u32) % 12) as u8);
            format!("send_message_{}", (0..4).map(|place| digit(place as usize)).collect::<String>())
        }),
    ] {
        let mut catalog = Catalog::new();
        catalog.register_all(items.clone()).unwrap();
        let found = lint(&catalog, &LintOptions::default());
        println!("{} findings", found.len());
        assert!(found.len() <= 3_003, "{}", found.len());
        let last = found.iter().find(|finding| finding.item_id.is_empty() && finding.code == "description-near");
        assert_eq!(last.unwrap().message, format!("{} more tools have this finding", count - 1_001));
        let report = analyze_collisions(&items, CollisionThresholds::default());
        assert!(report.findings.len() <= 4_000, "{}", report.findings.len());
        println!("{:?} {:?}", report.counts, report.cut_off);
        assert!(report.cut_off.contains(&"similar_description") && report.cut_off.contains(&"similar_schema"));
    }
}
