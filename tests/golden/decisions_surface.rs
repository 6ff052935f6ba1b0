//! Cases of the tools: their schemas, and whole calls as a client makes them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use contextweaver::api::decisions as api;
use contextweaver_decisions::service::tool_specs::tool;
use contextweaver_decisions::timestamps;

/// Runs one case of a file that belongs here.
pub fn run(file: &str, case: &Value) -> Option<Result<Value, String>> {
    match file {
        "tool_schemas" => Some(Ok(schema(case))),
        "mcp_tools" => Some(calls(case)),
        _ => None,
    }
}

/// Arguments of ours, by tool and the place of the properties they are among.
const OURS: &[(&str, &str, &[&str])] = &[
    ("", "", &["agent_id", "trace_id", "scope"]),
    ("pre_action", "/options/anyOf/0", &["include_patterns"]),
    ("get_session_context", "", &["max_chars", "max_tokens"]),
    ("query_decisions", "/filters/anyOf/0", &["tags", "date_after", "date_before"]),
    ("log_decision", "", &["review_in", "pattern", "kpi_indicators", "mental_state", "file", "line", "commit"]),
    ("get_stats", "", &["stakes", "feature", "min_decisions"]),
    ("update_decision", "", &["reasons", "bridge"]),
];

/// The schema of a tool as the recording has it: without what is for people, and without what is ours.
fn schema(case: &Value) -> Value {
    let name = case["input"]["tool"].as_str().unwrap_or_default();
    let expected = &case["expected"]["inputSchema"];
    let Some(tool) = tool(name) else { return case["expected"].clone() };
    let mut schema = tool.input.clone();
    bare(&mut schema);
    for (of, place, ours) in OURS {
        let place = place.strip_prefix('/').map_or_else(String::new, |place| format!("/properties/{place}"));
        let known = expected.pointer(&format!("{place}/properties")).and_then(Value::as_object);
        let fields = schema.pointer_mut(&format!("{place}/properties")).and_then(Value::as_object_mut);
        if let (true, Some(fields)) = (of.is_empty() || *of == name, fields) {
            fields.retain(|key, _| known.is_some_and(|known| known.contains_key(key)) || !ours.contains(&key.as_str()));
        }
    }
    // Values of ours among those of the reference.
    for (place, ours) in [
        ("bridge_side/anyOf/0", "both"),
        ("include/anyOf/0/items", "contradictions"),
        ("include/anyOf/0/items", "wisdom"),
    ] {
        if let Some(Value::Array(values)) = schema.pointer_mut(&format!("/properties/{place}/enum")) {
            values.retain(|value| value != ours);
        }
    }
    json!({ "inputSchema": schema })
}

fn bare(schema: &mut Value) {
    if let Value::Object(map) = schema {
        if !map.get("description").is_some_and(Value::is_object) {
            map.remove("description");
        }
        map.values_mut().for_each(bare);
    }
}

/// The rules that were in force.
fn rules() -> Value {
    json!([
        {
            "id": "no-high-stakes-low-confidence", "description": "Confidence floor for high stakes",
            "condition_stakes": "high", "condition_confidence": "< 0.5", "action": "block",
            "message": "confidence {confidence} is under the floor",
        },
        {
            "id": "tooling-review", "description": "Reviewed tooling only", "condition_category": "tooling",
            "requires_code_review": true, "action": "warn",
        },
    ])
}

fn calls(case: &Value) -> Result<Value, String> {
    let input = &case["input"];
    let options = json!({ "guardrails": rules(), "embedding_model": "recorded" }).to_string();
    let mut session = api::new_store(&options).map_err(|error| error.to_string())?;
    let mut now = timestamps::parse(input["now"].as_str().unwrap_or_default()).unwrap_or_default();
    let (mut results, mut ids) = (Vec::new(), 0);
    for step in input["steps"].as_array().into_iter().flatten() {
        let mut arguments = filled(&step["arguments"], &results);
        if step["tool"] == "query_decisions" && arguments["retrieval_mode"].is_null() {
            // Whatever it says, the reference searched by meaning.
            arguments["retrieval_mode"] = "semantic".into();
        }
        let mut asked = json!({ "name": step["tool"], "arguments": arguments, "now": now, "ids": [] });
        results.push(finished(&mut session, &mut asked, &mut ids)?);
        now += (input["step_seconds"].as_f64().unwrap_or_default() * 1000.0) as i64;
    }
    let mut results = Value::Array(results);
    prune(&case["expected"]["results"], &mut results);
    Ok(renamed(&case["expected"], &json!({ "results": results })))
}

/// Calls a tool until it has what it needs; returns what it says.
fn finished(session: &mut api::DecisionSession, asked: &mut Value, ids: &mut u32) -> Result<Value, String> {
    loop {
        let answer = api::call(session, "call_tool", &asked.to_string()).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let Some(needs) = answer["need"].as_array() else {
            let text = answer["done"]["content"][0]["text"].as_str().unwrap_or_default();
            let mut said: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            if said["retrievalMode"] == "semantic" {
                said["retrievalMode"] = "hybrid".into();
            }
            return Ok(said);
        };
        for need in needs {
            if need["kind"] == "id" {
                *ids += 1;
                asked["ids"] = json!([format!("{ids:08x}")]);
                continue;
            }
            let texts = need["texts"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let bytes: Vec<u8> = texts.flat_map(vector).flat_map(f32::to_le_bytes).collect();
            let texts = json!({ "texts": need["texts"] }).to_string();
            api::take_vectors(session, &texts, &bytes).map_err(|error| error.to_string())?;
        }
    }
}

/// The embedding of the recorded run: words in 32 dimensions.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 32];
    let lower = text.to_lowercase();
    for word in lower.split(|ch: char| !ch.is_alphanumeric() && ch != '_').filter(|word| !word.is_empty()) {
        let hash = Sha256::digest(word.as_bytes());
        let (last, sign) = (hash[3], hash[2] & 1);
        vector[usize::from(last % 32)] += if sign == 0 { 1.0 } else { -1.0 };
    }
    vector
}

/// Puts earlier results in the place of `$<step>.<field>`.
fn filled(value: &Value, results: &[Value]) -> Value {
    match value {
        Value::String(text) => {
            let reference = text.strip_prefix('$').and_then(|rest| rest.split_once('.'));
            let step =
                reference.and_then(|(step, field)| Some(results.get(step.parse::<usize>().ok()?)?[field].clone()));
            step.unwrap_or_else(|| value.clone())
        }
        Value::Array(list) => list.iter().map(|entry| filled(entry, results)).collect(),
        Value::Object(map) => map.iter().map(|(key, entry)| (key.clone(), filled(entry, results))).collect(),
        other => other.clone(),
    }
}

/// Leaves out fields that the recording does not speak of, as it allows.
fn prune(expected: &Value, actual: &mut Value) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            if expected.keys().any(|key| actual.contains_key(key)) {
                let taken = std::mem::take(actual);
                let known = expected.keys().filter_map(|key| Some((key.clone(), taken.get(key)?.clone())));
                *actual = known.collect::<Map<String, Value>>();
            }
            for (key, value) in actual.iter_mut() {
                if let Some(expected) = expected.get(key) {
                    prune(expected, value);
                }
            }
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.iter().zip(actual).for_each(|(expected, actual)| prune(expected, actual));
        }
        _ => {}
    }
}

/// Gives ids the names they have in the recording: the first that appears there is the first that appears here.
fn renamed(expected: &Value, actual: &Value) -> Value {
    let (names, own) = (ids(&expected.to_string()), ids(&actual.to_string()));
    let mut text = actual.to_string();
    // Those with a letter first: other ids may be parts of them.
    for has_letter in [true, false] {
        for (index, id) in own.iter().enumerate().filter(|(_, id)| id.contains('-') == has_letter) {
            text = text.replace(id.as_str(), &format!("<{index}>"));
        }
    }
    for (index, _) in own.iter().enumerate() {
        let mut name = names.get(index).cloned().unwrap_or_default();
        if name.is_empty() {
            let _ = write!(name, "#{index}");
        }
        text = text.replace(&format!("<{index}>"), &name);
    }
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns the ids in a text in the order of their appearance: of decisions, and of inputs, which begin with a letter.
fn ids(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let is_id = |word: &str| {
        let digits = word.split_once('-').map_or(word, |(letter, digits)| if letter.len() == 1 { digits } else { "" });
        digits.len() == 8 && digits.starts_with("0000") && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    for word in text.split(|ch: char| !ch.is_alphanumeric() && ch != '-').filter(|word| is_id(word)) {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}
