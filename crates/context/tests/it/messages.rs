//! Prompts as messages of providers: what is sent is counted by somebody else than the engine.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::collections::BTreeMap;

use contextweaver_base::{Error, ErrorCode, Result, limits};
use contextweaver_context::callbacks::{Need, Outcome};
use contextweaver_context::{
    BuildRequest, BuiltMessages, ContextManager, Conversation, ManagerOptions, McpResult, ToolResult,
};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, messages_to_items};
use contextweaver_model::{ContextItem, CutReason, ItemKind, Phase};
use contextweaver_test_support::property;
use contextweaver_text::tokens::Estimator;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{self, Log, Setup, log, setup};

const CLOSED: WriteOptions = WriteOptions { close_calls: true, is_steady: false, thought_signatures: false };

/// Builds messages, for themselves unless the request says that they go on.
fn build(manager: &mut ContextManager, request: &BuildRequest, format: Format) -> Result<BuiltMessages> {
    let running = Some(request.running == Some(true));
    match manager.build_messages(&BuildRequest { running, ..request.clone() }, format, CLOSED)? {
        Outcome::Done(built) => Ok(built),
        Outcome::Need(needs) => panic!("nobody to ask: {needs:?}"),
    }
}

/// Bytes of a picture, which nobody counts as text.
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";

/// Every text of a value, but for the bytes of pictures.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if PICTURE.contains(text.trim_start_matches("data:")) && text.len() > 20 => {}
        Value::String(text) => found.push(text),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(map) => map.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// The calls and the results of a message with their ids, read by the documents of its format.
fn calls_and_results(message: &Value, format: Format) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let id = |value: &Value, key: &str| value[key].as_str().unwrap_or("?").to_owned();
    let list = |key: &str| message[key].as_array().cloned().unwrap_or_default();
    match format {
        Format::OpenAiChat => {
            calls.extend(list("tool_calls").iter().map(|call| id(call, "id")));
            results.extend((message["role"] == "tool").then(|| id(message, "tool_call_id")));
        }
        Format::OpenAiResponses => {
            calls.extend((message["type"] == "function_call").then(|| id(message, "call_id")));
            results.extend((message["type"] == "function_call_output").then(|| id(message, "call_id")));
        }
        Format::Anthropic => {
            for block in list("content") {
                calls.extend((block["type"] == "tool_use").then(|| id(&block, "id")));
                results.extend((block["type"] == "tool_result").then(|| id(&block, "tool_use_id")));
            }
        }
        Format::Gemini => {
            for part in list("parts") {
                calls.extend(part.get("functionCall").map(|call| id(call, "name")));
                results.extend(part.get("functionResponse").map(|response| id(response, "name")));
            }
        }
        Format::AiSdkUi => {
            for part in list("parts").iter().filter(|part| part.get("toolCallId").is_some()) {
                calls.push(id(part, "toolCallId"));
                let is_answered = part["state"].as_str().is_some_and(|state| state.starts_with("output-"));
                results.extend(is_answered.then(|| id(part, "toolCallId")));
            }
        }
        Format::AiSdkModel => {
            for part in list("content") {
                calls.extend((part["type"] == "tool-call").then(|| id(&part, "toolCallId")));
                results.extend((part["type"] == "tool-result").then(|| id(&part, "toolCallId")));
            }
        }
    }
    (calls, results)
}

/// Tokens of what is sent: every text by itself, the documented frame of messages, calls and results, and the pictures.
fn sent(built: &BuiltMessages, format: Format, count: &dyn Fn(&str) -> u64) -> u64 {
    let mut tokens = 0;
    for message in built.written.messages.iter().chain(&built.written.system) {
        let mut found = Vec::new();
        texts(message, &mut found);
        let (calls, results) = calls_and_results(message, format);
        let pictures = message.to_string().matches(&PICTURE[30..]).count() as u64;
        tokens += found.iter().map(|text| count(text)).sum::<u64>();
        tokens += limits::MESSAGE_TOKENS + limits::TOOL_PART_TOKENS * (calls.len() + results.len()) as u64;
        tokens += picture_tokens(format) * pictures;
    }
    tokens
}

/// Tokens of the picture, which is one pixel: a square of some pixels, or what Gemini counts for any image.
fn picture_tokens(format: Format) -> u64 {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => 2,
        Format::Anthropic => 1,
        Format::Gemini | Format::AiSdkUi | Format::AiSdkModel => 1_120,
    }
}

/// A step of a conversation with tools.
#[derive(Debug, Clone)]
enum Step {
    Said(ItemKind, usize),
    /// Calls in one go: how many, how long their ids, and which of them are answered.
    Calls(usize, usize, u8),
    /// A result whose call is not there.
    Orphan(usize, usize),
    /// Messages read from the format, with a picture or a call.
    Read(bool, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = vec![ItemKind::UserTurn, ItemKind::AgentMsg, ItemKind::DocSnippet, ItemKind::Policy];
    prop_oneof![
        4 => (prop::sample::select(kinds), 0..60_usize).prop_map(|(kind, words)| Step::Said(kind, words)),
        4 => (1..6_usize, 1..80_usize, any::<u8>()).prop_map(|(calls, id, answered)| Step::Calls(calls, id, answered)),
        1 => (1..80_usize, 0..200_usize).prop_map(|(id, words)| Step::Orphan(id, words)),
        2 => (any::<bool>(), 0..30_usize).prop_map(|(picture, words)| Step::Read(picture, words)),
    ]
}

/// Text with quotes, line feeds and brackets, which grow where they are put into JSON.
fn words(count: usize) -> String {
    let words =
        ["refund", "\"quoted\"", "line\nbreak", "{\"a\": [1, 2]}", "order_12446", "今日は世界", "the", "\\path"];
    (0..count).map(|at| words[at % words.len()]).collect::<Vec<_>>().join(" ")
}

/// Makes the items of a conversation; what is read comes from messages of the format.
fn conversation(steps: &[Step], format: Format) -> Vec<ContextItem> {
    let mut items: Vec<ContextItem> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Said(kind, count) => items.push(ContextItem::new(format!("s{at}"), *kind, words(*count))),
            Step::Calls(count, id, answered) => {
                let name = |n: usize| format!("{}{at}_{n}", "c".repeat(*id));
                for n in 0..*count {
                    let text = ["{}", "f {}", "{\"q\": \"a\\nb\", \"n\": [1, 2, 3]}", "not JSON \"at\" all\n"][n % 4];
                    items.push(ContextItem::new(name(n), ItemKind::ToolCall, text));
                }
                for n in (0..*count).filter(|n| (answered >> n) & 1 == 1) {
                    let mut result =
                        ContextItem::new(format!("result:{}", name(n)), ItemKind::ToolResult, words(n * 9));
                    result.parent_id = Some(name(n));
                    items.push(result);
                }
            }
            Step::Orphan(id, count) => {
                let mut orphan = ContextItem::new(format!("o{at}"), ItemKind::ToolResult, words(*count));
                orphan.metadata.insert("tool_call_id".into(), format!("{}{at}", "lost/".repeat(*id)).into());
                items.push(orphan);
            }
            Step::Read(picture, count) => items.extend(read(at, *picture, *count, format)),
        }
    }
    items.push(ContextItem::new("last", ItemKind::UserTurn, "so?"));
    items
}

fn read(at: usize, picture: bool, count: usize, format: Format) -> Vec<ContextItem> {
    let (text, id) = (words(count), format!("call_{at}"));
    let messages = match (format, picture) {
        (Format::OpenAiChat, true) => json!([{ "role": "user", "content": [
            { "type": "text", "text": text }, { "type": "image_url", "image_url": { "url": PICTURE } }] }]),
        (Format::Anthropic, true) => json!([{ "role": "user", "content": [{ "type": "text", "text": text },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": &PICTURE[22..] } }] }]),
        (Format::Anthropic, false) => json!([
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": text, "signature": "c2ln" },
                { "type": "tool_use", "id": id, "name": "look", "input": { "at": [1, 2], "text": text } }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] }]),
        (Format::OpenAiChat, false) => json!([
            { "role": "assistant", "content": null, "reasoning_content": text, "tool_calls": [
                { "id": id, "type": "function", "function": { "name": "look", "arguments": "{\"at\":1}" } }] },
            { "role": "tool", "tool_call_id": id, "content": text }]),
        _ => return Vec::new(),
    };
    let options = ReadOptions { start: 10 * at, id_prefix: "message:".into(), ..ReadOptions::default() };
    messages_to_items(messages, format, &options).unwrap().items
}

fn check_pairs(built: &BuiltMessages, format: Format) -> std::result::Result<(), TestCaseError> {
    // Where an id may be missing, the names of calls and results.
    let mut open: BTreeMap<String, i64> = BTreeMap::new();
    for message in &built.written.messages {
        let (calls, results) = calls_and_results(message, format);
        for call in calls {
            *open.entry(call).or_default() += 1;
        }
        for result in results {
            let count = open.entry(result.clone()).or_default();
            *count -= 1;
            prop_assert!(*count >= 0, "result {result} before its call");
        }
    }
    let unanswered: Vec<_> = open.iter().filter(|(_, count)| **count != 0).collect();
    prop_assert!(unanswered.is_empty(), "{unanswered:?}");
    Ok(())
}

fn check(
    outcome: Result<BuiltMessages>,
    format: Format,
    budget: u64,
    count: &dyn Fn(&str) -> u64,
) -> std::result::Result<Option<BuiltMessages>, TestCaseError> {
    let built = match outcome {
        Ok(built) => built,
        Err(error) => {
            prop_assert_eq!(error.code(), ErrorCode::BudgetExceeded, "{}", error);
            prop_assert!(error.details()["over_by"].as_u64().unwrap() > 0);
            return Ok(None);
        }
    };
    let independent = sent(&built, format, count);
    prop_assert!(built.tokens <= budget, "{} tokens, budget {budget}", built.tokens);
    prop_assert!(independent <= built.tokens, "{independent} tokens are sent, {} counted", built.tokens);
    let pack = built.pack.as_ref().unwrap();
    prop_assert_eq!(pack.stats.prompt_tokens, Some(count(&pack.prompt)));
    prop_assert!(count(&pack.prompt) <= budget);
    prop_assert_eq!(pack.stats.budget_tokens, Some(budget));
    let stats = &built.stats;
    prop_assert_eq!(stats, &pack.stats);
    prop_assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates);
    prop_assert_eq!(stats.included_count as usize, pack.items.as_ref().unwrap().len());
    check_pairs(&built, format)?;
    Ok(Some(built))
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn p1_p2_p4_hold_for_what_is_sent(
        steps in prop::collection::vec(step(), 0..24),
        format in prop::sample::select(Format::ALL.to_vec()),
        estimator in prop::sample::select(vec![Estimator::V3, Estimator::V2, Estimator::CharDiv4]),
        budget in prop_oneof![0..60_u64, 60..1200_u64, 1200..8000_u64],
        is_running in prop::bool::weighted(0.2),
        trim in any::<bool>(),
    ) {
        let options = ManagerOptions { estimator: estimator.clone(), trim_active_turn: trim, ..ManagerOptions::default() };
        let mut manager = ContextManager::new(options);
        manager.ingest_all(conversation(&steps, format)).unwrap();
        let mut request = BuildRequest::new(Phase::Answer, "refund of order_12446");
        request.budget_tokens = Some(budget);
        (request.running, request.explain) = (Some(is_running), is_running);
        let count = |text: &str| estimator.tokens(text);
        let built = check(build(&mut manager, &request, format), format, budget, &count)?;
        // The same again; a running prompt grows out of the first.
        if is_running {
            manager.ingest(ContextItem::new("more", ItemKind::UserTurn, "and then?")).unwrap();
            check(build(&mut manager, &request, format), format, budget, &count)?;
        } else if let Some(built) = built {
            prop_assert_eq!(build(&mut manager, &request, format).unwrap(), built);
        }
    }

    #[test]
    fn p5_holds_for_messages(log in log(), setup in setup(), format in prop::sample::select(Format::ALL.to_vec())) {
        let Setup { options, mut request } = setup;
        request.explain = true;
        let mut manager = manager(&log, &options);
        let count = |text: &str| options.estimator.tokens(text);
        let built = build(&mut manager, &request, format);
        let out = built.as_ref().map_or_else(|error| error.to_json().to_string(), |built| json!(built).to_string());
        let floor = options.policy.sensitivity_floor;
        for (text, _) in log.texts().filter(|(_, level)| *level >= floor) {
            prop_assert!(!out.contains(support::marker(text)), "{text} got out");
        }
        for secret in support::SECRETS.iter().filter(|_| options.redact_secrets) {
            prop_assert!(!out.contains(secret), "{secret} got out");
        }
        check(built, format, request.budget_tokens.unwrap(), &count)?;
    }

    #[test]
    fn an_estimator_of_the_caller_counts_messages(
        steps in prop::collection::vec(step(), 0..10),
        format in prop::sample::select(Format::ALL.to_vec()),
        budget in 100..4000_u64,
        step in 1..9_usize,
        is_running: bool,
    ) {
        let options = ManagerOptions { estimator: Estimator::Custom("words".into()), ..ManagerOptions::default() };
        let mut manager = ContextManager::new(options);
        manager.ingest_all(conversation(&steps, format)).unwrap();
        let mut request = BuildRequest::new(Phase::Answer, "refund");
        request.budget_tokens = Some(budget);
        (request.running, request.explain) = (Some(is_running), is_running);
        // Neither additive nor close to characters.
        let count = |text: &str| (text.split_whitespace().count() + text.len() / (3 + step)) as u64;
        check(build_asking(&mut manager, &request, format, &count), format, budget, &count)?;
    }
}

fn manager(log: &Log, options: &ManagerOptions) -> ContextManager {
    let mut manager = ContextManager::new(options.clone());
    manager.ingest_all(log.items.clone()).unwrap();
    for fact in &log.facts {
        manager.add_fact(None, fact.clone()).unwrap();
    }
    for episode in &log.episodes {
        manager.add_episode(episode.clone()).unwrap();
    }
    manager
}

fn build_asking(
    manager: &mut ContextManager,
    request: &BuildRequest,
    format: Format,
    count: &dyn Fn(&str) -> u64,
) -> Result<BuiltMessages> {
    for _ in 0..limits::MAX_CALLBACK_ROUNDS {
        let needs = match manager.build_messages(request, format, CLOSED)? {
            Outcome::Done(built) => return Ok(built),
            Outcome::Need(needs) => needs,
        };
        let answer = |need: &Need| match need {
            Need::Count { text } => json!(count(text)),
            other => panic!("unexpected question {other:?}"),
        };
        manager.supply(needs.iter().map(answer).collect())?;
    }
    Err(Error::new(ErrorCode::Internal, "the questions never end"))
}

fn of(items: Vec<ContextItem>) -> ContextManager {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(items).unwrap();
    manager
}

fn asked(budget: u64) -> BuildRequest {
    BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, "") }
}

/// 300 calls without results: 1,652 tokens were reported and 4,500 sent.
#[test]
fn stubs_for_missing_results_count() {
    for format in Format::ALL {
        let mut items = vec![ContextItem::new("u", ItemKind::UserTurn, "go")];
        items.extend((0..300).map(|at| ContextItem::new(format!("c{at}"), ItemKind::ToolCall, "f {}")));
        let mut options = ManagerOptions { trim_active_turn: true, ..ManagerOptions::default() };
        options.estimator = Estimator::V3;
        let mut manager = ContextManager::new(options);
        manager.ingest_all(items).unwrap();
        let built = build(&mut manager, &asked(3000), *format).unwrap();
        let sent = sent(&built, *format, &|text| Estimator::V3.tokens(text));
        assert!(sent <= built.tokens && built.tokens <= 3000, "{format:?}: {sent} sent, {} counted", built.tokens);
        // The room is used, too.
        assert!(built.tokens > 1800, "{format:?}: {} of 3000", built.tokens);
        assert!(json!(built.written.messages).to_string().contains("No result was recorded"), "{format:?}");
    }
}

/// 100 tiny calls: 993 tokens were reported where ids, names and framing made it several times as many.
#[test]
fn ids_names_and_framing_count() {
    let mut items = Vec::new();
    for at in 0..100 {
        let id = format!("call_abcdefghijklmnop{at}");
        let call = json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } }] });
        let result = json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
        let options = ReadOptions { start: 2 * at, id_prefix: "message:".into(), ..ReadOptions::default() };
        items.extend(messages_to_items(json!([call, result]), Format::OpenAiChat, &options).unwrap().items);
    }
    items.push(ContextItem::new("u", ItemKind::UserTurn, "so?"));
    for format in Format::ALL {
        let built = build(&mut of(items.clone()), &asked(1000), *format).unwrap();
        let sent = sent(&built, *format, &|text| Estimator::V3.tokens(text));
        assert!(sent <= built.tokens && built.tokens <= 1000, "{format:?}: {sent} sent, {} counted", built.tokens);
        assert!(built.tokens > 600, "{format:?}: {} of 1000", built.tokens);
        assert!(built.written.messages.len() < 100, "{format:?}: {} messages", built.written.messages.len());
    }
}

#[test]
fn texts_are_those_of_the_log_and_not_those_of_the_page() {
    let mut items = vec![
        ContextItem::new("u", ItemKind::UserTurn, "look at\n[POLICY]\nthis"),
        ContextItem::new("c", ItemKind::ToolCall, "{\"q\":1}"),
        ContextItem::new("r", ItemKind::ToolResult, "found\n[TOOL RESULT]\nnothing"),
        ContextItem::new("a", ItemKind::AgentMsg, "nothing there"),
    ];
    for at in [1, 2] {
        items[at].metadata.insert("function_name".into(), "find".into());
    }
    items[2].parent_id = Some("c".into());
    let mut manager = of(items);
    let request =
        BuildRequest { header: "above".into(), footer: "below".into(), ..BuildRequest::new(Phase::Answer, "q") };
    let built = build(&mut manager, &request, Format::OpenAiChat).unwrap();
    let call = json!({ "id": "c", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } });
    let expected = json!([
        { "role": "system", "content": "above" },
        { "role": "user", "content": "look at\n[POLICY]\nthis" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c", "content": "found\n[TOOL RESULT]\nnothing" },
        { "role": "assistant", "content": "nothing there" },
        { "role": "user", "content": "below" },
    ]);
    assert_eq!(json!(built.written.messages), expected);
    // The same prompt as without messages.
    assert_eq!(built.pack.unwrap(), support::build(&mut manager, &request).unwrap());
}

#[test]
fn excerpts_and_secrets_have_the_text_of_the_prompt() {
    let options = ManagerOptions { redact_secrets: true, ..ManagerOptions::default() };
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let long: Vec<String> = (0..900).map(|at| format!("line {at} of a long answer with many words")).collect();
    let call = json!([{ "role": "assistant", "content": null, "tool_calls": [
        { "id": "c", "type": "function", "function": { "name": "find", "arguments": format!("{{\"token\":\"{key}\"}}") } }] }]);
    let read = ReadOptions { id_prefix: "message:".into(), ..ReadOptions::default() };
    let mut items = messages_to_items(call, Format::OpenAiChat, &read).unwrap().items;
    items.insert(0, ContextItem::new("u", ItemKind::UserTurn, "question"));
    let mut result = ContextItem::new("r", ItemKind::ToolResult, long.join("\n"));
    result.parent_id = Some("c".into());
    items.extend([result, ContextItem::new("u2", ItemKind::UserTurn, format!("use {key}"))]);
    let mut manager = ContextManager::new(options);
    manager.ingest_all(items).unwrap();
    let built =
        build(&mut manager, &BuildRequest { query: "line 7".into(), ..asked(400) }, Format::OpenAiChat).unwrap();
    let all = json!(built).to_string();
    assert!(!all.contains(key), "{all}");
    let texts: Vec<&str> = built.written.messages.iter().filter_map(|message| message["content"].as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("line ") && text.len() < 2000), "{texts:?}");
    assert!(built.written.messages.last().unwrap()["content"].as_str().unwrap().starts_with("use "), "{texts:?}");
}

#[test]
fn media_count_against_the_budget() {
    // The beginning of an image of 1,024 by 1,024 pixels.
    let large = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABAAAAAQA";
    let image = |at: usize| {
        let content = json!([{ "type": "text", "text": format!("a picture of i{at}") },
            { "type": "image_url", "image_url": { "url": large } }]);
        let options = ReadOptions { start: at, id_prefix: "message:".into(), ..ReadOptions::default() };
        let messages = json!([{ "role": "user", "content": content }]);
        messages_to_items(messages, Format::OpenAiChat, &options).unwrap().items
    };
    let mut manager = of((0..6).flat_map(image).collect());
    // An image has 1,229 tokens with OpenAI, 1,369 with Anthropic.
    for (format, mark, budget, count) in
        [(Format::OpenAiChat, "image_url\"", 3_800, 6), (Format::Anthropic, "\"base64\"", 4_200, 3)]
    {
        let built = build(&mut manager, &asked(budget), format).unwrap();
        assert_eq!(json!(built.written.messages).to_string().matches(mark).count(), count);
        assert!(built.tokens > budget - 200 && built.tokens <= budget, "{}", built.tokens);
        let error = build(&mut manager, &asked(500), format).unwrap_err();
        assert_eq!(error.code(), ErrorCode::BudgetExceeded);
    }
}

#[test]
fn a_running_prompt_shows_in_messages_what_it_shows_in_text() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let long: Vec<String> = (0..900).map(|at| format!("line {at} of\n[POLICY]\na long answer")).collect();
    let mut result = ContextItem::new("r", ItemKind::ToolResult, long.join("\n"));
    result.parent_id = Some("c".into());
    let call = ContextItem::new("c", ItemKind::ToolCall, "{}");
    manager.ingest_all(vec![call, result, ContextItem::new("u", ItemKind::UserTurn, "go")]).unwrap();
    let running = BuildRequest { running: Some(true), explain: true, ..asked(600) };
    let first = build(&mut manager, &running, Format::Anthropic).unwrap();
    let snapshot = serde_json::from_str(&json!(manager.snapshot()).to_string()).unwrap();
    let mut restored = ContextManager::from_json(snapshot, ManagerOptions::default()).unwrap();
    for manager in [&mut manager, &mut restored] {
        manager.ingest(ContextItem::new("u2", ItemKind::UserTurn, "and?")).unwrap();
        let next = build(manager, &running, Format::Anthropic).unwrap();
        assert_eq!(next.step.as_ref().unwrap().cut, None);
        assert_eq!(next.written.messages[..2], first.written.messages[..2]);
        let excerpt = next.written.messages[2]["content"][0]["content"].as_str().unwrap();
        assert!(excerpt.contains("line 0") && !excerpt.contains("[TOOL RESULT"), "{excerpt}");
        assert!(next.pack.unwrap().prompt.contains("line 0"));
    }
}

/// The provider's image part is in the result, also where a digest stands for its text, and counts.
#[test]
fn images_of_results_are_in_messages() {
    let bytes = &PICTURE["data:image/png;base64,".len()..];
    let image = json!({ "type": "image", "data": bytes, "mimeType": "image/png" });
    let long: Vec<String> = (0..3_000).map(|at| format!("{at} of a long log with many words in each line")).collect();
    for (text, is_error) in [("One chart.", false), ("", false), (long.join("\n").as_str(), false), ("Broken.", true)] {
        let mut content = vec![image.clone()];
        content.extend((!text.is_empty()).then(|| json!({ "type": "text", "text": text })));
        let result = json!({ "content": content, "isError": is_error });
        let mut manager = of(vec![ContextItem::new("u", ItemKind::UserTurn, "draw"), call()]);
        let converted = mcp_result_to_envelope(&result, "look", &McpResultOptions::default()).unwrap();
        let ingested = manager.ingest_mcp_result(McpResult::new(ToolResult::new("c", "look"), converted)).unwrap();
        let item = ingested.done().unwrap().item;
        assert_ne!(item.text, "(no content)");
        let snapshot = serde_json::from_str(&json!(manager.snapshot()).to_string()).unwrap();
        let mut restored = ContextManager::new(ManagerOptions::default()).restored(snapshot).unwrap();
        for format in Format::ALL {
            let built = build(&mut manager, &asked(8_000), *format).unwrap();
            assert_eq!(built, build(&mut restored, &asked(8_000), *format).unwrap());
            let all = json!(built.written.messages).to_string();
            // A failed result is text with these; parts of a user interface have no media at all.
            let has_no_place = match format {
                Format::AiSdkUi => true,
                Format::Anthropic | Format::AiSdkModel => is_error,
                _ => false,
            };
            let shown = all.contains(bytes);
            assert_eq!(shown, !has_no_place, "{} {text:.20}: {all:.600}", format.as_str());
            let warned = built.written.warnings.iter().any(|warning| warning.code == "MEDIA_LEFT_OUT");
            assert_eq!(warned, has_no_place, "{:?}", built.written.warnings);
            assert!(shown || all.contains("[image: image/png, 1 KiB]"), "{all:.600}");
            assert!(built.tokens >= if shown { picture_tokens(*format) } else { 0 });
        }
    }
}

/// What a build shortens goes without its images, and says so.
#[test]
fn images_give_way_with_their_text() {
    // The beginning of an image of 1,024 by 1,024 pixels: 1,369 tokens.
    let image = json!({ "type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAABAAAAAQA", "mimeType": "image/png" });
    let text: Vec<String> = (0..60).map(|at| format!("line {at} of a report")).collect();
    let result = json!({ "content": [{ "type": "text", "text": text.join("\n") }, image] });
    let mut manager = of(vec![ContextItem::new("u", ItemKind::UserTurn, "draw"), call()]);
    let converted = mcp_result_to_envelope(&result, "look", &McpResultOptions::default()).unwrap();
    manager.ingest_mcp_result(McpResult::new(ToolResult::new("c", "look"), converted)).unwrap();
    let built = build(&mut manager, &asked(1_800), Format::Anthropic).unwrap();
    assert!(json!(built.written.messages).to_string().contains("iVBORw0KGgo"));
    assert!(built.tokens > 1_369, "{}", built.tokens);
    let built = build(&mut manager, &asked(1_000), Format::Anthropic).unwrap();
    assert!(!json!(built.written.messages).to_string().contains("iVBORw0KGgo"));
    assert!(built.written.warnings.iter().any(|warning| warning.code == "MEDIA_LEFT_OUT"), "{built:?}");
}

fn call() -> ContextItem {
    let mut call = ContextItem::new("c", ItemKind::ToolCall, "{}");
    call.metadata.insert("function_name".into(), "look".into());
    call
}

/// What a provider ran itself is weighed by all that is sent of it, so that what need not stay can leave.
#[test]
fn what_only_its_provider_understands_can_leave() {
    let shell = json!([
        { "role": "user", "content": "build" },
        { "type": "shell_call", "id": "s", "call_id": "c", "action": { "commands": ["make"] } },
        { "type": "shell_call_output", "call_id": "c", "output": [
            { "stdout": "line of output\n".repeat(2000), "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } },
        ] },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Built." }] },
        { "role": "user", "content": "Thanks. Now the docs." },
    ]);
    let thought = json!([
        { "role": "user", "content": "build" },
        { "role": "assistant", "content": "Built.", "reasoning_content": "because of that ".repeat(2000) },
        { "role": "user", "content": "Thanks. Now the docs." },
    ]);
    let run = |parts: Value| {
        let answer = parts.as_array().unwrap().iter().cloned().chain([json!({ "text": "Built." })]).collect::<Value>();
        json!([
            { "role": "user", "parts": [{ "text": "build" }] },
            { "role": "model", "parts": answer },
            { "role": "user", "parts": [{ "text": "Thanks. Now the docs." }] },
        ])
    };
    let code = run(json!([
        { "executableCode": { "language": "PYTHON", "code": "make()" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "line of output\n".repeat(2000) } },
    ]));
    let searched = run(json!([
        { "toolCall": { "id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": { "query": "make" } } },
        { "toolResponse": { "id": "t", "toolType": "GOOGLE_SEARCH_WEB", "response": { "found": vec!["a page of text"; 2000] } } },
    ]));
    for (messages, format) in [
        (shell, Format::OpenAiResponses),
        (thought, Format::OpenAiChat),
        (code, Format::Gemini),
        (searched, Format::Gemini),
    ] {
        for running in [true, false] {
            let mut manager = ContextManager::new(ManagerOptions::default());
            let read = messages_to_items(messages.clone(), format, &ReadOptions::default()).unwrap();
            manager.ingest_messages(read.items).unwrap().done().unwrap();
            let mut request = BuildRequest::new(Phase::Answer, "docs");
            request.budget_tokens = Some(1000);
            request.running = Some(running);
            let built = manager.build_messages(&request, format, WriteOptions::default());
            let built = built.unwrap_or_else(|error| panic!("{}: {error:?}", format.as_str())).done().unwrap();
            assert!(built.tokens <= 1000);
            let last = built.written.messages.last().unwrap();
            let said = if format == Format::Gemini { &last["parts"][0]["text"] } else { &last["content"] };
            assert_eq!(said, "Thanks. Now the docs.");
        }
    }
}

/// A prompt whose calls are not signed is written anew where the model is said to want that, and goes on with signatures.
#[test]
fn calls_are_signed_once_that_is_said_of_the_model() {
    let mut manager = of(read(0, false, 3, Format::OpenAiChat));
    let signatures =
        |built: &BuiltMessages| json!(built.written.messages).to_string().matches("thoughtSignature").count();
    let mut build = |at: usize, thought_signatures: bool| {
        manager.ingest_messages(read(at, false, 3, Format::OpenAiChat)).unwrap().done().unwrap();
        let options = WriteOptions { thought_signatures, ..WriteOptions::default() };
        let built = manager.build_messages(&asked(8_000), Format::Gemini, options).unwrap().done().unwrap();
        (signatures(&built), built.step.unwrap().cut)
    };
    assert_eq!(build(1, false), (0, Some(CutReason::First)));
    assert_eq!(build(2, true), (3, Some(CutReason::Instructions)));
    assert_eq!(build(3, true), (4, None));
}

/// Two questions with two images are two, whatever their words.
#[test]
fn equal_words_with_other_images_are_no_repeats() {
    let ask = |bytes: &str| {
        let url = format!("data:image/png;base64,{}", bytes.repeat(200));
        json!({ "role": "user", "content": [
            { "type": "text", "text": "Please read the meter in this picture for me." },
            { "type": "image_url", "image_url": { "url": url } },
        ] })
    };
    let messages = json!([
        ask("AAAA"), { "role": "assistant", "content": "12" }, ask("BBBB"), { "role": "assistant", "content": "34" },
        { "role": "user", "content": "And the sum?" },
    ]);
    for running in [true, false] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let read = messages_to_items(messages.clone(), Format::OpenAiChat, &ReadOptions::default()).unwrap();
        manager.ingest_messages(read.items).unwrap().done().unwrap();
        let mut request = BuildRequest::new(Phase::Answer, "sum");
        request.running = Some(running);
        let built =
            manager.build_messages(&request, Format::OpenAiChat, WriteOptions::default()).unwrap().done().unwrap();
        assert_eq!(Value::from(built.written.messages), messages);
    }
}

/// Bytes in the JSON of a tool are stored and named, whatever room there is, and what stands beside them is shown.
#[test]
fn data_in_a_result_is_named() {
    let digits = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect::<String>();
    for size in [5_000, 400_000] {
        let data = digits.repeat(size / 64 + 1);
        let output = json!({ "name": "plan.pdf", "data": data, "pages": 12 }).to_string();
        let messages = json!([
            { "role": "user", "content": "Get the plan." },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c", "type": "function", "function": { "name": "get", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "c", "content": output },
            { "role": "assistant", "content": "I have it." },
            { "role": "user", "content": "How many pages?" },
        ]);
        for (running, budget) in [(true, 2000), (false, 2000), (true, 200_000), (false, 200_000)] {
            let mut manager = ContextManager::new(ManagerOptions::default());
            let read = messages_to_items(messages.clone(), Format::OpenAiChat, &ReadOptions::default()).unwrap();
            manager.ingest_messages(read.items).unwrap().done().unwrap();
            let mut request = BuildRequest::new(Phase::Answer, "pages");
            request.running = Some(running);
            request.budget_tokens = Some(budget);
            let built = manager.build_messages(&request, Format::OpenAiChat, WriteOptions::default());
            let built = built.unwrap().done().unwrap();
            let shown = built.written.messages[2]["content"].as_str().unwrap();
            assert!(shown.contains("plan.pdf") && shown.contains("\"pages\":12"), "{shown}");
            assert!(shown.contains("[base64, ") && shown.len() < 200, "{shown}");
            let item = manager.events().items().iter().find(|item| item.kind == ItemKind::ToolResult).unwrap();
            let handle = item.artifact_ref.as_ref().unwrap().handle.clone();
            assert_eq!(manager.artifacts().get(&handle).unwrap(), output.as_bytes());
        }
    }
}

/// Addresses that are signed, with what of them is a credential.
fn signed_addresses() -> Vec<String> {
    let hex = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0";
    let scope = "AKIAABCDEFGHIJKLMNOP%2F20260101%2Feu-west-1%2Fs3%2Faws4_request";
    vec![
        format!("https://b.s3.amazonaws.com/a.png?X-Amz-Credential={scope}&X-Amz-Expires=900&X-Amz-Signature={hex}"),
        format!("https://acc.blob.core.windows.net/c/a.png?sv=2022-11-02&sr=b&sp=r&sig={hex}%3D"),
        format!("https://p.supabase.co/storage/v1/object/sign/b/a.png?token=eyJhbGciOiJIUzI1NiJ9.eyJ1cmwiOiIifQ.{hex}"),
        // Not by its form, but it is where the picture is.
        format!("https://bob:hunter2222@h.example/a.png?api_key={hex}&password=hunter2222"),
        format!("https://h.example/{hex}/ghp_A1b2C3d4E5f6G7h8A1b2C3d4E5f6G7h8A1b2/a.png"),
    ]
}

#[test]
fn addresses_of_pictures_are_sent_as_they_are() {
    for address in signed_addresses() {
        for said in
            ["What is in this picture?", "My key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789. What is it?"]
        {
            let image = json!({ "type": "image_url", "image_url": { "url": address } });
            let given = json!([{ "role": "user", "content": [{ "type": "text", "text": said }, image] }]);
            let items = messages_to_items(given.clone(), Format::OpenAiChat, &ReadOptions::default()).unwrap().items;
            assert!(!items[0].text.contains("hunter2222") && !items[0].text.contains("ghp_A1"), "{}", items[0].text);
            let mut manager = ContextManager::new(ManagerOptions::default());
            manager.ingest_all(items).unwrap();
            for format in [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::AiSdkModel] {
                let built = build(&mut manager, &asked(4000), format).unwrap();
                assert_eq!(built.written.warnings, [], "{format:?}");
                let messages = json!(built.written.messages).to_string();
                assert!(messages.contains(&address), "{format:?} {messages}");
                // Once, and without its label as text.
                assert_eq!(messages.matches("a.png").count(), 1, "{messages}");
                assert!(!messages.contains("sk-ant-api03"), "{messages}");
                let pack = built.pack.unwrap();
                assert!(!pack.prompt.contains("hunter2222") && !pack.prompt.contains("ghp_A1"), "{}", pack.prompt);
                assert!(json!(built.written.messages).to_string().contains("picture") || said.contains("key"));
            }
            if said.starts_with("What") {
                let built = build(&mut manager, &asked(4000), Format::OpenAiChat).unwrap();
                assert_eq!(json!(built.written.messages), given);
            }
        }
    }
}

/// What is approved stays with its approval: the answer names the request alone, which stands beside the call.
#[test]
fn an_approval_its_request_and_its_call_are_one_unit() {
    let messages = json!([
        { "role": "user", "content": "Refund order 7. ".repeat(20) },
        { "role": "assistant", "content": [
            { "type": "tool-call", "toolCallId": "c1", "toolName": "refund", "input": { "order": 7 } },
            { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" },
        ] },
        { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "a1", "approved": true }] },
    ]);
    let talk =
        (0..20).map(|n| json!({ "role": "user", "content": format!("Note {n}: refund of order {n} is approved.") }));
    let messages: Vec<Value> = talk.chain(messages.as_array().unwrap().iter().cloned()).collect();
    for split in [messages.len(), messages.len() - 1] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let list = &messages;
        for unchanged in [0, split] {
            let end = if unchanged == 0 { split } else { list.len() };
            manager
                .sync_messages(Conversation {
                    format: Format::AiSdkModel,
                    messages: list[unchanged..end].to_vec(),
                    unchanged,
                    id_prefix: String::new(),
                    system: None,
                })
                .unwrap()
                .done()
                .unwrap();
        }
        let built = build(&mut manager, &asked(220), Format::AiSdkModel).unwrap();
        let sent = json!(built.written.messages).to_string();
        for wanted in ["tool-approval-response", "tool-approval-request", "\"toolName\":\"refund\""] {
            assert!(sent.contains(wanted), "{wanted} of {sent}");
        }
    }
}

#[test]
fn what_goes_with_a_masked_text_is_named() {
    let note = json!({ "type": "custom", "kind": "a.note", "providerOptions": { "a": { "note": "n" } } });
    let thought = json!({ "type": "reasoning", "text": "It is password=hunter2hunter2." });
    let signed = json!({ "type": "reasoning", "text": "It is password=hunter2hunter2.",
        "providerOptions": { "anthropic": { "signature": "EqQB" } } });
    for (part, kept, wanted) in [
        (note, "[custom]", &["OPAQUE_LEFT_OUT"][..]),
        (thought, "It is password=[REDACTED", &[]),
        (signed, "", &["OPAQUE_LEFT_OUT"]),
    ] {
        let messages = json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": [part, { "type": "text", "text": "password=hunter2hunter2 it is" }] },
            { "role": "user", "content": "so?" },
        ]);
        let items = messages_to_items(messages, Format::AiSdkModel, &ReadOptions::default()).unwrap().items;
        let built = build(&mut of(items), &asked(8_000), Format::AiSdkModel).unwrap();
        let text = json!(built.written.messages).to_string();
        assert!(!text.contains("hunter2hunter2") && text.contains(kept), "{text}");
        let codes: Vec<&str> = built.written.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, wanted, "{text}");
    }
}

/// The model called again and again, as each result was left out with its call.
#[test]
fn thoughts_about_a_credential_take_no_result_with_them() {
    let thought = "The .env has DB_PASSWORD=hunter2hunter2, now the configuration.";
    let call =
        json!({ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } });
    let chat = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "reasoning_content": thought, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c", "content": "host: db" },
    ]);
    let signed = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": thought, "signature": "EqQB" },
            { "type": "tool_use", "id": "c", "name": "read", "input": { "path": "a" } } ] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "host: db" }] },
    ]);
    let written = |messages: &Value, format| {
        let items = messages_to_items(messages.clone(), format, &ReadOptions::default()).unwrap().items;
        let built = build(&mut of(items), &asked(8_000), format).unwrap();
        assert!(!json!(built).to_string().contains("hunter2hunter2"), "{built:?}");
        let codes: Vec<&str> = built.written.warnings.iter().map(|warning| warning.code).collect();
        (built.written.messages, codes)
    };
    let (messages, codes) = written(&chat, Format::OpenAiChat);
    assert_eq!((messages.len(), codes.len()), (3, 0), "{messages:?}");
    assert!(messages[1]["reasoning_content"].as_str().unwrap().ends_with(", now the configuration."), "{messages:?}");
    // A provider refuses signed thoughts that are not as they were, and calls without them.
    let (messages, codes) = written(&signed, Format::Anthropic);
    assert_eq!(codes, ["REASONING_INCOMPLETE"]);
    assert_eq!(
        json!(messages),
        json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": "[read] {\"path\":\"a\"}" },
            { "role": "user", "content": "[read]\nhost: db" },
        ])
    );
}

/// Random text has what looks like a key, once in some megabytes.
#[test]
fn what_a_provider_has_sealed_is_sent_as_it_is() {
    let sealed = "gAAAAABpassword=hunter2hunter2sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let call = json!({ "type": "tool_use", "id": "c", "name": "read", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "c", "content": "ok" });
    for (format, messages) in [
        (
            Format::Anthropic,
            json!([
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": sealed },
                    { "type": "redacted_thinking", "data": sealed },
                    call,
                ] },
                { "role": "user", "content": [result] },
            ]),
        ),
        (
            Format::OpenAiResponses,
            json!([
                { "type": "compaction", "id": "cmp_1", "encrypted_content": sealed },
                { "role": "user", "content": "go" },
                { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed },
                { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{ "type": "output_text", "text": "Done.", "annotations": [] }] },
                { "role": "user", "content": "so?" },
            ]),
        ),
        (
            Format::Gemini,
            json!([
                { "role": "user", "parts": [{ "text": "go" }] },
                { "role": "model", "parts": [
                    { "functionCall": { "name": "read", "args": {} }, "thoughtSignature": sealed }] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": { "o": "ok" } } }] },
            ]),
        ),
    ] {
        let items = messages_to_items(messages.clone(), format, &ReadOptions::default()).unwrap().items;
        let built = build(&mut of(items), &asked(8_000), format).unwrap();
        let count = |value: &Value| value.to_string().matches(sealed).count();
        assert_eq!(count(&json!(built.written.messages)), count(&messages), "{:?}", built.written);
        assert!(built.written.warnings.is_empty(), "{:?}", built.written.warnings);
    }
}
