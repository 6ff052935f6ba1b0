//! Append mode: how much of a prompt the next one repeats, and what it finds.

use crate::support::build;
use contextweaver_base::ErrorCode;
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
use contextweaver_model::{ContextItem, ContextPack, ItemKind, Phase};
use serde_json::{Value, json};

const TOPICS: [&str; 8] = ["harbour", "violin", "glacier", "pepper", "turbine", "orchid", "ledger", "comet"];

fn options(append: &Value) -> ManagerOptions {
    ManagerOptions::from_value(json!({ "append": append })).unwrap()
}

fn turn(n: usize) -> ContextItem {
    let topic = TOPICS[n / 10 % TOPICS.len()];
    let text =
        format!("{topic} remark {n}: the {topic} of day {n} was measured, and the {topic} list grew by {}", n * 7);
    ContextItem::new(format!("u{n}"), ItemKind::UserTurn, text)
}

fn ask(manager: &mut ContextManager, query: &str) -> ContextPack {
    let mut request = BuildRequest::new(Phase::Answer, query);
    request.budget_tokens = Some(400);
    build(manager, &request).unwrap()
}

/// Talks about one topic after the other; returns the mean share that prompts repeated once the log was too long for one.
fn talk(manager: &mut ContextManager) -> f64 {
    let mut shares = Vec::new();
    for n in 0..80 {
        let item = turn(n);
        let text = item.text.clone();
        manager.ingest(item).unwrap();
        let prefix = ask(manager, &text).prefix.unwrap();
        if n > 20 {
            shares.push(prefix.shared_bytes as f64 / prefix.previous_bytes as f64);
        }
    }
    shares.iter().sum::<f64>() / shares.len() as f64
}

#[test]
fn more_stability_repeats_more() {
    let mean = |stability: f64| talk(&mut ContextManager::new(options(&json!({ "stability": stability }))));
    let shares = [0.0, 0.5, 0.9].map(mean);
    assert!(shares[0] + 0.1 < shares[1] && shares[1] + 0.1 < shares[2], "{shares:?}");
    assert!(shares[2] > 0.8, "{shares:?}");
}

#[test]
fn a_question_about_an_old_part_of_the_log_cuts_the_prompt() {
    let mut manager = ContextManager::new(options(&json!(true)));
    talk(&mut manager);
    let pack = ask(&mut manager, "What did the remarks say about the glacier?");
    assert!(["query", "overflow"].contains(&pack.prefix.as_ref().unwrap().reason), "{:?}", pack.prefix);
    assert!(pack.prompt.matches("glacier remark").count() >= 5, "{}", pack.prompt);
    let again = ask(&mut manager, "What did the remarks say about the glacier?");
    assert_eq!((again.prefix.unwrap().reason, again.prompt), ("none", pack.prompt));
}

#[test]
fn what_was_repeated_so_far_is_remembered_in_snapshots() {
    let mut manager = ContextManager::new(options(&json!(true)));
    talk(&mut manager);
    let snapshot = json!(manager.snapshot());
    assert!(snapshot["append"]["answer"]["credit"].as_f64().is_some_and(|credit| credit != 0.0));
    let mut restored = ContextManager::from_json(snapshot, options(&json!(true))).unwrap();
    for query in ["orchid", "violin", "And the turbine list?"] {
        assert_eq!(ask(&mut manager, query), ask(&mut restored, query));
    }
}

#[test]
fn a_later_repeat_of_what_stands_changes_nothing() {
    let mut manager = ContextManager::new(options(&json!(true)));
    for n in 0..4 {
        manager.ingest(turn(n)).unwrap();
    }
    ask(&mut manager, "harbour");
    manager.ingest(ContextItem::new("again", ItemKind::UserTurn, turn(1).text)).unwrap();
    assert_eq!(ask(&mut manager, "harbour").prefix.unwrap().reason, "none");
}

#[test]
fn settings_of_append_are_checked() {
    let stability = |append| options(&append).stability;
    assert!((stability(json!(true)) - stability(json!({}))).abs() < 1e-9);
    assert!(options(&json!({})).append && !options(&json!(false)).append);
    for (append, code, path) in [
        (json!({ "stability": 1.5 }), ErrorCode::OutOfRange, "/append/stability"),
        (json!({ "stability": -0.1 }), ErrorCode::OutOfRange, "/append/stability"),
        (json!({ "stability": "high" }), ErrorCode::InvalidInput, "/append/stability"),
        (json!({ "stabilty": 0.5 }), ErrorCode::UnknownField, "/append/stabilty"),
        (json!("yes"), ErrorCode::InvalidInput, "/append"),
    ] {
        let error = ManagerOptions::from_value(json!({ "append": append })).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path), "{append}");
    }
}
