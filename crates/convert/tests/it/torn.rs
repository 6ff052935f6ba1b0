//! Items of Responses that are torn from the reasoning that led to them, calls whose reasoning is lost, and what is left without them.

use contextweaver_convert::providers::{
    Format, LastResponse, ReadOptions, WriteOptions, WrittenBefore, continue_messages, items_to_messages,
    messages_to_items,
};
use contextweaver_model::ContextItem;
use serde_json::{Value, json};

fn read(messages: Value, format: Format, last_response: LastResponse) -> Vec<ContextItem> {
    let options = ReadOptions { last_response, ..ReadOptions::default() };
    messages_to_items(messages, format, &options).unwrap().items
}

/// The messages as a model is asked, with the codes of what was mended.
fn asked(items: &[ContextItem], format: Format) -> (Vec<Value>, Vec<&'static str>) {
    let options = WriteOptions { close_calls: true, ..WriteOptions::default() };
    let written = items_to_messages(items, format, &options).unwrap();
    (written.messages, written.warnings.iter().map(|warning| warning.code).collect())
}

fn again(messages: &Value) -> (Vec<Value>, Vec<&'static str>) {
    asked(&read(messages.clone(), Format::OpenAiResponses, LastResponse::Unknown), Format::OpenAiResponses)
}

fn reasoning(id: &str) -> Value {
    json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("sealed {id}") })
}

fn call(id: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": "{}" })
}

fn output(id: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": "42" })
}

fn message(id: &str) -> Value {
    json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": format!("text of {id}"), "annotations": [] }] })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// An item without its id.
fn freed(mut item: Value) -> Value {
    item.as_object_mut().unwrap().shift_remove("id");
    item
}

#[test]
fn what_a_message_tears_from_its_reasoning_has_no_id() {
    let custom = json!({ "type": "custom_tool_call", "id": "fc_c2", "call_id": "c2", "name": "sh", "input": "ls" });
    for item in [message("msg_1"), call("c1"), custom] {
        let (messages, codes) = again(&json!([user("go"), reasoning("rs_1"), user("Wait!"), item, user("and?")]));
        assert_eq!(messages[..3], [user("go"), user("Wait!"), freed(item.clone())]);
        assert_eq!(codes[codes.len() - 1], "REASONING_INCOMPLETE", "{codes:?}");
    }
    // So does a result that was handed over early, which is written behind its call.
    let (messages, _) =
        again(&json!([user("go"), reasoning("rs_1"), output("c1"), call("c1"), call("c2"), output("c2")]));
    assert_eq!(messages[2..], [freed(call("c1")), freed(call("c2")), output("c1"), output("c2")]);
    // Behind a message of the answer it is known by the call, which nobody made before.
    let (messages, _) =
        again(&json!([user("go"), reasoning("rs_1"), message("msg_1"), output("c1"), call("c1"), user("and?")]));
    assert_eq!(messages[3], freed(call("c1")));
    let patch = json!({ "type": "apply_patch_call", "id": "ap_3", "call_id": "c3", "status": "completed",
        "operation": { "type": "delete_file", "path": "a" } });
    let patched = json!({ "type": "apply_patch_call_output", "call_id": "c3", "status": "completed", "output": "" });
    let (messages, _) = again(&json!([user("go"), reasoning("rs_1"), user("Wait!"), patch, patched]));
    assert_eq!(messages[2..], [freed(patch), patched]);
    // The next answer is whole.
    let next = json!([user("go"), reasoning("rs_1"), user("Wait!"), message("msg_1"), user("and?"), message("msg_2")]);
    assert_eq!(again(&next).0[4], message("msg_2"));
    // So is one that has its reasoning itself, up to where that begins.
    let own =
        json!([user("go"), reasoning("rs_1"), user("Wait!"), message("msg_1"), reasoning("rs_2"), message("msg_2")]);
    assert_eq!(again(&own).0[2..], [freed(message("msg_1")), reasoning("rs_2"), message("msg_2")]);
}

#[test]
fn what_has_no_form_without_an_id_is_written_in_another_one() {
    let between = |item: &Value| {
        let (messages, codes) = again(&json!([user("go"), reasoning("rs_1"), user("Wait!"), item, user("and?")]));
        (messages[2].clone(), codes)
    };
    let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": { "type": "search", "query": "tides" } });
    let (written, _) = between(&search);
    assert_eq!((&written["type"], written.get("id")), (&json!("message"), None));
    assert!(written["content"].as_str().unwrap().contains("tides"), "{written}");
    let shell = json!({ "type": "local_shell_call", "id": "ls_1", "call_id": "c1", "status": "completed",
        "action": { "type": "exec", "command": ["ls"], "env": {} } });
    let (messages, _) = again(&json!([user("go"), reasoning("rs_1"), user("Wait!"), shell,
        { "type": "local_shell_call_output", "id": "c1", "output": "a.txt" }]));
    assert_eq!((&messages[2]["type"], &messages[3]["type"]), (&json!("function_call"), &json!("function_call_output")));
    assert_eq!(messages[3]["output"], "a.txt");
    let image =
        json!({ "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo=" });
    let (written, codes) = between(&image);
    assert!(written["content"].as_str().unwrap().contains("image"), "{written}");
    assert!(codes.contains(&"MEDIA_LEFT_OUT"), "{codes:?}");
}

#[test]
fn calls_that_a_message_tears_apart_have_no_ids() {
    let messages =
        json!([user("go"), reasoning("rs_1"), call("c1"), user("Wait!"), call("c2"), output("c1"), output("c2")]);
    let items = read(messages, Format::OpenAiResponses, LastResponse::Unknown);
    // Also where the first one is cut.
    for items in [&items[..], &items[2..]] {
        let (messages, _) = asked(items, Format::OpenAiResponses);
        assert!(messages.contains(&freed(call("c2"))), "{messages:?}");
    }
    let answered = json!([user("go"), call("c1"), output("c1"), call("c2"), output("c2"), message("msg_1")]);
    assert_eq!(Value::Array(again(&answered).0), answered, "answers in a row are whole");
}

#[test]
fn the_rest_of_an_answer_in_the_next_messages_has_no_id() {
    let read =
        |messages: Value, before| asked(&read(messages, Format::OpenAiResponses, before), Format::OpenAiResponses).0;
    let goes_on = json!([user("Wait!"), message("msg_1")]);
    for (before, is_torn) in [
        (LastResponse::Unfinished, true),
        (LastResponse::Waiting(vec!["c9".to_owned()]), true),
        (LastResponse::Missing, false),
        (LastResponse::Finished, false),
    ] {
        assert_eq!(read(goes_on.clone(), before.clone())[1].get("id").is_none(), is_torn, "{before:?}");
    }
    let result = json!([user("go"), call("c1"), output("c1"), message("msg_1")]);
    let items = messages_to_items(json!([result[0], result[1]]), Format::OpenAiResponses, &ReadOptions::default());
    let waits = LastResponse::Missing.after(items.unwrap().items.iter());
    let options =
        ReadOptions { last_response: waits, known_calls: vec![("c1".into(), "c1".into())], ..ReadOptions::default() };
    let rest = messages_to_items(json!([result[2], result[3]]), Format::OpenAiResponses, &options).unwrap().items;
    assert_eq!(asked(&rest[1..], Format::OpenAiResponses).0, [message("msg_1")]);
    let begins = json!([call("c1"), output("c1"), message("msg_1")]);
    let (missing, unknown) = (read(begins.clone(), LastResponse::Missing), read(begins.clone(), LastResponse::Unknown));
    assert_eq!((missing[0].clone(), &missing[2]), (freed(call("c1")), &message("msg_1")));
    assert_eq!(Value::Array(unknown), begins);
}

#[test]
fn a_copy_whose_original_is_cut_has_no_id() {
    let answer = [reasoning("rs_1"), message("msg_1"), call("c1"), output("c1"), message("msg_2")];
    for copy in [call("c1"), message("msg_1")] {
        let mut list = vec![user("go")];
        list.extend(answer.clone());
        list.extend([user("and?"), copy.clone(), user("so?")]);
        let items = read(Value::Array(list), Format::OpenAiResponses, LastResponse::Unknown);
        let turn = items.iter().position(|item| item.text == "and?").unwrap();
        let (messages, _) = asked(&items[turn..], Format::OpenAiResponses);
        assert_eq!(messages[1], freed(copy));
        assert!(asked(&items, Format::OpenAiResponses).1.contains(&"REPEAT_LEFT_OUT"));
    }
}

#[test]
fn reasoning_before_a_copy_is_that_of_what_follows() {
    let first = [reasoning("rs_1"), call("c1"), output("c1")];
    let begin = |rest: &[Value]| Value::Array([&[user("go")], &first[..], rest].concat());
    for rest in [
        vec![reasoning("rs_2"), call("c1"), call("c2"), output("c2")],
        vec![reasoning("rs_2"), call("c1"), message("msg_2"), user("and?")],
        vec![reasoning("rs_2"), message("msg_2"), call("c1"), call("c2"), output("c2")],
    ] {
        let whole: Vec<Value> = rest.iter().filter(|item| **item != call("c1")).cloned().collect();
        let (messages, codes) = again(&begin(&rest));
        // Items behind the copy have no id, because something before them is missing.
        let ids = |list: &[Value]| -> Vec<Value> { list.iter().cloned().map(freed).collect() };
        assert_eq!(ids(&messages[4..]), ids(&whole));
        assert_eq!((&messages[4], codes), (&reasoning("rs_2"), vec!["REPEAT_LEFT_OUT"]));
    }
    let (messages, codes) = again(&begin(&[reasoning("rs_2"), call("c1"), user("and?")]));
    assert_eq!(messages[4..], [user("and?")]);
    assert_eq!(codes, ["REPEAT_LEFT_OUT", "REASONING_INCOMPLETE"]);
}

#[test]
fn calls_of_openai_are_taken_without_their_reasoning() {
    let user = user("go");
    let list = json!([user, reasoning("rs_1"), call("c1"), call("c2"), output("c1"), output("c2"), message("msg_1")]);
    let mut items = read(list, Format::OpenAiResponses, LastResponse::Unknown);
    // As masking leaves it.
    items[1].metadata["_contextweaver"]["message"]["digest"] = "".into();
    let (messages, codes) = asked(&items, Format::OpenAiResponses);
    let rest = [output("c1"), output("c2"), message("msg_1")];
    assert_eq!(messages[1..], [&[freed(call("c1")), freed(call("c2"))], &rest[..]].concat());
    assert_eq!(codes, ["OPAQUE_LEFT_OUT"]);
    let part = |provider: &str| {
        let options =
            |id: &str| json!({ provider: { (if provider == "openai" { "itemId" } else { "signature" }): id } });
        json!([user, { "role": "assistant", "content": [
            { "type": "reasoning", "text": "password=x", "providerOptions": options("rs_1") },
            { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {}, "providerOptions": options("fc_1") }] },
            { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": { "type": "text", "value": "42" } }] }])
    };
    // Elsewhere they are words, as is their result.
    for (provider, last) in [("openai", "tool"), ("anthropic", "user")] {
        let mut items = read(part(provider), Format::AiSdkModel, LastResponse::Unknown);
        items[1].metadata["_contextweaver"]["message"]["digest"] = "".into();
        let (messages, _) = asked(&items, Format::AiSdkModel);
        assert_eq!((messages.len(), &messages[2]["role"]), (3, &json!(last)), "{messages:?}");
        assert!(!json!(messages).to_string().contains("fc_1"));
    }
}

#[test]
fn gemini_takes_calls_whose_thoughts_are_lost() {
    let contents = json!([
        { "role": "user", "parts": [{ "text": "go" }] },
        { "role": "model", "parts": [{ "text": "password=x", "thought": true },
            { "functionCall": { "id": "g1", "name": "f", "args": {} }, "thoughtSignature": "S" },
            { "functionCall": { "id": "g2", "name": "f", "args": {} } }] },
        { "role": "user", "parts": [
            { "functionResponse": { "id": "g1", "name": "f", "response": { "output": 1 } } },
            { "functionResponse": { "id": "g2", "name": "f", "response": { "output": 2 } } }] },
    ]);
    let mut items = read(contents.clone(), Format::Gemini, LastResponse::Unknown);
    // As masking leaves it.
    items[1].metadata["_contextweaver"]["message"]["digest"] = "".into();
    let (messages, codes) = asked(&items, Format::Gemini);
    let calls = messages[1]["parts"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "{messages:?}");
    assert_eq!((&calls[0]["functionCall"]["name"], &calls[1]), (&json!("f"), &contents[1]["parts"][2]));
    assert_eq!(calls[0]["thoughtSignature"], "skip_thought_signature_validator", "its own is lost");
    assert_eq!(messages[2]["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(codes, ["OPAQUE_LEFT_OUT"]);
}

#[test]
fn a_conversation_of_which_nothing_is_left_says_so() {
    let options = json!({ "anthropic": { "signature": "S" } });
    let model = json!([
        { "role": "user", "content": "" },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "password=x", "providerOptions": options },
            { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {} }] },
        { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": { "type": "text", "value": "42" } }] },
    ]);
    let native = json!([
        { "role": "user", "content": "" },
        { "role": "assistant", "content": [{ "type": "thinking", "thinking": "password=x", "signature": "S" },
            { "type": "tool_use", "id": "c1", "name": "f", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "42" }] },
    ]);
    for (messages, format) in [(model, Format::AiSdkModel), (native, Format::Anthropic)] {
        let mut items = read(messages, format, LastResponse::Unknown);
        // As redaction leaves it.
        let message = &mut items[1].metadata["_contextweaver"]["message"];
        (message["digest"], message["parts"]) = ("".into(), json!([]));
        let (messages, codes) = asked(&items, format);
        assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")), "{messages:?}");
        assert!(codes.contains(&"REASONING_INCOMPLETE") && codes.contains(&"BEGINNING_MISSING"), "{codes:?}");
    }
}

#[test]
fn white_space_before_what_another_provider_is_not_sent_is_trimmed() {
    let note = json!({ "type": "custom", "kind": "a.note", "providerOptions": { "a": { "note": "n" } } });
    let image = json!({ "type": "file", "mediaType": "image/png", "data": "iVBORw0KGgo=" });
    for aside in [&note, &image] {
        let said = |text: &str| json!({ "role": "assistant", "content": [{ "type": "text", "text": text }, aside] });
        let list = json!([user("go"), said("Gone. \n")]);
        let (messages, codes) = asked(&read(list, Format::AiSdkModel, LastResponse::Unknown), Format::AiSdkModel);
        assert_eq!((&messages[1], codes), (&said("Gone."), vec!["TEXT_TRIMMED"]));
    }
    // The SDK itself trims what stands last.
    let list = json!([user("go"), { "role": "assistant", "content": [note, { "type": "text", "text": "Gone. \n" }] }]);
    let (messages, codes) = asked(&read(list.clone(), Format::AiSdkModel, LastResponse::Unknown), Format::AiSdkModel);
    assert_eq!((Value::Array(messages), codes), (list, Vec::new()));
}

#[test]
fn a_copy_of_a_request_for_approval_waits_for_nothing() {
    let asks = json!({ "role": "assistant", "content": [
        { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {} },
        { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" }] });
    let answer = json!({ "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "a1", "approved": true }] });
    let result = json!({ "role": "tool", "content": [
        { "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": { "type": "text", "value": "42" } }] });
    let list = json!([user("go"), asks, answer, result, user("and?"), asks]);
    let items = read(list, Format::AiSdkModel, LastResponse::Unknown);
    let (messages, codes) = asked(&items, Format::AiSdkModel);
    assert_eq!(messages[messages.len() - 1]["content"][0]["type"], "tool-result", "{messages:?}");
    assert!(codes.contains(&"RESULT_MISSING"), "{codes:?}");
    // Also where the first one was written before.
    let (mut before, options) =
        (WrittenBefore::default(), WriteOptions { close_calls: true, ..WriteOptions::default() });
    let (first, copy) = items.split_at(items.len() - 1);
    continue_messages(first, Format::AiSdkModel, &options, &|_| None, &mut before).unwrap();
    let written = continue_messages(copy, Format::AiSdkModel, &options, &|_| None, &mut before).unwrap();
    assert_eq!(written.messages.len(), 2, "{:?}", written.messages);
}

/// The form of a picture in a result is none of a message.
#[test]
fn pictures_of_results_that_are_words_are_pictures_of_a_message() {
    let options = json!({ "anthropic": { "signature": "S" } });
    let image = json!({ "type": "image-data", "data": "iVBORw0KGgo=", "mediaType": "image/png" });
    let output = json!({ "type": "content", "value": [{ "type": "text", "text": "42" }, image] });
    let list = json!([
        user("go"),
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "password=x", "providerOptions": options },
            { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {} }] },
        { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": output }] },
    ]);
    let mut items = read(list, Format::AiSdkModel, LastResponse::Unknown);
    items[1].metadata["_contextweaver"]["message"]["digest"] = "".into();
    let (messages, _) = asked(&items, Format::AiSdkModel);
    assert_eq!(messages[2]["role"], "user");
    let kinds: Vec<&Value> = messages[2]["content"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["text", "file"], "{messages:?}");
}
