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
        "Fetch a specific slice of a stored artifact. Provide an artifact handle and a selector to retrieve only the data you \
         need.",
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
        "Find again what is no longer shown: searches the whole conversation and every stored result. Ask with words that stood \
         near it. Each excerpt says where it stands; `drilldown` with its handle and {\"type\": \"head\", \"start\": …, \"chars\": …} \
         reads on.",
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
    use crate::SELECTORS;
    use serde_json::Value;

    #[test]
    fn the_tool_names_every_selector() {
        let schema = drilldown_tool().args_schema;
        let types = &schema["properties"]["selector"]["properties"]["type"]["enum"];
        let names: Vec<&str> = types.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(names.join(" "), SELECTORS);
    }
}
