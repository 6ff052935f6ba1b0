//! Keywords of arrays and objects.

use serde_json::Value;

use super::{KEYWORD_STEPS, PathStep, STEP_BYTES, SchemaChecker, values, words};
use contextweaver_base::Result;
use contextweaver_model::json::JsonMap;
use contextweaver_text::quote::quote;

fn list_of(rule: &Value) -> &[Value] {
    rule.as_array().map_or(&[], Vec::as_slice)
}

impl<'s, 'v> SchemaChecker<'_, 's, 'v, '_> {
    pub(super) fn array(
        &mut self,
        schema: &'s JsonMap,
        keyword: &'s str,
        rule: &'s Value,
        list: &'v [Value],
        report: bool,
    ) -> Result<bool> {
        let fits = match keyword {
            "minItems" | "maxItems" => values::count_fits(keyword == "minItems", rule, list.len()),
            "uniqueItems" if rule == &Value::Bool(true) => {
                let mut steps = 0;
                let unique = values::are_unique(list, &mut steps);
                self.spend(steps)?;
                unique
            }
            // Before 2020-12 a list below `items` was what `prefixItems` is now.
            "prefixItems" | "items" if rule.is_array() => return self.items(list_of(rule), None, list, report),
            "items" => return self.items(schema.get("prefixItems").map_or(&[], list_of), Some(rule), list, report),
            "additionalItems" => match schema.get("items") {
                Some(Value::Array(before)) => return self.items(before, Some(rule), list, report),
                _ => true,
            },
            "contains" => {
                let mut found = 0;
                for item in list {
                    found += usize::from(self.check(rule, item, false)?);
                }
                let bound = |key: &str, otherwise| schema.get(key).and_then(values::as_count).unwrap_or(otherwise);
                (bound("minContains", 1)..=bound("maxContains", usize::MAX)).contains(&found)
            }
            _ => true,
        };
        Ok(fits || self.fail(report, keyword, || words::bound(keyword, rule)))
    }

    /// Checks the items that schemas stand for one by one or, with `rest`, those after them.
    fn items(&mut self, first: &'s [Value], rest: Option<&'s Value>, list: &'v [Value], report: bool) -> Result<bool> {
        let mut fits = true;
        for (index, item) in list.iter().enumerate() {
            let schema = match (first.get(index), rest) {
                (Some(_), Some(_)) | (None, None) => continue,
                (Some(schema), None) | (None, Some(schema)) => schema,
            };
            fits &= self.part(PathStep::Index(index), schema, item, report)?;
            if self.is_done(fits, report) {
                break;
            }
        }
        Ok(fits)
    }

    pub(super) fn object(
        &mut self,
        schema: &'s JsonMap,
        keyword: &'s str,
        rule: &'s Value,
        (value, object): (&'v Value, &'v JsonMap),
        report: bool,
    ) -> Result<bool> {
        let mut fits = true;
        match (keyword, rule) {
            ("minProperties" | "maxProperties", _) => {
                fits = values::count_fits(keyword == "minProperties", rule, object.len())
                    || self.fail(report, keyword, || words::bound(keyword, rule));
            }
            ("required", _) => fits = self.required(keyword, rule, object, report)?,
            ("dependentRequired", Value::Object(all)) => {
                self.spend(all.len() * KEYWORD_STEPS)?;
                for (_, names) in all.iter().filter(|(name, _)| object.contains_key(*name)) {
                    fits &= self.required(keyword, names, object, report)?;
                }
            }
            ("dependentSchemas", Value::Object(all)) => {
                self.spend(all.len() * KEYWORD_STEPS)?;
                for (_, wanted) in all.iter().filter(|(name, _)| object.contains_key(*name)) {
                    fits &= self.check(wanted, value, report)?;
                }
            }
            ("properties", Value::Object(all)) => fits = self.properties(all, object, report)?,
            ("patternProperties", Value::Object(all)) => fits = self.by_pattern(all, object, report)?,
            ("additionalProperties", _) => fits = self.additional(schema, rule, object, report)?,
            ("propertyNames", _) => {
                for name in object.keys() {
                    fits &= self.name_fits(rule, name)?
                        || self.fail(report, keyword, || "other names of properties".to_owned());
                    if self.is_done(fits, report) {
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(fits)
    }

    fn properties(&mut self, all: &'s JsonMap, object: &'v JsonMap, report: bool) -> Result<bool> {
        self.spend(all.len() * KEYWORD_STEPS)?;
        let mut fits = true;
        for (name, wanted) in all {
            if let Some((name, value)) = object.get_key_value(name) {
                fits &= self.part(PathStep::Key(name), wanted, value, report)?;
            }
        }
        Ok(fits)
    }

    fn required(&mut self, keyword: &'s str, names: &Value, object: &JsonMap, report: bool) -> Result<bool> {
        let names = list_of(names);
        self.spend(names.len() * KEYWORD_STEPS)?;
        let mut fits = true;
        for name in names.iter().filter_map(Value::as_str).filter(|name| !object.contains_key(*name)) {
            fits = self.fail(report, keyword, || format!("the property {}", quote(name)));
        }
        Ok(fits)
    }

    /// Checks the properties whose names match patterns. Every pattern goes over all names before the next one does: what
    /// it learns of them stays at hand.
    fn by_pattern(&mut self, all: &'s JsonMap, object: &'v JsonMap, report: bool) -> Result<bool> {
        let names: Vec<&str> = object.keys().map(String::as_str).collect();
        let mut wanted: Vec<Vec<&'s Value>> = vec![Vec::new(); names.len()];
        let mut is_usable = true;
        for (pattern, schema) in all {
            self.spend(names.len() * KEYWORD_STEPS)?;
            is_usable &= self.shared.matches_each(pattern, &names, &mut |place| wanted[place].push(schema))?;
        }
        let rest = object.keys().zip(&wanted).filter(|(_, schemas)| is_usable && schemas.is_empty());
        let rest = rest.map(|(name, _)| name.as_str()).collect();
        let mut fits = true;
        for ((name, value), schemas) in object.iter().zip(wanted) {
            for schema in schemas {
                fits &= self.part(PathStep::Key(name), schema, value, report)?;
            }
            if self.is_done(fits, report) {
                break;
            }
        }
        self.unmatched = Some((std::ptr::from_ref(all) as usize, std::ptr::from_ref(object) as usize, rest));
        Ok(fits)
    }

    /// Returns the names that no pattern matches. A pattern that cannot be used may have meant any of them.
    fn unmatched(&mut self, all: &'s JsonMap, object: &'v JsonMap) -> Result<Vec<&'v str>> {
        let places = (std::ptr::from_ref(all) as usize, std::ptr::from_ref(object) as usize);
        match self.unmatched.take() {
            Some((patterns, names, rest)) if (patterns, names) == places => return Ok(rest),
            _ => {}
        }
        let mut rest: Vec<&'v str> = object.keys().map(String::as_str).collect();
        for pattern in all.keys() {
            self.spend(rest.len() * KEYWORD_STEPS)?;
            let mut is_matched = vec![false; rest.len()];
            if !self.shared.matches_each(pattern, &rest, &mut |place| is_matched[place] = true)? {
                return Ok(Vec::new());
            }
            let mut is_matched = is_matched.into_iter();
            rest.retain(|_| is_matched.next() == Some(false));
        }
        Ok(rest)
    }

    /// Checks the properties that their neighbours say nothing about.
    fn additional(&mut self, schema: &'s JsonMap, rule: &'s Value, object: &'v JsonMap, report: bool) -> Result<bool> {
        self.spend(object.len() * KEYWORD_STEPS)?;
        let mut rest = match schema.get("patternProperties") {
            Some(Value::Object(all)) => self.unmatched(all, object)?,
            _ => object.keys().map(String::as_str).collect(),
        };
        if let Some(named) = schema.get("properties") {
            rest.retain(|name| named.get(*name).is_none());
        }
        let mut fits = true;
        for (name, value) in rest.into_iter().filter_map(|name| Some((name, object.get(name)?))) {
            if rule == &Value::Bool(false) {
                self.place.push(PathStep::Key(name));
                fits = self.fail(report, "additionalProperties", || "no such property".to_owned());
                self.place.pop();
            } else {
                fits &= self.part(PathStep::Key(name), rule, value, report)?;
            }
            if self.is_done(fits, report) {
                break;
            }
        }
        Ok(fits)
    }

    fn name_fits(&mut self, rule: &'s Value, name: &str) -> Result<bool> {
        self.spend(name.len() / STEP_BYTES)?;
        let value = Value::from(name);
        // Lives as long as the name.
        SchemaChecker::new(self.shared, self.depth).check(rule, &value, false)
    }
}
