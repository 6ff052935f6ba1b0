//! Rules of the decision memory.

use contextweaver_decisions::guardrails::{GuardrailSet, OnRuleError};
use contextweaver_decisions::yaml;
use serde_json::{Map, Value, json};

use crate::bytes::Bytes;

/// An expression is refused with a place inside it, or gives one verdict for one action.
pub fn cel(data: &[u8]) {
    let mut bytes = Bytes(data);
    let action: Map<String, Value> = serde_json::from_str(&bytes.line()).unwrap_or_default();
    let source = bytes.text();
    let mut rules = GuardrailSet::default();
    let rule = json!({ "id": "r", "condition": { "cel": source } });
    for refused in rules.add(&rule).errors {
        assert!(refused.position.is_none_or(|at| at <= source.len()), "{:?} of {source:?}", refused.position);
    }
    judge(&rules, &action);
}

/// A text is refused or read; rules that were read judge an action the same each time.
pub fn guardrail_yaml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(value) = yaml::parse(&text) else { return };
    let mut rules = GuardrailSet::default();
    let added = rules.add(&value);
    assert!(added.errors.is_empty() || rules.is_empty(), "some rules were added though others are bad: {text:?}");
    let action = json!({ "category": "x", "confidence": 0.5, "tags": ["a"], "stakes": "high" });
    judge(&rules, action.as_object().unwrap_or(&Map::new()));
}

fn judge(rules: &GuardrailSet, action: &Map<String, Value>) {
    for on_error in [OnRuleError::Warn, OnRuleError::Block, OnRuleError::Ignore] {
        let (first, second) = (rules.evaluate(action, on_error), rules.evaluate(action, on_error));
        assert_eq!(first, second);
        assert_eq!(first.allowed, first.violations.is_empty());
        assert_eq!(first.evaluated, rules.len());
    }
}
