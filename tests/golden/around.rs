//! The operations around the pipeline: reports, handoff, memory, consolidation.

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::call_prompt::{SchemaOverrides, schema_header};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::memory::{
    ConsolidationOptions, ConsolidationPolicy, MemoryQuery, consolidate as run_consolidation, rank_memory,
    select_memory,
};
use contextweaver_context::report::BuildReport;
use contextweaver_context::store::FactStore;
use contextweaver_context::{ContextManager, ManagerOptions};
use contextweaver_model::{BuildStats, ContextPolicy, Episode, Fact, MemoryEntry, Phase, SelectableItem};
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

use crate::context::{items, strings, text};

fn list<T>(value: &Value, read: fn(Value, &str) -> Result<T>) -> Result<Vec<T>> {
    value.as_array().into_iter().flatten().map(|entry| read(entry.clone(), "")).collect()
}

/// Everything that is wrong with memory settings is one class in the reference.
fn as_config_error(error: Error) -> Error {
    match error.code() {
        ErrorCode::InvalidInput | ErrorCode::OutOfRange | ErrorCode::MissingField | ErrorCode::DuplicateId => {
            Error::new(ErrorCode::OutOfRange, error.message().to_owned())
        }
        _ => error,
    }
}

pub fn report(input: &Value) -> Result<Value> {
    let stats = BuildStats::from_value(input["stats"].clone(), "/stats")?;
    let report = BuildReport::of(&stats, input["phase"].as_str(), input["budget"].as_i64());
    Ok(json!({
        "text": report.text,
        "rich": report.markup,
        "dict": report.data,
        "prompt_tokens": stats.prompt_tokens(),
        "firewall_summary": stats.firewall_summary(),
    }))
}

pub fn schema(input: &Value) -> Result<Value> {
    let tool = SelectableItem::from_value(input["item"].clone(), "/item")?;
    let overrides = SchemaOverrides {
        schema: input["schema"].as_object().cloned(),
        examples: input.get("examples").filter(|value| !value.is_null()).map(strings),
        constraints: input["constraints"].as_object().cloned(),
    };
    Ok(schema_header(&tool, &overrides).into())
}

pub fn memory_select(input: &Value) -> Result<Value> {
    let entries = list(&input["entries"], MemoryEntry::from_value).map_err(as_config_error)?;
    let query = MemoryQuery {
        text: text(input, "query"),
        phase: Phase::parse(input["phase"].as_str().unwrap_or("answer"))?,
        now: input["now"].as_f64().unwrap_or(4e9),
        max_entries: input["max_entries"].as_i64().and_then(|count| usize::try_from(count).ok()),
    };
    let budget = input["budget_tokens"].as_i64().map_or(0, |tokens| u64::try_from(tokens).unwrap_or(0));
    let ranked = rank_memory(&entries, &query).map_err(as_config_error)?;
    let ids: Vec<&str> = ranked.iter().map(|entry| entry.id.as_str()).collect();
    Ok(json!({ "selected": ids, "items": select_memory(&entries, &query, budget, &Estimator::V2)? }))
}

pub fn consolidate(input: &Value) -> Result<Value> {
    let policy = match &input["policy"] {
        Value::Null => ConsolidationPolicy::default(),
        value => ConsolidationPolicy::from_value(value.clone(), "/policy").map_err(as_config_error)?,
    };
    let episodes = list(&input["episodes"], Episode::from_value)?;
    let mut facts = FactStore::new();
    for fact in list(&input["facts"], Fact::from_value)? {
        facts.put(fact)?;
    }
    let options = ConsolidationOptions { as_of: input["as_of"].as_str() };
    let mut report = run_consolidation(&episodes, &facts, &policy, &options).map_err(as_config_error)?;
    if input["apply"] == true {
        report.apply(&mut facts, &policy)?;
    }
    Ok(json!({ "report": report, "summary": report.summary(), "facts": json!(facts)["facts"] }))
}

pub fn handoff(input: &Value) -> Result<Value> {
    let mut options = ManagerOptions::default();
    if let Some(policy) = input.get("policy").filter(|value| !value.is_null()) {
        options.policy = ContextPolicy::from_value(policy.clone(), "/policy")?;
    }
    let mut manager = ContextManager::new(options);
    for entry in input["artifacts"].as_array().into_iter().flatten() {
        let (media_type, label) = (text(entry, "media_type"), text(entry, "label"));
        manager.put_artifact(text(entry, "handle"), text(entry, "content").as_bytes(), media_type, label)?;
    }
    manager.ingest_all(items(&input["items"])?)?;
    let budget = input["budget_tokens"].as_i64();
    let budget = budget.map_or(limits::HANDOFF_TOKENS, |tokens| u64::try_from(tokens).unwrap_or(0));
    match manager.handoff(budget)? {
        Outcome::Done(pack) => Ok(json!({ "pack": pack, "markdown": pack.to_markdown() })),
        Outcome::Need(_) => Err(Error::new(ErrorCode::Internal, "no custom functions here")),
    }
}
