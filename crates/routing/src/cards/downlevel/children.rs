//! Providers that take JSON Schema: what is within the outermost schema stays, but for what is known to be refused.

use serde_json::{Value, json};

use super::{SchemaRewriter, types};
use contextweaver_base::limits;
use contextweaver_model::json::pointer;

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
        if depth > limits::MAX_DEPTH {
            return value.clone();
        }
        let mut node = map.clone();
        if types(&node).iter().any(|name| name == "array") && !node.contains_key("items") {
            self.rewritten(path, "items", "an array says what its entries are: anything");
            node.insert("items".to_owned(), json!({}));
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
}
