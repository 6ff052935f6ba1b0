//! Tools as an MCP server lists them.

use serde_json::Value;

use super::inventory::RESERVED_KEY;
use super::load::Loaded;
use super::tool_id::{ToolId, canonical_tool_id, shape_hash};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Fields, JsonMap, as_string, number_text, parse_float, wrong_type};
use crate::model::SelectableItem;
use crate::text::unicode::{quote, trim};

/// How tools of a server are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpOptions {
    /// The server's name, which becomes the namespace; otherwise the namespace is guessed from each name.
    pub server: Option<String>,
    /// Whether ids are `mcp:<name>`, or `mcp:<server>/<name>`, and do not change with the arguments; otherwise they are
    /// `<namespace>:<name>#<hash of the arguments' names>`.
    pub short_ids: bool,
}

/// Reads a `tools/list` capture: a list of tools, `{"tools": […]}`, or the JSON-RPC response around it.
///
/// A tool that cannot be read is reported and left out. What a tool has no field for is kept in its metadata, below
/// `_contextweaver.mcp`. What a server says about the effects of its tools is a hint, never a permission.
pub fn from_mcp_tools(value: Value, options: &McpOptions) -> Result<Loaded> {
    let mut loaded = Loaded::default();
    for (index, tool) in tool_list(value)?.into_iter().enumerate() {
        loaded.add(index, tool, |tool| convert(tool, options));
    }
    Ok(loaded)
}

/// Takes the list of tools out of a capture.
pub(super) fn tool_list(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Object(mut map) => match (map.shift_remove("tools"), map.shift_remove("result")) {
            (Some(Value::Array(list)), _) => Ok(list),
            (Some(other), _) => Err(wrong_type("/tools", "an array", &other)),
            (None, Some(Value::Object(mut result))) => match result.shift_remove("tools") {
                Some(Value::Array(list)) => Ok(list),
                other => Err(wrong_type("/result/tools", "an array", &other.unwrap_or_default())),
            },
            _ => Err(Error::new(ErrorCode::MissingField, "missing field `tools`").at("/tools")),
        },
        other => Err(wrong_type("", "a list of tools", &other)),
    }
}

/// Guesses the namespace of a tool: what is before the first `.` or `/`, or the first of three words joined by `_`.
pub fn infer_namespace(name: &str) -> &str {
    let before = |mark: char| name.split_once(mark).map(|(before, _)| before).filter(|before| !before.is_empty());
    let first = name.split('_').next().filter(|first| name.split('_').count() > 2 && !first.is_empty());
    before('.').or_else(|| before('/')).or(first).unwrap_or("mcp")
}

/// Returns the part of a tool's name that goes into its id.
fn name_part(name: &str) -> &str {
    let mark = if name.contains('.') { '.' } else { '/' };
    match name.split_once(mark) {
        Some((before, after)) if !before.is_empty() && !after.is_empty() => after,
        _ => name,
    }
}

/// Reads one tool, as well as it goes.
fn convert(tool: Value, options: &McpOptions) -> Result<SelectableItem> {
    let mut fields = Fields::open(tool, "")?;
    let name = fields.string("name")?;
    let title = fields.opt_string("title")?;
    let description = fields.string_or("description", "")?;
    let mut annotations = fields.object("annotations")?;
    let args_schema = fields.object("inputSchema")?;
    let output_schema = fields.nested("outputSchema")?.map(Fields::rest);
    let rest = fields.rest();
    let title = title.or_else(|| annotations.get("title").and_then(Value::as_str).map(str::to_owned));
    let hint = |key: &str| annotations.get(key) == Some(&Value::Bool(true));
    let (read_only, destructive) = (hint("readOnlyHint"), hint("destructiveHint"));
    let cost = annotations.get("costHint").and_then(Value::as_f64).filter(|cost| *cost >= 0.0);
    if cost.is_some() {
        annotations.shift_remove("costHint");
    }
    let namespace = options.server.as_deref().unwrap_or_else(|| infer_namespace(&name));
    let id = if options.short_ids {
        options.server.as_ref().map_or_else(|| format!("mcp:{name}"), |server| format!("mcp:{server}/{name}"))
    } else {
        let part = if options.server.is_some() { &name } else { name_part(&name) };
        let version =
            version(rest.get("_meta")).filter(|version| version.len() <= 32 && legal(version, 32) == *version);
        let hash8 =
            if version.is_some() { None } else { Some(shape_hash(&name, Some(&Value::Object(args_schema.clone())))?) };
        ToolId { namespace: legal_namespace(namespace), name: legal_name(part), version, hash8 }.to_text()?
    };
    // A server does not get to write into the reserved part.
    annotations.shift_remove(RESERVED_KEY);
    if !rest.is_empty() {
        let mut kept = JsonMap::new();
        kept.insert("mcp".to_owned(), Value::Object(rest));
        annotations.insert(RESERVED_KEY.to_owned(), Value::Object(kept));
    }
    let shown = [description.as_str(), title.as_deref().unwrap_or("")];
    let description = shown.into_iter().find(|text| !trim(text).is_empty()).unwrap_or(&name).to_owned();
    Ok(SelectableItem {
        id,
        kind: "tool".to_owned(),
        namespace: namespace.to_owned(),
        name,
        title,
        description,
        tags: tags(read_only, destructive),
        args_schema,
        output_schema,
        side_effects: destructive || !read_only,
        cost_hint: cost.unwrap_or(0.0),
        metadata: annotations,
        ..SelectableItem::default()
    })
}

fn tags(read_only: bool, destructive: bool) -> Vec<String> {
    let all = [(destructive, "destructive"), (true, "mcp"), (read_only, "read-only")];
    all.into_iter().filter(|(is, _)| *is).map(|(_, tag)| tag.to_owned()).collect()
}

/// Returns the version a server gives a tool; empty text and zero are none.
fn version(meta: Option<&Value>) -> Option<String> {
    match meta?.get("version")? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number_text(number)).filter(|_| number.as_f64() != Some(0.0)),
        _ => None,
    }
}

/// Replaces what the grammar of ids does not know, and cuts.
fn legal(text: &str, chars: usize) -> String {
    let known = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-' | '.');
    text.chars().take(chars).map(|ch| if known(ch) { ch } else { '_' }).collect()
}

fn legal_namespace(text: &str) -> String {
    let text = legal(&text.to_lowercase(), 60).replace('.', "_");
    if text.starts_with(|ch: char| ch.is_ascii_lowercase()) { text } else { format!("mcp_{text}") }
}

fn legal_name(text: &str) -> String {
    let text = legal(text, 127);
    if text.starts_with(|ch: char| ch == '_' || ch.is_ascii_alphabetic()) { text } else { format!("_{text}") }
}

/// Reads one tool as the reference does: what breaks the grammar of ids is an error, hints count by truth as Python
/// sees it. Returns the tool under its logical id `mcp:<name>`, and its canonical id.
pub(super) fn convert_as_reference(tool: Value, path: &str) -> Result<(SelectableItem, String)> {
    let mut fields = Fields::open(tool, path)?;
    let required = |text: String, at: String| {
        let missing = || Error::new(ErrorCode::MissingField, format!("{} is empty", quote(&at))).at(at.clone());
        if text.is_empty() { Err(missing()) } else { Ok(text) }
    };
    let name = required(fields.string("name")?, fields.at("name"))?;
    let description =
        required(as_string(fields.require("description")?, &fields.at("description"))?, fields.at("description"))?;
    let mut annotations = fields.object("annotations")?;
    let args_schema = fields.object("inputSchema")?;
    let output_schema = fields.nested("outputSchema")?.map(Fields::rest);
    let meta = fields.take("_meta");
    let hint = |key: &str| annotations.get(key).is_some_and(is_truthy);
    let (read_only, destructive) = (hint("readOnlyHint"), hint("destructiveHint"));
    let cost_hint =
        annotations.shift_remove("costHint").map_or(Ok(0.0), |cost| as_cost(&cost, &fields.at("annotations")))?;
    let namespace = infer_namespace(&name);
    let schema = Value::Object(args_schema.clone());
    let canonical =
        canonical_tool_id(namespace, name_part(&name), &name, Some(&schema), version(meta.as_ref()).as_deref())
            .map_err(|error| error.at(fields.at("name")))?;
    let item = SelectableItem {
        id: format!("mcp:{name}"),
        kind: "tool".to_owned(),
        namespace: namespace.to_owned(),
        name,
        description,
        tags: tags(read_only, destructive),
        args_schema,
        output_schema,
        side_effects: !read_only,
        cost_hint,
        metadata: annotations,
        ..SelectableItem::default()
    };
    Ok((item, canonical))
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

fn as_cost(value: &Value, path: &str) -> Result<f64> {
    let number = match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(text) => parse_float(trim(text)),
        other => other.as_f64(),
    };
    number.filter(|number| number.is_finite()).ok_or_else(|| wrong_type(path, "a number as `costHint`", value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn namespaces_are_guessed() {
        for (name, expected) in [
            ("github.create_issue", "github"),
            ("filesystem/read", "filesystem"),
            ("slack_send_message", "slack"),
            ("search_database", "mcp"),
            (".hidden.tool", "mcp"),
            ("a__b", "a"),
            ("_a_b_c", "mcp"),
            ("a_b_", "a"),
            ("a/b.c", "a/b"),
            ("", "mcp"),
        ] {
            assert_eq!(infer_namespace(name), expected, "{name}");
        }
    }

    #[test]
    fn bad_tools_do_not_keep_good_ones_out() {
        let tools = json!([
            { "name": "DATA.export", "inputSchema": { "properties": { "a": {} } }, "_meta": { "x": 1 }, "icons": [] },
            { "name": "9 lives", "title": "Lives", "annotations": { "readOnlyHint": "false", "costHint": -1 } },
            { "name": "a", "annotations": [] },
            { "name": "b", "inputSchema": { "properties": [] } },
            7,
            { "description": "nameless" },
            { "name": "both", "annotations": { "readOnlyHint": true, "destructiveHint": true, "costHint": 2 } },
            { "name": "both" },
        ]);
        for capture in [tools.clone(), json!({ "tools": tools }), json!({ "id": 1, "result": { "tools": tools } })] {
            let loaded = from_mcp_tools(capture, &McpOptions::default()).unwrap();
            let ids: Vec<&str> = loaded.catalog.items().map(|item| item.id.as_str()).collect();
            assert_eq!(ids, ["data:export#ac0123de", "mcp:_9_lives#10d059c3", "mcp:both#7b45bf2b"], "{ids:?}");
            let found: Vec<_> = loaded.findings.iter().map(|found| (found.code, found.index.unwrap())).collect();
            let invalid = |index| ("tool-invalid", index);
            assert_eq!(found, [invalid(2), invalid(3), invalid(4), invalid(5), ("duplicate-id", 7)]);
            let both = loaded.catalog.get(ids[2]).unwrap();
            assert!(both.side_effects && (both.cost_hint - 2.0).abs() < 1e-9 && both.metadata.len() == 2);
            let export = loaded.catalog.get(ids[0]).unwrap();
            assert_eq!(
                json!(export.metadata),
                json!({ "_contextweaver": { "mcp": { "_meta": { "x": 1 }, "icons": [] } } })
            );
            assert_eq!(loaded.catalog.get(ids[1]).unwrap().description, "Lives");
        }
        let short = McpOptions { server: Some("fs".into()), short_ids: true };
        let loaded = from_mcp_tools(json!([{ "name": "read" }]), &short).unwrap();
        assert!(loaded.catalog.contains("mcp:fs/read"));
        for bad in [json!({}), json!({ "tools": {} }), json!({ "result": {} }), json!(1)] {
            assert!(from_mcp_tools(bad, &short).is_err());
        }
    }
}
