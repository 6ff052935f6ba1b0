//! Filling in what a schema gives by default.

use serde_json::Value;

use super::{KEYWORD_STEPS, SCHEMA_STEPS};
use crate::tools::schema::resolve;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Result, StepBudget, limits};

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
        let (mut all, mut seen) = (Vec::new(), SortedMap::new());
        self.gather(schema, &mut all, &mut seen, depth)?;
        all.into_iter().try_for_each(|schema| self.fill_parts(schema, value, depth))
    }

    /// Collects the schemas that a value meets at once, each one time: what `$ref` leads to and what `allOf` has, before
    /// the schema itself. Definitions that each refer twice to the next would take for ever.
    fn gather(
        &mut self,
        schema: &'s Value,
        all: &mut Vec<&'s Value>,
        seen: &mut SortedMap<usize, ()>,
        depth: usize,
    ) -> Result<()> {
        self.budget.charge(SCHEMA_STEPS)?;
        let is_known = seen.insert(std::ptr::from_ref(schema) as usize, ()).is_some();
        if depth > limits::MAX_SCHEMA_DEPTH || is_known {
            return Ok(());
        }
        if let Some(target) = self.target(schema)? {
            self.gather(target, all, seen, depth + 1)?;
        }
        for one in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.gather(one, all, seen, depth + 1)?;
        }
        all.push(schema);
        Ok(())
    }

    /// Fills in the properties and the items that one schema speaks of.
    fn fill_parts(&mut self, schema: &'s Value, value: &mut Value, depth: usize) -> Result<()> {
        match value {
            Value::Object(object) => {
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    self.budget.charge(KEYWORD_STEPS)?;
                    if let Some(value) = object.get_mut(name) {
                        self.fill(property, value, depth + 1)?;
                    } else if let Some(default) = self.default_of(property)? {
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

    fn target(&mut self, schema: &Value) -> Result<Option<&'s Value>> {
        let Some(text) = schema.get("$ref").and_then(Value::as_str) else { return Ok(None) };
        self.budget.charge(text.matches('/').count() * SCHEMA_STEPS)?;
        Ok(resolve(self.root, text))
    }

    /// Returns the default of a schema or of what it refers to.
    fn default_of(&mut self, schema: &'s Value) -> Result<Option<&'s Value>> {
        let mut schema = schema;
        // `$ref`s may go in circles.
        for _ in 0..8 {
            if let Some(default) = schema.get("default") {
                return Ok(Some(default));
            }
            let Some(target) = self.target(schema)? else { return Ok(None) };
            schema = target;
        }
        Ok(None)
    }
}
