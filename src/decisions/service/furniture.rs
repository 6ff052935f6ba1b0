//! What a store begins with, and what hosts change of it besides decisions.

use serde_json::Value;

use super::super::snapshot::{ImportMode, ImportOptions, Imported};
use super::super::store::DecisionStore;
use crate::error::Result;

impl DecisionStore {
    /// Gives a new store its guardrails, those of presets last, and its breakers. Fails with the first that is bad.
    pub fn furnish(&mut self, rules: Option<&Value>, presets: &[String], breakers: Vec<Value>) -> Result<()> {
        if let Some(rules) = rules {
            self.rules.add_all(rules, "/guardrails")?;
        }
        for (index, preset) in presets.iter().enumerate() {
            self.rules.add_preset(preset).map_err(|error| error.at(format!("/guardrail_presets/{index}")))?;
        }
        for (index, breaker) in breakers.into_iter().enumerate() {
            self.breakers.add(breaker, &format!("/circuit_breakers/{index}"))?;
        }
        Ok(())
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
    pub fn restore(&mut self, snapshot: Value) -> Result<Imported> {
        self.changes.continue_from(snapshot["revision"].as_u64().unwrap_or_default());
        let options = ImportOptions { mode: ImportMode::Replace, ..ImportOptions::default() };
        let imported = self.import(snapshot, options)?;
        self.take_events();
        Ok(imported)
    }
}
