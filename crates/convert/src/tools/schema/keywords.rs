//! Where in a schema other schemas stand, and the bounds of a schema.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer};

/// How schemas stand below a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaKind {
    /// Not at all: what is there is data.
    Nothing,
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// One schema or, before 2020-12, a list.
    OneOrList,
    /// Schemas by name.
    Map,
}

/// The keywords with schemas below them.
const WITH_SCHEMAS: &[(&str, SubschemaKind)] = &[
    ("properties", SubschemaKind::Map),
    ("items", SubschemaKind::OneOrList),
    ("$defs", SubschemaKind::Map),
    ("definitions", SubschemaKind::Map),
    ("additionalProperties", SubschemaKind::One),
    ("anyOf", SubschemaKind::List),
    ("oneOf", SubschemaKind::List),
    ("allOf", SubschemaKind::List),
    ("not", SubschemaKind::One),
    ("patternProperties", SubschemaKind::Map),
    ("prefixItems", SubschemaKind::List),
    ("additionalItems", SubschemaKind::One),
    ("if", SubschemaKind::One),
    ("then", SubschemaKind::One),
    ("else", SubschemaKind::One),
    ("contains", SubschemaKind::One),
    ("propertyNames", SubschemaKind::One),
    ("dependentSchemas", SubschemaKind::Map),
    ("unevaluatedProperties", SubschemaKind::One),
    ("unevaluatedItems", SubschemaKind::One),
];

/// Tells how schemas stand below a keyword.
pub(crate) fn below(keyword: &str) -> SubschemaKind {
    WITH_SCHEMAS.iter().find(|(known, _)| *known == keyword).map_or(SubschemaKind::Nothing, |(_, below)| *below)
}

/// Calls a function with every schema that is an object, from the outside in, and with where it stands.
pub(crate) fn each_schema<'s>(
    root: &'s Value,
    path: &str,
    visit: &mut dyn FnMut(&'s JsonMap, &str) -> Result<()>,
) -> Result<()> {
    let mut waiting = vec![(root, path.to_owned())];
    while let Some((schema, path)) = waiting.pop() {
        let Value::Object(map) = schema else { continue };
        visit(map, &path)?;
        let from = waiting.len();
        for (keyword, value) in map {
            let at = || pointer(&path, keyword);
            match (below(keyword), value) {
                (SubschemaKind::One | SubschemaKind::OneOrList, Value::Object(_)) => waiting.push((value, at())),
                (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => {
                    let base = at();
                    waiting.extend(list.iter().enumerate().map(|(index, one)| (one, format!("{base}/{index}"))));
                }
                (SubschemaKind::Map, Value::Object(schemas)) => {
                    let base = at();
                    waiting.extend(schemas.iter().map(|(name, one)| (one, pointer(&base, name))));
                }
                _ => {}
            }
        }
        // In the order of the text.
        waiting[from..].reverse();
    }
    Ok(())
}

/// Refuses a schema that nests too deep, has too many values or too much text.
pub(crate) fn check_size(schema: &Value, path: &str) -> Result<()> {
    let too_large =
        |message: String| Err(Error::new(ErrorCode::TooLarge, message).detail("reason", "schema_too_large").at(path));
    let mut nodes = 0;
    let mut waiting = vec![(schema, 0)];
    while let Some((value, depth)) = waiting.pop() {
        nodes += 1;
        if nodes > limits::MAX_SCHEMA_NODES {
            return too_large(format!("the schema has more than {} values", limits::MAX_SCHEMA_NODES));
        }
        if depth > limits::MAX_DEPTH {
            return too_large(format!("the schema nests deeper than {} levels", limits::MAX_DEPTH));
        }
        match value {
            Value::Array(list) => waiting.extend(list.iter().map(|one| (one, depth + 1))),
            Value::Object(map) => waiting.extend(map.values().map(|one| (one, depth + 1))),
            _ => {}
        }
    }
    let bytes = schema.to_string().len();
    if bytes > limits::MAX_SCHEMA_BYTES {
        return too_large(format!("the schema has {bytes} bytes, the limit is {}", limits::MAX_SCHEMA_BYTES));
    }
    Ok(())
}
