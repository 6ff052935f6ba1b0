//! Every `$ref` followed and every `allOf` joined.

use serde_json::{Value, json};

use super::{MAX_SCHEMAS, SchemaDialect, SchemaRewriter};
use contextweaver_model::json::JsonMap;
use contextweaver_text::unicode::quote;

impl SchemaRewriter<'_> {
    /// Follows each `$ref` of a schema and joins its `allOf`, nothing when no value can fit.
    ///
    /// What stands nearer wins. A `$ref` met within itself is left open.
    pub(super) fn flat(&mut self, map: JsonMap, path: &str) -> Option<JsonMap> {
        let mut node = JsonMap::new();
        // The last is next, so that parts are joined in their order.
        let mut parts = vec![Value::Object(map)];
        while let Some(part) = parts.pop() {
            let mut part = match part {
                Value::Object(part) => part,
                Value::Bool(false) => return None,
                _ => continue,
            };
            if let Some(all) = part.shift_remove("allOf") {
                self.schemas += all.as_array().map_or(0, Vec::len);
                self.rewritten(path, "allOf", "joined into one schema");
                parts.extend(all.as_array().into_iter().flatten().rev().cloned());
            }
            if let Some(pointer) = part.shift_remove("$ref") {
                match self.follow_ref(&pointer, &mut part, path) {
                    Some(target) => parts.push(target),
                    None if part.contains_key("$ref") => return Some(part),
                    None => {}
                }
            }
            join(&mut node, part);
        }
        Some(node)
    }

    /// Returns the schema that a `$ref` points to. One that the provider follows itself stays, alone.
    fn follow_ref(&mut self, pointer: &Value, siblings: &mut JsonMap, path: &str) -> Option<Value> {
        let text = pointer.as_str().unwrap_or_default();
        let target = text.strip_prefix('#').and_then(|pointer| self.target(pointer));
        let Some(target) = target else {
            self.removed(path, "$ref", &format!("nothing is at {} in this schema", quote(text)));
            return None;
        };
        if self.dialect == SchemaDialect::OpenAiStrict
            && let Some(kept) = kept_ref(text)
        {
            for key in siblings.keys().cloned().collect::<Vec<_>>() {
                self.removed(path, &key, "nothing may stand beside $ref");
            }
            if kept != text {
                self.rewritten(path, "$ref", "definitions are called $defs");
            }
            *siblings = JsonMap::from_iter([("$ref".to_owned(), json!(kept))]);
            return None;
        }
        self.schemas += 1;
        if self.open.iter().any(|open| open == text) || self.schemas > MAX_SCHEMAS {
            self.changed(path, "$ref", "inlined", format!("{} contains itself, here it is left open", quote(text)));
            let open = target.get("type").cloned().unwrap_or_else(|| json!("object"));
            return Some(json!({ "type": open }));
        }
        self.changed(path, "$ref", "inlined", format!("what is at {}", quote(text)));
        self.open.push(text.to_owned());
        Some(target)
    }

    /// Returns the schema at a JSON pointer within the whole.
    fn target(&self, pointer: &str) -> Option<Value> {
        if pointer.is_empty() {
            return Some(Value::Object(self.root.clone()));
        }
        let mut tokens = pointer.strip_prefix('/')?.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
        let mut at = self.root.get(&tokens.next()?)?;
        for token in tokens {
            at = match at {
                Value::Object(map) => map.get(&token)?,
                Value::Array(list) => list.get(token.parse::<u32>().ok()? as usize)?,
                _ => return None,
            };
        }
        (at.is_object() || at.is_boolean()).then(|| at.clone())
    }
}

/// Returns a `$ref` in the form that `OpenAI` follows, nothing when it does not.
fn kept_ref(text: &str) -> Option<String> {
    let name = text.strip_prefix("#/$defs/").or_else(|| text.strip_prefix("#/definitions/"));
    match name {
        Some(name) if !name.contains('/') => Some(format!("#/$defs/{name}")),
        _ => None,
    }
}

/// Joins a schema into another: properties and required names of both, of other keywords the first.
pub(super) fn join(node: &mut JsonMap, part: JsonMap) {
    for (key, value) in part {
        let Some(own) = node.get_mut(&key) else {
            node.insert(key, value);
            continue;
        };
        match (key.as_str(), own, value) {
            ("properties", Value::Object(own), Value::Object(more)) => {
                for (name, schema) in more {
                    match own.get_mut(&name) {
                        None => {
                            own.insert(name, schema);
                        }
                        Some(known) if *known == schema => {}
                        Some(known) => *known = json!({ "allOf": [known.clone(), schema] }),
                    }
                }
            }
            ("required", Value::Array(own), Value::Array(more)) => {
                for name in more {
                    if !own.contains(&name) {
                        own.push(name);
                    }
                }
            }
            ("enum", Value::Array(own), Value::Array(more)) => own.retain(|value| more.contains(value)),
            ("minimum" | "minLength" | "minItems" | "exclusiveMinimum", own, more) if more.as_f64() > own.as_f64() => {
                *own = more;
            }
            ("maximum" | "maxLength" | "maxItems" | "exclusiveMaximum", own, more) if more.as_f64() < own.as_f64() => {
                *own = more;
            }
            _ => {}
        }
    }
}
