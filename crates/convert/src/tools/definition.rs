//! A tool as its author defines it.

use serde_json::Value;

use super::names::{is_mcp_name, is_snake_case};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{Fields, JsonMap, pointer};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Fields of a definition that are written into `_meta`, as MCP has none for them.
pub(super) const META_FIELDS: &[&str] = &[
    "category",
    "consequenceLevel",
    "requiresConfirmation",
    "timeout",
    "tags",
    "version",
    "dependsOn",
    "idempotent",
    "openWorld",
    "annotations",
    "inferAnnotations",
    "examples",
];
/// Fields of an MCP tool that a definition has, too, under the same name or another.
pub(super) const SHARED: &[&str] =
    &["name", "title", "description", "inputSchema", "outputSchema", "icons", "annotations"];
/// Categories of tools, by their effect.
const CATEGORIES: &[&str] = &["read", "write", "analysis", "delete", "side_effect"];
/// Levels of consequence of a call, ascending.
const LEVELS: &[&str] = &["low", "medium", "high"];

/// The fields of a tool definition.
#[derive(Debug, Clone)]
pub(super) struct ToolDefinition {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) title: Option<String>,
    pub(super) schema: Value,
    pub(super) output_schema: Option<Value>,
    pub(super) icons: Option<Value>,
    pub(super) category: Option<&'static str>,
    pub(super) level: Option<&'static str>,
    pub(super) confirm: bool,
    pub(super) timeout: u64,
    pub(super) tags: Vec<String>,
    pub(super) depends_on: Vec<String>,
    pub(super) examples: Vec<String>,
    pub(super) idempotent: Option<bool>,
    pub(super) open_world: Option<bool>,
    pub(super) annotations: JsonMap,
    pub(super) infer: bool,
    /// Fields of a tool of MCP that are no fields of a definition.
    pub(super) mcp: JsonMap,
    /// The fields for `_meta`, as they were given.
    pub(super) meta_fields: JsonMap,
}

pub(super) fn fault(code: ErrorCode, reason: &'static str, message: String) -> Error {
    Error::new(code, message).detail("reason", reason)
}

impl ToolDefinition {
    /// Reads a definition. Unknown fields are warnings, missing ones errors.
    pub(super) fn read(value: &Value, path: &str, warnings: &mut Vec<Warning>) -> Result<Self> {
        let mut fields = Fields::open(value.clone(), path)?;
        let meta_fields = META_FIELDS.iter().filter_map(|key| Some(((*key).to_owned(), fields.peek(key)?.clone())));
        let meta_fields: JsonMap = meta_fields.filter(|(_, value)| !value.is_null()).collect();
        let name = read_name(&mut fields, warnings)?;
        let description = fields.opt_string("description")?.unwrap_or_default();
        if trim(&description).is_empty() {
            let message = "the description is empty, and it is all a model has to choose by".to_owned();
            return Err(fault(ErrorCode::MissingField, "empty_description", message).at(fields.at("description")));
        }
        let schema = fields.take("schema").ok_or_else(|| {
            let message = "the definition has no schema".to_owned();
            fault(ErrorCode::MissingField, "invalid_schema", message).at(fields.at("schema"))
        })?;
        let flag = |fields: &mut Fields, key: &'static str| -> Result<Option<bool>> {
            if fields.peek(key).is_none_or(Value::is_null) { Ok(None) } else { fields.bool_or(key, false).map(Some) }
        };
        let definition = Self {
            name,
            description,
            schema,
            title: fields.opt_string("title")?,
            output_schema: fields.take("outputSchema"),
            icons: fields.take("icons"),
            category: one_of(&mut fields, "category", CATEGORIES, "unknown_category", warnings)?,
            level: one_of(&mut fields, "consequenceLevel", LEVELS, "unknown_consequence_level", warnings)?,
            confirm: fields.bool_or("requiresConfirmation", false)?,
            timeout: read_timeout(&mut fields)?,
            tags: fields.strings("tags")?,
            depends_on: fields.strings("dependsOn")?,
            examples: fields.strings("examples")?,
            idempotent: flag(&mut fields, "idempotent")?,
            open_world: flag(&mut fields, "openWorld")?,
            annotations: fields.object("annotations")?,
            infer: fields.bool_or("inferAnnotations", true)?,
            mcp: fields.object("mcp")?,
            meta_fields,
        };
        fields.opt_string("version")?;
        fields.take("execute");
        for key in fields.rest().keys() {
            let message = format!("a definition has no field {}; ignored", quote(key));
            warnings.push(Warning::new("unknown_field", message, pointer(path, key)));
        }
        Ok(definition)
    }
}

fn read_name(fields: &mut Fields, warnings: &mut Vec<Warning>) -> Result<String> {
    let name = fields.opt_string("name")?.unwrap_or_default();
    let at = fields.at("name");
    if !is_mcp_name(&name) {
        let message = format!("{} is no name of a tool", quote(&name));
        let code = if name.is_empty() { ErrorCode::MissingField } else { ErrorCode::InvalidInput };
        return Err(fault(code, "invalid_name", message).at(at).hint("1 to 128 of A-Z a-z 0-9 _ - ."));
    }
    if !is_snake_case(&name) {
        let message = format!("{} is not in snake case; kept as it is", quote(&name));
        warnings.push(Warning::new("name_not_snake_case", message, at));
    }
    Ok(name)
}

fn read_timeout(fields: &mut Fields) -> Result<u64> {
    let invalid = |error: Error| error.detail("reason", "invalid_timeout");
    match fields.opt_uint("timeout", limits::MAX_TOOL_TIMEOUT_MS).map_err(invalid)? {
        None => Ok(limits::TOOL_TIMEOUT_MS),
        Some(0) => {
            let message = "a timeout is a number of milliseconds above 0".to_owned();
            Err(fault(ErrorCode::OutOfRange, "invalid_timeout", message).at(fields.at("timeout")))
        }
        Some(timeout) => Ok(timeout),
    }
}

/// Takes a field that must be one of `known`; another value is a warning and counts as absent.
fn one_of(
    fields: &mut Fields,
    key: &'static str,
    known: &'static [&'static str],
    code: &'static str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<&'static str>> {
    let Some(given) = fields.opt_string(key)? else { return Ok(None) };
    let found = known.iter().copied().find(|word| *word == given);
    if found.is_none() {
        let message = format!("{} is none of {}; it counts as unknown", quote(&given), known.join(", "));
        warnings.push(Warning::new(code, message, fields.at(key)));
    }
    Ok(found)
}
