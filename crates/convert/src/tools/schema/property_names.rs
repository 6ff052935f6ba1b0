//! Properties under names that a provider takes, and the way back.

use serde_json::Value;

use super::keywords::{SubschemaKind, below, each_schema};
use super::mend::append_description;
use super::refs::{local_pointer, resolve};
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_base::{Result, StepBudget, limits};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::{prefix, truncate};

/// Characters of a name.
const NAME_CHARS: usize = 64;
/// Steps of looking at one schema.
const SCHEMA_STEPS: usize = 8;

/// Names for the properties of a schema whose own names have other characters than `A-Z a-z 0-9 _ . -`, or more than 64:
/// each is no name of another property.
#[derive(Debug, Clone, Default)]
pub struct PropertyNames {
    /// By the property's own name.
    written: SortedMap<String, String>,
    /// Own names by the others.
    own: SortedMap<String, String>,
}

/// A property that got another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedProperty {
    /// JSON pointer of the schema that it is a property of.
    pub path: String,
    /// Its own name.
    pub own: String,
    /// The name it got.
    pub written: String,
}

fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=NAME_CHARS).contains(&name.len()) && name.bytes().all(is_plain)
}

impl PropertyNames {
    /// Names the properties of a schema, in the order of the text.
    pub fn of(schema: &Value) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let _ = each_schema(schema, "", &mut |map, _| {
            names.extend(
                map.get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flat_map(|all| all.keys())
                    .map(String::as_str),
            );
            Ok(())
        });
        let taken = WordSet::new(names.iter().map(|name| (*name).to_owned()).collect());
        let mut out = Self::default();
        // The number that comes next for a name that is taken: thousands may begin alike.
        let mut numbers: SortedMap<String, usize> = SortedMap::new();
        for name in names.into_iter().filter(|name| !is_plain(name)) {
            if out.written.contains_key(name) {
                continue;
            }
            let free = |name: &str| !taken.contains(name) && !out.own.contains_key(name);
            let mut written: String = name
                .chars()
                .take(NAME_CHARS)
                .map(|ch| if is_plain(ch.encode_utf8(&mut [0; 4])) { ch } else { '_' })
                .collect();
            if written.is_empty() {
                written.push('_');
            }
            let plain = written.clone();
            while !free(&written) {
                let number = numbers.get_or_insert(&plain, 1);
                *number += 1;
                let end = format!("_{number}");
                written = format!("{}{end}", prefix(&plain, NAME_CHARS - end.len()));
            }
            out.own.insert(written.clone(), name.to_owned());
            out.written.insert(name.to_owned(), written);
        }
        out
    }

    /// Tells whether every property has its own name.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Returns the names that properties got, with their own.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.own.iter().map(|(written, own)| (written.as_str(), own.as_str()))
    }

    /// Writes the names into a schema, and tells where; the description of a property says what it is called.
    pub fn rename(&self, schema: &mut Value, renamed: &mut Vec<RenamedProperty>) {
        if !self.is_empty() {
            self.rename_below(schema, "", renamed);
        }
    }

    fn rename_below(&self, schema: &mut Value, path: &str, renamed: &mut Vec<RenamedProperty>) {
        let Value::Object(map) = schema else { return };
        for key in ["properties", "dependentSchemas", "dependentRequired"] {
            let Some(Value::Object(named)) = map.get_mut(key) else { continue };
            if !named.keys().any(|name| self.written.contains_key(name)) {
                continue;
            }
            let mut out = JsonMap::new();
            for (name, mut value) in std::mem::take(named) {
                let Some(written) = self.written.get(&name) else {
                    out.insert(name, value);
                    continue;
                };
                if let (Value::Object(property), "properties") = (&mut value, key) {
                    append_description(property, &format!("Its own name is {}.", quote(&name)));
                    renamed.push(RenamedProperty {
                        path: path.to_owned(),
                        own: name.clone(),
                        written: written.clone(),
                    });
                }
                out.insert(written.clone(), value);
            }
            *named = out;
            // They speak of the names that properties had.
            map.shift_remove("propertyNames");
            if map.shift_remove("patternProperties").is_some() {
                map.shift_remove("additionalProperties");
            }
        }
        if let Some(Value::Array(list)) = map.get_mut("required") {
            self.rename_list(list);
        }
        if let Some(Value::Object(lists)) = map.get_mut("dependentRequired") {
            lists.values_mut().filter_map(Value::as_array_mut).for_each(|list| self.rename_list(list));
        }
        if let Some(Value::String(text)) = map.get_mut("$ref")
            && let Some(written) = self.reference(text)
        {
            *text = written;
        }
        for (key, value) in map {
            let at = || pointer(path, key);
            match (below(key), value) {
                (SubschemaKind::Map, Value::Object(map)) => {
                    map.iter_mut()
                        .for_each(|(name, one)| self.rename_below(one, &pointer(&at(), &truncate(name, 80)), renamed));
                }
                (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => {
                    let each = list.iter_mut().enumerate();
                    each.for_each(|(index, one)| self.rename_below(one, &format!("{}/{index}", at()), renamed));
                }
                (SubschemaKind::One | SubschemaKind::OneOrList, value) => self.rename_below(value, &at(), renamed),
                _ => {}
            }
        }
    }

    fn rename_list(&self, list: &mut [Value]) {
        for name in list {
            if let Some(written) = name.as_str().and_then(|name| self.written.get(name)) {
                *name = written.as_str().into();
            }
        }
    }

    /// Returns a reference through properties that got other names; nothing for any other.
    fn reference(&self, text: &str) -> Option<String> {
        let place = local_pointer(text)?;
        let (mut out, mut before, mut is_other) = (String::from("#"), String::new(), false);
        for token in place.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let is_name = matches!(before.as_str(), "properties" | "dependentSchemas");
            let written = self.written.get(&token).filter(|_| is_name);
            is_other |= written.is_some();
            out = pointer(&out, written.map_or(token.as_str(), String::as_str));
            // A property may be called as a keyword is.
            before = if is_name { String::new() } else { token };
        }
        is_other.then_some(out)
    }

    /// Returns arguments with the properties' own names, for a call of the tool that has `schema`.
    ///
    /// # Errors
    /// `TOO_LARGE` where finding which of the schema's parts speak of a value takes too many steps.
    pub fn with_own_names(&self, schema: &Value, arguments: &JsonMap) -> Result<JsonMap> {
        self.mapped(schema, arguments, &|name| self.own.get(name).map(|own| (own.as_str(), own.as_str())))
    }

    /// Returns arguments with the names that properties got, as they are written of a call that was made.
    ///
    /// # Errors
    /// As [`Self::with_own_names`].
    pub fn with_written_names(&self, schema: &Value, arguments: &JsonMap) -> Result<JsonMap> {
        let written = |name: &str| {
            let written = self.written.get(name)?;
            self.own.get(written).map(|own| (own.as_str(), written.as_str()))
        };
        self.mapped(schema, arguments, &written)
    }

    fn mapped(&self, schema: &Value, arguments: &JsonMap, names: Names<'_>) -> Result<JsonMap> {
        if self.is_empty() {
            return Ok(arguments.clone());
        }
        let budget = StepBudget::new("naming the arguments", limits::MAX_SCHEMA_STEPS);
        let mut mapper = ArgumentMapper { root: schema, names, budget };
        mapper.object(vec![schema], arguments, 0)
    }
}

/// Returns the own name of the property that a name means, and the name it is to have.
type Names<'n> = &'n dyn Fn(&str) -> Option<(&'n str, &'n str)>;

/// Gives the properties of arguments other names, where the schema speaks of them.
struct ArgumentMapper<'s, 'n> {
    root: &'s Value,
    names: Names<'n>,
    budget: StepBudget,
}

impl<'s> ArgumentMapper<'s, '_> {
    fn object(&mut self, schemas: Vec<&'s Value>, map: &JsonMap, depth: usize) -> Result<JsonMap> {
        let all = self.meeting(schemas)?;
        let mut out = JsonMap::new();
        for (key, value) in map {
            self.budget.charge(all.len() * SCHEMA_STEPS)?;
            let meant = (self.names)(key)
                .filter(|(own, to)| !map.contains_key(*to) && all.iter().any(|one| speaks_of(one, own)));
            let (own, name) = meant.unwrap_or((key, key));
            let mut inner = Vec::new();
            for schema in &all {
                inner.extend(schema.get("properties").and_then(|all| all.get(own)));
                inner.extend(schema.get("additionalProperties"));
                inner.extend(
                    schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(|all| all.values()),
                );
            }
            out.insert(name.to_owned(), self.value(inner, value, depth + 1)?);
        }
        Ok(out)
    }

    fn value(&mut self, schemas: Vec<&'s Value>, value: &Value, depth: usize) -> Result<Value> {
        match value {
            _ if schemas.is_empty() || depth > limits::MAX_DEPTH => Ok(value.clone()),
            Value::Object(map) => self.object(schemas, map, depth).map(Value::Object),
            Value::Array(list) => {
                let mut inner = Vec::new();
                for schema in self.meeting(schemas)? {
                    for key in ["items", "prefixItems", "contains"] {
                        match schema.get(key) {
                            Some(Value::Array(list)) => inner.extend(list),
                            Some(one) => inner.push(one),
                            None => {}
                        }
                    }
                }
                list.iter().map(|one| self.value(inner.clone(), one, depth + 1)).collect()
            }
            other => Ok(other.clone()),
        }
    }

    /// Returns the schemas that a value may meet with those given: what they refer to and their alternatives, each once.
    fn meeting(&mut self, schemas: Vec<&'s Value>) -> Result<Vec<&'s Value>> {
        let (mut waiting, mut all, mut seen) = (schemas, Vec::new(), SortedMap::new());
        while let Some(schema) = waiting.pop() {
            self.budget.charge(SCHEMA_STEPS)?;
            if !schema.is_object() || seen.insert(std::ptr::from_ref(schema) as usize, ()).is_some() {
                continue;
            }
            all.push(schema);
            waiting.extend(schema.get("$ref").and_then(Value::as_str).and_then(|text| resolve(self.root, text)));
            for key in ["allOf", "anyOf", "oneOf"] {
                waiting.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
            }
            waiting.extend(["if", "then", "else", "not"].iter().filter_map(|key| schema.get(*key)));
            waiting.extend(
                schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(|all| all.values()),
            );
        }
        Ok(all)
    }
}

/// Tells whether a schema has something to say of a property.
fn speaks_of(schema: &Value, name: &str) -> bool {
    let has = |key: &str| schema.get(key).and_then(Value::as_object).is_some_and(|all| all.contains_key(name));
    let listed = |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| one == name));
    let dependent = schema.get("dependentRequired").and_then(Value::as_object);
    has("properties")
        || has("dependentSchemas")
        || has("dependentRequired")
        || schema.get("required").is_some_and(listed)
        || dependent.is_some_and(|lists| lists.values().any(listed))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_back_where_the_schema_has_them() {
        let schema = json!({ "type": "object", "properties": {
            "filter[id]": { "type": "string", "description": "Whose." }, "filter_id_": {}, "$top": { "type": "integer" },
            "金額": {}, "": {}, "plain": { "$ref": "#/properties/tree" },
            "tree": { "type": "array", "items": { "properties": { "a b": {} }, "required": ["a b"] } },
            "free": { "type": "object" }, "same": { "$ref": "#/properties/filter[id]" },
        }, "required": ["filter[id]", "plain"], "propertyNames": { "pattern": "x" } });
        let names = PropertyNames::of(&schema);
        let (mut written, mut renamed) = (schema.clone(), Vec::new());
        names.rename(&mut written, &mut renamed);
        let keys: Vec<&str> = written["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["filter_id__2", "filter_id_", "_top", "__", "_", "plain", "tree", "free", "same"]);
        assert_eq!(written["required"], json!(["filter_id__2", "plain"]));
        assert_eq!(written["properties"]["same"]["$ref"], "#/properties/filter_id__2");
        assert_eq!(written["properties"]["tree"]["items"]["required"], json!(["a_b"]));
        assert_eq!(written["properties"]["filter_id__2"]["description"], "Whose. Its own name is `filter[id]`.");
        assert!(written.get("propertyNames").is_none());
        assert_eq!((renamed.len(), renamed[4].path.as_str()), (5, "/properties/tree/items"));
        let own = json!({ "filter[id]": "x", "filter_id_": 1, "plain": [{ "a b": 1 }], "free": { "a_b": 2, "_top": 3 }, "$top": 4 });
        let given = json!({ "filter_id__2": "x", "filter_id_": 1, "plain": [{ "a_b": 1 }], "free": { "a_b": 2, "_top": 3 }, "_top": 4 });
        let back = names.with_own_names(&schema, given.as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(back), own);
        let there = names.with_written_names(&schema, own.as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(there), given);
        // A model that writes the own name is understood as well.
        assert_eq!(names.with_own_names(&schema, own.as_object().unwrap()).unwrap(), *own.as_object().unwrap());
    }

    #[test]
    fn many_long_names_differ() {
        let long = |at: usize| format!("{}{at}", "x".repeat(70));
        let properties: JsonMap = (0..300).map(|at| (long(at), json!({}))).collect();
        let names = PropertyNames::of(&json!({ "properties": properties }));
        assert_eq!(names.iter().count(), 300);
        assert!(names.iter().all(|(written, _)| is_plain(written)));
    }

    #[test]
    fn alternatives_in_alternatives_end() {
        let bomb: JsonMap = (0..40)
            .map(|at| {
                let next = json!({ "$ref": format!("#/$defs/d{}", (at + 1) % 40) });
                (format!("d{at}"), json!({ "anyOf": [next, next], "properties": { "a b": next } }))
            })
            .collect();
        let schema = json!({ "$ref": "#/$defs/d0", "$defs": bomb });
        let deep = (0..50).fold(json!({}), |inner, _| json!({ "a_b": inner, "other": [1, 2] }));
        let names = PropertyNames::of(&schema);
        let back = Value::Object(names.with_own_names(&schema, deep.as_object().unwrap()).unwrap());
        assert!(back["a b"]["a b"]["other"].is_array());
    }
}
