//! Every part of every format, written for every other: it arrives, or a line and a warning stand for it, or a warning says
//! that it is left out. `docs/messages.md` is the table of that; `CONTEXTWEAVER_UPDATE=1` writes it anew.

use std::fmt::Write as _;

use contextweaver_convert::providers::{
    Format, ReadOptions, WriteOptions, WrittenMessages, items_to_messages, messages_to_items,
};
use serde_json::{Value, json};

/// What is looked for in what is written: a word, or the end of the bytes of media.
const MARK: &str = "Marker123";
const PNG: &str = "iVBORw0KGgoMarker123";
const PDF: &str = "JVBERi0xMarker123";
const WAV: &str = "UklGRAAAAAAAQVZFMarker123";

/// A part of a format, in a conversation that has it.
struct Example {
    name: &'static str,
    messages: Value,
}

fn data(media_type: &str, bytes: &str) -> String {
    format!("data:{media_type};base64,{bytes}")
}

fn example(name: &'static str, messages: Value) -> Example {
    Example { name, messages }
}

const URL: &str = "https://example.org/Marker123.png";

fn openai_chat() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "content": [part] }]));
    let assistant = |name, fields: Value| {
        let mut message = json!({ "role": "assistant", "content": null });
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        example(name, json!([{ "role": "user", "content": "hi" }, message]))
    };
    let call = |call: Value| {
        let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "ok" });
        json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": null, "tool_calls": [call] }, result])
    };
    let function = |arguments: &str| json!({ "id": "c1", "type": "function", "function": { "name": "f", "arguments": arguments } });
    let mut result = call(function("{}"));
    result[2]["content"] = MARK.into();
    vec![
        example("instructions", json!([{ "role": "system", "content": MARK }, { "role": "user", "content": "hi" }])),
        user("text", json!({ "type": "text", "text": MARK })),
        user("image, address", json!({ "type": "image_url", "image_url": { "url": URL } })),
        user("image, bytes", json!({ "type": "image_url", "image_url": { "url": data("image/png", PNG) } })),
        user("audio", json!({ "type": "input_audio", "input_audio": { "data": WAV, "format": "wav" } })),
        user(
            "file, bytes",
            json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": data("application/pdf", PDF) } }),
        ),
        user("file, uploaded", json!({ "type": "file", "file": { "file_id": MARK } })),
        user("unknown part", json!({ "type": "hologram", "x": MARK })),
        assistant("answer", json!({ "content": MARK })),
        assistant("refusal", json!({ "refusal": MARK })),
        assistant("spoken answer", json!({ "audio": { "id": "a1", "transcript": MARK } })),
        assistant("reasoning", json!({ "content": "so", "reasoning_content": MARK })),
        example("call", call(function(&format!("{{\"a\":\"{MARK}\"}}")))),
        example(
            "call of a custom tool",
            call(json!({ "id": "c1", "type": "custom", "custom": { "name": "f", "input": MARK } })),
        ),
        example("result", result),
    ]
}

fn openai_responses() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "content": [part] }]));
    let item = |name, item: Value| {
        example(name, json!([{ "role": "user", "content": "hi" }, item, { "role": "assistant", "content": "so" }]))
    };
    let call =
        |arguments: &str| json!({ "type": "function_call", "call_id": "c1", "name": "f", "arguments": arguments });
    let result = |name, output: Value| {
        let output = json!({ "type": "function_call_output", "call_id": "c1", "output": output });
        example(name, json!([{ "role": "user", "content": "hi" }, call("{}"), output]))
    };
    let called = json!([
        { "role": "user", "content": "hi" },
        call(&format!("{{\"a\":\"{MARK}\"}}")),
        { "type": "function_call_output", "call_id": "c1", "output": "ok" },
    ]);
    vec![
        user("text", json!({ "type": "input_text", "text": MARK })),
        user("image, address", json!({ "type": "input_image", "image_url": URL })),
        user("image, bytes", json!({ "type": "input_image", "image_url": data("image/png", PNG) })),
        user("image, uploaded", json!({ "type": "input_image", "file_id": MARK })),
        user(
            "file, bytes",
            json!({ "type": "input_file", "filename": "a.pdf", "file_data": data("application/pdf", PDF) }),
        ),
        user("file, address", json!({ "type": "input_file", "file_url": "https://example.org/Marker123.pdf" })),
        item(
            "answer",
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": MARK }] }),
        ),
        item("reasoning", json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": MARK })),
        item("tool of the provider", json!({ "type": "web_search_call", "id": "ws_1", "action": { "query": MARK } })),
        example("call", called),
        result("result", MARK.into()),
        result("result, image", json!([{ "type": "input_image", "image_url": data("image/png", PNG) }])),
        result(
            "result, file",
            json!([{ "type": "input_file", "filename": "a.pdf", "file_data": data("application/pdf", PDF) }]),
        ),
    ]
}

fn anthropic() -> Vec<Example> {
    let user = |name, block: Value| example(name, json!([{ "role": "user", "content": [block] }]));
    let assistant = |name, blocks: Value| {
        example(name, json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": blocks }]))
    };
    let result = |name, content: Value, is_error: bool| {
        let result = json!({ "type": "tool_result", "tool_use_id": "c1", "content": content, "is_error": is_error });
        example(
            name,
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "f", "input": {} }] },
                { "role": "user", "content": [result] },
            ]),
        )
    };
    let bytes = |media_type: &str, data: &str| json!({ "type": "base64", "media_type": media_type, "data": data });
    let called = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "f", "input": { "a": MARK } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "ok" }] },
    ]);
    let searched = json!([
        { "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": MARK } },
        { "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] },
        { "type": "text", "text": "so" },
    ]);
    vec![
        user("text", json!({ "type": "text", "text": MARK })),
        user("image, address", json!({ "type": "image", "source": { "type": "url", "url": URL } })),
        user("image, bytes", json!({ "type": "image", "source": bytes("image/png", PNG) })),
        user("image, uploaded", json!({ "type": "image", "source": { "type": "file", "file_id": MARK } })),
        user("document, PDF", json!({ "type": "document", "source": bytes("application/pdf", PDF) })),
        user(
            "document, text",
            json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": MARK } }),
        ),
        user(
            "search result",
            json!({ "type": "search_result", "source": "https://e.test", "title": "T", "content": [{ "type": "text", "text": MARK }] }),
        ),
        user("file for a container", json!({ "type": "container_upload", "file_id": MARK })),
        assistant("answer", json!([{ "type": "text", "text": MARK }])),
        assistant(
            "thinking",
            json!([{ "type": "thinking", "thinking": MARK, "signature": "c2ln" }, { "type": "text", "text": "so" }]),
        ),
        assistant("tool of the provider", searched),
        example("call", called),
        result("result", MARK.into(), false),
        result("failed result", MARK.into(), true),
        result("result, image", json!([{ "type": "image", "source": bytes("image/png", PNG) }]), false),
        result("result, document", json!([{ "type": "document", "source": bytes("application/pdf", PDF) }]), false),
    ]
}

fn gemini() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "parts": [part] }]));
    let model = |name, parts: Value| {
        example(name, json!([{ "role": "user", "parts": [{ "text": "hi" }] }, { "role": "model", "parts": parts }]))
    };
    let called = |name, args: Value, response: Value| {
        let mut response = response;
        response["name"] = "f".into();
        example(
            name,
            json!([
                { "role": "user", "parts": [{ "text": "hi" }] },
                { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": args } }] },
                { "role": "user", "parts": [{ "functionResponse": response }] },
            ]),
        )
    };
    let inline = |media_type: &str, data: &str| json!({ "inlineData": { "mimeType": media_type, "data": data } });
    vec![
        user("text", json!({ "text": MARK })),
        user("image, bytes", inline("image/png", PNG)),
        user("audio", inline("audio/wav", WAV)),
        user("video", inline("video/mp4", "AAAAMarker123")),
        user("PDF", inline("application/pdf", PDF)),
        user("image, address", json!({ "fileData": { "mimeType": "image/png", "fileUri": URL } })),
        user(
            "file, uploaded",
            json!({ "fileData": { "mimeType": "image/png", "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/Marker123" } }),
        ),
        model("answer", json!([{ "text": MARK }])),
        model("answer, image", json!([inline("image/png", PNG)])),
        model("thought", json!([{ "text": MARK, "thought": true }, { "text": "so" }])),
        model("code", json!([{ "executableCode": { "language": "PYTHON", "code": MARK } }])),
        called("call", json!({ "a": MARK }), json!({ "response": { "output": "ok" } })),
        called("result", json!({}), json!({ "response": { "output": MARK } })),
        called("failed result", json!({}), json!({ "response": { "error": MARK } })),
        called(
            "result, image",
            json!({}),
            json!({ "response": { "output": "ok" }, "parts": [inline("image/png", PNG)] }),
        ),
    ]
}

fn ai_sdk_ui() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "id": "1", "role": "user", "parts": [part] }]));
    let assistant = |name, parts: Value| {
        example(
            name,
            json!([
                { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "hi" }] },
                { "id": "2", "role": "assistant", "parts": parts },
            ]),
        )
    };
    let tool = |input: Value, output: Value| json!([{ "type": "tool-f", "toolCallId": "c1", "state": "output-available", "input": input, "output": output }]);
    let text = json!({ "type": "text", "text": "so" });
    vec![
        user("text", json!({ "type": "text", "text": MARK })),
        user("image, address", json!({ "type": "file", "mediaType": "image/png", "url": URL })),
        user("image, bytes", json!({ "type": "file", "mediaType": "image/png", "url": data("image/png", PNG) })),
        user("PDF", json!({ "type": "file", "mediaType": "application/pdf", "url": data("application/pdf", PDF) })),
        assistant("answer", json!([{ "type": "text", "text": MARK }])),
        assistant(
            "answer, image",
            json!([{ "type": "file", "mediaType": "image/png", "url": data("image/png", PNG) }]),
        ),
        assistant("reasoning", json!([{ "type": "reasoning", "text": MARK }, text])),
        assistant("source", json!([text, { "type": "source-url", "sourceId": "s", "url": URL }])),
        assistant("data", json!([text, { "type": "data-x", "data": MARK }])),
        assistant(
            "tool of the provider",
            json!([{ "type": "tool-web", "toolCallId": "w", "state": "output-available", "providerExecuted": true, "input": {}, "output": MARK }]),
        ),
        assistant("call", tool(json!({ "a": MARK }), "ok".into())),
        assistant("result", tool(json!({}), MARK.into())),
        assistant(
            "failed result",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "output-error", "input": {}, "errorText": MARK }]),
        ),
    ]
}

fn ai_sdk_model() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "content": [part] }]));
    let assistant = |name, parts: Value| {
        example(name, json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": parts }]))
    };
    let called = |name, input: Value, output: Value| {
        example(
            name,
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": input }] },
                { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": output }] },
            ]),
        )
    };
    let result = |name, kind: &str, value: Value| called(name, json!({}), json!({ "type": kind, "value": value }));
    let text = json!({ "type": "text", "text": "so" });
    vec![
        user("text", json!({ "type": "text", "text": MARK })),
        user("image, address", json!({ "type": "image", "image": URL })),
        user("image, bytes", json!({ "type": "image", "image": PNG })),
        user(
            "image as a file",
            json!({ "type": "file", "mediaType": "image/png", "data": { "type": "data", "data": PNG } }),
        ),
        user("file, PDF", json!({ "type": "file", "mediaType": "application/pdf", "data": PDF })),
        user("file, audio", json!({ "type": "file", "mediaType": "audio/wav", "data": WAV })),
        user(
            "file, text",
            json!({ "type": "file", "mediaType": "text/plain", "data": { "type": "text", "text": MARK } }),
        ),
        user(
            "file, uploaded",
            json!({ "type": "file", "mediaType": "image/png", "data": { "type": "reference", "reference": { "openai": MARK } } }),
        ),
        assistant("answer", json!([{ "type": "text", "text": MARK }])),
        assistant("answer, image", json!([{ "type": "file", "mediaType": "image/png", "data": PNG }])),
        assistant("reasoning", json!([{ "type": "reasoning", "text": MARK }, text])),
        assistant("unknown part", json!([{ "type": "custom", "kind": "x.y", "value": MARK }])),
        called("call", json!({ "a": MARK }), json!({ "type": "text", "value": "ok" })),
        result("result, text", "text", MARK.into()),
        result("result, JSON", "json", json!({ "a": MARK })),
        result("failed result", "error-text", MARK.into()),
        result("result, image", "content", json!([{ "type": "image-data", "mediaType": "image/png", "data": PNG }])),
        result(
            "result, file",
            "content",
            json!([{ "type": "file-data", "mediaType": "application/pdf", "data": PDF }]),
        ),
    ]
}

fn examples(format: Format) -> Vec<Example> {
    match format {
        Format::OpenAiChat => openai_chat(),
        Format::OpenAiResponses => openai_responses(),
        Format::Anthropic => anthropic(),
        Format::Gemini => gemini(),
        Format::AiSdkUi => ai_sdk_ui(),
        Format::AiSdkModel => ai_sdk_model(),
    }
}

/// Says what became of a part; fails where nothing says so.
fn outcome(written: &WrittenMessages, what: &str) -> &'static str {
    let all = json!([written.messages, written.system]).to_string();
    let codes: Vec<&str> = written.warnings.iter().map(|warning| warning.code).collect();
    if !codes.contains(&"MEDIA_LEFT_OUT") && !codes.contains(&"OPAQUE_LEFT_OUT") {
        assert!(all.contains(MARK), "{what} is lost without a word: {all}");
        return "yes";
    }
    // A line is a label, such as `[image: image/png, 1 KiB]`.
    let texts = all.replace("[{", "").replace("[[", "");
    let has_line = texts.contains("\"[") || texts.contains("\\n[");
    if has_line { "line" } else { "–" }
}

fn table() -> String {
    let mut out = String::from(
        "# What of one message format reaches another\n\n\
         Made by a test out of one message for each row (`crates/convert/tests/it/carried.rs`); do not edit.\n\n\
         | | |\n|---|---|\n\
         | yes | it arrives: as the same kind of part, or as text where it is text |\n\
         | line | a line such as `[image: image/png, 12 KiB]` stands for it, and the warning `MEDIA_LEFT_OUT` or `OPAQUE_LEFT_OUT` names it |\n\
         | – | it is left out with the warning `OPAQUE_LEFT_OUT`: reasoning is signed for one provider, and what is for a user interface is not for a model |\n\n\
         In the format that it came from, every part is as it was. Media of a tool's result are in the result with `openai-responses`, \
         `anthropic` and `ai-sdk-model`, beside it with `gemini`, and in a message of the user behind it with `openai-chat`; those of MCP \
         results go the same ways.\n",
    );
    for format in Format::ALL {
        let others: Vec<Format> = Format::ALL.iter().copied().filter(|other| other != format).collect();
        let names: Vec<&str> = others.iter().map(|other| other.as_str()).collect();
        write!(
            out,
            "\n## From {}\n\n| Part | {} |\n|---|{}\n",
            format.as_str(),
            names.join(" | "),
            "---|".repeat(names.len())
        )
        .unwrap();
        for Example { name, messages } in examples(*format) {
            let read = messages_to_items(messages.clone(), *format, &ReadOptions::default()).unwrap();
            assert!(read.warnings.is_empty(), "{} {name}: {:?}", format.as_str(), read.warnings);
            let same = items_to_messages(&read.items, *format, &WriteOptions::default()).unwrap();
            let shown: Value = same.messages.into();
            assert_eq!(shown, messages, "{} {name}", format.as_str());
            let cells: Vec<&str> = others
                .iter()
                .map(|other| {
                    let written = items_to_messages(&read.items, *other, &WriteOptions::default()).unwrap();
                    outcome(&written, &format!("{name} of {} for {}", format.as_str(), other.as_str()))
                })
                .collect();
            writeln!(out, "| {name} | {} |", cells.join(" | ")).unwrap();
        }
    }
    out
}

#[test]
fn every_part_arrives_or_is_named() {
    let path = format!("{}/../../docs/messages.md", env!("CARGO_MANIFEST_DIR"));
    let table = table();
    if std::env::var_os("CONTEXTWEAVER_UPDATE").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == table, "docs/messages.md is not current: CONTEXTWEAVER_UPDATE=1 writes it");
}
