//! The reference's firewall: one item, many, raw results on their way into the log, and results outside of any log.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::callbacks::{CallbackAnswers, Need, Outcome};
use contextweaver_context::compat::compact::{CompactOptions, compact_tool_result};
use contextweaver_context::compat::firewall::{FirewallRules, apply, compact_all, first_paragraph, looks_like_json};
use contextweaver_context::compat::ingest::{Gate, tool_result};
use contextweaver_context::store::ArtifactStore;
use contextweaver_context::{ContextManager, Plugin, RULE_BASED, STRUCTURED, ToolResult};
use contextweaver_model::{FirewallStats, FirewallSummary, ResultEnvelope, Sensitivity};
use contextweaver_text::redact::{SECRET_MASK, SecretRules, contains_secret, redact_secrets};
use serde_json::{Value, json};

use crate::context::{item, items, reference_error, strings, text};

/// Runs one case; a failure of ours becomes the reference's class and code.
pub fn run(file: &str, input: &Value) -> std::result::Result<Value, String> {
    let result = match file {
        "apply" => run_apply(input),
        "batch" => run_batch(input),
        "default_summary" => {
            let raw = text(input, "raw");
            Ok(json!({ "summary": first_paragraph(raw), "looks_like_json": looks_like_json(raw) }))
        }
        "ingest" => run_ingest(input),
        "compact_tool_result" => run_compact(input),
        "scrub_secrets" => Ok(scrub(&strings(&input["parts"]).concat())),
        "stats_rollup" => roll_up(input),
        other => return Err(format!("no runner for file {other:?}")),
    };
    Ok(result.unwrap_or_else(|error| reference_error(&error)))
}

/// Names a plugin as the options of a manager do: `rule_based` and `structured` are built in, others are stubs.
fn plugin_json(name: &str) -> Value {
    match name {
        RULE_BASED | STRUCTURED => json!(name),
        "llm" => json!({ "custom": name, "is_llm": true, "provider_metadata": { "provider": "p", "model": "m" } }),
        _ => json!({ "custom": name }),
    }
}

fn plugin(options: &Value, key: &str, built_in: &str) -> Result<Option<Plugin>> {
    options[key].as_str().map(|name| Plugin::from_value(plugin_json(name), "", built_in)).transpose()
}

/// Answers for the stubs named in the options.
fn stub_answer(options: &Value, need: &Need) -> Value {
    let (key, raw) = match need {
        Need::Summarize { text, .. } => ("summarizer", text),
        Need::Extract { text, .. } => ("extractor", text),
        _ => panic!("only plugins are asked here"),
    };
    match (text(options, key), key) {
        ("llm", "summarizer") => format!("LLM:{}", raw.chars().take(5).collect::<String>()).into(),
        ("llm", _) => json!(["LLM fact"]),
        ("fixed", "summarizer") => json!("fixed summary"),
        ("fixed", _) => json!(["fixed fact"]),
        _ => json!({ "failed": "the stub throws" }),
    }
}

fn stub_answers(options: &Value, needs: &[Need]) -> Vec<Value> {
    needs.iter().map(|need| stub_answer(options, need)).collect()
}

/// Runs an operation until all its questions are answered; what it stored before then is not kept.
fn with_rules<T>(
    options: &Value,
    artifacts: &mut ArtifactStore,
    operation: impl Fn(&FirewallRules, &CallbackAnswers, &mut ArtifactStore) -> Result<T>,
) -> Result<T> {
    let (summarizer, extractor) =
        (plugin(options, "summarizer", RULE_BASED)?, plugin(options, "extractor", STRUCTURED)?);
    let keep = strings(&options["keep"]);
    let rules = FirewallRules {
        summarizer: summarizer.as_ref(),
        extractor: extractor.as_ref(),
        deterministic: options["deterministic"] == true,
        keep: &keep,
        threshold_chars: options["threshold_chars"].as_u64().unwrap_or(0),
        redact_secrets: options["redact_secrets"] == true,
    };
    let mut answers = CallbackAnswers::default();
    loop {
        let mut scratch = artifacts.clone();
        let done = operation(&rules, &answers, &mut scratch);
        if !answers.is_waiting() {
            *artifacts = scratch;
            return done;
        }
        let needs = answers.take_needs();
        answers.supply(stub_answers(options, &needs))?;
    }
}

/// Stored bytes as base64 by handle.
fn stored(artifacts: &ArtifactStore) -> Value {
    let entry = |handle: &str| (handle.to_owned(), STANDARD.encode(artifacts.get(handle).unwrap_or_default()).into());
    Value::Object(artifacts.list().map(|reference| entry(&reference.handle)).collect())
}

/// An envelope whose views are shown without the reference that all of them share.
fn envelope_json(envelope: &ResultEnvelope) -> Value {
    let mut record = json!(envelope);
    for view in record["views"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        view.remove("artifact_ref");
    }
    record
}

fn run_apply(input: &Value) -> Result<Value> {
    let mut artifacts = ArtifactStore::new();
    let given = item(&input["item"])?;
    let done = with_rules(&input["options"], &mut artifacts, |rules, answers, artifacts| {
        apply(given.clone(), rules, answers, artifacts)
    });
    Ok(match done {
        Ok((item, envelope)) => json!({
            "item": item,
            "envelope": envelope.as_ref().map(envelope_json),
            "stored": stored(&artifacts),
        }),
        Err(error) => {
            let mut record = reference_error(&error);
            record["stored_handles"] = artifacts.list().map(|reference| json!(reference.handle)).collect();
            record
        }
    })
}

fn run_batch(input: &Value) -> Result<Value> {
    let mut artifacts = ArtifactStore::new();
    let mut items = items(&input["items"])?;
    let mut passes = Vec::new();
    for _ in 0..input["passes"].as_u64().unwrap_or(1) {
        let (next, envelopes) = with_rules(&input["options"], &mut artifacts, |rules, answers, artifacts| {
            compact_all(items.clone(), rules, answers, artifacts)
        })?;
        passes.push(json!({
            "texts": next.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(),
            "handles": next.iter().map(|item| item.artifact_ref.as_ref().map(|r| &r.handle)).collect::<Vec<_>>(),
            "envelopes": envelopes.iter().map(|envelope| &envelope.provenance["source_item_id"]).collect::<Vec<_>>(),
        }));
        items = next;
    }
    Ok(json!({ "passes": passes, "stored": stored(&artifacts) }))
}

fn manager_of(given: &Value) -> Result<ContextManager> {
    let mut options = json!({
        "compat": "0.18",
        "redact_secrets": given["redact_secrets"] == true,
        "firewall": { "deterministic": given["deterministic"] == true },
    });
    for key in ["summarizer", "extractor"] {
        if let Some(name) = given[key].as_str() {
            options[key] = plugin_json(name);
        }
    }
    contextweaver::api::empty_manager(options)
}

fn run_ingest(input: &Value) -> Result<Value> {
    let mut manager = manager_of(&input["manager"])?;
    let mut results = Vec::new();
    for call in input["calls"].as_array().into_iter().flatten() {
        let result = match text(call, "fn") {
            "tool_result" => ingest_tool_result(&mut manager, &input["manager"], call),
            "envelope" => ingest_envelope(&mut manager, call),
            other => panic!("no runner for call {other:?}"),
        };
        results.push(result.unwrap_or_else(|error| reference_error(&error)));
    }
    Ok(json!({
        "results": results,
        "log_ids": manager.events().items().iter().map(|item| item.id.as_str()).collect::<Vec<_>>(),
        "handles": manager.artifacts().list().map(|reference| reference.handle.as_str()).collect::<Vec<_>>(),
    }))
}

fn threshold(value: &Value) -> Result<u64> {
    match value.as_i64() {
        None => Ok(2000),
        Some(chars) => u64::try_from(chars)
            .map_err(|_| Error::new(ErrorCode::OutOfRange, "a number of characters is not negative")),
    }
}

fn ingest_tool_result(manager: &mut ContextManager, options: &Value, call: &Value) -> Result<Value> {
    let result = ToolResult::from_value(json!({
        "tool_call_id": call["tool_call_id"],
        "tool_name": call["tool_name"],
        "media_type": call["media_type"],
    }))?;
    let keep = call.get("keep").map(strings);
    let gate = Gate::new(threshold(&call["firewall_threshold"])?, keep)?;
    loop {
        match tool_result(manager, &result, text(call, "raw_output").as_bytes(), &gate)? {
            Outcome::Done(ingested) => {
                let mut envelope = json!(ingested.envelope);
                envelope["views"] = ingested.envelope.views.iter().map(|view| json!(view.view_id)).collect();
                return Ok(json!({ "item": ingested.item, "envelope": envelope }));
            }
            Outcome::Need(needs) => manager.supply(stub_answers(options, &needs))?,
        }
    }
}

fn ingest_envelope(manager: &mut ContextManager, call: &Value) -> Result<Value> {
    let envelope = ResultEnvelope::from_value(call["envelope"].clone(), "/envelope")?;
    let (call_id, tool_name) = (text(call, "tool_call_id"), text(call, "tool_name"));
    let item = manager
        .ingest_envelope(call_id, tool_name, envelope, Sensitivity::Public)?
        .done()
        .expect("no function is asked");
    Ok(json!({ "item": item }))
}

fn run_compact(input: &Value) -> Result<Value> {
    let mut given = input.get("options").cloned().unwrap_or_else(|| json!({}));
    for key in ["summarizer", "extractor"] {
        if let Some(name) = given[key].as_str() {
            given[key] = plugin_json(name);
        }
    }
    let options = CompactOptions::from_value(given, "")?;
    let (mut answers, mut artifacts) = (CallbackAnswers::default(), ArtifactStore::new());
    loop {
        match compact_tool_result(&input["data"], &options, &answers, &mut artifacts)? {
            Outcome::Done(done) => {
                let mut record = done.to_json();
                record["stored"] = stored(&artifacts);
                return Ok(record);
            }
            Outcome::Need(needs) => answers.supply(stub_answers(&input["options"], &needs))?,
        }
    }
}

fn scrub(text: &str) -> Value {
    let rules = SecretRules::Compat;
    let scrubbed: Vec<char> = redact_secrets(text, rules, SECRET_MASK).chars().collect();
    let parts: Vec<String> = scrubbed.chunks(7).map(|chunk| chunk.iter().collect()).collect();
    json!({ "scrubbed_parts": parts, "contains": contains_secret(text, rules) })
}

fn roll_up(input: &Value) -> Result<Value> {
    let events = input["events"].as_array().into_iter().flatten();
    let events = events.map(|event| FirewallStats::from_value(event.clone(), "")).collect::<Result<Vec<_>>>()?;
    let summary = FirewallSummary::of(&events);
    Ok(json!({
        "summary": summary,
        "chars_saved": summary.original_chars.saturating_sub(summary.summary_chars),
        "tokens_saved": summary.original_tokens.saturating_sub(summary.summary_tokens),
    }))
}
