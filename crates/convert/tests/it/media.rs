//! Images, sounds and files in messages.

use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use serde_json::{Value, json};

fn read(messages: Value, format: Format) -> Vec<contextweaver_model::ContextItem> {
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
