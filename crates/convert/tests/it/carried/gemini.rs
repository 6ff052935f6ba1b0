//! Parts of Gemini, one conversation for each type that is documented.

use serde_json::{Value, json};

use super::{Example, MARK, PDF, PNG, URL, WAV, example};

pub fn gemini() -> Vec<Example> {
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
        user(
            "video, part of it",
            json!({ "fileData": { "mimeType": "video/mp4", "fileUri": "https://example.org/Marker123.mp4" }, "videoMetadata": { "startOffset": "1s", "endOffset": "2s" } }),
        ),
        user(
            "image, read with care",
            json!({ "fileData": { "mimeType": "image/png", "fileUri": URL }, "mediaResolution": { "level": "MEDIA_RESOLUTION_HIGH" }, "mediaProcessing": {}, "partMetadata": { "a": "b" } }),
        ),
        user("speech", json!({ "inlineData": { "mimeType": "audio/wav", "data": WAV }, "speechMetadata": {} })),
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
        model(
            "code and its result",
            json!([
                { "executableCode": { "language": "PYTHON", "code": "print(1)" } },
                { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": MARK } },
            ]),
        ),
        model(
            "`toolCall`",
            json!([{ "toolCall": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": { "q": MARK } } }, { "toolResponse": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {} } }, { "text": "so" }]),
        ),
        model(
            "`toolResponse`",
            json!([{ "toolCall": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {} } }, { "toolResponse": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": { "a": MARK } } }, { "text": "so" }]),
        ),
        model("signed answer", json!([{ "text": "so", "thoughtSignature": MARK }])),
        user("`audioTranscription`", json!({ "audioTranscription": { "text": MARK } })),
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
