//! Whole messages that a provider refuses: approvals, messages that say nothing, items that stand twice, calls that are not signed.

use contextweaver_convert::providers::{
    Format, ReadOptions, WriteOptions, WrittenBefore, continue_messages, items_to_messages, last_part,
    messages_to_items,
};
use contextweaver_model::ContextItem;
use serde_json::{Value, json};

fn read(messages: Value, format: Format) -> Vec<ContextItem> {
    messages_to_items(messages, format, &ReadOptions::default()).unwrap().items
}

/// The messages as a model is asked, with the codes of what was mended.
fn asked(items: &[ContextItem], format: Format) -> (Vec<Value>, Vec<&'static str>) {
    let options = WriteOptions { close_calls: true, ..WriteOptions::default() };
    let written = items_to_messages(items, format, &options).unwrap();
    (written.messages, written.warnings.iter().map(|warning| warning.code).collect())
}

fn again(messages: &Value, format: Format) -> (Vec<Value>, Vec<&'static str>) {
    asked(&read(messages.clone(), format), format)
}

fn call(id: &str) -> Value {
    json!({ "type": "tool-call", "toolCallId": id, "toolName": "refund", "input": {} })
}

fn request(id: &str) -> Value {
    json!({ "type": "tool-approval-request", "approvalId": format!("a_{id}"), "toolCallId": id })
}

fn answer(id: &str) -> Value {
    json!({ "role": "tool", "content": [
        { "type": "tool-approval-response", "approvalId": format!("a_{id}"), "approved": true } ] })
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": id, "toolName": "refund",
        "output": { "type": "text", "value": "done" } }] })
}

#[test]
fn an_approval_stands_before_what_was_done_and_last_where_that_waits() {
    let user = json!({ "role": "user", "content": "go" });
    let both = json!({ "role": "assistant", "content": [call("c1"), request("c1"), call("c2"), request("c2")] });
    let done = json!([user, both, answer("c1"), result("c1"), answer("c2"), result("c2")]);
    let (messages, codes) = again(&done, Format::AiSdkModel);
    assert_eq!(messages[2..4], [answer("c1"), answer("c2")], "the answers, in order");
    assert_eq!((messages[4..].to_vec(), codes.len()), (vec![result("c1"), result("c2")], 0));
    // A call that still waits is written last, and no result is made up for it.
    let open = json!([user, both, answer("c1"), result("c1"), answer("c2")]);
    let (messages, codes) = again(&open, Format::AiSdkModel);
    assert_eq!(messages[2..], [answer("c1"), result("c1"), answer("c2")]);
    assert!(codes.is_empty(), "{codes:?}");
    let asking = json!([user, both]);
    assert_eq!(again(&asking, Format::AiSdkModel), (vec![user.clone(), both.clone()], Vec::new()));
    // Where the user went on, nothing waits.
    let mut went_on = open.as_array().unwrap().clone();
    went_on.push(json!({ "role": "user", "content": "never mind" }));
    let (messages, codes) = again(&Value::Array(went_on), Format::AiSdkModel);
    assert_eq!(messages[2..4], [answer("c1"), answer("c2")]);
    assert_eq!((messages.len(), codes), (6, vec!["RESULT_MISSING"]));
}

#[test]
fn an_answer_to_nothing_is_left_out() {
    let user = json!({ "role": "user", "content": "go" });
    let asks = json!({ "role": "assistant", "content": [call("c1"), request("c1")] });
    let orphan = json!([user, answer("c9"), asks, answer("c1"), answer("c1"), result("c1")]);
    let (messages, codes) = again(&orphan, Format::AiSdkModel);
    assert_eq!(messages, [user.clone(), asks, answer("c1"), result("c1")]);
    assert_eq!(codes, ["APPROVAL_LEFT_OUT", "APPROVAL_LEFT_OUT"]);
    // A call without its text as it was keeps its request.
    let mut items = read(
        json!([user, { "role": "assistant", "content": [call("c1"), request("c1")] }, answer("c1")]),
        Format::AiSdkModel,
    );
    items[1].text = r#"{"shown":"shorter"}"#.to_owned();
    let (messages, _) = asked(&items, Format::AiSdkModel);
    assert_eq!((&messages[1]["content"][1], &messages[2]), (&request("c1"), &answer("c1")));
}

#[test]
fn what_says_nothing_is_left_out() {
    let said =
        |message: Value| json!([{ "role": "user", "content": "go" }, message, { "role": "user", "content": "and?" }]);
    for (format, message) in [
        (Format::OpenAiChat, json!({ "role": "user", "content": "" })),
        (Format::OpenAiChat, json!({ "role": "user", "content": [] })),
        (Format::OpenAiChat, json!({ "role": "assistant", "content": "" })),
        (Format::OpenAiChat, json!({ "role": "user", "content": [{ "type": "text", "text": " " }] })),
        (Format::OpenAiResponses, json!({ "role": "user", "content": "" })),
        (Format::OpenAiResponses, json!({ "role": "user", "content": [] })),
        (
            Format::OpenAiResponses,
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "" }] }),
        ),
        (Format::AiSdkModel, json!({ "role": "user", "content": "" })),
        (Format::AiSdkModel, json!({ "role": "user", "content": [] })),
        (Format::AiSdkModel, json!({ "role": "assistant", "content": [] })),
        (Format::AiSdkModel, json!({ "role": "assistant", "content": [{ "type": "text", "text": "" }] })),
    ] {
        let (messages, codes) = again(&said(message.clone()), format);
        assert_eq!((messages.len(), codes), (2, vec!["EMPTY_LEFT_OUT"]), "{} {message}", format.as_str());
    }
    // Beside what is said, and before a call, which servers have with an empty text.
    let parts =
        json!([{ "role": "user", "content": [{ "type": "text", "text": "go" }, { "type": "text", "text": "" }] }]);
    for format in [Format::OpenAiChat, Format::AiSdkModel] {
        let (messages, codes) = again(&parts, format);
        assert_eq!(messages[0]["content"].as_array().map(Vec::len), Some(1));
        assert_eq!(codes, ["EMPTY_LEFT_OUT"]);
    }
    let calls = json!([{ "role": "user", "content": "go" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": [] }]);
    let (messages, codes) = again(&calls, Format::OpenAiChat);
    assert_eq!((&messages[1], codes), (&calls[1], vec!["EMPTY_LEFT_OUT"]));
    assert_eq!(messages[2]["content"], "", "a result of nothing is an empty text");
    let mut empty = result("c1");
    empty["content"][0]["output"] =
        json!({ "type": "content", "value": [{ "type": "text", "text": "" }, { "type": "text", "text": "42" }] });
    let listed = json!([{ "role": "user", "content": "go" }, { "role": "assistant", "content": [call("c1")] }, empty]);
    let (messages, codes) = again(&listed, Format::AiSdkModel);
    assert_eq!(messages[2]["content"][0]["output"]["value"], json!([{ "type": "text", "text": "42" }]));
    assert_eq!(codes, ["EMPTY_LEFT_OUT"]);
}

#[test]
fn an_item_of_responses_is_written_once() {
    let answer = json!([
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" },
        { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "42" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search", "query": "tides" } },
        { "type": "message", "id": "msg_1", "role": "assistant", "content": [{ "type": "output_text", "text": "42 it is.", "annotations": [] }] },
    ]);
    let user = json!({ "role": "user", "content": "go" });
    let once: Vec<Value> = std::iter::once(user.clone()).chain(answer.as_array().unwrap().clone()).collect();
    let mut twice = once.clone();
    twice.extend(answer.as_array().unwrap().clone());
    twice.push(json!({ "role": "user", "content": "sure?" }));
    let (messages, codes) = again(&Value::Array(twice.clone()), Format::OpenAiResponses);
    assert_eq!(messages[..6], once);
    assert_eq!((messages.len(), codes), (7, vec!["REPEAT_LEFT_OUT"; 3]));
    // One that stands in what was written before.
    let (first, second) =
        (read(Value::Array(once.clone()), Format::OpenAiResponses), read(answer.clone(), Format::OpenAiResponses));
    let (mut before, options) = (WrittenBefore::default(), WriteOptions::default());
    for (items, count) in [(first, 6), (second, 0)] {
        let written = continue_messages(&items, Format::OpenAiResponses, &options, &|_| None, &mut before).unwrap();
        assert_eq!(written.messages.len(), count, "{:?}", written.messages);
    }
    // A result that was given to the second of two calls is that of the first, and an edited message is another one.
    let (call, result) = (&answer[1], &answer[2]);
    let (messages, _) = again(&json!([user, call, call, result]), Format::OpenAiResponses);
    assert_eq!(messages, [user.clone(), call.clone(), result.clone()]);
    let mut edited = answer[4].clone();
    edited["content"][0]["text"] = "43 it is.".into();
    let (messages, _) = again(&json!([user, answer[4], user, edited]), Format::OpenAiResponses);
    assert_eq!((&messages[1]["id"], messages[3].get("id")), (&json!("msg_1"), None));
    assert_eq!(messages[3]["content"][0]["text"], "43 it is.");
}

#[test]
fn text_of_the_user_stays_apart_from_what_functions_answered() {
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "42" },
        { "role": "user", "content": "and now?" },
    ]);
    let (contents, _) = asked(&read(messages, Format::OpenAiChat), Format::Gemini);
    assert!(contents[2]["parts"][0].get("functionResponse").is_some());
    assert_eq!(
        (contents[2]["parts"].as_array().map(Vec::len), &contents[3]["parts"]),
        (Some(1), &json!([{ "text": "and now?" }]))
    );
    // Text that stood beside a response stays there; a response that was made up is a content of its own.
    let native = json!([
        { "role": "user", "parts": [{ "text": "go" }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": {} } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "output": "42" } } }, { "text": "and now?" }] },
    ]);
    assert_eq!(Value::Array(again(&native, Format::Gemini).0), native);
    let open = json!([native[0], native[1], { "role": "user", "parts": [{ "text": "stop" }] }]);
    let (contents, codes) = again(&open, Format::Gemini);
    assert_eq!((contents.len(), codes), (4, vec!["RESULT_MISSING"]));
}

#[test]
fn calls_of_another_model_are_marked_for_one_that_signs_its_own() {
    let converted = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } },
            { "id": "c2", "type": "function", "function": { "name": "f", "arguments": "{}" } } ] },
        { "role": "tool", "tool_call_id": "c1", "content": "1" },
        { "role": "tool", "tool_call_id": "c2", "content": "2" },
    ]);
    let own = json!([
        { "role": "model", "parts": [{ "functionCall": { "name": "g", "args": {} }, "thoughtSignature": "c2ln" }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "g", "response": { "output": "3" } } }] },
    ]);
    let options = ReadOptions { start: 4, id_prefix: "later:".to_owned(), ..ReadOptions::default() };
    let mut items = read(converted, Format::OpenAiChat);
    let marked = |contents: &[Value]| json!(contents).to_string().matches("skip_thought_signature_validator").count();
    assert_eq!(marked(&asked(&items, Format::Gemini).0), 0, "a model that signs nothing wants no signature");
    items.extend(messages_to_items(own, Format::Gemini, &options).unwrap().items);
    let (contents, _) = asked(&items, Format::Gemini);
    assert_eq!(
        contents[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator",
        "the first of an answer"
    );
    assert_eq!((marked(&contents), &contents[3]["parts"][0]["thoughtSignature"]), (1, &json!("c2ln")));
}

#[test]
fn a_beginning_that_was_cut_is_said_where_any_provider_may_read_it() {
    let messages = json!([
        { "role": "system", "content": "Answer briefly." },
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": "Gone." },
        { "role": "user", "content": "back?" },
    ]);
    let mut items = read(messages, Format::AiSdkModel);
    items.remove(1);
    let (messages, codes) = asked(&items, Format::AiSdkModel);
    assert_eq!(
        (&messages[1], codes),
        (&json!({ "role": "user", "content": "[Earlier messages are not shown.]" }), vec!["BEGINNING_MISSING"])
    );
    // Written in parts it is said once, and a model that began the conversation still begins it.
    let (mut before, options) = (WrittenBefore::default(), WriteOptions { is_steady: true, ..WriteOptions::default() });
    let parts: Vec<Value> = items
        .chunks(1)
        .flat_map(|part| {
            continue_messages(part, Format::AiSdkModel, &options, &|_| None, &mut before).unwrap().messages
        })
        .collect();
    assert_eq!(parts, messages);
    let greeting = json!([{ "role": "assistant", "content": "Hello." }, { "role": "user", "content": "go" }]);
    assert_eq!(again(&greeting, Format::AiSdkModel), (greeting.as_array().unwrap().clone(), Vec::new()));
}

#[test]
fn thoughts_that_a_secret_was_taken_out_of_are_named() {
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "I saw it." }, { "type": "text", "text": "Gone." }] },
    ]);
    let mut items = read(messages, Format::AiSdkModel);
    // As masking leaves it.
    items[1].metadata["_contextweaver"]["message"]["digest"] = "".into();
    let (messages, codes) = asked(&items, Format::AiSdkModel);
    assert_eq!((&messages[1]["content"], codes), (&json!("Gone."), vec!["OPAQUE_LEFT_OUT"]));
}

#[test]
fn more_images_than_a_provider_takes_are_named() {
    let image = json!({ "type": "image", "source": { "type": "url", "url": "https://e/a.png" } });
    let many = |count: usize| json!([{ "role": "user", "content": vec![image.clone(); count] }]);
    assert_eq!(again(&many(100), Format::Anthropic).1, Vec::<&str>::new());
    assert_eq!(again(&many(101), Format::Anthropic).1, ["IMAGES_MANY"]);
    assert_eq!(asked(&read(many(101), Format::Anthropic), Format::OpenAiChat).1, Vec::<&str>::new());
}

#[test]
fn arguments_that_were_broken_off_are_json_again() {
    let broken = json!([{ "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{\"a\": " } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "no JSON" }]);
    let (messages, _) = again(&broken, Format::OpenAiChat);
    let given = messages[1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(given).unwrap(), json!({ "input": "{\"a\": " }));
}

#[test]
fn answers_that_a_cut_brings_together_are_one() {
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": "Gone." },
        { "role": "user", "content": "back?" },
        { "role": "assistant", "content": [call("c1")] },
        result("c1"),
    ]);
    let mut items = read(messages, Format::AiSdkModel);
    items.remove(2);
    let (messages, _) = asked(&items, Format::AiSdkModel);
    assert_eq!((messages.len(), messages[1]["content"].as_array().map(Vec::len)), (3, Some(2)));
}

#[test]
fn what_only_the_provider_understands_is_named_where_its_text_changed() {
    let note = json!({ "type": "custom", "kind": "a.note", "providerOptions": { "a": { "note": "n" } } });
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": [{ "type": "text", "text": "password=x" }, note] },
    ]);
    let mut items = read(messages, Format::AiSdkModel);
    items[1].text = items[1].text.replace("=x", "=[REDACTED-SECRET]");
    assert_eq!(asked(&items, Format::AiSdkModel).1, ["OPAQUE_LEFT_OUT"]);
    // As the prompt shows an item with its media.
    contextweaver_convert::providers::keep_media(&mut items[1], "password=x\n[custom]");
    assert_eq!(asked(&items, Format::AiSdkModel).1, ["OPAQUE_LEFT_OUT"]);
}

#[test]
fn an_answer_to_several_requests_is_parted_by_what_was_done() {
    let user = json!({ "role": "user", "content": "go" });
    let both = json!({ "role": "assistant", "content": [call("c1"), request("c1"), call("c2"), request("c2")] });
    let mut answers = answer("c1");
    let second = answer("c2")["content"][0].clone();
    answers["content"].as_array_mut().unwrap().push(second);
    let (messages, codes) = again(&json!([user, both, answers, result("c1")]), Format::AiSdkModel);
    assert_eq!(messages[2..], [answer("c1"), result("c1"), answer("c2")], "what waits stands last");
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn messages_of_a_response_go_without_ids_once_one_before_them_does() {
    let message = |id: &str| {
        json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": format!("text of {id}"), "annotations": [] }] })
    };
    let response = json!([{ "role": "user", "content": "go" },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E" }, message("msg_1"), message("msg_2"), message("msg_3")]);
    assert_eq!(again(&response, Format::OpenAiResponses).0, response.as_array().unwrap()[..]);
    let mut items = read(response, Format::OpenAiResponses);
    items[1].text = "another text".to_owned();
    let (messages, _) = asked(&items, Format::OpenAiResponses);
    assert_eq!(messages.len(), 5);
    assert!(messages[2..].iter().all(|message| message.get("id").is_none()), "{messages:?}");
}

#[test]
fn reasoning_alone_is_no_message_of_chat() {
    let user = json!({ "role": "user", "content": "go" });
    for content in [Value::Null, "".into(), " ".into()] {
        let thought = json!({ "role": "assistant", "content": content, "reasoning_content": "hm" });
        let (messages, codes) = again(&json!([user, thought, user]), Format::OpenAiChat);
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(codes.contains(&"REASONING_INCOMPLETE"), "{codes:?}");
    }
}

#[test]
fn texts_of_two_answers_stand_before_the_calls_of_the_first() {
    let first =
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "f", "input": {} }] });
    let second = json!({ "role": "assistant", "content": [{ "type": "text", "text": "Nothing came." }] });
    let (messages, codes) = again(&json!([{ "role": "user", "content": "go" }, first, second]), Format::Anthropic);
    let kinds = |at: usize| -> Vec<String> {
        let parts = messages[at]["content"].as_array().unwrap();
        parts.iter().map(|part| part["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((kinds(1), kinds(2)), (vec!["text".to_owned(), "tool_use".to_owned()], vec!["tool_result".to_owned()]));
    assert_eq!(codes, ["RESULT_MISSING"]);
}

#[test]
fn every_answer_with_calls_is_signed_where_the_model_is_said_to_want_it() {
    let look = |n: u8| json!({ "functionCall": { "id": format!("g{n}"), "name": "look", "args": { "n": n } } });
    let seen =
        |n: u8| json!({ "functionResponse": { "id": format!("g{n}"), "name": "look", "response": { "output": n } } });
    // As an earlier Gemini made them: no call of the conversation is signed.
    let contents = json!([
        { "role": "user", "parts": [{ "text": "go" }] },
        { "role": "model", "parts": [{ "text": "Both." }, look(1), look(2)] },
        { "role": "user", "parts": [seen(1), seen(2)] },
        { "role": "model", "parts": [look(3)] },
        { "role": "user", "parts": [seen(3)] },
    ]);
    let items = read(contents.clone(), Format::Gemini);
    let wanted = WriteOptions { thought_signatures: true, ..WriteOptions::default() };
    let written = |options: &WriteOptions| json!(items_to_messages(&items, Format::Gemini, options).unwrap().messages);
    assert_eq!(written(&WriteOptions::default()), contents, "nothing says that the model signs its calls");
    let mut signed = contents;
    for (message, part) in [(1, 1), (3, 0)] {
        signed[message]["parts"][part]["thoughtSignature"] = json!("skip_thought_signature_validator");
    }
    assert_eq!(written(&wanted), signed);
    let mut before = WrittenBefore::default();
    continue_messages(&items, Format::Gemini, &WriteOptions::default(), &|_| None, &mut before).unwrap();
    assert_eq!((before.is_outdated(&WriteOptions::default()), before.is_outdated(&wanted)), (false, true));
}

#[test]
fn a_call_made_up_before_the_first_signed_one_is_outdated() {
    let orphan = json!([{ "role": "user", "parts": [{ "functionResponse": { "id": "g1", "name": "f", "response": { "output": 1 } } }] }]);
    let signed = json!([{ "role": "model", "parts": [{ "functionCall": { "id": "g2", "name": "f", "args": {} }, "thoughtSignature": "S" }] }]);
    let mut before = WrittenBefore::default();
    let mut went_on = |messages: &Value| {
        let items = read(messages.clone(), Format::Gemini);
        continue_messages(&items, Format::Gemini, &WriteOptions::default(), &|_| None, &mut before).unwrap();
        before.is_outdated(&WriteOptions::default())
    };
    assert!(!went_on(&orphan), "nothing says that the model signs its calls");
    assert!(went_on(&signed));
    let both = [orphan.as_array().unwrap().clone(), signed.as_array().unwrap().clone()].concat();
    let (messages, _) = again(&Value::Array(both), Format::Gemini);
    assert_eq!(messages[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
}

#[test]
fn messages_are_not_parted_behind_what_the_provider_ran() {
    let ran = json!({ "role": "assistant", "content": [
        { "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "tides" } },
        { "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] }] });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let said = json!({ "role": "assistant", "content": [{ "type": "text", "text": "High at noon." }] });
    let messages = json!([user("go"), ran, user("and?"), said]);
    let items = read(messages, Format::Anthropic);
    let is_last = |items: &[ContextItem]| last_part(items, Format::Anthropic) == Some(items.len() - 1);
    assert!(is_last(&items), "a turn of the user stands between");
    let behind: Vec<ContextItem> = items.iter().filter(|item| item.text != "and?").cloned().collect();
    assert!(!is_last(&behind), "both are one message of the model");
    // Nor between a result and its call that comes later.
    let early = json!([user("go"), { "role": "assistant", "content": "On it." }, result("c1"), user("and?"),
        { "role": "assistant", "content": [call("c1")] }]);
    assert_eq!(last_part(&read(early, Format::AiSdkModel), Format::AiSdkModel), Some(1));
}

#[test]
fn parts_of_the_ai_sdk_lose_the_ids_of_items_that_are_not_theirs_alone() {
    let item = |id: &str| json!({ "openai": { "itemId": id, "reasoningEncryptedContent": "E" } });
    let answer = json!({ "role": "assistant", "content": [
        { "type": "reasoning", "text": "hm", "providerOptions": item("rs_1") },
        { "type": "text", "text": "42 it is.", "providerOptions": item("msg_1") } ] });
    let user = json!({ "role": "user", "content": "go" });
    let twice = json!([user, answer, user, answer]);
    let (messages, codes) = again(&twice, Format::AiSdkModel);
    assert_eq!(messages[1], answer);
    assert_eq!(
        messages[3]["content"],
        json!([{ "type": "text", "text": "42 it is.",
        "providerOptions": { "openai": { "reasoningEncryptedContent": "E" } } }])
    );
    assert_eq!(codes, ["REPEAT_LEFT_OUT"]);
}

#[test]
fn a_request_is_for_the_call_before_it_where_an_id_is_used_again() {
    let user = json!({ "role": "user", "content": "go" });
    let asks = json!({ "role": "assistant", "content": [call("c1"), request("c1")] });
    let again_used = json!({ "role": "assistant", "content": [call("c1")] });
    let (messages, codes) =
        again(&json!([user, asks, answer("c1"), result("c1"), user, again_used]), Format::AiSdkModel);
    let last = &messages[messages.len() - 1];
    assert_eq!(last["content"][0]["type"], "tool-result", "the second call waits for nobody: {messages:?}");
    assert!(codes.contains(&"RESULT_MISSING"), "{codes:?}");
}

#[test]
fn text_of_the_ai_sdk_has_no_id_without_what_led_to_it() {
    let options = |id: &str| json!({ "openai": { "itemId": id } });
    let answer = json!({ "role": "assistant", "content": [
        { "type": "reasoning", "text": "hm", "providerOptions": options("rs_1") },
        { "type": "tool-call", "toolCallId": "w", "toolName": "web", "input": {}, "providerExecuted": true },
        { "type": "tool-result", "toolCallId": "w", "toolName": "web", "output": { "type": "json", "value": 1 } },
        { "type": "text", "text": "Rain.", "providerOptions": options("msg_1") } ] });
    let items = read(json!([{ "role": "user", "content": "go" }, answer]), Format::AiSdkModel);
    assert_eq!(asked(&items, Format::AiSdkModel).0[1], answer);
    let rest: Vec<ContextItem> = items.into_iter().filter(|item| item.text != "{}").collect();
    let (messages, _) = asked(&rest, Format::AiSdkModel);
    let text = messages[1]["content"].as_array().unwrap().iter().find(|part| part["text"] == "Rain.").unwrap();
    assert!(text.pointer("/providerOptions/openai/itemId").is_none(), "{messages:?}");
}
