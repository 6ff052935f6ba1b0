//! A tool, agent or skill, and what a call of it needs.

use serde::Serialize;
use serde_json::Value;

use super::JsonMap;
use crate::json::{Fields, Record};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// A tool, agent, skill or resource that a router can choose.
pub const TOOL_KINDS: &[&str] = &["tool", "agent", "skill", "internal", "flow", "resource", "prompt"];

/// The key of metadata that belongs to this library.
pub const RESERVED_KEY: &str = "_contextweaver";

/// Something that can be chosen: a tool, an agent, a skill.
///
/// ```
/// use contextweaver_model::SelectableItem;
/// use serde_json::json;
///
/// let tool = json!({ "id": "mcp:weather", "kind": "tool", "name": "weather", "description": "Returns the weather." });
/// let item = SelectableItem::from_value(tool, "")?;
/// assert_eq!(item.name, "weather");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SelectableItem {
    /// Id, unique in a catalog.
    pub id: String,
    /// One of [`TOOL_KINDS`].
    #[record(with = kind, required)]
    pub kind: String,
    /// The name the model calls.
    pub name: String,
    /// The name people read, where it is another one.
    pub title: Option<String>,
    /// Description for the model; routing searches it.
    pub description: String,
    /// Labels of the caller; routing searches them.
    pub tags: Vec<String>,
    /// Group, with dots between its levels.
    #[record(default)]
    pub namespace: String,
    /// JSON Schema of the arguments.
    pub args_schema: JsonMap,
    /// JSON Schema of the result.
    #[nullable]
    pub output_schema: Option<JsonMap>,
    /// Example calls.
    pub examples: Vec<String>,
    /// Conditions on the arguments.
    pub constraints: JsonMap,
    /// Whether calling it changes something.
    #[record(default)]
    pub side_effects: bool,
    /// Relative cost, 0 for unknown.
    #[record(default)]
    pub cost_hint: f64,
    /// Anything the caller wants kept; the key `_contextweaver` is reserved.
    pub metadata: JsonMap,
    /// Ids of tools to call before this one.
    pub depends_on: Option<Vec<String>>,
    /// What a call of it makes available to other tools.
    pub provides: Option<Vec<String>>,
    /// What must have been provided before it is of use.
    pub requires: Option<Vec<String>>,
}

fn kind(fields: &mut Fields, key: &'static str) -> Result<String> {
    let kind = fields.string(key)?;
    if TOOL_KINDS.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let message = format!("no kind of tool is called {}", quote(&kind));
    Err(Error::new(ErrorCode::InvalidInput, message)
        .at(fields.at(key))
        .hint(format!("one of {}", TOOL_KINDS.join(", "))))
}

/// What a call of a tool needs to know.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HydrationResult {
    /// The tool.
    pub item: SelectableItem,
    /// JSON Schema of its arguments.
    pub args_schema: JsonMap,
    /// Example calls.
    pub examples: Vec<String>,
    /// Conditions on the arguments.
    pub constraints: JsonMap,
    /// The arguments given and, after them, those found.
    pub arguments: Option<JsonMap>,
    /// Where each argument found came from: `{argument, source: {fact_id} | {item_id, path}}`.
    pub context_used: Option<Vec<Value>>,
    /// Required arguments that are neither given nor found.
    pub missing: Option<Vec<String>>,
}

impl HydrationResult {
    /// Returns a tool's own schema, examples and constraints.
    pub fn of(tool: &SelectableItem) -> Self {
        Self {
            item: tool.clone(),
            args_schema: tool.args_schema.clone(),
            examples: tool.examples.clone(),
            constraints: tool.constraints.clone(),
            arguments: None,
            context_used: None,
            missing: None,
        }
    }
}
