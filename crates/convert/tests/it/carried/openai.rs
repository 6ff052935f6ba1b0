//! Parts and items of `OpenAI`, one conversation for each type that is documented.

use serde_json::{Value, json};

use super::{Example, MARK, PDF, PNG, URL, WAV, data, example};

pub fn openai_chat() -> Vec<Example> {
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
        example(
            "instructions of a developer",
            json!([{ "role": "developer", "content": MARK }, { "role": "user", "content": "hi" }]),
        ),
        user("text", json!({ "type": "text", "text": MARK })),
        user("image, address", json!({ "type": "image_url", "image_url": { "url": URL } })),
        user("image, bytes", json!({ "type": "image_url", "image_url": { "url": data("image/png", PNG) } })),
        user("audio", json!({ "type": "input_audio", "input_audio": { "data": WAV, "format": "wav" } })),
        user(
            "file, bytes",
            json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": data("application/pdf", PDF) } }),
        ),
        user("file, uploaded", json!({ "type": "file", "file": { "file_id": MARK } })),
        user("a type that no document names", json!({ "type": "hologram", "x": MARK })),
        assistant("answer", json!({ "content": MARK })),
        assistant("answer, part", json!({ "content": [{ "type": "text", "text": MARK }] })),
        assistant("refusal", json!({ "refusal": MARK })),
        assistant("refusal, part", json!({ "content": [{ "type": "refusal", "refusal": MARK }] })),
        assistant("spoken answer", json!({ "audio": { "id": "a1", "transcript": MARK } })),
        assistant("reasoning", json!({ "content": "so", "reasoning_content": MARK })),
        example("call", call(function(&format!("{{\"a\":\"{MARK}\"}}")))),
        example(
            "call of a custom tool",
            call(json!({ "id": "c1", "type": "custom", "custom": { "name": "f", "input": MARK } })),
        ),
        example(
            "call, as it was before tools",
            json!([
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": null, "function_call": { "name": "f", "arguments": format!("{{\"a\":\"{MARK}\"}}") } },
                { "role": "function", "name": "f", "content": "ok" },
            ]),
        ),
        example("result", result),
        example("result, parts", {
            let mut messages = call(function("{}"));
            messages[2]["content"] = json!([{ "type": "text", "text": MARK }]);
            messages
        }),
    ]
}

pub fn openai_responses() -> Vec<Example> {
    let user = |name, part: Value| example(name, json!([{ "role": "user", "content": [part] }]));
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
        item(
            "answer, refusal",
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "refusal", "refusal": MARK }] }),
        ),
        example("call", called),
        result("result", MARK.into()),
        result("result, image", json!([{ "type": "input_image", "image_url": data("image/png", PNG) }])),
        result(
            "result, file",
            json!([{ "type": "input_file", "filename": "a.pdf", "file_data": data("application/pdf", PDF) }]),
        ),
    ]
    .into_iter()
    .chain(items_of_providers())
    .chain(calls_that_wait())
    .chain(calls_with_forms_of_their_own())
    .collect()
}

/// An item with something before and behind it.
fn item(name: &'static str, item: Value) -> Example {
    items(name, Value::Array(vec![item, json!({ "role": "assistant", "content": "so" })]))
}

/// Items that belong together.
fn items(name: &'static str, mut items: Value) -> Example {
    items.as_array_mut().unwrap().insert(0, json!({ "role": "user", "content": "hi" }));
    example(name, items)
}

fn items_of_providers() -> Vec<Example> {
    vec![
        item("reasoning", json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": MARK })),
        item("`compaction`", json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": MARK })),
        item("`item_reference`", json!({ "type": "item_reference", "id": MARK })),
        item("`configuration_update`", json!({ "type": "configuration_update", "text": { "verbosity": MARK } })),
        item(
            "`additional_tools`",
            json!({ "type": "additional_tools", "role": "developer", "tools": [{ "type": "custom", "name": MARK }] }),
        ),
        item("`compaction_trigger`", json!({ "type": "compaction_trigger", "id": MARK })),
        item(
            "`web_search_call`",
            json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search", "query": MARK } }),
        ),
        item(
            "`file_search_call`",
            json!({ "type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": [{ "file_id": "f", "filename": "a.md", "score": 0.5, "text": MARK }] }),
        ),
        item(
            "`code_interpreter_call`",
            json!({ "type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "cn", "code": "print(1)", "outputs": [{ "type": "logs", "logs": MARK }] }),
        ),
        item(
            "`image_generation_call`",
            json!({ "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG }),
        ),
        item(
            "`mcp_list_tools`",
            json!({ "type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": [{ "name": MARK, "input_schema": {} }] }),
        ),
        item(
            "`mcp_call`",
            json!({ "type": "mcp_call", "id": "mcp_1", "status": "completed", "server_label": "s", "name": "f", "arguments": "{}", "output": MARK }),
        ),
    ]
}

fn calls_that_wait() -> Vec<Example> {
    vec![
        items(
            "`mcp_approval_request`",
            json!([
                { "type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "f", "arguments": format!("{{\"a\":\"{MARK}\"}}") },
                { "type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true },
            ]),
        ),
        items(
            "`mcp_approval_response`",
            json!([
                { "type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "f", "arguments": "{}" },
                { "type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": false, "reason": MARK },
            ]),
        ),
        items(
            "`computer_call`",
            json!([
                { "type": "computer_call", "id": "cu_1", "call_id": "c1", "status": "completed", "action": { "type": "type", "text": MARK }, "pending_safety_checks": [] },
                { "type": "computer_call_output", "call_id": "c1", "output": { "type": "computer_screenshot", "image_url": data("image/png", "iVBORw0KGgo=") } },
            ]),
        ),
        items(
            "`computer_call_output`",
            json!([
                { "type": "computer_call", "id": "cu_1", "call_id": "c1", "status": "completed", "action": { "type": "screenshot" }, "pending_safety_checks": [] },
                { "type": "computer_call_output", "call_id": "c1", "output": { "type": "computer_screenshot", "image_url": data("image/png", PNG) } },
            ]),
        ),
        items(
            "`local_shell_call`",
            json!([
                { "type": "local_shell_call", "id": "l1", "call_id": "c1", "status": "completed", "action": { "type": "exec", "command": ["echo", MARK], "env": {} } },
                { "type": "local_shell_call_output", "id": "c1", "output": "ok" },
            ]),
        ),
        items(
            "`local_shell_call_output`",
            json!([
                { "type": "local_shell_call", "id": "l1", "call_id": "c1", "status": "completed", "action": { "type": "exec", "command": ["ls"], "env": {} } },
                { "type": "local_shell_call_output", "id": "c1", "output": MARK },
            ]),
        ),
        items(
            "`shell_call`",
            json!([
                { "type": "shell_call", "call_id": "c1", "action": { "commands": [format!("echo {MARK}")] } },
                { "type": "shell_call_output", "call_id": "c1", "output": [{ "stdout": "ok", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } }] },
            ]),
        ),
        items(
            "`shell_call_output`",
            json!([
                { "type": "shell_call", "call_id": "c1", "action": { "commands": ["ls"] } },
                { "type": "shell_call_output", "call_id": "c1", "output": [{ "stdout": MARK, "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } }] },
            ]),
        ),
    ]
}

fn calls_with_forms_of_their_own() -> Vec<Example> {
    vec![
        items(
            "`apply_patch_call`",
            json!([
                { "type": "apply_patch_call", "call_id": "c1", "status": "completed", "operation": { "type": "create_file", "path": "a", "diff": MARK } },
                { "type": "apply_patch_call_output", "call_id": "c1", "status": "completed", "output": "ok" },
            ]),
        ),
        items(
            "`apply_patch_call_output`",
            json!([
                { "type": "apply_patch_call", "call_id": "c1", "status": "completed", "operation": { "type": "delete_file", "path": "a" } },
                { "type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": MARK },
            ]),
        ),
        items(
            "`tool_search_call`",
            json!([
                { "type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": { "query": MARK } },
                { "type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [] },
            ]),
        ),
        items(
            "`tool_search_output`",
            json!([
                { "type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": { "query": "q" } },
                { "type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [{ "type": "function", "name": MARK, "parameters": {} }] },
            ]),
        ),
        items(
            "`program`",
            json!([
                { "type": "program", "id": "p", "call_id": "pc", "code": MARK, "fingerprint": "f" },
                { "type": "program_output", "id": "po", "call_id": "pc", "result": "ok", "status": "completed" },
            ]),
        ),
        items(
            "`program_output`",
            json!([
                { "type": "program", "id": "p", "call_id": "pc", "code": "1", "fingerprint": "f" },
                { "type": "program_output", "id": "po", "call_id": "pc", "result": MARK, "status": "completed" },
            ]),
        ),
        items(
            "`custom_tool_call`",
            json!([
                { "type": "custom_tool_call", "call_id": "c1", "name": "f", "input": MARK },
                { "type": "custom_tool_call_output", "call_id": "c1", "output": "ok" },
            ]),
        ),
        items(
            "`custom_tool_call_output`",
            json!([
                { "type": "custom_tool_call", "call_id": "c1", "name": "f", "input": "x" },
                { "type": "custom_tool_call_output", "call_id": "c1", "output": MARK },
            ]),
        ),
    ]
}
