//! Definitions of tools to MCP and back, results both ways: tables, refusals and promises.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api::convert::convert_call;
use contextweaver_base::Error;
use contextweaver_convert::mcp::Revision;
use contextweaver_convert::tools::{
    McpToToolDefinitionOptions, ToolDefinitionToMcpOptions, ToolSchemaOptions, from_mcp_tool, to_mcp_tool,
};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

fn call(operation: &str, arguments: &Value) -> Result<Value, Error> {
    let answer = convert_call(operation, &arguments.to_string())?;
    Ok(serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
}

fn merged(base: Value, more: &Value) -> Value {
    let mut base = base;
    for (key, value) in more.as_object().unwrap() {
        base[key] = value.clone();
    }
    base
}

fn definition(more: &Value) -> Value {
    merged(
        json!({ "name": "get_weather", "description": "Fetches weather. Use when asked.", "schema": { "type": "object" } }),
        more,
    )
}

fn forward(more: &Value, options: &Value) -> Value {
    call("tool_definition_to_mcp", &merged(json!({ "definition": definition(more) }), options)).unwrap()
}

fn codes(warnings: &Value) -> Vec<String> {
    let list = warnings.as_array().into_iter().flatten();
    list.map(|one| format!("{} {}", one["code"].as_str().unwrap(), one["path"].as_str().unwrap())).collect()
}

const KEY: &str = "dev.contextweaver/tool-definition";

#[test]
fn hints_follow_the_table() {
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    // y yes, n no, - left out.
    for (category, level, confirm, wanted) in [
        ("read", "", false, "ynyy"),
        ("read", "high", true, "ynyy"),
        ("analysis", "medium", true, "ynyn"),
        ("write", "low", false, "nn-y"),
        ("write", "medium", true, "ny-y"),
        ("write", "high", false, "nyny"),
        ("write", "high", true, "nyny"),
        ("write", "", false, "n--y"),
        ("write", "", true, "ny-y"),
        ("delete", "", false, "ny-y"),
        ("delete", "low", false, "ny-y"),
        ("side_effect", "high", false, "nyny"),
        ("side_effect", "low", true, "nyny"),
        ("side_effect", "medium", false, "nnny"),
        ("side_effect", "", false, "n-ny"),
        ("", "", false, "----"),
        ("", "low", false, "----"),
        ("", "high", false, "-y--"),
        ("", "", true, "-y--"),
        ("banana", "x", false, "----"),
    ] {
        let mut more = json!({ "requiresConfirmation": confirm });
        for (key, value) in [("category", category), ("consequenceLevel", level)] {
            if !value.is_empty() {
                more[key] = value.into();
            }
        }
        let tool = &forward(&more, &json!({}))["tool"];
        let found: String = hints
            .iter()
            .map(|key| match tool["annotations"].get(*key) {
                None => '-',
                Some(flag) => {
                    if flag.as_bool().unwrap() {
                        'y'
                    } else {
                        'n'
                    }
                }
            })
            .collect();
        assert_eq!(found, wanted, "{category} {level} {confirm}");
        assert_eq!(tool.get("annotations").is_none(), wanted == "----");
    }
}

#[test]
fn overrides_win_and_contradictions_are_told() {
    let more = json!({ "category": "read", "idempotent": false, "openWorld": false, "annotations": { "destructiveHint": true, "openWorldHint": true, "title": "T", "vendor": 1 } });
    let found = forward(&more, &json!({}));
    assert_eq!(
        found["tool"]["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true, "title": "T", "vendor": 1 })
    );
    assert_eq!(codes(&found["warnings"]), ["annotation_contradiction /annotations/destructiveHint"]);
    for (more, wanted) in [
        (
            json!({ "category": "delete", "annotations": { "readOnlyHint": true, "destructiveHint": false } }),
            vec!["annotation_contradiction /annotations/readOnlyHint"],
        ),
        (
            json!({ "category": "write", "consequenceLevel": "high", "annotations": { "destructiveHint": false } }),
            vec!["annotation_contradiction /annotations/destructiveHint"],
        ),
        (
            json!({ "category": "read", "annotations": { "readOnlyHint": "yes" } }),
            vec!["bad_annotation /annotations/readOnlyHint"],
        ),
        (
            json!({ "category": "tool", "consequenceLevel": "grave", "requires": true, "name": "getWeather" }),
            vec![
                "name_not_snake_case /name",
                "unknown_category /category",
                "unknown_consequence_level /consequenceLevel",
                "unknown_field /requires",
            ],
        ),
        (json!({ "category": "analysis", "openWorld": true }), vec![]),
        (json!({ "annotations": { "readOnlyHint": null } }), vec![]),
    ] {
        assert_eq!(codes(&forward(&more, &json!({}))["warnings"]), wanted, "{more}");
    }
}

#[test]
fn a_tool_has_what_mcp_knows_and_the_rest_beside() {
    let more = json!({
        "title": null, "tags": ["a", "b"], "version": "1.2.0", "dependsOn": ["x"], "timeout": 5000, "category": "read",
        "outputSchema": { "n": { "type": "number" } }, "icons": [{ "src": "https://x.example/i.png" }], "execute": null,
        "mcp": { "execution": { "taskSupport": "optional" }, "_meta": { "com.example/x": 1 } },
    });
    let found =
        forward(&more, &json!({ "title": "humanize", "tagsInDescription": true, "protocolVersion": "2025-11-25" }));
    let tool = &found["tool"];
    let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["name", "title", "description", "icons", "inputSchema", "outputSchema", "annotations", "execution", "_meta"]
    );
    assert_eq!(found["handler"], json!({ "name": "get_weather", "timeout": 5000 }));
    assert_eq!(tool["title"], "Get Weather");
    assert_eq!(tool["description"], "Fetches weather. Use when asked.\nTags: a, b");
    assert_eq!(tool["outputSchema"]["required"], json!(["n"]));
    assert_eq!(tool["_meta"]["com.example/x"], 1);
    assert_eq!(
        tool["_meta"][KEY],
        json!({ "category": "read", "timeout": 5000, "tags": ["a", "b"], "version": "1.2.0", "dependsOn": ["x"], "titleMade": true, "tagsShown": true })
    );
    let oldest = forward(&more, &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(
        codes(&oldest["warnings"]),
        ["field_unknown_to_revision /icons", "field_unknown_to_revision /mcp/execution"]
    );
    assert!(oldest["tool"].get("icons").is_none() && oldest["tool"].get("title").is_none());
    let bare = forward(&json!({ "tags": ["a"] }), &json!({ "meta": false, "prefix": "com.example" }));
    assert_eq!(
        bare["tool"],
        json!({ "name": "get_weather", "description": "Fetches weather. Use when asked.", "inputSchema": { "type": "object" } })
    );
    assert_eq!(bare["handler"]["timeout"], 15000);
    assert!(
        forward(&json!({}), &json!({ "prefix": "com.example" }))["tool"]["_meta"]["com.example/tool-definition"]
            .is_object()
    );
}

#[test]
fn bad_definitions_are_refused_with_a_reason() {
    let long = "n".repeat(129);
    for (more, code, reason, path) in [
        (json!({ "name": "get weather" }), "INVALID_INPUT", "invalid_name", "/name"),
        (json!({ "name": long }), "INVALID_INPUT", "invalid_name", "/name"),
        (json!({ "name": "" }), "MISSING_FIELD", "invalid_name", "/name"),
        (json!({ "description": " \n\u{a0}" }), "MISSING_FIELD", "empty_description", "/description"),
        (json!({ "description": null }), "MISSING_FIELD", "empty_description", "/description"),
        (json!({ "schema": null }), "MISSING_FIELD", "invalid_schema", "/schema"),
        (json!({ "schema": [] }), "INVALID_INPUT", "invalid_schema", "/schema"),
        (json!({ "schema": { "type": "array" } }), "INVALID_INPUT", "root_not_object", "/schema/type"),
        (
            json!({ "schema": { "properties": { "a": { "$ref": "other.json" } } } }),
            "UNSUPPORTED",
            "remote_ref",
            "/schema/properties/a/$ref",
        ),
        (json!({ "timeout": 0 }), "OUT_OF_RANGE", "invalid_timeout", "/timeout"),
        (json!({ "timeout": 1.5 }), "OUT_OF_RANGE", "invalid_timeout", "/timeout"),
        (json!({ "timeout": -1 }), "OUT_OF_RANGE", "invalid_timeout", "/timeout"),
        (json!({ "timeout": 1e300 }), "OUT_OF_RANGE", "invalid_timeout", "/timeout"),
        (json!({ "timeout": "5s" }), "INVALID_INPUT", "invalid_timeout", "/timeout"),
        (json!({ "tags": "a" }), "INVALID_INPUT", "", "/tags"),
        (json!({ "requiresConfirmation": "yes" }), "INVALID_INPUT", "", "/requiresConfirmation"),
    ] {
        let error = call("tool_definition_to_mcp", &json!({ "definition": definition(&more) })).unwrap_err();
        let found = error.details().get("reason").and_then(Value::as_str).unwrap_or_default();
        assert_eq!((error.code().as_str(), found, error.path()), (code, reason, path), "{more}");
    }
    let definition = definition(&json!({}));
    for (options, code, path) in [
        (json!({ "prefix": "io.modelcontextprotocol" }), "INVALID_INPUT", "/prefix"),
        (json!({ "protocolVersion": "2024-11-05" }), "UNSUPPORTED", "/protocolVersion"),
        (json!({ "title": "x" }), "INVALID_INPUT", "/title"),
        (json!({ "schemaFormat": "zod" }), "INVALID_INPUT", "/schemaFormat"),
        (json!({ "tagsInDescriptions": true }), "UNKNOWN_FIELD", "/tagsInDescriptions"),
        (json!({ "strict": true }), "UNKNOWN_FIELD", "/strict"),
    ] {
        let error = call("tool_definition_to_mcp", &merged(json!({ "definition": definition }), &options)).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path), "{options}");
    }
}

#[test]
fn a_bad_definition_does_not_take_the_rest_down() {
    let list = json!([
        definition(&json!({ "name": "a", "dependsOn": ["b", "gone"] })),
        definition(&json!({ "name": "b", "dependsOn": ["a"] })),
        definition(&json!({ "name": "c", "description": "" })),
        definition(&json!({ "name": "a" })),
        5,
        definition(&json!({ "name": "d", "dependsOn": ["d", "c"] })),
    ]);
    let found = call("tool_definition_to_mcp", &json!({ "definitions": list })).unwrap();
    let names: Vec<&Value> = found["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["a", "b", "d"]);
    assert_eq!(found["handlers"][2], json!({ "name": "d", "timeout": 15000 }));
    let errors: Vec<String> = found["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| format!("{} {} {}", e["index"], e["path"], e["details"]["reason"]))
        .collect();
    assert_eq!(
        errors,
        ["2 \"/2/description\" \"empty_description\"", "3 \"/3/name\" \"duplicate_name\"", "4 \"/4\" null"]
    );
    assert_eq!(found["errors"][1]["details"]["indices"], json!([0, 3]));
    assert_eq!(
        codes(&found["warnings"]),
        [
            "unknown_dependency /0/dependsOn/1",
            "unknown_dependency /5/dependsOn/1",
            "dependency_cycle /0/dependsOn",
            "dependency_cycle /5/dependsOn"
        ]
    );
    let error = call("tool_definition_to_mcp", &json!({ "definitions": list, "strict": true })).unwrap_err();
    assert_eq!(error.path(), "/2/description");
    assert_eq!(
        call("tool_definition_to_mcp", &json!({ "definitions": [] })).unwrap(),
        json!({ "tools": [], "handlers": [], "errors": [], "warnings": [] })
    );
}

fn reverse(tool: &Value, options: &Value) -> Value {
    call("mcp_to_tool_definition", &merged(json!({ "tool": tool }), options)).unwrap()
}

#[test]
fn hints_are_guessed_from_and_the_worst_is_assumed() {
    for (annotations, category, level, confirm) in [
        (json!({ "readOnlyHint": true, "openWorldHint": false }), "analysis", "low", false),
        (json!({ "readOnlyHint": true }), "read", "low", false),
        (json!({ "readOnlyHint": true, "destructiveHint": true }), "read", "low", false),
        (json!({ "destructiveHint": false }), "write", "medium", false),
        (json!({ "readOnlyHint": false, "destructiveHint": true }), "write", "high", true),
        (json!({ "title": "x" }), "write", "high", true),
        (json!({ "readOnlyHint": "true" }), "write", "high", true),
    ] {
        let tool =
            json!({ "name": "x", "description": "d", "inputSchema": { "type": "object" }, "annotations": annotations });
        let definition = &reverse(&tool, &json!({}))["definition"];
        let found = (&definition["category"], &definition["consequenceLevel"], &definition["requiresConfirmation"]);
        assert_eq!(found, (&json!(category), &json!(level), &json!(confirm)), "{annotations}");
        assert_eq!(definition["annotations"], annotations);
        // Back again, the hints are the same ones, and none was added.
        let again = call("tool_definition_to_mcp", &json!({ "definition": definition })).unwrap();
        assert_eq!(again["tool"]["annotations"], annotations);
    }
}

#[test]
fn tools_of_servers_are_read_as_far_as_it_goes() {
    let tool = json!({ "name": "Weird Tool", "title": 5, "inputSchema": null, "outputSchema": { "type": "array" }, "x-own": [1], "_meta": { KEY: { "category": "read", "requiresConfirmation": false }, "a.b/c": 1 } });
    let found = reverse(&tool, &json!({}));
    assert_eq!(
        found["definition"],
        json!({
            "name": "Weird Tool", "description": "", "schema": { "type": "object" }, "outputSchema": { "type": "array" },
            "mcp": { "x-own": [1], "_meta": { "a.b/c": 1 } },
            "category": "write", "consequenceLevel": "high", "requiresConfirmation": true, "timeout": 15000, "inferAnnotations": false,
        })
    );
    assert_eq!(
        codes(&found["warnings"]),
        [
            "invalid_name /name",
            "bad_title /title",
            "no_description /description",
            "bad_input_schema /inputSchema",
            "no_annotations /annotations"
        ]
    );
    let restored = reverse(&tool, &json!({ "trusted": true }));
    assert_eq!(restored["definition"]["category"], "read");
    assert!(restored["definition"].get("timeout").is_none());
    for notes in [json!(5), json!({ "tags": "a" }), json!({ "timeout": -1 }), json!({ "annotations": [] })] {
        let lying = merged(tool.clone(), &json!({ "_meta": { KEY: notes } }));
        let found = reverse(&lying, &json!({ "trusted": true }));
        assert_eq!(found["definition"]["requiresConfirmation"], true, "{notes}");
        assert!(codes(&found["warnings"]).contains(&"bad_meta /_meta".to_owned()));
    }
    for bad in [json!({}), json!({ "name": "" }), json!({ "name": 5 }), json!([])] {
        assert_eq!(
            call("mcp_to_tool_definition", &json!({ "tool": bad })).unwrap_err().code().as_str(),
            "INVALID_INPUT"
        );
    }
}

#[test]
fn names_are_brought_into_snake_case_where_asked() {
    let tools =
        |names: &[&str]| -> Value { names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect() };
    let asked =
        json!({ "tools": tools(&["getUser", "admin.tools.list", "HTTPGet2", "plain"]), "rename": "snake_case" });
    let found = call("mcp_to_tool_definition", &asked).unwrap();
    assert_eq!(
        found["names"],
        json!({ "get_user": "getUser", "admin_tools_list": "admin.tools.list", "http_get2": "HTTPGet2" })
    );
    assert_eq!(found["definitions"][3]["name"], "plain");
    let error =
        call("mcp_to_tool_definition", &json!({ "tools": tools(&["getUser", "get_user"]), "rename": "snake_case" }))
            .unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.path(), &error.details()["indices"]),
        ("DUPLICATE_ID", "/1/name", &json!([0, 1]))
    );
    let found =
        call("mcp_to_tool_definition", &json!({ "tools": tools(&["検索", "a", ""]), "rename": "snake_case" })).unwrap();
    assert_eq!((found["errors"].as_array().unwrap().len(), &found["errors"][0]["index"]), (2, &json!(0)));
}

const TIME: &str = "2025-01-15T10:30:00.000Z";

fn to_mcp(more: &Value, options: &Value) -> Value {
    let result = merged(json!({ "tool": "t", "fetchedAt": TIME }), more);
    call("tool_result_to_mcp", &merged(json!({ "result": result }), options)).unwrap()
}

#[test]
fn results_follow_the_table() {
    let meta = json!({ "dev.contextweaver/fetched-at": TIME, "dev.contextweaver/tool": "t" });
    let old = json!({ "protocolVersion": "2025-11-25" });
    let part = |text: &str| json!([{ "type": "text", "text": text }]);
    for (more, options, wanted) in [
        (
            json!({ "error": "no" }),
            old.clone(),
            json!({ "content": part("Error: no"), "isError": true, "_meta": meta }),
        ),
        (
            json!({ "error": "" }),
            json!({}),
            json!({ "content": part("Error: "), "isError": true, "resultType": "complete", "_meta": meta }),
        ),
        (
            json!({ "error": "Error: x" }),
            old.clone(),
            json!({ "content": part("Error: Error: x"), "isError": true, "_meta": meta }),
        ),
        (
            json!({ "data": { "b": 1, "a": 2 } }),
            json!({}),
            json!({ "content": part(r#"{"b":1,"a":2}"#), "structuredContent": { "b": 1, "a": 2 }, "resultType": "complete", "_meta": meta }),
        ),
        (
            json!({ "data": [1] }),
            json!({}),
            json!({ "content": part("[1]"), "structuredContent": [1], "resultType": "complete", "_meta": meta }),
        ),
        (
            json!({ "data": null }),
            json!({}),
            json!({ "content": part("null"), "structuredContent": null, "resultType": "complete", "_meta": meta }),
        ),
        (json!({ "data": null }), old.clone(), json!({ "content": part("null"), "_meta": meta })),
        (json!({}), old.clone(), json!({ "content": part("OK"), "_meta": meta })),
        (
            json!({ "data": 5 }),
            old.clone(),
            json!({ "content": part("5"), "structuredContent": { "result": 5 }, "_meta": merged(meta.clone(), &json!({ "dev.contextweaver/wrapped": "result" })) }),
        ),
        (
            json!({ "data": { "a": 1 } }),
            merged(old.clone(), &json!({ "fetchedAt": "structured", "explicitIsError": true, "render": "summary" })),
            json!({ "content": part("A: 1"), "structuredContent": { "a": 1, "fetchedAt": TIME }, "isError": false, "_meta": meta }),
        ),
        (
            json!({ "data": "x" }),
            merged(
                old.clone(),
                &json!({ "fetchedAt": "omit", "wrapKey": "value", "prefix": "com.example", "text": "mine" }),
            ),
            json!({ "content": part("mine"), "structuredContent": { "value": "x" }, "_meta": { "com.example/tool": "t", "com.example/wrapped": "value" } }),
        ),
    ] {
        let found = to_mcp(&more, &options);
        assert_eq!((&found["result"], codes(&found["warnings"])), (&wanted, vec![]), "{more}");
    }
    let deduped = to_mcp(&json!({ "error": "Error: x" }), &json!({ "dedupePrefix": true }));
    assert_eq!(deduped["result"]["content"], part("Error: x"));
    let both = to_mcp(&json!({ "error": "e", "data": 1, "success": false }), &json!({}));
    assert_eq!(codes(&both["warnings"]), ["unknown_field /success", "data_and_error /data"]);
    let clash = to_mcp(&json!({ "data": { "fetchedAt": 1 } }), &json!({ "fetchedAt": "structured" }));
    assert_eq!(clash["result"]["structuredContent"], json!({ "fetchedAt": 1 }));
    assert_eq!(codes(&clash["warnings"]), ["fetched_at_clash /data/fetchedAt"]);
    let undated =
        call("tool_result_to_mcp", &json!({ "result": { "tool": "t", "fetchedAt": "soon", "data": 1 } })).unwrap();
    assert_eq!(codes(&undated["warnings"]), ["bad_fetched_at /fetchedAt"]);
}

#[test]
fn output_is_checked_where_asked() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let check = |more: Value| to_mcp(&more, &json!({ "outputSchema": schema }))["result"].clone();
    assert_eq!(check(json!({ "data": { "n": 1 } }))["structuredContent"], json!({ "n": 1 }));
    for (more, text) in [
        (json!({ "data": { "n": "secret" } }), "Error: output does not match schema: /n: expected integer"),
        (json!({ "data": 5 }), "Error: output does not match schema: /: expected object"),
        (json!({}), "Error: output does not match schema: /: expected structured content"),
    ] {
        let result = check(more);
        assert_eq!((&result["content"][0]["text"], &result["isError"]), (&json!(text), &json!(true)));
        assert!(result.get("structuredContent").is_none());
    }
    assert_eq!(check(json!({ "error": "e" }))["content"][0]["text"], "Error: e");
}

#[test]
fn results_of_servers_follow_the_table() {
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let read = |result: Value, options: Value| {
        call("mcp_to_tool_result", &merged(json!({ "result": result, "tool": "t", "now": TIME }), &options)).unwrap()
    };
    for (result, options, wanted) in [
        (
            json!({ "isError": true, "content": [text("Error: a"), text("Error: b")] }),
            json!({}),
            json!({ "error": "a\nError: b" }),
        ),
        (json!({ "isError": true, "content": [] }), json!({}), json!({ "error": "Tool execution failed" })),
        (json!({ "isError": true, "content": [text("Error: Error: x")] }), json!({}), json!({ "error": "Error: x" })),
        (json!({ "isError": "true", "content": [text("a")] }), json!({}), json!({ "data": "a" })),
        (
            json!({ "structuredContent": { "result": 1 }, "content": [text("1")] }),
            json!({}),
            json!({ "data": { "result": 1 } }),
        ),
        (
            json!({ "structuredContent": { "result": 1 }, "_meta": { "dev.contextweaver/wrapped": "result" } }),
            json!({}),
            json!({ "data": 1 }),
        ),
        (
            json!({ "structuredContent": { "result": 1, "b": 2 }, "_meta": { "dev.contextweaver/wrapped": "result" } }),
            json!({}),
            json!({ "data": { "result": 1, "b": 2 } }),
        ),
        (json!({ "structuredContent": null }), json!({}), json!({ "data": null })),
        (json!({ "content": [text("{\"a\":1}")] }), json!({}), json!({ "data": "{\"a\":1}" })),
        (json!({ "content": [text("{\"a\":1}")] }), json!({ "parseText": true }), json!({ "data": { "a": 1 } })),
        (json!({ "content": [text("5")] }), json!({ "parseText": true }), json!({ "data": "5" })),
        (json!({ "content": [text("a"), text("b")] }), json!({}), json!({ "data": "a\nb" })),
        (json!({ "content": [text("a"), image] }), json!({}), json!({ "data": { "text": "a", "parts": [image] } })),
        (json!({ "content": [image] }), json!({}), json!({ "data": { "parts": [image] } })),
        (json!({ "content": [] }), json!({}), json!({})),
        (json!({ "content": 5 }), json!({}), json!({})),
    ] {
        let found = read(result.clone(), options);
        assert_eq!(found["outcome"], "result");
        assert_eq!(found["result"], merged(json!({ "tool": "t", "fetchedAt": TIME }), &wanted), "{result}");
    }
    let noted = read(
        json!({ "content": [], "_meta": { "dev.contextweaver/fetched-at": "2024-01-01T00:00:00.000Z", "a/b": 1 } }),
        json!({}),
    );
    assert_eq!(
        (&noted["result"]["fetchedAt"], &noted["meta"]),
        (&json!("2024-01-01T00:00:00.000Z"), &json!({ "a/b": 1 }))
    );
    let bad = read(json!({ "content": [], "_meta": { "dev.contextweaver/fetched-at": "yesterday" } }), json!({}));
    assert_eq!(bad["result"]["fetchedAt"], TIME);
    let asks = json!({ "resultType": "input_required", "inputRequests": { "a": {} }, "requestState": "s" });
    assert_eq!(read(asks.clone(), json!({})), json!({ "outcome": "input_required", "request": asks }));
    let task = json!({ "task": { "taskId": "1" } });
    assert_eq!(read(task.clone(), json!({})), json!({ "outcome": "task", "request": task }));
    let odd = read(json!({ "resultType": "later", "content": [] }), json!({}));
    assert_eq!(codes(&odd["warnings"]), ["unknown_result_type /resultType"]);
}

#[test]
fn a_definition_becomes_something_to_choose() {
    let more = json!({ "category": "read", "tags": ["weather"], "dependsOn": ["find_city"], "outputSchema": { "type": "object" }, "schema": { "type": "object", "examples": [{ "city": "Oslo" }] } });
    let choose = |options: Value| {
        call("tool_definition_to_selectable", &merged(json!({ "definition": definition(&more) }), &options)).unwrap()
    };
    let item = &choose(json!({ "server": "met", "namespace": "weather" }))["item"];
    assert_eq!(
        (&item["id"], &item["namespace"], &item["side_effects"]),
        (&json!("mcp:met/get_weather"), &json!("weather"), &json!(false))
    );
    assert_eq!(
        (&item["tags"], &item["examples"]),
        (&json!(["mcp", "read-only", "weather"]), &json!(["{\"city\":\"Oslo\"}"]))
    );
    assert_eq!(
        (&item["depends_on"], &item["output_schema"]),
        (&json!(["mcp:met/find_city"]), &json!({ "type": "object" }))
    );
    assert_eq!(choose(json!({}))["item"]["id"], "mcp:get_weather");
    assert!(choose(json!({ "id_form": "canonical" }))["item"]["id"].as_str().unwrap().contains('#'));
    let unknown = call("tool_definition_to_selectable", &json!({ "definition": definition(&json!({})) })).unwrap();
    assert_eq!(unknown["item"]["side_effects"], true);
    let error = call("tool_definition_to_selectable", &json!({ "definition": definition(&json!({ "name": "a b" })) }))
        .unwrap_err();
    assert_eq!(error.path(), "/name");
}

#[test]
fn arguments_are_checked() {
    let schema =
        json!({ "type": "object", "properties": { "n": { "type": "integer", "default": 1 } }, "required": ["n"] });
    let found = call("validate_args", &json!({ "schema": schema, "args": {} })).unwrap();
    assert_eq!(
        found,
        json!({ "valid": false, "errors": [{ "path": "", "keyword": "required", "expected": "the property `n`" }], "warnings": [] })
    );
    let filled = call("validate_args", &json!({ "schema": schema, "useDefaults": true })).unwrap();
    assert_eq!((&filled["valid"], &filled["value"]), (&json!(true), &json!({ "n": 1 })));
    assert_eq!(call("validate_args", &json!({ "schema": schema, "args": null })).unwrap()["valid"], false);
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9]{0,5}(_[a-z0-9]{1,4}){0,2}", "[A-Za-z0-9_.-]{1,12}"]
}

fn schemas() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "enum": [1, "a", null] })),
        Just(json!({ "$ref": "#/$defs/d" })),
        Just(json!(true)),
    ];
    (prop::collection::vec(("[a-z_$]{1,4}", field), 0..4), any::<bool>()).prop_map(|(fields, open)| {
        let mut schema = json!({ "type": "object", "$defs": { "d": { "type": "number" } }, "properties": {} });
        for (name, field) in fields {
            schema["properties"][name] = field;
        }
        if open {
            schema["additionalProperties"] = false.into();
        }
        schema
    })
}

/// Definitions whose schemas are in the form of the wire already.
fn definitions() -> impl Strategy<Value = Value> {
    let maybe = |values: &'static [&'static str]| prop::option::of(prop::sample::select(values));
    let hints = prop::collection::vec(
        (
            prop::sample::select(&["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"][..]),
            any::<bool>(),
        ),
        0..3,
    );
    let words = || prop::option::of(prop::collection::vec("[a-z ,]{0,4}", 0..3));
    let first =
        (names(), "\\PC{0,3}[A-Za-z]\\PC{0,20}", prop::option::of("\\PC{0,8}"), schemas(), prop::option::of(schemas()));
    let second = (
        maybe(&["read", "write", "analysis", "delete", "side_effect", "other"]),
        maybe(&["low", "medium", "high", "odd"]),
        prop::option::of(any::<bool>()),
        prop::option::of(1..99_999_u64),
        words(),
    );
    let third = (
        words(),
        prop::option::of(any::<bool>()),
        prop::option::of(any::<bool>()),
        prop::option::of(hints),
        any::<bool>(),
    );
    (first, second, third).prop_map(|(first, second, third)| {
        let mut out = json!({ "name": first.0, "description": first.1 });
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                out[key] = value;
            }
        };
        put("title", first.2.map(Value::from));
        put("schema", Some(first.3));
        put("outputSchema", first.4);
        put("category", second.0.map(Value::from));
        put("consequenceLevel", second.1.map(Value::from));
        put("requiresConfirmation", second.2.map(Value::from));
        put("timeout", second.3.map(Value::from));
        put("tags", second.4.map(Value::from));
        put("dependsOn", third.0.map(Value::from));
        put("idempotent", third.1.map(Value::from));
        put("openWorld", third.2.map(Value::from));
        put(
            "annotations",
            third.3.map(|all| all.into_iter().map(|(key, flag)| (key.to_owned(), Value::from(flag))).collect()),
        );
        if third.4 {
            put("icons", Some(json!([{ "src": "https://x.example" }])));
            put("version", Some("1.0.0".into()));
            put("mcp", Some(json!({ "x-own": 1, "_meta": { "a.b/c": [] } })));
        }
        out
    })
}

fn forwards() -> impl Strategy<Value = ToolDefinitionToMcpOptions> {
    let revisions = prop::sample::select(Revision::ALL);
    (revisions, any::<bool>(), any::<bool>()).prop_map(|(revision, humanize_title, tags_in_description)| {
        ToolDefinitionToMcpOptions {
            schema: ToolSchemaOptions { revision, ..ToolSchemaOptions::default() },
            humanize_title,
            tags_in_description,
            ..ToolDefinitionToMcpOptions::default()
        }
    })
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn a_trusted_way_back_gives_the_definition(definition in definitions(), options in forwards()) {
        let before = definition.clone();
        let tool = to_mcp_tool(&definition, "", &options).unwrap().tool;
        prop_assert_eq!(&definition, &before);
        let trusted = McpToToolDefinitionOptions { trusted: true, ..McpToToolDefinitionOptions::default() };
        let back = from_mcp_tool(&tool, "", &trusted).unwrap();
        prop_assert_eq!(&back.definition, &definition);
        prop_assert_eq!(to_mcp_tool(&back.definition, "", &options).unwrap().tool, tool);
    }

    #[test]
    fn an_untrusted_way_back_gives_the_same_tool(definition in definitions(), revision in prop::sample::select(Revision::ALL)) {
        let mut options = ToolDefinitionToMcpOptions { meta: false, ..ToolDefinitionToMcpOptions::default() };
        options.schema.revision = revision;
        let tool = to_mcp_tool(&definition, "", &options).unwrap().tool;
        let back = from_mcp_tool(&tool, "", &McpToToolDefinitionOptions::default()).unwrap();
        let again = to_mcp_tool(&back.definition, "", &options).unwrap().tool;
        prop_assert_eq!(again, tool);
    }

    #[test]
    fn results_come_back(data in prop_oneof![Just(json!({ "a": [1] })), Just(json!([1, null])), Just(json!("text")), Just(json!(5)), Just(json!({ "result": 1 }))], revision in prop::sample::select(Revision::ALL)) {
        let result = json!({ "tool": "t", "fetchedAt": TIME, "data": data });
        let mcp = call("tool_result_to_mcp", &json!({ "result": result, "protocolVersion": revision.name() })).unwrap();
        let back = call("mcp_to_tool_result", &json!({ "result": mcp["result"], "tool": "t" })).unwrap();
        prop_assert_eq!(&back["result"], &result);
        let failed = json!({ "tool": "t", "fetchedAt": TIME, "error": data.to_string() });
        let mcp = call("tool_result_to_mcp", &json!({ "result": failed })).unwrap();
        let back = call("mcp_to_tool_result", &json!({ "result": mcp["result"], "tool": "t" })).unwrap();
        prop_assert_eq!(&back["result"], &failed);
    }
}
