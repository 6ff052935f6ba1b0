//! A tool as its author defines it, and the tool of MCP it becomes.

use serde::Serialize;
use serde_json::{Value, json};

use super::annotations::annotations;
use super::definition::{SHARED, ToolDefinition, fault};
use super::dependencies::{self, ToolIndices};
use super::meta_prefix::MetaPrefix;
use super::names::humanized;
use super::schema::{SchemaRole, ToolSchemaOptions, normalized};
use crate::mcp::RevisionRules;
use crate::mcp::{ConvertedTool, IdForm, ToolOptions, mcp_tool_to_selectable};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::quote::quote;

/// Key beside the fields in `_meta`: the title was made of the name, and the definition had none.
pub(super) const TITLE_MADE: &str = "titleMade";
/// Key beside the fields in `_meta`: the last line of the description is the tags.
pub(super) const TAGS_SHOWN: &str = "tagsShown";
/// Key beside the fields in `_meta`: icons, for a revision whose tools have none.
pub(super) const ICONS: &str = "icons";

/// Options of [`to_mcp_tool`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinitionToMcpOptions {
    /// How schemas are normalized, and the revision to write for.
    pub schema: ToolSchemaOptions,
    /// The prefix of keys in `_meta`.
    pub prefix: MetaPrefix,
    /// Whether fields that MCP does not have are written into `_meta`.
    pub meta: bool,
    /// Whether a tool without a title gets one made of its name.
    pub humanize_title: bool,
    /// Whether the description ends with a line of the tags.
    pub tags_in_description: bool,
}

impl Default for ToolDefinitionToMcpOptions {
    fn default() -> Self {
        let schema = ToolSchemaOptions::default();
        Self { schema, prefix: MetaPrefix::default(), meta: true, humanize_title: false, tags_in_description: false }
    }
}

/// How a host runs a tool, which MCP does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolHandler {
    /// The name of the tool.
    pub name: String,
    /// Time limit of a call, in milliseconds.
    pub timeout: u64,
}

/// An MCP tool made of a definition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinitionToMcp {
    /// The tool as a server lists it.
    pub tool: Value,
    /// The name and the time limit of the tool.
    pub handler: ToolHandler,
    /// Fields that were ignored, and contradictions.
    pub warnings: Vec<Warning>,
}

/// Maps a definition to a tool of MCP. The paths of errors and warnings begin with `path`.
///
/// # Errors
/// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` or `TOO_LARGE`, with the reason in the details: `invalid_name`,
/// `empty_description`, `invalid_schema`, `root_not_object`, `remote_ref`, `schema_too_large`, `invalid_timeout`.
///
/// ```
/// use contextweaver_convert::tools::{ToolDefinitionToMcpOptions, to_mcp_tool};
/// use serde_json::json;
///
/// let definition = json!({
///     "name": "get_weather",
///     "description": "Returns the weather of a city.",
///     "schema": { "city": { "type": "string" } },
///     "category": "read",
/// });
/// let converted = to_mcp_tool(&definition, "", &ToolDefinitionToMcpOptions::default())?;
/// assert_eq!(converted.tool["inputSchema"]["required"], json!(["city"]));
/// assert_eq!(converted.tool["annotations"]["readOnlyHint"], true);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn to_mcp_tool(
    definition: &Value,
    path: &str,
    options: &ToolDefinitionToMcpOptions,
) -> Result<ToolDefinitionToMcp> {
    let mut warnings = Vec::new();
    let definition = ToolDefinition::read(definition, path, &mut warnings)?;
    let tool = written(&definition, path, options, &mut warnings)?;
    let handler = ToolHandler { name: definition.name, timeout: definition.timeout };
    Ok(ToolDefinitionToMcp { tool, handler, warnings })
}

fn written(
    definition: &ToolDefinition,
    path: &str,
    options: &ToolDefinitionToMcpOptions,
    warnings: &mut Vec<Warning>,
) -> Result<Value> {
    let rules = options.schema.revision.rules();
    let mut notes = definition.meta_fields.clone();
    let mut tool = JsonMap::new();
    let mut put = |key: &str, value: Value| tool.insert(key.to_owned(), value);
    put("name", definition.name.clone().into());
    if let Some(title) = &definition.title {
        put("title", title.clone().into());
    } else if options.humanize_title {
        put("title", humanized(&definition.name).into());
        notes.insert(TITLE_MADE.to_owned(), true.into());
    }
    let mut description = definition.description.clone();
    if options.tags_in_description && !definition.tags.is_empty() {
        description += &tag_line(&definition.tags);
        notes.insert(TAGS_SHOWN.to_owned(), true.into());
    }
    put("description", description.into());
    if let Some(icons) = &definition.icons {
        if rules.foreign_tool_fields.contains(&"icons") {
            left_out("icons", &pointer(path, "icons"), rules.name, warnings);
            notes.insert(ICONS.to_owned(), icons.clone());
        } else {
            put("icons", icons.clone());
        }
    }
    let at = pointer(path, "schema");
    put("inputSchema", normalized(&definition.schema, &at, SchemaRole::Input, options.schema, warnings)?);
    if let Some(schema) = &definition.output_schema {
        let at = pointer(path, "outputSchema");
        put("outputSchema", normalized(schema, &at, SchemaRole::Output, options.schema, warnings)?);
    }
    let annotations = annotations(definition, path, warnings);
    if !annotations.is_empty() {
        put("annotations", Value::Object(annotations));
    }
    let mut meta = foreign(definition, path, rules, &mut tool, warnings);
    if options.meta {
        meta.insert(options.prefix.definition(), Value::Object(notes));
    }
    if !meta.is_empty() {
        tool.insert("_meta".to_owned(), Value::Object(meta));
    }
    Ok(Value::Object(tool))
}

/// Adds the fields of an MCP tool that a definition keeps below `mcp`; returns those of `_meta`.
fn foreign(
    definition: &ToolDefinition,
    path: &str,
    rules: &RevisionRules,
    tool: &mut JsonMap,
    warnings: &mut Vec<Warning>,
) -> JsonMap {
    let mut meta = JsonMap::new();
    for (key, value) in &definition.mcp {
        let at = pointer(&pointer(path, "mcp"), key);
        match value {
            Value::Object(map) if key == "_meta" => meta.clone_from(map),
            _ if rules.foreign_tool_fields.contains(&key.as_str()) => left_out(key, &at, rules.name, warnings),
            _ if key == "_meta" || SHARED.contains(&key.as_str()) => {
                let message = format!("{} is not taken from here; ignored", quote(key));
                warnings.push(Warning::new("unknown_field", message, at));
            }
            _ => {
                tool.insert(key.clone(), value.clone());
            }
        }
    }
    meta
}

fn left_out(key: &str, at: &str, revision: &str, warnings: &mut Vec<Warning>) {
    let message = format!("tools of {revision} have no field {}; left out", quote(key));
    warnings.push(Warning::new("field_unknown_to_revision", message, at));
}

/// The line of tags at the end of a description.
pub(super) fn tag_line(tags: &[String]) -> String {
    format!("\nTags: {}", tags.join(", "))
}

/// MCP tools made of a list of definitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolDefinitionsToMcp {
    /// The tools, in the order of their definitions.
    pub tools: Vec<Value>,
    /// Name and time limit of each tool.
    pub handlers: Vec<ToolHandler>,
    /// The errors of the other definitions, with their `index`.
    pub errors: Vec<Value>,
    /// Fields that were ignored, and contradictions.
    pub warnings: Vec<Warning>,
}

/// Maps definitions to tools of MCP. A bad one does not keep the others out, unless `strict`: then the first error is
/// the answer. Of definitions with one name the first counts.
///
/// # Errors
/// With `strict`, the error of the first bad definition; otherwise none.
///
/// ```
/// use contextweaver_convert::tools::{ToolDefinitionToMcpOptions, to_mcp_tools};
/// use serde_json::json;
///
/// let definitions = [
///     json!({ "name": "ping", "description": "Answers.", "schema": {} }),
///     json!({ "name": "no spaces", "description": "Is refused.", "schema": {} }),
/// ];
/// let converted = to_mcp_tools(&definitions, &ToolDefinitionToMcpOptions::default(), false)?;
/// assert_eq!(converted.tools.len(), 1);
/// assert_eq!(converted.errors[0]["index"], 1);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn to_mcp_tools(
    definitions: &[Value],
    options: &ToolDefinitionToMcpOptions,
    strict: bool,
) -> Result<ToolDefinitionsToMcp> {
    let mut out = ToolDefinitionsToMcp::default();
    let mut indices: Vec<usize> = Vec::new();
    let mut names = ToolIndices::default();
    for (index, value) in definitions.iter().enumerate() {
        let path = format!("/{index}");
        let converted = to_mcp_tool(value, &path, options).and_then(|converted| {
            let name = &converted.handler.name;
            if let Some(place) = names.get(name) {
                return Err(duplicate(name, indices[*place], index));
            }
            names.insert(name.clone(), indices.len());
            Ok(converted)
        });
        match converted {
            Ok(converted) => {
                indices.push(index);
                out.tools.push(converted.tool);
                out.handlers.push(converted.handler);
                out.warnings.extend(converted.warnings);
            }
            Err(error) if strict => return Err(error),
            Err(error) => out.errors.push(indexed(&error, index)),
        }
    }
    dependencies::check(definitions, &indices, &names, &mut out.warnings);
    Ok(out)
}

fn duplicate(name: &str, first: usize, second: usize) -> Error {
    let message = format!("the definitions {first} and {second} have the name {}", quote(name));
    fault(ErrorCode::DuplicateId, "duplicate_name", message)
        .detail("indices", json!([first, second]))
        .at(format!("/{second}/name"))
}

/// Returns an error as JSON, with the index of the definition or tool in its list.
pub(super) fn indexed(error: &Error, index: usize) -> Value {
    let mut record = error.to_json();
    record["index"] = index.into();
    record
}

/// Maps a definition to an item: the item of the tool it becomes on a server, with its tags, examples and dependencies.
///
/// With a `namespace` the item is in that group, whatever its name looks like; its id stays that of the tool.
///
/// # Errors
/// Those of [`to_mcp_tool`].
///
/// ```
/// use contextweaver_convert::mcp::ToolOptions;
/// use contextweaver_convert::tools::{ToolDefinitionToMcpOptions, tool_definition_to_selectable};
/// use serde_json::json;
///
/// let definition = json!({ "name": "ping", "description": "Answers.", "schema": {}, "tags": ["network"] });
/// let (mapping, tool) = (ToolDefinitionToMcpOptions::default(), ToolOptions::default());
/// let item = tool_definition_to_selectable(&definition, "", &mapping, &tool, None)?.item;
/// assert_eq!(item.id, "mcp:ping");
/// assert!(item.tags.contains(&"network".to_owned()));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn tool_definition_to_selectable(
    definition: &Value,
    path: &str,
    mapping: &ToolDefinitionToMcpOptions,
    tool: &ToolOptions,
    namespace: Option<String>,
) -> Result<ConvertedTool> {
    let mut warnings: Vec<Warning> = Vec::new();
    let definition = ToolDefinition::read(definition, path, &mut warnings)?;
    let mcp_tool = written(&definition, path, mapping, &mut warnings)?;
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
fn examples(definition: &ToolDefinition) -> Vec<String> {
    if !definition.examples.is_empty() {
        return definition.examples.clone();
    }
    let schema = definition.schema.as_object().and_then(|schema: &JsonMap| schema.get("examples"));
    let examples = schema.and_then(Value::as_array).into_iter().flatten();
    examples.map(|example| example.as_str().map_or_else(|| example.to_string(), str::to_owned)).collect()
}
