//! The part of `OpenAPI` 3.0 that Gemini takes in a function declaration.

use serde_json::{Value, json};

use super::refs::join;
use super::{SchemaRewriter, append_description, implied_type, types};
use contextweaver_base::order::WordSet;
use contextweaver_model::json::JsonMap;

/// Keywords Gemini takes; every other is an error of the whole request.
const ALLOWED: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "properties",
    "required",
    "items",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "propertyOrdering",
];
/// Formats by type.
const FORMATS: &[(&str, &[&str])] =
    &[("string", &["enum", "date-time"]), ("number", &["float", "double"]), ("integer", &["int32", "int64"])];

impl SchemaRewriter<'_> {
    /// Rewrites a schema whose `$ref` and `allOf` are resolved.
    pub(super) fn gemini(&mut self, mut node: JsonMap, path: &str, depth: usize) -> Option<JsonMap> {
        if node.get("nullable").is_some_and(|nullable| !nullable.is_boolean()) {
            node.shift_remove("nullable");
            self.removed(path, "nullable", "not true or false");
        }
        self.join_alternatives(&mut node, path);
        self.join_items(&mut node, path);
        self.constant(&mut node, path);
        self.exclusive_bounds(&mut node, path);
        let mut named = types(&node);
        let nulls = named.len();
        named.retain(|name| name != "null");
        if named.len() < nulls {
            self.rewritten(path, "type", "null is written as nullable");
            node.insert("nullable".to_owned(), json!(true));
        }
        if named.is_empty() {
            self.types_of_choices(&mut node, path, &mut named);
        }
        if named.len() > 1 && !node.contains_key("anyOf") {
            self.rewritten(path, "type", "several types are written as anyOf");
            let choices = node.shift_remove("enum");
            let branches: Vec<Value> = named.iter().map(|name| branch(name, choices.as_ref())).collect();
            node.insert("anyOf".to_owned(), Value::Array(branches));
            node.shift_remove("type");
            named.clear();
        }
        if let Some(Value::Array(list)) = node.shift_remove("anyOf") {
            return self.gemini_alternatives(node, &list, path, depth);
        }
        let kind = self.one_type(&mut node, named, path);
        self.texts_only(&mut node, &kind, path);
        self.known_format(&mut node, &kind, path);
        self.keep_only(&mut node, path, ALLOWED, "not a keyword of Gemini");
        self.within(&mut node, &kind, path, depth);
        Some(node)
    }

    /// Writes alternatives, beside which Gemini wants nothing else: what is beside them goes into each.
    fn gemini_alternatives(&mut self, mut node: JsonMap, list: &[Value], path: &str, depth: usize) -> Option<JsonMap> {
        let is_null =
            |value: &Value| value.get("type").is_some_and(|name| name == "null") || *value == json!({ "const": null });
        let mut branches: Vec<Value> = Vec::new();
        for branch in list.iter().filter(|branch| !branch.is_boolean() || **branch == json!(true)) {
            if is_null(branch) {
                self.rewritten(path, "anyOf", "null is written as nullable");
                node.insert("nullable".to_owned(), json!(true));
            } else {
                branches.push(branch.clone());
            }
        }
        if !self.has_room(&Value::Object(node.clone()), branches.len()) {
            self.removed(
                path,
                "anyOf",
                "what stands beside the alternatives is too large for each; they are left open",
            );
            return self.gemini(node, path, depth);
        }
        let outside = node.clone();
        let mut distributed = branches.into_iter().map(|branch| {
            let mut branch = branch.as_object().cloned().unwrap_or_default();
            // A `$ref` stands for all that is beside it, so it stays where it is and the rest is joined to it.
            join(&mut branch, outside.clone());
            Value::Object(branch)
        });
        let first = distributed.next();
        let rest: Vec<Value> = distributed.collect();
        match (first, rest.is_empty()) {
            (None, _) if node.contains_key("nullable") || list.is_empty() => {
                self.removed(path, "anyOf", "no alternative is left");
                self.gemini(node, path, depth)
            }
            (None, _) => None,
            (Some(only), true) => self.schema(&only, path, depth + 1).and_then(|only| only.as_object().cloned()),
            (Some(first), false) => {
                let mut all = vec![first];
                all.extend(rest);
                let mut out = self.alternatives(&all, path, depth);
                match out.len() {
                    0 => None,
                    1 => out.remove(0).as_object().cloned(),
                    _ => Some(JsonMap::from_iter([("anyOf".to_owned(), Value::Array(out))])),
                }
            }
        }
    }

    /// Gives a schema its one type; it must have one.
    fn one_type(&mut self, node: &mut JsonMap, named: Vec<String>, path: &str) -> String {
        if let Some(name) = named.into_iter().next() {
            if node.get("type").is_none_or(|own| *own != name.as_str()) {
                node.insert("type".to_owned(), Value::from(name.as_str()));
            }
            return name;
        }
        let implied = implied_type(node);
        if implied.is_none() && !node.contains_key("enum") {
            self.rewritten(path, "type", "a value of any type is asked for as text");
        }
        let kind = implied.unwrap_or("string");
        node.shift_remove("type");
        node.insert("type".to_owned(), json!(kind));
        kind.to_owned()
    }

    /// Finds the types of an enumeration that names none.
    fn types_of_choices(&mut self, node: &mut JsonMap, path: &str, named: &mut Vec<String>) {
        let Some(Value::Array(list)) = node.get("enum").filter(|_| !node.contains_key("anyOf")) else { return };
        for kind in list.iter().filter(|value| !value.is_null()).map(kind_of) {
            if !named.iter().any(|name| name == kind) {
                named.push(kind.to_owned());
            }
        }
        // Whole numbers are numbers.
        if named.iter().any(|name| name == "number") {
            named.retain(|name| name != "integer");
        }
        if list.iter().any(Value::is_null) {
            self.rewritten(path, "enum", "null is written as nullable");
            node.insert("nullable".to_owned(), json!(true));
        }
    }

    fn constant(&mut self, node: &mut JsonMap, path: &str) {
        if let Some(value) = node.shift_remove("const") {
            self.rewritten(path, "const", "an enum of one value");
            if !node.contains_key("type") {
                node.insert("type".to_owned(), json!(kind_of(&value)));
            }
            node.insert("enum".to_owned(), json!([value]));
        }
    }

    /// Keeps an enumeration of texts; one of other values is told in the description.
    fn texts_only(&mut self, node: &mut JsonMap, kind: &str, path: &str) {
        let Some(Value::Array(list)) = node.shift_remove("enum") else {
            return;
        };
        let (nulls, values): (Vec<Value>, Vec<Value>) = list.into_iter().partition(Value::is_null);
        if !nulls.is_empty() {
            self.rewritten(path, "enum", "null is written as nullable");
            node.insert("nullable".to_owned(), json!(true));
        }
        let is_listable = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        if kind == "string" && !values.is_empty() && values.iter().all(is_listable) {
            node.insert("enum".to_owned(), Value::Array(values));
        } else if !values.is_empty() {
            let shown: Vec<String> = values.iter().map(Value::to_string).collect();
            self.rewritten(
                path,
                "enum",
                "only texts that are not empty can be listed; the values are told in the description",
            );
            append_description(node, &format!("One of: {}.", shown.join(", ")));
        }
    }

    /// Writes bounds that exclude themselves as bounds that do not: the next whole number, or else the same.
    fn exclusive_bounds(&mut self, node: &mut JsonMap, path: &str) {
        let whole = types(node).iter().any(|name| name == "integer");
        for (keyword, bound, step) in [("exclusiveMinimum", "minimum", 1.0), ("exclusiveMaximum", "maximum", -1.0)] {
            let Some(value) = node.shift_remove(keyword) else { continue };
            self.rewritten(path, keyword, "the bound is included, or the next whole number");
            let own = node.get(bound).and_then(Value::as_f64);
            let limit = match &value {
                Value::Bool(true) => own,
                other => other.as_f64(),
            };
            let next = limit.map(|limit| match whole {
                false => limit,
                true if step > 0.0 => limit.floor() + step,
                true => limit.ceil() + step,
            });
            // Of two bounds the narrower one counts.
            let narrower = next.filter(|next| own.is_none_or(|own| (next - own) * step > 0.0));
            if let Some(next) = narrower {
                let next = match value {
                    Value::Number(_) if !whole => value,
                    _ if whole && next.abs() < 9e15 => json!(next as i64),
                    _ => json!(next),
                };
                node.insert(bound.to_owned(), next);
            }
        }
    }

    fn known_format(&mut self, node: &mut JsonMap, kind: &str, path: &str) {
        let known = FORMATS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, known)| known);
        if node.get("format").is_some_and(|format| !format.as_str().is_some_and(|format| known.contains(&format))) {
            let format = node.shift_remove("format");
            self.removed(path, "format", "not a format Gemini knows");
            if let Some(format) = format.as_ref().and_then(Value::as_str).filter(|_| kind == "string") {
                append_description(node, &format!("Format: {format}."));
            }
        }
    }

    /// Rewrites what is within an object or an array, and leaves out what belongs to other types.
    fn within(&mut self, node: &mut JsonMap, kind: &str, path: &str, depth: usize) {
        for (owner, keywords) in [
            ("object", &["properties", "required", "minProperties", "maxProperties", "propertyOrdering"][..]),
            ("array", &["items", "minItems", "maxItems"]),
        ] {
            for key in keywords.iter().filter(|_| kind != owner) {
                if node.shift_remove(*key).is_some() {
                    self.removed(path, key, "belongs to another type");
                }
            }
        }
        if kind == "array" {
            let items =
                node.get("items").cloned().and_then(|items| self.schema(&items, &format!("{path}/items"), depth + 1));
            if items.is_none() {
                self.rewritten(path, "items", "an array says what its entries are: text");
            }
            node.insert("items".to_owned(), items.unwrap_or_else(|| json!({ "type": "string" })));
        }
        if kind == "object" {
            self.properties(node, path, depth);
            let names = node.get("properties").and_then(Value::as_object).into_iter().flat_map(JsonMap::keys);
            let names = WordSet::new(names.cloned().collect());
            for key in ["required", "propertyOrdering"] {
                let Some(value) = node.shift_remove(key) else { continue };
                let mut list = value.as_array().cloned().unwrap_or_default();
                let count = list.len();
                list.retain(|name| name.as_str().is_some_and(|name| names.contains(name)));
                if list.len() < count || !value.is_array() {
                    self.rewritten(path, key, "only properties there are");
                }
                if !list.is_empty() {
                    node.insert(key.to_owned(), Value::Array(list));
                }
            }
            // An empty list of properties is refused.
            if names.is_empty() {
                node.shift_remove("properties");
            }
        }
    }
}

/// Returns the type of a value.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Null => "null",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) => "string",
    }
}

/// Returns the alternative of one type, with the choices that are of it.
fn branch(name: &str, choices: Option<&Value>) -> Value {
    let is_of = |value: &&Value| kind_of(value) == name || name == "number" && value.is_number();
    let own: Vec<Value> = choices.and_then(Value::as_array).into_iter().flatten().filter(is_of).cloned().collect();
    if own.is_empty() { json!({ "type": name }) } else { json!({ "type": name, "enum": own }) }
}
