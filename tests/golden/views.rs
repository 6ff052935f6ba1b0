//! Media types, views, and the tool that reads slices.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver_context::compat::content::{ViewGenerator, ViewRegistry, detect, drilldown_tool, views};
use contextweaver_model::ArtifactRef;
use serde_json::{Value, json};

use crate::context::{strings, text};

/// Runs one case.
pub fn run(file: &str, input: &Value) -> Result<Value, String> {
    match file {
        "detect" => Ok(json!({ "detected": detect(&content(input), text(input, "media_type")) })),
        "generate" => Ok(generate(input)),
        "registry" => Ok(registry(input)),
        "drilldown_tool_spec" => Ok(json!(drilldown_tool())),
        other => Err(format!("no runner for file {other:?}")),
    }
}

/// Returns the bytes of a case, given as text or in base64.
pub fn content(input: &Value) -> Vec<u8> {
    match input["content"]["utf8"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => STANDARD.decode(text(&input["content"], "base64")).expect("a case has text or base64"),
    }
}

fn reference(input: &Value, size: usize) -> ArtifactRef {
    ArtifactRef {
        handle: input["handle"].as_str().unwrap_or("h").to_owned(),
        media_type: text(input, "media_type").to_owned(),
        size_bytes: size as u64,
        label: String::new(),
        content_hash: String::new(),
    }
}

fn generate(input: &Value) -> Value {
    let bytes = content(input);
    let mut views = json!(views(&reference(input, bytes.len()), &bytes));
    for view in views.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        view.remove("artifact_ref");
    }
    json!({ "views": views })
}

/// Custom generators are named after their place in the list; the caller's part is to make their views.
fn registry(input: &Value) -> Value {
    let mut registry = ViewRegistry::default();
    let entries: Vec<&Value> = input["register"].as_array().into_iter().flatten().collect();
    for (index, entry) in entries.iter().enumerate() {
        registry.register(text(entry, "content_type"), ViewGenerator::Custom(index.to_string()));
    }
    let bytes = content(input);
    let reference = reference(input, bytes.len());
    let ids: Vec<String> = match registry.generator(&reference, &bytes) {
        ViewGenerator::Custom(name) => {
            let entry = entries[name.parse::<usize>().expect("a place in the list")];
            strings(&entry["emit"]).iter().map(|name| format!("{}:{name}", reference.handle)).collect()
        }
        _ => registry.views(&reference, &bytes).into_iter().map(|view| view.view_id).collect(),
    };
    json!({ "view_ids": ids })
}
