//! Tools of which the operator says something in place of their server: the server's words beside the operator's, and what an
//! override breaks.

use serde_json::{Value, json};

use contextweaver_convert::tools::validate_args;
use contextweaver_model::json::{JsonMap, nearest, pointer};
use contextweaver_text::quote::quote;

use super::report::{OverriddenTool, OverrideProblem};
use super::tool::ServerTool;
use crate::failure::upstream_detail_within;
use crate::front::safe_line;
use crate::overrides::{ToolOverride, ToolOverrides};

/// Characters of a server's description that are told.
const DESCRIPTION_CHARS: usize = 400;

/// Takes tools that nobody shall see out of a list; says which they are.
pub(super) fn hide(server: &str, overrides: &ToolOverrides, tools: &mut Vec<(usize, Value)>) -> Vec<OverriddenTool> {
    let mut hidden = Vec::new();
    tools.retain(|(_, tool)| {
        let name = tool["name"].as_str().unwrap_or_default();
        let is_hidden = overrides.get(name).is_some_and(|said| said.hide);
        if is_hidden {
            let description = tool["description"].as_str().map(said);
            let (server, tool) = (server.to_owned(), safe_line(name));
            hidden.push(OverriddenTool { server, tool, hidden: true, description, ..OverriddenTool::default() });
        }
        !is_hidden
    });
    hidden
}

/// Changes what clients see of tools; says what the server says of them, and what breaks. The pins and findings of a tool are of what its server says.
pub(super) fn apply(server: &str, overrides: &ToolOverrides, tools: &mut [ServerTool]) -> Vec<OverriddenTool> {
    let mut told = Vec::new();
    for at in 0..tools.len() {
        let Some(said_of) = overrides.get(tools[at].name()) else { continue };
        let mut one = OverriddenTool {
            server: server.to_owned(),
            tool: safe_line(tools[at].name()),
            defaults: said_of.defaults.keys().map(|name| safe_line(name)).collect(),
            fixed: said_of.fixed.keys().map(|name| safe_line(name)).collect(),
            ..OverriddenTool::default()
        };
        problems(said_of, at, tools, &mut one.problems);
        let tool = &mut tools[at];
        if let Some(text) = &said_of.description {
            one.description = Some(said(&tool.item.description));
            tool.shown.insert("description".to_owned(), text.as_str().into());
        }
        if said_of.has_arguments() {
            let shown = tool.shown.get("inputSchema").and_then(Value::as_object).cloned().unwrap_or_default();
            tool.shown.insert("inputSchema".to_owned(), Value::Object(said_of.shown_schema(&shown)));
        }
        told.push(one);
    }
    told
}

fn said(description: &str) -> String {
    upstream_detail_within(description, DESCRIPTION_CHARS)
}

fn problems(said_of: &ToolOverride, at: usize, tools: &[ServerTool], found: &mut Vec<OverrideProblem>) {
    let tool = &tools[at];
    for (kind, values) in [("defaults", &said_of.defaults), ("fixed", &said_of.fixed)] {
        for (name, value) in values {
            let path = pointer(&pointer(&pointer(&said_of.path, "arguments"), kind), name);
            found.extend(argument_problem(tool, name, value).map(|(code, message)| OverrideProblem {
                code,
                path,
                message,
            }));
        }
    }
    let description = said_of.description.as_deref().unwrap_or(&tool.item.description);
    for name in said_of.fixed.keys().filter(|name| speaks_of(description, name)) {
        let message = format!("the description tells of the argument {}, which clients do not see", quote(name));
        found.push(OverrideProblem { code: "text-names-argument", path: said_of.path.clone(), message });
    }
    let Some(new) = &said_of.name else { return };
    let old = tool.name();
    for other in tools.iter().filter(|other| speaks_of(&other.item.description, old)) {
        let message = format!(
            "the description of the tool {} tells of {}, which clients know as {}",
            quote(&safe_line(other.name())),
            quote(&safe_line(old)),
            quote(new)
        );
        found.push(OverrideProblem { code: "text-names-tool", path: pointer(&said_of.path, "name"), message });
    }
}

/// What is wrong with an argument that the operator gives.
fn argument_problem(tool: &ServerTool, name: &str, value: &Value) -> Option<(&'static str, String)> {
    let empty = JsonMap::new();
    let properties = tool.schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if !properties.contains_key(name) {
        let is_open =
            properties.is_empty() || tool.schema.get("additionalProperties").is_some_and(|more| *more != false);
        let meant = nearest(name, properties.keys().map(String::as_str))
            .map(|meant| format!("; did you mean {}?", quote(&safe_line(meant))));
        let message = format!("the tool has no argument {}{}", quote(name), meant.unwrap_or_default());
        return (!is_open).then_some(("unknown-argument", message));
    }
    // The schema is kept whole, as the property may refer to parts of it.
    let mut schema = tool.schema.clone();
    for key in
        ["required", "minProperties", "dependentRequired", "dependentSchemas", "anyOf", "oneOf", "allOf", "if", "not"]
    {
        schema.shift_remove(key);
    }
    let checked = validate_args(&Value::Object(schema), "", &json!({ name: value }), false).ok()?;
    let error = checked.errors.first().filter(|_| !checked.valid)?;
    Some(("value-invalid", format!("{}: expected {}", safe_line(&error.path), safe_line(&error.expected))))
}

/// Whether a text has a name as a word of its own; names of one word of prose are in any text.
fn speaks_of(text: &str, name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_telling = name.len() > 2 && name.bytes().any(|byte| !byte.is_ascii_lowercase());
    let bytes = text.as_bytes();
    let quoted = |at: usize| at > 0 && matches!(bytes[at - 1], b'`' | b'"' | b'\'');
    text.match_indices(name).any(|(at, _)| {
        let end = at + name.len();
        let is_alone = (at == 0 || !is_word(bytes[at - 1])) && bytes.get(end).is_none_or(|byte| !is_word(*byte));
        is_alone && (is_telling || quoted(at))
    })
}
