//! Parts of the AI SDK, one conversation for each type that is documented.

use serde_json::{Value, json};

use super::{Example, MARK, PDF, PNG, URL, WAV, data, example};

pub fn ai_sdk_ui() -> Vec<Example> {
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
        assistant(
            "source, document",
            json!([text, { "type": "source-document", "sourceId": "s", "mediaType": "application/pdf", "title": MARK }]),
        ),
        assistant("`custom`", json!([{ "type": "custom", "kind": "x.y", "providerMetadata": { "x": { "y": MARK } } }])),
        assistant(
            "`reasoning-file`",
            json!([{ "type": "reasoning-file", "mediaType": "image/png", "url": data("image/png", PNG) }, text]),
        ),
        assistant(
            "`steering-message`",
            json!([{ "type": "steering-message", "id": "m", "parts": [{ "type": "text", "text": MARK }] }, text]),
        ),
        assistant("step", json!([{ "type": "step-start" }, { "type": "text", "text": MARK }])),
        assistant("data", json!([text, { "type": "data-x", "data": MARK }])),
        assistant(
            "tool of the provider",
            json!([{ "type": "tool-web", "toolCallId": "w", "state": "output-available", "providerExecuted": true, "input": {}, "output": MARK }]),
        ),
        assistant("call", tool(json!({ "a": MARK }), "ok".into())),
        assistant(
            "call, `dynamic-tool`",
            json!([{ "type": "dynamic-tool", "toolName": "f", "toolCallId": "c1", "state": "output-available", "input": { "a": MARK }, "output": "ok" }]),
        ),
        assistant(
            "call, `input-available`",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "input-available", "input": { "a": MARK } }]),
        ),
        assistant(
            "call, `approval-requested`",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "approval-requested", "input": { "a": MARK }, "approval": { "id": "p1" } }]),
        ),
        assistant(
            "call, `approval-responded`",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "approval-responded", "input": { "a": MARK }, "approval": { "id": "p1", "approved": true } }]),
        ),
        assistant(
            "call, `output-denied`",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "output-denied", "input": { "a": MARK }, "approval": { "id": "p1", "approved": false, "reason": "no" } }]),
        ),
        assistant("result", tool(json!({}), MARK.into())),
        assistant(
            "failed result",
            json!([{ "type": "tool-f", "toolCallId": "c1", "state": "output-error", "input": {}, "errorText": MARK }]),
        ),
    ]
}

pub fn ai_sdk_model() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "content": [part] }]));
    let assistant = |name, parts: Value| {
        example(name, json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": parts }]))
    };
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
        assistant("`custom`", json!([{ "type": "custom", "kind": "x.y", "providerOptions": { "x": { "y": MARK } } }])),
        assistant(
            "`reasoning-file`",
            json!([{ "type": "reasoning-file", "mediaType": "image/png", "data": PNG }, text]),
        ),
        assistant(
            "tool of the provider",
            json!([
                { "type": "tool-call", "toolCallId": "w", "toolName": "web", "input": {}, "providerExecuted": true },
                { "type": "tool-result", "toolCallId": "w", "toolName": "web", "output": { "type": "text", "value": MARK } },
            ]),
        ),
        example(
            "`tool-approval-request`",
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [
                    { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": { "a": MARK } },
                    { "type": "tool-approval-request", "approvalId": "p1", "toolCallId": "c1" },
                ] },
                { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "p1", "approved": true }] },
            ]),
        ),
        example(
            "`tool-approval-response`",
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [
                    { "type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {} },
                    { "type": "tool-approval-request", "approvalId": "p1", "toolCallId": "c1" },
                ] },
                { "role": "tool", "content": [
                    { "type": "tool-approval-response", "approvalId": "p1", "approved": false, "reason": MARK },
                    { "type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": { "type": "execution-denied", "reason": "no" } },
                ] },
            ]),
        ),
    ]
    .into_iter()
    .chain(ai_sdk_results())
    .collect()
}

fn ai_sdk_results() -> Vec<Example> {
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
    vec![
        called("call", json!({ "a": MARK }), json!({ "type": "text", "value": "ok" })),
        result("result, text", "text", MARK.into()),
        result("result, JSON", "json", json!({ "a": MARK })),
        result("failed result", "error-text", MARK.into()),
        result("failed result, JSON", "error-json", json!({ "a": MARK })),
        called("result, `execution-denied`", json!({}), json!({ "type": "execution-denied", "reason": MARK })),
        result("result, content", "content", json!([{ "type": "text", "text": MARK }])),
        result("result, `media`", "content", json!([{ "type": "media", "mediaType": "image/png", "data": PNG }])),
        result("result, `image-url`", "content", json!([{ "type": "image-url", "url": URL }])),
        result("result, `image-file-id`", "content", json!([{ "type": "image-file-id", "fileId": MARK }])),
        result(
            "result, `file-url`",
            "content",
            json!([{ "type": "file-url", "url": "https://example.org/Marker123.pdf", "mediaType": "application/pdf" }]),
        ),
        result("result, `file-id`", "content", json!([{ "type": "file-id", "fileId": MARK }])),
        result(
            "result, `file-reference`",
            "content",
            json!([{ "type": "file-reference", "providerReference": { "openai": MARK } }]),
        ),
        result(
            "result, `image-file-reference`",
            "content",
            json!([{ "type": "image-file-reference", "providerReference": { "openai": MARK } }]),
        ),
        result(
            "result, `file`",
            "content",
            json!([{ "type": "file", "mediaType": "image/png", "data": { "type": "data", "data": PNG } }]),
        ),
        result("result, `custom`", "content", json!([{ "type": "custom", "providerOptions": { "x": { "y": MARK } } }])),
        result("result, image", "content", json!([{ "type": "image-data", "mediaType": "image/png", "data": PNG }])),
        result(
            "result, file",
            "content",
            json!([{ "type": "file-data", "mediaType": "application/pdf", "data": PDF }]),
        ),
    ]
}
