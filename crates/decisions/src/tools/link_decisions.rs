//! Links two decisions.

use serde_json::{Map, Value, json};

use crate::graph::{DecisionEdge, EdgeType};
use crate::host::CallerContext;
use crate::store::DecisionStore;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::Fields;
use contextweaver_text::unicode::quote;

/// Runs the tool.
pub fn run(store: &mut DecisionStore, call: &CallerContext<'_>, arguments: &Map<String, Value>) -> Result<Value> {
    let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
    let edge = DecisionEdge {
        source: fields.string("source_id")?,
        target: fields.string("target_id")?,
        kind: EdgeType::parse(&fields.string("edge_type")?).map_err(|error| error.at("/edge_type"))?,
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
    let warnings = warnings(store, &edge);
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
fn warnings(store: &DecisionStore, edge: &DecisionEdge) -> Vec<Warning> {
    let closes = edge.kind != EdgeType::RelatesTo && store.graph.leads_to(&edge.target, &edge.source, edge.kind);
    let message = || format!("{} closes a circle of {}", quote(&edge.source), edge.kind.as_str());
    closes.then(|| Warning::new("cycle", message(), "/target_id")).into_iter().collect()
}
