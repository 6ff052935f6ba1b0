//! Cases of tools, their names and ids, and recorded sessions.

use std::path::Path;

use serde_json::{Value, json};

use contextweaver_base::Error;
use contextweaver_convert::mcp::{
    ConvertedTool, ToolId, infer_namespace, load_mcp_session_jsonl, mcp_prompt_to_selectable,
    mcp_resource_to_selectable, mcp_tool_to_capability, name_part, shape_hash,
};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    Some(Ok(match file {
        "tool" | "spec-examples" if input.get("tool").is_some() => tool(&input["tool"]),
        "gateway" | "spec-examples" if input.get("resource").is_some() => {
            item(mcp_resource_to_selectable(input["resource"].clone(), None))
        }
        "gateway" | "spec-examples" if input.get("prompt").is_some() => {
            let mut item = item(mcp_prompt_to_selectable(input["prompt"].clone(), None));
            if file == "spec-examples" {
                // The title and the icons are kept here, as the tests of the module assert.
                item.as_object_mut().map(|item| item.remove("title"));
                item["metadata"].as_object_mut().map(|metadata| metadata.remove("_contextweaver"));
            }
            item
        }
        "tool" if input.get("parse_tool_id").is_some() => parse(text(input, "parse_tool_id")),
        "tool" => hash(&input["compute_hash8"]),
        "namespace" => {
            let name = text(input, "tool_name");
            json!({ "namespace": infer_namespace(name), "derived_id_name": name_part(name) })
        }
        "session" => session(input),
        _ => return None,
    }))
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_default()
}

#[allow(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
fn failed(_: Error) -> Value {
    json!({ "error": "CatalogError" })
}

fn tool(tool: &Value) -> Value {
    mcp_tool_to_capability(tool.clone(), "/tool").map_or_else(failed, |item| json!(item))
}

fn item(converted: Result<ConvertedTool, Error>) -> Value {
    converted.map_or_else(failed, |converted| json!(converted.item))
}

fn parse(id: &str) -> Value {
    let parsed = ToolId::parse(id).and_then(|id| id.to_text().map(|text| (id, text)));
    parsed.map_or_else(failed, |(id, text)| {
        let mut record = json!(id);
        record["roundtrip"] = text.into();
        record
    })
}

fn hash(input: &Value) -> Value {
    let schema = Some(&input["input_schema"]).filter(|schema| !schema.is_null());
    let names = |key: &str| -> Vec<&str> {
        let part = &input["input_schema"][key];
        let mut names: Vec<&str> = match part {
            Value::Object(map) => map.keys().map(String::as_str).collect(),
            other => other.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        };
        names.sort_unstable();
        names
    };
    let listed = |key: &str| contextweaver_model::json::to_sorted_ascii(&json!(names(key)), None).replace(", ", ",");
    // The shape is no output of ours; the hash is taken of it.
    let shape = format!("{{\"properties\":{},\"required\":{}}}", listed("properties"), listed("required"));
    shape_hash(text(input, "upstream_name"), schema)
        .map_or_else(failed, |hash8| json!({ "hash8": hash8, "canonical_shape": shape }))
}

fn session(input: &Value) -> Value {
    let lines = match input["path"].as_str() {
        None => text(input, "jsonl").to_owned(),
        // Files are read by who has a file system.
        Some(path) => match std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)) {
            Ok(text) => text,
            Err(_) => return json!({ "error": "CatalogError", "line": null }),
        },
    };
    match load_mcp_session_jsonl(&lines, true) {
        Ok(session) => json!({ "items": session.items }),
        Err(error) => json!({ "error": "CatalogError", "line": error.details().get("line") }),
    }
}
