//! What went wrong in running prompts before, case by case.

use contextweaver_context::{BuildRequest, ContextManager, Conversation, ManagerOptions, PriceModel};
use contextweaver_convert::providers::Format;
use contextweaver_model::CutReason;
use serde_json::{Value, json};

use crate::running::{loop_of, messages, turn, words};

/// A result that came again hides nothing: the tools that read what is hidden stay away, and nothing is cut for them.
#[test]
fn a_result_that_came_again_hides_nothing() {
    let request = BuildRequest { reserved_tokens: 500, hidden_tokens: 300, ..loop_of(200_000) };
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut all = vec![json!({ "role": "user", "content": "Read the log twice." })];
    let mut before: Vec<Value> = Vec::new();
    for step in 0..12 {
        let id = format!("call_{step}");
        let call = json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
        all.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        all.push(json!({ "role": "tool", "tool_call_id": id, "content": words(700, step % 6) }));
        manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
        let sent = messages(&mut manager, &request, Format::OpenAiChat).unwrap();
        let told = sent.step.unwrap();
        assert_eq!((told.cut, told.hides), ((step == 0).then_some(CutReason::First), false));
        before.truncate(sent.keep);
        before.extend(sent.written.messages);
        let repeats = json!(before).to_string().matches("(the same as the result").count();
        assert_eq!(repeats, usize::saturating_sub(step, 5), "{}", json!(before.last()));
    }
}

/// Most providers take instructions at the beginning alone.
#[test]
fn instructions_that_stand_are_not_said_again() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    let all = [
        said("system", "Answer briefly."),
        said("user", "What is due?"),
        said("assistant", "Two invoices."),
        said("system", "Answer briefly."),
        said("user", "Which?"),
    ];
    for end in [2, 5] {
        manager.sync_messages(Conversation::new(Format::OpenAiChat, all[..end].to_vec())).unwrap().done().unwrap();
        let sent = messages(&mut manager, &loop_of(2000), Format::OpenAiChat).unwrap();
        let all = json!(sent.written.messages).to_string();
        assert_eq!((sent.keep, all.matches("Answer briefly.").count()), (0, 1), "{all}");
    }
}

/// A picture has more tokens than its text: a cut leaves room for it, and for the large result beside it.
#[test]
fn a_cut_keeps_the_picture_that_was_just_taken() {
    // The beginning of an image of 1,024 by 1,024 pixels.
    let picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABAAAAAQA";
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": id, "arguments": "{}" } });
    let image = json!({ "type": "image_url", "image_url": { "url": picture } });
    let all = [
        json!({ "role": "user", "content": [{ "type": "text", "text": "Compare these." }, image] }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call("export"), call("camera")] }),
        json!({ "role": "tool", "tool_call_id": "export", "content": words(9000, 3) }),
        json!({ "role": "tool", "tool_call_id": "camera", "content": [{ "type": "text", "text": "the desk" }, image] }),
    ];
    let mut manager = ContextManager::new(ManagerOptions::default());
    let request = BuildRequest { reserved_tokens: 200, hidden_tokens: 350, ..loop_of(8000) };
    for (count, cut) in [(1, CutReason::First), (4, CutReason::Cold)] {
        let told = Conversation::new(Format::OpenAiChat, all[..count].to_vec());
        manager.sync_messages(told).unwrap().done().unwrap();
        let sent = messages(&mut manager, &request, Format::OpenAiChat).unwrap();
        assert_eq!(sent.step.as_ref().unwrap().cut, Some(cut));
        let all = json!(sent.written.messages).to_string();
        assert_eq!(all.matches(picture).count(), if count == 1 { 1 } else { 2 }, "{all}");
        assert!(!all.contains("left out for room") && sent.written.warnings.is_empty(), "{all}");
    }
}

/// Where instructions leave little room, results at a cut are a few lines each, and say where the rest is: the model knows no ids.
#[test]
fn a_short_excerpt_at_a_cut_says_where_the_rest_is() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let system = json!({ "role": "system", "content": words(2_000, 1) });
    let mut all = vec![system, json!({ "role": "user", "content": "Count in steps." })];
    let mut excerpts = 0;
    for step in 0..8 {
        let (id, from) = (format!("call_{step}"), 1_000 + 2_000 * step);
        let call = json!({ "id": id, "type": "function", "function": { "name": "shell", "arguments": "{}" } });
        let counted: Vec<String> = (from..from + 1_100).map(|n: i32| n.to_string()).collect();
        all.push(json!({ "role": "assistant", "content": format!("I count from {from}."), "tool_calls": [call] }));
        all.push(json!({ "role": "tool", "tool_call_id": id, "content": counted.join("\n") }));
        manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
        let sent = messages(&mut manager, &loop_of(8_000), Format::OpenAiChat).unwrap();
        if sent.step.unwrap().cut != Some(CutReason::Full) {
            continue;
        }
        for message in sent.written.messages.iter().filter(|message| message["role"] == "tool") {
            let text = message["content"].as_str().unwrap();
            if text.contains(" … ") {
                excerpts += 1;
                // In the form of every such line, which is escaped where somebody else writes it.
                let way = format!("; drilldown artifact:result:{}", message["tool_call_id"].as_str().unwrap());
                assert!(text.contains(&way), "{text}");
            }
        }
    }
    assert!(excerpts > 0);
}

/// Tools and instructions beside the prompt stay in the provider's cache at a cut, but for the first one where it brings the tools
/// in that read what is hidden.
#[test]
fn a_cut_does_not_pay_for_what_stands_beside_it_again() {
    for (hidden_tokens, first) in [(300, 0), (0, 5_000)] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let request = BuildRequest { reserved_tokens: 5_000, hidden_tokens, ..loop_of(12_000) };
        let mut all = vec![json!({ "role": "user", "content": "Read the files." })];
        let mut cuts = Vec::new();
        for step in 0..24 {
            let id = format!("call_{step}");
            let call = json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
            all.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
            all.push(json!({ "role": "tool", "tool_call_id": id, "content": words(700, step) }));
            manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
            let told = messages(&mut manager, &request, Format::OpenAiChat).unwrap().step.unwrap();
            if told.cut == Some(CutReason::Full) {
                cuts.push(told.repeated_tokens);
            }
        }
        assert!(cuts.len() >= 3, "{cuts:?}");
        assert_eq!(cuts[0], first);
        assert!(cuts[1..].iter().all(|repeated| *repeated == 5_000 + hidden_tokens), "{cuts:?}");
    }
}

/// What stands behind a result that the model has not answered yet, instructions or a word of the user, does not take its place.
#[test]
fn a_cut_keeps_the_result_that_was_just_read_under_what_stands_behind_it() {
    for (format, behind) in [(Format::Anthropic, "system"), (Format::Anthropic, "user"), (Format::OpenAiChat, "system")]
    {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut all = vec![json!({ "role": "user", "content": "Read the files." })];
        let mut cuts = 0;
        for step in 0..30 {
            let (id, read) = (format!("call_{step}"), words(300, 50 + step));
            if format == Format::Anthropic {
                let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": read });
                all.push(json!({ "role": "assistant", "content": [call] }));
                all.push(json!({ "role": "user", "content": [result] }));
            } else {
                let call = json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
                all.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
                all.push(json!({ "role": "tool", "tool_call_id": id, "content": read }));
            }
            all.push(json!({ "role": behind, "content": format!("Reminder {step}: keep to the plan.") }));
            manager.sync_messages(Conversation::new(format, all.clone())).unwrap().done().unwrap();
            let sent = messages(&mut manager, &loop_of(6_000), format).unwrap();
            if matches!(sent.step.unwrap().cut, Some(CutReason::Full | CutReason::Pays)) {
                cuts += 1;
                let text = json!(sent.written.messages).to_string();
                let written = json!(read).to_string();
                assert!(text.contains(written.trim_matches('"')), "step {step}, {behind}: {text}");
            }
        }
        assert!(cuts >= 2, "{cuts} cuts");
    }
}

/// A cut shows every call, however much results could say, and names what left: the agent must know what it has read.
#[test]
fn a_cut_keeps_a_line_of_each_call_before_results_are_shown_at_length() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let mut all = vec![json!({ "role": "user", "content": "Read the files, then say which of them keeps state." })];
    let mut cuts = 0;
    for step in 0..24 {
        let id = format!("call_{step}");
        let arguments = json!({ "path": format!("src/file-{step}.ts") }).to_string();
        let call = json!({ "id": id, "type": "function", "function": { "name": "read_file", "arguments": arguments } });
        let line = |n: usize| format!("  const state{step}_{n} = read(files[{n}], \"keeps the state of {step}\");");
        let lines: Vec<String> = (0..60 + 40 * (step % 5)).map(line).collect();
        all.push(json!({ "role": "assistant", "content": format!("Reading file {step}."), "tool_calls": [call] }));
        all.push(json!({ "role": "tool", "tool_call_id": id, "content": lines.join("\n") }));
        manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
        let sent = messages(&mut manager, &loop_of(16_000), Format::OpenAiChat).unwrap();
        if sent.step.unwrap().cut == Some(CutReason::Full) {
            cuts += 1;
            let text = json!(sent.written.messages).to_string();
            for earlier in 0..=step {
                assert!(text.contains(&format!("src/file-{earlier}.ts")), "file {earlier} at step {step}: {text}");
            }
            assert!(text.contains("[LEFT OUT]"), "{text}");
        }
    }
    assert!(cuts >= 3, "{cuts} cuts");
}

/// A model that is asked while one of two calls has no result yet is told so. When the result comes, what was sent before it stays,
/// and what had left does not come back: the provider has all of that in its cache.
#[test]
fn a_result_that_comes_late_changes_the_last_messages_alone() {
    let prices = Some(PriceModel::named("openai").unwrap());
    let mut manager = ContextManager::new(ManagerOptions { prices, ..ManagerOptions::default() });
    let request = BuildRequest { reserved_tokens: 20_000, ..loop_of(200_000) };
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
    let result = |id: &str, salt: usize| json!({ "role": "tool", "tool_call_id": id, "content": words(900, salt) });
    let (mut all, mut sent, mut left) = (Vec::new(), Vec::<Value>::new(), 0);
    for task in 0..4 {
        all.push(json!({ "role": "user", "content": format!("Task {task}: read the files.") }));
        for step in 0..14 {
            let id = format!("call_{task}_{step}");
            all.push(json!({ "role": "assistant", "content": null, "tool_calls": [call(&id)] }));
            all.push(result(&id, 20 * task + step));
            manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
            let step = messages(&mut manager, &request, Format::OpenAiChat).unwrap();
            sent.truncate(step.keep);
            sent.extend(step.written.messages);
            left += u64::from(step.step.unwrap().cut == Some(CutReason::Pays));
        }
    }
    assert!(left > 0, "nothing has left the prompt");
    all.push(json!({ "role": "assistant", "content": null, "tool_calls": [call("one"), call("two")] }));
    all.push(result("one", 201));
    let mut before: Vec<Value> = sent.clone();
    for (late, cut) in [(None, None), (Some(result("two", 202)), Some(CutReason::Edited))] {
        all.extend(late);
        manager.sync_messages(Conversation::new(Format::OpenAiChat, all.clone())).unwrap().done().unwrap();
        let step = messages(&mut manager, &request, Format::OpenAiChat).unwrap();
        let told = step.step.unwrap();
        assert_eq!(told.cut, cut);
        sent.truncate(step.keep);
        sent.extend(step.written.messages);
        let size = |messages: &[Value]| json!(messages).to_string().len();
        assert!(2 * size(&sent) < size(&all), "what had left has come back");
        assert!(sent.starts_with(&before), "what was sent is another");
        let stays = told.tokens - told.repeated_tokens;
        assert!(10 * stays < told.tokens, "{told:?}");
        before = sent[..sent.len() - 1].to_vec();
    }
    // What the provider was told of the call is the result, once.
    let told = |message: &&Value| message["tool_call_id"] == "two";
    let told: Vec<&Value> = sent.iter().filter(told).map(|message| &message["content"]).collect();
    assert_eq!(told, [&json!(words(900, 202))]);
}

/// What the caller pins is never cut out, however little a cut leaves.
#[test]
fn a_cut_leaves_room_for_what_is_pinned() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let brief = words(1500, 7);
    manager.ingest(turn("brief", &brief)).unwrap();
    let request = BuildRequest { pin: vec!["brief".to_owned()], ..loop_of(10_000) };
    let mut cuts = 0;
    for step in 0..40 {
        manager.ingest(turn(&format!("u{step}"), &words(150, 100 + step))).unwrap();
        let sent = messages(&mut manager, &request, Format::OpenAiChat).unwrap();
        if matches!(sent.step.unwrap().cut, Some(CutReason::Full | CutReason::Pays)) {
            cuts += 1;
            let is_brief = |message: &Value| message["content"].as_str().is_some_and(|text| text.contains(&brief));
            assert!(sent.written.messages.iter().any(is_brief), "cut {cuts} at step {step}");
        }
    }
    assert!((1..12).contains(&cuts), "{cuts} cuts");
}

/// What was edited is not what words point at, even where it had left the prompt before.
#[test]
fn what_was_edited_after_it_left_does_not_come_back() {
    for is_edited in [false, true] {
        let format = Format::OpenAiChat;
        let mut manager = ContextManager::new(ManagerOptions { ledger: Some(false), ..ManagerOptions::default() });
        let said = |n: usize, secret: &str| match n {
            4 => {
                json!({ "role": "assistant", "content": format!("The zanzibar warehouse keeps pallet quetzal {secret}. {}", words(200, n)) })
            }
            _ => {
                json!({ "role": if usize::is_multiple_of(n, 2) { "assistant" } else { "user" }, "content": words(120, n) })
            }
        };
        let mut all: Vec<Value> = (1..40).map(|n| said(n, "OLD-4711")).collect();
        manager.sync_messages(Conversation::new(format, all.clone())).unwrap().done().unwrap();
        let first = messages(&mut manager, &loop_of(2500), format).unwrap();
        assert!(first.step.unwrap().hides && !json!(first.written.messages).to_string().contains("OLD-4711"));
        if is_edited {
            all[3] = said(4, "NEW-4712");
        }
        all.push(json!({ "role": "user", "content": "What of the zanzibar quetzal pallet?" }));
        manager.sync_messages(Conversation::new(format, all)).unwrap().done().unwrap();
        let next = messages(&mut manager, &loop_of(2500), format).unwrap();
        let sent = json!(next.written.messages).to_string();
        // The test could not fail if the words brought nothing back.
        assert_eq!(sent.contains("OLD-4711"), !is_edited, "{:?}: {sent}", next.step);
    }
}

/// An agent that is interrupted writes the next words of its user behind those that were not answered, into the same message.
#[test]
fn what_is_added_to_the_last_message_cuts_nothing() {
    let text = |text: String| json!({ "type": "text", "text": text });
    let asked = |content: &[Value]| json!({ "role": "user", "content": content });
    let first = text(words(900, 1));
    let later = [text("[interrupted]".to_owned()), text("Read the other file instead.".to_owned())];
    for format in [Format::Anthropic, Format::OpenAiChat] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut content = vec![first.clone()];
        let mut repeated = 0;
        for (step, added) in [None, Some(&later[..1]), Some(&later[1..])].into_iter().enumerate() {
            content.extend(added.into_iter().flatten().cloned());
            manager.sync_messages(Conversation::new(format, vec![asked(&content)])).unwrap().done().unwrap();
            let sent = messages(&mut manager, &loop_of(20_000), format).unwrap();
            let told = sent.step.unwrap();
            assert_eq!(told.cut, (step == 0).then_some(CutReason::First), "{format:?}");
            assert_eq!(told.repeated_tokens, repeated, "{format:?}");
            assert!(sent.written.messages.iter().all(|message| message["role"] == "user"));
            repeated = told.tokens;
        }
    }
}

/// A clock or what a search found among the instructions makes the whole conversation new to the provider, without us as well.
#[test]
fn instructions_that_change_in_each_turn_leave_more_than_the_newest_step() {
    for format in [Format::OpenAiChat, Format::Anthropic] {
        let mut manager = ContextManager::new(ManagerOptions::default());
        let mut all: Vec<Value> = Vec::new();
        let (mut cost, mut without, mut sizes) = (0.0, 0.0, Vec::new());
        for turn in 0..30 {
            all.push(json!({ "role": "user", "content": format!("Question {turn}: {}", words(90, turn)) }));
            all.push(json!({ "role": "assistant", "content": format!("Answer {turn}: {}", words(60, turn)) }));
            let clock = format!("It is {turn} o'clock.");
            let mut told = all.clone();
            if format == Format::OpenAiChat {
                told.insert(0, json!({ "role": "system", "content": clock }));
            }
            let system = (format == Format::Anthropic).then(|| clock.clone().into());
            let conversation = Conversation { system, ..Conversation::new(format, told) };
            manager.sync_messages(conversation).unwrap().done().unwrap();
            let sent = messages(&mut manager, &loop_of(6000), format).unwrap();
            assert!(json!([sent.written.messages, sent.written.system]).to_string().contains(&clock));
            let step = sent.step.unwrap();
            if turn > 0 && step.cut != Some(CutReason::Full) {
                assert_eq!((step.cut, step.repeated_tokens), (Some(CutReason::Instructions), 0), "{format:?} {turn}");
                let written = if format == Format::Anthropic { 1.25 } else { 1.0 };
                assert!((step.cost_without - written * step.tokens_without as f64).abs() < 1.0, "{step:?}");
            }
            (cost, without) = (cost + step.cost, without + step.cost_without);
            sizes.push(step.tokens);
        }
        assert!(sizes[20..].iter().all(|tokens| *tokens > 1500), "{format:?} {sizes:?}");
        assert!(cost < 0.8 * without, "{format:?} {cost} {without}");
    }
}
