//! Cases of guardrails and figures.

use contextweaver_decisions::calibration::{
    CalibrationSample, DriftPeriods, advice, buckets, calibration, drift, spread,
};
use contextweaver_decisions::guardrails::{GuardrailFinding, GuardrailSet, GuardrailVerdict, OnRuleError};
use contextweaver_decisions::reason_stats;
use contextweaver_decisions::tools::{get_session_context, get_stats, ready};
use contextweaver_decisions::{CallerContext, Decision, DecisionStore, DecisionStoreOptions, HostAnswers, timestamps};
use serde_json::{Map, Value, json};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    Some(match file {
        "guardrails" => Ok(guardrails(input)),
        "calibration" => Ok(figures(input)),
        "drift" => Ok(drifts(input)),
        "reason_stats" => Ok(reasons(input)),
        "stats_window" => stats(input),
        "ready" => due(input),
        "session_context" => session(input),
        _ => return None,
    })
}

/// Rules that the store refuses are part of the answer.
fn guardrails(input: &Value) -> Value {
    let mut rules = GuardrailSet::default();
    if let Some(refused) = rules.add(&input["rules"]).errors.first() {
        return json!({ "refused": refused.path });
    }
    let context = input["context"].as_object().cloned().unwrap_or_default();
    let GuardrailVerdict { allowed, violations, warnings, evaluated } = rules.evaluate(&context, OnRuleError::Warn);
    let each = |list: Vec<GuardrailFinding>| -> Vec<Value> { list.iter().map(GuardrailFinding::to_json).collect() };
    json!({ "allowed": allowed, "violations": each(violations), "warnings": each(warnings), "evaluated": evaluated })
}

/// Leaves of recommendations what is contract: their wording is free.
fn shorten(recommendations: &mut Value) {
    for entry in recommendations.as_array_mut().into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            for key in ["message", "suggestion", "reason"] {
                entry.remove(key);
            }
        }
    }
}

/// Leaves out what only this library says.
fn without_ours(stats: &mut Value) {
    shorten(&mut stats["recommendations"]);
    if let Some(stats) = stats.as_object_mut() {
        stats.remove("extended");
        if let Some(Value::Object(spread)) = stats.get_mut("confidenceStats") {
            spread.remove("variance");
            spread.remove("distribution");
        }
    }
}

fn list<'v>(input: &'v Value, key: &str) -> &'v [Value] {
    input[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn figures(input: &Value) -> Value {
    let decisions: Vec<Decision> = list(input, "decisions").iter().map(bare).collect();
    let samples: Vec<CalibrationSample> = decisions.iter().map(CalibrationSample::of).collect();
    let overall = calibration(&samples, input["min_decisions"].as_u64().unwrap_or(5));
    let (buckets, spread) = (buckets(&samples), spread(&samples));
    let mut out = json!({
        "overall": overall,
        "byConfidenceBucket": buckets,
        "recommendations": advice(overall.as_ref(), &buckets, spread.as_ref()),
        "confidenceStats": spread.map(|spread| spread.to_json()),
    });
    without_ours(&mut out);
    out
}

/// The decisions of these files have no id and no text.
fn bare(record: &Value) -> Decision {
    let text = |key: &str| record[key].as_str().map(str::to_owned);
    let reasons = list(record, "reasons").iter().map(|reason| contextweaver_decisions::record::DecisionReason {
        kind: reason["type"].as_str().unwrap_or_default().to_owned(),
        text: reason["text"].as_str().unwrap_or_default().to_owned(),
        strength: reason["strength"].as_f64().unwrap_or(0.8),
        unknown: Map::new(),
    });
    Decision {
        confidence: record["confidence"].as_f64(),
        status: text("status").unwrap_or_default(),
        outcome: text("outcome"),
        reasons: reasons.collect(),
        ..Decision::default()
    }
}

fn drifts(input: &Value) -> Value {
    let figures = |key: &str| {
        let half = &input[key];
        (half["brierScore"].as_f64().unwrap_or(0.0), half["accuracy"].as_f64().unwrap_or(0.0))
    };
    let halves = DriftPeriods { recent: figures("recent"), past: figures("historical") };
    let threshold = |key: &str| input[key].as_f64().unwrap_or(0.0);
    let alerts =
        drift(&halves, input["category"].as_str(), threshold("thresholdBrier"), threshold("thresholdAccuracy"));
    // What to do about an alert is part of the ready queue here.
    let advice = alerts.iter().map(|alert| {
        let kind = if alert.kind == "accuracy_drop" { "review_process" } else { "recalibrate" };
        json!({ "type": kind, "severity": "info" })
    });
    json!({ "alerts": alerts, "recommendations": advice.collect::<Vec<_>>() })
}

fn reasons(input: &Value) -> Value {
    let decisions: Vec<Decision> = list(input, "decisions").iter().map(bare).collect();
    let mut out = reason_stats(decisions.iter(), input["min_reviewed"].as_u64().unwrap_or(3)).json;
    shorten(&mut out["recommendations"]);
    if let Some(out) = out.as_object_mut() {
        out.remove("totalDecisions");
        out.remove("reviewedDecisions");
    }
    out
}

/// Makes a store of the records of a case.
fn store(records: &[Value]) -> Result<DecisionStore, String> {
    let mut store = DecisionStore::new(DecisionStoreOptions::default());
    for (index, record) in records.iter().enumerate() {
        let mut record = record.clone();
        record["decision"] = record["summary"].clone();
        let decision = Decision::from_value(record, &format!("/{index}")).map_err(|error| error.to_string())?;
        store.put(decision);
    }
    Ok(store)
}

type Tool = fn(&mut DecisionStore, &CallerContext<'_>, &Map<String, Value>) -> contextweaver_base::Result<Value>;

/// Runs a tool with the request of a case, whose keys are in the reference's spelling.
fn call(store: &mut DecisionStore, input: &Value, tool: Tool) -> Result<Value, String> {
    let answers = HostAnswers::default();
    let agent = input["agent_id"].as_str().unwrap_or("mcp-client");
    let now = input["now"].as_str().and_then(timestamps::parse).ok_or("the case has no time")?;
    let snake = |key: &String| -> String {
        key.chars().flat_map(|ch| ch.is_ascii_uppercase().then_some('_').into_iter().chain(ch.to_lowercase())).collect()
    };
    let request = input["request"].as_object().cloned().unwrap_or_default();
    let arguments = request.iter().map(|(key, value)| (snake(key), value.clone())).collect();
    tool(store, &CallerContext { agent, trace: None, now, answers: &answers }, &arguments)
        .map_err(|error| error.to_string())
}

/// The decisions of this file stand beside its cases.
fn stats(input: &Value) -> Result<Value, String> {
    let document = crate::read(&crate::vectors().join("decisions/stats_window.json"));
    let mut out = call(&mut store(list(&document, "fixture"))?, input, get_stats)?;
    without_ours(&mut out);
    Ok(out)
}

fn due(input: &Value) -> Result<Value, String> {
    let mut out = call(&mut store(list(input, "decisions"))?, input, ready)?;
    shorten(&mut out["actions"]);
    // Warnings name what is wrong in words of our own.
    if let Some(Value::Array(warnings)) = out.get_mut("warnings") {
        for warning in warnings {
            *warning = warning["code"].clone();
        }
    }
    Ok(out)
}

fn session(input: &Value) -> Result<Value, String> {
    let mut store = store(list(input, "decisions"))?;
    let added = store.add_guardrails(&input["guardrails"]);
    if !added.errors.is_empty() {
        return Err(format!("{:?}", added.errors));
    }
    let mut out = call(&mut store, input, get_session_context)?;
    if let Some(out) = out.as_object_mut() {
        out.remove("trace_id");
        if let Some(Value::String(markdown)) = out.get_mut("markdown") {
            // The recording ends where the last section begins.
            let end = markdown.find("### Protocol").ok_or("the protocol is missing")?;
            markdown.truncate(end);
        }
        for pattern in out.get_mut("confirmedPatterns").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(pattern) = pattern.as_object_mut() {
                pattern.remove("successRate");
            }
        }
    }
    Ok(out)
}
