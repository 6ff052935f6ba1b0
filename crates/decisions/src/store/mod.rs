//! The store: one part for each concern.

mod change_log;
mod options;

pub use change_log::{ChangeEvent, ChangeKind, ChangeLog, ChangeNumbers};
pub use options::DecisionStoreOptions;

use crate::graph::DecisionGraph;
use crate::guardrails::AddedGuardrails;
use crate::guardrails::GuardrailSet;
use crate::guardrails::breakers::CircuitBreakers;
use crate::ready::{DueFilter, ReadyQueue, queue};
use crate::record::{Decision, DecisionTable};
use crate::search::SearchIndex;
use crate::tracker::DeliberationTracker;
use crate::yaml;
use contextweaver_base::Result;
use contextweaver_model::json::JsonMap;
use serde_json::Value;

/// Decisions with everything that is known around them.
#[derive(Debug, Default)]
pub struct DecisionStore {
    pub(crate) records: DecisionTable,
    pub(crate) tracker: DeliberationTracker,
    pub(crate) rules: GuardrailSet,
    pub(crate) breakers: CircuitBreakers,
    pub(crate) index: SearchIndex,
    pub(crate) graph: DecisionGraph,
    pub(crate) options: DecisionStoreOptions,
    pub(crate) changes: ChangeLog,
    /// Fields of an imported snapshot that this release does not know.
    pub(crate) unknown: JsonMap,
}

impl DecisionStore {
    /// Makes an empty store.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions};
    ///
    /// let store = DecisionStore::new(DecisionStoreOptions { categories: vec!["legal".to_owned()], ..Default::default() });
    /// assert_eq!(store.size(), 0);
    /// ```
    pub fn new(options: DecisionStoreOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Puts a decision in, in place of the one with its id.
    pub fn put(&mut self, decision: Decision) {
        self.index.put(&decision);
        self.records.put(decision);
    }

    /// Puts a decision in and notes the change.
    pub(crate) fn save(&mut self, kind: ChangeKind, decision: Decision) {
        self.changes.note(kind, &decision.id);
        self.put(decision);
    }

    /// Hands out the changes since the last time, for hosts that keep a copy: at most the last thousand.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{ChangeKind, DecisionStore, DecisionStoreOptions, ImportOptions};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// store.import(json!([{ "id": "d1", "decision": "Use Postgres" }]), ImportOptions::default())?;
    /// assert_eq!(store.take_events()[0].kind, ChangeKind::Imported);
    /// assert!(store.take_events().is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn take_events(&mut self) -> Vec<ChangeEvent> {
        self.changes.take_events()
    }

    /// Returns the number of the last change.
    pub const fn revision(&self) -> u64 {
        self.changes.revision()
    }

    /// Gives a new store its guardrails, those of presets last, and its circuit breakers.
    ///
    /// # Errors
    ///
    /// The first that is malformed, with its path: `INVALID_INPUT`, `DUPLICATE_ID` for a second breaker of a scope, `TOO_LARGE`
    /// beyond the limits, `DECODE_FAILED` for YAML that cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let breaker = json!({ "scope": "category:security", "failure_threshold": 2 });
    /// store.configure(None, &["cornerstone".to_owned()], vec![breaker])?;
    /// assert_eq!(store.guardrails()[0]["id"], "no-high-stakes-low-confidence");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn configure(&mut self, rules: Option<&Value>, presets: &[String], breakers: Vec<Value>) -> Result<()> {
        if let Some(rules) = rules {
            let rules = parse_rules(rules).map_err(|error| error.at("/guardrails"))?;
            self.rules.add_all(&rules, "/guardrails")?;
        }
        for (index, preset) in presets.iter().enumerate() {
            self.rules.add_preset(preset).map_err(|error| error.at(format!("/guardrail_presets/{index}")))?;
        }
        for (index, breaker) in breakers.into_iter().enumerate() {
            self.breakers.add(breaker, &format!("/circuit_breakers/{index}"))?;
        }
        Ok(())
    }

    /// Adds guardrails: a list, one guardrail, `{guardrails: […]}`, or YAML of the same. Where one is malformed, none is
    /// added; the answer says which.
    ///
    /// # Errors
    ///
    /// `DECODE_FAILED` or `TOO_DEEP` for YAML that cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions};
    /// use serde_json::json;
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// let added = store.add_rules(&json!("- id: sure\n  condition_confidence: '< 0.5'\n  action: block\n"))?;
    /// assert_eq!(added.added, 1);
    /// let added = store.add_rules(&json!({ "id": "odd", "condition": "action." }))?;
    /// assert_eq!((added.added, added.errors[0].path.as_str()), (0, "/condition"));
    /// assert!(store.remove_guardrail("sure"));
    /// assert!(store.guardrails().is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn add_rules(&mut self, rules: &Value) -> Result<AddedGuardrails> {
        let added = self.add_guardrails(&parse_rules(rules).map_err(|error| error.at("/rules"))?);
        if added.added > 0 {
            self.changes.count();
        }
        Ok(added)
    }

    /// Removes a guardrail; tells whether it was there.
    pub fn remove_guardrail(&mut self, id: &str) -> bool {
        let is_removed = self.rules.remove(id);
        if is_removed {
            self.changes.count();
        }
        is_removed
    }

    /// Returns what is known of the guardrails.
    pub fn guardrails(&self) -> Vec<Value> {
        self.rules.active()
    }

    /// Returns the decision with an id.
    pub fn get(&self, id: &str) -> Option<&Decision> {
        self.records.get(id)
    }

    /// Returns the decisions, the latest first.
    ///
    /// # Examples
    ///
    /// The calibration of all decisions, from five reviewed ones on:
    ///
    /// ```
    /// use contextweaver_decisions::calibration::{CalibrationSample, calibration};
    /// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// for (number, outcome) in ["success", "success", "failure", "success", "failure"].iter().enumerate() {
    ///     store.put(Decision {
    ///         id: format!("d{number}"),
    ///         status: "reviewed".to_owned(),
    ///         outcome: Some((*outcome).to_owned()),
    ///         confidence: Some(0.9),
    ///         ..Decision::default()
    ///     });
    /// }
    /// let samples: Vec<CalibrationSample> = store.decisions().map(CalibrationSample::of).collect();
    /// let measured = calibration(&samples, 5).expect("five are reviewed");
    /// assert_eq!((measured.accuracy, measured.interpretation), (0.6, "overconfident"));
    /// ```
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> + Clone {
        self.records.iter()
    }

    /// Returns the actions that are due at a time, in milliseconds since 1970.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions, DueFilter};
    ///
    /// let mut store = DecisionStore::new(DecisionStoreOptions::default());
    /// store.put(Decision {
    ///     id: "d1".to_owned(),
    ///     status: "pending".to_owned(),
    ///     review_by: Some("2026-03-01".to_owned()),
    ///     ..Decision::default()
    /// });
    /// let filter = DueFilter { min_priority: "low", kinds: &[], limit: 10, category: None };
    /// let queue = store.due(1_773_576_000_000, &filter);
    /// assert_eq!((queue.total, queue.actions[0].kind), (1, "review_outcome"));
    /// ```
    pub fn due(&self, now: i64, filter: &DueFilter<'_>) -> ReadyQueue {
        queue(self.records.iter(), now, filter)
    }

    /// Returns the number of decisions.
    pub fn size(&self) -> usize {
        self.records.len()
    }
}

/// Returns rules as they are, or as a text in YAML says them.
fn parse_rules(rules: &Value) -> Result<Value> {
    match rules {
        Value::String(text) => yaml::parse(text),
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_may_be_a_text() {
        let text = "guardrails:\n  - id: floor\n    condition_confidence: \"< 0.5\"\n    action: block\n";
        let mut store = DecisionStore::new(DecisionStoreOptions::default());
        store.configure(Some(&json!(text)), &[], Vec::new()).unwrap();
        assert_eq!(store.guardrails()[0]["id"], "floor");
        assert_eq!(store.add_rules(&json!("- id: a\n- id: floor\n")).unwrap().duplicates, ["floor"]);
        assert_eq!(store.add_rules(&json!("a: [")).unwrap_err().path(), "/rules");
        assert_eq!(store.configure(Some(&json!("- {")), &[], Vec::new()).unwrap_err().path(), "/guardrails");
    }
}
