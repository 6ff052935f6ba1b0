//! A tool of MCP, and the definition it becomes.

use serde::Serialize;
use serde_json::{Value, json};

use super::annotations::guessed;
use super::definition::{META_FIELDS, SHARED, ToolDefinition};
use super::meta_prefix::MetaPrefix;
use super::names::{is_mcp_name, is_snake_case, snake_case};
use super::schema::{check_local, check_size};
use super::to_mcp::{ICONS, TAGS_SHOWN, TITLE_MADE, indexed, tag_line};
use crate::mcp::HINTS;
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, type_name, wrong_type};
use contextweaver_text::quote::quote;

/// Options of [`from_mcp_tool`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpToToolDefinitionOptions {
    /// The prefix of the keys that are read from `_meta`.
    pub prefix: MetaPrefix,
    /// Whether the definition in `_meta` is used. A server can write anything there.
    pub trusted: bool,
    /// Whether names are brought into snake case.
    pub snake_case: bool,
}

/// A definition and what of its tool could not be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct McpToToolDefinition {
    /// The definition, without `execute`.
    pub definition: Value,
    /// The name the server knows the tool by, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_name: Option<String>,
    /// Fields that were ignored or guessed.
    pub warnings: Vec<Warning>,
}

/// Maps a tool to a definition. The paths of errors and warnings begin with `path`. Only a tool without a name is an
/// error, and a name that cannot be renamed where renaming is asked for.
///
/// Without trusted `_meta`, category, level and confirmation are guessed from the hints, the worst where there are none,
/// and the annotations are kept as they are: mapped back, the tool has the same ones.
///
/// # Errors
/// `INVALID_INPUT` for what is no object, has no name, or a name that snake case cannot write where that is asked for.
///
/// ```
/// use contextweaver_convert::tools::{McpToToolDefinitionOptions, from_mcp_tool};
/// use serde_json::json;
///
/// let tool = json!({ "name": "getUser", "description": "Reads a user.", "inputSchema": { "type": "object" },
///                    "annotations": { "readOnlyHint": true } });
/// let options = McpToToolDefinitionOptions { snake_case: true, ..McpToToolDefinitionOptions::default() };
/// let read = from_mcp_tool(&tool, "", &options)?;
/// assert_eq!(read.definition["name"], "get_user");
/// assert_eq!(read.mcp_name.as_deref(), Some("getUser"));
/// assert_eq!(read.definition["category"], "read");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_mcp_tool(tool: &Value, path: &str, options: &McpToToolDefinitionOptions) -> Result<McpToToolDefinition> {
    let Value::Object(tool) = tool else { return Err(wrong_type(path, "an object", tool)) };
    let mut reader = DefinitionReader { tool, path, warnings: Vec::new(), out: JsonMap::new() };
    let name = reader.name()?;
    let mut mcp_name = None;
    reader.put("name", name.into());
    if options.snake_case && !is_snake_case(name) {
        let renamed = snake_case(name).map_err(|message| invalid_name(message, path))?;
        reader.put("name", renamed.into());
        mcp_name = Some(name.to_owned());
    }
    reader.texts();
    reader.schemas();
    reader.rest(options);
    let DefinitionReader { mut warnings, mut out, .. } = reader;
    let notes = tool.get("_meta").and_then(|meta| meta.get(options.prefix.definition()));
    let restored = notes.filter(|_| options.trusted).and_then(|notes| restored(&out, notes, path, &mut warnings));
    match restored {
        Some(restored) => out = restored,
        None => guess(tool, path, &mut out, &mut warnings),
    }
    Ok(McpToToolDefinition { definition: Value::Object(out), mcp_name, warnings })
}

fn invalid_name(message: String, path: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, message).detail("reason", "invalid_name").at(format!("{path}/name"))
}

struct DefinitionReader<'t> {
    tool: &'t JsonMap,
    path: &'t str,
    warnings: Vec<Warning>,
    out: JsonMap,
}

impl<'t> DefinitionReader<'t> {
    fn put(&mut self, key: &str, value: Value) {
        self.out.insert(key.to_owned(), value);
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>, key: &str) {
        self.warnings.push(Warning::new(code, message, format!("{}/{key}", self.path)));
    }

    fn name(&mut self) -> Result<&'t str> {
        let name = self.tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(invalid_name("the tool has no name".to_owned(), self.path));
        }
        if !is_mcp_name(name) {
            self.warn("invalid_name", format!("{} is no name of a tool; kept as it is", quote(name)), "name");
        }
        Ok(name)
    }

    fn texts(&mut self) {
        match self.tool.get("title") {
            Some(title @ Value::String(_)) => self.put("title", title.clone()),
            None | Some(Value::Null) => {}
            Some(_) => self.warn("bad_title", "the title is no text; ignored", "title"),
        }
        let description = self.tool.get("description").and_then(Value::as_str);
        if description.is_none() {
            self.warn("no_description", "the tool has no description", "description");
        }
        self.put("description", description.unwrap_or_default().into());
    }

    fn schemas(&mut self) {
        let input = self.tool.get("inputSchema");
        if let Some(schema) = input.filter(|schema| schema.is_object()) {
            self.put("schema", schema.clone());
        } else {
            let found = input.map_or("nothing", type_name);
            self.warn("bad_input_schema", format!("the schema is an object, got {found}"), "inputSchema");
            self.put("schema", json!({ "type": "object" }));
        }
        if let Some(schema) = self.tool.get("outputSchema").filter(|schema| !schema.is_null()) {
            self.put("outputSchema", schema.clone());
        }
        for key in ["inputSchema", "outputSchema"] {
            let Some(schema) = self.tool.get(key) else { continue };
            let at = format!("{}/{key}", self.path);
            if let Err(error) = check_size(schema, &at).and_then(|()| check_local(schema, &at)) {
                let code = if error.code() == ErrorCode::TooLarge { "schema_too_large" } else { "remote_ref" };
                self.warnings.push(Warning::new(code, format!("{}; kept as it is", error.message()), error.path()));
            }
        }
    }

    /// Keeps the icons, and below `mcp` what a definition has no field for.
    fn rest(&mut self, options: &McpToToolDefinitionOptions) {
        if let Some(icons) = self.tool.get("icons").filter(|icons| !icons.is_null()) {
            self.put("icons", icons.clone());
        }
        let mut rest = JsonMap::new();
        for (key, value) in self.tool.iter().filter(|(key, _)| !SHARED.contains(&key.as_str())) {
            let mut value = value.clone();
            if let (Value::Object(meta), "_meta") = (&mut value, key.as_str()) {
                meta.shift_remove(&options.prefix.definition());
                if meta.is_empty() {
                    continue;
                }
            }
            rest.insert(key.clone(), value);
        }
        if !rest.is_empty() {
            self.put("mcp", Value::Object(rest));
        }
    }
}

/// Fills in category, level and confirmation by the hints.
fn guess(tool: &JsonMap, path: &str, out: &mut JsonMap, warnings: &mut Vec<Warning>) {
    let at = format!("{path}/annotations");
    let annotations = tool.get("annotations").and_then(Value::as_object);
    match (annotations, tool.get("annotations")) {
        (Some(all), _) if !all.is_empty() => {
            for key in HINTS.iter().filter(|key| all.get(**key).is_some_and(|hint| !hint.is_boolean())) {
                let message = "a hint is true or false; it counts as absent";
                warnings.push(Warning::new("bad_annotation", message, format!("{at}/{key}")));
            }
        }
        (None, Some(other)) if !other.is_null() => {
            warnings.push(Warning::new("bad_annotation", "annotations are an object; ignored", at));
        }
        _ => warnings.push(Warning::new("no_annotations", "without hints the worst is taken for granted", at)),
    }
    let (category, level, confirm) = guessed(annotations);
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("category", category.into());
    put("consequenceLevel", level.into());
    put("requiresConfirmation", confirm.into());
    put("timeout", limits::TOOL_TIMEOUT_MS.into());
    if let Some(annotations) = annotations {
        put("annotations", Value::Object(annotations.clone()));
    }
    put("inferAnnotations", false.into());
}

/// Returns the definition with its fields from `_meta`; none where they cannot be read.
fn restored(out: &JsonMap, notes: &Value, path: &str, warnings: &mut Vec<Warning>) -> Option<JsonMap> {
    let mut definition = out.clone();
    let mut is_whole = false;
    if let Value::Object(notes) = notes {
        let fields = notes.iter().filter(|(key, _)| META_FIELDS.contains(&key.as_str()) || *key == ICONS);
        definition.extend(fields.map(|(key, value)| (key.clone(), value.clone())));
        let is_noted = |key: &str| notes.get(key) == Some(&Value::Bool(true));
        if is_noted(TITLE_MADE) {
            definition.shift_remove("title");
        }
        // Name and description are not what is written down.
        let mut sample = definition.clone();
        for key in ["name", "description"] {
            sample.insert(key.to_owned(), "x".into());
        }
        if let Ok(read) = ToolDefinition::read(&Value::Object(sample), path, &mut Vec::new()) {
            is_whole = true;
            let description = out.get("description").and_then(Value::as_str).unwrap_or_default();
            let without = description.strip_suffix(&tag_line(&read.tags)).filter(|_| is_noted(TAGS_SHOWN));
            definition.insert("description".to_owned(), without.unwrap_or(description).into());
        }
    }
    if !is_whole {
        let message = "what is written down of the definition cannot be read; ignored";
        warnings.push(Warning::new("bad_meta", message, format!("{path}/_meta")));
    }
    is_whole.then_some(definition)
}

/// Definitions made of a list of MCP tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct McpToToolDefinitions {
    /// The definitions, in the order of their tools.
    pub definitions: Vec<Value>,
    /// Of renamed tools, the names the server knows them by.
    pub names: JsonMap,
    /// The errors of the other tools, with their `index`.
    pub errors: Vec<Value>,
    /// Fields that were ignored or guessed.
    pub warnings: Vec<Warning>,
}

/// Maps tools to definitions. A bad one does not keep the others out, unless `strict`. Two tools that would get one name
/// are an error always: one of them could not be called.
///
/// # Errors
/// `DUPLICATE_ID` for two tools that would get one name; with `strict`, the error of the first bad tool.
///
/// ```
/// use contextweaver_convert::tools::{McpToToolDefinitionOptions, from_mcp_tools};
/// use serde_json::json;
///
/// let tools = [json!({ "name": "a", "inputSchema": {} }), json!({ "inputSchema": {} })];
/// let read = from_mcp_tools(&tools, &McpToToolDefinitionOptions::default(), false)?;
/// assert_eq!((read.definitions.len(), read.errors.len()), (1, 1));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_mcp_tools(
    tools: &[Value],
    options: &McpToToolDefinitionOptions,
    strict: bool,
) -> Result<McpToToolDefinitions> {
    let mut out = McpToToolDefinitions::default();
    let mut taken: SortedMap<String, usize> = SortedMap::new();
    for (index, tool) in tools.iter().enumerate() {
        match from_mcp_tool(tool, &format!("/{index}"), options) {
            Ok(read) => {
                let name = read.definition["name"].as_str().unwrap_or_default().to_owned();
                if let Some(first) = taken.get(&name).filter(|_| options.snake_case) {
                    let message = format!("the tools {first} and {index} would both be called {}", quote(&name));
                    return Err(Error::new(ErrorCode::DuplicateId, message)
                        .detail("reason", "duplicate_name")
                        .detail("indices", json!([first, index]))
                        .at(format!("/{index}/name")));
                }
                if let Some(mcp_name) = read.mcp_name {
                    out.names.insert(name.clone(), mcp_name.into());
                }
                taken.insert(name, index);
                out.definitions.push(read.definition);
                out.warnings.extend(read.warnings);
            }
            Err(error) if strict => return Err(error),
            Err(error) => out.errors.push(indexed(&error, index)),
        }
    }
    Ok(out)
}
