//! Operations by name with JSON text in and out: the same thing the WebAssembly exports offer, testable natively.
//!
//! An answer is `{"done": result, "events"?: [...]}` or, when functions of the caller must be asked first,
//! `{"need": [...]}`; then `supply` takes the answers and the operation is called again.

#[cfg(all(feature = "context-exports", feature = "convert-exports"))]
mod agent;
#[cfg(not(all(feature = "context-exports", feature = "convert-exports")))]
#[path = "without_converters.rs"]
mod agent;
pub mod convert;
pub mod decisions;
pub mod gateway;
pub mod journal;
mod known;
pub mod records;
mod results;
pub mod routing;
mod stores;

#[cfg(all(feature = "context-exports", feature = "convert-exports"))]
pub use agent::read_mcp_result;
pub use agent::{ingest_mcp_result, ingest_messages, sync_messages, turns_before};
pub use stores::{artifact_bytes, put_artifact};

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::call_prompt::SchemaOverrides;
use contextweaver_context::call_prompt::goal_header;
use contextweaver_context::callbacks::{Need, Outcome};
use contextweaver_context::handoff::HandoffPack;
use contextweaver_context::memory::{ConsolidationPolicy, MemoryQuery};
use contextweaver_context::report::{BuildReport, Inspection, InspectionParts};
use contextweaver_context::{
    BuildRequest, ContextManager, Ingested, ManagerOptions, NewRule, ObservedUsage, PROVIDERS, ProviderPrices,
    RuleCorrection, ToolResult,
};
use contextweaver_model::json::{self, Fields, Record};
use contextweaver_model::{
    BuildStats, ContextItem, ContextPack, Explanation, ItemKind, MemoryEntry, Phase, ResultEnvelope, SelectableItem,
    Sensitivity,
};
use contextweaver_routing::router::{RouteHistory, RouteTurn};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_id, redact_names, redact_secrets};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::{tokenize, unicode};

/// Returns an error as the record that crosses, without the credentials that somebody took for an id or a key.
pub fn error_record(error: &Error) -> Value {
    let mut record = error.to_json();
    for (part, value) in record.as_object_mut().into_iter().flatten() {
        *value = match value.take() {
            // Its tokens are keys, nothing is assigned in it.
            Value::String(path) if part == "path" => redact_id(&path).into(),
            value => redact_names(&value, SECRET_MASK),
        };
    }
    record
}

fn done(result: &impl Serialize) -> Result<String> {
    done_with(result, &[] as &[Value])
}

/// Put together as text: a record around every kind of result would be compiled for every kind of result.
fn done_with(result: &impl Serialize, events: &[impl Serialize]) -> Result<String> {
    let mut answer = write(result)?;
    answer.insert_str(0, "{\"done\":");
    if !events.is_empty() {
        answer.push_str(",\"events\":");
        answer.push_str(&write(&events)?);
    }
    answer.push('}');
    Ok(answer)
}

fn need(needs: &[Need]) -> Result<String> {
    write(&One("need", needs))
}

/// An object with one field.
struct One<'a, T: ?Sized>(&'static str, &'a T);

impl<T: Serialize + ?Sized> Serialize for One<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

fn write(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| no_json(&error))
}

/// As [`write`], in bytes: what is kept for a restart need not become a string on its way.
fn bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| no_json(&error))
}

fn no_json(error: &serde_json::Error) -> Error {
    Error::new(ErrorCode::Internal, format!("no JSON for it: {error}"))
}

/// Makes a manager from the JSON of its options.
pub fn new_manager(options: &str) -> Result<ContextManager> {
    Ok(ContextManager::new(ManagerOptions::from_value(json::parse(options)?)?))
}

/// Makes a manager from the JSON of a snapshot and of its options.
pub fn restore_manager(snapshot: &str, options: &str) -> Result<ContextManager> {
    new_manager(options)?.restored(json::parse_snapshot(snapshot)?)
}

/// Returns a manager as the JSON that [`restore_manager`] reads.
pub fn manager_snapshot(manager: &ContextManager) -> Result<Vec<u8>> {
    bytes(&manager.snapshot())
}

/// Says how much of a manager may go again: the bytes of its artifacts, and the number of artifacts, facts and episodes.
fn alive(manager: &ContextManager, arguments: Value) -> Result<String> {
    Fields::open(arguments, "")?.finish()?;
    let artifacts = manager.artifacts();
    let count = artifacts.len() + manager.facts().len() + manager.episodes().all().len();
    done(&json!({ "bytes": artifacts.total_bytes(), "count": count }))
}

/// Takes the raw result of a tool.
pub fn ingest_tool_result(manager: &mut ContextManager, arguments: &str, raw: &[u8]) -> Result<String> {
    let result = ToolResult::from_value(json::parse(arguments)?)?;
    ingested(manager.ingest_tool_result(&result, raw)?)
}

fn ingested(outcome: Outcome<Ingested>) -> Result<String> {
    match outcome {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(ingested) => done_with(&ingested, &ingested.events()),
    }
}

/// Runs an operation of a manager.
pub fn call(manager: &mut ContextManager, operation: &str, arguments: &str) -> Result<String> {
    let arguments = json::parse(arguments)?;
    match operation {
        "ingest" => ingest(manager, arguments),
        "ingest_envelope" => ingest_envelope(manager, arguments),
        "build" => build(manager, arguments),
        "build_call" => build_call(manager, arguments),
        "build_messages" => agent::build_messages(manager, arguments),
        "handoff" => handoff(manager, arguments),
        "consolidate" => consolidate(manager, arguments),
        "select_memory" => select_memory(manager, arguments),
        "route_plan" => route_plan(manager, arguments),
        "stats" => done(&manager.stats()),
        "rules" => {
            Fields::open(arguments, "")?.finish()?;
            answered(manager.rules())
        }
        "add_rule" => answered(manager.add_rule(&NewRule::from_value(arguments)?)?),
        "correct_rule" => {
            let (id, correction) = RuleCorrection::from_value(arguments)?;
            answered(manager.correct_rule(&id, &correction)?)
        }
        "forget_rule" => {
            let mut fields = Fields::open(arguments, "")?;
            let id = fields.string("id")?;
            fields.finish()?;
            answered(manager.forget_rule(&id)?)
        }
        "costs" => {
            Fields::open(arguments, "")?.finish()?;
            done(&manager.costs())
        }
        "running_record" => {
            let mut fields = Fields::open(arguments, "")?;
            let phase = fields.parsed("phase", Phase::parse)?;
            let step = fields.uint_or("step", 0, u64::MAX)?;
            fields.finish()?;
            done(&manager.running_record(phase, step)?)
        }
        "inspect" => inspect(manager, arguments),
        "supply" => {
            let mut fields = Fields::open(arguments, "")?;
            manager.supply(fields.list("answers")?)?;
            done(&json!({}))
        }
        "observe_usage" => done(&manager.observe_usage(&ObservedUsage::from_value(arguments)?)?),
        "snapshot" => done(&manager.snapshot()),
        "keep_journal" => {
            Fields::open(arguments, "")?.finish()?;
            manager.keep_journal();
            done(&json!({}))
        }
        "forget" => {
            let mut fields = Fields::open(arguments, "")?;
            let id = fields.string("item_id")?;
            fields.finish()?;
            done(&manager.forget(&id)?)
        }
        "alive" => alive(manager, arguments),
        other => match results::call(manager, other, arguments) {
            Ok(answer) => answer,
            Err(arguments) => stores::call(manager, other, arguments),
        },
    }
}

fn answered<T: Serialize>(outcome: Outcome<T>) -> Result<String> {
    match outcome {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(result) => done(&result),
    }
}

fn unknown(operation: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("unknown operation {}", quote(operation)))
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

fn built(outcome: Outcome<contextweaver_context::BuildOutput>) -> Result<String> {
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

fn inspect(manager: &ContextManager, arguments: Value) -> Result<String> {
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

fn select_memory(manager: &mut ContextManager, arguments: Value) -> Result<String> {
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
        phase: fields.parsed_or("phase", Phase::Answer, Phase::parse)?,
        now: fields.number_or("now", 0.0, f64::MIN, f64::MAX)?,
        max_entries: fields.opt_uint("max_entries", limits::MAX_ITEMS as u64)?.map(|count| count as usize),
    };
    let budget = fields.uint_or("budget_tokens", 0, limits::MAX_BUDGET_TOKENS)?;
    let ingest = fields.bool_or("ingest", false)?;
    fields.finish()?;
    let items = contextweaver_context::memory::select_memory(&entries, &query, budget, &manager.options().estimator)?;
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

/// Runs a function on text.
pub fn text_call(operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let result = match operation {
        "count_tokens" => {
            let estimator = fields.parsed_or("estimator", Estimator::V3, Estimator::named)?;
            json!({ "tokens": estimator.tokens(&fields.string("text")?) })
        }
        "redact_secrets" => {
            let mask = fields.string_or("mask", SECRET_MASK)?;
            json!({ "text": redact_secrets(&fields.string("text")?, &mask) })
        }
        "sanitize_text" => json!({ "text": unicode::sanitize(&fields.string("text")?) }),
        "drilldown_tool" => json!(contextweaver_content::drilldown_tool()),
        "recall_tool" => json!(contextweaver_content::recall_tool()),
        "tokenize" => json!({ "tokens": tokenize::tokenize(&fields.string("text")?) }),
        "price_models" => PROVIDERS
            .iter()
            .map(|ProviderPrices { name, prices, source, as_of }| {
                json!({ "name": name, "prices": prices, "source": source, "as_of": as_of })
            })
            .collect(),
        "report" => {
            let stats: BuildStats = fields.get("stats")?;
            let phase = fields.opt_string("phase")?;
            let budget = fields.opt_uint("budget", limits::MAX_BUDGET_TOKENS)?.map(u64::cast_signed);
            let report = BuildReport::of(&stats, phase.as_deref(), budget);
            json!({ "text": report.text, "markup": report.markup, "data": report.data })
        }
        other => return Err(unknown(other)),
    };
    fields.finish()?;
    done(&result)
}
