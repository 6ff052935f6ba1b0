//! Estimates that are scaled by what calls of a model cost.

use contextweaver_base::ErrorCode;
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, ObservedUsage};
use contextweaver_convert::providers::{Format, WriteOptions};
use contextweaver_model::{ContextItem, ItemKind, Phase};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{build, log, setup};

const MODEL: &str = "m-1";

fn observed(estimated: u64, actual: u64) -> ObservedUsage {
    ObservedUsage { model: MODEL.to_owned(), estimated, actual }
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn what_is_expected_of_a_model_never_exceeds_the_budget(
        log in log(), setup in setup(), calls in prop::collection::vec((1_u64..5_000, 1_u64..5_000), 1..20),
    ) {
        let mut manager = ContextManager::new(setup.options.clone());
        manager.ingest_all(log.items.clone()).unwrap();
        for (estimated, actual) in &calls {
            manager.observe_usage(&observed(*estimated, *actual)).unwrap();
        }
        let mut request = setup.request.clone();
        request.model = Some(MODEL.to_owned());
        let budget = request.budget_tokens.unwrap_or_else(|| setup.options.budget.of(request.phase));
        let stored = serde_json::to_value(manager.snapshot()).unwrap();
        let mut restored = ContextManager::from_json(stored, setup.options.clone()).unwrap();
        match build(&mut manager, &request) {
            Ok(pack) => {
                let known = pack.stats.calibration.clone().unwrap();
                let expected = (pack.stats.prompt_tokens.unwrap() as f64 * known.factor).ceil();
                prop_assert!(expected <= budget as f64, "{expected} of {budget}");
                prop_assert_eq!(build(&mut restored, &request).unwrap(), pack);
            }
            Err(error) => prop_assert_eq!(error.code(), ErrorCode::BudgetExceeded),
        }
    }
}

#[test]
fn only_builds_for_the_model_are_scaled() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut off = ContextManager::new(ManagerOptions { calibrate: false, ..ManagerOptions::default() });
    for manager in [&mut manager, &mut off] {
        let items: Vec<_> = (0..200)
            .map(|n| json!({ "id": format!("u{n}"), "kind": "user_turn", "text": format!("turn{n} word{n} ").repeat(15) }))
            .collect();
        for item in items {
            manager.ingest(ContextItem::from_value(item, "").unwrap()).unwrap();
        }
        assert_eq!(json!(manager.observe_usage(&observed(1000, 1500)).unwrap().factor), json!(1.5));
    }
    let mut request = BuildRequest { running: Some(false), ..BuildRequest::new(Phase::Answer, "") };
    request.budget_tokens = Some(3000);
    let plain = build(&mut manager, &request).unwrap();
    request.model = Some("another".to_owned());
    assert_eq!(build(&mut manager, &request).unwrap(), plain);
    request.model = Some(MODEL.to_owned());
    assert_eq!(build(&mut off, &request).unwrap(), plain);
    let scaled = build(&mut manager, &request).unwrap();
    assert_eq!((plain.stats.budget_tokens, scaled.stats.budget_tokens), (Some(3000), Some(2000)));
    assert!(plain.stats.prompt_tokens.unwrap() > 2900 && scaled.stats.prompt_tokens.unwrap() <= 2000);
    let messages =
        manager.build_messages(&request, Format::OpenAiChat, WriteOptions::default()).unwrap().done().unwrap();
    assert!(messages.tokens <= 2000 && messages.stats.calibration == scaled.stats.calibration);
}

#[test]
fn what_is_over_is_all_that_is_missing_in_tokens_of_the_model() {
    for actual in [450, 700, 1000, 1370, 2500] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "word ".repeat(100))).unwrap();
        manager.observe_usage(&observed(1000, actual)).unwrap();
        for budget in [0, 1, 9, 50] {
            let model = Some(MODEL.to_owned());
            let mut request =
                BuildRequest { model, budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, "") };
            let error = build(&mut manager, &request).unwrap_err();
            let over = error.details()["over_by"].as_u64().unwrap();
            request.budget_tokens = Some(budget + over);
            assert!(build(&mut manager, &request).is_ok(), "{actual} {budget} {error}");
            request.budget_tokens = Some(budget + over - over / 10 - 2);
            assert!(build(&mut manager, &request).is_err(), "{actual} {budget} {error}");
        }
    }
}

#[test]
fn what_pinned_items_require_is_told_in_tokens_of_the_model() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest(ContextItem::new("u", ItemKind::UserTurn, "word ".repeat(100))).unwrap();
    let pin = vec!["u".to_owned()];
    let mut request = BuildRequest { budget_tokens: Some(20), pin, ..BuildRequest::new(Phase::Answer, "") };
    let plain = build(&mut manager, &request).unwrap_err();
    manager.observe_usage(&observed(1000, 2000)).unwrap();
    (request.model, request.budget_tokens) = (Some(MODEL.to_owned()), Some(40));
    let scaled = build(&mut manager, &request).unwrap_err();
    for name in ["over_by", "limit", "required"] {
        let [plain, scaled] = [&plain, &scaled].map(|error| error.details()[name].as_u64().unwrap());
        assert!(scaled.abs_diff(2 * plain) <= 2, "{name}: {plain} {scaled}");
    }
}

#[test]
fn what_says_nothing_is_refused_and_changes_nothing() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    for (wrong, code, path) in [
        (json!({ "model": "m", "estimated": 1 }), ErrorCode::MissingField, "/actual"),
        (json!({ "model": "", "estimated": 1, "actual": 1 }), ErrorCode::OutOfRange, "/model"),
        (json!({ "model": "m", "estimated": 0, "actual": 1 }), ErrorCode::OutOfRange, "/estimated"),
        (json!({ "model": "m", "estimated": 1, "actual": 0 }), ErrorCode::OutOfRange, "/actual"),
        (json!({ "model": "m", "estimated": 1.5, "actual": 1 }), ErrorCode::OutOfRange, "/estimated"),
        (json!({ "model": "m", "estimated": 1, "actual": 1, "more": 1 }), ErrorCode::UnknownField, "/more"),
    ] {
        let error = ObservedUsage::from_value(wrong.clone()).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path), "{wrong}");
    }
    let snapshot = serde_json::to_value(manager.snapshot()).unwrap();
    manager.observe_usage(&ObservedUsage { model: String::new(), estimated: 1, actual: 1 }).unwrap_err();
    assert_eq!(serde_json::to_value(manager.snapshot()).unwrap(), snapshot);
    for (damaged, path) in [
        (json!({ "m": 1 }), "/calibration/m"),
        (json!({ "m": [[1]] }), "/calibration/m/0"),
        (json!({ "m": [[1, 1], [1, "x"]] }), "/calibration/m/1/1"),
        (json!({ "m": [[0, 1]] }), "/calibration/m/0"),
    ] {
        let mut snapshot = snapshot.clone();
        snapshot["calibration"] = damaged;
        assert_eq!(ContextManager::from_json(snapshot, ManagerOptions::default()).unwrap_err().path(), path);
    }
}
