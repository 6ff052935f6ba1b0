//! Filling in what a schema gives by default.

use serde_json::Value;

use super::{KEYWORD_STEPS, SCHEMA_STEPS};
use crate::tools::schema::resolve;
use contextweaver_base::limits;
use contextweaver_base::{Result, StepBudget};

/// Returns a copy of a value in which absent properties have their default. A default is taken as it stands: nothing is
/// filled into it, so that a schema that contains itself comes to an end.
pub(super) fn filled(schema: &Value, value: &Value, budget: &mut StepBudget) -> Result<Value> {
    let mut value = value.clone();
    DefaultFiller { root: schema, budget }.fill(schema, &mut value, 0)?;
    Ok(value)
}

struct DefaultFiller<'s, 'b> {
    root: &'s Value,
    budget: &'b mut StepBudget,
}

impl<'s> DefaultFiller<'s, '_> {
    fn fill(&mut self, schema: &'s Value, value: &mut Value, depth: usize) -> Result<()> {
        self.budget.charge(SCHEMA_STEPS)?;
        if depth > limits::MAX_SCHEMA_DEPTH {
            return Ok(());
        }
        if let Some(target) = self.target(schema) {
            self.fill(target, value, depth + 1)?;
        }
        for one in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fill(one, value, depth + 1)?;
        }
        match value {
            Value::Object(object) => {
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    self.budget.charge(KEYWORD_STEPS)?;
                    if let Some(value) = object.get_mut(name) {
                        self.fill(property, value, depth + 1)?;
                    } else if let Some(default) = self.default_of(property) {
                        self.budget.charge(default.to_string().len())?;
                        object.insert(name.clone(), default.clone());
                    }
                }
            }
            Value::Array(list) => {
                let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                for (index, item) in list.iter_mut().enumerate() {
                    if let Some(schema) = first.get(index).or_else(|| schema.get("items")) {
                        self.fill(schema, item, depth + 1)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn target(&self, schema: &Value) -> Option<&'s Value> {
        resolve(self.root, schema.get("$ref")?.as_str()?)
    }

    /// Returns the default of a schema or of what it refers to.
    fn default_of(&self, schema: &'s Value) -> Option<&'s Value> {
        let mut schema = schema;
        // `$ref`s may go in circles.
        for _ in 0..8 {
            if let Some(default) = schema.get("default") {
                return Some(default);
            }
            schema = self.target(schema)?;
        }
        None
    }
}
