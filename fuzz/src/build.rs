//! Whole builds over logs of any shape.

use std::collections::HashSet;

use contextweaver_base::{ErrorCode, Result};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, ToolResult};
use contextweaver_model::{ContextItem, ContextPack, ItemKind, Phase, Sensitivity};
use serde_json::json;

use crate::bytes::Bytes;

const KINDS: [ItemKind; 6] = [
    ItemKind::UserTurn,
    ItemKind::AgentMsg,
    ItemKind::ToolCall,
    ItemKind::Policy,
    ItemKind::DocSnippet,
    ItemKind::MemoryFact,
];
/// The phases of a prompt.
pub const PHASES: [Phase; 4] = [Phase::Route, Phase::Call, Phase::Interpret, Phase::Answer];
const LEVELS: [Sensitivity; 2] = [Sensitivity::Public, Sensitivity::Restricted];

/// Items of one log.
const MAX_ITEMS: u32 = 40;

/// P1: the prompt keeps to its budget, or the build says by how much it cannot. P2: of a call and its results all or none
/// are in the prompt. P4: every candidate is in the prompt or dropped, once.
pub fn build(data: &[u8]) {
    let mut bytes = Bytes(data);
    let options = ManagerOptions { trim_active_turn: bytes.byte() % 2 == 0, ..ManagerOptions::default() };
    let phase = bytes.one_of(&PHASES);
    let budget = u64::from(bytes.byte()) * 4;
    let mut request = BuildRequest::new(phase, &String::from_utf8_lossy(bytes.short()));
    request.budget_tokens = Some(budget);
    request.explain = true;
    let mut manager = ContextManager::new(options);
    fill(&mut manager, &mut bytes);
    let pack = match built(&mut manager, &request) {
        Ok(pack) => pack,
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::BudgetExceeded, "{error}");
            assert!(error.details()["over_by"].as_u64() > Some(0), "{error}");
            return;
        }
    };
    let tokens = manager.options().estimator.tokens(&pack.prompt);
    assert!(tokens <= budget, "P1: {tokens} of {budget} tokens");
    let shown: HashSet<&str> = pack.items.iter().flatten().map(|item| item.id.as_str()).collect();
    for item in manager.events().items().iter().filter(|item| item.kind == ItemKind::ToolResult) {
        let Some(call) = item.parent_id.as_deref() else { continue };
        assert_eq!(shown.contains(item.id.as_str()), shown.contains(call), "P2: {} without {call}", item.id);
    }
    let stats = &pack.stats;
    assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates, "P4");
    let mut seen = shown;
    assert_eq!(seen.len() as u64, stats.included_count, "P4");
    for dropped in &stats.dropped_items {
        assert!(seen.insert(&dropped.item_id), "P4: {} is counted twice", dropped.item_id);
    }
}

/// Builds with nobody to ask.
pub fn built(manager: &mut ContextManager, request: &BuildRequest) -> Result<ContextPack> {
    match manager.build(request)? {
        Outcome::Done(output) => Ok(output.pack),
        Outcome::Need(needs) => panic!("nobody to ask: {needs:?}"),
    }
}

/// Makes items and results of the bytes; a result answers the call before it.
pub fn fill(manager: &mut ContextManager, bytes: &mut Bytes<'_>) {
    let mut calls = Vec::new();
    for at in 0..MAX_ITEMS {
        if bytes.is_empty() {
            break;
        }
        let choice = bytes.byte();
        let level = LEVELS[usize::from(choice >> 7)];
        let text = String::from_utf8_lossy(bytes.short()).into_owned();
        if choice % 4 == 3
            && let Some(call) = calls.pop()
        {
            // Long enough for a digest now and then.
            let raw = text.repeat(1 + usize::from(choice >> 2) % 32);
            let record = json!({ "tool_call_id": call, "tool_name": "tool", "sensitivity": level });
            let result = ToolResult::from_value(record).unwrap_or_else(|error| panic!("{error}"));
            manager.ingest_tool_result(&result, raw.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
            continue;
        }
        let mut item = ContextItem::new(format!("i{at}"), KINDS[usize::from(choice) % KINDS.len()], text);
        item.sensitivity = level;
        if item.kind == ItemKind::ToolCall {
            calls.push(item.id.clone());
        }
        manager.ingest(item).unwrap_or_else(|error| panic!("{error}"));
    }
}
