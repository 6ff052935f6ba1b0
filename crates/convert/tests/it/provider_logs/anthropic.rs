//! Conversations as Anthropic accepts them.

use serde_json::{Value, json};

use super::Random;

/// Returns messages, and a system prompt or none.
pub fn conversation(random: &mut Random) -> (Value, Option<Value>) {
    let mut messages = Vec::new();
    let mut next = 0;
    let mut results: Vec<Value> = Vec::new();
    for _ in 0..=random.below(5) {
        messages.push(user(random, std::mem::take(&mut results)));
        if random.once_in(5) {
            break;
        }
        let (message, calls) = assistant(random, &mut next);
        messages.push(message);
        results = calls.into_iter().map(|id| result(random, &id)).collect();
        random.turn(&mut results);
    }
    let system = match random.below(4) {
        0 => Some(random.text().into()),
        1 => Some((0..=random.below(2)).map(|_| said(random, "cache_control")).collect()),
        _ => None,
    };
    // After calls there is a user, or nothing.
    if let Some(last) = messages.last_mut().filter(|last| last["role"] == "assistant") {
        trim_end(last);
    }
    (messages.into(), system)
}

/// Takes white space off the end, with which a last message of the assistant is refused.
fn trim_end(message: &mut Value) {
    let content = &mut message["content"];
    let last =
        if content.is_string() { Some(content) } else { content.as_array_mut().and_then(|list| list.last_mut()) };
    let Some(last) = last else { return };
    let text = if last.is_string() { last } else { &mut last["text"] };
    if let Some(trimmed) = text.as_str().map(|text| text.trim_end().to_owned()) {
        *text = trimmed.into();
    }
}

fn message(random: &mut Random, role: &str, content: &Value) -> Value {
    let mut message = if random.once_in(4) {
        json!({ "content": content, "role": role })
    } else {
        json!({ "role": role, "content": content })
    };
    if random.once_in(5) {
        message["id"] = "msg_1".into();
    }
    random.extend(&mut message, &["usage"]);
    message
}

fn user(random: &mut Random, mut blocks: Vec<Value>) -> Value {
    if blocks.is_empty() && random.once_in(2) {
        let text = random.text();
        return message(random, "user", &text.into());
    }
    let count = random.below(3) + usize::from(blocks.is_empty());
    blocks.extend((0..count).map(|_| given(random)));
    message(random, "user", &blocks.into())
}

fn said(random: &mut Random, extra: &str) -> Value {
    let mut block = json!({ "type": "text", "text": random.text() });
    random.extend(&mut block, &[extra]);
    block
}

fn source(random: &mut Random, media_type: &str) -> Value {
    random.pick(&[
        json!({ "type": "base64", "media_type": media_type, "data": "AAAABBBB" }),
        json!({ "type": "url", "url": "https://e.test/i" }),
        json!({ "type": "file", "file_id": "file_1" }),
    ])
}

fn given(random: &mut Random) -> Value {
    let text = random.text();
    let mut block = match random.below(8) {
        0 => json!({ "type": "image", "source": source(random, "image/png") }),
        1 => json!({ "type": "document", "source": source(random, "application/pdf"), "title": text }),
        2 => {
            json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": text }, "title": "T" })
        }
        3 => {
            json!({ "type": "document", "source": { "type": "content", "content": [{ "type": "text", "text": text }] } })
        }
        4 => {
            json!({ "type": "search_result", "source": "https://e.test", "title": "T", "content": [{ "type": "text", "text": text }] })
        }
        5 => json!({ "type": "container_upload", "file_id": "file_1" }),
        6 => json!({ "type": "new_block", "x": random.value(), "deep": [{ "text": text }] }),
        _ => said(random, "citations"),
    };
    random.extend(&mut block, &["cache_control", "context"]);
    block
}

fn result(random: &mut Random, id: &str) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": id });
    match random.below(6) {
        0 => {}
        1 => block["content"] = json!(""),
        2 => block["content"] = json!([]),
        3 => {
            block["content"] =
                json!([said(random, "k"), { "type": "image", "source": source(random, "image/png") }, given(random)]);
        }
        _ => block["content"] = random.text().into(),
    }
    if random.once_in(3) {
        block["is_error"] = random.once_in(2).into();
    }
    random.extend(&mut block, &["cache_control"]);
    block
}

fn thinking(random: &mut Random) -> Value {
    if random.once_in(3) {
        json!({ "type": "redacted_thinking", "data": format!("{}{}", random.text(), random.below(1_000_000)) })
    } else {
        json!({ "type": "thinking", "thinking": random.text(), "signature": format!("c2ln{}", random.below(1_000_000)) })
    }
}

/// Returns a message and the ids of its calls.
fn assistant(random: &mut Random, next: &mut usize) -> (Value, Vec<String>) {
    if random.once_in(4) {
        let text = random.text();
        return (message(random, "assistant", &text.into()), Vec::new());
    }
    let (mut blocks, mut calls) = (Vec::new(), Vec::new());
    if random.once_in(2) {
        blocks.extend((0..=random.below(2)).map(|_| thinking(random)));
    }
    for _ in 0..=random.below(4) {
        *next += 1;
        match random.below(6) {
            0 | 1 => {
                let id = format!("toolu_{next}");
                let mut call = json!({ "type": "tool_use", "id": id, "name": "look_up", "input": random.object() });
                random.extend(&mut call, &["cache_control", "caller"]);
                blocks.push(call);
                calls.push(id);
            }
            2 => {
                let (id, kind) = (format!("srvtoolu_{next}"), random.pick(&["server", "mcp"]));
                let result = if kind == "mcp" { "mcp" } else { "web_search" };
                blocks.push(
                    json!({ "type": format!("{kind}_tool_use"), "id": id, "name": "search", "input": random.object() }),
                );
                blocks.push(
                    json!({ "type": format!("{result}_tool_result"), "tool_use_id": id, "content": random.value() }),
                );
            }
            3 => blocks.push(json!({ "type": "new_block", "x": random.value() })),
            _ => blocks.push(said(random, "citations")),
        }
        if random.once_in(8) && blocks[0]["type"].as_str().unwrap().ends_with("thinking") {
            blocks.push(thinking(random));
            blocks.push(said(random, "citations"));
        }
    }
    (message(random, "assistant", &blocks.into()), calls)
}
