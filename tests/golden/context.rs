//! Texts, records, and what is around the pipeline.

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_model::{
    ArtifactRef, ContextBudget, ContextItem, ContextPack, ContextPolicy, ResultEnvelope, RoutingConfig, Sensitivity,
};
use contextweaver_text::classify::{ClassifierRules, DetectedLevel, detect};
use contextweaver_text::redact::{SECRET_MASK, contains_secret, redact_secrets, redact_value};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::{similarity, tokenize};
use serde_json::{Value, json};

use crate::{GONE, around};

/// The label of a text by the built-in patterns.
fn level(text: &str) -> Sensitivity {
    match detect(text, ClassifierRules { pii: true }) {
        DetectedLevel::Public => Sensitivity::Public,
        DetectedLevel::Confidential => Sensitivity::Confidential,
        DetectedLevel::Restricted => Sensitivity::Restricted,
    }
}

/// Runs one case; a failure of ours becomes `{"error": <name of the reference's class>}`. Prompts are compiled by other
/// stages here, so that no recorded stage or build can be met.
pub fn run(input: &Value) -> std::result::Result<Value, String> {
    let op = input["op"].as_str().unwrap_or("");
    let result = match op {
        "estimate" => Ok(estimate(input)),
        "tokenize" => Ok(tokens(input)),
        "jaccard" => Ok(jaccard(input)),
        "scrub" | "scrub_list" | "scrub_obj" => Ok(scrub(op, input)),
        "detect" => Ok(json!(level(text(input, "text")))),
        "classify" => classify(input),
        "config" if !matches!(text(input, "type"), "ScoringConfig" | "ProfileConfig") => config(input),
        "report" => around::report(input),
        "schema_header" => around::schema(input),
        "memory_select" => around::memory_select(input),
        "consolidate" => around::consolidate(input),
        "handoff" => around::handoff(input),
        _ => return Err(GONE.to_owned()),
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
    let mask = input["mask"].as_str().unwrap_or(SECRET_MASK);
    match op {
        "scrub" => {
            let text = text(input, "text");
            json!({ "scrubbed": redact_secrets(text, mask), "contains": contains_secret(text) })
        }
        "scrub_list" => {
            let clean: Vec<String> =
                strings(&input["items"]).iter().map(|text| redact_secrets(text, mask).into_owned()).collect();
            json!(clean)
        }
        _ => redact_value(&input["value"], mask),
    }
}

fn classify(input: &Value) -> Result<Value> {
    let item = item(&input["item"])?;
    Ok(json!(item.sensitivity.max(level(&item.text))))
}

fn config(input: &Value) -> Result<Value> {
    let data = input["data"].clone();
    match text(input, "type") {
        "ContextBudget" => ContextBudget::from_value(data, "").map(|v| json!(v)),
        "ContextPolicy" => Fields::open(data, "")
            .and_then(|mut fields| ContextPolicy::of_profiles().over(&mut fields))
            .map(|v| json!(v)),
        "RoutingConfig" => RoutingConfig::from_value(data, "").map(|v| json!(v)),
        "ContextItem" => ContextItem::from_value(data, "").map(|v| json!(v)),
        "ContextPack" => ContextPack::from_value(data, "").map(|v| json!(v)),
        "ResultEnvelope" => ResultEnvelope::from_value(data, "").map(|v| json!(v)),
        "ArtifactRef" => ArtifactRef::from_value(data, "").map(|v| json!(v)),
        other => Err(Error::new(ErrorCode::Internal, format!("no runner for type {other}"))),
    }
}
