//! Rules of the decision memory.

use contextweaver_decisions::guardrails::{GuardrailSet, OnRuleError};
use contextweaver_decisions::service::{HostContext, ToolReply, rpc};
use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, HostAnswers, HostRequest, yaml};
use serde_json::{Map, Value, json};

use crate::bytes::Bytes;

/// Messages of one try.
const MAX_LINES: usize = 20;

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

/// 2026-03-10.
const NOW: i64 = 1_773_100_800_000;

/// Each line is answered as JSON-RPC asks: a request with its id, anything that cannot be read with an error, others not.
pub fn json_rpc(data: &[u8]) {
    let mut store = DecisionStore::new(DecisionStoreOptions::default());
    for (at, line) in String::from_utf8_lossy(data).lines().take(MAX_LINES).enumerate() {
        let mut answers = HostAnswers::default();
        let answer = loop {
            let host = HostContext { agent: Some("a"), trace: None, now: NOW, answers: &answers };
            let needs = match rpc::handle_text(&mut store, line, host) {
                ToolReply::Done(answer) => break answer,
                ToolReply::Needs(needs) => needs,
            };
            assert!(!needs.is_empty(), "nothing to wait for: {line}");
            for need in needs {
                match need {
                    HostRequest::Id => answers.add_id(format!("d{at}")),
                    HostRequest::Embed { texts } => panic!("nobody to ask: {texts:?}"),
                }
            }
        };
        let asked: Value = serde_json::from_str(line).unwrap_or_default();
        if answer.is_null() {
            assert!(asked.get("id").is_none() || asked.get("method").is_none(), "no answer to {line}");
            continue;
        }
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer} to {line}");
        assert!(answer["id"].is_null() || answer["id"] == asked["id"], "{answer} to {line}");
    }
}
