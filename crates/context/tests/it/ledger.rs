//! The ledger: what it names, where it stands, what it costs, and what it never says.

use std::collections::HashSet;

use contextweaver_base::ErrorCode;
use contextweaver_context::{BuildRequest, ContextManager, JournalOptions, ManagerOptions, RecallRequest};
use contextweaver_convert::providers::{Format, WriteOptions};
use contextweaver_model::{
    ContextItem, ContextPack, CutReason, ItemKind, JsonMap, Phase, Sensitivity, SensitivityAction,
};
use contextweaver_test_support::property;
use contextweaver_text::tokens::Estimator;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{SECRETS, build, build_asking, ingest_result};

const TITLE: &str = "[LEFT OUT]\nrecall finds: ";

fn options(ledger: bool) -> ManagerOptions {
    ManagerOptions { ledger: Some(ledger), standing_rules: false, ..ManagerOptions::default() }
}

fn request(budget: u64, query: &str) -> BuildRequest {
    BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, query) }
}

fn running(budget: u64, query: &str) -> BuildRequest {
    BuildRequest { running: Some(true), ..request(budget, query) }
}

/// Returns the line, if the prompt has one.
fn ledger(pack: &ContextPack) -> Option<&str> {
    let (_, behind) = pack.prompt.split_once(TITLE)?;
    behind.lines().next()
}

fn text(id: &str, kind: ItemKind, text: impl Into<String>) -> ContextItem {
    ContextItem::new(id, kind, text)
}

/// Prose without identifiers, of some sixty tokens.
fn prose(n: usize) -> String {
    let words = ["harbour", "meadow", "lantern", "quarry", "velvet", "thunder", "pebble", "orchard"];
    let mut seed = n as u64 + 1;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words[(seed >> 60) as usize % words.len()]
    };
    (0..40).map(|_| next()).collect::<Vec<_>>().join(" ")
}

/// Instructions, an order that was spoken of long ago, much talk, and a question.
fn conversation(options: ManagerOptions) -> ContextManager {
    let mut manager = ContextManager::new(options);
    let mut items = vec![
        text("s1", ItemKind::Policy, "You help customers of a shop."),
        text("u1", ItemKind::UserTurn, format!("My order is W-2378156, ask for mia.li@example.org. {}", prose(3))),
        text("c1", ItemKind::ToolCall, r#"{"order":"W-2378156"}"#),
    ];
    let mut result = text("r1", ItemKind::ToolResult, "");
    result.text = format!("parcel PX-99017 of order W-2378156 left on 2026-05-01 {}", prose(4).repeat(3));
    result.parent_id = Some("c1".into());
    items.push(result);
    items.extend((0..90).map(|n| text(&format!("a{n}"), ItemKind::AgentMsg, prose(n))));
    items.push(text("u2", ItemKind::UserTurn, "And what about the velvet lantern?"));
    manager.ingest_all(items).unwrap();
    manager
}

#[test]
fn it_names_what_left_with_where_it_stands() {
    let mut manager = conversation(options(true));
    let pack = build(&mut manager, &request(3000, "velvet lantern")).unwrap();
    let line = ledger(&pack).unwrap();
    assert_eq!(line, "W-2378156, PX-99017 (artifact:r1); mia.li@example.org (u1)");
    assert!(
        pack.prompt.starts_with("[POLICY]\nYou help customers of a shop.\n\n[LEFT OUT]\n"),
        "below the instructions"
    );
    let stats = pack.stats.ledger.unwrap();
    assert_eq!(stats.identifiers, 3);
    assert!(stats.tokens <= 60 && pack.stats.header_footer_tokens.abs_diff(stats.tokens) <= 1, "{stats:?}");
    let answer = manager.recall(&RecallRequest::new("W-2378156")).unwrap().done().unwrap();
    assert!(answer.text.contains("PX-99017"), "what it names is found: {}", answer.text);
}

#[test]
fn without_it_every_byte_is_as_before_and_with_it_only_its_room_is_less() {
    let mut with = conversation(options(true));
    let mut without = conversation(options(false));
    let question = request(3000, "velvet lantern");
    let (with, without) = (build(&mut with, &question).unwrap(), build(&mut without, &question).unwrap());
    assert!(without.stats.ledger.is_none() && ledger(&without).is_none());
    assert!(!json!(without).to_string().contains("ledger"));
    let shown = |pack: &ContextPack| pack.items.iter().flatten().map(|item| item.id.clone()).collect::<HashSet<_>>();
    assert!(shown(&with).len() + 2 >= shown(&without).len());
    // What fits as a whole needs none.
    let mut small = conversation(options(true));
    let all = build(&mut small, &request(100_000, "velvet lantern")).unwrap();
    assert_eq!((all.stats.dropped_count, all.stats.ledger), (0, None));
    // Nor is there one where a fiftieth is too little for it, or nothing to name.
    assert_eq!(build(&mut small, &request(1500, "velvet lantern")).unwrap().stats.ledger, None);
    let mut prosaic = ContextManager::new(options(true));
    prosaic.ingest_all((0..90).map(|n| text(&format!("a{n}"), ItemKind::AgentMsg, prose(n))).collect()).unwrap();
    let pack = build(&mut prosaic, &request(3000, "velvet")).unwrap();
    assert!(pack.stats.dropped_count > 0 && pack.stats.ledger.is_none());
}

#[test]
fn the_option_is_a_boolean() {
    let error = ManagerOptions::from_value(json!({ "ledger": "no" })).unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/ledger"));
    let read = |given: Value| ManagerOptions::from_value(given).unwrap().ledger;
    assert_eq!(read(json!({ "ledger": false })), Some(false));
    assert_eq!(read(json!({ "ledger": true })), Some(true));
    assert_eq!((read(json!({})), read(json!({ "ledger": null }))), (None, None));
}

#[test]
fn where_nothing_is_said_a_large_budget_has_one() {
    let has = |options: ManagerOptions, budget: u64| {
        build(&mut conversation(options), &request(budget, "velvet lantern")).unwrap().stats.ledger.is_some()
    };
    let runs_with = |options: ManagerOptions, budget: u64| {
        let mut manager = conversation(options);
        // A long message that no cut has room for.
        let long = format!("{} Crate CR-77120 is open.", prose(5).repeat(40));
        manager.ingest(text("b0", ItemKind::AgentMsg, long)).unwrap();
        manager.ingest_all((1..40).map(|n| text(&format!("b{n}"), ItemKind::AgentMsg, prose(n))).collect()).unwrap();
        build(&mut manager, &running(budget, "velvet lantern")).unwrap().stats.ledger.is_some()
    };
    assert!(has(ManagerOptions::default(), 4000));
    assert!(!has(ManagerOptions::default(), 3999));
    assert!(!has(options(false), 4000));
    // A cut has one in any budget.
    assert!(runs_with(ManagerOptions::default(), 3000));
    assert!(!runs_with(options(false), 4000));
}

#[test]
fn what_is_withheld_is_not_named() {
    for action in [SensitivityAction::Drop, SensitivityAction::Redact] {
        let mut options = options(true);
        options.policy.sensitivity_action = action;
        let mut manager = ContextManager::new(options);
        let mut hidden = text("h1", ItemKind::UserTurn, "The account is ACC-7719203 at BANK-55021.");
        hidden.sensitivity = Sensitivity::Restricted;
        let items = vec![
            hidden,
            text("u1", ItemKind::UserTurn, format!("The ticket is TCK-5501992; it says BANK-55021. {}", prose(3))),
            text("u0", ItemKind::UserTurn, format!("My key {} is for ORD-81234. {}", SECRETS[0], prose(4))),
        ];
        manager.ingest_all(items).unwrap();
        manager.ingest_all((0..90).map(|n| text(&format!("a{n}"), ItemKind::AgentMsg, prose(n))).collect()).unwrap();
        manager.ingest(text("u9", ItemKind::UserTurn, "And the velvet?")).unwrap();
        let pack = build(&mut manager, &request(3000, "velvet")).unwrap();
        let line = ledger(&pack).unwrap();
        assert!(line.contains("TCK-5501992 (u1)") && line.contains("ORD-81234 (u0)"), "{line}");
        assert!(!line.contains("ACC-") && !line.contains("BANK-") && !line.contains("AKIA"), "{line}");
    }
}

#[test]
fn messages_have_it_as_text_of_a_user_below_the_system() {
    let mut manager = conversation(options(true));
    let question = BuildRequest { running: Some(false), ..request(3000, "velvet lantern") };
    for name in ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk-ui", "ai-sdk-model"] {
        let format = Format::parse(name).unwrap();
        let built = manager.build_messages(&question, format, WriteOptions::default()).unwrap().done().unwrap();
        assert!(built.tokens <= 3000, "{name}");
        let line = ledger(built.pack.as_ref().unwrap()).unwrap();
        let messages = json!(built.written.messages);
        let has = |message: &Value| message.to_string().contains(line);
        let place = messages.as_array().unwrap().iter().position(has).unwrap();
        let message = &messages[place];
        assert_eq!(message["role"], "user", "{name}");
        assert_eq!(messages.to_string().matches("recall finds").count(), 1, "{name}");
        assert!(messages.as_array().unwrap()[..place].iter().all(|message| message["role"] == "system"), "{name}");
    }
}

#[test]
fn a_running_prompt_keeps_it_until_the_next_cut() {
    let mut manager = conversation(options(true));
    let (mut previous, mut kept, mut cuts) = (String::new(), 0, 0);
    let mut restored: Option<ContextManager> = None;
    let mut lines = HashSet::new();
    manager.keep_journal();
    let (mut journal, mut cursor) = (Vec::new(), None::<String>);
    for turn in 0..60 {
        let more = format!("Ticket TCK-{} is new. {}", 50_000 + turn, prose(turn));
        manager.ingest(text(&format!("n{turn}"), ItemKind::UserTurn, more.as_str())).unwrap();
        let pack = build(&mut manager, &running(3000, &more)).unwrap();
        if let Some(mut other) = restored.take() {
            other.ingest(text(&format!("n{turn}"), ItemKind::UserTurn, more.as_str())).unwrap();
            let again = build(&mut other, &running(3000, &more)).unwrap();
            assert_eq!(again.prompt, pack.prompt, "a restored manager goes on with it");
        }
        assert!(ledger(&pack).is_some() && pack.stats.prompt_tokens.unwrap() <= 3000);
        match pack.running.as_ref().unwrap().cut {
            None => {
                kept += 1;
                assert!(pack.prompt.starts_with(&previous));
            }
            Some(CutReason::First) => {}
            Some(reason) => {
                assert_eq!(reason, CutReason::Full);
                cuts += 1;
            }
        }
        lines.extend(ledger(&pack).map(str::to_owned));
        previous = pack.prompt;
        let export = manager.export_since(cursor.as_deref(), &JournalOptions::default()).unwrap();
        journal.extend(export.parts);
        cursor = Some(export.cursor);
        if turn % 5 == 3 {
            let options = manager.options().clone();
            restored = Some(match turn % 2 {
                0 => ContextManager::from_json(json!(manager.snapshot()), options).unwrap(),
                _ => ContextManager::restore_journal(&journal.join("\n"), options, |_| None).unwrap().manager,
            });
        }
    }
    assert!(kept > 20 && cuts > 1, "{kept} kept, {cuts} cuts");
    assert!((2..=cuts + 1).contains(&lines.len()), "made anew at cuts alone: {lines:?}");
}

#[test]
fn a_running_prompt_lets_go_of_it_with_what_may_no_longer_be_told() {
    let mut manager = conversation(options(true));
    let first = build(&mut manager, &running(3000, "velvet")).unwrap();
    assert!(ledger(&first).unwrap().contains("PX-99017"));
    let mut snapshot = json!(manager.snapshot());
    for item in snapshot["event_log"]["items"].as_array_mut().unwrap() {
        if item["id"] == "r1" {
            item["sensitivity"] = "restricted".into();
        }
    }
    let mut later = ContextManager::from_json(snapshot.clone(), manager.options().clone()).unwrap();
    let pack = build(&mut later, &running(3000, "velvet")).unwrap();
    assert!(!pack.prompt.contains("PX-99017"));
    assert_eq!(pack.running.unwrap().cut, Some(CutReason::Edited));
    // A manager that wants none does not go on with one.
    let mut without = ContextManager::from_json(snapshot, options(false)).unwrap();
    let pack = build(&mut without, &running(3000, "velvet")).unwrap();
    assert!(ledger(&pack).is_none() && pack.stats.ledger.is_none());
}

#[derive(Debug, Clone)]
struct Draft {
    kind: ItemKind,
    level: Sensitivity,
    ids: Vec<u32>,
    size: usize,
}

fn draft() -> impl Strategy<Value = Draft> {
    let kind = prop::sample::select(vec![
        ItemKind::Policy,
        ItemKind::UserTurn,
        ItemKind::AgentMsg,
        ItemKind::ToolCall,
        ItemKind::ToolResult,
        ItemKind::DocSnippet,
    ]);
    let level = prop_oneof![5 => Just(Sensitivity::Public), 1 => Just(Sensitivity::Restricted)];
    (kind, level, prop::collection::vec(0..400_u32, 0..12), 0..8_usize).prop_map(|(kind, level, ids, size)| Draft {
        kind,
        level,
        ids,
        size,
    })
}

fn items(drafts: &[Draft]) -> Vec<ContextItem> {
    let mut items: Vec<ContextItem> = Vec::new();
    for (n, draft) in drafts.iter().enumerate() {
        // Those of a restricted item are its own.
        let name = if draft.level == Sensitivity::Public { "Ord_" } else { "hid_" };
        let ids: Vec<String> = draft.ids.iter().map(|id| format!("{name}{}", 7000 + id)).collect();
        let body = format!("{} password=hunter22hunter {}", ids.join(", "), prose(n).repeat(draft.size));
        let mut item = text(&format!("i{n}"), draft.kind, body);
        item.sensitivity = draft.level;
        item.metadata = JsonMap::new();
        if draft.kind == ItemKind::ToolResult {
            let calls = items.iter().rev().filter(|item| item.kind == ItemKind::ToolCall);
            item.parent_id = calls.map(|call| call.id.clone()).next();
        }
        items.push(item);
    }
    items
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn it_is_bounded_and_says_nothing_that_is_withheld(
        drafts in prop::collection::vec(draft(), 4..70),
        budget in 1800..9000_u64,
        bits in any::<u8>(),
        phase in prop::sample::select(Phase::ALL.to_vec()),
    ) {
        let mut options = options(true);
        options.estimator = [Estimator::V3, Estimator::V2, Estimator::CharDiv4][usize::from(bits % 3)].clone();
        if bits & 16 != 0 {
            options.policy.sensitivity_action = SensitivityAction::Redact;
        }
        let items = items(&drafts);
        let question = BuildRequest { phase, running: Some(bits & 8 != 0), ..request(budget, "which lantern, Ord_7001?") };
        let mut manager = ContextManager::new(options.clone());
        manager.ingest_all(items.clone()).unwrap();
        let mut without = ContextManager::new(ManagerOptions { ledger: Some(false), ..options.clone() });
        without.ingest_all(items.clone()).unwrap();
        let (with, without) = (build(&mut manager, &question), build(&mut without, &question));
        // It never makes a build fail, and never helps one to succeed.
        prop_assert_eq!(with.is_ok(), without.is_ok());
        let Ok(pack) = with else { return Ok(()) };
        // A running prompt goes on without what left at its cuts, and may name more.
        let share = if bits & 8 != 0 { 25 } else { 50 };
        let tokens = options.estimator.tokens(&pack.prompt);
        prop_assert!(tokens <= budget);
        prop_assert_eq!(pack.stats.prompt_tokens, Some(tokens));
        let sections: u64 = pack.stats.tokens_per_section.iter().map(|(_, sum)| sum).sum();
        prop_assert_eq!(sections + pack.stats.header_footer_tokens, tokens);
        prop_assert!(!pack.prompt.contains("hid_") && !pack.prompt.contains("hunter22hunter"));
        for item in pack.items.iter().flatten() {
            let section = &pack.prompt[item.start as usize..item.end as usize];
            prop_assert!(section.starts_with('[') && !section.contains(TITLE));
        }
        prop_assert_eq!(ledger(&pack).is_some(), pack.stats.ledger.is_some());
        if let Some((line, stats)) = ledger(&pack).zip(pack.stats.ledger) {
            prop_assert!(stats.tokens * share < budget + share, "{stats:?} of {budget}");
            let rest = pack.prompt.replace(line, "");
            let named: Vec<&str> = line.split([' ', ',', ';']).filter(|word| word.starts_with("Ord_")).collect();
            prop_assert_eq!(named.len() as u64, stats.identifiers);
            let known: HashSet<&str> = named.iter().copied().collect();
            prop_assert_eq!(known.len(), named.len(), "each once: {}", line);
            for name in named {
                prop_assert!(!rest.contains(name), "{name} stands in the prompt: {line}");
                prop_assert!(items.iter().any(|item| item.level_is_open() && item.text.contains(name)));
            }
        }
        // Ingested one by one, restored, and in messages: the same line.
        let mut single = ContextManager::new(options.clone());
        for item in &items {
            single.ingest(item.clone()).unwrap();
        }
        let snapshot = serde_json::from_str(&json!(single.snapshot()).to_string()).unwrap();
        let mut restored = ContextManager::from_json(snapshot, options.clone()).unwrap();
        for other in [&mut single, &mut restored] {
            prop_assert_eq!(&build(other, &question).unwrap().prompt, &pack.prompt);
        }
        let format = Format::parse(["openai-chat", "anthropic", "gemini"][usize::from(bits / 64 % 3)]).unwrap();
        let mut talk = ContextManager::new(options);
        talk.ingest_all(items).unwrap();
        let question = BuildRequest { explain: true, ..question };
        let Ok(built) = talk.build_messages(&question, format, WriteOptions::default()) else { return Ok(()) };
        let built = built.done().unwrap();
        prop_assert!(built.tokens <= budget);
        let pack = built.pack.as_ref().unwrap();
        if let Some(line) = ledger(pack) {
            prop_assert!(built.stats.ledger.unwrap().tokens * share < budget + share);
            prop_assert_eq!(json!(built.written.messages).to_string().matches(line).count(), 1);
        }
    }

    #[test]
    fn a_function_that_counts_tokens_is_kept_to(drafts in prop::collection::vec(draft(), 20..60), step in 1..9_usize) {
        let options = ManagerOptions { estimator: Estimator::Custom("words".into()), ..options(true) };
        let mut manager = ContextManager::new(options);
        manager.ingest_all(items(&drafts)).unwrap();
        let count = |text: &str| (text.split_whitespace().count() + text.len() / (3 + step)) as u64;
        let Ok(pack) = build_asking(&mut manager, &request(3000, "lantern"), &count) else { return Ok(()) };
        prop_assert!(count(&pack.prompt) <= 3000);
        prop_assert!(pack.stats.ledger.is_none_or(|ledger| ledger.tokens <= 60));
    }
}

trait Open {
    fn level_is_open(&self) -> bool;
}

impl Open for ContextItem {
    fn level_is_open(&self) -> bool {
        self.sensitivity < Sensitivity::Restricted
    }
}

#[test]
fn a_large_result_is_named_by_its_handle() {
    let mut manager = conversation(options(true));
    manager.ingest(text("c9", ItemKind::ToolCall, r#"{"list":"parcels"}"#)).unwrap();
    let rows: Vec<String> = (0..900).map(|n| format!("parcel PX-{} went to dock {}", 41_000 + n, n % 9)).collect();
    ingest_result(&mut manager, "c9", &rows.join("\n")).unwrap();
    manager.ingest(text("a99", ItemKind::AgentMsg, "The damaged one is PX-41777.")).unwrap();
    manager.ingest_all((0..90).map(|n| text(&format!("z{n}"), ItemKind::AgentMsg, prose(n))).collect()).unwrap();
    manager.ingest(text("u9", ItemKind::UserTurn, "What did the lantern cost?")).unwrap();
    let pack = build(&mut manager, &request(3000, "velvet orchard")).unwrap();
    let line = ledger(&pack).unwrap();
    let said = line.split("; ").find(|part| part.contains("PX-41777")).unwrap();
    assert!(said.ends_with("(artifact:result:c9)"), "{line}");
}
