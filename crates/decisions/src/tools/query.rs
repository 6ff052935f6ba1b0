//! Finds decisions like a text.

use serde_json::{Map, Value, json};

use crate::host::CallerContext;
use crate::search::{BridgeSide, DecisionFilters, DecisionQuery, RetrievalMode, SHORT_TITLE, summary};
use crate::store::DecisionStore;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// Hits unless a call says otherwise.
const LIMIT: usize = 5;
/// Most hits that a call may ask for.
const MAX_LIMIT: u64 = 50;

struct QueryArguments {
    query: String,
    limit: usize,
    mode: RetrievalMode,
    side: BridgeSide,
    filters: DecisionFilters,
}

impl QueryArguments {
    fn read(store: &DecisionStore, arguments: &Map<String, Value>, agent: &str) -> Result<Self> {
        let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
        let mut filters =
            fields.nested("filters")?.map_or_else(|| Ok(DecisionFilters::default()), DecisionFilters::from_fields)?;
        if fields.opt_string("scope")?.as_deref() == Some("agent") {
            filters.agent = Some(agent.to_owned());
        }
        Ok(Self {
            query: fields.string("query")?,
            limit: fields.opt_uint("limit", MAX_LIMIT)?.map_or(LIMIT, |limit| limit as usize),
            mode: fields.parsed_or("retrieval_mode", store.options.search.retrieval_mode, RetrievalMode::parse)?,
            side: fields.parsed_or("bridge_side", BridgeSide::Both, BridgeSide::parse)?,
            filters,
        })
    }

    fn query(&self) -> DecisionQuery<'_> {
        DecisionQuery { text: &self.query, limit: self.limit, mode: self.mode, side: self.side, filters: &self.filters }
    }
}

/// Returns the texts whose vectors the host must make before the tool runs.
pub fn query_texts(
    store: &DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>> {
    let arguments = QueryArguments::read(store, arguments, call.agent)?;
    Ok(store.texts_to_embed(call.answers, &arguments.query()))
}

/// Finds decisions like a text.
pub fn query_decisions(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let arguments = QueryArguments::read(store, arguments, call.agent)?;
    let found = store.query(call.answers, &arguments.query())?;
    let related = found.related(&store.records);
    store.tracker.track_query(call, &arguments.query, found.hits.len(), found.mode.as_str(), related);
    let (mut decisions, mut scores) = (Vec::new(), Map::new());
    for hit in &found.hits {
        let Some(decision) = store.records.get(&hit.id) else { continue };
        decisions.push(Value::Object(summary(decision, hit, SHORT_TITLE)));
        let parts = json!({ "semantic": hit.semantic, "keyword": hit.keyword, "combined": hit.combined });
        scores.insert(hit.id.clone(), parts);
    }
    let mut out = json!({
        "decisions": decisions,
        "total": decisions.len(),
        "query": arguments.query,
        "queryTimeMs": 0,
        "agent": call.agent,
        "retrievalMode": found.mode.as_str(),
    });
    if let Some(out) = out.as_object_mut() {
        if !scores.is_empty() {
            out.insert("scores".to_owned(), Value::Object(scores));
        }
        if !found.warnings.is_empty() {
            out.insert("warnings".to_owned(), json!(found.warnings));
        }
    }
    Ok(out)
}
