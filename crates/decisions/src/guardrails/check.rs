//! Checking an action: rules, circuit breakers, and the note of it for the host.

use serde_json::{Value, json};

use super::AddedGuardrails;
use super::breakers::scopes_of;
use super::verdict::{self, GuardrailFinding, GuardrailVerdict};
use crate::host::CallerContext;
use crate::record::Decision;
use crate::service::masked_output;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_model::json::JsonMap;

/// An action before it is taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct ActionToCheck<'a> {
    /// What the agent is about to do.
    pub description: &'a str,
    /// Category of the decision; rules on categories do not apply without it.
    pub category: Option<&'a str>,
    /// `low`, `medium`, `high` or `critical`.
    pub stakes: &'a str,
    /// The agent's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// What else the agent says; never overrides what is said above.
    pub context: Option<&'a JsonMap>,
    /// Tags of the action; breakers may be for one.
    pub tags: &'a [String],
    /// Name of the pattern it follows.
    pub pattern: Option<&'a str>,
    /// How many reasons are given, where reasons can be given.
    pub reasons: Option<usize>,
}

impl ActionToCheck<'_> {
    /// Returns what rules see of the action. Who calls cannot talk rules out of what the call itself says.
    fn context(&self) -> JsonMap {
        let mut out = JsonMap::new();
        out.insert("description".to_owned(), self.description.into());
        out.insert("category".to_owned(), self.category.into());
        out.insert("stakes".to_owned(), self.stakes.into());
        out.insert("confidence".to_owned(), self.confidence.into());
        if !self.tags.is_empty() {
            out.insert("tags".to_owned(), self.tags.into());
        }
        if let Some(pattern) = self.pattern {
            out.insert("pattern".to_owned(), pattern.into());
        }
        if let Some(reasons) = self.reasons {
            out.insert("reason_count".to_owned(), reasons.into());
        }
        for (key, value) in self.context.into_iter().flatten() {
            if out.get(key).is_none_or(Value::is_null) {
                out.insert(key.clone(), value.clone());
            }
        }
        out
    }
}

/// A checked action, to tell the breakers when it goes ahead.
#[derive(Debug, Clone)]
pub struct CheckedAction {
    /// Findings of guardrails and breakers together.
    pub verdict: GuardrailVerdict,
    /// The scopes of breakers that the action is in.
    scopes: Vec<String>,
}

impl CheckedAction {
    /// Notes that the action goes ahead, as the one that tries whether a breaker may close again.
    pub fn note_start(&self, store: &mut DecisionStore, now: i64) {
        store.breakers.take_probes(&self.scopes, now);
    }
}

impl DecisionStore {
    /// Checks an action against guardrails and circuit breakers, and notes that it was checked.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{ActionToCheck, CallerContext, DecisionStore, DecisionStoreOptions, HostAnswers};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let rule = json!({ "id": "sure", "condition_stakes": "high", "condition_confidence": "< 0.5", "action": "block" });
    /// store.add_rules(&rule)?;
    /// let answers = HostAnswers::default();
    /// let call = CallerContext { agent: "planner", trace: None, now: 1_773_576_000_000, answers: &answers };
    /// let action = ActionToCheck {
    ///     description: "Drop the old tables",
    ///     stakes: "high",
    ///     confidence: Some(0.3),
    ///     ..ActionToCheck::default()
    /// };
    /// let checked = store.check_action(&call, &action);
    /// assert!(!checked.verdict.allowed);
    /// assert_eq!(checked.verdict.violations[0].id, "sure");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn check_action(&mut self, call: &CallerContext<'_>, action: &ActionToCheck<'_>) -> CheckedAction {
        let context = action.context();
        let mut verdict = self.rules.evaluate(&context, self.options.on_rule_error);
        let category = context.get("category").and_then(Value::as_str);
        let scopes = scopes_of(category, Some(action.stakes), Some(call.agent), action.tags);
        for finding in self.breakers.findings(&scopes, call.now) {
            verdict.add(finding);
        }
        note(self, call, action.description, &verdict);
        CheckedAction { verdict, scopes }
    }

    /// Adds guardrails: a list, one rule, or `{guardrails: […]}`. Where one is bad, none is added.
    pub fn add_guardrails(&mut self, rules: &Value) -> AddedGuardrails {
        self.rules.add(rules)
    }

    /// Hands out what was checked since the last time: `{timestamp, agent, action, allowed, violations, evaluated}` each, credentials
    /// masked.
    pub fn take_checks(&mut self) -> Vec<Value> {
        self.rules.take_checks().into_iter().map(|check| masked_output(self, check)).collect()
    }
}

/// What rules say of a decision as it is recorded.
pub(crate) struct CheckedRecord {
    /// All findings.
    pub verdict: GuardrailVerdict,
    /// Those of the violations that refuse the record where rules are enforced.
    pub refusing: Vec<GuardrailFinding>,
}

/// Checks a decision as it is recorded, with the quality of its record. `context` is what the caller said of the action;
/// without it, a rule that requires something no record can say does not refuse the record.
pub(crate) fn check_record(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    decision: &Decision,
    quality: f64,
    said: Option<&JsonMap>,
) -> CheckedRecord {
    let inputs = decision.deliberation.as_ref().map_or(0, |deliberation| deliberation.inputs.len());
    let steps = decision.deliberation.iter().flat_map(|deliberation| &deliberation.steps);
    let has_reasoning = steps.filter_map(|step| step.kind.as_deref()).any(|kind| kind == "reasoning");
    let context = json!({
        "description": decision.decision,
        "category": decision.category,
        "stakes": decision.stakes,
        "confidence": decision.confidence,
        "tags": decision.tags,
        "pattern": decision.pattern,
        "reason_count": decision.reasons.len(),
        "project": decision.project,
        "deliberation_inputs_count": inputs,
        "has_deliberation": inputs > 0 || has_reasoning,
        "has_reasoning": has_reasoning,
        "phase": "record",
        "quality_score": quality,
    });
    let mut context = context.as_object().cloned().unwrap_or_default();
    let is_record = |field: &str| context.contains_key(field) || verdict::is_named(field);
    let beyond = if said.is_some() { Vec::new() } else { store.rules.requiring(|field| !is_record(field)) };
    for (key, value) in said.into_iter().flatten() {
        if context.get(key).is_none_or(Value::is_null) {
            context.insert(key.clone(), value.clone());
        }
    }
    let verdict = store.rules.evaluate(&context, store.options.on_rule_error);
    note(store, call, &decision.decision, &verdict);
    let refusing = verdict.violations.iter().filter(|finding| !beyond.contains(&finding.id)).cloned().collect();
    CheckedRecord { verdict, refusing }
}

fn note(store: &mut DecisionStore, call: &CallerContext<'_>, action: &str, verdict: &GuardrailVerdict) {
    let violations: Vec<&str> = verdict.violations.iter().map(|finding| finding.id.as_str()).collect();
    store.rules.note(json!({
        "timestamp": timestamps::iso(call.now),
        "agent": call.agent,
        "action": action,
        "allowed": verdict.allowed,
        "violations": violations,
        "evaluated": verdict.evaluated,
    }));
}
