//! Where in a schema other schemas stand, and the bounds of a schema.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::unicode::truncate;

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

/// Where a schema stands below another one.
struct SchemaPlace<'s> {
    /// Index of the place above.
    parent: usize,
    keyword: &'s str,
    child: Child<'s>,
}

#[derive(Clone, Copy)]
enum Child<'s> {
    Only,
    Index(usize),
    Name(&'s str),
}

/// Characters of a name in a path: names come from the schema, and every complaint repeats those above it.
const NAME_CHARS: usize = 80;

/// Writes the path of a place; 0 is the root.
fn path_of(places: &[SchemaPlace<'_>], at: usize, root: &str) -> String {
    let Some(place) = at.checked_sub(1).and_then(|at| places.get(at)) else { return root.to_owned() };
    let path = pointer(&path_of(places, place.parent, root), place.keyword);
    match place.child {
        Child::Only => path,
        Child::Index(index) => format!("{path}/{index}"),
        Child::Name(name) => pointer(&path, &truncate(name, NAME_CHARS)),
    }
}

/// A function that is called with a schema, and with a function that returns the path of that schema.
///
/// A path is only built when it is asked for. Otherwise a long name with thousands of schemas below it would be copied
/// for each of them.
type SchemaVisitor<'s, 'f> = &'f mut dyn FnMut(&'s JsonMap, &dyn Fn() -> String) -> Result<()>;

/// Calls a function with every schema that is an object, from the outside in.
pub(crate) fn each_schema<'s>(root: &'s Value, path: &str, visit: SchemaVisitor<'s, '_>) -> Result<()> {
    let mut places: Vec<SchemaPlace<'s>> = Vec::new();
    let mut waiting = vec![(root, 0)];
    while let Some((schema, at)) = waiting.pop() {
        let Value::Object(map) = schema else { continue };
        visit(map, &|| path_of(&places, at, path))?;
        let from = waiting.len();
        for (keyword, value) in map {
            let mut push = |schema: &'s Value, child: Child<'s>| {
                places.push(SchemaPlace { parent: at, keyword, child });
                waiting.push((schema, places.len()));
            };
            match (below(keyword), value) {
                (SubschemaKind::One | SubschemaKind::OneOrList, Value::Object(_)) => push(value, Child::Only),
                (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => {
                    list.iter().enumerate().for_each(|(index, one)| push(one, Child::Index(index)));
                }
                (SubschemaKind::Map, Value::Object(schemas)) => {
                    schemas.iter().for_each(|(name, one)| push(one, Child::Name(name)));
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
