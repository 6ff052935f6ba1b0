//! Gemini contents as 0.18 converts them.

use serde_json::{Value, json};

use super::grouped::groups;
use super::{as_list, as_object, invalid, item, metadata, missing, one_of, or_default, present};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::python::text;
use contextweaver_model::json::{JsonMap, pointer, to_sorted_ascii};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;

const ROLES: &[&str] = &["user", "model", "function"];

/// Converts a list of Gemini contents to items.
///
/// # Errors
/// `INVALID_INPUT` (parts other than text, calls and responses included), `MISSING_FIELD`, and `NOT_FOUND` for a
/// response without an earlier call of its name.
///
/// ```
/// use contextweaver_compat::messages::{from_gemini, to_gemini};
/// use serde_json::{Value, json};
///
/// let messages = json!([{ "role": "user", "parts": [{ "text": "Is it raining?" }] }]);
/// let items = from_gemini(&messages, "/messages")?;
/// assert_eq!(items[0].text, "Is it raining?");
/// assert_eq!(Value::from(to_gemini(&items, "/items")?), messages);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_gemini(contents: &Value, path: &str) -> Result<Vec<ContextItem>> {
    let mut items = Vec::new();
    let mut calls = CallQueues::default();
    for (message, content) in as_list(contents, path)?.iter().enumerate() {
        let path = format!("{path}/{message}");
        let content = as_object(content, &path)?;
        let role = one_of(content, "role", ROLES, &path)?;
        let parts = content.get("parts").ok_or_else(|| missing("parts", &path))?;
        let path = pointer(&path, "parts");
        for (place, part) in as_list(parts, &path)?.iter().enumerate() {
            let path = format!("{path}/{place}");
            let part = PlacedPart { role, message, place, fields: as_object(part, &path)? };
            items.push(part.decode(&mut calls, &path)?);
        }
    }
    Ok(items)
}

/// Calls by name; each response answers the oldest call of its name that has no answer.
#[derive(Default)]
struct CallQueues {
    made: SortedMap<String, usize>,
    answered: SortedMap<String, usize>,
    /// The id of the n-th call of a name, by `n:name`.
    ids: SortedMap<String, String>,
}

impl CallQueues {
    fn make(&mut self, name: &str, id: &str) {
        let made = self.made.get_or_insert(&name.to_owned(), 0);
        self.ids.insert(format!("{made}:{name}"), id.to_owned());
        *made += 1;
    }

    fn answer(&mut self, name: &str) -> Option<String> {
        let answered = self.answered.get_or_insert(&name.to_owned(), 0);
        let id = self.ids.remove(&format!("{answered}:{name}"))?;
        *answered += 1;
        Some(id)
    }
}

/// A part and where it is.
struct PlacedPart<'a> {
    role: &'a str,
    message: usize,
    place: usize,
    fields: &'a JsonMap,
}

impl PlacedPart<'_> {
    fn decode(&self, calls: &mut CallQueues, path: &str) -> Result<ContextItem> {
        if let Some(shown) = self.fields.get("text") {
            let (kind, role) =
                if self.role == "user" { (ItemKind::UserTurn, "user") } else { (ItemKind::AgentMsg, "model") };
            let id = format!("gemini:{role}:{}:{}", self.message, self.place);
            return Ok(item(id, kind, text(shown), self.metadata("text")));
        }
        if let Some(call) = self.fields.get("functionCall") {
            return self.decode_call(calls, call, &pointer(path, "functionCall"));
        }
        match self.fields.get("functionResponse") {
            Some(response) => self.decode_response(calls, response, &pointer(path, "functionResponse")),
            None => Err(invalid("expected a part with text, functionCall or functionResponse", path.to_owned())),
        }
    }

    fn metadata(&self, part_type: &str) -> JsonMap {
        metadata([
            ("role", self.role.into()),
            ("msg_index", self.message.into()),
            ("part_index", self.place.into()),
            ("part_type", part_type.into()),
        ])
    }

    /// Opens a call or a response, which only one role may carry; returns its fields and its name.
    fn open<'a>(&self, role: &str, value: &'a Value, path: &str) -> Result<(&'a JsonMap, &'a str)> {
        if self.role != role {
            return Err(invalid(
                format!("expected in a content of role `{role}`, got `{}`", self.role),
                path.to_owned(),
            ));
        }
        let fields = as_object(value, path)?;
        let name = present(fields, "name").and_then(Value::as_str).ok_or_else(|| missing("name", path))?;
        Ok((fields, name))
    }

    fn decode_call(&self, calls: &mut CallQueues, call: &Value, path: &str) -> Result<ContextItem> {
        let (fields, name) = self.open("model", call, path)?;
        let id = format!("{name}:{}:{}", self.message, self.place);
        calls.make(name, &id);
        let arguments = or_default(fields, "args", json!({}));
        let shown = to_sorted_ascii(&arguments, None);
        let mut data = self.metadata("functionCall");
        data.extend(metadata([
            ("function_name", name.into()),
            ("function_call_id", id.as_str().into()),
            ("args", arguments),
        ]));
        Ok(item(format!("gemini:functionCall:{id}"), ItemKind::ToolCall, shown, data))
    }

    fn decode_response(&self, calls: &mut CallQueues, response: &Value, path: &str) -> Result<ContextItem> {
        let (fields, name) = self.open("function", response, path)?;
        let id = calls.answer(name).ok_or_else(|| {
            let message = format!("no earlier call of {} is without an answer", quote(name));
            Error::new(ErrorCode::NotFound, message).at(pointer(path, "name"))
        })?;
        let response = or_default(fields, "response", json!({}));
        let shown = to_sorted_ascii(&response, None);
        let mut data = self.metadata("functionResponse");
        data.extend(metadata([
            ("function_name", name.into()),
            ("function_call_id", id.as_str().into()),
            ("response", response),
        ]));
        let mut result = item(format!("gemini:functionResponse:{id}"), ItemKind::ToolResult, shown, data);
        result.parent_id = Some(format!("gemini:functionCall:{id}"));
        Ok(result)
    }
}

/// Converts items to Gemini contents, by the metadata that the other direction leaves; `path` is where they are.
///
/// # Errors
/// `MISSING_FIELD` and `INVALID_INPUT` where the metadata does not tell the content, or the content would be blank.
pub fn to_gemini(items: &[ContextItem], path: &str) -> Result<Vec<Value>> {
    let mut contents = Vec::new();
    for group in groups(items, "part_index", ROLES, path)? {
        let mut parts = Vec::with_capacity(group.items.len());
        for (index, item) in &group.items {
            parts.push(encode_part(item, &format!("{path}/{index}/metadata"))?);
        }
        group.check_not_blank(&parts, |part| part.get("text").is_some(), path)?;
        contents.push(json!({ "role": group.role, "parts": parts }));
    }
    Ok(contents)
}

fn encode_part(item: &ContextItem, path: &str) -> Result<Value> {
    let data = &item.metadata;
    let name = || present(data, "function_name").cloned().ok_or_else(|| missing("function_name", path));
    match data.get("part_type").and_then(Value::as_str) {
        Some("functionCall") => {
            let arguments = or_default(data, "args", json!({}));
            Ok(json!({ "functionCall": { "name": name()?, "args": arguments } }))
        }
        Some("functionResponse") => {
            let response = or_default(data, "response", json!({}));
            Ok(json!({ "functionResponse": { "name": name()?, "response": response } }))
        }
        _ => Ok(json!({ "text": item.text })),
    }
}
