//! What a store begins with, and what hosts change of it besides decisions.

use serde_json::Value;

use super::super::yaml;
use crate::guardrails::AddedGuardrails;
use crate::snapshot::{ImportMode, ImportOptions, ImportReport};
use crate::store::DecisionStore;
use contextweaver_base::Result;

impl DecisionStore {
    /// Gives a new store its guardrails, those of presets last, and its breakers. Fails with the first that is bad.
    pub fn furnish(&mut self, rules: Option<&Value>, presets: &[String], breakers: Vec<Value>) -> Result<()> {
        if let Some(rules) = rules {
            let rules = read(rules).map_err(|error| error.at("/guardrails"))?;
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
        Ok(self.add_guardrails(&read(rules).map_err(|error| error.at("/rules"))?))
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
fn read(rules: &Value) -> Result<Value> {
    match rules {
        Value::String(text) => yaml::parse(text),
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::DecisionStoreOptions;

    #[test]
    fn rules_may_be_a_text() {
        let text = "guardrails:\n  - id: floor\n    condition_confidence: \"< 0.5\"\n    action: block\n";
        let mut store = DecisionStore::new(DecisionStoreOptions::default());
        store.furnish(Some(&json!(text)), &[], Vec::new()).unwrap();
        assert_eq!(store.guardrails()[0]["id"], "floor");
        assert_eq!(store.add_rules(&json!("- id: a\n- id: floor\n")).unwrap().duplicates, ["floor"]);
        assert_eq!(store.add_rules(&json!("a: [")).unwrap_err().path(), "/rules");
        assert_eq!(store.furnish(Some(&json!("- {")), &[], Vec::new()).unwrap_err().path(), "/guardrails");
    }
}
