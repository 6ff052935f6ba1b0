//! Cases of the gateway: policies, limits, retries, arguments, schemas.

use std::sync::OnceLock;

use contextweaver_base::Error;
use contextweaver_gateway::failure::upstream_detail_within;
use contextweaver_gateway::{
    GatewayError, GatewayErrorCode, PolicyAction, PolicySubject, RateLimits, RateState, RetryPolicy, ToolPolicy,
    VisibilityProfile, cache_key, repair_arguments,
};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;
use contextweaver_routing::{Catalog, SchemaSource, hydrate_with_schema};
use serde_json::{Value, json};

use crate::context::{reference_class, strings, text};
use crate::{GONE, read, vectors};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    let op = input.get("op").and_then(Value::as_str).filter(|_| file == "gateway")?;
    let (result, class) = match op {
        "policy" => (policy(input), "ConfigError"),
        "rate_limit" => (rate_limit(input), "ConfigError"),
        "retry_config" => (retry(&input["config"]).map(|retry| config_of(&retry)), "ConfigError"),
        "backoff" => (backoff(input), "ConfigError"),
        "visibility" => (visibility(input), "ConfigError"),
        "cache_key" => (Ok(json!({ "key": cache_key(text(input, "tool_id"), &input["args"]) })), ""),
        "normalize_args" => (Ok(normalize(input)), ""),
        "redact_upstream_detail" => (Ok(detail(input)), ""),
        "gateway_error" => (error(input), ""),
        "schema_source_from_mcp_tools" => (schema_source(input), "CatalogError"),
        "hydrate_with_schema" => (hydrate(input), ""),
        _ => return Some(Err(GONE.to_owned())),
    };
    Some(Ok(result.unwrap_or_else(|error| {
        let class = if class.is_empty() { reference_class(&error) } else { class };
        json!({ "error": class })
    })))
}

/// Returns what a case names: a part of the fixtures, something that is too large to be printed, or the value itself.
fn resolved(value: &Value) -> Value {
    match value.as_str().and_then(|name| name.strip_prefix("fixtures.")) {
        Some(name) => fixtures()[name].clone(),
        None => generated(value.clone()),
    }
}

/// Returns what several cases of the file share.
pub fn fixtures() -> &'static Value {
    static FIXTURES: OnceLock<Value> = OnceLock::new();
    FIXTURES.get_or_init(|| read(&vectors().join("mcp/gateway.json"))["fixtures"].take())
}

/// Makes what a case describes in words.
fn generated(mut value: Value) -> Value {
    match &mut value {
        Value::Array(list) => list.iter_mut().for_each(|one| *one = generated(one.take())),
        Value::Object(map) => match map.get("$generate").and_then(Value::as_str) {
            None => map.values_mut().for_each(|one| *one = generated(one.take())),
            Some("object schema with properties p0..p512, each {}") => {
                let properties: JsonMap = (0..513).map(|at| (format!("p{at}"), json!({}))).collect();
                return json!({ "type": "object", "properties": properties });
            }
            Some("{type: object, description: letter y repeated 66000 times}") => {
                return json!({ "type": "object", "description": "y".repeat(66_000) });
            }
            Some(other) => panic!("nobody makes {other}"),
        },
        _ => {}
    }
    value
}

fn policy(input: &Value) -> Result<Value, Error> {
    let policy = ToolPolicy::from_value(input["policy"].clone(), "/policy")?;
    let context = &input["context"];
    let tags = strings(&context["tags"]);
    let subject = PolicySubject {
        meta_tool: context["meta_tool"].as_str(),
        tool_id: text(context, "tool_id"),
        namespace: text(context, "namespace"),
        tool_name: text(context, "tool_name"),
        tags: &tags,
        read_only: context["read_only"].as_bool().unwrap_or_default(),
        ..PolicySubject::default()
    };
    let ruling = policy.evaluate(&subject);
    let error = ruling.to_error(&subject).map(|error| without_message(error.to_json()));
    // The recorded policies have the other word for it.
    let action = if ruling.action == PolicyAction::Ask { "require_approval" } else { ruling.action.as_str() };
    Ok(json!({
        "action": action, "reason": ruling.reason, "rule_index": ruling.rule_index, "error": error,
        "roundtrip": policy.to_json(),
    }))
}

/// Messages are nobody's contract.
fn without_message(mut record: Value) -> Value {
    record.as_object_mut().map(|record| record.remove("message"));
    record
}

fn rate_limit(input: &Value) -> Result<Value, Error> {
    let limits = RateLimits::from_value(input["config"].clone(), "/config")?;
    let mut state = RateState::default();
    let mut decisions = Vec::new();
    for step in input["sequence"].as_array().into_iter().flatten() {
        let (meta_tool, tool_id) = (step["meta_tool"].as_str(), step["tool_id"].as_str());
        let now_ms = step["at"].as_f64().unwrap_or_default() * 1000.0;
        let ruling = state.check(&limits, meta_tool, tool_id, now_ms);
        if ruling.allowed && step["record"] == true {
            state.record(&limits, meta_tool, tool_id, now_ms);
        }
        let retry_after = ruling.retry_after_ms.map(|wait| wait / 1000.0);
        decisions.push(json!({ "allowed": ruling.allowed, "retry_after": retry_after, "scope": ruling.scope }));
    }
    Ok(json!({ "decisions": decisions }))
}

fn retry(config: &Value) -> Result<RetryPolicy, Error> {
    RetryPolicy::from_value(config.clone(), "/config")
}

fn config_of(retry: &RetryPolicy) -> Value {
    let mut record = retry.to_json();
    // The reference makes every call again.
    record.as_object_mut().map(|record| record.remove("retry_writes"));
    record
}

fn backoff(input: &Value) -> Result<Value, Error> {
    let index = input["attempt_index"].as_u64().unwrap_or_default() as u32;
    let random = input["jitter_fraction"].as_f64().unwrap_or_default();
    Ok(json!({ "delay": retry(&input["policy"])?.delay_seconds(index, random) }))
}

fn visibility(input: &Value) -> Result<Value, Error> {
    let profile = VisibilityProfile::from_value(input["profile"].clone(), "/profile")?;
    let (allowed, reason) = profile.ruling(&SelectableItem::from_value(input["item"].clone(), "/item")?);
    Ok(json!({ "allowed": allowed, "reason": reason }))
}

fn normalize(input: &Value) -> Value {
    let repaired = repair_arguments(&resolved(&input["args"]), &resolved(&input["schema"]));
    json!({ "args": repaired.args, "repairs": repaired.repairs })
}

fn detail(input: &Value) -> Value {
    let chars = input["max_len"].as_u64().unwrap_or(256) as usize;
    json!({ "text": upstream_detail_within(text(input, "text"), chars) })
}

fn error(input: &Value) -> Result<Value, Error> {
    let mut error = GatewayError::new(GatewayErrorCode::parse(text(input, "code"))?, text(input, "message"));
    error.retryable = input["retryable"] == true;
    for (key, value) in input["details"].as_object().into_iter().flatten() {
        error = error.detail(key, value.clone());
    }
    Ok(without_message(error.at(text(input, "path")).to_json()))
}

fn schema_source(input: &Value) -> Result<Value, Error> {
    let source = SchemaSource::from_mcp_tools(input["tools"].as_array().cloned().unwrap_or_default())?;
    let ids: Vec<&str> = source.ids().collect();
    let schemas: JsonMap = ids.iter().map(|id| ((*id).to_owned(), json!(source.get(id)))).collect();
    Ok(json!({ "known_ids": ids, "schemas": schemas }))
}

/// The tool `a` of the case, with what the recording has besides its schema.
fn hydrate(input: &Value) -> Result<Value, Error> {
    let item = json!({
        "id": "a", "kind": "tool", "name": "a", "description": "d", "args_schema": input["inline_args_schema"],
        "examples": ["ex"], "constraints": { "k": 1 },
    });
    let catalog = Catalog::from_value(json!({ "items": [item] }), "")?;
    let source = SchemaSource::from_map(input["sidecar"].as_object().cloned().unwrap_or_default())?;
    let id = text(input, "tool_id");
    let hydrated = hydrate_with_schema(&catalog, id, Some(&source))?;
    let lazy = contextweaver_routing::cards::schema_of(&catalog, id, Some(&source));
    Ok(json!({
        "args_schema": hydrated.args_schema, "examples": hydrated.examples, "constraints": hydrated.constraints,
        "lazy": lazy,
    }))
}
