//! Checks the arguments of a tool against its schema, and brings other spellings into the one the tools read.
//!
//! Complaints name the place and what is expected there, never the value: arguments may be secrets.

use serde_json::{Map, Value};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::type_name;
use contextweaver_text::unicode::prefix;

/// Values that a store accepts beyond those of the tools' schemas.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowedValues<'a> {
    /// Categories beside the five that every store has.
    pub categories: &'a [String],
}

/// Complaints of one call that are told.
const MAX_PROBLEMS: usize = 10;

/// Returns the arguments as the tools read them: without nulls, in snake case.
///
/// # Errors
///
/// `INVALID_INPUT` with up to ten complaints.
pub fn checked(schema: &Value, arguments: Value, allowed: AllowedValues<'_>) -> Result<Map<String, Value>> {
    let mut checker = ArgumentChecker { allowed, problems: Vec::new() };
    let value = checker.read(schema, "", arguments);
    let ArgumentChecker { problems, .. } = checker;
    match value {
        Some(Value::Object(map)) if problems.is_empty() => Ok(map),
        _ => Err(Error::new(ErrorCode::InvalidInput, problems.join("; "))),
    }
}

struct ArgumentChecker<'a> {
    allowed: AllowedValues<'a>,
    problems: Vec<String>,
}

impl ArgumentChecker<'_> {
    fn complain(&mut self, path: &str, rule: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            let path = if path.is_empty() { "arguments" } else { path };
            self.problems.push(format!("{path}: {rule}"));
        }
    }

    /// Reads a value as its schema says; nothing for a null that means absent.
    fn read(&mut self, schema: &Value, path: &str, value: Value) -> Option<Value> {
        // The only alternative in the table is null.
        if let Some(schema) = schema.pointer("/anyOf/0") {
            return if value.is_null() { None } else { self.read(schema, path, value) };
        }
        let wanted = schema["type"].as_str().unwrap_or_default();
        if !has_type(&value, wanted) {
            let article = if wanted.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            self.complain(path, &format!("expected {article} {wanted}, got {}", type_name(&value)));
            return Some(value);
        }
        Some(match value {
            Value::Object(map) => Value::Object(self.object(schema, path, map)),
            Value::Array(list) => {
                let items = &schema["items"];
                let entries = list.into_iter().enumerate();
                entries.filter_map(|(index, entry)| self.entry(items, &format!("{path}[{index}]"), entry)).collect()
            }
            other => {
                self.plain(schema, path, &other);
                other
            }
        })
    }

    fn entry(&mut self, items: &Value, path: &str, entry: Value) -> Option<Value> {
        if items.is_null() { Some(entry) } else { self.read(items, path, entry) }
    }

    fn object(&mut self, schema: &Value, path: &str, mut map: Map<String, Value>) -> Map<String, Value> {
        let Some(properties) = schema["properties"].as_object() else { return map };
        let mut read = Map::new();
        for (name, property) in properties {
            let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let is_required = schema["required"].as_array().is_some_and(|list| list.iter().any(|one| one == name));
            let given = spelling(&map, name).and_then(|key| map.shift_remove(&key));
            // Null where a value is needed is a wrong type, unless the schema knows a default for what is absent.
            let given = given.filter(|value| is_required || !value.is_null());
            match given {
                Some(value) => {
                    if let Some(value) = self.read(property, &at, value) {
                        read.insert(name.clone(), value);
                    }
                }
                None if is_required => self.complain(&at, "required"),
                None => {}
            }
        }
        read
    }

    /// Checks a text, a number or a flag.
    fn plain(&mut self, schema: &Value, path: &str, value: &Value) {
        if let Some(values) = schema["enum"].as_array() {
            let more: &[String] = if path == "category" { self.allowed.categories } else { &[] };
            if !values.contains(value) && !more.iter().any(|known| value == known) {
                let names = values.iter().filter_map(Value::as_str).chain(more.iter().map(String::as_str));
                let names: Vec<&str> = names.collect();
                self.complain(path, &format!("one of {}", names.join(", ")));
            }
        }
        if let Value::String(text) = value
            && schema["minLength"] == 1
            && text.is_empty()
        {
            self.complain(path, "must not be empty");
        }
        if let Some(number) = value.as_f64() {
            for (keyword, is_broken, rule) in BOUNDS {
                let bound = &schema[*keyword];
                if bound.as_f64().is_some_and(|bound| is_broken(number, bound)) {
                    self.complain(path, &format!("{rule} {bound}"));
                }
            }
        }
    }
}

/// Keywords for numbers, when they are broken, and how that is said.
type NumericBound = (&'static str, fn(f64, f64) -> bool, &'static str);
const BOUNDS: &[NumericBound] = &[
    ("minimum", |number, bound| number < bound, "at least"),
    ("maximum", |number, bound| number > bound, "at most"),
    ("exclusiveMinimum", |number, bound| number <= bound, "more than"),
];

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        // JavaScript has no other numbers.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() <= 9e15),
        "" => true,
        other => type_name(value) == other,
    }
}

/// Returns how a field is spelled in an object: as it is, in camel case, or by its other name.
fn spelling(map: &Map<String, Value>, name: &str) -> Option<String> {
    if map.contains_key(name) {
        return Some(name.to_owned());
    }
    let camel = camel_case(name);
    let other = if name == "function" { "purpose" } else { &camel };
    map.contains_key(other).then(|| other.to_owned())
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let first = prefix(part, 1);
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(&part[first.len()..]);
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tool_specs::tool;
    use super::*;

    fn check(name: &str, arguments: Value) -> std::result::Result<Value, String> {
        let categories = ["naming".to_owned()];
        let schema = &tool(name).unwrap().input;
        let allowed = AllowedValues { categories: &categories };
        checked(schema, arguments, allowed).map(Value::Object).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn complaints_name_the_place_and_the_rule() {
        let step = json!({ "step": 0, "thought": "" });
        for (name, arguments, problem) in [
            ("query_decisions", json!({}), "query: required"),
            ("query_decisions", json!({ "query": null }), "query: expected a string, got null"),
            ("query_decisions", json!({ "query": "" }), "query: must not be empty"),
            ("query_decisions", json!({ "query": "x", "limit": 51 }), "limit: at most 50"),
            ("query_decisions", json!({ "query": "x", "limit": 0.5 }), "limit: expected an integer, got number"),
            ("query_decisions", json!({ "query": "x", "limit": true }), "limit: expected an integer, got boolean"),
            (
                "query_decisions",
                json!({ "query": 1, "retrieval_mode": "fuzzy" }),
                "query: expected a string, got number; retrieval_mode: one of semantic, keyword, hybrid",
            ),
            ("query_decisions", json!([1]), "arguments: expected an object, got array"),
            ("pre_action", json!({ "action": {} }), "action.description: required"),
            (
                "pre_action",
                json!({ "action": { "description": "x" }, "reasons": [{ "type": "analysis", "text": "t" }, { "type": 1 }] }),
                "reasons[1].type: expected a string, got number; reasons[1].text: required",
            ),
            (
                "link_decisions",
                json!({ "source_id": "a", "target_id": "b", "edge_type": "relates_to", "weight": 0 }),
                "weight: more than 0",
            ),
            (
                "log_decision",
                json!({ "decision": "x", "confidence": 1.01, "category": "naming" }),
                "confidence: at most 1",
            ),
            (
                "log_decision",
                json!({ "decision": "x", "confidence": 1, "category": "other" }),
                "category: one of architecture, process, integration, tooling, security, naming",
            ),
            (
                "log_decision",
                json!({ "decision": "x", "confidence": 1, "category": "naming", "deliberation": { "steps": [step] } }),
                "deliberation.steps[0].step: at least 1; deliberation.steps[0].thought: must not be empty",
            ),
        ] {
            assert_eq!(check(name, arguments.clone()).unwrap_err(), problem, "{arguments}");
        }
        let many = json!({ "query": "x", "filters": { "stakes": vec![1; 99] } });
        assert_eq!(check("query_decisions", many).unwrap_err().split("; ").count(), MAX_PROBLEMS);
    }

    #[test]
    fn other_spellings_are_read_and_nulls_left_out() {
        let arguments = json!({
            "decision": "x", "confidence": 1, "category": "naming", "kpiIndicators": ["a"], "reviewIn": "2w", "stakes": null,
            "bridge": { "structure": "s", "purpose": "f", "tolerance": null }, "mental_state": null, "agentId": "a1",
            "deliberation": { "steps": [{ "step": 1, "thought": "t", "inputsUsed": ["q"] }] }, "stranger": 1,
        });
        assert_eq!(
            check("log_decision", arguments).unwrap(),
            json!({
                "decision": "x", "confidence": 1, "category": "naming", "kpi_indicators": ["a"], "review_in": "2w",
                "bridge": { "structure": "s", "function": "f" }, "agent_id": "a1",
                "deliberation": { "steps": [{ "step": 1, "thought": "t", "inputs_used": ["q"] }] },
            })
        );
        let context = json!({ "a_b": null, "aB": { "__proto__": 1 } });
        let checked = check("check_action", json!({ "description": "x", "context": context })).unwrap();
        assert_eq!(checked["context"], context);
    }
}
