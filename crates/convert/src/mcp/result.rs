//! The result of a tool call as an envelope, with its bytes apart.

use serde_json::{Value, json};

use super::result_reader::{ResultBinary, ResultReader};
use super::revision::Revision;
use super::{base64, facts};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_model::json::python::is_truthy;
use contextweaver_model::json::{self, JsonMap, to_sorted_ascii, wrong_type};
use contextweaver_model::{ResultEnvelope, Status, Warning};
use contextweaver_text::lines::lines;
use contextweaver_text::markdown::one_line;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode;

/// Options of [`mcp_result_to_envelope`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpResultOptions {
    /// The revision of the protocol that the server speaks; without one, shapes of all revisions are taken.
    pub revision: Option<Revision>,
    /// Bytes that the result may unpack to; what is beyond is left out with a warning.
    pub max_bytes: usize,
    /// Whether the model does not see where resource links lead; the addresses are kept.
    pub withholds_links: bool,
    /// Bytes that are missing since something was cut before it came here, by the JSON pointer of the text or the base64.
    pub cut: Vec<(String, usize)>,
}

impl Default for McpResultOptions {
    fn default() -> Self {
        Self { revision: None, max_bytes: limits::MCP_RESULT_BYTES, withholds_links: false, cut: Vec::new() }
    }
}

/// A result as an envelope, with its bytes apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedResult {
    /// Status, summary, facts and artifacts.
    pub envelope: ResultEnvelope,
    /// The bytes, in the order of the content, structured content last.
    pub binaries: Vec<ResultBinary>,
    /// The text of all parts that a model may read.
    pub full_text: String,
    /// Malformed or oversized parts.
    pub warnings: Vec<Warning>,
}

/// The text of a result without any.
pub const NO_CONTENT: &str = "(no content)";

/// Converts the result of a tool call.
///
/// Every object becomes an envelope: malformed parts are kept and named in the warnings, and make the status `partial`.
/// Nothing is validated or fetched.
///
/// # Errors
/// `INVALID_INPUT` for what is no object.
///
/// ```
/// use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
/// use contextweaver_model::Status;
/// use serde_json::json;
///
/// let result = json!({ "content": [
///     { "type": "text", "text": "status: shipped" },
///     { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" },
/// ] });
/// let converted = mcp_result_to_envelope(&result, "track", &McpResultOptions::default())?;
/// assert_eq!(converted.envelope.status, Status::Ok);
/// assert_eq!(converted.envelope.facts, ["status: shipped"]);
/// assert_eq!(converted.binaries[0].handle, "mcp:track:image:1");
/// assert_eq!(converted.binaries[0].bytes, b"hello");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_result_to_envelope(result: &Value, tool_name: &str, options: &McpResultOptions) -> Result<ConvertedResult> {
    let Value::Object(map) = result else { return Err(wrong_type("/result", "an object", result)) };
    Ok(read(map, ResultReader::of_tool(tool_name, options.max_bytes), options))
}

/// Converts the result of a tool call, as [`mcp_result_to_envelope`] does, where base64 of images and the like was
/// decoded before: `attached` has the bytes by the JSON pointer of the text, such as `/content/0/data`, and an empty text
/// stands there. It must have been base64 of the standard alphabet, with padding, and nothing else.
///
/// # Errors
/// `INVALID_INPUT` for what is no object.
///
/// ```
/// use contextweaver_convert::mcp::{McpResultOptions, mcp_result_with_bytes};
/// use serde_json::json;
///
/// let result = json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "" }] });
/// let attached = vec![("/content/0/data".to_owned(), b"hello".to_vec())];
/// let converted = mcp_result_with_bytes(result, attached, "draw", &McpResultOptions::default())?;
/// assert_eq!(converted.binaries[0].bytes, b"hello");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_result_with_bytes(
    mut result: Value,
    attached: Vec<(String, Vec<u8>)>,
    tool_name: &str,
    options: &McpResultOptions,
) -> Result<ConvertedResult> {
    let (mut known, mut other) = (SortedMap::new(), Vec::new());
    for (path, bytes) in attached {
        if is_media(&result, &path) {
            known.insert(path, bytes);
        } else {
            // Nobody will decode it, so it is kept as it came.
            other.push((path, bytes));
        }
    }
    put_back(&mut result, &other);
    let Value::Object(map) = &result else { return Err(wrong_type("/result", "an object", &result)) };
    let mut reader = ResultReader::of_tool(tool_name, options.max_bytes);
    reader.attached = known;
    Ok(read(map, reader, options))
}

/// Puts bytes back as base64 where they stood, see [`mcp_result_with_bytes`].
fn put_back(result: &mut Value, attached: &[(String, Vec<u8>)]) {
    for (path, bytes) in attached {
        if let Some(text) = result.pointer_mut(path) {
            *text = base64::encode(bytes).into();
        }
    }
}

/// Tells whether the text at a place is read as base64.
fn is_media(result: &Value, path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').skip(1).collect();
    let (["content", index, rest @ ..], Some(parts)) = (steps.as_slice(), result["content"].as_array()) else {
        return false;
    };
    let index = index.parse::<usize>().ok().filter(|index| *index < limits::MCP_PARTS);
    match index.and_then(|index| parts.get(index)?["type"].as_str()) {
        Some("image" | "audio") => rest == ["data"],
        Some("resource") => rest == ["resource", "blob"],
        _ => false,
    }
}

fn read(map: &JsonMap, mut reader: ResultReader, options: &McpResultOptions) -> ConvertedResult {
    reader.withholds_links = options.withholds_links;
    reader.cut.extend(options.cut.iter().cloned());
    if let Some(error) = protocol_error(map) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("");
        reader.warn("protocol-error", "an error of the protocol in place of a result", "");
        reader.say(message, "error", "/error/message");
        reader.note("protocol_error", Value::Object(error.clone()), "/error");
        return finish(reader, Vec::new(), None, true);
    }
    if let Some(Value::Object(result)) = map.get("result").filter(|_| map.contains_key("jsonrpc")) {
        reader.warn("response-around-result", "the response of JSON-RPC around a result was taken off", "/result");
        return read(result, reader, options);
    }
    if !READ.iter().any(|key| map.contains_key(*key)) {
        reader.degrade("empty-result", "it has neither `content` nor anything else of the result of a tool", "");
    }
    reader.content(map.get("content").unwrap_or(&Value::Null));
    let stand_in = outcome(&mut reader, map).or_else(|| labels(&reader));
    let is_error = is_error(&mut reader, map.get("isError"));
    let facts = structured(&mut reader, map, options.revision);
    reader.keep_rest(map, READ);
    finish(reader, facts, stand_in, is_error)
}

/// Returns the error of JSON-RPC that came in place of a result: in its response, or by itself.
fn protocol_error(map: &JsonMap) -> Option<&JsonMap> {
    let is_error = |error: &&JsonMap| {
        error.get("code").is_some_and(Value::is_number) && error.get("message").is_some_and(Value::is_string)
    };
    if READ.iter().any(|key| map.contains_key(*key)) {
        return None;
    }
    map.get("error").and_then(Value::as_object).filter(is_error).or(Some(map).filter(is_error))
}

/// The fields of a result that are read.
const READ: &[&str] =
    &["content", "structuredContent", "isError", "resultType", "inputRequests", "requestState", "task"];

/// Reads how far the call came. A result that only asks for something, or is only promised, is none yet; the text that
/// says so is returned.
pub(super) fn outcome(reader: &mut ResultReader, map: &JsonMap) -> Option<String> {
    let kind = map.get("resultType").unwrap_or(&Value::Null);
    let task = map.get("task").filter(|task| task.is_object());
    match kind.as_str() {
        Some("input_required") => {
            let asked = [("inputRequests", map.get("inputRequests")), ("requestState", map.get("requestState"))];
            let asked = asked.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.clone())));
            reader.is_partial = true;
            reader.note("input_required", Value::Object(asked.collect()), "/inputRequests");
            let names = map.get("inputRequests").and_then(Value::as_object);
            let names: Vec<&str> = names.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            return Some(stand_in("input required", &names.join(", ")));
        }
        Some("complete") => {}
        Some(_) if task.is_some() => {}
        None if kind.is_null() => {}
        _ => {
            let name = kind.as_str().map_or_else(|| json::type_name(kind).to_owned(), quote);
            reader.degrade("result-type", format!("unknown result type {name}"), "/resultType");
            reader.provenance.insert("result_type".into(), unicode::prefix(&one_line(&name), 80).into());
        }
    }
    let task = task?;
    reader.is_partial = true;
    reader.note("task", task.clone(), "/task");
    let words: Vec<&str> = [&task["taskId"], &task["status"]].into_iter().filter_map(Value::as_str).collect();
    Some(stand_in("task", &words.join(" ")))
}

fn stand_in(what: &str, names: &str) -> String {
    let names = unicode::truncate(&one_line(names), limits::MCP_FACT_CHARS);
    if names.is_empty() { format!("({what})") } else { format!("({what}: {names})") }
}

fn is_error(reader: &mut ResultReader, flag: Option<&Value>) -> bool {
    match flag.unwrap_or(&Value::Null) {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        other => {
            reader.degrade("malformed-result", "`isError` is neither true nor false", "/isError");
            // Who says so in other words is taken at the word that means failure.
            is_truthy(other) && other.as_str().is_none_or(|text| !text.eq_ignore_ascii_case("false"))
        }
    }
}

/// Keeps the structured content and adds its fields to the text; returns those that are facts.
fn structured(reader: &mut ResultReader, map: &JsonMap, revision: Option<Revision>) -> Vec<String> {
    const PATH: &str = "/structuredContent";
    let Some(value) = map.get("structuredContent") else { return Vec::new() };
    // Only results of revisions that allow any value say of what type they are.
    let any = revision.map_or_else(|| map.contains_key("resultType"), |known| known.rules().any_structured_content);
    if value.is_null() && !any {
        return Vec::new();
    }
    if !value.is_object() && !any && revision.is_some() {
        reader.warn("structured-type", format!("structured content is {}", json::type_name(value)), PATH);
    }
    let label = format!("structured content from {}", reader.source);
    reader.store("structured_content", to_sorted_ascii(value, None).into_bytes(), "application/json", label, PATH);
    let Value::Object(fields) = value else {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_said = |said: &String| unicode::trim(said) == unicode::trim(&text) || same_json(said, value).is_some();
        if !reader.texts.iter().any(is_said) {
            reader.show(unicode::visible(&text).into_owned(), "", PATH);
        }
        return Vec::new();
    };
    if fields.len() > limits::MCP_FACT_KEYS {
        let message = format!("{} fields, of which the first {} are shown", fields.len(), limits::MCP_FACT_KEYS);
        reader.degrade("too-many-fields", message, PATH);
    }
    let told = reader.texts.iter().find_map(|text| same_json(text, value));
    let is_said = told.is_some() || is_wrapped(&reader.texts, fields);
    // Its numbers are as the server wrote them.
    let fields = told.as_ref().and_then(Value::as_object).unwrap_or(fields);
    let found = facts::lines_of(fields, limits::MCP_FACT_KEYS);
    if reader.texts.is_empty() && found.len() < fields.len() {
        // Nothing else says it, and the lines leave out what is long.
        reader.show(unicode::visible(&value.to_string()).into_owned(), "", PATH);
    } else if !is_said {
        let wanted = WordSet::new(found.iter().map(|line| line.text.clone()).collect());
        let said = reader.texts.iter().flat_map(|text| lines(text)).map(unicode::trim);
        let said = WordSet::new(said.filter(|line| wanted.contains(line)).map(str::to_owned).collect());
        for line in found.iter().filter(|line| !said.contains(&line.text)) {
            reader.show(line.text.clone(), "", PATH);
        }
    }
    found.into_iter().filter(|line| line.is_fact).map(|line| line.text).collect()
}

/// Returns the JSON that a text is, where it says what a value does: servers send structured content as text too, for clients that
/// know no other.
fn same_json(text: &str, value: &Value) -> Option<Value> {
    json::parse(text).ok().filter(|parsed| are_same(parsed, value))
}

/// Compares two values of JSON as JavaScript reads them, to which 10.0 is 10, and whole numbers beyond 2^53 are rounded.
fn are_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| are_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Tells whether texts say the value that is alone in `result`: servers in Python wrap what is no object.
fn is_wrapped(texts: &[String], fields: &JsonMap) -> bool {
    let Some(value) = fields.get("result").filter(|_| fields.len() == 1) else { return false };
    let says = |text: &String, value: &Value| {
        value.as_str().is_some_and(|said| unicode::trim(said) == unicode::trim(text))
            || same_json(text, value).is_some()
    };
    match (texts, value) {
        ([text], value) if says(text, value) => true,
        (texts, Value::Array(list)) => {
            !texts.is_empty()
                && texts.len() == list.len()
                && texts.iter().zip(list).all(|(text, value)| says(text, value))
        }
        _ => false,
    }
}

pub(super) fn finish(
    mut reader: ResultReader,
    structured: Vec<String>,
    stand_in: Option<String>,
    is_error: bool,
) -> ConvertedResult {
    let mut facts: Vec<String> = Vec::new();
    let scraped = std::mem::take(&mut reader.facts);
    for fact in structured.into_iter().map(|fact| (fact, limits::MCP_FACT_KEYS)).chain(scraped) {
        let (fact, room) = fact;
        if facts.len() < room && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    let missing = reader.missing_line();
    reader.texts.extend(missing);
    let full_text = if reader.texts.is_empty() {
        stand_in.unwrap_or_else(|| NO_CONTENT.to_owned())
    } else {
        reader.texts.join("\n")
    };
    let summary = summary(&full_text);
    let mut provenance = reader.provenance;
    if summary.len() < full_text.len() {
        provenance.insert("truncated".into(), true.into());
    }
    note_warnings(&mut provenance, &reader.warnings);
    let status = match (is_error, reader.is_partial) {
        (true, _) => Status::Error,
        (false, true) => Status::Partial,
        (false, false) => Status::Ok,
    };
    let envelope = ResultEnvelope {
        status,
        summary: summary.to_owned(),
        facts,
        artifacts: reader.artifacts,
        views: Vec::new(),
        provenance,
        firewall_stats: None,
    };
    ConvertedResult { envelope, binaries: reader.binaries, full_text, warnings: reader.warnings }
}

/// Returns the labels of the media of a result that has nothing else.
fn labels(reader: &ResultReader) -> Option<String> {
    let labels: Vec<String> = reader.binaries.iter().filter_map(ResultBinary::media_label).collect();
    (!labels.is_empty()).then(|| labels.join("\n"))
}

/// Says in the provenance what the first [`limits::MCP_WARNINGS`] warnings are, by code and path.
pub fn note_warnings(provenance: &mut JsonMap, warnings: &[Warning]) {
    let first = warnings.iter().take(limits::MCP_WARNINGS);
    let first: Vec<Value> = first.map(|warning| json!({ "code": warning.code, "path": warning.path })).collect();
    if !first.is_empty() {
        provenance.insert("warnings".into(), first.into());
    }
}

/// Returns the beginning of a text that stands for it, without a part of an escape at its end.
pub(super) fn summary(text: &str) -> &str {
    let cut = unicode::prefix(text, limits::SUMMARY_CHARS);
    match cut.rfind('\\') {
        Some(at) if cut.len() < text.len() && cut.len() - at < "\\u{10ffff}".len() && !cut[at..].contains('}') => {
            &cut[..at]
        }
        _ => cut,
    }
}
