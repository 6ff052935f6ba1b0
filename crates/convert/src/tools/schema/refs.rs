//! `$ref`s within a schema.

use std::borrow::Cow;

use serde_json::Value;

use super::keywords::{SubschemaKind, below, check_size, each_schema};
use contextweaver_base::limits;
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer};

/// What says something about a schema and asserts nothing; the nearest one counts.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
];
/// Where schemas are kept to be referred to.
pub(super) const DEFINITIONS: &[&str] = &["$defs", "definitions"];

/// Finds the target of a local `$ref`.
pub(crate) fn resolve<'s>(root: &'s Value, ref_text: &str) -> Option<&'s Value> {
    root.pointer(&local_pointer(ref_text)?)
}

/// Returns the JSON pointer of a `$ref` within the same schema.
pub(super) fn local_pointer(ref_text: &str) -> Option<Cow<'_, str>> {
    let place = ref_text.strip_prefix('#')?;
    if place.contains('%') { percent_decoded(place).map(Cow::Owned) } else { Some(Cow::Borrowed(place)) }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || (rest.next()? as char).to_digit(16);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(bytes).ok()
}

/// Refuses `$ref`s to other documents: they are never fetched.
pub(crate) fn check_local(schema: &Value, path: &str) -> Result<()> {
    each_schema(schema, path, &mut |map, at| {
        let remote = ["$ref", "$dynamicRef"].into_iter().find(|key| is_remote(map.get(*key)));
        remote.map_or(Ok(()), |key| {
            let message = "a schema may only refer to itself; other documents are never fetched";
            Err(Error::new(ErrorCode::Unsupported, message)
                .detail("reason", "remote_ref")
                .at(pointer(&at(), key))
                .hint("put what is referred to into `$defs`"))
        })
    })
}

fn is_remote(ref_text: Option<&Value>) -> bool {
    ref_text.and_then(Value::as_str).is_some_and(|text| !text.starts_with('#'))
}

/// Puts a schema in the place of a `$ref` to it, beside which there are `siblings`.
pub(super) fn merged(target: Value, siblings: JsonMap) -> Value {
    let Value::Object(mut target) = target else {
        return if siblings.is_empty() { target } else { apart(target, siblings) };
    };
    // Keywords look at their neighbours, so only what asserts nothing may move in.
    let is_free = |key: &str| ANNOTATIONS.contains(&key) || DEFINITIONS.contains(&key);
    if siblings.iter().all(|(key, value)| is_free(key) || key == "type" && target.get(key) == Some(value)) {
        target.extend(siblings);
        return Value::Object(target);
    }
    apart(Value::Object(target), siblings)
}

/// Asks for both.
fn apart(target: Value, mut siblings: JsonMap) -> Value {
    match siblings.get_mut("allOf") {
        Some(Value::Array(all)) => all.push(target),
        _ => {
            siblings.insert("allOf".to_owned(), Value::Array(vec![target]));
        }
    }
    Value::Object(siblings)
}

/// Replaces local `$ref`s by their targets. A schema that contains itself is still referred to, and only such
/// definitions stay.
pub(super) fn inlined(root: &Value, path: &str) -> Result<Value> {
    let mut inliner = Inliner { root, active: vec!["#".to_owned()], nodes: 0, path };
    let mut whole = match root {
        Value::Object(map) => {
            let rest = map.iter().filter(|(key, _)| !DEFINITIONS.contains(&key.as_str()));
            let rest: JsonMap = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
            inliner.schema(&Value::Object(rest), 0)?
        }
        other => other.clone(),
    };
    let needed = needed(&whole, root)?;
    if let Value::Object(map) = &mut whole {
        for key in DEFINITIONS {
            let Some(Value::Object(all)) = root.get(*key) else { continue };
            let kept: JsonMap = all
                .iter()
                .filter(|(name, _)| needed.contains(&pointer(&format!("#/{key}"), name)))
                .map(|(name, schema)| (name.clone(), schema.clone()))
                .collect();
            if !kept.is_empty() {
                map.insert((*key).to_owned(), Value::Object(kept));
            }
        }
    }
    check_size(&whole, path)?;
    Ok(whole)
}

/// Returns the definitions that are referred to, also from one another.
fn needed(whole: &Value, root: &Value) -> Result<WordSet> {
    let mut found: Vec<String> = Vec::new();
    let mut waiting = vec![whole];
    while let Some(schema) = waiting.pop() {
        each_schema(schema, "", &mut |map, _| {
            let Some(ref_text) = map.get("$ref").and_then(Value::as_str) else { return Ok(()) };
            // `#/$defs/A/properties/b` needs all of A.
            let mut parts = ref_text.splitn(4, '/');
            let (Some("#"), Some(key), Some(name)) = (parts.next(), parts.next(), parts.next()) else { return Ok(()) };
            let definition = format!("#/{key}/{name}");
            if DEFINITIONS.contains(&key) && !found.contains(&definition) {
                waiting.extend(resolve(root, &definition));
                found.push(definition);
            }
            Ok(())
        })?;
    }
    Ok(WordSet::new(found))
}

/// Returns how much a value that is no schema adds: its parts, and a part for every eighty bytes of text.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(|one| 1 + size_of(one)).sum(),
        Value::Object(map) => map.iter().map(|(key, one)| 1 + key.len() / 80 + size_of(one)).sum(),
        Value::String(text) => text.len() / 80,
        _ => 0,
    }
}

struct Inliner<'s> {
    root: &'s Value,
    /// The `$ref`s being replaced, from the outermost.
    active: Vec<String>,
    nodes: usize,
    path: &'s str,
}

impl Inliner<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value> {
        self.nodes += 1;
        if depth > limits::MAX_DEPTH || self.nodes > limits::MAX_SCHEMA_NODES {
            let message = "with its references replaced the schema is too large";
            let error = Error::new(ErrorCode::TooLarge, message).detail("reason", "schema_too_large");
            return Err(error.at(self.path));
        }
        let Value::Object(map) = schema else { return Ok(schema.clone()) };
        let mut rest = JsonMap::new();
        for (key, value) in map {
            let value = match (below(key), value) {
                (SubschemaKind::One | SubschemaKind::OneOrList, Value::Object(_)) => self.schema(value, depth + 1)?,
                (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => {
                    Value::Array(list.iter().map(|one| self.schema(one, depth + 2)).collect::<Result<_>>()?)
                }
                (SubschemaKind::Map, Value::Object(schemas)) if !DEFINITIONS.contains(&key.as_str()) => {
                    let each = schemas.iter().map(|(name, one)| Ok((name.clone(), self.schema(one, depth + 2)?)));
                    Value::Object(each.collect::<Result<_>>()?)
                }
                _ => {
                    // Lists of values are copied with every reference to them.
                    self.nodes += size_of(value);
                    value.clone()
                }
            };
            rest.insert(key.clone(), value);
        }
        let Some(ref_text) = map.get("$ref").and_then(Value::as_str) else { return Ok(Value::Object(rest)) };
        let Some(target) = resolve(self.root, ref_text) else { return Ok(Value::Object(rest)) };
        if self.active.iter().any(|active| active == ref_text) {
            return Ok(Value::Object(rest));
        }
        self.active.push(ref_text.to_owned());
        let target = self.schema(target, depth)?;
        self.active.pop();
        rest.shift_remove("$ref");
        Ok(merged(target, rest))
    }
}
