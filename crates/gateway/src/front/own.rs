//! The tools of the gateway itself.

use serde_json::{Value, json};

use contextweaver_content::{drilldown_tool, recall_tool};
use contextweaver_model::json::JsonMap;

use super::reduced::reduced;
use crate::options::OwnNames;

/// Tokens of the schema of `drilldown` where every token of the list counts.
const DRILLDOWN_TOKENS: u64 = 250;

/// Makes a tool of its parts.
pub(crate) fn tool(name: &str, description: &str, schema: Value, hints: Value) -> JsonMap {
    let parts =
        [("name", name.into()), ("description", description.into()), ("inputSchema", schema), ("annotations", hints)];
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The hints of a tool that changes nothing and stays within the gateway.
pub(crate) fn reads_here() -> Value {
    json!({ "readOnlyHint": true, "openWorldHint": false })
}

/// The hints of a tool that may do whatever the tools of servers do.
pub(crate) fn does_anything() -> Value {
    json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true })
}

/// The tool that reads on in results, as models know it from prompts.
pub(super) fn drilldown(name: &str) -> JsonMap {
    let item = drilldown_tool();
    tool(name, &item.description, Value::Object(item.args_schema), reads_here())
}

/// The tool that finds again what earlier calls brought.
pub(super) fn recall(names: &OwnNames) -> JsonMap {
    let text = format!(
        "Find again what earlier calls here brought: searches all of it and cites where it stands. Ask with words that stood near \
         it; `{}` reads on.",
        names.drilldown
    );
    tool(&names.recall, &text, Value::Object(recall_tool().args_schema), reads_here())
}

/// The tools of search mode.
pub(super) fn search_tools(names: &OwnNames, tools: usize, servers: usize) -> [JsonMap; 4] {
    let text = format!(
        "Find tools: {tools} tools of {servers} servers are here and only some are listed. Say what one step is to do, in a few \
         words, and ask again for the next: the tools of a whole task do not fit into one answer. The best fits come with their arguments; the exact name of a tool gives its whole schema, and an empty query the servers."
    );
    let query = json!({ "type": "object", "properties": {
        "query": { "type": "string", "description": "What one step is to do, as `find an address on the map`, or the exact name of a tool." },
        "server": { "type": "string", "description": "Only tools of this server." },
        "top_k": { "type": "integer", "minimum": 1, "maximum": 20, "description": "How many; 5 by default." },
    }, "required": ["query"], "additionalProperties": false });
    let call = json!({ "type": "object", "properties": {
        "name": { "type": "string" },
        "arguments": { "type": "object", "description": "As the tool's schema says." },
    }, "required": ["name"], "additionalProperties": false });
    let about = format!("Call a tool by the name that `{}` gave.", names.search_tools);
    let item = drilldown_tool();
    let short = reduced(&item.args_schema, DRILLDOWN_TOKENS).schema;
    let reads =
        "Read a part of a large result by its handle: `selector.type` says which part, `outline` what there is.";
    let finds = "Find again what earlier calls brought.";
    let again = json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    [
        tool(&names.search_tools, &text, query, reads_here()),
        tool(&names.call_tool, &about, call, does_anything()),
        tool(&names.drilldown, reads, short, reads_here()),
        tool(&names.recall, finds, again, reads_here()),
    ]
}
