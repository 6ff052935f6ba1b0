//! The store: one part for each concern.

mod change_log;
mod options;
mod table;

pub use change_log::{ChangeEvent, ChangeKind, ChangeLog};
pub use options::{DecisionLimits, DecisionStoreOptions};
pub use table::DecisionTable;

use crate::graph::DecisionGraph;
use crate::guardrails::AddedGuardrails;
use crate::guardrails::GuardrailSet;
use crate::guardrails::breakers::CircuitBreakers;
use crate::record::Decision;
use crate::search::SearchIndex;
use crate::snapshot::{ImportMode, ImportOptions, ImportReport};
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

    /// Hands out what changed since the last time, for hosts that keep a copy.
    pub fn take_events(&mut self) -> Vec<ChangeEvent> {
        self.changes.take_events()
    }

    /// Returns the number of the last change.
    pub const fn revision(&self) -> u64 {
        self.changes.revision()
    }

    /// Gives a new store its guardrails, those of presets last, and its breakers. Fails with the first that is bad.
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

    /// Adds guardrails, or those that a text in YAML says; where one is bad, none is added.
    pub fn add_rules(&mut self, rules: &Value) -> Result<AddedGuardrails> {
        Ok(self.add_guardrails(&parse_rules(rules).map_err(|error| error.at("/rules"))?))
    }

    /// Removes a guardrail; tells whether it was there.
    pub fn remove_guardrail(&mut self, id: &str) -> bool {
        self.rules.remove(id)
    }

    /// Returns what is known of the guardrails.
    pub fn guardrails(&self) -> Vec<Value> {
        self.rules.active()
    }

    /// Returns the number of decisions.
    pub fn size(&self) -> usize {
        self.records.len()
    }

    /// Makes an empty store what it was when it was exported. Its changes are numbered on from there, so that hosts that
    /// know an older number are told of too much rather than too little.
    pub fn restore(&mut self, snapshot: Value) -> Result<ImportReport> {
        self.changes.continue_from(snapshot["revision"].as_u64().unwrap_or_default());
        let options = ImportOptions { mode: ImportMode::Replace, ..ImportOptions::default() };
        let imported = self.import(snapshot, options)?;
        self.take_events();
        Ok(imported)
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
