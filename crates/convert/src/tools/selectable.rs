//! A definition as something a router can choose.

use serde_json::Value;

use super::definition::{Definition, ForwardOptions, written};
use crate::mcp::{ConvertedTool, IdForm, ToolOptions, mcp_tool_to_selectable};
use contextweaver_base::Result;
use contextweaver_model::Warning;
use contextweaver_model::json::JsonMap;

/// Maps a definition to an item: the item of the tool it becomes on a server, with its tags, examples and dependencies.
///
/// With a `namespace` the item is in that group, whatever its name looks like; its id stays that of the tool.
pub fn tool_definition_to_selectable(
    definition: &Value,
    path: &str,
    forward: &ForwardOptions,
    tool: &ToolOptions,
    namespace: Option<String>,
) -> Result<ConvertedTool> {
    let mut warnings: Vec<Warning> = Vec::new();
    let definition = Definition::read(definition, path, &mut warnings)?;
    let mcp_tool = written(&definition, path, forward, &mut warnings)?;
    let examples = examples(&definition);
    let mut converted = mcp_tool_to_selectable(mcp_tool, tool).map_err(|error| error.under(path))?;
    converted.warnings.splice(0..0, warnings);
    let item = &mut converted.item;
    for tag in definition.tags {
        if !item.tags.contains(&tag) {
            item.tags.push(tag);
        }
    }
    if let Some(namespace) = namespace {
        item.namespace = namespace;
    }
    item.examples = examples;
    // Other ids have the hash of the other tool's arguments in them, which is not known here.
    if !definition.depends_on.is_empty() && tool.id_form == IdForm::Name {
        let start = &item.id[..item.id.len() - item.name.len()];
        let ids = definition.depends_on.iter().map(|name| format!("{start}{name}"));
        item.depends_on = Some(ids.collect());
    }
    Ok(converted)
}

/// Returns the examples of a definition, or else those of its schema.
fn examples(definition: &Definition) -> Vec<String> {
    if !definition.examples.is_empty() {
        return definition.examples.clone();
    }
    let schema = definition.schema.as_object().and_then(|schema: &JsonMap| schema.get("examples"));
    let examples = schema.and_then(Value::as_array).into_iter().flatten();
    examples.map(|example| example.as_str().map_or_else(|| example.to_string(), str::to_owned)).collect()
}
