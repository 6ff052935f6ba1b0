//! Promises of the tree over a catalog and of browsing it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first thing that is wrong"
)]

use contextweaver_base::ErrorCode;
use contextweaver_model::SelectableItem;
use contextweaver_routing::graph::{
    BrowseIndex, BrowsePage, BuildOptions, ChoiceGraph, GroupingStrategy, PageOptions, build,
};
use contextweaver_test_support::property;
use proptest::prelude::{Just, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;
use serde_json::{Value, json};

fn tool(id: &str, name: &str, description: &str, namespace: &str) -> SelectableItem {
    let value = json!({ "id": id, "kind": "tool", "name": name, "description": description, "namespace": namespace });
    SelectableItem::from_value(value, "").unwrap()
}

fn built(items: &[SelectableItem], strategy: GroupingStrategy, max_children: usize) -> ChoiceGraph {
    let items: Vec<&SelectableItem> = items.iter().collect();
    build(&items, BuildOptions { strategy, max_children, target_group_size: max_children }, "hash").unwrap()
}

#[test]
fn namespaces_that_differ_in_case_have_pages_of_their_own() {
    // Found by the property below: one has a node in the tree, the other has not, and both have the slug `a`.
    let items = [tool(".", "", "aa", "a"), tool("/", "", "aa", "A"), tool("a", "", "aa", "a")];
    let graph = built(&items, GroupingStrategy::Auto, 2);
    let refs: Vec<&SelectableItem> = items.iter().collect();
    let index = BrowseIndex::new(&graph, &refs);
    for (path, name) in index.namespaces() {
        let page = index.browse(&graph, &path, PageOptions::default()).unwrap();
        let found: Vec<&str> = page.children.iter().filter_map(|child| child.id.as_deref()).collect();
        let wanted: Vec<&str> =
            items.iter().filter(|item| item.namespace == name).map(|item| item.id.as_str()).collect();
        assert_eq!(found, wanted, "{name} at {path}");
    }
}

/// Everything a tree promises.
fn check(items: &[SelectableItem], graph: &ChoiceGraph, max_children: usize) {
    graph.validate().unwrap();
    let mut ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(graph.items(), ids);
    let (mut room, mut least) = (1_u64, 0);
    while room < items.len() as u64 {
        room *= max_children as u64;
        least += 1;
    }
    assert!(graph.max_depth() <= least + 2, "{} levels for {} tools", graph.max_depth(), items.len());
    assert_eq!(graph.roots(), [graph.root_id.as_str()]);
    assert_eq!(graph.topological_order().len(), graph.nodes().len());
    for id in graph.nodes() {
        let children = graph.successors(id);
        assert!(children.len() <= max_children, "{id} has {} children", children.len());
        assert_eq!(children.is_empty(), graph.is_item(id), "{id}");
        assert!(graph.predecessors(id).len() <= 1);
        if !graph.is_item(id) {
            let (label, hint) = graph.label(id).unwrap();
            assert!(id.len() <= 256 && id.starts_with('/'), "{id}");
            assert!(!label.is_empty() && label.chars().count() <= 101 && hint.chars().count() <= 130);
            for segment in id.split('~').next().unwrap().split('/').filter(|segment| !segment.is_empty()) {
                assert!(segment.starts_with(|ch: char| ch.is_ascii_lowercase()) && segment.len() <= 64, "{id}");
                let is_plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || "_-".contains(ch);
                assert!(segment.chars().all(is_plain), "{id}");
            }
        }
    }
    let text = json!(graph).to_string();
    let again = ChoiceGraph::load(serde_json::from_str(&text).unwrap(), "").unwrap();
    assert_eq!(json!(again).to_string(), text);
}

/// The tools a rule of `must_improve.json` speaks of.
fn ruled(input: &Value) -> Vec<SelectableItem> {
    if let Some(ids) = input["item_ids"].as_array() {
        return ids.iter().map(|id| tool(id.as_str().unwrap(), id.as_str().unwrap(), "", "")).collect();
    }
    if let Some(items) = input["items"].as_array() {
        return items.iter().map(|item| SelectableItem::from_value(item.clone(), "").unwrap()).collect();
    }
    if let Some(namespaces) = input["namespaces"].as_array() {
        let count = input["count"].as_u64().unwrap();
        let prefix = input["name_prefix"].as_str().unwrap();
        let of = |namespace: &Value| {
            let namespace = namespace.as_str().unwrap().to_owned();
            (0..count).map(move |index| {
                let name = format!("{prefix}_{index:02}");
                tool(&format!("{namespace}.t{index:02}"), &name, &name, &namespace)
            })
        };
        return namespaces.iter().flat_map(of).collect();
    }
    (0..2000).map(|index| tool(&format!("s{index:04}"), "same", "same text", "")).collect()
}

#[test]
fn trees_keep_what_the_reference_loses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/routing/must_improve.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for case in document["cases"].as_array().unwrap() {
        let input = &case["input"];
        if input["op"] != "tree" {
            continue;
        }
        seen += 1;
        let items = ruled(input);
        let max_children = usize::try_from(input["max_children"].as_u64().unwrap()).unwrap();
        if max_children < 2 && items.len() > 1 {
            let items: Vec<&SelectableItem> = items.iter().collect();
            let options = BuildOptions { max_children, ..BuildOptions::default() };
            assert_eq!(build(&items, options, "").unwrap_err().code(), ErrorCode::OutOfRange);
            continue;
        }
        for strategy in [
            GroupingStrategy::Auto,
            GroupingStrategy::Namespace,
            GroupingStrategy::Cluster,
            GroupingStrategy::Alphabetical,
        ] {
            check(&items, &built(&items, strategy, max_children), max_children);
        }
    }
    assert!(seen >= 8);
}

#[test]
fn namespaces_stand_at_the_root() {
    let mut items = Vec::new();
    for namespace in ["billing.invoices", "billing.payments", "crm", "hr.people.leave"] {
        items.extend(
            (0..40).map(|index| {
                tool(&format!("{namespace}.t{index:02}"), &format!("do_{index}"), "does a thing", namespace)
            }),
        );
    }
    items.push(tool("alone", "alone", "stands alone", ""));
    let graph = built(&items, GroupingStrategy::Auto, 20);
    check(&items, &graph, 20);
    assert_eq!(graph.successors("/"), ["/billing", "/crm", "/hr", "alone"]);
    assert_eq!(graph.successors("/billing"), ["/billing/invoices", "/billing/payments"]);
    assert!(graph.label("/hr").unwrap().0.starts_with("hr: "));
    // More namespaces than a node may have children are put together, and each has a node below.
    let items: Vec<SelectableItem> = (0..400)
        .map(|index| tool(&format!("t{index:03}"), &format!("n{index}"), "thing", &format!("ns{:02}", index / 4)))
        .collect();
    let graph = built(&items, GroupingStrategy::Auto, 20);
    check(&items, &graph, 20);
    let root = graph.successors("/");
    assert!((5..=20).contains(&root.len()), "{root:?}");
    assert!(root[0].contains("--") && graph.successors(root[0])[0].ends_with("/ns00"));
}

#[test]
fn tools_cannot_take_the_place_of_nodes() {
    let mut items: Vec<SelectableItem> =
        ["/", "/~2", "/a", "/a~2", "root", "a/b"].iter().map(|id| tool(id, "n", "d", "b")).collect();
    items.extend((0..9).map(|index| tool(&format!("x{index}"), "n", "d", "a")));
    let graph = built(&items, GroupingStrategy::Auto, 4);
    check(&items, &graph, 4);
    assert_eq!(graph.root_id, "/~3");
    assert!(graph.has_node("/a~3") && !graph.is_item("/a~3"));
}

#[test]
fn options_are_checked() {
    let item = tool("a", "a", "a", "");
    let bad = |options| build(&[&item, &item], options, "").unwrap_err().code();
    let base = BuildOptions::default();
    assert_eq!(bad(base), ErrorCode::DuplicateId);
    assert_eq!(bad(BuildOptions { max_children: 1, ..base }), ErrorCode::OutOfRange);
    assert_eq!(bad(BuildOptions { target_group_size: 0, ..base }), ErrorCode::OutOfRange);
    assert_eq!(build(&[], base, "").unwrap_err().code(), ErrorCode::NoCandidates);
    assert_eq!(ChoiceGraph::load(json!({}), "").unwrap_err().code(), ErrorCode::GraphInvalid);
    assert_eq!(built(std::slice::from_ref(&item), GroupingStrategy::Auto, 1).successors("/"), ["a"]);
    for (value, code) in [
        (json!({ "strategy": "best" }), ErrorCode::InvalidInput),
        (json!({ "max_childs": 3 }), ErrorCode::UnknownField),
        (json!({ "max_children": -1 }), ErrorCode::OutOfRange),
    ] {
        assert_eq!(BuildOptions::from_value(value, "").unwrap_err().code(), code);
    }
    let read = BuildOptions::from_value(json!({ "strategy": "cluster", "max_children": 7 }), "").unwrap();
    assert_eq!((read.strategy, read.target_group_size), (GroupingStrategy::Cluster, 7));
}

/// All children at a path, page by page.
fn pages(index: &BrowseIndex, graph: &ChoiceGraph, path: &str, limit: u64) -> BrowsePage {
    let mut page = index.browse(graph, path, PageOptions { offset: 0, limit }).unwrap();
    while let Some(offset) = page.next {
        let more = index.browse(graph, path, PageOptions { offset, limit }).unwrap();
        assert!(more.children.len() as u64 <= limit && more.total == page.total);
        page.children.extend(more.children);
        page.next = more.next;
    }
    assert_eq!(page.children.len() as u64, page.total);
    page
}

/// Walks from the root along the paths that pages give; returns the ids of the tools met.
fn walk(index: &BrowseIndex, graph: &ChoiceGraph) -> Vec<String> {
    let (mut open, mut met) = (vec!["/".to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        let page = pages(index, graph, &path, 7);
        assert_eq!(page.path, path);
        let before = met.len();
        for child in page.children {
            match child.path {
                Some(path) => open.push(path),
                None => met.push(child.id.unwrap()),
            }
        }
        assert!(met.len() > before || page.total > 0);
    }
    met.sort_unstable();
    met
}

fn check_browsing(items: &[SelectableItem], graph: &ChoiceGraph) {
    let refs: Vec<&SelectableItem> = items.iter().collect();
    let index = BrowseIndex::new(graph, &refs);
    assert_eq!(walk(&index, graph), graph.items());
    for id in graph.nodes() {
        let page = index.browse_id(graph, id, PageOptions::default()).unwrap();
        if graph.is_item(id) {
            assert_eq!((page.total, page.children[0].id.as_deref()), (1, Some(id)));
        }
        assert!(index.browse(graph, &page.path, PageOptions::default()).is_ok(), "{}", page.path);
    }
    for (path, name) in index.namespaces() {
        let mut expected: Vec<&str> = items
            .iter()
            .filter(|item| {
                let own: Vec<&str> = item.namespace.split('.').filter(|segment| !segment.is_empty()).collect();
                let wanted: Vec<&str> = name.split('.').collect();
                own.starts_with(&wanted)
            })
            .map(|item| item.id.as_str())
            .collect();
        expected.sort_unstable();
        let (mut open, mut met) = (vec![path], Vec::new());
        while let Some(path) = open.pop() {
            for child in pages(&index, graph, &path, 200).children {
                match child.path {
                    Some(path) => open.push(path),
                    None => met.push(child.id.unwrap()),
                }
            }
        }
        met.sort_unstable();
        assert_eq!(met, expected, "{name}");
    }
}

#[test]
fn browsing_reaches_namespaces_wherever_they_are() {
    let items: Vec<SelectableItem> = (0..3000)
        .map(|index| {
            let namespace = format!("area{:02}.Part {}", index % 60, index % 7);
            tool(&format!("t{index:04}"), &format!("n{index}"), "thing", &namespace)
        })
        .collect();
    let graph = built(&items, GroupingStrategy::Auto, 20);
    check_browsing(&items, &graph);
    let refs: Vec<&SelectableItem> = items.iter().collect();
    let index = BrowseIndex::new(&graph, &refs);
    assert!(!graph.has_node("/area07"));
    let page = index.browse(&graph, "/area07", PageOptions::default()).unwrap();
    assert_eq!((page.label.as_str(), page.total, page.children[0].items), ("area07", 7, 8));
    assert_eq!(page.children[0].path.as_deref(), Some("/area07/part-0"));
    for (path, code) in [("/nowhere", ErrorCode::NotFound), ("area07", ErrorCode::InvalidInput)] {
        assert_eq!(index.browse(&graph, path, PageOptions::default()).unwrap_err().code(), code);
    }
}

fn object(edges: Vec<(String, Vec<String>)>) -> Value {
    Value::Object(edges.into_iter().map(|(from, all)| (from, json!(all))).collect())
}

/// Tools with crowded ids, names and namespaces.
fn catalogs() -> impl Generator<Value = Vec<SelectableItem>> {
    let namespace = prop_oneof![
        Just(String::new()),
        "[ab](\\.[ab]){0,6}",
        "[A-Ca-c]{1,2}",
        "ns[0-9]{1,2}(\\.x)?",
        Just("..".to_owned()),
        Just("日本.語".to_owned()),
    ];
    let entry = ("[a-e /~.]{1,3}", "[a-zA-Z_é]{0,6}", "[a-c]{2}( [a-c]{2}){0,3}", namespace);
    prop::collection::vec(entry, 1..150).prop_map(|entries| {
        let mut seen = std::collections::BTreeSet::new();
        let of = |(id, name, description, namespace): (String, String, String, String)| {
            seen.insert(id.clone()).then(|| tool(&id, &name, &description, &namespace))
        };
        entries.into_iter().filter_map(of).collect::<Vec<_>>()
    })
}

proptest! {
    #![proptest_config(property(96))]

    #[test]
    fn every_tree_keeps_its_promises(items in catalogs(), max_children in 2_usize..9, which in 0_usize..4) {
        let strategy = [GroupingStrategy::Auto, GroupingStrategy::Namespace, GroupingStrategy::Cluster, GroupingStrategy::Alphabetical][which];
        let graph = built(&items, strategy, max_children);
        check(&items, &graph, max_children);
        check_browsing(&items, &graph);
        let mut turned = items.clone();
        turned.reverse();
        turned.rotate_left(items.len() / 3);
        prop_assert_eq!(json!(built(&turned, strategy, max_children)).to_string(), json!(graph).to_string());
    }

    #[test]
    fn loading_meets_the_cycle_that_single_edges_meet(edges in prop::collection::vec(("[a-f]", "[a-f]"), 0..14)) {
        let mut one_by_one = ChoiceGraph::default();
        let mut listed: Vec<(String, Vec<String>)> = Vec::new();
        for (source, target) in edges {
            match listed.iter_mut().find(|(known, _)| *known == source) {
                Some((_, targets)) => targets.push(target),
                None => listed.push((source, vec![target])),
            }
        }
        let mut steps = listed.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
        let met = steps.find_map(|(from, to)| one_by_one.add_edge(from, to).err());
        let loaded = ChoiceGraph::from_value(json!({ "edges": object(listed) }), "");
        match met {
            None => prop_assert_eq!(json!(loaded.unwrap())["edges"].clone(), json!(one_by_one)["edges"].clone()),
            Some(error) => prop_assert_eq!(loaded.unwrap_err().to_json(), error.under("/edges").to_json()),
        }
    }
}
