//! Queries that go on with what was said before, and those that must stay as they are.

use std::cell::RefCell;
use std::path::Path;

use contextweaver_base::order::WordSet;
use contextweaver_model::{ContextItem, ItemKind, Sensitivity};
use contextweaver_routing::router::{CompletionReason, MAX_TURNS, RouteFilters, RouteHistory, TURN_CHARS};
use contextweaver_routing::{Catalog, Conversation, RouteOptions, RouteResult, RouteTurn, Router, RouterOptions};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

fn set(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/quality/routing").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn queries(name: &str) -> Vec<Value> {
    set(name)["queries"].as_array_mut().unwrap().drain(..).collect()
}

fn own_router() -> Router {
    let items = set("mcp-servers.json")["items"].take();
    Router::new(Catalog::from_value(json!({ "items": items }), "").unwrap(), RouterOptions::default())
}

/// The log of a case: kinds and texts, a result answering the call before it.
fn log(case: &Value) -> Vec<ContextItem> {
    let mut items: Vec<ContextItem> = Vec::new();
    for (at, entry) in case["log"].as_array().unwrap().iter().enumerate() {
        let (kind, text) = (entry[0].as_str().unwrap(), entry[1].as_str().unwrap());
        let mut item = ContextItem::new(format!("i{at}"), ItemKind::ToolResult, text);
        match kind {
            "tool_result" | "tool_result_failed" => {
                item.parent_id = Some(format!("i{}", at - 1));
                item.metadata.insert("is_error".into(), (kind == "tool_result_failed").into());
            }
            other => item.kind = ItemKind::parse(other).unwrap(),
        }
        items.push(item);
    }
    items
}

fn route(router: &mut Router, query: &str, conversation: Vec<RouteTurn>, top_k: u64) -> RouteResult {
    let conversation = Conversation::new(conversation);
    router.route(query, &RouteOptions { top_k: Some(top_k), conversation, ..RouteOptions::default() }).unwrap()
}

/// Cases of each kind of `follow-ups.json` that are served at least: one fewer than was measured. Nothing is given for those
/// that ask for nothing.
const MIN_SERVED: &[(&str, usize)] = &[("question", 17), ("call", 5), ("fragment", 11), ("own", 8), ("nothing", 18)];

#[test]
fn our_own_follow_ups() {
    let mut router = own_router();
    let mut counts: Vec<(String, [usize; 4])> = Vec::new();
    for case in queries("follow-ups.json") {
        let query = case["query"].as_str().unwrap();
        let kind = case["kind"].as_str().unwrap();
        let expected: Vec<&str> = case["expected"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let mut items = log(&case);
        items.push(ContextItem::new("now", ItemKind::UserTurn, query));
        let turns = from_log(&items, query);
        let with = route(&mut router, query, turns, 5);
        let without = route(&mut router, query, Vec::new(), 5);
        let is_right = |ids: &[String]| match expected.as_slice() {
            [] => ids.is_empty(),
            some => ids.iter().any(|id| some.contains(&id.as_str())),
        };
        let is_first = with.candidate_ids.first().is_some_and(|id| expected.contains(&id.as_str()));
        let row = [true, is_right(&without.candidate_ids), is_right(&with.candidate_ids), is_first].map(usize::from);
        if row[2] == 0 {
            println!("{kind}: {query}: {:?} {:?}", with.candidate_ids, with.completion);
        }
        if matches!(kind, "own" | "nothing") {
            assert_eq!(with, without, "{query}");
        }
        match counts.iter_mut().find(|(known, _)| known == kind) {
            Some((_, sums)) => sums.iter_mut().zip(row).for_each(|(sum, one)| *sum += one),
            None => counts.push((kind.to_owned(), row)),
        }
    }
    println!("cases, right without the conversation, right with it, first: {counts:?}");
    for (kind, least) in MIN_SERVED {
        let (_, [_, _, served, _]) = counts.iter().find(|(known, _)| known == kind).unwrap();
        assert!(served >= least, "{kind}: {served}");
    }
}

fn turn(kind: ItemKind, text: &str, tool: Option<&str>, is_open: bool) -> RouteTurn {
    RouteTurn { id: None, kind, text: text.to_owned(), tool: tool.map(str::to_owned), is_open }
}

/// Turns over the tools of the set: what users asked, what agents say, and calls.
fn turns() -> impl Strategy<Value = Vec<RouteTurn>> {
    let asked = ["Which files are in src?", "Push my commits.", "How many orders are there?", "hi", ""];
    let said = ["Done. Shall I commit it?", "Here it is.", "Do you want me to run git_push?", "Anything else?", ""];
    let tools = ["git_push", "count", "browser_click", "no_such_tool"];
    let one = prop_oneof![
        prop::sample::select(asked.to_vec()).prop_map(|text| turn(ItemKind::UserTurn, text, None, false)),
        prop::sample::select(said.to_vec()).prop_map(|text| turn(ItemKind::AgentMsg, text, None, false)),
        (prop::sample::select(tools.to_vec()), any::<bool>()).prop_map(|(tool, is_open)| turn(
            ItemKind::ToolCall,
            "",
            Some(tool),
            is_open
        )),
    ];
    prop::collection::vec(one, 0..12)
}

/// Queries that stand on their own: all that find a tool in our labelled sets, and all that ask for another trade.
fn standing(router: &mut Router) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["mcp-servers.json", "several-wishes.json", "unanswerable.json", "held-out.json"] {
        for case in queries(name).iter().filter(|case| case["kind"] != "talk") {
            let query = case["query"].as_str().unwrap();
            let is_asked_for = case["expected"].as_array().is_none_or(|ids| !ids.is_empty());
            if !is_asked_for || !route(router, query, Vec::new(), 5).candidate_ids.is_empty() {
                found.push(query.to_owned());
            }
        }
    }
    found
}

#[test]
fn what_stands_on_its_own_stays_as_it_is() {
    let mut router = own_router();
    let queries = standing(&mut router);
    assert!(queries.len() > 300, "{}", queries.len());
    let shared = RefCell::new(router.clone());
    proptest!(property(500), |(conversation in turns(), at in 0..queries.len())| {
        let (query, mut router) = (&queries[at], shared.borrow_mut());
        let with = route(&mut router, query, conversation, 5);
        prop_assert_eq!(&with.completion, &None, "{}", query);
        prop_assert_eq!(with, route(&mut router, query, Vec::new(), 5));
    });
    // Each of them once, after turns that offer all there is to go on with.
    let offer = [
        turn(ItemKind::UserTurn, "Which files are in src?", None, false),
        turn(ItemKind::ToolCall, "", Some("list_directory"), false),
        turn(ItemKind::AgentMsg, "Only a.rs. Shall I commit it?", None, false),
        turn(ItemKind::ToolCall, "", Some("git_commit"), true),
    ];
    for query in queries {
        let with = route(&mut router, &query, offer.to_vec(), 5);
        assert_eq!(with, route(&mut router, &query, Vec::new(), 5), "{query}");
    }
}

#[test]
fn a_completion_says_so_and_keeps_the_filters() {
    let shared = RefCell::new(own_router());
    let answers =
        ["yes", "yes, do it", "go ahead", "and 42?", "again", "no, thanks", "thanks", "Berlin?", "ok, to Ada", "?", ""];
    proptest!(property(500), |(conversation in turns(), query in prop::sample::select(answers.to_vec()), excludes in any::<bool>())| {
        let mut router = shared.borrow_mut();
        let exclude_ids = WordSet::new(if excludes { vec!["git.git_push".to_owned()] } else { Vec::new() });
        let filters = RouteFilters { exclude_ids, ..RouteFilters::default() };
        let plain_options = RouteOptions { filters, ..RouteOptions::default() };
        let plain = router.route(query, &plain_options).unwrap();
        let options = RouteOptions { conversation: Conversation::new(conversation.clone()), ..plain_options };
        let found = router.route(query, &options).unwrap();
        prop_assert_eq!(&found, &router.route(query, &options).unwrap());
        prop_assert!(!excludes || !found.candidate_ids.iter().any(|id| id == "git.git_push"));
        let Some(completion) = &found.completion else {
            prop_assert_eq!(found, plain);
            return Ok(());
        };
        prop_assert!(!conversation.is_empty() && query != "no, thanks" && query != "thanks" && !query.trim_matches('?').is_empty());
        prop_assert!(found.candidate_ids.starts_with(&completion.tool_ids), "{:?}", found);
        prop_assert!(!found.candidate_ids.is_empty() && found.no_match == Some(false));
        prop_assert_eq!(found.trace.query, query);
    });
}

/// A router over few tools, and a turn that ended with a question.
fn small() -> (Router, Vec<ContextItem>) {
    let tool = |id: &str, name: &str, description: &str| json!({ "id": id, "kind": "tool", "name": name, "description": description });
    let catalog = json!({ "items": [
        tool("w.get", "get_weather", "Tells the weather of a city"),
        tool("m.send", "send_mail", "Sends a mail to a person"),
        tool("f.delete", "delete_file", "Deletes a file"),
    ] });
    let router = Router::new(Catalog::from_value(catalog, "").unwrap(), RouterOptions::default());
    let mut call = ContextItem::new("c1", ItemKind::ToolCall, "get_weather({\"city\": \"Paris\"})");
    call.parent_id = Some("u1".to_owned());
    let mut result = ContextItem::new("r1", ItemKind::ToolResult, "sunny");
    result.parent_id = Some("c1".to_owned());
    let items = vec![
        ContextItem::new("u1", ItemKind::UserTurn, "What is the weather in Paris?"),
        call,
        result,
        ContextItem::new("a1", ItemKind::AgentMsg, "It is sunny. Shall I send the mail to Ada?"),
    ];
    (router, items)
}

fn from_log(items: &[ContextItem], query: &str) -> Vec<RouteTurn> {
    RouteTurn::from_log(items, query, &|item| item.sensitivity >= Sensitivity::Confidential)
}

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn it_says_from_where_and_why() {
    let (mut router, items) = small();
    for (query, ids, reason, from, tools, text) in [
        ("yes, do it", "m.send", CompletionReason::Agreement, &["a1"][..], &[][..], "Shall I send the mail to Ada?"),
        (
            "and for Berlin?",
            "w.get",
            CompletionReason::FollowUp,
            &["u1", "c1"],
            &["w.get"],
            "What is the weather in Paris?\nand for Berlin?",
        ),
        (
            "Berlin?",
            "w.get",
            CompletionReason::FollowUp,
            &["u1", "c1"],
            &["w.get"],
            "What is the weather in Paris?\nBerlin?",
        ),
    ] {
        let found = route(&mut router, query, from_log(&items, query), 5);
        assert_eq!(found.candidate_ids[0], ids, "{query}");
        let completion = found.completion.unwrap();
        assert_eq!((completion.reason, completion.query.as_str()), (reason, text), "{query}");
        assert_eq!((completion.item_ids, completion.tool_ids), (owned(from), owned(tools)), "{query}");
    }
}

#[test]
fn a_refused_call_is_what_was_proposed() {
    let (mut router, mut items) = small();
    items.truncate(1);
    let mut call = ContextItem::new("c2", ItemKind::ToolCall, "delete_file {\"path\": \"a\"}");
    call.parent_id = Some("u1".to_owned());
    items.push(call);
    for has_failed in [false, true] {
        if has_failed {
            let mut result = ContextItem::new("r2", ItemKind::ToolResult, "needs approval");
            result.parent_id = Some("c2".to_owned());
            result.metadata.insert("is_error".into(), true.into());
            items.push(result);
        }
        let found = route(&mut router, "yes", from_log(&items, "yes"), 5);
        assert_eq!(found.completion.unwrap().tool_ids, ["f.delete"]);
        assert_eq!(found.candidate_ids[0], "f.delete");
    }
    let last = items.last_mut().unwrap();
    last.metadata.clear();
    let found = route(&mut router, "yes", from_log(&items, "yes"), 5);
    assert_eq!((found.completion, found.no_match), (None, Some(true)), "it was done");
}

#[test]
fn a_tool_that_was_called_before_is_not_held_back() {
    let (mut router, items) = small();
    let options = RouteOptions {
        conversation: Conversation::new(from_log(&items, "and for Berlin?")),
        history: RouteHistory::from_log(&items),
        ..RouteOptions::default()
    };
    assert_eq!(router.route("and for Berlin?", &options).unwrap().candidate_ids[0], "w.get");
}

#[test]
fn what_is_withheld_completes_nothing_and_secrets_are_masked() {
    let (mut router, mut items) = small();
    let key =
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl-AAAAAA";
    items[3].text = format!("Shall I send the mail with {key}?");
    let found = route(&mut router, "yes", from_log(&items, "yes"), 5);
    assert_eq!(found.candidate_ids[0], "m.send");
    assert!(!serde_json::to_string(&found).unwrap().contains(key));
    items[3].sensitivity = Sensitivity::Confidential;
    let found = route(&mut router, "yes", from_log(&items, "yes"), 5);
    assert_eq!((found.completion, found.no_match), (None, Some(true)));
    items[3].sensitivity = Sensitivity::Public;
    items[3].metadata.insert("superseded".into(), true.into());
    assert_eq!(from_log(&items, "yes").len(), 2, "an edited turn was never said");
}

#[test]
fn a_long_log_is_bounded() {
    let (_, items) = small();
    let long: Vec<ContextItem> = (0..500)
        .flat_map(|round| {
            items.iter().cloned().map(move |mut item| {
                item.id = format!("{round}-{}", item.id);
                item.text = item.text.repeat(100);
                item
            })
        })
        .collect();
    let turns = from_log(&long, "yes");
    assert_eq!(turns.len(), MAX_TURNS);
    assert!(turns.iter().all(|turn| turn.text.chars().count() <= TURN_CHARS));
    assert!(turns.last().unwrap().text.ends_with("Shall I send the mail to Ada?"), "of an agent the end counts");
    // The turn that asks, and what is done for it, are no part of what was before.
    let mut asked = items.clone();
    asked.push(ContextItem::new("u2", ItemKind::UserTurn, " yes "));
    asked.push(ContextItem::new("c9", ItemKind::ToolCall, "send_mail({})"));
    assert_eq!(from_log(&asked, "yes"), from_log(&items, "yes"));
}

#[test]
fn a_second_yes_is_about_something_else() {
    let (mut router, mut items) = small();
    items.push(ContextItem::new("u2", ItemKind::UserTurn, "yes"));
    items.push(ContextItem::new("a2", ItemKind::AgentMsg, "It is sent. Shall I delete the file?"));
    items.push(ContextItem::new("u3", ItemKind::UserTurn, "yes"));
    let found = route(&mut router, "yes", from_log(&items, "yes"), 5);
    assert_eq!(found.candidate_ids[0], "f.delete");
    assert_eq!(found.completion.unwrap().item_ids, ["a2"]);
    // As it is when the caller hands all over, with the turn that asks.
    let turns = ["u2", "a2", "u3"].map(|id| {
        let item = items.iter().find(|item| item.id == id).unwrap();
        RouteTurn { id: Some(item.id.clone()), kind: item.kind, text: item.text.clone(), tool: None, is_open: false }
    });
    assert_eq!(route(&mut router, "yes", turns.to_vec(), 5).completion.unwrap().item_ids, ["a2"]);
}
