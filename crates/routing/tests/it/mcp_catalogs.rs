//! Catalogs of real MCP servers: none of their tools is lost, and their capability records are exact.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::path::Path;

use contextweaver_convert::mcp::{
    IdForm, McpResultOptions, Revision, ToolOptions, describe, mcp_prompt_to_envelope, mcp_prompt_to_selectable,
    mcp_resource_to_envelope, mcp_result_to_envelope, mcp_tool_to_capability, mcp_tool_to_selectable,
    selectable_to_mcp_tool, tool_list,
};
use contextweaver_model::Status;
use contextweaver_routing::catalog::from_mcp_tools;
use contextweaver_test_support::{Skip, skip};
use serde_json::{Value, json};

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs a check over every catalog, with the recording of it.
fn each(check: impl Fn(&str, &Value, &Value)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/mcp/real-catalogs");
    if !folder.is_dir() {
        skip(Skip::Test, "real catalogs are not here (../shared/vectors-public/mcp/real-catalogs)");
        return;
    }
    let expected = read(&folder.join("_expected.json"));
    for case in expected["cases"].as_array().unwrap() {
        let file = case["input"]["file"].as_str().unwrap();
        check(file, &read(&folder.join(file)), &case["expected"]);
    }
}

#[test]
fn capability_records_are_exact() {
    each(|file, capture, expected| {
        let tools = tool_list(capture.clone()).unwrap();
        assert_eq!(json!(tools.len()), expected["register"]["registered"], "{file}");
        let wanted = expected["tools"].as_array().unwrap();
        assert_eq!(tools.len(), wanted.len(), "{file}");
        for (tool, wanted) in tools.into_iter().zip(wanted) {
            let item = json!(mcp_tool_to_capability(tool, "").unwrap());
            for (key, value) in wanted.as_object().unwrap() {
                assert_eq!(&item[key], value, "{file} {} {key}", item["name"]);
            }
        }
    });
}

#[test]
fn no_tool_is_lost() {
    each(|file, capture, expected| {
        let server = Some("server".to_owned());
        for options in [
            ToolOptions::default(),
            ToolOptions { server: server.clone(), ..ToolOptions::default() },
            ToolOptions { id_form: IdForm::Canonical, ..ToolOptions::default() },
            ToolOptions { id_form: IdForm::Canonical, server, ..ToolOptions::default() },
        ] {
            let loaded = from_mcp_tools(capture.clone(), &options).unwrap();
            assert_eq!(json!(loaded.catalog.len()), expected["register"]["registered"], "{file}");
            let lost = loaded.findings.iter().find(|found| found.severity == "error");
            assert!(lost.is_none(), "{file}: {lost:?}");
        }
    });
}

#[test]
fn every_tool_comes_back_as_it_was() {
    each(|file, capture, _| {
        for tool in tool_list(capture.clone()).unwrap() {
            let converted = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default()).unwrap();
            for item in [&converted.item, &describe(&converted).unwrap()] {
                let back = selectable_to_mcp_tool(item, None);
                assert_eq!((&back.tool, back.report.len()), (&tool, 0), "{file}");
            }
            for revision in Revision::ALL {
                let back = selectable_to_mcp_tool(&converted.item, Some(*revision));
                let known = revision.rules().foreign_tool_fields.iter().all(|key| back.tool.get(key).is_none());
                assert!(known && back.tool["inputSchema"]["type"] == "object", "{file}");
                // What is not in the tool is in the report.
                for key in tool.as_object().unwrap().keys() {
                    let is_told = back.report.iter().any(|change| change.path == format!("/{key}"));
                    assert!(back.tool.get(key).is_some() || is_told, "{file} {key}");
                }
            }
        }
    });
}

#[test]
fn examples_of_the_specification_are_read_in_every_revision() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/mcp/spec-examples.json");
    if !file.is_file() {
        skip(
            Skip::Test,
            "the examples of the specification are not here (../shared/vectors-public/mcp/spec-examples.json)",
        );
        return;
    }
    let mut count = 0;
    for case in read(&file)["cases"].as_array().unwrap() {
        let (name, input) = (&case["name"], &case["input"]);
        for revision in Revision::ALL {
            if let Some(tool) = input.get("tool") {
                let converted = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default()).unwrap();
                assert!(converted.warnings.is_empty(), "{name}: {:?}", converted.warnings);
                let back = selectable_to_mcp_tool(&converted.item, Some(*revision));
                assert_eq!(back.tool["name"], tool["name"], "{name}");
                assert!(!back.report.is_empty() || &back.tool == tool, "{name} in {}", revision.name());
                count += 1;
            }
            if let Some(prompt) = input.get("prompt") {
                let converted = mcp_prompt_to_selectable(prompt.clone(), None).unwrap();
                assert!(converted.warnings.is_empty(), "{name}: {:?}", converted.warnings);
                assert_eq!(converted.item.name, prompt["name"], "{name}");
                count += 1;
            }
            let id = |key: &str| input[key].as_str().unwrap_or_default();
            let read = [
                input.get("resource_read").map(|result| mcp_resource_to_envelope(result, id("resource_id"), 1 << 20)),
                input.get("prompt_get").map(|result| mcp_prompt_to_envelope(result, id("prompt_id"), 1 << 20)),
            ];
            for converted in read.into_iter().flatten() {
                let converted = converted.unwrap();
                assert_eq!((converted.envelope.status, converted.warnings), (Status::Ok, vec![]), "{name}");
                assert!(!converted.binaries.is_empty(), "{name}");
                count += 1;
            }
            if let Some(result) = input.get("result") {
                let options = McpResultOptions { revision: Some(*revision), ..McpResultOptions::default() };
                let converted = mcp_result_to_envelope(result, "tool", &options).unwrap();
                let is_error = result["isError"] == true;
                assert_eq!(converted.envelope.status == Status::Error, is_error, "{name} in {}", revision.name());
                let parts = result["content"].as_array().map_or(0, Vec::len);
                assert!(
                    parts == 0 || converted.full_text != "(no content)" || !converted.binaries.is_empty(),
                    "{name}"
                );
                count += 1;
            }
        }
    }
    assert!(count >= 3 * 17, "{count} readings");
}
