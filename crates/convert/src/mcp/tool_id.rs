//! Ids of tools, resources and prompts that say where they come from: `namespace:name@version#hash`.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::order::{self, SortedMap, WordSet};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{to_sorted_ascii, wrong_type};
use contextweaver_text::hash::sha256_hex;
use contextweaver_text::quote::quote;

/// Longest id in characters, all of them ASCII.
pub const MAX_TOOL_ID_CHARS: usize = 240;

/// The parts of an id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolId {
    /// The server or group.
    pub namespace: String,
    /// The name within it.
    pub name: String,
    /// The version the server gives the tool.
    pub version: Option<String>,
    /// Eight hexadecimal digits of the hash of its arguments' names; required without a version.
    pub hash8: Option<String>,
}

/// One part of the grammar: what may come first, what may follow, and how many characters in all.
type GrammarPart = (&'static str, fn(u8) -> bool, fn(u8) -> bool, std::ops::RangeInclusive<usize>);

const NAMESPACE: GrammarPart = ("namespace", |byte| byte.is_ascii_lowercase(), is_namespace, 1..=64);
const NAME: GrammarPart = ("name", |byte| byte == b'_' || byte.is_ascii_alphabetic(), is_version, 1..=128);
const VERSION: GrammarPart = ("version", is_version, is_version, 1..=32);
const HASH: GrammarPart = ("hash", is_hash, is_hash, 8..=8);

fn is_namespace(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
}

fn is_version(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

fn is_hash(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn check(text: &str, (what, first, rest, chars): GrammarPart) -> Result<()> {
    let fits =
        chars.contains(&text.len()) && text.bytes().enumerate().all(|(at, b)| if at == 0 { first(b) } else { rest(b) });
    if fits { Ok(()) } else { Err(malformed(&format!("{} is no {what} of a tool id", quote(text)))) }
}

fn malformed(message: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, message)
}

impl ToolId {
    /// Reads an id: the namespace ends at the first `:`, the hash starts at the last `#`, the version at the last `@`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for what breaks the grammar.
    ///
    /// ```
    /// use contextweaver_convert::mcp::ToolId;
    ///
    /// let id = ToolId::parse("github:create_issue@1.2")?;
    /// assert_eq!((id.namespace.as_str(), id.name.as_str()), ("github", "create_issue"));
    /// assert_eq!(id.version.as_deref(), Some("1.2"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let (namespace, rest) =
            text.split_once(':').ok_or_else(|| malformed(&format!("the tool id {} has no namespace", quote(text))))?;
        let (rest, hash8) = cut(rest, '#');
        let (name, version) = cut(rest, '@');
        let id = Self { namespace: namespace.to_owned(), name: name.to_owned(), version, hash8 };
        id.to_text().map(|_| id)
    }

    /// Writes the id.
    ///
    /// # Errors
    /// `INVALID_INPUT` when a part breaks the grammar.
    pub fn to_text(&self) -> Result<String> {
        check(&self.namespace, NAMESPACE)?;
        check(&self.name, NAME)?;
        let mut text = format!("{}:{}", self.namespace, self.name);
        for (mark, part, grammar) in [('@', &self.version, VERSION), ('#', &self.hash8, HASH)] {
            if let Some(part) = part {
                check(part, grammar)?;
                let _ = write!(text, "{mark}{part}");
            }
        }
        if self.version.is_none() && self.hash8.is_none() {
            return Err(malformed("a tool id without a version needs a hash"));
        }
        if text.len() > MAX_TOOL_ID_CHARS {
            return Err(malformed(&format!("a tool id has at most {MAX_TOOL_ID_CHARS} characters")));
        }
        Ok(text)
    }
}

fn cut(text: &str, mark: char) -> (&str, Option<String>) {
    match text.rsplit_once(mark) {
        Some((before, after)) => (before, Some(after.to_owned())),
        None => (text, None),
    }
}

/// Returns the id of a tool: with its version, or else with the hash of its name and its arguments' names.
///
/// # Errors
/// `INVALID_INPUT` when a part breaks the grammar or the schema is malformed.
pub fn canonical_tool_id(
    namespace: &str,
    name: &str,
    upstream_name: &str,
    input_schema: Option<&Value>,
    version: Option<&str>,
) -> Result<String> {
    let hash8 = if version.is_none() { Some(shape_hash(upstream_name, input_schema)?) } else { None };
    let version = version.map(str::to_owned);
    ToolId { namespace: namespace.to_owned(), name: name.to_owned(), version, hash8 }.to_text()
}

/// Returns eight hexadecimal digits for a tool's name and the names of its arguments; their types do not count.
///
/// # Errors
/// `INVALID_INPUT` where `properties` or `required` is malformed.
pub fn shape_hash(upstream_name: &str, input_schema: Option<&Value>) -> Result<String> {
    let part = |key: &str| input_schema.and_then(|schema| schema.get(key)).filter(|part| !part.is_null());
    let properties = match part("properties") {
        None => Vec::new(),
        Some(Value::Object(map)) => map.keys().cloned().collect(),
        Some(other) => return Err(wrong_type("/properties", "an object", other)),
    };
    let required = match part("required") {
        None => Vec::new(),
        Some(Value::Array(list)) => list
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or_else(|| wrong_type("/required", "strings", name)))
            .collect::<Result<_>>()?,
        Some(other) => return Err(wrong_type("/required", "an array", other)),
    };
    let shape = format!("{{\"properties\":{},\"required\":{}}}", sorted_names(properties), sorted_names(required));
    Ok(hash8(&[upstream_name, &shape]))
}

/// Writes sorted names as a JSON list without spaces, in ASCII.
fn sorted_names(mut names: Vec<String>) -> String {
    order::sort(&mut names);
    let texts: Vec<String> = names.into_iter().map(|name| to_sorted_ascii(&name.into(), None)).collect();
    format!("[{}]", texts.join(","))
}

fn hash8(lines: &[&str]) -> String {
    let mut hash = sha256_hex(&lines.join("\n"));
    hash.truncate(8);
    hash
}

/// Returns the hash of a resource.
pub fn resource_hash(uri: &str) -> String {
    hash8(&["resource", uri])
}

/// Returns the hash of a prompt and its arguments' names.
pub fn prompt_hash(name: &str, argument_names: &[String]) -> String {
    hash8(&["prompt", name, &sorted_names(argument_names.to_vec())])
}

/// Returns the id of a resource.
///
/// # Errors
/// `INVALID_INPUT` when a part breaks the grammar.
pub fn resource_id(namespace: &str, name: &str, uri: &str) -> Result<String> {
    primitive_id("resource", namespace, name, resource_hash(uri))
}

/// Returns the id of a prompt.
///
/// # Errors
/// `INVALID_INPUT` when a part breaks the grammar.
pub fn prompt_id(namespace: &str, name: &str, prompt: &str, argument_names: &[String]) -> Result<String> {
    primitive_id("prompt", namespace, name, prompt_hash(prompt, argument_names))
}

fn primitive_id(kind: &str, namespace: &str, name: &str, hash8: String) -> Result<String> {
    let id = ToolId { namespace: namespace.to_owned(), name: name.to_owned(), version: None, hash8: Some(hash8) };
    id.to_text().map(|text| format!("{kind}::{text}"))
}

/// Reads the id of a tool, or of a resource or prompt with its prefix; returns what it is the id of.
///
/// # Errors
/// `INVALID_INPUT` for what breaks the grammar.
pub fn parse_primitive_id(text: &str) -> Result<(&'static str, ToolId)> {
    let (kind, rest) = match text.split_once("::") {
        None => ("tool", text),
        Some(("resource", rest)) => ("resource", rest),
        Some(("prompt", rest)) => ("prompt", rest),
        Some((other, _)) => return Err(malformed(&format!("{} is no kind of id", quote(other)))),
    };
    ToolId::parse(rest).map(|id| (kind, id))
}

/// Makes ids distinct: the first of equal ones stays, later ones get `~2`, `~3` and so on.
///
/// An id made here never equals one that was given.
///
/// ```
/// use contextweaver_convert::mcp::resolve_collisions;
///
/// let ids = ["a:b#00000000", "a:b#00000000"].map(str::to_owned);
/// assert_eq!(resolve_collisions(&ids), ["a:b#00000000", "a:b#00000000~2"]);
/// ```
pub fn resolve_collisions(ids: &[String]) -> Vec<String> {
    let given = WordSet::new(ids.to_vec());
    // How often each id was seen, or the last number tried for it.
    let mut last: SortedMap<&str, usize> = SortedMap::new();
    ids.iter()
        .map(|id| {
            let number = last.get_or_insert(&id.as_str(), 0);
            *number += 1;
            if *number == 1 {
                return id.clone();
            }
            while given.contains(&format!("{id}~{number}")) {
                *number += 1;
            }
            format!("{id}~{number}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ids_are_new() {
        let resolve =
            |text: &str| resolve_collisions(&text.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        for (ids, expected) in [
            ("a b a a", "a b a~2 a~3"),
            ("a a~2 a", "a a~2 a~3"),
            ("a a a~2 a~3 a", "a a~4 a~2 a~3 a~5"),
            ("a a~2 a~2 a", "a a~2 a~2~2 a~3"),
        ] {
            assert_eq!(resolve(ids), expected);
        }
    }
}
