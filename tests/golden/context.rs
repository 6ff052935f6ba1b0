//! The operations of the context vectors.

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::ManagerOptions;
use contextweaver_context::callbacks::CallbackAnswers;
use contextweaver_context::compat::stages;
use contextweaver_context::store::EventLog;
use contextweaver_model::{
    ArtifactRef, CompatWeights, ContextBudget, ContextItem, ContextPack, ContextPolicy, Phase, ProfileConfig,
    ResultEnvelope, RoutingConfig,
};
use contextweaver_text::redact::{SECRET_MASK, SecretRules, contains_secret, redact_secrets, redact_value};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::{similarity, tokenize};
use serde_json::{Value, json};

use crate::{around, sessions};

/// Runs one case; a failure of ours becomes `{"error": <name of the reference's class>}`.
pub fn run(input: &Value) -> std::result::Result<Value, String> {
    let op = input["op"].as_str().unwrap_or("");
    let result = match op {
        "estimate" => Ok(estimate(input)),
        "tokenize" => Ok(tokens(input)),
        "jaccard" => Ok(jaccard(input)),
        "scrub" | "scrub_list" | "scrub_obj" => Ok(scrub(op, input)),
        "detect" => Ok(json!(stages::detect_level(text(input, "text"), SecretRules::Compat, true))),
        "classify" => classify(input),
        "filter" => filter(input),
        "mask" | "secret_hook" => one_hook(op, input),
        "score_item" => score_item(input),
        "score_candidates" => score_candidates(input),
        "config" => config(input),
        "preset" => ProfileConfig::preset(text(input, "name")).map(|profile| json!(profile)),
        "candidates" => run_candidates(input),
        "closure" => run_closure(input),
        "select" => run_select(input),
        "dedup" => run_dedup(input),
        "item" => item(&input["item"]).map(|item| json!(stages::compat_item(&item))),
        "context" => run_render(input),
        "passthrough" => items(&input["items"]).map(|items| json!(stages::passthrough(&items))),
        "build" => sessions::build(input),
        "explain" => sessions::explain(input),
        "metrics" => sessions::metrics(input),
        "inspection" => sessions::inspection(input),
        "report" => around::report(input),
        "schema_header" => around::schema(input),
        "memory_select" => around::memory_select(input),
        "consolidate" => around::consolidate(input),
        "handoff" => around::handoff(input),
        other => return Err(format!("no runner for operation {other:?}")),
    };
    Ok(result.unwrap_or_else(|error| json!({ "error": reference_class(&error) })))
}

/// Names the class the reference raises where we return this code.
pub fn reference_class(error: &Error) -> &'static str {
    match error.code() {
        ErrorCode::DuplicateId => "DuplicateItemError",
        ErrorCode::NotFound => "ItemNotFoundError",
        ErrorCode::ArtifactNotFound | ErrorCode::ArtifactExpired => "ArtifactNotFoundError",
        ErrorCode::Determinism => "DeterminismError",
        ErrorCode::PolicyViolation => "PolicyViolationError",
        ErrorCode::BudgetExceeded => "BudgetOverflowError",
        ErrorCode::Unsupported => "ContextWeaverError",
        ErrorCode::MissingField => "KeyError",
        ErrorCode::InvalidInput
            if error.message().starts_with("unknown kind")
                || error.message().starts_with("unknown phase")
                || error.message().starts_with("unknown sensitivity `") =>
        {
            "ValueError"
        }
        _ => "ConfigError",
    }
}

/// Names the class and the code the reference raises where we return this code.
pub fn reference_error(error: &Error) -> Value {
    let class = reference_class(error);
    let mut code = "CW".to_owned();
    for ch in class.trim_end_matches("Error").chars() {
        if ch.is_ascii_uppercase() {
            code.push('_');
        }
        code.push(ch.to_ascii_uppercase());
    }
    let code = if class == "ContextWeaverError" { "CW_ERROR".to_owned() } else { code };
    json!({ "error": class, "code": code })
}

pub fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or("")
}

pub fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub fn item(value: &Value) -> Result<ContextItem> {
    ContextItem::from_value(value.clone(), "")
}

pub fn items(value: &Value) -> Result<Vec<ContextItem>> {
    value.as_array().into_iter().flatten().map(item).collect()
}

pub fn phase(input: &Value) -> Result<Phase> {
    Phase::parse(input["phase"].as_str().unwrap_or("answer"))
}

fn estimate(input: &Value) -> Value {
    let text = text(input, "text");
    json!({
        "heuristic/v2": Estimator::V2.tokens(text),
        "heuristic/chardiv4": Estimator::CharDiv4.tokens(text),
    })
}

fn tokens(input: &Value) -> Value {
    let text = text(input, "text");
    json!({ "list": tokenize::tokenize(text), "set": tokenize::token_set(text).words() })
}

fn jaccard(input: &Value) -> Value {
    json!(similarity::jaccard(&tokenize::token_set(text(input, "a")), &tokenize::token_set(text(input, "b"))))
}

fn scrub(op: &str, input: &Value) -> Value {
    let rules = SecretRules::Compat;
    let mask = input["mask"].as_str().unwrap_or(SECRET_MASK);
    match op {
        "scrub" => {
            let text = text(input, "text");
            json!({ "scrubbed": redact_secrets(text, rules, mask), "contains": contains_secret(text, rules) })
        }
        "scrub_list" => {
            let clean: Vec<String> =
                strings(&input["items"]).iter().map(|text| redact_secrets(text, rules, mask).into_owned()).collect();
            json!(clean)
        }
        _ => redact_value(&input["value"], rules, mask),
    }
}

fn classify(input: &Value) -> Result<Value> {
    let item = item(&input["item"])?;
    Ok(json!(item.sensitivity.max(stages::detect_level(&item.text, SecretRules::Compat, true))))
}

fn policy(value: &Value) -> Result<ContextPolicy> {
    if value.is_null() {
        return Ok(ContextPolicy::compat());
    }
    ContextPolicy::from_value(value.clone(), "/policy", ContextPolicy::compat(), false)
}

fn filter(input: &Value) -> Result<Value> {
    let options = ManagerOptions { policy: policy(&input["policy"])?, ..contextweaver_context::compat::options() };
    let (kept, dropped) = stages::filter(items(&input["items"])?, &options, &CallbackAnswers::default())?;
    Ok(json!({ "kept": kept, "dropped": dropped.len() }))
}

fn one_hook(op: &str, input: &Value) -> Result<Value> {
    let mut item = item(&input["item"])?;
    match op {
        "mask" => stages::mask(&mut item, |text| Estimator::V2.tokens(text)),
        _ => stages::mask_item_secrets(&mut item, SecretRules::Compat),
    }
    Ok(json!(item))
}

fn weights(value: &Value) -> Result<CompatWeights> {
    if value.is_null() {
        return Ok(CompatWeights::default());
    }
    CompatWeights::from_value(value.clone(), "/config", false)
}

fn wanted(input: &Value) -> stages::CompatQuery {
    let mut tags = strings(&input["query_tags"]);
    tags.sort();
    tags.dedup();
    stages::CompatQuery::new(text(input, "query"), &tags)
}

fn score_item(input: &Value) -> Result<Value> {
    let position = input["position"].as_u64().unwrap_or(0) as usize;
    let total = input["total"].as_u64().unwrap_or(0) as usize;
    let weights = weights(&input["config"])?;
    Ok(json!(stages::score_item(&item(&input["item"])?, &wanted(input), position, total, &weights)))
}

fn score_candidates(input: &Value) -> Result<Value> {
    let items = items(&input["items"])?;
    let weights = weights(&input["config"])?;
    let scored = stages::score_all(&items, &wanted(input), &weights);
    Ok(json!(scored.iter().map(|(score, item)| json!([item.id, score])).collect::<Vec<_>>()))
}

fn config(input: &Value) -> Result<Value> {
    let data = input["data"].clone();
    match text(input, "type") {
        "ScoringConfig" => CompatWeights::from_value(data, "", false).map(|v| json!(v)),
        "ContextBudget" => ContextBudget::from_value(data, "", false).map(|v| json!(v)),
        "ContextPolicy" => ContextPolicy::from_value(data, "", ContextPolicy::compat(), false).map(|v| json!(v)),
        "ProfileConfig" => ProfileConfig::from_value(data, "").map(|v| json!(v)),
        "RoutingConfig" => RoutingConfig::from_value(data, "").map(|v| json!(v)),
        "ContextItem" => ContextItem::from_value(data, "").map(|v| json!(v)),
        "ContextPack" => ContextPack::from_value(data, "").map(|v| json!(v)),
        "ResultEnvelope" => ResultEnvelope::from_value(data, "").map(|v| json!(v)),
        "ArtifactRef" => ArtifactRef::from_value(data, "").map(|v| json!(v)),
        other => Err(Error::new(ErrorCode::Internal, format!("no runner for type {other}"))),
    }
}

fn run_candidates(input: &Value) -> Result<Value> {
    let mut log = EventLog::new();
    log.append_all(items(&input["items"])?)?;
    let chosen = stages::candidates(log.items(), phase(input)?, &policy(&input["policy"])?);
    Ok(json!(chosen.iter().map(|at| &log.items()[*at].id).collect::<Vec<_>>()))
}

fn run_closure(input: &Value) -> Result<Value> {
    let mut log = EventLog::new();
    log.append_all(items(&input["items"])?)?;
    let chosen: Vec<usize> = strings(&input["candidates"]).iter().filter_map(|id| log.position(id)).collect();
    let (closed, added) = stages::ancestors(&log, &chosen);
    let ids: Vec<&String> = closed.iter().map(|at| &log.items()[*at].id).collect();
    Ok(json!({ "ids": ids, "closures": added.len() }))
}

fn scored_items(input: &Value) -> Result<Vec<ContextItem>> {
    input["scored"].as_array().into_iter().flatten().map(|pair| item(&pair[1])).collect()
}

fn run_select(input: &Value) -> Result<Value> {
    let phase = phase(input)?;
    let budget = ContextBudget::from_value(input["budget"].clone(), "", false)?;
    let estimator = Estimator::named(input["estimator"].as_str().unwrap_or("heuristic/v2"))?;
    let tokens = |text: &str| estimator.tokens(text);
    let chosen = stages::select(scored_items(input)?, budget.of(phase), &policy(&input["policy"])?, tokens);
    let sections: serde_json::Map<String, Value> =
        chosen.tokens_per_section.iter().map(|(kind, sum)| (kind.as_str().to_owned(), json!(sum))).collect();
    Ok(json!({
        "selected": chosen.selected.iter().map(|item| &item.id).collect::<Vec<_>>(),
        "dropped": chosen.dropped.iter().map(|(item, reason)| json!([item.id, reason])).collect::<Vec<_>>(),
        "tokens_per_section": sections,
        "budget_overruns": chosen.overruns,
    }))
}

fn run_dedup(input: &Value) -> Result<Value> {
    let items = scored_items(input)?;
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    let repeated = stages::near_duplicates(&texts, input["threshold"].as_f64().unwrap_or(0.85));
    let kept: Vec<&String> =
        items.iter().zip(&repeated).filter(|(_, repeated)| !**repeated).map(|(item, _)| &item.id).collect();
    Ok(json!({ "kept": kept, "removed": repeated.iter().filter(|repeated| **repeated).count() }))
}

fn run_render(input: &Value) -> Result<Value> {
    let separator = input["separator"].as_str().unwrap_or(stages::SEPARATOR);
    let items = items(&input["items"])?;
    Ok(json!(stages::compat_prompt(&items, separator, text(input, "header"), text(input, "footer"))))
}
