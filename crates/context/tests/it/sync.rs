//! Conversations that are handed over whole, again and again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_context::{
    BuildRequest, ContextManager, Conversation, ManagerOptions, McpResult, NotedMessage, SyncedMessages, ToolResult,
};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use contextweaver_model::{ContextItem, ItemKind, Phase};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What somebody says, or a call with its result.
#[derive(Debug, Clone, PartialEq)]
enum Turn {
    User(String),
    Agent(String),
    /// Id, arguments, result.
    Call(u32, String, String),
}

fn items(turns: &[Turn]) -> Vec<ContextItem> {
    let mut items = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User(text) => items.push(ContextItem::new(format!("t{index}"), ItemKind::UserTurn, text)),
            Turn::Agent(text) => items.push(ContextItem::new(format!("t{index}"), ItemKind::AgentMsg, text)),
            Turn::Call(id, arguments, result) => {
                let mut call = ContextItem::new(format!("c{id}"), ItemKind::ToolCall, arguments);
                call.metadata.insert("function_name".into(), "look_up".into());
                let mut answer = ContextItem::new(format!("result:c{id}"), ItemKind::ToolResult, result);
                answer.parent_id = Some(call.id.clone());
                answer.metadata.insert("tool_name".into(), "look_up".into());
                items.extend([call, answer]);
            }
        }
    }
    items
}

fn messages(turns: &[Turn], format: Format) -> Vec<Value> {
    items_to_messages(&items(turns), format, &WriteOptions { close_calls: true, ..WriteOptions::default() })
        .unwrap()
        .messages
}

fn sync(manager: &mut ContextManager, turns: &[Turn], format: Format) -> SyncedMessages {
    manager.sync_messages(Conversation::new(format, messages(turns, format))).unwrap().done().unwrap()
}

fn sent(manager: &mut ContextManager, format: Format) -> Vec<Value> {
    let running = Some(false);
    let request = BuildRequest { budget_tokens: Some(100_000), running, ..BuildRequest::new(Phase::Answer, "") };
    manager
        .build_messages(&request, format, WriteOptions { close_calls: true, ..WriteOptions::default() })
        .unwrap()
        .done()
        .unwrap()
        .written
        .messages
}

fn prompt(manager: &mut ContextManager, budget: u64) -> String {
    let request = BuildRequest { budget_tokens: Some(budget), ..BuildRequest::new(Phase::Answer, "order") };
    manager.build(&request).unwrap().done().unwrap().pack.prompt
}

fn fresh(turns: &[Turn], format: Format) -> ContextManager {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let read = messages_to_items(Value::Array(messages(turns, format)), format, &ReadOptions::default()).unwrap();
    manager.ingest_messages(read.items).unwrap().done().unwrap();
    manager
}

fn user(text: &str) -> Turn {
    Turn::User(text.to_owned())
}

fn agent(text: &str) -> Turn {
    Turn::Agent(text.to_owned())
}

fn call(id: u32, result: &str) -> Turn {
    Turn::Call(id, format!("{{\"n\":{id}}}"), result.to_owned())
}

#[test]
fn the_whole_conversation_again_adds_what_is_new() {
    for format in Format::ALL.iter().copied() {
        let all =
            [user("Where is it?"), call(1, "in the depot"), agent("In the depot."), user("Since when?"), agent("May.")];
        let mut manager = ContextManager::new(ManagerOptions::default());
        for turns in 1..=all.len() {
            let synced = sync(&mut manager, &all[..turns], format);
            assert!(!synced.added.is_empty(), "{format:?} {turns}");
            assert_eq!(sent(&mut manager, format), messages(&all[..turns], format), "{format:?}");
            let again = sync(&mut manager, &all[..turns], format);
            assert_eq!((again.added.len(), again.superseded.len()), (0, 0), "{format:?} {turns}");
            assert_eq!(again.unchanged, messages(&all[..turns], format).len());
        }
    }
}

/// The user's messages of a format, of texts.
fn user_message(format: Format, texts: &[&str]) -> Value {
    let (name, kind) = match format {
        Format::Gemini => ("parts", None),
        Format::AiSdkUi => ("parts", Some("text")),
        Format::OpenAiResponses => ("content", Some("input_text")),
        _ => ("content", Some("text")),
    };
    let part = |text: &&str| match kind {
        None => json!({ "text": text }),
        Some(kind) => json!({ "type": kind, "text": text }),
    };
    let mut message = json!({ "role": "user" });
    message[name] = texts.iter().map(part).collect();
    message
}

#[test]
fn what_a_client_adds_to_the_last_message_goes_behind_it() {
    for format in Format::ALL.iter().copied() {
        let turns = [user("Where is it?"), call(1, "in the depot"), agent("In the depot.")];
        let before = messages(&turns, format);
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut read = |message: Value, later: &[Value]| {
            let all = before.iter().cloned().chain([message]).chain(later.iter().cloned()).collect();
            manager.sync_messages(Conversation::new(format, all)).unwrap().done().unwrap()
        };
        read(user_message(format, &["Since when?"]), &[]);
        let more = user_message(format, &["Since when?", "[interrupted]", "Who has it?"]);
        let grown = read(more.clone(), &[]);
        assert_eq!((grown.superseded.len(), grown.unchanged), (0, before.len()), "{format:?}");
        assert!(!grown.added.is_empty() && grown.user_turn == grown.added.last().cloned(), "{format:?}");
        let again = read(more.clone(), &[]);
        assert_eq!((again.added.len(), again.superseded.len()), (0, 0), "{format:?}");
        let later = messages(&[user("Who?"), agent("Nobody.")], format).split_off(1);
        let onward = read(more.clone(), &later);
        assert_eq!((onward.added.len(), onward.superseded.len()), (1, 0), "{format:?}");
        // In the middle it is an edit, and so is a block that was taken away.
        let edited = read(user_message(format, &["Since when?", "[interrupted]", "Who has it?", "Now?"]), &later);
        assert!(edited.superseded.len() > grown.added.len(), "{format:?}");
        let shorter = read(user_message(format, &["Since when?"]), &[]);
        assert!(shorter.added.len() == 1 && shorter.superseded.len() > 1, "{format:?}");
    }
}

#[test]
fn errors_in_what_was_added_to_a_message_name_its_place() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut read = |parts: Value| {
        let hello = user_message(Format::Gemini, &["Hi"]);
        let all = vec![hello, json!({ "role": "user", "parts": parts })];
        manager.sync_messages(Conversation::new(Format::Gemini, all)).map(|outcome| outcome.done().unwrap())
    };
    let text = json!({ "text": "See?" });
    read(json!([text])).unwrap();
    let error = read(json!([text, text, { "functionCall": 7 }])).unwrap_err();
    assert_eq!(error.path(), "/messages/1/parts/2/functionCall");
}

#[test]
fn the_same_words_said_again_are_another_turn_of_the_user() {
    for format in Format::ALL.iter().copied() {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut said = |turns: &[Turn]| sync(&mut manager, turns, format).user_turn;
        let all = [user("yes"), call(1, "refunded"), agent("Shall I write to them?"), user("yes"), call(2, "written")];
        let first = said(&all[..1]);
        assert!(first.is_some(), "{format:?}");
        assert_eq!((said(&all[..2]), said(&all[..3])), (first.clone(), first.clone()), "{format:?}");
        let second = said(&all[..4]);
        assert!(second.is_some() && second != first, "{format:?}");
        assert_eq!((said(&all), said(&all)), (second.clone(), second), "{format:?}");
        assert_eq!(said(&all[..3]), first, "what was taken back is no turn any more: {format:?}");
        assert_eq!(said(&[]), None, "{format:?}");
    }
}

#[test]
fn what_was_edited_stays_and_stands_in_no_prompt() {
    for format in Format::ALL.iter().copied() {
        let mut manager = ContextManager::new(ManagerOptions::default());
        sync(&mut manager, &[user("Refund 12446."), call(1, "refunded 12446"), agent("Done.")], format);
        let edited = [user("Refund 12447."), call(1, "refunded 12447"), agent("Done, too.")];
        let synced = sync(&mut manager, &edited, format);
        assert!(!synced.superseded.is_empty());
        assert_eq!(sent(&mut manager, format), messages(&edited, format), "{format:?}");
        assert!(!prompt(&mut manager, 4000).contains("12446"), "{format:?}");
        let old = manager.events().items().iter().find(|item| item.text == "refunded 12446").unwrap();
        assert!(old.is_superseded());
        assert_eq!(manager.artifacts().get(&format!("artifact:{}", old.id)).unwrap(), b"refunded 12446");
    }
}

#[test]
fn a_conversation_that_shares_nothing_with_the_last_is_told() {
    let codes = |synced: &SyncedMessages| synced.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>();
    for format in [Format::OpenAiChat, Format::Anthropic] {
        let turns = [user("My name is Ada."), agent("Hello Ada.")];
        let mut manager = fresh(&turns, format);
        let synced = sync(&mut manager, &[turns.as_slice(), &[user("Who am I?")]].concat(), format);
        assert!(codes(&synced).is_empty());
        // As somebody does who has a stored log and hands over the new message alone.
        let synced = sync(&mut manager, &[user("And now?")], format);
        assert_eq!(codes(&synced), ["CONVERSATION_REPLACED"], "{}", synced.superseded.len());
        assert!(codes(&sync(&mut manager, &[user("And now?"), agent("Who knows.")], format)).is_empty());
    }
}

#[test]
fn a_conversation_trimmed_at_the_front_loses_nothing() {
    let format = Format::OpenAiChat;
    let all = [user("a"), call(1, "one"), user("b"), call(2, "two"), user("c")];
    let mut manager = ContextManager::new(ManagerOptions::default());
    sync(&mut manager, &all, format);
    let later = [&all[2..], &[agent("d")]].concat();
    let synced = sync(&mut manager, &later, format);
    assert_eq!((synced.added.len(), synced.superseded.len()), (1, 0));
    assert_eq!(sent(&mut manager, format), messages(&[&all[..], &[agent("d")]].concat(), format));
    // Whoever knows what is unchanged hands over what comes after it.
    let whole = messages(&[&later[..], &[user("e")]].concat(), format);
    let unchanged = whole.len() - 1;
    let conversation = Conversation { unchanged, ..Conversation::new(format, whole[unchanged..].to_vec()) };
    let synced = manager.sync_messages(conversation).unwrap().done().unwrap();
    assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (1, 0, unchanged));
}

#[test]
fn instructions_stay_in_front_of_a_trimmed_conversation() {
    let format = Format::OpenAiChat;
    let said = |text: &str| json!({ "role": "user", "content": text });
    let system = json!({ "role": "system", "content": "Be short." });
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut sync = |messages: &[&Value]| {
        let messages = messages.iter().map(|message| (*message).clone()).collect();
        manager.sync_messages(Conversation::new(format, messages)).unwrap().done().unwrap()
    };
    let (a, b, c) = (said("a"), said("b"), said("c"));
    sync(&[&system, &a, &b]);
    let synced = sync(&[&system, &b, &c]);
    assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (1, 0, 2));
    let synced = sync(&[&system, &b, &c]);
    assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (0, 0, 3));
    let other = json!({ "role": "system", "content": "Be long." });
    let synced = sync(&[&other, &b, &c]);
    assert_eq!((synced.added.len(), synced.superseded.len()), (1, 1));
    // The same where the instructions are known to be unchanged and not handed over again.
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.sync_messages(Conversation::new(format, vec![system, a, b.clone()])).unwrap().done().unwrap();
    let rest = Conversation { unchanged: 1, ..Conversation::new(format, vec![b, c]) };
    let synced = manager.sync_messages(rest).unwrap().done().unwrap();
    assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (1, 0, 2));
}

#[test]
fn instructions_beside_the_messages_are_the_first_of_them() {
    let format = Format::Anthropic;
    let said = |text: &str| json!({ "role": "user", "content": text });
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut sync = |system: &str, messages: &[Value]| {
        let conversation = Conversation::new(format, messages.to_vec());
        let conversation = Conversation { system: Some(system.into()), ..conversation };
        let synced = manager.sync_messages(conversation).unwrap().done().unwrap();
        (synced.added.len(), synced.superseded.len(), synced.unchanged)
    };
    assert_eq!(sync("Be short.", &[said("a")]), (2, 0, 0));
    assert_eq!(sync("Be short.", &[said("a"), said("b")]), (1, 0, 2));
    assert_eq!(sync("Be long.", &[said("a"), said("b")]), (1, 1, 2));
    assert_eq!(sync("Be long.", &[said("b"), said("c")]), (1, 0, 2));
    let request = BuildRequest { budget_tokens: Some(1000), ..BuildRequest::new(Phase::Answer, "") };
    let built = manager.build_messages(&request, format, WriteOptions::default()).unwrap().done().unwrap();
    let all = json!(built.written).to_string();
    assert!(all.contains("Be long.") && !all.contains("Be short."), "{all}");
}

#[test]
fn a_conversation_that_is_appended_again_is_noticed() {
    let format = Format::OpenAiChat;
    let mut manager = ContextManager::new(ManagerOptions::default());
    let noted = |turns: &[Turn]| messages(turns, format).iter().map(NotedMessage::of).collect::<Vec<_>>();
    let turns = [user("a"), agent("b"), user("c")];
    assert!(!manager.has_read(format, &noted(&turns[..2])));
    manager.note_messages(format, noted(&turns[..2]), Vec::new());
    assert!(manager.has_read(format, &noted(&turns)) && manager.has_read(format, &noted(&turns[..2])));
    assert!(!manager.has_read(format, &noted(&turns[2..])) && !manager.has_read(Format::Gemini, &noted(&turns)));
}

#[test]
fn a_result_that_came_alone_is_not_doubled() {
    for format in Format::ALL.iter().copied() {
        let turns = [user("Where?"), call(1, "in the depot")];
        let mut manager = ContextManager::new(ManagerOptions::default());
        sync(&mut manager, &turns[..1], format);
        let mut asked = ContextItem::new("c1", ItemKind::ToolCall, "{\"n\":1}");
        asked.metadata.insert("function_name".into(), "look_up".into());
        manager.ingest(asked).unwrap();
        manager.ingest_tool_result(&ToolResult::new("c1", "look_up"), b"in the depot").unwrap().done().unwrap();
        let synced = sync(&mut manager, &turns, format);
        assert_eq!((synced.added.len(), manager.events().len()), (0, 3), "{format:?}");
    }
}

#[test]
fn a_refused_conversation_changes_nothing() {
    let format = Format::OpenAiChat;
    let mut manager = ContextManager::new(ManagerOptions::default());
    sync(&mut manager, &[user("a"), user("b")], format);
    let before = json!(manager.snapshot());
    let bad = vec![json!({ "role": "user", "content": "a" }), json!({ "role": "user" }), json!({ "role": 7 })];
    let error = manager.sync_messages(Conversation::new(format, bad)).unwrap_err();
    assert!(error.path().starts_with("/messages/"), "{error}");
    let conversation = Conversation { unchanged: 3, ..Conversation::new(format, Vec::new()) };
    assert_eq!(manager.sync_messages(conversation).unwrap_err().path(), "/unchanged");
    assert_eq!(json!(manager.snapshot()), before);
}

/// A session by every way in: items, results of tools, results of MCP, messages, the whole conversation again and again.
#[test]
fn five_ways_in_give_one_prompt() {
    let rows: Vec<Value> =
        (0..300).map(|n| json!({ "order": n, "state": if n == 7 { "held" } else { "paid" } })).collect();
    let large = Value::Array(rows).to_string();
    let line = |n: usize| format!("INFO order {n} packed in {} ms", n % 83);
    let log = (0..900).map(line).collect::<Vec<_>>().join("\n");
    for result in ["42 orders are open", &large, &log] {
        let turns = [user("Which order is held?"), call(1, result), agent("Let me see."), user("Well?")];
        let format = Format::OpenAiChat;
        let mut by_items = ContextManager::new(ManagerOptions::default());
        by_items.ingest_all(items(&turns)).unwrap();
        let mut by_results = ContextManager::new(ManagerOptions::default());
        let mut by_mcp = ContextManager::new(ManagerOptions::default());
        for item in items(&turns) {
            if item.kind == ItemKind::ToolResult {
                let known = ToolResult::new("c1", "look_up");
                by_results.ingest_tool_result(&known, item.text.as_bytes()).unwrap().done().unwrap();
                let given = json!({ "content": [{ "type": "text", "text": item.text }] });
                let converted = mcp_result_to_envelope(&given, "look_up", &McpResultOptions::default()).unwrap();
                by_mcp.ingest_mcp_result(McpResult::new(known, converted)).unwrap().done().unwrap();
            } else {
                by_results.ingest(item.clone()).unwrap();
                by_mcp.ingest(item).unwrap();
            }
        }
        let mut by_messages = fresh(&turns, format);
        let mut by_sync = ContextManager::new(ManagerOptions::default());
        for end in 1..=turns.len() {
            sync(&mut by_sync, &turns[..end], format);
        }
        for budget in [120, 400, 1000, 4000] {
            let expected = prompt(&mut by_results, budget);
            assert_eq!(prompt(&mut by_items, budget), expected, "items, {budget}");
            assert_eq!(prompt(&mut by_mcp, budget), expected, "MCP, {budget}");
            assert_eq!(prompt(&mut by_messages, budget), expected, "messages, {budget}");
            assert_eq!(prompt(&mut by_sync, budget), expected, "the whole conversation, {budget}");
        }
    }
}

/// Words that were said before, said again in front of all others, are no sign of a trimmed conversation.
#[test]
fn a_turn_in_front_that_was_said_before_is_a_new_one() {
    for format in Format::ALL.to_vec() {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let first = [user("to begin with"), agent("yes"), user("again")];
        sync(&mut manager, &first, format);
        let turns = [&[user("again"), agent("no")], &first[..]].concat();
        let synced = sync(&mut manager, &turns, format);
        // The messages of a page have ids, which the test gives them by their place.
        if format != Format::AiSdkUi {
            assert_eq!((synced.added.len(), synced.superseded.len(), synced.unchanged), (2, 0, 3), "{format:?}");
        }
        assert_eq!(sent(&mut manager, format), sent(&mut fresh(&turns, format), format), "{format:?}");
    }
}

/// Where nothing but their place tells which of two equal calls a result answers, it answers the one before it.
#[test]
fn equal_calls_keep_their_own_results() {
    let call = |id, result: &str| Turn::Call(id, "{\"q\":\"d\"}".to_owned(), result.to_owned());
    for format in Format::ALL.to_vec() {
        let mut manager = ContextManager::new(ManagerOptions::default());
        sync(&mut manager, &[user("to begin with"), call(0, "the first")], format);
        let turns = [user("to begin with"), call(1, "the second"), call(0, "the first")];
        sync(&mut manager, &turns, format);
        assert_eq!(sent(&mut manager, format), sent(&mut fresh(&turns, format), format), "{format:?}");
        let again = sync(&mut manager, &turns, format);
        assert_eq!((again.added.len(), again.superseded.len()), (0, 0), "{format:?}");
    }
}

/// What a client does to its conversation before the next turn.
#[derive(Debug, Clone)]
enum Edit {
    Append(Turn),
    Change(usize, Turn),
    Remove(usize),
    Insert(usize, Turn),
    CutBack(usize),
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        "[a-d ]{1,12}x".prop_map(Turn::User),
        "[a-d ]{1,12}x".prop_map(Turn::Agent),
        (0..100_u32, "[a-d]{1,3}", "[a-z \n]{1,40}x")
            .prop_map(|(id, arguments, result)| { Turn::Call(id, format!("{{\"q\":\"{arguments}\"}}"), result) }),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => turn().prop_map(Edit::Append),
        1 => (0..8_usize, turn()).prop_map(|(at, turn)| Edit::Change(at, turn)),
        1 => (0..8_usize).prop_map(Edit::Remove),
        1 => (0..8_usize, turn()).prop_map(|(at, turn)| Edit::Insert(at, turn)),
        1 => (0..8_usize).prop_map(Edit::CutBack),
    ]
}

/// One id stands for one call.
fn apply(turns: &mut Vec<Turn>, edit: Edit) {
    let is_used = |turns: &[Turn], turn: &Turn| match turn {
        Turn::Call(id, ..) => turns.iter().any(|other| matches!(other, Turn::Call(known, ..) if known == id)),
        _ => false,
    };
    match edit {
        Edit::Append(turn) if !is_used(turns, &turn) => turns.push(turn),
        Edit::Insert(at, turn) if at <= turns.len() && !is_used(turns, &turn) => turns.insert(at, turn),
        Edit::Change(at, Turn::Call(..)) => {
            if let Some(Turn::Call(_, arguments, _)) = turns.get_mut(at) {
                "{\"q\":\"edited\"}".clone_into(arguments);
            }
        }
        Edit::Change(at, turn) if at < turns.len() => turns[at] = turn,
        Edit::Remove(at) if at < turns.len() && turns.len() > 1 => {
            turns.remove(at);
        }
        Edit::CutBack(at) if at < turns.len() && at > 0 => turns.truncate(at),
        _ => {}
    }
}

#[test]
fn an_answer_of_which_a_part_is_missing_is_sent_without_its_ids() {
    let format = Format::OpenAiResponses;
    let call = |id: &str| json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": "{}" });
    let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "42" });
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": [{ "type": "output_text", "text": "42 it is.", "annotations": [] }] });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" });
    let ids = |steps: &[Value]| {
        let mut manager = ContextManager::new(ManagerOptions::default());
        for step in steps {
            let conversation = Conversation::new(format, step.as_array().cloned().unwrap());
            manager.sync_messages(conversation).unwrap().done().unwrap();
        }
        let items = sent(&mut manager, format).into_iter();
        items.filter_map(|item| item.get("id")?.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    // The last messages of a conversation, which begin in an answer.
    assert_eq!(ids(&[json!([call("c1"), output("c1"), message])]), ["msg_1"]);
    assert_eq!(ids(&[json!([user("go"), call("c1"), output("c1"), message])]), ["fc_c1", "msg_1"]);
    // Each step of a loop goes on with what the one before left open.
    let steps = [json!([user("go"), call("c1")]), json!([user("go"), call("c1"), output("c1"), message])];
    assert_eq!(ids(&steps), ["fc_c1", "msg_1"]);
    // The user speaks while it thinks, and while its calls run.
    let thinks = json!([user("go"), reasoning, user("Wait!")]);
    let goes_on = json!([user("go"), reasoning, user("Wait!"), message]);
    assert_eq!(ids(&[thinks, goes_on]), Vec::<String>::new());
    let runs = json!([user("go"), reasoning, call("c1"), user("Wait!")]);
    let goes_on =
        json!([user("go"), reasoning, call("c1"), user("Wait!"), call("c2"), output("c1"), output("c2"), message]);
    assert_eq!(ids(&[runs, goes_on])[..2], ["rs_1", "fc_c1"]);
}

proptest! {
    #![proptest_config(contextweaver_test_support::property(600))]

    /// However a conversation got there, what is sent of it is what a manager sends that was given it at once, and to hand it
    /// over again changes nothing, also after a restart.
    #[test]
    fn a_synced_conversation_is_the_one_that_was_handed_over(
        edits in prop::collection::vec(edit(), 1..14),
        format in prop::sample::select(Format::ALL.to_vec()),
    ) {
        let mut turns = vec![user("to begin with")];
        let mut manager = ContextManager::new(ManagerOptions::default());
        sync(&mut manager, &turns, format);
        for edit in edits {
            let before = turns.clone();
            apply(&mut turns, edit);
            // What begins with a later turn may only be trimmed.
            if turns[0] != before[0] && before.contains(&turns[0]) {
                turns = before;
                continue;
            }
            sync(&mut manager, &turns, format);
            let said = sent(&mut manager, format);
            prop_assert_eq!(&said, &sent(&mut fresh(&turns, format), format));
            let again = sync(&mut manager, &turns, format);
            prop_assert_eq!((again.added.len(), again.superseded.len()), (0, 0));
            let snapshot = serde_json::from_str(&json!(manager.snapshot()).to_string()).unwrap();
            manager = ContextManager::from_json(snapshot, ManagerOptions::default()).unwrap();
            let again = sync(&mut manager, &turns, format);
            prop_assert_eq!((again.added.len(), again.superseded.len()), (0, 0));
            prop_assert_eq!(sent(&mut manager, format), said);
        }
    }
}
