//! Images, sounds and files in messages.

use contextweaver_convert::providers::cost::{ItemCost, ShownAs, message_quarters};
use contextweaver_convert::providers::{
    Format, MediaRecord, ReadOptions, WriteOptions, items_to_messages, items_to_messages_with, messages_to_items,
    note_media,
};
use contextweaver_model::{ContextItem, ItemKind};
use serde_json::{Value, json};

fn read(messages: Value, format: Format) -> Vec<ContextItem> {
    messages_to_items(messages, format, &ReadOptions::default()).unwrap().items
}

fn again(messages: Value, format: Format) -> Value {
    items_to_messages(&read(messages, format), format, &WriteOptions::default()).unwrap().messages.into()
}

#[test]
fn every_format_labels_its_media() {
    let user = |part: Value| json!([{ "role": "user", "content": [part] }]);
    let parts = |part: Value| json!([{ "role": "user", "parts": [part] }]);
    let png = "data:image/png;base64,iVBORw0KGgo=";
    for (format, messages, label) in [
        (
            Format::OpenAiChat,
            user(json!({ "type": "image_url", "image_url": { "url": png } })),
            "[image: image/png, 1 KiB]",
        ),
        (
            Format::OpenAiChat,
            user(json!({ "type": "input_audio", "input_audio": { "data": "AAAA", "format": "wav" } })),
            "[audio: wav, 1 KiB]",
        ),
        (Format::OpenAiChat, user(json!({ "type": "file", "file": { "file_id": "file_1" } })), "[file]"),
        (
            Format::OpenAiResponses,
            user(json!({ "type": "input_image", "image_url": png })),
            "[image: image/png, 1 KiB]",
        ),
        (
            Format::OpenAiResponses,
            user(json!({ "type": "input_file", "file_url": "https://a.example/b.pdf" })),
            "[file: https://a.example/b.pdf]",
        ),
        (
            Format::Anthropic,
            user(
                json!({ "type": "document", "title": "b", "source": { "type": "base64", "media_type": "application/pdf", "data": "AAAA" } }),
            ),
            "[document: b, application/pdf, 1 KiB]",
        ),
        (
            Format::Gemini,
            parts(json!({ "inlineData": { "mimeType": "audio/wav", "data": "AAAA" } })),
            "[audio: audio/wav, 1 KiB]",
        ),
        (
            Format::Gemini,
            parts(json!({ "file_data": { "mime_type": "video/mp4", "file_uri": "https://a.example/b" } })),
            "[video: video/mp4, https://a.example/b]",
        ),
        (
            Format::AiSdkModel,
            user(json!({ "type": "image", "image": "https://a.example/b.png" })),
            "[image: https://a.example/b.png]",
        ),
        (
            Format::AiSdkModel,
            user(json!({ "type": "file", "mediaType": "image/png", "data": { "type": "data", "data": "AAAA" } })),
            "[file: image/png, 1 KiB]",
        ),
        (
            Format::AiSdkModel,
            user(
                json!({ "type": "file", "mediaType": "text/plain", "filename": "a.txt", "data": { "type": "text", "text": "hello" } }),
            ),
            "[file: a.txt]\nhello",
        ),
        (
            Format::AiSdkUi,
            json!([{ "id": "1", "role": "user", "parts": [{ "type": "file", "mediaType": "image/png", "url": png }] }]),
            "[image: image/png, 1 KiB]",
        ),
    ] {
        let items = read(messages.clone(), format);
        assert_eq!(items[0].text, label, "{}", format.as_str());
        assert_eq!(again(messages.clone(), format), messages, "{}", format.as_str());
    }
}

/// The SDK wants an object of the class `URL` below a tag, which JSON cannot give it.
#[test]
fn an_address_of_the_ai_sdk_is_written_where_a_string_will_do() {
    let url = json!({ "type": "url", "url": "https://a.example/b.pdf" });
    let file = |data: &Value| json!({ "type": "file", "mediaType": "application/pdf", "data": data });
    let user = |data: &Value| json!([{ "role": "user", "content": [file(data)] }]);
    assert_eq!(again(user(&url), Format::AiSdkModel), user(&json!("https://a.example/b.pdf")));
    let of_tool = |part: Value| {
        let output = json!({ "type": "content", "value": [part] });
        json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {} }] },
            { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": output }] },
        ])
    };
    let address = json!({ "type": "file-url", "mediaType": "application/pdf", "url": "https://a.example/b.pdf" });
    assert_eq!(again(of_tool(file(&url)), Format::AiSdkModel), of_tool(address));
    // What is no address stays as it is.
    for data in [json!("AAAA"), json!({ "type": "url", "url": 5 }), json!({ "type": "data", "data": "AAAA" })] {
        assert_eq!(again(user(&data), Format::AiSdkModel), user(&data));
        assert_eq!(again(of_tool(file(&data)), Format::AiSdkModel), of_tool(file(&data)));
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const PNG64: &str = "iVBORw0KGgo=";

/// A call and its result with two media whose bytes are stored elsewhere.
fn result_with_media(text: &str) -> Vec<ContextItem> {
    let mut call = ContextItem::new("c1", ItemKind::ToolCall, "{}");
    call.metadata.insert("function_name".into(), "plot".into());
    let mut result = ContextItem::new("result:c1", ItemKind::ToolResult, text);
    result.parent_id = Some("c1".into());
    let media =
        [MediaRecord::new("h:image", "image/png", "", PNG), MediaRecord::new("h:sound", "audio/wav", "", b"RIFF")];
    note_media(&mut result, &media);
    vec![ContextItem::new("u", ItemKind::UserTurn, "Draw it."), call, result]
}

fn stored(handle: &str) -> Option<&'static [u8]> {
    match handle {
        "h:image" => Some(PNG),
        "h:sound" => Some(b"RIFF"),
        _ => None,
    }
}

/// What of the media of a result goes where, and what there is a line for.
#[test]
fn media_of_results_reach_the_model_as_each_format_has_them() {
    let line = "[audio: audio/wav, 1 KiB]";
    let said = format!("One chart.\n{line}");
    let url = format!("data:image/png;base64,{PNG64}");
    let image = json!({ "type": "base64", "media_type": "image/png", "data": PNG64 });
    let apart = format!("One chart.\n[image: image/png, 1 KiB]\n{line}");
    for (format, wanted, warnings) in [
        (
            Format::OpenAiChat,
            json!([
                { "role": "tool", "tool_call_id": "c1", "content": apart },
                { "role": "user", "content": [
                    { "type": "text", "text": "[From the result of call c1]" },
                    { "type": "image_url", "image_url": { "url": url } },
                    { "type": "input_audio", "input_audio": { "data": "UklGRg==", "format": "wav" } } ] },
            ]),
            0,
        ),
        (
            Format::OpenAiResponses,
            json!([{ "type": "function_call_output", "call_id": "c1", "output": [
                { "type": "input_text", "text": said },
                { "type": "input_image", "image_url": url, "detail": "auto" } ] }]),
            1,
        ),
        (
            Format::Anthropic,
            json!([{ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": [
                { "type": "text", "text": said }, { "type": "image", "source": image } ] }] }]),
            1,
        ),
        (
            Format::Gemini,
            json!([{ "role": "user", "parts": [
                { "functionResponse": { "name": "plot", "response": { "output": apart } } },
                { "inlineData": { "mimeType": "image/png", "data": PNG64 } },
                { "inlineData": { "mimeType": "audio/wav", "data": "UklGRg==" } } ] }]),
            0,
        ),
        (
            Format::AiSdkModel,
            json!([{ "role": "tool", "content": [
                { "type": "tool-result", "toolCallId": "c1", "toolName": "plot", "output": { "type": "content", "value": [
                    { "type": "text", "text": "One chart." },
                    { "type": "image-data", "data": PNG64, "mediaType": "image/png" },
                    { "type": "file-data", "data": "UklGRg==", "mediaType": "audio/wav" } ] } }] }]),
            0,
        ),
        (
            Format::AiSdkUi,
            json!([{ "id": "message-1", "role": "assistant", "parts": [
                { "type": "tool-plot", "toolCallId": "c1", "state": "output-available", "input": {}, "output": apart } ] }]),
            2,
        ),
    ] {
        let items = result_with_media("One chart.");
        let written = items_to_messages_with(&items, format, &WriteOptions::default(), &stored).unwrap();
        let from = written.messages.len() - wanted.as_array().unwrap().len();
        assert_eq!(Value::from(&written.messages[from..]), wanted, "{}", format.as_str());
        let codes: Vec<&str> = written.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, vec!["MEDIA_LEFT_OUT"; warnings], "{}", format.as_str());
    }
}

#[test]
fn media_belong_to_a_text() {
    let write = |items: &[ContextItem]| {
        items_to_messages_with(items, Format::Anthropic, &WriteOptions::default(), &stored).unwrap()
    };
    let shows = |items: &[ContextItem]| json!(write(items).messages).to_string().contains(PNG64);
    // A line may be added, as the one that says how to look further.
    let mut items = result_with_media("One chart.");
    items[2].text += "\n(see it by its handle)";
    assert!(shows(&items));
    // Another text may have been made to take out what they show.
    for text in ["One", "Two charts.", ""] {
        items[2].text = text.into();
        assert!(!shows(&items), "{text}");
        assert_eq!(write(&items).warnings.last().unwrap().code, "MEDIA_LEFT_OUT");
    }
    let mut items = result_with_media("One chart.");
    items[2].metadata.insert("redacted".into(), true.into());
    assert!(!shows(&items));
    // What is not stored any more has a line.
    let items = result_with_media("One chart.");
    let written = items_to_messages(&items, Format::Anthropic, &WriteOptions::default()).unwrap();
    let content = &written.messages[2]["content"][0]["content"];
    assert_eq!(content, "One chart.\n[image: image/png, 1 KiB]\n[audio: audio/wav, 1 KiB]");
    assert_eq!(written.warnings.len(), 2);
    // A text that is nothing but labels says nothing beside them.
    let items = result_with_media("[image: image/png, 1 KiB]\n[audio: audio/wav, 1 KiB]");
    let content = write(&items).messages[2]["content"][0]["content"].clone();
    assert_eq!(content[0]["text"], "[audio: audio/wav, 1 KiB]");
    assert_eq!(content[1]["type"], "image");
}

/// A message of media cannot stand between the results of calls of which some still wait.
#[test]
fn media_of_results_wait_for_no_call() {
    let mut items = result_with_media("One chart.");
    let mut other = ContextItem::new("c2", ItemKind::ToolCall, "{}");
    other.metadata.insert("function_name".into(), "plot".into());
    items.insert(2, other);
    let written = items_to_messages_with(&items, Format::OpenAiChat, &WriteOptions::default(), &stored).unwrap();
    assert_eq!(written.messages.last().unwrap()["role"], "tool");
    assert_eq!(written.warnings.len(), 2);
}

/// What is estimated of an item holds for what is written.
#[test]
fn media_of_results_count_before_they_are_written() {
    let weigh = |text: &str| text.len() as u64;
    for format in Format::ALL {
        let items = result_with_media("One chart.");
        let written = items_to_messages_with(&items, *format, &WriteOptions::default(), &stored).unwrap();
        let sent = message_quarters(&written, *format, &weigh);
        let cost = |at: usize| {
            let before = at.checked_sub(1).map(|before| &items[before]);
            ItemCost { format: *format, item: &items[at], before, weigh: &weigh }
                .quarters(items[at].text.len() as u64, ShownAs::Own)
        };
        let estimated: u64 = (0..items.len()).map(cost).sum();
        let near = estimated.abs_diff(sent);
        assert!(near < 200, "{}: {estimated} estimated, {sent} sent", format.as_str());
    }
}
