//! The tools by which a model asks for what it is not shown.

use contextweaver_model::{JsonMap, SelectableItem, json};

/// Returns `drilldown` as a tool for models: its `args_schema` names every selector. To be offered while a model reads
/// results.
///
/// ```
/// let tool = contextweaver_content::drilldown_tool();
/// assert_eq!(tool.name, "drilldown");
/// assert!(tool.args_schema["properties"].get("selector").is_some());
/// ```
pub fn drilldown_tool() -> SelectableItem {
    // As text, because a literal of this size costs more as code; a test reads it.
    tool(
        "drilldown",
        "Read a part of a stored result, from `start` (0 is the first) up to and without `end`. rows take columns, where: \
         [{column, op (= != < <= > >= contains), value}]; json_keys keys; json_path a path as items[0].name; search \
         ignore_case. outline tells what there is.",
        &["progressive-disclosure", "drilldown", "artifact"],
        include_str!("schema.json"),
    )
}

/// Returns `recall` as a tool for models: what it takes is a query, and how much to answer. To be offered where something
/// of the conversation no longer stands in the prompt.
///
/// ```
/// let tool = contextweaver_content::recall_tool();
/// assert_eq!(tool.name, "recall");
/// assert_eq!(tool.args_schema["required"], serde_json::json!(["query"]));
/// ```
pub fn recall_tool() -> SelectableItem {
    tool(
        "recall",
        "Find what is no longer shown, by words that stood near it.",
        &["progressive-disclosure", "recall", "artifact"],
        include_str!("recall.json"),
    )
}

fn tool(name: &str, description: &str, tags: &[&str], schema: &str) -> SelectableItem {
    let text = str::to_owned;
    let schema = json::parse(schema).ok();
    let mut metadata = JsonMap::new();
    metadata.insert("builtin".into(), true.into());
    metadata.insert("phase".into(), "interpret".into());
    SelectableItem {
        id: format!("contextweaver:{name}"),
        kind: text("internal"),
        name: text(name),
        description: text(description),
        tags: tags.iter().copied().map(str::to_owned).collect(),
        namespace: String::new(),
        args_schema: schema.and_then(|schema| schema.as_object().cloned()).unwrap_or_default(),
        metadata,
        ..SelectableItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SELECTORS, Selector};
    use contextweaver_text::tokens::Estimator;
    use serde_json::{Value, json};

    /// Both are sent with every call of a model.
    #[test]
    fn the_tools_cost_at_most_350_tokens() {
        let cost = |tool: SelectableItem| {
            let sent = json!({ "name": tool.name, "description": tool.description, "schema": tool.args_schema });
            Estimator::V3.tokens(&sent.to_string())
        };
        let tokens = cost(drilldown_tool()) + cost(recall_tool());
        assert!(tokens <= 350, "{tokens}");
    }

    /// Each field that the schema or the description names is one that some selector takes.
    #[test]
    fn what_the_tool_names_is_accepted() {
        let tool = drilldown_tool();
        let fields = tool.args_schema["properties"]["selector"]["properties"].as_object().unwrap();
        let examples = [
            json!({ "type": "lines", "start": 0, "end": 2 }),
            json!({ "type": "head", "start": 0, "chars": 9 }),
            json!({ "type": "around", "line": 3 }),
            json!({ "type": "rows", "columns": ["a"], "where": [{ "column": "a", "op": "=", "value": 1 }] }),
            json!({ "type": "json_keys", "keys": ["a"] }),
            json!({ "type": "json_path", "path": "items[0].name" }),
            json!({ "type": "search", "text": "a.b", "regex": true, "ignore_case": true }),
        ];
        let mut named: Vec<&String> = fields.keys().collect();
        for example in examples {
            assert!(Selector::from_value(example.clone(), "").is_ok(), "{example}");
            named.retain(|field| example.get(field.as_str()).is_none());
        }
        assert!(named.is_empty(), "{named:?}");
        // What the schema has no room for, the description names.
        for field in ["columns", "where", "keys", "ignore_case", "column", "value"] {
            assert!(tool.description.contains(field), "{field}");
        }
        let operators = tool.description.split(['(', ')']).find(|part| part.contains("!=")).unwrap();
        for op in operators.split(' ') {
            let selector = json!({ "type": "rows", "where": [{ "column": "a", "op": op, "value": 1 }] });
            assert!(Selector::from_value(selector, "").is_ok(), "{op}");
        }
        assert_eq!(operators.split(' ').count(), 7);
    }

    #[test]
    fn the_tool_names_every_selector() {
        let schema = drilldown_tool().args_schema;
        let types = &schema["properties"]["selector"]["properties"]["type"]["enum"];
        let names: Vec<&str> = types.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(names.join(" "), SELECTORS);
    }
}
