//! A store that evicts takes every result that fits into it, whatever else is new, and says what went.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::ErrorCode;
use contextweaver_context::store::Eviction;
use contextweaver_context::{ContextManager, ManagerOptions, McpResult, ToolResult};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::json;

const ROOM: usize = 4_000;

#[derive(Debug, Clone)]
enum Step {
    Turn,
    Result(usize),
    /// Results of one call of `ingest_items`, as of messages that are handed over.
    Batch(Vec<usize>),
    /// A text and pictures of one MCP result.
    Parts(usize, Vec<usize>),
    Pin,
}

fn step() -> impl Strategy<Value = Step> {
    let size = || 0..=ROOM;
    prop_oneof![
        1 => Just(Step::Turn),
        1 => Just(Step::Pin),
        6 => size().prop_map(Step::Result),
        3 => proptest::collection::vec(2_500..=ROOM, 1..6).prop_map(Step::Batch),
        3 => (0..1_000_usize, proptest::collection::vec(1..1_000_usize, 0..4)).prop_map(|(text, parts)| Step::Parts(text, parts)),
    ]
}

fn text(size: usize, seed: usize) -> String {
    format!("{seed} ").chars().chain("word ".chars().cycle()).take(size).collect()
}

/// Does a step; returns the handles of what it stored last, with their bytes.
fn run(manager: &mut ContextManager, step: &Step, n: usize) -> contextweaver_base::Result<Vec<(String, Vec<u8>)>> {
    match step {
        Step::Turn => {
            manager.ingest(ContextItem::new(format!("u{n}"), ItemKind::UserTurn, "go on"))?;
            Ok(Vec::new())
        }
        Step::Pin => {
            let first = manager.artifacts().list().next().map(|stored| stored.handle.clone());
            first.iter().try_for_each(|handle| manager.artifacts_mut().pin(handle))?;
            Ok(Vec::new())
        }
        Step::Result(size) => {
            let raw = text(*size, n);
            manager.ingest_tool_result(&ToolResult::new(&format!("c{n}"), "read"), raw.as_bytes())?.done().unwrap();
            Ok(vec![(format!("artifact:result:c{n}"), raw.into_bytes())])
        }
        Step::Batch(sizes) => {
            let items = sizes.iter().enumerate();
            let items =
                items.map(|(at, size)| ContextItem::new(format!("r{n}-{at}"), ItemKind::ToolResult, text(*size, at)));
            manager.ingest_items(items.collect())?.done().unwrap();
            let at = sizes.len() - 1;
            Ok(vec![(format!("artifact:r{n}-{at}"), text(sizes[at], at).into_bytes())])
        }
        Step::Parts(size, pictures) => {
            let picture = |size: &usize| json!({ "type": "image", "data": base64(*size, n), "mimeType": "image/png" });
            let mut content = vec![json!({ "type": "text", "text": text(*size, n) })];
            content.extend(pictures.iter().map(picture));
            let converted =
                mcp_result_to_envelope(&json!({ "content": content }), "plot", &McpResultOptions::default())?;
            let result = McpResult::new(ToolResult::new(&format!("c{n}"), "plot"), converted);
            let ingested = manager.ingest_mcp_result(result)?.done().unwrap();
            let refs = ingested.envelope.artifacts.iter().map(|stored| stored.handle.clone());
            Ok(refs.map(|handle| (handle.clone(), manager.artifacts().get(&handle).unwrap().to_vec())).collect())
        }
    }
}

/// Base64 of some bytes.
fn base64(size: usize, seed: usize) -> String {
    use base64::Engine as _;
    let bytes: Vec<u8> = (0..size).map(|at| u8::try_from((at * 7 + seed) % 251).unwrap()).collect();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

proptest! {
    #![proptest_config(property(300))]

    #[test]
    fn what_fits_is_taken_and_what_went_says_so(steps in proptest::collection::vec(step(), 1..40), pins in any::<bool>()) {
        let mut options = ManagerOptions::default();
        options.limits.store.store_bytes = ROOM;
        options.limits.store.eviction = Eviction::Lru;
        let mut manager = ContextManager::new(options);
        let mut known: Vec<String> = Vec::new();
        for (n, step) in steps.iter().enumerate().filter(|(_, step)| pins || !matches!(step, Step::Pin)) {
            let pinned: usize = manager.artifacts().pinned().map(|handle| manager.artifacts().artifact_ref(handle).unwrap().size_bytes as usize).sum();
            let kept: Vec<(String, u64)> = manager.artifacts().list().map(|stored| (stored.handle.clone(), stored.size_bytes)).collect();
            match run(&mut manager, step, n) {
                Ok(stored) => {
                    for (handle, bytes) in stored {
                        // A small result of a batch stands in the log alone.
                        if !matches!(step, Step::Batch(_)) || manager.artifacts().exists(&handle) {
                            prop_assert_eq!(manager.artifacts().get(&handle).unwrap(), bytes.as_slice(), "{:?}", step);
                        }
                        known.push(handle);
                    }
                }
                Err(error) => {
                    // Only what is pinned is in the way.
                    prop_assert_eq!(error.code(), ErrorCode::QuotaExceeded);
                    prop_assert!(pinned > 0, "{:?}: {}", step, error);
                    let now: Vec<(String, u64)> = manager.artifacts().list().map(|stored| (stored.handle.clone(), stored.size_bytes)).collect();
                    prop_assert_eq!(now, kept);
                }
            }
            prop_assert!(manager.artifacts().total_bytes() <= ROOM);
        }
        for handle in known.iter().filter(|handle| !manager.artifacts().exists(handle)) {
            let error = manager.artifacts().get(handle).unwrap_err();
            prop_assert!(matches!(error.code(), ErrorCode::ArtifactExpired | ErrorCode::ArtifactNotFound), "{}", error);
            if error.code() == ErrorCode::ArtifactExpired {
                prop_assert_eq!(error.details()["reason"].as_str(), Some("lru"));
            }
        }
    }
}

/// Of the results since the last turn of the user the newest go last.
#[test]
fn results_of_this_turn_go_when_nothing_else_is_left() {
    let mut options = ManagerOptions::default();
    options.limits.store.store_bytes = 3_000;
    options.limits.store.eviction = Eviction::Lru;
    let mut manager = ContextManager::new(options);
    let put = |manager: &mut ContextManager, id: &str| {
        manager.ingest_tool_result(&ToolResult::new(id, "read"), text(1_000, 0).as_bytes()).unwrap().done().unwrap();
    };
    let kept = |manager: &ContextManager| {
        let handles =
            manager.artifacts().list().map(|stored| stored.handle.trim_start_matches("artifact:result:").to_owned());
        handles.collect::<Vec<_>>().join(" ")
    };
    put(&mut manager, "old");
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "go on")).unwrap();
    put(&mut manager, "a");
    put(&mut manager, "b");
    // What was read last goes all the same before what this turn works on.
    manager.artifacts().get("artifact:result:old").unwrap();
    put(&mut manager, "c");
    assert_eq!(kept(&manager), "a b c");
    put(&mut manager, "d");
    assert_eq!(kept(&manager), "b c d");
    manager.artifacts_mut().pin("artifact:result:b").unwrap();
    put(&mut manager, "e");
    assert_eq!(kept(&manager), "b d e");
}
