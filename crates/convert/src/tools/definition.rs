//! A tool as its author defines it, and the tool of MCP it becomes.

use serde::Serialize;
use serde_json::{Value, json};

use super::annotations::{CATEGORIES, LEVELS, annotations};
use super::meta_prefix::MetaPrefix;
use super::names::{humanized, is_mcp_name, is_snake_case};
use super::schema::{SchemaRole, ToolSchemaOptions, normalized};
use crate::mcp::RevisionRules;
use crate::mcp::{ConvertedTool, IdForm, ToolOptions, mcp_tool_to_selectable};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{Fields, JsonMap, pointer};
use contextweaver_text::unicode::{quote, trim};

/// Fields of a definition that are written into `_meta`, as MCP has none for them.
pub(super) const META_FIELDS: &[&str] = &[
    "category",
    "consequenceLevel",
    "requiresConfirmation",
    "timeout",
    "tags",
    "version",
    "dependsOn",
    "idempotent",
    "openWorld",
    "annotations",
    "inferAnnotations",
    "examples",
];
/// Fields of an MCP tool that a definition has, too, under the same name or another.
pub(super) const SHARED: &[&str] =
    &["name", "title", "description", "inputSchema", "outputSchema", "icons", "annotations"];
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

/// The fields of a tool definition.
#[derive(Debug, Clone)]
pub(super) struct ToolDefinition {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) title: Option<String>,
    pub(super) schema: Value,
    pub(super) output_schema: Option<Value>,
    pub(super) icons: Option<Value>,
    pub(super) category: Option<&'static str>,
    pub(super) level: Option<&'static str>,
    pub(super) confirm: bool,
    pub(super) timeout: u64,
    pub(super) tags: Vec<String>,
    pub(super) depends_on: Vec<String>,
    pub(super) examples: Vec<String>,
    pub(super) idempotent: Option<bool>,
    pub(super) open_world: Option<bool>,
    pub(super) annotations: JsonMap,
    pub(super) infer: bool,
    /// Fields of a tool of MCP that are no fields of a definition.
    pub(super) mcp: JsonMap,
    /// The fields for `_meta`, as they were given.
    pub(super) meta_fields: JsonMap,
}

fn fault(code: ErrorCode, reason: &'static str, message: String) -> Error {
    Error::new(code, message).detail("reason", reason)
}

impl ToolDefinition {
    /// Reads a definition. Unknown fields are warnings, missing ones errors.
    pub(super) fn read(value: &Value, path: &str, warnings: &mut Vec<Warning>) -> Result<Self> {
        let mut fields = Fields::open(value.clone(), path)?;
        let meta_fields = META_FIELDS.iter().filter_map(|key| Some(((*key).to_owned(), fields.peek(key)?.clone())));
        let meta_fields: JsonMap = meta_fields.filter(|(_, value)| !value.is_null()).collect();
        let name = read_name(&mut fields, warnings)?;
        let description = fields.opt_string("description")?.unwrap_or_default();
        if trim(&description).is_empty() {
            let message = "the description is empty, and it is all a model has to choose by".to_owned();
            return Err(fault(ErrorCode::MissingField, "empty_description", message).at(fields.at("description")));
        }
        let schema = fields.take("schema").ok_or_else(|| {
            let message = "the definition has no schema".to_owned();
            fault(ErrorCode::MissingField, "invalid_schema", message).at(fields.at("schema"))
        })?;
        let flag = |fields: &mut Fields, key: &str| -> Result<Option<bool>> {
            if fields.peek(key).is_none_or(Value::is_null) { Ok(None) } else { fields.bool_or(key, false).map(Some) }
        };
        let definition = Self {
            name,
            description,
            schema,
            title: fields.opt_string("title")?,
            output_schema: fields.take("outputSchema"),
            icons: fields.take("icons"),
            category: one_of(&mut fields, "category", CATEGORIES, "unknown_category", warnings)?,
            level: one_of(&mut fields, "consequenceLevel", LEVELS, "unknown_consequence_level", warnings)?,
            confirm: fields.bool_or("requiresConfirmation", false)?,
            timeout: read_timeout(&mut fields)?,
            tags: fields.strings("tags")?,
            depends_on: fields.strings("dependsOn")?,
            examples: fields.strings("examples")?,
            idempotent: flag(&mut fields, "idempotent")?,
            open_world: flag(&mut fields, "openWorld")?,
            annotations: fields.object("annotations")?,
            infer: fields.bool_or("inferAnnotations", true)?,
            mcp: fields.object("mcp")?,
            meta_fields,
        };
        fields.opt_string("version")?;
        fields.take("execute");
        for key in fields.rest().keys() {
            let message = format!("a definition has no field {}; ignored", quote(key));
            warnings.push(Warning::new("unknown_field", message, pointer(path, key)));
        }
        Ok(definition)
    }
}

fn read_name(fields: &mut Fields, warnings: &mut Vec<Warning>) -> Result<String> {
    let name = fields.opt_string("name")?.unwrap_or_default();
    let at = fields.at("name");
    if !is_mcp_name(&name) {
        let message = format!("{} is no name of a tool", quote(&name));
        let code = if name.is_empty() { ErrorCode::MissingField } else { ErrorCode::InvalidInput };
        return Err(fault(code, "invalid_name", message).at(at).hint("1 to 128 of A-Z a-z 0-9 _ - ."));
    }
    if !is_snake_case(&name) {
        let message = format!("{} is not in snake case; kept as it is", quote(&name));
        warnings.push(Warning::new("name_not_snake_case", message, at));
    }
    Ok(name)
}

fn read_timeout(fields: &mut Fields) -> Result<u64> {
    let invalid = |error: Error| error.detail("reason", "invalid_timeout");
    match fields.opt_uint("timeout", limits::MAX_TOOL_TIMEOUT_MS).map_err(invalid)? {
        None => Ok(limits::TOOL_TIMEOUT_MS),
        Some(0) => {
            let message = "a timeout is a number of milliseconds above 0".to_owned();
            Err(fault(ErrorCode::OutOfRange, "invalid_timeout", message).at(fields.at("timeout")))
        }
        Some(timeout) => Ok(timeout),
    }
}

/// Takes a field that must be one of `known`; another value is a warning and counts as absent.
fn one_of(
    fields: &mut Fields,
    key: &str,
    known: &'static [&'static str],
    code: &'static str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<&'static str>> {
    let Some(given) = fields.opt_string(key)? else { return Ok(None) };
    let found = known.iter().copied().find(|word| *word == given);
    if found.is_none() {
        let message = format!("{} is none of {}; it counts as unknown", quote(&given), known.join(", "));
        warnings.push(Warning::new(code, message, fields.at(key)));
    }
    Ok(found)
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

pub(super) fn written(
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
    let mut names = super::dependencies::ToolIndices::default();
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
    super::dependencies::check(definitions, &indices, &names, &mut out.warnings);
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
