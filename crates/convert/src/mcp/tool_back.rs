//! Items as tools of `tools/list`.

use serde::Serialize;
use serde_json::Value;

use super::hints::HINTS;
use super::revision::Revision;
use super::stored_tool::{StoredTool, is_plain_annotation};
use super::tool::{ToolOptions, cost_value, mcp_tool_to_selectable};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_model::{RESERVED_KEY, SelectableItem};

/// The fields of a tool that are written from fields of the item.
const WRITTEN: &[&str] = &["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The name of a tool in revisions that say what names look like.
const MAX_NAME_CHARS: usize = 128;

/// An MCP tool made of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct McpTool {
    /// The tool, as a server lists it.
    pub tool: Value,
    /// Fields that the revision does not know.
    pub report: Vec<RevisionChange>,
}

/// Something that was changed because the revision does not know it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RevisionChange {
    /// `field-unknown`, `field-malformed`, `schema-root`, or `name-characters`.
    pub code: &'static str,
    /// One sentence.
    pub message: &'static str,
    /// JSON pointer of the place in the tool.
    pub path: String,
    /// What was taken away or replaced; null where nothing was.
    pub value: Value,
}

/// Writes an item as a tool.
///
/// Without a revision, the tool an unchanged item was made of comes back whole, in another order of its fields at most,
/// and of a changed item everything that was not changed. With one, what the revision does not know is left out, and
/// the report says so. Of an item that was no tool of MCP, the metadata stay here, but for the hints.
///
/// ```
/// use contextweaver_convert::mcp::{Revision, ToolOptions, mcp_tool_to_selectable, selectable_to_mcp_tool};
/// use serde_json::json;
///
/// let tool = json!({ "name": "clock", "description": "Tells the time.", "inputSchema": { "type": "object" },
///                    "icons": [{ "src": "https://example.com/clock.png" }] });
/// let item = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default())?.item;
/// assert_eq!(selectable_to_mcp_tool(&item, None).tool, tool);
/// // The oldest revision has no icons.
/// let older = selectable_to_mcp_tool(&item, Some(Revision::V2025_06_18));
/// assert_eq!(older.tool.get("icons"), None);
/// assert_eq!(older.report[0].path, "/icons");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn selectable_to_mcp_tool(item: &SelectableItem, revision: Option<Revision>) -> McpTool {
    let stored = StoredTool::of(&item.metadata);
    let mut tool = written(item, &stored);
    for (key, value) in &stored.fields {
        if !WRITTEN.contains(&key.as_str()) {
            tool.insert(key.clone(), value.clone());
        }
    }
    if stored.has_notes() {
        restore(&mut tool, item, &stored);
    }
    let mut report = Vec::new();
    if let Some(revision) = revision {
        fit(&mut tool, revision, &mut report);
    }
    McpTool { tool: Value::Object(tool), report }
}

/// Writes the fields of an item.
fn written(item: &SelectableItem, stored: &StoredTool) -> JsonMap {
    let mut tool = JsonMap::new();
    let mut put = |key: &str, value: Value| tool.insert(key.to_owned(), value);
    let annotations = annotations(item, stored);
    put("name", item.name.clone().into());
    if let Some(title) = item.title.clone().filter(|title| annotations.get("title") != Some(&title.as_str().into())) {
        put("title", title.into());
    }
    put("description", item.description.clone().into());
    let mut input = item.args_schema.clone();
    if input.is_empty() {
        input.insert("type".to_owned(), "object".into());
    }
    put("inputSchema", Value::Object(input));
    if let Some(output) = &item.output_schema {
        put("outputSchema", Value::Object(output.clone()));
    }
    if !annotations.is_empty() {
        put("annotations", Value::Object(annotations));
    }
    tool
}

/// Returns what the metadata, the tags and the fields of an item say as annotations.
fn annotations(item: &SelectableItem, stored: &StoredTool) -> JsonMap {
    let is_own = |key: &String| key != RESERVED_KEY && stored.annotations.contains(key);
    let mut out: JsonMap = item
        .metadata
        .iter()
        .filter(|(key, value)| is_plain_annotation(key, value) || is_own(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let is_set = |out: &JsonMap, place: usize| out.get(HINTS[place]) == Some(&Value::Bool(true));
    if !out.contains_key(HINTS[1]) && item.tags.iter().any(|tag| tag == "destructive") {
        out.insert(HINTS[1].to_owned(), true.into());
    }
    let (read_only, destructive) = (is_set(&out, 0), is_set(&out, 1));
    if item.side_effects != (destructive || !read_only) {
        // The field was changed since, or there never were hints.
        out.insert(HINTS[0].to_owned(), (!item.side_effects).into());
        if destructive {
            out.insert(HINTS[1].to_owned(), false.into());
        }
    }
    if let Some(cost) = cost_value(item.cost_hint) {
        out.insert("costHint".to_owned(), cost);
    }
    out
}

/// Puts fields back as they were, each one only if reading it gives what the item says: if not, the item was changed.
fn restore(tool: &mut JsonMap, item: &SelectableItem, stored: &StoredTool) {
    let mut before = tool.clone();
    for key in &stored.absent {
        before.shift_remove(key);
    }
    before
        .extend(stored.given.iter().filter(|(key, _)| *key != "name").map(|(key, value)| (key.clone(), value.clone())));
    let Ok(read) = mcp_tool_to_selectable(Value::Object(before), &ToolOptions::default()) else { return };
    let read = read.item;
    let fields = StoredTool::of(&read.metadata).fields;
    let is_same = |key: &str| match key {
        "title" => read.title == item.title,
        "description" => read.description == item.description,
        "inputSchema" => read.args_schema == item.args_schema,
        "outputSchema" => read.output_schema == item.output_schema,
        "annotations" => {
            let plain = |item: &SelectableItem| {
                let mut metadata = item.metadata.clone();
                metadata.shift_remove(RESERVED_KEY);
                metadata
            };
            let is_same_cost = read.cost_hint.to_bits() == item.cost_hint.to_bits();
            is_same_cost && read.side_effects == item.side_effects && plain(&read) == plain(item)
        }
        "icons" | "_meta" | "execution" => fields.get(key) == stored.fields.get(key),
        _ => false,
    };
    for key in stored.absent.iter().filter(|key| is_same(key)) {
        tool.shift_remove(key);
    }
    for (key, value) in stored.given.iter().filter(|(key, _)| is_same(key)) {
        tool.insert(key.clone(), value.clone());
    }
}

/// Makes a tool one that the revision knows.
fn fit(tool: &mut JsonMap, revision: Revision, report: &mut Vec<RevisionChange>) {
    let rules = revision.rules();
    let mut take = |tool: &mut JsonMap, code, message, key: &str| {
        if let Some(value) = tool.shift_remove(key) {
            report.push(RevisionChange { code, message, path: pointer("", key), value });
        }
    };
    for key in rules.foreign_tool_fields {
        take(tool, "field-unknown", "the revision has no such field; left out", key);
    }
    let is_text: fn(&Value) -> bool = Value::is_string;
    for (key, fits) in [
        ("title", is_text),
        ("description", is_text),
        ("annotations", Value::is_object),
        ("icons", Value::is_array),
        ("execution", Value::is_object),
        ("_meta", Value::is_object),
        ("inputSchema", Value::is_object),
        ("outputSchema", Value::is_object),
    ] {
        if tool.get(key).is_some_and(|value| !fits(value)) {
            take(tool, "field-malformed", "the field is not what the protocol says; left out", key);
        }
    }
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if !rules.any_output_schema && tool.get("outputSchema").is_some_and(|schema| !is_object(schema)) {
        take(tool, "schema-root", "the revision knows output that is an object only; left out", "outputSchema");
    }
    fit_hints(tool, report);
    fit_arguments(tool, report);
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if revision > Revision::V2025_06_18 && !((1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_plain)) {
        let message = "the revision asks for names of 1 to 128 of A-Z a-z 0-9 _ - . ; left as it is";
        report.push(RevisionChange { code: "name-characters", message, path: "/name".into(), value: Value::Null });
    }
}

/// Takes hints away that are neither true nor false.
fn fit_hints(tool: &mut JsonMap, report: &mut Vec<RevisionChange>) {
    let Some(Value::Object(annotations)) = tool.get_mut("annotations") else { return };
    for (key, is_text) in HINTS.iter().map(|key| (*key, false)).chain([("title", true)]) {
        let fits = |value: &Value| if is_text { value.is_string() } else { value.is_boolean() };
        if annotations.get(key).is_some_and(|value| !fits(value)) {
            let (code, message) = ("field-malformed", "the annotation is not what the protocol says; left out");
            let value = annotations.shift_remove(key).unwrap_or_default();
            report.push(RevisionChange { code, message, path: pointer("/annotations", key), value });
        }
    }
}

/// Sees to it that there is a schema of the arguments and that they are an object.
fn fit_arguments(tool: &mut JsonMap, report: &mut Vec<RevisionChange>) {
    let schema = tool.entry("inputSchema").or_insert_with(|| Value::Object(JsonMap::new()));
    let Value::Object(schema) = schema else { return };
    let kind = schema.get("type").cloned();
    if kind.as_ref().is_some_and(|kind| kind == "object") {
        return;
    }
    schema.insert("type".to_owned(), "object".into());
    let value = kind.unwrap_or_default();
    let (code, message) = ("schema-root", "arguments are an object; the type was set");
    report.push(RevisionChange { code, message, path: "/inputSchema/type".into(), value });
}
