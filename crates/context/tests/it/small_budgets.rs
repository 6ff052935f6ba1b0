//! What a small prompt is spent on: a query's words in any form, steps of a running turn, the newest items.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::ErrorCode;
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
use contextweaver_model::{ContextItem, ItemKind, Phase};
use serde_json::json;

use crate::support::build;

fn item(id: &str, kind: ItemKind, text: &str) -> ContextItem {
    ContextItem::new(id, kind, text)
}

/// Builds for the answer phase and returns the ids of what is in the prompt.
fn shown(items: Vec<ContextItem>, query: &str, budget: u64) -> Vec<String> {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(items).unwrap();
    let request = BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, query) };
    let pack = build(&mut manager, &request).unwrap();
    pack.items.unwrap().into_iter().map(|item| item.id).collect()
}

fn has(shown: &[String], id: &str) -> bool {
    shown.iter().any(|other| other == id)
}

/// A talk of turns about other things, with one of them replaced.
fn talk(turns: usize, at: usize, text: &str) -> Vec<ContextItem> {
    let about = ["weather", "garden", "kitchen", "car", "train", "music", "dinner"];
    let turn = |n: usize| {
        let kind = if n.is_multiple_of(2) { ItemKind::UserTurn } else { ItemKind::AgentMsg };
        let said = format!("We spoke about the {} number {n}, and that was all of it.", about[n % about.len()]);
        item(&format!("t{n}"), kind, if n == at { text } else { &said })
    };
    (0..turns).map(turn).collect()
}

/// A task and steps of a thought, a call and a result each; `found` is the result of one of them.
fn steps(count: usize, at: usize, found: &str) -> Vec<ContextItem> {
    let mut items =
        vec![item("task", ItemKind::UserTurn, "Find out why the parser of the settings file fails and mend it.")];
    for n in 0..count {
        let thought = format!(
            "Step {n}: I think that the parser of the settings file fails somewhere, so I look at the parser. "
        );
        items.push(item(&format!("m{n}"), ItemKind::AgentMsg, &thought.repeat(3)));
        items.push(item(&format!("c{n}"), ItemKind::ToolCall, &format!("ls part{n}")));
        let text = if n == at { found.to_owned() } else { format!("part{n} has nothing of interest") };
        items.push(ContextItem {
            parent_id: Some(format!("c{n}")),
            ..item(&format!("r{n}"), ItemKind::ToolResult, &text)
        });
    }
    items
}

#[test]
fn another_form_of_a_word_is_found() {
    let items = talk(60, 8, "In June they camped beside the lake with both children.");
    assert!(has(&shown(items.clone(), "when did they go camping?", 120), "t8"));
    assert!(!has(&shown(items, "when did they go sailing?", 120), "t8"));
}

#[test]
fn the_word_itself_counts_more_than_another_form() {
    let mut items = talk(60, 8, "The lake where somebody walks a dog was frozen.");
    items[30] = item("t30", ItemKind::UserTurn, "The lake where somebody walked a dog was frozen.");
    // The prompt has room for one of them beside the last turn.
    let found = shown(items, "walked", 60);
    assert!(has(&found, "t30") && !has(&found, "t8"), "{found:?}");
}

#[test]
fn small_results_of_a_running_turn_go_before_old_thoughts() {
    let items = steps(40, 20, "settings/parser_old.ini: unexpected end of line 4711");
    let found =
        shown(items, "The parser of the settings file fails at an unexpected end of line, so I mend that line.", 400);
    assert!(has(&found, "r20") && has(&found, "c20"), "{found:?}");
    let thoughts = found.iter().filter(|id| id.starts_with('m')).count();
    assert!(thoughts <= 1, "{found:?}");
}

#[test]
fn the_newest_steps_of_a_running_turn_go_before_older_ones_like_them() {
    let found = shown(steps(40, 40, ""), "look at the next part", 400);
    let results: Vec<usize> = found.iter().filter_map(|id| id.strip_prefix('r')?.parse().ok()).collect();
    assert!(results.len() >= 5 && results.iter().all(|n| *n >= 40 - 2 * results.len()), "{found:?}");
}

#[test]
fn the_last_items_do_not_match_themselves() {
    // The last items have identifiers that nothing else has; a query of one word is about something old.
    let mut items = talk(80, 10, "The deposit for the flat was transferred to the landlord.");
    for n in 75..80 {
        items.push(item(
            &format!("x{n}"),
            ItemKind::AgentMsg,
            &format!("Order {n}0471 of lot_{n} is packed in box_{n}."),
        ));
    }
    let found = shown(items, "and the deposit?", 120);
    assert!(has(&found, "t10"), "{found:?}");
}

#[test]
fn a_query_that_says_nothing_gets_the_newest_items() {
    let found = shown(talk(80, 0, "hello"), "", 300);
    let last = found.len();
    let newest: Vec<String> = (80 - 3..80).map(|n| format!("t{n}")).collect();
    assert!(last >= 4 && found[last - 3..] == newest, "{found:?}");
}

/// A call with its result.
fn call(id: &str, name: &str, text: &str) -> [ContextItem; 2] {
    let result = item(&format!("r{id}"), ItemKind::ToolResult, text);
    [
        item(&format!("c{id}"), ItemKind::ToolCall, &format!("{name} {id}")),
        ContextItem { parent_id: Some(format!("c{id}")), ..result },
    ]
}

/// A file of such lines, indented or not.
fn file(lines: std::ops::Range<usize>, indent: &str) -> String {
    let lines = lines.map(|n| format!("{indent}retry policy {n} waits {n}7 seconds and gives up"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A talk, a file that was read twice, the second time without what indents it, and a result that speaks to the query in one line.
fn read_twice() -> Vec<ContextItem> {
    let mut items = talk(60, 0, "hello");
    items.extend(call("1", "read", &file(0..8, "    ")));
    items.extend(call("2", "read", &file(0..8, "")));
    items.extend(call("3", "grep", "the retry policy is set in gateway.toml, line 40"));
    items.push(item("last", ItemKind::UserTurn, "What is the retry policy?"));
    items
}

#[test]
fn what_others_show_already_does_not_take_a_second_place() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(read_twice()).unwrap();
    let request = |budget| BuildRequest {
        budget_tokens: Some(budget),
        explain: true,
        ..BuildRequest::new(Phase::Answer, "retry policy seconds")
    };
    let pack = build(&mut manager, &request(330)).unwrap();
    let found: Vec<String> = pack.items.unwrap().into_iter().map(|item| item.id).collect();
    assert!(has(&found, "r2") && has(&found, "r3") && !has(&found, "r1"), "{found:?}");
    let drop = pack.stats.dropped_items.iter().find(|drop| drop.item_id == "r1").unwrap();
    assert_eq!(drop.reason, "near_repeat");
    // It is left out for room alone.
    let pack = build(&mut manager, &request(4000)).unwrap();
    assert!(pack.items.unwrap().iter().any(|item| item.id == "r1"));
}

#[test]
fn a_line_that_differs_is_no_repeat() {
    let mut items = talk(10, 0, "hello");
    items.extend(call("1", "read", &file(0..8, "")));
    items.extend(call("2", "read", &format!("{}\nretry policy 7 waits 0 seconds", file(2..7, ""))));
    let found = shown(items, "retry policy seconds", 400);
    assert!(has(&found, "r1") && has(&found, "r2"), "{found:?}");
}

#[test]
fn calls_that_end_alike_are_two_events() {
    let mut items = talk(40, 0, "hello");
    for id in ["1", "2"] {
        items.extend(call(id, "refund", "{\n  \"status\": \"refunded\"\n}"));
    }
    let found = shown(items, "was it refunded?", 160);
    assert!(has(&found, "r1") && has(&found, "r2"), "{found:?}");
}

/// How far a long message is ranked above a short one that says the same.
fn lead_of_the_long(budget: u64) -> f64 {
    let mut items = talk(900, 9, &"The marathon is planned for week 12, in June. ".repeat(30));
    items[8] = item("t8", ItemKind::UserTurn, "The marathon is planned for week 12, in June.");
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(items).unwrap();
    let request = BuildRequest {
        budget_tokens: Some(budget),
        explain: true,
        ..BuildRequest::new(Phase::Answer, "for when is the marathon planned?")
    };
    let pack = build(&mut manager, &request).unwrap();
    let candidates = pack.explanation.unwrap().candidates;
    let priority = |id: &str| {
        let found = candidates.iter().find(|candidate| candidate.item_id == id).unwrap();
        found.detail.as_ref().unwrap().priority.unwrap()
    };
    priority("t9") / priority("t8")
}

#[test]
fn the_more_room_the_less_a_long_message_leads() {
    let leads = [1000, 2000, 4000, 8000].map(lead_of_the_long);
    assert!(leads[1] > 0.95 * leads[0], "below a bound only the score counts: {leads:?}");
    assert!(leads[2] < 0.9 * leads[1] && leads[3] < 0.8 * leads[2], "{leads:?}");
}

#[test]
fn a_repeat_without_room_is_an_overflow() {
    let raising = json!({ "policy": { "overflow_action": "raise", "overflow_raise_kinds": ["tool_result"] } });
    let mut manager = ContextManager::new(ManagerOptions::from_value(raising).unwrap());
    manager.ingest_all(read_twice()).unwrap();
    let request = BuildRequest { budget_tokens: Some(330), ..BuildRequest::new(Phase::Answer, "retry policy seconds") };
    let error = build(&mut manager, &request).unwrap_err();
    assert_eq!((error.code(), &error.details()["dropped_kinds"]), (ErrorCode::BudgetExceeded, &json!(["tool_result"])));
    assert_eq!(error.details()["stats"]["dropped_reasons"]["near_repeat"], 2);
}
