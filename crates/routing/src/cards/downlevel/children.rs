//! Providers that take JSON Schema: what is within the outermost schema stays, but for what is known to be refused.

use serde_json::{Value, json};

use super::{MAX_SCHEMAS, SchemaDialect, SchemaRewriter, types};
use contextweaver_base::limits;
use contextweaver_base::order::WordSet;
use contextweaver_model::json::{JsonMap, pointer};

/// Keywords that hold a schema, a list of schemas or either.
const SCHEMAS: &[&str] = &[
    "items",
    "additionalItems",
    "prefixItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "anyOf",
    "oneOf",
    "allOf",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords that hold schemas by names which are nobody's keywords.
const NAMED_SCHEMAS: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

impl SchemaRewriter<'_> {
    /// Rewrites what the provider is known to refuse and keeps the rest.
    pub(super) fn kept(&mut self, value: &Value, path: &str, depth: usize) -> Value {
        self.schemas += 1;
        let Value::Object(map) = value else {
            return value.clone();
        };
        if depth > limits::MAX_DEPTH || self.schemas > MAX_SCHEMAS {
            return value.clone();
        }
        let mut node = map.clone();
        if types(&node).iter().any(|name| name == "array")
            && !["items", "prefixItems"].iter().any(|key| node.contains_key(*key))
        {
            self.rewritten(path, "items", "an array says what its entries are: anything");
            node.insert("items".to_owned(), json!({}));
        }
        if self.dialect == SchemaDialect::Anthropic {
            self.modern(&mut node, path);
        }
        for (key, value) in &mut node {
            let at = pointer(path, key);
            match value {
                Value::Object(named) if NAMED_SCHEMAS.contains(&key.as_str()) => {
                    for (name, schema) in named {
                        *schema = self.kept(schema, &pointer(&at, name), depth + 1);
                    }
                }
                Value::Array(list) if SCHEMAS.contains(&key.as_str()) => {
                    for (index, schema) in list.iter_mut().enumerate() {
                        *schema = self.kept(schema, &format!("{at}/{index}"), depth + 1);
                    }
                }
                _ if SCHEMAS.contains(&key.as_str()) => *value = self.kept(value, &at, depth + 1),
                _ => {}
            }
        }
        Value::Object(node)
    }

    /// Writes older drafts as 2020-12, and leaves out properties whose names are refused.
    fn modern(&mut self, node: &mut JsonMap, path: &str) {
        if let Some(Value::Array(list)) = node.get("items").cloned() {
            self.rewritten(path, "items", "a list of items is called prefixItems");
            node.shift_remove("items");
            node.insert("prefixItems".to_owned(), Value::Array(list));
            if let Some(rest) = node.shift_remove("additionalItems") {
                node.insert("items".to_owned(), rest);
            }
        }
        for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let Some(Value::Bool(is_exclusive)) = node.get(keyword).cloned() else { continue };
            self.rewritten(path, keyword, "the bound itself stands there, not true or false");
            node.shift_remove(keyword);
            let limit = if is_exclusive { node.shift_remove(bound) } else { None };
            node.extend(limit.map(|limit| (keyword.to_owned(), limit)));
        }
        if node.get("required").is_some_and(|required| !required.is_array()) {
            node.shift_remove("required");
            self.removed(path, "required", "not a list of names");
        }
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            let is_plain = |name: &str| {
                (1..=64).contains(&name.len())
                    && name.chars().all(|ch| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '.' | '-'))
            };
            let refused: Vec<String> = properties.keys().filter(|name| !is_plain(name)).cloned().collect();
            properties.retain(|name, _| is_plain(name));
            if let Some(Value::Array(required)) = node.get_mut("required") {
                let gone = WordSet::new(refused.clone());
                required.retain(|name| name.as_str().is_none_or(|name| !gone.contains(name)));
            }
            for name in refused {
                let at = pointer(&pointer(path, "properties"), &name);
                self.removed(&at, &name, "names have 1 to 64 letters, digits, _ . and -");
            }
        }
    }
}
