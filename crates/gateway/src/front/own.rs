//! The tools of the gateway itself.

use serde_json::{Value, json};

use contextweaver_content::drilldown_tool;
use contextweaver_model::json::JsonMap;

/// Makes a tool of its parts.
pub(super) fn tool(name: &str, description: &str, schema: Value, hints: Value) -> JsonMap {
    let tool = json!({ "name": name, "description": description, "inputSchema": schema, "annotations": hints });
    if let Value::Object(map) = tool { map } else { JsonMap::new() }
}

/// The hints of a tool that changes nothing and stays within the gateway.
pub(super) fn reads_here() -> Value {
    json!({ "readOnlyHint": true, "openWorldHint": false })
}

/// The tool that reads on in results, as models know it from prompts.
pub(super) fn drilldown(name: &str) -> JsonMap {
    let item = drilldown_tool();
    tool(name, &item.description, Value::Object(item.args_schema), reads_here())
}
