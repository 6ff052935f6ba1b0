use serde_json::json;

use super::breakers::CircuitBreakers;
use super::*;
use crate::record::Decision;

fn judge(rule: &Value, context: &Value, on_error: OnRuleError) -> GuardrailVerdict {
    let mut rules = GuardrailSet::default();
    assert_eq!(rules.add(rule).errors, [], "{rule}");
    rules.evaluate(context.as_object().unwrap(), on_error)
}

/// Returns the messages of what a blocking rule says.
fn messages(mut rule: Value, context: &Value) -> Vec<String> {
    rule["id"] = "g".into();
    rule["action"] = "block".into();
    judge(&rule, context, OnRuleError::Warn).violations.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn rules_speak_of_what_they_name() {
    let triggered = "Guardrail g triggered";
    for (rule, context, expected) in [
        (json!({ "condition_env": "!= prod" }), json!({ "env": "dev" }), Some(triggered)),
        (json!({ "condition_env": "!= prod" }), json!({ "env": "prod" }), None),
        (json!({ "condition_env": "!= prod" }), json!({}), None),
        (json!({ "condition_env": "== prod" }), json!({ "env": "prod" }), Some(triggered)),
        (json!({ "condition_n": "== 5" }), json!({ "n": 5.0 }), Some(triggered)),
        (json!({ "condition_n": "= 5" }), json!({ "n": "5" }), Some(triggered)),
        (json!({ "condition_n": 5 }), json!({ "n": "5" }), None),
        (json!({ "condition_n": "< 5" }), json!({ "n": "4.5" }), Some(triggered)),
        (json!({ "condition": { "confidence_lt": 0.5 } }), json!({ "confidence": 0.4 }), Some(triggered)),
        (json!({ "condition": { "confidence_lt": 0.5 } }), json!({}), None),
        (
            json!({ "condition": { "confidence_gte": 0.5, "stakes": "medium" } }),
            json!({ "confidence": 0.5 }),
            Some(triggered),
        ),
        (json!({ "condition": { "quality_lt": 0.5 } }), json!({ "quality_score": 0.4 }), Some(triggered)),
        (json!({ "condition": { "has_tags": false } }), json!({ "has_tags": true }), Some(triggered)),
        (json!({ "condition": { "has_tags": true } }), json!({ "tags": ["a"] }), Some(triggered)),
        (json!({ "condition": { "flag": true } }), json!({ "flag": 1 }), None),
        (json!({ "condition": "!action.has_pattern" }), json!({ "pattern": "", "has_pattern": true }), Some(triggered)),
        (json!({ "condition": "has(action.confidence)" }), json!({ "confidence": null }), None),
        (json!({ "condition": { "cel": "true" }, "condition_a": 1 }), json!({ "a": 2 }), None),
        (json!({ "requires_x": false }), json!({}), Some("g: Missing: x")),
        (json!({ "requires_x": "!= bad" }), json!({ "x": "good" }), None),
        (json!({ "requires_x": ">= 80" }), json!({ "x": "lots" }), Some("g: x: expected >= 80, got lots")),
        (json!({ "requires": { "x": [1] } }), json!({ "x": [2] }), Some("g: x: expected [1], got [2]")),
        (json!({ "requires_x": true, "message": "{x}?" }), json!({ "x": false }), Some("false?")),
        (json!({ "message": "{a} {{b} {c} {" }), json!({ "a": "{b}", "b": null }), Some("{b} {null {c} {")),
        (json!({ "scope": ["p"] }), json!({ "project": "q" }), None),
        (json!({ "scope": ["p"] }), json!({ "project": "", "scope": "p" }), Some(triggered)),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(messages(rule.clone(), &context), expected, "{rule} {context}");
    }
}

#[test]
fn rules_that_fail_are_not_silent() {
    let rule = json!({ "id": "g", "action": "block", "condition": "action.stakes < 5" });
    let judged = |on_error| judge(&rule, &json!({}), on_error);
    let kind = |finding: &GuardrailFinding| finding.more["type"].clone();
    let warned = judged(OnRuleError::Warn);
    assert!(warned.allowed && kind(&warned.warnings[0]) == "rule_error");
    let blocked = judged(OnRuleError::Block);
    assert!(
        !blocked.allowed && kind(&blocked.violations[0]) == "rule_error" && blocked.violations[0].severity == "block"
    );
    let ignored = judged(OnRuleError::Ignore);
    assert!(ignored.allowed && ignored.warnings.is_empty());
}

#[test]
fn bad_rules_never_load() {
    for (rules, path, position) in [
        (json!([{ "condition_a": 1 }]), "/0/id", None),
        (json!([{ "id": "ok" }, { "id": "a", "conditon": 1 }]), "/1/conditon", None),
        (
            json!({ "guardrails": [{ "id": "a", "condition": "action.stakes ==" }] }),
            "/guardrails/0/condition",
            Some(16),
        ),
        (json!({ "id": "a", "condition": { "cel": "nope" } }), "/condition/cel", Some(0)),
        (json!({ "id": "a", "condition": { "cel": ["confidence < 0.5"] } }), "/condition/cel", None),
        (json!({ "id": "a", "action": "explode" }), "/action", None),
        (json!({ "id": "a", "condition": 5 }), "/condition", None),
        (json!({ "id": "a", "requires": [] }), "/requires", None),
        (json!({ "id": "a", "scope": [1] }), "/scope", None),
        (json!({ "id": "a", "condition": { "_lt": 1 } }), "/condition/_lt", None),
        (json!({ "id": "a", "message": {} }), "/message", None),
        (json!({ "guardrails": 1 }), "/guardrails", None),
        (json!("text"), "", None),
    ] {
        let mut store = GuardrailSet::default();
        let report = store.add(&rules);
        assert_eq!((report.errors[0].path.as_str(), report.errors[0].position), (path, position), "{rules}");
        assert!(store.is_empty() && report.added == 0, "{rules}");
    }
    let mut rules = GuardrailSet::default();
    let twice = json!({ "template": { "name": "x" }, "guardrails": [{ "id": "a" }, { "id": "b" }, { "id": "a", "action": "block" }] });
    let report = rules.add(&twice);
    assert_eq!((report.added, report.duplicates), (2, vec!["a".to_owned()]));
    assert_eq!(rules.add(&json!([{ "id": "b" }])).duplicates, ["b"]);
    assert_eq!(rules.sources(), [json!({ "id": "a" }), json!({ "id": "b" })]);
    assert!(rules.remove("a") && !rules.remove("a") && rules.len() == 1);
}

/// Each rule may search a long text, and there may be a thousand: all together run under one budget.
#[test]
fn many_rules_run_under_one_budget() {
    let mut state = 1_u64;
    let mut letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..20_000).map(&mut letter).collect();
    let context = json!({ "text": text, "list": vec![1; 3000], "p": "(a{1000}){4}b" });
    for (condition, at_most) in [
        ("action.context.text.matches('[ab]*a[ab]{200}c')", 30),
        ("action.context.list.all(a, !'aaaa'.matches(action.context.p))", 100),
        ("action.context.list.all(a, action.context.list.all(b, a != -1))", 700),
    ] {
        let rules: Vec<Value> =
            (0..1000).map(|n| json!({ "id": format!("r{n}"), "condition": condition, "action": "warn" })).collect();
        let mut set = GuardrailSet::default();
        assert_eq!(set.add(&json!(rules)).added, 1000);
        let verdict = set.evaluate(context.as_object().unwrap(), OnRuleError::Warn);
        let refused = "checking the rules takes more than 33554432 steps";
        let first = verdict.warnings.iter().position(|finding| finding.message.ends_with(refused));
        assert!(first.is_some_and(|first| first <= at_most), "{condition}: {first:?}");
        assert!(verdict.warnings[at_most..].iter().all(|finding| finding.message.ends_with(refused)));
    }
    // A thousand rules of the usual kind are a small part of it.
    let usual = "action.stakes == 'high' && action.context.text.contains('drop table') && size(action.tags) > 2";
    let rules: Vec<Value> =
        (0..1000).map(|n| json!({ "id": format!("r{n}"), "condition": usual, "action": "block" })).collect();
    let mut set = GuardrailSet::default();
    set.add(&json!(rules));
    assert_eq!(set.evaluate(context.as_object().unwrap(), OnRuleError::Block).violations, []);
}

#[test]
fn a_message_may_name_a_long_value_often() {
    let rule = json!({ "id": "r", "condition": "true", "message": "{a}".repeat(300), "action": "warn" });
    let context = json!({ "a": format!("api_key={}", "9f8a7b6c5d".repeat(2000)) });
    assert_eq!(messages(rule, &context), ["api_key=[REDACTED-SECRET]".repeat(300)]);
}

#[test]
fn the_preset_blocks_what_it_says() {
    let mut rules = GuardrailSet::default();
    rules.add_preset("cornerstone").unwrap();
    assert!(rules.add_preset("keystone").is_err());
    let blocked = |context: Value| -> Vec<String> {
        let verdict = rules.evaluate(context.as_object().unwrap(), OnRuleError::Block);
        assert!(verdict.evaluated == 8);
        verdict.violations.into_iter().chain(verdict.warnings).map(|finding| finding.id).collect()
    };
    assert_eq!(blocked(json!({ "stakes": "high", "confidence": 0.4 })), ["no-high-stakes-low-confidence"]);
    assert_eq!(blocked(json!({ "category": "security" })), ["require-code-review-security"]);
    assert_eq!(blocked(json!({ "category": "security", "code_review": true })), [""; 0]);
    let record = json!({ "phase": "record", "has_deliberation": false, "has_reasoning": false, "quality_score": 0.2 });
    assert_eq!(blocked(record), ["require-deliberation", "low-quality-recording"]);
}

#[test]
fn breakers_open_wait_and_try_once() {
    let mut breakers = CircuitBreakers::default();
    breakers.add(json!({ "scope": "category:tooling", "failure_threshold": 2 }), "/0").unwrap();
    for bad in [json!({ "scope": "category:tooling" }), json!({ "scope": "team:x" }), json!({ "scope": "tag:" })] {
        assert!(breakers.add(bad, "/1").is_err());
    }
    let decision = Decision { category: "tooling".to_owned(), ..Decision::default() };
    let scopes = ["category:tooling".to_owned()];
    let (minute, cooldown) = (60_000, 1_800_000);
    breakers.note_review(&decision, "failure", 0);
    // The first failure has left the window by the second.
    breakers.note_review(&decision, "failure", 60 * minute);
    assert!(breakers.findings(&scopes, 61 * minute).is_empty());
    breakers.note_review(&decision, "failure", 62 * minute);
    let found = breakers.findings(&scopes, 63 * minute);
    assert_eq!(found[0].id, "circuit_breaker:category:tooling");
    assert_eq!(found[0].more["failureRate"], 1.0);
    let other = ["category:process".to_owned()];
    assert!(breakers.findings(&other, 63 * minute).is_empty());

    let later = 62 * minute + cooldown;
    assert!(breakers.findings(&scopes, later - 1).len() == 1 && breakers.findings(&scopes, later).is_empty());
    breakers.take_probes(&scopes, later);
    assert_eq!(breakers.findings(&scopes, later + 1)[0].more["state"], "half_open");

    // A snapshot carries the state.
    let mut copy = CircuitBreakers::default();
    copy.add(breakers.snapshot().remove(0), "/0").unwrap();
    assert_eq!(copy.snapshot(), breakers.snapshot());

    breakers.note_review(&decision, "failure", later + 2);
    assert_eq!(breakers.active(later + 3)[0]["state"], "open");
    copy.note_review(&decision, "success", later + 2);
    assert!(copy.findings(&scopes, later + 3).is_empty() && copy.active(later + 3).is_empty());
}
