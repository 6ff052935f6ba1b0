//! Schemas of tools whose catalog keeps none: beside it in a map, or in a list of MCP tools.

use serde_json::Value;

use crate::Catalog;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::HydrationResult;
use contextweaver_model::json::{Fields, JsonMap, parse, pointer, wrong_type};

/// Schemas of arguments by tool id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaSource {
    schemas: SortedMap<String, JsonMap>,
}

impl SchemaSource {
    /// Reads a map of tool id to schema.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` for a schema that is no object.
    pub fn from_map(map: JsonMap) -> Result<Self> {
        let mut source = Self::default();
        for (id, schema) in map {
            match schema {
                Value::Object(schema) => source.schemas.insert(id, schema),
                other => return Err(wrong_type(&pointer("", &id), "a schema", &other)),
            };
        }
        Ok(source)
    }

    /// Reads a list of MCP tools, by name; a tool without `inputSchema` has no schema here.
    ///
    /// # Errors
    ///
    /// Fails with `MISSING_FIELD` or `INVALID_INPUT` for a tool without a name.
    pub fn from_mcp_tools(tools: Vec<Value>) -> Result<Self> {
        let mut source = Self::default();
        for (index, tool) in tools.into_iter().enumerate() {
            let mut fields = Fields::open(tool, &format!("/tools/{index}"))?;
            let name = fields.string("name")?;
            if name.is_empty() {
                return Err(Error::new(ErrorCode::InvalidInput, "a tool has an empty name").at(fields.at("name")));
            }
            if let Some(schema) = fields.nested("inputSchema")? {
                source.schemas.insert(name, schema.rest());
            }
        }
        Ok(source)
    }

    /// Reads either from JSON text: `{"tools": […]}` is a list, any other object a map.
    ///
    /// # Errors
    ///
    /// Fails with `DECODE_FAILED` for text that is no JSON, and as the two others do.
    pub fn from_json(text: &str) -> Result<Self> {
        match parse(text)? {
            Value::Object(mut map) => match map.shift_remove("tools") {
                None => Self::from_map(map),
                Some(Value::Array(tools)) => Self::from_mcp_tools(tools),
                Some(other) => Err(wrong_type("/tools", "an array", &other)),
            },
            other => Err(wrong_type("", "an object", &other)),
        }
    }

    /// Returns the schema of a tool.
    pub fn get(&self, id: &str) -> Option<&JsonMap> {
        self.schemas.get(id)
    }

    /// Returns the ids with a schema, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.schemas.keys().map(String::as_str)
    }
}

/// Returns what a call of a tool needs: with its own schema if it has one, or else the one beside the catalog.
///
/// # Errors
///
/// Fails with `NOT_FOUND`.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_routing::{SchemaSource, hydrate_with_schema};
///
/// let schemas = SchemaSource::from_json(r#"{"mail.send":{"type":"object","required":["to"]}}"#)?;
/// let hydrated = hydrate_with_schema(&catalog, "mail.send", Some(&schemas))?;
/// assert_eq!(hydrated.args_schema["required"], json!(["to"]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn hydrate_with_schema(catalog: &Catalog, id: &str, source: Option<&SchemaSource>) -> Result<HydrationResult> {
    let mut result = HydrationResult::of(catalog.get(id)?);
    if result.args_schema.is_empty() {
        result.args_schema = source.and_then(|source| source.get(id)).cloned().unwrap_or_default();
    }
    Ok(result)
}

/// Returns the schema of a tool, nothing when there is no such tool or no schema of it.
pub fn schema_of<'a>(catalog: &'a Catalog, id: &str, source: Option<&'a SchemaSource>) -> Option<&'a JsonMap> {
    let own = &catalog.find(id)?.args_schema;
    let schema = if own.is_empty() { source?.get(id)? } else { own };
    (!schema.is_empty()).then_some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_in_three_forms_and_refused_in_others() {
        let map = SchemaSource::from_json(r#"{"b":{"x":1},"a":{}}"#).unwrap();
        assert_eq!(map.ids().collect::<Vec<_>>(), ["a", "b"]);
        let list = SchemaSource::from_json(r#"{"tools":[{"name":"t","inputSchema":{"y":1}},{"name":"u"}]}"#).unwrap();
        assert_eq!(list.ids().collect::<Vec<_>>(), ["t"]);
        let cases = [
            (r#"{"tools":{}}"#, "/tools"),
            (r#"{"a":1}"#, "/a"),
            (r#"{"tools":[1]}"#, "/tools/0"),
            (r#"{"tools":[{"inputSchema":{}}]}"#, "/tools/0/name"),
            (r#"{"tools":[{"name":"t","inputSchema":3}]}"#, "/tools/0/inputSchema"),
            ("[]", ""),
            ("{bad", ""),
        ];
        for (text, path) in cases {
            assert_eq!(SchemaSource::from_json(text).unwrap_err().path(), path, "{text}");
        }
    }
}
