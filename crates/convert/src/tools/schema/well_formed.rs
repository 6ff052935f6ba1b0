//! Checks that a JSON Schema is well-formed: each keyword it knows has a value of the right type.

use serde_json::Value;

use super::keywords::{SubschemaKind, below, each_schema};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, pointer, type_name};

/// The values that a keyword accepts.
#[derive(Clone, Copy)]
enum KeywordValue {
    Text,
    Flag,
    Number,
    /// A number above zero.
    Positive,
    /// A whole number of at least zero.
    Count,
    /// The name of a type, or a list of distinct names of types.
    Types,
    /// A list of distinct strings.
    Names,
    /// An object whose values are lists of distinct strings.
    NamesByName,
    List,
}

/// The keywords of 2020-12 whose values are data, not schemas, with the values they accept.
const KEYWORDS: &[(&str, KeywordValue)] = &[
    ("type", KeywordValue::Types),
    ("enum", KeywordValue::List),
    ("required", KeywordValue::Names),
    ("minimum", KeywordValue::Number),
    ("maximum", KeywordValue::Number),
    ("exclusiveMinimum", KeywordValue::Number),
    ("exclusiveMaximum", KeywordValue::Number),
    ("multipleOf", KeywordValue::Positive),
    ("minLength", KeywordValue::Count),
    ("maxLength", KeywordValue::Count),
    ("minItems", KeywordValue::Count),
    ("maxItems", KeywordValue::Count),
    ("minContains", KeywordValue::Count),
    ("maxContains", KeywordValue::Count),
    ("minProperties", KeywordValue::Count),
    ("maxProperties", KeywordValue::Count),
    ("uniqueItems", KeywordValue::Flag),
    ("pattern", KeywordValue::Text),
    ("format", KeywordValue::Text),
    ("dependentRequired", KeywordValue::NamesByName),
    ("$ref", KeywordValue::Text),
    ("$dynamicRef", KeywordValue::Text),
    ("$schema", KeywordValue::Text),
    ("$id", KeywordValue::Text),
    ("$anchor", KeywordValue::Text),
    ("$comment", KeywordValue::Text),
    ("title", KeywordValue::Text),
    ("description", KeywordValue::Text),
    ("examples", KeywordValue::List),
    ("deprecated", KeywordValue::Flag),
    ("readOnly", KeywordValue::Flag),
    ("writeOnly", KeywordValue::Flag),
    ("contentEncoding", KeywordValue::Text),
    ("contentMediaType", KeywordValue::Text),
];

/// The names of types in JSON Schema.
pub(super) const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Forms that only drafts before 2020-12 allow. They are accepted where `$schema` names such a draft.
#[derive(Clone, Copy)]
struct DraftRules {
    /// `items` may be a list of schemas.
    item_lists: bool,
    /// `exclusiveMinimum` and `exclusiveMaximum` may be true or false.
    exclusive_flags: bool,
}

impl DraftRules {
    fn of(schema: &Value) -> Self {
        let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let is = |draft: &str| dialect.contains(draft);
        let exclusive_flags = is("draft-03") || is("draft-04");
        Self { item_lists: exclusive_flags || is("draft-06") || is("draft-07") || is("2019-09"), exclusive_flags }
    }
}

/// Checks that a schema, and every schema inside it, is well-formed by JSON Schema 2020-12.
///
/// Where `$schema` names an older draft, two forms of that draft are accepted as well: a list below `items`, and
/// `exclusiveMinimum` or `exclusiveMaximum` as true or false. Unknown keywords may have any value. The time is linear
/// in the size of the schema, at any depth.
///
/// # Errors
/// `INVALID_INPUT` with the reason `invalid_schema` for the first malformed part. Its path starts with `path`.
///
/// ```
/// use contextweaver_convert::tools::check_well_formed;
/// use serde_json::json;
///
/// assert!(check_well_formed(&json!({ "type": "object", "properties": { "a": {} } }), "").is_ok());
/// let error = check_well_formed(&json!({ "properties": { "a": { "type": "objekt" } } }), "/schema").unwrap_err();
/// assert_eq!(error.path(), "/schema/properties/a/type");
/// ```
pub fn check_well_formed(schema: &Value, path: &str) -> Result<()> {
    let rules = DraftRules::of(schema);
    check_subschema(schema, &|| path.to_owned())?;
    each_schema(schema, path, &mut |map, path| {
        map.iter().try_for_each(|(keyword, value)| check_keyword(keyword, value, rules, path))
    })
}

fn check_keyword(keyword: &str, value: &Value, rules: DraftRules, path: &dyn Fn() -> String) -> Result<()> {
    let at = || pointer(&path(), keyword);
    let wrong = |wanted: &str| Err(malformed(wanted, value, at()));
    let list = |list: &[Value]| {
        let place = |index: usize| move || format!("{}/{index}", at());
        list.iter().enumerate().try_for_each(|(index, one)| check_subschema(one, &place(index)))
    };
    match (below(keyword), value) {
        (SubschemaKind::Nothing, _) => {}
        (SubschemaKind::OneOrList, Value::Array(schemas)) if rules.item_lists => return list(schemas),
        (SubschemaKind::One | SubschemaKind::OneOrList, _) => return check_subschema(value, &at),
        (SubschemaKind::List, Value::Array(schemas)) if !schemas.is_empty() => return list(schemas),
        (SubschemaKind::List, _) => return wrong("a list of schemas that is not empty"),
        (SubschemaKind::Map, Value::Object(schemas)) => {
            let place = |name: &str| pointer(&at(), &contextweaver_text::unicode::truncate(name, 80));
            return schemas.iter().try_for_each(|(name, one)| check_subschema(one, &|| place(name)));
        }
        (SubschemaKind::Map, _) => return wrong("schemas by name"),
    }
    if rules.exclusive_flags && keyword.starts_with("exclusive") && value.is_boolean() {
        return Ok(());
    }
    misfit(keyword, value).map_or(Ok(()), wrong)
}

/// Returns, in words, what a keyword accepts, if `value` is something else. Keywords outside [`KEYWORDS`] accept all.
pub(super) fn misfit(keyword: &str, value: &Value) -> Option<&'static str> {
    let (_, wanted) = KEYWORDS.iter().find(|(known, _)| *known == keyword)?;
    let (fits, what) = match wanted {
        KeywordValue::Text => (value.is_string(), "a string"),
        KeywordValue::Flag => (value.is_boolean(), "true or false"),
        KeywordValue::Number => (value.is_number(), "a number"),
        KeywordValue::Positive => (value.as_f64().is_some_and(|number| number > 0.0), "a number above zero"),
        KeywordValue::Count => {
            let is_count = |number: f64| number >= 0.0 && number.fract() == 0.0;
            (value.as_f64().is_some_and(is_count), "a whole number from zero on")
        }
        KeywordValue::Types => (are_types(value), "a type, or a list of different types"),
        KeywordValue::Names => (are_names(value), "a list of different names"),
        KeywordValue::NamesByName => {
            let are_lists = value.as_object().is_some_and(|map: &JsonMap| map.values().all(are_names));
            (are_lists, "lists of names by name")
        }
        KeywordValue::List => (value.is_array(), "a list"),
    };
    (!fits).then_some(what)
}

fn check_subschema(value: &Value, path: &dyn Fn() -> String) -> Result<()> {
    if matches!(value, Value::Object(_) | Value::Bool(_)) {
        return Ok(());
    }
    Err(malformed("a schema", value, path()))
}

fn are_types(value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(list) => !list.is_empty() && list.iter().all(is_type) && are_names(value),
        one => is_type(one),
    }
}

fn are_names(value: &Value) -> bool {
    let names: Option<Vec<String>> =
        value.as_array().and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    names.is_some_and(|names| {
        let given = names.len();
        contextweaver_base::order::WordSet::new(names).len() == given
    })
}

fn malformed(wanted: &str, value: &Value, path: String) -> Error {
    // A string is quoted, because only its content may be wrong (`"objekt"`); of other values the type says enough.
    let message = match value {
        Value::String(text) => format!("expected {wanted}, got {}", contextweaver_text::quote::quote(text)),
        other => format!("expected {wanted}, got {}", type_name(other)),
    };
    Error::new(ErrorCode::InvalidInput, message).detail("reason", "invalid_schema").at(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_keyword_has_its_kind_of_value() {
        let draft = |draft: &str, mut schema: Value| {
            schema["$schema"] = draft.into();
            schema
        };
        let (seven, four) = ("http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#");
        for (schema, path) in [
            (json!(true), None),
            (json!({}), None),
            (json!(5), Some("")),
            (json!([]), Some("")),
            (json!({ "type": ["string", "null"], "x-mine": 5, "default": [], "const": null, "enum": [] }), None),
            (json!({ "type": "objekt" }), Some("/type")),
            (json!({ "type": [] }), Some("/type")),
            (json!({ "type": ["string", "string"] }), Some("/type")),
            (json!({ "type": { "a": 1 } }), Some("/type")),
            (json!({ "properties": { "a": 5 } }), Some("/properties/a")),
            (json!({ "properties": { "a/b": { "type": 1 } } }), Some("/properties/a~1b/type")),
            (json!({ "properties": [] }), Some("/properties")),
            (json!({ "required": true }), Some("/required")),
            (json!({ "required": ["a", "a"] }), Some("/required")),
            (json!({ "required": ["a", 1] }), Some("/required")),
            (json!({ "dependentRequired": { "a": ["b"] } }), None),
            (json!({ "dependentRequired": { "a": "b" } }), Some("/dependentRequired")),
            (json!({ "anyOf": [] }), Some("/anyOf")),
            (json!({ "anyOf": [true, 1] }), Some("/anyOf/1")),
            (json!({ "allOf": {} }), Some("/allOf")),
            (json!({ "items": [{}] }), Some("/items")),
            (draft(seven, json!({ "items": [{}] })), None),
            (draft(seven, json!({ "items": [{}, 1] })), Some("/items/1")),
            (draft(four, json!({ "exclusiveMinimum": true })), None),
            (draft(seven, json!({ "exclusiveMinimum": true })), Some("/exclusiveMinimum")),
            (json!({ "not": null }), Some("/not")),
            (json!({ "minLength": 2.0, "multipleOf": 0.5 }), None),
            (json!({ "minLength": -1 }), Some("/minLength")),
            (json!({ "maxItems": 1.5 }), Some("/maxItems")),
            (json!({ "minimum": "1" }), Some("/minimum")),
            (json!({ "multipleOf": 0 }), Some("/multipleOf")),
            (json!({ "uniqueItems": 1 }), Some("/uniqueItems")),
            (json!({ "enum": "a" }), Some("/enum")),
            (json!({ "$ref": 1 }), Some("/$ref")),
            (json!({ "description": ["a"] }), Some("/description")),
            (json!({ "$defs": { "a": { "items": { "if": { "pattern": 1 } } } } }), Some("/$defs/a/items/if/pattern")),
            // The values of these keywords are data, so they may look like malformed schemas.
            (json!({ "default": { "type": 1 }, "examples": [{ "type": 1 }], "enum": [{ "type": 1 }] }), None),
        ] {
            let error = check_well_formed(&schema, "").err();
            assert_eq!(error.as_ref().map(Error::path), path, "{schema}");
        }
    }
}
