//! Every `$ref` followed and every `allOf` joined.

use serde_json::{Value, json};

use super::{SchemaDialect, SchemaRewriter};
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_model::json::{JsonMap, to_sorted_ascii};
use contextweaver_text::quote::quote;

/// Types that a schema may name.
const TYPES: usize = 7;

impl SchemaRewriter<'_> {
    /// Follows each `$ref` of a schema and joins its `allOf`, nothing when no value can fit.
    ///
    /// What stands nearer wins. A `$ref` met within itself is left open.
    pub(super) fn flat(&mut self, map: JsonMap, path: &str) -> Option<JsonMap> {
        let (mut node, mut required) = (JsonMap::new(), SortedMap::new());
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
            let more = if node.contains_key("required") { part.shift_remove("required") } else { None };
            join(&mut node, part);
            if let Some(Value::Array(own)) = node.get_mut("required") {
                // A thousand parts may each require a name: none is looked for in the list of all.
                if required.is_empty() {
                    for name in own.iter() {
                        required.insert(name.to_string(), ());
                    }
                }
                let more = more.as_ref().and_then(Value::as_array).into_iter().flatten();
                own.extend(more.filter(|name| required.insert(name.to_string(), ()).is_none()).cloned());
            }
        }
        Some(node)
    }

    /// Returns the schema that a `$ref` points to. One that the provider follows itself stays, alone.
    fn follow_ref(&mut self, pointer: &Value, siblings: &mut JsonMap, path: &str) -> Option<Value> {
        let text = pointer.as_str().unwrap_or_default();
        let target = text.strip_prefix('#').and_then(|pointer| target(self.root, pointer));
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
        let is_within = self.open.iter().any(|open| open == text);
        if is_within || !self.has_room(target, 1) {
            let why = if is_within { "contains itself" } else { "is too large to stand here" };
            self.changed(path, "$ref", "inlined", format!("{} {why}, here it is left open", quote(text)));
            let open = target.get("type").filter(|named| named.as_array().is_none_or(|list| list.len() <= TYPES));
            return Some(json!({ "type": open.cloned().unwrap_or_else(|| json!("object")) }));
        }
        self.changed(path, "$ref", "inlined", format!("what is at {}", quote(text)));
        self.open.push(text.to_owned());
        Some(target.clone())
    }
}

/// Returns the schema at a JSON pointer within the whole.
fn target<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.is_empty() {
        return Some(root);
    }
    let mut tokens = pointer.strip_prefix('/')?.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
    let mut at = root.get(&tokens.next()?)?;
    for token in tokens {
        at = match at {
            Value::Object(map) => map.get(&token)?,
            Value::Array(list) => list.get(token.parse::<u32>().ok()? as usize)?,
            _ => return None,
        };
    }
    (at.is_object() || at.is_boolean()).then_some(at)
}

/// Returns a `$ref` in the form that `OpenAI` follows, nothing when it does not.
fn kept_ref(text: &str) -> Option<String> {
    let name = text.strip_prefix("#/$defs/").or_else(|| text.strip_prefix("#/definitions/"));
    match name {
        Some(name) if !name.contains('/') => Some(format!("#/$defs/{name}")),
        _ => None,
    }
}

/// Makes one schema of two that both hold. Of many with one name it is one list, not lists within lists.
fn both(known: &mut Value, schema: Value) {
    match known.as_object_mut().filter(|map| map.len() == 1).and_then(|map| map.get_mut("allOf")) {
        Some(Value::Array(all)) => all.push(schema),
        _ => *known = json!({ "allOf": [std::mem::take(known), schema] }),
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
                        Some(known) => both(known, schema),
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
            ("enum", Value::Array(own), Value::Array(more)) => {
                let more = WordSet::new(more.iter().map(|value| to_sorted_ascii(value, None)).collect());
                own.retain(|value| more.contains(&to_sorted_ascii(value, None)));
            }
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
