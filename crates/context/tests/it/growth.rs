//! Work grows near-linearly with the log: counted in operations, because a clock proves nothing.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use crate::support;

use contextweaver_content::extract::facts;
use contextweaver_context::{
    BuildRequest, ContextManager, Conversation, ManagerOptions, McpResult, RecallRequest, ToolResult,
};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_convert::providers::Format;
use contextweaver_model::{ContextItem, ItemKind, Phase};
use serde_json::json;

/// User, agent, call and result in turn, 40 random words each from a vocabulary of 2,000.
fn synthetic(count: usize) -> Vec<ContextItem> {
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let kinds = [ItemKind::UserTurn, ItemKind::AgentMsg, ItemKind::ToolCall, ItemKind::ToolResult];
    (0..count)
        .map(|n| {
            let words: Vec<String> = (0..40).map(|_| format!("w{}", random(2000))).collect();
            let mut item = ContextItem::new(format!("i{n}"), kinds[n % 4], words.join(" "));
            item.parent_id = (n % 4 == 3).then(|| format!("i{}", n - 1));
            item
        })
        .collect()
}

fn work(count: usize, query: &str) -> u64 {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(synthetic(count)).unwrap();
    support::build(&mut manager, &BuildRequest::new(Phase::Answer, query)).unwrap();
    manager.last_work()
}

#[test]
fn a_build_touches_near_linearly_many_things() {
    let query = "w1 w22 w333 w444";
    let counts: Vec<(usize, u64)> = [1_000, 10_000, 100_000].map(|count| (count, work(count, query))).to_vec();
    for pair in counts.windows(2) {
        let (small, large) = (pair[0], pair[1]);
        let growth = large.1 as f64 / small.1 as f64;
        assert!(growth < 13.0, "{small:?} -> {large:?}");
    }
    for (count, work) in counts {
        println!("{count} items: {work} operations, {:.1} an item", work as f64 / count as f64);
        assert!(work < 60 * count as u64, "{count} items took {work} operations");
    }
}

#[test]
fn long_chains_and_wide_families_are_no_trap() {
    let mut chain = vec![ContextItem::new("i0", ItemKind::UserTurn, "start")];
    for n in 1..50_000 {
        let mut item = ContextItem::new(format!("i{n}"), ItemKind::AgentMsg, format!("step {n}"));
        item.parent_id = Some(format!("i{}", n - 1));
        chain.push(item);
    }
    let mut request = BuildRequest::new(Phase::Answer, "step 7");
    request.pin = vec!["i0".into()];
    // Everything follows the only user turn, so everything is the active turn; kept whole it is too much, and said quickly.
    let kept = ManagerOptions { trim_active_turn: false, ..ManagerOptions::default() };
    for (options, fits) in [(kept, false), (ManagerOptions::default(), true)] {
        let mut manager = ContextManager::new(options);
        manager.ingest_all(chain.clone()).unwrap();
        assert_eq!(support::build(&mut manager, &request).is_ok(), fits);
    }

    let mut family = vec![ContextItem::new("call", ItemKind::ToolCall, "f()")];
    for n in 0..50_000 {
        let mut item = ContextItem::new(format!("r{n}"), ItemKind::ToolResult, format!("row {n}"));
        item.parent_id = Some("call".into());
        family.push(item);
    }
    family.push(ContextItem::new("u", ItemKind::UserTurn, "and now?"));
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(family).unwrap();
    assert!(support::build(&mut manager, &BuildRequest::new(Phase::Answer, "row 7")).is_ok());
}

#[test]
fn a_result_of_many_distinct_keys_is_no_trap() {
    // Searching all keys for each line takes minutes here.
    let keys = 250_000;
    let mut lines: Vec<String> = (0..keys).map(|n| format!("k{n}=0")).collect();
    lines.push("k0=last".into());
    let text = lines.join("\n");
    let found = facts(&text);
    assert_eq!(found.len(), keys);
    // A repeated key keeps its first place and takes its last value.
    assert_eq!((found[0].as_str(), found[keys - 1].as_str()), ("k0: last", "k249999: 0"));
    // What of it stands beside a digest shares the digest's room.
    let mut manager = ContextManager::new(ManagerOptions::default());
    let ingested = support::ingest_result(&mut manager, "call", &text).unwrap();
    assert!(ingested.envelope.facts.len() < 200);
}

#[test]
fn a_conversation_of_which_all_results_are_cleared_is_read_in_stretches() {
    let messages = |count: usize, result: &str| {
        let call = |n: usize| {
            let function = json!({ "name": "f", "arguments": "{}" });
            let call = json!({ "id": format!("c{n}"), "type": "function", "function": function });
            let answer = json!({ "role": "tool", "tool_call_id": format!("c{n}"), "content": result });
            [json!({ "role": "assistant", "content": null, "tool_calls": [call] }), answer]
        };
        Conversation::new(Format::OpenAiChat, (0..count).flat_map(call).collect())
    };
    // To copy the calls before each stretch takes minutes here.
    let count = 8_000;
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.sync_messages(messages(count, "rows")).unwrap().done().unwrap();
    let cleared = manager.sync_messages(messages(count, "[cleared]")).unwrap().done().unwrap();
    assert_eq!((cleared.added.len(), cleared.superseded.len(), cleared.unchanged), (count, count, count));
    assert!(cleared.warnings.is_empty(), "each result finds its call");
}

#[test]
fn structured_content_of_many_results_is_searched_in_one_pass() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    // To look for the owner of each in the whole log takes minutes here.
    let count = 12_000;
    for n in 0..count {
        let call = format!("c{n}");
        manager.ingest(ContextItem::new(&call, ItemKind::ToolCall, "{}")).unwrap();
        let result = json!({ "content": [], "structuredContent": { "order": n, "parcel": format!("P-{n}") } });
        let converted = mcp_result_to_envelope(&result, "f", &McpResultOptions::default()).unwrap();
        manager.ingest_mcp_result(McpResult::new(ToolResult::new(&call, "f"), converted)).unwrap().done().unwrap();
    }
    let answer = manager.recall(&RecallRequest::new("P-7")).unwrap().done().unwrap();
    assert!(answer.text.contains("P-7") && answer.unread.is_empty(), "{}", answer.text);
}
