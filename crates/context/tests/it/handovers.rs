//! What a session is compiled to twice, and what is left of it when it was handed over several times.

use std::collections::BTreeSet;

use contextweaver_context::{ContextManager, HandoffPack, ManagerOptions};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{build, ingest_result, log, setup};

/// Times that a session is handed over.
const TIMES: usize = 5;
/// Tokens of each handoff.
const TOKENS: u64 = 1500;

fn handoff(manager: &mut ContextManager) -> HandoffPack {
    manager.handoff(TOKENS).unwrap().done().unwrap()
}

/// Begins the next session with what the handoff of the last one says, entry by entry.
fn next_session(pack: &HandoffPack) -> ContextManager {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let pack = serde_json::to_value(pack).unwrap();
    let refs = pack["artifact_refs"].as_array().unwrap();
    for field in ["decisions", "conventions", "unresolved_tasks", "pitfalls", "next_inspections"] {
        for entry in pack[field].as_array().unwrap() {
            let text = entry["text"].as_str().unwrap();
            let mut item = ContextItem::new(entry["id"].as_str().unwrap(), ItemKind::AgentMsg, text);
            item.metadata.insert("handoff_category".into(), entry["category"].clone());
            let own = format!("artifact:{}", item.id);
            let artifact = refs.iter().find(|artifact| artifact["handle"] == own.as_str());
            item.artifact_ref = artifact.map(|artifact| serde_json::from_value(artifact.clone()).unwrap());
            manager.ingest(item).unwrap();
        }
    }
    manager
}

/// Words of a handoff that name something: ids, handles, paths, numbers.
fn identifiers(markdown: &str) -> BTreeSet<String> {
    let words = markdown.split(|ch: char| ch.is_whitespace() || matches!(ch, '(' | ')' | '[' | ']' | ','));
    let words = words.map(|word| word.trim_matches(|ch: char| !ch.is_alphanumeric()));
    words.filter(|word| word.len() > 3 && word.chars().any(|ch| ch.is_ascii_digit())).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(property(500))]

    #[test]
    fn compiling_twice_gives_the_same_bytes(log in log(), setup in setup()) {
        let mut manager = ContextManager::new(setup.options.clone());
        manager.ingest_all(log.items.clone()).unwrap();
        let Ok(first) = build(&mut manager, &setup.request) else { return Ok(()) };
        let second = build(&mut manager, &setup.request).unwrap();
        if setup.request.running == Some(true) {
            // The step has another number.
            prop_assert_eq!(first.prompt, second.prompt);
        } else {
            prop_assert_eq!(json!(first).to_string(), json!(second).to_string());
        }
    }

    #[test]
    fn five_handovers_lose_no_identifier(texts in prop::collection::vec("[a-z]{2,9} (id-[0-9]{4,9}|/srv/app[0-9]{2}/[a-z]{3}\\.rs|[0-9a-f]{12}) [a-z *#`\\n-]{0,40}", 1..40), kinds in prop::collection::vec(0..5_usize, 40)) {
        let mut manager = ContextManager::new(ManagerOptions::default());
        for (n, text) in texts.iter().enumerate() {
            let category = ["decision", "convention", "unresolved", "pitfall", "next_step"][kinds[n]];
            let mut item = ContextItem::new(format!("item-{n:04}"), ItemKind::AgentMsg, text.as_str());
            item.metadata.insert("handoff_category".into(), Value::from(category));
            manager.ingest(item).unwrap();
        }
        let first = handoff(&mut manager);
        let named = identifiers(&first.to_markdown());
        prop_assert!(!named.is_empty());
        let mut pack = first;
        for _ in 0..TIMES {
            let mut next = next_session(&pack);
            // The session goes on, too.
            next.ingest(ContextItem::new("more", ItemKind::UserTurn, "Go on.")).unwrap();
            pack = handoff(&mut next);
            let still = identifiers(&pack.to_markdown());
            prop_assert!(named.is_subset(&still), "{:?} are gone", named.difference(&still).collect::<Vec<_>>());
        }
    }
}

#[test]
fn five_handovers_keep_what_a_pitfall_names() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest(ContextItem::new("c1", ItemKind::ToolCall, "{}")).unwrap();
    let log = "a step of job 55812 took 7 ms\n".repeat(900);
    ingest_result(&mut manager, "c1", &(log + "ERROR job 55812: disk /dev/sdb1 is full\n")).unwrap();
    let mut pitfall = ContextItem::new("p1", ItemKind::AgentMsg, "Job 55812 needs 40 GB on /dev/sdb1.");
    pitfall.metadata.insert("handoff_category".into(), "pitfall".into());
    pitfall.parent_id = Some("result:c1".to_owned());
    manager.ingest(pitfall).unwrap();
    let mut pack = handoff(&mut manager);
    assert!(pack.to_markdown().contains("artifact:result:c1"), "{}", pack.to_markdown());
    for _ in 0..TIMES {
        pack = handoff(&mut next_session(&pack));
        for name in ["55812", "/dev/sdb1"] {
            assert!(pack.to_markdown().contains(name), "{name} is gone: {}", pack.to_markdown());
        }
    }
}
