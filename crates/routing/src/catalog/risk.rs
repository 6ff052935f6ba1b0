//! What a change of a tool means for those who call it: which way it goes, not only where it is.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::order;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::redact::redact_id;

/// What a change may break, the harmless first.
pub const RISKS: &[&str] = &["none", "documentation", "compatible", "review", "breaking"];

/// A change of one field of a tool, and what it means for callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolChange {
    /// JSON pointer within the tool, or within its schema.
    pub path: String,
    /// What it may break.
    #[cfg_attr(feature = "ts", ts(type = "\"none\" | \"documentation\" | \"compatible\" | \"review\" | \"breaking\""))]
    pub risk: &'static str,
    /// The change in a few words.
    pub effect: &'static str,
}

/// Returns the highest risk among changes, `none` without any.
pub fn worst(changes: &[ToolChange]) -> &'static str {
    let rank = |change: &ToolChange| RISKS.iter().position(|risk| *risk == change.risk).unwrap_or(0);
    RISKS[changes.iter().map(rank).max().unwrap_or(0)]
}

/// Tells whether two values are the same; numbers are compared by value.
pub(crate) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}

/// Returns how dangerous a call of a tool is said to be: 0 reads, 1 writes, 2 destroys.
fn danger(item: &SelectableItem) -> u8 {
    let tag = |name: &str| item.tags.iter().any(|tag| tag == name);
    let hint = |name: &str| item.metadata.get(name) == Some(&Value::Bool(true));
    let inventory = super::inventory_of(item).ok().flatten().unwrap_or_default();
    let declared = inventory.get("side_effects").and_then(Value::as_str).unwrap_or("");
    if tag("destructive") || hint("destructiveHint") || declared == "destructive" {
        2
    } else {
        u8::from(item.side_effects || declared == "write")
    }
}

/// Returns the field that says of two forms of a tool that one is more dangerous.
fn danger_path(before: &SelectableItem, after: &SelectableItem) -> &'static str {
    let is_tagged = |item: &SelectableItem| item.tags.iter().any(|tag| tag == "destructive");
    if before.side_effects != after.side_effects {
        "/side_effects"
    } else if before.metadata.get("destructiveHint") != after.metadata.get("destructiveHint") {
        "/metadata/destructiveHint"
    } else if is_tagged(before) != is_tagged(after) {
        "/tags"
    } else {
        "/metadata"
    }
}

/// Lists what changed from one form of a tool to another, and what each change may break.
///
/// Taking less as input, or giving more kinds of output, breaks callers; the other way round is compatible.
pub fn assess(before: &SelectableItem, after: &SelectableItem) -> Vec<ToolChange> {
    let mut changes = Vec::new();
    let mut add = |path: &str, risk, effect| changes.push(ToolChange { path: path.to_owned(), risk, effect });
    let (was, is) = (danger(before), danger(after));
    if was != is {
        let worse = is > was;
        let effect = if worse { "calls do more harm" } else { "calls do less harm" };
        add(danger_path(before, after), if worse { "breaking" } else { "compatible" }, effect);
    } else if before.side_effects != after.side_effects {
        add("/side_effects", "review", "changed");
    }
    for (path, risk, differs) in [
        ("/kind", "breaking", before.kind != after.kind),
        ("/name", "breaking", before.name != after.name),
        ("/title", "documentation", before.title != after.title),
        ("/description", "documentation", before.description != after.description),
        ("/examples", "documentation", before.examples != after.examples),
        ("/namespace", "review", before.namespace != after.namespace),
        ("/tags", "review", before.tags != after.tags),
        ("/cost_hint", "compatible", !order_same(before.cost_hint, after.cost_hint)),
        ("/depends_on", "review", before.depends_on != after.depends_on),
        ("/requires", "review", before.requires != after.requires),
        ("/provides", "review", before.provides != after.provides),
        ("/constraints", "review", !same_map(&before.constraints, &after.constraints)),
        ("/metadata", "review", !same_map(&before.metadata, &after.metadata)),
    ] {
        if differs {
            add(path, risk, "changed");
        }
    }
    let mut walk = SchemaComparison { input: true, changes: &mut changes };
    walk.schema(&before.args_schema, &after.args_schema, "/args_schema");
    walk.input = false;
    match (&before.output_schema, &after.output_schema) {
        (Some(before), Some(after)) => walk.schema(before, after, "/output_schema"),
        (None, Some(_)) => walk.narrowed("/output_schema", "added"),
        (Some(_), None) => walk.widened("/output_schema", "removed"),
        (None, None) => {}
    }
    order::sort_by(&mut changes, |a, b| a.path.cmp(&b.path));
    changes
}

fn order_same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}

fn same_map(a: &JsonMap, b: &JsonMap) -> bool {
    a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
}

/// Keywords of a schema by what a change of them means.
const DOCUMENTATION: &[&str] =
    &["description", "title", "$comment", "examples", "example", "deprecated", "$schema", "$id", "markdownDescription"];
const LOWER_BOUNDS: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
const UPPER_BOUNDS: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];
const LIMITS: &[&str] =
    &["pattern", "format", "multipleOf", "uniqueItems", "const", "not", "items", "contains", "propertyNames"];
const NAMED: &[&str] = &["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const TYPES: &[&str] = &["string", "number", "boolean", "object", "array", "null"];

/// Compares two JSON schemas place by place and collects what values they take.
struct SchemaComparison<'a> {
    input: bool,
    changes: &'a mut Vec<ToolChange>,
}

impl SchemaComparison<'_> {
    fn add(&mut self, path: &str, risk: &'static str, effect: &'static str) {
        self.changes.push(ToolChange { path: redact_id(path).into_owned(), risk, effect });
    }

    /// Fewer values fit than before.
    fn narrowed(&mut self, path: &str, effect: &'static str) {
        self.add(path, if self.input { "breaking" } else { "compatible" }, effect);
    }

    /// More values fit than before.
    fn widened(&mut self, path: &str, effect: &'static str) {
        self.add(path, if self.input { "compatible" } else { "breaking" }, effect);
    }

    fn either(&mut self, path: &str, narrower: bool, effect: &'static str) {
        if narrower { self.narrowed(path, effect) } else { self.widened(path, effect) }
    }

    /// Compares two schemas. Their depth is bounded by that of the input.
    fn schema(&mut self, before: &JsonMap, after: &JsonMap, path: &str) {
        let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
        for key in keys {
            let (was, is) = (before.get(key), after.get(key));
            if was.zip(is).is_some_and(|(was, is)| same_value(was, is)) {
                continue;
            }
            self.keyword(key, was, is, &pointer(path, key), after);
        }
    }

    fn keyword(&mut self, key: &str, was: Option<&Value>, is: Option<&Value>, path: &str, after: &JsonMap) {
        let one_of = |list: &[&str]| list.contains(&key);
        if one_of(DOCUMENTATION) {
            self.add(path, "documentation", "changed");
        } else if key == "type" {
            self.sets(types(was).as_deref(), types(is).as_deref(), path, ["a type fewer", "a type more"]);
        } else if key == "enum" {
            self.sets(values(was), values(is), path, ["a value fewer", "a value more"]);
        } else if key == "required" {
            // What is required is the other way round: more names, fewer values.
            self.sets(
                Some(values(is).unwrap_or_default()),
                Some(values(was).unwrap_or_default()),
                path,
                ["required added", "required removed"],
            );
        } else if one_of(NAMED) {
            self.named(key, was, is, path, after);
        } else if one_of(LOWER_BOUNDS) || one_of(UPPER_BOUNDS) {
            self.bound(was, is, path, one_of(LOWER_BOUNDS));
        } else if key == "additionalProperties" || key == "unevaluatedProperties" {
            self.additional(was, is, path);
        } else if let (Some(Value::Object(was)), Some(Value::Object(is))) = (was, is) {
            self.schema(was, is, path);
        } else if one_of(LIMITS) && was.is_some() != is.is_some() {
            self.either(path, is.is_some(), if is.is_some() { "a limit more" } else { "a limit fewer" });
        } else {
            self.add(path, "review", "changed");
        }
    }

    /// Compares two lists of what is allowed; none allows everything.
    fn sets(&mut self, was: Option<&[Value]>, is: Option<&[Value]>, path: &str, effects: [&'static str; 2]) {
        let lacks = |some: Option<&[Value]>, other: Option<&[Value]>| match (some, other) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(some), Some(other)) => other.iter().any(|value| !some.iter().any(|known| same_value(known, value))),
        };
        if lacks(is, was) {
            self.narrowed(path, effects[0]);
        }
        if lacks(was, is) {
            self.widened(path, effects[1]);
        }
    }

    fn named(&mut self, key: &str, was: Option<&Value>, is: Option<&Value>, path: &str, after: &JsonMap) {
        let empty = JsonMap::new();
        let open = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_else(|| empty.clone());
        let (was, is) = (open(was), open(is));
        for name in was.keys().chain(is.keys().filter(|name| !was.contains_key(*name))) {
            let at = pointer(path, name);
            match (was.get(name), is.get(name)) {
                (Some(was), Some(is)) if same_value(was, is) => {}
                (Some(Value::Object(was)), Some(Value::Object(is))) => self.schema(was, is, &at),
                (Some(_), None) if key == "properties" => self.add(&at, "breaking", "removed"),
                (None, Some(_)) if key == "properties" => {
                    let required = after.get("required").and_then(Value::as_array);
                    let needed = required.is_some_and(|list| list.iter().any(|needed| needed == name.as_str()));
                    self.add(&at, if needed && self.input { "breaking" } else { "compatible" }, "added");
                }
                _ => self.add(&at, "review", "changed"),
            }
        }
    }

    fn bound(&mut self, was: Option<&Value>, is: Option<&Value>, path: &str, lower: bool) {
        match (was.and_then(Value::as_f64), is.and_then(Value::as_f64)) {
            (Some(was), Some(is)) => self.either(path, (is > was) == lower, "a bound moved"),
            (None, Some(_)) => self.narrowed(path, "a bound added"),
            (Some(_), None) => self.widened(path, "a bound removed"),
            (None, None) => self.add(path, "review", "changed"),
        }
    }

    fn additional(&mut self, was: Option<&Value>, is: Option<&Value>, path: &str) {
        // Absent allows everything; a schema allows some.
        let allows = |value: Option<&Value>| match value {
            Some(Value::Bool(false)) => 0,
            Some(Value::Object(map)) if !map.is_empty() => 1,
            _ => 2,
        };
        match (was, is) {
            (Some(Value::Object(was)), Some(Value::Object(is))) => self.schema(was, is, path),
            _ if allows(was) == allows(is) => {}
            _ => self.either(path, allows(is) < allows(was), "what else is allowed"),
        }
    }
}

/// Returns the types a schema allows, whole numbers as such; none when it does not say.
fn types(value: Option<&Value>) -> Option<Vec<Value>> {
    let mut list = match value? {
        Value::Array(list) => list.clone(),
        other => vec![other.clone()],
    };
    // Every whole number is a number.
    if list.iter().any(|name| name == "number") {
        list.push("integer".into());
    }
    let all = TYPES.iter().all(|name| list.iter().any(|known| known == name));
    (!all).then_some(list)
}

fn values(value: Option<&Value>) -> Option<&[Value]> {
    value?.as_array().map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(fields: &Value) -> SelectableItem {
        let mut base = json!({ "id": "a", "kind": "tool", "name": "a", "description": "d" });
        for (key, value) in fields.as_object().unwrap() {
            base[key] = value.clone();
        }
        SelectableItem::from_value(base, "").unwrap()
    }

    #[test]
    fn more_danger_is_told_where_it_is_said() {
        let cases = [
            (json!({}), json!({ "side_effects": true }), "/side_effects"),
            (json!({}), json!({ "metadata": { "destructiveHint": true } }), "/metadata/destructiveHint"),
            (json!({}), json!({ "tags": ["destructive"] }), "/tags"),
        ];
        for (before, after, path) in cases {
            let changes = assess(&tool(&before), &tool(&after));
            let found: Vec<&str> = changes
                .iter()
                .filter(|change| change.effect == "calls do more harm")
                .map(|change| change.path.as_str())
                .collect();
            assert_eq!(found, [path]);
        }
    }

    #[test]
    fn changes_have_a_direction() {
        let string = json!({ "type": "string" });
        let cases = [
            (json!({ "type": "string" }), json!({ "type": ["string", "null"] }), "compatible", "breaking"),
            (json!({ "type": "number" }), json!({ "type": "integer" }), "breaking", "compatible"),
            (json!({ "type": "number" }), json!({ "type": "string" }), "breaking", "breaking"),
            (json!({ "enum": [1, 2] }), json!({ "enum": [1, 2.0, 3] }), "compatible", "breaking"),
            (json!({ "enum": [1, 2] }), json!({ "enum": [2] }), "breaking", "compatible"),
            (json!({ "enum": [1] }), json!({}), "compatible", "breaking"),
            (json!({ "required": ["a"] }), json!({ "required": ["a", "b"] }), "breaking", "compatible"),
            (json!({ "required": ["a"] }), json!({}), "compatible", "breaking"),
            (json!({ "maxLength": 3 }), json!({ "maxLength": 2 }), "breaking", "compatible"),
            (json!({ "minimum": 3 }), json!({ "minimum": 2 }), "compatible", "breaking"),
            (json!({}), json!({ "pattern": "a" }), "breaking", "compatible"),
            (json!({ "pattern": "b" }), json!({ "pattern": "a" }), "review", "review"),
            (json!({}), json!({ "additionalProperties": false }), "breaking", "compatible"),
            (json!({ "properties": { "x": string } }), json!({ "properties": {} }), "breaking", "breaking"),
            (json!({}), json!({ "properties": { "x": string } }), "compatible", "compatible"),
            (json!({}), json!({ "properties": { "x": {} }, "required": ["x"] }), "breaking", "compatible"),
            // A property may be called like a keyword.
            (
                json!({ "properties": { "type": { "description": "a" } } }),
                json!({ "properties": { "type": { "description": "b" } } }),
                "documentation",
                "documentation",
            ),
            (json!({ "items": { "type": "string" } }), json!({ "items": { "type": "null" } }), "breaking", "breaking"),
            (json!({ "anyOf": [1] }), json!({ "anyOf": [2] }), "review", "review"),
            (json!({ "minimum": 1 }), json!({ "minimum": 1.0 }), "none", "none"),
        ];
        for (before, after, as_input, as_output) in cases {
            for (field, expected) in [("args_schema", as_input), ("output_schema", as_output)] {
                let changes = assess(&tool(&json!({ field: before })), &tool(&json!({ field: after })));
                assert_eq!(worst(&changes), expected, "{field} {before} -> {after}: {changes:?}");
            }
        }
    }

    #[test]
    fn becoming_dangerous_is_breaking() {
        let reads = json!({ "tags": ["read-only"] });
        for (before, after, expected) in [
            (reads.clone(), json!({ "tags": ["destructive"] }), "breaking"),
            (reads.clone(), json!({ "side_effects": true, "tags": ["read-only"] }), "breaking"),
            (reads.clone(), json!({ "metadata": { "destructiveHint": true }, "tags": ["read-only"] }), "breaking"),
            (json!({ "side_effects": true }), json!({}), "compatible"),
            (json!({}), json!({ "description": "other" }), "documentation"),
        ] {
            assert_eq!(worst(&assess(&tool(&before), &tool(&after))), expected, "{before} -> {after}");
        }
    }
}
