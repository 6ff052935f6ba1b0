//! What a budget can hold, it holds: a result that is one line longer never shows much less.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, ToolResult};
use contextweaver_model::{ContextItem, ItemKind, Phase};
use contextweaver_test_support::is_long;
use serde_json::{Value, json};

/// How a result comes in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Item,
    ToolResult,
}

fn json_rows(count: usize) -> String {
    let row = |n: usize| json!({ "id": 12_000 + n, "customer": format!("C-{}", n % 90), "note": format!("order {n} was packed by team {}", n * 31 % 7) });
    Value::Array((0..count).map(row).collect()).to_string()
}

fn log_lines(count: usize) -> String {
    let line = |n: usize| format!("12:{:02}:{:02} INFO request {n} served in {} ms", n / 60 % 60, n % 60, n * 7 % 90);
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

fn prose(count: usize) -> String {
    let sentence = |n: usize| format!("Sentence {n} of this report speaks of matter {} at some length.", n * 31 % 977);
    (0..count).map(sentence).collect::<Vec<_>>().join(" ")
}

/// Returns the tokens of the section of a result in a prompt of so many tokens.
fn shown(text: &str, way: Way, budget: u64, turns: usize) -> u64 {
    let mut manager = ContextManager::new(ManagerOptions::default());
    for turn in 0..turns {
        let said = format!("Turn {turn}: please keep in mind that depot {turn} opens at {} o'clock.", turn % 12);
        manager.ingest(ContextItem::new(format!("h{turn}"), ItemKind::UserTurn, said)).unwrap();
    }
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "Go on.")).unwrap();
    manager.ingest(ContextItem::new("c", ItemKind::ToolCall, "list()")).unwrap();
    if way == Way::Item {
        let mut item = ContextItem::new("result:c", ItemKind::ToolResult, text);
        item.parent_id = Some("c".to_owned());
        manager.ingest(item).unwrap();
    } else {
        manager.ingest_tool_result(&ToolResult::new("c", "list"), text.as_bytes()).unwrap().done().unwrap();
    }
    let request = BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, "") };
    let pack = manager.build(&request).unwrap().done().unwrap().pack;
    assert!(pack.stats.prompt_tokens() <= budget);
    pack.items.unwrap().iter().find(|item| item.id == "result:c").map_or(0, |item| item.tokens)
}

#[test]
fn one_row_more_never_shows_much_less() {
    type Text = fn(usize) -> String;
    for (name, text) in [("json", json_rows as Text), ("log", log_lines), ("prose", prose)] {
        for way in [Way::Item, Way::ToolResult] {
            for (budget, turns) in [(1000, 0), (4000, 0), (4000, 300)] {
                let at = |count| shown(&text(count), way, budget, turns);
                let (steps, factor) = if is_long() { (24, 3) } else { (8, 27) };
                for step in 0..steps {
                    let count = 1 + factor * step * step;
                    let (now, one_more) = (at(count), at(count + 1));
                    let about =
                        format!("{name} {way:?}, {budget} tokens, {turns} turns, {count} rows: {now}, {one_more}");
                    // Where nothing else wants the room, no step is seen but that of saying the same in fewer tokens.
                    assert!(5 * one_more + 250 >= if turns == 0 { 4 * now } else { 2 * now }, "{about}");
                }
            }
        }
    }
}
