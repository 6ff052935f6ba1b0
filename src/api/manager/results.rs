//! Operations on results of tools: taking them in, looking into them, reducing them, using them for the next call.

use serde_json::Value;

use super::super::operation::Effect::{Appends, Changes, Reads, Replaces, Takes};
use super::super::operation::{Beside, Operation};
use super::super::{done, done_with, need};
use super::{answered, one};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{
    AbridgeRequest, CompactRequest, ContextManager, DrilldownRequest, Ingested, RecallRequest, SuppliedSummary,
    ToolResult,
};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::Fields;

pub(super) const OPERATIONS: &[Operation<ContextManager>] = &[
    Operation::beside("ingest_tool_result", Takes, ingest_tool_result),
    Operation::new("drilldown", Appends, |manager, arguments| {
        answered(manager.drilldown(&DrilldownRequest::from_value(arguments)?)?)
    }),
    Operation::new("recall", Reads, |manager, arguments| {
        answered(manager.recall(&RecallRequest::from_value(arguments)?)?)
    }),
    Operation::new("abridged", Reads, |manager, arguments| {
        done(&manager.abridged(&AbridgeRequest::from_value(arguments)?)?)
    }),
    // As the manager does for models; the answer is the text.
    Operation::new("mask_secrets", Reads, |manager, arguments| {
        done(&manager.options().mask_secrets(&one(arguments, "text")?))
    }),
    Operation::new("artifact_views", Reads, |manager, arguments| answered(manager.views(&one(arguments, "handle")?)?)),
    Operation::new("hydrate", Reads, hydrate),
    Operation::new("compact", Replaces, |manager, arguments| {
        answered(manager.compact(&CompactRequest::from_value(arguments)?)?)
    }),
    Operation::new("summary_requests", Reads, summary_requests),
    Operation::new("supply_summary", Changes, |manager, arguments| {
        done(&manager.supply_summary(SuppliedSummary::from_value(arguments)?)?)
    }),
];

/// Takes the raw result of a tool, whose bytes stand beside the argument.
fn ingest_tool_result(manager: &mut ContextManager, arguments: Value, beside: Beside) -> Result<String> {
    let result = ToolResult::from_value(arguments)?;
    ingested(manager.ingest_tool_result(&result, &beside.into_first())?)
}

pub(super) fn ingested(outcome: Outcome<Ingested>) -> Result<String> {
    match outcome {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(ingested) => done_with(&ingested, &ingested.events()),
    }
}

fn hydrate(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let tool: SelectableItem = fields.get("tool")?;
    let given = fields.has("arguments").then(|| fields.object("arguments")).transpose()?;
    fields.finish()?;
    answered(manager.hydrate(&tool, given)?)
}

fn summary_requests(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let limit = fields.uint_or("limit", limits::SUMMARY_REQUESTS, limits::MAX_ITEMS as u64)? as usize;
    fields.finish()?;
    answered(manager.summary_requests(limit))
}
