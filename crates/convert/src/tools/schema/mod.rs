//! JSON Schema as tools carry it: the forms accepted, and the one that goes on the wire.

mod keywords;
mod mend;
mod property_names;
mod refs;
mod shorthand;
mod well_formed;

use serde_json::{Value, json};

pub(super) use self::keywords::{check_size, each_schema};
pub use self::mend::{MendKind, MendOptions, SchemaMend, append_description, mended_schema};
pub use self::property_names::{PropertyNames, RenamedProperty};
pub(super) use self::refs::{check_local, resolve};
pub use self::well_formed::check_well_formed;
use crate::mcp::Revision;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer, type_name};
use contextweaver_text::quote::quote;

contextweaver_model::string_enum! {
    /// The notation of a schema.
    SchemaFormat, "format of schemas" {
        /// JSON Schema.
        JsonSchema = "json-schema",
        /// `{field: {type, description, optional, enum, default, items}}`.
        Shorthand = "shorthand",
    }
}

/// The value that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaRole {
    /// The arguments of a tool.
    Input,
    /// The structured content of its result.
    Output,
}

/// Options of schema normalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolSchemaOptions {
    /// The revision the schema is for.
    pub revision: Revision,
    /// The notation; recognised where there is none.
    pub format: Option<SchemaFormat>,
    /// Whether local `$ref`s are replaced by their targets.
    pub inline_refs: bool,
}

/// Brings a schema into the form MCP wants: an object at its root, and nothing of other documents.
///
/// Keys keep their order, unknown keywords stay. Fails with the reason `invalid_schema`, `root_not_object`, `remote_ref`
/// or `schema_too_large`.
pub fn normalized(
    schema: &Value,
    path: &str,
    role: SchemaRole,
    options: ToolSchemaOptions,
    warnings: &mut Vec<Warning>,
) -> Result<Value> {
    let Value::Object(map) = schema else {
        return Err(invalid(format!("a schema is an object, got {}", type_name(schema)), path));
    };
    check_size(schema, path)?;
    let is_short = options.format.map_or_else(|| shorthand::is_shorthand(map), |f| f == SchemaFormat::Shorthand);
    let mut schema = if is_short { shorthand::expanded(map, path)? } else { schema.clone() };
    refs::check_local(&schema, path)?;
    if let Value::Object(map) = &mut schema {
        drop_dialect(map);
        if map.is_empty() && role == SchemaRole::Input {
            return Ok(json!({ "type": "object", "additionalProperties": false }));
        }
    }
    if role == SchemaRole::Input || !options.revision.rules().any_output_schema {
        schema = with_object_root(schema, path, warnings)?;
        if !options.revision.rules().any_output_schema
            && let Some(key) = ["anyOf", "oneOf", "allOf"].into_iter().find(|key| schema.get(*key).is_some())
        {
            let message = format!("before 2026-07-28 the root of a schema has no `{key}`, and clients may refuse it");
            warnings.push(Warning::new("root_composition", message, pointer(path, key)));
        }
    }
    if options.inline_refs { refs::inlined(&schema, path) } else { Ok(schema) }
}

fn invalid(message: String, path: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, message).detail("reason", "invalid_schema").at(path)
}

/// Removes the name of the dialect that MCP takes a schema for anyway.
fn drop_dialect(map: &mut JsonMap) {
    let name = map.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let name = name.trim_end_matches('#');
    if matches!(name, "https://json-schema.org/draft/2020-12/schema" | "http://json-schema.org/draft/2020-12/schema") {
        map.shift_remove("$schema");
    }
}

/// Makes `type: "object"` visible at the root.
fn with_object_root(mut schema: Value, path: &str, warnings: &mut Vec<Warning>) -> Result<Value> {
    // A `$ref` to a `$ref` and so on, but not for ever.
    let mut rounds = 0;
    while let Some(ref_text) = schema.get("$ref").and_then(Value::as_str) {
        let at = || pointer(path, "$ref");
        let target = refs::resolve(&schema, ref_text).filter(|target| *target != &schema && rounds < 64);
        let Some(target) = target.cloned() else {
            return Err(invalid("the reference at the root leads nowhere".to_owned(), &at()));
        };
        let Value::Object(mut siblings) = schema else { break };
        siblings.shift_remove("$ref");
        schema = refs::merged(target, siblings);
        rounds += 1;
    }
    let Value::Object(map) = schema else {
        return Err(invalid(format!("a schema is an object, got {}", type_name(&schema)), path));
    };
    root_type(map, path, warnings)
}

fn root_type(mut map: JsonMap, path: &str, warnings: &mut Vec<Warning>) -> Result<Value> {
    let not_object = |what: String| {
        Err(Error::new(ErrorCode::InvalidInput, format!("the root of the schema is {what}, not an object"))
            .detail("reason", "root_not_object")
            .at(pointer(path, "type"))
            .hint("wrap it as a property of an object"))
    };
    match map.get("type") {
        None => {
            let values =
                map.get("const").into_iter().chain(map.get("enum").and_then(Value::as_array).into_iter().flatten());
            let mut values = values.peekable();
            if values.peek().is_some() && !values.any(Value::is_object) {
                return not_object("a list of other values".to_owned());
            }
            let mut typed = JsonMap::new();
            typed.insert("type".to_owned(), "object".into());
            typed.extend(map);
            return Ok(Value::Object(typed));
        }
        Some(Value::String(name)) if name == "object" => {}
        Some(Value::String(name)) => return not_object(quote(name)),
        Some(Value::Array(names)) if names.iter().any(|name| name == "object") => {
            if names.len() > 1 {
                let message = "arguments are always an object; the other types of the root were dropped";
                warnings.push(Warning::new("root_type_narrowed", message, pointer(path, "type")));
            }
            map.insert("type".to_owned(), "object".into());
        }
        Some(Value::Array(_)) => return not_object("of other types".to_owned()),
        Some(other) => {
            return Err(invalid(format!("a type is a name, got {}", type_name(other)), &pointer(path, "type")));
        }
    }
    Ok(Value::Object(map))
}

#[cfg(test)]
mod tests;
