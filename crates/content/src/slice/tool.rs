//! The tool by which a model asks for a part of an artifact.

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
    let text = str::to_owned;
    // As text, because a literal of this size costs more as code; a test reads it.
    let schema = json::parse(include_str!("schema.json")).ok();
    let mut metadata = JsonMap::new();
    metadata.insert("builtin".into(), true.into());
    metadata.insert("phase".into(), "interpret".into());
    SelectableItem {
        id: text("contextweaver:drilldown"),
        kind: text("internal"),
        name: text("drilldown"),
        description: text(
            "Fetch a specific slice of a stored artifact. Provide an artifact handle and a selector to retrieve only \
             the data you need.",
        ),
        tags: ["progressive-disclosure", "drilldown", "artifact"].map(str::to_owned).to_vec(),
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
