//! Operations on results of tools: looking into them, reducing them, using them for the next call.

use serde_json::Value;

use super::{answered, done};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_context::{
    AbridgeRequest, CompactRequest, ContextManager, DrilldownRequest, RecallRequest, SuppliedSummary,
};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::Fields;

/// Runs an operation, or gives the arguments of one it does not know back.
pub fn call(
    manager: &mut ContextManager,
    operation: &str,
    arguments: Value,
) -> std::result::Result<Result<String>, Value> {
    Ok(match operation {
        "drilldown" => {
            DrilldownRequest::from_value(arguments).and_then(|request| manager.drilldown(&request)).and_then(answered)
        }
        "recall" => {
            RecallRequest::from_value(arguments).and_then(|request| manager.recall(&request)).and_then(answered)
        }
        "abridged" => AbridgeRequest::from_value(arguments)
            .and_then(|request| manager.abridged(&request))
            .and_then(|shown| done(&shown)),
        "mask_secrets" => masked(manager, arguments),
        "artifact_views" => views(manager, arguments),
        "hydrate" => hydrate(manager, arguments),
        "compact" => compact(manager, arguments),
        "summary_requests" => summary_requests(manager, arguments),
        "supply_summary" => supply_summary(manager, arguments),
        _ => return Err(arguments),
    })
}

/// Masks a text as the manager does for models: `{text}` answers the text.
fn masked(manager: &ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let text = fields.string("text")?;
    fields.finish()?;
    done(&manager.options().mask_secrets(&text))
}

fn views(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let handle = fields.string("handle")?;
    fields.finish()?;
    answered(manager.views(&handle)?)
}

fn hydrate(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let tool: SelectableItem = fields.get("tool")?;
    let given = fields.has("arguments").then(|| fields.object("arguments")).transpose()?;
    fields.finish()?;
    answered(manager.hydrate(&tool, given)?)
}

fn compact(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    answered(manager.compact(&CompactRequest::from_value(arguments)?)?)
}

fn summary_requests(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let limit = fields.uint_or("limit", limits::SUMMARY_REQUESTS, limits::MAX_ITEMS as u64)? as usize;
    fields.finish()?;
    answered(manager.summary_requests(limit))
}

fn supply_summary(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let ingested = manager.supply_summary(SuppliedSummary::from_value(arguments)?)?;
    done(&ingested)
}
