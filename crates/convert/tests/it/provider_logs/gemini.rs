//! Conversations as Gemini accepts them.

use serde_json::{Value, json};

use super::Random;

/// Returns contents, and a system instruction or none.
pub fn conversation(random: &mut Random) -> (Value, Option<Value>) {
    let mut contents = Vec::new();
    let mut responses: Vec<Value> = Vec::new();
    let mut next = 0;
    for _ in 0..=random.below(5) {
        contents.push(user(random, std::mem::take(&mut responses)));
        if random.once_in(5) {
            break;
        }
        let (content, calls) = model(random, &mut next);
        contents.push(content);
        responses = calls.iter().map(|call| response(random, call)).collect();
        // Ids tell which is which.
        if calls.iter().all(|call| call.get("id").is_some()) {
            random.turn(&mut responses);
        }
    }
    let system = match random.below(4) {
        0 => Some(random.text().into()),
        1 => Some(json!({ "role": "system", "parts": [{ "text": random.text() }, { "text": random.text() }] })),
        _ => None,
    };
    (contents.into(), system)
}

fn content(random: &mut Random, role: &str, parts: &[Value]) -> Value {
    let mut content = match random.below(5) {
        0 if role == "user" => json!({ "parts": parts }),
        1 => json!({ "parts": parts, "role": role }),
        _ => json!({ "role": role, "parts": parts }),
    };
    random.extend(&mut content, &["x"]);
    content
}

fn named(random: &mut Random, camel: &str, snake: &str, value: &Value) -> Value {
    let name = if random.once_in(4) { snake } else { camel };
    json!({ name: value })
}

fn user(random: &mut Random, mut parts: Vec<Value>) -> Value {
    let is_response = !parts.is_empty();
    let count = if is_response { random.below(4) / 3 } else { 1 + random.below(3) };
    parts.extend((0..count).map(|_| given(random)));
    let role = if is_response && count == 0 && random.once_in(2) { "function" } else { "user" };
    content(random, role, &parts)
}

fn given(random: &mut Random) -> Value {
    match random.below(5) {
        0 => named(random, "inlineData", "inline_data", &json!({ "mimeType": "image/png", "data": "AAAABBBB" })),
        1 => named(random, "fileData", "file_data", &json!({ "mime_type": "video/mp4", "file_uri": "gs://e/v" })),
        2 => json!({ "newPart": random.value() }),
        _ => {
            let mut part = json!({ "text": random.text() });
            random.extend(&mut part, &["videoMetadata"]);
            part
        }
    }
}

fn response(random: &mut Random, call: &Value) -> Value {
    let text = random.text();
    let shown = random.pick(&[
        json!({}),
        json!({ "output": text }),
        json!({ "error": text }),
        json!({ "result": { "a": text } }),
    ]);
    let mut response = json!({ "name": call["name"], "response": shown });
    if let Some(id) = call.get("id") {
        response["id"] = id.clone();
    }
    random.extend(&mut response, &["parts", "scheduling"]);
    named(random, "functionResponse", "function_response", &response)
}

fn sign(random: &mut Random, part: &mut Value) {
    let name = random.pick(&["thoughtSignature", "thoughtSignature", "thought_signature"]);
    part[name] = format!("c2ln{}", random.below(10_000_000)).into();
}

/// Returns a content and its calls.
fn model(random: &mut Random, next: &mut usize) -> (Value, Vec<Value>) {
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    let with_ids = random.once_in(2);
    if random.once_in(3) {
        parts.push(json!({ "text": random.text(), "thought": true }));
    }
    for _ in 0..=random.below(4) {
        match random.below(6) {
            0 | 1 => {
                *next += 1;
                let mut call = json!({ "name": random.pick(&["look", "find"]), "args": random.object() });
                if with_ids {
                    call["id"] = format!("fc_{next}").into();
                }
                let mut part = named(random, "functionCall", "function_call", &call);
                calls.push(call);
                if random.once_in(2) {
                    sign(random, &mut part);
                }
                parts.push(part);
            }
            2 => {
                parts.push(json!({ "executableCode": { "language": "PYTHON", "code": random.text() } }));
                parts.push(json!({ "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": random.text() } }));
            }
            3 => parts.push(given(random)),
            _ => {
                let mut part = json!({ "text": random.text() });
                if random.once_in(4) {
                    sign(random, &mut part);
                }
                parts.push(part);
            }
        }
    }
    if random.once_in(4) {
        let mut last = json!({ "text": "" });
        sign(random, &mut last);
        parts.push(last);
    }
    (content(random, "model", &parts), calls)
}
