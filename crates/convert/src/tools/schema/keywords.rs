//! The keywords of JSON Schema that hold subschemas, a walk over all of them, and the size limits of a schema.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::unicode::truncate;

/// The form in which a keyword holds subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaKind {
    /// The keyword holds no schema; its value is plain data.
    Nothing,
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// One schema or, before 2020-12, a list.
    OneOrList,
    /// An object whose values are schemas, as in `properties`.
    Map,
}

/// The keywords that hold subschemas, each with its form.
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

/// Returns the form in which a keyword holds subschemas; `Nothing` for a keyword that is not listed.
pub(crate) fn below(keyword: &str) -> SubschemaKind {
    WITH_SCHEMAS.iter().find(|(known, _)| *known == keyword).map_or(SubschemaKind::Nothing, |(_, below)| *below)
}

/// The place of a subschema: its parent, the keyword that holds it, and its index or name below that keyword.
struct SchemaPlace<'s> {
    /// Number of the parent schema: its index in the list of places plus 1, or 0 for the root.
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

/// The most characters of one name in a path. Schemas choose the names, and each reported path repeats those above it.
const NAME_CHARS: usize = 80;

/// Returns the path of a schema by its number: its index in `places` plus 1, or 0 for the root.
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

/// Calls `visit` with the root schema and with every subschema that is an object. A parent comes before its subschemas.
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
        // Schemas are popped from the end, so they are reversed to be visited in the order of the text.
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
