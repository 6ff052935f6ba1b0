//! What a search of the decision memory promises, and its graph.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a property that cannot be checked is a failed test")]

use contextweaver_decisions::graph::{DecisionEdge, DecisionGraph, EdgeType};
use contextweaver_decisions::record::Bridge;
use contextweaver_decisions::search::{
    BridgeSide, DecisionFilters, DecisionQuery, RetrievalMode, SearchOptions, SearchResults,
};
use contextweaver_decisions::tools::{get_graph, get_neighbors, link_decisions, query_decisions};
use contextweaver_decisions::{CallerContext, Decision, DecisionStore, DecisionStoreOptions, HostAnswers, timestamps};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

const WORDS: &[&str] =
    &["use", "postgres", "redis", "cache", "retry", "queue", "auth", "jwt", "deploy", "日本", "schema", "v2"];
const MODES: [RetrievalMode; 3] = [RetrievalMode::Hybrid, RetrievalMode::Semantic, RetrievalMode::Keyword];
const SIDES: [BridgeSide; 3] = [BridgeSide::Both, BridgeSide::Structure, BridgeSide::Function];

fn words(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS), 0..most).prop_map(|words| words.join(" "))
}

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    proptest::option::of(proptest::sample::select(names).prop_map(str::to_owned))
}

const CATEGORIES: &[&str] = &["architecture", "security", "tooling"];
const STAKES: &[&str] = &["low", "high"];
const TAGS: &[&str] = &["db", "auth", "au"];
const PROJECTS: &[&str] = &["a/b", "c/d"];

fn decisions(most: usize) -> impl Strategy<Value = Vec<Decision>> {
    let one = (
        words(8),
        some_of(CATEGORIES),
        some_of(STAKES),
        some_of(PROJECTS),
        proptest::option::of(0..10_u32),
        proptest::collection::vec(proptest::sample::select(TAGS), 0..3),
        1..29_u32,
        any::<bool>(),
        proptest::option::of(words(4)),
    );
    proptest::collection::vec(one, 0..most).prop_map(|list| {
        let numbered = list.into_iter().enumerate();
        numbered
            .map(|(number, (text, category, stakes, project, confidence, tags, day, reviewed, function))| {
                let date = format!("2026-01-{day:02}T12:00:00+00:00");
                Decision {
                    id: format!("d{number}"),
                    summary: text.clone(),
                    decision: text.clone(),
                    category: category.unwrap_or_default(),
                    stakes,
                    project,
                    confidence: confidence.map(|tenths| f64::from(tenths) / 10.0),
                    tags: tags.into_iter().map(str::to_owned).collect(),
                    status: if reviewed { "reviewed" } else { "pending" }.to_owned(),
                    recorded_by: Some(if day % 2 == 0 { "one" } else { "two" }.to_owned()),
                    pr: (day % 3 == 0).then_some(u64::from(day)),
                    bridge: function.map(|function| Bridge { structure: text, function, ..Bridge::default() }),
                    created_at: date.clone(),
                    date,
                    ..Decision::default()
                }
            })
            .collect()
    })
}

fn filters() -> impl Strategy<Value = DecisionFilters> {
    let lists = (
        proptest::collection::vec(proptest::sample::select(STAKES), 0..2),
        proptest::collection::vec(proptest::sample::select(TAGS), 0..3),
    );
    let numbers = (proptest::option::of(0..10_u32), proptest::option::of(0..10_u32), proptest::option::of(1..29_u64));
    let dates = (proptest::option::of(1..29_u32), proptest::option::of(1..29_u32));
    let rest = (any::<Option<bool>>(), proptest::option::of(any::<bool>()));
    (some_of(CATEGORIES), some_of(PROJECTS), lists, numbers, dates, rest).prop_map(
        |(category, project, (stakes, tags), (least, most, pr), (after, before), (has_outcome, agent))| {
            let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
            let day = |day: u32| format!("2026-01-{day:02}");
            DecisionFilters {
                category,
                project,
                stakes: owned(stakes),
                tags: owned(tags),
                min_confidence: least.map(|tenths| f64::from(tenths) / 10.0),
                max_confidence: most.map(|tenths| f64::from(tenths) / 10.0),
                pr: pr.filter(|pr| pr % 6 == 0),
                has_outcome,
                date_after: after.map(day),
                date_before: before.map(day),
                agent: agent.map(|one| if one { "one" } else { "two" }.to_owned()),
                ..DecisionFilters::default()
            }
        },
    )
}

/// The conditions, read from the specification once more.
fn fulfils(decision: &Decision, filters: &DecisionFilters) -> bool {
    let day = |text: &str| text[..10].to_owned();
    let among = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
    let status = if decision.status == "reviewed" { Some(true) } else { Some(false) };
    filters.category.as_ref().is_none_or(|category| *category == decision.category)
        && filters.project.as_ref().is_none_or(|project| decision.project.as_ref() == Some(project))
        && among(&filters.stakes, decision.stakes.as_deref().unwrap_or_default())
        && (filters.tags.is_empty() || decision.tags.iter().any(|tag| filters.tags.contains(tag)))
        && filters.min_confidence.is_none_or(|least| decision.confidence.is_some_and(|own| own >= least))
        && filters.max_confidence.is_none_or(|most| decision.confidence.is_some_and(|own| own <= most))
        && filters.pr.is_none_or(|pr| decision.pr == Some(pr))
        && filters.has_outcome.is_none_or(|reviewed| status == Some(reviewed))
        && filters.date_after.as_ref().is_none_or(|after| day(&decision.date) >= *after)
        && filters.date_before.as_ref().is_none_or(|before| day(&decision.date) <= *before)
        && filters.agent.as_ref().is_none_or(|agent| decision.recorded_by.as_ref() == Some(agent))
}

fn store_of(decisions: &[Decision], options: SearchOptions) -> DecisionStore {
    let mut store = DecisionStore::new(DecisionStoreOptions { search: options, ..DecisionStoreOptions::default() });
    for decision in decisions {
        store.put(decision.clone());
    }
    store
}

fn find(store: &mut DecisionStore, text: &str, mode: RetrievalMode, filters: &DecisionFilters) -> SearchResults {
    let query = DecisionQuery { text, limit: 50, mode, side: BridgeSide::Both, filters };
    store.query(&HostAnswers::default(), &query).unwrap()
}

fn ids(found: &SearchResults) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.id.as_str()).collect()
}

proptest! {
    #![proptest_config(property(150))]

    #[test]
    fn every_mode_and_side_keeps_to_the_filters(list in decisions(30), filters in filters(), text in words(4)) {
        let mut store = store_of(&list, SearchOptions::default());
        let fitting: Vec<&Decision> = list.iter().filter(|decision| fulfils(decision, &filters)).collect();
        for decision in &list {
            prop_assert_eq!(filters.matches(decision).unwrap(), fulfils(decision, &filters), "{:?}", decision);
        }
        for (mode, side) in MODES.into_iter().flat_map(|mode| SIDES.map(|side| (mode, side))) {
            let query = DecisionQuery { text: &text, limit: 50, mode, side, filters: &filters };
            let found = store.query(&HostAnswers::default(), &query).unwrap();
            prop_assert!(found.hits.iter().all(|hit| fitting.iter().any(|decision| decision.id == hit.id)));
            prop_assert!(found.hits.iter().all(|hit| (0.0..=2.0).contains(&hit.distance)));
            if mode != RetrievalMode::Keyword && !text.is_empty() {
                // With room for all, every fitting decision is found by meaning.
                prop_assert_eq!(found.hits.len(), fitting.len());
            }
        }
    }

    #[test]
    fn a_changed_store_finds_what_a_new_one_finds(
        first in decisions(20), second in decisions(20), text in words(4), limit in 1..6_usize,
    ) {
        let mut changed = store_of(&first, SearchOptions::default());
        // Vectors of both states are made.
        for side in SIDES {
            let query = DecisionQuery { text: &text, limit, mode: RetrievalMode::Hybrid, side, filters: &DecisionFilters::default() };
            changed.query(&HostAnswers::default(), &query).unwrap();
        }
        let mut fresh = store_of(&first, SearchOptions::default());
        for decision in second {
            changed.put(decision.clone());
            fresh.put(decision);
        }
        for (mode, side) in MODES.into_iter().flat_map(|mode| SIDES.map(|side| (mode, side))) {
            let query = DecisionQuery { text: &text, limit, mode, side, filters: &DecisionFilters::default() };
            let run = |store: &mut DecisionStore| store.query(&HostAnswers::default(), &query).unwrap().hits;
            prop_assert_eq!(run(&mut changed), run(&mut fresh));
        }
    }

    #[test]
    fn fewer_hits_are_the_first_of_more(list in decisions(40), text in words(4), limit in 1..8_usize) {
        let mut store = store_of(&list, SearchOptions::default());
        for mode in [RetrievalMode::Semantic, RetrievalMode::Keyword] {
            let all = find(&mut store, &text, mode, &DecisionFilters::default()).hits;
            let query = DecisionQuery { text: &text, limit, mode, side: BridgeSide::Both, filters: &DecisionFilters::default() };
            let few = store.query(&HostAnswers::default(), &query).unwrap().hits;
            prop_assert_eq!(&few[..], &all[..limit.min(all.len())]);
            let keys: Vec<(f64, &str)> = all.iter().map(|hit| (hit.distance, hit.id.as_str())).collect();
            prop_assert!(mode == RetrievalMode::Keyword || keys.is_sorted_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)).is_lt()));
        }
    }

    #[test]
    fn no_sequence_of_calls_leaves_a_dangling_edge(
        steps in proptest::collection::vec((0..12_usize, 0..12_usize, 0..4_usize, any::<bool>()), 0..60),
    ) {
        let list: Vec<Decision> =
            (0..8).map(|number| Decision { id: format!("d{number}"), ..Decision::default() }).collect();
        let mut store = store_of(&list, SearchOptions::default());
        for (source, target, kind, _) in steps {
            let kinds = ["relates_to", "supersedes", "depends_on", "blocks"];
            let arguments = json!({ "source_id": format!("d{source}"), "target_id": format!("d{target}"),
                "edge_type": kinds[kind] });
            let known = source < 8 && target < 8 && kind < 3;
            let linked = tool(link_decisions, &mut store, &arguments);
            if source == target && kind < 3 {
                prop_assert_eq!(&linked.unwrap()["success"], &json!(false));
            } else {
                prop_assert_eq!(linked.is_ok_and(|linked| linked["success"] == true), known);
            }
        }
        let mut sums = (0, 0);
        for decision in &list {
            let graph = tool(get_graph, &mut store, &json!({ "node_id": decision.id, "depth": 5 })).unwrap();
            let nodes: Vec<&Value> = graph["nodes"].as_array().unwrap().iter().collect();
            for edge in graph["edges"].as_array().unwrap() {
                for end in ["sourceId", "targetId"] {
                    prop_assert!(nodes.iter().any(|node| node["id"] == edge[end]));
                }
            }
            sums.0 += nodes[0]["inDegree"].as_u64().unwrap();
            sums.1 += nodes[0]["outDegree"].as_u64().unwrap();
            let around = tool(get_neighbors, &mut store, &json!({ "node_id": decision.id, "limit": 100 })).unwrap();
            let degree = nodes[0]["inDegree"].as_u64().unwrap() + nodes[0]["outDegree"].as_u64().unwrap();
            prop_assert_eq!(around["total"].as_u64().unwrap(), degree);
        }
        prop_assert_eq!(sums.0, sums.1);
    }

    #[test]
    fn removing_decisions_takes_their_edges_along(
        steps in proptest::collection::vec((0..8_usize, 0..8_usize, 0..3_usize), 0..60),
    ) {
        let mut graph = DecisionGraph::default();
        let mut model: Vec<(String, String, EdgeType)> = Vec::new();
        let kinds = [EdgeType::RelatesTo, EdgeType::Supersedes, EdgeType::DependsOn];
        for (source, target, kind) in steps {
            let (source, target) = (format!("d{source}"), format!("d{target}"));
            if source == target {
                graph.remove(&source);
                model.retain(|edge| edge.0 != source && edge.1 != source);
                continue;
            }
            let edge = edge(&source, &target, kinds[kind]);
            let key = (source, target, kinds[kind]);
            prop_assert_eq!(graph.link(edge).unwrap(), !model.contains(&key));
            if !model.contains(&key) {
                model.push(key);
            }
        }
        let edges: Vec<(String, String, EdgeType)> =
            graph.edges().map(|edge| (edge.source.clone(), edge.target.clone(), edge.kind)).collect();
        prop_assert_eq!(&edges, &model);
        prop_assert_eq!(graph.len(), model.len());
        for (source, target, _) in &model {
            let ends = [source, target].map(|id| graph.degrees(id));
            prop_assert!(ends[0].1 > 0 && ends[1].0 > 0);
        }
    }
}

fn edge(source: &str, target: &str, kind: EdgeType) -> DecisionEdge {
    DecisionEdge {
        source: source.to_owned(),
        target: target.to_owned(),
        kind,
        weight: 1.0,
        created_at: String::new(),
        created_by: String::new(),
        context: None,
    }
}

type Tool =
    fn(&mut DecisionStore, &CallerContext<'_>, &serde_json::Map<String, Value>) -> contextweaver_base::Result<Value>;

fn tool(run: Tool, store: &mut DecisionStore, arguments: &Value) -> contextweaver_base::Result<Value> {
    tool_with(run, store, arguments, &HostAnswers::default())
}

fn tool_with(
    run: Tool,
    store: &mut DecisionStore,
    arguments: &Value,
    answers: &HostAnswers,
) -> contextweaver_base::Result<Value> {
    let now = timestamps::parse("2026-03-15T12:00:00Z").unwrap();
    run(store, &CallerContext { agent: "one", trace: None, now, answers }, arguments.as_object().unwrap())
}

fn decision(id: &str, text: &str) -> Decision {
    Decision {
        id: id.to_owned(),
        summary: text.to_owned(),
        decision: text.to_owned(),
        category: "architecture".to_owned(),
        status: "pending".to_owned(),
        date: "2026-03-01T00:00:00+00:00".to_owned(),
        created_at: "2026-03-01T00:00:00+00:00".to_owned(),
        ..Decision::default()
    }
}

#[test]
fn small_and_empty_stores_answer() {
    let mut empty = store_of(&[], SearchOptions::default());
    for mode in MODES {
        assert!(find(&mut empty, "x", mode, &DecisionFilters::default()).hits.is_empty());
        let mut one = store_of(&[decision("a", "Use Redis")], SearchOptions::default());
        assert_eq!(ids(&find(&mut one, "redis", mode, &DecisionFilters::default())), ["a"]);
        assert!(find(&mut one, "?!", mode, &DecisionFilters::default()).hits.is_empty());
    }
}

#[test]
fn equal_hits_come_by_id() {
    let list: Vec<Decision> = ["c", "a", "b"].iter().map(|id| decision(id, "Use Redis")).collect();
    let mut store = store_of(&list, SearchOptions::default());
    for mode in MODES {
        assert_eq!(ids(&find(&mut store, "redis", mode, &DecisionFilters::default())), ["a", "b", "c"]);
    }
}

#[test]
fn superseded_decisions_are_ranked_down_and_say_so() {
    let list = [
        decision("old", "Use Redis for sessions"),
        decision("new", "Use Redis Cluster for sessions"),
        decision("other", "Rotate keys"),
    ];
    let mut store = store_of(&list, SearchOptions::default());
    let link = json!({ "source_id": "new", "target_id": "old", "edge_type": "supersedes" });
    assert_eq!(
        find(&mut store, "redis sessions", RetrievalMode::Hybrid, &DecisionFilters::default()).hits[0].id,
        "old"
    );
    tool(link_decisions, &mut store, &link).unwrap();
    for mode in MODES {
        let found = find(&mut store, "redis for sessions", mode, &DecisionFilters::default());
        assert_eq!(ids(&found)[..2], ["new", "old"], "{mode:?}");
        assert_eq!(found.hits[1].superseded_by, ["new"]);
        assert!(found.hits[0].superseded_by.is_empty());
    }
    let shown = tool(query_decisions, &mut store, &json!({ "query": "redis for sessions" })).unwrap();
    assert_eq!(shown["decisions"][1]["superseded"], true);
    assert_eq!(shown["decisions"][1]["supersededBy"], json!(["new"]));
    assert_eq!(shown["decisions"][0].get("superseded"), None);
    assert_eq!(shown["scores"]["new"].as_object().unwrap().len(), 3);
}

#[test]
fn a_date_bound_is_the_whole_day() {
    let mut last = decision("last", "Use Redis");
    last.date = "2026-01-31T23:59:59.999+00:00".to_owned();
    let mut next = decision("next", "Use Redis");
    next.date = "2026-02-01T00:00:00+00:00".to_owned();
    let mut store = store_of(&[last, next], SearchOptions::default());
    let between = |after: Option<&str>, before: Option<&str>| DecisionFilters {
        date_after: after.map(str::to_owned),
        date_before: before.map(str::to_owned),
        ..DecisionFilters::default()
    };
    let cases: &[(Option<&str>, Option<&str>, &[&str])] = &[
        (None, Some("2026-01-31"), &["last"]),
        (Some("2026-02-01"), None, &["next"]),
        (Some("2026-01-31"), Some("2026-02-01"), &["last", "next"]),
        (Some("2026-02-01T01:00:00+01:00"), None, &["next"]),
        (None, Some("2026-01-31T23:59:59Z"), &[]),
    ];
    for (after, before, expected) in cases {
        assert_eq!(&ids(&find(&mut store, "redis", RetrievalMode::Keyword, &between(*after, *before))), expected);
    }
    let bad = json!({ "query": "redis", "filters": { "date_after": "soon" } });
    let error = tool(query_decisions, &mut store, &bad).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("INVALID_INPUT", "/filters/date_after"));
}

#[test]
fn an_agent_can_keep_to_its_own() {
    let mut list = [decision("a", "Use Redis"), decision("b", "Use Redis")];
    list[1].recorded_by = Some("one".to_owned());
    let mut store = store_of(&list, SearchOptions::default());
    let found = |store: &mut DecisionStore, scope: &str| {
        tool(query_decisions, store, &json!({ "query": "redis", "scope": scope })).unwrap()
    };
    assert_eq!(found(&mut store, "all")["total"], 2);
    assert_eq!(found(&mut store, "agent")["decisions"][0]["id"], "b");
    assert_eq!(found(&mut store, "agent")["total"], 1);
}

#[test]
fn each_side_of_a_bridge_is_searched_by_itself() {
    let with = |id: &str, structure: &str, function: &str| {
        let mut made = decision(id, "Decided something");
        made.bridge =
            Some(Bridge { structure: structure.to_owned(), function: function.to_owned(), ..Bridge::default() });
        made
    };
    let list = [with("a", "Token bucket", "Keep services alive"), with("b", "Keep services alive", "Token bucket")];
    let mut store = store_of(&list, SearchOptions::default());
    for (side, first) in [("structure", "a"), ("function", "b")] {
        let arguments = json!({ "query": "token bucket", "bridge_side": side, "retrieval_mode": "semantic" });
        let found = tool(query_decisions, &mut store, &arguments).unwrap();
        assert_eq!(found["decisions"][0]["id"], first);
        assert_eq!(found["decisions"][0]["distance"], 0.0);
    }
    let both = json!({ "query": "token bucket", "bridge_side": "both" });
    assert_eq!(tool(query_decisions, &mut store, &both).unwrap()["total"], 2);
}

/// A host whose vectors are how often the letters a, b and c occur.
fn embed(text: &str) -> Vec<f32> {
    ["a", "b", "c"].iter().map(|letter| text.matches(letter).count() as f32 + 0.1).collect()
}

fn host() -> SearchOptions {
    SearchOptions { embedding_model: Some("letters".to_owned()), ..SearchOptions::default() }
}

#[test]
fn the_host_is_asked_once_for_each_text() {
    let mut store = store_of(&[decision("x", "aaaa"), decision("y", "bbbb")], host());
    let asked = |store: &mut DecisionStore, text: &str, expected: usize, first: &str| {
        let mut answers = HostAnswers::default();
        let filters = DecisionFilters::default();
        let query =
            DecisionQuery { text, limit: 5, mode: RetrievalMode::Semantic, side: BridgeSide::Both, filters: &filters };
        let texts = store.texts_to_embed(&answers, &query);
        assert_eq!(texts.len(), expected, "{texts:?}");
        for text in texts {
            let vector = embed(&text);
            answers.add_vector(text, vector);
        }
        assert!(store.texts_to_embed(&answers, &query).is_empty());
        let found = store.query(&answers, &query).unwrap();
        assert!(found.warnings.is_empty() && found.mode == RetrievalMode::Semantic);
        assert_eq!(found.hits[0].id, first);
    };
    asked(&mut store, "aaa", 3, "x");
    asked(&mut store, "aaa", 0, "x");
    asked(&mut store, "bbb", 1, "y");
    // The same text again, and a new one.
    store.put(decision("y", "bbbb"));
    store.put(decision("z", "cccccccc"));
    asked(&mut store, "ccc", 2, "z");
}

#[test]
fn a_failing_embedder_leaves_the_words() {
    let mut store = store_of(&[decision("x", "use redis")], host());
    let filters = DecisionFilters::default();
    let query = DecisionQuery {
        text: "redis",
        limit: 5,
        mode: RetrievalMode::Hybrid,
        side: BridgeSide::Both,
        filters: &filters,
    };
    let mut answers = HostAnswers::default();
    answers.fail_embedder("no network".to_owned());
    assert!(store.texts_to_embed(&answers, &query).is_empty());
    let found = store.query(&answers, &query).unwrap();
    assert_eq!((ids(&found), found.mode), (vec!["x"], RetrievalMode::Keyword));
    let codes: Vec<&str> = found.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["embedding_failed", "embedding_missing"]);
    // It may work the next time.
    assert_eq!(store.texts_to_embed(&HostAnswers::default(), &query).len(), 2);
}

#[test]
fn vectors_of_another_length_are_said_and_made_anew() {
    let mut store = store_of(&[decision("x", "aaaa")], host());
    let mut run = |text: &str, length: usize| {
        let filters = DecisionFilters::default();
        let query =
            DecisionQuery { text, limit: 5, mode: RetrievalMode::Hybrid, side: BridgeSide::Both, filters: &filters };
        let mut answers = HostAnswers::default();
        for text in store.texts_to_embed(&answers, &query) {
            answers.add_vector(text, vec![1.0; length]);
        }
        let found = store.query(&answers, &query).unwrap();
        (found.mode, found.warnings.first().map(|warning| warning.code))
    };
    assert_eq!(run("aaaa", 3), (RetrievalMode::Hybrid, None));
    assert_eq!(run("aaaa b", 4), (RetrievalMode::Keyword, Some("embedding_mismatch")));
    assert_eq!(run("aaaa b", 4), (RetrievalMode::Hybrid, None));
}

#[test]
fn circles_are_warned_of() {
    let list: Vec<Decision> = ["a", "b", "c"].iter().map(|id| decision(id, id)).collect();
    let mut store = store_of(&list, SearchOptions::default());
    let mut link = |source: &str, target: &str, kind: &str| {
        let arguments = json!({ "source_id": source, "target_id": target, "edge_type": kind });
        tool(link_decisions, &mut store, &arguments)
    };
    assert_eq!(link("a", "b", "depends_on").unwrap().get("warnings"), None);
    assert_eq!(link("b", "c", "depends_on").unwrap().get("warnings"), None);
    assert_eq!(link("c", "a", "supersedes").unwrap().get("warnings"), None);
    assert_eq!(link("c", "a", "depends_on").unwrap()["warnings"][0]["code"], "cycle");
    assert_eq!(link("c", "a", "relates_to").unwrap().get("warnings"), None);
    let error = link("a", "nobody", "relates_to").unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("INVALID_INPUT", "/target_id"));
}

fn reviewed(id: &str, text: &str, outcome: &str) -> Decision {
    Decision { status: "reviewed".to_owned(), outcome: Some(outcome.to_owned()), ..decision(id, text) }
}

/// Five words that nothing else has.
fn pseudo_words(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut word = || -> String {
        let letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + ((state >> 33) % 26) as u8)
        };
        std::iter::repeat_with(letter).take(8).collect()
    };
    (0..5).map(|_| word()).collect::<Vec<String>>().join(" ")
}

#[test]
fn contradictions_are_found_in_stores_of_any_size() {
    let text = "Retry payment calls with exponential backoff and jitter";
    let ruled = |id: &str, enforcement: &str, prevention: &str| {
        let mut made = decision(id, &format!("Limit {id}"));
        made.pattern = Some("Bound  the work".to_owned());
        made.bridge = Some(Bridge {
            structure: id.to_owned(),
            function: "Keep latency low".to_owned(),
            enforcement: vec![enforcement.to_owned()],
            prevention: vec![prevention.to_owned()],
            ..Bridge::default()
        });
        made
    };
    let planted = [
        reviewed("s", text, "success"),
        reviewed("f", text, "failure"),
        ruled("r1", "a queue", ""),
        ruled("r2", "", "A Queue"),
        Decision { pattern: Some("Cache reads".to_owned()), ..reviewed("p1", "Put a cache before search", "success") },
        Decision { pattern: Some("cache READS ".to_owned()), ..reviewed("p2", "Memoise prices in memory", "failure") },
    ];
    for others in [0, 400] {
        let mut list = planted.to_vec();
        for number in 0..others {
            let text = pseudo_words(number);
            list.push(reviewed(&format!("n{number}"), &text, if number % 2 == 0 { "success" } else { "failure" }));
        }
        let mut store = store_of(&list, SearchOptions::default());
        let found = store.contradictions(&HostAnswers::default(), &|_| true);
        let seen: Vec<(&str, &str, &str)> =
            found.iter().map(|found| (found.a.as_str(), found.b.as_str(), found.kind)).collect();
        for expected in
            [("f", "s", "opposite_outcomes"), ("p1", "p2", "opposite_outcomes"), ("r1", "r2", "opposite_rules")]
        {
            assert!(seen.contains(&expected) || others > 0 && seen.len() == 10, "{expected:?} of {seen:?}");
        }
        assert!(found.is_sorted_by(|a, b| a.similarity >= b.similarity));
        assert_eq!(seen[0], ("f", "s", "opposite_outcomes"));
        let link = json!({ "source_id": "s", "target_id": "f", "edge_type": "supersedes" });
        tool(link_decisions, &mut store, &link).unwrap();
        let found = store.contradictions(&HostAnswers::default(), &|decision| decision.pattern.is_none());
        assert!(!found.iter().any(|found| found.a == "f" || found.a == "p1" || found.a == "r1"));
    }
}

#[test]
fn a_hub_is_cut_and_says_so() {
    let list: Vec<Decision> = (0..1500).map(|number| decision(&format!("d{number}"), "x")).collect();
    let mut store = store_of(&list, SearchOptions::default());
    for number in 1..1500 {
        let arguments = json!({ "source_id": format!("d{number}"), "target_id": "d0", "edge_type": "relates_to" });
        tool(link_decisions, &mut store, &arguments).unwrap();
    }
    let graph = tool(get_graph, &mut store, &json!({ "node_id": "d0" })).unwrap();
    assert_eq!((graph["nodes"].as_array().unwrap().len(), &graph["truncated"]), (1000, &json!(true)));
    assert_eq!(graph["edges"].as_array().unwrap().len(), 999);
}
