//! Rewrites schemas to the subset of JSON Schema that `OpenAI` takes in strict mode.

use serde_json::{Value, json};

use super::{SchemaRewriter, implied_type, types, words};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::redact::redact_id;

/// The keywords of strict schemas.
const ALLOWED: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];
/// The values of `format` in strict schemas.
const FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

impl SchemaRewriter<'_> {
    /// Rewrites a schema in which `flat` has followed each `$ref` that it can, and joined each `allOf`.
    pub(super) fn strict(&mut self, mut node: JsonMap, path: &str, depth: usize) -> JsonMap {
        if node.contains_key("$ref") {
            return node;
        }
        self.join_alternatives(&mut node, path);
        self.join_items(&mut node, path);
        if depth == 0 {
            self.definitions(&mut node, path);
        } else if node.shift_remove("$defs").is_some() {
            self.removed(path, "$defs", "only taken at the top");
        }
        for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if let Some(Value::Bool(is_exclusive)) = node.get(keyword).cloned() {
                self.rewritten(path, keyword, "the bound itself stands there, not true or false");
                node.shift_remove(keyword);
                let limit = if is_exclusive { node.shift_remove(bound) } else { None };
                node.extend(limit.map(|limit| (keyword.to_owned(), limit)));
            }
        }
        if node.shift_remove("nullable") == Some(json!(true)) {
            self.rewritten(path, "nullable", "null is one of the types");
            node = nullable(node);
        }
        if node.get("format").is_some_and(|format| !format.as_str().is_some_and(|format| FORMATS.contains(&format))) {
            node.shift_remove("format");
            self.removed(path, "format", "not a format of strict schemas");
        }
        self.close(&mut node, path, depth);
        self.keep_only(&mut node, path, ALLOWED, "not a keyword of strict schemas");
        if let Some(Value::Array(list)) = node.get("anyOf").cloned() {
            let branches = self.alternatives(&list, path, depth);
            node.shift_remove("anyOf");
            if branches.is_empty() {
                self.removed(path, "anyOf", "no alternative is left");
            } else {
                node.insert("anyOf".to_owned(), Value::Array(branches));
            }
        }
        if types(&node).iter().any(|name| name == "array") {
            let items =
                node.get("items").cloned().and_then(|items| self.schema(&items, &format!("{path}/items"), depth + 1));
            if items.is_none() {
                self.rewritten(path, "items", "an array says what its entries are: texts, numbers or truth values");
            }
            node.insert("items".to_owned(), items.unwrap_or_else(anything));
        } else if node.shift_remove("items").is_some() {
            self.removed(path, "items", "belongs to another type");
        }
        if !["type", "anyOf", "enum", "const"].iter().any(|key| node.contains_key(*key)) {
            self.rewritten(path, "type", "a value of any type is a text, a number or a truth value");
            node.extend(anything().as_object().cloned().unwrap_or_default());
        }
        node
    }

    /// Moves `definitions` into `$defs`, and rewrites each definition.
    fn definitions(&mut self, node: &mut JsonMap, path: &str) {
        let old = node.shift_remove("definitions");
        let mut all = node.shift_remove("$defs").and_then(|defs| defs.as_object().cloned()).unwrap_or_default();
        if let Some(Value::Object(old)) = old {
            self.rewritten(path, "definitions", "called $defs");
            for (name, schema) in old {
                all.entry(name).or_insert(schema);
            }
        }
        if all.is_empty() {
            return;
        }
        let mut out = JsonMap::new();
        for (name, schema) in all {
            let at = pointer(&pointer(path, "$defs"), &name);
            let schema = self.schema(&schema, &at, 1).unwrap_or_else(anything);
            out.insert(name, schema);
        }
        node.insert("$defs".to_owned(), Value::Object(out));
    }

    /// Writes the type of a schema, and closes an object: it allows no properties but its own, all of them are
    /// required, and optional ones may be null instead. Other schemas lose the keywords of objects.
    fn close(&mut self, node: &mut JsonMap, path: &str, depth: usize) {
        let mut named = types(node);
        if named.is_empty() && !node.contains_key("anyOf") {
            named.extend(implied_type(node).map(str::to_owned));
        }
        match named.as_slice() {
            [] => {
                node.shift_remove("type");
            }
            [one] => {
                node.insert("type".to_owned(), Value::from(one.as_str()));
            }
            several => {
                node.insert("type".to_owned(), json!(several));
            }
        }
        let own = ["properties", "required", "additionalProperties"];
        if !named.iter().any(|name| name == "object") {
            for key in own {
                if node.shift_remove(key).is_some() {
                    self.removed(path, key, "belongs to another type");
                }
            }
            return;
        }
        self.properties(node, path, depth);
        let required = words(node.get("required").and_then(Value::as_array).map_or(&[], Vec::as_slice));
        let mut properties = node.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut optional = Vec::new();
        for (name, schema) in &mut properties {
            if !required.contains(name) {
                optional.push(name.clone());
                *schema = Value::Object(nullable(std::mem::take(schema).as_object().cloned().unwrap_or_default()));
            }
        }
        if !optional.is_empty() {
            let which = redact_id(&optional.join(", ")).into_owned();
            self.rewritten(path, "required", &format!("optional properties are required and may be null: {which}"));
        }
        if node.get("additionalProperties").is_some_and(|more| *more != json!(false)) {
            self.rewritten(path, "additionalProperties", "an object has no properties but its own");
        }
        node.insert("required".to_owned(), properties.keys().map(|name| json!(name)).collect());
        node.insert("properties".to_owned(), Value::Object(properties));
        node.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// Returns the schema for a value without one: a string, a number, a boolean or null.
fn anything() -> Value {
    json!({ "type": ["string", "number", "boolean", "null"] })
}

/// Makes a schema allow null as well.
fn nullable(mut node: JsonMap) -> JsonMap {
    let mut named = types(&node);
    let is_choice = named.is_empty() && !node.contains_key("enum") && !node.contains_key("const");
    if let Some(Value::Array(list)) = node.get_mut("anyOf").filter(|_| is_choice) {
        if !list.iter().any(|branch| branch.get("type") == Some(&json!("null"))) {
            list.push(json!({ "type": "null" }));
        }
        return node;
    }
    if named.is_empty() {
        // Without a type there is no list of types to add null to, and nothing may stand beside a `$ref`.
        let branch = Value::Object(node);
        return JsonMap::from_iter([("anyOf".to_owned(), json!([branch, { "type": "null" }]))]);
    }
    if node.contains_key("const") || node.contains_key("anyOf") {
        return JsonMap::from_iter([("anyOf".to_owned(), json!([node, { "type": "null" }]))]);
    }
    if !named.iter().any(|name| name == "null") {
        named.push("null".to_owned());
    }
    node.insert("type".to_owned(), json!(named));
    if let Some(Value::Array(list)) = node.get_mut("enum")
        && !list.contains(&Value::Null)
    {
        list.push(Value::Null);
    }
    node
}
