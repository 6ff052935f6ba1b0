//! Results of tools as MCP results, and back.

use serde::Serialize;
use serde_json::{Value, json};

use super::meta_prefix::MetaPrefix;
use super::render::{DataFormat, rendered};
use super::validate::validate_args;
use crate::mcp::Revision;
use contextweaver_base::Result;
use contextweaver_model::Warning;
use contextweaver_model::json;
use contextweaver_model::json::{Fields, JsonMap, pointer, type_name};
use contextweaver_text::quote::quote;
use contextweaver_text::time::parse_iso;

/// Where the time of a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FetchedAt {
    /// `_meta`.
    #[default]
    Meta,
    /// `_meta` and, where that is an object, the structured content.
    Structured,
    /// The time is left out.
    Omit,
}

/// Options of [`to_mcp_result`].
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResultToMcpOptions {
    /// The revision to write for.
    pub revision: Revision,
    /// The prefix of keys in `_meta`.
    pub prefix: MetaPrefix,
    /// The key around data that are no object, where structured content must be one.
    pub wrap_key: String,
    /// Where the time is written.
    pub fetched_at: FetchedAt,
    /// Whether a success says `isError: false`.
    pub explicit_is_error: bool,
    /// Whether a text that begins with `Error: ` gets no second one.
    pub dedupe_prefix: bool,
    /// How data are written as text.
    pub render: DataFormat,
    /// The text of the data, if the caller has made it.
    pub text: Option<String>,
    /// The schema of the structured content, if it is to be checked.
    pub output_schema: Option<Value>,
}

impl Default for ToolResultToMcpOptions {
    fn default() -> Self {
        Self {
            revision: Revision::default(),
            prefix: MetaPrefix::default(),
            wrap_key: "result".to_owned(),
            fetched_at: FetchedAt::Meta,
            explicit_is_error: false,
            dedupe_prefix: false,
            render: DataFormat::Json,
            text: None,
            output_schema: None,
        }
    }
}

/// An MCP result made of the result of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolResultToMcp {
    /// The MCP result.
    pub result: Value,
    /// Fields that were ignored.
    pub warnings: Vec<Warning>,
}

/// What begins the text of an error.
const ERROR: &str = "Error: ";

fn text_part(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// Maps a result `{tool, fetchedAt, data?, error?}` to a result of MCP. The paths of errors and warnings begin with
/// `path`.
///
/// # Errors
/// `INVALID_INPUT` for what is no such record; the errors of [`super::validate_args`] for a bad output schema.
///
/// ```
/// use contextweaver_convert::tools::{ToolResultToMcpOptions, to_mcp_result};
/// use serde_json::json;
///
/// let result = json!({ "tool": "weather", "fetchedAt": "2026-01-01T00:00:00Z", "data": { "temp": 3 } });
/// let written = to_mcp_result(&result, "", &ToolResultToMcpOptions::default())?.result;
/// assert_eq!(written["structuredContent"], json!({ "temp": 3 }));
/// assert_eq!(written["content"][0]["text"], "{\"temp\":3}");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn to_mcp_result(result: &Value, path: &str, options: &ToolResultToMcpOptions) -> Result<ToolResultToMcp> {
    let mut warnings = Vec::new();
    let mut fields = Fields::open(result.clone(), path)?;
    let data = fields.peek("data").cloned();
    fields.take("data");
    let error = fields.opt_string("error")?;
    let tool = fields.opt_string("tool")?;
    let time = fields.opt_string("fetchedAt")?;
    if time.as_deref().is_none_or(|time| parse_iso(time).is_none()) {
        let message = "the time is no ISO 8601 timestamp";
        warnings.push(Warning::new("bad_fetched_at", message, pointer(path, "fetchedAt")));
    }
    for key in fields.rest().keys() {
        let message = format!("a result has no field {}; ignored", quote(key));
        warnings.push(Warning::new("unknown_field", message, pointer(path, key)));
    }
    let mut out = McpResultWriter { options, map: JsonMap::new(), meta: JsonMap::new(), warnings };
    if options.fetched_at != FetchedAt::Omit
        && let Some(time) = &time
    {
        out.note("fetched-at", time);
    }
    if let Some(tool) = &tool {
        out.note("tool", tool);
    }
    match (error, data) {
        (Some(error), data) => {
            if data.is_some() {
                let message = "a result has data or an error; the data were dropped";
                out.warnings.push(Warning::new("data_and_error", message, pointer(path, "data")));
            }
            let has_prefix = options.dedupe_prefix && error.starts_with(ERROR);
            out.fail(&if has_prefix { error } else { format!("{ERROR}{error}") });
        }
        (None, data) => out.succeed(data, time, path)?,
    }
    Ok(out.done())
}

struct McpResultWriter<'o> {
    options: &'o ToolResultToMcpOptions,
    map: JsonMap,
    meta: JsonMap,
    warnings: Vec<Warning>,
}

impl McpResultWriter<'_> {
    fn put(&mut self, key: &str, value: Value) {
        self.map.insert(key.to_owned(), value);
    }

    fn note(&mut self, name: &str, text: &str) {
        self.meta.insert(self.options.prefix.key(name), text.into());
    }

    fn fail(&mut self, text: &str) {
        self.put("content", text_part(text));
        self.put("isError", true.into());
    }

    fn succeed(&mut self, data: Option<Value>, time: Option<String>, path: &str) -> Result<()> {
        let options = self.options;
        let text = match (&options.text, &data) {
            (Some(text), Some(_)) => text.clone(),
            (_, Some(data)) => rendered(data, options.render),
            (_, None) => "OK".to_owned(),
        };
        let takes_all = options.revision.rules().any_structured_content;
        let mut wrapped = false;
        let mut structured = match data {
            None => None,
            Some(Value::Null) if !takes_all => None,
            Some(object @ Value::Object(_)) => Some(object),
            Some(other) if takes_all => Some(other),
            Some(other) => {
                wrapped = true;
                let mut map = JsonMap::new();
                map.insert(options.wrap_key.clone(), other);
                Some(Value::Object(map))
            }
        };
        if let Some(schema) = &options.output_schema
            && let Some(problem) = self.mismatch(schema, structured.as_ref())?
        {
            self.fail(&format!("{ERROR}output does not match schema: {problem}"));
            return Ok(());
        }
        if let (FetchedAt::Structured, Some(Value::Object(map)), Some(time)) =
            (options.fetched_at, &mut structured, time)
        {
            if map.contains_key("fetchedAt") {
                let message = "the data have a field `fetchedAt` of their own; left alone";
                self.warnings.push(Warning::new("fetched_at_clash", message, format!("{path}/data/fetchedAt")));
            } else {
                map.insert("fetchedAt".to_owned(), time.into());
            }
        }
        self.put("content", text_part(&text));
        if let Some(structured) = structured {
            self.put("structuredContent", structured);
        }
        if wrapped {
            self.note("wrapped", &options.wrap_key);
        }
        if options.explicit_is_error {
            self.put("isError", false.into());
        }
        Ok(())
    }

    /// Tells what is wrong with the structured content.
    fn mismatch(&mut self, schema: &Value, structured: Option<&Value>) -> Result<Option<String>> {
        let Some(structured) = structured else {
            return Ok(Some("/: expected structured content".to_owned()));
        };
        let checked = validate_args(schema, "/outputSchema", structured, false)?;
        self.warnings.extend(checked.warnings);
        Ok(checked.errors.first().map(|first| {
            let path = if first.path.is_empty() { "/" } else { &first.path };
            format!("{path}: expected {}", first.expected)
        }))
    }

    fn done(mut self) -> ToolResultToMcp {
        if self.options.revision.rules().result_type {
            self.put("resultType", "complete".into());
        }
        if !self.meta.is_empty() {
            let meta = std::mem::take(&mut self.meta);
            self.put("_meta", Value::Object(meta));
        }
        ToolResultToMcp { result: Value::Object(self.map), warnings: self.warnings }
    }
}

/// Options of [`from_mcp_result`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpToToolResultOptions {
    /// The prefix of the keys that are read from `_meta`.
    pub prefix: MetaPrefix,
    /// The tool that was called: results do not name it.
    pub tool: String,
    /// The time, for results that do not say theirs.
    pub now: Option<String>,
    /// Whether a text that is a JSON object or array becomes that.
    pub parse_text: bool,
}

/// What a server answered to a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CallOutcome {
    /// A result, of success or failure.
    Result {
        /// `{tool, fetchedAt, data?, error?}`.
        result: Value,
        /// The rest of `_meta`.
        #[serde(skip_serializing_if = "JsonMap::is_empty")]
        meta: JsonMap,
        /// Content that was ignored.
        warnings: Vec<Warning>,
    },
    /// The server wants answers before it goes on; `request` is what it sent.
    InputRequired {
        /// The result as it came, with `inputRequests` and `requestState`.
        request: Value,
    },
    /// The server works on it; `request` is what it sent.
    Task {
        /// The result as it came, with `task`.
        request: Value,
    },
}

/// Maps a result of MCP to a result. The paths of errors and warnings begin with `path`.
///
/// # Errors
/// `INVALID_INPUT` for what is no object.
///
/// ```
/// use contextweaver_convert::tools::{CallOutcome, McpToToolResultOptions, from_mcp_result};
/// use serde_json::json;
///
/// let result = json!({ "content": [{ "type": "text", "text": "Error: no such city" }], "isError": true });
/// let options = McpToToolResultOptions { tool: "weather".to_owned(), ..McpToToolResultOptions::default() };
/// let CallOutcome::Result { result, .. } = from_mcp_result(&result, "", &options)? else { unreachable!() };
/// assert_eq!(result["error"], "no such city");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_mcp_result(result: &Value, path: &str, options: &McpToToolResultOptions) -> Result<CallOutcome> {
    let Value::Object(map) = result else { return Err(json::wrong_type(path, "an object", result)) };
    let kind = map.get("resultType");
    if kind.is_some_and(|kind| kind == "input_required") {
        return Ok(CallOutcome::InputRequired { request: result.clone() });
    }
    if map.get("task").is_some_and(Value::is_object) {
        return Ok(CallOutcome::Task { request: result.clone() });
    }
    let mut warnings = Vec::new();
    if kind.is_some_and(|kind| kind != "complete" && !kind.is_null()) {
        let message = "the kind of result is not known; taken for a complete one";
        warnings.push(Warning::new("unknown_result_type", message, pointer(path, "resultType")));
    }
    let mut meta = map.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut noted =
        |name: &str| meta.shift_remove(&options.prefix.key(name)).and_then(|value| value.as_str().map(str::to_owned));
    let time = noted("fetched-at").filter(|time| parse_iso(time).is_some());
    let wrap_key = noted("wrapped");
    noted("tool");
    let incoming = McpResultReader { map, path, parse_text: options.parse_text };
    let mut out = JsonMap::new();
    out.insert("tool".to_owned(), options.tool.as_str().into());
    if let Some(time) = time.or_else(|| options.now.clone()) {
        out.insert("fetchedAt".to_owned(), time.into());
    }
    if map.get("isError") == Some(&Value::Bool(true)) {
        out.insert("error".to_owned(), incoming.error(&mut warnings).into());
    } else if let Some(data) = incoming.data(wrap_key.as_deref(), &mut warnings) {
        out.insert("data".to_owned(), data);
    }
    Ok(CallOutcome::Result { result: Value::Object(out), meta, warnings })
}

struct McpResultReader<'r> {
    map: &'r JsonMap,
    path: &'r str,
    parse_text: bool,
}

impl McpResultReader<'_> {
    /// Returns the texts and the other parts.
    fn parts(&self, warnings: &mut Vec<Warning>) -> (Vec<&str>, Vec<Value>) {
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        match self.map.get("content") {
            Some(Value::Array(parts)) => {
                for part in parts {
                    match part.get("text").and_then(Value::as_str) {
                        Some(text) if part.get("type").is_some_and(|kind| kind == "text") => texts.push(text),
                        _ => others.push(part.clone()),
                    }
                }
            }
            None | Some(Value::Null) => {}
            Some(other) => {
                let message = format!("the content is a list, got {}; ignored", type_name(other));
                warnings.push(Warning::new("bad_content", message, pointer(self.path, "content")));
            }
        }
        (texts, others)
    }

    fn error(&self, warnings: &mut Vec<Warning>) -> String {
        let (mut texts, others) = self.parts(warnings);
        if !others.is_empty() || self.map.get("structuredContent").is_some_and(|data| !data.is_null()) {
            let message = "of a failure only the text is kept";
            warnings.push(Warning::new("parts_dropped", message, self.path));
        }
        if let Some(first) = texts.first_mut() {
            *first = first.strip_prefix(ERROR).unwrap_or(first);
        }
        if texts.is_empty() { "Tool execution failed".to_owned() } else { texts.join("\n") }
    }

    fn data(&self, wrap_key: Option<&str>, warnings: &mut Vec<Warning>) -> Option<Value> {
        let (texts, others) = self.parts(warnings);
        if let Some(structured) = self.map.get("structuredContent") {
            if !others.is_empty() {
                let message = "the structured content was taken; other parts than text were dropped";
                warnings.push(Warning::new("parts_dropped", message, pointer(self.path, "content")));
            }
            let inside = wrap_key.and_then(|key| structured.as_object().filter(|map| map.len() == 1)?.get(key));
            return Some(inside.unwrap_or(structured).clone());
        }
        let text = texts.join("\n");
        if !others.is_empty() {
            let mut data = JsonMap::new();
            if !texts.is_empty() {
                data.insert("text".to_owned(), text.into());
            }
            data.insert("parts".to_owned(), Value::Array(others));
            return Some(Value::Object(data));
        }
        let parsed = if self.parse_text && texts.len() == 1 { json::parse(&text).ok() } else { None };
        let parsed = parsed.filter(|value| value.is_object() || value.is_array());
        parsed.or_else(|| (!texts.is_empty()).then(|| text.into()))
    }
}
