//! The tools over the graph: `get_graph`, `get_neighbors` and `link_decisions`.

use serde_json::{Map, Value, json};

use crate::graph::{DecisionEdge, EdgeDirection, EdgeType, node};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;

/// Most edges from the centre to a node.
const MAX_DEPTH: u64 = 5;

/// Returns the decisions around one, ring by ring.
pub fn get_graph(
    store: &mut DecisionStore,
    _call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
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

/// Neighbours unless a call says otherwise.
const NEIGHBOURS: u64 = 20;
/// Most neighbours that a call may ask for.
const MAX_NEIGHBOURS: u64 = 100;

/// Returns the decisions linked with one, the heaviest edge first.
pub fn get_neighbors(
    store: &mut DecisionStore,
    _call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let id = fields.string("node_id")?;
    let id = id.as_str();
    let kind = fields.opt_string("edge_type")?.map(|name| EdgeType::parse(&name)).transpose()?;
    let direction = fields.parsed_or("direction", EdgeDirection::Both, EdgeDirection::parse)?;
    let limit = fields.opt_uint("limit", MAX_NEIGHBOURS)?.unwrap_or(NEIGHBOURS) as usize;
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

/// Adds an edge between two decisions.
pub fn link_decisions(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let edge = DecisionEdge {
        source: fields.string("source_id")?,
        target: fields.string("target_id")?,
        kind: fields.parsed("edge_type", EdgeType::parse)?,
        weight: fields.number_or("weight", 1.0, 0.0, 1.0)?,
        created_at: timestamps::iso(call.now),
        created_by: call.agent.to_owned(),
        context: fields.opt_string("context")?.filter(|context| !context.is_empty()),
    };
    if edge.source == edge.target {
        return Ok(json!({ "success": false, "error": "a decision cannot be linked with itself" }));
    }
    for (field, id) in [("source_id", &edge.source), ("target_id", &edge.target)] {
        if !store.options.search.allow_stubs && store.records.get(id).is_none() {
            let message = format!("no decision has the id {}", quote(id));
            return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("/{field}")));
        }
    }
    let warnings = cycle_warnings(store, &edge);
    let shown = edge.to_value();
    store.changes.note_link(&edge.source, &edge.target);
    store.graph.link(edge)?;
    let mut out = json!({ "success": true, "edge": shown });
    if let (false, Some(out)) = (warnings.is_empty(), out.as_object_mut()) {
        out.insert("warnings".to_owned(), json!(warnings));
    }
    Ok(out)
}

/// Warns of an edge that closes a circle: nothing can supersede itself, or depend on itself, by way of others.
fn cycle_warnings(store: &DecisionStore, edge: &DecisionEdge) -> Vec<Warning> {
    let closes = edge.kind != EdgeType::RelatesTo && store.graph.leads_to(&edge.target, &edge.source, edge.kind);
    let message = || format!("{} closes a circle of {}", quote(&edge.source), edge.kind.as_str());
    closes.then(|| Warning::new("cycle", message(), "/target_id")).into_iter().collect()
}
