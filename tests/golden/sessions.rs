//! Cases that run a whole manager: items, facts, episodes, steps, then builds.

use contextweaver::api::empty_manager;
use contextweaver::api::read_mcp_result;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::report::{Inspection, InspectionParts, artifacts_of};
use contextweaver_context::{BuildRequest, ContextManager, DrilldownRequest, Event, ToolResult, compat};
use contextweaver_model::{ContextPack, Episode, Fact};
use serde_json::{Value, json};

use crate::context::{items, reference_class, text};

fn empty(config: &Value) -> Result<ContextManager> {
    let mut given = config.as_object().cloned().unwrap_or_default();
    given.insert("compat".into(), json!("0.18"));
    empty_manager(Value::Object(given))
}

fn manager(input: &Value) -> Result<ContextManager> {
    let mut manager = empty(&input["config"])?;
    manager.ingest_all(items(&input["items"])?)?;
    for fact in input["facts"].as_array().into_iter().flatten() {
        let (id, fact) = Fact::with_optional_id(fact.clone(), "")?;
        manager.add_fact(id, fact)?;
    }
    for episode in input["episodes"].as_array().into_iter().flatten() {
        manager.add_episode(Episode::from_value(episode.clone(), "")?)?;
    }
    Ok(manager)
}

/// One build as recorded: the pack or its error, with the stages and the hooks.
struct Recorded {
    pack: Result<ContextPack>,
    events: Vec<Event>,
    trace: compat::Trace,
}

fn run_build(manager: &mut ContextManager, spec: &Value, explain: bool) -> Recorded {
    let mut spec = spec.clone();
    spec["explain"] = json!(explain);
    // As the reference does where none is said.
    if spec["phase"].is_null() {
        spec["phase"] = json!("answer");
    }
    let outcome = BuildRequest::from_value(spec).and_then(|request| compat::build_traced(manager, &request));
    match outcome {
        Ok((Outcome::Done((pack, events)), trace)) => Recorded { pack, events, trace },
        Ok((Outcome::Need(_), _)) => unreachable!("the vectors use no custom functions"),
        Err(error) => Recorded { pack: Err(error), events: Vec::new(), trace: compat::Trace::default() },
    }
}

pub fn build(input: &Value) -> Result<Value> {
    let mut manager = manager(input)?;
    let steps: Vec<Value> =
        input["steps"].as_array().into_iter().flatten().map(|step| run_step(&mut manager, step)).collect();
    let compact = input["compact_stages"] == json!(true);
    let with = |key: &str| input.get(key) != Some(&json!(false));
    let builds: Vec<Value> = input["builds"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|spec| {
            let recorded = run_build(&mut manager, spec, false);
            let mut out = describe(&recorded, compact);
            if !with("record_hooks") {
                out.remove("hooks");
            }
            if !with("record_envelopes") {
                out.remove("envelopes");
            }
            if !with("record_stages") {
                out.remove("stages");
            }
            Value::Object(out)
        })
        .collect();
    let mut out = json!({ "builds": builds });
    if input.get("steps").is_some() {
        out["steps"] = json!(steps);
    }
    Ok(out)
}

fn describe(recorded: &Recorded, compact: bool) -> serde_json::Map<String, Value> {
    let mut out = serde_json::Map::new();
    match &recorded.pack {
        Ok(pack) => {
            let mut envelopes = json!(pack.envelopes);
            for envelope in envelopes.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                envelope.remove("views");
            }
            out.insert("phase".into(), json!(pack.phase));
            out.insert("prompt".into(), json!(pack.prompt));
            out.insert("stats".into(), json!(pack.stats));
            out.insert("prompt_tokens".into(), json!(pack.stats.prompt_tokens()));
            out.insert("stages".into(), stages(&recorded.trace, compact));
            out.insert("envelopes".into(), envelopes);
        }
        Err(error) => {
            out.insert("error".into(), json!(reference_class(error)));
            for key in ["dropped_kinds", "stats"] {
                if let Some(value) = error.details().get(key) {
                    out.insert(key.into(), value.clone());
                }
            }
        }
    }
    out.insert("hooks".into(), json!(recorded.events.iter().map(hook).collect::<Vec<_>>()));
    out
}

fn stages(trace: &compat::Trace, compact: bool) -> Value {
    let mut out = json!({
        "scored": trace.scored,
        "dedup_kept": trace.dedup_kept,
        "selected": trace.selected,
    });
    if !compact {
        out["candidates"] = json!(trace.candidates);
        out["closure"] = json!(trace.closure);
        out["sensitivity"] = json!(trace.sensitivity);
    }
    out
}

fn hook(event: &Event) -> Value {
    match event {
        Event::FirewallTriggered { item_id, reason } => json!(["firewall_triggered", item_id, reason]),
        Event::ItemsExcluded { item_ids, reason } => json!(["items_excluded", item_ids, reason]),
        Event::BudgetExceeded { requested, limit } => json!(["budget_exceeded", requested, limit]),
        Event::ContextBuilt { phase } => json!(["context_built", phase]),
    }
}

fn run_step(manager: &mut ContextManager, step: &Value) -> Value {
    let result = match text(step, "call") {
        "ingest_tool_result" => ingest_tool_result(manager, step),
        "ingest_mcp_result" => ingest_mcp_result(manager, step),
        "drilldown" => drilldown(manager, step),
        other => panic!("no runner for step {other:?}"),
    };
    result.unwrap_or_else(|error| json!({ "error": reference_class(&error) }))
}

fn ingest_tool_result(manager: &mut ContextManager, step: &Value) -> Result<Value> {
    let result = ToolResult::from_value(json!({
        "tool_call_id": step["tool_call_id"],
        "tool_name": step["tool_name"],
        "media_type": step["media_type"],
    }))?;
    match manager.ingest_tool_result(&result, text(step, "raw_output").as_bytes())? {
        Outcome::Done(ingested) => Ok(json!(ingested.item)),
        Outcome::Need(_) => Err(Error::new(ErrorCode::Internal, "no custom functions here")),
    }
}

/// Takes a result apart with the converter, as the package does, and ingests what came out.
fn ingest_mcp_result(manager: &mut ContextManager, step: &Value) -> Result<Value> {
    let call = json!({ "tool_call_id": step["tool_call_id"], "tool_name": step["tool_name"] });
    let result = json!({ "result": step["mcp_result"] });
    let result = read_mcp_result(true, &call.to_string(), &result.to_string(), Vec::new())?;
    match manager.ingest_mcp_result(result)? {
        Outcome::Done(ingested) => Ok(json!(ingested.item)),
        Outcome::Need(_) => Err(Error::new(ErrorCode::Internal, "no custom functions here")),
    }
}

fn drilldown(manager: &mut ContextManager, step: &Value) -> Result<Value> {
    let request = DrilldownRequest::from_value(json!({
        "handle": step["handle"],
        "selector": step["selector"],
        "inject": step.get("inject").cloned().unwrap_or(json!(false)),
        "parent_id": step.get("parent_id").cloned(),
    }))?;
    match manager.drilldown(&request)? {
        Outcome::Done(slice) => Ok(json!(slice.text)),
        Outcome::Need(_) => Err(Error::new(ErrorCode::Internal, "no custom functions here")),
    }
}

pub fn explain(input: &Value) -> Result<Value> {
    let mut manager = manager(input)?;
    let explanations = input["builds"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|spec| run_build(&mut manager, spec, true).pack.map(|pack| json!(pack.explanation)))
        .collect::<Result<Vec<_>>>()?;
    Ok(json!({ "explanations": explanations }))
}

pub fn metrics(input: &Value) -> Result<Value> {
    let mut manager = manager(input)?;
    for spec in input["builds"].as_array().into_iter().flatten() {
        let _ = run_build(&mut manager, spec, false);
    }
    Ok(json!(manager.stats().builds))
}

pub fn inspection(input: &Value) -> Result<Value> {
    let mut manager = manager(input)?;
    let specs = input["builds"].as_array().cloned().unwrap_or_default();
    let mut last = Err(Error::new(ErrorCode::Internal, "an inspection needs a build"));
    for spec in &specs {
        last = run_build(&mut manager, spec, true).pack;
    }
    let pack = last?;
    let parts = InspectionParts {
        explanation: pack.explanation.as_ref(),
        budget: input["budget"].as_i64(),
        artifacts: artifacts_of(&pack),
        routing: None,
    };
    let found = Inspection::of(&pack, parts);
    Ok(json!({ "report": found.data, "markdown": found.markdown }))
}
