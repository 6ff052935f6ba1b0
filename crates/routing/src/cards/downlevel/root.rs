//! The outermost schema, which every provider wants to be an object without alternatives.

use serde_json::{Value, json};

use super::refs::join;
use super::{SchemaRewriter, types, words};
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{JsonMap, to_sorted_ascii};

/// Keywords that no provider takes at the top.
const CONDITIONS: &[&str] = &["not", "if", "then", "else", "enum", "const"];

impl SchemaRewriter<'_> {
    /// Makes an object of the outermost schema: conjunctions are joined, alternatives become one object that allows the
    /// properties of all, anything but an object becomes the property `value` of one.
    pub(super) fn root_object(&mut self, root: JsonMap) -> JsonMap {
        let mut root = root;
        if ["$ref", "allOf"].into_iter().any(|key| root.contains_key(key)) {
            root = self.flat_root(root);
        }
        let kinds = types(&root);
        let is_object = kinds.iter().any(|name| name == "object");
        if !kinds.is_empty() && !is_object {
            return self.wrapped(root);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(list) = root.shift_remove(key) {
                self.join_objects(&mut root, key, &list);
            }
        }
        for key in CONDITIONS {
            if root.shift_remove(*key).is_some() {
                self.removed("", key, "not taken at the top of a schema");
            }
        }
        if kinds.len() != 1 {
            if !kinds.is_empty() {
                self.rewritten("", "type", "arguments are an object");
            }
            root.shift_remove("type");
            let mut typed = JsonMap::from_iter([("type".to_owned(), json!("object"))]);
            typed.extend(root);
            root = typed;
        }
        if !root.get("properties").is_some_and(Value::is_object) {
            root.insert("properties".to_owned(), json!({}));
        }
        root
    }

    /// Follows each `$ref` and joins each `allOf` of the outermost schema, whatever the provider does further down.
    fn flat_root(&mut self, root: JsonMap) -> JsonMap {
        let kept: Vec<(String, Value)> = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|key| root.get(key).map(|value| (key.to_owned(), value.clone())))
            .collect();
        let dialect = std::mem::replace(&mut self.dialect, super::SchemaDialect::Gemini);
        let flat = self.flat(root, "");
        self.dialect = dialect;
        self.open.clear();
        let mut flat = flat.unwrap_or_default();
        for (key, value) in kept {
            flat.insert(key, value);
        }
        flat
    }

    /// Puts what is no object into one, where each `$ref` still finds its definition.
    fn wrapped(&mut self, mut root: JsonMap) -> JsonMap {
        self.rewritten("", "type", "arguments are an object; what was asked for is its property `value`");
        let definitions: Vec<(String, Value)> = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|key| root.shift_remove(key).map(|value| (key.to_owned(), value)))
            .collect();
        let mut out = JsonMap::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), json!({ "value": root })),
            ("required".to_owned(), json!(["value"])),
        ]);
        out.extend(definitions);
        out
    }

    /// Joins alternative objects: all their properties, required only where all require it.
    fn join_objects(&mut self, root: &mut JsonMap, keyword: &str, list: &Value) {
        let mut required: Option<Vec<Value>> = None;
        let mut seen: JsonMap = JsonMap::new();
        // Schemas by name and text: a property of a thousand branches is not compared with those of all before.
        let mut known: SortedMap<String, ()> = SortedMap::new();
        for branch in list.as_array().into_iter().flatten() {
            let branch = match branch {
                Value::Object(map) => self.flat_root(map.clone()),
                _ => continue,
            };
            let own = branch.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            required = Some(match required {
                None => own,
                Some(so_far) => {
                    let own = words(&own);
                    so_far.into_iter().filter(|name| name.as_str().is_some_and(|name| own.contains(name))).collect()
                }
            });
            for (name, schema) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let mut is_new =
                    |schema| known.insert(format!("{name}\n{}", to_sorted_ascii(schema, None)), ()).is_none();
                if !is_new(schema) {
                    continue;
                }
                let Some(before) = seen.get_mut(name) else {
                    for one in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
                        is_new(one);
                    }
                    seen.insert(name.clone(), schema.clone());
                    continue;
                };
                match before.get_mut("anyOf").and_then(Value::as_array_mut) {
                    Some(list) => list.push(schema.clone()),
                    None => *before = json!({ "anyOf": [std::mem::take(before), schema] }),
                }
            }
        }
        let own = root.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        seen.retain(|name, _| !own.contains_key(name));
        let note = "one object with the properties of all; required is what all require";
        self.rewritten("", keyword, note);
        let required = required.filter(|list| !list.is_empty());
        let mut more = JsonMap::from_iter([("properties".to_owned(), Value::Object(seen))]);
        more.extend(required.map(|list| ("required".to_owned(), Value::Array(list))));
        join(root, more);
    }
}
