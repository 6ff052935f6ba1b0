//! What the tests of the gateway share.

use std::path::{Path, PathBuf};

use contextweaver_convert::mcp::tool_list;
use contextweaver_gateway::{CallRequest, CallStep, Gateway, GatewayOptions};
use serde_json::{Value, json};

/// Makes a gateway from options.
pub fn gateway(options: Value) -> Gateway {
    Gateway::new(GatewayOptions::from_value(options).unwrap())
}

/// Makes a gateway of servers with their tools, in this order, over more options.
pub fn with_tools(servers: &[(&str, Value)], options: Value) -> Gateway {
    let mut all = options;
    all["servers"] = servers.iter().map(|(name, _)| json!({ "name": name })).collect();
    let mut gateway = gateway(all);
    for (name, tools) in servers {
        list(&mut gateway, name, tools);
    }
    gateway
}

/// Lists tools.
pub fn list(gateway: &mut Gateway, server: &str, tools: &Value) {
    gateway.set_listing(server, json!({ "tools": tools }).to_string().as_bytes()).unwrap();
}

/// Names of the tools that a client sees.
pub fn names(gateway: &mut Gateway, session: &str) -> Vec<String> {
    let listed = gateway.list_tools(session, None).tools;
    listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A call without anything special.
pub fn request(name: &str, arguments: Value) -> CallRequest {
    CallRequest { session: "s".to_owned(), name: name.to_owned(), arguments, ..CallRequest::default() }
}

/// The text of a reply.
pub fn text(step: &CallStep) -> String {
    let CallStep::Reply(reply) = step else { panic!("no reply: {step:?}") };
    reply["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The error that a reply tells of.
pub fn error(step: &CallStep) -> Value {
    let CallStep::Reply(reply) = step else { panic!("no reply: {step:?}") };
    assert_eq!(reply["isError"], true, "{reply}");
    serde_json::from_str(&text(step)).unwrap()
}

/// The catalogs of a folder: name and tools.
pub fn catalogs(folder: &Path) -> Vec<(String, Value)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if file.extension().is_none_or(|end| end != "json") || name.starts_with('_') || name == "index" {
            continue;
        }
        let catalog: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        all.push((name, tool_list(catalog).unwrap().into()));
    }
    all
}

/// The catalogs of the examples.
pub fn examples() -> Vec<(String, Value)> {
    catalogs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/catalogs"))
}

/// Makes a gateway over catalogs.
pub fn over(catalogs: &[(String, Value)], options: Value) -> Gateway {
    let servers: Vec<(&str, Value)> = catalogs.iter().map(|(name, tools)| (name.as_str(), tools.clone())).collect();
    with_tools(&servers, options)
}
