//! What was stored and comes back, from whoever had it in the meantime.

use contextweaver_context::{BuildRequest, ContextManager, JournalOptions, ManagerOptions};
use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, ImportMode, ImportOptions};
use contextweaver_model::Phase;
use contextweaver_model::journal::{JournalBatch, JournalEnd};
use serde_json::{Value, json};

use crate::build::built;

/// Tokens of the prompts that are built of what was read.
const BUDGET: u64 = 400;

/// A snapshot is refused or read; one that was read is written as one that reads the same and gives the same prompts, in their
/// budget (P1, P6).
pub fn manager_snapshots(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let Ok(mut manager) = ContextManager::from_json(value, ManagerOptions::default()) else { return };
    let stored = json!(manager.snapshot());
    let mut again = ContextManager::from_json(stored.clone(), ManagerOptions::default())
        .unwrap_or_else(|error| panic!("{error}: {stored}"));
    assert_eq!(json!(again.snapshot()), stored);
    for phase in [Phase::Route, Phase::Answer] {
        let mut request = BuildRequest::new(phase, "what is left");
        request.budget_tokens = Some(BUDGET);
        let prompt = |manager: &mut ContextManager| {
            built(manager, &request).map(|pack| pack.prompt).map_err(|error| error.code())
        };
        let first = prompt(&mut manager);
        assert_eq!(prompt(&mut again), first, "{stored}");
        if let Ok(prompt) = first {
            let tokens = manager.options().estimator.tokens(&prompt);
            assert!(tokens <= BUDGET, "P1: {tokens} tokens of {stored}");
        }
    }
}

/// A journal is refused or read as far as it can be; what was read is written as one that reads the same, without findings,
/// and gives the same prompts in their budget. Lines that are no parts are changes, of which parts are made with right sums.
pub fn journals(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (mut parts, mut end) = (Vec::new(), JournalEnd::default());
    for lines in text.split("\n---\n") {
        let is_json = |line: &&str| !line.starts_with("{\"sum\"") && serde_json::from_str::<Value>(line).is_ok();
        parts.extend(lines.lines().filter(|line| line.starts_with("{\"sum\"")).map(str::to_owned));
        let changes: Vec<String> = lines.lines().filter(is_json).map(str::to_owned).collect();
        let batch = JournalBatch { kind: "session", whole: parts.is_empty(), changes, ..JournalBatch::default() };
        parts.extend(batch.write(&mut end, 4096));
    }
    let read = |text: &str| ContextManager::restore_journal(text, ManagerOptions::default(), |_| None);
    let Ok(restored) = read(&parts.join("\n")) else { return };
    let mut manager = restored.manager;
    let journal = manager.export_since(None, &JournalOptions::default()).map(|written| written.parts.join("\n"));
    let journal = journal.unwrap_or_else(|error| panic!("{error}"));
    let again = read(&journal).unwrap_or_else(|error| panic!("{error}: {journal}"));
    assert!(again.findings.is_empty(), "{:?}: {journal}", again.findings);
    let mut again = again.manager;
    let [one, other] = [&manager, &again].map(|manager| json!(manager.snapshot()));
    for (name, part) in one.as_object().into_iter().flatten() {
        // Counts go on where they were, or begin anew.
        assert!(name == "journal" || *part == other[name], "{name}: {part} {} of {journal}", other[name]);
    }
    let mut request = BuildRequest::new(Phase::Answer, "what is left");
    request.budget_tokens = Some(BUDGET);
    let prompt =
        |manager: &mut ContextManager| built(manager, &request).map(|pack| pack.prompt).map_err(|error| error.code());
    let first = prompt(&mut manager);
    assert_eq!(prompt(&mut again), first, "{journal}");
    if let Ok(prompt) = first {
        let tokens = manager.options().estimator.tokens(&prompt);
        assert!(tokens <= BUDGET, "P1: {tokens} tokens of {journal}");
    }
}

/// Decisions are refused or imported; what a store exports another one restores, and exports alike.
pub fn decision_snapshots(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    for mode in [ImportMode::Merge, ImportMode::Replace] {
        let mut store = DecisionStore::new(DecisionStoreOptions::default());
        let before = store.export().to_value();
        if store.import(value.clone(), ImportOptions { mode, ..ImportOptions::default() }).is_err() {
            assert_eq!(store.export().to_value(), before, "refused, and something changed: {value}");
            continue;
        }
        let stored = store.export().to_value();
        let mut again = DecisionStore::new(DecisionStoreOptions::default());
        let restored = again.restore(stored.clone());
        assert!(restored.is_ok_and(|report| report.errors.is_empty()), "{stored}");
        // The number of the last change goes on from that of the store.
        let but_its_number = |mut stored: Value| {
            stored["revision"] = Value::Null;
            stored
        };
        assert_eq!(but_its_number(again.export().to_value()), but_its_number(stored));
    }
}
