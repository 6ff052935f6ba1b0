//! What real MCP servers list, read as the mode `reference` does.

use std::path::Path;

use contextweaver_gateway::check_tools;
use contextweaver_routing::InvalidTools;
use contextweaver_test_support::{Skip, skip};
use serde_json::{Value, json};

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn reports_of_real_catalogs_are_those_of_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/mcp/real-catalogs");
    if !folder.is_dir() {
        skip(Skip::Test, "real catalogs are not here (../shared/vectors-public/mcp/real-catalogs)");
        return;
    }
    let mut tools = 0;
    for case in read(&folder.join("_expected.json"))["cases"].as_array().unwrap() {
        let file = case["input"]["file"].as_str().unwrap();
        let report = check_tools(read(&folder.join(file)), InvalidTools::Report).unwrap().report;
        let found = json!({ "registered": report.registered, "findings": report.schema_findings });
        assert_eq!(found, case["expected"]["register"], "{file}");
        assert_eq!(report.skipped, [], "{file}");
        tools += report.registered;
    }
    assert!(tools > 200, "{tools}");
}
