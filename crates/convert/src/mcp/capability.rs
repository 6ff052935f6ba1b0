//! Tools as capability snapshots record them, with the digests of 0.18 for the same tools.

use serde_json::Value;

use super::namespace::{infer_namespace, name_part};
use super::tool::hint_tags;
use super::tool_id::canonical_tool_id;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::python::{self, is_truthy};
use contextweaver_model::json::{Fields, JsonMap, wrong_type};
use contextweaver_text::quote::quote;

/// Reads one tool under its canonical id: what breaks the grammar of ids is an error, hints count by truth.
///
/// # Errors
/// `INVALID_INPUT` and `MISSING_FIELD` for a malformed tool or one whose name makes no canonical id, below `path`.
///
/// ```
/// use contextweaver_convert::mcp::mcp_tool_to_capability;
/// use serde_json::json;
///
/// let item = mcp_tool_to_capability(json!({ "name": "github.search", "description": "Searches." }), "/tool")?;
/// assert_eq!(item.namespace, "github");
/// assert!(item.id.starts_with("github:search#"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_tool_to_capability(tool: Value, path: &str) -> Result<SelectableItem> {
    let mut fields = Fields::open(tool, path)?;
    let name = required(&mut fields, "name")?;
    let description = required(&mut fields, "description")?;
    let mut annotations = truthy_object(&mut fields, "annotations")?;
    let args_schema = truthy_object(&mut fields, "inputSchema")?;
    let output_schema = match fields.take("outputSchema") {
        None => None,
        Some(value) => {
            let wrong = wrong_type(&fields.at("outputSchema"), "an object", &value);
            Some(python::dict(value).ok_or(wrong)?)
        }
    };
    let version = fields.take("_meta").and_then(|meta| meta.get("version").filter(|v| is_truthy(v)).map(python::text));
    let hint = |key: &str| annotations.get(key).is_some_and(is_truthy);
    let (read_only, destructive) = (hint("readOnlyHint"), hint("destructiveHint"));
    let cost = annotations.shift_remove("costHint");
    let cost_hint = cost.map_or(Ok(0.0), |cost| as_cost(&cost, &fields.at("annotations")))?;
    let namespace = infer_namespace(&name);
    let shape = shape(&args_schema, &fields.at("inputSchema"))?;
    let id = canonical_tool_id(namespace, name_part(&name), &name, Some(&shape), version.as_deref())
        .map_err(|error| error.at(fields.at("name")))?;
    Ok(SelectableItem {
        id,
        kind: "tool".to_owned(),
        namespace: namespace.to_owned(),
        name,
        description,
        tags: hint_tags(read_only, destructive),
        args_schema,
        output_schema,
        side_effects: !read_only,
        cost_hint,
        metadata: annotations,
        ..SelectableItem::default()
    })
}

/// Takes a field that must be there and true; whatever it is, it becomes text.
fn required(fields: &mut Fields, key: &'static str) -> Result<String> {
    let value = fields.take(key).filter(is_truthy);
    value.map(|value| python::text(&value)).ok_or_else(|| {
        Error::new(ErrorCode::MissingField, format!("the tool has no {}", quote(key))).at(fields.at(key))
    })
}

/// Takes an object; what counts as false counts as none.
fn truthy_object(fields: &mut Fields, key: &'static str) -> Result<JsonMap> {
    match fields.take(key).filter(is_truthy) {
        None => Ok(JsonMap::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(other) => Err(wrong_type(&fields.at(key), "an object", &other)),
    }
}

/// Returns what of a schema counts for the id. Of the required names, Python takes anything it can sort.
fn shape(schema: &JsonMap, path: &str) -> Result<Value> {
    let part = |key: &str| schema.get(key).filter(|part| is_truthy(part));
    let mut shape = JsonMap::new();
    if let Some(properties) = part("properties") {
        shape.insert("properties".to_owned(), properties.clone());
    }
    if let Some(required) = part("required") {
        let names =
            python::elements(required).ok_or_else(|| wrong_type(&format!("{path}/required"), "an array", required))?;
        shape.insert("required".to_owned(), Value::Array(names));
    }
    Ok(Value::Object(shape))
}

fn as_cost(value: &Value, path: &str) -> Result<f64> {
    let number = python::float(value).filter(|number| number.is_finite());
    number.ok_or_else(|| wrong_type(path, "a finite number as `costHint`", value))
}
