//! The table of the tools: names, what they are for, what goes in and what comes out.
//!
//! `tool_specs.json` says it in a notation of its own: a name with `*` is required, one with `?` may be null, `fields` makes
//! an object, `use` stands for what is shared, a text for the type of that name. Here it becomes JSON Schema, plain and
//! without `$ref`.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

/// A tool definition, before a store adds its prefix and categories.
#[derive(Debug)]
pub struct ToolSpec {
    /// Name without the prefix of a store.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Description for models.
    pub description: String,
    /// Whether it changes decisions; looking leaves traces in the deliberation, but no decision changes.
    pub writes: bool,
    /// JSON Schema of the arguments.
    pub input: Value,
    /// JSON Schema of the structured content.
    pub output: Value,
}

/// Returns the tools, in the order in which they are listed.
pub fn tools() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<Vec<ToolSpec>> = OnceLock::new();
    TOOLS.get_or_init(read)
}

/// Returns the tool with a name, without prefix.
pub fn tool(name: &str) -> Option<&'static ToolSpec> {
    tools().iter().find(|tool| tool.name == name)
}

fn read() -> Vec<ToolSpec> {
    let table: Value = serde_json::from_str(include_str!("tool_specs.json")).unwrap_or_default();
    let shared = &table["shared"];
    let tools = table["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().map(|tool| made(shared, tool)).collect()
}

fn made(shared: &Value, tool: &Value) -> ToolSpec {
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let mut input = tool["input"].as_object().cloned().unwrap_or_default();
    // Who calls, and in which train of thought, may be said to every tool.
    for key in ["agent_id", "trace_id"] {
        input.insert(format!("{key}?"), json!({ "use": key }));
    }
    ToolSpec {
        name: text("name"),
        title: text("title"),
        description: text("description"),
        writes: tool["writes"] == true,
        input: object(shared, &input),
        output: object(shared, tool["output"].as_object().unwrap_or(&Map::new())),
    }
}

/// Makes the schema of an object of the fields in the notation.
fn object(shared: &Value, fields: &Map<String, Value>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (key, field) in fields {
        let name = key.trim_end_matches(['*', '?']);
        let mut schema = schema(shared, field);
        if key.ends_with('*') {
            required.push(Value::from(name));
        }
        if key.ends_with('?') {
            schema = nullable(schema);
        }
        properties.insert(name.to_owned(), schema);
    }
    let mut made = Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), properties.into())]);
    if !required.is_empty() {
        made.insert("required".to_owned(), required.into());
    }
    Value::Object(made)
}

/// What may be null, with its description where readers look for it.
fn nullable(mut schema: Value) -> Value {
    let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
    let mut made = json!({ "anyOf": [schema, { "type": "null" }], "default": null });
    if let (Some(description), Some(made)) = (description, made.as_object_mut()) {
        made.insert("description".to_owned(), description);
    }
    made
}

fn schema(shared: &Value, field: &Value) -> Value {
    match field {
        Value::String(name) => match name.split_once('|') {
            None => json!({ "type": name }),
            Some((one, other)) => json!({ "type": [one, other] }),
        },
        Value::Object(map) => {
            match (map.get("use").and_then(Value::as_str), map.get("fields").and_then(Value::as_object)) {
                (Some(name), _) => schema(shared, &shared[name]),
                (None, Some(fields)) => {
                    let mut made = object(shared, fields);
                    if let (Some(description), Some(made)) = (map.get("description"), made.as_object_mut()) {
                        made.insert("description".to_owned(), description.clone());
                    }
                    made
                }
                (None, None) => {
                    let entry = |(key, value): (&String, &Value)| {
                        (key.clone(), if key == "items" { schema(shared, value) } else { value.clone() })
                    };
                    map.iter().map(entry).collect()
                }
            }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_is() {
        let names: Vec<&str> = tools().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names[..3], ["pre_action", "get_session_context", "ready"]);
        assert_eq!(names.len(), 15);
        for tool in tools() {
            assert!(tool.title.len() > 3 && tool.description.len() > 40, "{}", tool.name);
            for schema in [&tool.input, &tool.output] {
                let text = schema.to_string();
                assert_eq!(schema["type"], "object", "{}", tool.name);
                for odd in ["$ref", "$defs", "\"use\"", "\"fields\"", "*\"", "?\""] {
                    assert!(!text.contains(odd), "{} has {odd}: {text}", tool.name);
                }
            }
            assert!(tool.input["properties"]["trace_id"].is_object());
        }
    }

    #[test]
    fn the_notation_becomes_schema() {
        let shared = json!({ "level": { "type": "string", "enum": ["a"], "description": "How." } });
        let fields = json!({ "a*": "integer", "b?": { "use": "level" }, "c": { "fields": { "d*": "string|null" } } });
        assert_eq!(
            object(&shared, fields.as_object().unwrap()),
            json!({
                "type": "object",
                "properties": {
                    "a": { "type": "integer" },
                    "b": { "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }], "default": null, "description": "How." },
                    "c": { "type": "object", "properties": { "d": { "type": ["string", "null"] } }, "required": ["d"] },
                },
                "required": ["a"],
            })
        );
    }
}
