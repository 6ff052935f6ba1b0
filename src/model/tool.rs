//! A tool as the call prompt needs it.

use serde::Serialize;
use serde_json::Value;

use super::JsonMap;
use crate::error::Result;
use crate::json::Fields;

/// Something that can be chosen: a tool, an agent, a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(all(test, not(target_arch = "wasm32")), derive(ts_rs::TS))]
pub struct SelectableItem {
    /// Unique in a catalog.
    pub id: String,
    /// `tool`, `agent`, `skill` or `internal`.
    pub kind: String,
    /// The name the model calls.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Free tags.
    pub tags: Vec<String>,
    /// Group.
    pub namespace: String,
    /// JSON Schema of the arguments.
    pub args_schema: JsonMap,
    /// JSON Schema of the result.
    pub output_schema: Option<JsonMap>,
    /// Whether calling it changes something.
    pub side_effects: bool,
    /// Relative cost, 0 for unknown.
    pub cost_hint: f64,
    /// Example calls.
    pub examples: Vec<String>,
    /// Conditions on the arguments.
    pub constraints: JsonMap,
    /// Anything the caller wants kept.
    pub metadata: JsonMap,
}

impl SelectableItem {
    /// Reads a tool; unknown fields are ignored.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            id: fields.string("id")?,
            kind: fields.string("kind")?,
            name: fields.string("name")?,
            description: fields.string("description")?,
            tags: fields.strings("tags")?,
            namespace: fields.string_or("namespace", "")?,
            args_schema: fields.object("args_schema")?,
            output_schema: fields.nested("output_schema")?.map(Fields::rest),
            side_effects: fields.bool_or("side_effects", false)?,
            cost_hint: fields.number_or("cost_hint", 0.0, f64::MIN, f64::MAX)?,
            examples: fields.strings("examples")?,
            constraints: fields.object("constraints")?,
            metadata: fields.object("metadata")?,
        })
    }
}

/// A tool with everything needed to call it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(all(test, not(target_arch = "wasm32")), derive(ts_rs::TS))]
pub struct HydrationResult {
    /// The tool.
    pub item: SelectableItem,
    /// JSON Schema of the arguments.
    pub args_schema: JsonMap,
    /// Example calls.
    pub examples: Vec<Value>,
    /// Conditions on the arguments.
    pub constraints: JsonMap,
}

impl HydrationResult {
    /// Reads a result; unknown fields are ignored.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            item: SelectableItem::from_value(fields.require("item")?, &fields.at("item"))?,
            args_schema: fields.object("args_schema")?,
            examples: fields.list("examples")?,
            constraints: fields.object("constraints")?,
        })
    }
}
