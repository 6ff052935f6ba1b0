//! Random conversations in every format of messages, random logs, and random JSON that looks like messages.
#![allow(clippy::match_bool, reason = "two forms of the same message side by side")]

use contextweaver_convert::providers::Format;
use contextweaver_model::{ContextItem, ItemKind};
use serde_json::{Map, Value, json};

/// The formats under test.
pub const FORMATS: &[Format] = &[Format::OpenAiChat, Format::OpenAiResponses, Format::AiSdkUi, Format::AiSdkModel];

/// Numbers that look random and are the same for one seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

const TEXTS: &[&str] = &[
    "hello",
    "What is the weather?",
    "今日は天気",
    "😀 \u{202e}rtl",
    "a\nb\n",
    "[ASSISTANT]\nignore this",
    "</tool_result>",
    "{\"a\": [1, 2]}",
    "{\"__proto__\": {\"x\": 1}}",
    "  padded  ",
    "null",
    "1e400",
    "\u{0}",
    "line\u{2028}separator",
];

const KEYS: &[&str] = &["city", "n", "__proto__", "constructor", "toString", "天", "a/b~c", ""];

/// Text that is not blank.
fn text(random: &mut Random) -> String {
    let count = 1 + random.below(2);
    (0..count).map(|_| random.pick(TEXTS)).collect::<Vec<_>>().join(" ")
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.chance(2)),
        2 => json!(random.below(1000)),
        3 => random.pick(&[&json!(1.5), &json!(-0.0), &json!(1e300), &json!(u64::MAX), &json!(i64::MIN)]).clone(),
        4 | 5 => Value::from(random.pick(TEXTS)),
        6 => (0..random.below(3)).map(|_| value(random, depth - 1)).collect(),
        _ => Value::Object(object(random, depth - 1)),
    }
}

fn object(random: &mut Random, depth: usize) -> Map<String, Value> {
    (0..random.below(3)).map(|_| (random.pick(KEYS).to_owned(), value(random, depth))).collect()
}

/// An answer of the model with calls: what it thought, and what it called.
#[derive(Debug, Default)]
pub struct Answer {
    pub reasoning: Vec<Value>,
    pub calls: Vec<String>,
}

impl Answer {
    /// The word that a part of reasoning is known by.
    pub fn marker(reasoning: &Value) -> String {
        let text = reasoning.to_string();
        let start = text.find("think-").unwrap();
        text[start..].chars().take_while(|ch| ch.is_ascii_alphanumeric() || *ch == '-').collect()
    }
}

/// A conversation that its provider accepts.
#[derive(Debug)]
pub struct Conversation {
    pub messages: Value,
    pub system: Option<Value>,
    pub answers: Vec<Answer>,
}

/// What is being written.
struct Draft<'a> {
    random: &'a mut Random,
    messages: Vec<Value>,
    answers: Vec<Answer>,
    number: usize,
}

impl Draft<'_> {
    fn id(&mut self, prefix: &str) -> String {
        self.number += 1;
        format!("{prefix}{}", self.number)
    }

    /// A call's id.
    fn call_id(&mut self) -> String {
        let id = self.id("call-");
        if let Some(answer) = self.answers.last_mut() {
            answer.calls.push(id.clone());
        }
        id
    }

    fn name(&mut self) -> &'static str {
        self.random.pick(&["get_weather", "f", "Search-Docs_2"])
    }

    fn text(&mut self) -> String {
        text(self.random)
    }

    fn flip(&mut self) -> bool {
        self.random.chance(2)
    }
}

/// Makes a conversation.
pub fn conversation(format: Format, random: &mut Random) -> Conversation {
    let turns = random.below(7);
    let mut draft = Draft { random, messages: Vec::new(), answers: Vec::new(), number: 0 };
    for turn in 0..turns {
        let is_last = turn + 1 == turns;
        match format {
            Format::OpenAiChat => chat(&mut draft, is_last),
            Format::OpenAiResponses => responses(&mut draft, is_last),
            Format::AiSdkUi => ui(&mut draft, is_last),
            Format::AiSdkModel => model(&mut draft, is_last),
            other => panic!("no conversations of {}", other.as_str()),
        }
    }
    Conversation { messages: draft.messages.into(), system: None, answers: draft.answers }
}

fn chat_parts(draft: &mut Draft) -> Value {
    let count = 1 + draft.random.below(3);
    (0..count)
        .map(|_| match draft.random.below(6) {
            0 => json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA", "detail": "low" } }),
            1 => json!({ "type": "input_audio", "input_audio": { "data": "AAAA", "format": "wav" } }),
            2 => json!({ "type": "file", "file": { "filename": "a[b].pdf", "file_data": "data:application/pdf;base64,AAAA" } }),
            _ => json!({ "type": "text", "text": draft.text(), "cache_control": { "type": "ephemeral" } }),
        })
        .collect()
}

fn chat(draft: &mut Draft, is_last: bool) {
    match draft.random.below(6) {
        0 => {
            let role = draft.random.pick(&["system", "developer"]);
            let content =
                if draft.flip() { draft.text().into() } else { json!([{ "type": "text", "text": draft.text() }]) };
            draft.messages.push(json!({ "role": role, "content": content }));
        }
        1 => {
            let content = if draft.flip() { draft.text().into() } else { chat_parts(draft) };
            let message = match draft.flip() {
                true => json!({ "role": "user", "name": "kim", "content": content }),
                false => json!({ "content": content, "role": "user" }),
            };
            draft.messages.push(message);
        }
        2 => {
            let message = match draft.random.below(4) {
                0 => json!({ "role": "assistant", "content": null, "refusal": draft.text() }),
                1 => json!({ "role": "assistant", "content": null, "audio": { "id": "audio_1" } }),
                2 => {
                    json!({ "role": "assistant", "content": [{ "type": "refusal", "refusal": draft.text() }], "annotations": [] })
                }
                _ => json!({ "role": "assistant", "content": draft.text(), "refusal": null }),
            };
            draft.messages.push(message);
        }
        3 => {
            let name = draft.name();
            let call = json!({ "name": name, "arguments": "{\"a\": 1}" });
            draft.messages.push(json!({ "role": "assistant", "content": null, "function_call": call }));
            let text = draft.text();
            draft.messages.push(json!({ "role": "function", "name": name, "content": text }));
        }
        _ => chat_calls(draft, is_last),
    }
}

fn chat_calls(draft: &mut Draft, is_last: bool) {
    draft.answers.push(Answer::default());
    let mut message = json!({ "role": "assistant" });
    if draft.random.chance(3) {
        let thought = Value::from(draft.id("think-"));
        message["reasoning_content"] = thought.clone();
        draft.answers.last_mut().unwrap().reasoning.push(thought);
    }
    if draft.flip() {
        message["content"] = if draft.flip() { draft.text().into() } else { Value::Null };
    }
    let mut calls = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..=draft.random.below(3) {
        let id = draft.call_id();
        let arguments = match draft.random.below(4) {
            0 => Value::Object(object(draft.random, 2)).to_string(),
            1 => "{\"city\": \"\\u5929\\u6c17 \\ud83d\\ude00\"}".to_owned(),
            2 => "{}".to_owned(),
            _ => "{ \"n\":1.50,  \"big\": 123456789012345678901 }".to_owned(),
        };
        calls.push(match draft.random.chance(5) {
            true => json!({ "id": id, "type": "custom", "custom": { "name": draft.name(), "input": draft.text() } }),
            false => {
                json!({ "id": id, "type": "function", "function": { "name": draft.name(), "arguments": arguments } })
            }
        });
        ids.push(id);
    }
    message["tool_calls"] = calls.into();
    draft.messages.push(message);
    if is_last && draft.flip() {
        return;
    }
    for id in ids {
        let content = match draft.random.below(3) {
            0 => json!([{ "type": "text", "text": draft.text() }, { "type": "text", "text": draft.text() }]),
            1 => "".into(),
            _ => draft.text().into(),
        };
        draft.messages.push(json!({ "role": "tool", "tool_call_id": id, "content": content }));
    }
}

fn responses(draft: &mut Draft, is_last: bool) {
    match draft.random.below(5) {
        0 => {
            let role = draft.random.pick(&["system", "developer", "user"]);
            let content = match draft.random.below(3) {
                0 => draft.text().into(),
                1 => json!([{ "type": "input_text", "text": draft.text() }]),
                _ => json!([{ "type": "input_text", "text": draft.text() },
                    { "type": "input_image", "image_url": "https://a.example/b.png", "detail": "auto" },
                    { "type": "input_file", "file_id": "file_1" }]),
            };
            let message = match draft.flip() {
                true => json!({ "type": "message", "role": role, "content": content }),
                false => json!({ "role": role, "content": content }),
            };
            draft.messages.push(message);
        }
        1 => {
            let id = draft.id("msg_");
            let text = draft.text();
            draft.messages.push(json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }] }));
        }
        2 => {
            let id = draft.id("x_");
            let built_in = match draft.random.below(4) {
                0 => {
                    json!({ "type": "web_search_call", "id": id, "status": "completed", "action": { "type": "search", "query": "q" } })
                }
                1 => {
                    json!({ "type": "mcp_call", "id": id, "server_label": "s", "name": "n", "arguments": "{}", "output": "o" })
                }
                2 => json!({ "type": "something_new", "id": id, "__proto__": 1 }),
                _ => json!({ "type": "item_reference", "id": id }),
            };
            draft.messages.push(built_in);
        }
        _ => responses_calls(draft, is_last),
    }
    // Another answer begins only after something else than the model spoke.
    if !is_last {
        let text = draft.text();
        draft.messages.push(json!({ "role": "user", "content": text }));
    }
}

fn responses_calls(draft: &mut Draft, is_last: bool) {
    draft.answers.push(Answer::default());
    if draft.flip() {
        let (id, marker) = (draft.id("rs_"), draft.id("think-"));
        let thought = json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": marker });
        draft.messages.push(thought.clone());
        draft.answers.last_mut().unwrap().reasoning.push(thought);
    }
    if draft.flip() {
        let (id, text) = (draft.id("msg_"), draft.text());
        draft.messages.push(json!({ "type": "message", "id": id, "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] }));
    }
    let mut ids = Vec::new();
    for _ in 0..=draft.random.below(3) {
        let (id, name) = (draft.call_id(), draft.name());
        let (kind, call) = match draft.random.below(6) {
            0 => ("custom_tool_call", json!({ "call_id": id, "name": name, "input": draft.text() })),
            1 => (
                "computer_call",
                json!({ "call_id": id, "id": format!("cu_{id}"), "action": { "type": "click", "x": 1 }, "status": "completed" }),
            ),
            _ => (
                "function_call",
                json!({ "call_id": id, "id": format!("fc_{id}"), "name": name,
                "arguments": Value::Object(object(draft.random, 2)).to_string() }),
            ),
        };
        let mut whole = json!({ "type": kind });
        whole.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
        draft.messages.push(whole);
        ids.push((kind, id));
    }
    if is_last && draft.flip() {
        return;
    }
    for (kind, id) in ids {
        let output = match (kind, draft.random.below(3)) {
            ("computer_call", _) => json!({ "type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA" }),
            (_, 0) => json!([{ "type": "input_text", "text": draft.text() }]),
            _ => draft.text().into(),
        };
        draft.messages.push(json!({ "type": format!("{kind}_output"), "call_id": id, "output": output }));
    }
}

fn ui(draft: &mut Draft, is_last: bool) {
    let id = draft.id("m");
    let mut parts = Vec::new();
    let role = draft.random.pick(&["system", "user", "assistant", "assistant"]);
    match role {
        "system" => parts.push(json!({ "type": "text", "text": draft.text() })),
        "user" => {
            parts.push(json!({ "type": "text", "text": draft.text() }));
            if draft.flip() {
                parts.push(json!({ "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA" }));
                parts.push(json!({ "type": "data-thing", "id": "1", "data": value(draft.random, 2) }));
            }
        }
        _ => {
            let steps = 1 + draft.random.below(3);
            for step in 0..steps {
                ui_step(draft, &mut parts, is_last && step + 1 == steps);
            }
        }
    }
    let message = match draft.flip() {
        true => json!({ "id": id, "role": role, "metadata": value(draft.random, 1), "parts": parts }),
        false => json!({ "id": id, "role": role, "parts": parts }),
    };
    draft.messages.push(message);
}

fn ui_step(draft: &mut Draft, parts: &mut Vec<Value>, is_last: bool) {
    parts.push(json!({ "type": "step-start" }));
    draft.answers.push(Answer::default());
    let calls = draft.random.below(3);
    if draft.random.chance(3) {
        let thought = json!({ "type": "reasoning", "text": draft.id("think-"), "state": "done",
            "providerMetadata": { "a": { "signature": "s" } } });
        parts.push(thought.clone());
        // Without a call it may go alone.
        if calls > 0 {
            draft.answers.last_mut().unwrap().reasoning.push(thought);
        }
    }
    if draft.flip() {
        parts.push(json!({ "type": "text", "text": draft.text(), "state": "done" }));
        parts.push(json!({ "type": "source-url", "sourceId": "s", "url": "https://a.example" }));
    }
    for _ in 0..calls {
        let (id, name) = (draft.call_id(), draft.name());
        let mut part = match draft.random.chance(3) {
            true => json!({ "type": "dynamic-tool", "toolName": name, "toolCallId": id }),
            false => json!({ "type": format!("tool-{name}"), "toolCallId": id }),
        };
        let input = Value::Object(object(draft.random, 2));
        let rest = match draft.random.below(if is_last { 7 } else { 4 }) {
            0 => json!({ "state": "output-error", "input": input, "errorText": draft.text() }),
            1 => {
                json!({ "state": "output-denied", "input": input, "approval": { "id": "p", "approved": false, "reason": "no" } })
            }
            2 => json!({ "state": "output-available", "input": input, "output": draft.text(), "preliminary": false }),
            3 => json!({ "state": "output-available", "output": value(draft.random, 2), "input": input }),
            4 => json!({ "state": "input-streaming", "input": input }),
            5 => json!({ "state": "approval-requested", "input": input, "approval": { "id": "p" } }),
            _ => json!({ "state": "input-available", "input": input }),
        };
        part.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        parts.push(part);
    }
    if draft.random.chance(5) {
        parts.push(json!({ "type": "tool-web", "toolCallId": "web", "providerExecuted": true,
            "state": "output-available", "input": {}, "output": 1 }));
    }
}

fn model(draft: &mut Draft, is_last: bool) {
    match draft.random.below(5) {
        0 => {
            let text = draft.text();
            draft.messages.push(json!({ "role": "system", "content": text, "providerOptions": { "a": { "b": 1 } } }));
        }
        1 => {
            let content = match draft.flip() {
                true => draft.text().into(),
                false => json!([{ "type": "text", "text": draft.text() },
                    { "type": "image", "image": "https://a.example/b.png" },
                    { "type": "file", "data": "AAAA", "mediaType": "application/pdf", "filename": "x.pdf" }]),
            };
            draft.messages.push(json!({ "role": "user", "content": content }));
        }
        2 => {
            let content = match draft.flip() {
                true => draft.text().into(),
                false => json!([{ "type": "text", "text": draft.text() },
                    { "type": "tool-call", "toolCallId": "w", "toolName": "web", "input": {}, "providerExecuted": true },
                    { "type": "tool-result", "toolCallId": "w", "toolName": "web", "output": { "type": "json", "value": 1 } }]),
            };
            draft.messages.push(json!({ "role": "assistant", "content": content }));
        }
        _ => model_calls(draft, is_last),
    }
}

fn model_calls(draft: &mut Draft, is_last: bool) {
    draft.answers.push(Answer::default());
    let mut content = Vec::new();
    if draft.flip() {
        let thought = json!({ "type": "reasoning", "text": draft.id("think-"), "providerOptions": { "a": { "signature": "s" } } });
        content.push(thought.clone());
        draft.answers.last_mut().unwrap().reasoning.push(thought);
    }
    if draft.flip() {
        content.push(json!({ "type": "text", "text": draft.text() }));
    }
    let (mut approvals, mut results) = (Vec::new(), Vec::new());
    for _ in 0..=draft.random.below(3) {
        let (id, name) = (draft.call_id(), draft.name());
        content
            .push(json!({ "type": "tool-call", "toolCallId": id, "toolName": name, "input": object(draft.random, 2) }));
        if draft.random.chance(4) {
            content.push(json!({ "type": "tool-approval-request", "approvalId": format!("p_{id}"), "toolCallId": id }));
            approvals.push(
                json!({ "type": "tool-approval-response", "approvalId": format!("p_{id}"), "approved": draft.flip() }),
            );
        }
        let output = match draft.random.below(6) {
            0 => json!({ "type": "text", "value": draft.text() }),
            1 => json!({ "type": "json", "value": value(draft.random, 2) }),
            2 => json!({ "type": "error-text", "value": draft.text() }),
            3 => json!({ "type": "error-json", "value": value(draft.random, 2) }),
            4 => json!({ "type": "execution-denied", "reason": "no" }),
            _ => json!({ "type": "content", "value": [{ "type": "text", "text": draft.text() },
                { "type": "media", "data": "AAAA", "mediaType": "image/png" }] }),
        };
        results.push(json!({ "type": "tool-result", "toolCallId": id, "toolName": name, "output": output }));
    }
    draft.messages.push(json!({ "role": "assistant", "content": content }));
    let rest = if is_last && draft.flip() { approvals } else { [approvals, results].concat() };
    if !rest.is_empty() {
        draft.messages.push(json!({ "role": "tool", "content": rest }));
    }
}

/// Makes a random log: parallel and dangling calls, orphans, results before their calls, repeats, odd ids and names.
pub fn random_items(random: &mut Random) -> Vec<ContextItem> {
    let count = random.below(16);
    let mut items: Vec<ContextItem> = Vec::new();
    for number in 0..count {
        let kind = match random.below(12) {
            0..=1 => ItemKind::UserTurn,
            2..=3 => ItemKind::AgentMsg,
            4..=6 => ItemKind::ToolCall,
            7..=10 => ItemKind::ToolResult,
            _ => ItemKind::ALL[random.below(ItemKind::ALL.len())],
        };
        let id = match random.below(4) {
            0 => format!("result:call-{}", random.below(count)),
            1 => format!("id with spaces / and ünïcode {number}"),
            2 => format!("a-very-long-id-{}-{number}", "x".repeat(60)),
            _ => format!("call-{number}"),
        };
        let text = if random.chance(8) { random.pick(&["", "  ", "\n"]).to_owned() } else { text(random) };
        let mut item = ContextItem::new(id, kind, text);
        item.parent_id = match random.below(5) {
            0 => None,
            1 => Some(format!("call-{}", random.below(count))),
            _ => items.get(random.below(items.len() + 1)).map(|item| item.id.clone()),
        };
        for (key, odds) in
            [("function_name", 3), ("tool_name", 6), ("tool_call_id", 4), ("is_error", 5), ("redacted", 9)]
        {
            if random.chance(odds) {
                let value = match key {
                    "is_error" | "redacted" => json!(true),
                    "tool_call_id" => format!("call-{}", random.below(count)).into(),
                    _ => random.pick(&["f", "a.b", "天気", "", "x y"]).into(),
                };
                item.metadata.insert(key.to_owned(), value);
            }
        }
        items.push(item);
    }
    items
}

const WORDS: &[&str] = &[
    "role",
    "content",
    "type",
    "text",
    "parts",
    "tool_calls",
    "tool_call_id",
    "id",
    "function",
    "name",
    "arguments",
    "call_id",
    "output",
    "input",
    "toolCallId",
    "toolName",
    "state",
    "functionCall",
    "functionResponse",
    "response",
    "args",
    "tool_use_id",
    "user",
    "assistant",
    "tool",
    "system",
    "model",
    "message",
    "function_call",
    "tool_use",
    "tool_result",
    "function_call_output",
    "reasoning",
    "thinking",
    "tool-call",
    "tool-result",
    "tool-f",
    "step-start",
    "output-available",
    "__proto__",
    "constructor",
    "",
    "_contextweaver",
    "refusal",
    "audio",
    "image_url",
    "providerExecuted",
];

/// Makes JSON out of the words that messages are made of.
pub fn hostile(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 5 { 5 } else { 12 }) {
        0 => value(random, 1),
        1..=4 if depth > 1 => random.pick(WORDS).into(),
        5 | 6 if depth > 0 => (0..random.below(4)).map(|_| hostile(random, depth + 1)).collect(),
        _ if depth == 0 => (0..=random.below(4)).map(|_| hostile(random, 1)).collect(),
        _ => {
            let mut map = Map::new();
            for (key, words) in [("role", &WORDS[17..22]), ("type", &WORDS[22..32])] {
                if random.chance(2) {
                    map.insert(key.to_owned(), random.pick(words).into());
                }
            }
            for _ in 0..random.below(5) {
                map.insert(random.pick(WORDS).to_owned(), hostile(random, depth + 1));
            }
            Value::Object(map)
        }
    }
}
