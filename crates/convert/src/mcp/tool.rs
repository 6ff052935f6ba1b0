//! Tools of `tools/list` as items.

use serde_json::Value;

use super::hints::{HINTS, McpHints};
use super::namespace::{guess, lenient_id, name_part};
use super::stored_tool::StoredTool;
use super::tool_id::shape_hash;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, as_string, number_text, pointer, to_sorted_ascii, type_name, wrong_type};
use contextweaver_model::{RESERVED_KEY, SelectableItem, Warning};
use contextweaver_text::hash::sha256_hex;
use contextweaver_text::unicode::trim;

/// Warnings of one tool, at most; the last one says that there are more.
const MAX_WARNINGS: usize = 32;

contextweaver_model::string_enum! {
    /// The form of ids of tools.
    #[derive(Default)]
    IdForm, "form of ids" {
        /// `mcp:<name>`, or `mcp:<server>/<name>`; it does not change with the arguments.
        #[default]
        Name = "name",
        /// `<namespace>:<name>@<version>`, or without a version `<namespace>:<name>#<hash of the arguments' names>`.
        Canonical = "canonical",
    }
}

/// Options of [`mcp_tool_to_selectable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOptions {
    /// The name the host gives the server, which becomes the namespace; otherwise the namespace is guessed from each
    /// tool's name.
    pub server: Option<String>,
    /// The form of ids.
    pub id_form: IdForm,
    /// Whether the first of three words is the guessed namespace even when it is a verb, such as `get`.
    pub verb_namespaces: bool,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self { server: None, id_form: IdForm::default(), verb_namespaces: true }
    }
}

/// An item made of a tool, a resource or a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedTool {
    /// The item.
    pub item: SelectableItem,
    /// What was ignored, by its place in the tool. The item keeps it all the same, for the way back.
    pub warnings: Vec<Warning>,
}

/// A tool, a resource or a prompt being read.
#[derive(Default)]
pub(super) struct ToolReader {
    stored: StoredTool,
    warnings: Vec<Warning>,
}

impl ToolReader {
    pub fn warn(&mut self, code: &'static str, message: &str, path: &str) {
        match self.warnings.len() {
            MAX_WARNINGS.. => {}
            len if len + 1 == MAX_WARNINGS => {
                self.warnings.push(Warning::new("more-warnings", "there is more that was ignored", ""));
            }
            _ => self.warnings.push(Warning::new(code, message, path)),
        }
    }

    /// Keeps a field that is not what the protocol says, and warns.
    pub fn ignore(&mut self, key: &str, wanted: &str, value: Value) {
        let message = format!("expected {wanted}, got {}; ignored", type_name(&value));
        self.warn("field-ignored", &message, &pointer("", key));
        self.stored.given(key, value);
    }

    /// Keeps a field as it was, of which something is ignored.
    pub fn kept_as_given(&mut self, key: &str, value: Value) {
        self.stored.given(key, value);
    }

    /// Puts what is kept into an item that is otherwise done.
    pub fn finish(self, mut item: SelectableItem) -> ConvertedTool {
        self.stored.put(&mut item.metadata, JsonMap::new());
        ConvertedTool { item, warnings: self.warnings }
    }

    /// Reads a text; blank is none.
    pub fn text(&mut self, key: &str, value: Option<Value>) -> Option<String> {
        match value? {
            Value::String(text) if !trim(&text).is_empty() => Some(text),
            blank @ Value::String(_) => {
                self.stored.given(key, blank);
                None
            }
            other => {
                self.ignore(key, "a string", other);
                None
            }
        }
    }

    /// Reads an object.
    fn object(&mut self, key: &str, value: Option<Value>) -> Option<JsonMap> {
        match value? {
            Value::Object(map) => Some(map),
            other => {
                self.ignore(key, "an object", other);
                None
            }
        }
    }

    /// Reads the annotations; returns them without the cost, and the cost.
    fn annotations(&mut self, value: Option<Value>) -> (JsonMap, f64) {
        let Some(mut annotations) = self.object("annotations", value) else { return (JsonMap::new(), 0.0) };
        for key in HINTS {
            if annotations.get(*key).is_some_and(|hint| !hint.is_boolean()) {
                let path = pointer("/annotations", key);
                self.warn("hint-ignored", "a hint is true or false; ignored", &path);
            }
        }
        let cost = annotations.get("costHint").and_then(Value::as_f64).filter(|cost| *cost >= 0.0);
        if cost.is_none() && annotations.contains_key("costHint") {
            self.warn("hint-ignored", "a cost is a number from 0 on; ignored", "/annotations/costHint");
        }
        let is_reserved = annotations.contains_key(RESERVED_KEY);
        let is_same = cost.is_none_or(|cost| cost_value(cost).as_ref() == annotations.get("costHint"));
        if is_reserved || !is_same || annotations.is_empty() {
            self.stored.given("annotations", Value::Object(annotations.clone()));
        }
        if is_reserved {
            // A server does not get to write into the reserved part.
            self.warn("field-ignored", "the key is reserved; ignored", &pointer("/annotations", RESERVED_KEY));
            annotations.shift_remove(RESERVED_KEY);
        }
        if cost.is_some() {
            annotations.shift_remove("costHint");
        }
        self.stored.note_annotations(&annotations);
        (annotations, cost.unwrap_or(0.0))
    }

    /// Warns of a schema that stands where other protocols have it: nobody would miss it before a model guesses arguments.
    fn misplaced_schema(&mut self, tool: &JsonMap) {
        if tool.contains_key("inputSchema") {
            return;
        }
        for key in MISPLACED.iter().filter(|key| tool.get(**key).is_some_and(Value::is_object)) {
            let message = format!("the arguments are in `{key}`; MCP has them in `inputSchema`; ignored");
            self.warn("field-ignored", &message, &pointer("", key));
        }
    }

    /// Reads the icons, which are not fetched; those from elsewhere than `https:` and `data:` are ignored.
    fn icons(&mut self, value: Value) {
        let Value::Array(list) = value else { return self.ignore("icons", "a list", value) };
        if list.iter().all(is_safe_icon) {
            self.stored.fields.insert("icons".to_owned(), Value::Array(list));
            return;
        }
        for at in (0..list.len()).filter(|at| !is_safe_icon(&list[*at])) {
            self.warn(
                "icon-ignored",
                "an icon has an `https:` or `data:image/` source; ignored",
                &format!("/icons/{at}"),
            );
        }
        let safe = list.iter().filter(|icon| is_safe_icon(icon)).cloned().collect();
        self.stored.fields.insert("icons".to_owned(), Value::Array(safe));
        self.stored.given("icons", Value::Array(list));
    }

    /// Keeps what an item has no field for.
    pub fn rest(&mut self, tool: JsonMap) {
        for (key, value) in tool {
            match key.as_str() {
                "icons" => self.icons(value),
                "_meta" | "execution" if !value.is_object() => self.ignore(&key, "an object", value),
                _ => {
                    self.stored.fields.insert(key, value);
                }
            }
        }
    }
}

/// Where others have the schema of the arguments: Anthropic, `OpenAI` and Gemini, items of this library, functions.
const MISPLACED: &[&str] = &["input_schema", "parameters", "args_schema", "inputschema", "schema", "args", "arguments"];

fn is_safe_icon(icon: &Value) -> bool {
    let source = icon.get("src").and_then(Value::as_str).unwrap_or_default();
    let has_scheme = |scheme: &str| source.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    has_scheme("https://") || has_scheme("data:image/")
}

/// Writes a cost as a tool declares it; nothing for none.
pub(super) fn cost_value(cost: f64) -> Option<Value> {
    let is_whole = cost.fract() == 0.0 && cost.abs() < 9e15;
    (cost != 0.0).then(|| if is_whole { Value::from(cost as i64) } else { Value::from(cost) })
}

/// Takes the tools out of a `tools/list` capture: a list of tools, `{"tools": […]}`, or the JSON-RPC response around it.
///
/// # Errors
/// `INVALID_INPUT` for another shape, `MISSING_FIELD` for an object without `tools`.
///
/// ```
/// use contextweaver_convert::mcp::tool_list;
/// use serde_json::json;
///
/// let listing = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "search" }] } });
/// assert_eq!(tool_list(listing)?, [json!({ "name": "search" })]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn tool_list(value: Value) -> Result<Vec<Value>> {
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

/// Reads one tool. Only a tool without a name is an error.
///
/// What a tool has no field for, and what is not as the protocol says, is kept in the metadata below
/// `_contextweaver.mcp`, so that [`super::selectable_to_mcp_tool`] gives the same tool back. The other metadata are the
/// annotations, as declared.
///
/// # Errors
/// `INVALID_INPUT` for what is no object, `MISSING_FIELD` for a tool without a name.
///
/// ```
/// use contextweaver_convert::mcp::{ToolOptions, mcp_tool_to_selectable};
/// use serde_json::json;
///
/// let tool = json!({
///     "name": "create_issue",
///     "description": "Creates an issue.",
///     "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } } },
///     "annotations": { "readOnlyHint": false },
/// });
/// let options = ToolOptions { server: Some("github".to_owned()), ..ToolOptions::default() };
/// let converted = mcp_tool_to_selectable(tool, &options)?;
/// assert_eq!(converted.item.id, "mcp:github/create_issue");
/// assert_eq!(converted.item.namespace, "github");
/// assert!(converted.warnings.is_empty());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_tool_to_selectable(tool: Value, options: &ToolOptions) -> Result<ConvertedTool> {
    let mut tool = match tool {
        Value::Object(map) => map,
        other => return Err(wrong_type("", "an object", &other)),
    };
    let is_of_openai = !tool.contains_key("name") && tool.get("function").is_some_and(Value::is_object);
    let name = required_text(tool.shift_remove("name"), "tool", "name").map_err(|error| {
        if is_of_openai {
            error.hint("a tool of OpenAI has its fields below `function`; one of MCP has not")
        } else {
            error
        }
    })?;
    let mut reader = ToolReader::default();
    reader.misplaced_schema(&tool);
    let mut take = |key: &str| tool.shift_remove(key);
    let given_title = reader.text("title", take("title"));
    let given_description = take("description");
    let (annotations, cost_hint) = reader.annotations(take("annotations"));
    let (title, description) = reader.shown(&name, given_title, given_description, &annotations);
    let args_schema = reader.arguments(take("inputSchema"));
    let output_schema = reader.object("outputSchema", take("outputSchema"));
    reader.rest(tool);
    let namespace = options.server.as_deref().unwrap_or_else(|| guess(&name, options.verb_namespaces));
    let declared = |key: &str| annotations.get(key) == Some(&Value::Bool(true));
    let (read_only, destructive) = (declared("readOnlyHint"), declared("destructiveHint"));
    let item = SelectableItem {
        id: id(&name, namespace, &args_schema, &reader.stored.fields, options)?,
        kind: "tool".to_owned(),
        namespace: namespace.to_owned(),
        name,
        title,
        description,
        tags: hint_tags(read_only, destructive),
        args_schema,
        output_schema,
        side_effects: destructive || !read_only,
        cost_hint,
        metadata: annotations,
        ..SelectableItem::default()
    };
    Ok(reader.finish(item))
}

impl ToolReader {
    /// Returns the title, and the description or what stands for it: the title, then the name.
    fn shown(
        &mut self,
        name: &str,
        title: Option<String>,
        description: Option<Value>,
        annotations: &JsonMap,
    ) -> (Option<String>, String) {
        let other = annotations.get("title").and_then(Value::as_str).filter(|text| !trim(text).is_empty());
        if title.is_some() && title.as_deref() == other {
            // Written once, it would be taken for the annotation alone.
            self.stored.given("title", title.clone().into());
        }
        let title = title.or_else(|| other.map(str::to_owned));
        if description.is_none() {
            self.stored.absent("description");
        }
        let description =
            self.text("description", description).unwrap_or_else(|| title.as_deref().unwrap_or(name).to_owned());
        (title, description)
    }

    /// Reads the schema of the arguments.
    fn arguments(&mut self, value: Option<Value>) -> JsonMap {
        match value {
            None => self.stored.absent("inputSchema"),
            Some(Value::Object(map)) if map.is_empty() => self.stored.given("inputSchema", Value::Object(map)),
            value => return self.object("inputSchema", value).unwrap_or_default(),
        }
        JsonMap::new()
    }
}

/// Takes what something cannot be called or found without.
pub(super) fn required_text(value: Option<Value>, what: &str, key: &str) -> Result<String> {
    let path = pointer("", key);
    let missing = || Error::new(ErrorCode::MissingField, format!("the {what} has no {key}")).at(path.as_str());
    let text = as_string(value.filter(|value| !value.is_null()).ok_or_else(missing)?, &path)?;
    if trim(&text).is_empty() { Err(missing()) } else { Ok(text) }
}

fn id(name: &str, namespace: &str, schema: &JsonMap, fields: &JsonMap, options: &ToolOptions) -> Result<String> {
    Ok(match (options.id_form, &options.server) {
        (IdForm::Name, None) => format!("mcp:{name}"),
        (IdForm::Name, Some(server)) => format!("mcp:{server}/{name}"),
        (IdForm::Canonical, server) => {
            let part = if server.is_some() { name } else { name_part(name) };
            lenient_id(namespace, part, version(fields.get("_meta")), &lenient_hash(name, schema)?)?
        }
    })
}

/// Returns the hash of a tool's name and its arguments' names; what is no name does not count.
fn lenient_hash(name: &str, schema: &JsonMap) -> Result<String> {
    let mut shape = JsonMap::new();
    if let Some(properties @ Value::Object(_)) = schema.get("properties") {
        shape.insert("properties".to_owned(), properties.clone());
    }
    if let Some(Value::Array(required)) = schema.get("required") {
        let names = required.iter().filter(|name| name.is_string()).cloned().collect();
        shape.insert("required".to_owned(), Value::Array(names));
    }
    shape_hash(name, Some(&Value::Object(shape)))
}

/// Returns the tags of a tool with these hints, sorted.
pub(super) fn hint_tags(read_only: bool, destructive: bool) -> Vec<String> {
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

impl ConvertedTool {
    /// Returns the item with the warnings in what it keeps, for who does not look at a catalog's report.
    pub fn with_warnings(&self) -> SelectableItem {
        self.noting(JsonMap::new())
    }

    fn noting(&self, mut further: JsonMap) -> SelectableItem {
        let mut item = self.item.clone();
        let stored = StoredTool::of(&item.metadata);
        if !self.warnings.is_empty() {
            further.insert("warnings".to_owned(), serde_json::to_value(&self.warnings).unwrap_or_default());
        }
        stored.put(&mut item.metadata, further);
        item
    }
}

/// Adds to the stored fields of an item, for readers of one tool rather than of a catalog: the effective `hints`, the
/// `shape_hash` of canonical ids, the `schema_digest` over both schemas, which also tells when only a type changes, and
/// the `warnings`.
///
/// # Errors
/// `INVALID_INPUT` where the argument names cannot be hashed.
pub fn describe(converted: &ConvertedTool) -> Result<SelectableItem> {
    let item = &converted.item;
    let mut further = JsonMap::new();
    further.insert("hints".to_owned(), serde_json::to_value(McpHints::of(&item.metadata)).unwrap_or_default());
    further.insert("shape_hash".to_owned(), lenient_hash(&item.name, &item.args_schema)?.into());
    further.insert("schema_digest".to_owned(), schema_digest(item).into());
    Ok(converted.noting(further))
}

/// Returns the digest of everything both schemas of a tool say.
pub fn schema_digest(item: &SelectableItem) -> String {
    let output = item.output_schema.clone().map_or(Value::Null, Value::Object);
    let schemas = Value::Array(vec![Value::Object(item.args_schema.clone()), output]);
    format!("sha256:{}", sha256_hex(&to_sorted_ascii(&schemas, None)))
}
