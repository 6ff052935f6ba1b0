//! What is easily mistaken: the format of messages, the shape of tools and results.

use contextweaver_base::ErrorCode;
use contextweaver_convert::mcp::{McpResultOptions, ToolOptions, mcp_result_to_envelope, mcp_tool_to_selectable};
use contextweaver_convert::providers::{Format, ReadOptions, find_messages, messages_to_items};
use contextweaver_model::Status;
use serde_json::{Value, json};

/// A call and its result as each format has them, and where the first sign of the format is.
fn examples() -> [(Format, Value, &'static str); 6] {
    [
        (
            Format::OpenAiChat,
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "tool_calls": [
                    { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } } ] },
                { "role": "tool", "tool_call_id": "c", "content": "42" } ]),
            "/messages/1/tool_calls",
        ),
        (
            Format::OpenAiResponses,
            json!([
                { "role": "user", "content": "hi" },
                { "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c", "output": "42" } ]),
            "/messages/1/type",
        ),
        (
            Format::Anthropic,
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [{ "type": "text", "text": "so" }, { "type": "tool_use", "id": "c", "name": "f", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "42" }] } ]),
            "/messages/1/content/1/type",
        ),
        (
            Format::Gemini,
            json!([
                { "role": "user", "parts": [{ "text": "hi" }] },
                { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": {} } }] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "output": "42" } } }] } ]),
            "/messages/1/parts/0/functionCall",
        ),
        (
            Format::AiSdkUi,
            json!([
                { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "hi" }] },
                { "id": "2", "role": "assistant", "parts": [
                    { "type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {}, "output": "42" } ] } ]),
            "/messages/1/parts/0/type",
        ),
        (
            Format::AiSdkModel,
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {} }] },
                { "role": "tool", "content": [
                    { "type": "tool-result", "toolCallId": "c", "toolName": "f", "output": { "type": "text", "value": "42" } } ] } ]),
            "/messages/1/content/0/type",
        ),
    ]
}

#[test]
fn messages_of_another_format_are_refused_by_its_name() {
    for (given, messages, path) in examples() {
        for format in Format::ALL {
            let read = messages_to_items(messages.clone(), *format, &ReadOptions::default());
            if *format == given {
                assert!(read.is_ok(), "{}", given.as_str());
                continue;
            }
            let error = read.unwrap_err();
            assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, path), "{error}");
            let hint = error.to_json()["hint"].as_str().unwrap_or_default().to_owned();
            assert!(hint.contains(&format!("`{}`", given.as_str())), "{hint}");
        }
    }
}

#[test]
fn a_schema_under_another_name_is_named() {
    let schema = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    for key in ["input_schema", "parameters", "args_schema", "args"] {
        let tool = json!({ "name": "x", "description": "reads y", key: schema });
        let converted = mcp_tool_to_selectable(tool, &ToolOptions::default()).unwrap();
        let [warning] = &converted.warnings[..] else { panic!("{:?}", converted.warnings) };
        assert_eq!((warning.code, warning.path.as_str()), ("field-ignored", format!("/{key}").as_str()));
        assert!(warning.message.contains("inputSchema"), "{}", warning.message);
    }
    // Beside the schema it is a field of the server's own, and so is anything that is no schema.
    for tool in [json!({ "name": "x", "inputSchema": schema, "args": {} }), json!({ "name": "x", "args": ["a"] })] {
        assert!(mcp_tool_to_selectable(tool, &ToolOptions::default()).unwrap().warnings.is_empty());
    }
    let of_openai = json!({ "type": "function", "function": { "name": "x", "parameters": schema } });
    let error = mcp_tool_to_selectable(of_openai, &ToolOptions::default()).unwrap_err();
    assert!(error.to_json().to_string().contains("`function`"), "{error}");
}

#[test]
fn what_is_no_result_of_a_tool_is_not_taken_for_success() {
    let read = |result: Value| mcp_result_to_envelope(&result, "f", &McpResultOptions::default()).unwrap();
    let error = json!({ "code": -32602, "message": "Unknown tool: f", "data": { "at": 1 } });
    for (result, status, text, codes) in [
        (json!({}), Status::Partial, "(no content)", vec!["empty-result"]),
        (json!({ "_meta": { "a": 1 } }), Status::Partial, "(no content)", vec!["empty-result"]),
        (json!({ "content": [] }), Status::Ok, "(no content)", vec![]),
        (json!({ "structuredContent": { "a": 1 } }), Status::Ok, "a: 1", vec![]),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "error": error }),
            Status::Error,
            "Unknown tool: f",
            vec!["protocol-error"],
        ),
        (json!({ "error": error }), Status::Error, "Unknown tool: f", vec!["protocol-error"]),
        (error.clone(), Status::Error, "Unknown tool: f", vec!["protocol-error"]),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": "fine" }] } }),
            Status::Ok,
            "fine",
            vec!["response-around-result"],
        ),
    ] {
        let converted = read(result.clone());
        assert_eq!(converted.envelope.status, status, "{result}");
        assert_eq!(converted.full_text, text, "{result}");
        let found: Vec<&str> = converted.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(found, codes, "{result}");
    }
}

/// Whose messages a document has: what one format alone writes tells, wherever it stands, and else the fields of the request.
#[test]
fn messages_are_recognised() {
    let user = |content: Value| json!({ "role": "user", "content": content });
    let block = |kind: &str| json!([{ "type": kind }]);
    let lists = [
        (json!([user(json!("hi"))]), "openai-chat"),
        (json!([user(json!("hi")), { "role": "assistant", "content": null, "tool_calls": [] }]), "openai-chat"),
        (json!([user(block("image_url"))]), "openai-chat"),
        (json!([user(block("input_text"))]), "openai-responses"),
        (json!([{ "type": "message", "role": "user", "content": "hi" }]), "openai-responses"),
        (json!([{ "type": "reasoning", "summary": [] }]), "openai-responses"),
        (
            json!([user(json!("hi")), { "type": "function_call_output", "call_id": "c", "output": "" }]),
            "openai-responses",
        ),
        (json!([{ "role": "assistant", "content": block("thinking") }]), "anthropic"),
        (
            json!([user(json!([{ "type": "text", "text": "" }, { "type": "tool_result", "tool_use_id": "t" }]))]),
            "anthropic",
        ),
        (json!([{ "role": "user", "parts": [{ "text": "hi" }] }]), "gemini"),
        (json!([{ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "hi" }] }]), "ai-sdk-ui"),
        (json!([{ "role": "user", "parts": [{ "type": "text", "text": "hi" }] }]), "ai-sdk-ui"),
        (json!([{ "role": "tool", "content": block("tool-result") }]), "ai-sdk-model"),
        (json!([user(json!([{ "type": "image", "image": "" }]))]), "ai-sdk-model"),
        // Certain signs count before likely ones.
        (json!([user(block("image")), { "role": "assistant", "content": block("tool-call") }]), "ai-sdk-model"),
    ];
    for (list, format) in &lists {
        let found = find_messages(list).unwrap();
        assert_eq!((found.format, found.list, found.system), (*format, None, None), "{list}");
        // In a request the messages tell more than its fields.
        let found = find_messages(&json!({ "model": "m", "messages": list, "tools": [] })).unwrap();
        assert_eq!((found.format, found.list), (*format, Some("messages")), "{list}");
    }
    for (format, messages, _) in examples() {
        assert_eq!(find_messages(&messages).unwrap().format, format.as_str());
    }
    let said = json!([user(json!("hi"))]);
    for (request, wanted) in [
        (json!({ "messages": said, "system": "s" }), Some(("anthropic", Some("messages"), Some("system")))),
        // Messages of another format have their instructions among them, whatever else is there.
        (
            json!({ "messages": [{ "role": "tool", "tool_call_id": "c", "content": "done" }], "system": "s" }),
            Some(("openai-chat", Some("messages"), None)),
        ),
        (json!({ "messages": said, "system": null }), Some(("openai-chat", Some("messages"), None))),
        (json!({ "input": said }), Some(("openai-responses", Some("input"), None))),
        (json!({ "input": "hi" }), None),
        (
            json!({ "contents": [], "system_instruction": {} }),
            Some(("gemini", Some("contents"), Some("system_instruction"))),
        ),
        (json!({ "messages": said, "input": said }), None),
        (json!({ "items": said }), None),
        (json!([]), None),
        (json!([{ "kind": "user_turn", "role": "user", "content": "" }]), None),
        (json!([{ "type": "tool_call", "name": "f", "timestamp": 1 }, { "type": "message" }, 7]), None),
        (json!("messages"), None),
        (json!(null), None),
    ] {
        let found = find_messages(&request).map(|found| (found.format, found.list, found.system));
        assert_eq!(found, wanted, "{request}");
    }
}
