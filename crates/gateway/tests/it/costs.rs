//! What the front costs, over the tools of real servers.

use std::path::Path;

use contextweaver_gateway::FrontMode;
use contextweaver_test_support::{Skip, skip};
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

use crate::support::{catalogs, examples, over, request, text};

/// What is asked for, of any of the servers.
const QUERIES: &[&str] = &[
    "create an issue",
    "list open issues",
    "delete a repository",
    "read a file",
    "take a screenshot of the page",
    "search the web",
    "run a sql query",
    "what time is it in Tokyo",
    "add a comment to a page",
    "current weather",
    "remember a fact",
    "list feature flags",
];

fn check(all: &[(String, Value)], most: usize) {
    let mut gateway = over(all, json!({ "mode": "search" }));
    let listed = gateway.list_tools("s", None);
    assert_eq!(listed.mode, FrontMode::Search);
    let front = Estimator::V3.tokens(&json!({ "tools": listed.tools }).to_string());
    assert!(front <= 700, "{front} tokens");
    for query in QUERIES {
        let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": query }))).unwrap().step);
        let tokens = Estimator::V3.tokens(&answer);
        if std::env::var_os("SHOW").is_some() {
            println!("== {query} ({tokens})\n{answer}");
        }
        assert!(tokens <= 400, "{query}: {tokens} tokens\n{answer}");
        let found = answer.lines().filter(|line| line.starts_with(|ch: char| ch.is_ascii_digit())).count();
        assert!(found <= 5 && (found > 0 || answer.starts_with("No tool")), "{answer}");
    }
    assert!(gateway.stats().servers.iter().map(|server| server.tools).sum::<usize>() >= most);
}

#[test]
fn a_search_front_is_small_whatever_is_behind_it() {
    check(&examples(), 100);
}

#[test]
fn a_search_front_is_small_over_public_servers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/mcp/real-catalogs");
    if !folder.is_dir() {
        skip(Skip::Test, "real catalogs are not here (../shared/vectors-public/mcp/real-catalogs)");
        return;
    }
    let mut all = catalogs(&folder);
    all.extend(examples().into_iter().map(|(name, tools)| (format!("demo-{name}"), tools)));
    check(&all, 480);
}

/// Real servers are not taken for poisoned ones.
#[test]
fn tools_of_real_servers_are_not_in_quarantine() {
    let mut all = examples();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/mcp/real-catalogs");
    if folder.is_dir() {
        all.extend(catalogs(&folder).into_iter().map(|(name, tools)| (format!("public-{name}"), tools)));
    } else {
        skip(Skip::Part, "real catalogs are not here (../shared/vectors-public/mcp/real-catalogs)");
    }
    let servers: Vec<Value> = all.iter().map(|(name, _)| json!({ "name": name })).collect();
    let mut gateway = crate::support::gateway(json!({ "servers": servers }));
    for (name, tools) in &all {
        let listing = json!({ "tools": tools }).to_string();
        let report = gateway.set_listing(name, listing.as_bytes()).unwrap().report;
        assert!(report.quarantined.is_empty(), "{name}: {:?}", report.quarantined);
        assert!(report.skipped.is_empty(), "{name}: {:?}", report.skipped);
    }
}
