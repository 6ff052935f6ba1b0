//! Returns the neighbours of a decision.

use serde_json::{Map, Value, json};

use crate::graph::{EdgeDirection, EdgeType, node};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Neighbours unless a call says otherwise.
const LIMIT: u64 = 20;
/// Most neighbours of a call.
const MAX_LIMIT: u64 = 100;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, _call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let id = fields.string("node_id")?;
    let id = id.as_str();
    let kind = fields.opt_string("edge_type")?.map(|name| EdgeType::parse(&name)).transpose()?;
    let direction = fields.parsed_or("direction", EdgeDirection::Both, EdgeDirection::parse)?;
    let limit = fields.opt_uint("limit", MAX_LIMIT)?.unwrap_or(LIMIT) as usize;
    if store.records.get(id).is_none() && !store.graph.knows(id) {
        let error = format!("Node not found: {id}");
        return Ok(json!({ "nodeId": id, "neighbors": [], "total": 0, "error": error }));
    }
    let found = store.graph.neighbours(id, kind, direction, limit);
    let shown = found.iter().map(|neighbour| {
        let node = node(&store.graph, neighbour.id, store.records.get(neighbour.id));
        json!({ "node": node, "edge": neighbour.edge.to_value() })
    });
    let neighbors: Vec<Value> = shown.collect();
    Ok(json!({ "nodeId": id, "total": neighbors.len(), "neighbors": neighbors }))
}
