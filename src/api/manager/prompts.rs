//! Operations on what a manager holds as a whole: items that come in, prompts, standing instructions, memory.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::operation::Effect::{Appends, Changes, Compiles, Erases, Reads};
use super::super::operation::Operation;
use super::super::{One, done, done_with, need};
use super::{answered, nothing, one};
use contextweaver_base::{Result, limits};
use contextweaver_context::call_prompt::{SchemaOverrides, goal_header};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::handoff::HandoffPack;
use contextweaver_context::memory::{ConsolidationPolicy, MemoryQuery, select_memory};
use contextweaver_context::report::{Inspection, InspectionParts};
use contextweaver_context::{BuildOutput, BuildRequest, ContextManager, NewRule, ObservedUsage, RuleCorrection};
use contextweaver_model::json::{Fields, Record};
use contextweaver_model::{
    ContextItem, ContextPack, Explanation, ItemKind, MemoryEntry, Phase, ResultEnvelope, SelectableItem, Sensitivity,
};
use contextweaver_routing::router::{RouteHistory, RouteTurn};

pub(super) const OPERATIONS: &[Operation<ContextManager>] = &[
    Operation::new("ingest", Appends, ingest),
    Operation::new("ingest_envelope", Appends, ingest_envelope),
    Operation::new("build", Compiles, build),
    Operation::new("build_call", Compiles, build_call),
    Operation::new("running_record", Reads, running_record),
    Operation::new("costs", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&manager.costs())
    }),
    Operation::new("thrift", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&manager.options().thrift)
    }),
    Operation::new("inspect", Reads, inspect),
    Operation::new("handoff", Reads, handoff),
    Operation::new("consolidate", Compiles, consolidate),
    Operation::new("select_memory", Appends, choose_memory),
    Operation::new("route_plan", Reads, route_plan),
    Operation::new("stats", Reads, |manager, _| done(&manager.stats())),
    Operation::new("rules", Reads, |manager, arguments| {
        nothing(arguments)?;
        answered(manager.rules())
    }),
    Operation::new("add_rule", Changes, |manager, arguments| {
        answered(manager.add_rule(&NewRule::from_value(arguments)?)?)
    }),
    Operation::new("correct_rule", Changes, |manager, arguments| {
        let (id, correction) = RuleCorrection::from_value(arguments)?;
        answered(manager.correct_rule(&id, &correction)?)
    }),
    Operation::new("forget_rule", Changes, |manager, arguments| answered(manager.forget_rule(&one(arguments, "id")?)?)),
    Operation::new("observe_usage", Changes, |manager, arguments| {
        done(&manager.observe_usage(&ObservedUsage::from_value(arguments)?)?)
    }),
    Operation::new("forget", Erases, |manager, arguments| done(&manager.forget(&one(arguments, "item_id")?)?)),
    Operation::new("supply", Reads, |manager, arguments| {
        let mut fields = Fields::open(arguments, "")?;
        manager.supply(fields.list("answers")?)?;
        done(&json!({}))
    }),
    Operation::new("snapshot", Reads, |manager, _| done(&manager.snapshot())),
    Operation::new("alive", Reads, alive),
];

fn running_record(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let phase = fields.parsed("phase", Phase::parse)?;
    let step = fields.uint_or("step", 0, u64::MAX)?;
    fields.finish()?;
    done(&manager.running_record(phase, step)?)
}

fn ingest(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let items = fields.records("items", |value, at| {
        let is_list = value.is_array();
        let read = ContextItem::from_value(value, at);
        read.map_err(|error| if is_list { error.hint("a list of items goes to ingestAll") } else { error })
    })?;
    fields.finish()?;
    let ids: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
    let appended = manager.ingest_items(items).map_err(|error| {
        let path = format!("/items{}", error.path());
        error.under(path)
    })?;
    match appended {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(appended) => done_with(&One("ids", &ids), &appended.events),
    }
}

fn ingest_envelope(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let call = fields.string("tool_call_id")?;
    let tool = fields.string_or("tool_name", "")?;
    let sensitivity = fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse)?;
    let envelope = fields.require("envelope")?;
    fields.finish()?;
    let envelope = ResultEnvelope::from_value(envelope, "/envelope")?;
    match manager.ingest_envelope(&call, &tool, envelope, sensitivity)? {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(item) => done(&One("item", &item)),
    }
}

fn built(outcome: Outcome<BuildOutput>) -> Result<String> {
    match outcome {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(output) => done_with(&output.pack, &output.events),
    }
}

/// Compiles a prompt; `goal` becomes the header where there is none.
fn build(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let goal = fields.opt_string("goal")?;
    let mut request = BuildRequest::from_fields(&mut fields)?;
    fields.finish()?;
    if let Some(goal) = goal.filter(|_| request.header.is_empty()) {
        request.header = goal_header(&goal);
    }
    built(manager.build(&request)?)
}

fn build_call(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let tool: SelectableItem = fields.get("tool")?;
    let given = |fields: &Fields, key: &str| fields.has(key);
    let overrides = SchemaOverrides {
        schema: given(&fields, "schema").then(|| fields.object("schema")).transpose()?,
        examples: given(&fields, "examples").then(|| fields.strings("examples")).transpose()?,
        constraints: given(&fields, "constraints").then(|| fields.object("constraints")).transpose()?,
    };
    let request = BuildRequest::from_fields_for(Phase::Call, &mut fields)?;
    fields.finish()?;
    built(manager.build_call(&tool, &overrides, &request)?)
}

/// Returns what choosing a tool needs to know of the conversation: the budget of the phase, what was called, and what was said
/// before the query.
fn route_plan(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let query = fields.string("query")?;
    fields.finish()?;
    let budget = manager.options().budget.of(Phase::Route);
    answered(manager.judged(|items, is_withheld| {
        let mut history = RouteHistory::from_log(items);
        let last = items.iter().rfind(|item| item.kind == ItemKind::ToolResult);
        if let Some(history) = history.as_mut().filter(|_| last.is_some_and(is_withheld)) {
            history.last_result_summary = None;
        }
        let conversation = RouteTurn::from_log(items, &query, is_withheld);
        json!({ "budget_tokens": budget, "history": history, "conversation": conversation })
    }))
}

fn handoff(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    #[derive(Serialize)]
    struct Handoff {
        pack: HandoffPack,
        markdown: String,
    }
    let mut fields = Fields::open(arguments, "")?;
    let budget = fields.uint_or("budget_tokens", limits::HANDOFF_TOKENS, limits::MAX_BUDGET_TOKENS)?;
    fields.finish()?;
    match manager.handoff(budget)? {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(pack) => {
            let markdown = pack.to_markdown();
            done(&Handoff { pack, markdown })
        }
    }
}

fn inspect(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let pack: ContextPack = fields.get("pack")?;
    let explanation: Option<Explanation> = fields.get("explanation")?;
    let budget = fields.opt_uint("budget", limits::MAX_BUDGET_TOKENS)?.map(u64::cast_signed);
    fields.finish()?;
    let mut artifacts: Vec<_> = manager.artifacts().list().cloned().collect();
    for artifact in &mut artifacts {
        manager.outward_artifact(artifact);
    }
    let parts = InspectionParts { explanation: explanation.as_ref(), budget, artifacts, routing: None };
    let inspection = Inspection::of(&pack, parts);
    done(&json!({ "report": inspection.data, "markdown": inspection.markdown }))
}

fn consolidate(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let policy = match fields.take("policy") {
        Some(value) => ConsolidationPolicy::closed(value, "/policy")?,
        None => ConsolidationPolicy::default(),
    };
    let as_of = fields.opt_string("as_of")?;
    let apply = fields.bool_or("apply", false)?;
    fields.finish()?;
    done(&manager.consolidate(&policy, as_of.as_deref(), apply)?)
}

fn choose_memory(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    #[derive(Serialize)]
    struct Selected<'a> {
        selected: Vec<&'a str>,
        items: Vec<ContextItem>,
    }
    let mut fields = Fields::open(arguments, "")?;
    let entries: Vec<MemoryEntry> = fields.get("entries")?;
    let text = fields.string_or("query", "")?;
    let query = MemoryQuery {
        text: &text,
        phase: fields.parsed_or("phase", Phase::default(), Phase::parse)?,
        now: fields.number_or("now", 0.0, f64::MIN, f64::MAX)?,
        max_entries: fields.opt_uint("max_entries", limits::MAX_ITEMS as u64)?.map(|count| count as usize),
    };
    let budget = fields.uint_or("budget_tokens", 0, limits::MAX_BUDGET_TOKENS)?;
    let ingest = fields.bool_or("ingest", false)?;
    fields.finish()?;
    let items = select_memory(&entries, &query, budget, &manager.options().estimator)?;
    if ingest {
        manager.ingest_all(items.clone())?;
    }
    let ids: Vec<&str> = items.iter().filter_map(|item| item.id.strip_prefix("memory:")).collect();
    let mut shown = items.clone();
    for item in &mut shown {
        manager.outward_item(item);
    }
    done(&Selected { selected: ids, items: shown })
}

/// Says how much of a manager may go again: the bytes of its artifacts, and the number of artifacts, facts and episodes.
fn alive(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    nothing(arguments)?;
    let artifacts = manager.artifacts();
    let count = artifacts.len() + manager.facts().len() + manager.episodes().all().len();
    done(&json!({ "bytes": artifacts.total_bytes(), "count": count }))
}
