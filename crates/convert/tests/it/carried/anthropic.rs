//! Blocks of Anthropic, one conversation for each type that is documented.

use serde_json::{Value, json};

use super::{Example, MARK, PDF, PNG, URL, example};

pub fn anthropic() -> Vec<Example> {
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
            "document, address",
            json!({ "type": "document", "source": { "type": "url", "url": "https://example.org/Marker123.pdf" } }),
        ),
        user("document, uploaded", json!({ "type": "document", "source": { "type": "file", "file_id": MARK } })),
        user(
            "document, blocks",
            json!({ "type": "document", "source": { "type": "content", "content": [{ "type": "text", "text": MARK }] } }),
        ),
        user(
            "search result",
            json!({ "type": "search_result", "source": "https://e.test", "title": "T", "content": [{ "type": "text", "text": MARK }] }),
        ),
        user("file for a container", json!({ "type": "container_upload", "file_id": MARK })),
        assistant("answer", json!([{ "type": "text", "text": MARK }])),
        example("call", called),
        result("result", MARK.into(), false),
        result("failed result", MARK.into(), true),
        result("result, image", json!([{ "type": "image", "source": bytes("image/png", PNG) }]), false),
        result(
            "result, search result",
            json!([{ "type": "search_result", "source": "https://e.test", "title": "T", "content": [{ "type": "text", "text": MARK }] }]),
            false,
        ),
        result("result, `tool_reference`", json!([{ "type": "tool_reference", "tool_name": MARK }]), false),
        result("result, document", json!([{ "type": "document", "source": bytes("application/pdf", PDF) }]), false),
    ]
    .into_iter()
    .chain(beside_words())
    .collect()
}

/// Blocks beside the words of the model.
fn beside_words() -> Vec<Example> {
    let assistant = |name, blocks: Value| {
        example(name, json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": blocks }]))
    };
    let user = |name, block: Value| example(name, json!([{ "role": "user", "content": [block] }]));
    let so = json!({ "type": "text", "text": "so" });
    // A call that the provider ran, and what it returned.
    let ran = |name, tool: &str, input: Value, kind: &str, content: Value| {
        let call = json!({ "type": "server_tool_use", "id": "s1", "name": tool, "input": input });
        assistant(name, json!([call, { "type": kind, "tool_use_id": "s1", "content": content }, so]))
    };
    let listed = json!({ "type": "tool_search_tool_search_result", "tool_references": [{ "type": "tool_reference", "tool_name": MARK }] });
    vec![
        assistant(
            "thinking",
            json!([{ "type": "thinking", "thinking": MARK, "signature": "c2ln" }, { "type": "text", "text": "so" }]),
        ),
        assistant("`redacted_thinking`", json!([{ "type": "redacted_thinking", "data": MARK }, so])),
        assistant("`compaction`", json!([{ "type": "compaction", "content": MARK }, so])),
        assistant("`fallback`", json!([{ "type": "fallback", "from": { "model": "a" }, "to": { "model": MARK } }, so])),
        assistant(
            "`mcp_tool_listing`",
            json!([{ "type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [{ "name": MARK }] }, so]),
        ),
        user("`tool_addition`", json!({ "type": "tool_addition", "tool": { "type": "tool_reference", "name": MARK } })),
        user("`tool_removal`", json!({ "type": "tool_removal", "tool": { "type": "tool_reference", "name": MARK } })),
        ran("`server_tool_use`", "web_search", json!({ "query": MARK }), "web_search_tool_result", json!([])),
        ran(
            "`web_search_tool_result`",
            "web_search",
            json!({ "query": "q" }),
            "web_search_tool_result",
            json!([{ "type": "web_search_result", "title": MARK, "url": "https://e.test", "encrypted_content": "x" }]),
        ),
        ran(
            "`web_fetch_tool_result`",
            "web_fetch",
            json!({ "url": "https://e.test" }),
            "web_fetch_tool_result",
            json!({ "type": "web_fetch_result", "url": "https://e.test", "content": { "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": MARK } } }),
        ),
        ran(
            "`code_execution_tool_result`",
            "code_execution",
            json!({ "code": "1" }),
            "code_execution_tool_result",
            json!({ "type": "code_execution_result", "stdout": MARK, "stderr": "", "return_code": 0, "content": [] }),
        ),
        ran(
            "`bash_code_execution_tool_result`",
            "bash_code_execution",
            json!({ "command": "ls" }),
            "bash_code_execution_tool_result",
            json!({ "type": "bash_code_execution_result", "stdout": MARK, "stderr": "", "return_code": 0, "content": [] }),
        ),
        ran(
            "`text_editor_code_execution_tool_result`",
            "text_editor_code_execution",
            json!({ "command": "view", "path": "a" }),
            "text_editor_code_execution_tool_result",
            json!({ "type": "text_editor_code_execution_view_result", "file_type": "text", "content": MARK }),
        ),
        ran(
            "`tool_search_tool_result`",
            "tool_search_tool_regex",
            json!({ "query": "q" }),
            "tool_search_tool_result",
            listed,
        ),
        ran(
            "`advisor_tool_result`",
            "advisor",
            json!({}),
            "advisor_tool_result",
            json!({ "type": "advisor_result", "text": MARK }),
        ),
        assistant(
            "`mcp_tool_use`",
            json!([
                { "type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "s", "input": { "a": MARK } },
                { "type": "mcp_tool_result", "tool_use_id": "m1", "is_error": false, "content": "ok" },
                so,
            ]),
        ),
        assistant(
            "`mcp_tool_result`",
            json!([
                { "type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "s", "input": {} },
                { "type": "mcp_tool_result", "tool_use_id": "m1", "is_error": false, "content": [{ "type": "text", "text": MARK }] },
                so,
            ]),
        ),
        assistant(
            "answer with citations",
            json!([{ "type": "text", "text": "so", "citations": [
                { "type": "char_location", "cited_text": MARK, "document_index": 0, "document_title": null, "start_char_index": 0, "end_char_index": 9 },
            ] }]),
        ),
    ]
}
