//! Recording a decision: what was collected is attached, both sides are told apart, related decisions are linked.

use serde_json::{Value, json};

use crate::bridge;
use crate::guardrails::{GuardrailFinding, GuardrailVerdict, check_record};
use crate::host::CallerContext;
use crate::record::decode::is_id;
use crate::record::validate::{check_size, validate};
use crate::record::{Bridge, Decision};
use crate::record::{RecordQuality, record_quality};
use crate::store::ChangeKind;
use crate::store::DecisionStore;
use crate::timestamps;
use crate::tracker::TrackerScope;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_model::json::numbers::round;
use contextweaver_text::quote::quote;

/// A decision that was logged.
#[derive(Debug, Clone)]
pub struct LoggedDecision {
    /// Its id, from the host.
    pub id: String,
    /// The time of the call, as it is stored.
    pub timestamp: String,
    /// Score and suggestions for its record.
    pub quality: RecordQuality,
    /// Number of tracked inputs that became part of its deliberation.
    pub collected: usize,
    /// How its bridge was made, where the caller gave none.
    pub bridge_method: Option<&'static str>,
    /// Number of related decisions in its record.
    pub related: usize,
    /// Number of new edges to them.
    pub edges: usize,
    /// Findings of the guardrails of the record phase.
    pub verdict: GuardrailVerdict,
}

/// What became of a decision that was to be recorded.
pub(crate) enum RecordOutcome {
    Logged(LoggedDecision),
    /// Guardrails are enforced and refuse it.
    Refused(Vec<GuardrailFinding>),
}

impl DecisionStore {
    /// Logs a decision under the id that the host gave: what was tracked for it is attached, its bridge is made where it
    /// has none, and it is linked with what was found before. `scope` names the decision that thoughts were collected
    /// for, if one. Nothing changes on failure.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a decision with invalid fields, `TOO_LARGE` beyond the limits of the store, `CALLBACK_FAILED`
    /// without a new id among the answers, and `POLICY_VIOLATION` where guardrails of the record phase are enforced and
    /// block it.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{CallerContext, Decision, DecisionStore, DecisionStoreOptions, HostAnswers};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let mut answers = HostAnswers::default();
    /// answers.add_id("d1".to_owned());
    /// let call = CallerContext { agent: "planner", trace: None, now: 1_773_576_000_000, answers: &answers };
    /// let decision = Decision {
    ///     decision: "Use Postgres for billing".to_owned(),
    ///     category: "architecture".to_owned(),
    ///     confidence: Some(0.8),
    ///     stakes: Some("high".to_owned()),
    ///     ..Decision::default()
    /// };
    /// let logged = store.log(&call, decision, None)?;
    /// assert_eq!(logged.id, "d1");
    /// assert_eq!(store.size(), 1);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn log(&mut self, call: &CallerContext<'_>, decision: Decision, scope: Option<&str>) -> Result<LoggedDecision> {
        match self.record(call, decision, scope, None)? {
            RecordOutcome::Logged(logged) => Ok(logged),
            RecordOutcome::Refused(findings) => Err(refused(&findings)),
        }
    }

    /// Logs a decision; `context` is what the action's caller said of it, for the guardrails.
    pub(crate) fn record(
        &mut self,
        call: &CallerContext<'_>,
        mut decision: Decision,
        scope: Option<&str>,
        context: Option<&JsonMap>,
    ) -> Result<RecordOutcome> {
        validate(&decision, &self.options)?;
        if self.records.len() >= self.options.limits.decisions {
            let message = format!("the store is full, its limit is {} decisions", self.options.limits.decisions);
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        decision.id = new_id(self, call)?;
        let scope = TrackerScope::of(call, scope);
        let taken = self.tracker.peek(&scope, decision.deliberation.take(), call.now, self.options.limits);
        decision.deliberation = taken.deliberation;
        if decision.related_to.is_empty() {
            decision.related_to = taken.related;
            for related in &mut decision.related_to {
                related.distance = round(related.distance, 3);
            }
        }
        let mut bridge_method = None;
        if decision.bridge.is_none() {
            // The patterns in a bridge can be longer than the text they come from.
            let small = |bridge: &Bridge| {
                let alone = Decision { bridge: Some(bridge.clone()), ..Decision::default() };
                check_size(&alone, self.options.limits, "").is_ok()
            };
            decision.bridge = bridge::extract(&decision).filter(small);
            bridge_method = decision.bridge.is_some().then_some("rule");
        }
        check_size(&decision, self.options.limits, "")?;
        let quality = record_quality(&decision);
        let checked = check_record(self, call, &decision, quality.score, context);
        if self.options.enforce_record_guardrails && !checked.refusing.is_empty() {
            return Ok(RecordOutcome::Refused(checked.refusing));
        }
        let verdict = checked.verdict;
        self.tracker.forget(&scope);
        let (id, related) = (decision.id.clone(), decision.related_to.len());
        let edges = insert(self, call, decision);
        let timestamp = timestamps::iso(call.now);
        Ok(RecordOutcome::Logged(LoggedDecision {
            id,
            timestamp,
            quality,
            collected: taken.collected,
            bridge_method,
            related,
            edges,
            verdict,
        }))
    }
}

fn new_id(store: &DecisionStore, call: &CallerContext<'_>) -> Result<String> {
    let id = call.answers.next_id(&store.records);
    let id = id.ok_or_else(|| Error::new(ErrorCode::CallbackFailed, "the host gave no new id"))?;
    if !is_id(id) {
        let message = format!("an id has 1 to 64 letters, digits, underscores and hyphens, got {}", quote(id));
        return Err(Error::new(ErrorCode::CallbackFailed, message));
    }
    Ok(id.to_owned())
}

fn refused(findings: &[GuardrailFinding]) -> Error {
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    Error::new(ErrorCode::PolicyViolation, format!("guardrails refuse the record: {}", messages.join("; ")))
        .detail("guardrails", json!(ids))
}

/// Stores a decision and links what was found beforehand; returns how many links are new.
fn insert(store: &mut DecisionStore, call: &CallerContext<'_>, mut decision: Decision) -> usize {
    let now = timestamps::iso(call.now);
    decision.created_at.clone_from(&decision.date);
    decision.updated_at = Some(now.clone());
    let (id, related) = (decision.id.clone(), decision.related_to.clone());
    store.save(ChangeKind::Recorded, decision);
    let records = &store.records;
    let edges = store.graph.link_related(&id, &related, &now, &|other| records.get(other).is_some());
    if edges > 0 {
        store.changes.touch_edge(&id);
    }
    edges
}

/// Writes what guardrails say of a record the way `log_decision` does.
pub(crate) fn guardrail_warnings(
    verdict: &GuardrailVerdict,
    is_wanted: impl Fn(&GuardrailFinding) -> bool,
) -> Vec<Value> {
    verdict
        .findings()
        .filter(|finding| is_wanted(finding))
        .map(|finding| {
            let mut warning =
                json!({ "guardrail_id": finding.id, "guardrailId": finding.id, "message": finding.message });
            if finding.severity == "block" {
                warning["severity"] = "block".into();
            }
            warning
        })
        .collect()
}

/// Returns the path a decision has in the folders of contextweaver 0.18; no file is there.
pub(crate) fn virtual_path(date: &str, id: &str) -> String {
    let day = date.get(..10).filter(|day| day.is_ascii()).unwrap_or("0000-00-00");
    format!("{}/{}/{day}-decision-{id}.yaml", &day[..4], &day[5..7])
}
