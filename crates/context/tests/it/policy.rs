//! What policies, profiles and pins do in the default mode.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::{ErrorCode, Result};
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
use contextweaver_model::{ContextItem, ContextPack, ItemKind, Phase, Sensitivity};
use serde_json::{Value, json};

use crate::support::build;

/// Eight answers of about 30 tokens each and a last turn.
fn manager(options: Value) -> ContextManager {
    let mut manager = ContextManager::new(ManagerOptions::from_value(options).unwrap());
    for n in 0..8 {
        let text = format!("answer {n} about invoices {}", "and more of the same ".repeat(5));
        manager.ingest(ContextItem::new(format!("a{n}"), ItemKind::AgentMsg, text)).unwrap();
    }
    let secret =
        ContextItem { sensitivity: Sensitivity::Restricted, ..ContextItem::new("s", ItemKind::AgentMsg, "hush") };
    manager.ingest(secret).unwrap();
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "which invoice?")).unwrap();
    manager
}

fn answer(manager: &mut ContextManager, budget: u64, pins: &[&str]) -> Result<ContextPack> {
    let mut request = BuildRequest::new(Phase::Answer, "invoice");
    request.budget_tokens = Some(budget);
    request.pin = pins.iter().map(|id| (*id).to_owned()).collect();
    build(manager, &request)
}

#[test]
fn overflow_is_silent_a_warning_or_an_error() {
    assert!(answer(&mut manager(json!({})), 100, &[]).unwrap().warnings.is_empty());
    let warned = answer(&mut manager(json!({ "policy": { "overflow_action": "warn" } })), 100, &[]).unwrap();
    assert_eq!(warned.warnings, ["items were dropped for the budget: agent_msg"]);
    let raising = json!({ "policy": { "overflow_action": "raise" } });
    let error = answer(&mut manager(raising.clone()), 100, &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::BudgetExceeded);
    assert_eq!(error.details()["dropped_kinds"], json!(["agent_msg"]));
    assert!(answer(&mut manager(raising), 1000, &[]).is_ok(), "nothing was dropped for the budget");
    let watching = json!({ "policy": { "overflow_action": "raise", "overflow_raise_kinds": ["policy"] } });
    assert!(answer(&mut manager(watching), 100, &[]).is_ok(), "answers are not watched");
}

#[test]
fn kinds_can_be_capped() {
    let pack =
        answer(&mut manager(json!({ "policy": { "max_items_per_kind": { "agent_msg": 2 } } })), 1000, &[]).unwrap();
    let answers = pack.items.iter().flatten().filter(|item| item.id.starts_with('a')).count();
    assert_eq!(answers, 2);
    assert!(pack.stats.dropped_items.iter().filter(|drop| drop.reason == "kind_limit").count() == 6);
}

#[test]
fn kinds_are_capped_where_all_would_fit_into_the_first_prompt_of_a_conversation() {
    for running in [false, true] {
        let mut manager = manager(json!({ "policy": { "max_items_per_kind": { "agent_msg": 2 } } }));
        let mut request = BuildRequest::new(Phase::Answer, "invoice");
        request.budget_tokens = Some(1000);
        request.running = Some(running);
        let pack = build(&mut manager, &request).unwrap();
        assert_eq!(pack.prompt.matches("about invoices").count(), 2, "{}", pack.prompt);
        assert_eq!(pack.stats.dropped_items.iter().filter(|drop| drop.reason == "kind_limit").count(), 6);
    }
}

#[test]
fn profiles_set_budgets() {
    let budget = |options| answer_budget(&mut manager(options));
    assert_eq!(budget(json!({ "profile": "fast" })), 3000);
    assert_eq!(budget(json!({ "profile": "accurate" })), 8000);
    assert_eq!(budget(json!({ "profile": { "budget": { "answer": 777 } } })), 777);
    assert_eq!(budget(json!({ "profile": "fast", "budget": { "answer": 99 } })), 99);
    let error = ManagerOptions::from_value(json!({ "profile": "slow" })).unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/profile"));
}

fn answer_budget(manager: &mut ContextManager) -> u64 {
    build(manager, &BuildRequest::new(Phase::Answer, "")).unwrap().stats.budget_tokens.unwrap()
}

#[test]
fn pins_hold_or_say_why_not() {
    let mut manager = manager(json!({}));
    let pack = answer(&mut manager, 100, &["a0"]).unwrap();
    assert!(pack.items.iter().flatten().any(|item| item.id == "a0"));
    let unknown = answer(&mut manager, 100, &["u", "nobody"]).unwrap_err();
    assert_eq!((unknown.code(), unknown.path()), (ErrorCode::NotFound, "/pin/1"));
    let withheld = answer(&mut manager, 100, &["s"]).unwrap_err();
    assert_eq!((withheld.code(), withheld.path()), (ErrorCode::PolicyViolation, "/pin/0"));
    assert_eq!(answer(&mut manager, 20, &["a0"]).unwrap_err().code(), ErrorCode::BudgetExceeded);
}

#[test]
fn unknown_weights_are_refused() {
    for (scoring, path) in [
        (json!({ "tag_match_weight": 0.5 }), "/scoring/tag_match_weight"),
        (json!({ "nonsense": 1 }), "/scoring/nonsense"),
    ] {
        let error = ManagerOptions::from_value(json!({ "scoring": scoring })).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::UnknownField, path));
    }
    let method = |name: &str| ManagerOptions::from_value(json!({ "scoring": { "method": name } }));
    assert!(method("bm25n").is_ok());
    let error = method("reference").unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/scoring/method"));
}
