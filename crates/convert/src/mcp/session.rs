//! Sessions recorded as one JSON object per line.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{self, Fields, JsonMap};
use contextweaver_model::{ArtifactRef, ContextItem, ItemKind, RESERVED_KEY, Sensitivity, unless_empty};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Problems that an error lists; of the others it gives the number.
const MAX_PROBLEMS: usize = 20;

/// Something that is wrong with a line of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SessionProblem {
    /// Counted from 1.
    pub line: usize,
    /// The code an error of it has.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// JSON pointer of the field in the line.
    pub path: String,
}

/// A session that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct McpSession {
    /// In the order of the lines.
    pub items: Vec<ContextItem>,
    /// Lines that were skipped or repaired; empty when strict.
    pub warnings: Vec<SessionProblem>,
}

/// The state of reading a session.
#[derive(Default)]
struct SessionReader {
    strict: bool,
    line: usize,
    items: Vec<(usize, ContextItem)>,
    problems: Vec<SessionProblem>,
    problem_count: usize,
    warnings: Vec<SessionProblem>,
}

/// Reads a session, a recorded one or our own items line by line: `type` (or `kind`), `id`, `text` or `content`,
/// `parent_id`, `token_estimate`, `sensitivity`, `metadata`, `artifact_ref`. Other fields are kept in the metadata, below
/// `_contextweaver.session`.
///
/// Lines end with a line feed, with or without a carriage return before it; blank ones are skipped, and a byte order mark
/// is no part of the first. Without an id, an item has the one of its line, `mcp-line-<number>`.
///
/// A line that is no JSON object and a sensitivity that does not exist are errors. When strict, so are a type that does
/// not exist, a field of the wrong type, an id that is there twice and a parent that is not there; otherwise the best is
/// made of them, with a warning: an unknown type is a turn of the user. The error is that of the first line, and lists
/// the others as `problems`.
///
/// # Errors
/// `DECODE_FAILED`, `INVALID_INPUT` and others for the first bad line; the details have its `line` and the `problems` of all
/// lines.
///
/// ```
/// use contextweaver_convert::mcp::load_mcp_session_jsonl;
/// use contextweaver_model::ItemKind;
///
/// let text = r#"{"type": "user_turn", "id": "u1", "text": "Is it raining?"}
/// {"type": "agent_msg", "text": "It is."}"#;
/// let session = load_mcp_session_jsonl(text, true)?;
/// assert_eq!(session.items[1].kind, ItemKind::AgentMsg);
/// assert_eq!(session.items[1].id, "mcp-line-2");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn load_mcp_session_jsonl(text: &str, strict: bool) -> Result<McpSession> {
    let mut reader = SessionReader { strict, ..SessionReader::default() };
    for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').enumerate() {
        reader.line = index + 1;
        // The carriage return before a line feed is white space, too.
        if !trim(line).is_empty() {
            reader.read(line);
        }
    }
    reader.check_links();
    reader.finish()
}

impl SessionReader {
    fn problem(&self, error: &Error) -> SessionProblem {
        let (code, message, path) = (error.code().as_str(), error.message().to_owned(), error.path().to_owned());
        SessionProblem { line: self.line, code, message, path }
    }

    /// Reports what cannot be made good.
    fn fail(&mut self, error: &Error) {
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            let problem = self.problem(error);
            self.problems.push(problem);
        }
    }

    /// Reports what can be made good unless we are strict.
    fn complain(&mut self, error: &Error) {
        if self.strict {
            self.fail(error);
        } else {
            let problem = self.problem(error);
            self.warnings.push(problem);
        }
    }

    /// Returns what was read, or the default after a complaint.
    fn or_default<T: Default>(&mut self, read: Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.complain(&error);
            T::default()
        })
    }

    fn read(&mut self, line: &str) {
        if self.items.len() == limits::MAX_ITEMS {
            let message = format!("a session has at most {} items", limits::MAX_ITEMS);
            return self.fail(&Error::new(ErrorCode::TooLarge, message));
        }
        match json::parse(line).and_then(|record| Fields::open(record, "")) {
            Ok(fields) => self.record(fields),
            Err(error) => self.fail(&error),
        }
    }

    fn record(&mut self, mut fields: Fields) {
        let kind = self.kind(&mut fields);
        let id = fields.take("id").unwrap_or_else(|| format!("mcp-line-{}", self.line).into());
        let mut item = ContextItem::new(self.id(id, "/id"), kind, shown(&mut fields));
        item.parent_id = fields.take("parent_id").map(|id| self.id(id, "/parent_id"));
        match fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse) {
            Ok(sensitivity) => item.sensitivity = sensitivity,
            // A label that is not understood must not become none.
            Err(error) => self.fail(&error),
        }
        let tokens = fields.take("token_estimate").map_or(Ok(0), |tokens| tokens_of(&tokens));
        item.token_estimate = self.or_default(tokens);
        item.metadata = self.or_default(fields.object("metadata"));
        item.artifact_ref = self.or_default(unless_empty::<ArtifactRef>(&mut fields, "artifact_ref"));
        keep(fields.rest(), &mut item.metadata);
        self.items.push((self.line, item));
    }

    fn kind(&mut self, fields: &mut Fields) -> ItemKind {
        let (given, other) = (fields.take("type"), fields.take("kind"));
        let key = if given.is_some() { "/type" } else { "/kind" };
        let read = match given.or(other) {
            Some(Value::String(name)) => ItemKind::parse(&name).map_err(|error| error.at(key)),
            Some(value) => Err(json::wrong_type(key, "a string", &value)),
            None => Err(Error::new(ErrorCode::MissingField, "missing field `type`").at("/type")),
        };
        read.unwrap_or_else(|error| {
            self.complain(&error);
            ItemKind::UserTurn
        })
    }

    /// Reads an id; numbers are written as text.
    fn id(&mut self, value: Value, path: &str) -> String {
        match value {
            Value::String(id) if !id.is_empty() => id,
            other => {
                let wanted = "a string that is not empty";
                self.complain(&json::wrong_type(path, wanted, &other));
                if other.is_number() { other.to_string() } else { format!("mcp-line-{}", self.line) }
            }
        }
    }

    /// Reports ids that are there twice, and parents that are not there.
    fn check_links(&mut self) {
        let items = std::mem::take(&mut self.items);
        let mut first: SortedMap<&str, usize> = SortedMap::new();
        for (line, item) in &items {
            if let Some(before) = first.get(item.id.as_str()) {
                let message = format!("the id {} is that of line {before}, too", quote(&item.id));
                self.line = *line;
                self.complain(&Error::new(ErrorCode::DuplicateId, message).at("/id"));
            } else {
                first.insert(&item.id, *line);
            }
        }
        for (line, item) in &items {
            let Some(parent) = &item.parent_id else { continue };
            self.line = *line;
            let message = match first.get(parent.as_str()) {
                Some(_) if *parent == item.id => "an item is its own parent".to_owned(),
                Some(_) => continue,
                None => format!("no item has the id {}", quote(parent)),
            };
            self.complain(&Error::new(ErrorCode::NotFound, message).at("/parent_id"));
        }
        self.items = items;
    }

    fn finish(mut self) -> Result<McpSession> {
        contextweaver_base::order::sort_by(&mut self.problems, |a, b| a.line.cmp(&b.line));
        contextweaver_base::order::sort_by(&mut self.warnings, |a, b| a.line.cmp(&b.line));
        let Some(first) = self.problems.first() else {
            return Ok(McpSession {
                items: self.items.into_iter().map(|(_, item)| item).collect(),
                warnings: self.warnings,
            });
        };
        let code = ErrorCode::ALL.iter().copied().find(|code| code.as_str() == first.code);
        let field = if first.path.is_empty() { String::new() } else { format!(" at {}", first.path) };
        let message = format!("line {}{field}: {}", first.line, first.message);
        let problems = serde_json::to_value(&self.problems).unwrap_or_default();
        Err(Error::new(code.unwrap_or(ErrorCode::InvalidInput), message)
            .detail("line", first.line)
            .detail("problems", problems)
            .detail("problem_count", self.problem_count))
    }
}

/// Takes what is to be read: the text, or else the content.
fn shown(fields: &mut Fields) -> String {
    let (text, content) = (fields.take("text"), fields.take("content"));
    let is_empty = text.as_ref().is_none_or(|text| text.as_str() == Some(""));
    let value = if is_empty { content.or(text) } else { text };
    match value {
        None => String::new(),
        Some(Value::Array(parts)) => {
            let texts: Vec<String> = parts.iter().map(part_text).collect();
            texts.join("\n")
        }
        Some(value) => part_text(&value),
    }
}

/// Returns the text of a part of content: its own, that of the resource in it, or else its JSON.
fn part_text(part: &Value) -> String {
    let own = ["", "/text", "/resource/text"].into_iter().find_map(|at| part.pointer(at).and_then(Value::as_str));
    own.map_or_else(|| part.to_string(), str::to_owned)
}

/// Reads a number of tokens; one in text counts.
fn tokens_of(value: &Value) -> Result<u64> {
    let number = value.as_str().and_then(|text| trim(text).parse::<u64>().ok()).map(Value::from);
    json::as_uint(number.as_ref().unwrap_or(value), "/token_estimate", limits::MAX_TOKEN_ESTIMATE)
}

/// Keeps the fields that an item does not have.
fn keep(rest: JsonMap, metadata: &mut JsonMap) {
    if rest.is_empty() {
        return;
    }
    let own = metadata.entry(RESERVED_KEY).or_insert_with(|| Value::Object(JsonMap::new()));
    if let Value::Object(own) = own {
        own.insert("session".to_owned(), Value::Object(rest));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every problem as `line code path`.
    fn problems(list: &Value) -> Vec<String> {
        let one = |p: &Value| format!("{} {} {}", p["line"], p["code"].as_str().unwrap(), p["path"].as_str().unwrap());
        list.as_array().unwrap().iter().map(one).collect()
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let text = "\u{feff}\r\n{\"type\":\"user_turn\",\"text\":\"a\u{85}b\u{2028}c\"}\r\n \n{\"kind\":\"policy\",\"id\":\"p\",\"text\":\"t\"}";
        let session = load_mcp_session_jsonl(text, true).unwrap();
        let found: Vec<(&str, &str)> =
            session.items.iter().map(|item| (item.id.as_str(), item.text.as_str())).collect();
        assert_eq!(found, [("mcp-line-2", "a\u{85}b\u{2028}c"), ("p", "t")]);
        assert_eq!(session.items[1].kind, ItemKind::Policy);
        assert!(load_mcp_session_jsonl("", true).unwrap().items.is_empty());
    }

    #[test]
    fn every_problem_has_its_line() {
        let lines = [
            json!({ "type": "tool_resutl", "id": "a", "text": "x" }),
            json!({ "type": "tool_call", "id": 7, "text": "x" }),
            json!({ "type": "tool_call", "id": "a", "token_estimate": -5 }),
            json!({ "id": "b", "parent_id": "nobody", "metadata": [] }),
            json!({ "type": "policy", "id": "c", "parent_id": "c", "artifact_ref": { "handle": 1 } }),
        ];
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        let text = text.join("\n");
        let wanted = [
            "1 INVALID_INPUT /type",
            "2 INVALID_INPUT /id",
            "3 OUT_OF_RANGE /token_estimate",
            "3 DUPLICATE_ID /id",
            "4 MISSING_FIELD /type",
            "4 INVALID_INPUT /metadata",
            "4 NOT_FOUND /parent_id",
            "5 INVALID_INPUT /artifact_ref/handle",
            "5 NOT_FOUND /parent_id",
        ];
        let error = load_mcp_session_jsonl(&text, true).unwrap_err();
        assert_eq!(problems(&error.details()["problems"]), wanted);
        assert!(error.message().starts_with("line 1 at /type: unknown kind `tool_resutl`"), "{}", error.message());
        let session = load_mcp_session_jsonl(&text, false).unwrap();
        assert_eq!(problems(&json!(session.warnings)), wanted);
        let ids: Vec<&str> = session.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["a", "7", "a", "b", "c"]);
        assert_eq!(session.items[0].kind, ItemKind::UserTurn);
    }

    #[test]
    fn what_is_no_record_is_an_error_even_when_lenient() {
        let text = "{\"type\":\"policy\",\"sensitivity\":\"topsecret\"}\n[]\nnull\n{bad\n\"x\"";
        for strict in [true, false] {
            let error = load_mcp_session_jsonl(text, strict).unwrap_err();
            let found = problems(&error.details()["problems"]);
            let wanted = [
                "1 INVALID_INPUT /sensitivity",
                "2 INVALID_INPUT ",
                "3 INVALID_INPUT ",
                "4 DECODE_FAILED ",
                "5 INVALID_INPUT ",
            ];
            assert_eq!(found, wanted);
        }
        let error = load_mcp_session_jsonl(&"[]\n".repeat(100), true).unwrap_err();
        assert_eq!(error.details()["problems"].as_array().map(Vec::len), Some(MAX_PROBLEMS));
        assert_eq!(error.details()["problem_count"], 100);
    }

    #[test]
    fn contents_of_every_form_become_text() {
        for (fields, wanted) in [
            (json!({ "text": "t", "content": "c" }), "t"),
            (json!({ "text": "", "content": "c" }), "c"),
            (json!({ "text": null }), ""),
            (json!({ "content": null }), ""),
            (json!({ "content": 5 }), "5"),
            (json!({ "content": { "k": [1, null, true] } }), "{\"k\":[1,null,true]}"),
            (
                json!({ "content": [{ "type": "text", "text": "a" }, "b", { "type": "resource", "resource": { "text": "r" } }, 1] }),
                "a\nb\nr\n1",
            ),
        ] {
            let mut record = fields.clone();
            record["type"] = "agent_msg".into();
            assert_eq!(load_mcp_session_jsonl(&record.to_string(), true).unwrap().items[0].text, wanted, "{fields}");
        }
        let line = json!({ "type": "tool_result", "id": "r", "text": "x", "sensitivity": "restricted", "timestamp": 1,
            "token_estimate": "12", "artifact_ref": { "handle": "h", "media_type": "text/plain", "size_bytes": 1, "label": "" } });
        let session = load_mcp_session_jsonl(&line.to_string(), true).unwrap();
        let item = &session.items[0];
        assert_eq!((item.sensitivity, item.token_estimate), (Sensitivity::Restricted, 12));
        assert_eq!(item.artifact_ref.as_ref().unwrap().handle, "h");
        assert_eq!(json!(item.metadata), json!({ "_contextweaver": { "session": { "timestamp": 1 } } }));
    }
}
