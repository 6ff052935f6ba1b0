//! Reading JSON for digests: what is a table, a record, a leaf, and how a member is quoted.

use std::fmt::Write as _;

use super::around_within;
use super::level::LevelMatch;
use crate::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_base::order;

/// Elements from which on a list of like values is read as a table.
pub const MIN_ROWS: usize = 6;
/// Levels of objects inside a record that count as its columns.
pub const RECORD_DEPTH: usize = 4;
/// Characters of one member.
pub const MEMBER_CHARS: usize = 110;

/// Finds a JSON value that fills lines of a text: on one line, or from a line that opens it to one that closes it.
pub fn block(text: &str) -> Option<(usize, usize)> {
    let (mut place, mut tries) = (0, 0);
    for line in text.split_inclusive('\n') {
        let start = place;
        place += line.len();
        let opens = line.trim_end();
        if !opens.starts_with(['{', '[']) || tries == 4 {
            continue;
        }
        tries += 1;
        if opens.len() > 80 && JsonTree::parse(opens).is_some() {
            return Some((start, start + opens.len()));
        }
        let close = if opens.starts_with('{') { "\n}" } else { "\n]" };
        let end = text[start..].find(close).map(|at| start + at + 2);
        if let Some(end) = end.filter(|end| end - start > 80 && JsonTree::parse(&text[start..*end]).is_some()) {
            return Some((start, end));
        }
    }
    None
}

/// A scalar, or a short list of scalars, which is shown as a whole.
pub fn is_leaf(node: JsonNode) -> bool {
    !node.is_container()
        || (node.kind() == JsonKind::Array && node.raw().len() <= 160 && node.items().all(|item| !item.is_container()))
}

/// A key as it is written, without quotes.
pub fn inner(key: JsonNode<'_>) -> &str {
    let raw = key.raw();
    raw.get(1..raw.len() - 1).unwrap_or(raw)
}

pub fn is_table(node: JsonNode) -> bool {
    if node.len() < MIN_ROWS {
        return false;
    }
    let first =
        |kind: JsonKind| node.entries().filter(|(_, value)| value.kind() == kind).count() * 10 >= node.len() * 9;
    match node.kind() {
        JsonKind::Array => {
            first(JsonKind::Object) || first(JsonKind::Array) || first(JsonKind::Number) || first(JsonKind::String)
        }
        // An object of like objects is a table whose rows have names.
        JsonKind::Object => first(JsonKind::Object) && alike(node),
        _ => false,
    }
}

/// Tells whether the objects of an object have keys in common.
pub fn alike(node: JsonNode) -> bool {
    let first =
        |value: JsonNode<'_>| value.entries().filter_map(|(key, _)| key).map(|key| inner(key).to_owned()).next();
    let mut firsts: Vec<String> = node.entries().filter_map(|(_, value)| first(value)).collect();
    order::sort_distinct(&mut firsts);
    firsts.len() * 2 <= node.len()
}

pub fn path_of(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match (path.is_empty(), plain) {
        (true, true) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[\"{key}\"]"),
    }
}

/// Calls `take` with every scalar and every array of a record, under its dotted name.
pub fn flatten<'a>(
    node: JsonNode<'a>,
    name: &mut String,
    depth: usize,
    take: &mut dyn FnMut(&str, Option<JsonNode<'a>>, JsonNode<'a>),
) {
    for (index, (key, value)) in node.entries().enumerate().take(200) {
        let length = name.len();
        if length > 0 {
            name.push('.');
        }
        match key {
            Some(key) => name.push_str(inner(key)),
            None => _ = write!(name, "{index}"),
        }
        let few = value.kind() == JsonKind::Array && value.len() < MIN_ROWS && !is_leaf(value);
        if depth < RECORD_DEPTH && !value.is_empty() && (value.kind() == JsonKind::Object || few) {
            flatten(value, name, depth + 1, take);
        } else {
            take(name, key, value);
        }
        name.truncate(length);
    }
    if !node.is_container() {
        take(name, None, node);
    }
}

/// What a column compares: lists only by being empty or not.
pub fn cell(value: JsonNode<'_>) -> &str {
    match value.kind() {
        JsonKind::Array | JsonKind::Object if value.is_empty() => "[]",
        JsonKind::Array if is_leaf(value) => value.raw(),
        JsonKind::Array => "[…]",
        JsonKind::Object => "{…}",
        _ => value.raw(),
    }
}

/// A member or an element as it is written, long ones cut around what matters.
pub fn quoted(key: Option<JsonNode>, value: JsonNode) -> String {
    quoted_within(key, value, MEMBER_CHARS)
}

pub fn quoted_within(key: Option<JsonNode>, value: JsonNode, chars: usize) -> String {
    let raw = key.map_or(value.raw(), |key| key.through(value));
    around_within(raw, LevelMatch::of(raw).at, chars)
}

/// A value that says that there is nothing.
pub fn is_silent(value: JsonNode) -> bool {
    matches!(value.raw(), "0" | "null" | "\"\"" | "[]")
}

/// Counts and where the next page starts.
pub fn is_total(name: &str) -> bool {
    ["total", "count", "cursor", "next", "has_more", "hasmore", "hasnext", "page", "size", "remaining", "sum"]
        .iter()
        .any(|part| name.contains(part))
}

pub fn is_id(name: &str) -> bool {
    matches!(
        name,
        "id" | "_id"
            | "uid"
            | "name"
            | "title"
            | "version"
            | "kind"
            | "type"
            | "status"
            | "state"
            | "url"
            | "email"
            | "__name__"
    ) || name.ends_with("_id")
        || name.ends_with("name")
}
