//! Returns the decisions around one.

use serde_json::{Map, Value, json};

use crate::graph::{EdgeDirection, EdgeType, node};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Most edges from the centre to a node.
const MAX_DEPTH: u64 = 5;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, _call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let center = fields.string("node_id")?;
    let center = center.as_str();
    let depth = fields.opt_uint("depth", MAX_DEPTH)?.unwrap_or(1);
    let kinds = fields.strings("edge_types")?;
    let kinds: Vec<EdgeType> = kinds.iter().map(|name| EdgeType::parse(name)).collect::<Result<_>>()?;
    let direction = fields.parsed_or("direction", EdgeDirection::Both, EdgeDirection::parse)?;
    if store.records.get(center).is_none() && !store.graph.knows(center) {
        let error = format!("Node not found: {center}");
        return Ok(json!({ "centerId": center, "depth": depth, "nodes": [], "edges": [], "error": error }));
    }
    let reached = store.graph.reach(center, depth, &kinds, direction);
    let nodes = reached.nodes.iter().map(|id| Value::Object(node(&store.graph, id, store.records.get(id))));
    let mut out = json!({
        "centerId": center,
        "depth": depth,
        "nodes": nodes.collect::<Vec<Value>>(),
        "edges": reached.edges.iter().map(|edge| edge.to_value()).collect::<Vec<Value>>(),
    });
    if let (true, Some(out)) = (reached.is_cut, out.as_object_mut()) {
        out.insert("truncated".to_owned(), Value::Bool(true));
    }
    Ok(out)
}
